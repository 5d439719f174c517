//! `probe` suites: targets × cases × judges × repetitions.

use std::collections::BTreeMap;
use std::sync::Arc;

use proofhouse_ledger::Json;
use proofhouse_ledger::config::Price;
use proofhouse_ledger::json::Object;
use proofhouse_ledger::record::Kind;

use super::calibration::{self, Calibration};
use super::cells::{self, Cell};
use super::datasets;
use super::file::{ProbeFile, ScoringFile};
use super::metrics::METRICS;
use super::weighed;
use crate::family::judge::{self, JudgeConfig, Panel, Weighs};
use crate::spine::suite::cases::{CaseRules, CaseStream, Inputs};
use crate::spine::suite::check::{Checker, Common};
use crate::spine::suite::identity::{json, named};
use crate::spine::suite::kind::{Loading, Read};
use crate::spine::suite::load::in_order;
use crate::spine::suite::model::Suite;
use crate::spine::suite::problem::{Code, Problems, did_you_mean, listed, quoted};
use crate::spine::suite::prompt::Prompt;
use crate::spine::suite::scan::Scan;
use crate::spine::suite::tree::Step;
use crate::spine::suite::wordings::{self, Wordings};
use crate::spine::tally::{EXPENSES, TIMED};
use crate::text::complaint::Complaint;
use crate::text::template::{Form, Template};

/// The name that means the weighted mean, and so no judge.
const WEIGHTED_MEAN: &str = "weighted_mean";

/// What a `probe` suite adds.
#[derive(Debug, Clone)]
pub struct Probe {
    /// How often each case is put to each target.
    pub repetitions: u32,
    /// What stands in each slot.
    pub(crate) cells: Vec<Cell>,
    /// Whether the suite wants answers to be kept.
    pub cache: bool,
    /// Judges by name, in the order of the suite.
    pub judges: Vec<(String, JudgeConfig)>,
    /// How scores become a verdict.
    pub scoring: Scoring,
    /// Other wordings of every case.
    pub wordings: Wordings,
    /// What its judges weigh beside the answer.
    pub(crate) weighs: Weighs,
    /// Slot → what its tokens cost; none where no judge weighs cost.
    pub(crate) prices: Option<BTreeMap<String, Price>>,
    /// Labelled answers, which judges are tried on.
    pub calibration: Option<Calibration>,
    pub(crate) inputs: Arc<Inputs>,
    pub(crate) case_count: u64,
}

impl Probe {
    /// The name of the score that decides.
    pub fn primary_metric(&self) -> &str {
        match self.scoring.primary {
            Primary::Judge(at) => &self.judges[at].0,
            Primary::WeightedMean => "weighted_mean",
        }
    }

    /// The judges, compiled.
    pub fn panel(&self) -> Result<Panel, Complaint> {
        let names = self.judges.iter().map(|(name, _)| name.clone());
        let scoring = judge::Scoring {
            weights: names.zip(self.scoring.weights.iter().copied()).collect(),
            primary: match self.scoring.primary {
                Primary::Judge(at) => Some(self.judges[at].0.clone()),
                Primary::WeightedMean => None,
            },
            threshold: self.scoring.threshold,
        };
        Panel::new(&self.judges, &scoring)
    }

    /// Whether a judge runs programs in the sandbox.
    pub fn runs_programs(&self) -> bool {
        let runs =
            |panel: Panel| panel.help().iter().any(|(_, help)| matches!(help, judge::Help::Command(_)));
        self.panel().is_ok_and(runs)
    }

    /// All cases, in a second pass over the datasets; the stream's own errors say that one changed meanwhile.
    pub fn cases(&self) -> CaseStream {
        CaseStream::new(Arc::clone(&self.inputs), self.case_count)
    }

