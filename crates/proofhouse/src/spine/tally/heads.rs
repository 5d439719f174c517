//! The tally of what all kinds of records have in common, one record after the other.
//!
//! Where all trials of a case are neighbours in plan order, cases are clusters that can be closed as they pass. What is kept
//! of each record of several targets is its verdict, in eight bytes, to compare them in the end. A `code` run has its samples in the order of
//! their file, so there each verdict is remembered with its case, too.

use std::collections::BTreeMap;

use proofhouse_ledger::config::{self, Price, Repeated};
use proofhouse_ledger::record::{Damage, HEAD, Kind, Line, Status, TAGS, output_digest};
use proofhouse_ledger::summary::{Rate, Slot, Summary};
use proofhouse_ledger::{Json, RunId};

use super::cluster::Clusters;
use super::expense::{self, Expense};
use super::gate::GateTally;
use super::pairs::{self, Column};
use super::stats::decisions::Measured;
use super::stats::{self, Confidence};
use super::wordings::Wordings;

/// A tally under way.
#[derive(Default)]
pub struct Tally {
    run_id: Option<RunId>,
    suite_id: String,
    gate: GateTally,
    trials: u64,
    assessed: u64,
    counts: [u64; Status::ALL.len()],
    error_types: BTreeMap<String, u64>,
    slots: Vec<SlotTally>,
    /// Raw slot → its place among them.
    places: BTreeMap<Vec<u8>, usize>,
    /// The slot of the record before.
    last_slot: usize,
    /// How many cases are closed.
    closed: usize,
    /// The case whose trials are passing by, as raw bytes: lines are canonical, so equal ids are equal bytes and need no parsing.
    case: Vec<u8>,
    /// For runs whose cases are not neighbours: raw case → its verdicts.
    scattered: BTreeMap<Vec<u8>, Vec<Scattered>>,
    /// For the same runs: raw variant → its number, in the order of the plan.
    variants: BTreeMap<Vec<u8>, u32>,
    kind: Option<Kind>,
    /// What the kind adds.
    own: Option<Box<dyn OwnTally>>,
    kinds: Option<OfKind>,
    config: Json,
}

/// Opens what a kind adds to the tally of a run with this resolved configuration.
pub type OfKind = fn(Kind, &Json) -> Box<dyn OwnTally>;

/// What one kind adds to the tally.
pub trait OwnTally {
    /// Takes the next record; `slot` counts from 0 in the order of the records.
    ///
    /// # Errors
    /// The field that cannot be read.
    fn push(
        &mut self,
        line: &Line<'_>,
        slot: usize,
        status: Status,
        passed: Option<bool>,
    ) -> Result<(), Damage> {
        let _ = (line, slot, status, passed);
        Ok(())
    }

    /// Whether all trials of a case follow each other.
    fn has_neighbours(&self) -> bool {
        true
    }

    /// Whether nobody is scored against this case; known when all records have been taken.
    fn excludes(&self, case: &str) -> bool {
        let _ = case;
        false
    }

    /// Whether a record is of a trial that nobody is scored on: it is counted among the trials, and in no slot.
    fn is_aside(&self, line: &Line<'_>) -> bool {
        line.is_aside()
    }

    /// Whether a trial that was not run is one that nobody needed.
    fn spares(&self) -> bool {
        false
    }

    /// Whether it says itself what other wordings did.
    fn tells_wordings(&self) -> bool {
        false
    }

    /// Whether nothing can be said of what this slot answered, beside slots that gave no answer or only empty ones.
    fn is_silent(&self, slot: &str) -> bool {
        let _ = slot;
        false
    }

    /// Whether an answer is what it says, so that an empty text says nothing.
    fn answers_in_words(&self) -> bool {
        true
    }

    /// Adds what only this kind can say, and gives what a gate has to know of it.
    fn finish(self: Box<Self>, summary: &mut Summary) -> GateTerms;
}

