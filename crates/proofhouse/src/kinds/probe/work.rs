//! ProbeWork: one question, one reply, judged.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use proofhouse_ledger::Json;
use proofhouse_ledger::config::Price;
use proofhouse_ledger::json::Object;
use proofhouse_ledger::record::{Head, Probe as Body, Status, output_digest};

use super::Probe;
use super::cells::Cell;
use super::plan::Item;
use super::weighed;
use crate::family::judge::{Advice, Panel, PanelVerdict, Subject};
use crate::family::target::{Chat, Message, Outcome, Reply, Request, Target};
use crate::spine::plan::Trial;
use crate::spine::run::advisers::Advisers;
use crate::spine::run::execute::ExecuteError;
use crate::spine::run::record::{Assessment, RecordWriter, Timer, Timing, describe, trial_seed};
use crate::spine::run::stored::{Stored, StoredTrial};
use crate::spine::run::work::{
    self, Carrying, GroupTrial, Means, Provenance, RecordSender, TrialLines, TrialResult, Work,
};
use crate::spine::suite::{Case, Sent};

/// Puts questions to targets and judges what they say.
pub(super) struct ProbeWork {
    writer: RecordWriter,
    targets: Vec<Arc<Target>>,
    /// What stands in each slot.
    cells: Vec<Cell>,
    /// Whether two slots may ask one target the very same.
    has_prompts: bool,
    panel: Panel,
    advisers: Advisers,
    stored: Option<Stored>,
    judges: Vec<String>,
    primary: String,
    /// What tokens cost, slot by slot, where a judge weighs that; empty elsewhere.
    prices: Vec<Price>,
}

/// What was asked in a trial and what came of it, with what is recorded beside the answer.
struct Asked<'a> {
    input: Cow<'a, Json>,
    shown: Cow<'a, str>,
    reply: Reply,
    /// What the target said before its last answer.
    turns: Option<Json>,
}

impl ProbeWork {
    pub(super) fn new(
        writer: RecordWriter,
        targets: Vec<Arc<Target>>,
        probe: &Probe,
        means: Means,
    ) -> Result<Self, ExecuteError> {
        let panel = probe.panel().map_err(ExecuteError::Judge)?;
        let judges: Vec<String> = probe.judges.iter().map(|(name, _)| name.clone()).collect();
        let prices = weighed::ready(probe, &writer.loaded.suite, &means)?;
        let advisers = Advisers::open(&panel, &judges, &means.opening, means.sandbox.map(Arc::new).as_ref())?;
        let (primary, stored) = (probe.primary_metric().to_owned(), means.stored);
        let (cells, has_prompts) = (probe.cells.clone(), probe.prompt_count() > 1);
        Ok(Self { writer, targets, cells, has_prompts, panel, advisers, stored, judges, primary, prices })
    }

    fn seed(&self, trial: &Trial) -> u64 {
        trial_seed(self.writer.loaded.suite.seed, &trial.case_id, trial.repetition)
    }

    /// What the tokens of a trial cost, where a judge weighs that.
    fn price(&self, trial: &Trial) -> Option<&Price> {
        self.prices.get(trial.slot)
    }

    fn target(&self, trial: &Trial) -> &Target {
        &self.targets[self.cells[trial.slot].target]
    }

