//! An agent made ready: what the sandbox is told, but for the prompt of a trial.

use camino::Utf8Path;
use proofhouse_sandbox::{Arg, Bind, Calls, Door, Proc, Spec, recipes};

use super::{AgentSettings, ToolsOver};
use crate::text::complaint::Complaint;

/// Ports of the box's own loopback, the same in every trial: nothing of a request differs from run to run.
const MODEL_PORT: u16 = 8080;
const TOOLS_PORT: u16 = 8081;
const NAMES_PORT: u16 = 53;

/// Where programs are looked for.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// The largest answer that is read from a file, or from standard output.
const MAX_ANSWER_BYTES: u64 = 1 << 20;
/// Where our own program is, for agents that start their server themselves.
const SHIM: &str = "/proofhouse/shim";
const STARTER: &str = ".start.py";

/// An agent that is ready for prompts.
#[derive(Debug)]
pub(crate) struct Prepared {
    frame: Spec,
    argv: Vec<String>,
    pub(super) answer_file: Option<String>,
}

impl Prepared {
    /// Makes an agent ready.
    ///
    /// # Errors
    /// A program that is not there.
    pub(crate) fn new(settings: &AgentSettings, base: &Utf8Path) -> Result<Prepared, Complaint> {
        let row = settings.preset.map(super::Preset::row);
        let mut argv: Vec<String> = settings.argv.clone();
        if let Some(row) = row.as_ref().filter(|_| argv.is_empty()) {
            argv = row.argv.iter().map(|arg| (*arg).to_owned()).collect();
        }
        let mut frame = match (&settings.python, &settings.program) {
            (Some(python), _) => of_python(python, base)?,
            (None, Some(program)) => of_program(program, base)?,
            (None, None) => {
                let first = argv.remove(0);
                of_program(&first, base)?
            }
        };
        let over_stdio = settings.tools_over == ToolsOver::Stdio;
        let files = row.iter().flat_map(|row| row.files).map(|(name, http, stdio)| {
            ((*name).to_owned(), if over_stdio { *stdio } else { *http }.to_owned())
        });
        let own = settings.files.iter().map(|(name, text)| (name.clone(), text.clone()));
        for (name, text) in files.chain(own) {
            frame.files.retain(|file| file.path != name);
            frame = frame.file(&name, filled(&text));
        }
        let preset = row.iter().flat_map(|row| row.env).map(|(name, value)| (*name, *value));
        let own = settings.env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let stdio = over_stdio.then_some(("PROOFHOUSE_MCP_COMMAND", SHIM));
        for (name, value) in usual().into_iter().chain(stdio).chain(preset).chain(own) {
            frame.env.retain(|(known, _)| known != name);
            frame = frame.env(name, arg(value, ""));
        }
        for path in &settings.read {
            frame = frame.binds([Bind::same(base.join(path).into_std_path_buf())]);
        }
        if over_stdio || argv.iter().any(|arg| arg.contains("{shim}")) {
            let own = std::env::current_exe().map_err(|error| {
                Complaint::new(format!("cannot find our own program, which the shim is: {error}"))
            })?;
            frame = frame.binds([Bind::new("shim", own, SHIM)]);
        }
        let answer_file =
            settings.answer_file.clone().or(row.and_then(|row| row.answer_file).map(str::to_owned));
        if let Some(file) = &answer_file {
            frame = frame.collect(file, MAX_ANSWER_BYTES);
        }
        let frame = frame
            .doors([Door::Tcp(MODEL_PORT), Door::Tcp(TOOLS_PORT), Door::Udp(NAMES_PORT)])
            .limits(|limits| {
                limits.wall_ms = settings.timeout_ms.0;
                // Wall clock decides, whatever number of threads there is.
                limits.cpu_ms = settings.timeout_ms.0.saturating_mul(1024);
                limits.memory_bytes = settings.memory_mb.0 << 20;
                limits.address_bytes = None;
                limits.processes = 512;
                limits.open_files = 1024;
                limits.disk_bytes = 512 << 20;
                limits.disk_inodes = 65_536;
                limits.output_bytes = MAX_ANSWER_BYTES;
            });
        Ok(Prepared { frame, argv, answer_file })
    }

    /// The box of one trial.
    pub(super) fn spec(&self, prompt: &str) -> Spec {
        let mut spec = self.frame.clone();
        spec.argv.extend(self.argv.iter().map(|text| arg(text, prompt)));
        spec.keep.head_bytes = MAX_ANSWER_BYTES as usize;
        spec
    }
}

