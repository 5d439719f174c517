//! Which rows of a file are cases: those that meet a condition, or a sample of them.

use std::sync::Arc;

use proofhouse_ledger::Digest;
use proofhouse_ledger::json::Object;

use super::{Dataset, Rows};
use crate::spine::suite::problem::Problem;
use crate::text::template::{Condition, Ready, Unfilled};

/// Which rows are cases; all of them by default.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    /// What a row has to meet.
    pub(crate) condition: Option<Condition>,
    /// Places among the rows that meet it, in ascending order.
    chosen: Option<Arc<Vec<u64>>>,
}

impl Selection {
    /// Those that meet a condition.
    pub(crate) fn of(condition: Option<Condition>) -> Self {
        Selection { condition, chosen: None }
    }

    /// Whether no row is left out.
    pub(super) fn is_all(&self) -> bool {
        self.condition.is_none() && self.chosen.is_none()
    }

    pub(super) fn start(&self) -> Selecting {
        let condition = self.condition.as_ref().map(Condition::ready);
        Selecting { condition, chosen: self.chosen.clone(), at: 0, next: 0 }
    }
}

/// A selection on its way through a file.
pub(crate) struct Selecting {
    condition: Option<Ready>,
    chosen: Option<Arc<Vec<u64>>>,
    /// Rows that met the condition so far.
    at: u64,
    /// The next chosen one.
    next: usize,
}

impl Selecting {
    pub(super) fn takes(&mut self, row: &Object) -> Result<bool, Unfilled> {
        if let Some(condition) = &self.condition
            && !condition.holds(row)?
        {
            return Ok(false);
        }
        let at = self.at;
        self.at += 1;
        let Some(chosen) = &self.chosen else { return Ok(true) };
        let taken = chosen.get(self.next) == Some(&at);
        self.next += usize::from(taken);
        Ok(taken)
    }
}

/// Draws `count` of all rows of several files together, by a seed: the same rows for the same files, whatever else a suite
/// asks. Reads every file once; what cannot be read is reported by whoever reads it next.
pub(crate) fn sample(datasets: &mut [Dataset], count: u64, seed: u64) -> Result<u64, Problem> {
    let mut ranked: Vec<(u64, usize, u64)> = Vec::new();
    let mut total = 0;
    for (place, dataset) in datasets.iter().enumerate() {
        let whole = Arc::new(Dataset {
            name: dataset.name.clone(),
            path: dataset.path.clone(),
            format: dataset.format,
            lenient: dataset.lenient,
            keys: Arc::clone(&dataset.keys),
            selection: dataset.selection.clone(),
        });
        let mut rows = Rows::open(&whole)?;
        let mut at = 0;
        loop {
            match rows.next() {
                Ok(None) => break,
                Ok(Some(_)) => {
                    let parts: [&[u8]; 4] = [
                        b"sample",
                        &seed.to_le_bytes(),
                        &(place as u64).to_le_bytes(),
                        &u64::to_le_bytes(at),
                    ];
                    let rank = u64::from_le_bytes(
                        Digest::of_parts(&parts).0[..8].try_into().expect("eight of thirty-two"),
                    );
                    ranked.push((rank, place, at));
                    at += 1;
                    total += 1;
                    // Only the best are kept, so that memory grows with the sample and not with the file.
                    if ranked.len() as u64 >= count.saturating_mul(2).max(1 << 16) {
                        ranked.sort_unstable();
                        ranked.truncate(usize::try_from(count).unwrap_or(usize::MAX));
                    }
                }
                Err(bad) => return Err(*bad.problem),
            }
        }
    }
    ranked.sort_unstable();
    ranked.truncate(usize::try_from(count).unwrap_or(usize::MAX));
    for (place, dataset) in datasets.iter_mut().enumerate() {
        let mut chosen: Vec<u64> =
            ranked.iter().filter(|(_, of, _)| *of == place).map(|(_, _, at)| *at).collect();
        chosen.sort_unstable();
        dataset.selection.chosen = Some(Arc::new(chosen));
    }
    Ok(total)
}
