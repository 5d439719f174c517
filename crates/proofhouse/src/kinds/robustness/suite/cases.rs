//! The cases of a `robustness` suite: checked one by one, with their variants made.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::Utf8Path;
use proofhouse_ledger::Json;
use proofhouse_ledger::id::check_name;
use proofhouse_ledger::json::{Object, to_json};
use proofhouse_ledger::record::Mode;

use super::file::{CaseFile, LevelFile, ModeName};
use super::judged;
use super::recorded::{self, Recorded, Wanted};
use super::{GeneratorUse, RobustnessBody, RobustnessFile, ToolCase, ToolVariant};
use crate::family::target::TargetConfig;
use crate::family::vary::{Ask, GeneratorConfig, Maker, contract};
use crate::kinds::robustness::{Policy, PolicyName};
use crate::spine::suite::check::Checker;
use crate::spine::suite::generators::{self, Asking, VariantFile, needs_model};
use crate::spine::suite::kind::Loading;
use crate::spine::suite::problem::{Code, did_you_mean, quoted};
use crate::spine::suite::tree::Step;
use crate::text::complaint::Complaint;
use crate::text::yaml;

/// The most variants of one generator that `policy: seed` allows.
const SEED_MAX_COUNT: u32 = 10;

/// All cases, and what is still missing.
pub(super) struct Made {
    pub(super) cases: Vec<ToolCase>,
    pub(super) wanted: Vec<Wanted>,
    pub(super) warnings: Vec<String>,
}

struct Making<'a, 't> {
    checker: &'a mut Checker<'t>,
    loading: &'a Loading<'a>,
    file: &'a RobustnessFile,
    body: &'a RobustnessBody,
    targets: &'a [(String, TargetConfig)],
    recorded: Recorded,
    made: Made,
}

/// Checks and makes the cases.
pub(super) fn make(
    checker: &mut Checker<'_>,
    loading: &Loading<'_>,
    file: &RobustnessFile,
    (body, targets, timeout_ms): (&RobustnessBody, &[(String, TargetConfig)], u64),
) -> Made {
    let recorded = recorded::read(checker, loading, body.rewriter.as_ref());
    let made = Made { cases: Vec::new(), wanted: Vec::new(), warnings: Vec::new() };
    let mut making = Making { checker, loading, file, body, targets, recorded, made };
    making.all(timeout_ms);
    making.made
}

impl Making<'_, '_> {
    fn all(&mut self, timeout_ms: u64) {
        let file = self.file;
        let groups =
            [("cases", &file.cases), ("small", &file.small), ("mid", &file.mid), ("large", &file.large)];
        let canonical = self.mode() == Some(ModeName::Canonical);
        let mut first: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
        for (group, cases) in groups {
            if group != "cases" && !canonical && !cases.is_empty() {
                let what = format!("`{group}` belongs to suites with `mode: canonical`");
                self.checker.complain_of_key(Code::BadValue, &[Step::Key(group)], what).hint =
                    Some("move its cases below `cases`".to_owned());
            }
            for (at, case) in cases.iter().enumerate() {
                if let Some((there, index)) = first.insert(&case.id, (group, at)) {
                    let place = self.checker.tree.place(
                        self.checker.tree.root,
                        &[Step::Key(there), Step::Index(index), Step::Key("id")],
                    );
                    let steps = [Step::Key(group), Step::Index(at), Step::Key("id")];
                    let problem = self.checker.complain(
                        Code::DuplicateCase,
                        &steps,
                        format!("duplicate id {}", quoted(&case.id)),
                    );
                    problem.also = Some(Box::new(("first here".to_owned(), place)));
                    problem.hint = Some("every case has an id of its own".to_owned());
                }
                if self.loading.overrides.limit.is_none_or(|limit| (self.made.cases.len() as u64) < limit) {
                    self.case(group, at, case, timeout_ms);
                }
            }
        }
        if first.is_empty() {
            let steps = [Step::Key("cases")];
            let there = self.checker.tree.entry(self.checker.tree.root, "cases").is_some();
            self.checker
                .complain(Code::Empty, if there { &steps } else { &[] }, "the suite has no cases")
                .hint = Some("write some below `cases:`".to_owned());
        }
        self.base_case();
    }

    /// What generators draw from where the suite gives them no seed of their own.
    fn own_seed(&self) -> u64 {
        self.loading.overrides.seed.unwrap_or(self.file.seed.0)
    }

