//! Telling removed, duplicated and reordered lines apart by the indexes that pass by.

use std::cmp::Ordering;
use std::collections::BTreeMap;

/// What an index says about its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Where it belongs.
    Right,
    /// Lines before it are not there (yet).
    After,
    /// It belongs further up.
    Late,
    /// It was there already.
    Again,
}

/// Follows the indexes of a file.
#[derive(Debug, Default)]
pub(super) struct Order {
    next: u64,
    /// Gaps that may still be filled by a late line: first → one past the last.
    gaps: BTreeMap<u64, u64>,
    /// Whether gaps are as they should be, and not remembered.
    rising: bool,
}

impl Order {
    /// For the lines of a part of a plan, which has more gaps than lines.
    pub(super) fn rising() -> Self {
        Order { rising: true, ..Order::default() }
    }

    pub(super) fn see(&mut self, index: u64) -> Place {
        match index.cmp(&self.next) {
            Ordering::Equal => {
                self.next += 1;
                return Place::Right;
            }
            Ordering::Greater => {
                if !self.rising {
                    self.gaps.insert(self.next, index);
                }
                self.next = index.saturating_add(1);
                return Place::After;
            }
            Ordering::Less => {}
        }
        if self.rising {
            return if index + 1 == self.next { Place::Again } else { Place::Late };
        }
        let Some((&from, &to)) = self.gaps.range(..=index).next_back().filter(|(_, to)| index < **to) else {
            return Place::Again;
        };
        self.gaps.remove(&from);
        if from < index {
            self.gaps.insert(from, index);
        }
        if index + 1 < to {
            self.gaps.insert(index + 1, to);
        }
        Place::Late
    }

    /// Indexes that never came, given how many there should be: ranges, first and last.
    pub(super) fn missing(mut self, expected: Option<u64>) -> Vec<(u64, u64)> {
        if let Some(expected) = expected.filter(|expected| *expected > self.next) {
            self.gaps.insert(self.next, expected);
        }
        self.gaps.into_iter().map(|(from, to)| (from, to - 1)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follow(indexes: &[u64], expected: u64) -> (Vec<Place>, Vec<(u64, u64)>) {
        let mut order = Order::default();
        let places = indexes.iter().map(|index| order.see(*index)).collect();
        (places, order.missing(Some(expected)))
    }

    #[test]
    fn each_kind_of_disorder() {
        use Place::{After, Again, Late, Right};
        assert_eq!(follow(&[0, 1, 2], 3), (vec![Right, Right, Right], vec![]));
        assert_eq!(follow(&[0, 2], 3), (vec![Right, After], vec![(1, 1)]));
        assert_eq!(follow(&[0, 2, 1], 3), (vec![Right, After, Late], vec![]));
        assert_eq!(follow(&[0, 1, 1, 2], 3), (vec![Right, Right, Again, Right], vec![]));
        assert_eq!(follow(&[0, 2, 2], 3), (vec![Right, After, Again], vec![(1, 1)]));
        let mut part = Order::rising();
        let places: Vec<Place> = [3, 7, 7, 3, 9].map(|index| part.see(index)).to_vec();
        assert_eq!(places, [After, After, Again, Late, After]);
        assert!(part.gaps.is_empty(), "a part has more gaps than lines");
        assert_eq!(follow(&[0, 3, 1], 4), (vec![Right, After, Late], vec![(2, 2)]));
        assert_eq!(follow(&[0], 3), (vec![Right], vec![(1, 2)]));
        assert_eq!(follow(&[5, 3], 6), (vec![After, Late], vec![(0, 2), (4, 4)]));
    }
}
