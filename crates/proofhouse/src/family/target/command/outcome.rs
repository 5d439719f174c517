//! Outcome rules: what exit code, output and files say about a run of a black-box tool.

use globset::GlobMatcher;
use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Strictness, parse};
use proofhouse_ledger::record::{FailureStage, Observed, Termination};
use regex::{Captures, Regex};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Command, is_inside};
use crate::text::complaint::{At, Complaint};
use crate::text::glob::{GLOBS, path_glob};

/// One rule: conditions that must all hold, and what they say.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutcomeRule {
    /// The tool ended by itself with this code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Standard output matches this pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    /// Standard error matches this pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// This pointer finds something in standard output as JSON (the whole of it, or its last line).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<String>,
    /// The pointer looks into this file of the working directory instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What the pointer must find.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub equals: Option<Json>,
    /// A file whose path matches this glob (`*`, `**`, `?`, `[…]`, `{a,b}`) is in the working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artefact: Option<String>,
    /// `true`, `false`, `"{group}"` or `value`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub success: Option<Json>,
    /// `generation`, `validation`, `repair`, `unknown`, `"{group}"` or `value`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub failure_stage: Option<Json>,
    /// A number, `"{group}"`, `count` or `value`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub attempts: Option<Json>,
    /// A number, `"{group}"`, `count` or `value`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub repairs_triggered: Option<Json>,
}

/// What a run left behind.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// How it ended.
    pub termination: Termination,
    /// The code of a process that ended by itself.
    pub exit_code: Option<i32>,
    /// Standard output.
    pub stdout: &'a str,
    /// Standard error.
    pub stderr: &'a str,
    /// Each file that a rule reads, with its bytes.
    pub files: &'a [(String, Vec<u8>)],
    /// The paths of all files in the working directory; empty unless a rule asks for artefacts.
    pub artefacts: &'a [String],
}

/// What the rules say of it.
pub type Judgement = Observed;

/// Rules made ready.
#[derive(Debug)]
pub struct Reader {
    rules: Vec<CompiledRule>,
}

/// All rules that cannot work; positions are those of the suite's own rules.
pub(super) fn check(command: &Command) -> Vec<Complaint> {
    let at = |index: usize| vec![At::Key("outcome".into()), At::Index(index)];
    let mut complaints: Vec<Complaint> = command
        .outcome
        .iter()
        .enumerate()
        .filter_map(|(index, rule)| {
            let mut complaint = CompiledRule::new(rule).err()?;
            complaint.at.splice(0..0, at(index));
            Some(complaint)
        })
        .collect();
    if command.preset.is_none() && command.outcome.iter().all(|rule| rule.success.is_none()) {
        complaints.push(
            Complaint::new("no rule says when the tool succeeded")
                .hint(
                    "add `{exit_code: 0, success: true}` if a clean exit is all there is, or name a `preset`",
                )
                .key("outcome"),
        );
    }
    complaints
}

impl Reader {
    /// Compiles the rules of a command, preset included.
    ///
    /// # Errors
    /// The first rule that cannot work.
    pub fn new(command: &Command) -> Result<Reader, Complaint> {
        let rules = command.resolved().outcome.iter().map(CompiledRule::new).collect::<Result<_, _>>()?;
        Ok(Reader { rules })
    }

    /// The files that the rules read, each once.
    pub fn files(&self) -> Vec<String> {
        let mut files: Vec<String> = self.rules.iter().filter_map(|rule| rule.file.clone()).collect();
        files.sort();
        files.dedup();
        files
    }

    /// Whether a rule asks for artefacts.
    pub fn wants_artefacts(&self) -> bool {
        self.rules.iter().any(|rule| rule.artefact.is_some())
    }

    /// Reads a run: for each field the first rule that matches and says something wins.
    pub fn read(&self, evidence: &Evidence<'_>) -> Judgement {
        let mut said = Said::default();
        let json = OnceJson::new(evidence);
        for rule in &self.rules {
            if let Some(found) = rule.matches(evidence, &json) {
                rule.say(&found, &mut said);
            }
        }
        let clean = evidence.termination == Termination::Exited && evidence.exit_code == Some(0);
        let success = clean && said.success == Some(true);
        Observed {
            termination: evidence.termination,
            success,
            failure_stage: (!success).then(|| said.failure_stage.unwrap_or(FailureStage::Unknown)),
            attempts: said.attempts,
            repairs_triggered: said.repairs_triggered,
        }
    }
}

#[derive(Default)]
struct Said {
    success: Option<bool>,
    failure_stage: Option<FailureStage>,
    attempts: Option<u32>,
    repairs_triggered: Option<u32>,
}

#[derive(Debug)]
struct CompiledRule {
    exit_code: Option<i32>,
    stdout: Option<Regex>,
    stderr: Option<Regex>,
    json: Option<String>,
    file: Option<String>,
    equals: Option<Json>,
    artefact: Option<GlobMatcher>,
    success: Option<Take<bool>>,
    failure_stage: Option<Take<FailureStage>>,
    attempts: Option<Take<u32>>,
    repairs_triggered: Option<Take<u32>>,
}

