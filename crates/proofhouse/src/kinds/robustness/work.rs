//! Running tools: one instruction again and again until the policy has seen enough, case by case.

use std::sync::Arc;

use camino::Utf8PathBuf;
use proofhouse_ledger::json::{Object, to_json};
use proofhouse_ledger::record::{
    Mode, Observed, Robustness as Body, RobustnessRecord, Status, Stop, Termination,
};
use proofhouse_ledger::{Digest, Json, RunPaths};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::judged::{Judged, Judging};
use super::keep::Keeper;
use super::plan::Order;
use super::suite::{RobustnessBody, SUCCESS};
use crate::family::target::command::{Invocation, Opening, Tool};
use crate::family::target::{Keys, TargetConfig};
use crate::kinds::robustness::{Answer, Base, ToolVariant, modal};
use crate::spine::plan::Trial;
use crate::spine::run::execute::ExecuteError;
use crate::spine::run::record::{Assessment, RecordWriter, Timer, Timing};
use crate::spine::run::work::{
    self, Carrying, GroupTrial, Means, Provenance, RecordSender, TrialLines, TrialResult, Work,
};
use crate::text::complaint::Complaint;

/// Runs tools.
pub(super) struct RobustnessWork {
    writer: RecordWriter,
    body: RobustnessBody,
    tools: Vec<Tried>,
    /// How many tools run at a time, over all cases.
    places: Arc<Semaphore>,
    jobs: usize,
    tier: String,
    sandbox_gaps: Vec<String>,
    /// What each record says of it.
    not_held: Vec<String>,
    /// What a tool may have been given and may not be kept of what it says.
    keys: Keys,
    judging: Judging,
    keeper: Keeper,
}

struct Tried {
    tool: Arc<Tool>,
    version: Option<String>,
}

impl RobustnessWork {
    pub(super) fn new(
        writer: RecordWriter,
        body: &RobustnessBody,
        means: Means,
    ) -> Result<Self, ExecuteError> {
        let no_sandbox = || ExecuteError::Means(Complaint::new("a robustness suite needs a sandbox"));
        let sandbox = Arc::new(means.sandbox.ok_or_else(no_sandbox)?);
        let tier = sandbox.tier().to_string();
        let sandbox_gaps = sandbox.gap_texts();
        let not_held = work::not_held(&sandbox);
        let mut tools = Vec::new();
        let passed: Vec<&str> = means.environment.keys().map(String::as_str).collect();
        let keys = Keys::live(&means.opening.environment, &passed.join(" "));
        for ((slot, target), setup) in writer.loaded.suite.targets.iter().zip(body.tools.iter()) {
            let TargetConfig::Command(command) = target else { continue };
            let opening = Opening {
                sandbox: Arc::clone(&sandbox),
                scratch: std::env::temp_dir(),
                base: &absolute(&setup.base),
                files: setup.files.clone(),
                debug_enabled: body.debug_enabled,
                debug_bytes: Keeper::bytes_per_trial(writer.loaded.trial_count),
                repair_enabled: body.repair_enabled,
                environment: &|name| means.environment.get(name).cloned(),
            };
            let tool =
                Tool::new(command, opening).map_err(|error| ExecuteError::Target(slot.clone(), error))?;
            let version = tool.version().map(|version| keys.redact(&version).into_owned());
            tools.push(Tried { version, tool: Arc::new(tool) });
        }
        let jobs = means.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let judging = Judging::new(body).map_err(ExecuteError::Judge)?;
        let keeper = Keeper::new(body.keep_debug);
        let (body, places) = (body.clone(), Arc::new(Semaphore::new(jobs)));
        Ok(Self { writer, body, tools, places, jobs, tier, sandbox_gaps, not_held, keys, judging, keeper })
    }

