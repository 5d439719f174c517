//! The face: what was typed becomes what it means, a command runs, and its outcome becomes text and an exit code.
//!
//! Data goes to standard output, talk to standard error. A reader that goes away is not an error.

use std::io::{self, Write as _};
use std::process::ExitCode;

use crate::text::doc::terminal::{Look, folded, folded_below};
pub(crate) use crate::text::numbers::spaced as plural;
pub(crate) use crate::text::visible::visible;
use clap::{ArgAction, Parser, Subcommand};

mod attest;
mod baseline;
mod bless;
mod browser;
mod check;
mod closing;
mod code;
mod compare;
mod completions;
mod demo;
mod diff;
mod doctor;
mod env;
mod events;
mod exit;
mod export;
mod failure;
mod here;
mod import;
mod init;
mod inputs;
mod key;
mod lanes;
mod launch;
mod list;
mod machine;
mod man;
mod mcp_proxy;
mod mcp_shim;
mod merge;
mod otel;
mod plan;
mod progress;
mod recover;
mod reference;
mod replan;
mod report;
mod run;
mod run_dir;
mod schema;
mod score;
mod shard;
mod sound;
mod status;
mod suite_page;
mod trend;
mod vary;
mod verbose;
mod verify;
mod view;

pub use exit::Exit;
use failure::Failure;
pub use reference::generated;

/// Puts AI systems through planned trials, judges each one, and leaves a run directory that anybody can verify.
#[derive(Debug, Parser)]
#[command(name = "proofhouse", version, max_term_width = 100, after_long_help = Exit::help())]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,

    /// Print nothing but errors and the data that was asked for.
    #[arg(long, short, global = true)]
    quiet: bool,

    /// Say on standard error what is being done: decisions and requests; given twice (`-vv`), each sandbox and cached verdict, too.
    #[arg(long, short, global = true, action = ArgAction::Count, conflicts_with = "quiet")]
    verbose: u8,

    /// No colour (also: the `NO_COLOR` environment variable).
    #[arg(long, global = true)]
    no_color: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Demo),
    Init(init::Init),
    Import(import::ImportFile),
    Check(check::Check),
    Plan(plan::Plan),
    Run(run::Run),
    Code(code::Code),
    Launch(launch::Launch),
    Status(status::Status),
    Merge(merge::Merge),
    Score(score::Score),
    Report(report::Report),
    Export(export::Export),
    Diff(diff::Diff),
    Compare(compare::Compare),
    View(view::View),
    Bless(bless::Bless),
    Trend(trend::Trend),
    Verify(verify::Verify),
    Attest(attest::Attest),
    Recover(recover::Recover),
    List(list::List),
    Vary(vary::Vary),
    Schema(schema::Schema),
    Doctor(doctor::Doctor),
    Completions(completions::Completions),
    Man(man::ManPages),
    McpProxy(mcp_proxy::McpProxy),
    #[command(hide = true)]
    McpShim(mcp_shim::McpShim),
}

/// Where a command's words go.
pub(crate) struct Terminal {
    quiet: bool,
    surroundings: env::Surroundings,
}

impl Terminal {
    /// Data, to standard output.
    pub(crate) fn data(&self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// The same, with lines folded between words where they would not fit on the terminal.
    pub(crate) fn prose(&self, text: &str) -> io::Result<()> {
        match self.surroundings.folds {
            true => self.data(&folded(text, self.surroundings.width)),
            false => self.data(text),
        }
    }

    /// The same for names with values, which stand at this column.
    pub(crate) fn facts(&self, text: &str, value_at: usize) -> io::Result<()> {
        match self.surroundings.folds {
            true => self.data(&folded_below(text, self.surroundings.width, value_at)),
            false => self.data(text),
        }
    }

    /// The result of a run, to standard output, unless it was asked to be quiet. What was found stands in the exit code and in
    /// the run directory too, so nothing is lost where nobody reads.
    pub(crate) fn show(&self, text: &str) {
        if !self.quiet {
            let _ = self.data(text);
        }
    }

    /// What standard output is like.
    pub(crate) fn look(&self) -> Look {
        Look { width: self.surroundings.width, colour: self.surroundings.colour_out }
    }

    /// Talk, to standard error, unless it was asked to be quiet.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            // Nobody reads it: then nobody misses it.
            let _ = writeln!(io::stderr().lock(), "{}", self.talk(text));
        }
    }

    /// What is talked, folded between words where it would not fit; excerpts of files stay as they are.
    fn talk(&self, text: &str) -> String {
        let Some(width) = self.surroundings.talk_width else { return text.to_owned() };
        let lines = text.split_inclusive('\n');
        lines.map(|line| if is_excerpt(line) { line.to_owned() } else { folded(line, width) }).collect()
    }
}

