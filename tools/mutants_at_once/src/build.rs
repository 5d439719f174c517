//! Writes the variants into the copy and compiles it, without those of which the compiler complains.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::places::{Mutant, Place, places};
use crate::rewrite::{Written, rewrite};

/// What was built, for those who run it.
#[derive(Serialize, Deserialize)]
pub struct Built {
    /// Where the tests run.
    pub folder: PathBuf,
    pub program: PathBuf,
    pub mutants: Vec<Placed>,
}

#[derive(Serialize, Deserialize)]
pub struct Placed {
    pub name: String,
    /// Place and variant; none where no choice can be written.
    pub choice: Option<(usize, usize)>,
    pub compiles: bool,
}

struct Source {
    text: String,
    places: Vec<Place>,
    first: usize,
}

/// `package` is one of the copy's.
pub fn build(copy: &Path, package: &str, list: &Path) -> Built {
    let list = fs::read_to_string(list).expect("the list of mutants is read");
    let mutants: Vec<Mutant> = serde_json::from_str(&list).expect("the list is that of cargo-mutants");
    let member = copy.join("crates").join(package);
    let folder = if member.exists() { member } else { copy.to_owned() };
    let root = folder.join("src/lib.rs");
    let lib = fs::read_to_string(&root).expect("the crate's root is read");
    fs::write(folder.join("src/mutants.rs"), include_str!("chosen.rs")).expect("the choice is written");
    let mut sources = read(copy, &mutants);
    match sources.iter_mut().find(|(file, _)| copy.join(file) == root) {
        Some((_, source)) => source.text.push_str("\nmod mutants;\n"),
        None => fs::write(&root, lib + "\nmod mutants;\n").expect("the root is written"),
    }
    let mut out = BTreeSet::new();
    let program = loop {
        let written = write(copy, &sources, &out);
        let complaints = match compile(copy, package) {
            Ok(program) => break program,
            Err(complaints) => complaints,
        };
        let refused = blame(&written, &complaints);
        let new = refused.difference(&out).count();
        eprintln!("{new} mutants do not compile; without them again");
        if new == 0 {
            let said: Vec<&str> = complaints.iter().filter_map(|row| row["rendered"].as_str()).collect();
            panic!("errors that no mutant explains:\n{}", said.join("\n"));
        }
        out.extend(refused);
    };
    let mut choices = BTreeMap::new();
    for source in sources.values() {
        for (index, place) in source.places.iter().enumerate() {
            for (variant, (number, _)) in place.variants.iter().enumerate() {
                choices.insert(*number, (source.first + index, variant + 1));
            }
        }
    }
    let placed = |(number, mutant): (usize, Mutant)| Placed {
        name: mutant.name,
        choice: choices.get(&number).copied(),
        compiles: !out.contains(&number),
    };
    Built { folder, program, mutants: mutants.into_iter().enumerate().map(placed).collect() }
}

fn read(copy: &Path, mutants: &[Mutant]) -> BTreeMap<String, Source> {
    // Places are counted from 1: 0 is no choice.
    let mut first = 1;
    let mut sources = BTreeMap::new();
    for file in mutants.iter().map(|mutant| &mutant.file).collect::<BTreeSet<_>>() {
        let text = fs::read_to_string(copy.join(file)).expect("a file with mutants is read");
        let places = places(&text, mutants, file);
        let count = places.len();
        sources.insert(file.clone(), Source { text, places, first });
        first += count;
    }
    sources
}

fn write(
    copy: &Path,
    sources: &BTreeMap<String, Source>,
    out: &BTreeSet<usize>,
) -> BTreeMap<String, Written> {
    let mut all = BTreeMap::new();
    for (file, source) in sources {
        let written = rewrite(&source.text, &source.places, source.first, out);
        fs::write(copy.join(file), &written.text).expect("a file with variants is written");
        all.insert(file.clone(), written);
    }
    all
}

/// The test program, or the compiler's errors.
fn compile(copy: &Path, package: &str) -> Result<PathBuf, Vec<Value>> {
    let cargo = |arguments: &[&str]| -> Vec<Value> {
        let output = Command::new("cargo")
            .args(arguments)
            .args(["--package", package, "--lib", "--message-format=json"])
            .current_dir(copy)
            .stderr(Stdio::inherit())
            .output()
            .expect("cargo starts");
        let lines = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
        lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    };
    let complaint = |row: Value| {
        let message = row.get("message")?;
        (message["level"] == "error").then(|| message.clone())
    };
    for step in [&["check", "--profile", "test"][..], &["test", "--no-run"][..]] {
        let rows = cargo(step);
        let complaints: Vec<Value> = rows.iter().cloned().filter_map(complaint).collect();
        if !complaints.is_empty() {
            return Err(complaints);
        }
        let test = rows.iter().rev().find(|row| row["profile"]["test"] == true);
        if let Some(program) = test.and_then(|row| row["executable"].as_str()) {
            return Ok(program.into());
        }
    }
    panic!("cargo built no test program");
}

/// Whose text an error names: a variant itself, or else every mutant of the innermost place around it.
fn blame(written: &BTreeMap<String, Written>, complaints: &[Value]) -> BTreeSet<usize> {
    let mut blamed = BTreeSet::new();
    for complaint in complaints {
        let no_spans = Vec::new();
        let spans = complaint["spans"].as_array().unwrap_or(&no_spans);
        let mut places: Vec<(&Written, usize)> = Vec::new();
        for primary in [true, false] {
            for span in spans.iter().filter(|span| span["is_primary"] == primary) {
                let name = span["file_name"].as_str().unwrap_or("");
                let file = written.iter().find(|(file, _)| name.ends_with(file.as_str()));
                if let (Some((_, file)), Some(start)) = (file, span["byte_start"].as_u64()) {
                    places.push((file, start as usize));
                }
            }
        }
        let own = places.iter().find_map(|(file, start)| {
            file.variants.iter().find(|(range, _)| range.contains(start)).map(|(_, number)| vec![*number])
        });
        let around = || {
            let (file, start) = places.first()?;
            let wholes = file.wholes.iter().filter(|(range, _)| range.contains(start));
            wholes.min_by_key(|(range, _)| range.len()).map(|(_, numbers)| numbers.clone())
        };
        blamed.extend(own.or_else(around).unwrap_or_default());
    }
    blamed
}
