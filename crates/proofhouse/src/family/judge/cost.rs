//! The `cost` judge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Judge, Settings, Subject, Verdict, Weighs};
use crate::text::complaint::Complaint;

/// The answer cost no more than it may.
///
/// The cost is what the target says it used, all attempts and turns together, at the price of its model: `--prices FILE`, or `prices`
/// of the suite's gate. A target without a network (`scripted`, `replay`) costs nothing unless the gate has a price for it. To hold a
/// whole run to a sum, `--budget` and a gate on `cost_usd` are the better instruments.
///
/// Guarantee: prices that verdicts rest on are part of the run's identity, and `score` and `verify --rejudge` find the same cost in the
/// record's `usage`. A target without a price is refused before anything is asked; an answer without `usage` is not judged.
///
/// ```yaml
/// cost: {max_usd: 0.002}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// The highest cost that is right, in US dollars.
    pub max_usd: f64,
}

/// How far above the limit a sum of rounded products may come out and still count as equal to it.
const ROUNDING: f64 = 1e-12;

impl Settings for Cost {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        if !self.max_usd.is_finite() || self.max_usd < 0.0 {
            return Err(Complaint::new(format!("`max_usd` is {}", self.max_usd))
                .hint("US dollars of 0 or more, for example `max_usd: 0.002`"));
        }
        Ok(Box::new(Compiled(self.max_usd)))
    }

    fn needs_expected(&self) -> bool {
        false
    }
}

struct Compiled(f64);

impl Judge for Compiled {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let (most, Some(cost)) = (self.0, subject.cost_usd) else {
            return Verdict::unjudged("the target did not say what it used, or its price is not known");
        };
        Verdict::of(cost <= most + ROUNDING, || {
            format!("the answer cost {} US dollars, more than {most}", rounded(cost))
        })
    }

    fn weighs(&self) -> Weighs {
        Weighs { cost: true, ..Weighs::default() }
    }
}

/// A sum of products without the digits that rounding left behind.
fn rounded(cost: f64) -> f64 {
    let rounded = (cost * 1e12).round() / 1e12;
    if rounded > 0.0 { rounded } else { cost }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{refused, unjudged};
    use super::*;

    #[test]
    fn the_price_of_the_answer_decides() {
        let judge = Cost { max_usd: 0.3 }.compile().unwrap();
        let of = |cost: f64| judge.judge(&Subject { cost_usd: Some(cost), ..Subject::default() });
        assert_eq!(of(0.1 + 0.2), Verdict::right());
        assert_eq!(of(0.0), Verdict::right());
        let dear = of(0.1 + 0.2 + 0.01);
        assert_eq!(dear.score, Some(0.0));
        assert_eq!(dear.explanation(), Some("the answer cost 0.31 US dollars, more than 0.3"));
        unjudged("cost: {max_usd: 1}", "null", "x", "did not say what it used");
        refused("cost: {max_usd: -1}", "`max_usd` is -1");
        assert_eq!(judge.weighs(), Weighs { time: false, cost: true });
    }
}
