//! A command made ready: starts the tool in the sandbox, once per instruction, and reads what it leaves.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::files::sorted_dir;
use proofhouse_ledger::record::{Observed, Termination};
use proofhouse_ledger::{Digest, digest};
use proofhouse_sandbox::{
    Arg, Bind, Infra, Network, Outcome, PlacedFile, Proc, Sandbox, Scratch, Source, Spec, Status, Work,
    recipes,
};

use super::{Command, Evidence, Extra, Grant, INSTRUCTION_FILE, PLACEHOLDER, Reader, Via};
use crate::text::complaint::Complaint;

/// Where programs are looked for.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
/// How long the version command may take.
const VERSION_MS: u64 = 30_000;
/// Files that are looked at when a working directory is listed; a tool that makes more has the rest ignored.
const MAX_LISTED: usize = 10_000;
/// The largest result file that a rule reads.
const MAX_RESULT_BYTES: u64 = 16 << 20;
/// What a record keeps of an output stream, from its beginning and again from its end.
const KEPT_BYTES: usize = 16 << 10;

/// A file that is in the working directory when the tool starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkFile {
    /// Relative path.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
    /// Whether it may be executed.
    pub executable: bool,
}

/// What a tool needs beside its settings.
pub struct Opening<'a> {
    /// Runs the tool.
    pub sandbox: Arc<Sandbox>,
    /// Where working directories are made that have to be looked at afterwards.
    pub scratch: PathBuf,
    /// Where relative paths of `read` begin.
    pub base: &'a Utf8Path,
    /// The files of `workdir`.
    pub files: Vec<WorkFile>,
    /// The suite's `debug_enabled`.
    pub debug_enabled: bool,
    /// How many bytes of debug artefacts are kept in memory for whoever copies them.
    pub debug_bytes: u64,
    /// The suite's `repair_enabled`.
    pub repair_enabled: bool,
    /// The harness's environment, for `pass_env`.
    pub environment: &'a dyn Fn(&str) -> Option<String>,
}

/// A tool that is ready for instructions.
pub struct Tool {
    command: Command,
    reader: Reader,
    spec: Spec,
    sandbox: Arc<Sandbox>,
    scratch: PathBuf,
    watch_debug: bool,
    debug_bytes: u64,
}

/// What one run of the tool left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// What the rules say; nothing where the tool could not be started or the sandbox failed.
    pub observed: Option<Observed>,
    /// How the process ended; nothing where the sandbox failed.
    pub termination: Option<Termination>,
    /// The code of a process that ended by itself.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// A stable code for what went wrong, and the same in words.
    pub trouble: Option<(&'static str, String)>,
    /// Standard output.
    pub stdout: Stream,
    /// Standard error.
    pub stderr: Stream,
    /// What was in the debug directory.
    pub debug: Option<Debug>,
    /// Wall time of the process.
    pub duration_ms: u64,
}

/// One output stream as a record keeps it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stream {
    /// Bounded.
    pub text: String,
    /// True length.
    pub bytes: u64,
    /// Of all of it.
    pub sha256: Option<Digest>,
}

/// Debug artefacts that a tool left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Debug {
    /// Relative to the working directory.
    pub path: String,
    /// Over names and contents.
    pub sha256: Digest,
    /// The files below that path, in order, as far as they fit.
    pub files: Vec<(String, Vec<u8>)>,
    /// How many did not fit.
    pub left_out: usize,
}

impl Tool {
    /// Makes a tool ready.
    ///
    /// # Errors
    /// A rule that cannot work, or a variable that is not set.
    pub fn new(command: &Command, opening: Opening<'_>) -> Result<Tool, Complaint> {
        let command = command.resolved();
        let reader = Reader::new(&Command { preset: None, ..command.clone() })?;
        let spec = frame(&command, &opening)?;
        let watch_debug = opening.debug_enabled && command.debug_dir.is_some();
        let Opening { sandbox, scratch, debug_bytes, .. } = opening;
        Ok(Tool { command, reader, spec, sandbox, scratch, watch_debug, debug_bytes })
    }

