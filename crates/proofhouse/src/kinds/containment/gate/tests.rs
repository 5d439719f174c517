//! What the gate decides where names are disguised, lifted by a case, or put in place of others.

use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Strictness, parse};

use super::*;
use crate::kinds::containment::{ArgumentRule, Case, Policy};

fn call(name: &str, args: &str) -> ToolCall {
    ToolCall::new(name, parse(args.as_bytes(), Strictness::Strict).unwrap())
}

fn policy(rules: Vec<ArgumentRule>) -> Policy {
    Policy { rules, ..Policy::default() }
}

fn case(allowed: Option<&[&str]>) -> ReadyCase {
    let allowed_tools = allowed.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
    ReadyCase::new(Case { allowed_tools, ..Case::default() }).unwrap()
}

/// What the gate says, and whether the call must never happen.
fn seen(policy: &Policy, case: &ReadyCase, call: &ToolCall) -> (Decision, String, bool) {
    let compiled = policy.compile().unwrap();
    let gate = Gate::new(&compiled, case);
    let ruling = gate.decide(call);
    (ruling.decision, ruling.reason, gate.forbids(call))
}

#[test]
fn a_forbidden_tool_by_any_spelling_must_never_happen() {
    let policy = policy(Vec::new());
    let forbids = |case: &ReadyCase, name: &str| seen(&policy, case, &call(name, "{}")).2;
    let plain = case(None);
    assert!(forbids(&plain, "exec"));
    assert!(forbids(&plain, "E\u{200b}xec"), "in other letters");
    assert!(!forbids(&plain, "fs_read"));
    assert!(!forbids(&plain, "calculator"), "what nobody names is denied and not forbidden");
    // Who lists a name means that name: its spelling is nobody's disguise.
    assert!(!forbids(&case(Some(&["EXEC"])), "EXEC"));
    assert!(forbids(&case(Some(&["EXEC"])), "exec"));
    let spelt = Policy { allowed: ["EXEC".to_owned()].into(), ..policy.clone() };
    assert!(!seen(&spelt, &plain, &call("EXEC", "{}")).2);
    assert!(seen(&spelt, &plain, &call("Exec", "{}")).2);
}

#[test]
fn a_case_may_lift_what_the_policy_forbids_and_nothing_else() {
    let policy = policy(Vec::new());
    let lifting = case(Some(&["exec"]));
    assert_eq!(seen(&policy, &lifting, &call("exec", "{}")), (Decision::Allow, "allowlisted".into(), false));
    assert_eq!(seen(&policy, &lifting, &call("eval", "{}")), (Decision::Deny, "forbidden_tool".into(), true));
    // A case's list takes the place of the policy's, and denies what is not on it even where the policy would not.
    let open = Policy { deny_by_default: false, ..policy };
    let refused = (Decision::Deny, "deny_by_default".into(), false);
    assert_eq!(seen(&open, &lifting, &call("fs_read", "{}")), refused);
    let through = (Decision::Allow, "allow_by_default".into(), false);
    assert_eq!(seen(&open, &case(None), &call("calculator", "{}")), through);
}

#[test]
fn arguments_that_nobody_can_read_are_denied_after_the_name() {
    let policy = policy(Vec::new());
    let unreadable = |name: &str| ToolCall::new(name, Json::String("not an object".to_owned()));
    assert_eq!(seen(&policy, &case(None), &unreadable("fs_read")).1, "unreadable_arguments");
    assert_eq!(seen(&policy, &case(None), &unreadable("exec")).1, "forbidden_tool");
    assert_eq!(seen(&policy, &case(None), &unreadable(" ")).1, "empty_tool_name");
}

#[test]
fn what_takes_the_place_of_a_call_is_looked_at_by_everything_else() {
    let instead = |other: ToolCall| {
        let rule = ArgumentRule {
            name: "etc".into(),
            tools: vec!["fs_read".into()],
            deny_paths: vec!["/etc/**".into()],
            remedy: Remedy::Replace(other),
            ..ArgumentRule::default()
        };
        let second = ArgumentRule {
            name: "keys".into(),
            deny_paths: vec!["**/key".into()],
            ..ArgumentRule::default()
        };
        let policy = Policy { deny_by_default: false, ..policy(vec![rule, second]) };
        let compiled = policy.compile().unwrap();
        let case = case(None);
        let ruling = Gate::new(&compiled, &case).decide(&call("fs_read", r#"{"path":"/etc/shadow"}"#));
        assert_eq!(ruling.reason, "argument_rule:etc");
        assert_eq!(ruling.instead.is_some(), ruling.decision == Decision::AllowModified);
        ruling.decision
    };
    assert_eq!(instead(call("fs_list", r#"{"path":"docs"}"#)), Decision::AllowModified);
    assert_eq!(instead(call("calculator", "{}")), Decision::AllowModified, "nothing denies by default here");
    assert_eq!(instead(call("exec", "{}")), Decision::Deny, "forbidden by name");
    assert_eq!(instead(call("EXEC", "{}")), Decision::Deny, "forbidden by another spelling");
    assert_eq!(instead(call("fs_read", r#"{"path":"/etc/passwd"}"#)), Decision::Deny, "the same rule");
    assert_eq!(instead(call("fs_list", r#"{"path":"a/key"}"#)), Decision::Deny, "another rule");
}

#[test]
fn what_is_forbidden_takes_no_place_unless_the_case_lifts_it() {
    let rule = ArgumentRule {
        name: "etc".into(),
        tools: vec!["fs_read".into()],
        deny_paths: vec!["/etc/**".into()],
        remedy: Remedy::Replace(call("exec", "{}")),
        ..ArgumentRule::default()
    };
    // Forbidden and allowed by the same policy: forbidden counts.
    let both = Policy { allowed: ["exec".to_owned(), "fs_read".to_owned()].into(), ..policy(vec![rule]) };
    let decided = |case: &ReadyCase| seen(&both, case, &call("fs_read", r#"{"path":"/etc/shadow"}"#)).0;
    assert_eq!(decided(&case(None)), Decision::Deny);
    assert_eq!(decided(&case(Some(&["exec"]))), Decision::AllowModified);
}

#[test]
fn a_cut_that_does_not_help_is_no_remedy() {
    let rule = |tools: Vec<String>| ArgumentRule {
        name: "short".into(),
        tools,
        max_bytes: Some(4),
        remedy: Remedy::Truncate,
        ..ArgumentRule::default()
    };
    let case = case(None);
    let compiled = policy(vec![rule(Vec::new())]).compile().unwrap();
    let gate = Gate::new(&compiled, &case);
    let ruling = gate.decide(&call("fs_read", r#"{"path":"abcdefgh"}"#));
    assert_eq!(ruling.decision, Decision::AllowModified);
    assert_eq!(ruling.instead, Some(call("fs_read", r#"{"path":"abcd"}"#)));
    let ruling = gate.decide(&call("calculator", r#"{"x":"abcdefgh"}"#));
    assert_eq!((ruling.decision, ruling.instead), (Decision::Deny, None), "nobody lists it");
}

#[test]
fn the_rules_of_a_case_are_asked_first() {
    let named = |name: &str| ArgumentRule {
        name: name.into(),
        deny_pattern: Some("secret".into()),
        ..ArgumentRule::default()
    };
    let case = ReadyCase::new(Case { rules: vec![named("case")], ..Case::default() }).unwrap();
    let asked = seen(&policy(vec![named("policy")]), &case, &call("fs_read", r#"{"path":"secret"}"#));
    assert_eq!(asked, (Decision::Deny, "argument_rule:case".into(), true));
}
