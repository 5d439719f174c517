//! Loading a suite: everything that can be wrong with it is found here, before the first trial.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::json::MAX_SAFE_INTEGER;
use proofhouse_ledger::{Digest, Json, canonical};

use super::cases::{CaseRules, CaseStream, Checked, Inputs};
use super::check::{Checker, check_kind};
use super::dataset::Dataset;
use super::de::{self, Reading};
use super::file::{Fields, Format, ProbeFile};
use super::model::{Determinism, Suite};
use super::paths;
use super::problem::{Code, Place, Problem, Problems, quoted};
use super::scan::Scan;
use super::tree::{Kind as Node, Source, Step, Tree};

/// The largest suite file, in bytes.
const MAX_SUITE_BYTES: u64 = 64 << 20;

/// What the command line says against the suite; it wins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Another seed.
    pub seed: Option<u64>,
    /// Only so many cases, the first ones.
    pub limit: Option<u64>,
    /// Another `strict_serialization`.
    pub strict_serialization: Option<bool>,
    /// Another `deterministic_artifacts`.
    pub deterministic_artifacts: Option<bool>,
    /// The directory below which datasets lie, instead of the suite's.
    pub data_root: Option<Utf8PathBuf>,
}

/// A dataset as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetFacts {
    /// Its path as the suite writes it.
    pub path: String,
    /// How it is written.
    pub format: Format,
    /// The digest of its bytes.
    pub sha256: Digest,
    /// How many cases it has.
    pub rows: u64,
    /// Its fields' names, where they differ.
    pub fields: Fields,
}

/// A suite that can be run.
#[derive(Debug)]
pub struct Loaded {
    /// The suite file, as it was named.
    pub path: Utf8PathBuf,
    /// The settings, defaults applied.
    pub suite: Suite,
    /// The digest of the file's bytes.
    pub suite_sha256: Digest,
    /// The digest of what the file says: equal for other line ends, comments and orders of keys.
    pub suite_content_sha256: Digest,
    /// The datasets in the order of the suite.
    pub datasets: Vec<DatasetFacts>,
    /// How many cases will be run, after the limit.
    pub case_count: u64,
    /// The limit, if there is one.
    pub limit: Option<u64>,
    /// What was let pass.
    pub warnings: Vec<String>,
    pub(crate) inputs: Arc<Inputs>,
}

impl Loaded {
    /// All cases, in a second pass over the datasets.
    ///
    /// # Errors
    /// When a dataset cannot be read any more; the stream's own errors say that one changed meanwhile.
    pub fn cases(&self) -> Result<CaseStream, Problems> {
        Ok(CaseStream::new(Arc::clone(&self.inputs), self.case_count))
    }
}

/// Reads and checks a suite and everything that it refers to.
///
/// # Errors
/// All problems that are independent of each other, in the order of the files.
pub fn load(path: &Utf8Path, overrides: &Overrides) -> Result<Loaded, Problems> {
    let bytes = read_file(path)?;
    let suite_sha256 = Digest::of(&bytes);
    let source = Arc::new(Source::new(path.as_str().to_owned(), bytes)?);
    let tree = Tree::parse(source).map_err(Problems::new)?;
    if let Some(problem) = check_kind(&tree) {
        return Err(problem.into());
    }
    let lenient = !strict_serialization(&tree, overrides);
    let Reading { value, problems, mut warnings } = de::read::<ProbeFile>(&tree, lenient);
    let only_unknown = problems.iter().all(|problem| problem.code == Code::UnknownKey);
    let Some(file) = value.filter(|_| only_unknown) else { return Err(Problems::new(problems)) };
    let mut checker = Checker { tree: &tree, problems };
    let well_read = checker.problems.is_empty();
    let suite = checker.suite(&file, determinism(&file, overrides), overrides.seed.unwrap_or(file.seed.0));
    check_overrides(&mut checker, overrides);
    let datasets = find_datasets(&mut checker, &file, path, overrides, lenient);
    // Rows are read with the prompt and the fields that are known to be right, or not at all.
    let (Some(suite), true) = (suite, well_read) else { return Err(in_order(checker.problems)) };
    let rules = CaseRules {
        prompt: suite.prompt_template.clone(),
        judges: suite.judges.iter().map(|(name, _)| name.clone()).collect(),
        needs_expected: suite.judges.iter().map(|(_, judge)| judge.needs_expected()).collect(),
    };
    let inline: Vec<_> = file.cases.iter().map(|case| case.0.clone()).collect();
    let sources: Vec<_> =
        datasets.iter().map(|(_, dataset, fields)| (Arc::clone(dataset), fields.clone())).collect();
    let scan = Scan { tree: &tree, rules: &rules, inline: &inline, datasets: &sources };
    let mut found = scan.run();
    let facts = dataset_facts(&mut checker, &file, &datasets, &found.datasets);
    checker.problems.sort_by_key(|problem| (problem.place.line, problem.place.column));
    checker.problems.append(&mut found.problems);
    if !checker.problems.is_empty() {
        return Err(Problems::new(checker.problems));
    }
    warnings.append(&mut found.warnings);
    let content: Reading<Json> = de::read(&tree, lenient);
    let Some(content) = content.value.filter(|_| content.problems.is_empty()) else {
        return Err(Problems::new(content.problems));
    };
    let checked = datasets.into_iter().zip(&facts);
    let datasets =
        checked.map(|((_, dataset, fields), facts)| Checked { dataset, fields, digest: facts.sha256 });
    Ok(Loaded {
        path: path.to_owned(),
        suite,
        suite_sha256,
        suite_content_sha256: Digest::of(
            &canonical::to_vec(&content).expect("a `Json` has a canonical form"),
        ),
        inputs: Arc::new(Inputs { rules, inline, datasets: datasets.collect() }),
        datasets: facts,
        case_count: overrides.limit.map_or(found.count, |limit| limit.min(found.count)),
        limit: overrides.limit,
        warnings,
    })
}

