//! The `tool-calls` judge.

use proofhouse_ledger::Json;
use proofhouse_ledger::json::Object;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Judge, Settings, Subject, Verdict};
use crate::text::complaint::Complaint;

/// The answer calls the right tools with the right arguments.
///
/// What is expected is `calls` or else the case's `expected`: a list of `{name, args}`, or a name alone where the arguments do not
/// matter. Of the arguments only those that are named are compared, unless `exact_args` is set; numbers and texts are equal where
/// their JSON is. `order: same` asks for the calls in this order, `extra: refuse` for no other call.
///
/// Guarantee: a score of 1 means that each expected call stands in the answer, each matched by a call of its own; an answer without
/// any call is wrong where one is expected.
///
/// ```yaml
/// tool-calls: {calls: [{name: search, args: {query: weather in Paris}}], order: same, extra: refuse}
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ToolCalls {
    /// The calls; without them the case's `expected` counts.
    #[schemars(with = "Option<serde_json::Value>")]
    pub calls: Option<Json>,
    /// Whether they have to come in this order.
    pub order: Order,
    /// Whether there may be other calls.
    pub extra: Extra,
    /// Whether a call may have no other arguments.
    pub exact_args: bool,
}

/// Whether the order of calls counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Any order.
    #[default]
    Any,
    /// The order in which they are expected.
    Same,
}

/// What other calls mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Extra {
    /// They do not matter.
    #[default]
    Allow,
    /// They are wrong.
    Refuse,
}

#[derive(Debug, Clone)]
struct Wanted {
    name: String,
    args: Option<Object>,
}

fn wanted(value: &Json) -> Result<Vec<Wanted>, Complaint> {
    let wrong = || {
        Complaint::new("calls are a list of names, or of `{name, args}`")
            .hint("for example `[{name: search, args: {query: Paris}}]`")
    };
    let one = |value: &Json| match value {
        Json::String(name) => Ok(Wanted { name: name.clone(), args: None }),
        Json::Object(call) => {
            let name = call.get("name").and_then(Json::as_str).ok_or_else(wrong)?.to_owned();
            if call.iter().any(|(key, _)| !matches!(key, "name" | "args")) {
                return Err(wrong());
            }
            match call.get("args") {
                None | Some(Json::Null) => Ok(Wanted { name, args: None }),
                Some(Json::Object(args)) => Ok(Wanted { name, args: Some(args.clone()) }),
                Some(_) => Err(wrong()),
            }
        }
        _ => Err(wrong()),
    };
    match value {
        Json::Array(list) => list.iter().map(one).collect(),
        other => one(other).map(|call| vec![call]),
    }
}

impl Settings for ToolCalls {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        let own = self.calls.as_ref().map(wanted).transpose()?;
        Ok(Box::new(Compiled { settings: self.clone(), own }))
    }

    fn needs_expected(&self) -> bool {
        self.calls.is_none()
    }
}

struct Compiled {
    settings: ToolCalls,
    own: Option<Vec<Wanted>>,
}

impl Compiled {
    fn fits(&self, wanted: &Wanted, call: &Json) -> bool {
        if call.get("name").and_then(Json::as_str) != Some(&wanted.name) {
            return false;
        }
        let Some(expected) = &wanted.args else { return true };
        let Some(args) = call.get("args").and_then(Json::as_object) else { return false };
        let all = expected.iter().all(|(key, value)| args.get(key) == Some(value));
        all && (!self.settings.exact_args || args.len() == expected.len())
    }

    /// For each expected call the call that it is matched with; in any order, the most that can be matched.
    fn matched(&self, wanted: &[Wanted], calls: &[Json]) -> Vec<Option<usize>> {
        if self.settings.order == Order::Same {
            let mut from = 0;
            let next = wanted.iter().map(|wanted| {
                let at = (from..calls.len()).find(|at| self.fits(wanted, &calls[*at]))?;
                from = at + 1;
                Some(at)
            });
            return next.collect();
        }
        // Augmenting paths: a call that fits two expectations goes where it is needed.
        let mut taken: Vec<Option<usize>> = vec![None; calls.len()];
        for at in 0..wanted.len() {
            self.place(at, wanted, calls, &mut taken, &mut vec![false; calls.len()]);
        }
        let owner = |want: usize| taken.iter().position(|owner| *owner == Some(want));
        (0..wanted.len()).map(owner).collect()
    }

    fn place(
        &self,
        want: usize,
        wanted: &[Wanted],
        calls: &[Json],
        taken: &mut [Option<usize>],
        seen: &mut Vec<bool>,
    ) -> bool {
        for at in 0..calls.len() {
            if seen[at] || !self.fits(&wanted[want], &calls[at]) {
                continue;
            }
            seen[at] = true;
            if taken[at].is_none_or(|owner| self.place(owner, wanted, calls, taken, seen)) {
                taken[at] = Some(want);
                return true;
            }
        }
        false
    }
}