    /// Every setting that took effect, for the run's identity.
    fn settings(&self) -> Object {
        let mut settings = Object::new();
        let names = || self.judges.iter().map(|(name, _)| name.as_str());
        let weights = names().zip(&self.scoring.weights).map(|(name, weight)| (name, json(weight)));
        let scoring = Object::from_iter([
            ("primary", Json::from(self.primary_metric())),
            ("threshold", json(&self.scoring.threshold)),
            ("weights", Json::Object(weights.collect())),
        ]);
        let cases = self.inputs.inline.iter().map(|case| Json::Object(case.clone()));
        settings.set("cases", Json::Array(cases.collect()));
        settings.set("judges", named("name", &self.judges));
        self.prompt_settings(&mut settings);
        settings.set("repetitions", self.repetitions);
        settings.set("scoring", Json::Object(scoring));
        if let Some(calibration) = &self.calibration {
            settings.set("calibration", calibration.settings());
        }
        // Verdicts rest on them: another price list makes another run.
        if let Some(prices) = &self.prices {
            settings.set(weighed::PRICES, json(prices));
        }
        if self.wordings.per_case() > 1 {
            settings.set("vary", self.wordings.settings());
        }
        settings
    }
}

impl Probe {
    /// What is asked. A single text is written as it always was; how its holes are written is said where that is new.
    fn prompt_settings(&self, settings: &mut Object) {
        let prompts = &self.inputs.rules.prompts;
        if let [Prompt { name: None, .. }] = prompts.as_slice() {
            let prompt = &prompts[0];
            match prompt.settings().get("text").filter(|_| prompt.is_text() && !prompt.has_examples()) {
                Some(text) => settings.set("prompt", text.clone()),
                None => settings.set("prompt", prompt.settings().clone()),
            }
            if prompt.form() == Form::Jinja {
                settings.set("template", json(&Form::Jinja));
            }
            return;
        }
        let each = prompts.iter().map(|prompt| {
            let mut entry = prompt.settings().as_object().cloned().unwrap_or_default();
            entry.set("name", prompt.name.as_deref().unwrap_or_default());
            entry.set("template", json(&prompt.form()));
            Json::Object(entry)
        });
        settings.set("prompts", Json::Array(each.collect()));
    }

    /// How many prompts there are.
    pub fn prompt_count(&self) -> usize {
        self.inputs.rules.prompts.len()
    }

    /// Each prompt's name, where it has one, and how its holes are written.
    pub(super) fn prompts(&self) -> impl Iterator<Item = (Option<&str>, Form)> {
        self.inputs.rules.prompts.iter().map(|prompt| (prompt.name.as_deref(), prompt.form()))
    }
}

/// How scores become a verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Scoring {
    /// One weight per judge, in the order of `judges`.
    pub weights: Vec<f64>,
    /// The primary score from which a trial passes.
    pub threshold: f64,
    /// The score that decides.
    pub primary: Primary,
}

/// The score that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Primary {
    /// That of one judge, by its index.
    Judge(usize),
    /// The weighted mean of all judges of the case.
    WeightedMean,
}

