//! `robustness` suites: a black-box tool under repetition, rewording and stress.

use std::sync::Arc;

use camino::Utf8PathBuf;
use proofhouse_ledger::json::Object;
use proofhouse_ledger::record::{Kind, Mode};
use proofhouse_ledger::{Digest, Json};

use crate::family::judge::JudgeConfig;
use crate::family::target::TargetConfig;
use crate::family::target::command::WorkFile;
use crate::family::vary::{Edit, GeneratorConfig};
use crate::kinds::robustness::metrics::METRICS;
use crate::kinds::robustness::{Policy, PolicyName, RobustnessFlags};
use crate::spine::suite::check::{Checker, Common};
use crate::spine::suite::identity::json;
use crate::spine::suite::kind::{Loading, Read};
use crate::spine::suite::load::in_order;
use crate::spine::suite::model::Slot;
use crate::spine::suite::problem::{Code, Problems};
use crate::spine::suite::tree::{Kind as Node, Step, Tree};
use crate::spine::tally::{EXPENSES, TIMED};

mod cases;
mod file;
mod judged;
mod recorded;
mod tools;

pub use file::KeepDebug;
pub(crate) use file::RobustnessFile;
pub use recorded::{Answer, Recorded, Rejection, Wanted};

/// The score of a robustness trial.
pub(super) const SUCCESS: &str = "success";

/// The deadline of a run of the tool where nobody gives one.
const DEFAULT_TIMEOUT_SECONDS: u64 = 60;

/// The share of a modal outcome from which a baseline is called stable, unless the suite says otherwise.
const DEFAULT_AGREEMENT: f64 = 0.8;

/// What a `robustness` suite adds.
#[derive(Debug, Clone)]
pub struct RobustnessBody {
    /// The schema that the suite follows, if it says one.
    pub mode: Option<&'static str>,
    /// When to stop repeating.
    pub policy: PolicyName,
    /// The share that a baseline's modal outcome must have.
    pub agreement: f64,
    /// Whether somebody may look and add runs without a plan.
    pub open: bool,
    /// Runs of a variant at most.
    pub variant_runs: u32,
    /// Runs of a stress level at most.
    pub level_runs: u32,
    /// Whether the tool may repair what it made.
    pub repair_enabled: bool,
    /// Whether the tool is told to leave debug artefacts.
    pub debug_enabled: bool,
    /// Whose are kept.
    pub keep_debug: KeepDebug,
    /// Who judges what tools print.
    pub judges: Vec<(String, JudgeConfig)>,
    /// The instructions, in the order of the suite.
    pub cases: Arc<Vec<ToolCase>>,
    /// What each tool's working directory holds at the start, in the order of the targets.
    pub tools: Arc<Vec<ToolSetup>>,
    /// Who rewrites.
    pub rewriter: Option<Rewriter>,
    /// What a model still has to write before the plan is whole.
    pub wanted: Arc<Vec<Wanted>>,
}

/// A model that rewrites.
#[derive(Debug, Clone)]
pub struct Rewriter {
    /// The model.
    pub target: TargetConfig,
    /// The file that keeps what it wrote.
    pub recorded: Utf8PathBuf,
    /// How often it is asked for one variant.
    pub max_attempts: u32,
    /// Who says whether a rewording is still the same task, after the guard's rules.
    pub guard: Option<TargetConfig>,
}

/// What a tool finds when it starts.
#[derive(Debug, Clone, Default)]
pub struct ToolSetup {
    /// Where relative paths of its settings begin.
    pub base: Utf8PathBuf,
    /// The files of its working directory.
    pub files: Vec<WorkFile>,
}

