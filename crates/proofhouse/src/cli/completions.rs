//! `completions`: shell completions from the same definition as the help.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::exit::Exit;
use super::failure::Failure;
use super::{Cli, Terminal};

/// Print completions for a shell.
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// Which shell.
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "proofhouse", &mut text);
        terminal.data(&String::from_utf8_lossy(&text))?;
        Ok(Exit::Ok)
    }
}
