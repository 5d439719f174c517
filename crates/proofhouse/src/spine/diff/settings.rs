//! What differs between two runs as a whole: in their manifests and configurations, by class.

use std::collections::{BTreeMap, BTreeSet};

use proofhouse_ledger::json::Object;
use proofhouse_ledger::manifest::{Dataset, Determinism, Manifest};
use proofhouse_ledger::{Digest, Json};

use super::run::Run;
use crate::spine::compare::{named, places_that_differ};

/// What kind of thing differs between two runs as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunClass {
    /// Compilers, interpreters and the version of the program.
    Toolchain,
    /// Judges and how their scores are put together.
    Judge,
    /// Cases, and the files that they come from.
    Dataset,
    /// Targets and their settings.
    Target,
    /// Prompts.
    Prompt,
    /// Every other setting.
    Setting,
}

impl RunClass {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Toolchain, Self::Judge, Self::Dataset, Self::Target, Self::Prompt, Self::Setting];

    /// Its name on the command line and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Toolchain => "toolchain",
            Self::Judge => "judge",
            Self::Dataset => "dataset",
            Self::Target => "target",
            Self::Prompt => "prompt",
            Self::Setting => "setting",
        }
    }

    /// Of a key of the configuration; none for what the manifest says as well, or what follows from the rest.
    fn of_key(key: &str) -> Option<Self> {
        match key {
            "targets" | "datasets" | "suite_id" | "kind" | "seed" | "determinism" | "case_count" => None,
            "judges" | "scoring" | "agreement" | "calibration" => Some(Self::Judge),
            "cases" | "task_ids" | "count_tasks" => Some(Self::Dataset),
            "prompt" | "prompts" => Some(Self::Prompt),
            _ => Some(Self::Setting),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Toolchain => "the toolchains differ",
            Self::Judge => "the judges differ",
            Self::Dataset => "the cases differ",
            Self::Target => "the targets differ",
            Self::Prompt => "the prompts differ",
            Self::Setting => "the settings differ",
        }
    }
}

/// One thing to know of both runs before reading what changed between them.
pub(super) struct Warning {
    /// None for what is no difference in manifest or configuration.
    pub(super) class: Option<RunClass>,
    pub(super) text: String,
}

/// What differs between the runs as a whole: the records were compared, but the reader should know.
pub(super) fn warnings(a: &Run, b: &Run) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |class: Option<RunClass>, text: String| warnings.push(Warning { class, text });
    if let (Some(a), Some(b)) = (&a.manifest, &b.manifest) {
        targets(a, b).into_iter().for_each(|text| warn(Some(RunClass::Target), text));
        let mut differ = |class: RunClass, differs: bool, what: &str, old: String, new: String| {
            if differs {
                warn(Some(class), format!("{what}: {} → {}", short(&old), short(&new)));
            }
        };
        use RunClass::{Dataset, Setting, Toolchain};
        differ(
            Setting,
            a.suite_id != b.suite_id,
            "the suites differ",
            a.suite_id.clone(),
            b.suite_id.clone(),
        );
        let (old, new) = (a.kind.as_str().into(), b.kind.as_str().into());
        differ(Setting, a.kind != b.kind, "the kinds of suite differ", old, new);
        let (old, new) = (datasets(&a.datasets, &b.datasets), datasets(&b.datasets, &a.datasets));
        differ(Dataset, a.datasets != b.datasets, "the datasets differ", old, new);
        differ(Setting, a.seed != b.seed, "the seeds differ", a.seed.to_string(), b.seed.to_string());
        let (old, new) = (a.proofhouse_version.clone(), b.proofhouse_version.clone());
        differ(Toolchain, old != new, "the versions of proofhouse differ", old, new);
        let (old, new) = (toolchains(a, b), toolchains(b, a));
        differ(Toolchain, a.toolchains != b.toolchains, "the toolchains differ", old, new);
        let (old, new) = (a.sandbox.to_string(), b.sandbox.to_string());
        differ(Setting, a.sandbox != b.sandbox, "the sandboxes differ", old, new);
        let (old, new) = (a.determinism, b.determinism);
        differ(Setting, old != new, "the determinism flags differ", determinism(old), determinism(new));
    }
    for (class, places) in by_class(&a.config, &b.config) {
        warn(Some(class), format!("{} at {}", class.words(), named(places)));
    }
    if let (Some(a), Some(b)) = (&a.manifest, &b.manifest) {
        let (old, new) = (&a.suite_content_sha256, &b.suite_content_sha256);
        if old != new {
            // Follows from what is named above, if anything is.
            let class = warnings.is_empty().then_some(RunClass::Setting);
            let text = format!("the suites' content differs: {} → {}", digest(old), digest(new));
            warnings.push(Warning { class, text });
        }
        if [a, b].iter().any(|manifest| !manifest.determinism.deterministic_artifacts) {
            let text = "wall-clock times are in the records and differ in each: `--ignore /started_at --ignore \
                        /completed_at --ignore /latency_ms` leaves them out";
            warnings.push(Warning { class: None, text: text.to_owned() });
        }
    }
    if let (Some(old), Some(new)) = (&a.sandbox_tier, &b.sandbox_tier)
        && old != new
    {
        let text = format!("the sandbox tiers reached differ: {old} → {new}");
        warnings.push(Warning { class: None, text });
    }
    warnings
}

