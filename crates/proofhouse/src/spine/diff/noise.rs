//! Whether what changed is more than noise: by target, over cases, by the same decisions that compare targets within a run.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher};

use schemars::JsonSchema;
use serde::Serialize;

use crate::spine::tally::stats::PairedCounts;
use crate::spine::tally::stats::decisions::{
    Comparison, Differences, NotWorse, Verdict, Views, compare_family,
};

/// Common trials by target and case; grows with the number of cases, some sixteen bytes for each.
#[derive(Debug, Default)]
pub(super) struct Table {
    slots: Vec<Slot>,
    /// Raw slot → its place among them.
    places: BTreeMap<Vec<u8>, usize>,
    /// The slot of the trial before: trials of a target are neighbours, and targets take turns.
    last: usize,
}

#[derive(Debug)]
struct Slot {
    /// As it stands in the records, quotes included.
    raw: Vec<u8>,
    trials: PairedCounts,
    cases: Cases,
}

/// What was said of each trial, with which case it is of: trials of a case need not be neighbours.
///
/// A million cases are as usual as ten, and a map of them costs more than reading both files. So trials are noted one after the other,
/// and brought together by sorting now and then.
#[derive(Debug, Default)]
struct Cases {
    /// One for each trial since the last time: a case's key, whose last bits say what was said.
    fresh: Vec<u64>,
    /// The same, sorted, each with how many trials it stands for.
    counted: Vec<(u64, u32)>,
}

const FRESH_MOST: usize = 1 << 20;

impl Cases {
    fn add(&mut self, case: u64, passed: (Option<bool>, Option<bool>)) {
        if self.fresh.len() >= FRESH_MOST.max(self.counted.len()) {
            self.settle();
        }
        let said = |passed: Option<bool>| passed.map_or(2, u64::from);
        self.fresh.push(case << 4 | said(passed.0) << 2 | said(passed.1));
    }

    fn settle(&mut self) {
        if self.fresh.is_empty() {
            return;
        }
        self.fresh.sort_unstable();
        let mut old = std::mem::take(&mut self.counted).into_iter().peekable();
        for trials in self.fresh.chunk_by(|a, b| a == b) {
            let (key, mut count) = (trials[0], trials.len() as u32);
            self.counted.extend(std::iter::from_fn(|| old.next_if(|known| known.0 < key)));
            count += old.next_if(|known| known.0 == key).map_or(0, |known| known.1);
            self.counted.push((key, count));
        }
        self.counted.extend(old);
        self.fresh.clear();
    }

    /// Every case, once all trials are settled.
    fn each(&self) -> impl Iterator<Item = Case> + '_ {
        debug_assert!(self.fresh.is_empty(), "all trials are settled");
        self.counted.chunk_by(|a, b| a.0 >> 4 == b.0 >> 4).map(|said| {
            let mut case = Case::default();
            for (key, count) in said {
                let heard = |bits: u64| Some(bits == 1).filter(|_| bits < 2);
                case.add((heard(key >> 2 & 3), heard(key & 3)), *count);
            }
            case
        })
    }
}

/// What both runs said of one case's trials. Trials that neither could assess are in none.
#[derive(Debug, Default, Clone, Copy)]
struct Case {
    both: u32,
    passed_a: u32,
    passed_b: u32,
    /// Assessed in A only, and how many of those passed.
    lost: u32,
    lost_passed: u32,
    /// Assessed in B only, and how many of those passed.
    won: u32,
    won_passed: u32,
}

impl Case {
    fn add(&mut self, passed: (Option<bool>, Option<bool>), count: u32) {
        let of = |passed: bool| u32::from(passed) * count;
        match passed {
            (Some(a), Some(b)) => {
                self.both += count;
                self.passed_a += of(a);
                self.passed_b += of(b);
            }
            (Some(a), None) => {
                self.lost += count;
                self.lost_passed += of(a);
            }
            (None, Some(b)) => {
                self.won += count;
                self.won_passed += of(b);
            }
            (None, None) => {}
        }
    }
}

/// Which case a trial is of.
pub(super) fn case_key(raw: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(raw);
    hasher.finish()
}

