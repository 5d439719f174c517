//! The files that a `probe` suite takes its cases from: single ones, several by a glob, and folders of a snapshot.

use std::sync::Arc;

use proofhouse_ledger::Digest;

use crate::spine::suite::cases::Checked;
use crate::spine::suite::check::Checker;
use crate::spine::suite::dataset::Dataset;
use crate::spine::suite::dataset::select::{self, Selection};
use crate::spine::suite::file::{DatasetFile, Fields, Format, Sample};
use crate::spine::suite::kind::Loading;
use crate::spine::suite::load::{Chosen, DatasetFacts};
use crate::spine::suite::paths;
use crate::spine::suite::problem::{Code, quoted};
use crate::spine::suite::tree::Step;
use crate::text::template::Condition;

/// A dataset whose path leads somewhere.
pub(super) struct FoundDataset {
    /// Its place in the suite's list.
    index: usize,
    /// Its path as the suite would write it.
    path: String,
    pub(super) dataset: Arc<Dataset>,
    pub(super) fields: Fields,
}

/// A list of datasets, and the keys that lead to it.
pub(super) type Written<'f> = (&'f [Step<'f>], &'f [DatasetFile]);

/// One dataset as it is written, and the steps that lead to it.
struct Entry<'f> {
    under: &'f [Step<'f>],
    index: usize,
    file: &'f DatasetFile,
}

