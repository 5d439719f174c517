//! Asking a model for variants before the plan is frozen. What it says passes the guard or is kept with the reasons against
//! it; either way it is recorded, and no later run asks again.

use std::collections::BTreeSet;

use camino::Utf8PathBuf;
use proofhouse_ledger::Json;
use proofhouse_ledger::files::{self, FileError};

use super::{Answer, Recorded, Rejection, Rewriter, RobustnessBody, ToolCase, ToolVariant, Wanted};
use crate::family::target::{Chat, Opening, Outcome, Reply, Target};
use crate::family::vary::{Ask, Maker, guard};
use crate::text::complaint::Complaint;

/// Why variants could not be written.
#[derive(Debug, thiserror::Error)]
pub(super) enum RewriteError {
    /// The model's settings.
    #[error("the rewriter cannot be opened: {0}")]
    Target(Complaint),
    /// The event loop.
    #[error("cannot start the event loop")]
    Runtime(#[source] std::io::Error),
    /// What was recorded earlier.
    #[error("`{path}` line {line} cannot be read: {what}")]
    Recorded {
        /// The file.
        path: Utf8PathBuf,
        /// From 1.
        line: u64,
        /// What is wrong.
        what: Complaint,
    },
    /// The file of answers.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Asks for every variant that is wanted and not recorded, and records the answers. Gives how many there were.
pub(super) fn rewrite(body: &RobustnessBody, opening: &Opening) -> Result<usize, RewriteError> {
    let Some(rewriter) = body.rewriter.as_ref().filter(|_| !body.wanted.is_empty()) else { return Ok(0) };
    let target = rewriter.target.open("rewriter", opening).map_err(RewriteError::Target)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(RewriteError::Runtime)?;
    let mut recorded = Recorded::read(&rewriter.recorded).map_err(|(line, what)| RewriteError::Recorded {
        path: rewriter.recorded.clone(),
        line,
        what,
    })?;
    for wanted in body.wanted.iter() {
        let case = &body.cases[wanted.case];
        let known = |variant: &ToolVariant| variant.answer.as_ref()?.accepted.clone();
        let mut taken: BTreeSet<String> = case.variants.iter().filter_map(known).collect();
        let earlier = body.wanted.iter().take_while(|other| other.key != wanted.key);
        let of_case = earlier.filter(|other| other.case == wanted.case);
        taken.extend(of_case.filter_map(|other| recorded.get(&other.key)?.accepted.clone()));
        recorded.add(runtime.block_on(ask(&target, rewriter, (case, wanted), &taken)));
        files::write_atomic(&rewriter.recorded, &recorded.to_bytes())?;
    }
    Ok(body.wanted.len())
}

/// Asks until the guard is content, at most as often as the suite says.
async fn ask(
    target: &Target,
    rewriter: &Rewriter,
    (case, wanted): (&ToolCase, &Wanted),
    taken: &BTreeSet<String>,
) -> Answer {
    let asked = &case.asked[wanted.asked];
    let Maker::Model(model) = asked.config.maker() else { unreachable!("only models are asked") };
    let base = Ask { base: &case.instruction, count: asked.count, seed: asked.seed, case_id: &case.id };
    let mut rejections = Vec::new();
    for attempt in 1..=rewriter.max_attempts {
        let prompt = model.prompt(&base, wanted.index, attempt);
        let reply = target.chat(&Chat::ask(prompt.text.as_str(), prompt.seed, wanted.index)).await;
        let (text, error) = said(&reply);
        let verdict = match &error {
            Some(_) => Err(Vec::new()),
            None => guard::check(&case.instruction, text.as_bytes(), model.strict(), &case.allow_terms),
        };
        let verdict = verdict.and_then(|accepted| match taken.contains(&accepted) {
            true => Err(vec![guard::Reason::Unchanged]),
            false => Ok(accepted),
        });
        match verdict {
            Ok(accepted) => {
                let (key, generator) = (wanted.key, asked.config.name().to_owned());
                return Answer { key, generator, prompt, accepted: Some(accepted), rejections };
            }
            Err(failure_reasons) => {
                rejections.push(Rejection { attempt, ai_output: text, failure_reasons, error })
            }
        }
    }
    let prompt = model.prompt(&base, wanted.index, rewriter.max_attempts);
    let (key, generator) = (wanted.key, asked.config.name().to_owned());
    Answer { key, generator, prompt, accepted: None, rejections }
}

/// What the model said, and what kept it from saying anything.
fn said(reply: &Reply) -> (String, Option<String>) {
    let text = match &reply.output {
        Some(Json::String(text)) => text.clone(),
        Some(Json::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    let error = match &reply.outcome {
        Outcome::Answered | Outcome::Empty | Outcome::Null | Outcome::Refused => None,
        Outcome::Length => Some("the answer was cut off at the limit of its length".to_owned()),
        Outcome::Filtered => Some("the endpoint's filter withheld the answer".to_owned()),
        Outcome::Failed { error_type, error } => Some(format!("{error_type}: {error}")),
        Outcome::TimedOut | Outcome::Stalled => Some("no answer in time".to_owned()),
        Outcome::RateLimited { .. } => Some("the model asked for fewer requests".to_owned()),
    };
    (text, error)
}
