//! Loading a suite: everything that can be wrong with it is found here, before the first trial.

use std::any::Any;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::files::MAX_FACTS_BYTES;
use proofhouse_ledger::json::Object;
use proofhouse_ledger::{Digest, Json, canonical};

use super::check::kind_word;
use super::de::{self, ReadValue};
use super::file::{Fields, Format};
use super::keys;
use super::kind::{Kinds, Loading, Read};
use super::model::Suite;
use super::problem::{Code, Place, Problem, Problems};
use super::tree::{Kind as Node, Source, Tree};
use crate::family::target::{Environment, Keys, Prices};
use crate::text::complaint::Complaint;
use crate::text::yaml::{self, MAX_DEPTH};

/// The largest suite file, in bytes.
const MAX_SUITE_BYTES: u64 = 64 << 20;

/// How deep settings of targets may nest and how long they may be: a manifest holds them beside a few lines of its own.
const MAX_TARGETS_DEPTH: usize = MAX_DEPTH - 8;
const MAX_TARGETS_BYTES: usize = (MAX_FACTS_BYTES - (1 << 20)) as usize;

/// What the command line says against the suite; it wins.
#[derive(Debug, Clone, Default)]
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
    /// What the flags of single kinds say, each as its kind's own type.
    pub own: Vec<Arc<dyn Any + Send + Sync>>,
    /// Files that take the place of parts of the suite.
    pub files: Vec<Utf8PathBuf>,
    /// The run whose answers are judged again, in place of asking targets.
    pub derived_from: Option<Json>,
    /// What tokens cost.
    pub prices: Option<Arc<PriceFile>>,
    /// Where keys come from: none of them may stand in the suite or its data.
    pub environment: Environment,
}

impl Overrides {
    /// What the flags of one kind say.
    pub fn own<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.own.iter().find_map(|own| own.downcast_ref())
    }
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
    /// Which of its rows are cases.
    pub chosen: Chosen,
}

/// Which rows of a dataset are cases; all of them by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chosen {
    /// The condition that they meet.
    pub condition: Option<String>,
    /// How many of them were drawn, together with other files of the same entry, and by which seed.
    pub sample: Option<(u64, u64)>,
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
    /// How many trials that makes.
    pub trial_count: u64,
    /// The limit, if there is one.
    pub limit: Option<u64>,
    /// The run whose answers are judged again, if it is so.
    pub derived_from: Option<Json>,
    /// What was let pass.
    pub warnings: Vec<String>,
    /// What tokens cost, slot by slot, where the run has a price list; no part of its identity.
    pub prices: Option<Json>,
}

/// A price list and the digest of its file.
#[derive(Debug, Clone)]
pub struct PriceFile {
    /// The digest of its bytes.
    pub sha256: Digest,
    /// What models cost.
    pub prices: Prices,
}

impl PriceFile {
    /// What holds for the slots of a suite.
    fn of(&self, suite: &Suite) -> Json {
        let slots = suite.slots.iter().filter_map(|slot| {
            // A slot is a target, alone or with a prompt.
            let name = slot.name.split('/').next().unwrap_or_default();
            let (_, target) =
                suite.targets.iter().find(|(target, _)| *target == slot.name || target == name)?;
            Some((slot.name.as_str(), target.price(&self.prices)?))
        });
        Json::Object(Object::from_iter([
            ("sha256", Json::from(self.sha256.prefixed())),
            ("slots", Json::Object(slots.collect())),
        ]))
    }
}

/// Reads and checks a suite and everything that it refers to.
///
/// # Errors
/// All problems that are independent of each other, in the order of the files.
pub(crate) fn load<K: Kinds>(
    path: &Utf8Path,
    overrides: &Overrides,
    kinds: &K,
) -> Result<(Loaded, K::Body), Problems> {
    let bytes = read_file(path)?;
    let keys = Arc::new(keys_in_use(&bytes, overrides));
    read(path, overrides, (bytes, &keys), kinds).map_err(|problems| problems.without(&keys))
}

