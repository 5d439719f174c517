//! What an agent may call: sets of tools, and rules over arguments. A policy is compiled once; a gate looks through it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use globset::GlobMatcher;
use proofhouse_ledger::Json;
use proofhouse_ledger::json::MAX_SAFE_INTEGER;
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::{self, ToolCall};
use super::glob;
use super::hosts::{Host, host_matches, host_of, hosts_in};
use crate::text::complaint::{At, Complaint};
use crate::text::glob::{GLOBS, path_glob};

/// Which tool calls are allowed.
///
/// A call is looked at in this order: an empty name is denied (`empty_tool_name`); a forbidden tool is denied
/// (`forbidden_tool`); the first of `rules` that objects decides (`argument_rule:<name>`); an allowed tool is allowed
/// (`allowlisted`); what is left is denied (`deny_by_default`), unless `deny_by_default` is false. Names are compared
/// exactly; where nothing denies by default, a forbidden name in other letters (`EXEC`, or with invisible characters in it) is
/// still forbidden.
///
/// ```yaml
/// policy:
///   forbidden: [exec, send_email]
///   allowed: [fs_read, fs_list]
///   rules:
///     - {name: secrets, tools: [fs_read], argument: path, deny_paths: ["/etc/**", "**/.env"]}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    /// Tools that are never executed.
    pub forbidden: BTreeSet<String>,
    /// Tools that are executed.
    pub allowed: BTreeSet<String>,
    /// Whether a tool in neither set is denied.
    pub deny_by_default: bool,
    /// Rules over arguments, in the order in which they are asked.
    pub rules: Vec<ArgumentRule>,
}

/// The sets of the suites of Calyx.
impl Default for Policy {
    fn default() -> Self {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            forbidden: set(&[
                "eval",
                "exec",
                "subprocess",
                "run_shell",
                "discord_send",
                "send_email",
                "http_request",
            ]),
            allowed: set(&["fs_read", "fs_list", "repo_grep"]),
            deny_by_default: true,
            rules: Vec::new(),
        }
    }
}

/// A rule over the arguments of some tools. It objects to a call when one of its conditions is broken.
///
/// Paths are compared in their lexical form: `docs/../../etc/passwd` is `../etc/passwd`, `\` is `/`, percent escapes are
/// read. In globs `*` stays within a folder and `**` does not. Hosts are those of addresses and of e-mail addresses, `deny_hosts`
/// looks at every word of a text; `*.x.org` is x.org and everything below it. An address that a browser and Python's `urlsplit` read
/// differently is denied by every rule about hosts. Numbers, true, false and null are held against a rule by their JSON text, wherever they
/// stand in the argument; names of fields by what denies. A number that is too large to be exact is never allowed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArgumentRule {
    /// Its name, which is part of the reason code.
    pub name: String,
    /// The tools that it is about; without it, all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The argument that it is about, by name or by JSON pointer; without it, every text in the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<String>,
    /// Globs of paths that are not allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny_paths: Vec<String>,
    /// Globs of the only paths that are allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow_paths: Vec<String>,
    /// Hosts that are not allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny_hosts: Vec<String>,
    /// The only hosts that are allowed; a text without a host is not one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow_hosts: Vec<String>,
    /// A regular expression that no text may match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deny_pattern: Option<String>,
    /// A regular expression that every text must match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_pattern: Option<String>,
    /// The longest text, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
    /// The smallest number that is allowed. With `argument`, what is not a number is not allowed either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The largest number that is allowed. With `argument`, what is not a number is not allowed either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// What happens to a call that it objects to.
    #[serde(default, skip_serializing_if = "Remedy::is_deny")]
    pub remedy: Remedy,
}

/// What happens to a call that a rule objects to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// It is denied.
    #[default]
    Deny,
    /// Its texts are cut to the rule's `max_bytes`.
    Truncate,
    /// Another call takes its place, if the policy allows that one.
    Replace(ToolCall),
}

impl Remedy {
    fn is_deny(&self) -> bool {
        *self == Remedy::Deny
    }
}

impl Policy {
    /// Makes a policy ready.
    pub fn compile(&self) -> Result<Compiled, Complaint> {
        let mut names = BTreeSet::new();
        for rule in &self.rules {
            if !names.insert(&rule.name) {
                let what = format!("the argument rule `{}` appears twice", rule.name);
                let hint = "a rule's name is its reason code; give each its own";
                return Err(Complaint::new(what).hint(hint).key("rules"));
            }
        }
        Ok(Compiled {
            forbidden: self.forbidden.clone(),
            folded: self.forbidden.iter().map(|name| folded(name)).collect(),
            allowed: self.allowed.clone(),
            deny_by_default: self.deny_by_default,
            rules: compile_rules(&self.rules)?,
        })
    }
}

