//! Logs for Inspect: one for each target, in the JSON form that `inspect view` and `inspect_ai.log.read_eval_log` read. For runs of every
//! kind.
//!
//! A trial is a sample, a repetition an epoch; each judge's score is a score, and the verdict is one more, `passed`, with Inspect's own
//! `C` and `I`. What could not be assessed has no score.

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::Json;
use proofhouse_ledger::canonical::push_json;
use proofhouse_ledger::json::Object;
use proofhouse_ledger::record::{Damage, HEAD, Kind, Line, Status, TAGS};
use proofhouse_ledger::summary::Slot;

use super::{ExportError, Format, Sink, Source};
use crate::spine::present::FailureDetails;

pub(super) const FORMAT: Format = Format {
    name: "inspect",
    about: "a log for each target that Inspect reads (`inspect view`, `read_eval_log`): samples, epochs, scores",
    kinds: &Kind::ALL,
    folder: Some("inspect"),
    beside: false,
    write,
};

/// The version of Inspect's log format.
const VERSION: f64 = 2.0;
/// Who says whether a trial passed.
const SCORER: &str = "passed";

fn write(source: &Source<'_>, out: &Utf8Path) -> Result<Vec<Utf8PathBuf>, ExportError> {
    let summary = source.summary()?;
    let slots: Vec<Slot> = summary.map(|summary| summary.slots).unwrap_or_default();
    slots.iter().enumerate().map(|(at, slot)| log(source, out, at, slot)).collect()
}

fn object<const N: usize>(fields: [(&str, Json); N]) -> Json {
    Json::Object(Object::from_iter(fields))
}

/// A name for a file: whatever a slot is called.
fn file_name(at: usize, slot: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = slot.chars().take(80).map(plain).collect();
    format!("{:02}_{name}.json", at + 1)
}

fn log(source: &Source<'_>, out: &Utf8Path, at: usize, slot: &Slot) -> Result<Utf8PathBuf, ExportError> {
    let mut sink = Sink::create(out.join(file_name(at, &slot.slot)))?;
    let mut bytes = Vec::new();
    let mut samples = 0;
    // The keys of a whole log in their order; samples are written one by one.
    let mut put = |sink: &mut Sink, before: &str, value: &Json| {
        bytes.clear();
        bytes.extend_from_slice(before.as_bytes());
        push_json(&mut bytes, value);
        sink.put(&bytes)
    };
    put(&mut sink, "{\"version\":", &Json::Number(VERSION))?;
    put(&mut sink, ",\"status\":", &"success".into())?;
    put(&mut sink, ",\"eval\":", &spec(source, slot))?;
    put(&mut sink, ",\"results\":", &results(slot))?;
    sink.put(b",\"samples\":[")?;
    source.each(|line| {
        let damaged =
            |damage| ExportError::Damaged { line: line.index().map_or(0, |index| index + 1), damage };
        if line.get(HEAD.slot).map_err(damaged)? != slot.slot.as_str() {
            return Ok(());
        }
        let sample = sample(line, source.told(line)?, &slot.slot).map_err(damaged)?;
        samples += 1;
        Ok(put(&mut sink, if samples == 1 { "\n" } else { ",\n" }, &sample)?)
    })?;
    sink.put(b"\n]}\n")?;
    sink.finish()
}

fn spec(source: &Source<'_>, slot: &Slot) -> Json {
    let manifest = source.manifest;
    let id = |what: &str| Json::from(format!("{}-{what}-{}", manifest.run_id, slot.slot).as_str());
    object([
        ("run_id", manifest.run_id.to_string().as_str().into()),
        ("eval_id", id("eval")),
        ("task_id", id("task")),
        ("task", manifest.suite_id.as_str().into()),
        ("created", manifest.started_at.as_str().into()),
        ("model", slot.slot.as_str().into()),
        ("dataset", object([("name", manifest.suite_id.as_str().into())])),
        ("config", object([])),
        ("packages", object([("proofhouse", manifest.proofhouse_version.as_str().into())])),
        (
            "metadata",
            object([
                ("kind", manifest.kind.as_str().into()),
                ("records_sha256", manifest.records_sha256.to_string().as_str().into()),
                ("trials", Json::Number(slot.trials as f64)),
            ]),
        ),
    ])
}

