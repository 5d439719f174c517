//! Bounds of a share that hold at every number of runs at once, for whoever adds runs without a plan.

use statrs::function::beta::ln_beta;

use super::interval::{Interval, boundary};

/// All shares that the runs so far do not speak against by more than 1/`error`: a confidence sequence, which misses the true share
/// at any time with a chance of at most `error`. None without runs.
///
/// The beta-binomial mixture of Robbins (1970), Annals of Mathematical Statistics 41, 1397–1409, with Jeffreys' weight; see
/// Howard, Ramdas, McAuliffe and Sekhon (2021), Annals of Statistics 49, 1055–1080.
///
/// # Panics
/// When there are more hits than runs.
pub fn confidence_sequence(hits: u64, runs: u64, error: f64) -> Option<Interval> {
    assert!(hits <= runs, "no more hits than runs");
    if runs == 0 {
        return None;
    }
    let (h, m) = (hits as f64, (runs - hits) as f64);
    let rate = h / runs as f64;
    let mixture = ln_beta(h + 0.5, m + 0.5) - ln_beta(0.5, 0.5);
    let power = |of: f64, to: f64| if to == 0.0 { 0.0 } else { to * of.ln() };
    let excluded = |share: f64| mixture - power(share, h) - power(1.0 - share, m) >= -error.ln();
    let low = if hits == 0 { 0.0 } else { boundary(0.0, rate, excluded) };
    let high = if hits == runs { 1.0 } else { boundary(rate, 1.0, |share| !excluded(share)) };
    Some(Interval { low, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_for_a_half_24_for_four_fifths_53_for_nine_tenths() {
        for (runs, share) in [(7, 0.5), (24, 0.8), (53, 0.9)] {
            assert!(confidence_sequence(runs, runs, 0.05).unwrap().low >= share, "{runs}");
            assert!(confidence_sequence(runs - 1, runs - 1, 0.05).unwrap().low < share, "{runs}");
            let mirrored = confidence_sequence(0, runs, 0.05).unwrap();
            assert!((1.0 - mirrored.high - confidence_sequence(runs, runs, 0.05).unwrap().low).abs() < 1e-9);
        }
        assert_eq!(confidence_sequence(0, 0, 0.05), None);
    }

    /// By dynamic programming over 300 runs with a look after each: missed at any time in at most 5 %, at every share.
    #[test]
    fn looking_at_every_run_is_paid_for() {
        for share in [0.05, 0.3, 0.5, 0.8, 0.97] {
            let (mut open, mut missed) = (vec![1.0], 0.0);
            for n in 1..=300u64 {
                let mut next = vec![0.0; open.len() + 1];
                for (hits, chance) in open.iter().enumerate() {
                    next[hits] += chance * (1.0 - share);
                    next[hits + 1] += chance * share;
                }
                for (hits, chance) in next.iter_mut().enumerate().filter(|(_, chance)| **chance > 0.0) {
                    if !confidence_sequence(hits as u64, n, 0.05).unwrap().contains(share) {
                        missed += std::mem::take(chance);
                    }
                }
                open = next;
            }
            assert!(missed > 0.001 && missed <= 0.05, "{share} {missed}");
        }
    }
}
