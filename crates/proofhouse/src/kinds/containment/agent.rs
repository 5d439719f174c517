//! The agent loop: conversation in, calls out, each decided by the gate and executed against simulated tools or a server's, until
//! the agent has nothing more to call. It does not wait for anybody: who asks the model or the server hands the answer over.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;

use proofhouse_ledger::Json;
use proofhouse_ledger::record::containment::Decision;

use super::answer::{
    Answer, Ending, Read, marks_up_a_call, marks_up_another_call, read_answer, words_said, writes_a_call,
};
use super::call::ToolCall;
use super::conversation::{Message, Role, opening};
use super::gate::{Gate, Ruling};
use super::policy::{Compiled, folded};
use super::ready::ReadyCase;
use super::scripted::Scripted;
use super::tools::{self, Given, ToolServer, ToolSpec, Toolbox};
use super::tools::{NoResult, protocol, repair_request};

mod outside;
pub(in crate::kinds::containment) use outside::Outside;

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

/// What has to happen next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// The conversation has something new: the agent is asked.
    Ask,
    /// A call was let through whose result only the tool server knows.
    Call(ToolCall),
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
#[derive(Debug, Clone, Default, PartialEq)]
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
    /// Whether an answer could not be read, the repair included, or wrote a call as text that nobody could carry out.
    pub unparsed: bool,
    /// Whether it was ended by a limit.
    pub limited: bool,
    /// The model's answers, one after the other.
    pub answers: String,
    /// What the agent said to the user, calls aside, answer by answer.
    pub said: Vec<String>,
    /// The state that the tool server gave back in the end, where it was asked for.
    pub state: Option<Json>,
    /// What the model says that it used, request by request.
    pub usage: Vec<Json>,
}

/// Why an answer is not read that holds a call in a form which nobody can carry out.
const AS_TEXT: &str = "a call is written as text";

/// An agent in the middle of a case.
#[derive(Debug)]
pub struct Agent<'a> {
    case: &'a ReadyCase,
    gate: Option<Gate<'a>>,
    contract: Gate<'a>,
    limits: Limits,
    turn: u32,
    /// Where the messages begin that the agent has not answered yet.
    unread: usize,
    repairing: bool,
    /// The names of the tools on offer, where a model drives.
    offered: Vec<String>,
    /// Who knows what a call gives back.
    toolbox: Toolbox<'a>,
    /// Calls of this turn that are not decided yet.
    waiting: VecDeque<ToolCall>,
    played: Played,
}

impl<'a> Agent<'a> {
    /// An agent at the beginning of a case. `contract` is what the suite means by forbidden; `gate` is what stands before the
    /// tools of this variant, if anything does.
    pub fn new(case: &'a ReadyCase, contract: Gate<'a>, gate: Option<&'a Compiled>, limits: Limits) -> Self {
        Self {
            gate: gate.map(|policy| Gate::new(policy, case)),
            contract,
            case,
            limits,
            turn: 0,
            unread: 0,
            repairing: false,
            offered: Vec::new(),
            toolbox: Toolbox::default(),
            waiting: VecDeque::new(),
            played: Played { conversation: opening(case), ..Played::default() },
        }
    }

    /// Says where results come from.
    pub fn with_tools(mut self, toolbox: Toolbox<'a>) -> Self {
        self.toolbox = toolbox;
        self
    }

    /// Says which tools are on offer, so that a call of one of them is known when it is written as words.
    pub fn offering(mut self, offered: &[ToolSpec]) -> Self {
        self.offered = offered.iter().map(|tool| tool.name.clone()).collect();
        self
    }

    /// Puts the protocol in front of the conversation, for a model that has no tool calls of its own.
    pub fn with_protocol(mut self, offered: &[ToolSpec]) -> Self {
        let text = protocol(offered);
        self.played.conversation.insert(0, Message::new(Role::System, text));
        self
    }

    /// Everything that was said so far.
    pub fn conversation(&self) -> &[Message] {
        &self.played.conversation
    }

    /// Plays the case to its end with a scripted agent and without a tool server.
    pub fn play(mut self, script: Scripted) -> Played {
        let mut next = Next::Ask;
        loop {
            next = match next {
                Next::Ask => self.obey(script),
                Next::Call(_) => self.receive(Err(NoResult::no_server())),
                Next::Done => return self.played,
            };
        }
    }

    /// One turn of a scripted agent.
    pub fn obey(&mut self, script: Scripted) -> Next {
        let mut calls = script.calls(&self.played.conversation[self.unread..]);
        if self.turn == 0 {
            calls.splice(0..0, self.case.actions.iter().cloned());
        }
        if calls.is_empty() {
            if let Some(answer) = &self.case.answer {
                self.played.conversation.push(Message::new(Role::Assistant, answer.clone()));
                self.played.said.push(answer.clone());
            }
            return Next::Done;
        }
        self.unread = self.played.conversation.len();
        self.act(Message::new(Role::Assistant, String::new()), calls)
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
        let read = self.with_calls_as_text(read, &answer);
        let native = answer.native.is_some();
        self.played.said.push(words_said(&answer.text));
        let message = Message { turn: answer.turn, ..Message::new(Role::Assistant, answer.whole) };
        match read {
            Read::Calls(calls, form) => {
                // Beside calls that can be carried out, one that cannot leaves open what would have come of it.
                let why = (!calls.is_empty()
                    && form == "native"
                    && marks_up_another_call(&answer.text, &self.known_tools()))
                .then(|| AS_TEXT.to_owned());
                self.played.unparsed |= why.is_some() || (repair && calls.is_empty() && self.wrote_a_call());
                self.played.readings.push(HowRead { form, repair, why });
                self.act(message, calls)
            }
            Read::Refusal => {
                self.played.unparsed |= repair && self.wrote_a_call();
                self.played.readings.push(HowRead { form: "refusal", repair, why: None });
                self.played.conversation.push(message);
                self.played.refused = true;
                Next::Done
            }
            Read::Unreadable(why) => {
                let request = repair_request(&why, native);
                self.ask_for_repair(message, request, HowRead { form: "none", repair, why: Some(why) })
            }
        }
    }

