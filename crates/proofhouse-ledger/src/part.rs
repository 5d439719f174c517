//! A part of a plan: what one of several machines runs, and where its records stand in the whole.
//!
//! Trials of one case on one target are never split: a stopping rule looks at all of them. Which part they belong to follows from
//! the two names alone, so that every machine knows it without asking the others.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Digest;

/// The most parts that a plan may have: names of directories have four digits, and nobody has more machines.
pub const MAX_PARTS: u32 = 9_999;

/// One of `count` parts, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// How many parts there are.
    pub count: u32,
    /// Which one, from 0.
    pub index: u32,
}

/// Why a text names no part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a shard is I/N with 0 <= I < N <= {MAX_PARTS}, as in `0/4`")]
pub struct NoPart;

impl Part {
    /// All of it.
    pub const WHOLE: Part = Part { count: 1, index: 0 };

    /// Part `index` of `count`.
    ///
    /// # Errors
    /// Where there is no such part.
    pub fn new(index: u32, count: u32) -> Result<Part, NoPart> {
        if index < count && count <= MAX_PARTS { Ok(Part { count, index }) } else { Err(NoPart) }
    }

    /// Whether the trials of a case on the target in this slot belong to it.
    pub fn holds(&self, case_id: &str, slot: &str) -> bool {
        Part::of(case_id, slot, self.count) == *self
    }

    /// The part of `count` that the trials of a case on the target in this slot belong to.
    pub fn of(case_id: &str, slot: &str, count: u32) -> Part {
        // One part holds everything: there is nothing to compute.
        if count <= 1 {
            return Part::WHOLE;
        }
        let length = (case_id.len() as u64).to_le_bytes();
        let digest = Digest::of_parts(&[b"shard", &length, case_id.as_bytes(), slot.as_bytes()]);
        let number = u64::from_le_bytes(digest.0[..8].try_into().expect("eight of thirty-two bytes"));
        let index = u32::try_from(number % u64::from(count)).expect("less than a 32-bit number");
        Part { count, index }
    }

    /// `shard-0003-of-0100`: what its directory ends with.
    pub fn suffix(&self) -> String {
        format!("shard-{:04}-of-{:04}", self.index, self.count)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Part {
    type Err = NoPart;

    fn from_str(text: &str) -> Result<Part, NoPart> {
        let number = |text: &str| text.parse::<u32>().ok().filter(|_| !text.starts_with('+')).ok_or(NoPart);
        let (index, count) = text.split_once('/').ok_or(NoPart)?;
        Part::new(number(index)?, number(count)?)
    }
}

/// Where the records of a directory stand in the plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Places {
    /// Every trial has its line: the n-th line is trial n.
    #[default]
    Whole,
    /// These trials have a line each, in this order, which is the plan's.
    Listed(Arc<[u64]>),
    /// Lines of a part whose plan is not at hand: all that is known is that indexes rise.
    Rising,
}

impl Places {
    /// The trial whose line is the `place`-th, from 0; nothing behind the last one, or where it is not known.
    pub fn at(&self, place: u64) -> Option<u64> {
        match self {
            Places::Whole => Some(place),
            Places::Listed(indexes) => indexes.get(usize::try_from(place).ok()?).copied(),
            Places::Rising => None,
        }
    }

    /// The line of a trial.
    pub fn of(&self, index: u64) -> Option<u64> {
        match self {
            Places::Whole => Some(index),
            Places::Listed(indexes) => indexes.binary_search(&index).ok().map(|place| place as u64),
            Places::Rising => None,
        }
    }

    /// Whether trial `index` may have the `place`-th line, behind that of trial `last`.
    pub fn fits(&self, place: u64, index: u64, last: Option<u64>) -> bool {
        match self {
            Places::Rising => last.is_none_or(|last| last < index),
            known => known.at(place) == Some(index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_names() {
        let part: Part = "3/100".parse().unwrap();
        assert_eq!((part.index, part.count, part.suffix().as_str()), (3, 100, "shard-0003-of-0100"));
        assert_eq!(part.to_string(), "3/100");
        for wrong in ["", "3", "4/4", "-1/4", "+1/4", "1/0", "a/b", "1/4/4", "0/10000", " 0/4"] {
            assert_eq!(wrong.parse::<Part>(), Err(NoPart), "{wrong}");
        }
    }

    #[test]
    fn every_case_of_a_slot_is_in_one_part_and_parts_are_even() {
        for count in [1, 2, 7, 100] {
            let mut sizes = vec![0u32; count as usize];
            for number in 0..10_000 {
                // Few cases on many targets are spread as well as many cases on one.
                let (name, slot) = (format!("case-{}", number / 100), format!("slot-{}", number % 100));
                let holds = (0..count).filter(|index| Part::new(*index, count).unwrap().holds(&name, &slot));
                let holders: Vec<u32> = holds.collect();
                assert_eq!(holders.len(), 1, "{name} on {slot} of {count}");
                sizes[holders[0] as usize] += 1;
            }
            let even = 10_000 / count;
            assert!(sizes.iter().all(|size| size.abs_diff(even) <= even / 2 + 1), "{count}: {sizes:?}");
        }
    }

    #[test]
    fn places_of_lines() {
        let listed = Places::Listed([2, 5, 9].into());
        assert_eq!((listed.at(1), listed.at(3), listed.of(9), listed.of(3)), (Some(5), None, Some(2), None));
        assert!(listed.fits(0, 2, None) && !listed.fits(0, 5, None));
        assert!(Places::Whole.fits(4, 4, Some(3)) && !Places::Whole.fits(4, 5, Some(3)));
        assert!(Places::Rising.fits(1, 7, Some(3)) && !Places::Rising.fits(1, 3, Some(3)));
    }
}
