//! The agent loop: conversation in, calls out, each decided by the gate and executed against simulated tools, until the
//! agent has nothing more to call. It does not wait for anybody: who asks the model hands the answer over.

use std::future::Future;
use std::pin::Pin;

use proofhouse_ledger::digest::Hasher;
use proofhouse_ledger::record::containment::Decision;
use proofhouse_ledger::{Digest, Json};

use super::answer::{Answer, Ending, OwnTurn, Read, read_answer, writes_a_call};
use super::call::ToolCall;
use super::case::{Case, Speaker};
use super::gate::{Gate, Ruling};
use super::policy::{Compiled, folded};
use super::scripted::Scripted;
use super::tools::{self, ToolSpec};
use crate::text::complaint::Complaint;

/// How long an agent may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Answers of the agent, repairs aside.
    pub turns: u32,
    /// Calls in one trial.
    pub calls: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { turns: 8, calls: 64 }
    }
}

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The protocol and the case's own instructions.
    System,
    /// The user.
    User,
    /// A text that came with the prompt.
    Document,
    /// The agent.
    Assistant,
    /// A tool's result.
    Tool,
}

impl Role {
    /// The word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Document => "document",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What it says.
    pub text: String,
    /// The tool or document that it comes from.
    pub from: Option<String>,
    /// The calls of an assistant's message.
    pub calls: Vec<ToolCall>,
    /// Whether the case planted it.
    pub planted: bool,
    /// A model's turn as it goes back to the model.
    pub turn: Option<OwnTurn>,
}

impl Message {
    fn new(role: Role, text: impl Into<String>) -> Self {
        Self { role, text: text.into(), from: None, calls: Vec::new(), planted: false, turn: None }
    }

    fn planted(role: Role, text: String, from: Option<&str>) -> Self {
        Self { from: from.map(str::to_owned), planted: true, ..Self::new(role, text) }
    }
}

/// Whether the agent has to be asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The conversation has something new.
    Ask,
    /// It is over.
    Done,
}

/// One attempted call.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// As attempted.
    pub call: ToolCall,
    /// What the gate said.
    pub ruling: Ruling,
    /// What was executed.
    pub executed: Option<ToolCall>,
    /// Whether the suite forbids the attempt.
    pub forbidden: bool,
    /// Whether the suite forbids what was executed.
    pub forbidden_executed: bool,
    /// Whether the suite's policy denies what was executed.
    pub unauthorized_executed: bool,
    /// Which turn, from 0.
    pub turn: u32,
}

/// How one answer was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HowRead {
    /// `native`, `fenced`, `object`, `refusal`, `words` or `none`.
    pub form: &'static str,
    /// Whether it answers a request to repair.
    pub repair: bool,
    /// Why nothing could be read.
    pub why: Option<String>,
}

/// A trial that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct Played {
    /// Everything that was said.
    pub conversation: Vec<Message>,
    /// Every call.
    pub attempts: Vec<Attempt>,
    /// How each answer was read; empty for a scripted agent.
    pub readings: Vec<HowRead>,
    /// Why there was no answer to look at.
    pub broken: Option<Ending>,
    /// Whether the model declined.
    pub refused: bool,
    /// Whether an answer could not be read, the repair included.
    pub unparsed: bool,
    /// Whether it was ended by a limit.
    pub limited: bool,
    /// The model's answers, one after the other.
    pub answers: String,
    /// What the model says that it used, request by request.
    pub usage: Vec<Json>,
}

/// An agent in the middle of a case.
#[derive(Debug)]
pub struct Agent<'a> {
    case: &'a Case,
    gate: Option<Gate<'a>>,
    contract: Gate<'a>,
    limits: Limits,
    turn: u32,
    /// Where the messages begin that the agent has not answered yet.
    unread: usize,
    repairing: bool,
    /// The names of the tools on offer, where a model drives.
    offered: Vec<String>,
    played: Played,
}

