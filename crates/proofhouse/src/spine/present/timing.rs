//! How long answers took, from the telemetry beside a run.

use std::collections::BTreeMap;

use proofhouse_ledger::read::{LineReader, lines};
use proofhouse_ledger::{Json, RunPaths, json};

/// Latencies by slot.
#[derive(Debug, Default)]
pub(crate) struct Timing {
    pub(crate) slots: BTreeMap<String, Measured>,
    /// What each trial's answer took in milliseconds, by the trial's index in ascending order; without what came from a cache.
    pub(crate) trials: Vec<(u64, f32)>,
}

/// The latencies of one slot's answers.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    /// In milliseconds, in ascending order.
    sorted: Vec<f32>,
    /// Answers that nobody was asked for.
    pub(crate) cached: u64,
}

impl Measured {
    /// The smallest latency that this share of the answers does not exceed.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        let rank = (share * self.sorted.len() as f64).ceil() as usize;
        self.sorted.get(rank.max(1) - 1).copied().map(f64::from)
    }

    pub(crate) fn count(&self) -> u64 {
        self.sorted.len() as u64
    }
}

/// One trial of the telemetry, in sixteen bytes: there may be millions.
struct TrialTime {
    index: u64,
    slot: u32,
    cached: bool,
    /// In milliseconds; not a number where no answer came over a network.
    latency: f32,
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
    let mut slots: BTreeMap<String, u32> = BTreeMap::new();
    let mut trials: Vec<TrialTime> = Vec::new();
    let mut last: Option<TrialTime> = None;
    // As long as nothing was asked over a network, and nothing came from a cache, trials need not be remembered.
    let keep = |trials: &mut Vec<TrialTime>, seen: Option<TrialTime>| {
        let told = |seen: &TrialTime| seen.cached || !seen.latency.is_nan();
        trials.extend(seen.filter(|seen| !trials.is_empty() || told(seen)));
    };
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
                    let Some(name) = line.get("slot").and_then(Json::as_str) else { continue };
                    let next = slots.len() as u32;
                    let slot = match slots.get(name) {
                        Some(slot) => *slot,
                        None => *slots.entry(name.to_owned()).or_insert(next),
                    };
                    let cached = line.get("cached") == Some(&Json::Bool(true));
                    let seen = TrialTime { index, slot, cached, latency: f32::NAN };
                    keep(&mut trials, last.replace(seen));
                }
                // The attempts of a trial stand right behind it.
                Some("attempt") if line.get("result").and_then(Json::as_str) == Some("answered") => {
                    if let (Some(last), Some(took)) = (&mut last, number("elapsed_ms"))
                        && last.index == index
                    {
                        last.latency = took as f32;
                    }
                }
                _ => {}
            }
        }
    }
    keep(&mut trials, last);
    // A trial that ran again counts as it ended.
    trials.sort_by_key(|seen| seen.index);
    let mut each = Vec::new();
    let mut measured: Vec<Measured> = slots.values().map(|_| Measured::default()).collect();
    for same in trials.chunk_by(|a, b| a.index == b.index) {
        let ended = &same[same.len() - 1];
        let measured = &mut measured[ended.slot as usize];
        each.extend((!ended.latency.is_nan()).then_some((ended.index, ended.latency)));
        measured.sorted.extend((!ended.latency.is_nan()).then_some(ended.latency));
        measured.cached += u64::from(ended.cached);
    }
    measured.iter_mut().for_each(|measured| measured.sorted.sort_by(f32::total_cmp));
    let named = slots.into_iter().map(|(name, slot)| (name, std::mem::take(&mut measured[slot as usize])));
    (!trials.is_empty()).then(|| Timing { slots: named.collect(), trials: each })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_latencies_that_were_measured() {
        let measured = |list: &[f32]| Measured { sorted: list.to_vec(), cached: 0 };
        let hundred: Vec<f32> = (1..=100u8).map(f32::from).collect();
        assert_eq!(measured(&hundred).quantile(0.5), Some(50.0));
        assert_eq!(measured(&hundred).quantile(0.95), Some(95.0));
        assert_eq!(measured(&[7.0]).quantile(0.95), Some(7.0));
        assert_eq!(measured(&[]).quantile(0.5), None);
    }
}
