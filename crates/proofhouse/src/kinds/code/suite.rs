//! `code` suites: problems, and completions from files or from models, compiled, linted and tested.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::json::Object;
use proofhouse_ledger::record::Kind;
use proofhouse_ledger::{Digest, Json};

use crate::kinds::code::metrics::METRICS;
use crate::kinds::code::{
    Budgets, Clippy, CodeFlags, LanguageName, Problem as Task, ProblemError, ProblemFile, Sample,
    is_crate_name, is_crate_version, read_problem_file,
};
use crate::spine::suite::check::{Checker, Common};
use crate::spine::suite::dataset::Dataset;
use crate::spine::suite::file::{Fields, FileRef, Format};
use crate::spine::suite::identity::json;
use crate::spine::suite::kind::{Loading, Read};
use crate::spine::suite::load::{DatasetFacts, in_order};
use crate::spine::suite::model::Slot;
use crate::spine::suite::problem::{Code, Place, Problem, Problems, quoted};
use crate::spine::suite::tree::Step;
use crate::spine::suite::wordings::{self, Wordings};
use crate::spine::tally::{EXPENSES, TIMED};
use crate::text::template::Template;

mod asking;
mod file;
mod language;
mod samples;
mod tasks;

pub(crate) use file::CodeFile;
pub use file::Edition;
use file::{LimitsFile, TasksFile};
use samples::SamplesFile;
pub use tasks::chosen;

/// What a `code` suite adds.
#[derive(Debug, Clone)]
pub struct CodeBody {
    /// The language of the completions.
    pub language: LanguageName,
    /// The tasks that are planned, in the file's order.
    pub problems: Arc<Vec<Task>>,
    /// Task id → its place among them.
    places: Arc<BTreeMap<String, usize>>,
    /// All tasks are planned, so lines that name none of them are records too.
    pub all_tasks: bool,
    /// Only tasks with a completion count.
    pub answered_only: bool,
    /// Files of completions by slot.
    pub samples: Vec<SampleSource>,
    /// How often each model is asked for each task.
    pub samples_per_task: u32,
    /// What a model is asked, as it was written.
    pub prompt: String,
    /// The same, parsed.
    pub prompt_template: Template,
    /// Other wordings of what models are asked.
    pub wordings: Wordings,
    /// The k of pass@k, ascending.
    pub k: Vec<u64>,
    /// Whether completions are linted.
    pub clippy: Clippy,
    /// Whether completions that reach below the language may share a process with their tests.
    pub allows_unsafe: bool,
    /// The Rust edition.
    pub edition: Edition,
    /// Crates that tasks use.
    pub crates: Vec<(String, String)>,
    /// How much each phase may use.
    pub budgets: Budgets,
    /// Whether compile times and sizes are recorded.
    pub measure: bool,
}

/// A file of completions.
#[derive(Debug, Clone)]
pub struct SampleSource {
    /// The file as the user would name it.
    pub name: String,
    /// Where it is.
    pub path: Utf8PathBuf,
    /// The digest of its bytes when it was checked.
    pub sha256: Digest,
    /// Lines that are planned.
    pub planned: u64,
}

impl CodeBody {
    /// Whether a line of a samples file is part of the plan.
    pub fn plans(&self, sample: &Sample) -> bool {
        self.all_tasks || sample.task_id.as_deref().is_some_and(|task| self.problem(task).is_some())
    }

    /// The planned task of this name.
    pub fn problem(&self, task_id: &str) -> Option<&Task> {
        self.places.get(task_id).map(|at| &self.problems[*at])
    }

    /// Trials in the plan.
    pub fn trial_count(&self, targets: usize) -> u64 {
        let lines: u64 = self.samples.iter().map(|source| source.planned).sum();
        let questions = self.problems.len() as u64 * self.wordings.per_case();
        lines + questions * targets as u64 * u64::from(self.samples_per_task)
    }

    /// Every setting that took effect, for the run's identity.
    fn settings(&self) -> Object {
        let mut settings = Object::new();
        let limits = |limits: &proofhouse_sandbox::Limits| {
            Json::Object(Object::from_iter([
                ("cpu_ms", json(&limits.cpu_ms)),
                ("memory_mib", json(&(limits.memory_bytes >> 20))),
                ("wall_ms", json(&limits.wall_ms)),
            ]))
        };
        let crates = self.crates.iter().map(|(name, version)| (name.as_str(), Json::from(version.as_str())));
        settings.set("language", json(&self.language));
        settings.set("samples_per_task", self.samples_per_task);
        settings.set("prompt", self.prompt.as_str());
        settings.set("k", json(&self.k));
        settings.set("clippy", json(&self.clippy));
        if self.allows_unsafe {
            settings.set("unsafe", "allow");
        }
        settings.set("edition", self.edition.as_str());
        settings.set("crates", Json::Object(crates.collect()));
        settings.set(
            "limits",
            Json::Object(Object::from_iter([
                ("compile", limits(&self.budgets.compile)),
                ("test", limits(&self.budgets.test)),
            ])),
        );
        settings.set("measure", self.measure);
        let tasks = (!self.all_tasks)
            .then(|| self.problems.iter().map(|problem| problem.task_id.as_str()).collect::<Vec<_>>());
        settings.set("tasks", json(&tasks));
        // What the denominator of every headline is made of.
        let ids: Vec<&str> = self.problems.iter().map(|problem| problem.task_id.as_str()).collect();
        settings.set("task_ids", json(&ids));
        settings.set("count_tasks", if self.answered_only { "answered" } else { "all" });
        if self.wordings.per_case() > 1 {
            settings.set("vary", self.wordings.settings());
        }
        settings
    }
}

