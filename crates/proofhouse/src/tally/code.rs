//! What a `code` run adds to the tally: pass@k, phases, error types, bounds for what could not be scored.

use std::collections::{BTreeMap, BTreeSet};

use proofhouse_ledger::Json;
use proofhouse_ledger::record::{Damage, Line, Status};
use proofhouse_ledger::summary::{Code, CodeSlot, OmittedK, PassAtK, Slot};

use super::heads::{rate, round};
use super::robust::RobustTally;
use super::stats::{ClusterMoments, Confidence, pass_at_k};

/// The part of a tally that only `code` runs have.
#[derive(Default)]
pub(super) struct CodeTally {
    ks: Vec<u64>,
    slots: Vec<SlotCounts>,
}

#[derive(Default)]
struct SlotCounts {
    total: u64,
    scored: u64,
    passed: u64,
    invalid: u64,
    /// Task → scored and passed.
    tasks: BTreeMap<String, (u64, u64)>,
    /// Yes and asked.
    compiled: (u64, u64),
    clean: (u64, u64),
    main_free: (u64, u64),
    compile_time: Sum,
    size: Sum,
    size_over_baseline: Sum,
    error_types: BTreeMap<String, u64>,
    compile_error_codes: BTreeMap<String, u64>,
    lint_names: BTreeMap<String, u64>,
    missing_crates: BTreeMap<String, u64>,
    robust: RobustTally,
}

#[derive(Default)]
struct Sum {
    sum: f64,
    count: u64,
}

impl Sum {
    fn push(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.sum += value;
            self.count += 1;
        }
    }

    fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| round(self.sum / self.count as f64))
    }
}

impl CodeTally {
    /// For the run with this resolved configuration.
    pub(super) fn new(config: &Json) -> Self {
        let ks = match config.pointer("/k") {
            Some(Json::Array(ks)) => ks.iter().filter_map(Json::as_f64).map(|k| k as u64).collect(),
            _ => vec![1],
        };
        Self { ks, slots: Vec::new() }
    }

    /// Takes the next record, of the slot at this place.
    pub(super) fn push(
        &mut self,
        slot: usize,
        line: &Line<'_>,
        status: Status,
        passed: Option<bool>,
    ) -> Result<(), Damage> {
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, SlotCounts::default);
        }
        self.slots[slot].push(line, status, passed)
    }

    /// What it comes to; `slots` are those of the common tally, in the same order.
    pub(super) fn finish(&self, slots: &[Slot]) -> Code {
        let each = self.slots.iter().zip(slots).map(|(counts, slot)| counts.finish(&slot.slot, &self.ks));
        Code { slots: each.collect() }
    }
}

impl SlotCounts {
    fn push(&mut self, line: &Line<'_>, status: Status, passed: Option<bool>) -> Result<(), Damage> {
        self.robust.push(line, passed)?;
        if line.raw("variant_id").is_some_and(|variant| variant != b"null") {
            return Ok(());
        }
        self.total += 1;
        self.invalid += u64::from(status == Status::Skipped);
        if let Some(passed) = passed {
            self.scored += 1;
            self.passed += u64::from(passed);
            let task = line.text("case_id").ok_or(Damage::Field("case_id"))?;
            let (scored, of_them) = self.tasks.entry(task.into_owned()).or_default();
            *scored += 1;
            *of_them += u64::from(passed);
        }
        for (counts, field) in [
            (&mut self.compiled, "compile_ok"),
            (&mut self.clean, "clippy_ok"),
            (&mut self.main_free, "main_free"),
        ] {
            if let Some(yes) = line.boolean(field)? {
                counts.0 += u64::from(yes);
                counts.1 += 1;
            }
        }
        let number = |field: &str| line.json(field).and_then(|value| value.as_f64());
        let (size, baseline) = (number("binary_size_bytes"), number("baseline_size_bytes"));
        self.compile_time.push(number("compile_time_ms"));
        self.size.push(size);
        self.size_over_baseline.push(size.zip(baseline).map(|(size, baseline)| size - baseline));
        if let Some(error_type) = line.text("error_type") {
            *self.error_types.entry(error_type.into_owned()).or_default() += 1;
        }
        count_codes(&mut self.compile_error_codes, line.json("compile_errors"));
        count_codes(&mut self.lint_names, line.json("lints"));
        if let Some(Json::Array(crates)) = line.json("missing_crates") {
            for name in crates.iter().filter_map(Json::as_str) {
                *self.missing_crates.entry(name.to_owned()).or_default() += 1;
            }
        }
        Ok(())
    }

