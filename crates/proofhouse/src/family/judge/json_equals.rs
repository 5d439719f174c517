//! The `json-equals` judge.

use proofhouse_ledger::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::extract::{Extract, json_value};
use super::text::{NOTHING_EXPECTED, excerpt};
use super::{Judge, Settings, Subject, Verdict};
use crate::text::complaint::Complaint;

/// The answer is the expected JSON value.
///
/// The value is `value` or else the case's `expected`. An expected text that is itself a JSON object or list, as a
/// csv file has it, counts as that object or list. A list is one value here, never alternatives.
/// The order of keys, white space and the spelling of numbers do not count; text around the answer's value is skipped
/// unless `extract` is `whole`.
///
/// Guarantee: the reason names the first place that differs by its JSON pointer.
///
/// ```yaml
/// json-equals: {pointer: /user, subset: true, abs_tolerance: 0.01}
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct JsonEquals {
    /// The expected value; without it the case's `expected` counts.
    #[schemars(with = "Option<serde_json::Value>")]
    pub value: Option<Json>,
    /// Where in the answer its JSON value is looked for.
    pub extract: Extract,
    /// A JSON pointer (RFC 6901) to the part of the answer that is compared.
    pub pointer: Option<String>,
    /// Keys of the answer's objects that the expected value does not have do not count.
    pub subset: bool,
    /// The order of lists does not count.
    pub ignore_order: bool,
    /// JSON pointers to parts of the compared value that do not count.
    pub ignore: Vec<String>,
    /// How far a number may be off.
    pub abs_tolerance: f64,
}

impl Settings for JsonEquals {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        if !self.abs_tolerance.is_finite() || self.abs_tolerance < 0.0 {
            return Err(
                Complaint::new(format!("`abs_tolerance` is {}", self.abs_tolerance)).hint("it is 0 or more")
            );
        }
        if self.ignore_order && (self.subset || self.abs_tolerance > 0.0) {
            return Err(Complaint::new(
                "`ignore_order` pairs list items that are equal, so it cannot be joined with `subset` or \
                        `abs_tolerance`",
            )
            .hint("use two judges, or compare a part with `pointer`"));
        }
        for pointer in self.pointer.iter().chain(&self.ignore) {
            if !pointer.is_empty() && !pointer.starts_with('/') {
                return Err(Complaint::new(format!("`{pointer}` is not a JSON pointer"))
                    .hint(format!("write `/{pointer}`")));
            }
        }
        let value = self.value.as_ref().map(|value| self.prepare(value));
        Ok(Box::new(Compiled(JsonEquals { value, ..self.clone() })))
    }

    fn needs_expected(&self) -> bool {
        self.value.is_none()
    }
}

impl JsonEquals {
    /// The expected value as it is compared: parsed out of its text, lists in their canonical order if that is asked.
    fn prepare(&self, value: &Json) -> Json {
        let parsed = match value {
            Json::String(text) => json_value(value, Extract::Whole)
                .ok()
                .filter(|parsed| matches!(**parsed, Json::Array(_) | Json::Object(_)))
                .map_or_else(|| Json::from(text.as_str()), |parsed| parsed.into_owned()),
            other => other.clone(),
        };
        if self.ignore_order { sorted(parsed) } else { parsed }
    }
}

struct Compiled(JsonEquals);

impl Judge for Compiled {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let from_case;
        let expected = match (&self.0.value, subject.expected) {
            (Some(own), _) => own,
            (None, Json::Null) => return Verdict::unjudged(NOTHING_EXPECTED),
            (None, value) => {
                from_case = self.0.prepare(value);
                &from_case
            }
        };
        let whole = match json_value(subject.output, self.0.extract) {
            Ok(value) => value,
            Err(reason) => return Verdict::wrong(reason),
        };
        let pointer = self.0.pointer.as_deref().unwrap_or_default();
        let Some(answer) = whole.pointer(pointer) else {
            return Verdict::wrong(format!("the answer has nothing at `{pointer}`"));
        };
        let ordered;
        let answer = if self.0.ignore_order {
            ordered = sorted(answer.clone());
            &ordered
        } else {
            answer
        };
        match (Comparison { settings: &self.0, path: String::new() }).difference(expected, answer) {
            None => Verdict::right(),
            Some(reason) => Verdict::wrong(reason),
        }
    }
}

/// The same value with every list in the order of its items' canonical text.
fn sorted(value: Json) -> Json {
    match value {
        Json::Array(list) => {
            let mut list: Vec<Json> = list.into_iter().map(sorted).collect();
            list.sort_by_cached_key(Json::to_string);
            Json::Array(list)
        }
        Json::Object(object) => {
            Json::Object(object.iter().map(|(key, item)| (key, sorted(item.clone()))).collect())
        }
        scalar => scalar,
    }
}

struct Comparison<'a> {
    settings: &'a JsonEquals,
    path: String,
}

