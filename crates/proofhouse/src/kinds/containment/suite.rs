//! `containment` suites: attacks and benign use × variants × repetitions, or the probe of lane 1.

use std::sync::Arc;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::Object;
use proofhouse_ledger::record::Kind;

use crate::family::attack::AttackConfig;
use crate::family::target::TargetConfig;
use crate::kinds::containment::canary;
use crate::kinds::containment::judging::JudgeSpec;
use crate::kinds::containment::metrics::METRICS;
use crate::kinds::containment::real::AgentSettings;
use crate::kinds::containment::{
    Agent, Canaries, Case, Compiled, ContainmentFlags, Driver, Gate, Lane, Limits, Policy, Protocol,
    ReadyCase, Scripted, ServerSpec, Thresholds, ToolSpec, Toolbox, Variant, judge,
};
use crate::spine::suite::check::{Checker, Common};
use crate::spine::suite::dataset::Dataset;
use crate::spine::suite::file::{Fields, FileRef, Format};
use crate::spine::suite::identity::{json, named};
use crate::spine::suite::kind::{Loading, Read};
use crate::spine::suite::load::{DatasetFacts, in_order};
use crate::spine::suite::model::Slot;
use crate::spine::suite::problem::{Code, Problems, did_you_mean, quoted};
use crate::spine::suite::tree::Step;
use crate::spine::tally::{EXPENSES, TIMED};

mod file;
mod parts;
mod rows;

pub(crate) use file::ContainmentFile;
use file::VariantFile;
pub use rows::Cases;
use rows::Sources;

/// What a `containment` suite adds.
#[derive(Debug, Clone)]
pub struct ContainmentBody {
    /// How often each case is put to each variant.
    pub repetitions: u32,
    /// The variants, one per slot.
    pub variants: Vec<VariantSpec>,
    /// What gates decide by where they have no policy of their own.
    pub policy: Policy,
    /// What the suite means by forbidden, ready.
    pub contract: Arc<Compiled>,
    /// The same as it was written, where it is not the policy.
    own_contract: Option<Policy>,
    /// Descriptions of tools.
    pub tools: Vec<ToolSpec>,
    /// What has the tools that are not simulated.
    pub server: Option<ServerSpec>,
    /// Who says what no pattern can decide.
    pub(super) judges: JudgeSpec,
    /// What planted texts go through, beside standing as they are.
    pub attack_forms: Vec<AttackConfig>,
    /// How long an agent may go on.
    pub limits: Limits,
    /// What lane 1 must reach.
    pub thresholds: Thresholds,
    /// Which lane was asked for.
    pub lane: Option<Lane>,
    /// Whether canaries are among the trials; nothing where no model drives, and in lane 1.
    pub canaries: Option<Canaries>,
    /// Attacks, and how many of them leak when their own calls are replayed; where no variant shows that.
    control: Option<(u64, u64)>,
    /// How many of the cases are attacks.
    pub attacks: u64,
    sources: Arc<Sources>,
    case_count: u64,
}

/// One variant.
#[derive(Debug, Clone)]
pub struct VariantSpec {
    /// Its name, which is its slot's.
    pub name: String,
    /// Who drives.
    pub driver: Driver,
    /// Which of the suite's targets, where a model drives.
    pub target: Option<usize>,
    /// How the model calls tools.
    pub protocol: Protocol,
    /// What stands before the tools.
    pub gate: Option<Arc<Compiled>>,
    /// Its own policy, where it has one.
    policy: Option<Policy>,
    /// The program that drives, where one does.
    pub(super) agent: Option<AgentSettings>,
}

impl ContainmentBody {
    /// All cases, in a second pass over the datasets.
    pub fn cases(&self) -> Cases {
        Cases::new(&self.sources, self.case_count)
    }

    /// What a case's calls are held against. A contract of its own is not told what gates are told of the case.
    pub(super) fn contract_of<'a>(&'a self, case: &'a ReadyCase) -> Gate<'a> {
        match self.own_contract {
            Some(_) => Gate::plain(&self.contract),
            None => Gate::new(&self.contract, case),
        }
    }

    /// The canaries, each with the number of cases before it.
    pub(super) fn canaries(&self) -> Vec<(u64, Case)> {
        if self.canaries == Some(Canaries::On) { canary::placed(self.case_count) } else { Vec::new() }
    }

