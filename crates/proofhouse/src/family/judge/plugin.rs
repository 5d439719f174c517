//! The `plugin` judge.

use std::collections::BTreeMap;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::Object;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Advice, Help, Judge, Question, Settings, Subject, Verdict};
use crate::family::target::Plugin;
use crate::text::complaint::Complaint;

/// A program of yours judges, in any language: started once, spoken to in JSON lines.
///
/// Each answer is one line on the program's standard input: `{"id":0,"judge":{"input":"…","output":…,"expected":…}}`. It
/// answers with one line on its standard output: `{"id":0,"verdict":{"score":0.5,"reason":"…"}}`, a score from 0 to 1, or null
/// where it cannot judge; `{"id":0,"error":"…"}` says the same with a reason.
///
/// Guarantee: a program that dies, hangs or says something else has not judged; nothing is counted as right or wrong then. It
/// sees `PATH`, `HOME` and the locale of the environment, and `env`; no key reaches it.
///
/// ```yaml
/// plugin: {command: [python3, judge.py]}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PluginJudge {
    /// The program and its arguments; it starts in the suite's directory.
    pub command: Vec<String>,
    /// Further variables of its environment; none that holds a key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

impl Settings for PluginJudge {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        let plugin = Plugin { command: self.command.clone(), env: self.env.clone() };
        match plugin.check().into_iter().next() {
            Some(complaint) => Err(complaint),
            None => Ok(Box::new(Compiled(plugin))),
        }
    }

    fn needs_expected(&self) -> bool {
        false
    }
}

struct Compiled(Plugin);

impl Judge for Compiled {
    fn judge(&self, _: &Subject<'_>) -> Verdict {
        Verdict::unjudged("the program was not asked")
    }

    fn help(&self) -> Option<Help> {
        Some(Help::Plugin(self.0.clone()))
    }

    fn asks(&self, subject: &Subject<'_>) -> Vec<Question> {
        vec![Question::Program(as_value(subject))]
    }

    fn judge_with(&self, _: &Subject<'_>, advice: &[Advice]) -> Verdict {
        match advice {
            [Advice::Line(Ok(line))] => read(line),
            [Advice::Line(Err(why))] => Verdict::unjudged(why.clone()),
            _ => Verdict::unjudged("the program was not asked"),
        }
    }
}

/// The subject as programs see it.
pub(super) fn as_value(subject: &Subject<'_>) -> Json {
    Json::Object(Object::from_iter([
        ("expected", subject.expected.clone()),
        ("input", Json::from(subject.input)),
        ("output", subject.output.clone()),
    ]))
}

fn read(line: &Json) -> Verdict {
    if let Some(error) = line.get("error").filter(|error| !matches!(error, Json::Null)) {
        return Verdict::unjudged(error.to_text());
    }
    match line.get("verdict") {
        Some(verdict) => verdict_of(verdict),
        None => Verdict::unjudged("the program's line has neither `verdict` nor `error`"),
    }
}

/// A verdict that a program wrote: `score` and `reason`.
pub(super) fn verdict_of(verdict: &Json) -> Verdict {
    let reason = verdict.get("reason").map(Json::to_text).filter(|reason| !reason.is_empty());
    match verdict.get("score") {
        Some(Json::Number(score)) if (0.0..=1.0).contains(score) => {
            Verdict::graded(*score, || reason.unwrap_or_else(|| "the program gave no reason".to_owned()))
        }
        Some(Json::Null) => {
            Verdict::unjudged(reason.unwrap_or_else(|| "the program could not judge".to_owned()))
        }
        Some(other) => {
            Verdict::unjudged(format!("the program's score is {other}, and scores are from 0 to 1"))
        }
        None => Verdict::unjudged("the program gave no score"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::refused;
    use super::*;
    use crate::family::judge::JudgeConfig;
    use proofhouse_ledger::json::{Strictness, parse};

    fn verdict(line: &str) -> (Option<f64>, String) {
        let judge =
            serde_saphyr::from_str::<JudgeConfig>("plugin: {command: [x]}").unwrap().compile().unwrap();
        let advice = [Advice::Line(parse(line.as_bytes(), Strictness::Strict).map_err(Complaint::of))];
        let verdict = judge.judge_with(
            &Subject { input: "", output: &Json::Null, expected: &Json::Null, ..Subject::default() },
            &advice,
        );
        (verdict.score, verdict.explanation().unwrap_or_default().to_owned())
    }

    #[test]
    fn a_line_is_a_verdict_or_none() {
        assert_eq!(verdict(r#"{"id":0,"verdict":{"score":1}}"#), (Some(1.0), String::new()));
        assert_eq!(verdict(r#"{"id":0,"verdict":{"score":0,"reason":"no"}}"#), (Some(0.0), "no".to_owned()));
        assert_eq!(verdict(r#"{"id":0,"verdict":{"score":0.5}}"#).0, Some(0.5));
        for line in [
            r#"{"id":0,"verdict":{"score":null,"reason":"unsure"}}"#,
            r#"{"id":0,"verdict":{"score":2}}"#,
            r#"{"id":0,"verdict":{"score":"1"}}"#,
            r#"{"id":0,"verdict":{}}"#,
            r#"{"id":0,"error":"broken"}"#,
            r#"{"id":0}"#,
            "died",
        ] {
            let (score, why) = verdict(line);
            assert!(score.is_none() && !why.is_empty(), "{line}: {why}");
        }
        refused("plugin: {command: []}", "no program");
    }
}