impl Table {
    pub(super) fn add(&mut self, slot: &[u8], case: u64, passed: (Option<bool>, Option<bool>)) {
        let slot = self.slot(slot);
        slot.cases.add(case, passed);
        match passed {
            (Some(true), Some(true)) => slot.trials.both += 1,
            (Some(true), Some(false)) => slot.trials.only_first += 1,
            (Some(false), Some(true)) => slot.trials.only_second += 1,
            (Some(false), Some(false)) => slot.trials.neither += 1,
            (None, _) | (_, None) => {}
        }
    }

    /// All targets, with all their trials by case.
    fn settled(&mut self) -> &[Slot] {
        self.slots.iter_mut().for_each(|slot| slot.cases.settle());
        &self.slots
    }

    fn slot(&mut self, raw: &[u8]) -> &mut Slot {
        let near = [self.last, self.last + 1];
        let near = near.into_iter().find(|at| self.slots.get(*at).is_some_and(|known| known.raw == raw));
        self.last = near.or_else(|| self.places.get(raw).copied()).unwrap_or_else(|| {
            let new = Slot { raw: raw.to_vec(), trials: PairedCounts::default(), cases: Cases::default() };
            self.slots.push(new);
            self.places.insert(raw.to_vec(), self.slots.len() - 1);
            self.slots.len() - 1
        });
        &mut self.slots[self.last]
    }
}

impl Slot {
    fn name(&self) -> String {
        serde_json::from_slice(&self.raw).unwrap_or_else(|_| String::from_utf8_lossy(&self.raw).into_owned())
    }

    fn seen(&self) -> Differences {
        let mut seen = Differences::default();
        for case in self.cases.each() {
            let [both, a, b] = [case.both, case.passed_a, case.passed_b].map(u64::from);
            seen.push((a, both), (b, both));
        }
        seen
    }

    /// As seen, and with what one run could not assess taken for and against B.
    fn views(&self) -> Views {
        let mut views = Views { seen: self.seen(), ..Views::default() };
        for case in self.cases.each() {
            let [both, a, b, lost, lost_passed, won, won_passed] = [
                case.both,
                case.passed_a,
                case.passed_b,
                case.lost,
                case.lost_passed,
                case.won,
                case.won_passed,
            ]
            .map(u64::from);
            let all = both + lost + won;
            views.against.push((a + lost_passed + won, all), (b + won_passed, all));
            views.favour.push((a + lost_passed, all), (b + lost + won_passed, all));
            views.unassessed += lost + won;
        }
        views
    }
}

/// Targets of A and of B of which nothing that they answered can be assessed.
#[derive(Debug, Default)]
pub(super) struct Silent {
    pub(super) a: BTreeSet<String>,
    pub(super) b: BTreeSet<String>,
}

impl Silent {
    fn sides(&self, slot: &Slot) -> Vec<&'static str> {
        let name = slot.name();
        let of = |side: &BTreeSet<String>, letter| side.contains(&name).then_some(letter);
        [of(&self.a, "A"), of(&self.b, "B")].into_iter().flatten().collect()
    }
}

/// How `passed` compares between the runs, for one target.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Noise {
    /// The target.
    pub slot: String,
    /// Trials that both runs could assess.
    pub pairs: u64,
    /// Passed in both.
    pub both_passed: u64,
    /// Passed in A only.
    pub only_a: u64,
    /// Passed in B only.
    pub only_b: u64,
    /// Passed in neither.
    pub neither: u64,
    /// Cases that those trials are of: what is counted in the test.
    pub cases: u64,
    /// The mean over cases of B's pass rate minus A's; null without cases.
    pub difference: Option<f64>,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high: Option<f64>,
    /// Permutation test over cases, two-sided; null without cases.
    pub p_value: Option<f64>,
    /// The same, adjusted by Holm for all targets.
    pub adjusted_p: Option<f64>,
    /// Whether `adjusted_p` is below 0.05; null without cases.
    pub more_than_noise: Option<bool>,
    /// All of that in words.
    pub sentence: String,
}

/// Whether one target got worse by more than a margin.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Worse {
    /// The target.
    pub slot: String,
    /// `not_worse`, `worse` or `cannot_tell`.
    pub verdict: String,
    /// By how much B may be worse.
    pub margin: f64,
    /// Lower end of B minus A, as if what one run could not assess spoke against B.
    pub low: Option<f64>,
    /// Upper end, as if it spoke for B.
    pub high: Option<f64>,
    /// About how many cases would tell.
    pub needed_cases: Option<u64>,
    /// All of that in words.
    pub sentence: String,
}

