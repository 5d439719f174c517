//! Which lines of two files belong together, and which of them moved.
//!
//! An id usually stands once on each side. Where it stands more often, the occurrences that keep the order are paired
//! first, then what is left in turn; what remains is a duplicate, or removed or added if the other side has none at all.

use std::collections::BTreeMap;

use proofhouse_ledger::RecordId;

/// No line of the other side.
pub(super) const NONE: u32 = u32::MAX;

/// A line under its id: 16 bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) id: RecordId,
    pub(super) number: u32,
}

/// Which line belongs to which.
#[derive(Debug)]
pub(super) struct Pairs {
    /// For each line of A its partner in B, or none.
    pub(super) of_a: Vec<u32>,
    /// Whether the pair of a line of A is not among the most pairs that increase on both sides.
    pub(super) moved: Vec<bool>,
    /// Lines without a partner, in the order of their file.
    pub(super) lone_a: Vec<Lone>,
    pub(super) lone_b: Vec<Lone>,
}

/// A line without a partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lone {
    pub(super) number: u32,
    /// Whether another line of its side is the one that counts.
    pub(super) again: bool,
}

/// The lines of an id that stands more than once on a side.
#[derive(Debug, Default)]
struct Rivals {
    a: Vec<u32>,
    b: Vec<u32>,
}

/// Beyond this many ways to pair the lines of one id, they are paired in turn: nobody reads that far, and the time is bounded.
const MAX_RIVALRY: usize = 1 << 10;

impl Pairs {
    /// Pairs the entries of both sides, each sorted by id and then by number.
    pub(super) fn new(a: Vec<Entry>, b: Vec<Entry>) -> Self {
        let mut pairs =
            Self { of_a: vec![NONE; a.len()], moved: Vec::new(), lone_a: Vec::new(), lone_b: Vec::new() };
        let rivals = pairs.meet(&a, &b);
        drop((a, b));
        let kept = in_order(&pairs.of_a, &rivals);
        for group in &rivals {
            pairs.settle(group, &kept);
        }
        pairs.moved = pairs.of_a.iter().zip(&kept).map(|(b, kept)| *b != NONE && *kept == NONE).collect();
        pairs.lone_a.sort_unstable_by_key(|lone| lone.number);
        pairs.lone_b.sort_unstable_by_key(|lone| lone.number);
        pairs
    }

    /// Pairs the ids that stand once on each side and gives back the others.
    fn meet(&mut self, a: &[Entry], b: &[Entry]) -> Vec<Rivals> {
        let mut rivals = Vec::new();
        let (mut rest_a, mut rest_b) = (a, b);
        while let Some(id) =
            [rest_a.first(), rest_b.first()].into_iter().flatten().map(|entry| entry.id).min()
        {
            match (take_id(&mut rest_a, id), take_id(&mut rest_b, id)) {
                ([a], [b]) => self.of_a[a.number as usize] = b.number,
                (a, b) => {
                    let numbers = |entries: &[Entry]| entries.iter().map(|entry| entry.number).collect();
                    rivals.push(Rivals { a: numbers(a), b: numbers(b) });
                }
            }
        }
        rivals
    }

    /// Pairs the lines of one id: those that keep the order with each other, the rest in turn.
    fn settle(&mut self, group: &Rivals, kept: &[u32]) {
        let kept_of = |a: &u32| kept[*a as usize];
        let taken: Vec<u32> = group.a.iter().map(kept_of).filter(|b| *b != NONE).collect();
        let (mut left_a, mut left_b) = (Vec::new(), Vec::new());
        for a in &group.a {
            match kept_of(a) {
                NONE => left_a.push(*a),
                b => self.of_a[*a as usize] = b,
            }
        }
        // What keeps the order increases on both sides, so this list is sorted.
        left_b.extend(group.b.iter().filter(|b| taken.binary_search(b).is_err()));
        for (a, b) in left_a.iter().zip(&left_b) {
            self.of_a[*a as usize] = *b;
        }
        let paired = left_a.len().min(left_b.len());
        let lone = |(at, number): (usize, &u32)| Lone { number: *number, again: at + taken.len() > 0 };
        self.lone_a.extend(left_a.iter().enumerate().skip(paired).map(lone));
        self.lone_b.extend(left_b.iter().enumerate().skip(paired).map(lone));
    }
}

/// Takes the entries of `id` off the front.
fn take_id<'e>(rest: &mut &'e [Entry], id: RecordId) -> &'e [Entry] {
    let count = rest.iter().take_while(|entry| entry.id == id).count();
    let (same, behind) = rest.split_at(count);
    *rest = behind;
    same
}

