//! Asking a model for variants before the plan is frozen. What it says passes the guard or is kept with the reasons against
//! it; either way it is recorded, and no later run asks again. A timeout or a failed request is recorded too, but it is no
//! answer: the next run asks again.

use std::collections::BTreeSet;

use camino::Utf8PathBuf;
use proofhouse_ledger::Json;
use proofhouse_ledger::files::{self, FileError};

use super::{Answer, Recorded, Rejection, RobustnessBody, ToolCase, ToolVariant, Wanted};
use crate::family::target::{Chat, Opening, Outcome, Reply, Target, TargetConfig};
use crate::family::vary::guard::{self, Reason};
use crate::family::vary::{Ask, Maker};
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

/// The variants that are wanted and not recorded.
pub(super) fn wanted(body: &RobustnessBody, resumed: bool) -> Vec<&Wanted> {
    let there = body.rewriter.is_some();
    body.wanted.iter().filter(|wanted| there && !(resumed && wanted.again)).collect()
}

/// Asks for every variant that is wanted and not recorded, and records the answers. Gives how many there were.
///
/// What was asked for without an answer is asked again, unless the run is a resumed one: its plan is what it was.
pub(super) fn rewrite(
    body: &RobustnessBody,
    opening: &Opening,
    resumed: bool,
) -> Result<usize, RewriteError> {
    let wanted = wanted(body, resumed);
    let Some(rewriter) = body.rewriter.as_ref().filter(|_| !wanted.is_empty()) else { return Ok(0) };
    let open = |name: &str, target: &TargetConfig| target.open(name, opening).map_err(RewriteError::Target);
    let target = open("rewriter", &rewriter.target)?;
    let guard = rewriter.guard.as_ref().map(|guard| open("guard", guard)).transpose()?;
    let models = Models { rewriter: target, guard };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(RewriteError::Runtime)?;
    let mut recorded = Recorded::read(&rewriter.recorded).map_err(|(line, what)| RewriteError::Recorded {
        path: rewriter.recorded.clone(),
        line,
        what,
    })?;
    for wanted in &wanted {
        let case = &body.cases[wanted.case];
        let known = |variant: &ToolVariant| variant.answer.as_ref()?.accepted.clone();
        let mut taken: BTreeSet<String> = case.variants.iter().filter_map(known).collect();
        let earlier = body.wanted.iter().take_while(|other| other.key != wanted.key);
        let of_case = earlier.filter(|other| other.case == wanted.case);
        taken.extend(of_case.filter_map(|other| recorded.get(&other.key)?.accepted.clone()));
        recorded.add(runtime.block_on(ask(&models, rewriter.max_attempts, (case, wanted), &taken)));
        files::write_atomic(&rewriter.recorded, &recorded.to_bytes())?;
    }
    Ok(wanted.len())
}

/// Who is asked.
struct Models {
    rewriter: Target,
    guard: Option<Target>,
}

/// Asks until the guard is content, at most as often as the suite says.
async fn ask(
    models: &Models,
    max_attempts: u32,
    (case, wanted): (&ToolCase, &Wanted),
    taken: &BTreeSet<String>,
) -> Answer {
    let asked = &case.asked[wanted.asked];
    let Maker::Model(model) = asked.config.maker() else { unreachable!("only models are asked") };
    let base = Ask { base: &case.instruction, count: asked.count, seed: asked.seed, case_id: &case.id };
    let mut answer = Answer {
        key: wanted.key,
        generator: asked.config.name().to_owned(),
        prompt: model.prompt(&base, wanted.index, max_attempts),
        accepted: None,
        rejections: Vec::new(),
        guard: None,
    };
    for attempt in 1..=max_attempts {
        let prompt = model.prompt(&base, wanted.index, attempt);
        let reply = models.rewriter.chat(&Chat::ask(prompt.text.as_str(), prompt.seed, wanted.index)).await;
        let (text, silence) = said(&reply);
        let refused = |failure_reasons: Vec<Reason>, silence: Option<ModelFailure>| {
            let (error, no_answer) =
                silence.map_or((None, false), |silence| (Some(silence.error), silence.no_answer));
            Rejection { attempt, ai_output: text.clone(), failure_reasons, error, no_answer }
        };
        if silence.is_some() {
            answer.rejections.push(refused(Vec::new(), silence));
            continue;
        }
        let verdict = guard::check(&case.instruction, text.as_bytes(), model.strict(), &case.allow_terms);
        let accepted = match verdict {
            Ok(accepted) if taken.contains(&accepted) => Err(vec![Reason::Unchanged]),
            other => other,
        };
        let accepted = match accepted {
            Ok(accepted) => accepted,
            Err(reasons) => {
                answer.rejections.push(refused(reasons, None));
                continue;
            }
        };
        match compare(models.guard.as_ref(), (&case.instruction, &accepted), (prompt.seed, wanted.index))
            .await
        {
            Ok(said) => {
                (answer.prompt, answer.accepted, answer.guard) = (prompt, Some(accepted), said);
                return answer;
            }
            Err((reason, silence)) => answer.rejections.push(refused(reason.into_iter().collect(), silence)),
        }
    }
    answer
}

/// What the guard's model says about a rewording, where there is one: its words, or the reason against it, or its failure.
async fn compare(
    model: Option<&Target>,
    (base, rewording): (&str, &str),
    (seed, index): (u64, u32),
) -> Result<Option<String>, (Option<Reason>, Option<ModelFailure>)> {
    let Some(model) = model else { return Ok(None) };
    let reply = model.chat(&Chat::ask(guard::question(base, rewording).as_str(), seed, index)).await;
    let (text, silence) = said(&reply);
    if let Some(silence) = silence {
        let error = format!("the guard's model: {}", silence.error);
        return Err((Some(Reason::ModelCheckFailed), Some(ModelFailure { error, ..silence })));
    }
    match guard::reading(&text) {
        Some(true) => Ok(Some(text)),
        Some(false) => Err((Some(Reason::ModelSaysChanged), None)),
        None => {
            let error = format!(
                "the guard's model said neither `SAME` nor `CHANGED`: {}",
                text.chars().take(200).collect::<String>()
            );
            Err((Some(Reason::ModelCheckFailed), Some(ModelFailure { error, no_answer: false })))
        }
    }
}

/// What kept a model from saying anything.
struct ModelFailure {
    error: String,
    /// There was no answer at all, so that asking again may give one.
    no_answer: bool,
}

/// What the model said, and what kept it from saying anything.
fn said(reply: &Reply) -> (String, Option<ModelFailure>) {
    let text = match &reply.output {
        Some(Json::String(text)) => text.clone(),
        Some(Json::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    let silent = |no_answer: bool, error: &str| Some(ModelFailure { error: error.to_owned(), no_answer });
    let silence = match &reply.outcome {
        Outcome::Answered | Outcome::Empty | Outcome::Null | Outcome::Refused => None,
        Outcome::Length => silent(false, "the answer was cut off at the limit of its length"),
        Outcome::Filtered => silent(false, "the endpoint's filter withheld the answer"),
        Outcome::Failed { error_type, error } => silent(true, &format!("{error_type}: {error}")),
        Outcome::TimedOut | Outcome::Stalled => silent(true, "no answer in time"),
        Outcome::RateLimited { .. } => silent(true, "the model asked for fewer requests"),
    };
    (text, silence)
}
