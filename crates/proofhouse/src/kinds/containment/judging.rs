//! Asking a suite's judges whether a task was done: what no pattern can decide.

use std::sync::Arc;

use proofhouse_ledger::json::Object;
use proofhouse_ledger::record::containment::Evidence;
use proofhouse_ledger::{Json, RecordId};
use proofhouse_sandbox::Sandbox;

use super::agent::Played;
use super::case::Case;
use super::outcome::{Opinion, Opinions};
use crate::family::judge::{Help, JudgeConfig, Panel, PanelVerdict, Scoring, Subject};
use crate::family::target::Opening;
use crate::spine::run::advisers::Advisers;
use crate::spine::run::execute::ExecuteError;
use crate::text::complaint::Complaint;

/// The judges of a suite, and who is asked about which case.
#[derive(Debug, Clone, Default)]
pub(super) struct JudgeSpec {
    pub(super) judges: Vec<(String, JudgeConfig)>,
    /// Who answers `judge_question`, where a case does not say.
    pub(super) question_judge: Option<String>,
}

impl JudgeSpec {
    pub(super) fn panel(&self) -> Result<Panel, Complaint> {
        Panel::new(&self.judges, &Scoring::default())
    }

    /// Whether a judge runs programs in the sandbox.
    pub(super) fn runs_programs(&self) -> bool {
        self.panel().is_ok_and(|panel| panel.help().iter().any(|(_, help)| matches!(help, Help::Command(_))))
    }

    pub(super) fn knows(&self, name: &str) -> bool {
        self.judges.iter().any(|(known, _)| known == name)
    }

    /// Who says whether the attacker's task was done.
    fn of_attack<'a>(&'a self, case: &'a Case) -> Option<&'a str> {
        let asked = || case.judge_question.as_ref().and(self.question_judge.as_deref());
        case.attack_judge.as_deref().or_else(asked).filter(|_| case.attack())
    }

    /// Asks again about a trial that was played again: judges that decide by themselves. What others said is taken from the record, and
    /// whether there is any of that is given back.
    pub(super) fn hear_again(
        &self,
        panel: &Panel,
        case: &Case,
        played: &Played,
        stored: &[Evidence],
    ) -> (Opinions, bool) {
        if played.broken.is_some() || played.unparsed {
            return (Opinions::default(), false);
        }
        let output = seen(played);
        let asking = panel.help();
        let mut others = false;
        let mut ask = |key: &str, name: &str, subject: &Subject<'_>| {
            let judge = name.to_owned();
            let Some(at) = self.judges.iter().position(|(known, _)| known == name) else {
                return no_such(judge);
            };
            if asking.iter().any(|(place, _)| *place == at) {
                others = true;
                let said = stored.iter().find(|said| said.name == format!("{key}: {name}"));
                return Opinion {
                    judge,
                    done: said.and_then(|said| said.met),
                    why: said.and_then(|said| said.why.clone()),
                };
            }
            opinion_of(judge, panel.judge(subject, Some(&[at])))
        };
        let mut opinions = Opinions::default();
        if let Some(name) = &case.task_judge {
            opinions.task = Some(ask("task_judge", name, &about_task(case, &output)));
        }
        if let Some(name) = self.of_attack(case) {
            let (question, prompt) = (Json::from(case.judge_question.clone()), case.filled(&case.prompt));
            let subject =
                Subject { input: &prompt, output: &output, expected: &question, ..Subject::default() };
            opinions.attack = Some(ask("attack_judge", name, &subject));
        }
        (opinions, others)
    }

    /// Whether somebody is asked about a case.
    pub(super) fn is_needed(&self, case: &Case) -> bool {
        case.task_judge.is_some() || self.of_attack(case).is_some()
    }
}

/// Judges that are ready.
pub(super) struct Judges {
    spec: JudgeSpec,
    panel: Panel,
    advisers: Advisers,
}

impl Judges {
    pub(super) fn open(
        spec: &JudgeSpec,
        opening: &Opening,
        sandbox: Option<&Arc<Sandbox>>,
    ) -> Result<Self, ExecuteError> {
        let panel = spec.panel().map_err(ExecuteError::Judge)?;
        let names: Vec<String> = spec.judges.iter().map(|(name, _)| name.clone()).collect();
        let advisers = Advisers::open(&panel, &names, opening, sandbox)?;
        Ok(Self { spec: spec.clone(), panel, advisers })
    }

    /// Asks about a trial that has an end to look at.
    pub(super) async fn hear(&self, case: &Case, played: &Played, trial: RecordId) -> Opinions {
        if played.broken.is_some() || played.unparsed {
            return Opinions::default();
        }
        let output = seen(played);
        let mut opinions = Opinions::default();
        if let Some(name) = &case.task_judge {
            opinions.task = Some(self.ask(name, &about_task(case, &output), trial).await);
        }
        if let Some(name) = self.spec.of_attack(case) {
            let question = Json::from(case.judge_question.clone());
            let prompt = case.filled(&case.prompt);
            let subject =
                Subject { input: &prompt, output: &output, expected: &question, ..Subject::default() };
            opinions.attack = Some(self.ask(name, &subject, trial).await);
        }
        opinions
    }

    async fn ask(&self, name: &str, subject: &Subject<'_>, trial: RecordId) -> Opinion {
        let judge = name.to_owned();
        let Some(at) = self.spec.judges.iter().position(|(known, _)| known == name) else {
            return no_such(judge);
        };
        let only = [at];
        let advice = self.advisers.hear(&self.panel, subject, Some(&only), trial).await;
        opinion_of(judge, self.panel.judge_with(subject, Some(&only), &advice))
    }
}

fn no_such(judge: String) -> Opinion {
    Opinion { judge, done: None, why: Some("there is no such judge".to_owned()) }
}

fn opinion_of(judge: String, verdict: PanelVerdict) -> Opinion {
    let why = verdict.explanations.into_iter().next().map(|(_, why)| why);
    Opinion { judge, done: verdict.passed, why }
}

fn about_task<'a>(case: &'a Case, output: &'a Json) -> Subject<'a> {
    Subject { input: &case.prompt, output, ..Subject::default() }
}

/// What a judge is shown: what the agent said, what was executed, and the state that was left.
fn seen(played: &Played) -> Json {
    let calls = played.attempts.iter().filter_map(|attempt| attempt.executed.as_ref());
    Json::Object(Object::from_iter([
        ("answer", Json::from(played.said.join("\n").trim())),
        ("calls", Json::Array(calls.map(|call| call.bounded()).collect())),
        ("state", played.state.clone().unwrap_or(Json::Null)),
    ]))
}
