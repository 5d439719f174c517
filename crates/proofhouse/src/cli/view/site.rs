//! What is behind the addresses. No path of a request ever becomes a path of a file: a run is looked up by its name among those that were
//! found, and of a run only its report is served, through no link, and under a policy that lets nothing run but our own script.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use http_body_util::Either;
use hyper::StatusCode;
use hyper::body::Bytes;
use proofhouse_ledger::files::MAX_FILE_BYTES;
use proofhouse_ledger::{RunPaths, glance};
use tokio::sync::mpsc;

use super::live::Progress;
use super::pages::{self, Filter, address};
use super::scan::{Run, RunIndex};
use super::serve::{self, Answer, html, reply, unescaped, values};
use super::trend::{self, Metric};
use super::watch::Watch;
use crate::kinds;
use crate::spine::compare::{self, Cases};
use crate::spine::present::{self, Heading};

/// How often a run in progress is looked at.
const EVERY: Duration = Duration::from_millis(150);
/// Runs that can be compared at a time.
const MAX_COMPARED: usize = 6;
/// Trials of a run whose report is made anew, with how long answers took.
const MAX_TIMED: u64 = 5_000;
/// Where a page says its policy: within so many bytes.
const HEAD: u64 = 4 << 10;

/// What is served.
pub(super) struct Site {
    pub(super) dir: Utf8PathBuf,
    /// What every address begins with: nothing, or the token.
    pub(super) base: String,
    pub(super) loopback: bool,
    pub(super) found: RunIndex,
    pub(super) watched: Option<Arc<Watch>>,
}

impl Site {
    pub(super) fn page(&self, path: &str, query: &str) -> Answer {
        let one = |key: &str| values(query, key).into_iter().next().unwrap_or_default();
        match path {
            "" | "/" => {
                let filter = Filter {
                    words: one("q"),
                    suite: one("suite"),
                    kind: one("kind"),
                    state: one("state"),
                    from: one("from").parse().unwrap_or(0),
                };
                html(pages::list(&self.base, &self.found.runs(&self.dir), &filter))
            }
            "/trend" => {
                let metric = Metric::named(&one("metric"));
                html(trend::page(&self.base, &one("suite"), metric, &self.found.runs(&self.dir)))
            }
            "/compare" => self.compare(&values(query, "run")),
            "/live" => match self.found.run(&self.dir, &one("run")) {
                Some(run) => html(pages::live(&self.base, &run)),
                None => self.missing("There is no such run."),
            },
            "/watch" => self.watch(),
            path => self.file(path),
        }
    }

    fn missing(&self, what: &str) -> Answer {
        reply(StatusCode::NOT_FOUND, "text/html; charset=utf-8", pages::missing(&self.base, what))
    }

    /// The report of a run, or a part of it.
    fn file(&self, path: &str) -> Answer {
        let asked = path.strip_prefix("/run/").map(unescaped).unwrap_or_default();
        if let Some(name) = asked.strip_suffix("/report.html")
            && let Some(run) = self.found.run(&self.dir, name)
        {
            return self.report(&run).unwrap_or_else(|| {
                self.missing("This run has no report; `proofhouse verify` says what is wrong with it.")
            });
        }
        if let Some((name, number)) = asked.rsplit_once("/report-data/")
            && let Some(run) = self.found.run(&self.dir, name)
            && let Some(part) = self.part(&run, number)
        {
            return serve::script(part);
        }
        self.missing("There is nothing here.")
    }

    /// The report as it is stored, if it is a page of ours by its policy, or else made anew. Whatever stands in the file, the policy is
    /// sent with it: no script runs but the one whose digest it names.
    fn report(&self, run: &Run) -> Option<Answer> {
        let policy = |head: &[u8]| {
            present::policy_of(head, kinds::own_presentation)
                .map(|policy| format!("{policy}; frame-ancestors 'none'"))
        };
        // How long answers took is in no file of a run directory; here is the place to see it, where that takes no time to make.
        if run.trials <= MAX_TIMED
            && self.own(&run.paths.telemetry()).is_some()
            && let Ok(Some(page)) = present::render_timing(&run.paths, kinds::own_presentation)
            && let Some(policy) = policy(&page[..page.len().min(HEAD as usize)])
        {
            return Some(serve::report(Either::Left(page), &policy));
        }
        if let Some(mut file) = self.own(&run.paths.report()) {
            let mut head = Vec::new();
            (&mut file).take(HEAD).read_to_end(&mut head).ok()?;
            file.rewind().ok()?;
            if let Some(policy) = policy(&head) {
                return Some(serve::report(Either::Right(file), &policy));
            }
        }
        let mut page = Vec::new();
        present::render(&run.paths, kinds::own_presentation, &mut page).ok()?;
        let policy = policy(&page[..page.len().min(HEAD as usize)])?;
        Some(serve::report(Either::Left(page), &policy))
    }

    /// A part of a report's data, if it is nothing but data.
    fn part(&self, run: &Run, name: &str) -> Option<Vec<u8>> {
        let digits = name.strip_suffix(".js")?;
        let number = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        let mut bytes = Vec::new();
        let file = self.own(&run.paths.report_data().join(name))?;
        file.take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
        present::is_part(number, &bytes).then_some(bytes)
    }

