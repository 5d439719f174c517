//! Judges whose own values are filled from the case: `contains: {value: "{{ keyword }}"}`.

use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Object, to_json};

use super::{Advice, Help, Judge, JudgeConfig, Question, Subject, Verdict, Weighs};
use crate::text::complaint::Complaint;
use crate::text::template::{Form, Template, is_jinja};

/// Fields that only a trial has, and that prompts of judges may name beside those of the case.
pub const OWN_FIELDS: &[&str] = &["criterion", "input", "expected", "output", "mark"];

/// Settings that are no values of the judge's own: a rubric fills its prompt itself, and its models are targets.
const NOT_VALUES: [&str; 3] = ["model", "models", "prompt"];

/// All texts of a judge's settings that have holes.
pub fn templates(config: &Json) -> Vec<String> {
    match config {
        Json::String(text) if is_jinja(text) => vec![text.clone()],
        Json::Array(list) => list.iter().flat_map(templates).collect(),
        Json::Object(object) => {
            let values = object.iter().filter(|(key, _)| !NOT_VALUES.contains(key));
            values.flat_map(|(_, value)| templates(value)).collect()
        }
        _ => Vec::new(),
    }
}

/// The judge of some settings; one that is filled for every case where they have holes.
pub(super) fn compile(config: &JudgeConfig) -> Result<Box<dyn Judge>, Complaint> {
    let settings = to_json(config).map_err(Complaint::of)?;
    if templates(&settings).is_empty() {
        return config.compile();
    }
    Ok(Box::new(Templated { plain: config.compile()?, settings }))
}

struct Templated {
    /// As it is without a case: whom it asks does not depend on one.
    plain: Box<dyn Judge>,
    settings: Json,
}

impl Templated {
    fn of(&self, subject: &Subject<'_>) -> Result<Box<dyn Judge>, Complaint> {
        let empty = Object::new();
        let filled = fill(&self.settings, subject.fields.unwrap_or(&empty))?;
        let config: JudgeConfig = serde_json::from_str(&filled.to_string()).map_err(Complaint::of)?;
        config.compile()
    }
}

fn fill(value: &Json, fields: &Object) -> Result<Json, Complaint> {
    Ok(match value {
        Json::String(text) if is_jinja(text) => {
            let template = Template::parse_as(text, Some(Form::Jinja)).map_err(Complaint::of)?;
            let mut out = String::new();
            template.render(&mut out, &|name| fields.get(name)).map_err(Complaint::of)?;
            Json::String(out)
        }
        Json::Array(list) => {
            Json::Array(list.iter().map(|item| fill(item, fields)).collect::<Result<_, _>>()?)
        }
        Json::Object(object) => {
            let filled = object.iter().map(|(key, item)| {
                let own = NOT_VALUES.contains(&key);
                Ok((key, if own { item.clone() } else { fill(item, fields)? }))
            });
            Json::Object(filled.collect::<Result<_, Complaint>>()?)
        }
        other => other.clone(),
    })
}

impl Judge for Templated {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        match self.of(subject) {
            Ok(judge) => judge.judge(subject),
            Err(complaint) => Verdict::unjudged(complaint.what),
        }
    }

    fn help(&self) -> Option<Help> {
        self.plain.help()
    }

    fn weighs(&self) -> Weighs {
        self.plain.weighs()
    }

    fn asks(&self, subject: &Subject<'_>) -> Vec<Question> {
        self.of(subject).map(|judge| judge.asks(subject)).unwrap_or_default()
    }

    fn judge_with(&self, subject: &Subject<'_>, advice: &[Advice]) -> Verdict {
        match self.of(subject) {
            Ok(judge) => judge.judge_with(subject, advice),
            Err(complaint) => Verdict::unjudged(complaint.what),
        }
    }

    fn said(&self, advice: &[Advice]) -> Vec<(String, Option<f64>, Option<String>)> {
        self.plain.said(advice)
    }
}

#[cfg(test)]
mod tests {
    use proofhouse_ledger::json::{Strictness, parse};

    use super::*;

    #[test]
    fn values_of_a_judge_are_filled_from_the_case() {
        let config: JudgeConfig = serde_saphyr::from_str("contains: {value: '{{ word | upper }}'}").unwrap();
        let judge = compile(&config).unwrap();
        let row = parse(br#"{"word":"paris"}"#, Strictness::Strict).unwrap();
        let output = Json::from("It is PARIS.");
        let mut subject = Subject { output: &output, fields: row.as_object(), ..Subject::default() };
        assert_eq!(judge.judge(&subject).score, Some(1.0));
        subject.fields = None;
        let verdict = judge.judge(&subject);
        assert_eq!(verdict.error.as_deref(), Some("nothing fills `word`"), "{verdict:?}");
    }
}
