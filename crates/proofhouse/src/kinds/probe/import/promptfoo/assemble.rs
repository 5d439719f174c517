//! Putting suites together: every case has what prompts and judges ask of it, and tests that go to the same cells share a suite.

use std::collections::BTreeSet;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Object, to_json};
use serde_json::{Map, Value, json};

use super::asserts::Assert;
use super::cases::{Test, Var, fields};
use super::prompts::Prompt;
use super::providers::{Provider, stand_in};
use super::source::{Part, Reader};
use crate::family::judge::{self, OWN_FIELDS};
use crate::kinds::probe::import::write::SuiteText;
use crate::kinds::probe::import::{name_of, short, text_of, unique};
use crate::spine::import::Imported;
use crate::text::complaint::Complaint;
use crate::text::template::{Form, Template, is_jinja};

/// Fields of a case that mean something of their own here.
const OWN: [&str; 3] = ["id", "judges", "tags"];

/// How often variables in variables are filled.
const MAX_PASSES: usize = 4;

/// A test that can be a case.
struct Case {
    id: String,
    fields: Map<String, Value>,
    asserts: Vec<Assert>,
    tags: Vec<&'static str>,
    /// Places of its prompts and providers, and the share of asserts that is enough.
    cells: (Vec<usize>, Vec<usize>, Option<f64>),
}

/// Makes suites of all that was read.
pub(super) fn assemble(
    mut reader: Reader,
    title: Option<String>,
    mut providers: Vec<Provider>,
    (mut prompts, tests): (Vec<Prompt>, Vec<Test>),
) -> Imported {
    if providers.is_empty() {
        reader.notes.push(
            "the file names no provider: a target that says what it was asked stands in its place".to_owned(),
        );
        let name = "stand-in".to_owned();
        providers.push(Provider { name, known_as: Vec::new(), config: stand_in() });
    }
    let mut cases = made(&mut reader, tests, &prompts, &providers);
    if cases.is_empty() {
        cases.push(only_case(&mut reader, &prompts, &providers));
    }
    prompts = fitting(&mut reader, prompts, &mut cases);
    cases.iter_mut().for_each(|case| drop_unfilled(&mut reader, case));
    let suites = groups(&cases);
    let mut imported = Imported::default();
    let stem = reader
        .doc
        .name
        .trim_end_matches(".yaml")
        .trim_end_matches(".yml")
        .trim_end_matches(".json")
        .to_owned();
    let id = name_of(title.as_deref().unwrap_or(&stem), "imported");
    let left_out = reader.left_out();
    for (nth, members) in suites.iter().enumerate() {
        let number = if nth == 0 { String::new() } else { format!("-{}", nth + 1) };
        let mut suite = SuiteText::default();
        let name = &reader.doc.name;
        suite.about.push(format!("Imported from {name} by `proofhouse import promptfoo`."));
        if suites.len() > 1 {
            suite.about.push(format!(
                "Suite {} of {}: tests that go to the same prompts and targets.",
                nth + 1,
                suites.len()
            ));
        }
        suite.about.extend(reader.notes.iter().map(|note| format!("Note: {note}.")));
        suite.left_out(&left_out);
        suite.set("kind", "probe");
        suite.set("suite_id", format!("{id}{number}"));
        if let Some(title) = &title {
            suite.set("title", title.as_str());
        }
        body(&mut suite, &prompts, &providers, members);
        let file = format!("suite{number}.yaml");
        imported.files.push((file.clone(), suite.text().into_bytes()));
        imported.suites.push(file);
    }
    imported.counts = reader.counts();
    imported.left_out = left_out;
    imported.notes = reader.notes;
    imported
}

/// Cases of the tests, their variables filled.
fn made(reader: &mut Reader, tests: Vec<Test>, prompts: &[Prompt], providers: &[Provider]) -> Vec<Case> {
    let ids = ids(&tests);
    let mut cases = Vec::new();
    for (test, id) in tests.into_iter().zip(ids) {
        let fields = filled(reader, &test.vars);
        let which =
            |reader: &mut Reader, wanted: &Option<Vec<String>>, known: Vec<&Vec<String>>, what: &str| {
                let all: Vec<usize> = (0..known.len()).collect();
                let Some(wanted) = wanted else { return all };
                let meant = |at: &usize| known[*at].iter().any(|known| wanted.contains(known));
                let found: Vec<usize> = all.iter().copied().filter(meant).collect();
                if found.is_empty() && !known.is_empty() {
                    let note = format!(
                        "test {}: no {what} is called `{}`, so it goes to all",
                        test.number,
                        short(&wanted.join("`, `"))
                    );
                    reader.notes.push(note);
                    return all;
                }
                found
            };
        let own_prompts =
            which(reader, &test.prompts, prompts.iter().map(|prompt| &prompt.known_as).collect(), "prompt");
        let own_providers = which(
            reader,
            &test.providers,
            providers.iter().map(|provider| &provider.known_as).collect(),
            "provider",
        );
        let tags = if test.lost_asserts { vec!["asserts-left-out"] } else { Vec::new() };
        cases.push(Case {
            id,
            fields,
            asserts: test.asserts,
            tags,
            cells: (own_prompts, own_providers, test.threshold),
        });
    }
    cases
}