/// Where two configurations differ, by class.
fn by_class(a: &Json, b: &Json) -> BTreeMap<RunClass, Vec<String>> {
    let mut found: BTreeMap<RunClass, Vec<String>> = BTreeMap::new();
    let (Json::Object(old), Json::Object(new)) = (a, b) else { return found };
    let keys: BTreeSet<&str> = old.iter().chain(new.iter()).map(|(key, _)| key).collect();
    for key in keys {
        let Some(class) = RunClass::of_key(key) else { continue };
        let value = |side: &Object| side.get(key).cloned().unwrap_or_default();
        let mut places = Vec::new();
        places_that_differ(&value(old), &value(new), &mut format!("/{key}"), &mut places);
        if !places.is_empty() {
            found.entry(class).or_default().extend(places);
        }
    }
    found
}

fn short(text: &str) -> String {
    const MAX_CHARS: usize = 160;
    match text.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn digest(digest: &Digest) -> String {
    digest.to_string()[..12].to_owned()
}

/// Those of `ours` that `theirs` does not have as well.
fn datasets(ours: &[Dataset], theirs: &[Dataset]) -> String {
    let own = ours.iter().filter(|dataset| !theirs.contains(dataset)).map(|dataset| {
        let hash = dataset.dataset_hash.trim_start_matches("sha256:");
        format!("{} ({} rows, {})", dataset.path, dataset.rows, hash.get(..12).unwrap_or(hash))
    });
    list(own)
}

/// A line for each slot that is not the same on both sides; for settings, where they differ.
fn targets(a: &Manifest, b: &Manifest) -> Vec<String> {
    let of = |side: &Manifest, slot: &str| side.targets.iter().find(|target| target.slot == slot).cloned();
    let only = |ours: &Manifest, theirs: &Manifest, side: &str| -> Vec<String> {
        let own = ours.targets.iter().filter(|target| of(theirs, &target.slot).is_none());
        own.map(|target| format!("target {} is only in {side}", target.slot)).collect()
    };
    let mut lines = only(a, b, "A");
    lines.extend(only(b, a, "B"));
    for old in &a.targets {
        let Some(new) = of(b, &old.slot).filter(|new| new != old) else { continue };
        let mut places = Vec::new();
        places_that_differ(&old.config, &new.config, &mut String::new(), &mut places);
        lines.push(format!("the settings of target {} differ at {}", old.slot, named(places)));
    }
    lines
}

fn toolchains(ours: &Manifest, theirs: &Manifest) -> String {
    let own = ours.toolchains.iter().filter(|(name, version)| theirs.toolchains.get(*name) != Some(version));
    list(own.map(|(name, version)| format!("{name} {version}")))
}

fn determinism(flags: Determinism) -> String {
    let Determinism { strict_serialization, deterministic_artifacts } = flags;
    format!("strict_serialization {strict_serialization}, deterministic_artifacts {deterministic_artifacts}")
}

fn list(items: impl Iterator<Item = String>) -> String {
    let joined = items.collect::<Vec<_>>().join(", ");
    if joined.is_empty() { "none".to_owned() } else { joined }
}
