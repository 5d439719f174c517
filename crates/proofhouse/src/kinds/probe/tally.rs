//! What a `probe` run adds to the tally: how far its judges can be trusted.

use std::collections::{BTreeMap, BTreeSet};

use proofhouse_ledger::record::{Damage, HEAD, Line, PROBE, Status};
use proofhouse_ledger::summary::Summary;
use proofhouse_ledger::summary::calibration::{Agreement, Calibration, CorrectedRate, JudgeErrors};
use proofhouse_ledger::{Json, config};

use super::metrics::METRICS;
use crate::spine::tally::heads::{rate, round};
use crate::spine::tally::{GateTerms, OwnTally};
use crate::stats::decisions::{Calibrated, agreement_sentence};
use crate::stats::{ClusterMoments, Confidence, Ratings};

/// The name of the verdict that decides, among those of judges.
const VERDICT: &str = "verdict";

/// Answers whose right verdict is known, and what models say of the others.
pub(super) struct ProbeTally {
    config: config::Probe,
    /// The case whose trials are passing by, as raw bytes.
    case: Vec<u8>,
    /// By slot, the passed and the assessed trials of that case, and the cases before it.
    slots: Vec<(u64, u64, ClusterMoments)>,
    labelled: u64,
    verdict: Calibrated,
    judges: BTreeMap<String, Calibrated>,
    /// By criterion.
    raters: BTreeMap<String, (BTreeSet<String>, Ratings)>,
}

impl ProbeTally {
    /// Of the run with this resolved configuration.
    pub(super) fn new(config: &Json) -> Self {
        Self {
            config: config::part(config),
            case: Vec::new(),
            slots: Vec::new(),
            labelled: 0,
            verdict: Calibrated::default(),
            judges: BTreeMap::new(),
            raters: BTreeMap::new(),
        }
    }

    fn close_case(&mut self) {
        for (passed, assessed, cases) in &mut self.slots {
            cases.push(std::mem::take(passed) as f64, std::mem::take(assessed));
        }
        self.raters.values_mut().for_each(|(_, ratings)| ratings.close_case());
    }

    /// Takes an answer whose right verdict is known.
    fn label(&mut self, label: &Json, line: &Line<'_>) -> Result<(), Damage> {
        let flag = |name: &str| match label.get(name) {
            Some(Json::Bool(flag)) => Some(*flag),
            _ => None,
        };
        let right = flag("right").ok_or(PROBE.calibration.damage())?;
        self.labelled += 1;
        self.verdict.push(right, flag("said"));
        for (judge, score) in line.get(HEAD.scores)? {
            let said = score.map(|score| score + 1e-12 >= self.config.scoring.threshold);
            self.judges.entry(judge).or_default().push(right, said);
        }
        Ok(())
    }

    /// Takes what models said of an answer.
    fn rate(&mut self, advice: &Json) {
        let mut ratings: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for (judge, said) in advice.as_object().into_iter().flat_map(|judges| judges.iter()) {
            let criterion = self.config.criterion(judge);
            for (model, said) in said.as_object().into_iter().flat_map(|models| models.iter()) {
                let (raters, _) = self.raters.entry(criterion.to_owned()).or_default();
                raters.insert(format!("{judge}/{model}"));
                let score = said.get("score").and_then(Json::as_f64);
                ratings.entry(criterion).or_default().extend(score);
            }
        }
        for (criterion, ratings) in ratings {
            if let Some((_, all)) = self.raters.get_mut(criterion) {
                all.push(&ratings);
            }
        }
    }

    fn calibration(&self, summary: &Summary) -> Option<Calibration> {
        if self.labelled == 0 {
            return None;
        }
        let alone = (self.judges.len() == 1).then(|| self.judges.keys().next().cloned()).flatten();
        let first = (alone.unwrap_or_else(|| VERDICT.to_owned()), &self.verdict);
        let others = self.judges.iter().filter(|_| self.judges.len() > 1);
        let judges = std::iter::once(first).chain(others.map(|(name, judge)| (name.clone(), judge)));
        let none = ClusterMoments::default();
        let corrected = summary.slots.iter().enumerate().map(|(at, slot)| {
            let cases = self.slots.get(at).map_or(&none, |(_, _, cases)| cases);
            let correction = self.verdict.correct(cases);
            let made = correction.made();
            CorrectedRate {
                slot: slot.slot.clone(),
                judged: slot.pass_rate.value,
                value: made.map(|made| round(made.rate)),
                low: made.map(|made| round(made.interval.low)),
                high: made.map(|made| round(made.interval.high)),
                sentence: correction.sentence(&slot.slot),
            }
        });
        Some(Calibration {
            trials: self.labelled,
            corrected: corrected.collect(),
            judges: judges.map(|(name, judge)| errors(name, judge)).collect(),
        })
    }

    fn agreement(&self) -> Vec<Agreement> {
        let several = self.raters.iter().filter(|(_, (raters, _))| raters.len() > 1);
        let told = several.map(|(criterion, (raters, ratings))| {
            let raters: Vec<String> = raters.iter().cloned().collect();
            let alpha = ratings.alpha(Confidence::P95);
            let interval = alpha.and_then(|alpha| alpha.interval);
            Agreement {
                sentence: agreement_sentence(&raters, ratings, alpha.as_ref()),
                criterion: criterion.clone(),
                raters,
                answers: ratings.units(),
                cases: ratings.cases(),
                alpha: alpha.map(|alpha| round(alpha.value)),
                low: interval.map(|interval| round(interval.low)),
                high: interval.map(|interval| round(interval.high)),
            }
        });
        told.collect()
    }
}

fn errors(name: String, judge: &Calibrated) -> JudgeErrors {
    let of = |right: bool| {
        let what =
            if name == VERDICT { "calibration.said".to_owned() } else { format!("verdict of {name:?}") };
        format!("{what} = {right} of {what} is not null where calibration.right = {right}")
    };
    let (right, wrong) = (judge.sensitivity, judge.specificity);
    JudgeErrors {
        sensitivity: rate(right.right, right.of, of(true)),
        specificity: rate(wrong.right, wrong.of, of(false)),
        unjudged: judge.unjudged,
        sentence: judge.sentence(&name),
        judge: name,
    }
}

impl OwnTally for ProbeTally {
    fn push(&mut self, line: &Line<'_>, slot: usize, _: Status, passed: Option<bool>) -> Result<(), Damage> {
        let advice = line.json(PROBE.advice);
        // Most suites have neither: nothing is kept of their trials.
        if advice.is_none() && self.config.calibration.is_none() {
            return Ok(());
        }
        let case = line.require(HEAD.case_id)?;
        if case != self.case {
            self.close_case();
            self.case.clear();
            self.case.extend_from_slice(case);
        }
        if let Some(advice) = advice {
            self.rate(&advice);
        }
        if let Some(label) = line.json(PROBE.calibration) {
            return self.label(&label, line);
        }
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, Default::default);
        }
        let (sum, assessed, _) = &mut self.slots[slot];
        *sum += u64::from(passed == Some(true));
        *assessed += u64::from(passed.is_some());
        Ok(())
    }

    fn finish(mut self: Box<Self>, summary: &mut Summary) -> GateTerms {
        self.close_case();
        summary.calibration = self.calibration(summary);
        summary.agreement = self.agreement();
        GateTerms { metrics: METRICS, ..GateTerms::default() }
    }
}

#[cfg(test)]
mod tests;
