//! Tests: their variables, their asserts, and which prompts and providers they go to.

use serde_json::{Map, Value};

use super::asserts::{self, Assert};
use super::source::{Doc, Part, Reader, extension, file_name, is_program};
use crate::kinds::probe::import::{short, text_of};
use crate::spine::suite::tree::NodeId;
use crate::text::complaint::Complaint;

/// How many cases the lists of one test may make.
const MAX_CASES: usize = 10_000;

/// A test before its variables are put into prompts.
#[derive(Debug, Clone, Default)]
pub(super) struct Test {
    pub(super) description: Option<String>,
    /// Variables in their order, those of all tests first.
    pub(super) vars: Vec<Var>,
    pub(super) asserts: Vec<Assert>,
    /// Whether some of its asserts have no place here.
    pub(super) lost_asserts: bool,
    /// The prompts and providers that it goes to; all without a list.
    pub(super) prompts: Option<Vec<String>>,
    pub(super) providers: Option<Vec<String>>,
    /// The share of its asserts that is enough.
    pub(super) threshold: Option<f64>,
    /// Its place among the tests, from 1, with a second number where it became several cases.
    pub(super) number: String,
}

/// A variable and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Var {
    pub(super) name: String,
    pub(super) value: Value,
    pub(super) at: Option<(Doc, u64)>,
}

/// What holds for all tests.
#[derive(Debug, Default)]
struct Defaults {
    vars: Vec<Var>,
    asserts: Vec<Assert>,
    lost_asserts: bool,
    options: Value,
    threshold: Option<f64>,
}

/// Reads all tests, each expanded to the cases that it means.
pub(super) fn read(reader: &mut Reader) -> Vec<Test> {
    let doc = reader.doc.clone();
    let root = doc.root();
    let defaults = doc.get(root, "defaultTest").map(|id| defaults(reader, &doc, id)).unwrap_or_default();
    let mut tests = Vec::new();
    for item in doc.get(root, "tests").map(|id| doc.items(id)).unwrap_or_default() {
        match doc.text(item) {
            Some(name) => from_file(reader, (&doc, doc.line(item)), name, &defaults, &mut tests),
            None => one(reader, &doc, item, &defaults, &mut tests),
        }
    }
    for item in doc.get(root, "scenarios").map(|id| doc.items(id)).unwrap_or_default() {
        scenario(reader, &doc, item, &defaults, &mut tests);
    }
    tests
}

fn defaults(reader: &mut Reader, doc: &Doc, id: NodeId) -> Defaults {
    if let Some(name) = doc.text(id) {
        let why = "what holds for all tests is read where it stands in the configuration itself";
        reader.leave(Part::Setting, (doc, doc.line(id)), format!("`defaultTest: {}`", short(name)), why);
        return Defaults::default();
    }
    let options = doc.get(id, "options").map(|id| doc.value(id)).unwrap_or_default();
    settings(reader, doc, id, "defaultTest");
    let (asserts, lost_asserts) = asserts_of(reader, doc, id, &options);
    Defaults {
        vars: vars(reader, doc, id),
        asserts,
        lost_asserts,
        options,
        threshold: doc.get(id, "threshold").and_then(|id| doc.value(id).as_f64()),
    }
}

/// Lists what a test says beyond what is read.
fn settings(reader: &mut Reader, doc: &Doc, id: NodeId, of: &str) {
    for (key, value, line) in doc.entries(id) {
        let why = match key {
            "vars" | "assert" | "description" | "prompts" | "providers" | "threshold" | "metadata" => {
                continue;
            }
            "options" => {
                for (key, _, line) in doc.entries(value) {
                    if key != "provider" {
                        let why = match key {
                            "rubricPrompt" => {
                                "rubrics have a prompt of their own, which asks for a line `VERDICT: …`"
                            }
                            "disableVarExpansion" => continue,
                            _ => "a case has no such setting",
                        };
                        reader.leave(Part::Setting, (doc, line), format!("`options.{key}` of {of}"), why);
                    }
                }
                continue;
            }
            "assertScoringFunction" => "scores are joined by `scoring`, not by a program",
            "tests" => "tests below a test are not read by promptfoo either",
            _ => "a case has no such setting",
        };
        reader.leave(Part::Setting, (doc, line), format!("`{key}` of {of}"), why);
    }
}

