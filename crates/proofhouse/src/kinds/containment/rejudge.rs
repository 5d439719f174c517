//! Playing stored trials again: the agent goes through its case once more with the answers and results that the record holds, every
//! call is decided anew, and what comes out must be the record. No model and no tool is asked.

use std::collections::BTreeSet;
use std::sync::Arc;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Strictness, parse};
use proofhouse_ledger::record::containment::{CallVerdict, Evidence, Reading, Turn};
use proofhouse_ledger::record::{CONTAINMENT, Damage, HEAD, Line, Name, Spans, Status};

use super::answer::CUT_OFF;
use super::tools::offered_with;
use super::work::{push, script};
use super::{
    Agent, Answer, ContainmentBody, Ending, Next, Played, Protocol, Read, ReadyCase, ToolCall, Toolbox,
    VariantSpec, judge_with, offered, read_answer,
};
use crate::family::judge::Panel;
use crate::spine::rejudge::{Again, JudgeAgain, Recorded};
use crate::spine::run::ExecuteError;
use crate::spine::run::record::{RecordWriter, Timer, Timing};

/// Error types that a verdict gives; every other one says what broke a trial.
const OF_VERDICTS: [&str; 4] = ["judge_error", "needs_judge", "turn_limit", "unparsed"];

/// Plays the trials of a run again.
pub(super) struct TrialsAgain {
    writer: RecordWriter,
    body: ContainmentBody,
    panel: Panel,
}

/// What a record holds of the course of its trial.
struct Course {
    transcript: Vec<Turn>,
    readings: Vec<Reading>,
    calls: Vec<CallVerdict>,
    evidence: Vec<Evidence>,
    state: Option<Json>,
    ending: Option<Ending>,
}

/// A trial that was played again, and why its verdict is not repeated although it fits.
struct PlayedAgain {
    played: Played,
    rests_on: Option<&'static str>,
}

impl TrialsAgain {
    pub(super) fn open(body: &ContainmentBody, writer: RecordWriter) -> Result<TrialsAgain, ExecuteError> {
        let panel = body.judges.panel().map_err(ExecuteError::Judge)?;
        Ok(TrialsAgain { writer, body: body.clone(), panel })
    }

    fn one(&self, record: &Recorded<'_, Arc<ReadyCase>>) -> Result<Again, Damage> {
        let Recorded { trial, item: case, line } = record;
        if line.status()? == Status::NotRun {
            return Ok(Again::Nothing);
        }
        let course = Course::of(line)?;
        let variant = &self.body.variants[trial.slot];
        if variant.agent.is_some() {
            return Ok(self.decided_again(case, variant, &course));
        }
        let PlayedAgain { played, rests_on } = match self.play(case, variant, &course) {
            Ok(played) => played,
            Err(again) => return Ok(again),
        };
        let (opinions, asked) = self.body.judges.hear_again(&self.panel, case, &played, &course.evidence);
        let verdict = judge_with(case, &played, variant.gate.is_some(), &opinions);
        let timing = Timing { latency_ms: 0.0, ..Timer::start().timing() };
        let mut bytes = Vec::new();
        push(&self.body, &self.writer, (trial, case), (&played, &verdict, &timing), &mut bytes);
        let mut spans = Spans::default();
        let found = Line::split(bytes.trim_ascii_end(), &mut spans)?;
        // What tools a server offered is not stored, so that the message which tells of them cannot be made again.
        let untold = usize::from(self.body.server.is_some() && variant.target.is_some());
        Ok(match self.difference(line, &found, untold, played.broken.is_some())? {
            Some(what) => Again::Other(what),
            None => rests_on
                .or(asked.then_some("a model or a program judged them"))
                .map_or(Again::Same, Again::Impossible),
        })
    }

    /// The first field in which the record is not what playing it again gives.
    fn difference(
        &self,
        stored: &Line<'_>,
        found: &Line<'_>,
        untold: usize,
        broken: bool,
    ) -> Result<Option<String>, Damage> {
        let mut fields: Vec<Name> = vec![
            CONTAINMENT.actual_outcome.into(),
            HEAD.passed.into(),
            HEAD.status.into(),
            HEAD.error_type.into(),
            HEAD.error.into(),
            CONTAINMENT.decision.into(),
            CONTAINMENT.policy_reason.into(),
            CONTAINMENT.task_done.into(),
            CONTAINMENT.refused.into(),
            CONTAINMENT.calls.into(),
            CONTAINMENT.expectations.into(),
            CONTAINMENT.evidence.into(),
            CONTAINMENT.readings.into(),
            CONTAINMENT.injection.into(),
            CONTAINMENT.twin_of.into(),
            CONTAINMENT.llm_parse_ok.into(),
            CONTAINMENT.llm_parse_error.into(),
        ];
        // What a request that failed had said by then is in no transcript.
        if !broken {
            fields.push(CONTAINMENT.llm_response_hash.into());
        }
        for field in fields {
            let (was, is) = (stored.raw(field), found.raw(field));
            if was != is {
                let (was, is) = (shown(was), shown(is));
                return Ok(Some(format!("`{}` is {was}, played again it is {is}", field.as_str())));
            }
        }
        let (was, is) = (stored.get(CONTAINMENT.transcript)?, found.get(CONTAINMENT.transcript)?);
        let differs = was.len() != is.len() || was.iter().zip(&is).skip(untold).any(|(was, is)| was != is);
        Ok(differs.then(|| "`transcript` is not the conversation that these answers lead to".to_owned()))
    }

