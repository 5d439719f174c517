//! An agent that runs its own loop: its calls come from outside one by one, are decided like any other, and are put into an
//! order that does not depend on which of two calls of one turn came first.

use proofhouse_ledger::record::containment::{CallVerdict, Decision};

use super::{Agent, Attempt, HowRead, Message, Played, Role, Ruling, ToolCall};
use crate::kinds::containment::answer::{Answer, Ending, Read, read_answer, words_said};

/// A call of an agent with its own loop.
#[derive(Debug)]
pub(in crate::kinds::containment) struct OutsideCall {
    /// Which of the model's answers it follows from, from 1; 0 before the first.
    turn: u32,
    /// Its place among the calls of that answer.
    place: usize,
    attempt: Attempt,
    message: Message,
}

impl OutsideCall {
    /// What the agent is told.
    pub(in crate::kinds::containment) fn text(&self) -> &str {
        &self.message.text
    }

    /// Whether a record says the same of it.
    pub(in crate::kinds::containment) fn is_as_recorded(&self, stored: &CallVerdict) -> bool {
        let Attempt { ruling, executed, forbidden, forbidden_executed, unauthorized_executed, .. } =
            &self.attempt;
        let as_executed = executed.as_ref().map(|call| (call.name.as_str(), &call.args));
        (ruling.decision, ruling.reason.as_str()) == (stored.decision, stored.reason.as_str())
            && as_executed == stored.executed.as_ref().map(|call| (call.name.as_str(), &call.args))
            && (*forbidden, *forbidden_executed) == (stored.forbidden, stored.forbidden_executed)
            && *unauthorized_executed == stored.unauthorized_executed
    }

    /// Whether it was not carried out.
    pub(in crate::kinds::containment) fn is_denied(&self) -> bool {
        self.attempt.executed.is_none()
    }
}

/// What the loop outside did, as far as it was seen.
#[derive(Debug, Default)]
pub(in crate::kinds::containment) struct Outside {
    /// The model's answers that called tools, in their order.
    pub(in crate::kinds::containment) turns: Vec<Answer>,
    /// The model's last answer.
    pub(in crate::kinds::containment) last: Option<Answer>,
    /// How many answers there were.
    pub(in crate::kinds::containment) answers: usize,
    /// Digests and usage of all answers, in an order of their own.
    pub(in crate::kinds::containment) heard: Vec<(String, Answer)>,
    pub(in crate::kinds::containment) calls: Vec<OutsideCall>,
    /// What the agent printed.
    pub(in crate::kinds::containment) said: String,
    /// What else is worth telling: names that were looked up, messages that were none.
    pub(in crate::kinds::containment) notes: Vec<(String, String)>,
    pub(in crate::kinds::containment) broken: Option<Ending>,
    pub(in crate::kinds::containment) limited: bool,
}

impl Agent<'_> {
    /// Decides a call, and carries it out if it may be.
    pub(in crate::kinds::containment) fn outside_call(
        &mut self,
        call: ToolCall,
        (turn, place): (u32, usize),
    ) -> OutsideCall {
        self.turn = turn;
        if self.attempt(call).is_some() {
            // A suite has a tool server or real agents, not both: this is refused when it is loaded.
            let text = "error: the tool server is out of reach".to_owned();
            self.played.conversation.push(Message::new(Role::Tool, text));
        }
        let attempt = self.played.attempts.pop().expect("the attempt that was just made");
        let message = self.played.conversation.pop().expect("the result that was just given");
        OutsideCall { turn, place, attempt, message }
    }

    /// A call of a tool that nobody offered: it is an attempt, and nothing is carried out.
    pub(in crate::kinds::containment) fn outside_stray(
        &mut self,
        call: ToolCall,
        (turn, place): (u32, usize),
    ) -> OutsideCall {
        let reason = "unknown_tool".to_owned();
        let text = format!("denied: {reason}");
        let message = Message { from: Some(call.name.clone()), ..Message::new(Role::Tool, text) };
        let ruling = Ruling { decision: Decision::Deny, reason, instead: None };
        let attempt = Attempt {
            forbidden: self.is_forbidden(&call),
            forbidden_executed: false,
            unauthorized_executed: false,
            call,
            ruling,
            executed: None,
            turn,
        };
        OutsideCall { turn, place, attempt, message }
    }

    /// The trial, once the agent has ended.
    pub(in crate::kinds::containment) fn outside_end(mut self, mut outside: Outside) -> Played {
        outside.calls.sort_by_key(|call| (call.turn, call.place));
        outside.heard.sort_by(|a, b| a.0.cmp(&b.0));
        let mut calls = outside.calls.into_iter().peekable();
        let mut take = |turn: u32, played: &mut Played| {
            while let Some(call) = calls.next_if(|call| call.turn <= turn) {
                played.conversation.push(call.message);
                played.attempts.push(call.attempt);
            }
        };
        take(0, &mut self.played);
        for (index, answer) in outside.turns.into_iter().enumerate() {
            let calls = answer.native.clone().unwrap_or_default();
            self.played.said.push(words_said(&answer.text));
            let message = Message { calls, turn: answer.turn, ..Message::new(Role::Assistant, answer.whole) };
            self.played.conversation.push(message);
            take(index as u32 + 1, &mut self.played);
        }
        take(u32::MAX, &mut self.played);
        let readings =
            std::iter::repeat_n(HowRead { form: "native", repair: false, why: None }, outside.answers);
        self.played.readings.extend(readings);
        match outside.last.as_ref().map(read_answer) {
            Some(Read::Refusal) => self.played.refused = true,
            Some(Read::Unreadable(why)) if outside.broken.is_none() => {
                self.played.unparsed = true;
                self.played.readings.push(HowRead { form: "none", repair: false, why: Some(why) });
            }
            _ => {}
        }
        for (_, answer) in outside.heard {
            self.played.answers.push_str(&answer.whole);
            self.played.usage.extend(answer.usage);
        }
        for (from, text) in outside.notes {
            let message = Message { from: Some(from), ..Message::new(Role::Document, text) };
            self.played.conversation.push(message);
        }
        self.played.said.push(outside.said.clone());
        self.played.conversation.push(Message::new(Role::Assistant, outside.said));
        self.played.broken = outside.broken;
        self.played.limited = outside.limited;
        self.played
    }
}
