//! `init`: a commented suite that runs at once.

use camino::Utf8PathBuf;
use clap::Args;
use clap::builder::PossibleValue;
use proofhouse_ledger::files::{self, FileError};

use super::Terminal;
use super::exit::Exit;
use super::failure::Failure;
use crate::kinds::{KINDS, Row};

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

/// A kind of suite by its name.
#[derive(Clone, Copy)]
struct KindArg(&'static Row);

impl std::fmt::Debug for KindArg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.kind.as_str())
    }
}

impl clap::ValueEnum for KindArg {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: [KindArg; KINDS.len()] = {
            let mut all = [KindArg(KINDS[0]); KINDS.len()];
            let mut at = 1;
            while at < KINDS.len() {
                all[at] = KindArg(KINDS[at]);
                at += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.kind.as_str()).help(self.0.about))
    }
}

impl Init {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let templates = self.kind.0.starter;
        for (name, _) in templates {
            let path = self.dir.join(name);
            if path.exists() {
                return Err(Failure::say(Exit::Refused, format!("`{path}` is there already"))
                    .hint("name another directory: `proofhouse init KIND DIR`"));
            }
        }
        for (name, content) in templates {
            let path = self.dir.join(name);
            let parent = path.parent().unwrap_or(&self.dir);
            std::fs::create_dir_all(parent).map_err(FileError::new("create", parent))?;
            files::write_atomic(&path, content.as_bytes())?;
            terminal.data(&format!("{path}\n"))?;
        }
        terminal.say(&format!("next: proofhouse run {}", self.dir.join(templates[0].0)));
        Ok(Exit::Ok)
    }
}