/// A pair on the way to the longest run of pairs that increases on both sides.
struct Step {
    a: u32,
    b: u32,
    /// The step before it.
    before: u32,
}

/// For each line of A its partner on a longest run of pairs that increases on both sides, or none (Hunt and Szymanski).
fn in_order(singles: &[u32], rivals: &[Rivals]) -> Vec<u32> {
    let turns =
        rivals.iter().flat_map(|group| group.a.iter().enumerate().map(move |(turn, a)| (*a, (group, turn))));
    let group_of: BTreeMap<u32, (&Rivals, usize)> = turns.collect();
    let mut steps: Vec<Step> = Vec::with_capacity(singles.len());
    // tails[n] is the step that ends the run of n + 1 pairs with the smallest line of B.
    let mut tails: Vec<u32> = Vec::with_capacity(singles.len());
    let mut reach = |a: u32, b: u32| {
        let shorter = tails.partition_point(|tail| steps[*tail as usize].b < b);
        let before = if shorter == 0 { NONE } else { tails[shorter - 1] };
        let step = steps.len() as u32;
        steps.push(Step { a, b, before });
        if shorter == tails.len() { tails.push(step) } else { tails[shorter] = step }
    };
    for (a, single) in (0u32..).zip(singles) {
        if *single != NONE {
            reach(a, *single);
        } else if let Some((group, turn)) = group_of.get(&a) {
            // From the last to the first, so that a line of A is never followed by itself.
            group.choices(*turn).rev().for_each(|b| reach(a, b));
        }
    }
    let mut kept = vec![NONE; singles.len()];
    let mut at = tails.last().copied().unwrap_or(NONE);
    while at != NONE {
        let step = &steps[at as usize];
        kept[step.a as usize] = step.b;
        at = step.before;
    }
    kept
}

impl Rivals {
    /// The lines of B that a line of A may be paired with, in the order of the file.
    fn choices(&self, turn: usize) -> impl DoubleEndedIterator<Item = u32> {
        let few = self.a.len() * self.b.len() <= MAX_RIVALRY;
        let own = turn.min(self.b.len())..(turn + 1).min(self.b.len());
        self.b[if few { 0..self.b.len() } else { own }].iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use proofhouse_ledger::Digest;

    use super::*;

    fn pairs(a: &str, b: &str) -> Pairs {
        let entries = |text: &str| {
            let id = |c: char| RecordId::from_digest(&Digest::of(c.to_string().as_bytes()));
            let mut entries: Vec<Entry> =
                (0u32..).zip(text.chars()).map(|(number, c)| Entry { id: id(c), number }).collect();
            entries.sort_unstable_by_key(|entry| (entry.id, entry.number));
            entries
        };
        Pairs::new(entries(a), entries(b))
    }

    /// Moved lines of A, then the lone ones of each side with a `+` behind duplicates.
    fn check(a: &str, b: &str, moved: &str, lone_a: &str, lone_b: &str) {
        let found = pairs(a, b);
        let chosen = |lone: &[Lone], text: &str| -> String {
            lone.iter()
                .map(|lone| {
                    let c = text.chars().nth(lone.number as usize).unwrap();
                    format!("{c}{}", if lone.again { "+" } else { "" })
                })
                .collect()
        };
        let moves: String =
            a.chars().zip(&found.moved).filter(|(_, moved)| **moved).map(|(c, _)| c).collect();
        assert_eq!((moves.as_str(), chosen(&found.lone_a, a).as_str()), (moved, lone_a), "{a} {b}");
        assert_eq!(chosen(&found.lone_b, b), lone_b, "{a} {b}");
    }

    #[test]
    fn the_fewest_lines_move() {
        check("abcd", "abcd", "", "", "");
        check("abcd", "bcda", "a", "", "");
        check("abcd", "dabc", "d", "", "");
        check("abcde", "axceb", "b", "d", "x");
    }

    #[test]
    fn a_duplicate_is_the_one_out_of_order() {
        check("abcd", "abcda", "", "", "a+");
        check("abcd", "dabcd", "", "", "d+");
        check("abcd", "abbcd", "", "", "b+");
        check("aabcd", "abcd", "", "a+", "");
        check("aab", "b", "", "aa+", "");
        check("xax", "ax", "", "x+", "");
        check("abab", "baba", "a", "", "");
    }

    #[test]
    fn many_lines_of_one_id_take_no_longer() {
        let (a, b) = ("a".repeat(100_000), "a".repeat(99_999));
        assert_eq!(pairs(&a, &b).lone_a.len(), 1);
    }
}
