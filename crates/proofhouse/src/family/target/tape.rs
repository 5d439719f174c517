//! Cassettes: each reply in a plain file, keyed by everything that shaped it, so that a run can be repeated without a
//! network.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::json::{self, Object, Strictness};
use proofhouse_ledger::{Digest, Json, files};

use super::reply::{Attempt, Outcome, Reply};
use super::{Call, Chat};
use crate::text::complaint::Complaint;

/// The version of the cassette format.
const SCHEMA_VERSION: &str = "1.0";

/// Settings that say who may ask and how requests travel, but not what is asked.
const NOT_ASKED: [&str; 3] = ["api_key_env", "headers_env", "transport"];

/// What happens with replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The endpoint is asked, and its reply is kept.
    Record,
    /// Only what was kept answers.
    Replay,
}

/// A directory of kept replies: `DIR/SLOT/KEY.N.json`, where N counts identical requests from 0.
#[derive(Debug)]
pub struct Tape {
    mode: Mode,
    dir: Utf8PathBuf,
    /// How often each key was asked for.
    asked: Mutex<BTreeMap<Digest, u32>>,
}

/// One request's place on a tape.
#[derive(Debug)]
pub(super) struct Mark {
    slot: String,
    request: Json,
    key: Digest,
    occurrence: u32,
}

impl Tape {
    /// A tape in a directory; for replay it has to be there.
    ///
    /// # Errors
    /// When the directory cannot be made, or is not there.
    pub fn open(dir: &Utf8Path, mode: Mode) -> Result<Self, Complaint> {
        let made = match mode {
            Mode::Record => fs::create_dir_all(dir)
                .map_err(|error| Complaint::new(format!("cannot make `{dir}`: {error}"))),
            Mode::Replay if dir.is_dir() => Ok(()),
            Mode::Replay => Err(Complaint::new(format!("there is no directory `{dir}`"))
                .hint(format!("`--record {dir}` makes it"))),
        };
        made.map(|()| Tape { mode, dir: dir.to_owned(), asked: Mutex::default() })
    }

    /// Whether the network is used.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The place of a request: identical ones are counted.
    ///
    /// The seed of the trial, the slot and the asker are part of the key even where they are not sent, so that the place
    /// does not depend on the order in which trials run: identical requests can only follow each other within one trial.
    pub(super) fn mark(&self, slot: &str, settings: &Json, chat: &Chat) -> Mark {
        let mut request = Object::from_iter([
            ("chat", chat.to_json()),
            ("slot", Json::from(slot)),
            ("target", asked(settings)),
        ]);
        if let Some(asker) = chat.asker {
            request.set("asker", asker.to_string());
        }
        let request = Json::Object(request);
        let key = Digest::of(request.to_string().as_bytes());
        let mut counts = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(key).or_default();
        let occurrence = *count;
        *count += 1;
        Mark { slot: slot.to_owned(), request, key, occurrence }
    }

    fn path(&self, mark: &Mark) -> Utf8PathBuf {
        // Half of the digest keeps names short. The file has the whole request, which is compared when it is read: two requests
        // with one name would be an error, never each other's answer.
        let key = mark.key.to_string();
        self.dir.join(&mark.slot).join(format!("{}.{}.json", &key[..32], mark.occurrence))
    }

    /// The reply that was kept. A miss and damage are errors that name the key.
    pub(super) fn play(&self, mark: &Mark) -> Reply {
        let name = format!("{}.{} of slot `{}`", mark.key, mark.occurrence, mark.slot);
        let Ok(bytes) = fs::read(self.path(mark)) else {
            return Reply::failed("replay_miss", format!("nothing was recorded for {name}"));
        };
        read(&bytes, mark).unwrap_or_else(|what| {
            Reply::failed("cassette_damaged", format!("the cassette {name} is damaged: {what}"))
        })
    }

