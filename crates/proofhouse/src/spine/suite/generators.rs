//! Generators as suites write them: a name, settings below `params`, and numbers that may stand inside or beside it.

use proofhouse_ledger::Json;
use proofhouse_ledger::json::{MAX_SAFE_INTEGER, Object, to_json};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use crate::family::vary::{GeneratorConfig, Maker};
use crate::spine::suite::bounds::{Fraction, Whole};
use crate::spine::suite::check::Checker;
use crate::spine::suite::file::InlineCase;
use crate::spine::suite::problem::{Code, did_you_mean, quoted};
use crate::spine::suite::tree::Step;

/// Variants of one generator where nobody says how many.
const DEFAULT_COUNT: u32 = 5;
/// The most that can be asked for.
const MAX_COUNT: u64 = 10_000;

/// A generator and how many variants it makes.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VariantFile {
    /// Its name; `proofhouse list generators` shows them.
    pub(crate) generator: String,
    /// Its settings; `count`, `seed` and the intensities may stand here or beside.
    #[serde(default)]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub(crate) params: Params,
    /// How many variants; default 5.
    #[serde(default)]
    pub(crate) count: Option<Whole<1, MAX_COUNT>>,
    /// The smallest share of characters that is touched.
    #[serde(default)]
    pub(crate) intensity_min: Option<Fraction>,
    /// The largest.
    #[serde(default)]
    pub(crate) intensity_max: Option<Fraction>,
    /// The generator's seed; default: the suite's.
    #[serde(default)]
    pub(crate) seed: Option<Whole<0, MAX_SAFE_INTEGER>>,
}

/// A generator's settings as they were written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Params(pub(crate) Object);

impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        InlineCase::deserialize(deserializer).map(|fields| Params(fields.0))
    }
}

/// A generator that is asked for variants.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asking {
    pub(crate) config: GeneratorConfig,
    pub(crate) count: u32,
    pub(crate) seed: u64,
    /// Its settings as they were written.
    pub(crate) params: Object,
}

/// Reads what a suite asks of a generator; `own_seed` is the suite's.
pub(crate) fn asking(
    checker: &mut Checker<'_>,
    steps: &[Step<'_>],
    written: &VariantFile,
    own_seed: u64,
) -> Option<Asking> {
    let mut params = written.params.0.clone();
    let number = |value: Option<f64>| value.and_then(|value| to_json(&value).ok());
    for (key, beside) in [("intensity_min", written.intensity_min), ("intensity_max", written.intensity_max)]
    {
        if let Some(value) = either(checker, steps, &mut params, (key, number(beside.map(|share| share.0)))) {
            params.set(key, value);
        }
    }
    let beside = number(written.count.map(|count| count.0 as f64));
    let count = either(checker, steps, &mut params, ("count", beside));
    let count =
        whole(checker, steps, ("count", count), (1, MAX_COUNT)).map_or(DEFAULT_COUNT, |count| count as u32);
    let seed = seed(checker, steps, (&mut params, written.seed.map(|seed| seed.0)), own_seed);
    let config = generator(checker, steps, &written.generator, &params)?;
    Some(Asking { config, count, seed, params })
}

/// The generator that is meant, with its settings checked.
pub(crate) fn generator(
    checker: &mut Checker<'_>,
    steps: &[Step<'_>],
    name: &str,
    params: &Object,
) -> Option<GeneratorConfig> {
    let known: Vec<&str> = GeneratorConfig::NAMES.iter().copied().chain(["ai_rewrite_style"]).collect();
    if !known.contains(&name) {
        let steps = [steps, &[Step::Key("generator")]].concat();
        checker.complain(Code::BadValue, &steps, format!("no generator is named {}", quoted(name))).hint =
            Some(did_you_mean(name, &known, "generators"));
        return None;
    }
    let mut place = [steps, &[Step::Key("params")]].concat();
    let text = Json::Object(Object::from_iter([(name, Json::Object(params.clone()))])).to_string();
    let config: GeneratorConfig = match serde_json::from_str(&text) {
        Ok(config) => config,
        Err(error) => {
            let text = error.to_string();
            let what = text.split(" at line ").next().unwrap_or_default();
            let field = what.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next());
            place.extend(field.filter(|field| params.get(field).is_some()).map(Step::Key));
            checker.complain(Code::BadValue, &place, what).hint =
                Some(format!("`proofhouse list generators` documents {}", quoted(name)));
            return None;
        }
    };
    if let Err(complaint) = config.check() {
        checker.pass_on(Code::BadValue, &place, complaint);
        return None;
    }
    Some(config)
}

/// A seed inside or beside `params`, or the suite's.
pub(crate) fn seed(
    checker: &mut Checker<'_>,
    steps: &[Step<'_>],
    (params, beside): (&mut Object, Option<u64>),
    own_seed: u64,
) -> u64 {
    let beside = beside.and_then(|seed| to_json(&seed).ok());
    let seed = either(checker, steps, params, ("seed", beside));
    whole(checker, steps, ("seed", seed), (0, MAX_SAFE_INTEGER)).unwrap_or(own_seed)
}

/// Takes a number that may stand inside or beside `params`; two different ones are a conflict.
fn either(
    checker: &mut Checker<'_>,
    steps: &[Step<'_>],
    params: &mut Object,
    (key, beside): (&'static str, Option<Json>),
) -> Option<Json> {
    let inside = params.remove(key);
    if let (Some(inside), Some(beside)) = (&inside, &beside)
        && inside != beside
    {
        let what = format!("`{key}` is {beside} here and {inside} in `params`");
        checker.complain(Code::BadValue, &[steps, &[Step::Key(key)]].concat(), what).hint =
            Some("keep one of the two".to_owned());
    }
    beside.or(inside)
}

fn whole(
    checker: &mut Checker<'_>,
    steps: &[Step<'_>],
    (key, value): (&'static str, Option<Json>),
    (low, high): (u64, u64),
) -> Option<u64> {
    let value = value?;
    let fits = |number: &f64| number.fract() == 0.0 && *number >= low as f64 && *number <= high as f64;
    let number = value.as_f64().filter(fits);
    if number.is_none() {
        let what = format!("expected a whole number from {low} to {high}, found `{value}`");
        checker.complain(Code::OutOfRange, &[steps, &[Step::Key("params"), Step::Key(key)]].concat(), what);
    }
    number.map(|number| number as u64)
}

/// Whether a generator needs a model.
pub(crate) fn needs_model(config: &GeneratorConfig) -> bool {
    matches!(config.maker(), Maker::Model(_))
}