/// `14 | repetitons: 3`, and the line below it that points at a place.
fn is_excerpt(line: &str) -> bool {
    let numbered = line.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit());
    numbered.len() < line.len() && numbered.starts_with('|')
}

/// Runs the program with the process's arguments.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            // Words that people bring from other tools.
            if error.kind() == clap::error::ErrorKind::InvalidSubcommand
                && std::env::args().nth(1).as_deref() == Some("eval")
            {
                let _ = writeln!(io::stderr().lock(), "\nhint: that is `proofhouse run SUITE` here");
            }
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Ok };
            return ExitCode::from(exit as u8);
        }
    };
    verbose::listen(cli.verbose);
    let terminal = Terminal { quiet: cli.quiet, surroundings: env::surroundings(cli.no_color) };
    let exit = match dispatch(cli.command, &terminal) {
        Ok(exit) => exit,
        Err(failure) => {
            let _ = io::stderr().lock().write_all(terminal.talk(&failure.render()).as_bytes());
            failure.exit
        }
    };
    ExitCode::from(exit as u8)
}

fn dispatch(command: Option<Command>, terminal: &Terminal) -> Result<Exit, Failure> {
    let Some(command) = command else { return here::say(terminal) };
    let outcome = match command {
        Command::Demo(command) => command.run(terminal),
        Command::Init(command) => command.run(terminal),
        Command::Import(command) => command.run(terminal),
        Command::Check(command) => command.run(terminal),
        Command::Plan(command) => command.run(terminal),
        Command::Run(command) => command.run(terminal),
        Command::Code(command) => command.run(terminal),
        Command::Launch(command) => command.run(terminal),
        Command::Status(command) => command.run(terminal),
        Command::Merge(command) => command.run(terminal),
        Command::Score(command) => command.run(terminal),
        Command::Report(command) => command.run(terminal),
        Command::Export(command) => command.run(terminal),
        Command::Diff(command) => command.run(terminal),
        Command::Compare(command) => command.run(terminal),
        Command::View(command) => command.run(terminal),
        Command::Bless(command) => command.run(terminal),
        Command::Trend(command) => command.run(terminal),
        Command::Verify(command) => command.run(terminal),
        Command::Attest(command) => command.run(terminal),
        Command::Recover(command) => command.run(terminal),
        Command::List(command) => command.run(terminal),
        Command::Vary(command) => command.run(terminal),
        Command::Schema(command) => command.run(terminal),
        Command::Doctor(command) => command.run(terminal),
        Command::Completions(command) => command.run(terminal),
        Command::Man(command) => command.run(terminal),
        Command::McpProxy(command) => command.run(terminal),
        Command::McpShim(command) => command.run(),
    };
    match outcome {
        // `proofhouse list | head` has got what it wanted.
        Err(failure) if failure.is_broken_pipe() => Ok(Exit::Ok),
        outcome => outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::{Terminal, env};

    #[test]
    fn talk_is_folded_and_excerpts_of_files_are_not() {
        let surroundings = env::Surroundings { talk_width: Some(24), ..env::surroundings(true) };
        let terminal = Terminal { quiet: false, surroundings };
        let said = "error: s.yaml:14:1: unknown key\n   |\n14 | repetitons: 3        # how often\n   | ^^^^^^^^^^\n\nhint: did you mean `repetitions`?\n";
        assert_eq!(
            terminal.talk(said),
            "error: s.yaml:14:1:\n  unknown key\n   |\n14 | repetitons: 3        # how often\n   | ^^^^^^^^^^\n\nhint: did you mean\n  `repetitions`?\n"
        );
        let piped =
            Terminal { surroundings: env::Surroundings { talk_width: None, ..surroundings }, ..terminal };
        assert_eq!(piped.talk(said), said);
    }
}
