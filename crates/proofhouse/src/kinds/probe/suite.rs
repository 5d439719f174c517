//! `probe` suites: targets × cases × judges × repetitions.

use std::sync::Arc;

use proofhouse_ledger::json::Object;
use proofhouse_ledger::record::Kind;
use proofhouse_ledger::{Digest, Json};

use super::file::{ProbeFile, ScoringFile};
use super::metrics::METRICS;
use crate::family::judge::{self, JudgeConfig, Panel};
use crate::spine::suite::cases::{CaseRules, CaseStream, Checked, Inputs};
use crate::spine::suite::check::{Checker, Common};
use crate::spine::suite::dataset::Dataset;
use crate::spine::suite::file::{Fields, Format};
use crate::spine::suite::identity::{json, named};
use crate::spine::suite::kind::{Loading, Read};
use crate::spine::suite::load::{DatasetFacts, in_order};
use crate::spine::suite::paths;
use crate::spine::suite::problem::{Code, Problems, did_you_mean, listed, quoted};
use crate::spine::suite::scan::Scan;
use crate::spine::suite::tree::Step;
use crate::spine::suite::wordings::{self, Wordings};
use crate::text::complaint::Complaint;

/// The name that means the weighted mean, and so no judge.
const WEIGHTED_MEAN: &str = "weighted_mean";

/// What a `probe` suite adds.
#[derive(Debug, Clone)]
pub struct Probe {
    /// How often each case is put to each target.
    pub repetitions: u32,
    /// What a target is asked, as it was written.
    pub prompt: String,
    /// Judges by name, in the order of the suite.
    pub judges: Vec<(String, JudgeConfig)>,
    /// How scores become a verdict.
    pub scoring: Scoring,
    /// Other wordings of every case.
    pub wordings: Wordings,
    pub(crate) inputs: Arc<Inputs>,
    pub(crate) case_count: u64,
}

impl Probe {
    /// The name of the score that decides.
    pub fn primary_metric(&self) -> &str {
        match self.scoring.primary {
            Primary::Judge(at) => &self.judges[at].0,
            Primary::WeightedMean => "weighted_mean",
        }
    }

    /// The judges, compiled.
    pub fn panel(&self) -> Result<Panel, Complaint> {
        let names = self.judges.iter().map(|(name, _)| name.clone());
        let scoring = judge::Scoring {
            weights: names.zip(self.scoring.weights.iter().copied()).collect(),
            primary: match self.scoring.primary {
                Primary::Judge(at) => Some(self.judges[at].0.clone()),
                Primary::WeightedMean => None,
            },
            threshold: self.scoring.threshold,
        };
        Panel::new(&self.judges, &scoring)
    }

    /// Whether a judge runs programs in the sandbox.
    pub fn runs_programs(&self) -> bool {
        let runs =
            |panel: Panel| panel.help().iter().any(|(_, help)| matches!(help, judge::Help::Command(_)));
        self.panel().is_ok_and(runs)
    }

    /// All cases, in a second pass over the datasets; the stream's own errors say that one changed meanwhile.
    pub fn cases(&self) -> CaseStream {
        CaseStream::new(Arc::clone(&self.inputs), self.case_count)
    }

    /// Every setting that took effect, for the run's identity.
    fn settings(&self) -> Object {
        let mut settings = Object::new();
        let names = || self.judges.iter().map(|(name, _)| name.as_str());
        let weights = names().zip(&self.scoring.weights).map(|(name, weight)| (name, json(weight)));
        let scoring = Object::from_iter([
            ("primary", Json::from(self.primary_metric())),
            ("threshold", json(&self.scoring.threshold)),
            ("weights", Json::Object(weights.collect())),
        ]);
        let cases = self.inputs.inline.iter().map(|case| Json::Object(case.clone()));
        settings.set("cases", Json::Array(cases.collect()));
        settings.set("judges", named("name", &self.judges));
        settings.set("prompt", self.prompt.as_str());
        settings.set("repetitions", self.repetitions);
        settings.set("scoring", Json::Object(scoring));
        if self.wordings.per_case() > 1 {
            settings.set("vary", self.wordings.settings());
        }
        settings
    }
}

/// How scores become a verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Scoring {
    /// One weight per judge, in the order of `judges`.
    pub weights: Vec<f64>,
    /// The primary score from which a trial passes.
    pub threshold: f64,
    /// The score that decides.
    pub primary: Primary,
}

/// The score that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Primary {
    /// That of one judge, by its index.
    Judge(usize),
    /// The weighted mean of all judges of the case.
    WeightedMean,
}