    /// What was asked and answered in an earlier run; the trial is then the one of that run.
    fn stored<'a>(&self, stored: &Stored, trial: &mut Trial, sent: &'a Sent) -> Asked<'a> {
        let Some(StoredTrial { input, input_fingerprint, turns, reply }) = stored.find(&trial.record_id)
        else {
            let reply =
                Reply::failed("not_in_run", format!("the run has no sound record {}", trial.record_id));
            return Asked { input: Cow::Owned(sent.to_json()), shown: sent.shown(), reply, turns: None };
        };
        let shown = match input_fingerprint == trial.input_fingerprint {
            true => sent.shown(),
            false => Cow::Owned(input.to_text()),
        };
        trial.input_fingerprint = input_fingerprint;
        Asked { input: Cow::Owned(input), shown, reply, turns }
    }

    /// The conversation of a trial, ready to be asked.
    fn chat(&self, trial: &Trial, case: &Case, sent: &Sent) -> Chat {
        let mut chat = sent.chat(self.seed(trial), trial.repetition);
        // Two prompts may come to the same text: a tape must not mix their answers up.
        chat.asker = self.has_prompts.then_some(trial.record_id);
        chat.fields = case.fields.clone().filter(|_| self.target(trial).fills_fields());
        chat
    }

    /// Asks, turn by turn where the conversation has several.
    async fn ask<'a>(&self, trial: &Trial, case: &Case, sent: &'a Sent) -> Asked<'a> {
        let target = self.target(trial);
        let mut chat = self.chat(trial, case, sent);
        let mut reply = target.chat(&chat).await;
        let mut turns = Vec::new();
        for later in sent.later() {
            if describe(&reply.outcome).0 != Status::Success {
                break;
            }
            turns.push(reply.output.clone().unwrap_or_default());
            go_on(&mut chat, &reply, later);
            let next = target.chat(&chat).await;
            reply = after(reply, next);
        }
        let turns = (!sent.later().is_empty()).then_some(Json::Array(turns));
        Asked { input: Cow::Owned(sent.to_json()), shown: sent.shown(), reply, turns }
    }

    /// Asks those whom the judges need about a reply that is there to be judged.
    async fn hear(&self, trial: &Trial, case: &Case, asked: &Asked<'_>) -> BTreeMap<usize, Vec<Advice>> {
        let only = case.judges.as_deref();
        if describe(&asked.reply.outcome).0 != Status::Success || !self.advisers.is_needed(only) {
            return BTreeMap::new();
        }
        let subject = subject(trial, case, asked, self.price(trial));
        self.advisers.hear(&self.panel, &subject, only, trial.record_id).await
    }

    /// Judges a reply and appends its record.
    fn write(
        &self,
        lines: &mut TrialLines,
        (trial, case): (&Trial, &Case),
        (asked, advice): (&Asked<'_>, &BTreeMap<usize, Vec<Advice>>),
        timing: &Timing,
    ) -> TrialResult {
        let (null, reply) = (Json::Null, &asked.reply);
        let output = reply.output.as_ref().unwrap_or(&null);
        let (status, error_type, error) = describe(&reply.outcome);
        let verdict = (status == Status::Success).then(|| {
            let subject = subject(trial, case, asked, self.price(trial));
            self.panel.judge_with(&subject, case.judges.as_deref(), advice)
        });
        let scores: Vec<(&str, Option<f64>)> = match &verdict {
            Some(verdict) => {
                verdict.scores.iter().map(|(at, score)| (self.judges[*at].as_str(), *score)).collect()
            }
            None => Vec::new(),
        };
        let judge = Json::Object(verdict.as_ref().map(|verdict| self.reasons(verdict)).unwrap_or_default());
        let said = verdict.and_then(|verdict| verdict.passed);
        let calibration = case.label.as_ref().map(|(_, right)| calibration(*right, said));
        // A labelled answer tells something of the judges, and nothing of a target.
        let passed = said.filter(|_| calibration.is_none());
        let advice = self.said(advice);
        let said = Assessment {
            status,
            error_type,
            error,
            output_sha256: output_digest(output),
            scores: &scores,
            primary_metric: Some(&self.primary),
            passed,
            usage: reply.usage.as_ref(),
        };
        let about = reply.about();
        let body = Body {
            input: &asked.input,
            output,
            expected: &case.expected,
            advice: advice.as_ref(),
            calibration: calibration.as_ref(),
            judge: &judge,
            reasoning: reply.reasoning.as_deref(),
            response: about.as_ref(),
            tags: &case.tags,
            turns: asked.turns.as_ref(),
        };
        body.push(&mut lines.record, &self.writer.head(trial, said, timing));
        self.writer.telemetry(&mut lines.telemetry, trial, timing);
        self.writer.attempts(&mut lines.telemetry, trial, reply);
        TrialResult { status, passed }
    }

    /// A wording that there is none of: its place in the plan has a record that says why.
    fn leave_out(&self, lines: &mut TrialLines, (trial, case): (&Trial, &Case), reason: &str) -> TrialResult {
        let error = work::shortfall(reason);
        let said = work::left_out(&error, &self.primary);
        let head = self.writer.head(trial, said, &Timer::start().timing());
        unasked(case, &Json::from(""), None, (&head, &mut lines.record));
        TrialResult { status: Status::Skipped, passed: None }
    }

    /// What the models that judges asked said, in full.
    fn said(&self, advice: &BTreeMap<usize, Vec<Advice>>) -> Option<Json> {
        let mut all = Object::new();
        for (at, advice) in advice {
            let said = self.panel.said(*at, advice).into_iter().map(|(model, score, text)| {
                let score = score.map_or(Json::Null, Json::Number);
                let text = text.map_or(Json::Null, |text| Json::from(text.as_str()));
                (model, Json::Object(Object::from_iter([("score", score), ("text", text)])))
            });
            let said: Object = said.collect();
            if said.iter().next().is_some() {
                all.set(&self.judges[*at], Json::Object(said));
            }
        }
        let said_nothing = all.iter().next().is_none();
        (!said_nothing).then_some(Json::Object(all))
    }

    fn reasons(&self, verdict: &PanelVerdict) -> Object {
        verdict.explanations.iter().map(|(at, why)| (self.judges[*at].as_str(), why.as_str())).collect()
    }
}

