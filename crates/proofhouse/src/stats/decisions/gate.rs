//! Gates that never pass by silence: held, missed, or it cannot be told because of what was not assessed or seen too seldom.

use super::{cases, grouped, level, percent};
use crate::stats::interval::Interval;
use crate::stats::{ClusterMoments, Confidence};

/// What became of a demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Met, whatever the unassessed trials would have been.
    Held,
    /// Not met, whatever the unassessed trials would have been.
    Missed,
    /// Neither.
    CannotTell,
}

/// A rate to be reached, by the trials as they are, or with a confidence on cases like these.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    /// The rate.
    pub rate: f64,
    /// How sure it has to be, one-sided; none where these cases alone count.
    pub confidence: Option<f64>,
}

/// Planned trials by what became of them.
#[derive(Debug, Clone, Default)]
pub struct Trials {
    /// Those that passed.
    pub passed: u64,
    /// Those that were assessed.
    pub assessed: u64,
    /// All that were needed and possible.
    pub planned: u64,
    /// All of them by case, the unassessed taken as failed.
    pub if_failed: ClusterMoments,
    /// The same, the unassessed taken as passed.
    pub if_passed: ClusterMoments,
}

/// One demand on one target, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct GateCheck {
    /// Who or what is asked: `a`, or `a, tag x`.
    pub what: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Why, as a fragment that begins with `what`.
    pub reason: String,
}

impl GateCheck {
    /// Holds trials against a demand.
    ///
    /// Without a confidence, the two rates between which the truth lies whatever the unassessed are (Manski 1990, American
    /// Economic Review 80, 319–323). With one, the one-sided limits of the clustered rate at these two ends.
    pub fn of_trials(what: &str, demand: Demand, trials: &Trials) -> Self {
        let Trials { passed, assessed, planned, .. } = *trials;
        if planned == 0 {
            let reason = format!("{what} has no trial");
            return Self { what: what.to_owned(), outcome: Outcome::CannotTell, reason };
        }
        let rates = [passed, passed + planned - assessed].map(|count| count as f64 / planned as f64);
        match demand.confidence.and_then(|sure| Some((sure, Confidence::new(2.0 * sure - 1.0)?))) {
            None => Self::of_bounds(what, demand.rate, rates, Some((planned, planned - assessed))),
            Some((sure, confidence)) => Self::with_confidence(what, demand.rate, trials, (sure, confidence)),
        }
    }

    /// Holds the worst and the best rate that the unassessed allow against the rate that is asked for; `trials` are the
    /// planned and the unassessed ones, where they are known.
    pub fn of_bounds(what: &str, rate: f64, [worst, best]: [f64; 2], trials: Option<(u64, u64)>) -> Self {
        let outcome = match () {
            () if worst >= rate => Outcome::Held,
            () if best < rate => Outcome::Missed,
            () => Outcome::CannotTell,
        };
        let of = trials.map_or(String::new(), |(planned, _)| format!(" of {} trials", grouped(planned)));
        let open = match trials {
            Some((_, 1)) => ", as 1 was not assessed".to_owned(),
            Some((_, open)) if open > 0 => format!(", as {} were not assessed", grouped(open)),
            _ if worst < best => ", as some were not assessed".to_owned(),
            _ => String::new(),
        };
        let range = match worst < best {
            true => format!("between {} and {}", percent(worst), percent(best)),
            false => percent(worst),
        };
        let reason = format!("{what} passes {range}{of}{open}");
        Self { what: what.to_owned(), outcome, reason }
    }

    fn with_confidence(
        what: &str,
        rate: f64,
        trials: &Trials,
        (sure, confidence): (f64, Confidence),
    ) -> Self {
        let limits =
            trials.if_failed.rate_interval(confidence).zip(trials.if_passed.rate_interval(confidence));
        let Some((failed, passed)) = limits else {
            let reason = format!("{what} has no trial");
            return Self { what: what.to_owned(), outcome: Outcome::CannotTell, reason };
        };
        let limits = Interval { low: failed.low, high: passed.high };
        let outcome = match () {
            () if limits.low >= rate => Outcome::Held,
            () if limits.high < rate => Outcome::Missed,
            () => Outcome::CannotTell,
        };
        let open = trials.planned - trials.assessed;
        let count = trials.if_failed.clusters();
        let mut reason = format!(
            "{what} passes at least {} and at most {}, each {} sure, over {}",
            percent(limits.low),
            percent(limits.high),
            level(sure),
            cases(count)
        );
        if open > 0 {
            reason.push_str(&format!(
                ", {} of {} trials not assessed",
                grouped(open),
                grouped(trials.planned)
            ));
        }
        let needed = cases_to_decide(&trials.if_failed, rate, confidence);
        if let Some(needed) = needed.filter(|needed| outcome == Outcome::CannotTell && *needed > count) {
            reason.push_str(&format!(", about {} would decide", cases(needed)));
        }
        Self { what: what.to_owned(), outcome, reason }
    }

    /// Holds each case against "k of n of its trials": how many cases miss it for certain, and how many may.
    pub fn of_cases(what: &str, (k, n): (u64, u64), (missed, open, all): (u64, u64, u64)) -> Self {
        let outcome = match (missed, open) {
            _ if all == 0 => Outcome::CannotTell,
            (0, 0) => Outcome::Held,
            (0, _) => Outcome::CannotTell,
            _ => Outcome::Missed,
        };
        let reason = match outcome {
            _ if all == 0 => format!("{what} has no case"),
            Outcome::Held => format!("{what} passes at least {k} of {n} in each of {}", cases(all)),
            Outcome::Missed => {
                format!("{what} passes fewer than {k} of {n} in {} of {}", grouped(missed), cases(all))
            }
            Outcome::CannotTell => format!(
                "{what} may pass fewer than {k} of {n} in {} of {}, as trials were not assessed",
                grouped(open),
                cases(all)
            ),
        };
        Self { what: what.to_owned(), outcome, reason }
    }
}