    fn mode(&self) -> Option<ModeName> {
        self.file.mode.or(self.file.category)
    }

    fn case(&mut self, group: &str, at: usize, case: &CaseFile, timeout_ms: u64) {
        let here = [Step::Key(group), Step::Index(at)];
        if let Err(error) = check_name(&case.id) {
            let steps = [here[0], here[1], Step::Key("id")];
            self.checker.complain(Code::BadValue, &steps, error.to_string()).hint =
                Some("the id names folders: use letters, digits, `.`, `_` and `-`".to_owned());
        }
        self.keys_of_mode(&here, case);
        let Some((key, instruction, newline_removed)) = self.instruction(&here, case) else { return };
        self.lint(&[here[0], here[1], Step::Key(key)], &instruction, case);
        self.fits(&[here[0], here[1], Step::Key(key)], &instruction);
        let stressed = self.mode() == Some(ModeName::Stress);
        let written = case.runs.or(self.file.runs).or(self.file.runs_per_case).map(|runs| runs.0 as u32);
        let (default, _) = Policy::default_runs(self.body.policy, Mode::Baseline);
        // 24 alike runs are stable at the default level where looks are not planned.
        let default = if self.body.open && self.body.policy == PolicyName::Evidence { 30 } else { default };
        let mut base_runs = written.unwrap_or(default);
        if self.body.policy == PolicyName::Seed {
            base_runs = base_runs.clamp(3, 10);
        }
        let index = self.made.cases.len();
        let mut made = ToolCase {
            id: Arc::from(case.id.as_str()),
            base_case: case.base_case.clone().or_else(|| self.file.base_case.clone()),
            instruction,
            newline_removed,
            allow_terms: case.allow_terms.clone(),
            expected: case.expected.clone(),
            judges: judged::places(self.checker, &here, case, &self.body.judges),
            complexity: case.complexity.clone().or_else(|| (group != "cases").then(|| group.to_owned())),
            base_runs: (!stressed).then_some(base_runs),
            timeout_ms: case.timeout_seconds.map_or(timeout_ms, |seconds| 1000 * seconds.0),
            variants: Vec::new(),
            asked: Vec::new(),
        };
        for (nth, variant) in case.variants.iter().enumerate() {
            self.variants(
                &[here[0], here[1], Step::Key("variants"), Step::Index(nth)],
                variant,
                (&mut made, index),
            );
        }
        let mut last = 0;
        for (nth, level) in case.stress_ladder.iter().enumerate() {
            let steps = [here[0], here[1], Step::Key("stress_ladder"), Step::Index(nth)];
            if level.level.0 <= last {
                let what = format!("level {} does not come after level {last}", level.level.0);
                self.checker
                    .complain(Code::BadValue, &[&steps[..], &[Step::Key("level")]].concat(), what)
                    .hint = Some("a ladder ascends: number its levels upwards, each once".to_owned());
            }
            last = last.max(level.level.0);
            self.level(&steps, level, (&mut made, case));
        }
        self.made.cases.push(made);
    }

