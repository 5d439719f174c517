//! The `exit-code` judge.

use proofhouse_ledger::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Judge, Settings, Subject, Verdict};
use crate::text::complaint::Complaint;

/// The program ended with one of these exit codes.
///
/// The answer is a structure with `exit_code`, as targets that run programs give it; `at` names another place. Right codes are
/// `value`, or else the case's `expected`, or else 0; a list holds alternatives.
///
/// Guarantee: an answer without an exit code, because a signal or a limit ended the program or because the target runs none,
/// is wrong where the place holds null, and not judged where there is no such place.
///
/// ```yaml
/// exit-code: {value: [0, 3]}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExitCode {
    /// The right code, or a list of them; without it the case's `expected` counts, and 0 where that is null.
    #[schemars(with = "Option<serde_json::Value>")]
    pub value: Option<Json>,
    /// Where the code is in the answer, as a JSON pointer.
    pub at: String,
}

impl Default for ExitCode {
    fn default() -> Self {
        ExitCode { value: None, at: "/exit_code".to_owned() }
    }
}

impl Settings for ExitCode {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        if !self.at.starts_with('/') {
            return Err(Complaint::new(format!("`{}` is not a JSON pointer", self.at))
                .hint("for example `/exit_code`"));
        }
        if let Some(value) = &self.value {
            codes(value)
                .ok_or_else(|| Complaint::new("`value` is neither a whole number nor a list of such"))?;
        }
        Ok(Box::new(Compiled(self.clone())))
    }

    fn needs_expected(&self) -> bool {
        false
    }
}

fn codes(value: &Json) -> Option<Vec<f64>> {
    let whole = |value: &Json| value.as_f64().filter(|code| code.fract() == 0.0);
    match value {
        Json::Array(list) if !list.is_empty() => list.iter().map(whole).collect(),
        single => whole(single).map(|code| vec![code]),
    }
}

struct Compiled(ExitCode);

impl Judge for Compiled {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let right = match (&self.0.value, subject.expected) {
            (Some(value), _) => codes(value),
            (None, Json::Null) => Some(vec![0.0]),
            (None, expected) => codes(expected),
        };
        let Some(right) = right else {
            return Verdict::unjudged("`expected` is neither a whole number nor a list of such");
        };
        let shown = || right.iter().map(f64::to_string).collect::<Vec<_>>().join(" or ");
        match subject.output.pointer(&self.0.at) {
            Some(Json::Number(code)) if right.contains(code) => Verdict::right(),
            Some(Json::Number(code)) => Verdict::wrong(format!("exit code {code}, expected {}", shown())),
            Some(Json::Null) => Verdict::wrong(format!("no exit code, expected {}", shown())),
            Some(other) => {
                Verdict::unjudged(format!("`{}` holds {}, not a number", self.0.at, other.type_name()))
            }
            None => Verdict::unjudged(format!("the answer has nothing at `{}`", self.0.at)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proofhouse_ledger::json::{Strictness, parse};

    use super::super::tests::{refused, unjudged};
    use super::*;
    use crate::family::judge::JudgeConfig;

    fn score(yaml: &str, expected: &str, output: &str) -> Option<f64> {
        let value = |text: &str| parse(text.as_bytes(), Strictness::Strict).unwrap();
        let judge = serde_saphyr::from_str::<JudgeConfig>(yaml).unwrap().compile().unwrap();
        judge
            .judge(&Subject {
                input: "",
                output: &value(output),
                expected: &value(expected),
                ..Subject::default()
            })
            .score
    }

    #[test]
    fn codes_are_compared() {
        assert_eq!(score("exit-code: {}", "null", r#"{"exit_code":0}"#), Some(1.0));
        assert_eq!(score("exit-code: {}", "null", r#"{"exit_code":1}"#), Some(0.0));
        assert_eq!(score("exit-code: {}", "3", r#"{"exit_code":3}"#), Some(1.0));
        assert_eq!(score("exit-code: {value: [0, 3]}", "7", r#"{"exit_code":3}"#), Some(1.0));
        assert_eq!(score("exit-code: {}", "null", r#"{"exit_code":null}"#), Some(0.0));
        assert_eq!(score("exit-code: {at: /run/code}", "null", r#"{"run":{"code":0}}"#), Some(1.0));
        assert_eq!(score("exit-code: {}", "null", r#"{"exit_code":"0"}"#), None);
        assert_eq!(score("exit-code: {}", "\"x\"", r#"{"exit_code":0}"#), None);
        unjudged("exit-code: {}", "null", "0", "nothing at `/exit_code`");
        refused("exit-code: {value: 0.5}", "neither a whole number");
        refused("exit-code: {at: exit_code}", "not a JSON pointer");
    }
}