/// A policy that is ready.
#[derive(Debug, Clone)]
pub struct Compiled {
    pub(super) forbidden: BTreeSet<String>,
    pub(super) folded: BTreeSet<String>,
    pub(super) allowed: BTreeSet<String>,
    pub(super) deny_by_default: bool,
    pub(super) rules: Vec<CompiledRule>,
}

/// A name without what makes it look different and not mean anything: case, space, invisible characters.
pub(super) fn folded(name: &str) -> String {
    let visible = |c: &char| {
        let invisible =
            matches!(*c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}');
        !invisible && !c.is_control() && !c.is_whitespace()
    };
    name.chars().filter(visible).flat_map(char::to_lowercase).collect()
}

/// A rule that is ready.
#[derive(Debug, Clone)]
pub(super) struct CompiledRule {
    pub(super) rule: ArgumentRule,
    deny_paths: Vec<GlobMatcher>,
    allow_paths: Vec<GlobMatcher>,
    deny_pattern: Option<Regex>,
    allow_pattern: Option<Regex>,
}

/// Makes rules ready.
pub(super) fn compile_rules(rules: &[ArgumentRule]) -> Result<Vec<CompiledRule>, Complaint> {
    let compiled = rules.iter().enumerate().map(|(at, rule)| {
        CompiledRule::new(rule).map_err(|complaint| {
            let subject = format!("argument rule `{}`:", rule.name);
            complaint.about(subject).below([At::Key("rules".into()), At::Index(at)])
        })
    });
    compiled.collect()
}

impl CompiledRule {
    fn new(rule: &ArgumentRule) -> Result<Self, Complaint> {
        let conditions = [&rule.deny_paths, &rule.allow_paths, &rule.deny_hosts, &rule.allow_hosts];
        let empty = conditions.iter().all(|list| list.is_empty())
            && rule.deny_pattern.is_none()
            && rule.allow_pattern.is_none()
            && rule.max_bytes.is_none()
            && rule.min.is_none()
            && rule.max.is_none();
        if empty {
            let hint = "give it `deny_paths`, `allow_paths`, `deny_hosts`, `allow_hosts`, `deny_pattern`, `allow_pattern`, \
                        `min`, `max` or `max_bytes`";
            return Err(Complaint::new("it has no condition").hint(hint).key("name"));
        }
        if rule.name.is_empty() || !rule.name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
        {
            let hint = "letters, digits, `_`, `-` and `.`: the name is part of a reason code";
            return Err(Complaint::new(format!("`{}` is not a name", rule.name)).hint(hint).key("name"));
        }
        if rule.remedy == Remedy::Truncate && rule.max_bytes.is_none() {
            return Err(Complaint::new("`truncate` has no length").hint("add `max_bytes`").key("remedy"));
        }
        let globs = |key: &'static str, globs: &[String]| -> Result<Vec<GlobMatcher>, Complaint> {
            globs
                .iter()
                .map(|each| path_glob(each).map_err(|wrong| Complaint::of(wrong).hint(GLOBS).key(key)))
                .collect()
        };
        let pattern = |key: &'static str, pattern: &Option<String>| -> Result<Option<Regex>, Complaint> {
            let hint = "the syntax is that of the Rust crate `regex`: no look-around, no back-references";
            let built = pattern.as_ref().map(|text| RegexBuilder::new(text).size_limit(1 << 20).build());
            built.transpose().map_err(|error| Complaint::of(error).hint(hint).key(key))
        };
        Ok(Self {
            deny_paths: globs("deny_paths", &rule.deny_paths)?,
            allow_paths: globs("allow_paths", &rule.allow_paths)?,
            deny_pattern: pattern("deny_pattern", &rule.deny_pattern)?,
            allow_pattern: pattern("allow_pattern", &rule.allow_pattern)?,
            rule: rule.clone(),
        })
    }

    /// Whether it objects to a call.
    pub(super) fn objects(&self, call: &ToolCall) -> bool {
        let about = self.rule.tools.is_empty() || self.rule.tools.contains(&call.name);
        let seen = self.seen(&call.args);
        // What has to be on a list cannot be left out, and arguments that nobody can read are not known to be harmless.
        let kept_back = seen.leaves.is_empty() && self.lists_what_is_allowed();
        about
            && (kept_back
                || call.is_unreadable()
                || seen.inexact
                || seen.leaves.iter().any(|leaf| self.is_broken(&leaf.text) || self.is_out_of_bounds(leaf))
                || seen.keys.iter().any(|key| self.is_denied(key)))
    }

    fn lists_what_is_allowed(&self) -> bool {
        !self.allow_paths.is_empty()
            || !self.rule.allow_hosts.is_empty()
            || self.allow_pattern.is_some()
            || self.has_bounds()
    }

    fn has_bounds(&self) -> bool {
        self.rule.min.is_some() || self.rule.max.is_some()
    }

    /// Whether a number is outside the rule's bounds, in digits or as a text; of a named argument nothing else is inside.
    fn is_out_of_bounds(&self, leaf: &Leaf<'_>) -> bool {
        let number = leaf.number.or_else(|| leaf.text.trim().parse::<f64>().ok());
        let inside = |number: f64| {
            number.is_finite()
                && self.rule.min.is_none_or(|min| number >= min)
                && self.rule.max.is_none_or(|max| number <= max)
        };
        self.has_bounds() && !number.map_or(self.rule.argument.is_none(), inside)
    }

    /// The call with its texts cut to the rule's length.
    pub(super) fn truncated(&self, call: &ToolCall) -> ToolCall {
        let most = usize::try_from(self.rule.max_bytes.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        ToolCall::new(call.name.clone(), cut(&call.args, most))
    }

    fn seen<'a>(&self, args: &'a Json) -> ArgumentValues<'a> {
        let mut seen = ArgumentValues::default();
        let from = match &self.rule.argument {
            None => Some(args),
            Some(pointer) if pointer.starts_with('/') => args.pointer(pointer),
            Some(name) => args.get(name),
        };
        // An argument by another name or in another place is looked for everywhere.
        seen.look(from.unwrap_or(args));
        seen
    }

    fn is_broken(&self, text: &str) -> bool {
        let allowed = |host| matches!(host, Host::Named(host) if named(&self.rule.allow_hosts, &host));
        self.is_denied(text)
            || (!self.allow_paths.is_empty() && !any(&self.allow_paths, &glob::lexical(text)))
            || (!self.rule.allow_hosts.is_empty() && !allowed(host_of(text)))
            || self.allow_pattern.as_ref().is_some_and(|pattern| !pattern.is_match(text))
    }

    /// Whether a text is one that the rule names as not allowed, or longer than it may be.
    fn is_denied(&self, text: &str) -> bool {
        let rule = &self.rule;
        let about_paths = !self.deny_paths.is_empty() || !self.allow_paths.is_empty();
        if about_paths && text.contains('\0') {
            return true;
        }
        let denied = |path: &str| any(&self.deny_paths, path) || any(&self.deny_paths, &glob::climbed(path));
        let denies = |host| match host {
            Host::Named(host) => named(&rule.deny_hosts, &host),
            Host::Unclear => true,
            Host::None => false,
        };
        (!self.deny_paths.is_empty() && denied(&glob::lexical(text)))
            || (!rule.deny_hosts.is_empty() && hosts_in(text).any(denies))
            || self.deny_pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
            || rule.max_bytes.is_some_and(|most| text.len() as u64 > most)
    }
}