    /// Every setting that took effect, for the run's identity.
    fn settings(&self) -> Object {
        let mut settings = Object::new();
        let lane1 = Object::from_iter([("thresholds", json(&self.thresholds))]);
        let control = self.control.map(|(attacks, leaked)| {
            Json::Object(Object::from_iter([("attacks", json(&attacks)), ("leaked", json(&leaked))]))
        });
        let cases = self.sources.inline.iter().map(|case| Json::Object(case.clone()));
        settings.set("cases", Json::Array(cases.collect()));
        if let Some(canaries) = self.canaries {
            settings.set("canaries", canaries.as_str());
        }
        settings.set("control", control.unwrap_or(Json::Null));
        settings.set("lane", (self.lane == Some(Lane::One)).then_some("1"));
        settings.set("lane1", Json::Object(lane1));
        let limits = [("calls", json(&(self.limits.calls as u64))), ("turns", json(&self.limits.turns))];
        settings.set("limits", Json::Object(Object::from_iter(limits)));
        settings.set("policy", json(&self.policy));
        settings.set("repetitions", self.repetitions);
        settings.set("tools", json(&self.tools));
        self.further(&mut settings);
        settings
    }
}

impl VariantSpec {
    /// What stands in its slot: who drives, the gate, and the settings of the model that drives.
    fn slot(&self, targets: &[(String, TargetConfig)]) -> Slot {
        let driver = targets.get(self.target.unwrap_or(usize::MAX));
        let mut config = match driver.map(|(_, target)| json(target)) {
            Some(Json::Object(settings)) => settings,
            _ => Object::new(),
        };
        let kind = driver.map_or("scripted", |(_, target)| target.kind_name());
        if let Some(agent) = &self.agent {
            config.set("agent", json(agent));
        }
        config.set("driver", self.driver.as_str());
        config.set("gated", self.gate.is_some());
        config.set("policy", self.policy.as_ref().map_or(Json::Null, json));
        let protocol = driver.filter(|_| self.agent.is_none()).map(|_| self.protocol.as_str());
        config.set("protocol", protocol);
        config.set("target", driver.map(|(name, _)| name.as_str()));
        let config = Json::Object(config);
        Slot { name: self.name.clone(), kind: kind.to_owned(), config }
    }
}

/// Reads a `containment` suite and all of its cases once.
pub(crate) fn read(loading: &Loading<'_>) -> Result<Read<ContainmentBody>, Problems> {
    let (file, mut checker, warnings) = loading.file::<ContainmentFile>()?;
    let common = common(&file);
    checker.common(&common, loading.overrides);
    loading.check_overrides(&mut checker);
    let policy = compiled(&mut checker, &file.policy, &[Step::Key("policy")]);
    let contract = match &file.contract {
        Some(own) => compiled(&mut checker, own, &[Step::Key("contract")]),
        None => policy.clone(),
    };
    let variants = variants(&mut checker, &file, policy.as_ref());
    let (server, judges) = (parts::tools(&mut checker, loading, &file), parts::judges(&mut checker, &file));
    parts::attacks(&mut checker, &file);
    let lane = loading.overrides.own::<ContainmentFlags>().and_then(|flags| flags.lane);
    let (sources, mut facts) = sources(&mut checker, loading, &file, lane);
    let (Some(contract), true) = (contract, checker.problems.is_empty()) else {
        return Err(in_order(checker.problems));
    };
    let limits = Limits {
        turns: u32::try_from(file.limits.turns.0).expect("the type holds at most 1000"),
        calls: usize::try_from(file.limits.calls.0).expect("the type holds at most 10000"),
    };
    let controlled = variants.iter().any(|variant| variant.gate.is_none() && variant.target.is_none());
    let limit = loading.overrides.limit.unwrap_or(u64::MAX);
    // What only a server knows cannot be replayed without one.
    let replayed = !controlled && server.is_none();
    let (mut seen, mut attacks, mut leaked, mut planted) = (0, 0, 0, 0);
    let fits = |case: &ReadyCase| parts::fits(case, server.as_ref(), &judges);
    let mut found = rows::scan(loading.tree, &sources, fits, |case| {
        seen += 1;
        if seen <= limit && case.attack() {
            attacks += 1;
            planted += u64::from(case.has_forms());
            let held = match file.contract {
                Some(_) => Gate::plain(&contract),
                None => Gate::new(&contract, case),
            };
            leaked += u64::from(replayed && leaks(case, held, limits, &file.tools.list));
        }
    });
    for (fact, rows) in facts.iter_mut().zip(&found.rows) {
        fact.rows = *rows;
    }
    if found.problems.is_empty() && found.count == 0 {
        checker.complain(Code::Empty, &[], "the suite has no cases").hint =
            Some("write some below `cases:`, or name a file below `datasets:`".to_owned());
    }
    checker.problems.append(&mut found.problems);
    if !checker.problems.is_empty() {
        return Err(in_order(checker.problems));
    }
    let case_count = limit.min(found.count);
    let slots: Vec<Slot> = variants.iter().map(|variant| variant.slot(&file.targets.0)).collect();
    let models = variants.iter().filter(|variant| variant.target.is_some()).count() as u64;
    let canaries = (models > 0 && lane != Some(Lane::One)).then_some(file.canaries);
    let body = ContainmentBody {
        repetitions: u32::try_from(file.repetitions.0).expect("the type holds at most 100000"),
        variants,
        policy: file.policy.clone(),
        contract,
        own_contract: file.contract.clone(),
        tools: file.tools.list.clone(),
        server,
        judges,
        attack_forms: if lane == Some(Lane::One) { Vec::new() } else { file.attacks.clone() },
        limits,
        thresholds: file.lane1.thresholds,
        lane,
        canaries,
        control: replayed.then_some((attacks, leaked)),
        attacks,
        sources: Arc::new(sources),
        case_count,
    };
    let mut suite = common.suite(loading.overrides, Kind::Containment, body.settings());
    suite.slots = slots;
    let canaries = if canaries == Some(Canaries::On) { canary::COUNT * models } else { 0 };
    let texts = case_count + planted * body.attack_forms.len() as u64;
    let trial_count = (texts * suite.slots.len() as u64 + canaries) * u64::from(body.repetitions);
    Ok(Read { suite, body, datasets: facts, case_count, trial_count, warnings })
}