/// Reads a `code` suite, its problems, and every line of its samples once.
pub(crate) fn read(loading: &Loading<'_>) -> Result<Read<CodeBody>, Problems> {
    let (file, mut checker, mut warnings) = loading.file::<CodeFile>()?;
    let flags = flags(loading);
    let common = common(&file);
    checker.common(&common, loading.overrides);
    loading.check_overrides(&mut checker);
    check_slots(&mut checker, &file);
    asking::check_wordings(&mut checker, &file);
    let template = checker.template(&file.prompt);
    let own_seed = loading.overrides.seed.unwrap_or(file.seed.0);
    let wordings = wordings::read(&mut checker, &file.vary, own_seed);
    let mut datasets = Vec::new();
    let problems = problems(&mut checker, loading, &file.problems, &mut datasets);
    let chosen = problems.map(|problems| {
        warnings.extend(problems.notes.iter().map(|note| format!("{}: {note}", file.problems.path)));
        tasks::choose(&mut checker, loading, &file, problems.problems)
    });
    let language =
        chosen.as_ref().and_then(|(problems, _)| language::of(&mut checker, &file, problems, &mut warnings));
    let (Some((problems, all_tasks)), Some(prompt_template), Some(language)) = (chosen, template, language)
    else {
        return Err(in_order(checker.problems));
    };
    let places = problems.iter().enumerate().map(|(at, problem)| (problem.task_id.clone(), at)).collect();
    let mut code = CodeBody {
        language,
        places: Arc::new(places),
        problems: Arc::new(problems),
        all_tasks,
        answered_only: file.tasks == TasksFile::Answered,
        samples: Vec::new(),
        samples_per_task: u32::try_from(file.samples_per_task.0).expect("the type holds at most 10000"),
        prompt: file.prompt.clone(),
        prompt_template,
        wordings,
        k: ks(&mut checker, loading, &file),
        clippy: if language == LanguageName::Rust { file.clippy } else { Clippy::Off },
        allows_unsafe: file.unsafe_code == file::UnsafeFile::Allow,
        edition: file.edition,
        crates: file.crates.0.clone(),
        budgets: budgets(&file.limits),
        measure: file.measure || flags.measure,
    };
    asking::check_prompt(&mut checker, &code);
    for (slot, reference) in &file.samples.0 {
        let steps = [Step::Key("samples"), Step::Key(slot)];
        let found = samples::read(&mut checker, loading, (reference, &steps), &code);
        if let Some(SamplesFile { source, facts, warning }) = found {
            code.samples.push(source);
            datasets.push(facts);
            warnings.extend(warning);
        }
    }
    if !checker.problems.is_empty() {
        return Err(in_order(checker.problems));
    }
    let mut slots: Vec<Slot> = file
        .samples
        .0
        .iter()
        .zip(&code.samples)
        .map(|((name, _), source)| samples_slot(name, source))
        .collect();
    let case_count = code.problems.len() as u64;
    let mut suite = common.suite(loading.overrides, Kind::Code, code.settings());
    slots.append(&mut suite.slots);
    suite.slots = slots;
    let trial_count = code.trial_count(suite.targets.len());
    Ok(Read { suite, body: code, datasets, case_count, trial_count, warnings })
}

fn flags(loading: &Loading<'_>) -> CodeFlags {
    loading.overrides.own::<CodeFlags>().cloned().unwrap_or_default()
}

fn common(file: &CodeFile) -> Common<'_> {
    Common {
        suite_id: &file.suite_id,
        title: &file.title,
        description: &file.description,
        seed: file.seed.0,
        timeout_ms: file.timeout_ms.0,
        determinism: &file.determinism,
        targets: &file.targets.0,
        gate: &file.gate,
        metrics: METRICS.iter().chain(EXPENSES).map(|metric| metric.name).collect(),
        timed: &TIMED,
    }
}

/// The slot of a samples file: by its content, never by its place.
fn samples_slot(name: &str, source: &SampleSource) -> Slot {
    let file = Object::from_iter([("sha256", Json::from(source.sha256.prefixed()))]);
    let config = Object::from_iter([("samples", Json::Object(file))]);
    Slot { name: name.to_owned(), kind: "samples".to_owned(), config: Json::Object(config) }
}