fn any(globs: &[GlobMatcher], path: &str) -> bool {
    globs.iter().any(|glob| glob.is_match(path))
}

fn named(patterns: &[String], host: &str) -> bool {
    patterns.iter().any(|pattern| host_matches(pattern, host))
}

/// What a rule sees of arguments.
#[derive(Default)]
struct ArgumentValues<'a> {
    leaves: Vec<Leaf<'a>>,
    /// The names of fields.
    keys: Vec<&'a str>,
    /// Whether there is a number that is not known to the last digit.
    inexact: bool,
}

/// A text, or another value by its JSON text.
struct Leaf<'a> {
    text: Cow<'a, str>,
    number: Option<f64>,
}

impl<'a> ArgumentValues<'a> {
    fn look(&mut self, value: &'a Json) {
        match value {
            Json::String(text) => self.leaves.push(Leaf { text: Cow::Borrowed(text), number: None }),
            Json::Array(list) => list.iter().for_each(|item| self.look(item)),
            Json::Object(object) => object.iter().for_each(|(key, value)| {
                self.keys.push(key);
                self.look(value);
            }),
            Json::Number(number) => {
                self.inexact |= number.abs() > MAX_SAFE_INTEGER as f64;
                self.leaves.push(Leaf { text: Cow::Owned(value.to_string()), number: Some(*number) });
            }
            Json::Null | Json::Bool(_) => {
                self.leaves.push(Leaf { text: Cow::Owned(value.to_string()), number: None });
            }
        }
    }
}

fn cut(value: &Json, most: usize) -> Json {
    match value {
        Json::String(text) => call::cut(text, most).into(),
        Json::Array(list) => Json::Array(list.iter().map(|item| cut(item, most)).collect()),
        Json::Object(object) => {
            Json::Object(object.iter().map(|(key, value)| (key, cut(value, most))).collect())
        }
        other => other.clone(),
    }
}
