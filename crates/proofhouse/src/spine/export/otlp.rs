//! A run for OpenTelemetry: a span for each trial below one for the run, and an event for each score, by the conventions for generative
//! models. What was asked and answered is not among it: those who collect telemetry need not see it.
//!
//! Requests are those of OTLP (`ExportTraceServiceRequest`, `ExportLogsServiceRequest`), each of a bounded number of trials.

use std::collections::BTreeMap;

use proofhouse_ledger::read::{LineReader, lines};
use proofhouse_ledger::record::{Damage, HEAD, Line, Status};
use proofhouse_ledger::spine::Stamp;
use proofhouse_ledger::{Digest, Json, json};

use self::protobuf::Message;
use super::{ExportError, Source};

mod protobuf;

/// Trials that one request tells of.
const TRIALS: usize = 500;
/// Whose conventions the attributes follow.
const SCHEMA: &str = "https://opentelemetry.io/schemas/1.37.0";

/// Numbers of the protocol's enumerations.
const INTERNAL: u64 = 1;
const CLIENT: u64 = 3;
const ERROR: u64 = 2;
const INFO: u64 = 9;

/// What a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Spans.
    Traces,
    /// Events.
    Logs,
}

impl Signal {
    /// Where it goes below an endpoint.
    pub fn path(self) -> &'static str {
        match self {
            Signal::Traces => "v1/traces",
            Signal::Logs => "v1/logs",
        }
    }
}

/// Gives each request to `take`, until that says that it is enough.
pub fn requests(
    source: &Source<'_>,
    service: &str,
    take: &mut dyn FnMut(Signal, Vec<u8>) -> bool,
) -> Result<(), ExportError> {
    let times = Times::read(source);
    let trace = Trace::of(source, &times);
    let mut frame = Frame { service, spans: vec![trace.root(source, &times)], events: Vec::new() };
    let (mut count, mut goes_on) = (0, true);
    source.each(|line| {
        let damaged =
            |damage| ExportError::Damaged { line: line.index().map_or(0, |index| index + 1), damage };
        if !goes_on {
            return Ok(());
        }
        trace.trial(source, &times, line, &mut frame).map_err(damaged)?;
        count += 1;
        if count == TRIALS {
            count = 0;
            goes_on = frame.give(take);
        }
        Ok(())
    })?;
    if goes_on && !frame.spans.is_empty() {
        frame.give(take);
    }
    Ok(())
}

/// What was collected for the next requests.
struct Frame<'a> {
    service: &'a str,
    spans: Vec<Message>,
    events: Vec<Message>,
}

impl Frame<'_> {
    fn give(&mut self, take: &mut dyn FnMut(Signal, Vec<u8>) -> bool) -> bool {
        let (spans, events) = (std::mem::take(&mut self.spans), std::mem::take(&mut self.events));
        let both = [(Signal::Traces, spans), (Signal::Logs, events)];
        both.into_iter()
            .filter(|(_, parts)| !parts.is_empty())
            .all(|(signal, parts)| take(signal, self.request(parts)))
    }

    /// Spans and events are framed alike: resource, scope, parts.
    fn request(&self, parts: Vec<Message>) -> Vec<u8> {
        let version = env!("CARGO_PKG_VERSION");
        let resource = Message::default()
            .nested(1, text("service.name", self.service))
            .nested(1, text("service.version", version));
        let scope = Message::default().text(1, "proofhouse").text(2, version);
        let scoped = Message::default().nested(1, scope);
        let scoped = parts.into_iter().fold(scoped, |scoped, part| scoped.nested(2, part)).text(3, SCHEMA);
        let whole = Message::default().nested(1, resource).nested(2, scoped).text(3, SCHEMA);
        Message::default().nested(1, whole).end()
    }
}

/// When trials ran, by the telemetry beside the run: microseconds since 1970.
#[derive(Default)]
struct Times {
    trials: BTreeMap<u64, (i64, i64)>,
    run: Option<(i64, i64)>,
}

impl Times {
    /// Without telemetry nothing is known, and the run's own spine stands in.
    fn read(source: &Source<'_>) -> Self {
        let mut times = Times::default();
        let Ok(mut reader) = LineReader::open(&source.paths.telemetry()) else { return times };
        while let Ok(block) = reader.next_lines() {
            if block.is_empty() {
                break;
            }
            for bytes in lines(block) {
                let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
                if let Ok(line) = json::parse(bytes, json::Strictness::Lenient) {
                    times.add(&line);
                }
            }
        }
        times
    }

    fn add(&mut self, line: &Json) {
        let stamp = |key: &str| Stamp::parse(line.get(key)?.as_str()?).map(|stamp| stamp.0);
        let number = |key: &str| line.get(key).and_then(Json::as_f64);
        let Some(start) = stamp("started_at") else { return };
        let end = match line.get("event").and_then(Json::as_str) {
            Some("trial") => start + (number("latency_ms").unwrap_or(0.0) * 1_000.0) as i64,
            Some("run") => stamp("completed_at").unwrap_or(start),
            _ => return,
        };
        if let Some(index) = number("index") {
            self.trials.insert(index as u64, (start, end));
        }
        let (first, last) = self.run.unwrap_or((start, end));
        self.run = Some((first.min(start), last.max(end)));
    }
}

/// The ids of a run.
struct Trace {
    id: [u8; 16],
    root: [u8; 8],
}

