//! The `levenshtein` judge.

use proofhouse_ledger::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::{Folding, Texts, excerpt};
use super::{Judge, Settings, Subject, Verdict};
use crate::text::complaint::Complaint;

/// The most that is compared: the product of both lengths in characters, 20,000 against 20,000.
const MAX_CELLS: usize = 20_000 * 20_000;

/// The answer is close to the expected text by edit distance.
///
/// The distance counts inserted, deleted and replaced Unicode characters; the similarity is 1 minus the distance over
/// the length of the longer text. The score is the similarity where it reaches `min_similarity`, else 0. The expected
/// text is `value` or else the case's `expected`; of a list the closest alternative counts.
///
/// Guarantee: the distance is exact. Texts whose lengths alone rule out `min_similarity` are wrong at once; two texts
/// that are both too long to compare (more than 20,000 × 20,000 characters) are not judged.
///
/// ```yaml
/// levenshtein: {min_similarity: 0.9, ignore_case: true}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Levenshtein {
    /// The expected text, or a list of alternatives; without it the case's `expected` counts.
    #[schemars(with = "Option<serde_json::Value>")]
    pub value: Option<Json>,
    /// The similarity, from 0 to 1, below which an answer is wrong.
    pub min_similarity: f64,
    /// Upper and lower case count as equal, in any script.
    pub ignore_case: bool,
    /// White space at both ends does not count.
    pub trim: bool,
    /// Any run of white space counts as one space.
    pub collapse_whitespace: bool,
    /// Punctuation and the ASCII symbols do not count.
    pub ignore_punctuation: bool,
}

impl Default for Levenshtein {
    fn default() -> Self {
        Levenshtein {
            value: None,
            min_similarity: 0.8,
            ignore_case: false,
            trim: true,
            collapse_whitespace: false,
            ignore_punctuation: false,
        }
    }
}

impl Settings for Levenshtein {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        if !(0.0..=1.0).contains(&self.min_similarity) {
            return Err(Complaint::new(format!("`min_similarity` is {}", self.min_similarity))
                .hint("it is from 0 to 1"));
        }
        let folding = Folding {
            ignore_case: self.ignore_case,
            trim: self.trim,
            collapse_whitespace: self.collapse_whitespace,
            ignore_punctuation: self.ignore_punctuation,
        };
        let texts = Texts::new(self.value.as_ref(), folding)?;
        Ok(Box::new(Compiled { texts, folding, min_similarity: self.min_similarity }))
    }

    fn needs_expected(&self) -> bool {
        self.value.is_none()
    }
}

struct Compiled {
    texts: Texts,
    folding: Folding,
    min_similarity: f64,
}

impl Judge for Compiled {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let wanted = match self.texts.of(subject) {
            Ok(wanted) => wanted,
            Err(error) => return Verdict::unjudged(error),
        };
        let text = subject.text();
        let answer: Vec<char> = self.folding.fold(&text).chars().collect();
        let mut best: Option<(f64, &str)> = None;
        for text in &wanted {
            let other: Vec<char> = text.chars().collect();
            let Some(similarity) = self.similarity(&answer, &other) else {
                return Verdict::unjudged(format!(
                    "texts of {} and {} characters are too long to compare",
                    answer.len(),
                    other.len()
                ));
            };
            if best.is_none_or(|(best, _)| similarity > best) {
                best = Some((similarity, text));
            }
        }
        let (similarity, closest) = best.expect("there is at least one expected text");
        let score = if similarity >= self.min_similarity { similarity } else { 0.0 };
        Verdict::graded(score, || match similarity {
            0.0 => format!("nothing like {}", excerpt(closest)),
            some => {
                format!("similarity {some:.3} to {}, {:.3} needed", excerpt(closest), self.min_similarity)
            }
        })
    }
}

impl Compiled {
    /// The similarity, 0 where the lengths alone rule out the smallest one; none when the comparison is too large.
    fn similarity(&self, a: &[char], b: &[char]) -> Option<f64> {
        let longer = a.len().max(b.len());
        if longer == 0 {
            return Some(1.0);
        }
        let share = |distance: usize| 1.0 - distance as f64 / longer as f64;
        if share(a.len().abs_diff(b.len())) < self.min_similarity {
            return Some(0.0);
        }
        Some(share(distance(a, b)?))
    }
}

/// The exact distance; none when it would take too long.
fn distance(a: &[char], b: &[char]) -> Option<usize> {
    let prefix = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[prefix..], &b[prefix..]);
    let suffix = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - suffix], &b[..b.len() - suffix]);
    if a.len().checked_mul(b.len())? > MAX_CELLS {
        return None;
    }
    let (pattern, text) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    Some(bit_parallel(pattern, text))
}

/// The algorithm of Myers (1999) in the block form of Hyyrö (2003): 64 rows of the table at a time, whole strips of it
/// one after the other, so that 20,000 against 20,000 characters take some ten milliseconds and little memory.
fn bit_parallel(pattern: &[char], text: &[char]) -> usize {
    // How the strip's bottom row changes from one character of the text to the next; above the table it grows by one.
    let mut steps: Vec<Step> = vec![Step { up: 1, down: 0 }; text.len()];
    for rows in pattern.chunks(64) {
        let places = Places::of(rows);
        let mut strip = Strip { up: !0, down: 0, bottom: rows.len() - 1 };
        for (c, step) in text.iter().zip(&mut steps) {
            *step = strip.advance(places.of_char(*c), *step);
        }
    }
    let up: u64 = steps.iter().map(|step| step.up).sum();
    let down: u64 = steps.iter().map(|step| step.down).sum();
    pattern.len() + up as usize - down as usize
}