fn common(file: &ContainmentFile) -> Common<'_> {
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

/// Whether an attack reaches a forbidden tool when a scripted agent without a gate plays it.
fn leaks(case: &ReadyCase, contract: Gate<'_>, limits: Limits, tools: &[ToolSpec]) -> bool {
    let toolbox = Toolbox { described: tools, served: None };
    let agent = Agent::new(case, contract, None, limits).with_tools(toolbox);
    let outcome = judge(case, &agent.play(Scripted::MarkersAndJson), false).outcome;
    outcome == proofhouse_ledger::record::containment::Outcome::Leaked
}

fn compiled(checker: &mut Checker<'_>, policy: &Policy, at: &[Step<'_>]) -> Option<Arc<Compiled>> {
    match policy.compile() {
        Ok(compiled) => Some(Arc::new(compiled)),
        Err(complaint) => {
            checker.pass_on(Code::BadValue, at, complaint);
            None
        }
    }
}

fn variants(
    checker: &mut Checker<'_>,
    file: &ContainmentFile,
    policy: Option<&Arc<Compiled>>,
) -> Vec<VariantSpec> {
    let built_in: &[&str] = match file.targets.0.len() {
        1 => &["naive", "calyx", "naive_llm", "calyx_llm"],
        _ => &["naive", "calyx"],
    };
    let defaults: Vec<(String, VariantFile)> =
        built_in.iter().map(|name| ((*name).to_owned(), VariantFile::default())).collect();
    let written = if file.variants.0.is_empty() { &defaults } else { &file.variants.0 };
    written.iter().map(|(name, variant)| one_variant(checker, file, policy, (name, variant))).collect()
}

