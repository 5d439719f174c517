//! The checks of one record after the other.

use super::order::{Order, Place};
use super::{Finding, Findings};
use crate::manifest::Manifest;
use crate::record::{Damage, Line, SCHEMA_VERSION, output_digest};
use crate::spine::Spine;
use crate::totals::{Facts, Totalling, Totals};
use crate::{Digest, RecordId, RunId};

/// The state of a pass over the records.
pub(super) struct Records<'a> {
    manifest: Option<&'a Manifest>,
    /// Of the manifest, or else of the first record.
    run_id: Option<RunId>,
    spine: Option<Spine>,
    totals: Totalling,
    order: Order,
    line: u64,
}

impl<'a> Records<'a> {
    pub(super) fn new(manifest: Option<&'a Manifest>) -> Self {
        let run_id = manifest.map(|manifest| manifest.run_id);
        let spine = manifest
            .filter(|manifest| manifest.determinism.deterministic_artifacts)
            .map(|manifest| Spine::new(&manifest.run_id));
        Self { manifest, run_id, spine, totals: Totalling::default(), order: Order::default(), line: 0 }
    }

    pub(super) fn damaged(&mut self, damage: &Damage, findings: &mut Findings) {
        self.line += 1;
        self.find(findings, None, damage.to_string());
    }

    pub(super) fn check(&mut self, line: &Line<'_>, findings: &mut Findings) {
        self.line += 1;
        let facts = match Facts::of(line) {
            Ok(facts) => facts,
            Err(damage) => return self.find(findings, Some(name(line)), damage.to_string()),
        };
        self.totals.push(&facts);
        let mut wrong = Vec::new();
        self.check_digests(line, &facts, &mut wrong);
        self.check_identity(line, &facts, &mut wrong);
        self.check_place(&facts, &mut wrong);
        if wrong.is_empty() {
            return;
        }
        let record = Some(name(line));
        for what in wrong {
            self.find(findings, record.clone(), what);
        }
    }

    fn find(&self, findings: &mut Findings, record: Option<String>, what: String) {
        findings.push(Finding { file: "records.jsonl".to_owned(), line: Some(self.line), record, what });
    }

    fn check_digests(&self, line: &Line<'_>, facts: &Facts, wrong: &mut Vec<String>) {
        match line.recompute_digest() {
            Ok(computed) if computed == facts.record_sha256 => {}
            Ok(_) => wrong.push("altered: its content does not match its `record_sha256`".to_owned()),
            Err(damage) => wrong.push(damage.to_string()),
        }
        if line.raw("kind") == Some(b"\"probe\"") {
            if let Some(input) = line.text("input")
                && Digest::of(input.as_bytes()) != facts.input_fingerprint
            {
                wrong.push("`input_fingerprint` is not the digest of `input`".to_owned());
            }
            let output = match line.raw("output") {
                Some(b"null") => None,
                Some([b'"', ..]) => line.text("output").map(|text| Digest::of(text.as_bytes())),
                _ => line.json("output").and_then(|output| output_digest(&output)),
            };
            if output != facts.output_sha256 {
                wrong.push("`output_sha256` is not the digest of `output`".to_owned());
            }
        }
    }

    fn check_identity(&mut self, line: &Line<'_>, facts: &Facts, wrong: &mut Vec<String>) {
        match (line.run_id(), self.run_id) {
            (Ok(theirs), Some(ours)) if theirs != ours => {
                wrong.push(format!("belongs to run {theirs}, not {ours}"));
            }
            (Ok(theirs), None) => self.run_id = Some(theirs),
            (Err(damage), _) => wrong.push(damage.to_string()),
            _ => {}
        }
        let repetition = line.integer("repetition").ok().and_then(|number| u32::try_from(number).ok());
        let named = line.text("slot").zip(line.text("case_id")).zip(repetition);
        let derived = named.map(|((slot, case), repetition)| {
            RecordId::of_trial(&slot, &case, line.text("variant_id").as_deref(), repetition)
        });
        if derived != Some(facts.record_id) {
            wrong.push("`record_id` does not follow from slot, case, variant and repetition".to_owned());
        }
        if line.text("schema_version").as_deref() != Some(SCHEMA_VERSION) {
            wrong.push(format!("`schema_version` is not {SCHEMA_VERSION}"));
        }
        if let Some(spine) = &self.spine {
            let started =
                line.text("started_at").is_some_and(|at| at.as_bytes() == spine.started(facts.index).text());
            let completed = line
                .text("completed_at")
                .is_some_and(|at| at.as_bytes() == spine.completed(facts.index).text());
            if !(started && completed) {
                wrong.push("timestamps are not those of the time spine".to_owned());
            }
        }
        if let Some(manifest) = self.manifest {
            let kind = line.text("kind");
            if kind.as_deref() != Some(manifest.kind.as_str()) {
                wrong.push(format!("`kind` is not {}", manifest.kind.as_str()));
            }
            if line.text("suite_id").as_deref() != Some(&manifest.suite_id) {
                wrong.push(format!("`suite_id` is not {}", manifest.suite_id));
            }
        }
    }

    fn check_place(&mut self, facts: &Facts, wrong: &mut Vec<String>) {
        let beyond = self.manifest.filter(|manifest| facts.index >= manifest.record_count);
        if let Some(manifest) = beyond {
            wrong.push(format!("added: index {} in a run of {} records", facts.index, manifest.record_count));
            return;
        }
        match self.order.see(facts.index) {
            Place::Right | Place::After => {}
            Place::Late => wrong.push(format!("reordered: index {} stands too late", facts.index)),
            Place::Again => wrong.push(format!("duplicated: index {} was there before", facts.index)),
        }
    }

    pub(super) fn finish(self, findings: &mut Findings) -> Totals {
        let expected = self.manifest.map(|manifest| manifest.record_count);
        for (from, to) in self.order.missing(expected) {
            let which = if from == to { format!("index {from}") } else { format!("indexes {from} to {to}") };
            let what = if from == to {
                "missing: its line was removed"
            } else {
                "missing: their lines were removed"
            };
            findings.push(Finding {
                file: "records.jsonl".to_owned(),
                line: None,
                record: Some(which),
                what: what.to_owned(),
            });
        }
        self.totals.finish()
    }
}

/// How a person finds a record: its id, and what it is of.
fn name(line: &Line<'_>) -> String {
    let text = |key| line.text(key).unwrap_or_default().into_owned();
    let index = line.index().map_or("?".to_owned(), |index| index.to_string());
    let repetition = line.integer("repetition").unwrap_or(0);
    format!("{} (index {index}, {} / {} #{repetition})", text("record_id"), text("slot"), text("case_id"))
}