/// Where a field's value comes from.
#[derive(Debug)]
enum Take<T> {
    Is(T),
    Group(String),
    Count,
    Value,
}

/// What a field can be read from.
trait Readable: Copy {
    const EXPECTED: &'static str;
    const COUNTS: bool;
    fn of_json(value: &Json) -> Option<Self>;
    fn of_text(text: &str) -> Option<Self>;
}

impl Readable for bool {
    const EXPECTED: &'static str = "`true`, `false`, `\"{group}\"` or `value`";
    const COUNTS: bool = false;
    fn of_json(value: &Json) -> Option<bool> {
        match value {
            Json::Bool(value) => Some(*value),
            _ => None,
        }
    }
    fn of_text(text: &str) -> Option<bool> {
        text.trim().parse().ok()
    }
}

impl Readable for FailureStage {
    const EXPECTED: &'static str =
        "`generation`, `validation`, `repair`, `unknown`, `\"{group}\"` or `value`";
    const COUNTS: bool = false;
    fn of_json(value: &Json) -> Option<FailureStage> {
        FailureStage::from_word(value.as_str()?)
    }
    fn of_text(text: &str) -> Option<FailureStage> {
        FailureStage::from_word(text.trim())
    }
}

impl Readable for u32 {
    const EXPECTED: &'static str = "a whole number, `\"{group}\"`, `count` or `value`";
    const COUNTS: bool = true;
    fn of_json(value: &Json) -> Option<u32> {
        let number = value.as_f64()?;
        (number >= 0.0 && number <= f64::from(u32::MAX) && number.fract() == 0.0).then_some(number as u32)
    }
    fn of_text(text: &str) -> Option<u32> {
        text.trim().parse().ok()
    }
}

impl<T: Readable> Take<T> {
    fn new(key: &'static str, setting: &Json, rule: &Patterns<'_>) -> Result<Take<T>, Complaint> {
        let wrong = |what: String, hint: Option<&str>| Complaint {
            hint: hint.map(str::to_owned),
            ..Complaint::new(what).key(key)
        };
        if let Some(value) = T::of_json(setting) {
            return Ok(Take::Is(value));
        }
        let text = setting.as_str().unwrap_or_default();
        if let Some(group) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            if !rule.has_group(group) {
                let what = format!("no pattern of this rule has a group `{group}`");
                return Err(wrong(what, Some("put parentheses around it: stdout: 'after (\\d+) repairs'")));
            }
            return Ok(Take::Group(group.to_owned()));
        }
        match text {
            "count" if T::COUNTS && !rule.patterns.is_empty() => Ok(Take::Count),
            "count" if T::COUNTS => Err(wrong(
                "`count` counts matches, and this rule has no pattern".to_owned(),
                Some("add `stdout` or `stderr` to the rule"),
            )),
            "value" if rule.has_pointer => Ok(Take::Value),
            "value" => Err(wrong(
                "`value` is what a pointer finds, and this rule has none".to_owned(),
                Some("add `json: /path/to/it` to the rule"),
            )),
            _ => Err(wrong(format!("expected {}, found `{setting}`", T::EXPECTED), None)),
        }
    }

    fn take(&self, found: &RuleMatch<'_>) -> Option<T> {
        match self {
            Take::Is(value) => Some(*value),
            Take::Group(group) => {
                let captures = found.captures.iter().find_map(|captures| match group.parse::<usize>() {
                    Ok(number) => captures.get(number),
                    Err(_) => captures.name(group),
                });
                T::of_text(captures?.as_str())
            }
            Take::Count => T::of_json(&Json::from(found.count)),
            Take::Value => found.value.as_ref().and_then(T::of_json),
        }
    }
}

/// What a rule's settings may refer to.
struct Patterns<'a> {
    patterns: Vec<&'a Regex>,
    has_pointer: bool,
}

impl Patterns<'_> {
    fn has_group(&self, group: &str) -> bool {
        self.patterns.iter().any(|pattern| match group.parse::<usize>() {
            Ok(number) => number < pattern.captures_len(),
            Err(_) => pattern.capture_names().any(|name| name == Some(group)),
        })
    }
}

/// What a matching rule has found.
struct RuleMatch<'a> {
    captures: Vec<Captures<'a>>,
    count: u32,
    value: Option<Json>,
}

