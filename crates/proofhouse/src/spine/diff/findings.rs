//! What a walk over two files has found so far: of each case and target a few counts, and of changes the first ones.

use std::collections::BTreeMap;

use proofhouse_ledger::Digest;

use super::noise::Table;
use super::report::{Change, Class, Side, Torn, Unreadable};

/// What was seen of one file.
#[derive(Debug, Default)]
pub(super) struct Walked {
    pub(super) lines: u64,
    pub(super) torn: Option<Torn>,
    pub(super) unreadable: u64,
    pub(super) misplaced: u64,
    pub(super) first_misplaced_line: Option<u64>,
}

/// Counts of everything and the first `limit` changes of each class.
#[derive(Debug)]
pub(super) struct Findings {
    limit: usize,
    pub(super) common: u64,
    /// Common trials that changed or could not be read.
    pub(super) changed_pairs: u64,
    pub(super) worst: BTreeMap<Class, u64>,
    pub(super) any: BTreeMap<Class, u64>,
    pub(super) kept: BTreeMap<Class, Vec<Change>>,
    pub(super) unreadable: Vec<Unreadable>,
    pub(super) unreadable_count: u64,
    pub(super) table: Table,
    pub(super) walked_a: Walked,
    pub(super) walked_b: Walked,
}

impl Findings {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            common: 0,
            changed_pairs: 0,
            worst: BTreeMap::new(),
            any: BTreeMap::new(),
            kept: BTreeMap::new(),
            unreadable: Vec::new(),
            unreadable_count: 0,
            table: Table::default(),
            walked_a: Walked::default(),
            walked_b: Walked::default(),
        }
    }

    pub(super) fn walked(&mut self, side: Side) -> &mut Walked {
        match side {
            Side::A => &mut self.walked_a,
            Side::B => &mut self.walked_b,
        }
    }

    /// A trial with a record on both sides, and what both said of it; `slot` as it stands in the record.
    pub(super) fn pair(&mut self, slot: &[u8], case: u64, passed: (Option<bool>, Option<bool>)) {
        self.common += 1;
        self.table.add(slot, case, passed);
    }

    /// A trial with a line on both sides, one of which is no record.
    pub(super) fn unreadable_pair(&mut self) {
        self.common += 1;
    }

    /// A changed record with its classes, worst first; `detail` is made only if it will be kept.
    pub(super) fn change(&mut self, paired: bool, classes: &[Class], detail: impl FnOnce() -> Change) {
        let Some(worst) = classes.first() else { return };
        self.changed_pairs += u64::from(paired);
        *self.worst.entry(*worst).or_default() += 1;
        for class in classes {
            *self.any.entry(*class).or_default() += 1;
        }
        let kept = self.kept.entry(*worst).or_default();
        if kept.len() < self.limit {
            kept.push(detail());
        }
    }

    pub(super) fn unreadable(&mut self, side: Side, number: u64, what: String) {
        self.unreadable_count += 1;
        self.walked(side).unreadable += 1;
        if self.unreadable.len() < self.limit.max(1) {
            self.unreadable.push(Unreadable { side, line: number + 1, what });
        }
    }

    /// A record's index says another line than the one it stands on.
    pub(super) fn place(&mut self, side: Side, index: u64, number: u64) {
        if index != number {
            let walked = self.walked(side);
            walked.misplaced += 1;
            walked.first_misplaced_line.get_or_insert(number + 1);
        }
    }

    pub(super) fn end(&mut self, side: Side, lines: u64, torn: &[u8]) {
        let walked = self.walked(side);
        walked.lines = lines;
        if !torn.is_empty() {
            let size_bytes = torn.len() as u64;
            walked.torn = Some(Torn { line: lines + 1, size_bytes, sha256: Digest::of(torn) });
        }
    }
}
