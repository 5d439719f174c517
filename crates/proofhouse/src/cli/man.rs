//! `man`: manual pages from the same definition as the help.

use camino::Utf8PathBuf;
use clap::{Args, Command, CommandFactory as _};
use clap_mangen::Man;
use proofhouse_ledger::files::{self, FileError};

use super::exit::Exit;
use super::failure::Failure;
use super::{Cli, Terminal};

/// Print the manual page, or write the pages of all commands into a directory.
#[derive(Debug, Args)]
pub(super) struct ManPages {
    /// Where proofhouse.1, proofhouse-run.1 and the others go; created if it does not exist.
    #[arg(long, value_name = "DIR")]
    out: Option<Utf8PathBuf>,
}

impl ManPages {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let mut root = Cli::command();
        root.build();
        let Some(dir) = &self.out else {
            terminal.data(&page(root)?)?;
            return Ok(Exit::Ok);
        };
        std::fs::create_dir_all(dir).map_err(FileError::new("create", dir))?;
        let pages = pages(root)?;
        for (name, text) in &pages {
            files::write_atomic(&dir.join(name), text.as_bytes())?;
        }
        terminal.say(&format!("{} manual pages are in `{dir}`", pages.len()));
        Ok(Exit::Ok)
    }
}

/// The program's page and one for each command: file name and content.
fn pages(root: Command) -> Result<Vec<(String, String)>, Failure> {
    let mut pages = Vec::new();
    let told = |command: &&Command| command.get_name() != "help" && !command.is_hide_set();
    let commands = root.get_subcommands().filter(told).cloned();
    let commands: Vec<Command> = commands.collect();
    for command in std::iter::once(root).chain(commands) {
        let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
        pages.push((format!("{name}.1"), page(command)?));
    }
    Ok(pages)
}

fn page(command: Command) -> Result<String, Failure> {
    let mut text = Vec::new();
    Man::new(command).render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
