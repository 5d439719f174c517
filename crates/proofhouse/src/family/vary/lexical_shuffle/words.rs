//! The closed word lists behind the safe moves.

/// Words that say that the order matters.
#[rustfmt::skip]
pub(super) const ORDERED: &[&str] = &[
    "after", "afterwards", "before", "finally", "first", "followed", "former", "last", "latter", "next",
    "order", "ordered", "proportion", "ratio", "respectively", "second", "sequence", "then", "alternating", "columns", "fields",
    "header", "headers", "starting", "steps", "third", "tuple", "versus", "vs",
];

/// Words before a coordination of nouns that belong to the whole of it.
pub(super) const LEADING: &[&str] =
    &["about", "containing", "for", "from", "in", "including", "into", "mention", "of", "on", "the", "with"];

/// Words after which a coordination is surely over.
#[rustfmt::skip]
pub(super) const TRAILING: &[&str] = &[
    "as", "at", "by", "for", "from", "in", "into", "of", "on", "that", "to", "using", "when", "which",
    "with",
];

/// Words in `-s` that are no plural noun, or may be a verb.
#[rustfmt::skip]
pub(super) const NOT_PLURAL: &[&str] = &[
    "accepts", "adds", "afterwards", "always", "appends", "besides", "builds", "calls", "computes",
    "contains", "converts", "copies", "counts", "creates", "does", "draws", "exits", "fails", "finds",
    "gets", "gives", "goes", "handles", "has", "holds", "keeps", "lists", "loads", "makes", "maps",
    "needs", "opens", "ours", "outputs", "parses", "perhaps", "prints", "produces", "puts", "raises",
    "reads", "receives", "removes", "returns", "runs", "saves", "sends", "sets", "shows", "skips",
    "sometimes", "sorts", "starts", "stops", "stores", "takes", "theirs", "throws", "towards", "uses",
    "works", "writes", "yields", "yours",
];

/// Words in `-ed` that are things.
pub(super) const NOUNS_IN_ED: &[&str] = &["bed", "seed", "shed", "weed"];

