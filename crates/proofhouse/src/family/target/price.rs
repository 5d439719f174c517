//! What requests cost: a price file, and what a run has spent of its budget.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::text::complaint::Complaint;
use crate::text::yaml;
use proofhouse_ledger::Json;
use serde::Deserialize;

/// Prices by model: what `--prices` names.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Prices(BTreeMap<String, Price>);

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Tokens that the model reads.
    pub input: f64,
    /// Tokens that it writes.
    pub output: f64,
    /// Tokens that it has read before; without it they cost as much as others.
    #[serde(default)]
    pub cached: Option<f64>,
}

impl Prices {
    /// Reads a price file: YAML, the model's name and its prices.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str) -> Result<Self, Complaint> {
        let prices: Prices = yaml::read(text)?;
        let numbers = |price: &Price| [price.input, price.output, price.cached.unwrap_or(0.0)];
        for (model, price) in &prices.0 {
            if numbers(price).iter().any(|number| !number.is_finite() || *number < 0.0) {
                return Err(Complaint::new(format!("the price of `{model}` is not a number of 0 or more")));
            }
        }
        Ok(prices)
    }

    /// The price of a model; `provider/model` is looked up by the model alone too.
    pub fn of(&self, model: &str) -> Option<Price> {
        let bare = model.split_once('/').map(|(_, bare)| bare);
        self.0.get(model).or_else(|| self.0.get(bare?)).copied()
    }
}

impl Price {
    /// What this usage costs. `apart` says that cached tokens are counted beside the input, not within it.
    fn cost(&self, usage: &Json, apart: bool) -> f64 {
        let count = |name: &str| usage.get(name).and_then(Json::as_f64).unwrap_or(0.0);
        let cached = count("cached_tokens");
        let fresh = if apart { count("input_tokens") } else { (count("input_tokens") - cached).max(0.0) };
        let read = fresh + count("cache_creation_tokens");
        (read * self.input
            + cached * self.cached.unwrap_or(self.input)
            + count("output_tokens") * self.output)
            / 1e6
    }
}

/// What a run has spent, and what it may.
#[derive(Debug)]
pub struct Budget {
    prices: Prices,
    limit: Option<f64>,
    state: Mutex<Spent>,
}

#[derive(Debug, Default)]
struct Spent {
    sum: f64,
    /// Requests that were paid for.
    paid: u64,
    /// Requests under way, which will cost about as much as those before them.
    under_way: u64,
}

/// A request under way, counted as long as this is kept.
#[derive(Debug)]
pub(super) struct Held<'b>(&'b Budget);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.state().under_way -= 1;
    }
}

impl Budget {
    /// So many US dollars, or as many as it takes.
    pub fn new(prices: Prices, limit: Option<f64>) -> Self {
        Budget { prices, limit, state: Mutex::default() }
    }

    /// The price of a model; none is fine as long as nothing has to be kept within a budget.
    pub(super) fn price(&self, model: &str) -> Result<Option<Price>, Complaint> {
        match (self.prices.of(model), self.limit) {
            (None, Some(_)) => Err(Complaint::new(format!("`--budget` needs a price for `{model}`"))
                .hint("add it to the price file, for example `MODEL: {input: 0.15, output: 0.6}`")),
            (price, _) => Ok(price),
        }
    }

    pub(super) fn charge(&self, price: Price, usage: Option<&Json>, apart: bool) {
        let cost = usage.map_or(0.0, |usage| price.cost(usage, apart));
        let mut state = self.state();
        state.sum += cost;
        state.paid += 1;
    }

    fn state(&self) -> MutexGuard<'_, Spent> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request that is under way.
    pub(super) fn hold(&self) -> Held<'_> {
        self.state().under_way += 1;
        Held(self)
    }

    /// Whether there is a limit to keep.
    pub(super) fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    /// The prices that it goes by.
    pub fn prices(&self) -> &Prices {
        &self.prices
    }

    /// US dollars spent so far by this instance.
    pub fn spent(&self) -> f64 {
        self.state().sum
    }

    /// Whether nothing more may be asked: what is under way counts at the mean price of what was paid so far.
    pub fn is_empty(&self) -> bool {
        let state = self.state();
        let mean = if state.paid == 0 { 0.0 } else { state.sum / state.paid as f64 };
        self.limit.is_some_and(|limit| state.sum + mean * state.under_way as f64 >= limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofhouse_ledger::json::{Strictness, parse};

    #[test]
    fn usage_has_a_price() {
        let prices =
            Prices::read("m: {input: 2, output: 10, cached: 0.5}\nfree: {input: 0, output: 0}\n").unwrap();
        let usage =
            parse(br#"{"input_tokens":1000,"cached_tokens":400,"output_tokens":100}"#, Strictness::Strict)
                .unwrap();
        let price = prices.of("acme/m").unwrap();
        assert!((price.cost(&usage, false) - (600.0 * 2.0 + 400.0 * 0.5 + 100.0 * 10.0) / 1e6).abs() < 1e-12);
        assert!((price.cost(&usage, true) - (1000.0 * 2.0 + 400.0 * 0.5 + 100.0 * 10.0) / 1e6).abs() < 1e-12);
        assert_eq!(prices.of("other"), None);
        let budget = Budget::new(prices, Some(0.003));
        assert!(budget.price("other").is_err());
        budget.charge(price, Some(&usage), false);
        assert!(!budget.is_empty());
        let held = budget.hold();
        assert!(budget.is_empty(), "what is under way counts at the mean price");
        drop(held);
        assert!(!budget.is_empty());
        budget.charge(price, Some(&usage), false);
        assert!(budget.is_empty(), "{}", budget.spent());
        assert!(Prices::read("m: {input: -1, output: 0}").unwrap_err().what.contains("price of `m`"));
        assert!(Prices::read("m: {input: 1}").is_err());
    }
}
