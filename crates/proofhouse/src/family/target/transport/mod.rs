//! From one request to its end: places, allowances, deadlines, and a bounded number of further attempts.
//!
//! Nothing here knows what a model is. A caller hands over a request and a way to read an answer; every attempt is
//! accounted for, and whatever happens ends in a named outcome within the trial's deadline.

use std::borrow::Cow;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{HeaderMap, Method, Request, Uri};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::reply::{Attempt, Outcome, Reply};
use super::secret::Secret;
use super::usage::Usage;
use super::{Keys, Opening};
use crate::text::complaint::Complaint;
use crate::text::visible::is_unseen;
use client::{Bounds, Broken, Client};
use gate::Permit;
use pace::Booking;

mod client;
mod dial;
mod encoding;
mod gate;
mod headers;
mod pace;
mod post;
mod share;

pub(super) use client::Answer;
pub(super) use encoding::ENCODINGS;
pub(crate) use encoding::unpacked;
pub(crate) use post::post;
pub use share::Endpoints;
use share::Share;

/// The longest that is waited between two attempts where the endpoint does not say.
const MAX_BACKOFF: Duration = Duration::from_secs(30);

/// How requests travel: attempts, deadlines, allowances. None of it changes what is asked. Slots of one endpoint (scheme,
/// host, port and key) share `max_in_flight`, `requests_per_minute`, `tokens_per_minute` and its own pace, as their provider
/// counts them together: the smallest number that any of them names holds for all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Transport {
    /// Requests for one trial at most: after a rate limit (429), a server's error (5xx) or a broken connection it is tried again.
    pub max_attempts: u32,
    /// The first pause before a further attempt, in milliseconds; it doubles each time, and `Retry-After` counts for more.
    pub backoff_ms: u32,
    /// How long one attempt may take from being sent, in milliseconds; without it only the trial's `timeout_ms` counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt_timeout_ms: Option<u32>,
    /// How long opening a connection may take, in milliseconds.
    pub connect_timeout_ms: u32,
    /// How long an answer that has begun may pause, in milliseconds.
    pub stall_ms: u32,
    /// The largest answer that is taken, in bytes.
    pub max_body_bytes: u32,
    /// Requests under way at most; the endpoint's own pace sets a lower limit where it asks for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_in_flight: Option<u32>,
    /// Requests a minute at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// Tokens a minute at most, in and out together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_per_minute: Option<u32>,
}

impl Default for Transport {
    fn default() -> Self {
        Transport {
            max_attempts: 5,
            backoff_ms: 500,
            attempt_timeout_ms: None,
            connect_timeout_ms: 10_000,
            stall_ms: 20_000,
            max_body_bytes: 8 << 20,
            max_in_flight: None,
            requests_per_minute: None,
            tokens_per_minute: None,
        }
    }
}

impl Transport {
    /// All settings that cannot work.
    pub(super) fn check(&self) -> Vec<Complaint> {
        let settings = [
            ("max_attempts", Some(self.max_attempts), 20),
            ("attempt_timeout_ms", self.attempt_timeout_ms, u32::MAX),
            ("connect_timeout_ms", Some(self.connect_timeout_ms), u32::MAX),
            ("stall_ms", Some(self.stall_ms), u32::MAX),
            ("max_body_bytes", Some(self.max_body_bytes), u32::MAX),
            ("max_in_flight", self.max_in_flight, 10_000),
            ("requests_per_minute", self.requests_per_minute, u32::MAX),
            ("tokens_per_minute", self.tokens_per_minute, u32::MAX),
        ];
        let wrong = settings.into_iter().filter_map(|(key, value, most)| {
            let value = value.filter(|value| *value == 0 || *value > most)?;
            let what = format!("expected a whole number from 1 to {most}, found `{value}`");
            Some(Complaint::new(what).key("transport").key(key))
        });
        wrong.collect()
    }
}

/// A request that is ready to go.
#[derive(Debug)]
pub(super) struct Ask {
    /// The method.
    pub(super) method: Method,
    /// Where it goes.
    pub(super) uri: Uri,
    /// Its headers, the key among them.
    pub(super) headers: HeaderMap,
    /// Its body.
    pub(super) body: Bytes,
    /// About how many tokens it will use.
    pub(super) tokens: u64,
    /// What spreads the pauses of different trials.
    pub(super) seed: u64,
}