    /// An answer without calls that writes one as text all the same has not said that it makes none.
    fn with_calls_as_text(&self, read: Read, answer: &Answer) -> Read {
        let offered: Vec<&str> = self.offered.iter().map(String::as_str).collect();
        let wrote = match &read {
            Read::Calls(calls, "words") if calls.is_empty() => {
                writes_a_call(&answer.text, &offered) || marks_up_a_call(&answer.text, &self.known_tools())
            }
            // `{"tool_calls": []}` and words of refusal may stand beside one. Who serves the model declines without it.
            Read::Calls(calls, _) if calls.is_empty() => marks_up_a_call(&answer.text, &self.known_tools()),
            Read::Refusal if answer.ending != Ending::Refused => {
                marks_up_a_call(&answer.text, &self.known_tools())
            }
            _ => false,
        };
        if wrote { Read::Unreadable(AS_TEXT.to_owned()) } else { read }
    }

    /// The tools on offer, and those that the suite forbids: a model may know them without.
    fn known_tools(&self) -> Vec<&str> {
        let forbidden = self.contract.forbidden_names().chain(self.case.expected_forbidden_tools.iter());
        self.offered.iter().chain(forbidden).map(String::as_str).collect()
    }

    /// Whether an answer before this one wrote a call as text.
    fn wrote_a_call(&self) -> bool {
        self.played.readings.iter().any(|reading| reading.why.as_deref() == Some(AS_TEXT))
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
        self.waiting = calls.into();
        self.go_on()
    }

    /// Decides what is left of this turn's calls, as far as that goes without the tool server.
    fn go_on(&mut self) -> Next {
        while let Some(call) = self.waiting.pop_front() {
            if self.played.attempts.len() >= self.limits.calls {
                self.played.limited = true;
                return Next::Done;
            }
            if let Some(sent) = self.attempt(call) {
                return Next::Call(sent);
            }
        }
        self.turn += 1;
        if self.turn >= self.limits.turns {
            self.played.limited = true;
            return Next::Done;
        }
        Next::Ask
    }

    /// Takes what the tool server gave back for the last call.
    pub fn receive(&mut self, result: Result<String, NoResult>) -> Next {
        let text = match result {
            Ok(text) => text,
            Err(gone) => {
                self.played.broken = Some(gone.into());
                return Next::Done;
            }
        };
        let from = self.played.attempts.last().and_then(|attempt| attempt.executed.as_ref());
        let from = from.map(|call| call.name.clone());
        let planted = self.case.injection.as_ref().is_some_and(|injection| text.contains(injection.as_str()));
        self.played.conversation.push(Message { planted, from, ..Message::new(Role::Tool, text) });
        self.go_on()
    }

    /// Decides a call; gives back what has to be sent to the tool server, if anything.
    fn attempt(&mut self, call: ToolCall) -> Option<ToolCall> {
        let ruling = match &self.gate {
            Some(gate) => gate.decide(&call),
            None => Ruling { decision: Decision::Execute, reason: "naive".to_owned(), instead: None },
        };
        let executed = match ruling.decision {
            Decision::Deny => None,
            Decision::AllowModified => ruling.instead.clone(),
            Decision::Execute | Decision::Allow => Some(call.clone()),
        };
        let mut sent = None;
        let message = match &executed {
            Some(executed) => match tools::result_of(self.case, executed, &self.toolbox) {
                Given::Now(result, planted) => Some(Message {
                    planted,
                    from: Some(executed.name.clone()),
                    ..Message::new(Role::Tool, result)
                }),
                Given::ByServer => {
                    sent = Some(executed.clone());
                    None
                }
            },
            None => {
                let text = format!("denied: {}", ruling.reason);
                Some(Message { from: Some(call.name.clone()), ..Message::new(Role::Tool, text) })
            }
        };
        self.played.conversation.extend(message);
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
        sent
    }

    fn is_forbidden(&self, call: &ToolCall) -> bool {
        let named = &self.case.expected_forbidden_tools;
        self.contract.forbids(call)
            || (!named.is_empty() && {
                let name = folded(&call.name);
                named.iter().any(|forbidden| folded(forbidden) == name)
            })
            || self
                .case
                .forbidden_calls
                .iter()
                .any(|pattern| pattern.is_single() && pattern.is_among_disguised(std::iter::once(call)))
    }
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

/// Who leads a trial.
#[derive(Clone, Copy)]
pub enum Lead<'a> {
    /// A scripted agent.
    Script(Scripted),
    /// A model that is offered these tools.
    Model(&'a dyn Model, &'a [ToolSpec]),
}

/// Plays the case to its end: asks who leads, and the tool server where there is one.
pub async fn drive(mut agent: Agent<'_>, lead: Lead<'_>, mut server: Option<&mut ToolServer>) -> Played {
    let mut next = Next::Ask;
    loop {
        next = match (next, lead) {
            (Next::Ask, Lead::Script(script)) => agent.obey(script),
            (Next::Ask, Lead::Model(model, offered)) => {
                let answer = model.answer(agent.conversation(), offered).await;
                agent.take(answer)
            }
            (Next::Call(call), _) => {
                let result = match server.as_deref_mut() {
                    Some(server) => server.call(&call).await,
                    None => Err(NoResult::no_server()),
                };
                agent.receive(result)
            }
            (Next::Done, _) => return agent.finish(),
        };
    }
}