impl<'f> Entry<'f> {
    /// The way to a key of it.
    fn at(&self, key: &'f str) -> Vec<Step<'f>> {
        [self.under, &[Step::Key("datasets"), Step::Index(self.index), Step::Key(key)]].concat()
    }
}

/// Every file that a list of datasets means; what leads nowhere is a problem.
pub(super) fn find(
    checker: &mut Checker<'_>,
    (under, list): Written<'_>,
    loading: &Loading<'_>,
) -> Vec<FoundDataset> {
    let mut found = Vec::new();
    for (index, dataset) in list.iter().enumerate() {
        let one = one(checker, loading, &Entry { under, index, file: dataset });
        found.extend(one.into_iter().map(|(path, each)| FoundDataset {
            index,
            path,
            dataset: Arc::new(each),
            fields: dataset.fields.clone(),
        }));
    }
    found
}

fn one(checker: &mut Checker<'_>, loading: &Loading<'_>, entry: &Entry<'_>) -> Vec<(String, Dataset)> {
    let (file, at) = (entry.file, |key| entry.at(key));
    let condition = match file.condition.as_deref().map(Condition::parse).transpose() {
        Ok(condition) => condition,
        Err(error) => {
            checker.complain(Code::Template, &at("where"), error.what).hint = Some(error.hint);
            return Vec::new();
        }
    };
    let names = match expanded(checker, loading, entry) {
        Some(names) => names,
        None => return Vec::new(),
    };
    let alone = names.len() == 1;
    if let (Some(written), true) = (&file.sha256, alone)
        && let Err(error) = written.parse::<Digest>()
    {
        checker.complain(Code::BadValue, &at("sha256"), error.to_string()).hint =
            Some(format!("`sha256sum {}` prints it", file.path));
    }
    if let (Some(_), false) = (&file.sha256, alone) {
        let what = format!("one digest for {} files", names.len());
        checker.complain(Code::BadValue, &at("sha256"), what).hint =
            Some("name each file with its own digest".to_owned());
    }
    let base = loading.base();
    let (mut paths, mut datasets) = (Vec::new(), Vec::new());
    for name in names {
        let Some(format) =
            file.format.filter(|format| *format != Format::Hf).or_else(|| Format::of_path(&name))
        else {
            let what = format!("the format of {} is not clear from its name", quoted(&name));
            checker.complain(Code::BadValue, &at("path"), what).hint =
                Some("add `format: jsonl`, `csv`, `json`, `yaml` or `toml`".to_owned());
            continue;
        };
        match paths::resolve(base, &name) {
            Ok(path) => {
                let shown = match base.as_str() {
                    "." => name.clone(),
                    _ => base.join(&name).into_string(),
                };
                let selection = Selection::of(condition.clone());
                datasets.push(Dataset { selection, ..Dataset::of(loading, shown, path, format) });
                paths.push(name);
            }
            Err(fault) => checker.complain(fault.code, &at("path"), fault.what).hint = Some(fault.hint),
        }
    }
    if let Some(Sample { count, seed }) = &file.sample {
        match select::sample(&mut datasets, count.0, seed.map_or(0, |seed| seed.0)) {
            Ok(total) if total < count.0 => {
                let what = format!("a sample of {} out of {total} rows", count.0);
                checker.complain(Code::OutOfRange, &at("sample"), what).hint =
                    Some("ask for fewer, or leave `sample` out".to_owned());
            }
            Ok(_) => {}
            // Whoever reads the rows next says the same, in full.
            Err(_) => {}
        }
    }
    paths.into_iter().zip(datasets).collect()
}

/// The files that an entry names: itself, all that its glob matches, or those of a snapshot folder.
fn expanded(checker: &mut Checker<'_>, loading: &Loading<'_>, entry: &Entry<'_>) -> Option<Vec<String>> {
    let (file, at) = (entry.file, |key| entry.at(key));
    if file.format == Some(Format::Hf) {
        return snapshot(checker, loading, entry);
    }
    for (key, given) in [("split", file.split.is_some()), ("revision", file.revision.is_some())] {
        if given {
            let what = format!("`{key}` is for snapshot folders");
            checker.complain(Code::BadValue, &at(key), what).hint =
                Some("add `format: hf`, or leave it out".to_owned());
        }
    }
    let is_glob = file.path.contains(['*', '?', '[']) && !loading.base().join(&file.path).exists();
    if !is_glob {
        return Some(vec![file.path.clone()]);
    }
    match paths::matching(loading.base(), &file.path) {
        Ok(names) if names.is_empty() => {
            let what = format!("no file matches {}", quoted(&file.path));
            checker.complain(Code::Unreadable, &at("path"), what).hint =
                Some("paths start at the suite's directory; `**` stands for whole folders".to_owned());
            None
        }
        Ok(names) => Some(names),
        Err(fault) => {
            checker.complain(fault.code, &at("path"), fault.what).hint = Some(fault.hint);
            None
        }
    }
}

/// The files of a split in a snapshot folder as Hugging Face's tools leave it; nothing is ever downloaded.
fn snapshot(checker: &mut Checker<'_>, loading: &Loading<'_>, entry: &Entry<'_>) -> Option<Vec<String>> {
    let (file, at) = (entry.file, |key| entry.at(key));
    if !loading.base().join(&file.path).is_dir() {
        let what = format!("{} is not a folder", quoted(&file.path));
        checker.complain(Code::Unreadable, &at("path"), what).hint =
            Some("`format: hf` reads a snapshot folder; nothing is downloaded".to_owned());
        return None;
    }
    match &file.revision {
        // A snapshot lies in a folder that is named after its revision.
        Some(revision)
            if file.path.trim_end_matches('/').ends_with(&format!("/{revision}"))
                || file.path == *revision => {}
        Some(revision) => {
            let what = format!("{} is not the folder of revision {}", quoted(&file.path), quoted(revision));
            checker.complain(Code::HashMismatch, &at("revision"), what).hint =
                Some("a snapshot lies in `…/snapshots/REVISION`".to_owned());
            return None;
        }
        None if file.sha256.is_none() && !loading.lenient => {
            let what = format!("nothing pins {}", quoted(&file.path));
            checker.complain(Code::MissingKey, &at("path"), what).hint =
                Some("add `revision`, or `dataset_hash` for a single file".to_owned());
            return None;
        }
        None => {}
    }
    let names = match paths::matching(loading.base(), &format!("{}/**", file.path.trim_end_matches('/'))) {
        Ok(names) => names,
        Err(fault) => {
            checker.complain(fault.code, &at("path"), fault.what).hint = Some(fault.hint);
            return None;
        }
    };
    let split = file.split.as_deref();
    let is_of = |name: &String| {
        let inside =
            name.strip_prefix(file.path.trim_end_matches('/')).unwrap_or(name).trim_start_matches('/');
        let is_data = Format::of_path(inside).is_some()
            && !inside.starts_with('.')
            && !inside.ends_with("dataset_infos.json");
        let named = |part: &str| {
            split.is_none_or(|split| {
                part == split
                    || part.strip_prefix(split).is_some_and(|rest| rest.starts_with(['-', '.', '_']))
            })
        };
        is_data && (split.is_none() || inside.split('/').any(named))
    };
    let names: Vec<String> = names.into_iter().filter(is_of).collect();
    if names.is_empty() {
        let what = match split {
            Some(split) => format!("{} has no file of split {}", quoted(&file.path), quoted(split)),
            None => format!("{} has no file of rows", quoted(&file.path)),
        };
        checker.complain(Code::Unreadable, &at("path"), what).hint =
            Some("files of rows end in `.jsonl`, `.csv`, `.json`, `.yaml`, `.toml` or `.parquet`".to_owned());
        return None;
    }
    Some(names)
}

/// Compares what was read with what the suite says, for every dataset that was read to its end.
pub(super) fn facts(
    checker: &mut Checker<'_>,
    (under, list): Written<'_>,
    datasets: &[FoundDataset],
    found: &[Option<(Digest, u64)>],
) -> Vec<DatasetFacts> {
    let mut facts = Vec::new();
    for (each, found) in datasets.iter().zip(found) {
        let Some((sha256, rows)) = *found else { continue };
        let written = &list[each.index];
        let entry = Entry { under, index: each.index, file: written };
        let chosen = Chosen {
            condition: written.condition.clone(),
            sample: written
                .sample
                .as_ref()
                .map(|sample| (sample.count.0, sample.seed.map_or(0, |seed| seed.0))),
        };
        if rows == 0 && chosen.sample.is_none() {
            let steps = entry.at("path");
            let what = match &chosen.condition {
                Some(_) => format!("no row of {} meets `where`", quoted(&each.path)),
                None => format!("{} has no rows", quoted(&each.path)),
            };
            checker.complain(Code::Empty, &steps, what).hint =
                Some("take it out, or check that it was written to its end".to_owned());
        }
        let expected = written.sha256.as_deref().and_then(|text| text.parse::<Digest>().ok());
        if let Some(expected) = expected.filter(|expected| *expected != sha256) {
            let steps = entry.at("sha256");
            let what = format!("{} is not the file that the suite names", quoted(&written.path));
            let problem = checker.complain(Code::HashMismatch, &steps, what);
            problem.notes = vec![
                format!("the suite says {}", expected.prefixed()),
                format!("the file has   {}", sha256.prefixed()),
            ];
            problem.hint = Some("restore the file, or write its digest if the change is meant".to_owned());
        }
        facts.push(DatasetFacts {
            path: each.path.clone(),
            format: each.dataset.format,
            sha256,
            rows,
            fields: each.fields.clone(),
            chosen,
        });
    }
    facts
}

/// Datasets with the digests that they had when they were read.
pub(super) fn checked(datasets: Vec<FoundDataset>, facts: &[DatasetFacts]) -> Vec<Checked> {
    let known = datasets.into_iter().zip(facts);
    let checked = known.map(|(found, facts)| Checked {
        dataset: found.dataset,
        fields: found.fields,
        digest: facts.sha256,
    });
    checked.collect()
}
