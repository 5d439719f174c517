//! Random instructions of every kind that a user could write, and some that nobody would.

/// A small generator of its own, so that a fault in the generators' numbers cannot hide here.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) | 1)
    }

    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as usize % sides
    }

    pub(super) fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.roll(list.len())]
    }
}

const VERBS: &[&str] = &[
    "Compile", "Convert", "Design", "Create", "Write", "Split", "Sort", "Merge", "Build", "Remove", "Python",
    "TURN", "generate", "Group", "Parse", "Explain",
];
const NOUNS: &[&str] = &[
    "list",
    "patterns",
    "dictionary",
    "cache",
    "users",
    "names",
    "emails",
    "operations",
    "records",
    "example",
    "goals",
    "regex objects",
    "in-memory cache",
    "rows",
    "keys",
    "explanation",
    "returns",
    "process",
    "id",
];
const PLURALS: &[&str] =
    &["names", "emails", "rows", "keys", "users", "ages", "cities", "returns", "sometimes"];
const ADJECTIVES: &[&str] = &[
    "simple", "clear", "easy", "small", "unusual", "useful", "common", "Brief", "LARGE", "entire", "concise",
];
const SCOPED: &[&str] =
    &["not", "all", "never", "only", "without", "each", "no", "don't", "at least", "every"];
const ODD: &[&str] = &[
    "🙂",
    "👨‍👩‍👧",
    "正規表現をコンパイルする。",
    "文字列、リスト",
    "שלום",
    "עולם,",
    "مرحبا",
    "e\u{301}te\u{301}",
    "naïve",
    "İstanbul",
    "\u{212a}",
    "`a_b, c.d`",
    "``x ` y``",
    "`open",
    "https://example.org/a,b:c.html?q=1.5",
    "see:http://x.y.",
    "me@example.org",
    "3.14",
    "1,000",
    "12:30",
    "v1.2.3",
    "\"a, b. c:\"",
    "“quoted, text.”",
    "'single, one'",
    "users'",
    "«x, y»",
    "foo_bar",
    "camelCase",
    "std::io",
    "e.g.",
    "i.e.,",
    "(optional)",
    "...",
    "?!",
    "—",
    "-",
    "C++",
    "a",
    "an",
    "the",
    ",",
    ".",
    ":",
    "\"",
    "\u{200f}abc",
    "क्षत्रिय",
    "한국어",
    "\u{301}x",
    "don’t",
    "then",
    "respectively",
    "{instruction}",
    "$HOME",
    "\\n",
    "#1",
];
const GAPS: &[&str] = &[" ", " ", " ", " ", " ", "  ", "\n", "\t", "\r\n", " \u{a0}", "\u{3000}", "\n\n"];
const ENDS: &[&str] = &[".", ".", ".", "", "!", "?", "...", " ", ".\n", "。", ":", "`", ".)", "\u{a0}"];

/// One instruction.
pub(super) fn instruction(dice: &mut Dice) -> String {
    match dice.roll(40) {
        0 => dice
            .pick(&[
                "",
                " ",
                "\n\t",
                ".",
                "…",
                ", , .",
                "🙂",
                "Word",
                "word.",
                "`code`",
                "a b",
                "\u{a0}x\u{a0}",
            ])
            .to_owned(),
        1 => dice.pick(ODD).to_owned(),
        2 => many(dice, 60),
        3..=8 => many(dice, 3),
        9..=18 => odd(dice),
        _ => sentence(dice),
    }
}

fn many(dice: &mut Dice, most: usize) -> String {
    let count = 1 + dice.roll(most);
    let mut text = String::new();
    for _ in 0..count {
        text += &if dice.roll(4) == 0 { odd(dice) } else { sentence(dice) };
        text += dice.pick(GAPS);
    }
    text
}

/// A sentence that a person could have written, or nearly so.
fn sentence(dice: &mut Dice) -> String {
    let verb = dice.pick(VERBS);
    let noun = dice.pick(NOUNS);
    let adjective = dice.pick(ADJECTIVES);
    let article = dice.pick(&["a", "an", "the", "The"]);
    let (one, two, three) = (dice.pick(PLURALS), dice.pick(PLURALS), dice.pick(PLURALS));
    let joint = dice.pick(&["and", "or", ", and", "and then"]);
    let body = match dice.roll(11) {
        0 => format!("{verb} {article} {noun} of {one} {joint} {two}"),
        1 => format!("{verb} {article} {adjective} {noun} into {noun}"),
        2 => format!("{verb} the {one} of {two} into groups"),
        3 => format!("{verb} {article} {noun} with {one}, {two}, {joint} {three}"),
        4 => format!("{verb} {article} {adjective} and {} {noun}", dice.pick(ADJECTIVES)),
        5 => format!("{verb} {article} {adjective} {noun} with get and set operations"),
        6 => format!("{verb} {article} {noun} {} {one} using {two}", dice.pick(SCOPED)),
        7 => format!("{verb} the {one} and {two} when {three} change"),
        8 => format!("{verb} {article} {noun} keyed by {noun} before {adjective} {one}"),
        9 => format!("{verb} {noun}, {} to {} {one}", dice.pick(SCOPED), dice.pick(VERBS)),
        _ => format!("{verb} the {one} of {two} and {three} into {adjective} {noun} if needed"),
    };
    body + dice.pick(ENDS)
}

/// A sentence in which anything may stand anywhere.
fn odd(dice: &mut Dice) -> String {
    let mut text = String::new();
    for _ in 0..1 + dice.roll(12) {
        let pools = [VERBS, NOUNS, PLURALS, ADJECTIVES, SCOPED, ODD, ODD, ODD];
        let pool = pools[dice.roll(pools.len())];
        text += dice.pick(pool);
        text += match dice.roll(12) {
            0 => ",",
            1 => ".",
            _ => "",
        };
        text += dice.pick(GAPS);
    }
    text + dice.pick(ENDS)
}
