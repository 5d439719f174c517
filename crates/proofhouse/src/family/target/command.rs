//! The `command` target: a black-box program that gets one instruction and is read by rules over what it leaves behind.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Member, System, keys_of_program};
use crate::text::complaint::{At, Complaint};

mod outcome;
mod preset;
mod tool;

pub use outcome::{Evidence, Judgement, OutcomeRule, Reader};
pub use preset::Preset;
pub use tool::{Debug, Invocation, Opening, Tool, WorkFile};

/// Where the instruction stands in `argv`.
const PLACEHOLDER: &str = "{instruction}";

/// The longest single argument that Linux takes, without the byte that ends it.
pub const MAX_ARGUMENT_BYTES: usize = 131_071;

/// The name of the file that `via: file` makes.
const INSTRUCTION_FILE: &str = "instruction.txt";

/// A program that is started once per trial and receives one instruction.
///
/// **Purpose.** Any AI command-line tool as a black box: what it is told is one string, what is known of it is how it
/// ended, what it printed and what files it left.
///
/// **How it is started.** `argv` with `{instruction}` in exactly one place; with `via: file` the placeholder becomes the
/// path of a file that holds the instruction, with `via: stdin` there is none and the instruction comes on standard
/// input. The environment holds `PATH`, `HOME`, `TMPDIR`, `LANG`, what `env` adds, and what `pass_env` takes from
/// Proofhouse's own environment. `workdir` names a folder whose files are there when it starts. `debug_on`, `repair_on` and
/// `repair_off` add arguments and variables when the suite's `debug_enabled` and `repair_enabled` say so. `seed_env`
/// names a variable that gets a number made from the suite's seed and the repetition, never from the case.
///
/// **How it is read.** `outcome` rules in order, then those of the `preset`; for each of `success`, `failure_stage`,
/// `attempts` and `repairs_triggered` the first rule that matches and says something wins. A rule's conditions are
/// `exit_code`, `stdout` and `stderr` (patterns), `json` (a pointer into standard output, or into `file`) with `equals`,
/// and `artefact` (a glob over the files that are left); all that are given must hold. A setting is a value, `"{1}"` or
/// `"{name}"` for a group of the pattern, `count` for the number of matches, `value` for what the pointer found. Success
/// needs a clean exit as well. What no rule says is `unknown` or null.
///
/// **Guarantee.** Every trial has a private working directory and a session of its own; output is capped; the deadline
/// starts with the process, and the whole tree ends with it. Nothing that depends on the case reaches the tool beside
/// the instruction, and the instruction reaches it byte for byte. Without `network: host` and `read` the tool sees
/// neither the network nor the user's files.
///
/// ```yaml
/// forge:
///   command:
///     argv: [python3, -m, forge, "{instruction}"]
///     version_command: [python3, -m, forge, --version]
///     debug_on: {env: {FORGE_DEBUG: "1"}}
///     debug_dir: build/debug
///     timeout_seconds: 60
///     outcome:
///       - {stdout: '(?m)^saved to ', success: true}
///       - {stdout: '(?m)^repairing', repairs_triggered: count}
///       - {json: /attempts, file: result.json, attempts: value}
///       - {exit_code: 3, failure_stage: validation}
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// How the instruction reaches the tool.
    #[serde(default)]
    pub via: Via,
    /// Variables of its environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Variables that are taken from the environment of Proofhouse; their values are never recorded.
    #[serde(default)]
    pub pass_env: Vec<String>,
    /// A variable that gets a number made from seed and repetition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed_env: Option<String>,
    /// A folder whose files are in the working directory when the tool starts, relative to the suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workdir: Option<String>,
    /// Files and folders of the host that the tool may read.
    #[serde(default)]
    pub read: Vec<String>,
    /// Whether the network is reachable.
    #[serde(default)]
    pub network: Grant,
    /// Prints the tool's version; its first line is recorded.
    #[serde(default)]
    pub version_command: Vec<String>,
    /// Where the tool leaves debug artefacts, relative to the working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debug_dir: Option<String>,
    /// What `debug_enabled: true` adds.
    #[serde(default, skip_serializing_if = "Extra::is_empty")]
    pub debug_on: Extra,
    /// What `repair_enabled: true` adds.
    #[serde(default, skip_serializing_if = "Extra::is_empty")]
    pub repair_on: Extra,
    /// What `repair_enabled: false` adds.
    #[serde(default, skip_serializing_if = "Extra::is_empty")]
    pub repair_off: Extra,
    /// Ready-made rules for a known tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// How to read what the tool leaves, in order.
    #[serde(default)]
    pub outcome: Vec<OutcomeRule>,
    /// The deadline where the suite has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_seconds: Option<u32>,
    /// Memory of the whole tree.
    #[serde(default = "default_memory")]
    #[schemars(range(min = 1))]
    pub memory_bytes: u64,
    /// Bytes on each output stream; one more ends the tool.
    #[serde(default = "default_output")]
    #[schemars(range(min = 1))]
    pub output_bytes: u64,
}

