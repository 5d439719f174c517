//! What answers took: time and tokens of each target, as far as its records say them, and what a gate may ask of both.

use std::collections::BTreeMap;

use proofhouse_ledger::config::{Price, TOKENS};
use proofhouse_ledger::record::{Damage, HEAD, Line, Status};
use proofhouse_ledger::summary::{Latency, Slot, Summary, Usage};
use proofhouse_ledger::{Json, config};

use super::heads::{Metric, round};
use super::stats::decisions::Measured;

/// What a gate of every kind can hold to limits.
pub const EXPENSES: &[Metric] = &[
    Metric { name: "latency_mean_ms", of: |summary, slot| latency(summary, slot, |latency| latency.mean) },
    Metric { name: "latency_p50_ms", of: |summary, slot| latency(summary, slot, |latency| latency.p50) },
    Metric { name: "latency_p95_ms", of: |summary, slot| latency(summary, slot, |latency| latency.p95) },
    Metric {
        name: "input_tokens",
        of: |summary, slot| usage(summary, slot, |usage| Some(usage.input_tokens as f64)),
    },
    Metric {
        name: "output_tokens",
        of: |summary, slot| usage(summary, slot, |usage| Some(usage.output_tokens as f64)),
    },
];

/// What a gate can hold to limits beside those where each slot is a target that has a price.
pub const COST: Metric =
    Metric { name: "cost_usd", of: |summary, slot| usage(summary, slot, |usage| usage.cost_usd) };

/// Metrics that only records with measured times have.
pub const TIMED: [&str; 3] = ["latency_mean_ms", "latency_p50_ms", "latency_p95_ms"];

/// What a trial that was cut off would have taken is anything from there on.
fn latency(summary: &Summary, slot: &str, of: fn(&Latency) -> [Option<f64>; 2]) -> Vec<Measured> {
    let found = of_slot(summary, slot).and_then(|slot| slot.latency_ms.as_ref());
    let measured = |latency: &Latency| {
        let [least, most] = of(latency);
        let bounds = least.map(|least| [least, most.unwrap_or(f64::INFINITY)]);
        Measured { of: None, bounds, open: latency.cut_off + latency.lost }
    };
    found.map(measured).into_iter().collect()
}

/// Trials whose target said nothing of its usage may have used anything.
fn usage(summary: &Summary, slot: &str, of: fn(&Usage) -> Option<f64>) -> Vec<Measured> {
    let found = of_slot(summary, slot).and_then(|slot| slot.usage.as_ref());
    let measured = |usage: &Usage| {
        let most = |value: f64| if usage.unknown > 0 { f64::INFINITY } else { value };
        Measured { of: None, bounds: of(usage).map(|value| [value, most(value)]), open: 0 }
    };
    found.map(measured).into_iter().collect()
}

fn of_slot<'s>(summary: &'s Summary, slot: &str) -> Option<&'s Slot> {
    summary.slots.iter().find(|each| each.slot == slot)
}

/// What the trials of one target took.
#[derive(Default)]
pub(super) struct Expense {
    /// Each answer's time; with a minus where that is only the time after which it was cut off. Eight bytes for each.
    times: Vec<f64>,
    /// Trials that were carried out and have no answer, or none with a time: one may have taken any.
    lost: u64,
    known: u64,
    unknown: u64,
    tokens: BTreeMap<&'static str, u64>,
}

impl Expense {
    /// Takes a trial that was carried out.
    pub(super) fn push(&mut self, line: &Line<'_>, status: Status) -> Result<(), Damage> {
        if matches!(status, Status::Skipped | Status::NotRun) {
            return Ok(());
        }
        match (line.get(HEAD.latency_ms)?, status) {
            (Some(time), Status::Success) => self.times.push(time.abs()),
            (Some(time), Status::Timeout) => self.times.push(-time.abs()),
            // After an error the time is that of the error, which comes early or late.
            _ => self.lost += 1,
        }
        match line.json(HEAD.usage).filter(|usage| *usage != Json::Null) {
            None => self.unknown += 1,
            Some(usage) => {
                self.known += 1;
                for name in TOKENS {
                    let count = usage.get(name).and_then(Json::as_f64).unwrap_or(0.0);
                    *self.tokens.entry(name).or_default() += count.max(0.0) as u64;
                }
            }
        }
        Ok(())
    }

