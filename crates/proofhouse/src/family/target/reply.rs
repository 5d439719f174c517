//! What came back from a target, and how the request ended.

use proofhouse_ledger::Json;
use proofhouse_ledger::json::Object;

use super::Call;

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// How it ended.
    pub outcome: Outcome,
    /// Text or structure; nothing when nothing came back.
    pub output: Option<Json>,
    /// What it thought before it answered, where that could be told apart; never a part of `output`.
    pub reasoning: Option<String>,
    /// Tools that the target wants called; they are in `output` too.
    pub calls: Vec<Call>,
    /// The whole turn as the endpoint's own dialect has it, thoughts and signatures included: what goes back to it when the
    /// conversation goes on.
    pub spoken: Option<Json>,
    /// Tokens of all attempts together: `input_tokens`, `output_tokens` and what else the target counts.
    pub usage: Option<Json>,
    /// The endpoint's own word for why the answer ended.
    pub finish_reason: Option<String>,
    /// The model that the endpoint says has answered.
    pub model: Option<String>,
    /// The endpoint's fingerprint of the system that answered.
    pub fingerprint: Option<String>,
    /// Every request that was made for it.
    pub attempts: Vec<Attempt>,
    /// How long the answer took, in milliseconds, where a judge weighs it.
    pub latency_ms: Option<f64>,
    /// How long the run stage has to wait before the reply counts as arrived.
    pub delay_ms: u64,
    /// Whether a tape said it, and nobody was asked.
    pub replayed: bool,
}

/// One request and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// `answered`, or the error type that made it fail.
    pub result: String,
    /// The status line's number, where there was one.
    pub http_status: Option<u16>,
    /// Whether the request reached a connection; one that was not sent never counts as the target's fault.
    pub sent: bool,
    /// From being sent to its end.
    pub elapsed_ms: f64,
    /// Before it was sent: behind other requests, rate limits and back-off.
    pub waited_ms: f64,
}

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// With an answer.
    Answered,
    /// With an answer that has nothing in it.
    Empty,
    /// With `null` where the answer should be, and no tool call either.
    Null,
    /// With an answer that was cut off at the limit of its length.
    Length,
    /// The target declined.
    Refused,
    /// The endpoint's filter withheld the answer or a part of it.
    Filtered,
    /// Something broke.
    Failed {
        /// The class of the failure.
        error_type: String,
        /// The failure in words.
        error: String,
    },
    /// No answer in time.
    TimedOut,
    /// The answer began and then no byte came for too long.
    Stalled,
    /// The target asked for fewer requests.
    RateLimited {
        /// How long it asked to wait.
        retry_after_ms: Option<u64>,
    },
}

impl Reply {
    /// A reply with nothing but an outcome and an answer.
    pub fn new(outcome: Outcome, output: Option<Json>) -> Self {
        Reply {
            outcome,
            output,
            reasoning: None,
            calls: Vec::new(),
            spoken: None,
            usage: None,
            finish_reason: None,
            model: None,
            fingerprint: None,
            attempts: Vec::new(),
            latency_ms: None,
            delay_ms: 0,
            replayed: false,
        }
    }

    /// A reply that says what broke.
    pub fn failed(error_type: &str, error: impl Into<String>) -> Self {
        let outcome = Outcome::Failed { error_type: error_type.to_owned(), error: error.into() };
        Reply::new(outcome, None)
    }

    /// What the endpoint says about itself: for a record, where any of it is known.
    pub fn about(&self) -> Option<Json> {
        let about = [
            ("finish_reason", &self.finish_reason),
            ("model", &self.model),
            ("system_fingerprint", &self.fingerprint),
        ];
        let known = about.iter().filter_map(|(key, value)| Some((*key, Json::from(value.as_deref()?))));
        let mut known: Object = known.collect();
        if let Some(time) = self.latency_ms {
            known.set("latency_ms", Json::Number(time));
        }
        (!known.is_empty()).then_some(Json::Object(known))
    }
}

/// The answer as judges see it: text alone, or text and tool calls together.
pub(super) fn output_of(text: Option<&str>, calls: &[Call]) -> Json {
    let text = Json::from(text.map(str::to_owned));
    if calls.is_empty() {
        return text;
    }
    let calls = Json::Array(calls.iter().map(|call| Json::Object(call.as_output())).collect());
    Json::Object(Object::from_iter([("content", text), ("tool_calls", calls)]))
}

impl Outcome {
    /// The word for it in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Answered => "answered",
            Outcome::Empty => "empty",
            Outcome::Null => "null",
            Outcome::Length => "length",
            Outcome::Refused => "refused",
            Outcome::Filtered => "filtered",
            Outcome::Failed { .. } => "failed",
            Outcome::TimedOut => "timed_out",
            Outcome::Stalled => "stalled",
            Outcome::RateLimited { .. } => "rate_limited",
        }
    }

    /// The record's `status`: whatever the target itself said, even a refusal, is a success that judges look at.
    pub fn status(&self) -> &'static str {
        match self {
            Outcome::Answered | Outcome::Empty | Outcome::Null | Outcome::Length => "success",
            Outcome::Refused | Outcome::Filtered => "success",
            Outcome::Failed { .. } => "error",
            Outcome::TimedOut | Outcome::Stalled => "timeout",
            Outcome::RateLimited { .. } => "rate_limited",
        }
    }

    /// The record's `error_type` and `error`: none of both for a plain answer.
    pub fn explained(&self) -> (Option<&str>, Option<&str>) {
        match self {
            Outcome::Answered => (None, None),
            Outcome::Empty | Outcome::Null | Outcome::Length | Outcome::Refused | Outcome::Filtered => {
                (Some(self.name()), None)
            }
            Outcome::Failed { error_type, error } => (Some(error_type), Some(error)),
            Outcome::TimedOut => (Some("timeout"), Some("no answer within the trial's deadline")),
            Outcome::Stalled => (Some("stalled"), Some("the answer began and then stopped coming")),
            Outcome::RateLimited { .. } => {
                (Some("rate_limited"), Some("the target asked for fewer requests"))
            }
        }
    }
}
