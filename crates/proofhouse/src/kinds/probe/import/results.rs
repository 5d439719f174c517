//! What another tool asked, heard and scored, as a suite whose answers and scores are there already.
//!
//! Cases, answers and scores lie beside the suite. A target plays the answers back, a judge for each measure says the score that was
//! given, and the run that comes of it is one like any other: `report`, `diff`, `compare` and `verify` read it.

use std::collections::BTreeMap;

use proofhouse_ledger::Digest;
use serde_json::{Map, Value, json};

use super::write::SuiteText;
use super::{name_of, short, unique};
use crate::spine::import::{Count, Imported, LeftOut};
use crate::text::complaint::Complaint;

/// One question with the answers to it.
#[derive(Debug, Clone, Default)]
pub(super) struct Answered {
    pub(super) id: String,
    pub(super) input: String,
    pub(super) expected: Value,
    pub(super) tags: Vec<String>,
    /// Answers in the order of their repetitions.
    pub(super) answers: Vec<Answer>,
    /// Where it stands first.
    pub(super) line: u64,
}

/// One answer and what it was worth.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    /// Text or structure; null where there is none.
    pub(super) output: Value,
    /// Why there is none.
    pub(super) error: Option<String>,
    /// Measure and score, where there is one.
    pub(super) scores: Vec<(String, Option<f64>)>,
}

/// What a file of results says of itself.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// The tool whose file it is, and the file.
    pub(super) tool: &'static str,
    pub(super) file: String,
    /// What was asked, and of whom.
    pub(super) task: String,
    pub(super) model: String,
    pub(super) answered: Vec<Answered>,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) notes: Vec<String>,
}

impl Results {
    fn leave(&mut self, line: u64, what: String, why: &str) {
        let (file, why) = (self.file.clone(), why.to_owned());
        self.left_out.push(LeftOut { file, line, what, why });
    }

    /// The suite with its cases and answers.
    pub(super) fn suite(mut self) -> Result<Imported, Complaint> {
        let all: u64 = self.answered.iter().map(|one| one.answers.len() as u64).sum::<u64>()
            + self.left_out.len() as u64;
        self.drop_twins();
        let measures = self.measures();
        if self.answered.is_empty() || measures.is_empty() {
            return Err(Complaint::new(format!("`{}` holds no answer with a score from 0 to 1", self.file))
                .hint("a log of results with samples is meant"));
        }
        let repetitions = self.answered.iter().map(|one| one.answers.len()).max().unwrap_or(1);
        let (cases, answers) = self.files(&measures);
        let digest = |text: &str| Digest::of(text.as_bytes()).prefixed();
        let mut suite = SuiteText::default();
        suite.about.push(format!("Imported from {} of {} by `proofhouse import`.", self.file, self.tool));
        suite.about.extend(self.notes.iter().map(|note| format!("Note: {note}.")));
        suite.left_out(&self.left_out);
        suite.set("kind", "probe");
        suite.set("suite_id", name_of(&self.task, "imported"));
        suite.set("title", format!("{} ({})", self.task, self.tool));
        suite.set("template", "jinja");
        suite.set("prompt", "{{ input }}");
        if repetitions > 1 {
            suite.set("repetitions", repetitions as u64);
        }
        let replay = json!({"replay": {"path": "answers.jsonl", "sha256": digest(&answers)}});
        suite.named("targets", vec![(name_of(&self.model, "model"), replay)]);
        suite.set("datasets", json!([{"path": "cases.jsonl", "sha256": digest(&cases)}]));
        let judges = measures.iter().map(|(judge, field, _)| {
            (judge.clone(), json!({"given": {"score": format!("{{{{ {field} }}}}")}}))
        });
        suite.named("judges", judges.collect());
        if measures.len() > 1 {
            let others = measures.iter().skip(1).map(|(judge, _, _)| (judge.clone(), json!(0)));
            suite.set("scoring", json!({"primary": measures[0].0, "weights": others.collect::<Map<_, _>>()}));
        }
        let imported: u64 = self.answered.iter().map(|one| one.answers.len() as u64).sum();
        let files = [("suite.yaml", suite.text()), ("cases.jsonl", cases), ("answers.jsonl", answers)];
        Ok(Imported {
            files: files.into_iter().map(|(name, text)| (name.to_owned(), text.into_bytes())).collect(),
            suites: vec!["suite.yaml".to_owned()],
            answered: true,
            counts: vec![Count { of: "answers", all, imported }],
            left_out: self.left_out,
            notes: self.notes,
        })
    }