/// What a kind says about its gate.
#[derive(Debug, Default)]
pub struct GateTerms {
    /// By slot, what it looks at in place of the pass rate: the worst and the best that the unassessed could make of it.
    pub bounds: Vec<Option<[f64; 2]>>,
    /// Whom it asks, where that is not every target.
    pub asked: Option<&'static str>,
    /// Slots that it holds to nothing.
    pub exempt: Vec<String>,
    /// Why nothing tried it, where nothing did: it has neither held nor failed.
    pub untried: Option<&'static str>,
    /// What it can be asked for beside the pass rate.
    pub metrics: &'static [Metric],
}

/// A metric of the summary that a gate can hold to limits.
#[derive(Debug)]
pub struct Metric {
    /// Its name in suites and in the summary.
    pub name: &'static str,
    /// What the summary says of it for a slot: several values where a slot has several.
    pub of: fn(&Summary, &str) -> Vec<Measured>,
}

/// The share of repeated cases that both pass and fail, which every kind has.
pub const FLAKY_CASES: Metric = Metric {
    name: "flaky_cases",
    of: |summary, slot| {
        let slot = summary.slots.iter().find(|each| each.slot == slot);
        // A case of which some trials were not assessed may be flaky without having shown it.
        let of = |slot: &Slot| {
            let Rate { numerator, denominator, .. } = slot.flaky_cases;
            let open = slot.trials.saturating_sub(slot.pass_rate.denominator).min(denominator - numerator);
            Measured::share(numerator, denominator - open, open)
        };
        slot.map(of).into_iter().collect()
    },
};

/// A verdict that waits for the other trials of its case.
struct Scattered {
    slot: u32,
    variant: u32,
    repetition: u32,
    /// Null for a trial that was needed and could not be assessed.
    passed: Option<bool>,
}

#[derive(Default)]
struct SlotTally {
    /// As raw JSON, to be recognised without parsing.
    raw: Vec<u8>,
    name: String,
    trials: u64,
    counts: [u64; Status::ALL.len()],
    /// Trials that were not run because nobody needed them.
    spared: u64,
    passed: u64,
    assessed: u64,
    /// Whether any answer that is not empty was assessed.
    answered: bool,
    pass_clusters: Clusters,
    scores: BTreeMap<String, Clusters>,
    tags: BTreeMap<String, (u64, u64)>,
    flaky: u64,
    repeated: u64,
    /// This case's verdicts: variant and repetition in one number, and passed.
    verdicts: Vec<(u64, bool)>,
    /// All of its verdicts, to be compared with those of others.
    column: Column,
    wordings: Wordings,
    expense: Expense,
    /// The variant that is passing by, as raw bytes, and which one of the case it is.
    variant: (Vec<u8>, u64),
    /// The last tags seen, raw and parsed: neighbours share them.
    last_tags: (Vec<u8>, Vec<String>),
}

/// Whether there is an answer that says nothing at all: judges may pass or fail it, and it shows nothing of who gave it.
fn is_empty_answer(line: &Line<'_>) -> Result<bool, Damage> {
    let error_type = line.get(HEAD.error_type)?;
    let nothing = output_digest(&Json::String(String::new()));
    Ok(error_type.is_some_and(|error_type| matches!(&*error_type, "empty" | "null"))
        || (nothing.is_some() && line.get(HEAD.output_sha256)? == nothing))
}

impl Tally {
    /// A tally of the run with this resolved configuration.
    pub fn new(config: &Json, kinds: OfKind) -> Self {
        Self { gate: GateTally::new(config), config: config.clone(), kinds: Some(kinds), ..Self::default() }
    }

