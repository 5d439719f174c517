//! Several judges over one answer: weights, the primary score and the threshold that it must reach.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Advice, Help, Judge, JudgeConfig, Question, Subject, Weighs, templated};
use crate::text::complaint::Complaint;

/// How far below the threshold a sum of rounded products may fall and still count as equal to it.
const ROUNDING: f64 = 1e-12;

/// Weights beyond this would drown all others.
const MAX_WEIGHT: f64 = 1e6;

/// How the scores of several judges become one, and when that is a pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Scoring {
    /// What a judge's score counts for, by the judge's name; 1 for a judge that is not named, 0 to only look on.
    pub weights: BTreeMap<String, f64>,
    /// The judge whose score is the trial's primary score; without it that is the weighted mean of all.
    pub primary: Option<String>,
    /// The primary score from which on a trial has passed.
    pub threshold: f64,
}

impl Default for Scoring {
    fn default() -> Self {
        Scoring { weights: BTreeMap::new(), primary: None, threshold: 1.0 }
    }
}

/// Compiled judges with their weights.
pub struct Panel {
    seats: Vec<Seat>,
    primary: Option<usize>,
    threshold: f64,
}

struct Seat {
    name: String,
    weight: f64,
    judge: Box<dyn Judge>,
}

/// What a panel said about one answer.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelVerdict {
    /// Each judge that applies (its place in the panel) and its score; none where it could not judge.
    pub scores: Vec<(usize, Option<f64>)>,
    /// The weighted mean of the judges that apply; none when a judge that counts could not judge, or none counts.
    pub mean: Option<f64>,
    /// The score that is compared with the threshold: the primary judge's, or else the mean.
    pub primary: Option<f64>,
    /// Whether the trial passed; none when it could not be assessed.
    pub passed: Option<bool>,
    /// What a judge says for its score, or why there is none, by its place.
    pub explanations: Vec<(usize, String)>,
}

impl Panel {
    /// Compiles all judges; the names are the suite's, unique within it.
    pub fn new(judges: &[(String, JudgeConfig)], scoring: &Scoring) -> Result<Panel, Complaint> {
        if !(0.0..=1.0).contains(&scoring.threshold) {
            return Err(Complaint::new(format!(
                "`threshold` is {}, and scores are from 0 to 1",
                scoring.threshold
            )));
        }
        let place = |name: &str| judges.iter().position(|(known, _)| known == name);
        for (name, weight) in &scoring.weights {
            if place(name).is_none() {
                return Err(unknown(name, "weights", judges));
            }
            if !(0.0..=MAX_WEIGHT).contains(weight) {
                return Err(Complaint::new(format!("the weight of `{name}` is {weight}"))
                    .hint(format!("it is from 0 to {MAX_WEIGHT}")));
            }
        }
        let primary = match &scoring.primary {
            None => None,
            Some(name) => Some(place(name).ok_or_else(|| unknown(name, "primary", judges))?),
        };
        let seats = judges.iter().enumerate().map(|(at, (name, config))| {
            if place(name) != Some(at) {
                return Err(Complaint::new(format!("two judges are called `{name}`"))
                    .hint("give one of them another `name`"));
            }
            let judge = templated::compile(config)
                .map_err(|complaint| complaint.about(format!("judge `{name}`:")))?;
            Ok(Seat { name: name.clone(), weight: scoring.weights.get(name).copied().unwrap_or(1.0), judge })
        });
        Ok(Panel { seats: seats.collect::<Result<_, _>>()?, primary, threshold: scoring.threshold })
    }