    fn finish(&self, slot: &str, ks: &[u64]) -> CodeSlot {
        let of_slot = |what: &str| format!("{what} where slot = {slot:?}");
        let share = |(yes, asked): (u64, u64), field: &str| {
            rate(yes, asked, of_slot(&format!("{field} = true of {field} is not null")))
        };
        let solved = self.tasks.values().filter(|(_, passed)| *passed > 0).count() as u64;
        let unscored = self.total - self.scored;
        let (pass_at_k, omitted_k) = self.pass_at_ks(ks);
        CodeSlot {
            slot: slot.to_owned(),
            total: self.total,
            scored: self.scored,
            infra: unscored - self.invalid,
            invalid: self.invalid,
            tasks: self.tasks.len() as u64,
            tasks_solved: rate(
                solved,
                self.tasks.len() as u64,
                of_slot("case_id with passed = true of case_id with passed is not null"),
            ),
            pass_at_k,
            omitted_k,
            robust: self.robust.finish(ks),
            worst: rate(self.passed, self.total, of_slot("passed = true of all")),
            best: rate(self.passed + unscored, self.total, of_slot("passed is not false of all")),
            compile_rate: share(self.compiled, "compile_ok"),
            clippy_rate: share(self.clean, "clippy_ok"),
            main_free_rate: share(self.main_free, "main_free"),
            mean_compile_time_ms: self.compile_time.mean(),
            mean_binary_size_bytes: self.size.mean(),
            mean_binary_size_over_baseline_bytes: self.size_over_baseline.mean(),
            error_types: self.error_types.clone(),
            compile_error_codes: self.compile_error_codes.clone(),
            lint_names: self.lint_names.clone(),
            missing_crates: self.missing_crates.clone(),
        }
    }

    fn pass_at_ks(&self, ks: &[u64]) -> (Vec<PassAtK>, Vec<OmittedK>) {
        let (mut said, mut omitted) = (Vec::new(), Vec::new());
        let fewest = self.tasks.iter().min_by_key(|(_, (scored, _))| *scored);
        for k in ks.iter().copied() {
            match fewest {
                None => omitted.push(OmittedK { k, reason: "no completion was scored".to_owned() }),
                Some((task, (scored, _))) if *scored < k => {
                    let few = self.tasks.values().filter(|(scored, _)| *scored < k).count();
                    let reason = format!(
                        "{few} of {} tasks have fewer than {k} scored completions; `{task}` has {scored}",
                        self.tasks.len()
                    );
                    omitted.push(OmittedK { k, reason });
                }
                Some(_) => said.extend(at(k, self.tasks.values().copied())),
            }
        }
        (said, omitted)
    }
}

/// pass@k over tasks, given as scored and passed; none where a task has fewer than k.
pub(super) fn at(k: u64, tasks: impl Iterator<Item = (u64, u64)>) -> Option<PassAtK> {
    let mut moments = ClusterMoments::default();
    for (scored, passed) in tasks {
        moments.push(pass_at_k(scored, passed, k)?, 1);
    }
    let interval = moments.rate_interval(Confidence::P95)?;
    Some(PassAtK {
        k,
        tasks: moments.clusters(),
        value: round(moments.mean()?),
        standard_error: moments.standard_error().map(round),
        low: round(interval.low),
        high: round(interval.high),
    })
}

/// Counts each code once per record, however often it occurs there.
fn count_codes(counts: &mut BTreeMap<String, u64>, findings: Option<Json>) {
    let Some(Json::Array(findings)) = findings else { return };
    let codes: BTreeSet<&str> =
        findings.iter().filter_map(|finding| finding.pointer("/code")).filter_map(Json::as_str).collect();
    for code in codes {
        *counts.entry(code.to_owned()).or_default() += 1;
    }
}