    /// Takes the next record.
    pub fn push(&mut self, line: &Line<'_>) -> Result<(), Damage> {
        if self.run_id.is_none() {
            self.run_id = Some(line.run_id()?);
            self.suite_id = line.get(HEAD.suite_id)?.into_owned();
            let kind = line.kind()?;
            self.kind = Some(kind);
            self.own = self.kinds.map(|open| open(kind, &self.config));
        }
        let case = line.require(HEAD.case_id)?;
        if case != self.case {
            self.close_case();
            self.case.clear();
            self.case.extend_from_slice(case);
        }
        let status = line.status()?;
        let passed = line.get(HEAD.passed)?;
        self.trials += 1;
        self.assessed += u64::from(passed.is_some());
        self.counts[status as usize] += 1;
        let at = self.slot(line)?;
        let own = self.own.as_mut();
        let neighbours = own.as_ref().is_none_or(|own| own.has_neighbours());
        if let Some(own) = own {
            own.push(line, at, status, passed)?;
        }
        // What a policy made unnecessary was not needed, and a wording that does not exist was not possible.
        let needless = is_spared(line, status) && self.own.as_ref().is_some_and(|own| own.spares());
        let variant = line.raw(HEAD.variant_id).unwrap_or(b"null");
        let needed = !needless && (status != Status::Skipped || variant == b"null");
        // Nobody is scored on what only tries whether a model can be tested at all.
        if self.own.as_ref().is_some_and(|own| own.is_aside(line)) {
            return Ok(());
        }
        let error_type = line.get(HEAD.error_type)?;
        let in_words = self.own.as_ref().is_none_or(|own| own.answers_in_words());
        if passed.is_some() && !self.slots[at].answered {
            self.slots[at].answered = !in_words || !is_empty_answer(line)?;
        }
        if let Some(error_type) = error_type {
            *self.error_types.entry(error_type.into_owned()).or_default() += 1;
        }
        if needed {
            self.gate.push(at, passed, || tags(line));
        }
        if needed && !neighbours {
            let repetition = line.get(HEAD.repetition)?;
            let variant = self.variant(variant);
            let verdict = Scattered { slot: at as u32, variant, repetition, passed };
            self.scattered.entry(case.to_vec()).or_default().push(verdict);
        }
        self.slots[at].push(line, status, passed, neighbours)
    }

    /// The number of a variant: a case as it stands comes first.
    fn variant(&mut self, raw: &[u8]) -> u32 {
        let next = self.variants.len() as u32;
        match self.variants.get(raw) {
            Some(number) => *number,
            None => *self.variants.entry(raw.to_vec()).or_insert(next),
        }
    }