/// What an answer says to the one who can read it.
#[derive(Debug)]
pub(super) enum Reading {
    /// The target answered; attempts and usage are filled in from outside.
    Said(Box<Reply>, Usage),
    /// The answer is an error in disguise.
    Fault(Fault),
}

/// Why an attempt did not succeed, and what that means for the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// How the trial ends if this was the last attempt.
    pub(super) outcome: Outcome,
    /// Whether another attempt makes sense.
    pub(super) again: bool,
    /// How long the endpoint asks to wait before it.
    pub(super) wait: Option<Duration>,
}

impl Fault {
    /// A failure that another attempt would not change.
    pub(super) fn last(error_type: impl Into<String>, error: impl Into<String>) -> Self {
        Fault {
            outcome: Outcome::Failed { error_type: error_type.into(), error: error.into() },
            again: false,
            wait: None,
        }
    }

    /// A failure that may be gone the next time.
    pub(super) fn passing(error_type: impl Into<String>, error: impl Into<String>) -> Self {
        Fault { again: true, ..Fault::last(error_type, error) }
    }

    /// The endpoint wants fewer requests.
    pub(super) fn rate_limited(retry_after: Option<Duration>) -> Self {
        let retry_after_ms = retry_after.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        Fault { outcome: Outcome::RateLimited { retry_after_ms }, again: true, wait: retry_after }
    }

    fn result(&self) -> String {
        let (error_type, _) = self.outcome.explained();
        error_type.unwrap_or(self.outcome.name()).to_owned()
    }
}

/// An endpoint's line: its connections, its gate and its allowances.
#[derive(Debug)]
pub(super) struct Line {
    settings: Transport,
    client: Client,
    /// What it has in common with other slots of the endpoint.
    share: Share,
    keys: Keys,
    timeout: Duration,
}

impl Line {
    /// Makes a line ready; `key` is what the endpoint knows us by.
    pub(super) fn new(
        settings: &Transport,
        to: &Uri,
        key: Option<&Secret>,
        keys: Keys,
        opening: &Opening,
    ) -> Result<Self, Complaint> {
        Ok(Line {
            client: Client::new(to, &opening.environment)?,
            share: opening.endpoints.join(to, key, settings)?,
            settings: settings.clone(),
            keys,
            timeout: opening.timeout,
        })
    }

    /// Carries a request through to its end. The trial's deadline begins when its first attempt gets a place: standing in
    /// our own queue is not the target's time.
    pub(super) async fn exchange(&self, ask: &Ask, read: impl Fn(&Answer) -> Reading) -> Reply {
        let mut course = Course::new(self, ask);
        loop {
            let Some(place) = course.enter().await else { return course.end() };
            let fault = match course.attempt(&place, &read).await {
                Ok(reply) => return course.close(reply),
                Err(fault) => fault,
            };
            drop(place);
            if !course.goes_on(fault).await {
                return course.end();
            }
        }
    }

    /// Takes keys out of what a fault says.
    fn scrubbed(&self, fault: Fault) -> Fault {
        let Outcome::Failed { error_type, error } = fault.outcome else { return fault };
        let error = self.keys.redact(&error).into_owned();
        Fault { outcome: Outcome::Failed { error_type, error }, ..fault }
    }
}

/// What an answer means by its status line and headers alone; none for a success.
pub(super) fn judge_status(answer: &Answer) -> Option<Fault> {
    match answer.status {
        200..=299 => None,
        429 => Some(Fault::rate_limited(headers::retry_after(&answer.headers))),
        // The key would follow to wherever an endpoint points.
        300..=399 => {
            let to = answer.headers.get("location").and_then(|to| to.to_str().ok()).unwrap_or("nowhere");
            Some(Fault::last(
                "redirect",
                format!("the endpoint points to `{to}`; redirects are not followed"),
            ))
        }
        status => {
            let error_type = match status {
                401 | 403 => "unauthorized".to_owned(),
                402 => "quota".to_owned(),
                404 => "not_found".to_owned(),
                status => format!("http_{status}"),
            };
            // 501 and 505 say what the server will never do; of the 4xx only those that speak of time may go away.
            let again = matches!(status, 408 | 425 | 500 | 502..=504 | 506..=599);
            let error = format!("HTTP {status}: {}", excerpt(&answer.body));
            let wait = headers::retry_after(&answer.headers);
            Some(Fault { again, wait, ..Fault::last(error_type, error) })
        }
    }
}