/// The first bytes of a digest.
fn id<const N: usize>(of: &str) -> [u8; N] {
    let mut id = [0; N];
    id.copy_from_slice(&Digest::of(of.as_bytes()).0[..N]);
    id
}

fn text(key: &str, value: &str) -> Message {
    Message::default().text(1, key).nested(2, Message::default().text(1, value))
}

fn whole(key: &str, value: u64) -> Message {
    Message::default().text(1, key).nested(2, Message::default().number(3, value))
}

fn double(key: &str, value: f64) -> Message {
    Message::default().text(1, key).nested(2, Message::default().double(4, value))
}

fn nanos(micros: i64) -> u64 {
    u64::try_from(micros).unwrap_or(0).saturating_mul(1_000)
}

impl Trace {
    /// The same run at another time is another trace.
    fn of(source: &Source<'_>, times: &Times) -> Self {
        let start = times.run.map_or(0, |(start, _)| start);
        let name = format!("{} {start}", source.manifest.run_id);
        Trace { id: id(&format!("trace {name}")), root: id(&format!("run {name}")) }
    }

    fn span(&self, span: &[u8], (start, end): (i64, i64)) -> Message {
        Message::default().bytes(1, &self.id).bytes(2, span).fixed(7, nanos(start)).fixed(8, nanos(end))
    }

    fn root(&self, source: &Source<'_>, times: &Times) -> Message {
        let manifest = source.manifest;
        let told = |stamp: &str| Stamp::parse(stamp).map_or(0, |stamp| stamp.0);
        let run = times.run.unwrap_or_else(|| (told(&manifest.started_at), told(&manifest.completed_at)));
        self.span(&self.root, run)
            .text(5, &format!("evaluate {}", manifest.suite_id))
            .number(6, INTERNAL)
            .nested(9, text("proofhouse.suite.id", &manifest.suite_id))
            .nested(9, text("proofhouse.kind", manifest.kind.as_str()))
            .nested(9, text("proofhouse.run.id", &manifest.run_id.to_string()))
            .nested(9, whole("proofhouse.trials", manifest.record_count))
    }

    /// A span for the trial, and an event for each of its scores and for its verdict.
    fn trial(
        &self,
        source: &Source<'_>,
        times: &Times,
        line: &Line<'_>,
        frame: &mut Frame<'_>,
    ) -> Result<(), Damage> {
        let (slot, case) = (line.get(HEAD.slot)?, line.get(HEAD.case_id)?);
        let record = line.record_id()?.to_string();
        let span: [u8; 8] = id(&format!("{} {record}", source.manifest.run_id));
        let known = times.trials.get(&line.index()?).copied();
        let when = known.or(times.run.map(|(start, _)| (start, start))).unwrap_or_default();
        let model = model(source, &slot);
        let name = format!("chat {}", model.as_deref().unwrap_or(&slot));
        let mut told = self
            .span(&span, when)
            .bytes(4, &self.root)
            .text(5, &name)
            .number(6, CLIENT)
            .nested(9, text("gen_ai.operation.name", "chat"))
            .nested(9, text("gen_ai.request.model", model.as_deref().unwrap_or(&slot)))
            .nested(9, text("proofhouse.target", &slot))
            .nested(9, text("proofhouse.case.id", &case))
            .nested(9, text("proofhouse.record.id", &record))
            .nested(9, whole("proofhouse.repetition", line.get(HEAD.repetition)?.into()));
        let usage = line.get(HEAD.usage)?;
        for tokens in ["input_tokens", "output_tokens"] {
            if let Some(number) = usage.get(tokens).and_then(Json::as_f64) {
                told = told.nested(9, whole(&format!("gen_ai.usage.{tokens}"), number as u64));
            }
        }
        if line.status()? != Status::Success {
            let kind = line.get(HEAD.error_type)?;
            let kind = kind.as_deref().unwrap_or_else(|| line.status().map_or("error", Status::as_str));
            let status = Message::default().text(2, kind).number(3, ERROR);
            told = told.nested(9, text("error.type", kind)).nested(15, status);
        }
        frame.spans.push(told);
        let passed = line.get(HEAD.passed)?;
        let deciding = line.get(HEAD.primary_metric)?;
        for (judge, score) in line.get(HEAD.scores)? {
            let Some(score) = score else { continue };
            let label = passed.filter(|_| deciding.as_deref() == Some(&*judge));
            let mut event = Message::default()
                .fixed(1, nanos(when.1))
                .number(2, INFO)
                .nested(6, text("gen_ai.evaluation.name", &judge))
                .nested(6, double("gen_ai.evaluation.score.value", score));
            if let Some(passed) = label {
                event = event
                    .nested(6, text("gen_ai.evaluation.score.label", if passed { "pass" } else { "fail" }));
            }
            let event = event
                .nested(6, text("proofhouse.record.id", &record))
                .bytes(9, &self.id)
                .bytes(10, &span)
                .fixed(11, nanos(when.1))
                .text(12, "gen_ai.evaluation.result");
            frame.events.push(event);
        }
        Ok(())
    }
}

/// The model that a slot asks, where its target names one. A slot is a target, alone or with a prompt.
fn model(source: &Source<'_>, slot: &str) -> Option<String> {
    let targets = &source.manifest.targets;
    let of = |name: &str| targets.iter().find(|target| target.slot == name);
    let target = of(slot).or_else(|| of(slot.split('/').next()?))?;
    Some(target.config.get("model")?.as_str()?.to_owned())
}