/// Calls at most that are compared.
const MAX_CALLS: usize = 256;

impl Judge for Compiled {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let wanted = match (&self.own, subject.expected) {
            (Some(own), _) => own.clone(),
            (None, Json::Null) => {
                return Verdict::unjudged("the case has no `expected` and the judge no `calls`");
            }
            (None, expected) => match wanted(expected) {
                Ok(wanted) => wanted,
                Err(complaint) => return Verdict::unjudged(complaint.what),
            },
        };
        let calls = match subject.output.get("tool_calls") {
            Some(Json::Array(calls)) => calls.as_slice(),
            _ => &[],
        };
        if calls.len() > MAX_CALLS || wanted.len() > MAX_CALLS {
            return Verdict::unjudged(format!("more than {MAX_CALLS} calls are not compared"));
        }
        let named = || match calls.is_empty() {
            true => "no tool was called".to_owned(),
            false => {
                let names = calls.iter().map(|call| call.get("name").map(Json::to_text).unwrap_or_default());
                format!("the calls are {}", names.collect::<Vec<_>>().join(", "))
            }
        };
        let matched = self.matched(&wanted, calls);
        if let Some(at) = matched.iter().position(Option::is_none) {
            let Wanted { name, args } = &wanted[at];
            let args = args
                .as_ref()
                .map_or_else(String::new, |args| format!(" with {}", Json::Object(args.clone())));
            return Verdict::wrong(format!("no call of `{name}`{args} where it is expected; {}", named()));
        }
        let other = self.settings.extra == Extra::Refuse && calls.len() > wanted.len();
        Verdict::of(!other, || {
            format!("{} calls where {} are expected; {}", calls.len(), wanted.len(), named())
        })
    }
}

#[cfg(test)]
mod tests {
    use proofhouse_ledger::json::{Strictness, parse};

    use super::super::tests::{refused, unjudged};
    use super::super::{JudgeConfig, Subject};

    fn score(judge: &str, expected: &str, output: &str) -> Option<f64> {
        let config: JudgeConfig = serde_saphyr::from_str(judge).unwrap();
        let json = |text: &str| parse(text.as_bytes(), Strictness::Strict).unwrap();
        let (expected, output) = (json(expected), json(output));
        let subject = Subject { output: &output, expected: &expected, ..Subject::default() };
        config.compile().unwrap().judge(&subject).score
    }

    const TWO: &str = r#"{"content":null,"tool_calls":[{"name":"look","args":{"at":1,"far":true}},{"name":"go","args":{"to":"x"}}]}"#;

    #[test]
    fn names_arguments_and_order_are_judged() {
        assert_eq!(score("tool-calls: {}", r#"["go","look"]"#, TWO), Some(1.0));
        assert_eq!(score("tool-calls: {order: same}", r#"["go","look"]"#, TWO), Some(0.0));
        assert_eq!(score("tool-calls: {order: same}", r#"["look","go"]"#, TWO), Some(1.0));
        assert_eq!(score("tool-calls: {}", r#"[{"name":"look","args":{"at":1}}]"#, TWO), Some(1.0));
        assert_eq!(
            score("tool-calls: {exact_args: true}", r#"[{"name":"look","args":{"at":1}}]"#, TWO),
            Some(0.0)
        );
        assert_eq!(score("tool-calls: {}", r#"[{"name":"look","args":{"at":2}}]"#, TWO), Some(0.0));
        assert_eq!(score("tool-calls: {extra: refuse}", r#"["look"]"#, TWO), Some(0.0));
        assert_eq!(score("tool-calls: {extra: refuse}", "[]", "\"just text\""), Some(1.0));
        assert_eq!(
            score("tool-calls: {}", r#"["look","look"]"#, TWO),
            Some(0.0),
            "each call is matched once"
        );
        assert_eq!(score("tool-calls: {}", r#""look""#, "\"I would look\""), Some(0.0));
        refused("tool-calls: {calls: 3}", "calls are a list");
        unjudged("tool-calls: {}", "null", "x", "no `calls`");
    }

    #[test]
    fn a_call_that_fits_two_expectations_goes_where_it_is_needed() {
        let output = r#"{"tool_calls":[{"name":"f","args":{"a":1}},{"name":"f","args":{}}]}"#;
        assert_eq!(score("tool-calls: {}", r#"["f",{"name":"f","args":{"a":1}}]"#, output), Some(1.0));
    }
}