    /// Runs one instruction on one tool until the policy stops, and gives what was seen.
    async fn series(
        self: Arc<Self>,
        steps: Vec<GroupTrial<Arc<Order>>>,
        base: Base,
        sender: RecordSender,
    ) -> Vec<Option<Observed>> {
        let mut seen: Vec<Option<Observed>> = Vec::new();
        let mut stop: Option<Stop> = None;
        for step in steps {
            let order = Arc::clone(&step.item);
            let policy = self.body.policy(order.case(&self.body), order.mode);
            if let Some(line) = &step.done {
                let record: Option<RobustnessRecord> = serde_json::from_slice(line).ok();
                if let Some(record) = record.filter(|record| record.status != Status::NotRun) {
                    seen.push(record.observed());
                    stop = policy.after(order.mode, &seen, &base);
                }
                continue;
            }
            if order.variant(&self.body).is_some_and(|variant| !variant.can_run()) {
                self.skip(&step.trial, &order, &sender);
                continue;
            }
            if let Some(stop) = &stop {
                self.leave_out(&step.trial, &order, stop, &sender);
                continue;
            }
            let (mut ran, timing) = self.invoke(&step.trial, &order).await;
            let (case, instruction) = (order.case(&self.body), order.instruction(&self.body));
            let judged = self.judging.assess(&mut ran, case, instruction);
            seen.push(ran.observed);
            stop = policy.after(order.mode, &seen, &base);
            let observed = ToolRun { ran: &ran, judged: &judged, timing: &timing };
            self.write(&step.trial, &order, &observed, (stop.as_ref(), &base), &sender);
        }
        seen
    }

    async fn invoke(&self, trial: &Trial, order: &Order) -> (Invocation, Timing) {
        let place = Arc::clone(&self.places).acquire_owned().await.expect("the semaphore is never closed");
        let tool = Arc::clone(&self.tools[trial.slot].tool);
        let instruction = order.instruction(&self.body).to_owned();
        let timeout_ms = order.case(&self.body).timeout_ms;
        let noise = noise(self.writer.loaded.suite.seed, trial.repetition);
        let running = tokio::task::spawn_blocking(move || {
            let timer = Timer::start();
            let ran = tool.invoke(&instruction, noise, timeout_ms);
            drop(place);
            let timing = Timing { latency_ms: ran.duration_ms as f64, ..timer.timing() };
            (ran, timing)
        });
        match running.await {
            Ok(ran) => ran,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }

    fn write(
        &self,
        trial: &Trial,
        order: &Order,
        &ToolRun { ran, judged, timing }: &ToolRun<'_>,
        (stop, base): (Option<&Stop>, &Base),
        sender: &RecordSender,
    ) {
        let status = match (ran.termination, ran.observed) {
            (Some(Termination::Timeout), _) => Status::Timeout,
            (_, Some(_)) => Status::Success,
            (_, None) => Status::Error,
        };
        let passed = ran.observed.map(|seen| seen.success);
        let mut scores: Vec<(&str, Option<f64>)> = vec![(SUCCESS, passed.map(f64::from))];
        scores.extend(judged.scores.iter().map(|(name, score)| (name.as_str(), *score)));
        let trouble = ran.trouble.as_ref().map(|(code, text)| (*code, self.keys.redact(text)));
        let (stdout, stderr) = (self.keys.redact(&ran.stdout.text), self.keys.redact(&ran.stderr.text));
        let said = Assessment {
            status,
            error_type: trouble.as_ref().map(|(code, _)| *code),
            error: trouble.as_ref().map(|(_, text)| text.as_ref()),
            output_sha256: ran.stdout.sha256.filter(|_| ran.termination.is_some()),
            scores: &scores,
            primary_metric: Some(SUCCESS),
            passed,
            usage: None,
        };
        let usual = modal(&base.outcomes).filter(|_| order.mode == Mode::Adversarial);
        let interesting = usual.zip(ran.observed).map(|((usual, _), seen)| usual != seen);
        let debug_sha256 = ran.debug.as_ref().map(|debug| debug.sha256.prefixed());
        let measured = !self.writer.is_deterministic();
        let timestamp = timing.started.to_string();
        let names = Names::of(trial, order, &self.body);
        let debug_path = ran.debug.as_ref().and_then(|debug| {
            let place = [
                &*self.writer.loaded.suite.targets[trial.slot].0,
                &*trial.case_id,
                names.variant.as_str(),
                &names.run,
            ];
            self.keeper.keep(debug, place.join("/"), passed == Some(true), &self.keys)
        });
        let body = Body {
            observed: ran.observed.as_ref(),
            termination: ran.termination,
            exit_code: ran.exit_code,
            signal: ran.signal,
            duration_ms: measured.then_some(ran.duration_ms),
            timestamp_utc: measured.then_some(timestamp.as_str()),
            debug_artifacts_present: Some(ran.debug.is_some()),
            debug_path: debug_path.as_deref(),
            debug_sha256: debug_sha256.as_deref(),
            tool_version: self.tools[trial.slot].version.as_deref(),
            interesting,
            stop,
            stdout: Some(&stdout),
            stdout_bytes: Some(ran.stdout.bytes),
            stderr: Some(&stderr),
            stderr_bytes: Some(ran.stderr.bytes),
            judge: judged.reasons.as_ref(),
            sandbox_does_not_hold: &self.not_held,
            ..blank(&self.body, order, &names)
        };
        let mut lines = TrialLines::default();
        body.push(&mut lines.record, &self.writer.head(trial, said, timing));
        self.writer.telemetry(&mut lines.telemetry, trial, timing);
        sender.hand_over(trial, lines, TrialResult { status, passed });
    }

    /// A trial that the policy made unnecessary.
    fn leave_out(&self, trial: &Trial, order: &Order, stop: &Stop, sender: &RecordSender) {
        let names = Names::of(trial, order, &self.body);
        let body = Body { stop: Some(stop), ..blank(&self.body, order, &names) };
        self.unrun(trial, body, (Status::NotRun, None, None), sender);
    }

    /// A variant that the guard let nothing through for.
    fn skip(&self, trial: &Trial, order: &Order, sender: &RecordSender) {
        let names = Names::of(trial, order, &self.body);
        let open = |variant: &ToolVariant| variant.answer.as_ref().is_some_and(Answer::is_open);
        let error = match order.variant(&self.body).is_some_and(open) {
            true => "the rewriting model did not answer; the next run asks again",
            false => "the guard refused every answer of the rewriting model",
        };
        let body = blank(&self.body, order, &names);
        self.unrun(trial, body, (Status::Skipped, Some("ai_generation_failure"), Some(error)), sender);
    }

    fn unrun(
        &self,
        trial: &Trial,
        body: Body<'_>,
        (status, error_type, error): (Status, Option<&str>, Option<&str>),
        sender: &RecordSender,
    ) {
        let said = Assessment {
            status,
            error_type,
            error,
            output_sha256: None,
            scores: &[(SUCCESS, None)],
            primary_metric: Some(SUCCESS),
            passed: None,
            usage: None,
        };
        let timing = Timing { latency_ms: 0.0, ..Timer::start().timing() };
        let mut lines = TrialLines::default();
        body.push(&mut lines.record, &self.writer.head(trial, said, &timing));
        // What was never to be run has no time; what a guard refused has the time when that was found.
        if status == Status::Skipped {
            self.writer.telemetry(&mut lines.telemetry, trial, &timing);
        }
        sender.hand_over(trial, lines, TrialResult { status, passed: None });
    }
}

/// A record of which nothing is known but what was planned.
fn blank<'a>(body: &'a RobustnessBody, order: &'a Order, names: &'a Names) -> Body<'a> {
    let variant = order.variant(body);
    Body {
        suite: order.mode,
        run_name: &names.run,
        base_case: order.case(body).base_case.as_deref(),
        instruction: order.instruction(body),
        generator: variant.map(|variant| variant.generator),
        generator_version: variant.map(|variant| variant.generator_version),
        edits: &names.edits,
        generation: &names.generation,
        level: variant.and_then(|variant| variant.level),
        observed: None,
        termination: None,
        exit_code: None,
        signal: None,
        duration_ms: None,
        timestamp_utc: None,
        debug_enabled: body.debug_enabled,
        debug_artifacts_present: None,
        debug_path: None,
        debug_sha256: None,
        tool_version: None,
        interesting: None,
        stop: None,
        stdout: None,
        stdout_bytes: None,
        stderr: None,
        stderr_bytes: None,
        judge: None,
        sandbox_does_not_hold: &[],
    }
}