fn asserts_of(reader: &mut Reader, doc: &Doc, id: NodeId, options: &Value) -> (Vec<Assert>, bool) {
    let Some(list) = doc.get(id, "assert") else { return (Vec::new(), false) };
    let before = reader.left_count();
    let all = doc.items(list).len();
    let asserts = asserts::read(reader, doc, list, options);
    let lost = asserts.len() < all && reader.left_count() > before;
    (asserts, lost)
}

fn vars(reader: &mut Reader, doc: &Doc, id: NodeId) -> Vec<Var> {
    let Some(vars) = doc.get(id, "vars") else { return Vec::new() };
    let entries = doc.entries(vars).into_iter().map(|(name, value, line)| {
        reader.see(Part::Var);
        Var { name: name.to_owned(), value: doc.value(value), at: Some((doc.clone(), line)) }
    });
    entries.collect()
}

fn names(doc: &Doc, id: NodeId, key: &str) -> Option<Vec<String>> {
    let list = doc.get(id, key)?;
    Some(doc.items(list).into_iter().map(|item| text_of(&doc.value(item))).collect())
}

fn one(reader: &mut Reader, doc: &Doc, item: NodeId, defaults: &Defaults, tests: &mut Vec<Test>) {
    reader.see(Part::Test);
    if !doc.is_map(item) {
        let what = format!("`{}`", short(&doc.value(item).to_string()));
        return reader.leave(Part::Test, (doc, doc.line(item)), what, "it is no map");
    }
    let number = next_number(tests);
    let test = written(reader, doc, item, defaults, number);
    add(reader, (doc, doc.line(item)), test, tests);
}

/// One more than the number of the last test.
fn next_number(tests: &[Test]) -> String {
    let last = tests.last().map_or("0", |test| test.number.split('.').next().unwrap_or("0"));
    (last.parse::<u64>().unwrap_or(0) + 1).to_string()
}

/// A test as it is written, with what holds for all tests.
fn written(reader: &mut Reader, doc: &Doc, item: NodeId, defaults: &Defaults, number: String) -> Test {
    settings(reader, doc, item, "a test");
    let own = doc.get(item, "options").map(|id| doc.value(id)).unwrap_or_default();
    let options = if own["provider"].is_null() { &defaults.options } else { &own };
    let own_vars = match doc.get(item, "vars").and_then(|id| doc.text(id)).map(str::to_owned) {
        Some(name) => vars_of_file(reader, (doc, doc.line(item)), &name),
        None => vars(reader, doc, item),
    };
    let (own_asserts, lost) = asserts_of(reader, doc, item, options);
    let text = |key: &str| doc.get(item, key).and_then(|id| doc.text(id)).map(str::to_owned);
    Test {
        description: text("description"),
        vars: merged(&defaults.vars, own_vars),
        asserts: [&defaults.asserts[..], &own_asserts].concat(),
        lost_asserts: lost || defaults.lost_asserts,
        prompts: names(doc, item, "prompts"),
        providers: names(doc, item, "providers"),
        threshold: doc.get(item, "threshold").and_then(|id| doc.value(id).as_f64()).or(defaults.threshold),
        number,
    }
}

/// `vars: file://vars.yaml`: counted as one variable, because its names are not in the configuration.
fn vars_of_file(reader: &mut Reader, at: (&Doc, u64), name: &str) -> Vec<Var> {
    reader.see(Part::Var);
    let read = || -> Result<Vec<Var>, Complaint> {
        let file = file_name(name).unwrap_or(name);
        let doc = Doc::parse(file, reader.file(file)?)?;
        let entries = doc.entries(doc.root()).into_iter();
        Ok(entries
            .map(|(name, value, line)| Var {
                name: name.to_owned(),
                value: doc.value(value),
                at: Some((doc.clone(), line)),
            })
            .collect())
    };
    match read() {
        Ok(vars) => vars,
        Err(complaint) => {
            reader.leave(Part::Var, at, format!("`{}`", short(name)), complaint.what);
            Vec::new()
        }
    }
}

