//! Other wordings of what a target is asked: generators over the filled prompt of a probe, or over the prose of a task.

use std::collections::BTreeMap;
use std::sync::Arc;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Object, to_json};

use super::generators::{self, Asking, VariantFile};
use crate::family::vary::{Ask, Generator, Maker, Variant};
use crate::spine::suite::check::Checker;
use crate::spine::suite::identity::json;
use crate::spine::suite::problem::{Code, quoted};
use crate::spine::suite::tree::Step;

/// The generators of a suite's `vary`.
#[derive(Debug, Clone, Default)]
pub struct Wordings {
    asked: Vec<Asking>,
}

/// One wording: its id, and what is asked or why there is no such wording.
pub type Wording = (Arc<str>, Result<String, Lacking>);

/// Why there is no such wording, in the word that its record gives as the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lacking(pub String);

/// What generators reword, and how a variant of it becomes what is asked.
pub trait Wordable {
    /// What generators work on; otherwise why there is nothing.
    fn base(&self) -> Result<&str, &'static str>;

    /// What is asked in place of the base; otherwise why this variant cannot be used.
    fn reworded(&self, variant: Variant) -> Result<String, &'static str>;
}

/// How many times as many variants are made as are wanted, where some cannot be used.
const MAX_SPARE: u32 = 64;

impl Wordings {
    /// How many wordings every case has, its own included.
    pub fn per_case(&self) -> u64 {
        1 + self.asked.iter().map(|asked| u64::from(asked.count)).sum::<u64>()
    }

    /// How many wordings each case is asked in, where that is more than its own: a factor of the number of trials.
    pub fn factor(&self) -> String {
        match self.per_case() {
            1 => String::new(),
            several => format!(" x {several} wordings"),
        }
    }

    /// Every other wording of a case in plan order. One that cannot be had keeps its place, with the reason.
    pub fn of(&self, case_id: &str, base: &impl Wordable) -> Vec<Wording> {
        let mut wordings: Vec<Wording> = Vec::new();
        // A generator that is asked twice goes on counting.
        let mut made: BTreeMap<&str, u32> = BTreeMap::new();
        for asked in &self.asked {
            let Maker::Rules(rules) = asked.config.maker() else { continue };
            let (texts, lack) = match base.base() {
                Ok(text) => {
                    usable(rules, Ask { base: text, count: asked.count, seed: asked.seed, case_id }, base)
                }
                Err(unfit) => (Vec::new(), unfit.to_owned()),
            };
            let mut texts = texts.into_iter();
            for _ in 0..asked.count {
                let name = asked.config.name();
                let number = made.entry(name).or_default();
                *number += 1;
                let id = Arc::from(format!("{name}_{number:04}"));
                wordings.push((id, texts.next().ok_or_else(|| Lacking(lack.clone()))));
            }
        }
        wordings
    }

    /// For the run's identity.
    pub(crate) fn settings(&self) -> Json {
        let each = self.asked.iter().map(|asked| {
            Json::Object(Object::from_iter([
                ("count", Json::from(asked.count)),
                ("data", json(&asked.config.data())),
                ("generator", json(&asked.config)),
                ("seed", json(&asked.seed)),
                ("version", Json::from(asked.config.version())),
            ]))
        });
        Json::Array(each.collect())
    }
}

/// The first variants that can be used, as many as are asked for, and why there are no more.
///
/// The first variants of a generator do not depend on how many follow, so more are made until enough can be used.
fn usable(rules: &dyn Generator, ask: Ask<'_>, base: &impl Wordable) -> (Vec<String>, String) {
    let mut count = ask.count;
    loop {
        let found = rules.variants(&Ask { count, ..ask });
        let (mut texts, mut refused) = (Vec::new(), None);
        for variant in found.list {
            match base.reworded(variant) {
                Ok(text) => texts.push(text),
                Err(unfit) => refused = Some(unfit.to_owned()),
            }
        }
        texts.truncate(ask.count as usize);
        let enough = texts.len() == ask.count as usize;
        if enough || found.shortfall.is_some() || count >= ask.count.saturating_mul(MAX_SPARE) {
            let lack = found.shortfall.and_then(|shortfall| to_json(&shortfall.reason).ok());
            let lack = lack.as_ref().and_then(Json::as_str).map(str::to_owned);
            return (texts, refused.or(lack).unwrap_or_default());
        }
        count = count.saturating_mul(2);
    }
}

/// Reads a suite's `vary`.
pub(crate) fn read(checker: &mut Checker<'_>, written: &[VariantFile], own_seed: u64) -> Wordings {
    let mut asked = Vec::new();
    for (nth, variant) in written.iter().enumerate() {
        let steps = [Step::Key("vary"), Step::Index(nth)];
        let Some(asking) = generators::asking(checker, &steps, variant, own_seed) else { continue };
        if generators::needs_model(&asking.config) {
            let what = format!(
                "{} needs a model, and `vary` takes generators that work by rules",
                quoted(&variant.generator)
            );
            checker.complain(Code::BadValue, &[steps[0], steps[1], Step::Key("generator")], what).hint =
                Some("robustness suites have a `rewriter`".to_owned());
        }
        asked.push(asking);
    }
    Wordings { asked }
}
