//! Gates that never pass by silence: held, missed, or it cannot be told because of what was not assessed or seen too seldom.

use super::{asked, cases, grouped, level, percent_beside};
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
    /// What would decide it, as a fragment that follows.
    pub more: String,
    /// Whether it asks for something else than the gate's own rate; `reason` says then what that is.
    pub is_other: bool,
    /// Whether it speaks of cases like these, and not of these alone.
    pub is_general: bool,
}

impl GateCheck {
    /// Holds trials against a demand.
    ///
    /// Without a confidence, the two rates between which the truth lies whatever the unassessed are (Manski 1990, American
    /// Economic Review 80, 319–323). With one, the one-sided limits of the clustered rate at these two ends.
    pub fn of_trials(what: &str, demand: Demand, trials: &Trials) -> Self {
        let Trials { passed, assessed, planned, .. } = *trials;
        if planned == 0 {
            return Self::new(what, Outcome::CannotTell, format!("{what} has no trial"));
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
            true => format!("between {} and {}", percent_beside(worst, rate), percent_beside(best, rate)),
            false => percent_beside(worst, rate),
        };
        Self::new(what, outcome, format!("{what} passes {range}{of}{open}"))
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
            return Self::new(what, Outcome::CannotTell, format!("{what} has no trial"));
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
            percent_beside(limits.low, rate),
            percent_beside(limits.high, rate),
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
        let mut more = String::new();
        let needed = cases_to_decide(trials, rate, confidence);
        if let Some(needed) = needed.filter(|needed| outcome == Outcome::CannotTell && *needed > count) {
            more = format!(
                "; about {} would decide with 80 % power, if they fall out like these",
                cases(needed)
            );
        }
        Self { is_general: true, more, ..Self::new(what, outcome, reason) }
    }

    fn new(what: &str, outcome: Outcome, reason: String) -> Self {
        Self {
            what: what.to_owned(),
            outcome,
            reason,
            more: String::new(),
            is_other: false,
            is_general: false,
        }
    }

    /// The same trials of a tag, of which another rate may be asked for: says which.
    pub fn of_tag(target: &str, tag: &str, demand: Demand, trials: &Trials) -> Self {
        let check = Self::of_trials(&format!("{target}, tag {tag},"), demand, trials);
        let asked = demand.words().replace(" (", ", ").replace(") is", ", is");
        let reason = format!("{} ({asked} asked for)", check.reason);
        Self { reason, is_other: true, ..check }
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
        Self { is_other: true, ..Self::new(what, outcome, reason) }
    }
}

impl Demand {
    /// `at least 90.0 % is`, `at least 90.0 % (95 % sure) is`
    fn words(self) -> String {
        match self.confidence {
            None => format!("at least {} is", asked(self.rate)),
            Some(sure) => format!("at least {} ({} sure) is", asked(self.rate), level(sure)),
        }
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
            let reason = format!("{what} has no {name} ({} asked for)", limits.words());
            return Self { is_other: true, ..Self::new(&what, Outcome::CannotTell, reason) };
        };
        let missed = limits.at_least.is_some_and(|limit| is_below(most, limit))
            || limits.at_most.is_some_and(|limit| is_below(limit, least));
        let held = limits.at_least.is_none_or(|limit| !is_below(least, limit))
            && limits.at_most.is_none_or(|limit| !is_below(limit, most));
        let outcome = match (missed, held) {
            (true, _) => Outcome::Missed,
            (false, true) => Outcome::Held,
            (false, false) => Outcome::CannotTell,
        };
        let value = match least < most {
            true if least.is_infinite() => format!("of at most {}", limits.beside(most)),
            true if most.is_infinite() => format!("of at least {}", limits.beside(least)),
            true => format!("between {} and {}", limits.beside(least), limits.beside(most)),
            false => limits.beside(least),
        };
        let open = match measured.open {
            0 => String::new(),
            1 => ", as 1 was not assessed".to_owned(),
            open => format!(", as {} were not assessed", grouped(open)),
        };
        let reason = format!("{what} has {name} {value} ({} asked for){open}", limits.words());
        Self { is_other: true, ..Self::new(&what, outcome, reason) }
    }
}

/// Whether a metric is below a limit by more than the rounding of what it was made of.
fn is_below(number: f64, limit: f64) -> bool {
    limit - number > 1e-9 * limit.abs().min(number.abs()).max(1e-9)
}

