//! The closed word lists behind the safe moves.

/// Words that say that the order matters.
pub(super) const ORDERED: &[&str] = &[
    "after",
    "afterwards",
    "before",
    "finally",
    "first",
    "followed",
    "former",
    "last",
    "latter",
    "next",
    "order",
    "ordered",
    "respectively",
    "second",
    "sequence",
    "then",
];

/// Words before a coordination of nouns that belong to the whole of it.
pub(super) const LEADING: &[&str] =
    &["containing", "for", "from", "in", "including", "into", "of", "on", "the", "with"];

/// Words after which a coordination is surely over.
pub(super) const TRAILING: &[&str] = &[
    "as", "at", "by", "for", "from", "in", "into", "of", "on", "that", "to", "using", "when", "which", "with",
];

/// Words in `-s` that are no plural noun, or may be a verb.
pub(super) const NOT_PLURAL: &[&str] = &[
    "accepts",
    "adds",
    "afterwards",
    "always",
    "appends",
    "besides",
    "builds",
    "calls",
    "computes",
    "contains",
    "converts",
    "copies",
    "counts",
    "creates",
    "does",
    "draws",
    "exits",
    "fails",
    "finds",
    "gets",
    "gives",
    "goes",
    "handles",
    "has",
    "holds",
    "keeps",
    "lists",
    "loads",
    "makes",
    "maps",
    "needs",
    "opens",
    "ours",
    "outputs",
    "parses",
    "perhaps",
    "prints",
    "produces",
    "puts",
    "raises",
    "reads",
    "receives",
    "removes",
    "returns",
    "runs",
    "saves",
    "sends",
    "sets",
    "shows",
    "skips",
    "sometimes",
    "sorts",
    "starts",
    "stops",
    "stores",
    "takes",
    "theirs",
    "throws",
    "towards",
    "uses",
    "works",
    "writes",
    "yields",
    "yours",
];

/// Adjectives that stand beside each other in any order.
pub(super) const ADJECTIVES: &[&str] = &[
    "accurate",
    "basic",
    "brief",
    "clean",
    "clear",
    "compact",
    "complete",
    "concise",
    "consistent",
    "correct",
    "easy",
    "familiar",
    "flexible",
    "friendly",
    "lightweight",
    "maintainable",
    "modular",
    "neat",
    "plain",
    "polite",
    "portable",
    "precise",
    "readable",
    "reliable",
    "reusable",
    "robust",
    "safe",
    "short",
    "simple",
    "small",
    "stable",
    "straightforward",
    "tidy",
    "understandable",
    "useful",
];

/// Names of operations and sides that come in pairs before a noun they share.
pub(super) const PAIRS: &[(&str, &str)] = &[
    ("add", "remove"),
    ("decode", "encode"),
    ("delete", "insert"),
    ("get", "put"),
    ("get", "set"),
    ("input", "output"),
    ("left", "right"),
    ("load", "store"),
    ("lower", "upper"),
    ("max", "min"),
    ("pop", "push"),
    ("read", "write"),
];

/// Nouns that such a pair shares.
pub(super) const SHARED: &[&str] = &[
    "actions",
    "bounds",
    "calls",
    "commands",
    "events",
    "functions",
    "handlers",
    "halves",
    "limits",
    "methods",
    "operations",
    "queries",
    "requests",
    "sides",
    "values",
];

/// Words that open or join clauses: what comes after them may belong to something else than the verb.
pub(super) const CLAUSES: &[&str] =
    &["but", "first", "so", "that", "then", "to", "where", "which", "who", "whom", "whose"];

/// Words that open a phrase of the verb.
pub(super) fn is_marker(word: &str) -> bool {
    matches!(word, "after" | "before" | "if" | "into" | "once" | "using" | "when" | "whenever" | "while")
}