/// One trial's way through its attempts.
struct Course<'a> {
    line: &'a Line,
    ask: &'a Ask,
    asked: Instant,
    /// When the trial is over; set when the first attempt gets a place.
    deadline: Option<Instant>,
    attempts: Vec<Attempt>,
    usage: Usage,
    last: Option<Fault>,
}

impl<'a> Course<'a> {
    fn new(line: &'a Line, ask: &'a Ask) -> Self {
        Course {
            line,
            ask,
            asked: Instant::now(),
            deadline: None,
            attempts: Vec::new(),
            usage: Usage::default(),
            last: None,
        }
    }

    /// Waits for a place and for the allowance; none when the trial's deadline comes first.
    async fn enter(&mut self) -> Option<(Permit, Option<Booking>)> {
        let ready = async {
            let permit = self.line.share.gate.enter().await;
            (permit, self.line.share.pace.wait(self.ask.tokens).await)
        };
        match self.deadline {
            Some(deadline) => timeout_at(deadline, ready).await.ok(),
            None => Some(ready.await),
        }
    }

    async fn attempt(
        &mut self,
        (permit, booking): &(Permit, Option<Booking>),
        read: &impl Fn(&Answer) -> Reading,
    ) -> Result<Reply, Fault> {
        let deadline = *self.deadline.get_or_insert_with(|| Instant::now() + self.line.timeout);
        let settings = &self.line.settings;
        let bounds = Bounds {
            connect: Duration::from_millis(settings.connect_timeout_ms.into()),
            whole: settings
                .attempt_timeout_ms
                .map_or(self.line.timeout, |ms| Duration::from_millis(ms.into())),
            deadline,
            stall: Duration::from_millis(settings.stall_ms.into()),
            body_bytes: settings.max_body_bytes.into(),
        };
        let (result, sent) = self.line.client.send(self.request(), &bounds).await;
        let ended = Instant::now();
        let http_status = result.as_ref().ok().map(|answer| answer.status);
        let read = match result {
            Ok(answer) => self.take(answer, permit, read),
            Err(broken) => Err(fault_of(broken)),
        };
        // The allowance was booked by a guess. What was sent counts at least one token, or a stream of failures would look free; what was
        // never sent gives everything back.
        self.line
            .share
            .pace
            .settle(*booking, if sent.is_some() { self.usage.last_tokens().max(1) } else { 0 });
        self.attempts.push(Attempt {
            result: read.as_ref().map_or_else(Fault::result, |_| "answered".to_owned()),
            http_status,
            sent: sent.is_some(),
            elapsed_ms: sent.map_or(0.0, |sent| milliseconds(ended - sent)),
            waited_ms: milliseconds(sent.unwrap_or(ended) - self.asked),
        });
        self.asked = ended;
        self.tell();
        read
    }

    /// What the last attempt came to, for `-v`: never the query of its address, which may hold a key.
    fn tell(&self) {
        if !tracing::enabled!(tracing::Level::INFO) {
            return;
        }
        let (uri, Some(last)) = (&self.ask.uri, self.attempts.last()) else { return };
        let number = self.attempts.len();
        let Attempt { http_status, elapsed_ms, waited_ms, .. } = last;
        let (host, keys) = (uri.host().unwrap_or_default(), &self.line.keys);
        let (path, result) = (keys.redact(uri.path()), keys.redact(&last.result));
        tracing::info!(%host, %path, number, http_status, %result, elapsed_ms, waited_ms, "request");
    }

