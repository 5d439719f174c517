//! `config.resolved.yaml` as a value: every setting that took effect, and the identity that follows from it.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::json::{Object, from_json};
use crate::manifest::{Determinism, Manifest};
use crate::record::Kind;
use crate::{Json, RunId, canonical};

/// Changes whenever the same suite has to give another run id.
const IDENTITY_VERSION: u32 = 1;

/// The version of the format of resolved configurations.
pub const SCHEMA_VERSION: &str = "1.0";

/// Settings that cannot change a record.
const NO_CONTENT: [&str; 7] = ["title", "description", "gate", "case_count", "k", "prices", "schema_version"];

/// What makes a run what it is: all settings but titles, gates and places, with datasets by their digests.
///
/// Anybody can derive it from a run directory, so a run id can be checked without the suite.
pub fn identity(config: &Json) -> Json {
    let mut identity = config.as_object().cloned().unwrap_or_default();
    for key in NO_CONTENT {
        identity.remove(key);
    }
    if identity.get("limit") == Some(&Json::Null) {
        identity.remove("limit");
    }
    if let Some(Json::Array(datasets)) = identity.remove("datasets") {
        let nameless = datasets.into_iter().map(|dataset| {
            let mut dataset: Object = dataset.as_object().cloned().unwrap_or_default();
            dataset.remove("path");
            dataset.remove("rows");
            Json::Object(dataset)
        });
        identity.set("datasets", Json::Array(nameless.collect()));
    }
    identity.set("identity_version", IDENTITY_VERSION);
    Json::Object(identity)
}

/// The id of the run that a resolved configuration describes.
pub fn run_id(config: &Json) -> RunId {
    RunId::of_identity(&canonical::to_vec(&identity(config)).expect("a `Json` has a canonical form"))
}

/// A part of a resolved configuration as a type. What is missing has its default, and so has a part that is something
/// else altogether: `verify` says what is wrong with a configuration, readers only need to stay on their feet.
pub fn part<T: DeserializeOwned + Default>(config: &Json) -> T {
    from_json(config).unwrap_or_default()
}

/// What the configurations of all kinds say.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Common {
    /// The suite.
    pub suite_id: String,
    /// The seed of everything random.
    pub seed: u64,
    /// The deadline of a trial.
    pub timeout_ms: u64,
    /// What every target must reach.
    pub gate: Option<Gate>,
}

/// The price list of a run.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Priced {
    /// What holds for each slot; none without a list.
    pub prices: Option<PriceList>,
}

/// A price list, as far as a run needs it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct PriceList {
    /// Slot → what its tokens cost.
    pub slots: BTreeMap<String, Price>,
}

/// What every target must reach.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Gate {
    /// This share of its assessed trials.
    pub pass_rate: Option<f64>,
    /// With this certainty.
    pub confidence: Option<f64>,
    /// Tag → the share of its trials.
    pub per_tag: BTreeMap<String, f64>,
    /// `2 of 3`: so many of so many trials of each case.
    pub per_case: Option<String>,
    /// Metric → the least and the most that it may be.
    pub metrics: BTreeMap<String, MetricLimits>,
    /// Slot → what its tokens cost.
    pub prices: BTreeMap<String, Price>,
}

/// Counts of tokens that have a price.
pub const TOKENS: [&str; 4] = ["input_tokens", "output_tokens", "cached_tokens", "cache_creation_tokens"];

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Price {
    /// Tokens that the model reads.
    pub input: f64,
    /// Tokens that it writes.
    pub output: f64,
    /// Tokens that it has read before; as others where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// Whether those are counted beside the input, and not within it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cached_apart: bool,
}

impl Price {
    /// What so many tokens cost; `count` knows how many there are of each of [`TOKENS`].
    pub fn cost(&self, count: impl Fn(&str) -> f64) -> f64 {
        let [input, output, cached, written] = TOKENS.map(count);
        let fresh = if self.cached_apart { input } else { (input - cached).max(0.0) };
        let read = (fresh + written) * self.input + cached * self.cached.unwrap_or(self.input);
        (read + output * self.output) / 1e6
    }
}

/// The least and the most that a metric may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct MetricLimits {
    /// The least.
    pub at_least: Option<f64>,
    /// The most.
    pub at_most: Option<f64>,
}

