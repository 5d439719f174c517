//! The `given` judge.

use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Strictness, parse};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::excerpt;
use super::{Judge, Settings, Subject, Verdict};
use crate::text::complaint::Complaint;

/// The score that somebody gave already: another tool, or a person.
///
/// `score` is a number from 0 to 1, `true` or `false`, as itself or as text; a list holds one for each repetition. Written as
/// `{{ field }}` it comes from the case. An empty text is no score: such an answer is not judged.
///
/// Guarantee: the answer is not looked at. What is no score is never counted as right or wrong.
///
/// ```yaml
/// given: {score: "{{ exact_match }}"}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// The score, or where in the case it stands.
    #[schemars(with = "serde_json::Value")]
    pub score: Json,
}

impl Settings for Given {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        let score = match &self.score {
            Json::String(text) => parse(text.trim().as_bytes(), Strictness::Lenient)
                .unwrap_or_else(|_| Json::String(text.trim().to_owned())),
            other => other.clone(),
        };
        let one =
            |score: &Json| matches!(score, Json::Number(_) | Json::Bool(_) | Json::String(_) | Json::Null);
        match &score {
            Json::Array(list) if list.iter().all(one) => {}
            other if one(other) => {}
            _ => {
                return Err(Complaint::new("`score` is not a number").hint(
                    "for example `score: 0.5`, or `score: \"{{ exact_match }}\"` for a field of the case",
                ));
            }
        }
        Ok(Box::new(Compiled(score)))
    }

    fn needs_expected(&self) -> bool {
        false
    }
}

struct Compiled(Json);

impl Judge for Compiled {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let score = match &self.0 {
            Json::Array(list) => match list.get(subject.repetition as usize) {
                Some(score) => score,
                None => {
                    return Verdict::unjudged(format!(
                        "no score was given to repetition {}",
                        subject.repetition
                    ));
                }
            },
            score => score,
        };
        let number = match score {
            Json::Bool(right) => f64::from(u8::from(*right)),
            Json::Number(number) => *number,
            Json::String(text) => match text.to_ascii_lowercase().as_str() {
                "" => return Verdict::unjudged("no score was given"),
                "true" => 1.0,
                "false" => 0.0,
                text => match text.parse() {
                    Ok(number) => number,
                    Err(_) => return Verdict::unjudged(format!("{} is not a score", excerpt(text))),
                },
            },
            _ => return Verdict::unjudged("no score was given"),
        };
        match (0.0..=1.0).contains(&number) {
            true => Verdict::graded(number, || format!("the score that was given is {number}")),
            false => {
                Verdict::unjudged(format!("the score that was given is {number}, and scores are from 0 to 1"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, refused, unjudged};

    #[test]
    fn a_score_is_taken_as_it_was_given() {
        check("given: {score: 1}", "null", "anything", 1.0);
        check("given: {score: '0.25'}", "null", "", 0.25);
        check("given: {score: true}", "null", "x", 1.0);
        check("given: {score: 'False'}", "null", "x", 0.0);
        check("given: {score: '[0.5, 1]'}", "null", "x", 0.5);
        unjudged("given: {score: ''}", "null", "x", "no score was given");
        unjudged("given: {score: null}", "null", "x", "no score was given");
        unjudged("given: {score: []}", "null", "x", "repetition 0");
        unjudged("given: {score: 12}", "null", "x", "from 0 to 1");
        unjudged("given: {score: good}", "null", "x", "`good` is not a score");
        refused("given: {score: {a: 1}}", "not a number");
    }
}
