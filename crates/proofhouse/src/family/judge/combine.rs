//! The `any` and `all` judges.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Judge, JudgeConfig, Settings, Subject, Verdict, Weighs};
use crate::text::complaint::Complaint;

/// At least one of several judges is satisfied.
///
/// The score is the best of theirs. Judges that ask somebody (`rubric`, `plugin`, `command`) stand in the suite itself and not in here:
/// `scoring` puts them together.
///
/// Guarantee: a judge that cannot judge is never counted as right; without any that can, neither can this one.
///
/// ```yaml
/// any: {of: [{equals: {value: Paris}}, {regex: {pattern: "(?i)^the city of light"}}]}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Any {
    /// The judges.
    pub of: Vec<JudgeConfig>,
}

/// Every one of several judges is satisfied.
///
/// The score is the least of theirs. Judges that ask somebody (`rubric`, `plugin`, `command`) stand in the suite itself and not in here:
/// `scoring` puts them together.
///
/// Guarantee: where one cannot judge and no other is wrong, this one cannot judge either.
///
/// ```yaml
/// all: {of: [{contains: {value: Paris}}, {length: {max: 20}}]}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct All {
    /// The judges.
    pub of: Vec<JudgeConfig>,
}

fn compiled(of: &[JudgeConfig]) -> Result<Vec<Box<dyn Judge>>, Complaint> {
    if of.is_empty() {
        return Err(Complaint::new("there is no judge in it").hint("for example `of: [{equals: {}}]`"));
    }
    let compile = |config: &JudgeConfig| {
        let judge = config.compile().map_err(|complaint| complaint.about(format!("`{}`:", config.name())))?;
        match judge.help() {
            None => Ok(judge),
            Some(_) => {
                Err(Complaint::new(format!("`{}` asks somebody, and cannot stand in here", config.name()))
                    .hint("give it a place of its own below `judges`"))
            }
        }
    };
    of.iter().map(compile).collect()
}

impl Settings for Any {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        Ok(Box::new(Combined { judges: compiled(&self.of)?, best: true }))
    }

    fn needs_expected(&self) -> bool {
        self.of.iter().any(JudgeConfig::needs_expected)
    }
}

impl Settings for All {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        Ok(Box::new(Combined { judges: compiled(&self.of)?, best: false }))
    }

    fn needs_expected(&self) -> bool {
        self.of.iter().any(JudgeConfig::needs_expected)
    }
}

struct Combined {
    judges: Vec<Box<dyn Judge>>,
    best: bool,
}

impl Judge for Combined {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let verdicts: Vec<Verdict> = self.judges.iter().map(|judge| judge.judge(subject)).collect();
        let scored = verdicts.iter().filter_map(|verdict| verdict.score);
        let score = match self.best {
            true => {
                scored.fold(None, |best: Option<f64>, score| Some(best.map_or(score, |best| best.max(score))))
            }
            false => scored
                .fold(None, |least: Option<f64>, score| Some(least.map_or(score, |least| least.min(score)))),
        };
        let said = || {
            let said: Vec<&str> = verdicts.iter().filter_map(Verdict::explanation).collect();
            said.join("; ")
        };
        let open = verdicts.iter().any(|verdict| verdict.score.is_none());
        match score {
            None => Verdict::unjudged(said()),
            // One that could not judge could have been wrong, or right.
            Some(score) if open && (score == 0.0) == self.best => Verdict::unjudged(said()),
            Some(score) => Verdict::graded(score, said),
        }
    }

    fn weighs(&self) -> Weighs {
        self.judges.iter().fold(Weighs::default(), |all, judge| all.and(judge.weighs()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, refused, unjudged};

    #[test]
    fn one_or_every_judge_has_to_be_satisfied() {
        check("any: {of: [{equals: {value: a}}, {equals: {value: b}}]}", "null", "b", 1.0);
        check("any: {of: [{equals: {value: a}}, {equals: {value: b}}]}", "null", "c", 0.0);
        check("all: {of: [{contains: {value: a}}, {length: {max: 1}}]}", "null", "a", 1.0);
        check("all: {of: [{contains: {value: a}}, {length: {max: 1}}]}", "null", "a a", 0.0);
        check("not: {any: {of: [{equals: {value: a}}]}}", "null", "b", 1.0);
        refused("any: {of: []}", "no judge");
        refused("all: {of: [{rubric: {criterion: x, models: {m: {scripted: {}}}}}]}", "asks somebody");
    }

    #[test]
    fn who_cannot_judge_is_never_right() {
        unjudged("any: {of: [{equals: {value: a}}, {finish-reason: {}}]}", "null", "b", "did not say why");
        check("any: {of: [{equals: {value: a}}, {finish-reason: {}}]}", "null", "a", 1.0);
        unjudged("all: {of: [{equals: {value: a}}, {finish-reason: {}}]}", "null", "a", "did not say why");
        check("all: {of: [{equals: {value: a}}, {finish-reason: {}}]}", "null", "b", 0.0);
    }
}