/// One instruction with everything that is made of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCase {
    /// Its name.
    pub id: Arc<str>,
    /// The case of a baseline suite that it varies.
    pub base_case: Option<String>,
    /// Exactly what the tool receives.
    pub instruction: String,
    /// Whether the newline that YAML adds to a block was taken off.
    pub newline_removed: bool,
    /// Words that the contract bans and this case may have.
    pub allow_terms: Vec<String>,
    /// What the judges compare the output with.
    pub expected: Json,
    /// The places of the judges that this case has; none: all of them.
    pub judges: Option<Vec<usize>>,
    /// How large the task is, for people.
    pub complexity: Option<String>,
    /// Runs of the instruction itself at most; none in stress suites.
    pub base_runs: Option<u32>,
    /// How long one run may take.
    pub timeout_ms: u64,
    /// What generators make of it, in plan order.
    pub variants: Vec<ToolVariant>,
    /// The generators that were asked, for the run's identity.
    pub asked: Vec<GeneratorUse>,
}

/// One variant of an instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolVariant {
    /// `whitespace_noise_0007` or `level_2`.
    pub id: Arc<str>,
    /// Adversarial or stress.
    pub mode: Mode,
    /// The generator's name.
    pub generator: &'static str,
    /// Its version.
    pub generator_version: u32,
    /// The rung of a ladder.
    pub level: Option<u32>,
    /// Exactly what the tool receives; empty where the guard let nothing through.
    pub instruction: String,
    /// What was changed.
    pub edits: Vec<Edit>,
    /// What a model was asked and answered.
    pub answer: Option<Answer>,
}

impl ToolVariant {
    /// Whether there is an instruction to run.
    pub fn can_run(&self) -> bool {
        self.answer.as_ref().is_none_or(|answer| answer.accepted.is_some())
    }
}

/// A generator as it was asked, and what it gave.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratorUse {
    /// The generator with its settings.
    pub config: GeneratorConfig,
    /// How many variants were wanted.
    pub count: u32,
    /// How many there are.
    pub produced: u32,
    /// Why there are fewer; none where there are not.
    pub shortfall: Option<String>,
    /// The generator's seed.
    pub seed: u64,
    /// The rung of a ladder.
    pub level: Option<u32>,
}

impl RobustnessBody {
    /// The rules that decide about runs of this case.
    pub fn policy(&self, case: &ToolCase, mode: Mode) -> Policy {
        Policy {
            name: self.policy,
            base_runs: case.base_runs.unwrap_or(0),
            variant_runs: if mode == Mode::Stress { self.level_runs } else { self.variant_runs },
            level: self.agreement,
            compares: case.variants.iter().any(|variant| variant.mode == Mode::Adversarial),
            open: self.open,
        }
    }

    /// Trials in the plan.
    pub fn trial_count(&self, slots: usize) -> u64 {
        let of_case = |case: &ToolCase| {
            let of_variant = |variant: &ToolVariant| match (variant.can_run(), variant.mode) {
                (false, _) => 1,
                (true, Mode::Stress) => u64::from(self.level_runs),
                (true, _) => u64::from(self.variant_runs),
            };
            u64::from(case.base_runs.unwrap_or(0)) + case.variants.iter().map(of_variant).sum::<u64>()
        };
        self.cases.iter().map(of_case).sum::<u64>() * slots as u64
    }

    /// Every setting that took effect, for the run's identity.
    fn settings(&self) -> Object {
        let mut settings = Object::new();
        settings.set("mode", self.mode.map(str::to_owned));
        settings.set("policy", self.policy.as_str());
        settings.set("agreement", json(&self.agreement));
        if self.open {
            settings.set("looks", file::Looks::Open.as_str());
        }
        settings.set("variant_runs", self.variant_runs);
        settings.set("level_runs", self.level_runs);
        settings.set("repair_enabled", self.repair_enabled);
        settings.set("debug_enabled", self.debug_enabled);
        if self.keep_debug != KeepDebug::default() {
            settings.set("keep_debug", json(&self.keep_debug));
        }
        if !self.judges.is_empty() {
            let judge = |(name, judge): &(String, JudgeConfig)| {
                Json::Object(Object::from_iter([("judge", json(judge)), ("name", Json::from(name.as_str()))]))
            };
            settings.set("judges", Json::Array(self.judges.iter().map(judge).collect()));
        }
        settings.set("cases", Json::Array(self.cases.iter().map(case_settings).collect()));
        let tools = self.tools.iter().map(|tool| {
            let files = tool.files.iter().map(|file| {
                Json::Object(Object::from_iter([
                    ("path", Json::from(file.path.as_str())),
                    ("sha256", Json::from(Digest::of(&file.bytes).prefixed())),
                ]))
            });
            Json::Array(files.collect())
        });
        settings.set("tool_files", Json::Array(tools.collect()));
        let rewriter = self.rewriter.as_ref().map(|rewriter| {
            let mut settings = Object::from_iter([
                ("max_attempts", Json::from(rewriter.max_attempts)),
                ("target", json(&rewriter.target)),
            ]);
            if let Some(guard) = &rewriter.guard {
                settings.set("guard", json(guard));
            }
            Json::Object(settings)
        });
        settings.set("rewriter", rewriter);
        settings
    }
}