/// Reads a `probe` suite and all of its cases once.
pub(crate) fn read(loading: &Loading<'_>) -> Result<Read<Probe>, Problems> {
    let (file, mut checker, mut warnings) = loading.file::<ProbeFile>()?;
    let well_read = checker.problems.is_empty();
    check(&mut checker, &file);
    let scoring = scoring(&mut checker, &file, &file.scoring);
    loading.check_overrides(&mut checker);
    let own_seed = loading.overrides.seed.unwrap_or(file.seed.0);
    let prompts = cells::prompts(&mut checker, loading, &file, own_seed);
    let wordings = wordings::read(&mut checker, &file.vary, own_seed);
    reworded(&mut checker, &wordings, prompts.as_deref().unwrap_or_default());
    let (cells, slots) = cells::cells(&mut checker, &file, prompts.as_deref().unwrap_or_default());
    let filled = filled(&mut checker, &file);
    let datasets = datasets::find(&mut checker, (&[], &file.datasets), loading);
    let prompts = prompts.map(Arc::new);
    let rules_of = |prompts: &Arc<Vec<Prompt>>, labelled: bool| CaseRules {
        prompts: Arc::clone(prompts),
        filled: filled.clone(),
        judges: file.judges.0.iter().map(|(name, _)| name.clone()).collect(),
        needs_expected: file.judges.0.iter().map(|(_, judge)| judge.needs_expected()).collect(),
        labelled,
    };
    let labelled = prompts.as_ref().map(|prompts| rules_of(prompts, true));
    let rules = prompts.as_ref().map(|prompts| rules_of(prompts, false));
    let labels = calibration::find(&mut checker, &file, loading);
    let common = common(&file);
    checker.common(&common, loading.overrides);
    // Rows are read with the prompt and the fields that are known to be right, or not at all.
    let (Some(rules), Some(labelled), true) = (rules, labelled, well_read) else {
        return Err(in_order(checker.problems));
    };
    let inline: Vec<_> = file.cases.iter().map(|case| case.0.clone()).collect();
    let sources: Vec<_> =
        datasets.iter().map(|found| (Arc::clone(&found.dataset), found.fields.clone())).collect();
    let tags = file.gate.iter().flat_map(|gate| gate.per_tag.keys()).map(String::as_str).collect();
    let (tree, form) = (loading.tree, file.template);
    let scan = Scan { tree, under: &[], rules: &rules, inline: &inline, datasets: &sources, tags, form };
    let mut found = scan.run();
    let missing = scan.tags.iter().filter(|tag| !found.tags.contains(**tag));
    let missing: Vec<String> = missing.map(|tag| quoted(tag)).collect();
    if !missing.is_empty() {
        let what =
            format!("no case has the tag {} of the gate, so it cannot be judged", missing.join(" or "));
        found.warnings.push(what);
    }
    let mut facts = datasets::facts(&mut checker, (&[], &file.datasets), &datasets, &found.datasets);
    let calibration = file
        .calibration
        .as_ref()
        .map(|written| calibration::read(&mut checker, (written, labels), labelled, &mut found));
    checker.problems.sort_by_key(|problem| (problem.place.line, problem.place.column));
    checker.problems.append(&mut found.problems);
    if !checker.problems.is_empty() {
        return Err(Problems::new(checker.problems));
    }
    warnings.append(&mut found.warnings);
    let datasets = datasets::checked(datasets, &facts);
    let calibration = calibration.map(|(calibration, of_labels)| {
        facts.extend(of_labels);
        calibration
    });
    let case_count = loading.overrides.limit.map_or(found.count, |limit| limit.min(found.count));
    let mut probe = Probe {
        repetitions: u32::try_from(file.repetitions.0).expect("the type holds at most 100000"),
        cells,
        cache: file.cache,
        judges: file.judges.0.clone(),
        scoring,
        wordings,
        calibration,
        weighs: Weighs::default(),
        prices: None,
        inputs: Arc::new(Inputs { rules, inline, datasets, named: found.named }),
        case_count,
    };
    probe.weighs = probe.panel().map(|panel| panel.weighs()).unwrap_or_default();
    probe.prices = probe.weighs.cost.then(|| weighed::prices(&common, &slots, loading.overrides));
    let suite = common.suite(loading.overrides, Kind::Probe, probe.settings());
    let suite = Suite { slots, ..suite };
    let per_case = probe.wordings.per_case() * suite.slots.len() as u64 * u64::from(probe.repetitions);
    let labels = probe.calibration.as_ref().map_or(0, |calibration| calibration.count);
    let trial_count = case_count * per_case + labels;
    Ok(Read { suite, body: probe, datasets: facts, case_count, trial_count, warnings })
}

fn common(file: &ProbeFile) -> Common<'_> {
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

/// Generators reword text.
fn reworded(checker: &mut Checker<'_>, wordings: &Wordings, prompts: &[Prompt]) {
    let talk = prompts.iter().find(|prompt| !prompt.is_text());
    if let Some(prompt) = talk.filter(|_| wordings.per_case() > 1) {
        let named =
            prompt.name.as_deref().map_or_else(|| "the prompt".to_owned(), |name| format!("prompt `{name}`"));
        let what = format!("`vary` rewords text, and {named} is a conversation");
        checker.complain(Code::BadValue, &[Step::Key("vary")], what).hint =
            Some("give the conversation a suite of its own".to_owned());
    }
}

/// Texts of targets and judges that cases fill, each with what it belongs to.
fn filled(checker: &mut Checker<'_>, file: &ProbeFile) -> Vec<(String, Template)> {
    let mut filled = Vec::new();
    for (name, config) in &file.targets.0 {
        for text in config.templates() {
            filled.extend(filling(
                checker,
                &[Step::Key("targets"), Step::Key(name)],
                format!("target `{name}`"),
                &text,
            ));
        }
    }
    for (name, config) in &file.judges.0 {
        for text in judge::templates(&json(config)) {
            filled.extend(filling(
                checker,
                &[Step::Key("judges"), Step::Key(name)],
                format!("judge `{name}`"),
                &text,
            ));
        }
    }
    filled
}