/// Each test's description where no other has it, else with its number.
fn ids(tests: &[Test]) -> Vec<String> {
    let words = |test: &Test| {
        let words = test.description.as_deref().map(short).filter(|words| !words.is_empty());
        words.unwrap_or_else(|| "test".to_owned())
    };
    let all: Vec<String> = tests.iter().map(words).collect();
    let mut ids: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    for (test, words) in tests.iter().zip(&all) {
        let alone = words != "test" && all.iter().filter(|other| *other == words).count() == 1;
        let id = if alone { words.clone() } else { format!("{words} {}", test.number) };
        let id = if seen.contains(&id) { unique(id, &ids) } else { id };
        seen.insert(id.clone());
        ids.push(id);
    }
    ids
}

/// The variables of a test with those in them filled, as promptfoo fills them.
fn filled(reader: &mut Reader, vars: &[Var]) -> Map<String, Value> {
    let mut known = fields(vars);
    for _ in 0..MAX_PASSES {
        let before = known.clone();
        for var in vars {
            let Some(text) = known[&var.name].as_str().filter(|text| is_jinja(text)).map(str::to_owned)
            else {
                continue;
            };
            match render(&text, &known) {
                Ok(text) => drop(known.insert(var.name.clone(), Value::from(text))),
                Err(complaint) => {
                    if let Some((doc, line)) = &var.at {
                        let what = format!("`{}: {}`", var.name, short(&text));
                        let why = format!("{}; it is sent as it stands", complaint.what);
                        reader.leave_once(Part::Var, (doc, *line), what, why);
                    }
                }
            }
        }
        if known == before {
            break;
        }
    }
    known
}

/// A text with its holes filled from fields.
fn render(text: &str, fields: &Map<String, Value>) -> Result<String, Complaint> {
    let template = Template::parse_as(text, Some(Form::Jinja)).map_err(|error| Complaint::new(error.what))?;
    let object: Object = fields
        .iter()
        .map(|(name, value)| (name.clone(), to_json(value).unwrap_or_else(|_| Json::from(text_of(value)))))
        .collect();
    let mut out = String::new();
    template.render(&mut out, &|name| object.get(name)).map_err(Complaint::of)?;
    Ok(out)
}

/// What is asked where a file has no test that can be read: its prompts, once.
fn only_case(reader: &mut Reader, prompts: &[Prompt], providers: &[Provider]) -> Case {
    let has_tests = reader.doc.get(reader.doc.root(), "tests").is_some();
    let mut fields = Map::new();
    if has_tests {
        reader.notes.push(
            "no test could be read: one case with the names of variables in place of their values stands in"
                .to_owned(),
        );
        for text in prompts.iter().flat_map(Prompt::texts) {
            let template = Template::parse_as(text, Some(Form::Jinja)).ok();
            let names = template.iter().flat_map(Template::fields).map(str::to_owned).collect::<Vec<_>>();
            fields.extend(names.into_iter().map(|name| (name.clone(), Value::from(format!("({name})")))));
        }
    }
    let cells = ((0..prompts.len()).collect(), (0..providers.len()).collect(), None);
    let (id, tags) = if has_tests { ("stand-in", vec!["stand-in"]) } else { ("once", Vec::new()) };
    Case { id: id.to_owned(), fields, asserts: Vec::new(), tags, cells }
}