    /// Absent where records say no times.
    pub(super) fn latency(&self) -> Option<Latency> {
        if self.times.is_empty() {
            return None;
        }
        let cut_off = self.times.iter().filter(|time| time.is_sign_negative()).count() as u64;
        let lost = || std::iter::repeat_n(0.0, self.lost as usize);
        // The least: what was cut off took as long as that, and what is lost took nothing.
        let mut least: Vec<f64> = self.times.iter().map(|time| time.abs()).chain(lost()).collect();
        // The most: either may have taken for ever.
        let endless = |time: &f64| if time.is_sign_negative() { f64::INFINITY } else { *time };
        let mut most: Vec<f64> =
            self.times.iter().map(endless).chain(lost().map(|_| f64::INFINITY)).collect();
        least.sort_by(f64::total_cmp);
        most.sort_by(f64::total_cmp);
        let finite = |time: f64| time.is_finite().then(|| round(time));
        let mean = |times: &[f64]| finite(times.iter().sum::<f64>() / times.len() as f64);
        // The smallest time within which this share of the trials ended.
        let quantile = |times: &[f64], share: f64| {
            let at = (times.len() as f64 * share).ceil() as usize;
            finite(times[at.clamp(1, times.len()) - 1])
        };
        let both = |share: f64| [quantile(&least, share), quantile(&most, share)];
        Some(Latency {
            trials: self.times.len() as u64,
            cut_off,
            lost: self.lost,
            mean: [mean(&least), mean(&most)],
            p50: both(0.5),
            p95: both(0.95),
        })
    }

    /// Absent where no target says what it used.
    pub(super) fn usage(&self, price: Option<&Price>) -> Option<Usage> {
        let count = |name: &str| self.tokens.get(name).copied().unwrap_or(0);
        let cost = |price: &Price| round(price.cost(|name| count(name) as f64));
        (self.known > 0).then(|| Usage {
            trials: self.known,
            unknown: self.unknown,
            input_tokens: count("input_tokens"),
            output_tokens: count("output_tokens"),
            cost_usd: price.map(cost),
        })
    }
}

/// What the tokens of a slot cost: a gate names the target, which several prompts have slots for.
pub(super) fn price_of<'p>(prices: &'p BTreeMap<String, Price>, slot: &str) -> Option<&'p Price> {
    prices.get(slot).or_else(|| prices.get(slot.split_once('/')?.0))
}

