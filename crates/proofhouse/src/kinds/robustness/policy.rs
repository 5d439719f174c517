//! When to stop: policies as pure functions from the outcomes so far to "go on" or "stop, by this rule".

use proofhouse_ledger::record::{Mode, Observed, Stop, Termination};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::characteristics::series;
use super::exact::conditional_p_value;
use crate::stats::Side;
use crate::stats::decisions::{Alike, Rung, Stability, Stressed, rung_design, stability_design};

/// The share of false findings that the statistical policy accepts.
pub const ALPHA: f64 = 0.05;

/// Stable codes of the rules that end a series of runs.
pub mod rule {
    /// The planned number of runs is reached.
    pub const CAP: &str = "cap";
    /// The last three runs are equivalent.
    pub const LAST_THREE_EQUAL: &str = "last_three_equal";
    /// The first run of a variant is equivalent to the baseline's modal outcome.
    pub const NOT_INTERESTING: &str = "not_interesting";
    /// At least four of five runs fail.
    pub const FAILURE_RATE: &str = "failure_rate";
    /// All runs succeed.
    pub const SUCCESS_RATE: &str = "success_rate";
    /// The modal outcome's share is at least the declared level: the runs are stable.
    pub const AGREEMENT: &str = "agreement";
    /// The modal outcome's share is below the declared level: the runs are flaky.
    pub const DISAGREEMENT: &str = "disagreement";
    /// No outcome of the runs that are left could make the variant differ significantly.
    pub const FUTILITY: &str = "futility";
    /// More runs of a level succeed than fail: it is clear.
    pub const CLEAR: &str = "clear";
    /// More runs of a level fail than succeed: it is a systematic failure.
    pub const SYSTEMATIC: &str = "systematic_failure";
    /// Three runs in a row could not be assessed.
    pub const UNASSESSED: &str = "unassessed";
    /// There is no baseline outcome to compare with.
    pub const NO_BASELINE: &str = "no_baseline";
}

/// Which rules decide.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum PolicyName {
    /// Rules of thumb: few equal outcomes are enough.
    Seed,
    /// The same questions with error control.
    #[default]
    Evidence,
    /// Every planned run.
    Fixed,
}

impl PolicyName {
    /// The word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            PolicyName::Seed => "seed",
            PolicyName::Evidence => "evidence",
            PolicyName::Fixed => "fixed",
        }
    }

    /// The policy of this word.
    pub fn of(word: &str) -> Option<Self> {
        [PolicyName::Seed, PolicyName::Evidence, PolicyName::Fixed]
            .into_iter()
            .find(|name| name.as_str() == word)
    }
}

/// A policy with its numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Policy {
    /// Which rules decide.
    pub name: PolicyName,
    /// The most runs of a base instruction.
    pub base_runs: u32,
    /// The most runs of a variant or a stress level.
    pub variant_runs: u32,
    /// The share that a baseline's modal outcome must have to be called stable early.
    pub level: f64,
    /// Whether variants are compared with the baseline, which then needs all its runs.
    pub compares: bool,
    /// Whether somebody may look and add runs without a plan: decisions then hold at any number of runs.
    pub open: bool,
}

/// The runs of the base instruction that variants are compared with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Base {
    /// What was seen, in order.
    pub outcomes: Vec<Observed>,
}

/// The most frequent outcome and how often it was seen; of equally frequent ones the first.
pub fn modal(outcomes: &[Observed]) -> Option<(Observed, usize)> {
    let mut best: Option<(Observed, usize)> = None;
    for outcome in outcomes {
        let count = outcomes.iter().filter(|other| *other == outcome).count();
        if best.is_none_or(|(_, most)| count > most) {
            best = Some((*outcome, count));
        }
    }
    best
}

/// What `policy: seed` compares: how the process ended is not part of it.
fn seed_class(outcome: Observed) -> Observed {
    Observed { termination: Termination::Exited, ..outcome }
}