/// What every agent finds in its environment. The keys open nothing.
fn usual() -> Vec<(&'static str, &'static str)> {
    vec![
        ("PATH", PATH),
        ("HOME", "{work}"),
        ("TMPDIR", "{work}"),
        ("LANG", "C.UTF-8"),
        ("TZ", "UTC"),
        ("OPENAI_BASE_URL", "{openai_url}"),
        ("OPENAI_API_KEY", "trial"),
        ("ANTHROPIC_BASE_URL", "{anthropic_url}"),
        ("ANTHROPIC_API_KEY", "trial"),
        ("PROOFHOUSE_MCP_URL", "{mcp_url}"),
    ]
}

fn of_python(python: &str, base: &Utf8Path) -> Result<Spec, Complaint> {
    let path = if python.contains('/') { base.join(python).into_string() } else { python.to_owned() };
    let found = recipes::Python::find(path.as_ref()).map_err(|error| {
        Complaint::new(format!("`{python}` does not answer as a Python does: {error}"))
            .hint("`python3 -m venv DIR` makes one that has packages of its own")
    })?;
    let mut spec = found.script(STARTER);
    spec.argv.push("--".into());
    spec.calls = Calls::Compiler;
    spec.proc = Proc::Own;
    let known: Vec<_> = spec.binds.iter().map(|bind| bind.inside.clone()).collect();
    let programs = recipes::programs().into_iter().filter(|bind| !known.contains(&bind.inside));
    Ok(spec.binds(programs).file(STARTER, include_str!("presets/start.py")))
}

/// A program by its name, or by its path: then what lies beside it is there too, at a place of its own, because the box has
/// folders that a path on the host may begin with.
fn of_program(program: &str, base: &Utf8Path) -> Result<Spec, Complaint> {
    if !program.contains('/') {
        let mut spec = Spec::new([program]).binds(recipes::programs());
        spec.proc = Proc::Own;
        return Ok(spec);
    }
    let missing = |why: String| {
        Complaint::new(format!("there is no program `{program}`: {why}"))
            .hint("paths are relative to the suite's directory")
    };
    let real = base.join(program).canonicalize_utf8().map_err(|error| missing(error.to_string()))?;
    let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else {
        return Err(missing("it is a folder".to_owned()));
    };
    let mut spec = Spec::new([Arg::bind("agent", name)]).binds(recipes::programs());
    spec.proc = Proc::Own;
    let folder = Bind::new("agent", folder.as_std_path(), "/agent");
    Ok(spec.binds([folder]))
}

/// Places that a text can name, but for the prompt and the working directory.
fn address(name: &str) -> Option<String> {
    let of = |port: u16, path: &str| Some(format!("http://127.0.0.1:{port}{path}"));
    match name {
        "openai_url" => of(MODEL_PORT, "/v1"),
        "anthropic_url" => of(MODEL_PORT, ""),
        "mcp_url" => of(TOOLS_PORT, "/mcp"),
        "shim" => Some(SHIM.to_owned()),
        _ => None,
    }
}

/// A text with every place that is known filled in; other braces stay.
fn pieces(text: &str) -> Vec<(&str, Option<&str>)> {
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(begin) = text[at..].find('{').map(|found| at + found) {
        let name = text[begin + 1..].split(['}', '{']).next().unwrap_or_default();
        let closed = text[begin + 1 + name.len()..].starts_with('}');
        let known = matches!(name, "prompt" | "work") || address(name).is_some();
        at = begin + 1;
        if closed && known {
            pieces.push((&text[from..begin], Some(name)));
            from = begin + name.len() + 2;
            at = from;
        }
    }
    pieces.push((&text[from..], None));
    pieces
}

fn arg(text: &str, prompt: &str) -> Arg {
    pieces(text).into_iter().fold(Arg::default(), |arg, (before, name)| {
        let arg = arg.then(before);
        match name {
            None => arg,
            Some("prompt") => arg.then(prompt),
            Some("work") => arg.then(Arg::work("")),
            Some(name) => arg.then(address(name).unwrap_or_default()),
        }
    })
}

/// The content of a file. What stands for the prompt stays: a prompt in a file would have to be written in its language.
fn filled(text: &str) -> String {
    let fill = |(before, name): (&str, Option<&str>)| match name {
        None => before.to_owned(),
        Some(name) => match address(name) {
            Some(address) => format!("{before}{address}"),
            None => format!("{before}{{{name}}}"),
        },
    };
    pieces(text).into_iter().map(fill).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_in_and_other_braces_stay() {
        assert_eq!(
            filled(r#"{"a": {"url": "{mcp_url}"}}"#),
            r#"{"a": {"url": "http://127.0.0.1:8081/mcp"}}"#
        );
        assert_eq!(filled("{openai_url} {prompt} {x} {"), "http://127.0.0.1:8080/v1 {prompt} {x} {");
        assert_eq!(arg("-p={prompt}!", "{shim}"), Arg::text("-p=").then("{shim}").then("!"));
    }
}