impl Limits {
    /// `at least 0.1 and at most 0.9 are`, `at most 0.9 is`
    fn words(self) -> String {
        let exact = |limit: f64| format!("{}", crate::stats::round_sig(limit, 12));
        match (self.at_least, self.at_most) {
            (Some(least), Some(most)) => format!("at least {} and at most {} are", exact(least), exact(most)),
            (Some(least), None) => format!("at least {} is", exact(least)),
            (None, Some(most)) => format!("at most {} is", exact(most)),
            (None, None) => "nothing is".to_owned(),
        }
    }

    /// A number as short as it can be said to four digits, or with as many as tell it from a limit.
    fn beside(self, number: f64) -> String {
        let told = |digits: usize| crate::stats::round_sig(number, digits);
        let limits = [self.at_least, self.at_most].into_iter().flatten();
        let limits: Vec<f64> =
            limits.filter(|limit| is_below(*limit, number) || is_below(number, *limit)).collect();
        let apart =
            |told: &f64| limits.iter().all(|limit| (*told < *limit) == (number < *limit) && told != limit);
        format!("{}", (4..=12).map(told).find(apart).unwrap_or(number))
    }
}

/// How often a number of cases that "would decide" does.
const Z_POWER: f64 = 0.841_621_233_572_914_2;

/// With how many cases Wilson's interval lies on one side of the rate with 80 % power, if further ones fall out like these; none where
/// the rate is met exactly, and where no number of cases makes up for what is not assessed.
fn cases_to_decide(trials: &Trials, rate: f64, confidence: Confidence) -> Option<u64> {
    let (worst, best) = (trials.if_failed.mean()?, trials.if_passed.mean()?);
    let (moments, seen) = match () {
        () if worst > rate => (&trials.if_failed, worst),
        () if best < rate => (&trials.if_passed, best),
        () => return None,
    };
    let z = confidence.z();
    let spread = z * (rate * (1.0 - rate)).sqrt() + Z_POWER * (seen * (1.0 - seen)).max(0.0).sqrt();
    let independent = (spread / (seen - rate)).powi(2).max(1.0);
    let per_case = moments.effective_trials(confidence) / moments.clusters() as f64;
    // However often a case is repeated, no fewer cases exclude that others fare otherwise.
    let unseen = if seen > rate { rate / (1.0 - rate) } else { (1.0 - rate) / rate };
    let fewest = if moments.is_repeated() { z * z * unseen } else { 1.0 };
    let wanted = (independent / per_case).max(fewest).ceil();
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

/// At most so many reasons are told.
const MOST_REASONS: usize = 4;

/// All demands in one sentence, without a full stop. `who` is what is asked: "target".
pub fn gate_sentence(demand: Demand, who: &str, checks: &[GateCheck]) -> String {
    let outcome = gate_outcome(checks);
    let title = match outcome {
        Outcome::Held => "gate held",
        Outcome::Missed => "gate missed",
        Outcome::CannotTell => "gate cannot be judged",
    };
    if checks.is_empty() {
        return format!("{title}: {} asked for, and there is no {who}", demand.words());
    }
    let deciding: Vec<&GateCheck> = checks.iter().filter(|check| check.outcome == outcome).collect();
    let (shown, more) = deciding.split_at(deciding.len().min(MOST_REASONS));
    let place = |check: &GateCheck| if check.is_general { "on cases like these" } else { "on these cases" };
    let reasons = |shown: &[&GateCheck], mut said: &'static str| {
        let mut parts = Vec::new();
        for check in shown {
            let here = if place(check) == said { String::new() } else { format!("{}, ", place(check)) };
            said = place(check);
            parts.push(format!("{here}{}{}", check.reason, check.more));
        }
        parts.join("; ")
    };
    let (others, rates): (Vec<_>, Vec<_>) = shown.iter().copied().partition(|check| check.is_other);
    let mut parts = Vec::new();
    let mut said = "";
    if let Some(first) = rates.first() {
        said = place(first);
        let why = reasons(&rates, said);
        parts.push(match outcome {
            Outcome::Held => {
                let sure = demand.confidence.map_or(String::new(), |sure| format!(" ({} sure)", level(sure)));
                format!("{said}, every {who} passes at least {}{sure}: {why}", asked(demand.rate))
            }
            _ => format!("{said}, {} asked for, and {why}", demand.words()),
        });
        said = rates.last().map_or(said, |last| place(last));
    }
    if !others.is_empty() {
        parts.push(reasons(&others, said));
    }
    let mut why = parts.join("; ");
    if !more.is_empty() {
        why.push_str(&format!("; and {} more", more.len()));
    }
    format!("{title}: {why}")
}

#[cfg(test)]
mod tests;