impl CompiledRule {
    fn new(rule: &OutcomeRule) -> Result<CompiledRule, Complaint> {
        let pattern = |key: &'static str, text: &Option<String>| -> Result<Option<Regex>, Complaint> {
            let compiled = text.as_deref().map(Regex::new).transpose();
            compiled.map_err(|error| {
                Complaint::new(format!(
                    "the pattern cannot be read: {}",
                    error.to_string().replace('\n', " ")
                ))
                .hint("the syntax is that of the Rust `regex` crate")
                .key(key)
            })
        };
        let bad = |key: &'static str, what: &str, hint: &str| Complaint::new(what).hint(hint).key(key);
        if rule.json.as_ref().is_some_and(|pointer| !pointer.is_empty() && !pointer.starts_with('/')) {
            return Err(bad(
                "json",
                "a JSON pointer is empty or begins with `/`",
                "write `/attempts` for the key `attempts`",
            ));
        }
        if rule.json.is_none() && (rule.file.is_some() || rule.equals.is_some()) {
            return Err(bad(
                "json",
                "`file` and `equals` belong to a pointer, and this rule has none",
                "add `json: /path/to/it`",
            ));
        }
        if rule.file.as_ref().is_some_and(|file| !is_inside(file)) {
            return Err(bad(
                "file",
                "the path leads out of the working directory",
                "give a relative path without `..`",
            ));
        }
        let artefact = rule.artefact.as_deref().map(path_glob).transpose();
        let artefact = artefact.map_err(|what| bad("artefact", &what.to_string(), GLOBS))?;
        let (stdout, stderr) = (pattern("stdout", &rule.stdout)?, pattern("stderr", &rule.stderr)?);
        let known =
            Patterns { patterns: stdout.iter().chain(&stderr).collect(), has_pointer: rule.json.is_some() };
        fn take<T: Readable>(
            key: &'static str,
            setting: &Option<Json>,
            known: &Patterns<'_>,
        ) -> Result<Option<Take<T>>, Complaint> {
            setting.as_ref().map(|setting| Take::new(key, setting, known)).transpose()
        }
        let success = take("success", &rule.success, &known)?;
        let failure_stage = take("failure_stage", &rule.failure_stage, &known)?;
        let attempts = take("attempts", &rule.attempts, &known)?;
        let repairs_triggered = take("repairs_triggered", &rule.repairs_triggered, &known)?;
        if success.is_none() && failure_stage.is_none() && attempts.is_none() && repairs_triggered.is_none() {
            let hint = "add `success`, `failure_stage`, `attempts` or `repairs_triggered`";
            return Err(Complaint::new("the rule says nothing").hint(hint));
        }
        Ok(CompiledRule {
            exit_code: rule.exit_code,
            json: rule.json.clone(),
            file: rule.file.clone(),
            equals: rule.equals.clone(),
            artefact,
            success,
            failure_stage,
            attempts,
            repairs_triggered,
            stdout,
            stderr,
        })
    }

    fn matches<'a>(&self, evidence: &Evidence<'a>, json: &OnceJson<'a>) -> Option<RuleMatch<'a>> {
        if self.exit_code.is_some() && evidence.exit_code != self.exit_code {
            return None;
        }
        let mut found = RuleMatch { captures: Vec::new(), count: 0, value: None };
        for (pattern, text) in [(&self.stdout, evidence.stdout), (&self.stderr, evidence.stderr)] {
            if let Some(pattern) = pattern {
                found.captures.push(pattern.captures(text)?);
                found.count = found
                    .count
                    .saturating_add(u32::try_from(pattern.find_iter(text).count()).unwrap_or(u32::MAX));
            }
        }
        if let Some(pointer) = &self.json {
            let value = json.of(self.file.as_deref())?.pointer(pointer)?.clone();
            if self.equals.as_ref().is_some_and(|equals| *equals != value) {
                return None;
            }
            found.value = Some(value);
        }
        if self
            .artefact
            .as_ref()
            .is_some_and(|glob| !evidence.artefacts.iter().any(|path| glob.is_match(path)))
        {
            return None;
        }
        Some(found)
    }

    fn say(&self, found: &RuleMatch<'_>, said: &mut Said) {
        fn fill<T: Readable>(slot: &mut Option<T>, take: &Option<Take<T>>, found: &RuleMatch<'_>) {
            if slot.is_none() {
                *slot = take.as_ref().and_then(|take| take.take(found));
            }
        }
        fill(&mut said.success, &self.success, found);
        fill(&mut said.failure_stage, &self.failure_stage, found);
        fill(&mut said.attempts, &self.attempts, found);
        fill(&mut said.repairs_triggered, &self.repairs_triggered, found);
    }
}

/// Standard output and files as JSON, parsed when a rule first asks.
struct OnceJson<'a> {
    evidence: &'a Evidence<'a>,
    stdout: std::cell::OnceCell<Option<Json>>,
    files: std::cell::OnceCell<Vec<(&'a str, Option<Json>)>>,
}

impl<'a> OnceJson<'a> {
    fn new(evidence: &'a Evidence<'a>) -> OnceJson<'a> {
        OnceJson { evidence, stdout: Default::default(), files: Default::default() }
    }

    fn of(&self, file: Option<&str>) -> Option<&Json> {
        let read = |bytes: &[u8]| parse(bytes, Strictness::Lenient).ok();
        match file {
            None => {
                let text = self.evidence.stdout.trim();
                let last = || text.lines().next_back().and_then(|line| read(line.as_bytes()));
                self.stdout.get_or_init(|| read(text.as_bytes()).or_else(last)).as_ref()
            }
            Some(name) => {
                let all =
                    || self.evidence.files.iter().map(|(path, bytes)| (path.as_str(), read(bytes))).collect();
                self.files.get_or_init(all).iter().find(|(path, _)| *path == name)?.1.as_ref()
            }
        }
    }
}

#[cfg(test)]
mod tests;