fn in_order(mut problems: Vec<Problem>) -> Problems {
    problems.sort_by_key(|problem| (problem.place.line, problem.place.column));
    Problems::new(problems)
}

fn read_file(path: &Utf8Path) -> Result<Vec<u8>, Problem> {
    let whole = || Place::whole(path.as_str());
    let unreadable = |error: std::io::Error| {
        let problem = |what: String| Problem::new(Code::Unreadable, whole(), what);
        match error.kind() {
            std::io::ErrorKind::NotFound => problem("there is no such file".to_owned())
                .hint("`proofhouse init` writes a suite to start from"),
            std::io::ErrorKind::IsADirectory => {
                problem("this is a directory".to_owned()).hint("name the suite file inside it")
            }
            _ => problem(format!("the suite cannot be read: {error}")),
        }
    };
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if size > MAX_SUITE_BYTES {
        let what = format!("the suite is larger than {} MiB", MAX_SUITE_BYTES >> 20);
        return Err(Problem::new(Code::TooLarge, whole(), what)
            .hint("move its cases to a jsonl file below `datasets:`"));
    }
    std::fs::read(path).map_err(unreadable)
}

/// Whether to be strict is needed before anything is read; a wrong value is reported when it is.
fn strict_serialization(tree: &Tree, overrides: &Overrides) -> bool {
    let written = tree
        .entry(tree.root, "determinism")
        .and_then(|entry| tree.entry(entry.value, "strict_serialization"))
        .map(|entry| &tree.node(entry.value).kind);
    overrides.strict_serialization.unwrap_or(!matches!(written, Some(Node::Bool(false))))
}

fn determinism(file: &ProbeFile, overrides: &Overrides) -> Determinism {
    let strict = overrides.strict_serialization.or(file.determinism.strict_serialization).unwrap_or(true);
    let artifacts = overrides.deterministic_artifacts.or(file.determinism.deterministic_artifacts);
    Determinism { strict_serialization: strict, deterministic_artifacts: artifacts.unwrap_or(strict) }
}

fn check_overrides(checker: &mut Checker<'_>, overrides: &Overrides) {
    let place = || Place::whole("command line");
    if overrides.seed.is_some_and(|seed| seed > MAX_SAFE_INTEGER) {
        let what = format!("`--seed` is beyond {MAX_SAFE_INTEGER}, which records cannot hold exactly");
        checker.problems.push(Problem::new(Code::OutOfRange, place(), what).hint("give a smaller seed"));
    }
    if overrides.limit == Some(0) {
        let problem = Problem::new(Code::OutOfRange, place(), "`--limit 0` leaves no case to run");
        checker.problems.push(problem.hint("give at least 1, or leave `--limit` out"));
    }
}

/// The datasets whose path leads somewhere, each with its place in the suite's list.
type FoundDatasets = Vec<(usize, Arc<Dataset>, Fields)>;

fn find_datasets(
    checker: &mut Checker<'_>,
    file: &ProbeFile,
    suite: &Utf8Path,
    overrides: &Overrides,
    lenient: bool,
) -> FoundDatasets {
    let own = suite.parent().filter(|parent| !parent.as_str().is_empty());
    let base = overrides.data_root.as_deref().or(own).unwrap_or(Utf8Path::new("."));
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
                    Arc::new(Dataset { name, path, format, lenient }),
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