fn case_settings(case: &ToolCase) -> Json {
    let asked = case.asked.iter().map(|asked| {
        Json::Object(Object::from_iter([
            ("count", Json::from(asked.count)),
            ("data", json(&asked.config.data())),
            ("generator", json(&asked.config)),
            ("level", asked.level.into()),
            ("produced", Json::from(asked.produced)),
            ("seed", json(&asked.seed)),
            ("shortfall", asked.shortfall.clone().into()),
            ("version", Json::from(asked.config.version())),
        ]))
    });
    let written = case.variants.iter().filter_map(|variant| {
        let answer = variant.answer.as_ref()?;
        let accepted = answer.accepted.as_ref().map(|text| Digest::of(text.as_bytes()).prefixed());
        Some(Json::Object(Object::from_iter([
            ("accepted_sha256", accepted.into()),
            ("rejections", Json::from(answer.rejections.len() as u32)),
            ("variant_id", Json::from(&*variant.id)),
        ])))
    });
    let mut settings = Object::from_iter([
        ("allow_terms", json(&case.allow_terms)),
        ("base_case", case.base_case.clone().into()),
        ("base_runs", case.base_runs.into()),
        ("complexity", case.complexity.clone().into()),
        ("generators", Json::Array(asked.collect())),
        ("id", Json::from(&*case.id)),
        ("instruction", Json::from(case.instruction.as_str())),
        ("newline_removed", Json::from(case.newline_removed)),
        ("timeout_ms", json(&case.timeout_ms)),
        ("written", Json::Array(written.collect())),
    ]);
    if case.expected != Json::Null {
        settings.set("expected", case.expected.clone());
    }
    if let Some(judges) = &case.judges {
        settings.set("judges", json(judges));
    }
    Json::Object(settings)
}

/// Modes of robustness suites: a file that has one needs no word for its kind.
const MODES: [&str; 4] = ["baseline", "adversarial", "stress", "canonical"];

/// Whether a suite without a word for its kind has a mode that only robustness suites have.
pub(super) fn has_a_mode(tree: &Tree) -> bool {
    ["mode", "category"].into_iter().filter_map(|key| tree.entry(tree.root, key)).any(
        |entry| matches!(&tree.node(entry.value).kind, Node::Text(mode) if MODES.contains(&mode.as_str())),
    )
}