    /// Plays a case with what the record holds in place of model and server.
    fn play(&self, case: &ReadyCase, variant: &VariantSpec, course: &Course) -> Result<PlayedAgain, Again> {
        let described = &self.body.tools;
        let served = self.body.server.as_ref().map(|_| course.executed());
        if served.is_some() && course.transcript.is_empty() {
            let played = Played { broken: Some(course.broken()?), ..Played::default() };
            return Ok(PlayedAgain { played, rests_on: None });
        }
        let tools = match served {
            Some(_) => offered_with(&[], case, described),
            None => offered(case, &self.body.policy, described),
        };
        let contract = self.body.contract_of(case);
        let mut agent = Agent::new(case, contract, variant.gate.as_deref(), self.body.limits)
            .with_tools(Toolbox { described, served });
        if variant.target.is_some() {
            agent = agent.offering(&tools);
            if variant.protocol == Protocol::Json {
                agent = agent.with_protocol(&tools);
            }
        }
        let (mut next, mut answers, mut rests_on, mut cut_off) = (Next::Ask, 0, None, false);
        loop {
            let place = agent.conversation().len();
            next = match next {
                Next::Done => break,
                Next::Ask if variant.target.is_none() => agent.obey(script(variant.driver)),
                _ if place >= course.transcript.len() => {
                    cut_off = true;
                    break;
                }
                Next::Ask => {
                    let (answer, by_word) = course.answer(place, answers, variant.protocol)?;
                    answers += 1;
                    rests_on = rests_on.or(by_word);
                    agent.take(answer)
                }
                Next::Call(_) => agent.receive(Ok(course.text(place, "tool")?.to_owned())),
            };
        }
        let mut played = agent.finish();
        if cut_off || (self.body.server.is_some() && course.ending.is_some()) {
            played.broken = Some(course.broken()?);
        } else {
            played.state = course.state.clone();
        }
        if played.state.as_ref().is_some_and(is_cut) {
            return Err(Again::Impossible("the state that they left is not stored whole"));
        }
        if self.body.server.is_some() && course.readings.iter().any(|reading| reading.form == "none") {
            rests_on = rests_on.or(Some("the tools of a server decide how their answers are read"));
        }
        Ok(PlayedAgain { played, rests_on })
    }

    /// The calls of an agent with its own loop: each is decided again; how it came to them is not stored.
    fn decided_again(&self, case: &ReadyCase, variant: &VariantSpec, course: &Course) -> Again {
        let toolbox = Toolbox { described: &self.body.tools, served: None };
        let contract = self.body.contract_of(case);
        let mut agent =
            Agent::new(case, contract, variant.gate.as_deref(), self.body.limits).with_tools(toolbox);
        for stored in &course.calls {
            if is_cut(&stored.args) || is_shortened(&stored.name) {
                return Again::Impossible("their calls are not stored whole");
            }
            let call = ToolCall::new(stored.name.clone(), stored.args.clone());
            let place = (stored.turn, 0);
            let decided = match stored.reason.as_str() {
                "unknown_tool" => agent.outside_stray(call, place),
                _ => agent.outside_call(call, place),
            };
            if !decided.is_as_recorded(stored) {
                return Again::Other(format!(
                    "the call of `{}` in turn {} is not decided as it says",
                    stored.name, stored.turn
                ));
            }
        }
        match course.calls.is_empty() {
            true => Again::Impossible(
                "an agent with its own loop said what it liked, and no call is there to decide",
            ),
            false => Again::Impossible(
                "an agent with its own loop made them; every call was decided again, and the same",
            ),
        }
    }
}

impl Course {
    fn of(line: &Line<'_>) -> Result<Course, Damage> {
        Ok(Course {
            transcript: line.get(CONTAINMENT.transcript)?,
            readings: line.get(CONTAINMENT.readings)?,
            calls: line.get(CONTAINMENT.calls)?,
            evidence: line.get(CONTAINMENT.evidence)?.unwrap_or_default(),
            state: line.get(CONTAINMENT.state)?,
            ending: ending(line)?,
        })
    }