    /// Keeps a reply.
    ///
    /// # Errors
    /// What the file system said.
    pub(super) fn keep(&self, mark: &Mark, reply: &Reply) -> Result<(), Complaint> {
        let path = self.path(mark);
        let failed = |error: std::io::Error| Complaint::new(format!("cannot write `{path}`: {error}"));
        let mut cassette = Object::from_iter([
            ("key", Json::from(mark.key.to_string())),
            ("occurrence", Json::from(mark.occurrence)),
            ("reply", to_json(reply)),
            ("request", mark.request.clone()),
            ("schema_version", Json::from(SCHEMA_VERSION)),
        ]);
        cassette.set("sha256", Digest::of(Json::Object(cassette.clone()).to_string().as_bytes()).prefixed());
        // A run that is killed here must not leave half a cassette, which a replay would have to call damaged; and shards may keep
        // the same reply at the same time.
        files::write_shared(&path, format!("{}\n", Json::Object(cassette)).as_bytes()).map_err(failed)
    }
}

/// The settings without those that do not shape an answer.
pub(super) fn asked(settings: &Json) -> Json {
    let Json::Object(kinds) = settings else { return settings.clone() };
    let kinds = kinds.iter().map(|(kind, settings)| {
        let mut settings = settings.clone();
        if let Json::Object(settings) = &mut settings {
            NOT_ASKED.iter().for_each(|key| drop(settings.remove(key)));
        }
        (kind, settings)
    });
    Json::Object(kinds.collect())
}

/// Reads a cassette of whatever request it is, its digest aside: that would keep all but the written ones from being read.
pub(crate) fn read_cassette(bytes: &[u8]) {
    if let Ok(cassette) = json::parse(bytes, Strictness::Canonical) {
        let reply = cassette.get("reply").and_then(from_json);
        assert!(reply.is_none_or(|reply| from_json(&to_json(&reply)).is_some()), "what is read is written");
    }
    let (slot, request) = (String::new(), Json::Null);
    let _ = read(bytes, &Mark { slot, request, key: Digest::of(b""), occurrence: 0 });
}

fn read(bytes: &[u8], mark: &Mark) -> Result<Reply, Complaint> {
    let cassette = json::parse(bytes, Strictness::Canonical).map_err(Complaint::of)?;
    let Json::Object(mut cassette) = cassette else { return Err(Complaint::new("it is not an object")) };
    let sealed = cassette.remove("sha256");
    let digest = Digest::of(Json::Object(cassette.clone()).to_string().as_bytes()).prefixed();
    if sealed != Some(Json::from(digest)) {
        return Err(Complaint::new("its digest does not match its content"));
    }
    let field = |key: &str| cassette.get(key).cloned().unwrap_or_default();
    if field("schema_version") != Json::from(SCHEMA_VERSION) {
        return Err(Complaint::new(format!(
            "it has the format {}, and this version reads {SCHEMA_VERSION}",
            field("schema_version")
        )));
    }
    if field("request") != mark.request || field("occurrence") != Json::from(mark.occurrence) {
        return Err(Complaint::new("it answers another request"));
    }
    from_json(&field("reply")).ok_or_else(|| Complaint::new("its reply cannot be read"))
}

pub(super) fn to_json(reply: &Reply) -> Json {
    let mut outcome = Object::from_iter([("name", Json::from(reply.outcome.name()))]);
    match &reply.outcome {
        Outcome::Failed { error_type, error } => {
            outcome.set("error_type", error_type.as_str());
            outcome.set("error", error.as_str());
        }
        Outcome::RateLimited { retry_after_ms: Some(wait) } => {
            outcome.set("retry_after_ms", Json::Number(*wait as f64));
        }
        _ => {}
    }
    // Times are chance: they stay out, so that the same answers make the same cassettes; but for the one that a judge weighs.
    let attempts = reply.attempts.iter().map(|attempt| {
        Json::Object(Object::from_iter([
            ("http_status", Json::from(attempt.http_status.map(u32::from))),
            ("result", Json::from(attempt.result.as_str())),
            ("sent", Json::from(attempt.sent)),
        ]))
    });
    let mut kept = Object::from_iter([
        ("attempts", Json::Array(attempts.collect())),
        ("calls", Json::Array(reply.calls.iter().map(Call::to_json).collect())),
        ("finish_reason", Json::from(reply.finish_reason.clone())),
        ("fingerprint", Json::from(reply.fingerprint.clone())),
        ("model", Json::from(reply.model.clone())),
        ("outcome", Json::Object(outcome)),
        // A reply without an output and one that is null are different things.
        ("output", Json::Array(reply.output.iter().cloned().collect())),
        ("usage", reply.usage.clone().unwrap_or_default()),
    ]);
    if let Some(spoken) = &reply.spoken {
        kept.set("spoken", spoken.clone());
    }
    if let Some(reasoning) = &reply.reasoning {
        kept.set("reasoning", reasoning.as_str());
    }
    if let Some(time) = reply.latency_ms {
        kept.set("latency_ms", Json::Number(time));
    }
    Json::Object(kept)
}

