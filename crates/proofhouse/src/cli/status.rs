//! `status`: how far the shards of a run are, from what they left on the disk and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use camino::Utf8PathBuf;
use clap::Args;
use proofhouse_ledger::envelope::{Envelope, ExitStatus};
use proofhouse_ledger::part::MAX_PARTS;
use proofhouse_ledger::write::RunLock;
use proofhouse_ledger::{Part, RunPaths};

use super::exit::Exit;
use super::failure::Failure;
use super::{Terminal, merge, plural, run_dir, shard};
use crate::spine::run;

/// How long is waited between two looks.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Rows that are told one by one; a thousand shards that run are told by their number.
const MOST_ROWS: usize = 40;

/// Say how far the shards of a run are: merged, complete, running, stopped or not started.
#[derive(Debug, Args)]
pub(super) struct Status {
    /// The run directory that the shards become.
    run_dir: Utf8PathBuf,

    /// How many shards there will be, where none has started yet [default: read from the names of those that are there].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_PARTS)))]
    shards: Option<u32>,

    /// Wait until every shard is complete.
    #[arg(long)]
    wait: bool,

    /// With --wait: give up after this many seconds.
    #[arg(long, value_name = "SECONDS", requires = "wait")]
    timeout: Option<u64>,
}

/// What became of one shard so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Complete,
    Running,
    Stopped,
    NotStarted,
}

impl State {
    const ALL: [State; 4] = [State::Complete, State::Running, State::Stopped, State::NotStarted];

    fn as_str(self) -> &'static str {
        match self {
            State::Complete => "complete",
            State::Running => "running",
            State::Stopped => "stopped",
            State::NotStarted => "not started",
        }
    }
}

/// One shard: where it is and what its envelope says, where there is one.
struct Row {
    part: Part,
    state: State,
    paths: Option<RunPaths>,
    envelope: Option<Envelope>,
}

/// What there is.
enum Overview {
    /// One run of so many shards, and the shards that it does without.
    Merged(usize, Vec<Part>),
    /// A run that was never in shards.
    Undivided,
    /// Shards.
    Shards(Vec<Row>),
}

impl Overview {
    fn is_complete(&self) -> bool {
        match self {
            Overview::Merged(_, missing) => missing.is_empty(),
            Overview::Undivided => true,
            Overview::Shards(rows) => rows.iter().all(|row| row.state == State::Complete),
        }
    }
}

impl Status {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let paths = run_dir::named(&self.run_dir);
        let mut waited = Duration::ZERO;
        loop {
            let seen = self.look(&paths)?;
            let given_up = self.timeout.is_some_and(|limit| waited.as_secs() >= limit);
            if seen.is_complete() || !self.wait || given_up {
                terminal.prose(&said(&paths, &seen))?;
                return Ok(if seen.is_complete() { Exit::Ok } else { Exit::Incomplete });
            }
            std::thread::sleep(LOOK_EVERY);
            waited += LOOK_EVERY;
        }
    }

    /// What is there now. A run in the place of the result says how the shards ended only if it was made of them.
    fn look(&self, paths: &RunPaths) -> Result<Overview, Failure> {
        let result = Some(()).filter(|()| paths.manifest().exists() && run::is_complete(paths));
        let result = result.and_then(|()| run::read_envelope(&paths.envelope()));
        let rows = self.rows(paths)?;
        let later = |row: &Row| {
            let id = row.envelope.as_ref().map(|envelope| envelope.run_id);
            row.state != State::Complete || id != result.as_ref().map(|envelope| envelope.run_id)
        };
        match result.as_ref().map(|envelope| envelope.merged_from()) {
            Some(Some((count, missing))) if !rows.iter().any(|row| row.paths.is_some() && later(row)) => {
                let there = |part: &Part| rows.iter().any(|row| row.part == *part && row.paths.is_some());
                match !missing.is_empty() && missing.iter().all(there) {
                    true => Ok(Overview::Shards(rows)),
                    false => Ok(Overview::Merged(count, missing)),
                }
            }
            Some(None) if rows.is_empty() => Ok(Overview::Undivided),
            _ if rows.is_empty() => {
                let what = format!("there are no shards of `{}`", paths.dir);
                Err(Failure::say(Exit::Usage, what)
                    .hint("`--shards N` says how many there will be, if none has started yet"))
            }
            _ => Ok(Overview::Shards(rows)),
        }
    }

    /// Every shard that there should be, by the number that was given or that the names of those that are there say.
    fn rows(&self, paths: &RunPaths) -> Result<Vec<Row>, Failure> {
        let found = merge::beside(paths)?;
        let parts = found.into_iter().filter_map(|each| Some((shard::part_of(&each)?.1, each)));
        let mut parts: BTreeMap<Part, RunPaths> = parts.collect();
        let counts: BTreeSet<u32> = parts.keys().map(|part| part.count).chain(self.shards).collect();
        if counts.len() > 1 {
            let counts: Vec<String> = counts.iter().map(u32::to_string).collect();
            let what = format!("`{}` has shards of different counts: {}", paths.dir, counts.join(", "));
            return Err(Failure::say(Exit::Refused, what).hint("remove those that do not belong to it"));
        }
        let all =
            counts.iter().flat_map(|count| (0..*count).filter_map(|index| Part::new(index, *count).ok()));
        Ok(all.map(|part| row(part, parts.remove(&part))).collect())
    }
}

