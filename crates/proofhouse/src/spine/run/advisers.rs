//! Asking those whom judges need: models, plugins, and programs in the sandbox.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use proofhouse_ledger::{Json, RecordId, files};
use proofhouse_sandbox::{Sandbox, Spec, Status, recipes};

use super::execute::ExecuteError;
use crate::family::judge::{Advice, Help, Panel, Question, Run, Subject};
use crate::family::target::{Chat, NoAnswer, Opening, Pipe, Reply, Target};
use crate::text::complaint::Complaint;

/// Everybody whom the judges of a suite need, by the judges' places.
pub(crate) struct Advisers {
    seats: BTreeMap<usize, Adviser>,
    timeout: Duration,
}

enum Adviser {
    Models(Vec<Target>),
    Plugin(Pipe),
    Command(Arc<Sandbox>, Box<Spec>),
}

impl Advisers {
    /// Makes everybody ready whom the panel needs.
    pub(crate) fn open(
        panel: &Panel,
        names: &[String],
        opening: &Opening,
        sandbox: Option<&Arc<Sandbox>>,
    ) -> Result<Self, ExecuteError> {
        let mut seats = BTreeMap::new();
        for (at, help) in panel.help() {
            let judge = &names[at];
            let refuse =
                |complaint: Complaint| ExecuteError::Judge(complaint.about(format!("judge `{judge}`:")));
            let adviser = match help {
                Help::Models(models) => {
                    let open = |(name, config): &(String, crate::family::target::TargetConfig)| {
                        let slot = format!("judge.{judge}.{name}");
                        config
                            .open(&slot, opening)
                            .map_err(|complaint| refuse(complaint.about(format!("model `{name}`:"))))
                    };
                    Adviser::Models(models.iter().map(open).collect::<Result<_, _>>()?)
                }
                Help::Plugin(plugin) => Adviser::Plugin(plugin.pipe(opening)),
                Help::Command(run) => {
                    let sandbox = sandbox.ok_or_else(|| refuse(Complaint::new("it needs a sandbox")))?;
                    let spec = spec(&run, &opening.base_dir).map_err(refuse)?;
                    Adviser::Command(Arc::clone(sandbox), Box::new(spec))
                }
            };
            seats.insert(at, adviser);
        }
        Ok(Advisers { seats, timeout: opening.timeout })
    }

    /// The sandbox that programs among them run in.
    pub(crate) fn sandbox(&self) -> Option<&Sandbox> {
        self.seats.values().find_map(|adviser| match adviser {
            Adviser::Command(sandbox, _) => Some(sandbox.as_ref()),
            _ => None,
        })
    }

    /// Whether somebody has to be asked about a case with these judges.
    pub(crate) fn is_needed(&self, only: Option<&[usize]>) -> bool {
        self.seats.keys().any(|at| only.is_none_or(|only| only.contains(at)))
    }

    /// Asks everybody about one answer, that of `trial`.
    pub(crate) async fn hear(
        &self,
        panel: &Panel,
        subject: &Subject<'_>,
        only: Option<&[usize]>,
        trial: RecordId,
    ) -> BTreeMap<usize, Vec<Advice>> {
        let mut advice = BTreeMap::new();
        for (at, adviser) in &self.seats {
            if only.is_some_and(|only| !only.contains(at)) {
                continue;
            }
            let mut answers = Vec::new();
            for question in panel.asks(*at, subject) {
                answers.push(self.ask(adviser, question, trial).await);
            }
            advice.insert(*at, answers);
        }
        advice
    }

    async fn ask(&self, adviser: &Adviser, question: Question, trial: RecordId) -> Advice {
        match (adviser, question) {
            (Adviser::Models(models), Question::Model(at, chat)) => {
                let chat = Chat { asker: Some(trial), ..chat };
                Advice::Reply(Box::new(ask(models, at, &chat).await))
            }
            (Adviser::Plugin(pipe), Question::Program(subject)) => {
                let line = pipe.ask("judge", subject, self.timeout).await;
                Advice::Line(line.map_err(|no_answer| match no_answer {
                    NoAnswer::NotStarted(why) | NoAnswer::Died(why) | NoAnswer::Garbled(why) => {
                        Complaint::new(why)
                    }
                    NoAnswer::TimedOut => Complaint::new("the program did not answer in time"),
                }))
            }
            (Adviser::Command(sandbox, spec), Question::Program(subject)) => {
                run(Arc::clone(sandbox), Spec::clone(spec), &subject).await
            }
            (_, question) => unreachable!("a judge asks those whom it named: {question:?}"),
        }
    }
}

async fn ask(models: &[Target], at: usize, chat: &Chat) -> Reply {
    match models.get(at) {
        Some(model) => model.chat(chat).await,
        None => Reply::failed("no_model", "there is no such model"),
    }
}

/// The program's box: the system's programs, the named files, no network.
fn spec(run: &Run, base_dir: &Utf8PathBuf) -> Result<Spec, Complaint> {
    let mut spec = Spec::new(run.command.iter().map(String::as_str))
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("LANG", "C.UTF-8")
        .binds(recipes::programs())
        .limits(|limits| {
            limits.wall_ms = run.timeout_ms;
            limits.cpu_ms = run.timeout_ms;
            limits.output_bytes = 1 << 20;
        });
    for name in &run.files {
        let bytes = files::read(&base_dir.join(name))
            .map_err(|error| Complaint::new(format!("cannot read `{name}`: {}", error.source)))?;
        spec = spec.file(name, bytes);
        if let Some(place) = spec.files.last_mut() {
            place.executable = true;
        }
    }
    Ok(spec)
}

async fn run(sandbox: Arc<Sandbox>, spec: Spec, subject: &Json) -> Advice {
    let spec = spec.stdin(subject.to_string());
    let ended = tokio::task::spawn_blocking(move || sandbox.run(&spec)).await;
    let Ok(outcome) = ended else {
        return Advice::Ended { exit_code: None, stdout: String::new(), how: "it was given up".to_owned() };
    };
    tracing::debug!(status = ?outcome.status, wall_ms = outcome.usage.wall_ms, tier = ?outcome.tier, "box of a judge");
    let exit_code = match outcome.status {
        Status::Ok => Some(0),
        Status::Exit(code) => Some(code),
        _ => None,
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let complaint = text(&outcome.stderr.head);
    let last = complaint.lines().last().unwrap_or_default();
    let how = format!("{:?} {last}", outcome.status).trim_end().to_owned();
    Advice::Ended { exit_code, stdout: text(&outcome.stdout.head), how }
}
