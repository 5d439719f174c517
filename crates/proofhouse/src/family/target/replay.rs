//! The target that answers from a file.

use std::collections::BTreeMap;

use proofhouse_ledger::json::{self, Strictness};
use proofhouse_ledger::{Digest, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reply::{Outcome, Reply};
use super::{Chat, Local, Member, Opening, System, pinned};
use crate::text::complaint::Complaint;

/// Answers from a file: samples that were made elsewhere, or the records of an earlier run.
///
/// **Purpose.** Judges answers that are there already: of a system that cannot be reached from here, of another tool, or of
/// an earlier run under new judges.
///
/// **File.** JSON lines with `input` and `output`, text or structure; further fields are ignored. The `records.jsonl` of a run
/// fits: what was an error there is the same error here, and `slot` takes one target's lines only. The n-th line with an
/// input answers its n-th repetition.
///
/// **Guarantee.** `sha256` is required and checked, so that the run's identity covers every byte of the answers. An input
/// without a line is an error that names it: nothing is made up.
///
/// ```yaml
/// recorded: {replay: {path: answers.jsonl, sha256: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// The file, relative to the suite and below its directory.
    pub path: String,
    /// The SHA-256 that it has to have.
    pub sha256: Digest,
    /// Only lines with this `slot`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<String>,
}

impl Replay {
    /// All settings that cannot work.
    pub(super) fn check(&self) -> Vec<Complaint> {
        pinned::check(&self.path)
    }

    /// Reads and checks the file.
    pub(super) fn open(&self, opening: &Opening) -> Result<Samples, Complaint> {
        let bytes = pinned::read(&self.path, self.sha256, opening)?;
        Samples::read(&bytes, self.slot.as_deref()).map_err(|complaint| {
            let hint = "one JSON object a line, with `input` and `output`";
            complaint.about(format!("`{}`:", self.path)).hint(hint).key("path")
        })
    }
}

impl Member for Replay {
    const IS_HERE: bool = true;

    fn system(&self, opening: &Opening) -> Result<System, Complaint> {
        Ok(System::Local(Box::new(self.open(opening)?)))
    }
}

/// Answers by input, in the order of their lines.
#[derive(Debug)]
pub(super) struct Samples(BTreeMap<String, Vec<Reply>>);

impl Samples {
    fn read(bytes: &[u8], slot: Option<&str>) -> Result<Self, Complaint> {
        let mut samples: BTreeMap<String, Vec<Reply>> = BTreeMap::new();
        let lines = bytes.split(|byte| *byte == b'\n').enumerate();
        for (number, line) in lines.filter(|(_, line)| !line.trim_ascii().is_empty()) {
            let wrong = |what: String| Complaint::new(format!("line {}: {what}", number + 1));
            let row = json::parse(line, Strictness::Lenient).map_err(|error| wrong(error.to_string()))?;
            if slot.is_some_and(|slot| row.get("slot").and_then(Json::as_str) != Some(slot)) {
                continue;
            }
            let input = row.get("input").ok_or_else(|| wrong("no `input`".to_owned()))?.to_text();
            let reply = Reply::from_record(&row).ok_or_else(|| wrong("no `output`".to_owned()))?;
            samples.entry(input).or_default().push(reply);
        }
        if samples.is_empty() {
            return Err(Complaint::new("no line has an answer"));
        }
        Ok(Samples(samples))
    }
}

impl Local for Samples {
    fn keeps_time(&self) -> bool {
        true
    }

    /// The answer to the last message, by its repetition.
    fn chat(&self, chat: &Chat) -> Reply {
        let input = chat.last();
        let key = Digest::of(input.as_bytes());
        let Some(replies) = self.0.get(input) else {
            return Reply::failed("replay_miss", format!("no line answers this input, sha256:{key}"));
        };
        let wanted = chat.repetition as usize;
        replies.get(wanted).cloned().unwrap_or_else(|| {
            let error = format!(
                "repetition {wanted} of this input, sha256:{key}, but {} lines answer it",
                replies.len()
            );
            Reply::failed("replay_miss", error)
        })
    }
}

