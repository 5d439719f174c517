//! `status`: how far the shards of a run are, from what they left on the disk and nothing else.

use std::time::Duration;

use camino::Utf8PathBuf;
use clap::Args;
use proofhouse_ledger::envelope::{Envelope, ExitStatus};
use proofhouse_ledger::write::RunLock;
use proofhouse_ledger::{Part, RunPaths};

use super::exit::Exit;
use super::failure::Failure;
use super::{Terminal, merge, plural, shard};
use crate::spine::run;

/// How long is waited between two looks.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Say how far the shards of a run are: merged, whole, running, stopped or not begun.
#[derive(Debug, Args)]
pub(super) struct Status {
    /// The run directory that the shards become.
    run_dir: Utf8PathBuf,

    /// Wait until every shard is whole.
    #[arg(long)]
    wait: bool,

    /// With --wait: give up after so many seconds.
    #[arg(long, value_name = "SECONDS", requires = "wait")]
    timeout: Option<u64>,
}

/// What became of one shard so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Whole,
    Running,
    Stopped,
    NotBegun,
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            State::Whole => "whole",
            State::Running => "running",
            State::Stopped => "stopped",
            State::NotBegun => "not begun",
        }
    }
}

/// One shard: its state, and how many of how many trials are recorded.
struct Row {
    part: Part,
    state: State,
    done: u64,
    expected: Option<u64>,
}

impl Status {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let paths = RunPaths::new(self.run_dir.as_str().trim_end_matches('/'));
        let mut waited = Duration::ZERO;
        loop {
            let rows = if is_merged(&paths) { Vec::new() } else { look(&paths)? };
            let whole = rows.iter().all(|row| row.state == State::Whole);
            let given_up = self.timeout.is_some_and(|limit| waited.as_secs() >= limit);
            if whole || !self.wait || given_up {
                terminal.data(&said(&paths, &rows))?;
                return Ok(if whole { Exit::Ok } else { Exit::Incomplete });
            }
            std::thread::sleep(LOOK_EVERY);
            waited += LOOK_EVERY;
        }
    }
}

fn is_merged(paths: &RunPaths) -> bool {
    paths.manifest().exists() && run::is_complete(paths)
}

/// Every shard that there should be, by the number that the names of those that are there say.
fn look(paths: &RunPaths) -> Result<Vec<Row>, Failure> {
    let found = merge::beside(paths)?;
    let parts = found.iter().filter_map(|each| Some((shard::part_of(each)?.1, each)));
    let parts: std::collections::BTreeMap<Part, &RunPaths> = parts.collect();
    let counts: std::collections::BTreeSet<u32> = parts.keys().map(|part| part.count).collect();
    if counts.len() > 1 {
        let counts: Vec<String> = counts.iter().map(u32::to_string).collect();
        let what = format!("`{}` has shards of several divisions: {}", paths.dir, counts.join(", "));
        return Err(Failure::say(Exit::Refused, what).hint("remove those that do not belong to it"));
    }
    let all = counts.iter().flat_map(|count| (0..*count).filter_map(|index| Part::new(index, *count).ok()));
    Ok(all.map(|part| row(part, parts.get(&part).copied())).collect())
}

fn row(part: Part, paths: Option<&RunPaths>) -> Row {
    let Some(paths) = paths else { return Row { part, state: State::NotBegun, done: 0, expected: None } };
    let ended = run::read_envelope(&paths.envelope());
    let open = run::read_envelope(&paths.envelope_tmp());
    // An envelope that is still open says that it runs; whether that is true is told by the lock, which dies with its owner.
    let state = match (&open, &ended) {
        (None, Some(envelope)) if envelope.exit_status == ExitStatus::Normal => State::Whole,
        _ if RunLock::is_held(paths) => State::Running,
        _ => State::Stopped,
    };
    let expected = open.or(ended).map(|envelope: Envelope| envelope.total_cases_expected);
    Row { part, state, done: recorded(paths), expected }
}

/// Whole lines that are on the disk.
fn recorded(paths: &RunPaths) -> u64 {
    let Ok(mut reader) = proofhouse_ledger::read::LineReader::open(&paths.records()) else { return 0 };
    let mut count = 0;
    while let Ok(block) = reader.next_lines() {
        if block.is_empty() {
            break;
        }
        count += memchr::memchr_iter(b'\n', block).count() as u64;
    }
    count
}

fn said(paths: &RunPaths, rows: &[Row]) -> String {
    if rows.is_empty() {
        return format!("{}: merged\n", paths.dir);
    }
    let mut text = String::new();
    for row in rows.iter().filter(|row| row.state != State::Whole) {
        let trials = match row.expected {
            Some(expected) => format!(", {} of {expected} trials recorded", row.done),
            None => String::new(),
        };
        text.push_str(&format!("shard {}: {}{trials}\n", row.part, row.state.as_str()));
    }
    let count = |state: State| rows.iter().filter(|row| row.state == state).count() as u64;
    let states = [State::Whole, State::Running, State::Stopped, State::NotBegun];
    let each = states.iter().filter(|state| count(**state) > 0);
    let each: Vec<String> = each.map(|state| format!("{} {}", count(*state), state.as_str())).collect();
    let (shards, done) =
        (plural(rows.len() as u64, "shard", "shards"), rows.iter().map(|row| row.done).sum());
    text.push_str(&format!(
        "{}: {shards}: {}; {} recorded\n",
        paths.dir,
        each.join(", "),
        plural(done, "trial", "trials")
    ));
    if count(State::Whole) == rows.len() as u64 {
        text.push_str(&format!("next: proofhouse merge {}\n", paths.dir));
    }
    text
}
