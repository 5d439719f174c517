//! ContainmentWork: a case is played by a scripted agent or a model, its calls are decided and carried out, and a receipt is written.

use std::pin::Pin;
use std::sync::Arc;

use proofhouse_ledger::json::Object;
use proofhouse_ledger::record::{MISSING_SHARD, Status};
use proofhouse_ledger::{Digest, Json};
use proofhouse_sandbox::Sandbox;

use super::judging::Judges;
use super::tools::{NoResult, offered_with};
use super::{ContainmentBody, VariantSpec, canary, real};
use crate::family::target::{Chat, Target};
use crate::kinds::containment::{
    About, Agent, Answer, Driver, Ending, Lead, Message, Model, Opinions, Played, Protocol, ReadyCase,
    Receipt, Role, Scripted, ToolServer, ToolSpec, Toolbox, Verdict, drive, judge_with, offered,
};
use crate::spine::plan::Trial;
use crate::spine::run::ExecuteError;
use crate::spine::run::record::{Assessment, RecordWriter, Timer, Timing, trial_seed};
use crate::spine::run::work::{
    Carrying, GroupTrial, Means, Provenance, RecordSender, TrialLines, TrialResult, Work,
};

mod agents;
mod chat;

use agents::Agents;

/// The score of a containment trial.
const CONTAINED: &str = "contained";

/// Plays cases against variants.
pub(super) struct ContainmentWork {
    writer: RecordWriter,
    targets: Vec<Arc<Target>>,
    body: ContainmentBody,
    judges: Judges,
    agents: Agents,
    sandbox: Option<Arc<Sandbox>>,
}

/// Boxes with tool servers at one time, unless the user says otherwise.
const SERVERS: usize = 4;

impl ContainmentWork {
    pub(super) fn new(
        writer: RecordWriter,
        targets: Vec<Arc<Target>>,
        body: &ContainmentBody,
        means: Means,
    ) -> Result<Self, ExecuteError> {
        let sandbox = means.sandbox.map(Arc::new);
        let judges = Judges::open(&body.judges, &means.opening, sandbox.as_ref())?;
        let agents =
            Agents::open(body, sandbox.as_ref(), &means.opening.base_dir).map_err(ExecuteError::Means)?;
        Ok(Self { writer, targets, body: body.clone(), judges, agents, sandbox })
    }

    fn variant(&self, trial: &Trial) -> &VariantSpec {
        &self.body.variants[trial.slot]
    }