/// Adjectives that stand beside each other in any order.
#[rustfmt::skip]
pub(super) const ADJECTIVES: &[&str] = &[
    "accurate", "basic", "brief", "clean", "clear", "compact", "complete", "concise", "consistent",
    "correct", "easy", "familiar", "flexible", "friendly", "lightweight", "maintainable", "modular",
    "neat", "plain", "polite", "portable", "precise", "readable", "reliable", "reusable", "robust",
    "safe", "short", "simple", "small", "stable", "straightforward", "tidy", "understandable", "useful",
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

/// Qualities between which a thing decides.
pub(super) const QUALITIES: &[(&str, &str)] = &[("even", "odd"), ("negative", "positive")];

/// Nouns that such a pair shares.
#[rustfmt::skip]
pub(super) const SHARED: &[&str] = &[
    "actions", "bounds", "calls", "commands", "events", "functions", "handlers", "halves", "limits",
    "methods", "operations", "queries", "requests", "sides", "values",
];

/// Words that open, join or relate clauses: what comes after them may belong to something else than the verb.
#[rustfmt::skip]
pub(super) const CLAUSES: &[&str] = &[
    "although", "because", "besides", "but", "except", "first", "instead", "plus", "since", "so", "such",
    "that", "then", "though", "unless", "until", "where", "whereas", "whether", "which", "while", "who",
    "whom", "whose",
];

/// Words that join.
pub(super) const JOINTS: &[&str] = &["and", "but", "nor", "or"];

/// Words that say what comes after what, or point to an order.
#[rustfmt::skip]
pub(super) const SEQUENCE: &[&str] = &[
    "afterwards", "eventually", "finally", "former", "latter", "meanwhile", "otherwise", "respectively",
    "subsequently", "then", "thereafter", "vice",
];

/// Words that open a clause which may stand before or after the main one.
pub(super) const CONDITIONS: &[&str] =
    &["after", "although", "because", "before", "if", "once", "when", "whenever", "while"];

/// Words that open a phrase of time, place or measure.
pub(super) const LEAD_PREPOSITIONS: &[&str] = &["at", "by", "during", "in", "on"];

/// Words for times.
#[rustfmt::skip]
pub(super) const TIMES: &[&str] = &[
    "afternoon", "april", "august", "autumn", "beginning", "christmas", "day", "days", "daytime",
    "decade", "december", "easter", "end", "evening", "evenings", "fall", "february", "friday", "fridays",
    "halloween", "hour", "hours", "january", "july", "june", "march", "may", "midnight", "minute",
    "minutes", "monday", "mondays", "month", "months", "morning", "mornings", "night", "nights", "noon",
    "november", "october", "saturday", "saturdays", "season", "seconds", "semester", "september",
    "spring", "start", "summer", "sunday", "sundays", "thanksgiving", "thursday", "thursdays", "today",
    "tomorrow", "tuesday", "tuesdays", "wednesday", "wednesdays", "week", "weekdays", "weekend",
    "weekends", "weeks", "winter", "year", "years", "yesterday",
];

/// Single words for a time, or for a sum.
#[rustfmt::skip]
pub(super) const TIME_ADVERBS: &[&str] = &[
    "altogether", "currently", "initially", "normally", "now", "originally", "recently", "today",
    "tomorrow", "tonight", "typically", "usually", "yesterday",
];

/// Measures and languages in which an answer may be given.
#[rustfmt::skip]
pub(super) const UNITS: &[&str] = &[
    "celsius", "centimeters", "cents", "days", "dollars", "english", "euros", "fahrenheit", "feet",
    "french", "german", "grams", "hours", "inches", "italian", "kilograms", "kilometers", "latin",
    "liters", "meters", "metres", "miles", "minutes", "months", "ounces", "percent", "pounds", "seconds",
    "spanish", "weeks", "years",
];

/// Words for the form or language of an answer.
#[rustfmt::skip]
pub(super) const FORMS: &[&str] = &[
    "arabic", "bullets", "chinese", "csv", "detail", "dutch", "english", "format", "french", "german",
    "hindi", "html", "italian", "japanese", "java", "javascript", "json", "korean", "language", "latin",
    "line", "lines", "manner", "markdown", "order", "paragraph", "paragraphs", "points", "polish",
    "portuguese", "prose", "python", "rhyme", "russian", "rust", "sentence", "sentences", "spanish",
    "sql", "style", "terms", "tone", "verse", "way", "word", "words", "yaml",
];

/// Words that compare: what stands beside them matters.
pub(super) const COMPARING: &[&str] =
    &["as", "double", "equal", "half", "likewise", "same", "than", "thrice", "times", "triple", "twice"];

/// Words that open a noun.
pub(super) const DETERMINERS: &[&str] = &["a", "an", "my", "our", "the", "these", "this", "those", "your"];

/// Verbs that make something for somebody.
#[rustfmt::skip]
pub(super) const MAKING: &[&str] = &[
    "build", "compose", "create", "define", "design", "develop", "devise", "draft", "draw", "explain",
    "generate", "give", "implement", "make", "outline", "plan", "prepare", "produce", "propose",
    "provide", "recommend", "suggest", "summarise", "summarize", "tell", "write",
];

/// Verbs that bring something to somebody.
pub(super) const RECEIVERS: &[&str] = &["explain", "give", "send", "show", "write"];

/// Verbs that take something out of something.
#[rustfmt::skip]
pub(super) const SOURCES: &[&str] = &[
    "choose", "collect", "copy", "delete", "extract", "fetch", "find", "get", "list", "pick", "read",
    "remove", "retrieve", "select", "take",
];

/// Verbs that arrange.
pub(super) const SORTING: &[&str] = &["arrange", "group", "order", "rank", "sort"];

/// Words before a list of things.
#[rustfmt::skip]
pub(super) const HOLDING: &[&str] = &[
    "about", "ate", "baked", "bakes", "between", "borrowed", "borrows", "bought", "brings", "brought", "buy",
    "buys", "collected", "collects", "contain", "containing", "contains", "eat", "eats", "finds", "found",
    "gave", "get", "gets", "got", "had", "has", "have", "include", "includes",
    "including", "made", "make", "makes", "mention", "need", "needs", "order", "ordered", "orders", "own",
    "owns", "pack", "packed", "packs", "pick", "picked", "picks", "plant", "planted", "plants",
    "purchased", "purchases", "recommend", "saw", "see", "sees", "sell", "sells", "sold", "suggest",
    "take", "takes", "took", "use", "uses", "want", "wants", "with",
];

/// Verbs after a name.
#[rustfmt::skip]
pub(super) const ADJUNCTS: &[&str] = &[
    "are", "ate", "bake", "baked", "bakes", "borrowed", "borrows", "bought", "bring", "brings", "brought",
    "builds", "built", "burned", "burns", "buy", "buys", "can", "catches", "caught", "charge", "charges",
    "closed", "closes", "collect", "collected", "collects", "contain", "contains", "cooked", "cooks",
    "cost", "costs", "could", "counted", "counts", "cut", "cuts", "decided", "decides", "delivered",
    "delivers", "did", "do", "does", "drank", "draws", "drew", "drink", "drinks", "drive", "drives",
    "dropped", "drops", "drove", "earned", "earns", "eat", "eats", "fed", "feeds", "finds", "found",
    "gave", "get", "gets", "gives", "goes", "got", "grew", "grows", "had", "has", "have", "hold", "holds",
    "invited", "invites", "is", "keeps", "kept", "leaves", "left", "lends", "lent", "loses", "lost",
    "made", "make", "makes", "must", "need", "needed", "needs", "opened", "opens", "ordered", "orders",
    "packed", "packs", "paid", "painted", "paints", "pay", "pays", "pick", "picked", "picks", "plant",
    "planted", "plants", "play", "played", "plays", "produced", "produces", "put", "puts", "ran", "read",
    "reads", "receive", "received", "receives", "rides", "rode", "run", "runs", "save", "saved", "saves",
    "saw", "scored", "scores", "sees", "sell", "sells", "sends", "sent", "should", "sleeps", "slept",
    "sold", "spend", "spends", "spent", "started", "starts", "swam", "swims", "take", "takes", "threw",
    "throws", "took", "traveled", "travels", "use", "used", "uses", "visited", "visits", "wakes", "walk",
    "walked", "walks", "want", "wanted", "wants", "was", "watched", "watches", "weigh", "weighs", "went",
    "were", "will", "wins", "woke", "won", "work", "worked", "works", "would", "writes", "wrote",
];

/// Verbs that say how things are.
#[rustfmt::skip]
pub(super) const STATIVE: &[&str] = &[
    "are", "contain", "contains", "cost", "costs", "has", "have", "hold", "holds", "is", "like", "likes",
    "live", "lives", "need", "needs", "own", "owns", "weigh", "weighs",
];

/// Words that point to something outside their sentence.
#[rustfmt::skip]
pub(super) const BINDING: &[&str] = &[
    "again", "also", "another", "both", "each", "her", "here", "his", "however", "instead", "its", "more",
    "one", "ones", "other", "others", "remaining", "rest", "same", "so", "such", "that", "the", "their",
    "there", "therefore", "these", "this", "those", "too",
];

/// Words after which `if` means `whether`.
#[rustfmt::skip]
pub(super) const WONDERING: &[&str] = &[
    "ask", "check", "decide", "detect", "determine", "evaluate", "explain", "find", "identify", "know", "learn",
    "me", "out", "say", "see", "show", "tell", "test", "us", "validate", "verify", "wonder",
];

/// Words of a question that point back to what was told, or to the time that it came to.
#[rustfmt::skip]
pub(super) const POINTING: &[&str] = &[
    "again", "all", "already", "also", "another", "both", "currently", "each", "earlier", "else", "every",
    "here", "however", "instead", "later", "next", "now", "other", "others", "remaining", "rest", "same", "so",
    "still", "that", "there", "today", "tomorrow", "tonight", "too", "yesterday", "yet",
];

/// Words whose period ends no sentence.
#[rustfmt::skip]
pub(super) const ABBREVIATIONS: &[&str] = &[
    "a.m", "approx", "apr", "aug", "dec", "dr", "e.g", "etc", "feb", "i.e", "inc", "jan", "jr", "jul",
    "jun", "ltd", "mar", "mr", "mrs", "ms", "no", "nov", "oct", "p.m", "prof", "sep", "sept", "sr", "st",
    "vs",
];

/// Months in short; a period may follow.
pub(super) const MONTHS: &[&str] =
    &["apr", "aug", "dec", "feb", "jan", "jul", "jun", "mar", "nov", "oct", "sep", "sept"];

/// Titles before a name; a period may follow.
pub(super) const TITLES: &[&str] = &["dr", "mr", "mrs", "ms", "prof"];

/// Words that say whose a thing is.
pub(super) const POSSESSIVES: &[&str] = &["her", "his", "its", "my", "our", "their", "your"];

/// Words that open a phrase of a verb.
#[rustfmt::skip]
pub(super) const PHRASE_PREPOSITIONS: &[&str] = &[
    "after", "at", "before", "by", "during", "for", "from", "in", "on", "over", "to", "with", "within",
];

/// Verbs of what something is done for.
#[rustfmt::skip]
pub(super) const PURPOSES: &[&str] = &[
    "buy", "celebrate", "complete", "cook", "earn", "feed", "fill", "finish", "help", "make", "paint", "pay",
    "raise", "reach", "repair", "save", "support", "visit",
];

/// What a function is written with, in the singular.
#[rustfmt::skip]
pub(super) const DEVICES: &[&str] = &[
    "algorithm", "approach", "comprehension", "expression", "filter", "formula", "function", "heap", "iteration",
    "lambda", "library", "loop", "method", "module", "operator", "programming", "queue", "recursion", "regex",
    "search", "set", "sort", "stack", "technique",
];

/// Words that open a phrase of an infinitive.
#[rustfmt::skip]
pub(super) const AIM_PREPOSITIONS: &[&str] = &[
    "across", "based", "between", "by", "for", "from", "in", "into", "of", "to", "using", "within",
];

/// Words of phrases that say in what form or order a thing is.
#[rustfmt::skip]
pub(super) const TIED_FORMS: &[&str] = &[
    "ascending", "case", "descending", "form", "order", "pairs", "place", "reverse", "row", "sequence",
    "terms", "way",
];

/// Nouns for what is measured.
#[rustfmt::skip]
pub(super) const QUANTITIES: &[&str] = &[
    "age", "area", "average", "bill", "budget", "capacity", "cost", "distance", "fee", "height", "income",
    "length", "number", "population", "price", "rate", "ratio", "rent", "salary", "score", "speed", "sum",
    "tax", "total", "volume", "wage", "weight", "width",
];

/// Verbs of buying and selling, which take a price.
#[rustfmt::skip]
pub(super) const BUYING: &[&str] = &[
    "bought", "buy", "buys", "gets", "got", "ordered", "orders", "purchased", "purchases", "rented",
    "rents", "sell", "sells", "sold",
];

/// Verbs of getting, which take a source.
#[rustfmt::skip]
pub(super) const GETTING: &[&str] = &[
    "borrowed", "borrows", "bought", "buy", "buys", "collected", "collects", "earned", "earns", "gets",
    "got", "ordered", "orders", "picked", "picks", "received", "receives", "saved", "saves", "takes",
    "took",
];

/// Verbs of giving, which take a receiver.
#[rustfmt::skip]
pub(super) const GIVING: &[&str] = &[
    "delivered", "delivers", "gave", "gives", "lends", "lent", "pays", "paid", "sell", "sells", "sends",
    "sent", "sold",
];

/// Words that open a question.
#[rustfmt::skip]
pub(super) const QUESTIONS: &[&str] = &[
    "can", "could", "did", "do", "does", "how", "should", "what", "when", "where", "which", "who",
    "whose", "why", "will", "would",
];

/// More verbs that open a task, in order.
#[rustfmt::skip]
pub(super) const IMPERATIVES: &[&str] = &[
    "analyse", "analyze", "answer", "archive", "ask", "book", "brainstorm", "calculate", "categorize",
    "check", "choose", "clarify", "classify", "compose", "convert", "correct", "decide", "delete",
    "deploy", "discuss", "download", "draft", "edit", "enumerate", "estimate", "evaluate", "expand",
    "fill", "fix", "format", "highlight", "improve", "include", "keep", "label", "locate", "mark",
    "mention", "name", "order", "outline", "paraphrase", "perform", "pick", "plan", "predict", "propose",
    "rank", "rate", "rearrange", "recommend", "remind", "rephrase", "respond", "restart", "review",
    "schedule", "send", "set", "simplify", "solve", "state", "suggest", "summarise", "tell", "underline",
    "upload", "use", "validate", "verify",
];

/// Words that are no names though a sentence may begin with them, in order.
#[rustfmt::skip]
pub(super) const FUNCTION_WORDS: &[&str] = &[
    "a", "about", "after", "all", "along", "also", "although", "among", "an", "and", "another", "any",
    "are", "as", "at", "because", "before", "behind", "beside", "between", "both", "but", "by", "can",
    "could", "despite", "did", "do", "does", "during", "each", "eight", "every", "everybody", "everyone",
    "except", "few", "five", "for", "four", "from", "given", "had", "half", "has", "have", "he", "her",
    "here", "his", "how", "however", "i", "if", "in", "instead", "into", "is", "it", "its", "later",
    "let", "many", "may", "maybe", "might", "more", "most", "must", "my", "nine", "no", "nobody", "none",
    "not", "of", "often", "on", "once", "one", "only", "or", "other", "others", "our", "out", "over",
    "overall", "perhaps", "please", "same", "seven", "several", "shall", "she", "should", "since", "six",
    "so", "some", "sometimes", "soon", "such", "suppose", "ten", "than", "that", "the", "their", "them",
    "then", "there", "these", "they", "this", "those", "three", "through", "throughout", "to", "today",
    "together", "tomorrow", "too", "twenty", "twice", "two", "under", "unless", "until", "up", "using",
    "was", "we", "were", "what", "when", "where", "whether", "which", "while", "who", "whose", "why",
    "will", "with", "within", "without", "would", "yes", "yesterday", "you", "your",
];

/// Verbs that come before the subject of a question.
#[rustfmt::skip]
pub(super) const AUXILIARIES: &[&str] = &[
    "can", "could", "did", "do", "does", "had", "has", "have", "may", "might", "must", "should", "there",
    "will", "would",
];

/// Forms after which a phrase cannot leave.
#[rustfmt::skip]
pub(super) const BEING: &[&str] = &[
    "are", "as", "be", "been", "being", "fewer", "is", "less", "many", "more", "much", "of", "than",
    "was", "were",
];

/// Words that open the last phrase of a question.
pub(super) const QUESTION_PREPOSITIONS: &[&str] =
    &["at", "by", "during", "for", "from", "in", "on", "to", "with"];

/// Places that belong to what is done, not to what it is done with.
#[rustfmt::skip]
pub(super) const PLACES: &[&str] = &[
    "attic", "auction", "backyard", "bakery", "bank", "barn", "basement", "bathroom", "beach", "bedroom",
    "birthday", "bookstore", "breakfast", "cafe", "cafeteria", "camp", "casino", "cellar", "cinema", "city",
    "classroom", "concert", "country", "dinner", "factory", "fair", "farm", "festival", "field", "forest",
    "garage", "garden", "gym", "home", "hospital", "hotel", "house", "kitchen", "lake", "library", "lunch",
    "mall", "market", "museum", "neighborhood", "office", "orchard", "park", "party", "pond", "pool",
    "restaurant", "room", "school", "shop", "shops", "store", "stores", "street", "supermarket", "town",
    "village", "work", "yard", "zoo",
];

/// Words beside a verb that may open the sentence.
pub(super) const MIDDLE_ADVERBS: &[&str] =
    &["also", "currently", "initially", "normally", "originally", "recently", "typically", "usually"];

/// Words whose infinitive belongs to them.
#[rustfmt::skip]
pub(super) const TO_TAKING: &[&str] = &[
    "ability", "able", "according", "add", "added", "adds", "afford", "agree", "agreed", "agrees",
    "allow", "allowed", "allows", "ask", "asked", "asks", "began", "begin", "begins", "chance", "choose",
    "chose", "close", "continue", "decide", "decided", "decides", "due", "enough", "equal", "expected",
    "fail", "failed", "from", "goal", "going", "had", "has", "have", "her", "him", "hope", "hoped",
    "hopes", "how", "intend", "intended", "intends", "it", "job", "learn", "learned", "like", "liked",
    "likes", "love", "loved", "loves", "manage", "managed", "me", "money", "need", "needed", "needs",
    "next", "opportunity", "order", "ought", "plan", "planned", "plans", "prefer", "prefers", "promise",
    "promised", "ready", "reason", "refuse", "refused", "required", "similar", "start", "started",
    "starts", "supposed", "task", "tell", "tells", "them", "time", "told", "tried", "tries", "try", "trying", "up",
    "us", "used", "want", "wanted", "wants", "way", "what", "where", "willing", "wish", "wished",
    "wishes",
];

/// Pronouns of the third person in families; the first two stand for persons with names.
pub(super) const PRONOUNS: &[&[&str]] = &[
    &["he", "him", "his", "himself"],
    &["she", "her", "hers", "herself"],
    &["it", "its", "itself"],
    &["they", "them", "their", "theirs", "themselves"],
    &["this", "these", "those", "one", "ones", "such"],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_that_are_searched_are_sorted() {
        for list in [IMPERATIVES, FUNCTION_WORDS] {
            assert!(list.windows(2).all(|pair| pair[0] < pair[1]), "{list:?}");
        }
    }
}
