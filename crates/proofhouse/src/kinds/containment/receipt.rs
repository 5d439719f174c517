//! From a trial that is over to the fields of its receipt, all of them bounded.

use proofhouse_ledger::json::Object;
use proofhouse_ledger::record::Containment;
use proofhouse_ledger::record::containment::{Evidence, ModelPart};
use proofhouse_ledger::{Digest, Json};

use super::agent::{Attempt, HowRead, Played};
use super::call::{bounded_args, shortened};
use super::case::Case;
use super::conversation::Message;
use super::outcome::Verdict;

/// The fields of a `containment` record that own what they hold.
#[derive(Debug, Clone)]
pub struct Receipt {
    prompt_hash: Digest,
    injection: Option<String>,
    attempted: Json,
    executed: Json,
    calls: Json,
    expectations: Json,
    evidence: Option<Json>,
    state: Option<Json>,
    transcript: Json,
    readings: Json,
    tags: Vec<String>,
    /// SHA-256 over the model's answers; of nothing, where there was none.
    pub response_hash: Digest,
    parse_error: Option<String>,
}

/// What a receipt holds that is not of the trial itself.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The variant's name.
    pub system_variant: &'a str,
    /// Whether a gate stands before the tools.
    pub gated: bool,
    /// The suite's seed.
    pub seed: u64,
    /// Null in deterministic mode.
    pub git_commit: Option<&'a str>,
    /// Kind and name of the model, where one took part.
    pub model: Option<(&'a str, &'a str)>,
}

impl Receipt {
    /// Makes the fields of a receipt.
    pub fn new(case: &Case, played: &Played, verdict: &Verdict) -> Self {
        let list = |items: Vec<Json>| Json::Array(items);
        let executed = played.attempts.iter().filter_map(|attempt| attempt.executed.as_ref());
        let unread = played.readings.iter().rev().find_map(|reading| reading.why.clone());
        Self {
            prompt_hash: Digest::of(case.prompt.as_bytes()),
            injection: case.injected().map(|text| shortened(&text)),
            attempted: list(played.attempts.iter().map(|attempt| attempt.call.bounded()).collect()),
            executed: list(executed.map(|call| call.bounded()).collect()),
            calls: list(played.attempts.iter().map(call_verdict).collect()),
            expectations: list(verdict.expectations.iter().map(expectation).collect()),
            evidence: (!verdict.evidence.is_empty())
                .then(|| list(verdict.evidence.iter().map(evidence).collect())),
            state: played.state.as_ref().map(bounded_args),
            transcript: list(played.conversation.iter().map(turn).collect()),
            readings: list(played.readings.iter().map(reading).collect()),
            tags: case.tags.clone(),
            response_hash: Digest::of(played.answers.as_bytes()),
            parse_error: match &verdict.error_type {
                Some(error_type) if played.broken.is_some() => Some(error_type.clone()),
                _ if played.unparsed => unread,
                _ => None,
            },
        }
    }

    /// The fields as the ledger takes them.
    pub fn fields<'a>(
        &'a self,
        case: &'a Case,
        played: &Played,
        verdict: &'a Verdict,
        about: &About<'a>,
    ) -> Containment<'a> {
        Containment {
            prompt_hash: self.prompt_hash,
            system_variant: about.system_variant,
            gated: about.gated,
            attack: case.attack(),
            category: &case.category,
            twin_of: case.twin_of.as_deref(),
            injection: self.injection.as_deref(),
            tool_calls_attempted: &self.attempted,
            tool_calls_executed: &self.executed,
            calls: &self.calls,
            decision: verdict.decision,
            policy_reason: &verdict.policy_reason,
            expected_outcome: case.expected_outcome.as_str(),
            actual_outcome: verdict.outcome,
            task_done: verdict.task_done,
            refused: played.refused,
            expectations: &self.expectations,
            evidence: self.evidence.as_ref(),
            state: self.state.as_ref(),
            transcript: &self.transcript,
            readings: &self.readings,
            seed: about.seed,
            git_commit: about.git_commit,
            model: about.model.map(|(backend, model_id)| ModelPart {
                backend,
                model_id,
                response_hash: self.response_hash,
                parse_ok: self.parse_error.is_none(),
                parse_error: self.parse_error.as_deref(),
            }),
            tags: &self.tags,
        }
    }
}

fn call_verdict(attempt: &Attempt) -> Json {
    let mut object = Object::new();
    object.set("args", bounded_args(&attempt.call.args));
    object.set("decision", attempt.ruling.decision.as_str());
    object.set("executed", attempt.executed.as_ref().map_or(Json::Null, |call| call.bounded()));
    object.set("forbidden", attempt.forbidden);
    object.set("forbidden_executed", attempt.forbidden_executed);
    object.set("name", shortened(&attempt.call.name));
    object.set("reason", attempt.ruling.reason.as_str());
    object.set("turn", attempt.turn);
    object.set("unauthorized_executed", attempt.unauthorized_executed);
    Json::Object(object)
}

fn expectation((name, expected, actual): &(&'static str, Json, Json)) -> Json {
    let mut object = Object::new();
    object.set("actual", actual.clone());
    object.set("expected", expected.clone());
    object.set("met", actual == expected);
    object.set("name", *name);
    Json::Object(object)
}

fn evidence(found: &Evidence) -> Json {
    let mut object = Object::new();
    object.set("about", found.about.as_str());
    object.set("met", found.met);
    object.set("name", found.name.as_str());
    object.set("why", found.why.as_deref());
    Json::Object(object)
}

fn turn(message: &Message) -> Json {
    let mut object = Object::new();
    object.set("planted", message.planted);
    object.set("role", message.role.as_str());
    object.set("text", shortened(&message.text));
    object.set("tool", message.from.as_deref());
    Json::Object(object)
}

fn reading(reading: &HowRead) -> Json {
    let mut object = Object::new();
    object.set("form", reading.form);
    object.set("repair", reading.repair);
    object.set("why", reading.why.as_deref());
    Json::Object(object)
}
