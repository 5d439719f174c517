//! Robust pass@k of a `code` run with `vary`: a completion is right if it passes in every one of several wordings.
//!
//! After Wang et al. (2022), "ReCode: Robustness Evaluation of Code Generation Models": per generator the worst case over
//! its wordings, without the task's own. Models are asked task by task, so one task at a time is kept.

use std::collections::BTreeMap;

use proofhouse_ledger::record::{Damage, HEAD, Line, VARIANT_SHORTFALL};
use proofhouse_ledger::summary::{OmittedK, Robust, RobustAtK};

use super::tally::at;
use crate::spine::tally::heads::round;
use crate::spine::tally::wordings::generator;

/// A task as raw JSON, and its completions: how many, how many robustly right, how many right as it stands.
type Task = (Vec<u8>, u64, u64, u64);

/// The verdicts of one slot.
#[derive(Default)]
pub(super) struct RobustTally {
    /// The task whose trials are passing by, as raw bytes, and what became of each of its wordings.
    task: Vec<u8>,
    wordings: BTreeMap<Vec<u8>, Wording>,
    generators: BTreeMap<String, Row>,
    all: Row,
}

/// The completions of one wording of one task, in the order of their repetition.
#[derive(Default, Clone)]
struct Wording {
    verdicts: Vec<Option<bool>>,
    /// Its generator could not make it.
    missing: bool,
}

#[derive(Default, Clone)]
struct Row {
    wordings: u64,
    tasks: Vec<Task>,
    without_wording: u64,
    without_verdict: u64,
}

impl RobustTally {
    /// Takes the next record.
    pub(super) fn push(&mut self, line: &Line<'_>, passed: Option<bool>) -> Result<(), Damage> {
        let task = line.require(HEAD.case_id)?;
        let variant = line.raw(HEAD.variant_id).unwrap_or(b"null");
        let missing =
            passed.is_none() && line.get(HEAD.error_type)?.is_some_and(|word| word == VARIANT_SHORTFALL);
        self.take(task, variant, passed, missing);
        Ok(())
    }

    fn take(&mut self, task: &[u8], variant: &[u8], passed: Option<bool>, missing: bool) {
        if task != self.task {
            let wordings = std::mem::take(&mut self.wordings);
            close((&self.task, wordings), &mut self.generators, &mut self.all);
            self.task = task.to_vec();
        }
        let wording = match self.wordings.get_mut(variant) {
            Some(wording) => wording,
            None => self.wordings.entry(variant.to_vec()).or_default(),
        };
        wording.verdicts.push(passed);
        wording.missing |= missing;
    }

    /// A row for each generator, then one for all wordings; none without other wordings. Nobody is scored against a task
    /// that is excluded.
    pub(super) fn finish(&self, ks: &[u64], excluded: impl Fn(&str) -> bool) -> Vec<Robust> {
        let (mut generators, mut all) = (self.generators.clone(), self.all.clone());
        close((&self.task, self.wordings.clone()), &mut generators, &mut all);
        generators.values_mut().chain([&mut all]).for_each(|row| row.leave_out(&excluded));
        if generators.is_empty() {
            return Vec::new();
        }
        let rows = generators.into_iter().map(|(name, row)| row.finish(Some(name), ks));
        rows.chain([all.finish(None, ks)]).collect()
    }
}

/// All trials of a task have passed by.
fn close(
    (task, mut wordings): (&[u8], BTreeMap<Vec<u8>, Wording>),
    generators: &mut BTreeMap<String, Row>,
    all: &mut Row,
) {
    let own = wordings.remove(b"null".as_slice()).unwrap_or_default();
    if wordings.is_empty() {
        return;
    }
    let mut by_generator: BTreeMap<&str, Vec<&Wording>> = BTreeMap::new();
    for (variant, wording) in &wordings {
        by_generator.entry(generator(variant).unwrap_or_default()).or_default().push(wording);
    }
    for (name, of_it) in by_generator {
        generators.entry(name.to_owned()).or_default().take(task, &own, &of_it);
    }
    let together: Vec<&Wording> = std::iter::once(&own).chain(wordings.values()).collect();
    all.take(task, &own, &together);
}

impl Row {
    fn take(&mut self, task: &[u8], own: &Wording, wordings: &[&Wording]) {
        self.wordings = wordings.len() as u64;
        if wordings.iter().any(|wording| wording.missing) {
            self.without_wording += 1;
            return;
        }
        let samples = own.verdicts.len();
        let is_whole = |wording: &Wording| {
            samples > 0 && wording.verdicts.len() == samples && wording.verdicts.iter().all(Option::is_some)
        };
        if !is_whole(own) || !wordings.iter().all(|wording| is_whole(wording)) {
            self.without_verdict += 1;
            return;
        }
        let passes = |wording: &Wording, nth: usize| wording.verdicts[nth] == Some(true);
        let robust = (0..samples).filter(|nth| wordings.iter().all(|wording| passes(wording, *nth))).count();
        let passed = (0..samples).filter(|nth| passes(own, *nth)).count();
        self.tasks.push((task.to_vec(), samples as u64, robust as u64, passed as u64));
    }