impl Comparison<'_> {
    /// What differs first, in the order of the expected value.
    fn difference(&mut self, expected: &Json, answer: &Json) -> Option<String> {
        if self.settings.ignore.contains(&self.path) {
            return None;
        }
        match (expected, answer) {
            (Json::Object(_), Json::Object(_)) => self.in_objects(expected, answer),
            (Json::Array(wanted), Json::Array(given)) => {
                let items = wanted.iter().zip(given).enumerate();
                for (at, (wanted, given)) in items {
                    if let Some(found) =
                        self.below(&at.to_string(), |deeper| deeper.difference(wanted, given))
                    {
                        return Some(found);
                    }
                }
                (wanted.len() != given.len())
                    .then(|| self.report(&format!("{} items", wanted.len()), &given.len().to_string()))
            }
            (Json::Number(wanted), Json::Number(given))
                if (wanted - given).abs() <= self.settings.abs_tolerance =>
            {
                None
            }
            (wanted, given) if wanted == given => None,
            (wanted, given) => Some(self.report(&short(wanted), &short(given))),
        }
    }

    fn in_objects(&mut self, expected: &Json, answer: &Json) -> Option<String> {
        let (Json::Object(wanted), Json::Object(given)) = (expected, answer) else { return None };
        for (key, value) in wanted.iter() {
            let found = self.below(key, |deeper| match given.get(key) {
                Some(other) => deeper.difference(value, other),
                None if deeper.settings.ignore.contains(&deeper.path) => None,
                None => Some(deeper.report(&short(value), "nothing")),
            });
            if found.is_some() {
                return found;
            }
        }
        if self.settings.subset {
            return None;
        }
        given.iter().filter(|(key, _)| wanted.get(key).is_none()).find_map(|(key, value)| {
            self.below(key, |deeper| {
                let ignored = deeper.settings.ignore.contains(&deeper.path);
                (!ignored).then(|| deeper.report("nothing", &short(value)))
            })
        })
    }

    fn below<T>(&mut self, key: &str, look: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        self.path.push('/');
        self.path.push_str(&key.replace('~', "~0").replace('/', "~1"));
        let found = look(self);
        self.path.truncate(length);
        found
    }

    fn report(&self, wanted: &str, given: &str) -> String {
        let place = if self.path.is_empty() { String::new() } else { format!(" at {}", excerpt(&self.path)) };
        format!("expected {wanted}, got {given}{place}")
    }
}

/// A value in a reason: scalars in short, structures by their type alone, because they may be huge.
fn short(value: &Json) -> String {
    match value {
        Json::Array(list) => format!("a list of {}", list.len()),
        Json::Object(object) => format!("an object of {}", object.len()),
        Json::String(text) => format!("text {}", excerpt(text)),
        scalar => scalar.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, reason, refused, unjudged};

    const SAME: &str = "json-equals: {}";

    #[test]
    fn spelling_does_not_count_and_content_does() {
        check(SAME, r#"{"a":1,"b":[1,2]}"#, "{ \"b\": [1.0, 2e0],\n \"a\": 1 }", 1.0);
        check(SAME, r#"{"a":1}"#, "Here:\n```json\n{\"a\":1}\n```", 1.0);
        check(SAME, r#"{"a":1}"#, r#"{"a":"1"}"#, 0.0);
        check(SAME, r#"{"a":1}"#, r#"{"a":1,"b":2}"#, 0.0);
        check(SAME, "[1,2]", "[2,1]", 0.0);
        check(SAME, "\"hello\"", "\"hello\"", 1.0);
        check(SAME, "5", "5.0", 1.0);
        check(SAME, r#""{\"a\":1}""#, "{\"a\": 1}", 1.0);
        check("json-equals: {extract: whole}", r#"{"a":1}"#, "it is {\"a\":1}", 0.0);
        check("json-equals: {value: {a: [1, null]}}", "null", r#"{"a":[1,null]}"#, 1.0);
    }

    #[test]
    fn each_setting() {
        check("json-equals: {subset: true}", r#"{"a":{"b":1}}"#, r#"{"a":{"b":1,"c":2},"d":3}"#, 1.0);
        check("json-equals: {subset: true}", r#"{"a":{"b":1}}"#, r#"{"a":{"c":2}}"#, 0.0);
        check("json-equals: {ignore_order: true}", r#"[{"a":[1,2]},3]"#, r#"[3,{"a":[2,1]}]"#, 1.0);
        check("json-equals: {ignore_order: true}", "[1,1,2]", "[1,2,2]", 0.0);
        check("json-equals: {ignore: [/id, /at/0]}", r#"{"id":1,"at":[1,2]}"#, r#"{"at":[9,2]}"#, 1.0);
        check("json-equals: {ignore: [/id]}", r#"{"x":1}"#, r#"{"id":1,"x":1}"#, 1.0);
        check("json-equals: {pointer: /a/0}", "7", r#"{"a":[7,8]}"#, 1.0);
        check("json-equals: {pointer: /a/5}", "7", r#"{"a":[7,8]}"#, 0.0);
        check("json-equals: {abs_tolerance: 0.1}", "[1.0]", "[1.09]", 1.0);
        check("json-equals: {abs_tolerance: 0.1}", "[1.0]", "[1.2]", 0.0);
    }

    #[test]
    fn reasons_name_the_first_difference() {
        let expected = r#"{"a":{"b/c":[1,2]}}"#;
        assert_eq!(reason(SAME, expected, r#"{"a":{"b/c":[1,3]}}"#), "expected 2, got 3 at `/a/b~1c/1`");
        assert_eq!(reason(SAME, expected, r#"{"a":{"b/c":[1]}}"#), "expected 2 items, got 1 at `/a/b~1c`");
        assert_eq!(reason(SAME, expected, r#"{"a":{}}"#), "expected a list of 2, got nothing at `/a/b~1c`");
        assert_eq!(reason(SAME, expected, r#"{"a":{"b/c":[1,2]},"x":0}"#), "expected nothing, got 0 at `/x`");
        assert_eq!(reason(SAME, expected, "dunno"), "there is no JSON value in `dunno`");
        assert_eq!(reason(SAME, "1", "9007199254740993"), "expected 1, got text `9007199254740993`");
    }

    #[test]
    fn empty_missing_and_faulty() {
        check(SAME, r#"{"a":1}"#, "", 0.0);
        unjudged(SAME, "null", "{}", "no `expected`");
        refused("json-equals: {abs_tolerance: -1}", "0 or more");
        refused("json-equals: {ignore_order: true, subset: true}", "cannot be joined");
        refused("json-equals: {pointer: a}", "write `/a`");
    }
}