    /// The judges' names, in the order of their places.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.seats.iter().map(|seat| seat.name.as_str())
    }

    /// Judges one answer with the judges that apply: the given places, in ascending order, or all of them.
    pub fn judge(&self, subject: &Subject<'_>, only: Option<&[usize]>) -> PanelVerdict {
        self.judge_with(subject, only, &BTreeMap::new())
    }

    /// As [`Panel::judge`], with what was advised for the judges that ask, by their places.
    pub fn judge_with(
        &self,
        subject: &Subject<'_>,
        only: Option<&[usize]>,
        advice: &BTreeMap<usize, Vec<Advice>>,
    ) -> PanelVerdict {
        let mut out = PanelVerdict {
            scores: Vec::with_capacity(only.map_or(self.seats.len(), <[usize]>::len)),
            mean: None,
            primary: None,
            passed: None,
            explanations: Vec::new(),
        };
        match only {
            Some(places) => places.iter().for_each(|&at| self.ask(at, subject, advice, &mut out)),
            None => (0..self.seats.len()).for_each(|at| self.ask(at, subject, advice, &mut out)),
        }
        out.mean = self.mean(&out.scores);
        out.primary = match self.primary {
            None => out.mean,
            Some(primary) => out.scores.iter().find(|(at, _)| *at == primary).and_then(|(_, score)| *score),
        };
        // A judge that counts and could not judge leaves the trial unassessed, even if the primary judge is another.
        let whole = out.scores.iter().all(|&(at, score)| score.is_some() || self.seats[at].weight == 0.0);
        out.passed = out.primary.filter(|_| whole).map(|score| score + ROUNDING >= self.threshold);
        out
    }

    /// Who has to be there, by the places of the judges that need them.
    pub fn help(&self) -> Vec<(usize, Help)> {
        self.seats.iter().enumerate().filter_map(|(at, seat)| Some((at, seat.judge.help()?))).collect()
    }

    /// What the judges weigh beside the answer.
    pub fn weighs(&self) -> Weighs {
        self.seats.iter().fold(Weighs::default(), |all, seat| all.and(seat.judge.weighs()))
    }

    /// What the judge at a place has to ask about a subject.
    pub fn asks(&self, at: usize, subject: &Subject<'_>) -> Vec<Question> {
        self.seats[at].judge.asks(subject)
    }

    /// What the models of the judge at a place said.
    pub fn said(&self, at: usize, advice: &[Advice]) -> Vec<(String, Option<f64>, Option<String>)> {
        self.seats[at].judge.said(advice)
    }

    fn ask(
        &self,
        at: usize,
        subject: &Subject<'_>,
        advice: &BTreeMap<usize, Vec<Advice>>,
        out: &mut PanelVerdict,
    ) {
        let verdict = match advice.get(&at) {
            Some(advice) => self.seats[at].judge.judge_with(subject, advice),
            None => self.seats[at].judge.judge(subject),
        };
        out.scores.push((at, verdict.score));
        if let Some(why) = verdict.error.or(verdict.reason) {
            out.explanations.push((at, why));
        }
    }

    fn mean(&self, scores: &[(usize, Option<f64>)]) -> Option<f64> {
        let (mut sum, mut weights) = (0.0, 0.0);
        for &(at, score) in scores {
            let weight = self.seats[at].weight;
            if weight > 0.0 {
                sum += weight * score?;
                weights += weight;
            }
        }
        (weights > 0.0).then(|| (sum / weights).clamp(0.0, 1.0))
    }
}