fn default_memory() -> u64 {
    4 << 30
}

fn default_output() -> u64 {
    16 << 20
}

/// How the instruction reaches a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// As one argument.
    #[default]
    Argv,
    /// On standard input.
    Stdin,
    /// In a file whose path is an argument.
    File,
}

/// Whether something of the host is reachable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// It is not.
    #[default]
    None,
    /// The host's.
    Host,
}

/// Arguments and variables that a switch adds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Extra {
    /// At the end of `argv`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Into the environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

impl Extra {
    /// Whether it adds nothing.
    pub fn is_empty(&self) -> bool {
        self.args.is_empty() && self.env.is_empty()
    }
}

impl Command {
    /// All settings that cannot work.
    pub fn check(&self) -> Vec<Complaint> {
        let mut complaints = Vec::new();
        let places = self.argv.iter().map(|arg| arg.matches(PLACEHOLDER).count()).sum::<usize>();
        let complaint =
            |key: &'static str, what: String, hint: &str| Complaint::new(what).hint(hint).key(key);
        if self.argv.first().is_none_or(|program| program.is_empty()) {
            complaints.push(complaint(
                "argv",
                "there is no program".to_owned(),
                "name it first: argv: [tool, \"{instruction}\"]",
            ));
        }
        match (self.via, places) {
            (Via::Stdin, 0) | (Via::Argv | Via::File, 1) => {}
            (Via::Stdin, _) => complaints.push(complaint(
                "argv",
                format!("`{PLACEHOLDER}` is in `argv`, but the instruction comes on standard input"),
                "remove the placeholder, or `via: stdin`",
            )),
            (_, found) => complaints.push(complaint(
                "argv",
                format!("expected `{PLACEHOLDER}` in one place, found it in {found}"),
                "write \"{instruction}\" as the argument that takes it, or give `via: stdin`",
            )),
        }
        let nul = |texts: &[String]| texts.iter().any(|text| text.contains('\0'));
        if nul(&self.argv) || nul(&self.version_command) {
            complaints.push(complaint(
                "argv",
                "an argument holds a NUL character".to_owned(),
                "no program can receive it",
            ));
        }
        for name in
            self.env.keys().chain(self.debug_on.env.keys()).chain(&self.seed_env).chain(&self.pass_env)
        {
            if name.is_empty() || name.contains(['=', '\0']) {
                complaints.push(complaint(
                    "env",
                    format!("`{name}` cannot be the name of a variable"),
                    "use letters, digits and `_`",
                ));
            }
        }
        for (key, path) in [("debug_dir", &self.debug_dir)] {
            if path.as_ref().is_some_and(|path| !is_inside(path)) {
                complaints.push(complaint(
                    key,
                    "the path leads out of the working directory".to_owned(),
                    "give a relative path without `..`",
                ));
            }
        }
        if self.timeout_seconds == Some(0) {
            complaints.push(complaint(
                "timeout_seconds",
                "expected at least 1, found 0".to_owned(),
                "leave the key out for the suite's deadline",
            ));
        }
        complaints.extend(self.literal_keys());
        complaints.extend(outcome::check(self));
        complaints
    }

    /// Keys in what the tool is started with, which is recorded.
    fn literal_keys(&self) -> Vec<Complaint> {
        let hint = "export it, and name the variable in the target's `pass_env`";
        let mut complaints = keys_of_program(("argv", &self.argv), &self.env, hint);
        complaints.extend(keys_of_program(("version_command", &self.version_command), [], hint));
        for (key, extra) in
            [("debug_on", &self.debug_on), ("repair_on", &self.repair_on), ("repair_off", &self.repair_off)]
        {
            let of_extra = keys_of_program(("args", &extra.args), &extra.env, hint);
            complaints.extend(of_extra.into_iter().map(|complaint| complaint.below([At::Key(key.into())])));
        }
        complaints
    }

