//! One trial of a real agent: it is started, its calls and its model's answers come in as events, and what they add up to when it
//! has ended is what any other agent would have played.

use std::collections::BTreeSet;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use proofhouse_ledger::{Digest, Json};
use proofhouse_sandbox::{Cancel, Outcome, Sandbox, Status};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::plain::Plain;
use super::prepared::Prepared;
use super::serve::{Event, Events, ModelService, Stamp, ToolService, serve, serve_names};
use crate::family::target::{Chat, Reply, Target};
use crate::kinds::containment::agent::Outside;
use crate::kinds::containment::mcp::{self, Answered, ToolResult, ToolServer};
use crate::kinds::containment::{
    Agent, Answer, Case, EarlierTurn, Ending, Limits, Played, Speaker, ToolCall, ToolSpec,
};
use crate::spine::run::clock;

/// Messages to the server of tools in one trial, and as many again for each call that it may make. A flood ends it.
const MAX_MESSAGES: usize = 1_000;
const MESSAGES_OF_A_CALL: usize = 4;

/// Who asks, and how.
pub(in crate::kinds::containment) struct Asker {
    pub(in crate::kinds::containment) sandbox: Arc<Sandbox>,
    pub(in crate::kinds::containment) target: Arc<Target>,
    /// Gives a conversation with so many turns its seed, repetition and asker.
    pub(in crate::kinds::containment) stamp: Stamp,
    /// A reply as an agent's answer.
    pub(in crate::kinds::containment) read: fn(Reply) -> Answer,
}

/// Ends a box whose trial nobody waits for any more.
struct EndOnDrop(Arc<Cancel>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Plays a case with an agent that runs its own loop.
pub(in crate::kinds::containment) async fn play(
    agent: Agent<'_>,
    case: &Case,
    offered: &[ToolSpec],
    limits: Limits,
    (prepared, asker): (&Prepared, Asker),
) -> Played {
    let plain = Plain::new(clock::now(), &rustix::system::uname().release().to_string_lossy());
    let mut trial = Trial {
        agent,
        offered,
        limits,
        read: asker.read,
        outside: Outside::default(),
        places: Vec::new(),
        messages: 0,
        noise: BTreeSet::new(),
        names: BTreeSet::new(),
    };
    let Ok(cancel) = Cancel::new().map(Arc::new) else {
        trial.broke("sandbox", "no pipe could be made".to_owned());
        return trial.end(None, &plain, prepared);
    };
    let _end = EndOnDrop(Arc::clone(&cancel));
    let (events, mut heard) = mpsc::unbounded_channel();
    let (opened, doors) = oneshot::channel();
    let mut running = {
        let (sandbox, cancel, spec) = (asker.sandbox, Arc::clone(&cancel), prepared.spec(&task(case)));
        let mut opened = Some(opened);
        tokio::task::spawn_blocking(move || {
            sandbox.run_served(&spec, Some(&cancel), &mut |sockets| {
                if let Some(opened) = opened.take() {
                    // Nobody may be left who serves.
                    let _ = opened.send(sockets);
                }
            })
        })
    };
    let model = ModelService {
        events: events.clone(),
        target: asker.target,
        plain: plain.clone(),
        stamp: asker.stamp,
        spoken: std::sync::Mutex::default(),
    };
    let mut servers = JoinSet::new();
    if let Ok(sockets) = doors.await {
        open(&mut servers, sockets, model, &events);
    }
    drop(events);
    let outcome = loop {
        tokio::select! {
            biased;
            Some(event) = heard.recv() => {
                trial.take(event);
                if trial.outside.broken.is_some() || trial.outside.limited {
                    cancel.cancel();
                }
            }
            ended = &mut running => break ended.ok(),
        }
    };
    // What was sent before the end counts; a call that comes later has nobody to answer it.
    while let Ok(event) = heard.try_recv() {
        trial.take(event);
    }
    servers.abort_all();
    trial.end(outcome, &plain, prepared)
}

fn open(servers: &mut JoinSet<()>, sockets: Vec<OwnedFd>, model: ModelService, events: &Events) {
    let Ok([models, tools, names]) = <[OwnedFd; 3]>::try_from(sockets) else { return };
    servers.spawn(serve(TcpListener::from(models), Arc::new(model)));
    servers.spawn(serve(TcpListener::from(tools), Arc::new(ToolService { events: events.clone() })));
    servers.spawn(serve_names(UdpSocket::from(names), events.clone()));
}

/// What the agent is asked: instructions, what was said before, documents, and the prompt, as one text.
fn task(case: &Case) -> String {
    let mut parts: Vec<String> = case.system.iter().cloned().collect();
    let speaker = |turn: &EarlierTurn| match turn.role {
        Speaker::User => "User".to_owned(),
        Speaker::Assistant => "Assistant".to_owned(),
        Speaker::Tool => format!("Result of {}", turn.tool.as_deref().unwrap_or("a tool")),
    };
    let earlier = case.earlier_turns.iter();
    parts.extend(earlier.map(|turn| format!("{}: {}", speaker(turn), case.filled(&turn.text))));
    let documents = case.documents.iter();
    parts.extend(documents.map(|document| format!("{}:\n{}", document.name, case.filled(&document.text))));
    parts.push(case.filled(&case.prompt));
    parts.join("\n\n")
}

/// A trial that is under way.
struct Trial<'a> {
    agent: Agent<'a>,
    offered: &'a [ToolSpec],
    limits: Limits,
    read: fn(Reply) -> Answer,
    outside: Outside,
    /// The calls of the model's last turn that were not made yet.
    places: Vec<Option<ToolCall>>,
    messages: usize,
    noise: BTreeSet<&'static str>,
    names: BTreeSet<String>,
}