    /// Closes the cases of a run in which they are not neighbours.
    fn close_scattered(&mut self) {
        let mut names = vec![Vec::new(); self.variants.len()];
        for (raw, number) in std::mem::take(&mut self.variants) {
            names[number as usize] = raw;
        }
        let excluded = |case: &[u8]| {
            let name = serde_json::from_slice::<String>(case);
            self.own.as_ref().zip(name.ok()).is_some_and(|(own, name)| own.excludes(&name))
        };
        let (left_out, counted): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.scattered).into_iter().partition(|(case, _)| excluded(case));
        // Which tasks are broken is known in the end only: what was counted of them is taken back.
        for Scattered { slot, passed, .. } in left_out.into_iter().flat_map(|(_, verdicts)| verdicts) {
            self.gate.take_back(slot as usize, passed);
            let Some(passed) = passed else { continue };
            let slot = &mut self.slots[slot as usize];
            slot.passed -= u64::from(passed);
            slot.assessed -= 1;
            self.assessed -= 1;
        }
        for (_, verdicts) in counted {
            for Scattered { slot, variant, repetition, passed } in verdicts {
                let Some(passed) = passed else { continue };
                let slot = &mut self.slots[slot as usize];
                slot.wordings.push(&names[variant as usize], passed);
                slot.note(u64::from(variant) << 32 | u64::from(repetition), passed);
            }
            self.close_case();
        }
    }

    fn slot(&mut self, line: &Line<'_>) -> Result<usize, Damage> {
        let raw = line.require(HEAD.slot)?;
        // Trials of a target are neighbours, and targets take turns.
        for at in [self.last_slot, self.last_slot + 1] {
            if self.slots.get(at).is_some_and(|slot| slot.raw == raw) {
                self.last_slot = at;
                return Ok(at);
            }
        }
        self.last_slot = match self.places.get(raw) {
            Some(at) => *at,
            None => {
                let name = line.get(HEAD.slot)?.into_owned();
                self.slots.push(SlotTally { raw: raw.to_vec(), name, ..SlotTally::default() });
                self.places.insert(raw.to_vec(), self.slots.len() - 1);
                self.slots.len() - 1
            }
        };
        Ok(self.last_slot)
    }

    /// All trials of a case have passed by.
    fn close_case(&mut self) {
        self.gate.close_case();
        // A case of one target alone has nothing to be compared with.
        if self.slots.iter().filter(|slot| !slot.verdicts.is_empty()).count() > 1 {
            self.slots.iter_mut().for_each(|slot| slot.column.close_case(self.closed, &slot.verdicts));
            self.closed += 1;
        }
        for slot in &mut self.slots {
            slot.close_case();
        }
    }

    /// What no record says where there is none: a part of a plan may be empty.
    fn take_from_config(&mut self) {
        let config: Repeated = config::part(&self.config);
        let (Some(kind), Some(suite_id)) = (config.kind, config.suite_id) else { return };
        self.run_id = Some(config::run_id(&self.config));
        self.suite_id = suite_id;
        self.kind = Some(kind);
        self.own = self.kinds.map(|open| open(kind, &self.config));
    }

    /// The summary; nothing where neither a record nor the configuration says what it is of.
    pub fn finish(mut self) -> Option<Summary> {
        self.close_case();
        self.close_scattered();
        if self.own.is_none() {
            self.take_from_config();
        }
        let own = self.own.take()?;
        let prices = expense::prices(&self.config);
        let is_silent = |slot: &SlotTally| !slot.answered || own.is_silent(&slot.name);
        let summarise =
            |slot: &SlotTally| Slot { silent: is_silent(slot), ..slot.summarise(own.spares(), &prices) };
        let slots: Vec<Slot> = self.slots.iter().map(summarise).collect();
        let silent = slots.iter().filter(|slot| slot.silent).map(|slot| slot.slot.as_str()).collect();
        let columns: Vec<(&str, &Column)> =
            self.slots.iter().map(|slot| (slot.name.as_str(), &slot.column)).collect();
        let (comparisons, best) = pairs::compare(&columns, &silent);
        let mut summary = Summary {
            trials: self.trials,
            assessed: self.assessed,
            counts: by_status(&self.counts),
            error_types: self.error_types.clone(),
            comparisons,
            best,
            wordings: match own.tells_wordings() {
                true => Vec::new(),
                false => self.slots.iter().flat_map(|slot| slot.wordings.finish(&slot.name)).collect(),
            },
            slots,
            ..Summary::empty(self.kind?, self.run_id?, &self.suite_id)
        };
        let terms = own.finish(&mut summary);
        let who = terms.asked.unwrap_or("target");
        summary.gate = self.gate.judge(&summary, &terms, who);
        Some(summary)
    }
}

impl SlotTally {
    /// Takes a record of this slot; `neighbours`: the trials of its case follow each other.
    fn push(
        &mut self,
        line: &Line<'_>,
        status: Status,
        passed: Option<bool>,
        neighbours: bool,
    ) -> Result<(), Damage> {
        self.trials += 1;
        self.counts[status as usize] += 1;
        self.spared += u64::from(is_spared(line, status));
        self.expense.push(line, status)?;
        let variant = line.raw(HEAD.variant_id).unwrap_or_default();
        if variant != self.variant.0 {
            self.variant = (variant.to_vec(), self.variant.1 + 1);
        }
        if neighbours {
            for (name, score) in line.get(HEAD.scores)? {
                let Some(score) = score else { continue };
                self.scores.entry(name).or_default().push(score);
            }
        }
        let Some(passed) = passed else { return Ok(()) };
        self.assessed += 1;
        self.passed += u64::from(passed);
        if neighbours {
            self.wordings.push(&self.variant.0, passed);
            self.note(self.variant.1 << 32 | u64::from(line.get(HEAD.repetition)?), passed);
        }
        let tags = line.raw(TAGS).unwrap_or(b"[]");
        if self.last_tags.0 != tags {
            self.last_tags = (tags.to_vec(), self::tags(line));
        }
        for tag in &self.last_tags.1 {
            if !self.tags.contains_key(tag) {
                self.tags.insert(tag.clone(), (0, 0));
            }
            let (numerator, denominator) = self.tags.get_mut(tag).expect("inserted just above");
            *numerator += u64::from(passed);
            *denominator += 1;
        }
        Ok(())
    }