fn check_slots(checker: &mut Checker<'_>, file: &CodeFile) {
    checker.plain_gate(&file.gate);
    if file.samples.0.is_empty() && file.targets.0.is_empty() {
        checker.complain(Code::Empty, &[], "the suite has no completions").hint =
            Some("name a file below `samples: {model: file.jsonl}`, or a model below `targets:`".to_owned());
    }
    for (slot, _) in &file.samples.0 {
        checker.name("samples", slot);
        if file.targets.0.iter().any(|(target, _)| target == slot) {
            let steps = [Step::Key("samples"), Step::Key(slot)];
            let what = format!("{} is the name of a target too", quoted(slot));
            checker.complain_of_key(Code::BadValue, &steps, what).hint =
                Some("every slot has a name of its own".to_owned());
        }
    }
    for (name, version) in &file.crates.0 {
        let steps = [Step::Key("crates"), Step::Key(name)];
        if !is_crate_name(name) {
            let what = format!("{} is not the name of a crate", quoted(name));
            checker.complain_of_key(Code::BadValue, &steps, what).hint =
                Some("for example `rand: \"0.4\"`".to_owned());
        }
        if !is_crate_version(version) {
            let what = format!("{} is not a version", quoted(version));
            checker.complain(Code::BadValue, &steps, what).hint = Some("for example `\"0.4\"`".to_owned());
        }
    }
}

fn problems(
    checker: &mut Checker<'_>,
    loading: &Loading<'_>,
    reference: &FileRef,
    datasets: &mut Vec<DatasetFacts>,
) -> Option<ProblemFile> {
    let steps = [Step::Key("problems")];
    let (name, path, sha256) = loading.locate(checker, reference, &steps)?;
    refuse_keys(checker, loading, &name, &path)?;
    match read_problem_file(&path) {
        Ok(file) if file.problems.is_empty() => {
            checker.complain(Code::Empty, &steps, format!("{} has no problems", quoted(&name))).hint = Some(
                "a problem file has one JSON object per line, with `task_id`, `prompt` and `test`".to_owned(),
            );
            None
        }
        Ok(file) => {
            datasets.push(facts(reference, sha256, file.problems.len() as u64));
            Some(file)
        }
        Err(ProblemError::Line { line, complaint, .. }) => {
            let place = Place { line, column: 1, ..Place::whole(name) };
            let problem = Problem::new(Code::BadValue, place, complaint.what);
            checker.problems.push(Problem { hint: complaint.hint, ..problem });
            None
        }
        Err(error @ ProblemError::Io { .. }) => {
            checker.complain(Code::Unreadable, &steps, error.to_string());
            None
        }
    }
}

/// A file whose lines hold no key.
fn refuse_keys(checker: &mut Checker<'_>, loading: &Loading<'_>, name: &str, path: &Utf8Path) -> Option<()> {
    let found = Dataset::of(loading, name.to_owned(), path.to_owned(), Format::Jsonl).lines_with_keys();
    let none = found.is_empty().then_some(());
    checker.problems.extend(found);
    none
}

fn facts(reference: &FileRef, sha256: Digest, rows: u64) -> DatasetFacts {
    DatasetFacts {
        path: reference.path.clone(),
        format: Format::Jsonl,
        sha256,
        rows,
        fields: Fields::default(),
        chosen: Default::default(),
    }
}

fn ks(checker: &mut Checker<'_>, loading: &Loading<'_>, file: &CodeFile) -> Vec<u64> {
    let written = file.k.as_ref().map(|k| k.iter().map(|k| k.0).collect::<Vec<_>>());
    let mut k = flags(loading).k.or(written).unwrap_or_else(|| vec![1, 5, 10]);
    k.sort_unstable();
    k.dedup();
    if k.is_empty() {
        checker.complain(Code::Empty, &[Step::Key("k")], "no k of pass@k is left").hint =
            Some("for example `k: [1, 10]`".to_owned());
    }
    k
}

fn budgets(file: &LimitsFile) -> Budgets {
    let mut budgets = Budgets::default();
    for (limits, written) in [(&mut budgets.compile, &file.compile), (&mut budgets.test, &file.test)] {
        // Who bounds CPU time bounds the wait too, loosely enough for a loaded machine.
        let guard = written
            .cpu_ms
            .map_or(limits.wall_ms, |ms| (ms.0 * 8).clamp(15_000, limits.wall_ms.max(ms.0 * 4)));
        limits.cpu_ms = written.cpu_ms.map_or(limits.cpu_ms, |ms| ms.0);
        limits.wall_ms = written.wall_ms.map_or(guard, |ms| ms.0);
        limits.memory_bytes = written.memory_mib.map_or(limits.memory_bytes, |mib| mib.0 << 20);
    }
    budgets
}
