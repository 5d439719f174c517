//! Repeated yes/no runs that end by a rule: which ends are possible, in how many ways, and the bounds that hold although somebody
//! looked after every run.
//!
//! The looks are part of the computation, so the bounds are exact: Armitage, McPherson and Rowe (1969), "Repeated significance
//! tests on accumulating data", Journal of the Royal Statistical Society A 132, 235–244, by summing over all paths. Ends are ordered by
//! stages (Siegmund 1978, Biometrika 65, 341–349): an earlier good end is better than a later one, and the opposite for bad ends.

use super::interval::{Interval, boundary};

/// When a series of runs ends early: after so many runs with at most, or at least, so many misses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// By number of runs: at most so many misses end it well.
    good: Vec<Option<u64>>,
    /// By number of runs: at least so many misses end it badly.
    bad: Vec<Option<u64>>,
}

/// How a side of a rule spends the error that it may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spending {
    /// As soon as there is enough of it for an end.
    AtOnce,
    /// In proportion to the runs, and only on ends with as many misses as a series of two kinds of outcome can have beside its
    /// usual one.
    Evenly,
}

/// What a rule is made for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Design {
    /// The share of hits that good and bad ends are to tell from: at it, each has at most the chance `error`.
    pub share: f64,
    /// The chance of a wrong good end, and of a wrong bad end.
    pub error: f64,
    /// The most runs.
    pub cap: u64,
    /// How the two sides spend it.
    pub spending: (Spending, Spending),
    /// Whether the hit is the outcome that turned out to be usual, so that misses alone would be called hits.
    pub either: bool,
}

impl Design {
    /// The rule, from the first run to the last: an end is taken as soon as the error that is left allows it.
    pub fn rule(&self) -> Rule {
        let cap = self.cap as usize;
        let mut rule = Rule { good: vec![None; cap + 1], bad: vec![None; cap + 1] };
        let (mut spent_good, mut spent_bad) = (0.0, 0.0);
        // By misses: the chance to be there with nothing ended, if hits have the share, and if misses have it.
        let mut open = vec![1.0];
        let mut turned = vec![1.0];
        for n in 1..=cap {
            open = step(&open, self.share);
            turned = step(&turned, if self.either { 1.0 - self.share } else { 0.0 });
            let allowed_good = self.allowed(self.spending.0, n);
            let (mut taken, mut at_most) = (0.0, None);
            for misses in 0..=n {
                let chance = open[misses] + if self.either { turned[misses] } else { 0.0 };
                if spent_good + taken + chance > allowed_good {
                    break;
                }
                taken += chance;
                at_most = Some(misses as u64);
            }
            // A limit that only states which cannot be reached any more satisfy is none.
            rule.good[n] = at_most.filter(|_| taken > 0.0);
            spent_good += taken;
            let allowed_bad = self.allowed(self.spending.1, n);
            let (mut taken, mut at_least) = (0.0, None);
            let fewest = at_most.map_or(0, |most| most as usize + 1);
            for misses in (fewest..=n).rev() {
                if spent_bad + taken + open[misses] > allowed_bad {
                    break;
                }
                taken += open[misses];
                at_least = Some(misses as u64);
            }
            let reachable =
                self.spending.1 != Spending::Evenly || at_least.is_some_and(|m| 2 * m <= n as u64);
            if reachable && taken > 0.0 {
                rule.bad[n] = at_least;
                spent_bad += taken;
            }
            for misses in 0..=n {
                if rule.ends(n as u64, misses as u64).is_some() {
                    open[misses] = 0.0;
                    turned[misses] = 0.0;
                }
            }
        }
        rule
    }

    fn allowed(&self, spending: Spending, n: usize) -> f64 {
        match spending {
            Spending::AtOnce => self.error,
            Spending::Evenly => self.error * n as f64 / self.cap as f64,
        }
    }
}