    fn agent<'a>(&'a self, case: &'a ReadyCase, variant: &'a VariantSpec) -> Agent<'a> {
        let toolbox = Toolbox { described: &self.body.tools, served: None };
        let contract = self.body.contract_of(case);
        Agent::new(case, contract, variant.gate.as_deref(), self.body.limits).with_tools(toolbox)
    }

    /// Plays a case to its end, with a tool server of its own where the suite has one.
    async fn play(&self, trial: &Trial, case: &ReadyCase) -> Played {
        let Some(spec) = &self.body.server else { return self.lead(trial, case, None).await };
        let started = match &self.sandbox {
            Some(sandbox) => ToolServer::start(sandbox, spec, case).await,
            None => Err(NoResult::no_server()),
        };
        let mut server = match started {
            Ok(server) => server,
            Err(gone) => return Played { broken: Some(gone.into()), ..Played::default() },
        };
        let mut played = self.lead(trial, case, Some(&mut server)).await;
        if played.broken.is_none() {
            let answer = played.said.iter().rev().find(|said| !said.is_empty()).cloned().unwrap_or_default();
            match server.state(&answer).await {
                Ok(state) => played.state = state,
                Err(gone) => played.broken = Some(gone.into()),
            }
        }
        played
    }

    async fn lead(&self, trial: &Trial, case: &ReadyCase, server: Option<&mut ToolServer>) -> Played {
        let variant = self.variant(trial);
        let described = &self.body.tools;
        let tools = match &server {
            Some(server) => offered_with(server.tools(), case, described),
            None => offered(case, &self.body.policy, described),
        };
        let served = server.as_ref().map(|server| server.names());
        let agent = self.agent(case, variant).with_tools(Toolbox { described, served });
        let Some(target) = variant.target else {
            return drive(agent, Lead::Script(script(variant.driver)), server).await;
        };
        let suite = &self.writer.loaded.suite;
        let seed = trial_seed(suite.seed, &case.case_id, trial.repetition);
        let agent = agent.offering(&tools);
        if let Some((prepared, sandbox)) = self.agents.of(trial.slot) {
            let (repetition, asker) = (trial.repetition, trial.record_id);
            let stamp = move |chat: &mut Chat, turns: usize| {
                (chat.repetition, chat.asker) = (repetition, Some(asker));
                chat.seed = seed_of_turn(seed, turns as u64);
            };
            let asker = real::Asker {
                sandbox: Arc::clone(sandbox),
                target: Arc::clone(&self.targets[target]),
                stamp: Box::new(stamp),
                read: |reply| chat::answer(reply, Protocol::Native),
            };
            return real::play(agent, case, &tools, self.body.limits, (prepared, asker)).await;
        }
        let model = TargetModel { target: &self.targets[target], seed, trial, protocol: variant.protocol };
        let agent = match variant.protocol {
            Protocol::Json => agent.with_protocol(&tools),
            Protocol::Native => agent,
        };
        drive(agent, Lead::Model(&model, &tools), server).await
    }

    /// Judges what was played and appends its receipt.
    fn write(
        &self,
        lines: &mut TrialLines,
        (trial, case): (&Trial, &ReadyCase),
        (played, opinions): (&Played, &Opinions),
        timing: &Timing,
    ) -> TrialResult {
        let verdict = judge_with(case, played, self.variant(trial).gate.is_some(), opinions);
        let passed =
            push(&self.body, &self.writer, (trial, case), (played, &verdict, timing), &mut lines.record);
        self.writer.telemetry(&mut lines.telemetry, trial, timing);
        TrialResult { status: verdict.status, passed }
    }
}

/// Appends the record of a trial that nobody ran.
pub(super) fn not_run(
    body: &ContainmentBody,
    writer: &RecordWriter,
    (trial, case): (&Trial, &ReadyCase),
    why: &str,
    out: &mut Vec<u8>,
) {
    let error_type = MISSING_SHARD.to_owned();
    let broken = Ending::Failed { error_type, error: why.to_owned() };
    let played = Played { broken: Some(broken), ..Played::default() };
    let gated = body.variants[trial.slot].gate.is_some();
    let verdict =
        Verdict { status: Status::NotRun, ..judge_with(case, &played, gated, &Opinions::default()) };
    let timing = Timing { latency_ms: 0.0, ..Timer::start().timing() };
    push(body, writer, (trial, case), (&played, &verdict, &timing), out);
}

/// Appends the receipt of a trial; gives what it says of the slot.
pub(super) fn push(
    body: &ContainmentBody,
    writer: &RecordWriter,
    (trial, case): (&Trial, &ReadyCase),
    (played, verdict, timing): (&Played, &Verdict, &Timing),
    out: &mut Vec<u8>,
) -> Option<bool> {
    let variant = &body.variants[trial.slot];
    let suite = &writer.loaded.suite;
    let slot = &suite.slots[trial.slot];
    let receipt = Receipt::new(case, played, verdict);
    // A canary says whether the model can call tools, and nothing about the suite's cases.
    let passed = verdict.outcome.passed().filter(|_| !canary::is_canary(&case.case_id));
    let usage = usage(&played.usage);
    let answered = variant.target.is_some() && !played.readings.is_empty();
    let said = Assessment {
        status: verdict.status,
        error_type: verdict.error_type.as_deref(),
        error: verdict.error.as_deref(),
        output_sha256: answered.then_some(receipt.response_hash),
        scores: &[(CONTAINED, passed.map(f64::from))],
        primary_metric: Some(CONTAINED),
        passed,
        usage: usage.as_ref(),
    };
    let model_id = slot.model_id();
    let about = About {
        system_variant: &slot.name,
        gated: variant.gate.is_some(),
        seed: suite.seed,
        git_commit: None,
        model: variant.target.map(|_| (slot.kind.as_str(), model_id.as_str())),
    };
    let head = writer.head(trial, said, timing);
    receipt.fields(case, played, verdict, &about).push(out, &head);
    passed
}

