//! CodeWork: completions from files or from models, assembled, compiled, linted and tested, many at a time.

use std::collections::BTreeMap;
use std::sync::Arc;

use proofhouse_ledger::json::{Object, to_json};
use proofhouse_ledger::record::Status;
use proofhouse_ledger::{Digest, Json};
use tokio::task::JoinSet;

use super::CodeBody;
use super::plan::{Item, Question};
use crate::family::target::{Chat, Reply, Target};
use crate::kinds::code::{self, BATCH, Bench, Cache, Context, Invalid, Judge, Judged, Sample, Soundness};
use crate::spine::plan::Trial;
use crate::spine::run::execute::ExecuteError;
use crate::spine::run::record::{Assessment, RecordWriter, Timer, Timing, describe, trial_seed};
use crate::spine::run::work::{
    self, Carrying, GroupTrial, Means, Provenance, RecordSender, TrialLines, TrialResult, Work,
};
use crate::text::complaint::Complaint;

/// The score of a code trial.
const PASS: &str = "pass";

/// Judges completions.
pub(super) struct CodeWork {
    writer: RecordWriter,
    targets: Vec<Arc<Target>>,
    code: CodeBody,
    judge: Arc<Judge>,
    soundness: Soundness,
    jobs: usize,
    /// Completions that are judged together at most.
    together: usize,
    tier: String,
    sandbox_gaps: Vec<String>,
    /// What each record says of it.
    not_held: Vec<String>,
}

/// One trial on its way: what there is to judge, or what kept it from being judged.
struct Answer {
    trial: Trial,
    sample: Arc<Sample>,
    /// What the model was asked, where one was.
    question: Option<Arc<Question>>,
    /// What the model said, where one was asked.
    reply: Option<Reply>,
    timing: Timing,
}

impl CodeWork {
    pub(super) fn new(
        writer: RecordWriter,
        targets: Vec<Arc<Target>>,
        code: &CodeBody,
        means: Means,
    ) -> Result<Self, ExecuteError> {
        let cache = means.cache.clone();
        let (mut judge, HeldFacts { tier, sandbox_gaps, not_held }) = open_judge(code, means)?;
        if let Some(folder) = cache {
            judge = judge.with_cache(Cache::new(folder));
        }
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        let trials = usize::try_from(writer.loaded.trial_count).unwrap_or(usize::MAX);
        let together = if code.measure { 1 } else { trials.div_ceil(jobs).clamp(1, BATCH) };
        let (code, judge, soundness) = (code.clone(), Arc::new(judge), Soundness::default());
        Ok(Self { writer, targets, code, judge, soundness, jobs, together, tier, sandbox_gaps, not_held })
    }

    /// What a model says now.
    async fn ask(self: Arc<Self>, trial: Trial, question: Arc<Question>) -> Answer {
        let timer = Timer::start();
        // All wordings of a task are asked with the same seed: what differs is what is asked.
        let seed = trial_seed(self.writer.loaded.suite.seed, &question.task_id, trial.repetition);
        let chat = Chat::ask(question.input.as_str(), seed, trial.repetition);
        let reply = self.targets[trial.slot - self.code.samples.len()].chat(&chat).await;
        let timing = timer.timing_of(&reply);
        let sample = Arc::new(Sample {
            index: trial.index,
            task_id: Some(question.task_id.clone()),
            completion_id: trial.repetition.into(),
            completion: code::completion(reply.output.as_ref()),
        });
        Answer { trial, sample, question: Some(question), reply: Some(reply), timing }
    }