/// One more run.
fn step(open: &[f64], share: f64) -> Vec<f64> {
    let mut next = vec![0.0; open.len() + 1];
    for (misses, chance) in open.iter().enumerate() {
        next[misses] += chance * share;
        next[misses + 1] += chance * (1.0 - share);
    }
    next
}

/// Which side of a rule ends a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Few misses.
    Good,
    /// Many misses.
    Bad,
}

impl Rule {
    /// Whether a series that went on until now ends after so many runs with so many misses.
    pub fn ends(&self, runs: u64, misses: u64) -> Option<Side> {
        let at = runs as usize;
        if self.good.get(at).copied().flatten().is_some_and(|most| misses <= most) {
            return Some(Side::Good);
        }
        self.bad.get(at).copied().flatten().is_some_and(|least| misses >= least).then_some(Side::Bad)
    }
}

/// One way for a series to end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct End {
    /// Runs.
    pub runs: u64,
    /// Of which so many missed.
    pub misses: u64,
    /// The logarithm of the number of sequences that end there.
    pub ln_ways: f64,
}

impl End {
    /// The probability of this end.
    pub fn chance(&self, share: f64) -> f64 {
        let power = |of: f64, to: u64| if to == 0 { 0.0 } else { to as f64 * of.ln() };
        (self.ln_ways + power(share, self.runs - self.misses) + power(1.0 - share, self.misses)).exp()
    }
}

/// All ends of a series, the best first.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    ends: Vec<End>,
}

impl Series {
    /// Of runs that follow the rule and stop at `cap` otherwise.
    pub fn by_rule(rule: &Rule, cap: u64) -> Self {
        let (mut good, mut bad): (Vec<End>, Vec<End>) = (Vec::new(), Vec::new());
        let mut open: Vec<f64> = vec![0.0];
        for runs in 1..=cap {
            let mut next = vec![f64::NEG_INFINITY; open.len() + 1];
            for (misses, ln_ways) in open.iter().enumerate() {
                next[misses] = ln_sum(next[misses], *ln_ways);
                next[misses + 1] = ln_sum(next[misses + 1], *ln_ways);
            }
            for (misses, ln_ways) in next.iter_mut().enumerate().filter(|(_, ln)| ln.is_finite()) {
                let end = End { runs, misses: misses as u64, ln_ways: *ln_ways };
                match rule.ends(runs, misses as u64) {
                    Some(Side::Good) => good.push(end),
                    Some(Side::Bad) => bad.push(end),
                    None => continue,
                }
                *ln_ways = f64::NEG_INFINITY;
            }
            open = next;
        }
        let last = open.iter().enumerate().filter(|(_, ln)| ln.is_finite());
        let last = last.map(|(misses, ln)| End { runs: cap, misses: misses as u64, ln_ways: *ln });
        bad.sort_by_key(|end| (std::cmp::Reverse(end.runs), end.misses));
        Self { ends: good.into_iter().chain(last).chain(bad).collect() }
    }

    /// Of a fixed number of runs.
    pub fn fixed(runs: u64) -> Self {
        Self::by_rule(&Rule { good: Vec::new(), bad: Vec::new() }, runs)
    }

    /// Of any other way to stop, ordered by the share of hits and then by the number of runs.
    pub fn ranked(mut ends: Vec<End>) -> Self {
        let worth = |end: &End| (end.misses as f64 / end.runs as f64, std::cmp::Reverse(end.runs));
        ends.sort_by(|a, b| worth(a).partial_cmp(&worth(b)).unwrap_or(std::cmp::Ordering::Equal));
        Self { ends }
    }

    /// The ends, the best first.
    pub fn ends(&self) -> &[End] {
        &self.ends
    }