    fn leave_out(&mut self, excluded: impl Fn(&str) -> bool) {
        let before = self.tasks.len();
        self.tasks
            .retain(|(task, ..)| !serde_json::from_slice::<String>(task).is_ok_and(|task| excluded(&task)));
        self.without_verdict += (before - self.tasks.len()) as u64;
    }

    fn finish(&self, generator: Option<String>, ks: &[u64]) -> Robust {
        let fewest = self.tasks.iter().map(|(_, samples, ..)| *samples).min();
        let (mut at_k, mut omitted_k) = (Vec::new(), Vec::new());
        for k in ks.iter().copied() {
            let reason = match fewest {
                None => "no task has a verdict on every completion in every wording".to_owned(),
                Some(fewest) if fewest < k => {
                    let few = self.tasks.iter().filter(|(_, samples, ..)| *samples < k).count();
                    format!(
                        "{few} of {} tasks have fewer than {k} completions in each wording",
                        self.tasks.len()
                    )
                }
                Some(_) => {
                    at_k.extend(self.at(k));
                    continue;
                }
            };
            omitted_k.push(OmittedK { k, reason });
        }
        Robust {
            generator,
            wordings: self.wordings,
            tasks: self.tasks.len() as u64,
            tasks_without_wording: self.without_wording,
            tasks_without_verdict: self.without_verdict,
            at_k,
            omitted_k,
        }
    }

