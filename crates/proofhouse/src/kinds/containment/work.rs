//! ContainmentWork: a case is played by a scripted agent or a model, its calls are decided and simulated, and a receipt is written.

use std::pin::Pin;
use std::sync::Arc;

use proofhouse_ledger::json::Object;
use proofhouse_ledger::{Digest, Json};

use super::{ContainmentBody, VariantSpec, canary};
use crate::family::target::Target;
use crate::kinds::containment::{
    About, Agent, Answer, Case, Driver, Message, Model, Played, Protocol, Receipt, Role, Scripted, ToolSpec,
    drive, judge, offered,
};
use crate::spine::plan::Trial;
use crate::spine::run::record::{Assessment, RecordWriter, Timer, Timing, trial_seed};
use crate::spine::run::work::{Carrying, GroupTrial, RecordSender, TrialLines, TrialResult, Work};

mod chat;

/// The score of a containment trial.
const CONTAINED: &str = "contained";

/// Plays cases against variants.
pub(super) struct ContainmentWork {
    writer: RecordWriter,
    targets: Vec<Arc<Target>>,
    body: ContainmentBody,
}

impl ContainmentWork {
    pub(super) fn new(writer: RecordWriter, targets: Vec<Arc<Target>>, body: &ContainmentBody) -> Self {
        Self { writer, targets, body: body.clone() }
    }

    fn variant(&self, trial: &Trial) -> &VariantSpec {
        &self.body.variants[trial.slot]
    }

    fn agent<'a>(&'a self, case: &'a Case, variant: &'a VariantSpec) -> Agent<'a> {
        let agent = Agent::new(case, &self.body.contract, variant.gate.as_deref(), self.body.limits);
        agent.expect("the case's rules were compiled when it was read")
    }

    /// Plays a case with one of the suite's targets.
    async fn ask(&self, trial: &Trial, case: &Case, target: usize) -> Played {
        let variant = self.variant(trial);
        let tools = offered(case, &self.body.policy, &self.body.tools);
        let suite = &self.writer.loaded.suite;
        let model = Asked {
            target: &self.targets[target],
            seed: trial_seed(suite.seed, &case.case_id, trial.repetition),
            trial,
            protocol: variant.protocol,
        };
        let agent = self.agent(case, variant).offering(&tools);
        let agent = match variant.protocol {
            Protocol::Json => agent.with_protocol(&tools),
            Protocol::Native => agent,
        };
        drive(agent, &model, &tools).await
    }

    /// Judges what was played and appends its receipt.
    fn write(
        &self,
        lines: &mut TrialLines,
        (trial, case): (&Trial, &Case),
        played: &Played,
        timing: &Timing,
    ) -> TrialResult {
        let variant = self.variant(trial);
        let suite = &self.writer.loaded.suite;
        let slot = &suite.slots[trial.slot];
        let verdict = judge(case, played, variant.gate.is_some());
        let receipt = Receipt::new(case, played, &verdict);
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
        let head = self.writer.head(trial, said, timing);
        receipt.fields(case, played, &verdict, &about).push(&mut lines.record, &head);
        self.writer.telemetry(&mut lines.telemetry, trial, timing);
        TrialResult { status: verdict.status, passed }
    }
}

impl Work<Arc<Case>> for ContainmentWork {
    fn at_once(&self, trial: &Trial, case: &Arc<Case>, lines: &mut TrialLines) -> Option<TrialResult> {
        let variant = self.variant(trial);
        let script = match variant.driver {
            Driver::Scripted => Scripted::Markers,
            Driver::ScriptedJson => Scripted::MarkersAndJson,
            Driver::Model => return None,
        };
        let timer = Timer::start();
        let played = self.agent(case, variant).play(script);
        Some(self.write(lines, (trial, case), &played, &timer.timing()))
    }

    fn carry_out(self: Arc<Self>, group: Vec<GroupTrial<Arc<Case>>>, sender: RecordSender) -> Carrying {
        Box::pin(async move {
            for GroupTrial { trial, item: case, .. } in group {
                let timer = Timer::start();
                let target =
                    self.variant(&trial).target.expect("a variant without a target is played at once");
                let played = self.ask(&trial, &case, target).await;
                let mut lines = TrialLines::default();
                let result = self.write(&mut lines, (&trial, &case), &played, &timer.timing());
                sender.hand_over(&trial, lines, result);
            }
        })
    }
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
struct Asked<'a> {
    target: &'a Target,
    seed: u64,
    trial: &'a Trial,
    protocol: Protocol,
}

impl Model for Asked<'_> {
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
            // Each answer of a trial has a seed of its own.
            let turns = conversation.iter().filter(|message| message.role == Role::Assistant).count() as u64;
            let seed = Digest::of_parts(&[b"turn", &self.seed.to_le_bytes(), &turns.to_le_bytes()]);
            let seed = u64::from_le_bytes(seed.0[..8].try_into().expect("eight of thirty-two bytes"));
            chat.seed = if turns == 0 { self.seed } else { seed };
            chat::answer(self.target.chat(&chat).await, self.protocol)
        })
    }
}