/// The prompts that can be put to their cases; what a case does not have is empty there, as in promptfoo.
fn fitting(reader: &mut Reader, mut prompts: Vec<Prompt>, cases: &mut [Case]) -> Vec<Prompt> {
    let (mut lost, mut lines) = (BTreeSet::new(), BTreeSet::new());
    for (at, prompt) in prompts.iter().enumerate() {
        if let Err(complaint) = fits(prompt, at, cases) {
            lost.insert(at);
            let shown = format!("`{}`", short(prompt.texts().first().copied().unwrap_or_default()));
            let file = prompt.at.0.name.clone();
            let left = lines.contains(&(file.clone(), prompt.at.1));
            // Several prompts of one file are one prompt of the configuration.
            if !left {
                lines.insert((file, prompt.at.1));
                reader.leave(Part::Prompt, (&prompt.at.0, prompt.at.1), shown, complaint.what);
            }
        }
    }
    for case in cases.iter_mut() {
        case.cells.0.retain(|at| !lost.contains(at));
    }
    if prompts.is_empty() || cases.iter().any(|case| case.cells.0.is_empty()) {
        let at = prompts.len();
        prompts.push(stand_in_prompt(reader, cases));
        cases.iter_mut().filter(|case| case.cells.0.is_empty()).for_each(|case| case.cells.0.push(at));
        let fitted = fits(&prompts[at], at, cases);
        debug_assert!(fitted.is_ok(), "a stand-in asks for what is there");
    }
    rename_own(&mut prompts, cases);
    prompts
}

/// Whether a prompt can be filled from every case that it is put to.
fn fits(prompt: &Prompt, at: usize, cases: &mut [Case]) -> Result<(), Complaint> {
    for text in prompt.texts() {
        let template =
            Template::parse_as(text, Some(Form::Jinja)).map_err(|error| Complaint::new(error.what))?;
        let names: Vec<String> = template.fields().map(str::to_owned).collect();
        for case in cases.iter_mut().filter(|case| case.cells.0.contains(&at)) {
            let mut whole = case.fields.clone();
            for name in &names {
                whole.entry(name.clone()).or_insert_with(|| Value::from(""));
            }
            render(text, &whole)?;
            case.fields = whole;
        }
    }
    Ok(())
}

/// A prompt that shows what its cases have, where their own could not be read.
fn stand_in_prompt(reader: &mut Reader, cases: &[Case]) -> Prompt {
    reader.notes.push(
        "a prompt could not be read: one that shows the variables of each case stands in its place"
            .to_owned(),
    );
    let mut names: Vec<&String> = Vec::new();
    for case in cases.iter().filter(|case| case.cells.0.is_empty()) {
        names.extend(case.fields.keys().filter(|name| is_name(name)));
    }
    names.sort();
    names.dedup();
    let holes: Vec<String> = names.iter().map(|name| format!("{{{{ {name} }}}}")).collect();
    let text =
        if holes.is_empty() { "A prompt that could not be imported.".to_owned() } else { holes.join("\n") };
    let at = (reader.doc.clone(), 1);
    Prompt { name: "stand-in".to_owned(), known_as: Vec::new(), body: Value::from(text), at }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Variables whose names mean something of their own here get another one, and prompts and judges know both.
fn rename_own(prompts: &mut [Prompt], cases: &mut [Case]) {
    let used: Vec<&str> =
        OWN.into_iter().filter(|own| cases.iter().any(|case| case.fields.contains_key(*own))).collect();
    if used.is_empty() {
        return;
    }
    let with_names = |text: &str| {
        let Ok(template) = Template::parse_as(text, Some(Form::Jinja)) else { return text.to_owned() };
        let asked = used.iter().filter(|own| template.fields().any(|name| name == **own));
        let front: String = asked.map(|own| format!("{{% set {own} = var_{own} %}}")).collect();
        front + text
    };
    for prompt in prompts {
        match &mut prompt.body {
            Value::String(text) => *text = with_names(text),
            body => {
                for message in body["messages"].as_array_mut().into_iter().flatten() {
                    if let Some(text) = message["content"].as_str() {
                        message["content"] = Value::from(with_names(text));
                    }
                }
            }
        }
    }
    for case in cases {
        for own in &used {
            if let Some(value) = case.fields.remove(*own) {
                case.fields.insert(format!("var_{own}"), value);
            }
        }
        case.asserts.iter_mut().for_each(|assert| texts_of(&mut assert.judge, &with_names));
    }
}

/// Changes every text with holes below a value.
fn texts_of(value: &mut Value, change: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) if is_jinja(text) => *text = change(text),
        Value::Array(list) => list.iter_mut().for_each(|item| texts_of(item, change)),
        Value::Object(map) => map.values_mut().for_each(|item| texts_of(item, change)),
        _ => {}
    }
}