fn row(part: Part, paths: Option<RunPaths>) -> Row {
    let Some(paths) = paths else {
        return Row { part, state: State::NotStarted, paths: None, envelope: None };
    };
    let ended = run::read_envelope(&paths.envelope());
    let open = run::read_envelope(&paths.envelope_tmp());
    // An envelope that is still open says that it runs; whether that is true is told by the lock, which dies with its owner.
    let state = match (&open, &ended) {
        (None, Some(envelope)) if envelope.exit_status == ExitStatus::Normal => State::Complete,
        _ if RunLock::is_held(&paths) => State::Running,
        _ => State::Stopped,
    };
    Row { part, state, paths: Some(paths), envelope: open.or(ended) }
}

impl Row {
    /// Trials that are recorded.
    fn done(&self) -> u64 {
        match (self.state, &self.envelope, &self.paths) {
            (State::Complete, Some(envelope), _) => envelope.total_cases_completed,
            (_, _, Some(paths)) => lines(paths),
            _ => 0,
        }
    }
}

/// Whole lines that are on the disk.
fn lines(paths: &RunPaths) -> u64 {
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

fn said(paths: &RunPaths, seen: &Overview) -> String {
    match seen {
        Overview::Undivided => format!("{}: a run that was not made of shards\n", paths.dir),
        Overview::Merged(_, missing) if missing.is_empty() => format!("{}: merged\n", paths.dir),
        Overview::Merged(count, missing) => {
            let names = run::part_names(&missing.iter().copied().collect());
            let count = plural(*count as u64, "shard", "shards");
            format!(
                "{}: merged from {count} without {names}, whose trials are recorded as `not_run`\n",
                paths.dir
            )
        }
        Overview::Shards(rows) => of_shards(paths, rows),
    }
}

fn of_shards(paths: &RunPaths, rows: &[Row]) -> String {
    let mut text = String::new();
    let begun = rows.iter().filter(|row| matches!(row.state, State::Running | State::Stopped));
    for row in begun.take(MOST_ROWS) {
        let trials = match &row.envelope {
            Some(envelope) => {
                format!(", {} of {} trials recorded", row.done(), envelope.total_cases_expected)
            }
            None => String::new(),
        };
        text.push_str(&format!("shard {}: {}{trials}\n", row.part, row.state.as_str()));
    }
    let waiting = rows.iter().filter(|row| row.state == State::NotStarted);
    let waiting = ranges(waiting.map(|row| row.part.index));
    if !waiting.is_empty() {
        text.push_str(&format!("not started: {waiting}\n"));
    }
    let count = |state: State| rows.iter().filter(|row| row.state == state).count() as u64;
    let each = State::ALL.iter().filter(|state| count(**state) > 0);
    let each: Vec<String> = each.map(|state| format!("{} {}", count(*state), state.as_str())).collect();
    let (shards, done) = (plural(rows.len() as u64, "shard", "shards"), rows.iter().map(Row::done).sum());
    text.push_str(&format!(
        "{}: {shards}: {}; {} recorded\n",
        paths.dir,
        each.join(", "),
        plural(done, "trial", "trials")
    ));
    if count(State::Complete) == rows.len() as u64 {
        let overwrite = if paths.dir.exists() { " --overwrite" } else { "" };
        text.push_str(&format!("next: proofhouse merge {}{overwrite}\n", paths.dir));
    }
    text
}

/// `0, 4 to 15, 17`: numbers that follow each other in one word.
fn ranges(numbers: impl Iterator<Item = u32>) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let shown = |(from, to): &(u32, u32)| match to - from {
        0 => from.to_string(),
        1 => format!("{from}, {to}"),
        _ => format!("{from} to {to}"),
    };
    ranges.iter().map(shown).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_follow_each_other_are_one_word() {
        assert_eq!(ranges([0, 4, 5, 6, 8, 9].into_iter()), "0, 4 to 6, 8, 9");
        assert_eq!(ranges(std::iter::empty()), "");
    }
}
