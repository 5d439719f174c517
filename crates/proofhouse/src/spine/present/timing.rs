//! How long answers took, from the telemetry beside a run.

use std::collections::BTreeMap;

use proofhouse_ledger::read::{LineReader, lines};
use proofhouse_ledger::{Json, RunPaths, json};

/// Latencies by slot.
#[derive(Debug, Default)]
pub(crate) struct Timing {
    pub(crate) slots: BTreeMap<String, Measured>,
}

/// The latencies of one slot's answers.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    /// In milliseconds, in ascending order.
    sorted: Vec<f64>,
    /// Answers that nobody was asked for.
    pub(crate) cached: u64,
}

impl Measured {
    /// The smallest latency that this share of the answers does not exceed.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        let rank = (share * self.sorted.len() as f64).ceil() as usize;
        self.sorted.get(rank.max(1) - 1).copied()
    }

    pub(crate) fn count(&self) -> u64 {
        self.sorted.len() as u64
    }
}

/// The median latency of each slot's answers and the 95th percentile, in milliseconds.
pub(crate) fn latencies(run: &RunPaths) -> BTreeMap<String, (f64, f64)> {
    let slots = read(run).map(|timing| timing.slots).unwrap_or_default();
    let both = |measured: &Measured| Some((measured.quantile(0.5)?, measured.quantile(0.95)?));
    slots.iter().filter_map(|(slot, measured)| Some((slot.clone(), both(measured)?))).collect()
}

/// Reads the telemetry of a run; none where there is none, or where no answer came over a network.
pub(crate) fn read(run: &RunPaths) -> Option<Timing> {
    let mut reader = LineReader::open(&run.telemetry()).ok()?;
    // Trial → its slot, and how long its answer took once that is known. A trial that ran again counts as it ended.
    let mut trials: BTreeMap<u64, (String, Option<f64>, bool)> = BTreeMap::new();
    let mut over_network = false;
    loop {
        let block = reader.next_lines().ok()?;
        if block.is_empty() {
            break;
        }
        for line in lines(block) {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            // A line that was cut off at a crash says nothing.
            let Ok(line) = json::parse(line, json::Strictness::Lenient) else { continue };
            let number = |key: &str| line.get(key).and_then(Json::as_f64);
            let Some(index) = number("index").map(|index| index as u64) else { continue };
            match line.get("event").and_then(Json::as_str) {
                Some("trial") => {
                    let Some(slot) = line.get("slot").and_then(Json::as_str) else { continue };
                    let cached = line.get("cached") == Some(&Json::Bool(true));
                    trials.insert(index, (slot.to_owned(), None, cached));
                }
                Some("attempt") if line.get("result").and_then(Json::as_str) == Some("answered") => {
                    over_network = true;
                    if let Some((_, latency, _)) = trials.get_mut(&index) {
                        *latency = number("elapsed_ms");
                    }
                }
                _ => {}
            }
        }
    }
    let mut timing = Timing::default();
    for (slot, latency, cached) in trials.into_values() {
        let measured = timing.slots.entry(slot).or_default();
        measured.sorted.extend(latency);
        measured.cached += u64::from(cached);
    }
    timing.slots.values_mut().for_each(|measured| measured.sorted.sort_by(f64::total_cmp));
    let cached: u64 = timing.slots.values().map(|measured| measured.cached).sum();
    (over_network || cached > 0).then_some(timing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_latencies_that_were_measured() {
        let measured = |list: &[f64]| Measured { sorted: list.to_vec(), cached: 0 };
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(measured(&hundred).quantile(0.5), Some(50.0));
        assert_eq!(measured(&hundred).quantile(0.95), Some(95.0));
        assert_eq!(measured(&[7.0]).quantile(0.95), Some(7.0));
        assert_eq!(measured(&[]).quantile(0.5), None);
    }
}