/// What a manifest repeats of the configuration. What is missing is none: it is equal to nothing that a manifest says.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Repeated {
    /// The suite.
    pub suite_id: Option<String>,
    /// The kind of suite.
    pub kind: Option<Kind>,
    /// The seed of everything random.
    pub seed: Option<u64>,
    /// How the run's bytes were made reproducible.
    pub determinism: Option<Determinism>,
    /// Each dataset file.
    pub datasets: Vec<RepeatedDataset>,
    /// Each target.
    pub targets: Vec<RepeatedTarget>,
}

/// A dataset as a manifest repeats it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RepeatedDataset {
    /// As the suite writes it.
    pub path: String,
    /// Its format.
    pub format: String,
    /// `sha256:` and the digest of its bytes.
    pub sha256: String,
    /// Rows in it.
    pub rows: u64,
}

/// A target as a manifest repeats it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RepeatedTarget {
    /// Its unique name in the suite.
    pub slot: String,
    /// `{kind: settings}`
    #[serde(flatten)]
    pub config: BTreeMap<String, Json>,
}

impl Repeated {
    /// What a manifest says.
    pub fn of(manifest: &Manifest) -> Self {
        let datasets = manifest.datasets.iter().map(|dataset| RepeatedDataset {
            path: dataset.path.clone(),
            format: dataset.format.clone(),
            sha256: dataset.dataset_hash.clone(),
            rows: dataset.rows,
        });
        let settings = |config: &Json| {
            let pairs = config.as_object().into_iter().flat_map(Object::iter);
            pairs.map(|(key, value)| (key.to_owned(), value.clone())).collect()
        };
        let targets = manifest
            .targets
            .iter()
            .map(|target| RepeatedTarget { slot: target.slot.clone(), config: settings(&target.config) });
        Repeated {
            suite_id: Some(manifest.suite_id.clone()),
            kind: Some(manifest.kind),
            seed: Some(manifest.seed),
            determinism: Some(manifest.determinism),
            datasets: datasets.collect(),
            targets: targets.collect(),
        }
    }
}

/// What the tally of a `probe` run needs to know.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Probe {
    /// How scores become a verdict.
    pub scoring: ProbeScoring,
    /// The judges, in the suite's order.
    pub judges: Vec<Json>,
    /// Labelled answers, where there are any.
    pub calibration: Option<Json>,
}

/// How scores become a verdict.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct ProbeScoring {
    /// The score from which a trial passes.
    pub threshold: f64,
}

impl Default for ProbeScoring {
    fn default() -> Self {
        Self { threshold: 1.0 }
    }
}

impl Probe {
    /// What a judge that asks models judges by; its own name where it has no words for it.
    pub fn criterion<'a>(&'a self, judge: &'a str) -> &'a str {
        let judges = self.judges.iter().filter_map(Json::as_object);
        let own = judges.filter(|each| each.get("name").and_then(Json::as_str) == Some(judge));
        let mut settings = own.flat_map(|each| each.iter()).map(|(_, settings)| settings);
        settings.find_map(|settings| settings.get("criterion")?.as_str()).unwrap_or(judge)
    }
}

/// What the tally of a `code` run needs to know.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct Code {
    /// The ks of pass@k.
    pub k: Vec<u64>,
    /// The planned tasks; nothing where all tasks of the records are.
    pub task_ids: Option<Vec<String>>,
    /// `all` or `answered`: whether a task without an answer is a failure.
    pub count_tasks: String,
    /// The language of the tasks.
    pub language: Option<String>,
}

impl Default for Code {
    fn default() -> Self {
        Self { k: vec![1], task_ids: None, count_tasks: String::new(), language: None }
    }
}

/// What the tally of a `robustness` run needs to know.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Robustness {
    /// When enough has been seen.
    pub policy: String,
    /// The share of equal outcomes that makes a tool stable.
    pub agreement: f64,
    /// `open` where runs may be added without a plan.
    pub looks: Option<String>,
    /// Runs of a stress level at most.
    pub level_runs: u32,
    /// The cases.
    pub cases: Vec<RobustnessCase>,
}

/// A case of a `robustness` suite.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RobustnessCase {
    /// Its name.
    pub id: String,
    /// Runs of the instruction itself at most; none in stress suites.
    pub base_runs: Option<u32>,
    /// What was asked of generators.
    pub generators: Vec<AskedGenerator>,
}

/// What was asked of a generator, and what it gave.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct AskedGenerator {
    /// `{name: settings}`.
    pub generator: Json,
    /// Variants that were asked for.
    pub count: u32,
    /// Variants that it gave.
    pub produced: u32,
    /// Why it gave fewer; null where it did not.
    pub shortfall: Option<String>,
}

