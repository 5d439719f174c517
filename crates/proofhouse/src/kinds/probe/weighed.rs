//! What judges weigh beside the answer: how long it took, and what it cost.

use std::collections::BTreeMap;

use proofhouse_ledger::Json;
use proofhouse_ledger::config::Price;
use proofhouse_ledger::json::from_json;

use super::Probe;
use crate::family::target::TargetConfig;
use crate::spine::run::execute::ExecuteError;
use crate::spine::run::work::Means;
use crate::spine::suite::check::Common;
use crate::spine::suite::load::Overrides;
use crate::spine::suite::model::{Slot, Suite};
use crate::text::complaint::Complaint;

/// Where the configuration keeps the prices that verdicts rest on.
pub(super) const PRICES: &str = "judge_prices";

/// Slot → what its tokens cost: by the price list, by the gate, or nothing for what answers from here.
pub(super) fn prices(common: &Common<'_>, slots: &[Slot], overrides: &Overrides) -> BTreeMap<String, Price> {
    let gate = common.priced_gate().map(|gate| gate.prices).unwrap_or_default();
    let price = |slot: &Slot| {
        let (name, target) = of_slot(common.targets, &slot.name)?;
        let listed = overrides.prices.as_ref().and_then(|list| target.price(&list.prices));
        let said = || gate.get(name).map(crate::spine::suite::identity::json);
        let listed = listed.or_else(said).and_then(|price| from_json(&price).ok());
        Some((slot.name.clone(), listed.or_else(|| target.is_here().then(Price::default))?))
    };
    slots.iter().filter_map(price).collect()
}

/// The target of a slot, which is that alone or with a prompt.
fn of_slot<'t>(targets: &'t [(String, TargetConfig)], slot: &str) -> Option<(&'t str, &'t TargetConfig)> {
    let front = slot.split('/').next().unwrap_or_default();
    let found = targets.iter().find(|(name, _)| name == slot || name == front);
    found.map(|(name, target)| (name.as_str(), target))
}

/// What an answer cost; none where the target did not say what it used, unless it is free.
pub(super) fn cost(price: &Price, usage: Option<&Json>) -> Option<f64> {
    match usage {
        None => (*price == Price::default()).then_some(0.0),
        Some(usage) => {
            Some(price.cost(|name| usage.get(name).and_then(Json::as_f64).unwrap_or(0.0).max(0.0)))
        }
    }
}

/// Prices by slot for a run that may begin: what its judges weigh will be there, and will be the same when the run is repeated.
pub(super) fn ready(probe: &Probe, suite: &Suite, means: &Means) -> Result<Vec<Price>, ExecuteError> {
    let refused = |what: String, hint: &str| Err(ExecuteError::Judge(Complaint::new(what).hint(hint)));
    let asks = means.stored.is_none() && suite.targets.iter().any(|(_, target)| !target.is_here());
    if probe.weighs.time && asks && means.opening.tape.is_none() && suite.determinism.deterministic_artifacts
    {
        let what = "a judge weighs how long answers take, and nothing would keep it: the same run could not be repeated";
        return refused(
            what.to_owned(),
            "`--record DIR` keeps times with the answers, and `--replay DIR` repeats every verdict; \
             `determinism: {deterministic_artifacts: false}` does without",
        );
    }
    let Some(prices) = probe.prices.as_ref() else { return Ok(Vec::new()) };
    let mut found = Vec::with_capacity(suite.slots.len());
    for slot in &suite.slots {
        match prices.get(&slot.name) {
            Some(price) => found.push(*price),
            None => {
                let what = format!("a judge weighs what answers cost, and `{}` has no price", slot.name);
                return refused(
                    what,
                    "`--prices FILE` names what models cost, for example `MODEL: {input: 0.15, output: 0.6}`",
                );
            }
        }
    }
    Ok(found)
}
