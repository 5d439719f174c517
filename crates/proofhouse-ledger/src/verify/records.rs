//! The checks of one record after the other.

use std::borrow::Cow;

use super::order::{Order, Place};
use super::twice::Trials;
use super::{Finding, Findings};
use crate::crew::Eye;
use crate::manifest::Manifest;
use crate::part::Part;
use crate::record::rules::{self, Fitting};
use crate::record::{Damage, HEAD, Line, SCHEMA_VERSION};
use crate::spine::{Spine, Stamp, StampTexts};
use crate::totals::Facts;
use crate::write::is_noise;
use crate::{RecordId, RunId};

/// What a line is held against, whatever stands before it: the same for all, on any thread.
#[derive(Clone, Copy)]
pub(super) struct Terms<'a> {
    manifest: Option<&'a Manifest>,
    spine: Option<&'a Spine>,
    /// Which part of the plan the records are.
    part: Option<Part>,
}

/// What is wrong with a line by itself, in the order in which it is told.
pub(super) struct Alone {
    facts: Result<Facts, Damage>,
    run_id: Result<RunId, Damage>,
    digests: Vec<String>,
    identity: Vec<String>,
    /// Told only where the others found nothing: a line that is not what it seems breaks rules by that.
    rules: Vec<String>,
}

impl<'a> Terms<'a> {
    pub(super) fn new(manifest: Option<&'a Manifest>, spine: Option<&'a Spine>, part: Option<Part>) -> Self {
        Self { manifest, spine, part }
    }

    /// What a record says against itself, or against the run's being deterministic.
    fn check_rules(&self, line: &Line<'_>, fitting: &mut Fitting, wrong: &mut Vec<String>) {
        let kind = match line.kind() {
            Ok(kind) => kind,
            Err(damage) => return wrong.push(damage.to_string()),
        };
        rules::wrongs(line, kind, fitting, wrong);
        if self.spine.is_some() && line.raw(HEAD.latency_ms).is_some_and(|raw| raw != b"null") {
            wrong.push("`latency_ms` is not null, and the run's artefacts are deterministic".to_owned());
        }
    }

    fn check_identity(
        &self,
        line: &Line<'_>,
        facts: &Facts,
        texts: &mut StampTexts,
        wrong: &mut Vec<String>,
    ) {
        if trial_id(line) != Ok(facts.record_id) {
            wrong.push("`record_id` does not follow from slot, case, variant and repetition".to_owned());
        }
        if line.get(HEAD.schema_version).as_deref() != Ok(SCHEMA_VERSION) {
            wrong.push(format!("`schema_version` is not {SCHEMA_VERSION}"));
        }
        if let Some(spine) = self.spine {
            let mut is = |field, stamp: Stamp| {
                line.get(field).is_ok_and(|at: Cow<'_, str>| at.as_bytes() == texts.of(stamp))
            };
            let started = is(HEAD.started_at, spine.started(facts.index));
            let completed = is(HEAD.completed_at, spine.completed(facts.index));
            if !(started && completed) {
                wrong.push("timestamps are not those of the time spine".to_owned());
            }
        }
        if let Some(part) = self.part
            && let (Ok(case), Ok(slot)) = (line.get(HEAD.case_id), line.get(HEAD.slot))
            && !part.holds(&case, &slot)
        {
            wrong.push(format!("its case and slot do not belong to shard {part}"));
        }
        if let Some(manifest) = self.manifest {
            if line.kind() != Ok(manifest.kind) {
                wrong.push(format!("`kind` is not {}", manifest.kind.as_str()));
            }
            if line.get(HEAD.suite_id).as_deref() != Ok(&manifest.suite_id) {
                wrong.push(format!("`suite_id` is not {}", manifest.suite_id));
            }
        }
    }
}

/// Looks at lines by themselves.
#[derive(Clone)]
pub(super) struct ByItself<'a> {
    terms: Terms<'a>,
    fitting: Fitting,
    texts: StampTexts,
}

impl<'a> ByItself<'a> {
    pub(super) fn new(terms: Terms<'a>) -> Self {
        Self { terms, fitting: Fitting::default(), texts: StampTexts::default() }
    }
}

impl Eye for ByItself<'_> {
    type Found = Alone;

    fn look(&mut self, line: &Line<'_>) -> Alone {
        let (facts, run_id) = (Facts::of(line), line.run_id());
        let mut alone = Alone { facts, run_id, digests: vec![], identity: vec![], rules: vec![] };
        if let Ok(facts) = alone.facts {
            check_digests(line, &facts, &mut alone.digests);
            self.terms.check_identity(line, &facts, &mut self.texts, &mut alone.identity);
            self.terms.check_rules(line, &mut self.fitting, &mut alone.rules);
        }
        alone
    }
}

/// The spine that the timestamps of a run follow from, where they do.
pub(super) fn spine_of(manifest: Option<&Manifest>) -> Option<Spine> {
    let manifest = manifest.filter(|manifest| manifest.determinism.deterministic_artifacts)?;
    Some(Spine::new(&manifest.run_id))
}

/// The state of a pass over the records.
pub(super) struct Records<'a> {
    manifest: Option<&'a Manifest>,
    /// Of the manifest, or else of the first record.
    run_id: Option<RunId>,
    trials: Trials,
    order: Order,
    line: u64,
    /// Which part of the plan the records are.
    part: Option<Part>,
    /// Whether the run was cut off: then the last lines may be torn.
    cut_off: bool,
    torn: bool,
}

