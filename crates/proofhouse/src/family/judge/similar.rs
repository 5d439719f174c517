//! The `similar` judge.

use proofhouse_ledger::{Digest, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::{Folding, Texts, excerpt};
use super::{Advice, Help, Judge, Question, Settings, Subject, Verdict};
use crate::family::target::{Chat, Outcome, TargetConfig};
use crate::text::complaint::Complaint;

/// How much of an answer is embedded.
const MAX_CHARS: usize = 40_000;

/// How many expected texts an answer is compared with.
const MAX_TEXTS: usize = 100;

/// The answer means the same as the expected text, by the cosine of their embeddings.
///
/// `model` is a target that answers a text with a list of numbers: an endpoint of embeddings by `http`, a `plugin`, or without any
/// network `vectors`, which reads a file of word vectors. The expected text is `value` or else the case's `expected`; of a list the most
/// similar one counts. The score is 1 where the cosine reaches `min_similarity`, else 0, and the reason names it.
///
/// Guarantee: a text without an embedding, or embeddings of different lengths, leave the answer unjudged. Model and limit are part of the
/// run's identity; `--record` keeps the embeddings for `--replay`.
///
/// ```yaml
/// similar:
///   min_similarity: 0.8
///   model:
///     http:
///       url: http://127.0.0.1:8080/v1/embeddings
///       request: {model: all-minilm, input: "{input}"}
///       answer: /data/0/embedding
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Similar {
    /// The expected text, or a list of alternatives; without it the case's `expected` counts.
    #[serde(default)]
    #[schemars(with = "Option<serde_json::Value>")]
    pub value: Option<Json>,
    /// The cosine, from 0 to 1, from which an answer is right.
    #[serde(default = "usual")]
    pub min_similarity: f64,
    /// Who turns a text into a list of numbers.
    pub model: Box<TargetConfig>,
}

fn usual() -> f64 {
    0.75
}

impl Settings for Similar {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        if !(0.0..=1.0).contains(&self.min_similarity) {
            return Err(Complaint::new(format!("`min_similarity` is {}", self.min_similarity))
                .hint("it is from 0 to 1"));
        }
        if let Some(complaint) = self.model.check().into_iter().next() {
            return Err(Complaint { at: Vec::new(), ..complaint.about("model:") });
        }
        let texts = Texts::new(self.value.as_ref(), Folding::default())?;
        Ok(Box::new(Compiled { settings: self.clone(), texts }))
    }

    fn needs_expected(&self) -> bool {
        self.value.is_none()
    }
}

struct Compiled {
    settings: Similar,
    texts: Texts,
}

impl Compiled {
    /// What has to be embedded: the answer, then what it is compared with.
    fn asked(&self, subject: &Subject<'_>) -> Result<Vec<String>, Complaint> {
        let answer = subject.text().into_owned();
        if answer.trim().is_empty() {
            return Err(Complaint::new("the answer is empty"));
        }
        if answer.chars().nth(MAX_CHARS).is_some() {
            return Err(Complaint::new(format!("the answer is longer than {MAX_CHARS} characters")));
        }
        let wanted = self.texts.of(subject)?;
        if wanted.iter().any(|text| text.trim().is_empty()) || wanted.len() > MAX_TEXTS {
            return Err(Complaint::new(format!("expected are 1 to {MAX_TEXTS} texts that are not empty")));
        }
        Ok(std::iter::once(answer).chain(wanted.iter().map(ToString::to_string)).collect())
    }
}

impl Judge for Compiled {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        match self.asked(subject) {
            Err(complaint) => Verdict::unjudged(complaint.what),
            Ok(_) => Verdict::unjudged("no model was asked"),
        }
    }

    fn help(&self) -> Option<Help> {
        Some(Help::Models(vec![("model".to_owned(), TargetConfig::clone(&self.settings.model))]))
    }

    fn asks(&self, subject: &Subject<'_>) -> Vec<Question> {
        let question = |text: String| {
            let digest = Digest::of(text.as_bytes());
            let seed = u64::from_le_bytes(digest.0[..8].try_into().expect("eight of thirty-two bytes"));
            Question::Model(0, Chat::ask(text, seed, 0))
        };
        self.asked(subject).unwrap_or_default().into_iter().map(question).collect()
    }

    fn judge_with(&self, subject: &Subject<'_>, advice: &[Advice]) -> Verdict {
        let asked = match self.asked(subject) {
            Err(complaint) if subject.text().trim().is_empty() => return Verdict::wrong(complaint.what),
            Err(complaint) => return Verdict::unjudged(complaint.what),
            Ok(asked) => asked,
        };
        let found: Result<Vec<Vec<f64>>, Complaint> = advice.iter().map(embedding).collect();
        let found = match found {
            Err(complaint) => return Verdict::unjudged(complaint.what),
            Ok(found) if found.len() != asked.len() => {
                return Verdict::unjudged("not every text was embedded");
            }
            Ok(found) => found,
        };
        let (answer, wanted) = (&found[0], &found[1..]);
        let mut best: Option<(f64, usize)> = None;
        for (at, vector) in wanted.iter().enumerate() {
            match cosine(answer, vector) {
                Err(complaint) => return Verdict::unjudged(complaint.what),
                Ok(cosine) => best = best.filter(|(known, _)| *known >= cosine).or(Some((cosine, at))),
            }
        }
        let Some((cosine, at)) = best else { return Verdict::unjudged("nothing to compare with") };
        let least = self.settings.min_similarity;
        let said = || format!("the similarity to {} is {cosine:.4}, below {least}", excerpt(&asked[at + 1]));
        Verdict::of(cosine >= least, said).explained(said)
    }
}