/// A text that every case is tried on before anything is asked.
fn filling(
    checker: &mut Checker<'_>,
    steps: &[Step<'_>],
    what: String,
    text: &str,
) -> Option<(String, Template)> {
    match Template::parse_as(text, Some(Form::Jinja)) {
        Ok(template) => Some((what, template)),
        Err(error) => {
            checker.complain(Code::Template, steps, error.what).hint = Some(error.hint);
            None
        }
    }
}

fn check(checker: &mut Checker<'_>, file: &ProbeFile) {
    if file.targets.0.is_empty() {
        checker.complain(Code::Empty, &[Step::Key("targets")], "the suite has no targets").hint =
            Some("give it at least one: `targets: {model: {scripted: {…}}}`".to_owned());
    }
    judges(checker, file);
    if file.cases.is_empty() && file.datasets.is_empty() {
        let steps: &[Step<'_>] = match checker.tree.entry(checker.tree.root, "cases") {
            Some(_) => &[Step::Key("cases")],
            None => &[],
        };
        checker.complain(Code::Empty, steps, "the suite has no cases").hint =
            Some("write some below `cases:`, or name a file below `datasets:`".to_owned());
    }
}

fn judges(checker: &mut Checker<'_>, file: &ProbeFile) {
    if file.judges.0.is_empty() {
        checker.complain(Code::Empty, &[Step::Key("judges")], "the suite has no judges").hint =
            Some("give it at least one: `judges: {exact: {equals: {}}}`".to_owned());
    }
    for (name, config) in &file.judges.0 {
        checker.name("judges", name);
        if name == WEIGHTED_MEAN {
            let what = format!("`{WEIGHTED_MEAN}` is the name of the mean of all judges");
            checker.complain_of_key(Code::BadValue, &[Step::Key("judges"), Step::Key(name)], what).hint =
                Some("choose another name".to_owned());
        }
        if let Err(complaint) = config.check() {
            let steps = [Step::Key("judges"), Step::Key(name), Step::Key(config.name())];
            checker.pass_on(Code::BadValue, &steps, complaint);
        }
    }
}

fn scoring(checker: &mut Checker<'_>, file: &ProbeFile, scoring: &ScoringFile) -> Scoring {
    let names: Vec<&str> = file.judges.0.iter().map(|(name, _)| name.as_str()).collect();
    let mut weights = vec![1.0; names.len()];
    for (name, weight) in &scoring.weights.0 {
        match names.iter().position(|known| known == name) {
            Some(at) => weights[at] = weight.0,
            None => {
                let steps = [Step::Key("scoring"), Step::Key("weights"), Step::Key(name)];
                let what = format!("no judge is named {}", quoted(name));
                checker.complain_of_key(Code::UnknownJudge, &steps, what).hint =
                    Some(did_you_mean(name, &names, "judges"));
            }
        }
    }
    let primary = match scoring.primary.as_deref() {
        None if names.len() == 1 => Primary::Judge(0),
        None | Some(WEIGHTED_MEAN) => Primary::WeightedMean,
        Some(name) => match names.iter().position(|known| *known == name) {
            Some(at) => Primary::Judge(at),
            None => {
                let known = [&names[..], &[WEIGHTED_MEAN]].concat();
                let what = format!("no judge is named {}", quoted(name));
                checker
                    .complain(Code::UnknownJudge, &[Step::Key("scoring"), Step::Key("primary")], what)
                    .hint = Some(format!("the choices are {}", listed(known)));
                Primary::WeightedMean
            }
        },
    };
    if primary == Primary::WeightedMean && !names.is_empty() && weights.iter().sum::<f64>() == 0.0 {
        let steps = [Step::Key("scoring"), Step::Key("weights")];
        checker.complain(Code::BadValue, &steps, "all weights are 0, so there is no weighted mean").hint =
            Some("give at least one judge a weight above 0".to_owned());
    }
    let threshold = scoring.threshold.map_or(1.0, |threshold| threshold.0);
    Scoring { weights, threshold, primary }
}