/// Reads a `robustness` suite and makes its variants.
pub(crate) fn read(loading: &Loading<'_>) -> Result<Read<RobustnessBody>, Problems> {
    let (file, mut checker, mut warnings) = loading.file::<RobustnessFile>()?;
    loading.check_overrides(&mut checker);
    let flags = loading.overrides.own::<RobustnessFlags>();
    checker.plain_gate(&file.gate);
    let tools = tools::find(&mut checker, loading, &file);
    let timeout_ms = 1000 * default_timeout(&file, &tools.targets);
    let common = Common {
        suite_id: &file.suite_id,
        title: &file.title,
        description: &file.description,
        seed: file.seed.0,
        timeout_ms,
        determinism: &file.determinism,
        targets: &tools.targets,
        gate: &file.gate,
        metrics: METRICS.iter().chain(EXPENSES).map(|metric| metric.name).collect(),
        timed: &TIMED,
    };
    match tools.from_suite {
        true => checker.common(&common, loading.overrides),
        false => {
            let nobody = Common { targets: &[], metrics: common.metrics.clone(), ..common };
            checker.common(&nobody, loading.overrides);
        }
    }
    let mut body = RobustnessBody {
        mode: mode(&mut checker, &file).map(file::ModeName::as_str),
        policy: flags.and_then(|flags| flags.policy).unwrap_or(file.policy),
        agreement: agreement(&mut checker, &file),
        open: file.looks == file::Looks::Open,
        variant_runs: 0,
        level_runs: 0,
        repair_enabled: file.repair_enabled,
        debug_enabled: file.debug_enabled,
        keep_debug: file.keep_debug,
        judges: judged::judges(&mut checker, &file),
        cases: Arc::default(),
        tools: Arc::new(tools.setups),
        rewriter: recorded::rewriter(&mut checker, loading, &file),
        wanted: Arc::default(),
    };
    body.variant_runs = runs(body.policy, Mode::Adversarial, &file);
    body.level_runs = runs(body.policy, Mode::Stress, &file);
    tools::check_switches(&mut checker, &body, &tools.targets);
    let made = cases::make(&mut checker, loading, &file, (&body, &tools.targets, timeout_ms));
    if !checker.problems.is_empty() {
        return Err(in_order(checker.problems));
    }
    warnings.extend(made.warnings);
    body.wanted = Arc::new(made.wanted);
    body.cases = Arc::new(made.cases);
    let case_count = body.cases.len() as u64;
    let mut suite = common.suite(loading.overrides, Kind::Robustness, body.settings());
    if suite.slots.is_empty() {
        suite.slots.push(Slot { name: "tool".to_owned(), kind: "none yet".to_owned(), config: Json::Null });
    }
    let trial_count = body.trial_count(suite.slots.len());
    Ok(Read { suite, body, datasets: Vec::new(), case_count, trial_count, warnings })
}

/// `mode` and `category` are two words for the same thing.
fn mode(checker: &mut Checker<'_>, file: &RobustnessFile) -> Option<file::ModeName> {
    if let (Some(mode), Some(category)) = (file.mode, file.category)
        && mode != category
    {
        let what = format!("`category: {}` disagrees with `mode: {}`", category.as_str(), mode.as_str());
        checker.complain(Code::BadValue, &[Step::Key("category")], what).hint =
            Some("the two are one setting; keep one of them".to_owned());
    }
    file.mode.or(file.category)
}

/// The share from which runs are stable: the usual outcome of two has at least a half anyway, and no number of runs shows all.
fn agreement(checker: &mut Checker<'_>, file: &RobustnessFile) -> f64 {
    let share = file.agreement.map_or(DEFAULT_AGREEMENT, |share| share.0);
    if !(0.5..1.0).contains(&share) {
        let what = format!("`agreement` is {share}, and no number of runs could show that");
        checker.complain(Code::BadValue, &[Step::Key("agreement")], what).hint =
            Some("write a share from 0.5 up to, and without, 1, such as 0.8".to_owned());
    }
    share
}

/// The most runs of a variant or a level, as the policy and the suite have it.
fn runs(policy: PolicyName, mode: Mode, file: &RobustnessFile) -> u32 {
    let (_, default) = Policy::default_runs(policy, mode);
    let written = file.runs_per_variant.map(|runs| runs.0 as u32);
    match (policy, mode) {
        (PolicyName::Seed, Mode::Stress) => written.unwrap_or(default).clamp(2, 5),
        (PolicyName::Seed, _) => default,
        (PolicyName::Evidence, Mode::Stress) => file.max_runs.map_or(default, |runs| runs.0 as u32),
        (PolicyName::Evidence | PolicyName::Fixed, _) => written.unwrap_or(default),
    }
}

fn default_timeout(file: &RobustnessFile, targets: &[(String, TargetConfig)]) -> u64 {
    let of_tools = targets.iter().filter_map(|(_, target)| match target {
        TargetConfig::Command(command) => command.timeout_seconds.map(u64::from),
        _ => None,
    });
    file.timeout_seconds.map(|seconds| seconds.0).or(of_tools.max()).unwrap_or(DEFAULT_TIMEOUT_SECONDS)
}