impl<'a> Records<'a> {
    pub(super) fn new(manifest: Option<&'a Manifest>, part: Option<Part>, cut_off: bool) -> Self {
        let run_id = manifest.map(|manifest| manifest.run_id);
        // A part has gaps where others have lines, which nobody asks for: all that is followed is that indexes rise.
        let order = if part.is_some() { Order::rising() } else { Order::default() };
        let trials = Trials::default();
        Self { manifest, run_id, trials, order, line: 0, part, cut_off, torn: false }
    }

    /// Whether the run was cut off.
    pub(super) fn may_be_torn(&self) -> bool {
        self.cut_off
    }

    /// Whether a line stands where a run that was cut off may have left anything: from the first one that no writer would
    /// have left, or at the end without its newline.
    pub(super) fn is_torn(&self, bytes: &[u8], block: &[u8]) -> bool {
        // A block without a newline at its end is one line, the file's last.
        self.torn || (self.cut_off && (is_noise(bytes) || !block.ends_with(b"\n")))
    }

    /// A line that was cut while it was written.
    pub(super) fn torn(&mut self, findings: &mut Findings) {
        self.line += 1;
        if self.torn {
            return;
        }
        self.torn = true;
        let what = format!("from line {} on it is torn: `run --resume` cuts it there", self.line);
        findings.left_over("records.jsonl", what);
    }

    pub(super) fn damaged(&mut self, damage: &Damage, findings: &mut Findings) {
        if self.cut_off || self.torn {
            return self.torn(findings);
        }
        self.line += 1;
        self.find(findings, None, damage.to_string());
    }

    /// Takes the next line, and what was found of it by itself; gives what is to be added up of it.
    pub(super) fn check(&mut self, line: &Line<'_>, alone: Alone, findings: &mut Findings) -> Option<Facts> {
        self.line += 1;
        let Alone { facts, run_id, digests: mut wrong, identity, rules } = alone;
        let facts = match facts {
            Ok(facts) => facts,
            Err(damage) => {
                self.find(findings, Some(name(line)), damage.to_string());
                return None;
            }
        };
        self.trials.push(&facts.record_id);
        match (run_id, self.run_id) {
            (Ok(theirs), Some(ours)) if theirs != ours => {
                wrong.push(format!("belongs to run {theirs}, not {ours}"));
            }
            (Ok(theirs), None) => self.run_id = Some(theirs),
            // One that has none breaks the rules.
            _ => {}
        }
        wrong.extend(identity);
        self.check_place(&facts, &mut wrong);
        if wrong.is_empty() {
            wrong = rules;
        }
        let record = (!wrong.is_empty()).then(|| name(line));
        for what in wrong {
            self.find(findings, record.clone(), what);
        }
        Some(facts)
    }

    fn find(&self, findings: &mut Findings, record: Option<String>, what: String) {
        findings.push(Finding { file: "records.jsonl".to_owned(), line: Some(self.line), record, what });
    }

    fn check_place(&mut self, facts: &Facts, wrong: &mut Vec<String>) {
        let planned = self
            .manifest
            .map(|manifest| manifest.shard.map_or(manifest.record_count, |shard| shard.plan_count));
        if let Some(planned) = planned.filter(|planned| facts.index >= *planned) {
            wrong.push(format!("added: index {} in a run of {planned} records", facts.index));
            return;
        }
        match self.order.see(facts.index) {
            Place::Right | Place::After => {}
            Place::Late => wrong.push(format!("reordered: index {} stands too late", facts.index)),
            Place::Again => wrong.push(format!("duplicated: index {} was there before", facts.index)),
        }
    }

    /// Tells of lines that are missing, and gives what is known of trials that are there twice.
    pub(super) fn finish(self, findings: &mut Findings) -> Trials {
        let expected = self.manifest.map(|manifest| manifest.record_count);
        // That a line of a part is gone is told by count and digest.
        for (from, to) in self.order.missing(expected).into_iter().filter(|_| self.part.is_none()) {
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
        self.trials
    }
}

fn check_digests(line: &Line<'_>, facts: &Facts, wrong: &mut Vec<String>) {
    match line.recompute_digest() {
        Ok(computed) if computed == facts.record_sha256 => {}
        Ok(_) => wrong.push("altered: its content does not match its `record_sha256`".to_owned()),
        Err(damage) => wrong.push(damage.to_string()),
    }
    let Ok(kind) = line.kind() else { return };
    for content in kind.digests() {
        if !content.is_right(line) {
            let (digest, of) = (content.digest.as_str(), content.of.as_str());
            wrong.push(format!("`{digest}` is not the digest of `{of}`"));
        }
    }
}

/// The id that follows from what a line says it is of.
fn trial_id(line: &Line<'_>) -> Result<RecordId, Damage> {
    let (slot, case) = (line.get(HEAD.slot)?, line.get(HEAD.case_id)?);
    let variant = line.get(HEAD.variant_id)?;
    Ok(RecordId::of_trial(&slot, &case, variant.as_deref(), line.get(HEAD.repetition)?))
}

/// How a person finds a record: its id, and what it is of.
pub(super) fn name(line: &Line<'_>) -> String {
    let text = |field| line.get(field).map_or_else(|_| String::new(), |text: Cow<'_, str>| text.into_owned());
    let id = line.json(HEAD.record_id).map(|id| id.to_text()).unwrap_or_default();
    let index = line.index().map_or("?".to_owned(), |index| index.to_string());
    let repetition = line.get(HEAD.repetition).unwrap_or(0);
    format!("{id} (index {index}, {} / {} #{repetition})", text(HEAD.slot), text(HEAD.case_id))
}