impl Trial<'_> {
    fn take(&mut self, event: Event) {
        match event {
            Event::Message(bytes, answer) => {
                self.messages += 1;
                let most = MAX_MESSAGES + self.limits.calls * MESSAGES_OF_A_CALL;
                if self.messages > most {
                    self.broke("mcp_flood", format!("more than {most} messages to the server of tools"));
                    return;
                }
                let answered = mcp::answer_bytes(&bytes, self);
                if let Answered::Refused(_, word) = answered {
                    self.noise.insert(word);
                }
                let _ = answer.send(answered);
            }
            Event::Replied(chat, reply, go) => {
                self.replied(&chat, *reply);
                let _ = go.send(());
            }
            Event::Noise(word) => drop(self.noise.insert(word)),
            Event::Name(name) => drop(self.names.insert(name)),
        }
    }

    fn replied(&mut self, chat: &Chat, reply: Reply) {
        let answer = (self.read)(reply);
        if !matches!(answer.ending, Ending::Answered | Ending::CutOff | Ending::Refused) {
            self.outside.broken.get_or_insert(answer.ending);
            return;
        }
        let calls = answer.native.clone().unwrap_or_default();
        self.outside.answers += 1;
        // Requests can be under way at the same time, so that their order is none; what was asked is one.
        let key = Digest::of(chat.to_json().to_string().as_bytes());
        self.outside.heard.push((format!("{:08} {key}", chat.messages.len()), answer.clone()));
        self.outside.last = Some(answer.clone());
        if !calls.is_empty() {
            self.outside.turns.push(answer);
            self.places = calls.into_iter().map(Some).collect();
            if self.outside.turns.len() > self.limits.turns as usize {
                self.outside.limited = true;
            }
        }
    }

    fn broke(&mut self, error_type: &str, error: String) {
        let ending = Ending::Failed { error_type: error_type.to_owned(), error };
        self.outside.broken.get_or_insert(ending);
    }

    /// Which turn and which of its calls this one is.
    fn place(&mut self, call: &ToolCall) -> (u32, usize) {
        let is_it = |each: &Option<ToolCall>| {
            each.as_ref().is_some_and(|asked| {
                asked.args == call.args && mcp::own_name(&asked.name, [call.name.as_str()]).is_some()
            })
        };
        let place = self.places.iter().position(is_it);
        if let Some(place) = place {
            self.places[place] = None;
        }
        let later = self.places.len() + self.outside.calls.len();
        (self.outside.turns.len() as u32, place.unwrap_or(later))
    }

    fn end(mut self, outcome: Option<Outcome>, plain: &Plain, prepared: &Prepared) -> Played {
        if let Some(outcome) = &outcome {
            tracing::debug!(status = ?outcome.status, wall_ms = outcome.usage.wall_ms, tier = ?outcome.tier, "box of an agent");
            self.ended(outcome);
            let file = outcome.collected.first().filter(|_| prepared.answer_file.is_some());
            let said = match file.map(|file| file.result.as_ref().ok().and_then(|found| found.read().ok())) {
                Some(Some(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
                Some(None) => String::new(),
                None => outcome.stdout.text(),
            };
            self.outside.said = plain.text(said.trim_end());
        } else {
            self.broke("sandbox", "the box was given up".to_owned());
        }
        let joined = |words: Vec<&str>| words.join(", ");
        if !self.names.is_empty() {
            let names = joined(self.names.iter().map(String::as_str).collect());
            self.outside.notes.push(("names looked up".to_owned(), names));
        }
        if !self.noise.is_empty() {
            let noise = joined(self.noise.iter().copied().collect());
            self.outside.notes.push(("messages refused".to_owned(), noise));
        }
        self.agent.outside_end(self.outside)
    }

    /// What the end of the program means, where nothing ended the trial before.
    fn ended(&mut self, outcome: &Outcome) {
        if self.outside.broken.is_some() || self.outside.limited {
            return;
        }
        let stderr = outcome.stderr.text();
        let last = stderr.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
        let last: String = last.chars().take(300).collect();
        match &outcome.status {
            Status::Ok if self.outside.answers == 0 => {
                self.broke("agent_silent", "the agent ended without asking its model".to_owned());
            }
            Status::Ok => {}
            Status::WallLimit => self.outside.broken = Some(Ending::TimedOut),
            Status::Exit(code) => {
                self.broke("agent_exit", format!("the agent ended with code {code}: {last}"))
            }
            Status::InfraError(infra) => self.broke("sandbox", infra.to_string()),
            other => self.broke("agent_ended", format!("the agent was ended: {other:?} {last}")),
        }
    }
}

impl ToolServer for Trial<'_> {
    fn tools(&mut self) -> Vec<Json> {
        self.offered
            .iter()
            .map(|tool| mcp::tool(&tool.name, &tool.description, tool.parameters().to_json()))
            .collect()
    }

    fn call(&mut self, name: &str, args: Json) -> Option<ToolResult> {
        if self.outside.calls.len() >= self.limits.calls {
            self.outside.limited = true;
            return Some(ToolResult { text: "denied: call_limit".to_owned(), is_error: true });
        }
        let own = mcp::own_name(name, self.offered.iter().map(|tool| tool.name.as_str()));
        let call = ToolCall::new(own.unwrap_or(name), args);
        let place = self.place(&call);
        let served = match own {
            Some(_) => self.agent.outside_call(call, place),
            None => self.agent.outside_stray(call, place),
        };
        let result = ToolResult { text: served.text().to_owned(), is_error: served.is_denied() };
        self.outside.calls.push(served);
        own.map(|_| result)
    }
}