/// Drops asserts that ask for what the case does not have: they would be judged against nothing.
fn drop_unfilled(reader: &mut Reader, case: &mut Case) {
    let (mut kept, mut lost) = (Vec::new(), false);
    for assert in std::mem::take(&mut case.asserts) {
        let settings = to_json(&assert.judge).unwrap_or_default();
        let missing = judge::templates(&settings).into_iter().find_map(|text| {
            let template = Template::parse_as(&text, Some(Form::Jinja)).ok()?;
            template
                .fields()
                .find(|name| !OWN_FIELDS.contains(name) && !case.fields.contains_key(*name))
                .map(str::to_owned)
        });
        match missing {
            None => kept.push(assert),
            Some(name) => {
                lost = true;
                let (doc, line) = &assert.at;
                let why = format!("nothing fills `{{{{ {name} }}}}` in test `{}`", short(&case.id));
                reader.leave_once(Part::Assert, (doc, *line), assert.shown.clone(), why);
            }
        }
    }
    if lost && !case.tags.contains(&"asserts-left-out") {
        case.tags.push("asserts-left-out");
    }
    case.asserts = kept;
}

/// Cases by the cells that they go to, in the order of the first of each.
fn groups(cases: &[Case]) -> Vec<Vec<&Case>> {
    let mut groups: Vec<Vec<&Case>> = Vec::new();
    for case in cases {
        match groups.iter_mut().find(|group| group[0].cells == case.cells) {
            Some(group) => group.push(case),
            None => groups.push(vec![case]),
        }
    }
    groups
}

/// Prompts, targets, judges and cases of one suite.
fn body(suite: &mut SuiteText, prompts: &[Prompt], providers: &[Provider], cases: &[&Case]) {
    let (own_prompts, own_providers, threshold) = &cases[0].cells;
    suite.set("template", "jinja");
    match own_prompts.as_slice() {
        [only] => suite.set("prompt", prompts[*only].body.clone()),
        several => {
            let named = several.iter().map(|at| (prompts[*at].name.clone(), prompts[*at].body.clone()));
            suite.named("prompts", named.collect());
        }
    }
    let targets = own_providers.iter().map(|at| (providers[*at].name.clone(), providers[*at].config.clone()));
    suite.named("targets", targets.collect());
    let mut judges: Vec<(String, Value, Option<f64>)> = Vec::new();
    let mut rows = Vec::new();
    for case in cases {
        let mut own: Vec<String> = case.asserts.iter().map(|assert| named(&mut judges, assert)).collect();
        if own.is_empty() {
            let always = json!({"length": {"unit": "characters", "min": 0}});
            own.push(named_as(&mut judges, "no-assert", &always, None));
        }
        own.dedup();
        rows.push((case, own));
    }
    let weights = judges.iter().filter_map(|(name, _, weight)| Some((name.clone(), json!((*weight)?))));
    let weights: Map<String, Value> = weights.collect();
    let mut scoring = Map::new();
    if !weights.is_empty() && weights.values().any(|weight| *weight != json!(0.0)) {
        scoring.insert("weights".to_owned(), Value::Object(weights));
    }
    if let Some(threshold) = threshold.filter(|threshold| (0.0..=1.0).contains(threshold)) {
        scoring.insert("threshold".to_owned(), json!(threshold));
    }
    if !scoring.is_empty() {
        suite.set("scoring", Value::Object(scoring));
    }
    let all: Vec<String> = judges.iter().map(|(name, _, _)| name.clone()).collect();
    suite.named("judges", judges.into_iter().map(|(name, judge, _)| (name, judge)).collect());
    let rows = rows.into_iter().map(|(case, own)| {
        let mut row = case.fields.clone();
        row.insert("id".to_owned(), Value::from(case.id.as_str()));
        if !case.tags.is_empty() {
            row.insert("tags".to_owned(), json!(case.tags));
        }
        if !all.iter().all(|judge| own.contains(judge)) {
            row.insert("judges".to_owned(), json!(own));
        }
        Value::Object(row)
    });
    suite.set("cases", Value::Array(rows.collect()));
}

fn named(judges: &mut Vec<(String, Value, Option<f64>)>, assert: &Assert) -> String {
    named_as(judges, &assert.name, &assert.judge, assert.weight)
}

/// The name of a judge among those of the suite; the same judge is there once.
fn named_as(
    judges: &mut Vec<(String, Value, Option<f64>)>,
    name: &str,
    judge: &Value,
    weight: Option<f64>,
) -> String {
    if let Some((name, _, _)) = judges.iter().find(|(_, known, of)| known == judge && *of == weight) {
        return name.clone();
    }
    let taken: Vec<String> = judges.iter().map(|(name, _, _)| name.clone()).collect();
    // The mean of all judges has this name.
    let name = unique(if name == "weighted_mean" { "mean".to_owned() } else { name.to_owned() }, &taken);
    judges.push((name.clone(), judge.clone(), weight));
    name
}