    /// Judges what can be judged, and writes every record.
    fn judge(&self, answers: Vec<Answer>, sender: &RecordSender) {
        let (to_judge, rest): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| {
            answer.reply.as_ref().is_none_or(|reply| describe(&reply.outcome).0 == Status::Success)
        });
        for answer in rest {
            self.write(&answer, answer.timing, &Judged::default(), sender);
        }
        let timer = Timer::start();
        let samples: Vec<&Sample> = to_judge.iter().map(|answer| answer.sample.as_ref()).collect();
        let written = |at: usize, judged: &Judged| {
            let answer = &to_judge[at];
            let mut timing = if answer.reply.is_none() { timer.timing() } else { answer.timing };
            if answer.reply.is_none() {
                timing.attempts = u32::try_from(judged.tries.len()).unwrap_or(u32::MAX);
            }
            timing.cached = judged.from_cache;
            timing.compile_time_ms = judged.compile_time_ms;
            self.write(answer, timing, judged, sender);
        };
        // What a broken task could be behind waits until that task has been looked at. Mostly that is done at once; what takes a
        // second try waits until nothing else is being judged here.
        let mut waiting = Vec::new();
        let mut told = |at: usize, judged: Judged| {
            let task_id = to_judge[at].sample.task_id.as_deref();
            let (Some(task_id), true) = (task_id, Soundness::concerns(&judged)) else {
                return written(at, &judged);
            };
            match self.soundness.settle_beside_others(&self.judge, task_id, judged) {
                Ok(judged) => written(at, &judged),
                Err(judged) => waiting.push((at, *judged)),
            }
        };
        if self.code.measure {
            for (at, sample) in samples.iter().enumerate() {
                told(at, self.judge.judge(sample));
            }
        } else {
            self.judge.judge_each(&samples, &mut told);
        }
        for (at, judged) in waiting {
            let judged = match &to_judge[at].sample.task_id {
                Some(task_id) => self.soundness.settle(&self.judge, task_id, judged),
                None => judged,
            };
            written(at, &judged);
        }
    }

    /// What the answer was judged in, for whoever looks at it: the task, and of an answer that failed the program and the test.
    fn context(&self, answer: &Answer, judged: &Judged, passed: Option<bool>) -> Context {
        let problem = answer.sample.task_id.as_deref().and_then(|task_id| self.judge.problem(task_id));
        let Some(problem) = problem else { return Context::default() };
        let asked =
            answer.question.as_ref().map_or(problem.prompt.as_str(), |question| question.input.as_str());
        let context = Context::of(asked);
        match (&answer.sample.completion, passed) {
            (Ok(completion), Some(false)) => {
                context.failed(self.judge.program(&problem.task_id, completion), &problem.test, judged)
            }
            _ => context,
        }
    }

    fn write(&self, answer: &Answer, timing: Timing, judged: &Judged, sender: &RecordSender) {
        let Answer { trial, sample, reply, .. } = answer;
        let timing = &timing;
        let unanswered = reply.as_ref().map(|reply| describe(&reply.outcome));
        let unanswered = unanswered.filter(|(status, ..)| *status != Status::Success);
        let (status, passed) = held_against(&self.judge, sample, judged);
        let (status, error_type, error) = unanswered.unwrap_or((
            status,
            judged.error_type.map(code::ErrorType::as_str),
            // An exception without a message ends in the colon that would stand before it.
            judged.error.as_deref().map(|error| error.trim_end_matches([':', ' '])),
        ));
        let passed = passed.filter(|_| unanswered.is_none());
        let completion = sample.completion.as_deref().ok();
        let said = Assessment {
            status,
            error_type,
            error,
            output_sha256: completion.map(|text| Digest::of(text.as_bytes())),
            scores: &[(PASS, passed.map(f64::from))],
            primary_metric: Some(PASS),
            passed,
            usage: reply.as_ref().and_then(|reply| reply.usage.as_ref()),
        };
        let mut body = code::body(sample, judged, &[]).within(self.context(answer, judged, passed));
        if let Some((_, Some(error_type), _)) = unanswered {
            body.was_not_judged(error_type);
        }
        let mut fields = body.fields(sample, judged);
        if !self.writer.is_deterministic() {
            fields.cached = Some(judged.from_cache);
        }
        if unanswered.is_none() {
            fields.sandbox_does_not_hold = &self.not_held;
        }
        let mut lines = TrialLines::default();
        fields.push(&mut lines.record, &self.writer.head(trial, said, timing));
        self.writer.telemetry(&mut lines.telemetry, trial, timing);
        if let Some(reply) = reply {
            self.writer.attempts(&mut lines.telemetry, trial, reply);
        }
        sender.hand_over(trial, lines, TrialResult { status, passed });
    }
}

/// What the sandbox of this host holds, for records and envelope.
struct HeldFacts {
    tier: String,
    sandbox_gaps: Vec<String>,
    not_held: Vec<String>,
}

/// What judges the completions of a suite here, with nothing kept from before.
fn open_judge(code: &CodeBody, means: Means) -> Result<(Judge, HeldFacts), ExecuteError> {
    let no_sandbox = || ExecuteError::Means(Complaint::new("a code suite needs a sandbox"));
    let language = (code.language.profile().open)(code, &means)?;
    let sandbox = means.sandbox.ok_or_else(no_sandbox)?;
    let facts = HeldFacts {
        tier: sandbox.tier().to_string(),
        sandbox_gaps: sandbox.gap_texts(),
        not_held: work::not_held(&sandbox),
    };
    let bench = Bench::new(sandbox, code.budgets)
        .map_err(|error| ExecuteError::Means(Complaint::new(format!("no source of randomness: {error}"))))?;
    Ok((Judge::new(bench, language, code.problems.to_vec()).measuring(code.measure), facts))
}

/// The same for whoever judges stored completions again.
pub(super) fn judge_of(code: &CodeBody, means: Means) -> Result<Judge, ExecuteError> {
    open_judge(code, means).map(|(judge, _)| judge)
}

/// What a judgement says of whoever answered: only what names a task that there is can be held against a model.
pub(super) fn held_against(judge: &Judge, sample: &Sample, judged: &Judged) -> (Status, Option<bool>) {
    match sample.task_id.as_deref().and_then(|task_id| judge.problem(task_id)) {
        Some(_) => judged.of_an_answer(),
        None => (judged.status(), judged.verdict()),
    }
}

