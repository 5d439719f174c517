//! The words that the guard looks for. A word stands for all its inflected forms; two words must follow each other.

/// A term and the phrases that mean it.
pub(super) type Term = (&'static str, &'static [&'static str]);

/// Words that an instruction must not have.
pub(super) const FORBIDDEN: &[Term] = &[
    ("test", &["test", "tester", "unittest"]),
    ("coverage", &["coverage"]),
    ("pytest", &["pytest"]),
    ("benchmark", &["benchmark"]),
    ("harness", &["harness"]),
    ("log", &["log", "logger"]),
    ("debug", &["debug", "debugger"]),
    ("performance", &["performance"]),
    ("optimize", &["optimize", "optimise", "optimization", "optimisation", "optimizer"]),
    ("validation", &["validation"]),
];

/// Verbs that mean work which the base does not ask for.
pub(super) const WORK_VERBS: &[&str] = &[
    "analyze", "audit", "deploy", "document", "evaluate", "install", "lint", "measure", "monitor", "profile",
    "publish", "refactor", "review", "validate", "verify",
];

/// Verbs that may mean a deliverable more; refused when strict.
pub(super) const DELIVERY_VERBS: &[&str] = &["deliver", "demonstrate", "present", "submit"];

/// Formats of what is made.
pub(super) const FORMATS: &[&str] = &[
    "bullet",
    "csv",
    "format",
    "html",
    "indentation",
    "json",
    "markdown",
    "pretty print",
    "tabular",
    "toml",
    "xml",
    "yaml",
];

/// Speed and cost.
pub(super) const PERFORMANCE: &[&str] = &[
    "constant time",
    "efficiency",
    "efficient",
    "efficiently",
    "fast",
    "faster",
    "fastest",
    "latency",
    "linear time",
    "memory usage",
    "performant",
    "quick",
    "quickly",
    "rapid",
    "rapidly",
    "scalability",
    "scalable",
    "speed",
    "speedy",
    "swift",
    "swiftly",
    "throughput",
    "time complexity",
];

/// Tools and what runs them.
pub(super) const TOOLING: &[&str] = &[
    "cargo",
    "ci",
    "cmake",
    "docker",
    "eslint",
    "git",
    "github",
    "gitlab",
    "ide",
    "jenkins",
    "kubernetes",
    "linter",
    "mypy",
    "npm",
    "pip",
    "tool",
    "toolchain",
    "tooling",
    "webpack",
];

/// Phrases that ask for more.
pub(super) const REQUIREMENTS: &[&str] = &[
    "additionally",
    "along with",
    "also",
    "as well",
    "at least",
    "at most",
    "avoid",
    "be sure",
    "do not",
    "don't",
    "ensure",
    "furthermore",
    "in addition",
    "including",
    "make sure",
    "moreover",
    "never",
    "no more than",
    "only",
    "optionally",
    "without",
];

/// Phrases that may ask for more; refused when strict.
pub(super) const CLAUSES: &[&str] = &[
    "handle",
    "so that",
    "support",
    "that are",
    "that can",
    "that is",
    "that will",
    "which are",
    "which can",
    "which is",
];

/// What follows one of these is required.
pub(super) const MODALS: &[&str] = &["must", "need to", "should"];

/// Words that put one thing after another.
pub(super) const STEPS: &[&str] =
    &["after that", "afterwards", "finally", "followed by", "next step", "step", "subsequently", "then"];

/// What an answer that talks starts with.
pub(super) const OPENINGS: &[&str] = &[
    "absolutely",
    "as an ai",
    "certainly",
    "here are",
    "here is",
    "here's",
    "ok",
    "okay",
    "of course",
    "sure",
];

/// What stands before a colon when an answer labels itself.
pub(super) const LABELS: &[&str] =
    &["answer", "instruction", "output", "rephrased", "revised", "rewrite", "rewritten", "version"];

/// What an answer that talks has somewhere.
pub(super) const REMARKS: &[&str] = &[
    "hope this",
    "i changed",
    "i have rewritten",
    "i kept",
    "i rewrote",
    "i've rewritten",
    "let me know",
    "note that",
    "original instruction",
    "original meaning",
    "revised instruction",
    "rewritten instruction",
    "this rewrite",
    "this version",
    "wording only",
];

/// Programming languages whose names are no other words.
pub(super) const LANGUAGES: &[&str] = &[
    "bash",
    "clojure",
    "cobol",
    "elixir",
    "erlang",
    "fortran",
    "golang",
    "haskell",
    "java",
    "javascript",
    "kotlin",
    "lua",
    "matlab",
    "ocaml",
    "perl",
    "php",
    "powershell",
    "python",
    "ruby",
    "rust",
    "scala",
    "sql",
    "typescript",
];

/// Programming languages whose names are ordinary words or letters; they count after `in`, `using` or `with`.
pub(super) const LANGUAGES_IN_CONTEXT: &[&str] = &["C", "Dart", "Go", "Julia", "R", "Swift"];

/// Programming languages with signs in their names.
pub(super) const LANGUAGES_WITH_SIGNS: &[&str] = &["c++", "c#", "f#", ".net", "objective-c"];

/// Features that a task has only when somebody asks for them.
pub(super) const OUT_OF_SCOPE: &[Term] = &[
    ("authentication", &["authentication", "authenticate", "authorization"]),
    ("cloud", &["cloud"]),
    ("concurrency", &["concurrency", "concurrent", "concurrently"]),
    ("database", &["database"]),
    ("deployment", &["deployment"]),
    ("distributed", &["distributed system", "distributed"]),
    ("encryption", &["encryption", "encrypt"]),
    ("eviction", &["eviction", "evict", "lru", "lfu"]),
    ("expiry", &["expiry", "expire", "expiration", "ttl"]),
    ("gui", &["gui", "user interface"]),
    ("lock", &["lock", "mutex"]),
    ("microservice", &["microservice"]),
    ("network", &["network"]),
    ("parallel", &["parallel", "parallelism"]),
    ("persistence", &["persistence", "persistent", "persist"]),
    ("retry", &["retry"]),
    ("security", &["security", "secure"]),
    ("async", &["async", "asynchronous", "asynchronously"]),
    ("thread", &["thread", "multithreaded"]),
];

/// Verbs that say what comes out and not what to do next.
pub(super) const RESULT_VERBS: &[&str] = &["give", "output", "produce", "return", "yield"];

/// Negations; none may vanish.
pub(super) const NEGATIONS: &[&str] =
    &["cannot", "don't", "except", "must not", "never", "no", "none", "not", "only", "unless", "without"];

/// Words without content of their own.
pub(super) const EMPTY_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "been", "being", "but", "by", "can", "could", "do", "does",
    "for", "from", "given", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "may", "might",
    "my", "of", "off", "on", "onto", "or", "our", "out", "over", "please", "shall", "should", "so", "some",
    "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "under",
    "up", "upon", "via", "was", "we", "were", "what", "when", "where", "which", "while", "who", "will",
    "with", "within", "would", "you", "your",
];

/// Words for a number of things, which may stand for each other.
pub(super) const COLLECTIONS: &[&str] = &["collection", "list", "sequence", "series", "set"];
