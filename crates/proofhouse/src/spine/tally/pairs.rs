//! Targets on the same trials, with cases as what is counted: pairs of them, and which is best.
//!
//! Repetitions of a case stand or fall together, so a hundred of them are no hundred witnesses. All pairs are compared as long
//! as they are few; of many targets, each is compared with the first and with the one that did best, so that the work grows
//! with the targets and not with their square. Either way p-values are adjusted for all pairs that could have been chosen.

use std::collections::BTreeSet;

use proofhouse_ledger::summary;

use super::heads::round;
use super::stats::PairedCounts;
use super::stats::decisions::{self, Candidate, Differences, all_pairs, chosen_pairs, compare_family};

/// One target's verdicts, case after case: eight bytes for each.
#[derive(Debug, Clone, Default)]
pub(super) struct Column {
    /// Which variant and repetition of its case, and in the lowest bit whether it passed.
    verdicts: Vec<u64>,
    /// Where each case ends.
    ends: Vec<usize>,
}

impl Column {
    /// Closes the case with this number, whose verdicts are in the order of variants and repetitions.
    pub(super) fn close_case(&mut self, case: usize, verdicts: &[(u64, bool)]) {
        // Cases before this target first came up have nothing of it.
        self.ends.resize(case, self.verdicts.len());
        self.verdicts.extend(verdicts.iter().map(|(trial, passed)| trial << 1 | u64::from(*passed)));
        self.ends.push(self.verdicts.len());
    }

    fn case(&self, case: usize) -> &[u64] {
        let from = case.checked_sub(1).map_or(0, |before| self.end(before));
        &self.verdicts[from..self.end(case)]
    }

    fn end(&self, case: usize) -> usize {
        self.ends.get(case).copied().unwrap_or(self.verdicts.len())
    }

    fn has(&self, case: usize) -> bool {
        !self.case(case).is_empty()
    }

    /// The mean of these cases' own means, to find who did best.
    fn mean(&self, cases: impl IntoIterator<Item = usize>) -> f64 {
        let shares = cases.into_iter().map(|case| self.case(case)).filter(|case| !case.is_empty());
        let (sum, count) = shares.fold((0.0, 0u64), |(sum, count), case| {
            let passed = case.iter().filter(|verdict| *verdict & 1 == 1).count();
            (sum + passed as f64 / case.len() as f64, count + 1)
        });
        if count == 0 { f64::NEG_INFINITY } else { sum / count as f64 }
    }
}

/// Two columns on the trials of these cases that both have.
fn pair(a: &Column, b: &Column, cases: impl IntoIterator<Item = usize>) -> (PairedCounts, Differences) {
    let (mut trials, mut differences) = (PairedCounts::default(), Differences::default());
    for case in cases {
        let (mut passed_a, mut passed_b, mut count) = (0, 0, 0);
        let mut rest = b.case(case).iter().peekable();
        for first in a.case(case) {
            while rest.next_if(|other| *other >> 1 < first >> 1).is_some() {}
            let Some(second) = rest.next_if(|other| *other >> 1 == first >> 1) else { continue };
            let (first, second) = (first & 1, second & 1);
            match (first, second) {
                (1, 1) => trials.both += 1,
                (1, _) => trials.only_first += 1,
                (_, 1) => trials.only_second += 1,
                _ => trials.neither += 1,
            }
            (passed_a, passed_b, count) = (passed_a + first, passed_b + second, count + 1);
        }
        differences.push((passed_a, count), (passed_b, count));
    }
    (trials, differences)
}