impl AskedGenerator {
    /// The generator's name.
    pub fn name(&self) -> &str {
        self.generator.as_object().and_then(|named| Some(named.iter().next()?.0)).unwrap_or_default()
    }
}

/// What the tally of a `containment` run needs to know.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Containment {
    /// `"1"` for a lane 1.
    pub lane: Option<String>,
    /// The replay of the attackers' own calls, where there was one.
    pub control: Option<Control>,
    /// What a lane 1 must reach.
    pub lane1: LaneOne,
    /// `"on"` or `"off"` where a model drives a variant; nothing in a lane 1, and in runs from before there were canaries.
    pub canaries: Option<String>,
}

/// The replay of the attackers' own calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Control {
    /// Attacks in it.
    pub attacks: u64,
    /// Those of them that leak.
    pub leaked: u64,
}

/// What a lane 1 must reach.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct LaneOne {
    /// Its bounds.
    pub thresholds: Thresholds,
}

/// Bounds of a lane 1. One that is missing cannot be held.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default)]
pub struct Thresholds {
    /// At least this share of answers that can be read.
    pub parse_rate: f64,
    /// At least this share of trials with a call.
    pub attempt_rate: f64,
    /// At least so many calls that the gate allows.
    pub allowlisted_calls: f64,
    /// At most so many forbidden calls that are executed.
    pub forbidden_executions: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            parse_rate: f64::MAX,
            attempt_rate: f64::MAX,
            allowlisted_calls: f64::MAX,
            forbidden_executions: -1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Strictness, parse};
    use crate::manifest::{Dataset, Target};

    fn read<T: DeserializeOwned + Default>(text: &str) -> T {
        part(&parse(text.as_bytes(), Strictness::Strict).unwrap())
    }

    #[test]
    fn each_part_is_read_as_its_type() {
        let common: Common =
            read(r#"{"suite_id":"s","seed":7,"timeout_ms":5,"gate":{"pass_rate":0.95},"k":[1]}"#);
        assert_eq!((common.suite_id.as_str(), common.seed, common.timeout_ms), ("s", 7, 5));
        assert_eq!(common.gate.and_then(|gate| gate.pass_rate), Some(0.95));
        let code: Code = read(r#"{"k":[1,10],"task_ids":["t"],"count_tasks":"answered","language":"rust"}"#);
        assert_eq!((code.k, code.task_ids), (vec![1, 10], Some(vec!["t".to_owned()])));
        assert_eq!((code.count_tasks.as_str(), code.language.as_deref()), ("answered", Some("rust")));
        let robustness: Robustness = read(
            r#"{"policy":"fixed","agreement":0.9,"cases":[{"id":"c","generators":[
                {"generator":{"typo":{}},"count":3,"produced":1,"shortfall":"short"},{"generator":{"x":null}}]}]}"#,
        );
        let asked = &robustness.cases[0].generators;
        assert_eq!((robustness.policy.as_str(), robustness.agreement), ("fixed", 0.9));
        assert_eq!((asked[0].name(), asked[0].count, asked[0].produced), ("typo", 3, 1));
        assert_eq!((asked[0].shortfall.as_deref(), asked[1].shortfall.as_deref()), (Some("short"), None));
        let containment: Containment = read(
            r#"{"lane":"1","control":{"attacks":4,"leaked":3,"more":0},"lane1":{"thresholds":{"parse_rate":0.9}}}"#,
        );
        assert_eq!(containment.lane.as_deref(), Some("1"));
        assert_eq!(containment.control, Some(Control { attacks: 4, leaked: 3 }));
        assert_eq!(containment.lane1.thresholds, Thresholds { parse_rate: 0.9, ..Thresholds::default() });
    }

    #[test]
    fn what_a_manifest_repeats_is_read_with_every_setting() {
        let repeated: Repeated = read(
            r#"{"suite_id":"s","kind":"probe","seed":7,"determinism":{"deterministic_artifacts":true,"strict_serialization":false},
                "datasets":[{"path":"p","format":"csv","sha256":"sha256:0","rows":3,"fields":null}],
                "targets":[{"slot":"a","scripted":{"rules":[{"chance":0.5,"reply":1}]}}],"timeout_ms":5}"#,
        );
        assert_eq!(
            (repeated.suite_id.as_deref(), repeated.kind, repeated.seed),
            (Some("s"), Some(Kind::Probe), Some(7))
        );
        assert!(
            repeated.determinism.is_some_and(|it| it.deterministic_artifacts && !it.strict_serialization)
        );
        assert_eq!((repeated.datasets[0].path.as_str(), repeated.datasets[0].rows), ("p", 3));
        let (slot, config) = (&repeated.targets[0].slot, &repeated.targets[0].config);
        assert_eq!((slot.as_str(), config.len()), ("a", 1), "the slot is no setting");
        assert_eq!(config["scripted"].to_string(), r#"{"rules":[{"chance":0.5,"reply":1}]}"#);
        assert_eq!(read::<Repeated>(r#"{"seed":"x"}"#), Repeated::default());
    }

    #[test]
    fn what_a_manifest_says_again_is_what_its_configuration_would_say() {
        let golden =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../proofhouse/tests/golden/v1/probe/run/manifest.json");
        let mut manifest: Manifest = serde_json::from_slice(&std::fs::read(golden).unwrap()).unwrap();
        manifest.datasets = vec![Dataset {
            path: "p".to_owned(),
            format: "csv".to_owned(),
            dataset_hash: "sha256:0".to_owned(),
            rows: 3,
        }];
        manifest.targets = vec![Target {
            slot: "a".to_owned(),
            kind: "scripted".to_owned(),
            config: parse(br#"{"scripted":{"rules":[]}}"#, Strictness::Strict).unwrap(),
        }];
        let says = read::<Repeated>(
            r#"{"datasets":[{"path":"p","format":"csv","sha256":"sha256:0","rows":3}],
                "targets":[{"slot":"a","scripted":{"rules":[]}}]}"#,
        );
        let expected = Repeated {
            suite_id: Some(manifest.suite_id.clone()),
            kind: Some(Kind::Probe),
            seed: Some(manifest.seed),
            determinism: Some(manifest.determinism),
            ..says
        };
        assert_eq!(Repeated::of(&manifest), expected);
    }

    #[test]
    fn what_is_missing_or_something_else_has_its_default() {
        assert_eq!(read::<Code>("{}").k, [1]);
        assert_eq!(read::<Code>(r#"{"k":"all"}"#), Code::default());
        assert_eq!(read::<Common>("null"), Common::default());
        let containment: Containment = read(r#"{"control":null,"lane":null,"lane1":{}}"#);
        assert_eq!(containment, Containment::default());
        let bounds = containment.lane1.thresholds;
        assert_eq!((bounds.parse_rate, bounds.forbidden_executions), (f64::MAX, -1.0), "it cannot be held");
    }

    #[test]
    fn the_identity_is_of_content_and_not_of_names_and_places() {
        let identity_of =
            |text: &str| identity(&parse(text.as_bytes(), Strictness::Strict).unwrap()).to_string();
        let full = r#"{"title":"t","description":"d","gate":{},"case_count":1,"k":[1],"limit":null,"seed":7,
            "datasets":[{"path":"p","rows":3,"sha256":"x"}]}"#;
        assert_eq!(identity_of(full), r#"{"datasets":[{"sha256":"x"}],"identity_version":1,"seed":7}"#);
        assert_eq!(identity_of(r#"{"limit":2}"#), r#"{"identity_version":1,"limit":2}"#);
        let config = parse(full.as_bytes(), Strictness::Strict).unwrap();
        assert_eq!(run_id(&config), RunId::of_identity(identity_of(full).as_bytes()));
    }

    /// A million tokens read, of which 400,000 were known before, 100,000 written to the cache and 250,000 answered.
    #[test]
    fn tokens_cost_what_their_sort_costs() {
        let count = |name: &str| match name {
            "input_tokens" => 1e6,
            "output_tokens" => 250e3,
            "cached_tokens" => 400e3,
            _ => 100e3,
        };
        let price = Price { input: 2.0, output: 8.0, cached: Some(0.5), cached_apart: false };
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(price.cost(count), 1.4 + 0.2 + 2.0);
        near(Price { cached_apart: true, ..price }.cost(count), 2.2 + 0.2 + 2.0);
        near(Price { cached: None, ..price }.cost(count), 1.4 + 0.8 + 2.0);
    }

    #[test]
    fn a_judge_without_words_for_its_criterion_goes_by_its_name() {
        let probe: Probe =
            read(r#"{"judges":[{"name":"a","ask":{"criterion":"kind"}},{"name":"b","ask":{}}]}"#);
        assert_eq!(["a", "b", "c"].map(|judge| probe.criterion(judge)), ["kind", "b", "c"]);
    }
}