fn unknown(name: &str, key: &str, judges: &[(String, JudgeConfig)]) -> Complaint {
    let names: Vec<String> = judges.iter().map(|(name, _)| format!("`{name}`")).collect();
    Complaint::new(format!("`{key}` names a judge `{name}` that the suite does not have"))
        .hint(format!("it has {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use proofhouse_ledger::Json;
    use proptest::prelude::*;

    use super::*;

    /// `a`, `b`, … are judges that look for their own name in the answer; `x` never can judge.
    fn panel(scoring: &str, names: &[&str]) -> Result<Panel, Complaint> {
        let judges: Vec<(String, JudgeConfig)> = names
            .iter()
            .map(|name| {
                let yaml = if *name == "x" {
                    "equals: {}".to_owned()
                } else {
                    format!("contains: {{value: {name}}}")
                };
                (name.to_string(), serde_saphyr::from_str(&yaml).unwrap())
            })
            .collect();
        Panel::new(&judges, &serde_saphyr::from_str(scoring).unwrap())
    }

    fn judged(panel: &Panel, answer: &str, only: Option<&[usize]>) -> PanelVerdict {
        panel.judge(
            &Subject { input: "", output: &Json::from(answer), expected: &Json::Null, ..Subject::default() },
            only,
        )
    }

    #[track_caller]
    fn check(scoring: &str, names: &[&str], answer: &str, mean: Option<f64>, passed: Option<bool>) {
        let verdict = judged(&panel(scoring, names).unwrap(), answer, None);
        assert_eq!((verdict.mean, verdict.passed), (mean, passed), "{verdict:?}");
    }

    #[test]
    fn the_mean_is_weighted_and_compared_with_the_threshold() {
        check("{}", &["a", "b"], "a b", Some(1.0), Some(true));
        check("{}", &["a", "b"], "a", Some(0.5), Some(false));
        check("{threshold: 0.5}", &["a", "b"], "a", Some(0.5), Some(true));
        check("{threshold: 0.75, weights: {a: 3}}", &["a", "b"], "a", Some(0.75), Some(true));
        check("{weights: {b: 0}}", &["a", "b"], "a", Some(1.0), Some(true));
        // 0.7 + 0.1 falls one bit short of 0.8.
        let short = (0.7 + 0.1) / (0.7 + 0.1 + 0.2);
        assert!(short < 0.8);
        let weights = "{threshold: 0.8, weights: {a: 0.7, b: 0.1, c: 0.2}}";
        check(weights, &["a", "b", "c"], "a b", Some(short), Some(true));
    }

    #[test]
    fn the_primary_judge_decides_where_it_is_named() {
        check("{primary: a}", &["a", "b"], "a", Some(0.5), Some(true));
        check("{primary: b}", &["a", "b"], "a", Some(0.5), Some(false));
    }

    #[test]
    fn a_judge_that_could_not_judge_leaves_the_trial_unassessed() {
        check("{}", &["a", "x"], "a", None, None);
        check("{primary: a}", &["a", "x"], "a", None, None);
        check("{weights: {x: 0}}", &["a", "x"], "a", Some(1.0), Some(true));
        check("{weights: {x: 0}, primary: x}", &["a", "x"], "a", Some(1.0), None);
        check("{}", &[], "a", None, None);
        check("{weights: {a: 0}}", &["a"], "a", None, None);
    }

    #[test]
    fn only_the_judges_that_apply_are_asked() {
        let panel = panel("{}", &["a", "b", "c"]).unwrap();
        let verdict = judged(&panel, "a", Some(&[0, 2]));
        assert_eq!(verdict.scores, [(0, Some(1.0)), (2, Some(0.0))]);
        assert_eq!(verdict.mean, Some(0.5));
        assert_eq!(verdict.explanations, [(2, "`a` does not contain `c`".to_owned())]);
        assert_eq!(judged(&panel, "a", Some(&[])).passed, None);
        assert_eq!(panel.names().collect::<Vec<_>>(), ["a", "b", "c"]);
    }

    #[test]
    fn faulty_scoring_is_named() {
        let refused = |scoring, names: &[&str]| panel(scoring, names).map(drop).unwrap_err().to_string();
        assert!(refused("{weights: {b: 1}}", &["a"]).contains("hint: it has `a`"));
        assert!(refused("{primary: b}", &["a"]).contains("`primary` names a judge `b`"));
        assert!(refused("{threshold: 2}", &["a"]).contains("from 0 to 1"));
        assert!(refused("{weights: {a: -1}}", &["a"]).contains("the weight of `a` is -1"));
        assert!(refused("{weights: {a: .inf}}", &["a"]).contains("the weight of `a`"));
        assert!(refused("{}", &["a", "a"]).contains("two judges are called `a`"));
    }

    proptest! {
        #[test]
        fn the_mean_stays_within_the_scores(weights in prop::collection::vec(0.0..1e6, 3), answer in "[abc]{0,3}") {
            let names = ["a", "b", "c"];
            let scoring = format!("{{weights: {{a: {}, b: {}, c: {}}}}}", weights[0], weights[1], weights[2]);
            let verdict = judged(&panel(&scoring, &names).unwrap(), &answer, None);
            if let Some(mean) = verdict.mean {
                prop_assert!((0.0..=1.0).contains(&mean));
                let counted = |at: &(usize, Option<f64>)| weights[at.0] > 0.0;
                let all_right = verdict.scores.iter().filter(|at| counted(at)).all(|at| at.1 == Some(1.0));
                prop_assert_eq!(verdict.passed, Some(all_right));
            }
        }
    }
}