fn merged(first: &[Var], own: Vec<Var>) -> Vec<Var> {
    let kept = first.iter().filter(|var| !own.iter().any(|own| own.name == var.name));
    kept.cloned().chain(own.iter().cloned()).collect()
}

/// Adds the cases that a test means: one for each choice from its lists and globs.
fn add(reader: &mut Reader, at: (&Doc, u64), test: Test, tests: &mut Vec<Test>) {
    let mut choices: Vec<Vec<Var>> = vec![Vec::new()];
    for var in &test.vars {
        let values = values(reader, var);
        if choices.len() * values.len() > MAX_CASES {
            let what = format!("`{}`", short(test.description.as_deref().unwrap_or(&test.number)));
            return reader.leave(Part::Test, at, what, format!("its lists make more than {MAX_CASES} cases"));
        }
        let longer = choices.iter().flat_map(|front| {
            values.iter().map(move |value| {
                let mut whole = front.clone();
                whole.push(Var { value: value.clone(), ..var.clone() });
                whole
            })
        });
        choices = longer.collect();
    }
    let several = choices.len() > 1;
    for (nth, vars) in choices.into_iter().enumerate() {
        let number = if several { format!("{}.{}", test.number, nth + 1) } else { test.number.clone() };
        tests.push(Test { vars, number, ..test.clone() });
    }
}

/// The values of a variable: each text of a list, each file of a glob, or the value itself.
fn values(reader: &mut Reader, var: &Var) -> Vec<Value> {
    if let Some(name) = var.value.as_str().and_then(file_name) {
        let read = match is_program(name) {
            true => Err(Complaint::new("a program says its value, and values are data here")),
            false => {
                reader.files(name).and_then(|names| names.iter().map(|name| content(reader, name)).collect())
            }
        };
        return match read {
            Ok(values) => values,
            Err(complaint) => {
                if let Some((doc, line)) = &var.at {
                    let what = format!("`{}: {}`", var.name, short(&text_of(&var.value)));
                    let why = format!("{}; its name stands in its place", complaint.what);
                    reader.leave_once(Part::Var, (doc, *line), what, why);
                }
                vec![Value::from(text_of(&var.value).replace("file://", "file: "))]
            }
        };
    }
    match &var.value {
        Value::Array(list) if list.first().is_some_and(Value::is_string) => list.clone(),
        Value::Null => vec![Value::from("")],
        other => vec![other.clone()],
    }
}

fn content(reader: &Reader, name: &str) -> Result<Value, Complaint> {
    match extension(name) {
        "json" | "yaml" | "yml" => {
            let doc = Doc::parse(name, reader.file(name)?)?;
            Ok(Value::from(doc.value(doc.root()).to_string()))
        }
        "png" | "jpg" | "jpeg" | "gif" | "webp" | "mp3" | "wav" | "mp4" | "pdf" => {
            Err(Complaint::new("it is not text; a picture is a part of a message, `{image: …}`"))
        }
        _ => Ok(Value::from(reader.text_file(name)?.trim())),
    }
}

/// Tests in a file of their own.
fn from_file(reader: &mut Reader, at: (&Doc, u64), name: &str, defaults: &Defaults, tests: &mut Vec<Test>) {
    let file = file_name(name).unwrap_or(name);
    let complaint = match extension(file) {
        _ if name.contains("://") && !name.starts_with("file://") => {
            Complaint::new("nothing is downloaded; a file with its rows goes below `datasets`")
        }
        _ if is_program(file) => Complaint::new("a program writes it, and cases are data here"),
        "csv" => match table(reader, file, defaults, tests) {
            Ok(()) => return,
            Err(complaint) => complaint,
        },
        "jsonl" => match lines(reader, file, defaults, tests) {
            Ok(()) => return,
            Err(complaint) => complaint,
        },
        "yaml" | "yml" | "json" => match reader.file(file).and_then(|bytes| Doc::parse(file, bytes)) {
            Ok(doc) => {
                let items = doc.items(doc.root());
                return items.into_iter().for_each(|item| one(reader, &doc, item, defaults, tests));
            }
            Err(complaint) => complaint,
        },
        _ => Complaint::new("tests are read from csv, jsonl, yaml and json"),
    };
    reader.see(Part::Test);
    reader.leave(Part::Test, at, format!("`{}`", short(name)), complaint.what);
}