/// Reads a `probe` suite and all of its cases once.
pub(crate) fn read(loading: &Loading<'_>) -> Result<Read<Probe>, Problems> {
    let (file, mut checker, mut warnings) = loading.file::<ProbeFile>()?;
    let well_read = checker.problems.is_empty();
    check(&mut checker, &file);
    let scoring = scoring(&mut checker, &file, &file.scoring);
    let template = checker.template(&file.prompt);
    loading.check_overrides(&mut checker);
    let own_seed = loading.overrides.seed.unwrap_or(file.seed.0);
    let wordings = wordings::read(&mut checker, &file.vary, own_seed);
    let datasets = find_datasets(&mut checker, &file, loading);
    let rules = template.map(|prompt| CaseRules {
        prompt,
        judges: file.judges.0.iter().map(|(name, _)| name.clone()).collect(),
        needs_expected: file.judges.0.iter().map(|(_, judge)| judge.needs_expected()).collect(),
    });
    let common = common(&file);
    checker.common(&common);
    // Rows are read with the prompt and the fields that are known to be right, or not at all.
    let (Some(rules), true) = (rules, well_read) else { return Err(in_order(checker.problems)) };
    let inline: Vec<_> = file.cases.iter().map(|case| case.0.clone()).collect();
    let sources: Vec<_> =
        datasets.iter().map(|(_, dataset, fields)| (Arc::clone(dataset), fields.clone())).collect();
    let scan = Scan { tree: loading.tree, rules: &rules, inline: &inline, datasets: &sources };
    let mut found = scan.run();
    let facts = dataset_facts(&mut checker, &file, &datasets, &found.datasets);
    checker.problems.sort_by_key(|problem| (problem.place.line, problem.place.column));
    checker.problems.append(&mut found.problems);
    if !checker.problems.is_empty() {
        return Err(Problems::new(checker.problems));
    }
    warnings.append(&mut found.warnings);
    let checked = datasets.into_iter().zip(&facts);
    let datasets =
        checked.map(|((_, dataset, fields), facts)| Checked { dataset, fields, digest: facts.sha256 });
    let case_count = loading.overrides.limit.map_or(found.count, |limit| limit.min(found.count));
    let probe = Probe {
        repetitions: u32::try_from(file.repetitions.0).expect("the type holds at most 100000"),
        prompt: file.prompt.clone(),
        judges: file.judges.0.clone(),
        scoring,
        wordings,
        inputs: Arc::new(Inputs { rules, inline, datasets: datasets.collect() }),
        case_count,
    };
    let suite = common.suite(loading.overrides, Kind::Probe, probe.settings());
    let per_case = probe.wordings.per_case() * suite.targets.len() as u64 * u64::from(probe.repetitions);
    let trial_count = case_count * per_case;
    Ok(Read { suite, body: probe, datasets: facts, case_count, trial_count, warnings })
}

fn common(file: &ProbeFile) -> Common<'_> {
    Common {
        suite_id: &file.suite_id,
        title: &file.title,
        description: &file.description,
        seed: file.seed.0,
        timeout_ms: file.timeout_ms.0,
        determinism: &file.determinism,
        targets: &file.targets.0,
        gate: &file.gate,
        metrics: METRICS.iter().map(|metric| metric.name).collect(),
    }
}

fn check(checker: &mut Checker<'_>, file: &ProbeFile) {
    if file.targets.0.is_empty() {
        checker.complain(Code::Empty, &[Step::Key("targets")], "the suite has no targets").hint =
            Some("give it at least one: `targets: {model: {scripted: {…}}}`".to_owned());
    }
    judges(checker, file);
    if file.cases.is_empty() && file.datasets.is_empty() {
        let steps: &[Step<'_>] = match checker.tree.entry(checker.tree.root, "cases") {
            Some(_) => &[Step::Key("cases")],
            None => &[],
        };
        checker.complain(Code::Empty, steps, "the suite has no cases").hint =
            Some("write some below `cases:`, or name a file below `datasets:`".to_owned());
    }
}

fn judges(checker: &mut Checker<'_>, file: &ProbeFile) {
    if file.judges.0.is_empty() {
        checker.complain(Code::Empty, &[Step::Key("judges")], "the suite has no judges").hint =
            Some("give it at least one: `judges: {exact: {equals: {}}}`".to_owned());
    }
    for (name, config) in &file.judges.0 {
        checker.name("judges", name);
        if name == WEIGHTED_MEAN {
            let what = format!("`{WEIGHTED_MEAN}` is the name of the mean of all judges");
            checker.complain_of_key(Code::BadValue, &[Step::Key("judges"), Step::Key(name)], what).hint =
                Some("choose another name".to_owned());
        }
        if let Err(complaint) = config.check() {
            let steps = [Step::Key("judges"), Step::Key(name), Step::Key(config.name())];
            checker.pass_on(Code::BadValue, &steps, complaint);
        }
    }
}