/// Appends the record of a trial in which nothing was asked.
fn unasked(case: &Case, input: &Json, calibration: Option<&Json>, (head, out): (&Head<'_>, &mut Vec<u8>)) {
    let (null, judge) = (Json::Null, Json::Object(Object::new()));
    let body = Body {
        input,
        output: &null,
        expected: &case.expected,
        advice: None,
        calibration,
        judge: &judge,
        reasoning: None,
        response: None,
        tags: &case.tags,
        turns: None,
    };
    body.push(out, head);
}

/// Appends the record of a trial that nobody ran.
pub(super) fn not_run(
    writer: &RecordWriter,
    (trial, item): (&Trial, &Item),
    (why, metric): (&str, &str),
    out: &mut Vec<u8>,
) {
    let (case, input) = match item {
        Item::Asked(case, sent) | Item::Labelled(case, sent) => (case, sent.to_json()),
        Item::Missing(case, _) => (case, Json::from("")),
    };
    let calibration = case.label.as_ref().map(|(_, right)| calibration(*right, None));
    let timing = Timing { latency_ms: 0.0, ..Timer::start().timing() };
    let head = writer.head(trial, work::not_run(why, metric), &timing);
    unasked(case, &input, calibration.as_ref(), (&head, out));
}

/// What a labelled answer tells of the judges.
fn calibration(right: bool, said: Option<bool>) -> Json {
    let said = said.map_or(Json::Null, Json::from);
    Json::Object(Object::from_iter([("right", Json::from(right)), ("said", said)]))
}

/// An answer that is given with its label; none for a case that is asked.
fn labelled<'a>(case: &Case, sent: &'a Sent) -> Option<Asked<'a>> {
    let (output, _) = case.label.as_ref()?;
    let reply = Reply::new(Outcome::Answered, Some(output.clone()));
    Some(Asked { input: Cow::Owned(sent.to_json()), shown: sent.shown(), reply, turns: None })
}

/// What judges see of an answer.
fn subject<'a>(trial: &Trial, case: &'a Case, asked: &'a Asked<'_>, price: Option<&Price>) -> Subject<'a> {
    let reply = &asked.reply;
    Subject {
        input: &asked.shown,
        output: reply.output.as_ref().unwrap_or(&Json::Null),
        expected: &case.expected,
        fields: case.fields.as_deref(),
        finish_reason: reply.finish_reason.as_deref(),
        usage: reply.usage.as_ref(),
        repetition: trial.repetition,
        cost_usd: price.and_then(|price| weighed::cost(price, reply.usage.as_ref())),
        latency_ms: reply.latency_ms,
    }
}

/// Goes on with a conversation: what the target said, then what is said to that.
fn go_on(chat: &mut Chat, reply: &Reply, later: &[Message]) {
    let text = match &reply.output {
        Some(Json::String(text)) => Some(text.clone()),
        Some(structure) => structure.get("content").and_then(Json::as_str).map(str::to_owned),
        None => None,
    };
    let (calls, spoken) = (reply.calls.clone(), reply.spoken.clone());
    // Endpoints want a result for every call: nobody has carried it out.
    let results = calls.iter().map(|call| Message::Tool {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content: "no result".to_owned(),
    });
    let results: Vec<Message> = results.collect();
    chat.messages.push(Message::Assistant { text, calls, spoken });
    chat.messages.extend(results);
    chat.messages.extend_from_slice(later);
}