/// The numbers that a model answered with.
fn embedding(advice: &Advice) -> Result<Vec<f64>, Complaint> {
    let Advice::Reply(reply) = advice else { return Err(Complaint::new("no model was asked")) };
    if !matches!(reply.outcome, Outcome::Answered) {
        let (error_type, why) = reply.outcome.explained();
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        return Err(Complaint::new(format!("no embedding ({}){why}", error_type.unwrap_or("nothing"))));
    }
    let numbers = match &reply.output {
        Some(Json::Array(list)) if !list.is_empty() => {
            list.iter().map(Json::as_f64).collect::<Option<Vec<f64>>>()
        }
        _ => None,
    };
    numbers.ok_or_else(|| Complaint::new("the model answered with something else than a list of numbers"))
}

fn cosine(a: &[f64], b: &[f64]) -> Result<f64, Complaint> {
    if a.len() != b.len() {
        return Err(Complaint::new(format!("embeddings of {} and of {} numbers", a.len(), b.len())));
    }
    let dot: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let cosine = dot / (length(a) * length(b));
    match cosine.is_finite() {
        true => Ok(cosine.clamp(-1.0, 1.0)),
        false => Err(Complaint::new("an embedding has no direction")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::refused;
    use super::*;
    use crate::family::judge::JudgeConfig;
    use crate::family::target::Reply;

    fn reply(output: Json) -> Advice {
        Advice::Reply(Box::new(Reply::new(Outcome::Answered, Some(output))))
    }

    fn vector(numbers: &[f64]) -> Advice {
        reply(Json::Array(numbers.iter().map(|number| Json::Number(*number)).collect()))
    }

    fn verdict(settings: &str, output: &str, advice: &[Advice]) -> Verdict {
        let yaml = format!("similar: {{model: {{scripted: {{}}}}, {settings}}}");
        let judge = serde_saphyr::from_str::<JudgeConfig>(&yaml).unwrap().compile().unwrap();
        let (output, expected) = (Json::from(output), Json::from("it is wet"));
        let subject = Subject { output: &output, expected: &expected, ..Subject::default() };
        assert!(judge.asks(&subject).len() <= 3);
        judge.judge_with(&subject, advice)
    }

    #[test]
    fn the_cosine_decides() {
        let check = |settings: &str, advice: &[Advice], score: Option<f64>, why: &str| {
            let verdict = verdict(settings, "it rains", advice);
            assert_eq!(verdict.score, score, "{verdict:?}");
            assert!(verdict.explanation().unwrap_or_default().contains(why), "{verdict:?}");
        };
        let (x, y, xy) = ([1.0, 0.0], [0.0, 2.0], [3.0, 3.0]);
        check("min_similarity: 0.7", &[vector(&x), vector(&xy)], Some(1.0), "`it is wet` is 0.7071");
        check("min_similarity: 0.8", &[vector(&x), vector(&xy)], Some(0.0), "0.7071, below 0.8");
        check("value: [a b, c d]", &[vector(&x), vector(&y), vector(&x)], Some(1.0), "`c d` is 1.0000");
        check("min_similarity: 0", &[vector(&x), vector(&[1.0])], None, "of 2 and of 1 numbers");
        check("min_similarity: 0", &[vector(&x), vector(&[0.0, 0.0])], None, "no direction");
        check("min_similarity: 0", &[vector(&x), reply(Json::from("no"))], None, "list of numbers");
        check("min_similarity: 0", &[vector(&x)], None, "not every text");
        let down = Advice::Reply(Box::new(Reply::failed("connection", "refused")));
        check("min_similarity: 0", &[vector(&x), down], None, "connection");
        assert_eq!(verdict("min_similarity: 0", " ", &[]).score, Some(0.0));
    }

    #[test]
    fn settings_that_cannot_work_are_refused() {
        refused("similar: {min_similarity: 2, model: {scripted: {}}}", "`min_similarity` is 2");
        refused("similar: {model: {openai: {model: m, api_key: x}}}", "no place for a key");
    }
}