impl Policy {
    /// The numbers of a policy where the suite gives none: runs of a base instruction, and of a variant or level.
    pub fn default_runs(name: PolicyName, mode: Mode) -> (u32, u32) {
        let variant = match (name, mode) {
            (_, Mode::Baseline) => 1,
            (PolicyName::Seed, Mode::Adversarial) => 3,
            (PolicyName::Evidence, Mode::Adversarial) => 5,
            (PolicyName::Seed | PolicyName::Fixed, Mode::Stress) => 5,
            (PolicyName::Evidence, Mode::Stress) => 15,
            (PolicyName::Fixed, Mode::Adversarial) => 1,
        };
        // 14 alike runs are stable at the default level; with deviations, so many runs tell most flaky tools.
        let base = if name == PolicyName::Evidence { 22 } else { 10 };
        (base, variant)
    }

    /// How many runs are planned at most.
    pub fn cap(&self, mode: Mode) -> u32 {
        match mode {
            Mode::Baseline => self.base_runs,
            Mode::Adversarial | Mode::Stress => self.variant_runs,
        }
    }

    /// Whether the series ends after these runs; a run that could not be assessed is `None`.
    pub fn after(&self, mode: Mode, runs: &[Option<Observed>], base: &Base) -> Option<Stop> {
        let n = runs.len();
        let seen: Vec<Observed> = runs.iter().flatten().copied().collect();
        let stop = |(rule, reason): (&str, String)| Stop { rule: rule.to_owned(), n: n as u32, reason };
        if n >= 3 && runs[n - 3..].iter().all(Option::is_none) {
            return Some(stop((rule::UNASSESSED, "three runs in a row could not be assessed".to_owned())));
        }
        let assessed_last = runs.last().is_some_and(Option::is_some);
        let decided = match (self.name, mode) {
            _ if !assessed_last => None,
            (PolicyName::Fixed, _) => None,
            (PolicyName::Seed, Mode::Baseline) => last_three_equal(&seen),
            (PolicyName::Seed, Mode::Adversarial) => interesting(&seen, base),
            (PolicyName::Seed, Mode::Stress) => boundary(&seen),
            (PolicyName::Evidence, Mode::Baseline) if self.compares => None,
            (PolicyName::Evidence, Mode::Baseline) => self.agreement(&seen),
            (PolicyName::Evidence, Mode::Adversarial) => {
                futility(&seen, self.variant_runs as usize - n, base)
            }
            (PolicyName::Evidence, Mode::Stress) => self.rung(&seen),
        };
        let cap =
            || (n as u32 >= self.cap(mode)).then(|| (rule::CAP, format!("all {n} planned runs are done")));
        decided.or_else(cap).map(stop)
    }

    /// Stable or flaky: as the plan of looks has it, or at any time.
    fn agreement(&self, seen: &[Observed]) -> Decided {
        let usual = modal(seen)?.1 as u64;
        let side = self.stable_or_flaky(usual, seen.len() as u64, distinct(seen))?;
        let said = self.stability(seen)?.sentence();
        Some((if side == Side::Good { rule::AGREEMENT } else { rule::DISAGREEMENT }, said))
    }

    pub(super) fn stable_or_flaky(&self, usual: u64, runs: u64, kinds: u64) -> Option<Side> {
        if !self.open {
            return stability_design(self.level, self.base_runs.into()).rule().ends(runs, runs - usual);
        }
        match Stability::of(usual, runs, kinds, self.level, None)?.alike {
            Alike::Stable => Some(Side::Good),
            Alike::Flaky => Some(Side::Bad),
            Alike::ConsistentSoFar | Alike::MostlyTheSame => None,
        }
    }

    fn rung(&self, seen: &[Observed]) -> Decided {
        let successes = seen.iter().filter(|outcome| outcome.success).count() as u64;
        let side = self.clear_or_systematic(successes, seen.len() as u64)?;
        let said = self.stressed(seen)?.sentence();
        Some((if side == Side::Good { rule::CLEAR } else { rule::SYSTEMATIC }, said))
    }