/// What a summary says of one metric of one target.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// What it is of, where a target has several: `generator x`.
    pub of: Option<String>,
    /// The least and the most that it can be, whatever the unassessed trials are; none where it is not known at all.
    pub bounds: Option<[f64; 2]>,
    /// How many trials of it were not assessed.
    pub open: u64,
}

impl Measured {
    /// A share of trials of which some more were not assessed.
    pub fn share(numerator: u64, denominator: u64, open: u64) -> Self {
        let all = denominator + open;
        let bounds =
            (denominator > 0).then(|| [numerator, numerator + open].map(|count| count as f64 / all as f64));
        Self { of: None, bounds, open }
    }
}

/// The least and the most that a metric may be.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Limits {
    /// The least.
    pub at_least: Option<f64>,
    /// The most.
    pub at_most: Option<f64>,
}

impl GateCheck {
    /// Holds a metric against its limits: of what is not known it cannot be told, and a limit between what it is at least and at
    /// most is open.
    pub fn of_metric(what: &str, name: &str, limits: Limits, measured: &Measured) -> Self {
        let what = match &measured.of {
            Some(of) => format!("{what}, {of},"),
            None => what.to_owned(),
        };
        let Some([least, most]) = measured.bounds else {
            let reason = format!("{what} has no {name}");
            return Self { what, outcome: Outcome::CannotTell, reason };
        };
        let missed = limits.at_least.is_some_and(|limit| most < limit)
            || limits.at_most.is_some_and(|limit| least > limit);
        let held = limits.at_least.is_none_or(|limit| least >= limit)
            && limits.at_most.is_none_or(|limit| most <= limit);
        let outcome = match (missed, held) {
            (true, _) => Outcome::Missed,
            (false, true) => Outcome::Held,
            (false, false) => Outcome::CannotTell,
        };
        let value = match least < most {
            true if most.is_infinite() => format!("of at least {}", plain(least)),
            true => format!("between {} and {}", plain(least), plain(most)),
            false => plain(least),
        };
        let limits = [
            limits.at_least.map(|limit| ("at least", limit)),
            limits.at_most.map(|limit| ("at most", limit)),
        ];
        let limits: Vec<String> =
            limits.into_iter().flatten().map(|(word, limit)| format!("{word} {}", plain(limit))).collect();
        let open = match measured.open {
            0 => String::new(),
            1 => ", as 1 was not assessed".to_owned(),
            open => format!(", as {} were not assessed", grouped(open)),
        };
        let reason = format!("{what} has {name} {value} ({} is asked for){open}", limits.join(" and "));
        Self { what, outcome, reason }
    }
}

/// A number as short as it can be said to four digits.
fn plain(number: f64) -> String {
    let rounded = crate::stats::round_sig(number, 4);
    format!("{rounded}")
}

/// With how many cases Wilson's interval would lie on one side of the rate, if further ones fall out like these; none where
/// the rate is met exactly.
fn cases_to_decide(moments: &ClusterMoments, rate: f64, confidence: Confidence) -> Option<u64> {
    let seen = moments.mean()?;
    let gap = seen - rate;
    if gap == 0.0 {
        return None;
    }
    let z = confidence.z();
    let trials = (z * z * rate * (1.0 - rate) / (gap * gap)).max(1.0);
    let per_case = moments.effective_trials(confidence) / moments.clusters() as f64;
    let wanted = (trials / per_case).ceil();
    (wanted < 1e12).then_some(wanted as u64)
}

/// What became of all demands together: missed by one is missed, and what cannot be told of one cannot be told.
pub fn gate_outcome(checks: &[GateCheck]) -> Outcome {
    let any = |outcome| checks.iter().any(|check| check.outcome == outcome);
    match () {
        () if any(Outcome::Missed) => Outcome::Missed,
        () if checks.is_empty() || any(Outcome::CannotTell) => Outcome::CannotTell,
        () => Outcome::Held,
    }
}

/// All demands in one sentence, without a full stop. `who` is what is asked: "target".
pub fn gate_sentence(demand: Demand, who: &str, checks: &[GateCheck]) -> String {
    let (place, asked) = match demand.confidence {
        None => ("on these cases", percent(demand.rate)),
        Some(sure) => ("on cases like these", format!("{} ({} sure)", percent(demand.rate), level(sure))),
    };
    let outcome = gate_outcome(checks);
    let reasons: Vec<String> =
        checks.iter().filter(|check| check.outcome == outcome).map(|check| check.reason.clone()).collect();
    let (shown, more) = reasons.split_at(reasons.len().min(4));
    let mut why = shown.join("; ");
    if !more.is_empty() {
        why.push_str(&format!("; and {} more", more.len()));
    }
    if demand.rate == 0.0 && !checks.is_empty() {
        // Only metrics were asked for.
        return match outcome {
            Outcome::Held => format!("gate held: {place}, {why}"),
            Outcome::Missed => format!("gate missed: {place}, {why}"),
            Outcome::CannotTell => format!("gate cannot be judged: {place}, {why}"),
        };
    }
    match outcome {
        Outcome::Held => format!("gate held: {place}, every {who} passes at least {asked}: {why}"),
        Outcome::Missed => format!("gate missed: {place}, at least {asked} is asked for, and {why}"),
        Outcome::CannotTell if checks.is_empty() => {
            format!("gate cannot be judged: at least {asked} is asked for, and there is no {who}")
        }
        Outcome::CannotTell => {
            format!("gate cannot be judged: {place}, at least {asked} is asked for, and {why}")
        }
    }
}

#[cfg(test)]
mod tests;
