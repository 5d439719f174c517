//! The matrix: which prompts are put to which targets, and what the slots are called.

use super::file::ProbeFile;
use crate::spine::suite::check::Checker;
use crate::spine::suite::kind::Loading;
use crate::spine::suite::model::Slot;
use crate::spine::suite::problem::{Code, did_you_mean, listed, quoted};
use crate::spine::suite::prompt::{self, Prompt, PromptPlace};
use crate::spine::suite::tree::Step;
use crate::text::glob::path_glob;

/// What stands in one slot: a target and a prompt, by their places in the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) target: usize,
    pub(crate) prompt: usize,
}

/// Reads the prompts of a suite: those with names, or the one that every suite has.
pub(super) fn prompts(
    checker: &mut Checker<'_>,
    loading: &Loading<'_>,
    file: &ProbeFile,
    seed: u64,
) -> Option<Vec<Prompt>> {
    let Some(named) = &file.prompts else {
        let steps = [Step::Key("prompt")];
        let asked = PromptPlace { name: None, steps: &steps, form: file.template, seed };
        return prompt::read(checker, loading, &asked, &file.prompt).map(|prompt| vec![prompt]);
    };
    if checker.tree.entry(checker.tree.root, "prompt").is_some() {
        let what = "a suite has `prompt` or `prompts`";
        checker.complain(Code::BadValue, &[Step::Key("prompt")], what).hint =
            Some("move it below `prompts`, with a name".to_owned());
    }
    if named.0.is_empty() {
        checker.complain(Code::Empty, &[Step::Key("prompts")], "the suite has no prompts").hint =
            Some("for example `prompts: {terse: \"In one word: {{ question }}\"}`".to_owned());
    }
    let mut prompts = Vec::new();
    for (name, file_of_prompt) in &named.0 {
        checker.name("prompts", name);
        let steps = [Step::Key("prompts"), Step::Key(name)];
        let asked = PromptPlace { name: Some(name), steps: &steps, form: file.template, seed };
        prompts.push(prompt::read(checker, loading, &asked, file_of_prompt));
    }
    prompts.into_iter().collect()
}

/// The cells of the matrix, target by target, and their slots; `only` and `except` choose among them.
pub(super) fn cells(
    checker: &mut Checker<'_>,
    file: &ProbeFile,
    prompts: &[Prompt],
) -> (Vec<Cell>, Vec<Slot>) {
    let names: Vec<String> = file.targets.0.iter().map(|(name, _)| name.clone()).collect();
    let all = names.iter().enumerate().flat_map(|(target, name)| {
        prompts.iter().enumerate().map(move |(prompt, asked)| {
            let slot = match &asked.name {
                Some(prompt) => format!("{name}/{prompt}"),
                None => name.clone(),
            };
            (Cell { target, prompt }, slot)
        })
    });
    let all: Vec<(Cell, String)> = all.collect();
    let known: Vec<&str> = all.iter().map(|(_, slot)| slot.as_str()).collect();
    let only = chosen(checker, "only", &file.only, &known);
    let except = chosen(checker, "except", &file.except, &known);
    let mut cells = Vec::new();
    let mut slots = Vec::new();
    for (cell, name) in &all {
        let wanted =
            (file.only.is_empty() || only.contains(&name.as_str())) && !except.contains(&name.as_str());
        if !wanted {
            continue;
        }
        let (target, config) = &file.targets.0[cell.target];
        let prompt = &prompts[cell.prompt];
        if let Some(what) = prompt.too_much_for(config.shapes()) {
            let asked = prompt.name.as_deref().map_or_else(|| "the prompt".to_owned(), quoted);
            let what = format!(
                "{asked} has {what}, which a target of kind `{}` cannot be asked",
                config.kind_name()
            );
            checker.complain_of_key(Code::BadValue, &[Step::Key("targets"), Step::Key(target)], what).hint =
                Some(format!("`except: [{name}]` leaves this cell out"));
        }
        let mut slot = Slot::of_target(name, config);
        if let (Some(prompt), proofhouse_ledger::Json::Object(config)) = (&prompt.name, &mut slot.config) {
            config.set("prompt", prompt.as_str());
        }
        cells.push(*cell);
        slots.push(slot);
    }
    if cells.is_empty() && !all.is_empty() && checker.problems.is_empty() {
        let key = if file.only.is_empty() { "except" } else { "only" };
        let what = format!("`{key}` leaves no cell to run");
        checker.complain(Code::Empty, &[Step::Key(key)], what).hint =
            Some(format!("the cells are {}", listed(known.iter().copied())));
    }
    (cells, slots)
}

/// The slots that the patterns of a list mean; a pattern that means none is a problem.
fn chosen<'k>(checker: &mut Checker<'_>, key: &str, patterns: &[String], known: &[&'k str]) -> Vec<&'k str> {
    let mut chosen = Vec::new();
    for (nth, pattern) in patterns.iter().enumerate() {
        let steps = [Step::Key(key), Step::Index(nth)];
        let glob = match path_glob(pattern) {
            Ok(glob) => glob,
            Err(problem) => {
                checker.complain(Code::BadValue, &steps, problem.to_string());
                continue;
            }
        };
        // A target's name alone means all of its cells, and so does a prompt's.
        let part = |slot: &str| {
            slot.split_once('/')
                .is_some_and(|(target, prompt)| glob.is_match(target) || glob.is_match(prompt))
        };
        let found: Vec<&str> =
            known.iter().copied().filter(|slot| glob.is_match(slot) || part(slot)).collect();
        if found.is_empty() {
            let what = format!("no cell is called {}", quoted(pattern));
            checker.complain(Code::BadValue, &steps, what).hint = Some(did_you_mean(pattern, known, "cells"));
        }
        chosen.extend(found);
    }
    chosen
}