    pub(super) fn clear_or_systematic(&self, successes: u64, runs: u64) -> Option<Side> {
        if !self.open {
            return rung_design(self.variant_runs.into()).rule().ends(runs, runs - successes);
        }
        match Stressed::of(successes, runs, None)?.rung {
            Rung::Clear => Some(Side::Good),
            Rung::SystematicFailure => Some(Side::Bad),
            Rung::Flaky | Rung::Undetermined => None,
        }
    }

    /// What the runs of an instruction say under this policy.
    pub fn stability(&self, seen: &[Observed]) -> Option<Stability> {
        let usual = modal(seen)?.1 as u64;
        let runs = seen.len() as u64;
        Stability::of(usual, runs, distinct(seen), self.level, series(self, Mode::Baseline, runs).as_ref())
    }

    /// What the runs of a stress level say under this policy.
    pub fn stressed(&self, seen: &[Observed]) -> Option<Stressed> {
        let successes = seen.iter().filter(|outcome| outcome.success).count() as u64;
        let runs = seen.len() as u64;
        Stressed::of(successes, runs, series(self, Mode::Stress, runs).as_ref())
    }
}

/// How many different outcomes there are.
pub(super) fn distinct(seen: &[Observed]) -> u64 {
    let mut kinds = seen.to_vec();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.len() as u64
}

type Decided = Option<(&'static str, String)>;

fn last_three_equal(seen: &[Observed]) -> Decided {
    let last = &seen[seen.len().checked_sub(3)?..];
    let equal = last.iter().all(|outcome| seed_class(*outcome) == seed_class(last[0]));
    equal.then(|| (rule::LAST_THREE_EQUAL, "the last 3 runs are equivalent".to_owned()))
}

fn interesting(seen: &[Observed], base: &Base) -> Decided {
    let classes: Vec<Observed> = base.outcomes.iter().map(|outcome| seed_class(*outcome)).collect();
    let Some((usual, _)) = modal(&classes) else {
        return Some((rule::NO_BASELINE, "no run of the base instruction could be assessed".to_owned()));
    };
    let same = seen.len() == 1 && seed_class(seen[0]) == usual;
    same.then(|| {
        (rule::NOT_INTERESTING, "the first run is equivalent to the baseline's modal outcome".to_owned())
    })
}

fn boundary(seen: &[Observed]) -> Decided {
    let n = seen.len();
    let failures = seen.iter().filter(|outcome| !outcome.success).count();
    if n < 3 {
        return None;
    }
    if failures == 0 {
        return Some((rule::SUCCESS_RATE, format!("{n} of {n} runs succeeded")));
    }
    (failures * 5 >= n * 4).then(|| (rule::FAILURE_RATE, format!("{failures} of {n} runs failed")))
}

fn futility(seen: &[Observed], left: usize, base: &Base) -> Decided {
    if base.outcomes.is_empty() {
        return Some((rule::NO_BASELINE, "no run of the base instruction could be assessed".to_owned()));
    }
    if left == 0 {
        return None;
    }
    let reachable = |class: Option<&Observed>| {
        let mut runs: Vec<Option<&Observed>> = seen.iter().map(Some).collect();
        runs.extend(std::iter::repeat_n(class, left));
        let base: Vec<Option<&Observed>> = base.outcomes.iter().map(Some).collect();
        conditional_p_value(&base, &runs)
    };
    // `None` stands for an outcome that was never seen before.
    let classes = base.outcomes.iter().chain(seen).map(Some).chain([None]);
    let best = classes.map(reachable).fold(1.0, f64::min);
    (best > ALPHA).then(|| {
        (
            rule::FUTILITY,
            format!(
                "whatever the {left} runs that are left would give, p stays above {ALPHA} (at best {best:.3})"
            ),
        )
    })
}

#[cfg(test)]
mod tests;
