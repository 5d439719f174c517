//! The `finish-reason` judge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::list;
use super::{Judge, Settings, Subject, Verdict};
use crate::text::complaint::Complaint;

/// The answer ended as it should.
///
/// Endpoints have their own words for why an answer ended: `stop`, `length`, `tool_calls` (OpenAI's shape), `end_turn`,
/// `max_tokens`, `tool_use` (Anthropic), `STOP`, `MAX_TOKENS` (Gemini). `any_of` lists those that are right; upper and lower case count
/// as equal.
///
/// Guarantee: an answer whose endpoint gave no reason is not judged.
///
/// ```yaml
/// finish-reason: {any_of: [stop, end_turn]}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FinishReason {
    /// The reasons that are right.
    pub any_of: Vec<String>,
}

impl Default for FinishReason {
    fn default() -> Self {
        FinishReason { any_of: ["stop", "end_turn", "stop_sequence"].map(str::to_owned).to_vec() }
    }
}

impl Settings for FinishReason {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        if self.any_of.is_empty() {
            return Err(Complaint::new("no reason is right").hint("for example `any_of: [stop]`"));
        }
        Ok(Box::new(Compiled(self.any_of.clone())))
    }

    fn needs_expected(&self) -> bool {
        false
    }
}

struct Compiled(Vec<String>);

impl Judge for Compiled {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let Some(reason) = subject.finish_reason else {
            return Verdict::unjudged("the endpoint did not say why the answer ended");
        };
        let right = self.0.iter().any(|wanted| wanted.eq_ignore_ascii_case(reason));
        Verdict::of(right, || format!("the answer ended with `{reason}`, not with {}", list(&self.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{refused, unjudged};
    use super::super::{Settings, Subject};
    use super::FinishReason;

    #[test]
    fn the_reason_counts() {
        let judge = FinishReason::default().compile().unwrap();
        let score =
            |reason| judge.judge(&Subject { finish_reason: Some(reason), ..Subject::default() }).score;
        assert_eq!((score("STOP"), score("end_turn"), score("length")), (Some(1.0), Some(1.0), Some(0.0)));
        unjudged("finish-reason: {}", "null", "x", "did not say why");
        refused("finish-reason: {any_of: []}", "no reason is right");
    }
}