/// Appends the record of a trial that nobody ran.
pub(super) fn not_run(
    body: &RobustnessBody,
    writer: &RecordWriter,
    (trial, order): (&Trial, &Order),
    why: &str,
    out: &mut Vec<u8>,
) {
    let names = Names::of(trial, order, body);
    let said = Assessment { scores: &[(SUCCESS, None)], ..work::not_run(why, SUCCESS) };
    let timing = Timing { latency_ms: 0.0, ..Timer::start().timing() };
    blank(body, order, &names).push(out, &writer.head(trial, said, &timing));
}

/// What one run of a tool gave.
struct ToolRun<'a> {
    ran: &'a Invocation,
    judged: &'a Judged,
    timing: &'a Timing,
}

/// Values that a record borrows.
struct Names {
    run: String,
    /// The variant's id, or `base`.
    variant: String,
    edits: Json,
    generation: Json,
}

impl Names {
    fn of(trial: &Trial, order: &Order, body: &RobustnessBody) -> Names {
        let variant = order.variant(body);
        let edits = variant.and_then(|variant| to_json(&variant.edits).ok());
        let answer = variant.and_then(|variant| variant.answer.as_ref());
        let generation = answer.map(|answer| {
            Json::Object(Object::from_iter([
                ("choice", answer.prompt.choice.clone().into()),
                ("prompt", Json::from(answer.prompt.text.as_str())),
                ("rejections", to_json(&answer.rejections).unwrap_or(Json::Null)),
            ]))
        });
        Names {
            run: format!("run_{:03}", trial.repetition + 1),
            variant: trial.variant_id.as_deref().unwrap_or("base").to_owned(),
            edits: edits.unwrap_or(Json::Array(Vec::new())),
            generation: generation.unwrap_or(Json::Null),
        }
    }
}