/// What can be said of targets on the same cases. The silent ones answered nothing that can be assessed: they have no rate.
pub(super) fn compare(
    columns: &[(&str, &Column)],
    silent: &BTreeSet<&str>,
) -> (Vec<summary::Comparison>, Option<summary::Best>) {
    let nothing = Column::default();
    let heard = |at: usize| if silent.contains(columns[at].0) { &nothing } else { columns[at].1 };
    let columns: Vec<(&str, &Column)> = (0..columns.len()).map(|at| (columns[at].0, heard(at))).collect();
    let count = columns.len();
    let all = 0..columns.iter().map(|(_, column)| column.ends.len()).max().unwrap_or(0);
    // Who is best is asked on the cases that all of them met: a case that one did not meet counts neither for it nor against it.
    let met: Vec<&Column> = columns
        .iter()
        .map(|(_, column)| *column)
        .filter(|column| all.clone().any(|case| column.has(case)))
        .collect();
    let shared: Vec<usize> =
        all.clone().filter(|case| !met.is_empty() && met.iter().all(|column| column.has(*case))).collect();
    let means: Vec<f64> = columns.iter().map(|(_, column)| column.mean(shared.iter().copied())).collect();
    let top = (0..count).fold(0, |top, at| if means[at] > means[top] { at } else { top });
    let places = chosen_pairs(count, top);
    let name = |at: usize| columns[at].0.to_owned();
    let mut tables = Vec::new();
    let mut pairs = Vec::new();
    for (a, b) in &places {
        let (table, differences) = pair(columns[*a].1, columns[*b].1, all.clone());
        tables.push(table);
        pairs.push((name(*a), name(*b), differences));
    }
    let compared = compare_family(&pairs, all_pairs(count));
    let compared = compared.into_iter().map(|decided| decided.with_silent(|name| silent.contains(name)));
    let comparisons = compared.zip(&tables).map(|(decided, trials)| told(&decided, trials));
    let best = (count > 2).then(|| {
        let against = |at: usize| pair(columns[top].1, columns[at].1, shared.iter().copied()).1;
        let others = (0..count).filter(|at| *at != top);
        let others = others.map(|at| Candidate { name: name(at), against_best: against(at) });
        let some = all.filter(|case| met.iter().any(|column| column.has(*case))).count();
        let best = decisions::best(columns[top].0, &others.collect::<Vec<_>>())?;
        let silent = columns.iter().map(|(name, _)| *name).filter(|name| silent.contains(name));
        Some(best.among((some - shared.len()) as u64, silent.map(str::to_owned).collect()))
    });
    let best = best.flatten().map(|best| summary::Best {
        sentence: best.sentence(),
        slot: best.name,
        within: round(best.within),
        rivals: best.rivals,
    });
    (comparisons.collect(), best)
}