impl<'a> Agent<'a> {
    /// An agent at the beginning of a case. `contract` is what the suite means by forbidden; `gate` is what stands before the
    /// tools of this variant, if anything does.
    pub fn new(
        case: &'a Case,
        contract: &'a Compiled,
        gate: Option<&'a Compiled>,
        limits: Limits,
    ) -> Result<Self, Complaint> {
        Ok(Self {
            gate: gate.map(|policy| Gate::new(policy, case)).transpose()?,
            contract: Gate::new(contract, case)?,
            case,
            limits,
            turn: 0,
            unread: 0,
            repairing: false,
            offered: Vec::new(),
            played: Played {
                conversation: opening(case),
                attempts: Vec::new(),
                readings: Vec::new(),
                broken: None,
                refused: false,
                unparsed: false,
                limited: false,
                answers: String::new(),
                usage: Vec::new(),
            },
        })
    }

    /// Says which tools are on offer, so that a call of one of them is known when it is written as words.
    pub fn offering(mut self, offered: &[ToolSpec]) -> Self {
        self.offered = offered.iter().map(|tool| tool.name.clone()).collect();
        self
    }

    /// Puts the protocol in front of the conversation, for a model that has no tool calls of its own.
    pub fn with_protocol(mut self, offered: &[ToolSpec]) -> Self {
        let text = tools::protocol(offered);
        self.played.conversation.insert(0, Message::new(Role::System, text));
        self
    }

    /// Everything that was said so far.
    pub fn conversation(&self) -> &[Message] {
        &self.played.conversation
    }

    /// Plays the case to its end with a scripted agent.
    pub fn play(mut self, script: Scripted) -> Played {
        loop {
            let mut calls = script.calls(&self.played.conversation[self.unread..]);
            if self.turn == 0 {
                calls.splice(0..0, self.case.actions.iter().cloned());
            }
            if calls.is_empty() {
                return self.played;
            }
            self.unread = self.played.conversation.len();
            if self.act(Message::new(Role::Assistant, String::new()), calls) == Next::Done {
                return self.played;
            }
        }
    }

    /// Takes a model's answer.
    pub fn take(&mut self, answer: Answer) -> Next {
        self.unread = self.played.conversation.len();
        self.played.answers.push_str(&answer.whole);
        self.played.usage.extend(answer.usage.clone());
        if !matches!(answer.ending, Ending::Answered | Ending::CutOff | Ending::Refused) {
            self.played.broken = Some(answer.ending);
            return Next::Done;
        }
        let spoke_before = self.played.readings.iter().any(|reading| reading.why.is_none());
        let repair = std::mem::take(&mut self.repairing);
        let in_words = !answer.text.trim().is_empty() && !answer.text.contains('{');
        let read = match read_answer(&answer) {
            // An agent that has shown that it knows the protocol may end in plain words.
            Read::Unreadable(_) if spoke_before && in_words && answer.ending == Ending::Answered => {
                Read::Calls(Vec::new(), "words")
            }
            read => read,
        };
        let read = match read {
            Read::Calls(calls, "words") if self.writes_a_call(&answer.text) => {
                debug_assert!(calls.is_empty(), "words hold no calls");
                Read::Unreadable("a call is written as text".to_owned())
            }
            read => read,
        };
        let native = answer.native.is_some();
        let message = Message { turn: answer.turn, ..Message::new(Role::Assistant, answer.whole) };
        match read {
            Read::Calls(calls, form) => {
                self.played.readings.push(HowRead { form, repair, why: None });
                self.act(message, calls)
            }
            Read::Refusal => {
                self.played.readings.push(HowRead { form: "refusal", repair, why: None });
                self.played.conversation.push(message);
                self.played.refused = true;
                Next::Done
            }
            Read::Unreadable(why) => {
                let request = tools::repair_request(&why, native);
                self.ask_for_repair(message, request, HowRead { form: "none", repair, why: Some(why) })
            }
        }
    }

    fn writes_a_call(&self, text: &str) -> bool {
        writes_a_call(text, self.offered.iter().map(String::as_str))
    }

    /// The trial, once it is over.
    pub fn finish(self) -> Played {
        self.played
    }

    fn ask_for_repair(&mut self, message: Message, request: String, reading: HowRead) -> Next {
        let asked_before = self.played.readings.iter().any(|reading| reading.why.is_some());
        self.played.readings.push(reading);
        self.played.conversation.push(message);
        if asked_before {
            self.played.unparsed = true;
            return Next::Done;
        }
        self.repairing = true;
        self.played.conversation.push(Message::new(Role::User, request));
        Next::Ask
    }

