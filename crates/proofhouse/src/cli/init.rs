//! `init`: a commented suite that runs at once.

use camino::Utf8PathBuf;
use clap::Args;
use proofhouse_ledger::files::{self, FileError};

use super::Terminal;
use super::exit::Exit;
use super::failure::Failure;

/// Write a commented suite that runs at once, with its data.
#[derive(Debug, Args)]
pub(super) struct Init {
    /// What the suite asks.
    #[arg(value_enum)]
    kind: KindArg,

    /// Where to write it.
    #[arg(default_value = ".")]
    dir: Utf8PathBuf,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum KindArg {
    /// Are the answers right, and what changed?
    Probe,
    /// Does generated code compile, pass its tests, satisfy the linter?
    Code,
}

/// A file of a scaffold: its name and its content.
type Template = (&'static str, &'static str);

const PROBE: &[Template] = &[
    ("probe.yaml", include_str!("init/probe.yaml")),
    ("questions.jsonl", include_str!("init/questions.jsonl")),
];

const CODE: &[Template] = &[
    ("code.yaml", include_str!("init/code/code.yaml")),
    ("problems.jsonl", include_str!("init/code/problems.jsonl")),
    ("careful.jsonl", include_str!("init/code/careful.jsonl")),
    ("hasty.jsonl", include_str!("init/code/hasty.jsonl")),
];

impl Init {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let templates = match self.kind {
            KindArg::Probe => PROBE,
            KindArg::Code => CODE,
        };
        for (name, _) in templates {
            let path = self.dir.join(name);
            if path.exists() {
                return Err(Failure::say(Exit::Refused, format!("`{path}` is there already"))
                    .hint("name another directory: `proofhouse init KIND DIR`"));
            }
        }
        std::fs::create_dir_all(&self.dir).map_err(FileError::new("create", &self.dir))?;
        for (name, content) in templates {
            let path = self.dir.join(name);
            files::write_synced(&path, content.as_bytes())?;
            terminal.data(&format!("{path}\n"))?;
        }
        terminal.say(&format!("next: proofhouse run {}", self.dir.join(templates[0].0)));
        Ok(Exit::Ok)
    }
}