    /// What the version command says, its first line; nothing when there is none or it fails.
    pub fn version(&self) -> Option<String> {
        if self.command.version_command.is_empty() {
            return None;
        }
        let mut spec = self.spec.clone();
        spec.argv = self.command.version_command.iter().map(|arg| Arg::text(arg.as_str())).collect();
        spec.limits.wall_ms = VERSION_MS;
        let outcome = self.boxed(&spec);
        let text = if outcome.stdout.length > 0 { outcome.stdout.text() } else { outcome.stderr.text() };
        let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
        (outcome.status == Status::Ok).then(|| line.chars().take(200).collect())
    }

    /// Starts the tool with one instruction. `noise` is what `seed_env` gets.
    pub fn invoke(&self, instruction: &str, noise: u64, timeout_ms: u64) -> Invocation {
        let mut spec = self.spec.clone();
        spec.limits.wall_ms = timeout_ms;
        // Wall clock decides: CPU time of any number of threads must not end the tool before it.
        spec.limits.cpu_ms = timeout_ms.saturating_mul(1024);
        self.hand_over(&mut spec, instruction);
        if let Some(name) = &self.command.seed_env {
            spec.env.push((name.clone(), Arg::text(noise.to_string())));
        }
        for file in self.reader.files() {
            spec = spec.collect(&file, MAX_RESULT_BYTES);
        }
        if !self.watch_debug && !self.reader.wants_artefacts() {
            return self.read(&self.boxed(&spec), &[], None);
        }
        let scratch = match Scratch::new(&self.scratch) {
            Ok(scratch) => scratch,
            Err(error) => {
                return Invocation::failed("sandbox", format!("no working directory could be made: {error}"));
            }
        };
        spec.work = Work::Host(scratch.path().to_owned());
        let outcome = self.boxed(&spec);
        let listed = Utf8Path::from_path(scratch.path()).map(listing).unwrap_or_default();
        let debug = self.watch_debug.then(|| self.debug(scratch.path(), &listed)).flatten();
        self.read(&outcome, &listed, debug)
    }

    /// Runs a program, and tells `-vv` of it.
    fn boxed(&self, spec: &Spec) -> Outcome {
        let outcome = self.sandbox.run(spec);
        tracing::debug!(status = ?outcome.status, wall_ms = outcome.usage.wall_ms, tier = ?outcome.tier, "box");
        outcome
    }

    /// Puts the instruction where the tool expects it.
    fn hand_over(&self, spec: &mut Spec, instruction: &str) {
        let replacement = match self.command.via {
            Via::Argv => Arg::text(instruction),
            Via::File => Arg::work(INSTRUCTION_FILE),
            Via::Stdin => {
                *spec = spec.clone().stdin(instruction.as_bytes());
                return;
            }
        };
        if self.command.via == Via::File {
            *spec = spec.clone().file(INSTRUCTION_FILE, instruction.as_bytes());
        }
        for (place, arg) in spec.argv.iter_mut().zip(&self.command.argv) {
            if let Some((before, after)) = arg.split_once(PLACEHOLDER) {
                *place = Arg::text(before).then(replacement.clone()).then(Arg::text(after));
            }
        }
    }

    fn read(&self, outcome: &Outcome, artefacts: &[String], debug: Option<Debug>) -> Invocation {
        let end = End::of(&outcome.status);
        let (stdout, stderr) = (outcome.stdout.text(), outcome.stderr.text());
        let file = |each: &proofhouse_sandbox::Collected| {
            let found = each.result.as_ref().ok()?;
            Some((each.path.clone(), found.read().ok()?))
        };
        let files: Vec<(String, Vec<u8>)> = outcome.collected.iter().filter_map(file).collect();
        let observed = end.termination.filter(|end| *end != Termination::SpawnFailed).map(|termination| {
            self.reader.read(&Evidence {
                termination,
                exit_code: end.exit_code,
                stdout: &stdout,
                stderr: &stderr,
                files: &files,
                artefacts,
            })
        });
        Invocation {
            observed,
            termination: end.termination,
            exit_code: end.exit_code,
            signal: end.signal,
            trouble: end.trouble,
            stdout: Stream::of(&stdout, &outcome.stdout),
            stderr: Stream::of(&stderr, &outcome.stderr),
            debug,
            duration_ms: outcome.usage.wall_ms,
        }
    }

