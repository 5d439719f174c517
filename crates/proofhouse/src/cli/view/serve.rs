//! Requests and their answers. Only GET; only names of runs that were found; from this machine alone unless there is a token.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use camino::Utf8PathBuf;
use http_body_util::{Either, Full};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use proofhouse_ledger::envelope::Envelope;
use proofhouse_ledger::read::{LineReader, lines};
use proofhouse_ledger::record::{HEAD, Line, Spans};
use proofhouse_ledger::{RunPaths, files};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::pages::{self, Filter};
use super::scan::{Found, parsed};
use super::watch::Watch;
use crate::kinds;
use crate::spine::compare;
use crate::spine::present::{self, Heading};

/// How often a run in progress is looked at.
const EVERY: Duration = Duration::from_millis(150);
/// Runs that can be compared at a time.
const MAX_COMPARED: usize = 6;

/// What is served.
pub(super) struct Site {
    pub(super) dir: Utf8PathBuf,
    /// What every address begins with: nothing, or the token.
    pub(super) base: String,
    pub(super) loopback: bool,
    pub(super) found: Found,
    pub(super) watched: Option<Arc<Watch>>,
}

type Answer = Response<Either<Full<Bytes>, Events>>;

/// Events as they come.
pub(super) struct Events(mpsc::Receiver<Bytes>);

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// Serves until the process ends.
pub(super) async fn serve(socket: std::net::TcpListener, site: Arc<Site>) {
    let Ok(listener) = socket.set_nonblocking(true).and_then(|()| TcpListener::from_std(socket)) else {
        return;
    };
    if let Some(watch) = &site.watched {
        drop(tokio::spawn(Arc::clone(watch).go()));
    }
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let site = Arc::clone(&site);
        drop(tokio::spawn(async move {
            let answer = hyper::service::service_fn(|request: Request<Incoming>| {
                let site = Arc::clone(&site);
                async move { Ok::<_, Infallible>(site.answer(request.into_parts().0).await) }
            });
            // A client that goes away or speaks no HTTP harms itself alone.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        }));
    }
}

fn reply(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut response = Response::new(Either::Left(Full::new(body.into())));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn html(page: String) -> Answer {
    reply(StatusCode::OK, "text/html; charset=utf-8", page)
}

/// The values of a key in a query.
fn values(query: &str, key: &str) -> Vec<String> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(name, _)| *name == key).map(|(_, value)| unescaped(value)).collect()
}

/// `a%20b+c` as people wrote it.
fn unescaped(text: &str) -> String {
    let (mut out, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, tail @ ..] = rest {
        let digits =
            tail.get(..2).and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        match (first, digits) {
            (b'%', Some(byte)) => {
                out.push(byte);
                rest = &tail[2..];
            }
            (b'+', _) => {
                out.push(b' ');
                rest = tail;
            }
            _ => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

impl Site {
    async fn answer(self: Arc<Self>, request: Parts) -> Answer {
        if request.method != Method::GET && request.method != Method::HEAD {
            return reply(StatusCode::METHOD_NOT_ALLOWED, "text/plain", "only GET\n");
        }
        if !self.is_meant(&request) {
            return reply(StatusCode::FORBIDDEN, "text/plain", "not for this address\n");
        }
        let Some(path) = request.uri.path().strip_prefix(self.base.as_str()).map(str::to_owned) else {
            return reply(StatusCode::FORBIDDEN, "text/plain", "the address lacks its token\n");
        };
        let query = request.uri.query().unwrap_or_default().to_owned();
        if path == "/events" {
            return self.events(&query);
        }
        let this = Arc::clone(&self);
        let page = tokio::task::spawn_blocking(move || this.page(&path, &query)).await;
        page.unwrap_or_else(|_| reply(StatusCode::INTERNAL_SERVER_ERROR, "text/plain", "that went wrong\n"))
    }

    /// A page of somebody else that names this machine's address by another name gets nothing.
    fn is_meant(&self, request: &Parts) -> bool {
        let host = request.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        !self.loopback || ["localhost", "127.0.0.1", "[::1]"].contains(&name) || name.starts_with("127.")
    }

    fn page(&self, path: &str, query: &str) -> Answer {
        let one = |key: &str| values(query, key).into_iter().next().unwrap_or_default();
        match path {
            "/" => {
                let filter = Filter { words: one("q"), suite: one("suite"), state: one("state") };
                html(pages::list(&self.base, &self.found.runs(&self.dir), &filter))
            }
            "/trend" => html(pages::trend(&self.base, &one("suite"), &self.found.runs(&self.dir))),
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
        let mut answer = html(pages::missing(&self.base, what));
        *answer.status_mut() = StatusCode::NOT_FOUND;
        answer
    }

    /// The report of a run, or a part of it.
    fn file(&self, path: &str) -> Answer {
        let asked = path.strip_prefix("/run/").map(unescaped).unwrap_or_default();
        let part = |name: &str| {
            name.strip_suffix(".js")
                .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
        };
        if let Some(name) = asked.strip_suffix("/report.html")
            && let Some(run) = self.found.run(&self.dir, name)
        {
            let stored = proofhouse_ledger::disk::open_regular(&run.paths.report()).is_ok();
            let page = if stored { files::read(&run.paths.report()).ok() } else { rendered(&run.paths) };
            return match page {
                Some(page) => reply(StatusCode::OK, "text/html; charset=utf-8", page),
                None => {
                    self.missing("This run has no report; `proofhouse verify` says what is wrong with it.")
                }
            };
        }
        if let Some((name, number)) = asked.rsplit_once("/report-data/")
            && part(number)
            && let Some(run) = self.found.run(&self.dir, name)
            && let Ok(bytes) = files::read(&run.paths.report_data().join(number))
        {
            return reply(StatusCode::OK, "text/javascript; charset=utf-8", bytes);
        }
        self.missing("There is nothing here.")
    }

    fn compare(&self, names: &[String]) -> Answer {
        let all = self.found.runs(&self.dir);
        let find = |name: &String| all.iter().find(|run| run.name == *name);
        let mut chosen: Vec<_> = names.iter().take(MAX_COMPARED).filter_map(find).collect();
        // What came first is what the others are held against.
        chosen.sort_by(|a, b| a.started.cmp(&b.started));
        let runs: Vec<(String, RunPaths)> =
            chosen.iter().map(|run| (run.name.clone(), run.paths.clone())).collect();
        if runs.len() < 2 {
            return self.missing("Choose two runs or more.");
        }
        match compared(&runs) {
            Some(page) => html(page),
            None => {
                self.missing("These runs cannot be compared: they are not whole, or have no cases in common.")
            }
        }
    }

    fn watch(&self) -> Answer {
        let Some(watch) = &self.watched else {
            return self.missing("No suite is watched: `proofhouse view --watch SUITE`.");
        };
        let number = watch.runs.load(Ordering::SeqCst);
        if number == 0 {
            return html(pages::watch(&self.base, 0, &maud::html! {}));
        }
        let runs: Vec<(String, RunPaths)> = (number.saturating_sub(1).max(1)..=number)
            .map(|at| (format!("run {at}"), watch.place(at)))
            .collect();
        let inside = present::changed(&runs, kinds::own_presentation).unwrap_or_default();
        let last = watch.place(number).dir;
        let last = last.file_name().unwrap_or_default();
        let inside = maud::html! {
            p { a href={ (self.base) "/run/watch/" (last) "/report.html" } { "The report of this run" } }
            (maud::PreEscaped(inside))
        };
        html(pages::watch(&self.base, number, &inside))
    }

    /// A stream of events: of the suite that is watched, or of a run in progress.
    fn events(self: Arc<Self>, query: &str) -> Answer {
        let (sender, receiver) = mpsc::channel(16);
        let run = values(query, "run").into_iter().next();
        drop(tokio::spawn(async move {
            match run {
                Some(name) => self.follow_run(&name, &sender).await,
                None => self.follow_watch(&sender).await,
            }
        }));
        let mut response = Response::new(Either::Right(Events(receiver)));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }

    async fn follow_watch(&self, sender: &mpsc::Sender<Bytes>) {
        let Some(watch) = &self.watched else { return };
        let mut told = None;
        loop {
            let number = watch.runs.load(Ordering::SeqCst);
            if told != Some(number) {
                told = Some(number);
                if sender.send(event("run", &number.to_string())).await.is_err() {
                    return;
                }
            }
            if sender.is_closed() {
                return;
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    async fn follow_run(&self, name: &str, sender: &mpsc::Sender<Bytes>) {
        let Some(run) = self.found.run(&self.dir, name) else { return };
        let mut before = None;
        loop {
            let paths = run.paths.clone();
            let Ok(now) = tokio::task::spawn_blocking(move || progress(&paths)).await else { return };
            if run.paths.manifest().exists() {
                let place =
                    run.name.split('/').map(crate::text::doc::html::fragment).collect::<Vec<_>>().join("/");
                let _ = sender.send(event("done", &format!("{}/run/{place}/report.html", self.base))).await;
                return;
            }
            if before.as_ref() != Some(&now) && sender.send(event("progress", &now)).await.is_err() {
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

/// How far a run is, as JSON. Its records are counted anew each time: they are in the cache of the system.
fn progress(paths: &RunPaths) -> String {
    let total = parsed::<Envelope>(&paths.envelope()).map_or(0, |envelope| envelope.total_cases_expected);
    let (mut done, mut passed, mut failed) = (0u64, 0u64, 0u64);
    let mut spans = Spans::default();
    if let Ok(mut reader) = LineReader::open(&paths.records()) {
        while let Ok(block) = reader.next_lines() {
            if block.is_empty() {
                break;
            }
            for bytes in lines(block) {
                let Ok(line) = Line::split(bytes, &mut spans) else { continue };
                done += 1;
                match line.get(HEAD.passed) {
                    Ok(Some(true)) => passed += 1,
                    Ok(Some(false)) => failed += 1,
                    _ => {}
                }
            }
        }
    }
    serde_json::json!({"done": done, "total": total, "passed": passed, "failed": failed}).to_string()
}

fn rendered(paths: &RunPaths) -> Option<Vec<u8>> {
    let mut page = Vec::new();
    present::render(paths, kinds::own_presentation, &mut page).ok()?;
    Some(page)
}

fn compared(runs: &[(String, RunPaths)]) -> Option<String> {
    let report = compare::compare(runs, true, kinds::measures).ok();
    let title = format!("{} runs compared", runs.len());
    let sentences = report.as_ref().map(compare::Report::sentences).unwrap_or_default();
    let heading = Heading { title: &title, sentences, remarks: Vec::new(), comparison: report.as_ref() };
    present::compared(runs, &heading, kinds::own_presentation).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_read_as_they_were_meant() {
        assert_eq!(values("run=a%2Fb&q=x+y&run=%C3%A4%zz", "run"), ["a/b", "ä%zz"]);
        assert_eq!(values("", "run"), [""; 0]);
    }
}