impl Noise {
    /// For each target.
    pub(super) fn of(table: &mut Table, silent: &Silent) -> Vec<Self> {
        let slots = table.settled();
        let seen =
            |slot: &Slot| if silent.sides(slot).is_empty() { slot.seen() } else { Differences::default() };
        let pairs: Vec<_> = slots.iter().map(|slot| ("A".to_owned(), "B".to_owned(), seen(slot))).collect();
        let compared = compare_family(&pairs, pairs.len() as u64).into_iter().zip(slots);
        let compared = compared
            .map(|(decided, slot)| decided.with_silent(|name| silent.sides(slot).contains(&name)))
            .collect::<Vec<_>>();
        slots.iter().zip(compared).map(|(slot, decided)| Self::told(slot, &decided)).collect()
    }

    fn told(slot: &Slot, decided: &Comparison) -> Self {
        let PairedCounts { both, only_first, only_second, neither } = slot.trials;
        let name = slot.name();
        Self {
            pairs: slot.trials.pairs(),
            both_passed: both,
            only_a: only_first,
            only_b: only_second,
            neither,
            cases: decided.cases,
            difference: decided.difference,
            low: decided.interval.map(|interval| interval.low),
            high: decided.interval.map(|interval| interval.high),
            p_value: decided.p,
            adjusted_p: decided.adjusted_p,
            more_than_noise: decided.more_than_noise(),
            sentence: format!("{name}: {}", decided.sentence()),
            slot: name,
        }
    }
}

