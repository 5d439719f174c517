//! The `command` judge.

use proofhouse_ledger::json::{Strictness, parse};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plugin::{as_value, verdict_of};
use super::text::excerpt;
use super::{Advice, Help, Judge, Question, Run, Settings, Subject, Verdict};
use crate::family::target::keys_of_program;
use crate::text::complaint::Complaint;

/// A program of yours judges, run in the sandbox once for each answer.
///
/// It gets `{"expected":…,"input":"…","output":…}` on its standard input. If it prints a JSON object with `score` (0 to 1, or
/// null where it cannot judge) and `reason`, that is the verdict. Without one, exit code 0 is right, 1 is wrong with what it
/// printed as the reason, and anything else means that it could not judge.
///
/// Guarantee: it runs without a network, sees the system's programs and the named files only, and within limits; a crash, a
/// signal or a time limit is never counted as right or wrong.
///
/// ```yaml
/// command: {command: [python3, judge.py], files: [judge.py]}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// The program and its arguments; it starts where the files are.
    pub command: Vec<String>,
    /// Files beside the suite that it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// How long it may take for one answer, in milliseconds.
    #[serde(default = "ten_seconds")]
    pub timeout_ms: u32,
}

fn ten_seconds() -> u32 {
    10_000
}

impl Settings for Command {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        if self.command.first().is_none_or(|program| program.trim().is_empty()) {
            return Err(Complaint::new("there is no program").hint("`command: [python3, judge.py]`"));
        }
        let below = |path: &String| {
            let mut parts = path.split('/');
            !path.is_empty() && parts.all(|part| !matches!(part, "" | "." | ".."))
        };
        if let Some(path) = self.files.iter().find(|path| !below(path)) {
            return Err(Complaint::new(format!("`{path}` does not lie below the suite's directory")));
        }
        let hint = "a judge sees no environment of ours; no key reaches it";
        if let Some(complaint) = keys_of_program(("command", &self.command), [], hint).into_iter().next() {
            return Err(complaint);
        }
        Ok(Box::new(Compiled(Run {
            command: self.command.clone(),
            files: self.files.clone(),
            timeout_ms: self.timeout_ms.into(),
        })))
    }

    fn needs_expected(&self) -> bool {
        false
    }
}

struct Compiled(Run);

impl Judge for Compiled {
    fn judge(&self, _: &Subject<'_>) -> Verdict {
        Verdict::unjudged("the program was not run")
    }

    fn help(&self) -> Option<Help> {
        Some(Help::Command(self.0.clone()))
    }

    fn asks(&self, subject: &Subject<'_>) -> Vec<Question> {
        vec![Question::Program(as_value(subject))]
    }

    fn judge_with(&self, _: &Subject<'_>, advice: &[Advice]) -> Verdict {
        let [Advice::Ended { exit_code, stdout, how }] = advice else {
            return Verdict::unjudged("the program was not run");
        };
        let said = parse(stdout.trim().as_bytes(), Strictness::Lenient).ok();
        let said = said.filter(|said| said.get("score").is_some());
        match (exit_code, said) {
            (Some(0 | 1), Some(said)) => verdict_of(&said),
            (Some(0), None) => Verdict::right(),
            (Some(1), None) if stdout.trim().is_empty() => {
                Verdict::wrong("the program says so by its exit code, 1")
            }
            (Some(1), None) => Verdict::wrong(excerpt(stdout.trim())),
            _ => Verdict::unjudged(format!("the program ended otherwise than with exit code 0 or 1: {how}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use proofhouse_ledger::Json;

    use super::super::tests::refused;
    use super::*;
    use crate::family::judge::JudgeConfig;

    fn score(exit_code: Option<i32>, stdout: &str) -> Option<f64> {
        let judge =
            serde_saphyr::from_str::<JudgeConfig>("command: {command: [x]}").unwrap().compile().unwrap();
        let advice = [Advice::Ended { exit_code, stdout: stdout.to_owned(), how: "somehow".to_owned() }];
        judge
            .judge_with(
                &Subject { input: "", output: &Json::Null, expected: &Json::Null, ..Subject::default() },
                &advice,
            )
            .score
    }

    #[test]
    fn exit_codes_and_printed_verdicts() {
        assert_eq!(score(Some(0), ""), Some(1.0));
        assert_eq!(score(Some(0), "all good"), Some(1.0));
        assert_eq!(score(Some(1), "no"), Some(0.0));
        assert_eq!(score(Some(0), "{\"score\": 0.25, \"reason\": \"meh\"}\n"), Some(0.25));
        assert_eq!(score(Some(1), "{\"score\": 1}"), Some(1.0));
        assert_eq!(score(Some(0), "{\"score\": null}"), None);
        assert_eq!(score(Some(2), "{\"score\": 1}"), None);
        assert_eq!(score(None, ""), None);
    }

    #[test]
    fn settings_that_cannot_work_are_refused() {
        refused("command: {command: []}", "no program");
        refused("command: {command: [x], files: [../x]}", "does not lie below");
        refused("command: {command: [x], files: [/x]}", "does not lie below");
    }
}