    /// Leaves out questions that are asked twice in the same words: answers are found by what was asked.
    fn drop_twins(&mut self) {
        let mut seen: BTreeMap<String, u64> = BTreeMap::new();
        let mut kept: Vec<Answered> = Vec::new();
        let mut ids: BTreeMap<String, ()> = BTreeMap::new();
        for one in std::mem::take(&mut self.answered) {
            match seen.get(&one.input) {
                Some(first) => {
                    let why = format!("the same is asked in line {first}");
                    for _ in &one.answers {
                        self.leave(one.line, format!("answer to `{}`", short(&one.id)), &why);
                    }
                }
                None => {
                    seen.insert(one.input.clone(), one.line);
                    let mut one = one;
                    if ids.insert(one.id.clone(), ()).is_some() {
                        one.id = format!("{} (line {})", one.id, one.line);
                    }
                    kept.push(one);
                }
            }
        }
        self.answered = kept;
    }

    /// Measures whose every score is from 0 to 1: the judge's name, the field of the case, and the measure.
    fn measures(&mut self) -> Vec<(String, String, String)> {
        let mut known: Vec<(String, bool)> = Vec::new();
        let scores = self.answered.iter().flat_map(|one| &one.answers).flat_map(|answer| &answer.scores);
        for (measure, score) in scores {
            let fits = score.is_none_or(|score| (0.0..=1.0).contains(&score));
            match known.iter_mut().find(|(known, _)| known == measure) {
                Some((_, all)) => *all &= fits,
                None => known.push((measure.clone(), fits)),
            }
        }
        let mut measures: Vec<(String, String, String)> = Vec::new();
        for (measure, fits) in known {
            if !fits {
                let note = format!("`{measure}` is left out: a score is from 0 to 1, and this is not");
                self.notes.push(note);
                continue;
            }
            let taken: Vec<String> = measures.iter().map(|(judge, _, _)| judge.clone()).collect();
            let judge = unique(name_of(&measure, "score"), &taken);
            measures.push((judge, format!("score_{}", measures.len() + 1), measure));
        }
        measures
    }

    /// The lines of cases and of answers.
    fn files(&self, measures: &[(String, String, String)]) -> (String, String) {
        let (mut cases, mut answers) = (String::new(), String::new());
        for one in &self.answered {
            let mut row = Map::new();
            row.insert("id".to_owned(), Value::from(one.id.as_str()));
            row.insert("input".to_owned(), Value::from(one.input.as_str()));
            if !one.expected.is_null() {
                row.insert("expected".to_owned(), one.expected.clone());
            }
            if !one.tags.is_empty() {
                row.insert("tags".to_owned(), json!(one.tags));
            }
            for (_, field, measure) in measures {
                let of = |answer: &Answer| {
                    let found = answer.scores.iter().find(|(known, _)| known == measure);
                    found.and_then(|(_, score)| *score).map_or(Value::from(""), Value::from)
                };
                let scores: Vec<Value> = one.answers.iter().map(of).collect();
                row.insert(
                    field.clone(),
                    if let [score] = &scores[..] { score.clone() } else { Value::Array(scores) },
                );
            }
            cases.push_str(&Value::Object(row).to_string());
            cases.push('\n');
            for answer in &one.answers {
                let line = match &answer.error {
                    None => json!({"input": one.input, "output": answer.output}),
                    Some(error) => json!({
                        "input": one.input, "output": null, "status": "error", "error_type": "imported", "error": error,
                    }),
                };
                answers.push_str(&line.to_string());
                answers.push('\n');
            }
        }
        (cases, answers)
    }
}