/// A comparison as the summary has it.
fn told(decided: &decisions::Comparison, trials: &PairedCounts) -> summary::Comparison {
    summary::Comparison {
        a: decided.a.clone(),
        b: decided.b.clone(),
        pairs: trials.pairs(),
        both_passed: trials.both,
        only_a: trials.only_first,
        only_b: trials.only_second,
        neither: trials.neither,
        cases: decided.cases,
        cases_a: decided.better.0,
        cases_b: decided.better.1,
        difference: decided.difference.map(round),
        low: decided.interval.map(|interval| round(interval.low)),
        high: decided.interval.map(|interval| round(interval.high)),
        p_value: decided.p.map(round),
        adjusted_p: decided.adjusted_p.map(round),
        sentence: decided.sentence(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(columns: &[(&str, &Column)]) -> (Vec<summary::Comparison>, Option<summary::Best>) {
        super::compare(columns, &BTreeSet::new())
    }

    fn column(cases: &[&[(u64, bool)]]) -> Column {
        let mut column = Column::default();
        cases.iter().enumerate().for_each(|(at, verdicts)| column.close_case(at, verdicts));
        column
    }

    fn only(a: &Column, b: &Column) -> summary::Comparison {
        compare(&[("a", a), ("b", b)]).0.remove(0)
    }

    fn repeated(passed: bool) -> Vec<(u64, bool)> {
        (0..10).map(|repetition| (repetition, passed)).collect()
    }

    #[test]
    fn repetitions_of_one_case_prove_nothing() {
        let comparison = only(&column(&[&repeated(true)]), &column(&[&repeated(false)]));
        assert_eq!((comparison.only_a, comparison.cases, comparison.cases_a), (10, 1, 1));
        assert_eq!(comparison.p_value, Some(1.0));
        assert!(comparison.high.unwrap() > -0.9, "one case has a wide interval: {comparison:?}");
    }

    #[test]
    fn without_repetitions_it_is_mcnemar() {
        let wrong: &[(u64, bool)] = &[(0, false)];
        let right: &[(u64, bool)] = &[(0, true)];
        let a = [vec![wrong; 5], vec![right]].concat();
        let comparison = only(&column(&a), &column(&[right; 6]));
        assert_eq!((comparison.p_value, comparison.cases_b), (Some(0.0625), 5));
    }

    #[test]
    fn missing_repetitions_are_no_pairs() {
        let (a, b) = (column(&[&[(0, true), (2, true)]]), column(&[&[(1, false), (2, false)]]));
        assert_eq!(only(&a, &b).pairs, 1);
        assert_eq!(only(&Column::default(), &Column::default()).p_value, None);
        let mut late = Column::default();
        late.close_case(1, &[(0, true)]);
        assert_eq!(only(&column(&[&[(0, true)], &[(0, false)]]), &late).only_b, 1);
    }

    #[test]
    fn pairs_grow_with_the_targets_and_not_with_their_square() {
        let columns: Vec<(String, Column)> = (0..100)
            .map(|at| {
                let cases: Vec<[(u64, bool); 1]> = (0..20).map(|case| [(0, at == 42 || case < 5)]).collect();
                (format!("t{at}"), column(&cases.iter().map(|case| case as &[_]).collect::<Vec<_>>()))
            })
            .collect();
        let columns: Vec<(&str, &Column)> =
            columns.iter().map(|(name, column)| (name.as_str(), column)).collect();
        let (few, _) = compare(&columns[..10]);
        assert_eq!(few.len(), 45);
        let (pairs, best) = compare(&columns);
        assert_eq!(pairs.len(), 99 + 98);
        assert_eq!(best.unwrap().slot, "t42");
        // 15 of 15 cases that differ: p = 2⁻¹⁴, times 4,950 pairs.
        let found = pairs.iter().find(|pair| pair.a == "t0" && pair.b == "t42").unwrap();
        assert!((found.adjusted_p.unwrap() - 4950.0 / 16384.0).abs() < 1e-9, "{found:?}");
    }

    /// Case by case: one both ways and one only b; only a; neither; and one that b does not have.
    #[test]
    fn a_comparison_tells_trials_and_cases() {
        let a = column(&[&[(0, true), (1, false)], &[(0, true)], &[(0, false)], &[(0, true)]]);
        let b = column(&[&[(0, true), (1, true)], &[(0, false)], &[(0, false)], &[]]);
        let found = only(&a, &b);
        assert_eq!(
            (found.pairs, found.both_passed, found.only_a, found.only_b, found.neither),
            (4, 1, 1, 1, 1)
        );
        assert_eq!((found.cases, found.cases_a, found.cases_b), (3, 1, 1));
        assert_eq!(found.difference, Some(round((0.5 - 1.0) / 3.0)), "second minus first, case by case");
        assert!(found.low < found.difference && found.difference < found.high);
    }

    /// A trial of one is looked up among those of the other, which may begin, end or skip elsewhere.
    #[test]
    fn trials_are_paired_by_wording_and_repetition() {
        let of = |trials: &[u64]| column(&[&trials.iter().map(|trial| (*trial, true)).collect::<Vec<_>>()]);
        for (a, b, expected) in [
            (&[1, 2, 5][..], &[0, 2, 3, 5, 6][..], 2),
            (&[0, 1], &[2, 3], 0),
            (&[2, 3], &[0, 1], 0),
            (&[0, 1, 1 << 32], &[0, 1 << 32], 2),
        ] {
            assert_eq!(only(&of(a), &of(b)).pairs, expected, "{a:?} {b:?}");
            assert_eq!(only(&of(b), &of(a)).pairs, expected, "{b:?} {a:?}");
        }
    }

    #[test]
    fn the_best_has_the_best_cases_and_not_the_most_trials() {
        let own = |cases: &[&[bool]]| {
            let numbered =
                |case: &&[bool]| case.iter().enumerate().map(|(n, passed)| (n as u64, *passed)).collect();
            let cases: Vec<Vec<(u64, bool)>> = cases.iter().map(numbered).collect();
            column(&cases.iter().map(Vec::as_slice).collect::<Vec<_>>())
        };
        // 2 of 5 trials, and (1/4 + 1) / 2 of its cases; 4 of 5 trials, and (1 + 0) / 2.
        let few = own(&[&[true, false, false, false], &[true]]);
        let many = own(&[&[true, true, true, true], &[false]]);
        assert_eq!((few.mean(0..2), many.mean(0..2)), (0.625, 0.5));
        // A case of which it has nothing is none of its own.
        assert_eq!(own(&[&[], &[true], &[], &[false, true]]).mean(0..4), 0.75);
        assert_eq!(Column::default().mean(0..4), f64::NEG_INFINITY);
        let best = |columns: &[(&str, &Column)]| compare(columns).1.map(|best| best.slot);
        assert_eq!(
            best(&[("many", &many), ("few", &few), ("nothing", &Column::default())]).as_deref(),
            Some("few")
        );
        assert_eq!(
            best(&[("one", &few), ("other", &few), ("many", &many)]).as_deref(),
            Some("one"),
            "the first of equals"
        );
        let rivals =
            compare(&[("many", &many), ("few", &few), ("none", &Column::default())]).1.unwrap().rivals;
        let is_rival = |name: &str| rivals.iter().any(|rival| rival == name);
        assert!(is_rival("many") && !is_rival("few"), "two cases do not tell them apart: {rivals:?}");
        assert_eq!(best(&[("few", &few), ("many", &many)]), None, "of two, the comparison says it");
    }

    /// Ten easy cases were all that `few` met, and passed; of the hundred that the others met, `most` passed more of the hard ones.
    #[test]
    fn cases_that_a_target_did_not_meet_count_neither_for_it_nor_against_it() {
        let of = |passes: &dyn Fn(usize) -> Option<bool>| {
            let mut column = Column::default();
            for case in 0..100 {
                column.close_case(
                    case,
                    &passes(case).map(|passed| (0, passed)).into_iter().collect::<Vec<_>>(),
                );
            }
            column
        };
        let few = of(&|case| (case < 10).then_some(case > 0));
        let most = of(&|case| Some(case < 80));
        let some = of(&|case| Some(case < 60 && case > 1));
        let best = compare(&[("few", &few), ("most", &most), ("some", &some)]).1.unwrap();
        assert_eq!(best.slot, "most", "of the ten that all met it passed all ten");
        assert!(
            best.sentence.contains("over the 10 of 100 cases on which all were assessed"),
            "{}",
            best.sentence
        );
        let apart = of(&|case| (case >= 10).then_some(true));
        assert_eq!(
            compare(&[("few", &few), ("apart", &apart), ("most", &most)]).1,
            None,
            "no case is shared by all"
        );
    }

    /// Who says nothing fails every case, which would make any other better, and itself as good as another that says nothing.
    #[test]
    fn who_says_nothing_is_neither_better_nor_worse_nor_equal() {
        let of = |passed: bool| column(&[&[(0u64, passed)] as &[_]; 40]);
        let (good, fair, mute) = (of(true), of(true), of(false));
        let all = [("good", &good), ("fair", &fair), ("mute", &mute), ("dumb", &mute)];
        let (pairs, best) = super::compare(&all, &BTreeSet::from(["mute", "dumb"]));
        let said = |a: &str, b: &str| pairs.iter().find(|pair| pair.a == a && pair.b == b).unwrap();
        let found = said("good", "mute");
        assert_eq!((found.difference, found.adjusted_p, found.pairs), (None, None, 0));
        assert_eq!(
            found.sentence,
            "nothing that mute answered can be assessed, so it cannot be compared with good"
        );
        assert_eq!(
            said("mute", "dumb").sentence,
            "nothing that mute or dumb answered can be assessed, so they cannot be compared"
        );
        let best = best.unwrap();
        assert_eq!((best.slot.as_str(), best.rivals.as_slice()), ("good", ["fair".to_owned()].as_slice()));
        assert!(
            best.sentence
                .ends_with("; nothing that mute, dumb answered can be assessed, so they are not among them"),
            "{}",
            best.sentence
        );
        let alone = [("good", &good), ("mute", &mute), ("dumb", &mute)];
        assert_eq!(
            super::compare(&alone, &BTreeSet::from(["mute", "dumb"])).1,
            None,
            "nobody is best of one"
        );
    }
}