/// A test on each line.
fn lines(
    reader: &mut Reader,
    file: &str,
    defaults: &Defaults,
    tests: &mut Vec<Test>,
) -> Result<(), Complaint> {
    let text = reader.text_file(file)?;
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        // The number of the line in the file, so that what is left out can be found.
        let padded = "\n".repeat(at) + line;
        let doc = Doc::parse(file, padded.into_bytes())?;
        one(reader, &doc, doc.root(), defaults, tests);
    }
    Ok(())
}

/// A row of variables for each test; columns that begin with `__` say how it is judged.
fn table(
    reader: &mut Reader,
    file: &str,
    defaults: &Defaults,
    tests: &mut Vec<Test>,
) -> Result<(), Complaint> {
    let text = reader.text_file(file)?;
    let mut rows = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let names: Vec<String> = rows.headers().map_err(Complaint::of)?.iter().map(str::to_owned).collect();
    let doc = Doc::parse(file, b"[]".to_vec())?;
    for row in rows.records() {
        let row = row.map_err(Complaint::of)?;
        let line = row.position().map_or(0, csv::Position::line);
        reader.see(Part::Test);
        let mut test = Test {
            asserts: defaults.asserts.clone(),
            lost_asserts: defaults.lost_asserts,
            threshold: defaults.threshold,
            number: next_number(tests),
            ..Test::default()
        };
        let mut own = Vec::new();
        for (name, cell) in names.iter().zip(row.iter()) {
            match name.strip_prefix("__") {
                None => {
                    reader.see(Part::Var);
                    own.push(Var {
                        name: name.clone(),
                        value: Value::from(cell),
                        at: Some((doc.clone(), line)),
                    });
                }
                Some(_) if cell.trim().is_empty() => {}
                Some("description") => test.description = Some(cell.to_owned()),
                Some("threshold") => test.threshold = cell.trim().parse().ok(),
                Some(part) if part.starts_with("expected") => {
                    match asserts::of_cell(reader, cell, &defaults.options, (&doc, line)) {
                        Some(assert) => test.asserts.push(assert),
                        None => test.lost_asserts = true,
                    }
                }
                Some(part) => {
                    reader.leave(
                        Part::Setting,
                        (&doc, line),
                        format!("column `__{part}`"),
                        "a case has no such setting",
                    );
                }
            }
        }
        test.vars = merged(&defaults.vars, own);
        tests.push(test);
    }
    Ok(())
}

/// Every set of variables of a scenario with every one of its tests.
fn scenario(reader: &mut Reader, doc: &Doc, item: NodeId, defaults: &Defaults, tests: &mut Vec<Test>) {
    let items = |key: &str| doc.get(item, key).map(|id| doc.items(id)).unwrap_or_default();
    let settings: Vec<Vec<Var>> =
        items("config").into_iter().map(|config| vars(reader, doc, config)).collect();
    for inner in items("tests") {
        reader.see(Part::Test);
        let test = written(reader, doc, inner, defaults, next_number(tests));
        for (nth, vars) in settings.iter().enumerate() {
            let number =
                if settings.len() > 1 { format!("{}.{}", test.number, nth + 1) } else { test.number.clone() };
            let vars = merged(vars, test.vars.clone());
            add(reader, (doc, doc.line(inner)), Test { vars, number, ..test.clone() }, tests);
        }
    }
}

/// The variables of a test as the fields of a case.
pub(super) fn fields(vars: &[Var]) -> Map<String, Value> {
    vars.iter().map(|var| (var.name.clone(), var.value.clone())).collect()
}