/// A wording that there is none of: its place in the plan has a record that says why.
fn leave_out(writer: &RecordWriter, trial: &Trial, reason: &str) -> (TrialLines, TrialResult) {
    let error = work::shortfall(reason);
    let said = Assessment { scores: &[(PASS, None)], ..work::left_out(&error, PASS) };
    let mut lines = TrialLines::default();
    unjudged(writer, &empty_sample(trial), (trial, said), &mut lines.record);
    (lines, TrialResult { status: Status::Skipped, passed: None })
}

/// Appends the record of a trial that nobody ran.
pub(super) fn not_run(writer: &RecordWriter, (trial, item): (&Trial, &Item), why: &str, out: &mut Vec<u8>) {
    let empty;
    let sample = match item {
        Item::Sample(sample) => sample.as_ref(),
        Item::Task(_) | Item::Missing(_) => {
            empty = empty_sample(trial);
            &empty
        }
    };
    let completion = sample.completion.as_deref().ok();
    let said = Assessment {
        scores: &[(PASS, None)],
        output_sha256: completion.map(|text| Digest::of(text.as_bytes())),
        ..work::not_run(why, PASS)
    };
    unjudged(writer, sample, (trial, said), out);
}

/// Where there is no completion.
fn empty_sample(trial: &Trial) -> Sample {
    Sample {
        index: trial.index,
        task_id: Some(trial.case_id.to_string()),
        completion_id: trial.repetition.into(),
        completion: Err(Invalid::NoCompletion),
    }
}

/// Appends the record of a trial in which nothing was judged.
fn unjudged(
    writer: &RecordWriter,
    sample: &Sample,
    (trial, said): (&Trial, Assessment<'_>),
    out: &mut Vec<u8>,
) {
    let judged = Judged::default();
    let mut body = code::body(sample, &judged, &[]);
    body.was_not_judged(said.error_type.unwrap_or_default());
    let timing = Timing { latency_ms: 0.0, ..Timer::start().timing() };
    body.fields(sample, &judged).push(out, &writer.head(trial, said, &timing));
}

impl Work<Item> for CodeWork {
    fn joins(&self, group: &[GroupTrial<Item>], next: &Trial) -> bool {
        group.len() < self.together && group.last().is_some_and(|last| last.trial.slot == next.slot)
    }

    fn jobs(&self) -> usize {
        self.jobs
    }

    fn at_once(&self, trial: &Trial, item: &Item, lines: &mut TrialLines) -> Option<TrialResult> {
        let Item::Missing(reason) = item else { return None };
        let (line, result) = leave_out(&self.writer, trial, reason);
        *lines = line;
        Some(result)
    }

    fn carry_out(self: Arc<Self>, group: Vec<GroupTrial<Item>>, sender: RecordSender) -> Carrying {
        Box::pin(async move {
            let mut asking = JoinSet::new();
            let mut answers = Vec::new();
            for GroupTrial { trial, item, .. } in group {
                match item {
                    Item::Sample(sample) => {
                        let timing = Timer::start().timing();
                        answers.push(Answer { trial, sample, question: None, reply: None, timing });
                    }
                    Item::Task(question) => drop(asking.spawn(Arc::clone(&self).ask(trial, question))),
                    Item::Missing(reason) => {
                        let (lines, result) = leave_out(&self.writer, &trial, &reason);
                        sender.hand_over(&trial, lines, result);
                    }
                }
            }
            answers.extend(asking.join_all().await);
            answers.sort_unstable_by_key(|answer| answer.trial.index);
            let judging = tokio::task::spawn_blocking(move || self.judge(answers, &sender));
            if let Err(error) = judging.await {
                std::panic::resume_unwind(error.into_panic());
            }
        })
    }

    fn provenance(&self) -> Provenance {
        let language = self.judge.language();
        let toolchains: BTreeMap<String, String> = language.toolchains();
        let limits = |limits: &proofhouse_sandbox::Limits| {
            let fields = [
                ("cpu_ms", limits.cpu_ms),
                ("disk_bytes", limits.disk_bytes),
                ("file_bytes", limits.file_bytes),
                ("memory_bytes", limits.memory_bytes),
                ("wall_ms", limits.wall_ms),
            ];
            let fields = fields.map(|(name, value)| (name, to_json(&value).unwrap_or(Json::Null)));
            Json::Object(Object::from_iter(fields))
        };
        let sandbox = Object::from_iter([
            ("compile", limits(&self.code.budgets.compile)),
            ("network", Json::from("none")),
            ("test", limits(&self.code.budgets.test)),
        ]);
        Provenance {
            toolchains,
            sandbox: Json::Object(sandbox),
            sandbox_tier: Some(self.tier.clone()),
            sandbox_gaps: self.sandbox_gaps.clone(),
        }
    }
}