    /// The bounds of the share of hits after such an end, each missed with a chance of at most `error`; none where the series
    /// does not end so. `either`: the hit is whatever turned out to be usual.
    pub fn bounds(&self, runs: u64, misses: u64, error: f64, either: bool) -> Option<Interval> {
        let at = self.ends.iter().position(|end| (end.runs, end.misses) == (runs, misses))?;
        let as_good = |share: f64| -> f64 { self.ends[..=at].iter().map(|end| end.chance(share)).sum() };
        let as_bad = |share: f64| -> f64 { self.ends[at..].iter().map(|end| end.chance(share)).sum() };
        let low = match misses == runs {
            true => 0.0,
            false if either => usual_low(as_good, error),
            false => boundary(0.0, 1.0, |share| as_good(share) <= error),
        };
        let high = if misses == 0 { 1.0 } else { boundary(0.0, 1.0, |share| as_bad(share) > error) };
        Some(Interval { low, high: high.max(low) })
    }
}

/// From a half on, the other outcome of two could have been the usual one as well.
fn usual_low(as_good: impl Fn(f64) -> f64, error: f64) -> f64 {
    let either = |share: f64| as_good(share) + as_good(1.0 - share);
    match as_good(0.5) <= error {
        true if either(0.5) > error => 0.5,
        true => boundary(0.5, 1.0, |share| either(share) <= error),
        false => boundary(0.0, 0.5, |share| as_good(share) <= error),
    }
}

