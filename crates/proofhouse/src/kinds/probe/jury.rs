//! Asking those whom judges need: models, plugins, and programs in the sandbox.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use proofhouse_ledger::{Json, RecordId, files};
use proofhouse_sandbox::{Sandbox, Spec, Status, recipes};

use crate::family::judge::{Heard, Help, Panel, Question, Run, Subject};
use crate::family::target::{Chat, Opening, Pipe, Reply, Silence, Target};
use crate::spine::run::execute::ExecuteError;

/// Everybody whom the judges of a suite need, by the judges' places.
pub(super) struct Jury {
    seats: BTreeMap<usize, Helper>,
    timeout: Duration,
}

enum Helper {
    Models(Vec<Target>),
    Plugin(Pipe),
    Command(Arc<Sandbox>, Box<Spec>),
}

impl Jury {
    /// Makes everybody ready whom the panel needs.
    pub(super) fn open(
        panel: &Panel,
        names: &[String],
        opening: &Opening,
        sandbox: Option<&Arc<Sandbox>>,
    ) -> Result<Self, ExecuteError> {
        let mut seats = BTreeMap::new();
        for (at, help) in panel.help() {
            let judge = &names[at];
            let refuse = |what: String| ExecuteError::Judge(format!("judge `{judge}`: {what}"));
            let helper = match help {
                Help::Models(models) => {
                    let open = |(name, config): &(String, crate::family::target::TargetConfig)| {
                        let slot = format!("judge.{judge}.{name}");
                        config.open(&slot, opening).map_err(|complaint| {
                            let hint =
                                complaint.hint.map_or(String::new(), |hint| format!("\n\nhint: {hint}"));
                            refuse(format!("model `{name}`: {}{hint}", complaint.what))
                        })
                    };
                    Helper::Models(models.iter().map(open).collect::<Result<_, _>>()?)
                }
                Help::Plugin(plugin) => Helper::Plugin(plugin.pipe(opening)),
                Help::Command(run) => {
                    let sandbox = sandbox.ok_or_else(|| refuse("it needs a sandbox".to_owned()))?;
                    let spec = spec(&run, &opening.base_dir).map_err(refuse)?;
                    Helper::Command(Arc::clone(sandbox), Box::new(spec))
                }
            };
            seats.insert(at, helper);
        }
        Ok(Jury { seats, timeout: opening.timeout })
    }

    /// The sandbox that programs among them run in.
    pub(super) fn sandbox(&self) -> Option<&Sandbox> {
        self.seats.values().find_map(|helper| match helper {
            Helper::Command(sandbox, _) => Some(sandbox.as_ref()),
            _ => None,
        })
    }

    /// Whether somebody has to be asked about a case with these judges.
    pub(super) fn is_needed(&self, only: Option<&[usize]>) -> bool {
        self.seats.keys().any(|at| only.is_none_or(|only| only.contains(at)))
    }

    /// Asks everybody about one answer, that of `trial`.
    pub(super) async fn hear(
        &self,
        panel: &Panel,
        subject: &Subject<'_>,
        only: Option<&[usize]>,
        trial: RecordId,
    ) -> BTreeMap<usize, Vec<Heard>> {
        let mut heard = BTreeMap::new();
        for (at, helper) in &self.seats {
            if only.is_some_and(|only| !only.contains(at)) {
                continue;
            }
            let mut answers = Vec::new();
            for question in panel.asks(*at, subject) {
                answers.push(self.ask(helper, question, trial).await);
            }
            heard.insert(*at, answers);
        }
        heard
    }

    async fn ask(&self, helper: &Helper, question: Question, trial: RecordId) -> Heard {
        match (helper, question) {
            (Helper::Models(models), Question::Model(at, chat)) => {
                let chat = Chat { asker: Some(trial), ..chat };
                Heard::Reply(Box::new(ask(models, at, &chat).await))
            }
            (Helper::Plugin(pipe), Question::Program(subject)) => {
                let line = pipe.ask("judge", subject, self.timeout).await;
                Heard::Line(line.map_err(|silence| match silence {
                    Silence::NotStarted(why) | Silence::Died(why) | Silence::Garbled(why) => why,
                    Silence::TimedOut => "the program did not answer in time".to_owned(),
                }))
            }
            (Helper::Command(sandbox, spec), Question::Program(subject)) => {
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
fn spec(run: &Run, base_dir: &Utf8PathBuf) -> Result<Spec, String> {
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
            .map_err(|error| format!("cannot read `{name}`: {}", error.source))?;
        spec = spec.file(name, bytes);
        if let Some(place) = spec.files.last_mut() {
            place.executable = true;
        }
    }
    Ok(spec)
}

async fn run(sandbox: Arc<Sandbox>, spec: Spec, subject: &Json) -> Heard {
    let spec = spec.stdin(subject.to_string());
    let ended = tokio::task::spawn_blocking(move || sandbox.run(&spec)).await;
    let Ok(outcome) = ended else {
        return Heard::Ended { exit_code: None, stdout: String::new(), how: "it was given up".to_owned() };
    };
    let exit_code = match outcome.status {
        Status::Ok => Some(0),
        Status::Exit(code) => Some(code),
        _ => None,
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let complaint = text(&outcome.stderr.head);
    let last = complaint.lines().last().unwrap_or_default();
    let how = format!("{:?} {last}", outcome.status).trim_end().to_owned();
    Heard::Ended { exit_code, stdout: text(&outcome.stdout.head), how }
}