impl Reply {
    /// The reply that a record or a line of samples tells of; none where it has no `output`.
    pub fn from_record(row: &Json) -> Option<Reply> {
        let about = |key: &str| Some(row.get("response")?.get(key)?.as_str()?.to_owned());
        let (finish_reason, model, fingerprint) =
            (about("finish_reason"), about("model"), about("system_fingerprint"));
        let reasoning = row.get("reasoning").and_then(Json::as_str).map(str::to_owned);
        let latency_ms = row.get("response").and_then(|about| about.get("latency_ms")?.as_f64());
        reply(row).map(|reply| Reply { reasoning, finish_reason, model, fingerprint, latency_ms, ..reply })
    }
}

fn reply(row: &Json) -> Option<Reply> {
    let text = |key: &str| row.get(key).and_then(Json::as_str);
    let usage =
        row.get("usage").filter(|usage| usage.as_object().is_some_and(|usage| !usage.is_empty())).cloned();
    let failed =
        |error_type: &str| Reply::failed(error_type, text("error").unwrap_or("an error in the recorded run"));
    match text("status") {
        None | Some("success") => {
            let output = row.get("output")?.clone();
            let outcome = match (&output, text("error_type")) {
                (_, Some("refused")) => Outcome::Refused,
                (_, Some("filtered")) => Outcome::Filtered,
                (_, Some("length")) => Outcome::Length,
                (Json::Null, _) => Outcome::Null,
                (Json::String(text), _) if text.is_empty() => Outcome::Empty,
                _ => Outcome::Answered,
            };
            Some(Reply { usage, ..Reply::new(outcome, Some(output)) })
        }
        Some("timeout") => Some(Reply::new(Outcome::TimedOut, None)),
        Some("rate_limited") => Some(Reply::new(Outcome::RateLimited { retry_after_ms: None }, None)),
        Some(_) => Some(failed(text("error_type").unwrap_or("error"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(text: &str) -> Samples {
        Samples::read(text.as_bytes(), None).unwrap()
    }

    #[test]
    fn the_nth_line_answers_the_nth_repetition_and_a_miss_names_its_key() {
        let samples = samples("{\"input\":\"q\",\"output\":\"a\"}\n\n{\"input\":\"q\",\"output\":[1]}\n");
        let ask = |input: &str, repetition| samples.chat(&Chat::ask(input, 7, repetition));
        assert_eq!(ask("q", 0).output, Some("a".into()));
        assert_eq!(ask("q", 1).output.unwrap().to_string(), "[1]");
        let miss = ask("q", 2).outcome;
        assert!(
            miss.explained()
                .1
                .unwrap()
                .contains("sha256:8e35c2cd3bf6641bdb0e2050b76932cbb2e6034a0ddacc1d9bea82a6ba57f7cf"),
            "{miss:?}"
        );
        assert_eq!(ask("other", 0).outcome.explained().0, Some("replay_miss"));
    }

    #[test]
    fn what_was_an_error_is_one_again() {
        let samples = samples(concat!(
            "{\"input\":\"e\",\"status\":\"error\",\"error_type\":\"http_500\",\"error\":\"boom\",\"output\":null}\n",
            "{\"input\":\"t\",\"status\":\"timeout\",\"output\":null}\n",
            "{\"input\":\"r\",\"status\":\"success\",\"error_type\":\"refused\",\"output\":\"no\"}\n",
        ));
        let shown = |input: &str| {
            let outcome = samples.chat(&Chat::ask(input, 0, 0)).outcome;
            format!("{} {:?}", outcome.status(), outcome.explained())
        };
        assert_eq!(shown("e"), r#"error (Some("http_500"), Some("boom"))"#);
        assert_eq!(shown("t"), r#"timeout (Some("timeout"), Some("no answer within the trial's deadline"))"#);
        assert_eq!(shown("r"), r#"success (Some("refused"), None)"#);
        assert!(Samples::read(b"{\"input\":1}", None).unwrap_err().what.contains("line 1: no `output`"));
        assert!(Samples::read(b"", None).unwrap_err().what.contains("no line"));
    }
}
