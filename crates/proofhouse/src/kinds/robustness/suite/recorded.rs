//! What models wrote for generators that need one, kept by content: a run whose answers are all there asks no model.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::json::to_json;
use proofhouse_ledger::{Digest, canonical};
use serde::{Deserialize, Serialize};

use super::{Rewriter, RobustnessFile};
use crate::family::target::TargetConfig;
use crate::family::vary::guard::Reason;
use crate::family::vary::{MAX_ATTEMPTS, Prompt};
use crate::spine::suite::check::Checker;
use crate::spine::suite::keys;
use crate::spine::suite::kind::Loading;
use crate::spine::suite::problem::{Code, Place, Problem};
use crate::spine::suite::tree::Step;
use crate::text::complaint::Complaint;

/// What a model was asked for one variant, and what came of it: one line of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Of the model's settings, the generator's version and the first prompt.
    pub key: Digest,
    /// The generator.
    pub generator: String,
    /// The prompt of the last attempt.
    pub prompt: Prompt,
    /// What the guard let through; null when no attempt passed.
    pub accepted: Option<String>,
    /// What it did not.
    pub rejections: Vec<Rejection>,
    /// What the guard's model said of it; absent where none was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<String>,
}

impl Answer {
    /// The model was asked and did not answer: the next run asks again.
    pub fn is_open(&self) -> bool {
        self.accepted.is_none() && self.rejections.iter().any(|rejection| rejection.no_answer)
    }
}

/// An answer that the guard refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rejection {
    /// Which attempt, from 1.
    pub attempt: u32,
    /// What the model said.
    pub ai_output: String,
    /// Why it was refused; empty where the model did not answer at all.
    pub failure_reasons: Vec<Reason>,
    /// What went wrong with the model itself, or with the guard's.
    pub error: Option<String>,
    /// Nobody answered in time or at all: no answer was refused.
    #[serde(default, skip_serializing_if = "is_false")]
    pub no_answer: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// A variant that a model has to write before the plan is whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// As in [`Answer`].
    pub key: Digest,
    /// The case.
    pub case_id: String,
    /// Its place in the suite's list of cases.
    pub case: usize,
    /// Which of the case's generators.
    pub asked: usize,
    /// Which variant of the generator, from 0.
    pub index: u32,
    /// It was asked for before, without an answer; the plan has a place for it.
    pub again: bool,
}

/// The file that keeps answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded {
    answers: BTreeMap<Digest, Answer>,
}

impl Recorded {
    /// Reads the file; one that is not there is empty.
    ///
    /// # Errors
    /// Line and reason of what cannot be read.
    pub fn read(path: &Utf8Path) -> Result<Recorded, (u64, Complaint)> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Recorded::default()),
            Err(error) => return Err((0, Complaint::of(error))),
        };
        let mut answers = BTreeMap::new();
        for (line, number) in text.lines().zip(1..) {
            let answer: Answer =
                serde_json::from_str(line).map_err(|error| (number, Complaint::of(error)))?;
            answers.insert(answer.key, answer);
        }
        Ok(Recorded { answers })
    }

    /// What was answered to this.
    pub fn get(&self, key: &Digest) -> Option<&Answer> {
        self.answers.get(key)
    }

    /// Adds an answer.
    pub fn add(&mut self, answer: Answer) {
        self.answers.insert(answer.key, answer);
    }

    /// The file's bytes: one canonical line per answer, by key.
    pub fn to_bytes(&self) -> Vec<u8> {
        let line = |answer: &Answer| canonical::to_file(answer).expect("answers are plain data");
        self.answers.values().flat_map(line).collect()
    }
}

/// What an answer is kept under: another model, guard, prompt or version of the generator asks again.
pub(super) fn key(rewriter: &Rewriter, version: u32, prompt: &Prompt) -> Digest {
    let written = |target: &TargetConfig| to_json(target).map(|json| json.to_string()).unwrap_or_default();
    let model = written(&rewriter.target);
    let guard = rewriter.guard.as_ref().map(written).unwrap_or_default();
    Digest::of_parts(&[
        model.as_bytes(),
        &version.to_le_bytes(),
        prompt.text.as_bytes(),
        &prompt.seed.to_le_bytes(),
        guard.as_bytes(),
    ])
}

/// The suite's rewriter.
pub(super) fn rewriter(
    checker: &mut Checker<'_>,
    loading: &Loading<'_>,
    file: &RobustnessFile,
) -> Option<Rewriter> {
    let written = file.rewriter.as_ref()?;
    for complaint in written.target.check() {
        let steps = [Step::Key("rewriter"), Step::Key("target"), Step::Key(written.target.kind_name())];
        checker.pass_on(Code::BadValue, &steps, complaint);
    }
    if matches!(written.target, TargetConfig::Command(_)) {
        let steps = [Step::Key("rewriter"), Step::Key("target")];
        checker.complain(Code::BadValue, &steps, "a `command` cannot rewrite").hint =
            Some("name a model".to_owned());
    }
    if let Some(guard) = &written.guard {
        let steps = [Step::Key("rewriter"), Step::Key("guard"), Step::Key("target")];
        for complaint in guard.target.check() {
            let steps = [&steps[..], &[Step::Key(guard.target.kind_name())]].concat();
            checker.pass_on(Code::BadValue, &steps, complaint);
        }
        if matches!(guard.target, TargetConfig::Command(_)) {
            checker.complain(Code::BadValue, &steps, "a `command` cannot compare two tasks").hint =
                Some("name a model".to_owned());
        }
    }
    let parent = loading.path.parent().unwrap_or(Utf8Path::new(""));
    let recorded: Utf8PathBuf = match &written.recorded {
        Some(path) => parent.join(path),
        None => loading.path.with_extension("variants.jsonl"),
    };
    Some(Rewriter {
        target: written.target.clone(),
        recorded,
        guard: written.guard.as_ref().map(|guard| guard.target.clone()),
        max_attempts: written.max_attempts.map_or(MAX_ATTEMPTS, |attempts| attempts.0 as u32),
    })
}

/// Reads what a rewriter wrote before.
pub(super) fn read(
    checker: &mut Checker<'_>,
    loading: &Loading<'_>,
    rewriter: Option<&Rewriter>,
) -> Recorded {
    let Some(rewriter) = rewriter else { return Recorded::default() };
    if let Ok(bytes) = std::fs::read(&rewriter.recorded) {
        checker.problems.extend(keys::in_bytes(rewriter.recorded.as_str(), &bytes, loading.keys));
    }
    Recorded::read(&rewriter.recorded).unwrap_or_else(|(line, what)| {
        let place = Place { line, column: u64::from(line > 0), ..Place::whole(rewriter.recorded.as_str()) };
        let problem = Problem::new(Code::Syntax, place, format!("recorded variants cannot be read: {what}"));
        checker.problems.push(problem.hint("restore the file, or remove it to ask the model again"));
        Recorded::default()
    })
}