/// The reply of a later turn, with what the turns before it used and needed.
fn after(before: Reply, next: Reply) -> Reply {
    let mut attempts = before.attempts;
    attempts.extend(next.attempts.iter().cloned());
    let usage = match (before.usage, &next.usage) {
        (Some(Json::Object(mut sum)), Some(Json::Object(more))) => {
            for (name, count) in more.iter() {
                let there = sum.get(name).and_then(Json::as_f64).unwrap_or(0.0);
                sum.set(name, Json::Number(there + count.as_f64().unwrap_or(0.0)));
            }
            Some(Json::Object(sum))
        }
        (before, next) => next.clone().or(before),
    };
    let latency_ms = before.latency_ms.zip(next.latency_ms).map(|(before, next)| before + next);
    Reply { attempts, usage, latency_ms, replayed: before.replayed && next.replayed, ..next }
}

impl Work<Item> for ProbeWork {
    fn at_once(&self, trial: &Trial, item: &Item, lines: &mut TrialLines) -> Option<TrialResult> {
        let (case, sent) = match item {
            Item::Missing(case, reason) => return Some(self.leave_out(lines, (trial, case), reason)),
            Item::Asked(case, sent) | Item::Labelled(case, sent) => (case, sent),
        };
        let timer = Timer::start();
        if self.advisers.is_needed(case.judges.as_deref()) {
            return None;
        }
        let advice = BTreeMap::new();
        if let Some(asked) = labelled(case, sent) {
            return Some(self.write(lines, (trial, case), (&asked, &advice), &timer.timing()));
        }
        if let Some(stored) = &self.stored {
            let mut trial = trial.clone();
            let asked = self.stored(stored, &mut trial, sent);
            return Some(self.write(lines, (&trial, case), (&asked, &advice), &timer.timing()));
        }
        if !sent.later().is_empty() {
            return None;
        }
        let (seed, repetition) = (self.seed(trial), trial.repetition);
        let reply = match &**sent {
            Sent::Text(input) => self.target(trial).at_once(&Request { input, seed, repetition })?,
            Sent::Talk(_) => {
                let chat = sent.chat(seed, repetition);
                self.target(trial).at_once(&Request { input: chat.last(), seed, repetition })?
            }
        };
        if reply.delay_ms > 0 {
            return None;
        }
        let asked = Asked { input: Cow::Owned(sent.to_json()), shown: sent.shown(), reply, turns: None };
        Some(self.write(lines, (trial, case), (&asked, &advice), &timer.timing()))
    }

    fn carry_out(self: Arc<Self>, group: Vec<GroupTrial<Item>>, sender: RecordSender) -> Carrying {
        Box::pin(async move {
            for GroupTrial { mut trial, item, .. } in group {
                let (Item::Asked(case, sent) | Item::Labelled(case, sent)) = &item else { continue };
                let timer = Timer::start();
                let asked = match (labelled(case, sent), &self.stored) {
                    (Some(asked), _) => asked,
                    (None, Some(stored)) => self.stored(stored, &mut trial, sent),
                    (None, None) => self.ask(&trial, case, sent).await,
                };
                let timing = timer.timing_of(&asked.reply);
                let advice = self.hear(&trial, case, &asked).await;
                let mut lines = TrialLines::default();
                let result = self.write(&mut lines, (&trial, case), (&asked, &advice), &timing);
                sender.hand_over(&trial, lines, result);
            }
        })
    }

    fn provenance(&self) -> Provenance {
        let Some(sandbox) = self.advisers.sandbox() else { return Provenance::default() };
        Provenance {
            sandbox: Json::Object(Object::from_iter([("network", Json::from("none"))])),
            sandbox_tier: Some(sandbox.tier().to_string()),
            sandbox_gaps: sandbox.gap_texts(),
            ..Provenance::default()
        }
    }
}
