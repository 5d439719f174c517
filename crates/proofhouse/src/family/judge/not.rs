//! The `not` judge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Advice, Help, Judge, JudgeConfig, Question, Settings, Subject, Verdict, Weighs};
use crate::text::complaint::Complaint;

/// The answer does not satisfy another judge.
///
/// The score is 1 minus the other judge's score. What the other judge cannot judge, this one cannot judge either:
/// an answer that nobody looked at is never right.
///
/// Guarantee: `not: {not: X}` has the score of `X`.
///
/// ```yaml
/// not: {contains: {value: As an AI language model, ignore_case: true}}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Not(
    /// The judge whose score is turned round.
    pub Box<JudgeConfig>,
);

impl Settings for Not {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        Ok(Box::new(Compiled { name: self.0.name(), judge: self.0.compile()? }))
    }

    fn needs_expected(&self) -> bool {
        self.0.needs_expected()
    }
}

struct Compiled {
    name: &'static str,
    judge: Box<dyn Judge>,
}

impl Judge for Compiled {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        self.turned(self.judge.judge(subject))
    }

    fn help(&self) -> Option<Help> {
        self.judge.help()
    }

    fn weighs(&self) -> Weighs {
        self.judge.weighs()
    }

    fn asks(&self, subject: &Subject<'_>) -> Vec<Question> {
        self.judge.asks(subject)
    }

    fn judge_with(&self, subject: &Subject<'_>, advice: &[Advice]) -> Verdict {
        self.turned(self.judge.judge_with(subject, advice))
    }

    fn said(&self, advice: &[Advice]) -> Vec<(String, Option<f64>, Option<String>)> {
        self.judge.said(advice)
    }
}

impl Compiled {
    fn turned(&self, verdict: Verdict) -> Verdict {
        match verdict.score {
            None => verdict,
            Some(score) => Verdict::graded(1.0 - score, || {
                format!("the answer satisfies `{}`, which it must not", self.name)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, refused, unjudged};

    #[test]
    fn turns_right_and_wrong_round() {
        check("not: {contains: {value: sorry}}", "null", "I am sorry", 0.0);
        check("not: {contains: {value: sorry}}", "null", "here you are", 1.0);
        check("not: {not: {equals: {}}}", "a", "a", 1.0);
        check("not: {equals: {}}", "a", "", 1.0);
    }

    #[test]
    fn what_cannot_be_judged_stays_so() {
        unjudged("not: {equals: {}}", "null", "a", "no `expected`");
        unjudged("not: {not: {equals: {}}}", "null", "a", "no `expected`");
        refused("not: {regex: {pattern: '('}}", "unclosed group");
    }
}