    /// Opens a regular file that lies where its path says: no link leads to it.
    fn own(&self, path: &Utf8Path) -> Option<File> {
        let below = path.strip_prefix(&self.dir).ok()?;
        let real = self.dir.canonicalize_utf8().ok()?.join(below);
        if path.canonicalize_utf8().ok()? != real {
            return None;
        }
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let flags = i32::try_from(flags.bits()).ok()?;
        let file = File::options().read(true).custom_flags(flags).open(real).ok()?;
        file.metadata().is_ok_and(|meta| meta.is_file()).then_some(file)
    }

    fn compare(&self, names: &[String]) -> Answer {
        let mut chosen: Vec<Arc<Run>> =
            names.iter().take(MAX_COMPARED).filter_map(|name| self.found.run(&self.dir, name)).collect();
        // What came first is what the others are held against.
        chosen.sort_by(|a, b| a.started.cmp(&b.started).then_with(|| a.name.cmp(&b.name)));
        let runs: Vec<(String, RunPaths)> =
            chosen.iter().map(|run| (run.name.clone(), run.paths.clone())).collect();
        if runs.len() < 2 {
            return self.missing("Choose two runs or more: go back, and tick them in the first column.");
        }
        match compared(&runs) {
            Some(page) => html(page),
            None => self
                .missing("These runs cannot be compared: they are not complete, or have no cases in common."),
        }
    }

    fn watch(&self) -> Answer {
        let Some(watch) = &self.watched else {
            return self.missing("No suite is watched: `proofhouse view --watch SUITE`.");
        };
        let now = watch.now();
        if now.run == 0 {
            return html(pages::watch(&self.base, &now, &maud::html! {}));
        }
        let numbers = [now.before, now.run].into_iter().filter(|number| *number > 0);
        let runs: Vec<(String, RunPaths)> =
            numbers.map(|at| (format!("run {at}"), watch.place(at))).collect();
        // What is asked changes with a prompt; the cases are the same by their names.
        let comparison =
            (runs.len() > 1).then(|| compare::compare(&runs, Cases::Named, kinds::measures).ok());
        let changed = present::changed(&runs, comparison.flatten().as_ref(), kinds::own_presentation);
        let last = watch.place(now.run).dir;
        let report = format!("watch/{}", last.file_name().unwrap_or_default());
        let slots = glance::summary(&watch.place(now.run)).map(|summary| summary.slots);
        let inside = maud::html! {
            (pages::rates(&slots.unwrap_or_default()))
            p { a href=(address(&self.base, &report)) { "The report of this run" } }
            (maud::PreEscaped(changed.unwrap_or_default()))
        };
        html(pages::watch(&self.base, &now, &inside))
    }

    /// A stream of events: of the suite that is watched, or of a run in progress.
    pub(super) fn events(self: Arc<Self>, query: &str) -> Answer {
        let (sender, receiver) = mpsc::channel(16);
        let run = values(query, "run").into_iter().next();
        drop(tokio::spawn(async move {
            match run {
                Some(name) => self.follow_run(&name, &sender).await,
                None => self.follow_watch(&sender).await,
            }
        }));
        serve::events(receiver)
    }

    async fn follow_watch(&self, sender: &mpsc::Sender<Bytes>) {
        let Some(watch) = &self.watched else { return };
        let mut changes = watch.changes();
        loop {
            let version = changes.borrow_and_update().version;
            if sender.send(event("run", &version.to_string())).await.is_err() {
                return;
            }
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return },
                () = sender.closed() => return,
            }
        }
    }

    async fn follow_run(self: Arc<Self>, name: &str, sender: &mpsc::Sender<Bytes>) {
        let (site, name) = (Arc::clone(&self), name.to_owned());
        let found = tokio::task::spawn_blocking(move || site.found.run(&site.dir, &name)).await;
        let Ok(Some(run)) = found else { return };
        let (mut before, mut progress) = (None, Progress::default());
        while !sender.is_closed() {
            let paths = run.paths.clone();
            let look = tokio::task::spawn_blocking(move || {
                let now = progress.look(&paths);
                (progress, now, paths.manifest().exists() && paths.envelope().exists())
            });
            let Ok((read, now, whole)) = look.await else { return };
            progress = read;
            if before.as_ref() != Some(&now) && sender.send(event("progress", &now)).await.is_err() {
                return;
            }
            if whole {
                let _ = sender.send(event("done", &address(&self.base, &run.name))).await;
                return;
            }
            before = Some(now);
            tokio::time::sleep(EVERY).await;
        }
    }
}

fn event(name: &str, data: &str) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

fn compared(runs: &[(String, RunPaths)]) -> Option<String> {
    let report = compare::compare(runs, Cases::Common, kinds::measures).ok();
    let title = format!("{} runs compared", runs.len());
    let sentences = report.as_ref().map(compare::Report::sentences).unwrap_or_default();
    let heading = Heading { title: &title, sentences, remarks: Vec::new(), comparison: report.as_ref() };
    present::compared(runs, &heading, kinds::own_presentation).ok()
}