fn one_variant(
    checker: &mut Checker<'_>,
    file: &ContainmentFile,
    policy: Option<&Arc<Compiled>>,
    (name, written): (&String, &VariantFile),
) -> VariantSpec {
    checker.name("variants", name);
    let at = [Step::Key("variants"), Step::Key(name)];
    let built_in = Variant::built_in(name);
    let by_target = match (&written.agent, &written.target) {
        (Some(_), _) => Driver::Agent,
        (None, Some(_)) => Driver::Model,
        (None, None) => Driver::Scripted,
    };
    agent_fits(checker, written, &at);
    if written.agent.is_some() && file.tools.server.is_some() {
        let what = format!("variant {} is a real agent, and the suite has a tool server", quoted(name));
        checker.complain(Code::BadValue, &at, what).hint =
            Some("real agents are offered simulated tools: write them as a list below `tools`".to_owned());
    }
    let driver = written
        .driver
        .or(written.agent.as_ref().map(|_| Driver::Agent))
        .or(built_in.map(|variant| variant.driver))
        .unwrap_or(by_target);
    let gated = written.gated.or(built_in.map(|variant| variant.gated)).unwrap_or(true);
    let names: Vec<&str> = file.targets.0.iter().map(|(target, _)| target.as_str()).collect();
    let target = match (&written.target, driver) {
        (Some(wanted), Driver::Model | Driver::Agent) => {
            let found = names.iter().position(|target| target == wanted);
            if found.is_none() {
                let what = format!("the suite has no target {}", quoted(wanted));
                checker.complain(Code::BadValue, &at, what).hint =
                    Some(did_you_mean(wanted, &names, "targets"));
            }
            found
        }
        (None, Driver::Model | Driver::Agent) if names.len() == 1 => Some(0),
        (None, Driver::Model | Driver::Agent) => {
            let what = format!("variant {} is driven by a model, and it is not clear by which", quoted(name));
            checker.complain(Code::MissingKey, &at, what).hint =
                Some(format!("add `target:` and one of the suite's {} targets", names.len()));
            None
        }
        (Some(_), _) => {
            let what = format!("variant {} is scripted and has a target", quoted(name));
            checker.complain(Code::BadValue, &at, what).hint =
                Some("take `target` out, or set `driver: model`".to_owned());
            None
        }
        (None, _) => None,
    };
    if !gated && written.policy.is_some() {
        let what = format!("variant {} has a policy and no gate", quoted(name));
        checker.complain(Code::BadValue, &at, what).hint = Some("set `gated: true`".to_owned());
    }
    let own =
        written.policy.as_ref().map(|policy| compiled(checker, policy, &[at[0], at[1], Step::Key("policy")]));
    let gate = if gated { own.unwrap_or_else(|| policy.cloned()) } else { None };
    VariantSpec {
        name: name.clone(),
        driver,
        target,
        protocol: written.protocol,
        gate,
        policy: written.policy.clone(),
        agent: written.agent.clone(),
    }
}

/// An agent's settings, and that `driver: agent` and they go together.
fn agent_fits(checker: &mut Checker<'_>, written: &VariantFile, at: &[Step<'_>; 2]) {
    let own = [at[0], at[1], Step::Key("agent")];
    for complaint in written.agent.iter().flat_map(AgentSettings::check) {
        checker.pass_on(Code::BadValue, &own, complaint);
    }
    match (&written.agent, written.driver) {
        (None, Some(Driver::Agent)) => {
            checker.complain(Code::MissingKey, at, "an agent drives, and none is given".to_owned()).hint =
                Some("add `agent:` with `argv` or `preset`".to_owned());
        }
        (Some(_), Some(driver)) if driver != Driver::Agent => {
            let what = format!("`driver: {}` and an agent exclude each other", driver.as_str());
            checker.complain(Code::BadValue, at, what).hint = Some("take one of them out".to_owned());
        }
        _ => {}
    }
}

fn sources(
    checker: &mut Checker<'_>,
    loading: &Loading<'_>,
    file: &ContainmentFile,
    lane: Option<Lane>,
) -> (Sources, Vec<DatasetFacts>) {
    let (references, steps): (&[FileRef], &[Step<'_>]) = match lane {
        Some(Lane::One) if file.lane1.datasets.is_empty() => return (Sources::probe(), Vec::new()),
        Some(Lane::One) => (&file.lane1.datasets, &[Step::Key("lane1"), Step::Key("datasets")]),
        _ => (&file.datasets, &[Step::Key("datasets")]),
    };
    let inline = match lane {
        Some(Lane::One) => Vec::new(),
        _ => file.cases.iter().map(|case| case.0.clone()).collect(),
    };
    let mut facts = Vec::new();
    let mut datasets = Vec::new();
    for (index, reference) in references.iter().enumerate() {
        let steps = [steps, &[Step::Index(index)]].concat();
        let Some((name, path, sha256)) = loading.locate(checker, reference, &steps) else { continue };
        let Some(format) = Format::of_path(&reference.path) else {
            let what = format!("the format of {} is not clear from its name", quoted(&reference.path));
            checker.complain(Code::BadValue, &steps, what).hint =
                Some("its name ends in `.jsonl`, `.json`, `.yaml` or `.csv`".to_owned());
            continue;
        };
        let fields = Fields::default();
        facts.push(DatasetFacts {
            path: reference.path.clone(),
            format,
            sha256,
            rows: 0,
            fields,
            chosen: Default::default(),
        });
        datasets.push((Arc::new(Dataset::of(loading, name, path, format)), sha256));
    }
    (Sources { inline, datasets }, facts)
}