/// What `seed_env` gives to a tool: of seed and repetition alone, so that nothing of the case reaches it.
fn noise(seed: u64, repetition: u32) -> u64 {
    let digest = Digest::of_parts(&[b"noise", &seed.to_le_bytes(), &repetition.to_le_bytes()]);
    // 32 bits: shells and scripts of every kind can compute with such a number.
    u64::from(u32::from_le_bytes(digest.0[..4].try_into().expect("four of thirty-two bytes")))
}

fn absolute(path: &camino::Utf8Path) -> Utf8PathBuf {
    path.canonicalize_utf8().unwrap_or_else(|_| path.to_owned())
}

impl Work<Arc<Order>> for RobustnessWork {
    fn joins(&self, group: &[GroupTrial<Arc<Order>>], next: &Trial) -> bool {
        group.last().is_some_and(|last| last.trial.case_id == next.case_id)
    }

    fn looks_back(&self) -> bool {
        true
    }

    fn begin(&self, paths: &RunPaths, anew: bool) {
        self.keeper.begin(paths, anew);
    }

    fn jobs(&self) -> usize {
        self.jobs
    }

    fn carry_out(self: Arc<Self>, group: Vec<GroupTrial<Arc<Order>>>, sender: RecordSender) -> Carrying {
        Box::pin(async move {
            // Plan order is variant, slot, repetition: neighbours of one variant and slot are a series.
            let mut series: Vec<Vec<GroupTrial<Arc<Order>>>> = Vec::new();
            for step in group {
                let same = |last: &GroupTrial<Arc<Order>>| {
                    (last.trial.slot, &last.trial.variant_id) == (step.trial.slot, &step.trial.variant_id)
                };
                match series.last_mut().filter(|series| series.last().is_some_and(same)) {
                    Some(series) => series.push(step),
                    None => series.push(vec![step]),
                }
            }
            let is_base = |series: &Vec<GroupTrial<Arc<Order>>>| {
                series.first().is_some_and(|step| step.trial.variant_id.is_none())
            };
            let (bases, variants): (Vec<_>, Vec<_>) = series.into_iter().partition(is_base);
            let mut outcomes: Vec<Base> = vec![Base::default(); self.tools.len()];
            for steps in bases {
                let slot = steps[0].trial.slot;
                let seen = Arc::clone(&self).series(steps, Base::default(), sender.clone()).await;
                outcomes[slot].outcomes = seen.into_iter().flatten().collect();
            }
            let mut flying = JoinSet::new();
            for steps in variants {
                let base = outcomes[steps[0].trial.slot].clone();
                flying.spawn(Arc::clone(&self).series(steps, base, sender.clone()));
            }
            while let Some(ended) = flying.join_next().await {
                if let Err(error) = ended {
                    std::panic::resume_unwind(error.into_panic());
                }
            }
        })
    }

    fn provenance(&self) -> Provenance {
        let versions = self.writer.loaded.suite.targets.iter().zip(&self.tools);
        let toolchains =
            versions.filter_map(|((slot, _), tried)| Some((slot.clone(), tried.version.clone()?)));
        let network = self.writer.loaded.suite.targets.iter().any(|(_, target)| {
            matches!(target, TargetConfig::Command(command) if command.network == crate::family::target::command::Grant::Host)
        });
        let sandbox = Object::from_iter([("network", Json::from(if network { "host" } else { "none" }))]);
        Provenance {
            toolchains: toolchains.collect(),
            sandbox: Json::Object(sandbox),
            sandbox_tier: Some(self.tier.clone()),
            sandbox_gaps: self.sandbox_gaps.clone(),
        }
    }
}