    fn request(&self) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(self.ask.body.clone()));
        *request.method_mut() = self.ask.method.clone();
        *request.uri_mut() = self.ask.uri.clone();
        *request.headers_mut() = self.ask.headers.clone();
        request
    }

    /// Reads an answer, and tells the gate what it says about the endpoint's strength.
    fn take(
        &mut self,
        mut answer: Answer,
        permit: &Permit,
        read: &impl Fn(&Answer) -> Reading,
    ) -> Result<Reply, Fault> {
        // Before anything is read of it: a message is cut to length, and half a key would not be found.
        if let Cow::Owned(without) = self.line.keys.redact_bytes(&answer.body) {
            answer.body = without;
        }
        let gate = &self.line.share.gate;
        match read(&answer) {
            Reading::Said(reply, usage) => {
                gate.answered(permit);
                // An answer may say that it was the last one allowed for now. No longer than a trial may take: a wrong header must not
                // stop a run.
                if let Some(wait) = headers::exhausted(&answer.headers) {
                    gate.close_until(Instant::now() + wait.min(self.line.timeout));
                }
                self.usage.add(usage);
                Ok(*reply)
            }
            Reading::Fault(fault) => {
                if let Outcome::RateLimited { retry_after_ms } = &fault.outcome {
                    let wait =
                        retry_after_ms.map(Duration::from_millis).or(headers::exhausted(&answer.headers));
                    let until = wait.map(|wait| Instant::now() + wait.min(self.line.timeout));
                    gate.pushed_back(permit, until);
                }
                Err(self.line.scrubbed(fault))
            }
        }
    }

    /// Whether there is another attempt after this fault; waits for its time to come.
    async fn goes_on(&mut self, fault: Fault) -> bool {
        let made = u32::try_from(self.attempts.len()).unwrap_or(u32::MAX);
        let (again, wait) = (fault.again, self.pause(&fault, made));
        self.last = Some(fault);
        if !again || made >= self.line.settings.max_attempts {
            return false;
        }
        let next = Instant::now() + wait;
        if self.deadline.is_some_and(|deadline| next >= deadline) {
            return false;
        }
        sleep_until(next).await;
        true
    }

    /// The endpoint's wish, or else a pause that doubles; half of it is spread, so that trials that failed together do not come back
    /// together. By the trial's seed, because a run draws from no other randomness.
    fn pause(&self, fault: &Fault, made: u32) -> Duration {
        if let Some(wait) = fault.wait {
            return wait;
        }
        let first = Duration::from_millis(self.line.settings.backoff_ms.into());
        let full = first.saturating_mul(1 << made.saturating_sub(1).min(16)).min(MAX_BACKOFF);
        let spread = self.ask.seed.rotate_left(made * 7) % 1_000;
        full.mul_f64(0.5 + spread as f64 / 2_000.0)
    }

    /// The end with an answer.
    fn close(self, reply: Reply) -> Reply {
        Reply { attempts: self.attempts, usage: self.usage.to_json(), ..reply }
    }

    /// The end without one: what the last attempt came to.
    fn end(self) -> Reply {
        let outcome = match self.last {
            Some(Fault { outcome, .. }) => outcome,
            None => Outcome::Failed {
                error_type: "never_sent".to_owned(),
                error: "the trial ended before its request could be sent".to_owned(),
            },
        };
        Reply { attempts: self.attempts, usage: self.usage.to_json(), ..Reply::new(outcome, None) }
    }
}

fn fault_of(broken: Broken) -> Fault {
    match broken {
        Broken::NotConnected(why) => Fault::passing("connection", format!("cannot connect: {why}")),
        Broken::Cut(why) => Fault::passing("connection_cut", format!("the connection broke: {why}")),
        // No second try: the deadline of an attempt is as long as the trial's unless the suite says otherwise, and a target that is slow is
        // recorded as such.
        Broken::TimedOut => Fault { outcome: Outcome::TimedOut, again: false, wait: None },
        Broken::Stalled => Fault { outcome: Outcome::Stalled, again: false, wait: None },
        Broken::Packed(why) => Fault::last("content_encoding", why),
        Broken::TooLarge(most) => {
            let error = format!("the answer is larger than `max_body_bytes`, {most}");
            Fault::last("body_too_large", error)
        }
    }
}

fn milliseconds(span: Duration) -> f64 {
    span.as_micros() as f64 / 1e3
}

/// The beginning of a body that is no answer, on one line.
pub(super) fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(2_000)]);
    // A terminal obeys some characters: whoever reads the message must not be at the endpoint's mercy.
    let harmless = |c: char| if is_unseen(c) { '\u{fffd}' } else { c };
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut line: String = words.join(" ").chars().map(harmless).collect();
    if let Some((end, _)) = line.char_indices().nth(300) {
        line.truncate(end);
        line.push('…');
    }
    if line.is_empty() { "nothing".to_owned() } else { line }
}
