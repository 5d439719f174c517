//! Judging the answers of a `probe` run again: a record holds question, answer and expectation, the configuration the judges.

use std::collections::{BTreeMap, BTreeSet};

use proofhouse_ledger::Json;
use proofhouse_ledger::config::Price;
use proofhouse_ledger::json::from_json;
use proofhouse_ledger::record::{Damage, HEAD, Line, PROBE, Status};
use serde::Deserialize;

use super::weighed;
use crate::family::judge::{self, JudgeConfig, Panel, Scoring, Subject};
use crate::spine::rejudge::{Again, Impossible, Rejudge};
use crate::spine::suite::identity::json;

const MEAN: &str = "weighted_mean";

#[derive(Deserialize)]
struct Settings {
    judges: Vec<Json>,
    scoring: Deciding,
    /// What tokens cost, slot by slot, where a judge weighs that.
    #[serde(default)]
    judge_prices: BTreeMap<String, Price>,
}

#[derive(Deserialize)]
struct Deciding {
    primary: String,
    threshold: f64,
    weights: BTreeMap<String, f64>,
}

struct Judges {
    panel: Panel,
    names: Vec<String>,
    /// Judges that ask somebody else.
    asking: BTreeSet<usize>,
    /// Judges whose settings are filled from fields that records do not have.
    filled: BTreeSet<usize>,
    deciding: Deciding,
    prices: BTreeMap<String, Price>,
}

/// The judges of a run with this configuration.
pub(super) fn open(config: &Json) -> Box<dyn Rejudge> {
    match judges(config) {
        Some(judges) => Box::new(judges),
        None => Box::new(Impossible("its judges cannot be read from config.resolved.yaml")),
    }
}

fn judges(config: &Json) -> Option<Judges> {
    let settings: Settings = from_json(config).ok()?;
    let named = settings.judges.into_iter().map(|judge| {
        let Json::Object(mut judge) = judge else { return None };
        let name = judge.remove("name")?.as_str()?.to_owned();
        Some((name, from_json::<JudgeConfig>(&Json::Object(judge)).ok()?))
    });
    let named: Vec<(String, JudgeConfig)> = named.collect::<Option<_>>()?;
    let names: Vec<String> = named.iter().map(|(name, _)| name.clone()).collect();
    let (deciding, prices) = (settings.scoring, settings.judge_prices);
    let scoring = Scoring {
        weights: deciding.weights.clone(),
        primary: names.contains(&deciding.primary).then(|| deciding.primary.clone()),
        threshold: deciding.threshold,
    };
    let panel = Panel::new(&named, &scoring).ok()?;
    let asking = panel.help().into_iter().map(|(at, _)| at).collect();
    let has_holes = |judge: &JudgeConfig| !judge::templates(&json(judge)).is_empty();
    let filled = named.iter().enumerate().filter(|(_, (_, judge))| has_holes(judge)).map(|(at, _)| at);
    let filled = filled.collect();
    Some(Judges { panel, names, asking, filled, deciding, prices })
}

type Scores = Vec<(String, Option<f64>)>;

impl Judges {
    /// Whether a trial with these scores passed.
    fn verdict(&self, scores: &Scores) -> Option<bool> {
        let weight = |name: &String| self.deciding.weights.get(name).copied().unwrap_or(1.0);
        if scores.iter().any(|(name, score)| score.is_none() && weight(name) > 0.0) {
            return None;
        }
        let primary = match self.deciding.primary.as_str() {
            MEAN if !self.names.iter().any(|name| name == MEAN) => {
                let counted = scores.iter().filter(|(name, _)| weight(name) > 0.0);
                let (sum, weights) = counted.fold((0.0, 0.0), |(sum, weights), (name, score)| {
                    (sum + weight(name) * score.unwrap_or(0.0), weights + weight(name))
                });
                (weights > 0.0).then_some(sum / weights)
            }
            primary => scores.iter().find(|(name, _)| name == primary).and_then(|(_, score)| *score),
        };
        // What rounding adds or takes away decides nothing.
        primary.map(|primary| primary + 1e-9 >= self.deciding.threshold)
    }

    fn judged(&self, line: &Line<'_>) -> Result<Again, Damage> {
        if line.status()? != Status::Success || line.is_aside() {
            return Ok(Again::Nothing);
        }
        let (scores, passed) = (line.get(HEAD.scores)?, line.get(HEAD.passed)?);
        let place = |name: &String| self.names.iter().position(|known| known == name);
        let Some(mut only) = scores.iter().map(|(name, _)| place(name)).collect::<Option<Vec<usize>>>()
        else {
            return Ok(Again::Other("a score is of a judge that the run does not have".to_owned()));
        };
        only.sort_unstable();
        if only.iter().any(|at| self.asking.contains(at)) {
            return Ok(Again::Impossible("its judges ask a model or a program"));
        }
        if only.iter().any(|at| self.filled.contains(at)) {
            return Ok(Again::Impossible("its judges are filled from fields of the case"));
        }
        let (input, output, expected) =
            (line.get(PROBE.input)?.to_text(), line.get(PROBE.output)?, line.get(PROBE.expected)?);
        let response = line.get(PROBE.response)?.unwrap_or_default();
        let finish_reason = response.get("finish_reason").and_then(Json::as_str);
        let usage = line.json(HEAD.usage).filter(|usage| *usage != Json::Null);
        let slot = line.get(HEAD.slot)?;
        let price = self.prices.get(&*slot);
        let subject = Subject {
            input: &input,
            output: &output,
            expected: &expected,
            finish_reason,
            usage: usage.as_ref(),
            repetition: line.get(HEAD.repetition)?,
            cost_usd: price.and_then(|price| weighed::cost(price, usage.as_ref())),
            latency_ms: response.get("latency_ms").and_then(Json::as_f64),
            fields: None,
        };
        let found = self.panel.judge(&subject, Some(&only));
        let again: BTreeMap<&str, Option<f64>> =
            found.scores.iter().map(|(at, score)| (self.names[*at].as_str(), *score)).collect();
        let text = |score: Option<f64>| score.map_or("null".to_owned(), |score| score.to_string());
        for (name, score) in &scores {
            let found = again.get(name.as_str()).copied().flatten();
            if found != *score {
                let (score, found) = (text(*score), text(found));
                return Ok(Again::Other(format!("`{name}` scored {score}, judged again it scores {found}")));
            }
        }
        Ok(match found.passed == passed {
            true => Again::Same,
            false => Again::Other(format!(
                "`passed` is {}, judged again it is {}",
                text(passed.map(f64::from)),
                text(found.passed.map(f64::from))
            )),
        })
    }
}

impl Rejudge for Judges {
    fn contradiction(&self, line: &Line<'_>) -> Option<String> {
        let (scores, passed) = (line.get(HEAD.scores).ok()?, line.get(HEAD.passed).ok()?);
        if line.get(HEAD.primary_metric).ok()?.as_deref() != Some(self.deciding.primary.as_str()) {
            return Some("`primary_metric` is not what config.resolved.yaml says".to_owned());
        }
        // What tries the judges has no verdict of its own.
        (!line.is_aside() && passed != self.verdict(&scores))
            .then(|| "`passed` does not follow from `scores`".to_owned())
    }

    fn again(&self, line: &Line<'_>) -> Again {
        self.judged(line).unwrap_or_else(|damage| Again::Other(damage.to_string()))
    }
}