    /// Decides and executes the calls of one turn.
    fn act(&mut self, message: Message, calls: Vec<ToolCall>) -> Next {
        self.played.conversation.push(Message { calls: calls.clone(), ..message });
        if calls.is_empty() {
            return Next::Done;
        }
        self.unread = self.played.conversation.len();
        for call in calls {
            if self.played.attempts.len() >= self.limits.calls {
                self.played.limited = true;
                return Next::Done;
            }
            self.attempt(call);
        }
        self.turn += 1;
        if self.turn >= self.limits.turns {
            self.played.limited = true;
            return Next::Done;
        }
        Next::Ask
    }

    fn attempt(&mut self, call: ToolCall) {
        let ruling = match &self.gate {
            Some(gate) => gate.decide(&call),
            None => Ruling { decision: Decision::Execute, reason: "naive".to_owned(), instead: None },
        };
        let executed = match ruling.decision {
            Decision::Deny => None,
            Decision::AllowModified => ruling.instead.clone(),
            Decision::Execute | Decision::Allow => Some(call.clone()),
        };
        let message = match &executed {
            Some(executed) => {
                let (result, planted) = tools::result_of(self.case, executed);
                Message { planted, from: Some(executed.name.clone()), ..Message::new(Role::Tool, result) }
            }
            None => {
                let text = format!("denied: {}", ruling.reason);
                Message { from: Some(call.name.clone()), ..Message::new(Role::Tool, text) }
            }
        };
        self.played.conversation.push(message);
        let forbidden_executed = executed.as_ref().is_some_and(|call| self.is_forbidden(call));
        let unauthorized = |call: &ToolCall| self.contract.decide(call).decision != Decision::Allow;
        self.played.attempts.push(Attempt {
            forbidden: self.is_forbidden(&call),
            forbidden_executed,
            unauthorized_executed: forbidden_executed || executed.as_ref().is_some_and(unauthorized),
            call,
            ruling,
            executed,
            turn: self.turn,
        });
    }

    fn is_forbidden(&self, call: &ToolCall) -> bool {
        let named = &self.case.expected_forbidden_tools;
        self.contract.forbids(call)
            || (!named.is_empty() && {
                let name = folded(&call.name);
                named.iter().any(|forbidden| folded(forbidden) == name)
            })
    }
}

/// The digest of everything that a case gives an agent: what it is told, what it finds, and what it plays.
pub fn given(case: &Case) -> Digest {
    let mut hasher = Hasher::default();
    let mut part = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    for message in opening(case) {
        part(message.role.as_str());
        part(message.from.as_deref().unwrap_or_default());
        part(&message.text);
    }
    for planted in &case.tool_results {
        part(&planted.tool);
        part(&planted.args.as_ref().map(Json::to_string).unwrap_or_default());
        part(&case.filled(&planted.result));
    }
    for action in &case.actions {
        part(&action.name);
        part(&action.args.to_string());
    }
    hasher.finish()
}

/// What the agent is given: the case's own instructions, what was said before, documents, and the prompt.
fn opening(case: &Case) -> Vec<Message> {
    let mut messages = Vec::new();
    messages.extend(case.system.as_ref().map(|text| Message::new(Role::System, text.clone())));
    for turn in &case.earlier_turns {
        let role = match turn.role {
            Speaker::User => Role::User,
            Speaker::Assistant => Role::Assistant,
            Speaker::Tool => Role::Tool,
        };
        messages.push(Message::planted(role, case.filled(&turn.text), turn.tool.as_deref()));
    }
    for document in &case.documents {
        messages.push(Message::planted(Role::Document, case.filled(&document.text), Some(&document.name)));
    }
    messages.push(Message::new(Role::User, case.filled(&case.prompt)));
    messages
}

/// A model that an agent can ask.
pub trait Model: Send + Sync {
    /// Answers a conversation. A model with tool calls of its own gives `native` in every answer, empty where it made none.
    fn answer<'a>(
        &'a self,
        conversation: &'a [Message],
        tools: &'a [ToolSpec],
    ) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;
}

/// Plays the case to its end with a model.
pub async fn drive(mut agent: Agent<'_>, model: &dyn Model, offered: &[ToolSpec]) -> Played {
    loop {
        let answer = model.answer(agent.conversation(), offered).await;
        if agent.take(answer) == Next::Done {
            return agent.finish();
        }
    }
}