fn scoring(checker: &mut Checker<'_>, file: &ProbeFile, scoring: &ScoringFile) -> Scoring {
    let names: Vec<&str> = file.judges.0.iter().map(|(name, _)| name.as_str()).collect();
    let mut weights = vec![1.0; names.len()];
    for (name, weight) in &scoring.weights.0 {
        match names.iter().position(|known| known == name) {
            Some(at) => weights[at] = weight.0,
            None => {
                let steps = [Step::Key("scoring"), Step::Key("weights"), Step::Key(name)];
                let what = format!("no judge is named {}", quoted(name));
                checker.complain_of_key(Code::UnknownJudge, &steps, what).hint =
                    Some(did_you_mean(name, &names, "judges"));
            }
        }
    }
    let primary = match scoring.primary.as_deref() {
        None if names.len() == 1 => Primary::Judge(0),
        None | Some(WEIGHTED_MEAN) => Primary::WeightedMean,
        Some(name) => match names.iter().position(|known| *known == name) {
            Some(at) => Primary::Judge(at),
            None => {
                let known = [&names[..], &[WEIGHTED_MEAN]].concat();
                let what = format!("no judge is named {}", quoted(name));
                checker
                    .complain(Code::UnknownJudge, &[Step::Key("scoring"), Step::Key("primary")], what)
                    .hint = Some(format!("the choices are {}", listed(known)));
                Primary::WeightedMean
            }
        },
    };
    if primary == Primary::WeightedMean && !names.is_empty() && weights.iter().sum::<f64>() == 0.0 {
        let steps = [Step::Key("scoring"), Step::Key("weights")];
        checker.complain(Code::BadValue, &steps, "all weights are 0, so there is no weighted mean").hint =
            Some("give at least one judge a weight above 0".to_owned());
    }
    let threshold = scoring.threshold.map_or(1.0, |threshold| threshold.0);
    Scoring { weights, threshold, primary }
}

/// The datasets whose path leads somewhere, each with its place in the suite's list.
type FoundDatasets = Vec<(usize, Arc<Dataset>, Fields)>;

fn find_datasets(checker: &mut Checker<'_>, file: &ProbeFile, loading: &Loading<'_>) -> FoundDatasets {
    let base = loading.base();
    let mut found = Vec::new();
    for (index, dataset) in file.datasets.iter().enumerate() {
        let steps = [Step::Key("datasets"), Step::Index(index), Step::Key("path")];
        let format = dataset.format.or_else(|| Format::of_path(&dataset.path));
        if format.is_none() {
            let what = format!("the format of {} is not clear from its name", quoted(&dataset.path));
            checker.complain(Code::BadValue, &steps, what).hint =
                Some("add `format: jsonl`, `csv`, `json` or `yaml`".to_owned());
        }
        if let Some(written) = &dataset.sha256
            && let Err(error) = written.parse::<Digest>()
        {
            let steps = [Step::Key("datasets"), Step::Index(index), Step::Key("sha256")];
            checker.complain(Code::BadValue, &steps, error.to_string()).hint =
                Some(format!("`sha256sum {}` prints it", dataset.path));
        }
        match (paths::resolve(base, &dataset.path), format) {
            (Ok(path), Some(format)) => {
                let name = match base.as_str() {
                    "." => dataset.path.clone(),
                    _ => base.join(&dataset.path).into_string(),
                };
                found.push((
                    index,
                    Arc::new(Dataset::of(loading, name, path, format)),
                    dataset.fields.clone(),
                ));
            }
            (Err(fault), _) => checker.complain(fault.code, &steps, fault.what).hint = Some(fault.hint),
            (Ok(_), None) => {}
        }
    }
    found
}

/// Compares what was read with what the suite says, for every dataset that was read to its end.
fn dataset_facts(
    checker: &mut Checker<'_>,
    file: &ProbeFile,
    datasets: &FoundDatasets,
    found: &[Option<(Digest, u64)>],
) -> Vec<DatasetFacts> {
    let mut facts = Vec::new();
    for ((index, dataset, fields), found) in datasets.iter().zip(found) {
        let Some((sha256, rows)) = *found else { continue };
        let written = &file.datasets[*index];
        if rows == 0 {
            let steps = [Step::Key("datasets"), Step::Index(*index), Step::Key("path")];
            checker.complain(Code::Empty, &steps, format!("{} has no rows", quoted(&written.path))).hint =
                Some("take it out, or check that it was written to its end".to_owned());
        }
        let expected = written.sha256.as_deref().and_then(|text| text.parse::<Digest>().ok());
        if let Some(expected) = expected.filter(|expected| *expected != sha256) {
            let steps = [Step::Key("datasets"), Step::Index(*index), Step::Key("sha256")];
            let what = format!("{} is not the file that the suite names", quoted(&written.path));
            let problem = checker.complain(Code::HashMismatch, &steps, what);
            problem.notes = vec![
                format!("the suite says {}", expected.prefixed()),
                format!("the file has   {}", sha256.prefixed()),
            ];
            problem.hint = Some("restore the file, or write its digest if the change is meant".to_owned());
        }
        facts.push(DatasetFacts {
            path: written.path.clone(),
            format: dataset.format,
            sha256,
            rows,
            fields: fields.clone(),
        });
    }
    facts
}