/// The pass rate as Inspect's accuracy, its interval beside it.
fn results(slot: &Slot) -> Json {
    let number = |value: Option<f64>| value.map_or(Json::Null, Json::Number);
    let rate = &slot.pass_rate;
    let metric = |name: &str, value: f64| {
        let metric = object([("name", name.into()), ("value", Json::Number(value))]);
        (name.to_owned(), metric)
    };
    let clustered = slot.pass_rate_clustered.as_ref();
    let stderr = clustered.and_then(|mean| mean.standard_error).map(|error| metric("stderr", error));
    let metrics = rate.value.map(|value| metric("accuracy", value)).into_iter().chain(stderr);
    let score = object([
        ("name", SCORER.into()),
        ("scorer", SCORER.into()),
        ("scored_samples", Json::Number(rate.denominator as f64)),
        ("unscored_samples", Json::Number((slot.trials - rate.denominator) as f64)),
        ("metrics", Json::Object(metrics.collect())),
        ("metadata", object([("low", number(rate.low)), ("high", number(rate.high))])),
    ]);
    object([
        ("total_samples", Json::Number(slot.trials as f64)),
        ("completed_samples", Json::Number(slot.trials as f64)),
        ("scores", Json::Array(vec![score])),
    ])
}

fn sample(line: &Line<'_>, told: FailureDetails, slot: &str) -> Result<Json, Damage> {
    let (case, variant) = (line.get(HEAD.case_id)?, line.get(HEAD.variant_id)?);
    let id = variant.as_ref().map_or_else(|| case.to_string(), |variant| format!("{case}/{variant}"));
    let asked = told.asked.map(|(_, asked)| asked).unwrap_or_default();
    let answer = told.answer.clone().unwrap_or_default();
    let tags = if line.raw(TAGS).is_some() { line.get(TAGS)? } else { Vec::new() };
    let why = told.why.filter(|_| line.get(HEAD.passed).is_ok_and(|passed| passed != Some(true)));
    let mut fields = vec![
        ("id", id.as_str().into()),
        ("epoch", Json::Number(f64::from(line.get(HEAD.repetition)?) + 1.0)),
        ("input", asked.as_str().into()),
        ("target", told.expected.unwrap_or_default().as_str().into()),
        ("messages", Json::Array(vec![message("user", &asked), message("assistant", &answer)])),
        ("output", output(line, slot, &answer)?),
        ("scores", scores(line, &answer, why.as_deref())?),
        (
            "metadata",
            object([
                ("record_id", line.record_id()?.to_string().as_str().into()),
                ("case_id", Json::from(&*case)),
                ("status", line.status()?.as_str().into()),
                ("tags", Json::Array(tags.iter().map(|tag| tag.as_str().into()).collect())),
            ]),
        ),
    ];
    if line.status()? != Status::Success {
        let said = line.get(HEAD.error)?.or(line.get(HEAD.error_type)?);
        let said = said.unwrap_or_else(|| line.status().map_or("", Status::as_str).into());
        let error =
            [("message", Json::from(&*said)), ("traceback", "".into()), ("traceback_ansi", "".into())];
        fields.push(("error", object(error)));
    }
    Ok(Json::Object(Object::from_iter(fields)))
}

fn message(role: &str, text: &str) -> Json {
    object([("role", role.into()), ("content", text.into())])
}

fn output(line: &Line<'_>, slot: &str, answer: &str) -> Result<Json, Damage> {
    let choice = object([("message", message("assistant", answer)), ("stop_reason", "stop".into())]);
    let answered = line.status()? == Status::Success;
    let mut fields = vec![
        ("model", slot.into()),
        ("completion", answer.into()),
        ("choices", Json::Array(if answered { vec![choice] } else { Vec::new() })),
    ];
    let usage = line.get(HEAD.usage)?;
    if usage.as_object().is_some() {
        let tokens = |name: &str| usage.get(name).and_then(Json::as_f64).unwrap_or(0.0);
        let (read, written) = (tokens("input_tokens"), tokens("output_tokens"));
        fields.push((
            "usage",
            object([
                ("input_tokens", Json::Number(read)),
                ("output_tokens", Json::Number(written)),
                ("total_tokens", Json::Number(read + written)),
            ]),
        ));
    }
    fields.extend(line.get(HEAD.latency_ms)?.map(|latency| ("time", Json::Number(latency / 1_000.0))));
    Ok(Json::Object(Object::from_iter(fields)))
}

fn scores(line: &Line<'_>, answer: &str, why: Option<&str>) -> Result<Json, Damage> {
    let score = |value: Json| {
        let mut fields = vec![("value", value), ("answer", answer.into())];
        fields.extend(why.map(|why| ("explanation", why.into())));
        Json::Object(Object::from_iter(fields))
    };
    let judged = line.get(HEAD.scores)?;
    let judged = judged
        .into_iter()
        .filter_map(|(judge, value)| Some((judge.to_string(), score(Json::Number(value?)))));
    let verdict = line.get(HEAD.passed)?.map(|passed| if passed { "C" } else { "I" });
    let verdict = verdict.map(|verdict| (SCORER.to_owned(), score(verdict.into())));
    Ok(Json::Object(judged.chain(verdict).collect()))
}