pub(super) fn from_json(value: &Json) -> Option<Reply> {
    let text = |value: &Json, key: &str| value.get(key).and_then(Json::as_str).map(str::to_owned);
    let outcome = value.get("outcome")?;
    let outcome = match outcome.get("name")?.as_str()? {
        "answered" => Outcome::Answered,
        "empty" => Outcome::Empty,
        "null" => Outcome::Null,
        "length" => Outcome::Length,
        "refused" => Outcome::Refused,
        "filtered" => Outcome::Filtered,
        "failed" => {
            Outcome::Failed { error_type: text(outcome, "error_type")?, error: text(outcome, "error")? }
        }
        "timed_out" => Outcome::TimedOut,
        "stalled" => Outcome::Stalled,
        "rate_limited" => Outcome::RateLimited {
            retry_after_ms: outcome.get("retry_after_ms").and_then(Json::as_f64).map(|wait| wait as u64),
        },
        _ => return None,
    };
    let list = |key: &str| match value.get(key) {
        Some(Json::Array(list)) => Some(list.as_slice()),
        _ => None,
    };
    let calls = list("calls")?.iter().enumerate().map(|(place, call)| Call::from_json(call, place));
    let attempts = list("attempts")?.iter().map(|attempt| {
        Some(Attempt {
            result: text(attempt, "result")?,
            http_status: attempt.get("http_status").and_then(Json::as_f64).map(|status| status as u16),
            sent: attempt.get("sent") == Some(&Json::Bool(true)),
            elapsed_ms: 0.0,
            waited_ms: 0.0,
        })
    });
    Some(Reply {
        outcome,
        output: list("output")?.first().cloned(),
        reasoning: text(value, "reasoning"),
        calls: calls.collect::<Option<_>>()?,
        spoken: value.get("spoken").cloned(),
        usage: value.get("usage").filter(|usage| !matches!(usage, Json::Null)).cloned(),
        finish_reason: text(value, "finish_reason"),
        model: text(value, "model"),
        fingerprint: text(value, "fingerprint"),
        attempts: attempts.collect::<Option<_>>()?,
        latency_ms: value.get("latency_ms").and_then(Json::as_f64),
        delay_ms: 0,
        replayed: true,
    })
}

#[cfg(test)]
mod tests {
    use proofhouse_ledger::RecordId;

    use super::*;

    fn settings(extra: &str) -> Json {
        let text = format!("{{\"openai\":{{\"model\":\"m\",\"api_key_env\":\"K\"{extra}}}}}");
        json::parse(text.as_bytes(), Strictness::Strict).unwrap()
    }