/// Slot → what its tokens cost, where the price list of the run or the gate says so.
pub(super) fn prices(config: &Json) -> BTreeMap<String, Price> {
    let common = config::part::<config::Common>(config);
    let mut prices = common.gate.unwrap_or_default().prices;
    prices.extend(config::part::<config::Priced>(config).prices.unwrap_or_default().slots);
    prices
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latency(times: &[f64]) -> Latency {
        Expense { times: times.to_vec(), ..Expense::default() }.latency().unwrap()
    }

    #[test]
    fn a_trial_that_was_cut_off_took_at_least_so_long() {
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        let found = latency(&ten);
        assert_eq!((found.p50, found.p95, found.mean), ([Some(5.0); 2], [Some(10.0); 2], [Some(5.5); 2]));
        let cut: Vec<f64> = ten.iter().map(|time| if *time > 9.0 { -time } else { *time }).collect();
        let found = latency(&cut);
        assert_eq!(
            (found.p50, found.p95, found.mean, found.cut_off),
            ([Some(5.0); 2], [Some(10.0), None], [Some(5.5), None], 1)
        );
    }

    #[test]
    fn tokens_have_a_price() {
        let mut expense = Expense { known: 2, unknown: 1, ..Expense::default() };
        expense.tokens =
            BTreeMap::from([("input_tokens", 1000), ("cached_tokens", 400), ("output_tokens", 100)]);
        let price = Price { input: 2.0, output: 10.0, cached: Some(0.5), cached_apart: false };
        let cost = |price: &Price| expense.usage(Some(price)).unwrap().cost_usd.unwrap();
        assert!((cost(&price) - (600.0 * 2.0 + 400.0 * 0.5 + 100.0 * 10.0) / 1e6).abs() < 1e-12);
        let apart = Price { cached_apart: true, ..price };
        assert!((cost(&apart) - (1000.0 * 2.0 + 400.0 * 0.5 + 100.0 * 10.0) / 1e6).abs() < 1e-12);
        assert_eq!(expense.usage(None).unwrap().cost_usd, None);
        assert_eq!(Expense::default().usage(Some(&price)), None);
    }

    /// Three trials were carried out: 100 and 200 ms, and one that was cut off after 300 and said nothing of its usage.
    #[test]
    fn time_and_tokens_are_those_of_trials_that_were_carried_out() {
        let mut expense = Expense::default();
        let mut spans = proofhouse_ledger::record::Spans::default();
        for (line, status) in [
            (r#"{"latency_ms":100,"usage":{"input_tokens":10,"output_tokens":4}}"#, Status::Success),
            (r#"{"latency_ms":300,"usage":null}"#, Status::Timeout),
            (r#"{"latency_ms":200,"usage":{"input_tokens":5,"output_tokens":1}}"#, Status::Success),
            (r#"{"latency_ms":999,"usage":{"input_tokens":7,"output_tokens":7}}"#, Status::NotRun),
        ] {
            expense.push(&Line::split(line.as_bytes(), &mut spans).unwrap(), status).unwrap();
        }
        let latency = expense.latency().unwrap();
        assert_eq!((latency.trials, latency.cut_off, latency.lost), (3, 1, 0));
        assert_eq!(latency.mean, [Some(200.0), None]);
        let usage = expense.usage(None).unwrap();
        assert_eq!((usage.trials, usage.unknown, usage.input_tokens, usage.output_tokens), (2, 1, 15, 5));
    }

    /// Nineteen answers of 10 ms, and three trials that were lost: two errors after a millisecond, and one that was turned away.
    #[test]
    fn what_was_lost_does_not_make_a_target_fast() {
        let mut expense = Expense::default();
        let mut spans = proofhouse_ledger::record::Spans::default();
        let mut push = |line: &str, status| {
            expense.push(&Line::split(line.as_bytes(), &mut spans).unwrap(), status).unwrap();
        };
        (0..19).for_each(|_| push(r#"{"latency_ms":10,"usage":null}"#, Status::Success));
        push(r#"{"latency_ms":1,"usage":null}"#, Status::Error);
        push(r#"{"latency_ms":1,"usage":null}"#, Status::Error);
        push(r#"{"latency_ms":null,"usage":null}"#, Status::RateLimited);
        let latency = expense.latency().unwrap();
        assert_eq!((latency.trials, latency.cut_off, latency.lost), (19, 0, 3));
        assert_eq!(
            latency.p50,
            [Some(10.0); 2],
            "half of all are within 10 ms, whatever the three would have taken"
        );
        assert_eq!(latency.p95, [Some(10.0), None], "the three are more than 5 % of all");
        assert_eq!(latency.mean, [Some(round(190.0 / 22.0)), None]);
    }

    #[test]
    fn a_target_has_its_price_under_every_prompt() {
        let config = br#"{"gate":{"prices":{"m":{"input":2,"output":8}}}}"#;
        let config = proofhouse_ledger::json::parse(config, proofhouse_ledger::json::Strictness::Strict);
        let prices = prices(&config.unwrap());
        let input = |slot: &str| price_of(&prices, slot).map(|price| price.input);
        assert_eq!(["m", "m/short", "n", "n/m"].map(input), [Some(2.0), Some(2.0), None, None]);
    }

    /// A summary of one slot `a` with this of its expense.
    fn summary(latency_ms: &str, usage: &str) -> Summary {
        use proofhouse_ledger::RunId;
        use proofhouse_ledger::record::Kind;

        let rate = r#"{"numerator":0,"denominator":0,"value":null,"low":null,"high":null,"records":""}"#;
        let slot = format!(
            r#"{{"slot":"a","trials":0,"counts":{{}},"pass_rate":{rate},"pass_rate_all":{rate},"pass_rate_clustered":null,
                "scores":{{}},"tags":{{}},"flaky_cases":{rate},"latency_ms":{latency_ms},"usage":{usage}}}"#
        );
        let mut summary = Summary::empty(Kind::Probe, RunId::of_identity(b"run"), "suite");
        summary.slots.push(serde_json::from_str(&slot).unwrap());
        summary
    }

    #[test]
    fn a_gate_can_ask_for_each_expense() {
        let latency = r#"{"trials":3,"cut_off":1,"lost":2,"mean":[10,null],"p50":[4,5],"p95":[20,null]}"#;
        let usage = |unknown: u64| {
            format!(
                r#"{{"trials":2,"unknown":{unknown},"input_tokens":15,"output_tokens":5,"cost_usd":0.25}}"#
            )
        };
        let bounds = |summary: &Summary, slot: &str| -> Vec<_> {
            let all = EXPENSES.iter().chain([&COST]);
            all.flat_map(|metric| (metric.of)(summary, slot))
                .map(|found| (found.bounds.unwrap(), found.open))
                .collect()
        };
        const ANY: f64 = f64::INFINITY;
        let known = summary(latency, &usage(0));
        let times = [([10.0, ANY], 3), ([4.0, 5.0], 3), ([20.0, ANY], 3)];
        let counts = [([15.0, 15.0], 0), ([5.0, 5.0], 0), ([0.25, 0.25], 0)];
        assert_eq!(bounds(&known, "a"), [times, counts].concat());
        let open = summary(latency, &usage(1));
        assert_eq!(bounds(&open, "a")[3..], counts.map(|([least, _], open)| ([least, ANY], open)));
        assert!(bounds(&known, "b").is_empty() && bounds(&summary("null", "null"), "a").is_empty());
    }

    /// Five trials, of which the two slowest were cut off: half of them ended within the third.
    #[test]
    fn half_of_the_trials_ended_within_the_middle_one() {
        let found = latency(&[5.0, -9.0, 1.0, -2.0, 3.0]);
        assert_eq!((found.trials, found.cut_off), (5, 2));
        // In order of time 1, 2, 3, 5, 9; if those that were cut off took for ever 1, 3, 5.
        assert_eq!((found.p50, found.p95), ([Some(3.0), Some(5.0)], [Some(9.0), None]));
        assert_eq!(found.mean, [Some(4.0), None]);
        let one = latency(&[7.0]);
        assert_eq!((one.p50, one.p95, one.mean), ([Some(7.0); 2], [Some(7.0); 2], [Some(7.0); 2]));
    }
}
