//! The gate: a policy seen through one case. It decides each call by itself and gives a stable reason.

use proofhouse_ledger::record::containment::Decision;

use super::call::ToolCall;
use super::policy::{Compiled, CompiledRule, Remedy, folded};
use super::ready::ReadyCase;

/// A policy for one case: the case's `allowed_tools` take the place of the policy's allow set and may lift what the policy
/// forbids, its `rules` are asked before the policy's.
#[derive(Debug)]
pub struct Gate<'a> {
    policy: &'a Compiled,
    allowed: Option<&'a [String]>,
    rules: &'a [CompiledRule],
}

/// What the gate said of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Ruling {
    /// Allowed, denied or changed.
    pub decision: Decision,
    /// `empty_tool_name`, `forbidden_tool`, `unreadable_arguments`, `argument_rule:<name>`, `allowlisted` or
    /// `deny_by_default`.
    pub reason: String,
    /// The call that takes its place, for `AllowModified`.
    pub instead: Option<ToolCall>,
}

impl<'a> Gate<'a> {
    /// The gate for a case.
    pub fn new(policy: &'a Compiled, case: &'a ReadyCase) -> Self {
        Self { policy, allowed: case.allowed_tools.as_deref(), rules: &case.rules }
    }

    /// A policy by itself: what a suite's contract says, whatever gates are told of a case.
    pub fn plain(policy: &'a Compiled) -> Self {
        Self { policy, allowed: None, rules: &[] }
    }

    /// Decides a call.
    pub fn decide(&self, call: &ToolCall) -> Ruling {
        if call.name.trim().is_empty() {
            return deny("empty_tool_name");
        }
        if self.policy.forbidden.contains(&call.name) && !self.lifts(&call.name) {
            return deny("forbidden_tool");
        }
        if call.is_unreadable() {
            return deny("unreadable_arguments");
        }
        let Some(rule) = self.objection(call) else { return self.by_name(&call.name) };
        let reason = format!("argument_rule:{}", rule.rule.name);
        let instead = match &rule.rule.remedy {
            Remedy::Deny => None,
            Remedy::Truncate => Some(rule.truncated(call)),
            Remedy::Replace(other) => Some(other.clone()),
        };
        match instead.filter(|instead| self.accepts(instead)) {
            Some(instead) => Ruling { decision: Decision::AllowModified, reason, instead: Some(instead) },
            None => Ruling { decision: Decision::Deny, reason, instead: None },
        }
    }

    /// The tools that the policy forbids by name.
    pub fn forbidden_names(&self) -> impl Iterator<Item = &String> {
        self.policy.forbidden.iter()
    }

    /// Whether the case's author, or the policy, means that this call must never happen: a forbidden tool by any spelling,
    /// or one whose arguments a rule objects to.
    pub fn forbids(&self, call: &ToolCall) -> bool {
        if self.objection(call).is_some() {
            return true;
        }
        let exactly = self.policy.forbidden.contains(&call.name);
        let disguised = || !self.lists(&call.name) && self.policy.folded.contains(&folded(&call.name));
        !self.lifts(&call.name) && (exactly || disguised())
    }

    fn by_name(&self, name: &str) -> Ruling {
        if self.lists(name) {
            return allow("allowlisted");
        }
        if self.policy.deny_by_default || self.allowed.is_some() {
            return deny("deny_by_default");
        }
        if self.policy.folded.contains(&folded(name)) {
            return deny("forbidden_tool");
        }
        allow("allow_by_default")
    }

    /// A call that a rule put in another's place is looked at by everything else.
    fn accepts(&self, call: &ToolCall) -> bool {
        let forbidden = self.policy.forbidden.contains(&call.name) && !self.lifts(&call.name);
        !forbidden && self.objection(call).is_none() && self.by_name(&call.name).decision == Decision::Allow
    }

    fn objection(&self, call: &ToolCall) -> Option<&CompiledRule> {
        self.rules.iter().chain(&self.policy.rules).find(|rule| rule.objects(call))
    }

    fn lists(&self, name: &str) -> bool {
        match self.allowed {
            Some(allowed) => allowed.iter().any(|allowed| allowed == name),
            None => self.policy.allowed.contains(name),
        }
    }

    fn lifts(&self, name: &str) -> bool {
        self.allowed.is_some_and(|allowed| allowed.iter().any(|allowed| allowed == name))
    }
}

fn deny(reason: &str) -> Ruling {
    Ruling { decision: Decision::Deny, reason: reason.to_owned(), instead: None }
}

fn allow(reason: &str) -> Ruling {
    Ruling { decision: Decision::Allow, reason: reason.to_owned(), instead: None }
}

#[cfg(test)]
mod tests;
