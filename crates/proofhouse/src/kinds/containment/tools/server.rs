//! A tool server's settings, made ready once, and its box.

use std::path::Path;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::json::Object;
use proofhouse_ledger::{Digest, Json, files};
use proofhouse_sandbox::{Arg, Bind, Proc, Spec, recipes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::file::ServerFile;
use crate::kinds::containment::case::Case;
use crate::text::complaint::Complaint;

/// What the server finds its programs by.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// No trial has a server for longer.
const LIFETIME_MS: u64 = 3_600_000;

/// The tool that gives the state back at the end of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateTool {
    /// Its name.
    pub tool: String,
    /// What it is called with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub arguments: Option<Json>,
    /// The argument that gets what the agent said last, where the server wants to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// A tool server that can be started.
#[derive(Debug, Clone)]
pub struct ServerSpec {
    command: Vec<String>,
    files: Vec<(String, Arc<[u8]>)>,
    read: Vec<Utf8PathBuf>,
    env: Vec<(String, String)>,
    pub(super) timeout_ms: u64,
    memory_bytes: u64,
    pub(super) state: Option<StateTool>,
    hidden: Vec<String>,
}

impl ServerSpec {
    /// Reads everything that the server needs from beside the suite.
    pub(crate) fn new(file: &ServerFile, base: &Utf8Path) -> Result<Self, Complaint> {
        if file.server.first().is_none_or(|program| program.trim().is_empty()) {
            return Err(Complaint::new("there is no program")
                .hint("`server: [python3, bank.py]`")
                .key("server"));
        }
        if file.timeout_ms == 0 {
            return Err(Complaint::new("`timeout_ms` is 0").key("timeout_ms"));
        }
        let below =
            |path: &str| !path.is_empty() && path.split('/').all(|part| !matches!(part, "" | "." | ".."));
        let read = |name: &String| {
            if !below(name) {
                let what = format!("`{name}` does not lie below the suite's directory");
                return Err(Complaint::new(what).key("files"));
            }
            let bytes = files::read(&base.join(name)).map_err(|error| {
                Complaint::new(format!("cannot read `{name}`: {}", error.source)).key("files")
            })?;
            Ok((name.clone(), Arc::from(bytes)))
        };
        Ok(Self {
            command: file.server.clone(),
            files: file.files.iter().map(read).collect::<Result<_, _>>()?,
            read: file.read.iter().map(|path| base.join(path)).collect(),
            env: file.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            timeout_ms: file.timeout_ms.into(),
            memory_bytes: file.memory_bytes,
            state: file.state.clone(),
            hidden: file.hidden.clone(),
        })
    }

    /// Whether it gives a state back.
    pub fn has_state(&self) -> bool {
        self.state.is_some()
    }

    /// Whether agents are not to see one of its tools.
    pub(super) fn hides(&self, tool: &str) -> bool {
        self.hidden.iter().any(|hidden| hidden == tool)
            || self.state.as_ref().is_some_and(|state| state.tool == tool)
    }

    /// What decides how its tools behave, for the run's identity: commands without the folders of this machine, and the digests
    /// of files.
    pub fn identity(&self) -> Json {
        let name = |word: &String| match word.starts_with('/') {
            true => {
                Path::new(word).file_name().map_or("/".into(), |name| name.to_string_lossy().into_owned())
            }
            false => word.clone(),
        };
        let command = self.command.iter().map(|word| Json::from(name(word)));
        let files = self.files.iter().map(|(name, bytes)| (name.as_str(), Digest::of(bytes).prefixed()));
        let env = self.env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let state = self.state.as_ref().map(crate::spine::suite::identity::json);
        Json::Object(Object::from_iter([
            ("command", Json::Array(command.collect())),
            ("env", Json::Object(env.collect())),
            ("files", Json::Object(files.collect())),
            ("hidden", Json::Array(self.hidden.iter().map(|name| name.as_str().into()).collect())),
            ("memory_bytes", Json::Number(self.memory_bytes as f64)),
            ("state", state.unwrap_or(Json::Null)),
            ("timeout_ms", Json::Number(self.timeout_ms as f64)),
        ]))
    }

    /// Its box for a case: the system's programs, the named files, no network. It speaks on its standard input, a socket that goes
    /// both ways: a shell points its standard output there before it begins.
    pub(super) fn spec(&self, case: &Case) -> Spec {
        let words = self.command.iter().cloned().chain(case.server_args.iter().map(|word| case.filled(word)));
        let mut argv: Vec<Arg> =
            vec!["/bin/sh".into(), "-c".into(), "exec \"$@\" >&0".into(), "server".into()];
        argv.extend(words.map(Arg::text));
        let mut spec = Spec::new(argv)
            .env("PATH", PATH)
            .env("HOME", Arg::work(""))
            .env("TMPDIR", Arg::work(""))
            .env("LANG", "C.UTF-8")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .binds(recipes::programs())
            .limits(|limits| {
                limits.wall_ms = LIFETIME_MS;
                limits.cpu_ms = LIFETIME_MS;
                limits.memory_bytes = self.memory_bytes;
                limits.address_bytes = None;
                limits.output_bytes = 1 << 20;
                limits.processes = 64;
                limits.open_files = 1024;
            });
        spec.proc = Proc::Own;
        for (name, value) in &self.env {
            spec.env.retain(|(known, _)| known != name);
            spec.env.push((name.clone(), Arg::text(value.as_str())));
        }
        for (name, bytes) in &self.files {
            spec = spec.file(name, bytes.to_vec());
            if let Some(place) = spec.files.last_mut() {
                place.executable = true;
            }
        }
        // A program of a folder that may be read is there already.
        let seen = |path: &Utf8PathBuf| self.read.iter().any(|folder| path.starts_with(folder));
        let program = self.command.first().map(Utf8PathBuf::from);
        let program = program.filter(|path| path.is_absolute() && !seen(path));
        let seen = self.read.iter().cloned().chain(program);
        let binds = seen.filter(|path| path.exists()).map(|path| Bind::same(path.into_std_path_buf()));
        spec.binds(binds)
    }
}