    fn replies() -> Vec<Reply> {
        let outcomes = [
            Outcome::Answered,
            Outcome::Null,
            Outcome::Failed { error_type: "http_500".into(), error: "HTTP 500: \"é\"\n".into() },
            Outcome::RateLimited { retry_after_ms: Some(1_500) },
            Outcome::RateLimited { retry_after_ms: None },
            Outcome::Stalled,
        ];
        let whole = Reply {
            calls: vec![Call { id: "c1".into(), name: "f".into(), args: Json::from("{") }],
            reasoning: Some("because".into()),
            spoken: Some(Json::Array(vec![Json::from("thought")])),
            usage: Some(Json::Object(Object::from_iter([("input_tokens", Json::Number(3.0))]))),
            finish_reason: Some("stop".into()),
            model: Some("m-1".into()),
            fingerprint: Some("fp".into()),
            latency_ms: Some(12.345),
            attempts: vec![Attempt {
                result: "answered".into(),
                http_status: Some(200),
                sent: true,
                elapsed_ms: 0.0,
                waited_ms: 0.0,
            }],
            ..Reply::new(Outcome::Length, Some(Json::from("x")))
        };
        outcomes
            .map(|outcome| Reply::new(outcome, Some(Json::Null)))
            .into_iter()
            .chain([whole, Reply::new(Outcome::TimedOut, None)])
            .collect()
    }

    #[test]
    fn the_nth_identical_request_gets_the_nth_reply() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        let chat = Chat::ask("q", 7, 0);
        let recording = Tape::open(dir, Mode::Record).unwrap();
        for reply in replies() {
            recording.keep(&recording.mark("s", &settings(""), &chat), &reply).unwrap();
        }
        let playing = Tape::open(dir, Mode::Replay).unwrap();
        for reply in replies() {
            let played = playing.play(&playing.mark("s", &settings(""), &chat));
            assert_eq!(played, Reply { replayed: true, ..reply });
        }
        let miss = playing.mark("s", &settings(""), &chat);
        let outcome = playing.play(&miss).outcome;
        assert_eq!(outcome.explained().0, Some("replay_miss"));
        assert!(
            outcome.explained().1.unwrap().contains(&format!("{}.8 of slot `s`", miss.key)),
            "{outcome:?}"
        );
    }

    #[test]
    fn every_knob_is_part_of_the_key_and_transport_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let tape = Tape::open(Utf8Path::from_path(dir.path()).unwrap(), Mode::Record).unwrap();
        let chat = Chat::ask("q", 7, 0);
        let key = |slot: &str, extra: &str, chat: &Chat| tape.mark(slot, &settings(extra), chat).key;
        let base = key("s", "", &chat);
        assert_eq!(key("s", ",\"transport\":{\"max_attempts\":1},\"headers_env\":{}", &chat), base);
        for other in [
            key("t", "", &chat),
            key("s", ",\"temperature\":0", &chat),
            key("s", "", &Chat::ask("q ", 7, 0)),
            key("s", "", &Chat::ask("q", 8, 0)),
            key("s", "", &Chat::ask("q", 7, 1)),
            key("s", "", &Chat { system: Some("x".into()), ..chat.clone() }),
            key("s", "", &Chat { asker: Some(RecordId::of_trial("a", "c", None, 0)), ..chat.clone() }),
        ] {
            assert_ne!(other, base);
        }
    }

    #[test]
    fn a_changed_cassette_is_not_believed() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        let tape = Tape::open(dir, Mode::Record).unwrap();
        let mark = tape.mark("s", &settings(""), &Chat::ask("q", 7, 0));
        tape.keep(&mark, &Reply::new(Outcome::Answered, Some(Json::from("right")))).unwrap();
        let path = tape.path(&mark);
        let whole = fs::read_to_string(&path).unwrap();
        let damaged = |text: String| {
            fs::write(&path, text).unwrap();
            tape.play(&mark).outcome.explained().1.unwrap_or("believed").to_owned()
        };
        assert!(damaged(whole.replace("right", "wrong")).contains("digest does not match"));
        assert!(damaged(whole[..whole.len() / 2].to_owned()).contains("is damaged"));
        assert_eq!(damaged(whole.clone()), "believed");
        let other = tape.mark("s", &settings(""), &Chat::ask("other", 7, 0));
        fs::rename(&path, tape.path(&other)).unwrap();
        assert!(tape.play(&other).outcome.explained().1.unwrap().contains("answers another request"));
    }
}