    fn at(&self, k: u64) -> Option<RobustAtK> {
        let robust = at(k, self.tasks.iter().map(|(_, samples, robust, _)| (*samples, *robust)), 0)?;
        let own = at(k, self.tasks.iter().map(|(_, samples, _, passed)| (*samples, *passed)), 0)?;
        Some(RobustAtK {
            k,
            value: robust.value,
            standard_error: robust.standard_error,
            low: robust.low,
            high: robust.high,
            pass_at_k: own.value,
            drop: (own.value > 0.0).then(|| round((own.value - robust.value) / own.value)),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Verdicts of a task by wording: `1` passed, `0` failed, `?` no verdict; `-` where there is no such wording.
    fn tally(tasks: &[&[(&str, &str)]], ks: &[u64]) -> Vec<Robust> {
        let mut tally = RobustTally::default();
        for (nth, wordings) in tasks.iter().enumerate() {
            for (variant, verdicts) in *wordings {
                let raw = if variant.is_empty() { "null".to_owned() } else { format!("\"{variant}\"") };
                for verdict in verdicts.chars() {
                    let passed = match verdict {
                        '1' => Some(true),
                        '0' => Some(false),
                        _ => None,
                    };
                    tally.take(&[nth as u8], raw.as_bytes(), passed, verdict == '-');
                }
            }
        }
        tally.finish(ks, |_| false)
    }

    /// Three tasks with four completions each, worked out by hand.
    #[test]
    fn a_table_worked_out_by_hand() {
        let rows = tally(
            &[
                // noise: all four in both wordings; swap: the first two.
                &[("", "1111"), ("noise_0001", "1111"), ("noise_0002", "1111"), ("swap_0001", "1100")],
                // noise: only the second passes in both; swap: three, one of which fails as it stands.
                &[("", "1100"), ("noise_0001", "1100"), ("noise_0002", "0111"), ("swap_0001", "1110")],
                &[("", "0000"), ("noise_0001", "0000"), ("noise_0002", "1000"), ("swap_0001", "0000")],
            ],
            &[1, 2, 5],
        );
        let row = |nth: usize| {
            let row: &Robust = &rows[nth];
            let at: Vec<_> = row.at_k.iter().map(|at| (at.k, at.value, at.pass_at_k, at.drop)).collect();
            (row.generator.as_deref(), row.wordings, row.tasks, at)
        };
        // rc = 4, 1, 0 of n = 4: RP@1 = (1 + 1/4 + 0)/3, RP@2 = (1 + 1/2 + 0)/3. pass@1 = (1 + 1/2)/3, pass@2 = (1 + 5/6)/3.
        let noise = row(0);
        assert_eq!((noise.0, noise.1, noise.2), (Some("noise"), 2, 3));
        near(&noise.3, &[(1, 5.0 / 12.0, 0.5, Some(1.0 / 6.0)), (2, 0.5, 11.0 / 18.0, Some(2.0 / 11.0))]);
        // rc = 2, 3, 0: RP@1 = (1/2 + 3/4)/3, RP@2 = (5/6 + 1)/3.
        let swap = row(1);
        assert_eq!((swap.0, swap.1), (Some("swap"), 1));
        near(&swap.3, &[(1, 5.0 / 12.0, 0.5, Some(1.0 / 6.0)), (2, 11.0 / 18.0, 11.0 / 18.0, Some(0.0))]);
        // All four wordings: rc = 2, 1, 0.
        let all = row(2);
        assert_eq!((all.0, all.1), (None, 4));
        near(&all.3, &[(1, 0.25, 0.5, Some(0.5)), (2, 4.0 / 9.0, 11.0 / 18.0, Some(3.0 / 11.0))]);
        for row in &rows {
            assert_eq!(row.omitted_k.len(), 1);
            assert_eq!(row.omitted_k[0].k, 5);
            assert_eq!(row.omitted_k[0].reason, "3 of 3 tasks have fewer than 5 completions in each wording");
        }
    }

    type At = (u64, f64, f64, Option<f64>);

    #[track_caller]
    fn near(found: &[At], expected: &[At]) {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (a, b) in found.iter().zip(expected) {
            let close = |a: f64, b: f64| (a - b).abs() < 1e-11;
            let drop = match (a.3, b.3) {
                (Some(a), Some(b)) => close(a, b),
                (a, b) => a == b,
            };
            assert!(a.0 == b.0 && close(a.1, b.1) && close(a.2, b.2) && drop, "{a:?} is not {b:?}");
        }
    }

    #[test]
    fn tasks_that_say_too_little_are_left_out_and_counted() {
        let rows = tally(
            &[
                &[("", "11"), ("noise_0001", "11"), ("swap_0001", "--")],
                &[("", "11"), ("noise_0001", "1?"), ("swap_0001", "00")],
                &[("", "?1"), ("noise_0001", "11"), ("swap_0001", "11")],
                &[("", "00"), ("noise_0001", "00"), ("swap_0001", "00")],
            ],
            &[1],
        );
        let counts: Vec<_> = rows
            .iter()
            .map(|row| (row.tasks, row.tasks_without_wording, row.tasks_without_verdict))
            .collect();
        assert_eq!(counts, [(2, 0, 2), (2, 1, 1), (1, 1, 2)]);
        near(
            &[(1, rows[0].at_k[0].value, rows[0].at_k[0].pass_at_k, rows[0].at_k[0].drop)],
            &[(1, 0.5, 0.5, Some(0.0))],
        );
        assert_eq!(rows[2].at_k[0].drop, None, "there is nothing to lose");
        let rows = tally(&[&[("", "1"), ("noise_0001", "-")]], &[1]);
        assert!(rows[0].at_k.is_empty());
        assert_eq!(rows[0].omitted_k[0].reason, "no task has a verdict on every completion in every wording");
        assert_eq!(tally(&[&[("", "11")]], &[1]), [], "a suite without `vary` has no rows");
    }

    /// How often at least one of k completions, drawn in every possible way, passes in all wordings.
    fn by_drawing(wordings: &[Vec<bool>], k: usize) -> f64 {
        let samples = wordings[0].len();
        let drawn = (0u32..1 << samples).filter(|set| set.count_ones() as usize == k);
        let (mut all, mut some) = (0, 0);
        for set in drawn {
            all += 1;
            let robust = |nth: &usize| set >> nth & 1 == 1 && wordings.iter().all(|wording| wording[*nth]);
            some += i32::from((0..samples).any(|nth| robust(&nth)));
        }
        f64::from(some) / f64::from(all)
    }

    proptest! {
        #[test]
        fn is_what_drawing_gives(
            tasks in prop::collection::vec(prop::collection::vec(prop::collection::vec(any::<bool>(), 5), 4), 1..5),
            k in 1usize..=5,
        ) {
            let mut tally = RobustTally::default();
            for (nth, wordings) in tasks.iter().enumerate() {
                for (variant, verdicts) in ["null", "\"a_0001\"", "\"a_0002\"", "\"b_0001\""].iter().zip(wordings) {
                    verdicts.iter().for_each(|passed| tally.take(&[nth as u8], variant.as_bytes(), Some(*passed), false));
                }
            }
            let rows = tally.finish(&[k as u64], |_| false);
            let mean = |of: std::ops::Range<usize>| {
                tasks.iter().map(|task| by_drawing(&task[of.clone()], k)).sum::<f64>() / tasks.len() as f64
            };
            let own = mean(0..1);
            let expected = [mean(1..3), mean(3..4), mean(0..4)];
            for (row, expected) in rows.iter().zip(expected) {
                prop_assert!((row.at_k[0].value - expected).abs() < 1e-11);
                prop_assert!((row.at_k[0].pass_at_k - own).abs() < 1e-11);
            }
        }
    }
}
