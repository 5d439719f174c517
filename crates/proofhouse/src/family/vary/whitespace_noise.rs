//! The `whitespace_noise` generator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rng::Stream;
use super::space::{Space, fill};
use super::{Ask, Edit, Generator, Lack, Maker, Settings, Variants, intensity, scan};
use crate::text::complaint::Complaint;

/// Extra spaces, tabs and line breaks between words.
///
/// Copy and paste, line wrapping and irregular spacing leave such traces. White space is only inserted where the
/// instruction has some already, and never in a quotation or in code.
///
/// Guarantee: only space, tab and newline are inserted, only at existing gaps; the sequence of tokens is unchanged;
/// inserted characters ÷ characters of the base lies within `intensity_min` and `intensity_max`, give or take one
/// character.
///
/// ```yaml
/// whitespace_noise: {intensity_min: 0.05, intensity_max: 0.35}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WhitespaceNoise {
    /// The smallest share of inserted characters, from 0 to 1.
    pub intensity_min: f64,
    /// The greatest share of inserted characters, from 0 to 1.
    pub intensity_max: f64,
}

impl Default for WhitespaceNoise {
    fn default() -> Self {
        WhitespaceNoise { intensity_min: 0.05, intensity_max: 0.35 }
    }
}

impl Settings for WhitespaceNoise {
    const NAME: &'static str = "whitespace_noise";
    const GENERATOR_VERSION: u32 = 2;

    fn check(&self) -> Result<(), Complaint> {
        intensity::check(self.intensity_min, self.intensity_max)
    }

    fn maker(&self) -> Maker<'_> {
        Maker::Rules(self)
    }
}

impl Generator for WhitespaceNoise {
    fn variants(&self, ask: &Ask<'_>) -> Variants {
        let gaps = gaps(ask.base);
        if gaps.is_empty() {
            return Variants::of(Vec::new(), ask.count, Lack::NoGap);
        }
        let (least, most) =
            intensity::counts(ask.base.chars().count(), self.intensity_min, self.intensity_max);
        // A range that holds no whole number of characters, or only zero, is met within one character.
        let most = most.max(1);
        let least = least.clamp(1, most);
        fill::<Self>(ask, &Insertions { gaps, least, most })
    }
}

/// Where each run of ASCII white space between two chunks starts.
///
/// The start and not the end, so that a combining mark after the run keeps its carrier. Other white space, such as a
/// no-break space, is there on purpose.
fn gaps(text: &str) -> Vec<usize> {
    let chunks = scan::chunks(text);
    chunks
        .windows(2)
        .filter(|pair| !(pair[0].code || pair[1].code || (pair[0].quoted && pair[1].quoted)))
        .filter(|pair| {
            let run = &text[pair[0].whole.end..pair[1].whole.start];
            // A backslash before a line break joins two lines.
            let joined = text[..pair[0].whole.end].ends_with('\\');
            !joined && run.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
        })
        .map(|pair| pair[0].whole.end)
        .collect()
}

const SIGNS: [char; 3] = [' ', '\t', '\n'];

struct Insertions {
    gaps: Vec<usize>,
    least: usize,
    most: usize,
}

/// One inserted character each: the number of its gap and of its sign, in the order of the text.
type Inserted = Vec<(usize, usize)>;

impl Space for Insertions {
    type Point = Inserted;

    fn first(&self) -> Inserted {
        vec![(0, 0); self.least]
    }

    fn advance(&self, point: &mut Inserted) -> bool {
        for rank in (0..point.len()).rev() {
            let (gap, sign) = point[rank];
            let next = if sign + 1 < SIGNS.len() { (gap, sign + 1) } else { (gap + 1, 0) };
            if next.0 < self.gaps.len() {
                point[rank] = next;
                point[rank + 1..].fill((next.0, 0));
                return true;
            }
        }
        let longer = point.len() < self.most;
        *point = vec![(0, 0); point.len() + 1];
        longer
    }

    fn draw(&self, stream: &mut Stream) -> Inserted {
        let count = self.least + stream.below(self.most - self.least + 1);
        let mut point: Inserted =
            (0..count).map(|_| (stream.below(self.gaps.len()), stream.below(SIGNS.len()))).collect();
        point.sort_by_key(|(gap, _)| *gap);
        point
    }

    fn edits(&self, point: &Inserted) -> Vec<Edit> {
        point
            .chunk_by(|a, b| a.0 == b.0)
            .map(|signs| {
                let inserted: String = signs.iter().map(|(_, sign)| SIGNS[*sign]).collect();
                Edit::insert(self.gaps[signs[0].0], inserted)
            })
            .collect()
    }
}