impl Worse {
    /// For each target, all at once.
    pub(super) fn of(table: &mut Table, margin: f64, silent: &Silent) -> Vec<Self> {
        let count = table.slots.len() as u64;
        let told = |slot: &Slot| {
            let name = slot.name();
            let sides = silent.sides(slot);
            if !sides.is_empty() {
                let sides = sides.join(" or ");
                return Self {
                    verdict: "cannot_tell".to_owned(),
                    margin,
                    low: None,
                    high: None,
                    needed_cases: None,
                    sentence: format!(
                        "{name}: nothing that {sides} answered can be assessed, so it cannot be told whether B is worse than A"
                    ),
                    slot: name,
                };
            }
            let decided = NotWorse::decide(("A", "B"), &slot.views(), margin, count);
            Self {
                verdict: match decided.verdict {
                    Verdict::NotWorse => "not_worse",
                    Verdict::Worse => "worse",
                    Verdict::CannotTell => "cannot_tell",
                }
                .to_owned(),
                margin,
                low: decided.interval.map(|interval| interval.low),
                high: decided.interval.map(|interval| interval.high),
                needed_cases: decided.needed,
                sentence: format!("{name}: {}", decided.sentence()),
                slot: name,
            }
        };
        table.settled().iter().map(told).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases by what both runs said of their single trial.
    fn table(cases: &[(u64, Option<bool>, Option<bool>)]) -> Table {
        let mut table = Table::default();
        let mut next = 0;
        for (count, a, b) in cases {
            for _ in 0..*count {
                table.add(b"\"s\"", next, (*a, *b));
                next += 1;
            }
        }
        table
    }

    #[test]
    fn repetitions_of_a_case_are_one_witness() {
        let mut repeated = Table::default();
        for case in 0..4 {
            (0..20).for_each(|_| repeated.add(b"\"s\"", case, (Some(true), Some(false))));
        }
        let found = &Noise::of(&mut repeated, &Silent::default())[0];
        assert_eq!((found.pairs, found.cases, found.p_value), (80, 4, Some(0.125)));
        assert_eq!(found.more_than_noise, Some(false));
        let apart = &Noise::of(&mut table(&[(80, Some(true), Some(false))]), &Silent::default())[0];
        assert_eq!(apart.more_than_noise, Some(true));
    }

    #[test]
    fn trials_are_counted_by_what_both_runs_said() {
        let (yes, no) = (Some(true), Some(false));
        let table = table(&[(5, yes, yes), (4, yes, no), (3, no, yes), (2, no, no), (1, yes, None)]);
        let seen = &table.slots[0].trials;
        assert_eq!((seen.both, seen.only_first, seen.only_second, seen.neither), (5, 4, 3, 2));
    }

    #[test]
    fn targets_are_never_pooled() {
        let mut two = table(&[(30, Some(true), Some(false))]);
        (0..30).for_each(|case| two.add(b"\"t\"", case, (Some(false), Some(true))));
        let found = Noise::of(&mut two, &Silent::default());
        assert_eq!(found.iter().map(|target| target.more_than_noise).collect::<Vec<_>>(), [Some(true); 2]);
        assert!(found[0].difference.unwrap() < 0.0 && found[1].difference.unwrap() > 0.0);
    }

    #[test]
    fn lost_trials_leave_it_open_whether_it_is_worse() {
        let verdict = |cases: &[(u64, Option<bool>, Option<bool>)]| {
            Worse::of(&mut table(cases), 0.03, &Silent::default())[0].verdict.clone()
        };
        assert_eq!(verdict(&[(1000, Some(true), Some(true))]), "not_worse");
        assert_eq!(verdict(&[(1, Some(true), Some(true)), (999, Some(true), None)]), "cannot_tell");
        assert_eq!(verdict(&[(700, Some(true), Some(true)), (300, Some(true), Some(false))]), "worse");
        assert_eq!(verdict(&[(5, None, None)]), "cannot_tell");
    }

    #[test]
    fn trials_of_a_case_are_brought_together_wherever_they_stand() {
        let mut cases = Cases::default();
        let said = [(Some(true), Some(true)), (Some(true), Some(false)), (None, Some(true)), (None, None)];
        // Outcomes before the first time that trials are brought together, after it, and on both sides of it.
        for (round, said) in said.iter().chain(&said[1..]).enumerate() {
            (0..1_000).for_each(|case| cases.add(case, *said));
            // As if there had been a million of them.
            if round == 2 {
                cases.settle();
            }
        }
        cases.settle();
        assert_eq!(cases.each().count(), 1_000);
        for case in cases.each() {
            let Case { both, passed_a, passed_b, lost, lost_passed, won, won_passed } = case;
            assert_eq!((both, passed_a, passed_b), (3, 3, 1));
            assert_eq!((lost, lost_passed, won, won_passed), (0, 0, 2, 2));
        }
    }

    /// One case with trials of every sort: passed in both, and passed and failed in one run where the other has nothing.
    #[test]
    fn what_one_run_lacks_is_taken_for_and_against_the_second() {
        let (yes, no) = (Some(true), Some(false));
        let mut table = Table::default();
        for pair in [(yes, yes), (yes, None), (no, None), (no, None), (None, yes), (None, no)] {
            table.add(b"\"s\"", 0, pair);
        }
        let views = table.settled()[0].views();
        assert_eq!(views.unassessed, 5);
        let mean = |differences: &Differences| differences.mean().map(|mean| (mean * 6.0).round());
        assert_eq!(mean(&views.against), Some(-2.0), "A passes 4 of 6, B 2");
        assert_eq!(mean(&views.favour), Some(3.0), "A passes 2 of 6, B 5");
        assert_eq!(mean(&views.seen), Some(0.0));
    }

    /// B said nothing, which judges took for 200 wrong answers: neither that it is worse nor that it is as good follows from it.
    #[test]
    fn who_says_nothing_is_compared_with_nobody() {
        let silent = Silent { b: BTreeSet::from(["s".to_owned()]), ..Silent::default() };
        for (a, b) in [(true, false), (false, false), (false, true)] {
            let mut table = table(&[(200, Some(a), Some(b))]);
            let found = &Noise::of(&mut table, &silent)[0];
            assert_eq!((found.difference, found.p_value, found.more_than_noise), (None, None, None));
            assert_eq!(
                found.sentence,
                "s: nothing that B answered can be assessed, so it cannot be compared with A"
            );
            let worse = &Worse::of(&mut table, 0.03, &silent)[0];
            assert_eq!((worse.verdict.as_str(), worse.low), ("cannot_tell", None));
        }
        // A failed all of 500, and B was never assessed: it cannot be worse, and nobody knows whether it is as good.
        let found = &Worse::of(&mut table(&[(500, Some(false), None)]), 0.03, &Silent::default())[0];
        assert_eq!(found.verdict, "cannot_tell");
        assert!(found.sentence.contains("no case was assessed for both A and B"), "{}", found.sentence);
    }
}