/// Reads and checks a suite that is in no file.
///
/// # Errors
/// As [`load`].
pub(crate) fn load_text<K: Kinds>(
    text: &str,
    overrides: &Overrides,
    kinds: &K,
) -> Result<(Loaded, K::Body), Problems> {
    let bytes = text.as_bytes().to_vec();
    let keys = Arc::new(keys_in_use(&bytes, overrides));
    let name = "the suite of this command";
    read(Utf8Path::new(name), overrides, (bytes, &keys), kinds)
        .map_err(|problems| problems.without(&keys).without_place_in(name))
}

/// The keys that no text of the suite may hold, among them those that it names itself.
fn keys_in_use(bytes: &[u8], overrides: &Overrides) -> Keys {
    let mut settings = String::from_utf8_lossy(bytes).into_owned();
    // A file that cannot be read is reported where it is used.
    for text in overrides.files.iter().filter_map(|file| std::fs::read_to_string(file).ok()) {
        settings.push('\n');
        settings.push_str(&text);
    }
    Keys::live(&overrides.environment, &settings)
}

fn read<K: Kinds>(
    path: &Utf8Path,
    overrides: &Overrides,
    (bytes, keys): (Vec<u8>, &Arc<Keys>),
    kinds: &K,
) -> Result<(Loaded, K::Body), Problems> {
    let suite_sha256 = Digest::of(&bytes);
    let source = Arc::new(Source::new(path.as_str().to_owned(), bytes)?);
    let tree = Tree::parse(source).map_err(Problems::new)?;
    // Alone and first: other messages would quote what stands there.
    let found = keys::in_tree(&tree, keys);
    if !found.is_empty() {
        return Err(Problems::new(found));
    }
    let kind = kind_word(&tree, &kinds.names())?.unwrap_or_else(|| kinds.unnamed(&tree));
    let lenient = !strict_serialization(&tree, overrides);
    let loading = Loading { path, tree: &tree, overrides, lenient, keys };
    let Read { suite, body, datasets, case_count, trial_count, warnings } = kinds.read(kind, &loading)?;
    let content: ReadValue<Json> = de::read(&tree, lenient);
    let Some(content) = content.value.filter(|_| content.problems.is_empty()) else {
        return Err(Problems::new(content.problems));
    };
    let loaded = Loaded {
        path: path.to_owned(),
        suite_sha256,
        suite_content_sha256: Digest::of(
            &canonical::to_vec(&content).expect("a `Json` has a canonical form"),
        ),
        datasets,
        case_count,
        trial_count,
        prices: overrides.prices.as_ref().map(|prices| prices.of(&suite)),
        suite,
        limit: overrides.limit,
        derived_from: overrides.derived_from.clone(),
        warnings,
    };
    readable_again(&loaded)?;
    Ok((loaded, body))
}

/// What a run keeps of its settings has to be readable, or nobody could resume, verify or rejudge it.
fn readable_again(loaded: &Loaded) -> Result<(), Problem> {
    let problem = |file: &str, complaint: Complaint| {
        let what = format!("the run's `{file}` would be {}, which nothing could read again", complaint.what);
        Problem::new(Code::TooLarge, Place::whole(loaded.path.as_str()), what)
    };
    let resolved = loaded.resolved();
    yaml::readable_again(&resolved).map_err(|complaint| {
        problem("config.resolved.yaml", complaint)
            .hint("move its cases to a jsonl file below `datasets:`, and nest less deep")
    })?;
    // A manifest repeats the targets.
    let targets = resolved.get("targets").unwrap_or(&Json::Null);
    let bytes = canonical::to_vec(targets).map_or(usize::MAX, |bytes| bytes.len());
    let fits = match bytes > MAX_TARGETS_BYTES {
        true => Err(Complaint::new(format!("more than {} MiB", MAX_FACTS_BYTES >> 20))),
        false => yaml::fits(targets, MAX_TARGETS_DEPTH, usize::MAX),
    };
    fits.map_err(|complaint| {
        problem("manifest.json", complaint).hint("the settings of its targets have to be smaller")
    })
}

pub(crate) fn in_order(mut problems: Vec<Problem>) -> Problems {
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
    let about = std::fs::metadata(path).map_err(unreadable)?;
    if !about.is_file() && !about.is_dir() {
        return Err(Problem::new(Code::Unreadable, whole(), "this is not a regular file"));
    }
    let size = about.len();
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