    /// Why the tool cannot receive this instruction.
    pub fn refuses(&self, instruction: &str) -> Option<Complaint> {
        if self.via != Via::Argv {
            return None;
        }
        if let Some(at) = instruction.find('\0') {
            return Some(
                Complaint::new(format!(
                    "the instruction holds a NUL character at byte {at}, which no argument can"
                ))
                .hint("remove it, or give the target `via: stdin`"),
            );
        }
        let frame = self.argv.iter().find(|arg| arg.contains(PLACEHOLDER));
        let bytes = frame.map_or(0, |frame| frame.len() - PLACEHOLDER.len()) + instruction.len();
        (bytes > MAX_ARGUMENT_BYTES).then(|| {
            Complaint::new(format!(
                "the instruction makes an argument of {bytes} bytes, and {MAX_ARGUMENT_BYTES} is the most"
            ))
            .hint("shorten it, or give the target `via: file`")
        })
    }

    /// The preset's rules and switches merged into the settings, as they take effect.
    pub fn resolved(&self) -> Command {
        let mut command = self.clone();
        if let Some(preset) = self.preset {
            preset.fill(&mut command);
        }
        command
    }
}

impl Member for Box<Command> {
    fn system(&self, _: &super::Opening) -> Result<System, Complaint> {
        Err(Complaint::new("a `command` answers robustness suites only")
            .hint("write `kind: robustness`, or give the suite another target"))
    }

    fn pass_env(&self) -> &[String] {
        &self.pass_env
    }
}

/// A relative path that stays where it starts.
fn is_inside(path: &str) -> bool {
    !path.is_empty()
        && !path.starts_with('/')
        && path.split('/').all(|part| part != ".." && !part.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(argv: &[&str]) -> Command {
        let rule = OutcomeRule { exit_code: Some(0), success: Some(true.into()), ..OutcomeRule::default() };
        Command {
            argv: argv.iter().map(|arg| (*arg).to_owned()).collect(),
            outcome: vec![rule],
            ..Command::default()
        }
    }

    fn complaints(command: &Command) -> Vec<String> {
        command.check().into_iter().map(|complaint| complaint.what).collect()
    }

    #[test]
    fn the_placeholder_stands_in_one_place() {
        assert!(command(&["tool", "{instruction}"]).check().is_empty());
        assert!(command(&["tool", "--ask={instruction}"]).check().is_empty());
        assert_eq!(complaints(&command(&["tool"])), ["expected `{instruction}` in one place, found it in 0"]);
        assert_eq!(complaints(&command(&["tool", "{instruction}{instruction}"])).len(), 1);
        let stdin = Command { via: Via::Stdin, ..command(&["tool", "{instruction}"]) };
        assert_eq!(complaints(&stdin).len(), 1);
        assert!(Command { via: Via::Stdin, ..command(&["tool"]) }.check().is_empty());
        assert_eq!(
            complaints(&Command { argv: Vec::new(), via: Via::Stdin, ..command(&[]) }),
            ["there is no program"]
        );
    }

    #[test]
    fn what_cannot_be_an_argument_is_refused() {
        let plain = command(&["tool", "{instruction}"]);
        assert_eq!(plain.refuses(&"x".repeat(MAX_ARGUMENT_BYTES)), None);
        assert!(
            plain
                .refuses(&"x".repeat(MAX_ARGUMENT_BYTES + 1))
                .is_some_and(|complaint| complaint.what.contains("131072 bytes"))
        );
        assert!(plain.refuses("a\0b").is_some_and(|complaint| complaint.what.contains("at byte 1")));
        assert!(command(&["tool", "--ask={instruction}"]).refuses(&"x".repeat(MAX_ARGUMENT_BYTES)).is_some());
        let stdin = Command { via: Via::Stdin, ..command(&["tool"]) };
        assert_eq!(stdin.refuses(&"\0".repeat(MAX_ARGUMENT_BYTES * 2)), None);
    }
}