/// What a scripted driver obeys.
pub(super) fn script(driver: Driver) -> Scripted {
    match driver {
        Driver::ScriptedJson => Scripted::MarkersAndJson,
        Driver::Actions => Scripted::Nothing,
        Driver::Scripted | Driver::Model | Driver::Agent => Scripted::Markers,
    }
}

impl Work<Arc<ReadyCase>> for ContainmentWork {
    fn jobs(&self) -> usize {
        match &self.body.server {
            Some(_) => SERVERS,
            None => self.agents.jobs().unwrap_or(16),
        }
    }

    fn at_once(&self, trial: &Trial, case: &Arc<ReadyCase>, lines: &mut TrialLines) -> Option<TrialResult> {
        let variant = self.variant(trial);
        let waits =
            variant.target.is_some() || self.body.server.is_some() || self.body.judges.is_needed(case);
        if waits {
            return None;
        }
        let timer = Timer::start();
        let played = self.agent(case, variant).play(script(variant.driver));
        Some(self.write(lines, (trial, case), (&played, &Opinions::default()), &timer.timing()))
    }

    fn carry_out(self: Arc<Self>, group: Vec<GroupTrial<Arc<ReadyCase>>>, sender: RecordSender) -> Carrying {
        Box::pin(async move {
            for GroupTrial { trial, item: case, .. } in group {
                let timer = Timer::start();
                let played = self.play(&trial, &case).await;
                let timing = timer.timing();
                let opinions = self.judges.hear(&case, &played, trial.record_id).await;
                let mut lines = TrialLines::default();
                let result = self.write(&mut lines, (&trial, &case), (&played, &opinions), &timing);
                sender.hand_over(&trial, lines, result);
            }
        })
    }

    fn provenance(&self) -> Provenance {
        let Some(sandbox) = &self.sandbox else { return Provenance::default() };
        let network = if self.agents.are_any() { "own" } else { "none" };
        Provenance {
            sandbox: Json::Object(Object::from_iter([("network", Json::from(network))])),
            sandbox_tier: Some(sandbox.tier().to_string()),
            sandbox_gaps: sandbox.gap_texts(),
            ..Provenance::default()
        }
    }
}

/// Each answer of a trial has a seed of its own.
fn seed_of_turn(seed: u64, turns: u64) -> u64 {
    if turns == 0 {
        return seed;
    }
    let digest = Digest::of_parts(&[b"turn", &seed.to_le_bytes(), &turns.to_le_bytes()]);
    u64::from_le_bytes(digest.0[..8].try_into().expect("eight of thirty-two bytes"))
}

/// What a model used: the only request's usage, or a list of all.
fn usage(all: &[Json]) -> Option<Json> {
    match all {
        [] => None,
        [one] => Some(one.clone()),
        many => Some(Json::Object(Object::from_iter([("requests", Json::Array(many.to_vec()))]))),
    }
}

/// A target as a model.
struct TargetModel<'a> {
    target: &'a Target,
    seed: u64,
    trial: &'a Trial,
    protocol: Protocol,
}

impl Model for TargetModel<'_> {
    fn answer<'a>(
        &'a self,
        conversation: &'a [Message],
        tools: &'a [ToolSpec],
    ) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>> {
        Box::pin(async move {
            let mut chat = chat::of(conversation, tools, self.protocol);
            chat.repetition = self.trial.repetition;
            // Variants of one target ask the same of it, with the same seed.
            chat.asker = Some(self.trial.record_id);
            let turns = conversation.iter().filter(|message| message.role == Role::Assistant).count() as u64;
            chat.seed = seed_of_turn(self.seed, turns);
            chat::answer(self.target.chat(&chat).await, self.protocol)
        })
    }
}
