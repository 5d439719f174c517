//! A card: one trial with what was asked, expected and answered, and why that is wrong. A page shows its texts below each other, the rest
//! tells it in one sentence.

use super::{Line, Reach};

/// Characters of a text that a sentence tells.
const TOLD_CHARS: usize = 160;

/// One trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    pub(crate) reach: Reach,
    /// Whose trial it is; leads to its record.
    pub(crate) title: Line,
    /// What was asked, expected and answered.
    pub(crate) texts: Vec<Text>,
    /// Why that is wrong, in the judge's words; words of programs in backticks.
    pub(crate) why: Option<String>,
}

/// A text of a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// What it is, above it.
    pub(crate) title: &'static str,
    /// The word before it in a sentence; none where a sentence has no room for it.
    pub(crate) told_as: Option<&'static str>,
    /// The text.
    pub(crate) text: String,
}

impl Card {
    /// The card in one sentence.
    pub(crate) fn sentence(&self) -> Line {
        let mut line = self.title.clone();
        let mut before = ": ";
        for (word, text) in self.texts.iter().filter_map(|text| Some((text.told_as?, &text.text))) {
            line = line.text(format!("{before}{word} ")).code(clipped(text));
            before = ", ";
        }
        match &self.why {
            Some(why) => {
                line.text(if before == ", " { "; " } else { before }).then(Line::ticked(&clipped(why)))
            }
            None => line,
        }
    }
}

/// The first line or so.
fn clipped(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(TOLD_CHARS) {
        Some((at, _)) => format!("{}…", &words[..at]),
        None => words,
    }
}