    /// Digests what is below the debug directory. A single folder in it is the run's own and becomes the path.
    fn debug(&self, root: &Path, listed: &[String]) -> Option<Debug> {
        let dir = self.command.debug_dir.as_deref()?.trim_end_matches('/');
        let inside = |path: &&String| path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'));
        let files: Vec<&String> = listed.iter().filter(inside).collect();
        let mut tops: Vec<&str> = files
            .iter()
            .filter_map(|path| path[dir.len() + 1..].split_once('/'))
            .map(|(top, _)| top)
            .collect();
        tops.dedup();
        let alone = tops.len() == 1 && files.iter().all(|path| path[dir.len() + 1..].contains('/'));
        let path = if alone { format!("{dir}/{}", tops[0]) } else { dir.to_owned() };
        if files.is_empty() {
            let (files, left_out) = (Vec::new(), 0);
            return root.join(dir).is_dir().then(|| Debug { path, sha256: Digest::of(b""), files, left_out });
        }
        let mut hasher = digest::Hasher::default();
        let (mut kept, mut left, mut left_out) = (Vec::new(), self.debug_bytes, 0);
        for file in files {
            let bytes = std::fs::read(root.join(file)).unwrap_or_default();
            hasher.update(&Digest::of(&bytes).hex());
            hasher.update(format!("  {file}\n").as_bytes());
            match left.checked_sub(bytes.len() as u64) {
                Some(rest) => {
                    left = rest;
                    kept.push((file[path.len() + 1..].to_owned(), bytes));
                }
                None => left_out += 1,
            }
        }
        Some(Debug { path, sha256: hasher.finish(), files: kept, left_out })
    }
}

impl Invocation {
    fn failed(code: &'static str, error: String) -> Invocation {
        Invocation {
            observed: None,
            termination: None,
            exit_code: None,
            signal: None,
            trouble: Some((code, error)),
            stdout: Stream::default(),
            stderr: Stream::default(),
            debug: None,
            duration_ms: 0,
        }
    }
}

/// Everything about a run that does not depend on the instruction.
fn frame(command: &Command, opening: &Opening<'_>) -> Result<Spec, Complaint> {
    let none = Extra::default();
    let switches = [
        if opening.debug_enabled { &command.debug_on } else { &none },
        if opening.repair_enabled { &command.repair_on } else { &command.repair_off },
    ];
    let args = command.argv.iter().chain(switches.iter().flat_map(|switch| &switch.args));
    let mut spec = Spec::new(args.map(|arg| Arg::text(arg.as_str())))
        .env("PATH", PATH)
        .env("HOME", Arg::work(""))
        .env("TMPDIR", Arg::work(""))
        .env("LANG", "C.UTF-8")
        .binds(recipes::programs());
    spec.proc = Proc::Own;
    for (name, value) in command.env.iter().chain(switches.iter().flat_map(|switch| &switch.env)) {
        spec.env.retain(|(known, _)| known != name);
        spec.env.push((name.clone(), Arg::text(value.as_str())));
    }
    for name in &command.pass_env {
        let value = (opening.environment)(name).ok_or_else(|| {
            Complaint::new(format!("`pass_env` names `{name}`, which is not set"))
                .hint("export it, or take it out of the target's `pass_env`")
        })?;
        spec.env.retain(|(known, _)| known != name);
        spec.env.push((name.clone(), Arg::text(value)));
    }
    let program = command.argv.first().map(Utf8PathBuf::from).filter(|path| path.is_absolute());
    let read = command.read.iter().map(|path| opening.base.join(path));
    let binds =
        read.chain(program).filter(|path| path.exists()).map(|path| Bind::same(path.into_std_path_buf()));
    spec = spec.binds(binds);
    if command.network == Grant::Host {
        spec.network = Network::Host;
        spec = spec.binds(recipes::name_service());
    }
    spec.files = opening
        .files
        .iter()
        .map(|file| PlacedFile {
            path: file.path.clone(),
            source: Source::Bytes(file.bytes.clone()),
            executable: file.executable,
        })
        .collect();
    Ok(spec.limits(|limits| {
        limits.memory_bytes = command.memory_bytes;
        limits.address_bytes = None;
        limits.output_bytes = command.output_bytes;
        limits.processes = 256;
        limits.open_files = 1024;
        limits.disk_inodes = 65_536;
        limits.disk_bytes = 1 << 30;
    }))
}

