//! Other wordings of a probe's cases: generators over the filled prompt, the same for every case.

use std::sync::Arc;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Object, to_json};

use super::generators::{self, Asking, VariantFile};
use crate::suite::cases::Case;
use crate::suite::check::Checker;
use crate::suite::identity::json;
use crate::suite::problem::{Code, quoted};
use crate::suite::tree::Step;
use crate::vary::{Ask, Maker};

/// The generators of a suite's `vary`.
#[derive(Debug, Clone, Default)]
pub struct Wordings {
    asked: Vec<Asking>,
}

/// One wording of a case: its id, and the case with that input or why there is none.
pub type Wording = (Option<Arc<str>>, Result<Arc<Case>, String>);

impl Wordings {
    /// How many wordings every case has, its own included.
    pub fn per_case(&self) -> u64 {
        1 + self.asked.iter().map(|asked| u64::from(asked.count)).sum::<u64>()
    }

    /// Every wording of a case in plan order: its own first. One that cannot be had keeps its place, with the reason.
    pub fn of(&self, case: Case) -> Vec<Wording> {
        let mut wordings = Vec::new();
        for asked in &self.asked {
            let Maker::Rules(rules) = asked.config.maker() else { continue };
            let ask = Ask { base: &case.input, count: asked.count, seed: asked.seed, case_id: &case.id };
            let found = rules.variants(&ask);
            let lack = found.shortfall.and_then(|shortfall| to_json(&shortfall.reason).ok());
            let lack = lack.as_ref().and_then(Json::as_str).unwrap_or_default().to_owned();
            let mut texts = found.list.into_iter().map(|variant| variant.text);
            for _ in 0..asked.count {
                let name = asked.config.name();
                let own = |(id, _): &&Wording| id.as_ref().is_some_and(|id| id.starts_with(name));
                let id = Arc::from(format!("{name}_{:04}", wordings.iter().filter(own).count() + 1));
                let made = texts.next().map(|input| Arc::new(Case { input, ..case.clone() }));
                wordings.push((Some(id), made.ok_or_else(|| lack.clone())));
            }
        }
        wordings.insert(0, (None, Ok(Arc::new(case))));
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

/// Reads a suite's `vary`.
pub(super) fn read(checker: &mut Checker<'_>, written: &[VariantFile], own_seed: u64) -> Wordings {
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