fn ln_sum(a: f64, b: f64) -> f64 {
    let (large, small) = if a >= b { (a, b) } else { (b, a) };
    if small == f64::NEG_INFINITY { large } else { large + (small - large).exp().ln_1p() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::{Confidence, clopper_pearson};

    const STABLE: Design = Design {
        share: 0.8,
        error: 0.05,
        cap: 22,
        spending: (Spending::AtOnce, Spending::Evenly),
        either: true,
    };
    const CLEAR: Design = Design {
        share: 0.5,
        error: 0.05,
        cap: 15,
        spending: (Spending::AtOnce, Spending::AtOnce),
        either: false,
    };

    /// 0.8^14 = 0.044; what is left of 5 % allows one miss in 29 runs, 14 × 0.2 × 0.8^28 = 0.0054, and not earlier.
    #[test]
    fn fourteen_of_fourteen_exclude_a_share_of_four_fifths() {
        let rule = Design { cap: 40, ..STABLE }.rule();
        assert_eq!((1..14).find(|n| rule.ends(*n, 0) == Some(Side::Good)), None);
        assert_eq!(rule.ends(14, 0), Some(Side::Good));
        let first = |misses| (1..=40).find(|n| rule.ends(*n, misses) == Some(Side::Good));
        assert_eq!((first(0), first(1)), (Some(14), Some(29)));
        let spent = 0.8f64.powi(14) + 14.0 * 0.2 * 0.8f64.powi(28);
        assert!(spent <= 0.05 && 0.8f64.powi(14) + 14.0 * 0.2 * 0.8f64.powi(27) > 0.05);
    }

    /// 1/32 for five of five; then 5/512 for eight of nine, and 30/4096 for ten of twelve.
    #[test]
    fn five_of_five_exclude_a_coin() {
        let rule = CLEAR.rule();
        for (runs, misses) in [(5, 0), (9, 1), (12, 2)] {
            assert_eq!(rule.ends(runs, misses), Some(Side::Good));
            assert_eq!(rule.ends(runs, runs - misses), Some(Side::Bad), "both sides are alike");
            assert_eq!(rule.ends(runs - 1, misses), None);
        }
        let series = Series::by_rule(&rule, 15);
        let ended = |good: Side| -> f64 {
            let of = |end: &&End| rule.ends(end.runs, end.misses) == Some(good);
            series.ends().iter().filter(of).map(|end| end.chance(0.5)).sum()
        };
        assert!((ended(Side::Good) - (1.0 / 32.0 + 5.0 / 512.0 + 30.0 / 4096.0)).abs() < 1e-12);
        assert!((ended(Side::Good) - ended(Side::Bad)).abs() < 1e-12);
    }

    #[test]
    fn a_fixed_number_of_runs_is_clopper_and_pearson() {
        let ninety = Confidence::new(0.9).unwrap();
        for (runs, misses) in [(22, 1), (10, 0), (10, 4), (15, 15), (7, 6)] {
            let own = Series::fixed(runs).bounds(runs, misses, 0.05, false).unwrap();
            let exact = clopper_pearson(runs - misses, runs, ninety).unwrap();
            assert!(
                (own.low - exact.low).abs() < 1e-9 && (own.high - exact.high).abs() < 1e-9,
                "{own:?} {exact:?}"
            );
        }
        let one_in_22 = Series::fixed(22).bounds(22, 1, 0.05, true).unwrap();
        assert!(one_in_22.low > 0.8, "{one_in_22:?}");
        let ten = Series::fixed(10).bounds(10, 0, 0.05, true).unwrap();
        assert!((ten.low - 0.741134).abs() < 1e-5, "{ten:?}");
        assert_eq!(Series::fixed(10).bounds(9, 0, 0.05, true), None);
    }

    /// Whoever looked at 14 runs and went on has less to show than whoever looked at 22 alone.
    #[test]
    fn looking_costs() {
        let series = Series::by_rule(&STABLE.rule(), 22);
        let seen = series.bounds(22, 1, 0.05, true).unwrap();
        assert!(seen.low > 0.78 && seen.low < 0.8, "{seen:?}");
        assert!(series.bounds(14, 0, 0.05, true).unwrap().low > 0.8);
    }

    /// A coin and an error of 3/8: after two runs 1/4 on either side; of the 1/8 that is left, nothing after three, where each open end
    /// has 1/4, and all of it after four, with 2/16.
    const COIN: Design = Design { error: 0.375, cap: 4, ..CLEAR };

    #[test]
    fn error_is_spent_as_soon_as_there_is_enough_of_it_and_to_the_last() {
        let expected = Rule {
            good: vec![None, None, Some(0), None, Some(1)],
            bad: vec![None, None, Some(2), None, Some(3)],
        };
        assert_eq!(COIN.rule(), expected);
        let one = Design { error: 1.0, cap: 1, ..CLEAR }.rule();
        assert_eq!(one, Rule { good: vec![None, Some(1)], bad: vec![None, None] }, "no end is good and bad");
    }

    /// At 3/4 three alike runs have (27 + 1) / 64 = 7/16, all that there is for good ends. Of the same 7/16 bad ends have a quarter, half,
    /// three quarters and all after one to four runs; only after four there are enough of them with two misses of four: 67/256.
    #[test]
    fn error_that_is_spent_evenly_waits_for_ends_that_two_outcomes_can_have() {
        let design = Design { share: 0.75, error: 0.4375, cap: 4, ..STABLE };
        let expected =
            Rule { good: vec![None, None, None, Some(0), None], bad: vec![None, None, None, None, Some(2)] };
        assert_eq!(design.rule(), expected);
        // 106/1024 for three misses or more of five, and 376/1024 for two: three of five cannot be beside a usual outcome.
        let rule = Design { share: 0.75, error: 0.2, cap: 5, either: false, ..STABLE }.rule();
        assert_eq!(rule, Rule { good: vec![None; 6], bad: vec![None; 6] });
    }

    #[test]
    fn ends_are_in_their_order_and_have_their_ways() {
        let series = Series::by_rule(&COIN.rule(), 4);
        let ends: Vec<(u64, u64, u64)> = series
            .ends()
            .iter()
            .map(|end| (end.runs, end.misses, end.ln_ways.exp().round() as u64))
            .collect();
        // One hit and one miss in two ways; from there each outcome of two more runs.
        assert_eq!(ends, [(2, 0, 1), (4, 1, 2), (4, 2, 4), (4, 3, 2), (2, 2, 1)]);
        let end = |runs, misses| End { runs, misses, ln_ways: 0.0 };
        let ranked = Series::ranked(vec![end(4, 1), end(2, 2), end(2, 0), end(8, 2), end(3, 0)]);
        let ranked: Vec<_> = ranked.ends().iter().map(|end| (end.runs, end.misses)).collect();
        assert_eq!(ranked, [(3, 0), (2, 0), (8, 2), (4, 1), (2, 2)]);
    }

    #[test]
    fn an_end_has_the_chance_of_its_outcomes_in_all_their_orders() {
        for (runs, misses, ways, share, expected) in [
            (2, 1, 2.0f64, 0.25, 2.0 * 0.25 * 0.75),
            (5, 2, 10.0, 0.5, 10.0 / 32.0),
            (3, 0, 1.0, 1.0, 1.0),
            (3, 3, 1.0, 0.0, 1.0),
            (3, 3, 1.0, 1.0, 0.0),
            (3, 0, 1.0, 0.0, 0.0),
        ] {
            let chance = End { runs, misses, ln_ways: ways.ln() }.chance(share);
            assert!((chance - expected).abs() < 1e-12, "{misses} of {runs} at {share}: {chance}");
        }
    }

    /// Two runs, s the share: s² of none, 1 − (1 − s)² of at most one miss, 1 − s² of at least one, (1 − s)² of two.
    #[test]
    fn bounds_of_two_runs_by_hand() {
        for (misses, error, low, high) in
            [(0, 0.25, 0.5, 1.0), (1, 0.19, 0.1, 0.9), (2, 0.04, 0.0, 0.8), (0, 0.09, 0.3, 1.0)]
        {
            let found = Series::fixed(2).bounds(2, misses, error, false).unwrap();
            assert!(
                (found.low - low).abs() < 1e-9 && (found.high - high).abs() < 1e-9,
                "{misses}: {found:?}"
            );
        }
    }

    /// Where either outcome may have been the usual one, s³ + (1 − s)³ counts from a half on: 7/16 at 3/4, and never below 1/4.
    #[test]
    fn bounds_where_either_outcome_may_be_the_usual_one() {
        for (runs, error, low) in [(3, 0.4375, 0.75), (3, 0.2, 0.5), (2, 0.09, 0.3)] {
            let found = Series::fixed(runs).bounds(runs, 0, error, true).unwrap();
            assert!((found.low - low).abs() < 1e-9, "{runs}: {found:?}");
        }
    }

    proptest! {
        /// Chances add up, bounds agree with the rule's ends, and they miss as seldom as they say.
        #[test]
        fn bounds_hold_at_every_share(share in 0.02f64..0.98, level in 0.55f64..0.95, cap in 3u64..40) {
            let stable = Design { share: level, cap, ..STABLE };
            for (design, either) in [(stable, true), (Design { cap, ..CLEAR }, false)] {
                let rule = design.rule();
                let series = Series::by_rule(&rule, cap);
                let total: f64 = series.ends().iter().map(|end| end.chance(share)).sum();
                prop_assert!((total - 1.0).abs() < 1e-9);
                let (mut above, mut below) = (0.0, 0.0);
                for end in series.ends() {
                    let bounds = series.bounds(end.runs, end.misses, 0.05, either).unwrap();
                    if bounds.low > share + 1e-9 { above += end.chance(share); }
                    if bounds.high < share - 1e-9 { below += end.chance(share); }
                    match rule.ends(end.runs, end.misses) {
                        Some(Side::Good) => prop_assert!(bounds.low >= design.share - 1e-6, "{:?} {:?}", end, bounds),
                        Some(Side::Bad) => prop_assert!(bounds.high <= design.share + 1e-6, "{:?} {:?}", end, bounds),
                        None => {}
                    }
                }
                prop_assert!(above <= 0.05 + 1e-9 && below <= 0.05 + 1e-9, "{} {}", above, below);
            }
        }
    }
}
