//! Parts of a plan on several machines: which one this is, and what to do next.

use std::str::FromStr;

use proofhouse_ledger::envelope::Envelope;
use proofhouse_ledger::part::NoPart;
use proofhouse_ledger::{Part, RunPaths};

use super::exit::Exit;
use super::failure::Failure;
use super::{env, plural};

/// What `--shard` says.
#[derive(Debug, Clone, Copy)]
pub(super) enum ShardArg {
    /// What the scheduler set.
    Auto,
    /// This part.
    Part(Part),
}

impl FromStr for ShardArg {
    type Err = NoPart;

    fn from_str(text: &str) -> Result<Self, NoPart> {
        match text {
            "auto" => Ok(ShardArg::Auto),
            text => text.parse().map(ShardArg::Part),
        }
    }
}

impl ShardArg {
    /// The part that is meant.
    pub(super) fn part(self) -> Result<Part, Failure> {
        if let ShardArg::Part(part) = self {
            return Ok(part);
        }
        match env::shard(&env::passed) {
            Some((_, Ok(part))) => Ok(part),
            Some((variable, Err(error))) => {
                Err(Failure::say(Exit::Usage, format!("`--shard auto`: {variable} does not name a shard: {error}")))
            }
            None => Err(Failure::say(Exit::Usage, "`--shard auto`: no scheduler says which shard this is").hint(
                "set PROOFHOUSE_SHARD to I/N, or say `--shard I/N`; Slurm arrays, Kubernetes indexed jobs, GitLab, CircleCI and Buildkite set an index themselves",
            )),
        }
    }
}

/// What is said when a part is whole.
pub(super) fn done(part: Part, envelope: &Envelope, paths: &RunPaths) -> String {
    let trials = plural(envelope.total_cases_completed, "trial", "trials");
    let whole = whole_of(paths, part);
    format!(
        "shard {part}: {trials} recorded in {}\nnext:   proofhouse merge {whole}, when all {} shards are there",
        paths.dir, part.count
    )
}

/// The command that completes a part.
pub(super) fn again(run: &str, paths: &RunPaths) -> String {
    match part_of(paths) {
        Some((whole, part)) => format!("{run} --run-dir {whole} --shard {part} --resume"),
        None => format!("{run} --run-dir {} --resume", paths.dir),
    }
}

/// The run that a directory's name says it is a part of, and which.
pub(super) fn part_of(paths: &RunPaths) -> Option<(String, Part)> {
    let (whole, name) = paths.dir.as_str().rsplit_once(".shard-")?;
    let (index, count) = name.split_once("-of-")?;
    let part = Part::new(index.parse().ok()?, count.parse().ok()?).ok()?;
    (part.suffix() == format!("shard-{name}")).then(|| (whole.to_owned(), part))
}

fn whole_of(paths: &RunPaths, part: Part) -> String {
    paths.dir.as_str().trim_end_matches(&format!(".{}", part.suffix())).to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn schedulers_say_which_part_it_is() {
        type Variables<'a> = &'a [(&'a str, &'a str)];
        let table: [(Variables<'_>, Option<Result<&str, NoPart>>); 10] = [
            (
                &[
                    ("SLURM_ARRAY_TASK_ID", "5"),
                    ("SLURM_ARRAY_TASK_COUNT", "8"),
                    ("SLURM_ARRAY_TASK_MIN", "1"),
                ],
                Some(Ok("4/8")),
            ),
            (&[("SLURM_ARRAY_TASK_ID", "0"), ("SLURM_ARRAY_TASK_COUNT", "8")], Some(Ok("0/8"))),
            (&[("SLURM_ARRAY_TASK_ID", "8"), ("SLURM_ARRAY_TASK_COUNT", "8")], Some(Err(NoPart))),
            (&[("JOB_COMPLETION_INDEX", "3"), ("PROOFHOUSE_SHARD_COUNT", "4")], Some(Ok("3/4"))),
            (&[("JOB_COMPLETION_INDEX", "3")], None),
            (&[("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "5")], Some(Ok("0/5"))),
            (&[("CI_NODE_INDEX", "0"), ("CI_NODE_TOTAL", "5")], Some(Err(NoPart))),
            (&[("CIRCLE_NODE_INDEX", "0"), ("CIRCLE_NODE_TOTAL", "5")], Some(Ok("0/5"))),
            (&[("PROOFHOUSE_SHARD", "2/3"), ("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "5")], Some(Ok("2/3"))),
            (&[], None),
        ];
        for (set, expected) in table {
            let set: BTreeMap<&str, &str> = set.iter().copied().collect();
            let found = env::shard(&|name| set.get(name).map(|value| (*value).to_owned()));
            let found = found.map(|(_, part)| part.map(|part| part.to_string()));
            assert_eq!(found, expected.map(|part| part.map(str::to_owned)), "{set:?}");
        }
    }

    #[test]
    fn a_directory_says_which_part_it_is() {
        let of = |dir: &str| part_of(&RunPaths::new(dir)).map(|(whole, part)| format!("{whole} {part}"));
        assert_eq!(of("runs/x.shard-0003-of-0100").as_deref(), Some("runs/x 3/100"));
        assert_eq!(of("a.shard-b.shard-0000-of-0001").as_deref(), Some("a.shard-b 0/1"));
        for none in ["runs/x", "x.shard-3-of-100", "x.shard-0004-of-0004", "x.shard-0003-of-0100.run.json"] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