/// How a process ended, in the words of a record.
struct End {
    termination: Option<Termination>,
    exit_code: Option<i32>,
    signal: Option<i32>,
    trouble: Option<(&'static str, String)>,
}

impl End {
    fn of(status: &Status) -> End {
        let end = |termination, trouble| End {
            termination: Some(termination),
            exit_code: None,
            signal: None,
            trouble,
        };
        let limit = |code, what: &str| {
            end(Termination::Signalled, Some((code, format!("the tool was ended: {what}"))))
        };
        match status {
            Status::Ok => End { exit_code: Some(0), ..end(Termination::Exited, None) },
            Status::Exit(code) => End {
                exit_code: Some(*code),
                ..end(Termination::Exited, Some(("exit_code", format!("the tool exited with code {code}"))))
            },
            Status::Signal(signal) => End {
                signal: Some(*signal),
                ..end(
                    Termination::Signalled,
                    Some(("signalled", format!("the tool was ended by signal {signal}"))),
                )
            },
            Status::WallLimit | Status::CpuLimit => {
                end(Termination::Timeout, Some(("timeout", "the tool ran into its deadline".to_owned())))
            }
            Status::MemoryLimit => limit("memory_limit", "it used more memory than its limit"),
            Status::OutputLimit => limit("output_limit", "it printed more than its limit"),
            Status::FileLimit => limit("file_limit", "it wrote a file larger than its limit"),
            Status::Denied => limit("denied", "it did what the sandbox does not allow"),
            Status::InfraError(error @ Infra::Exec { .. }) => {
                end(Termination::SpawnFailed, Some(("spawn_failed", error.to_string())))
            }
            Status::InfraError(error) => End {
                termination: None,
                exit_code: None,
                signal: None,
                trouble: Some(("sandbox", error.to_string())),
            },
        }
    }
}

impl Stream {
    fn of(text: &str, stream: &proofhouse_sandbox::Stream) -> Stream {
        Stream { text: bounded(text), bytes: stream.length, sha256: stream.sha256.parse().ok() }
    }
}

/// The beginning and the end of a text, with a line between them that says how much is left out.
fn bounded(text: &str) -> String {
    if text.len() <= 2 * KEPT_BYTES {
        return text.to_owned();
    }
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    let head = (0..=KEPT_BYTES).rev().find(is_boundary).unwrap_or(0);
    let tail = (text.len() - KEPT_BYTES..text.len()).find(is_boundary).unwrap_or(text.len());
    format!("{}\n[{} bytes left out]\n{}", &text[..head], tail - head, &text[tail..])
}

/// The paths of all files below a directory, sorted; links are not followed.
fn listing(root: &Utf8Path) -> Vec<String> {
    let mut files = Vec::new();
    let mut open = vec![String::new()];
    while let Some(dir) = open.pop() {
        for name in sorted_dir(&root.join(&dir)).unwrap_or_default() {
            let path = if dir.is_empty() { name } else { format!("{dir}/{name}") };
            match std::fs::symlink_metadata(root.join(&path)) {
                Ok(about) if about.is_dir() => open.push(path),
                Ok(about) if about.is_file() => files.push(path),
                _ => {}
            }
            if files.len() + open.len() > MAX_LISTED {
                open.clear();
                break;
            }
        }
    }
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_output_keeps_both_ends() {
        assert_eq!(bounded("short"), "short");
        let text = format!("{}é{}", "a".repeat(KEPT_BYTES - 1), "b".repeat(3 * KEPT_BYTES));
        let kept = bounded(&text);
        assert!(kept.len() < 2 * KEPT_BYTES + 40 && kept.starts_with("aaa") && kept.ends_with("bbb"));
        assert!(
            kept.contains(&format!("\n[{} bytes left out]\n", 2 * KEPT_BYTES + 2)),
            "{}",
            &kept[KEPT_BYTES - 5..KEPT_BYTES + 40]
        );
    }

    #[test]
    fn a_listing_is_sorted_and_follows_no_link() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap();
        std::fs::create_dir_all(root.join("b/c")).unwrap();
        for path in ["z", "b/c/y", "b/a"] {
            std::fs::write(root.join(path), path).unwrap();
        }
        std::os::unix::fs::symlink(root, root.join("b/loop")).unwrap();
        assert_eq!(listing(root), ["b/a", "b/c/y", "z"]);
    }
}