/// A change of a row by at most one: either bit may be set, never both.
#[derive(Clone, Copy)]
struct Step {
    up: u64,
    down: u64,
}

/// One column of a strip: which rows are one more (`up`) or one less (`down`) than the row above.
struct Strip {
    up: u64,
    down: u64,
    bottom: usize,
}

impl Strip {
    fn advance(&mut self, equal: u64, above: Step) -> Step {
        let vertical = equal | self.down;
        let equal = equal | above.down;
        let diagonal = ((equal & self.up).wrapping_add(self.up) ^ self.up) | equal;
        let up = self.down | !(diagonal | self.up);
        let down = self.up & diagonal;
        let below = Step { up: (up >> self.bottom) & 1, down: (down >> self.bottom) & 1 };
        let up = (up << 1) | above.up;
        let down = (down << 1) | above.down;
        self.up = down | !(vertical | up);
        self.down = up & vertical;
        below
    }
}

/// In which of 64 rows each character stands.
struct Places {
    ascii: [u64; 128],
    others: Vec<(char, u64)>,
}

impl Places {
    fn of(rows: &[char]) -> Self {
        let mut places = Places { ascii: [0; 128], others: Vec::new() };
        for (at, &c) in rows.iter().enumerate() {
            let bit = 1 << at;
            match places.ascii.get_mut(c as usize) {
                Some(rows) => *rows |= bit,
                None => match places.others.binary_search_by_key(&c, |(c, _)| *c) {
                    Ok(known) => places.others[known].1 |= bit,
                    Err(new) => places.others.insert(new, (c, bit)),
                },
            }
        }
        places
    }

    fn of_char(&self, c: char) -> u64 {
        match self.ascii.get(c as usize) {
            Some(rows) => *rows,
            None => self.others.binary_search_by_key(&c, |(c, _)| *c).map_or(0, |at| self.others[at].1),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{check, reason, refused, unjudged};
    use super::*;

    fn of(a: &str, b: &str) -> usize {
        let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
        distance(&a, &b).expect("short texts are compared")
    }

    /// The definition, row by row.
    fn naive(a: &[char], b: &[char]) -> usize {
        let mut row: Vec<usize> = (0..=b.len()).collect();
        for (i, x) in a.iter().enumerate() {
            let mut corner = row[0];
            row[0] = i + 1;
            for (j, y) in b.iter().enumerate() {
                let replaced = corner + usize::from(x != y);
                corner = row[j + 1];
                row[j + 1] = replaced.min(corner + 1).min(row[j] + 1);
            }
        }
        row[b.len()]
    }

    #[test]
    fn known_distances() {
        for (a, b, expected) in [
            ("kitten", "sitting", 3),
            ("saturday", "sunday", 3),
            ("", "abc", 3),
            ("", "", 0),
            ("a", "a", 0),
            ("Äpfel", "Apfel", 1),
        ] {
            assert_eq!(of(a, b), expected, "{a} {b}");
            assert_eq!(strsim::levenshtein(a, b), expected);
        }
    }

    #[test]
    fn right_and_wrong() {
        check("levenshtein: {}", "kitten", "kitten\n", 1.0);
        check("levenshtein: {min_similarity: 0.5}", "sitting", "kitten", 1.0 - 3.0 / 7.0);
        check("levenshtein: {}", "sitting", "kitten", 0.0);
        check("levenshtein: {}", "[\"kitten\", \"mitten\"]", "mittens", 1.0 - 1.0 / 7.0);
        check("levenshtein: {ignore_case: true}", "ÄPFEL", "äpfel", 1.0);
        check("levenshtein: {value: abc}", "null", "abc", 1.0);
        check("levenshtein: {}", "abc", "", 0.0);
        check("levenshtein: {min_similarity: 0}", "abc", "xyz", 0.0);
        check("levenshtein: {}", "\"\"", "", 1.0);
        assert_eq!(
            reason("levenshtein: {}", "sitting", "kitten"),
            "similarity 0.571 to `sitting`, 0.800 needed"
        );
    }

    #[test]
    fn size_is_bounded() {
        let huge = "ab".repeat(500_000);
        check("levenshtein: {}", "short", &huge, 0.0);
        check("levenshtein: {}", &huge, &huge, 1.0);
        unjudged("levenshtein: {}", &"ba".repeat(490_000), &huge, "too long to compare");
        check("levenshtein: {min_similarity: 0}", "xyz", &huge, 0.0);
        refused("levenshtein: {min_similarity: 80}", "from 0 to 1");
        unjudged("levenshtein: {}", "null", "x", "no `expected`");
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition_and_is_symmetric(
            a in prop::collection::vec(prop::sample::select(vec!['a', 'b', 'ß', '日', '𝄞']), 0..200),
            b in prop::collection::vec(prop::sample::select(vec!['a', 'b', 'ß', '日', '𝄞']), 0..200),
        ) {
            let expected = naive(&a, &b);
            prop_assert_eq!(distance(&a, &b), Some(expected));
            prop_assert_eq!(distance(&b, &a), Some(expected));
            prop_assert_eq!(bit_parallel(&a, &b), expected);
        }
    }
}