    /// Notes a verdict of the open case.
    fn note(&mut self, repetition: u64, passed: bool) {
        self.pass_clusters.push(f64::from(u8::from(passed)));
        self.verdicts.push((repetition, passed));
    }

    fn close_case(&mut self) {
        // Repetitions are those of one variant: two wordings may well differ.
        let (mut repeated, mut flaky) = (false, false);
        for wording in self.verdicts.chunk_by(|a, b| a.0 >> 32 == b.0 >> 32) {
            repeated |= wording.len() > 1;
            flaky |= wording.iter().any(|(_, passed)| *passed != wording[0].1);
        }
        self.repeated += u64::from(repeated);
        self.flaky += u64::from(flaky);
        self.wordings.close_case();
        self.verdicts.clear();
        self.variant = (Vec::new(), 0);
        self.pass_clusters.close();
        self.scores.values_mut().for_each(Clusters::close);
    }

    /// `spares`: the kind has a policy that makes trials unnecessary.
    fn summarise(&self, spares: bool, prices: &BTreeMap<String, Price>) -> Slot {
        let needed = self.trials - if spares { self.spared } else { 0 };
        let slot = &self.name;
        let of_slot = |what: &str| format!("{what} where slot = {slot:?}");
        let tags = self.tags.iter().map(|(tag, (numerator, denominator))| {
            let records = of_slot("passed = true of passed is not null").to_string()
                + &format!(" and tags has {tag:?}");
            (tag.clone(), rate(*numerator, *denominator, records))
        });
        Slot {
            slot: slot.clone(),
            trials: self.trials,
            counts: by_status(&self.counts),
            pass_rate: rate(self.passed, self.assessed, of_slot("passed = true of passed is not null")),
            // A bound, not an estimate: without any assessed trial there is nothing to bound.
            pass_rate_all: rate(
                self.passed,
                if self.assessed > 0 { needed } else { 0 },
                of_slot("passed = true of all, where at least one is assessed"),
            ),
            pass_rate_clustered: self.pass_clusters.rate(),
            scores: self.scores.iter().map(|(name, clusters)| (name.clone(), clusters.mean())).collect(),
            tags: tags.collect(),
            flaky_cases: rate(
                self.flaky,
                self.repeated,
                of_slot("case_id with both verdicts of case_id repeated"),
            ),
            latency_ms: self.expense.latency(),
            usage: self.expense.usage(expense::price_of(prices, slot)),
            silent: false,
        }
    }
}

/// Whether a trial was not run and nothing went wrong: a policy had seen enough. One whose shard is missing says so as its error.
fn is_spared(line: &Line<'_>, status: Status) -> bool {
    status == Status::NotRun && line.raw(HEAD.error_type).is_none_or(|raw| raw == b"null")
}

fn tags(line: &Line<'_>) -> Vec<String> {
    // A record without tags has none.
    line.get(TAGS).unwrap_or_default()
}

fn by_status(counts: &[u64; Status::ALL.len()]) -> BTreeMap<String, u64> {
    Status::ALL.iter().map(|status| (status.as_str().to_owned(), counts[*status as usize])).collect()
}

/// A rate with its Wilson interval; null when empty.
pub(crate) fn rate(numerator: u64, denominator: u64, records: String) -> Rate {
    let interval = stats::wilson(numerator, denominator, Confidence::P95);
    let value = (denominator > 0).then(|| round(numerator as f64 / denominator as f64));
    let (low, high) =
        (interval.map(|interval| round(interval.low)), interval.map(|interval| round(interval.high)));
    Rate { numerator, denominator, value, low, high, records }
}

/// Every number that reaches the summary goes through here.
pub(crate) fn round(value: f64) -> f64 {
    stats::round_sig(value, stats::SIGNIFICANT_DIGITS)
}