    /// Keys that the suite's mode asks for or has no use for.
    fn keys_of_mode(&mut self, here: &[Step<'_>], case: &CaseFile) {
        let Some(mode) = self.mode() else { return };
        let (variants, ladder) = (!case.variants.is_empty(), !case.stress_ladder.is_empty());
        for (key, given, belongs) in [
            ("variants", variants, mode == ModeName::Adversarial),
            ("stress_ladder", ladder, mode == ModeName::Stress),
        ] {
            if given && !belongs {
                let what = format!("`{key}` has no place in a suite with `mode: {}`", mode.as_str());
                self.checker.complain(Code::BadValue, &[here, &[Step::Key(key)]].concat(), what).hint =
                    Some("leave `mode` out to have variants and ladders in one suite".to_owned());
            } else if belongs && !given {
                let what = format!("the case has no `{key}`, which `mode: {}` is about", mode.as_str());
                self.checker.complain(Code::MissingKey, here, what).hint =
                    Some(format!("add `{key}:`, or set another mode"));
            }
        }
    }

    /// The instruction, the key that it stands below, and whether the newline of a block was taken off.
    fn instruction(&mut self, here: &[Step<'_>], case: &CaseFile) -> Option<(&'static str, String, bool)> {
        let (key, text) = match (&case.instruction, &case.base_instruction) {
            (Some(text), None) => ("instruction", text),
            (None, Some(text)) => ("base_instruction", text),
            (Some(one), Some(other)) if one == other => ("instruction", one),
            (Some(_), Some(_)) => {
                let steps = [here, &[Step::Key("base_instruction")]].concat();
                self.checker
                    .complain(Code::BadValue, &steps, "`base_instruction` differs from `instruction`")
                    .hint = Some("the two are one setting; keep one of them".to_owned());
                return None;
            }
            (None, None) => {
                let key = match self.mode() {
                    Some(ModeName::Adversarial | ModeName::Stress) => "base_instruction",
                    _ => "instruction",
                };
                self.checker.complain(Code::MissingKey, here, format!("missing key `{key}`")).hint =
                    Some(format!("add `{key}: …` with exactly what the tool receives"));
                return None;
            }
        };
        if text.trim().is_empty() {
            let steps = [here, &[Step::Key(key)]].concat();
            self.checker.complain(Code::Empty, &steps, "the instruction is empty").hint =
                Some("write exactly what the tool receives".to_owned());
            return None;
        }
        let block = self.checker.tree.is_block(&[here, &[Step::Key(key)]].concat());
        match text.strip_suffix('\n').filter(|_| block) {
            Some(text) => Some((key, text.to_owned(), true)),
            None => Some((key, text.clone(), false)),
        }
    }

    /// The contract of instructions: what to build, and nothing about how the result is examined.
    fn lint(&mut self, steps: &[Step<'_>], text: &str, case: &CaseFile) {
        for finding in contract::findings(text, &case.allow_terms) {
            let word = &text[finding.range.clone()];
            let what = format!("the instruction mentions {}, which belongs to the harness", quoted(word));
            self.checker.complain(Code::BadValue, steps, what).hint =
                Some(format!("reword it, or give the case `allow_terms: [{}]`", finding.term));
        }
    }

    /// Whether every tool can receive the text.
    fn fits(&mut self, steps: &[Step<'_>], text: &str) {
        let refusal = self.targets.iter().find_map(|(_, target)| match target {
            TargetConfig::Command(command) => command.refuses(text),
            _ => None,
        });
        if let Some(refusal) = refusal {
            self.checker.pass_on(Code::BadValue, steps, refusal);
        }
    }

    fn variants(&mut self, steps: &[Step<'_>], written: &VariantFile, (case, index): (&mut ToolCase, usize)) {
        let own = self.own_seed();
        let Some(asking) = generators::asking(self.checker, steps, written, own) else { return };
        let Asking { config, count, seed, params } = asking;
        if self.body.policy == PolicyName::Seed && count > SEED_MAX_COUNT {
            let what = format!("{count} variants, where `policy: seed` allows {SEED_MAX_COUNT}");
            self.checker
                .complain(
                    Code::OutOfRange,
                    &[steps, &[Step::Key("params"), Step::Key("count")]].concat(),
                    what,
                )
                .hint = Some("ask for fewer, or set `policy: evidence`".to_owned());
        }
        self.additions_lint(steps, &params, case.allow_terms.clone());
        if needs_model(&config) {
            self.rewritten(config, (count, seed), (case, index));
            return;
        }
        let Maker::Rules(rules) = config.maker() else { return };
        let ask = Ask { base: &case.instruction, count, seed, case_id: &case.id };
        let found = rules.variants(&ask);
        let shortfall = found.shortfall.map(|shortfall| reason(shortfall.reason));
        let produced = found.list.len() as u32;
        let (name, version) = (config.name(), config.version());
        for variant in found.list {
            self.fits(&[steps, &[Step::Key("generator")]].concat(), &variant.text);
            let id = next_id(case, name);
            case.variants.push(ToolVariant {
                id,
                mode: Mode::Adversarial,
                generator: name,
                generator_version: version,
                level: None,
                instruction: variant.text,
                edits: variant.edits,
                answer: None,
            });
        }
        if let Some(reason) = &shortfall {
            self.made.warnings.push(format!(
                "case `{}`: `{name}` gives {produced} of {count} variants ({reason})",
                case.id
            ));
        }
        case.asked.push(GeneratorUse { config, count, produced, shortfall, seed, level: None });
    }

    /// Variants that a model writes: those that are recorded; the others are wanted.
    fn rewritten(
        &mut self,
        config: GeneratorConfig,
        (count, seed): (u32, u64),
        (case, index): (&mut ToolCase, usize),
    ) {
        let (name, version) = (config.name(), config.version());
        let (mut produced, mut missing, mut open) = (0, 0, 0);
        if let (Maker::Model(model), Some(rewriter)) = (config.maker(), &self.body.rewriter) {
            for nth in 0..count {
                let ask = Ask { base: &case.instruction, count, seed, case_id: &case.id };
                let key = recorded::key(rewriter, version, &model.prompt(&ask, nth, 1));
                let answer = self.recorded.get(&key);
                if answer.is_none_or(|answer| answer.is_open()) {
                    let (case_id, asked, again) = (case.id.to_string(), case.asked.len(), answer.is_some());
                    self.made.wanted.push(Wanted { key, case_id, case: index, asked, index: nth, again });
                }
                let Some(answer) = answer else {
                    missing += 1;
                    continue;
                };
                produced += u32::from(answer.accepted.is_some());
                open += u32::from(answer.is_open());
                let id = next_id(case, name);
                case.variants.push(ToolVariant {
                    id,
                    mode: Mode::Adversarial,
                    generator: name,
                    generator_version: version,
                    level: None,
                    instruction: answer.accepted.clone().unwrap_or_default(),
                    edits: Vec::new(),
                    answer: Some(answer.clone()),
                });
            }
        }
        let shortfall = match (&self.body.rewriter, produced) {
            (None, _) => Some("no_model"),
            (Some(_), produced) if produced + missing + open < count => Some("rejected_by_guard"),
            _ if open > 0 => Some("no_answer"),
            _ => None,
        };
        match shortfall {
            Some("no_model") => self.made.warnings.push(format!(
                "case `{}`: `{name}` needs a model for {count} variants, and the suite has no `rewriter`; they are left out",
                case.id
            )),
            Some("no_answer") => self.made.warnings.push(format!(
                "case `{}`: `{name}` gives {produced} of {count} variants (the model did not answer for {open}; the next run asks again)",
                case.id
            )),
            Some(_) => self.made.warnings.push(format!(
                "case `{}`: `{name}` gives {produced} of {count} variants (the guard refused the others)",
                case.id
            )),
            None => {}
        }
        let shortfall = shortfall.map(str::to_owned);
        case.asked.push(GeneratorUse { config, count, produced, shortfall, seed, level: None });
    }

    fn level(&mut self, steps: &[Step<'_>], written: &LevelFile, (case, file): (&mut ToolCase, &CaseFile)) {
        let mut params = written.params.0.clone();
        let own = self.own_seed();
        let beside = (&mut params, written.seed.map(|seed| seed.0));
        let seed = generators::seed(self.checker, steps, beside, own);
        let config = generators::generator(self.checker, steps, &written.generator, &params);
        let Some(config) = config else { return };
        self.additions_lint(steps, &params, file.allow_terms.clone());
        let Maker::Rules(rules) = config.maker() else {
            let steps = [steps, &[Step::Key("generator")]].concat();
            let what = format!(
                "{} needs a model, and a ladder has rungs that never change",
                quoted(&written.generator)
            );
            self.checker.complain(Code::BadValue, &steps, what).hint =
                Some("use one of the `add_…` generators".to_owned());
            return;
        };
        if params.get("cumulative") == Some(&Json::Bool(true)) {
            let steps = [steps, &[Step::Key("params"), Step::Key("cumulative")]].concat();
            self.checker
                .complain(Code::BadValue, &steps, "a rung is one instruction, not one per addition")
                .hint = Some("give each addition a level of its own".to_owned());
            return;
        }
        let level = written.level.0 as u32;
        let ask = Ask { base: &case.instruction, count: 1, seed, case_id: &case.id };
        let Some(variant) = rules.variants(&ask).list.pop() else {
            let what = format!("{} makes nothing of this instruction", quoted(&written.generator));
            self.checker.complain(Code::BadValue, &[steps, &[Step::Key("generator")]].concat(), what).hint =
                Some("`proofhouse vary` shows what a generator does".to_owned());
            return;
        };
        self.fits(&[steps, &[Step::Key("generator")]].concat(), &variant.text);
        case.variants.push(ToolVariant {
            id: Arc::from(format!("level_{level}")),
            mode: Mode::Stress,
            generator: config.name(),
            generator_version: config.version(),
            level: Some(level),
            instruction: variant.text,
            edits: variant.edits,
            answer: None,
        });
        case.asked.push(GeneratorUse {
            config,
            count: 1,
            produced: 1,
            shortfall: None,
            seed,
            level: Some(level),
        });
    }

    /// What a ladder adds is part of an instruction too.
    fn additions_lint(&mut self, steps: &[Step<'_>], params: &Object, allow_terms: Vec<String>) {
        let Some(Json::Array(additions)) = params.get("additions") else { return };
        for (at, addition) in additions.iter().enumerate() {
            let Some(text) = addition.as_str() else { continue };
            for finding in contract::findings(text, &allow_terms) {
                let place = [steps, &[Step::Key("params"), Step::Key("additions"), Step::Index(at)]].concat();
                let what = format!(
                    "the instruction mentions {}, which belongs to the harness",
                    quoted(&text[finding.range.clone()])
                );
                self.checker.complain(Code::BadValue, &place, what).hint =
                    Some(format!("reword it, or give the case `allow_terms: [{}]`", finding.term));
            }
        }
    }

    /// `base_case` names a case of a baseline suite, whose instruction is the one that is varied.
    fn base_case(&mut self) {
        let named: Vec<(Vec<Step<'_>>, &str, Option<&CaseFile>)> = self
            .file
            .base_case
            .iter()
            .map(|id| (vec![Step::Key("base_case")], id.as_str(), None))
            .chain(self.file.cases.iter().enumerate().filter_map(|(at, case)| {
                let id = case.base_case.as_deref()?;
                Some((vec![Step::Key("cases"), Step::Index(at), Step::Key("base_case")], id, Some(case)))
            }))
            .collect();
        if named.is_empty() {
            return;
        }
        let parent = self.loading.path.parent().unwrap_or(Utf8Path::new(""));
        let name = self.file.baseline.as_deref().unwrap_or("baseline.yaml");
        let known = match baseline_cases(&parent.join(name)) {
            Ok(known) => known,
            Err(complaint) => {
                if self.file.baseline.is_some() {
                    let hint = "name the baseline suite, relative to this one";
                    let complaint = complaint.about(format!("{}:", quoted(name))).hint(hint);
                    self.checker.pass_on(Code::Unreadable, &[Step::Key("baseline")], complaint);
                }
                return;
            }
        };
        let trimmed = |text: &str| text.trim_end_matches('\n').to_owned();
        for (steps, id, case) in named {
            let Some((_, instruction)) = known.iter().find(|(known, _)| known == id) else {
                let ids: Vec<&str> = known.iter().map(|(id, _)| id.as_str()).collect();
                self.checker
                    .complain(Code::BadValue, &steps, format!("`{name}` has no case {}", quoted(id)))
                    .hint = Some(did_you_mean(id, &ids, "cases"));
                continue;
            };
            let own = |case: &CaseFile| {
                let text = case.base_instruction.as_ref().or(case.instruction.as_ref());
                text.is_some_and(|text| trimmed(text) == trimmed(instruction))
            };
            let matches = case.map_or_else(|| self.file.cases.iter().any(own), own);
            if !matches {
                let what = format!("the instruction of {} in `{name}` is another one", quoted(id));
                self.checker.complain(Code::BadValue, &steps, what).hint =
                    Some(format!("it is {}", quoted(instruction.trim_end())));
            }
        }
    }
}

/// Id and instruction of every case of a baseline suite.
fn baseline_cases(path: &Utf8Path) -> Result<Vec<(String, String)>, Complaint> {
    let text = std::fs::read_to_string(path).map_err(Complaint::of)?;
    let suite: Json = yaml::read(&text)?;
    let Some(Json::Array(cases)) = suite.get("cases") else { return Err(Complaint::new("it has no cases")) };
    let text = |case: &Json, key: &str| case.get(key).and_then(Json::as_str).map(str::to_owned);
    Ok(cases.iter().filter_map(|case| Some((text(case, "id")?, text(case, "instruction")?))).collect())
}

/// `whitespace_noise_0007`: the next one of this generator in the case.
fn next_id(case: &ToolCase, generator: &str) -> Arc<str> {
    let before = case
        .variants
        .iter()
        .filter(|variant| variant.generator == generator && variant.level.is_none())
        .count();
    Arc::from(format!("{generator}_{:04}", before + 1))
}

fn reason(lack: crate::family::vary::Lack) -> String {
    to_json(&lack).ok().and_then(|json| json.as_str().map(str::to_owned)).unwrap_or_default()
}