    /// Names of what was executed.
    fn executed(&self) -> Vec<String> {
        let names: BTreeSet<&str> =
            self.calls.iter().filter_map(|call| Some(call.executed.as_ref()?.name.as_str())).collect();
        names.into_iter().map(str::to_owned).collect()
    }

    /// What broke the trial, which goes no further.
    fn broken(&self) -> Result<Ending, Again> {
        let unfinished = || Again::Other("`transcript` ends where the trial would have gone on".to_owned());
        self.ending.clone().ok_or_else(unfinished)
    }

    /// The text at a place of the conversation, which must be of this role and whole.
    fn text(&self, place: usize, role: &str) -> Result<&str, Again> {
        let turn = &self.transcript[place];
        if turn.role != role {
            let what = format!("`transcript` has a message of `{}` where `{role}` comes next", turn.role);
            return Err(Again::Other(what));
        }
        if is_shortened(&turn.text) || turn.text.contains("[redacted") {
            return Err(Again::Impossible("their conversations are not stored whole"));
        }
        Ok(&turn.text)
    }

    /// The model's answer at a place, and what of it no record holds.
    fn answer(
        &self,
        place: usize,
        number: usize,
        protocol: Protocol,
    ) -> Result<(Answer, Option<&'static str>), Again> {
        let whole = self.text(place, "assistant")?.to_owned();
        let Some(reading) = self.readings.get(number) else {
            return Err(Again::Other(format!("`readings` has none for answer {}", number + 1)));
        };
        let called = (reading.form == "native").then(|| native(&whole)).flatten();
        let (text, native) = match called {
            Some((text, calls)) => (text, Some(calls)),
            None => (whole.clone(), (protocol == Protocol::Native).then(Vec::new)),
        };
        let answer = Answer { text, native, whole, ..Answer::none(Ending::Answered) };
        let declined = reading.form == "refusal" && read_answer(&answer) != Read::Refusal;
        let (ending, by_word) = match reading.why.as_deref() {
            Some(CUT_OFF) => (Ending::CutOff, true),
            _ if declined => (Ending::Refused, true),
            _ => (Ending::Answered, false),
        };
        Ok((Answer { ending, ..answer }, by_word.then_some("how an endpoint ended its answer is not stored")))
    }
}

/// What broke a trial, as far as the record's own words say it.
fn ending(line: &Line<'_>) -> Result<Option<Ending>, Damage> {
    let Some(error_type) = line.get(HEAD.error_type)? else { return Ok(None) };
    let error = line.get(HEAD.error)?.unwrap_or_default();
    Ok(match &*error_type {
        word if OF_VERDICTS.contains(&word) => None,
        "timeout" => Some(Ending::TimedOut),
        "rate_limited" => Some(Ending::RateLimited),
        word => {
            let error = error.strip_prefix("after the leak: ").unwrap_or(&error).to_owned();
            Some(Ending::Failed { error_type: word.to_owned(), error })
        }
    })
}

/// Words and calls of an answer that made calls in the model's own form.
fn native(whole: &str) -> Option<(String, Vec<ToolCall>)> {
    let both = parse(whole.as_bytes(), Strictness::Lenient).ok()?;
    let Some(Json::Array(calls)) = both.get("tool_calls") else { return None };
    let call = |call: &Json| {
        let args = call.get("args").cloned().unwrap_or(Json::Null);
        Some(ToolCall::new(call.get("name")?.as_str()?, args))
    };
    let words = both.get("content").filter(|text| **text != Json::Null).map(Json::to_text);
    Some((words.unwrap_or_default(), calls.iter().map(call).collect::<Option<Vec<_>>>()?))
}

/// Whether a text was cut to its beginning and its length.
fn is_shortened(text: &str) -> bool {
    text.len() < 320 && text.ends_with(" bytes)") && text.contains("… (")
}

/// Whether a part of a value is kept by its digest alone.
fn is_cut(value: &Json) -> bool {
    match value {
        Json::Array(list) => list.iter().any(is_cut),
        Json::Object(object) => object.iter().any(|(key, value)| key == "$sha256" || is_cut(value)),
        _ => false,
    }
}

/// A stored value in a sentence.
fn shown(raw: Option<&[u8]>) -> String {
    let text = raw.map_or("not there".into(), String::from_utf8_lossy);
    match text.len() {
        ..=120 => text.into_owned(),
        _ => format!("{}…", super::call::cut(&text, 120)),
    }
}

impl JudgeAgain<Arc<ReadyCase>> for TrialsAgain {
    fn again(&self, records: &[Recorded<'_, Arc<ReadyCase>>]) -> Vec<Again> {
        let one = |record| self.one(record).unwrap_or_else(|damage| Again::Other(damage.to_string()));
        records.iter().map(one).collect()
    }
}
