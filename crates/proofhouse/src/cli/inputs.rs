//! What several commands take from the command line: where replies come from, and what shapes the trials.

use std::any::Any;
use std::sync::Arc;

use camino::Utf8PathBuf;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command};
use proofhouse_ledger::record::Kind;

use super::env;
use super::exit::Exit;
use super::failure::Failure;
use crate::family::target::{Endpoints, Mode, Opening, Tape};
use crate::kinds::KINDS;
use crate::spine::suite::Overrides;

/// Where replies of targets are kept or come from; shared by all commands that ask targets.
#[derive(Debug, Args)]
pub(super) struct Tapes {
    /// Keep every reply of an endpoint in this directory; keys are never among them.
    #[arg(long, value_name = "DIR", conflicts_with = "replay")]
    pub(super) record: Option<Utf8PathBuf>,

    /// Take every reply of an endpoint from this directory, without a network; what is not there is an error.
    #[arg(long, value_name = "DIR")]
    pub(super) replay: Option<Utf8PathBuf>,

    /// One for the whole command: lanes and rewriters draw on the same allowances.
    #[arg(skip)]
    endpoints: Endpoints,
}

impl Tapes {
    /// What targets need from this process.
    pub(super) fn opening(&self) -> Result<Opening, Failure> {
        let wanted = self.record.as_ref().map(|dir| (dir, Mode::Record));
        let wanted = wanted.or(self.replay.as_ref().map(|dir| (dir, Mode::Replay)));
        let tape = wanted.map(|(dir, mode)| Tape::open(dir, mode)).transpose();
        let tape = tape.map_err(|complaint| Failure::of(Exit::Usage, complaint))?;
        Ok(Opening {
            environment: env::for_targets(),
            tape: tape.map(Arc::new),
            endpoints: self.endpoints.clone(),
            ..Opening::default()
        })
    }
}

/// What shapes the trials from the command line; shared by `check`, `plan` and `run`.
#[derive(Debug, Args)]
struct Common {
    /// Take only the first N cases.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,

    /// The seed, instead of the suite's.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,

    /// Keep what has no canonical form as text instead of refusing it.
    #[arg(long)]
    no_strict_serialization: bool,

    /// Put wall times, host facts and the command line into the run directory.
    #[arg(long)]
    no_deterministic_artifacts: bool,

    /// Dataset paths start here and stay below it, instead of the suite's directory.
    #[arg(long, value_name = "DIR")]
    data_root: Option<Utf8PathBuf>,
}

/// The same with the flags that single kinds have.
#[derive(Debug)]
pub(super) struct Inputs {
    common: Common,
    own: Vec<OfKind>,
}

/// What the flags of one kind say.
#[derive(Debug)]
struct OfKind {
    kind: Kind,
    /// The first flag that was given, if one was.
    given: Option<String>,
    value: Arc<dyn Any + Send + Sync>,
    files: Vec<Utf8PathBuf>,
}

impl clap::Args for Inputs {
    fn augment_args(command: Command) -> Command {
        KINDS.iter().fold(Common::augment_args(command), |command, row| (row.flags.augment)(command))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for Inputs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let own = KINDS.iter().map(|row| {
            let (value, files) = (row.flags.value)(matches)?;
            let flags = (row.flags.augment)(Command::new("flags"));
            let given = flags.get_arguments().find(|flag| {
                let name = flag.get_id().as_str();
                matches.try_contains_id(name).is_ok()
                    && matches.value_source(name) == Some(ValueSource::CommandLine)
            });
            let given = given.and_then(|flag| flag.get_long()).map(|long| format!("--{long}"));
            Ok(OfKind { kind: row.kind, given, value, files })
        });
        Ok(Inputs {
            common: Common::from_arg_matches(matches)?,
            own: own.collect::<Result<_, clap::Error>>()?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Inputs {
    /// Refuses what says nothing to a suite of this kind: a flag that is ignored would be a silent lie.
    pub(super) fn fit(&self, kind: Kind) -> Result<(), Failure> {
        let foreign = self.own.iter().filter(|own| own.kind != kind);
        match foreign.filter_map(|own| Some((own, own.given.as_ref()?))).next() {
            None => Ok(()),
            Some((own, flag)) => {
                let what = format!(
                    "`{flag}` is for suites of kind `{}`; this one is of kind `{}`",
                    own.kind.as_str(),
                    kind.as_str()
                );
                Err(Failure::say(Exit::Usage, what).hint(format!("leave `{flag}` out")))
            }
        }
    }

    /// The first flag that was given, if one was.
    pub(super) fn given(&self) -> Option<&str> {
        let Common { limit, seed, no_strict_serialization, no_deterministic_artifacts, data_root } =
            &self.common;
        let common = [
            ("--limit", limit.is_some()),
            ("--seed", seed.is_some()),
            ("--no-strict-serialization", *no_strict_serialization),
            ("--no-deterministic-artifacts", *no_deterministic_artifacts),
            ("--data-root", data_root.is_some()),
        ];
        let common = common.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag);
        common.or_else(|| self.own.iter().find_map(|own| own.given.as_deref()))
    }

    /// What the flags of one kind say.
    pub(super) fn own<T: Any>(&self) -> Option<&T> {
        self.own.iter().find_map(|own| own.value.downcast_ref())
    }

    pub(super) fn overrides(&self) -> Overrides {
        let common = &self.common;
        Overrides {
            seed: common.seed,
            limit: common.limit,
            strict_serialization: common.no_strict_serialization.then_some(false),
            deterministic_artifacts: common.no_deterministic_artifacts.then_some(false),
            data_root: common.data_root.clone(),
            derived_from: None,
            prices: None,
            own: self.own.iter().map(|own| Arc::clone(&own.value)).collect(),
            files: self.own.iter().flat_map(|own| own.files.iter().cloned()).collect(),
            environment: env::for_targets(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Terminal, dispatch};
    use clap::{CommandFactory as _, Parser as _};

    /// A flag as somebody would give it: its name, and its value where it takes one.
    fn given(flag: &clap::Arg) -> Vec<String> {
        let long = format!("--{}", flag.get_long().expect("flags of kinds have names"));
        let values = flag.get_possible_values();
        let value = values.first().map_or("1", |value| value.get_name()).to_owned();
        let takes = flag.get_action().takes_values();
        std::iter::once(long).chain(takes.then_some(value)).collect()
    }

    /// What a command says to these arguments.
    fn said(arguments: &[String]) -> Result<Exit, Failure> {
        let typed = std::iter::once("proofhouse".to_owned()).chain(arguments.iter().cloned());
        let cli = Cli::try_parse_from(typed).map_err(|error| Failure::say(Exit::Usage, error.to_string()))?;
        dispatch(cli.command, &Terminal { quiet: true, surroundings: env::surroundings(true) })
    }

    /// What stands between a command's name and its flags, for a suite.
    fn arguments(command: &str, dir: &camino::Utf8Path, suite: &str) -> Vec<String> {
        let path = |name: &str| dir.join(name).into_string();
        match command {
            "score" => vec![path("run"), suite.to_owned()],
            "verify" => vec![path("run"), "--suite".to_owned(), suite.to_owned()],
            "code" => vec![path("problems.jsonl"), path("samples.jsonl")],
            _ => vec![suite.to_owned()],
        }
    }

    /// Every flag of every kind, at every command, with suites of every other kind: what says nothing is refused.
    #[test]
    fn a_flag_of_another_kind_is_refused_by_every_command() {
        let temp = tempfile::tempdir().unwrap();
        let dir = camino::Utf8Path::from_path(temp.path()).unwrap();
        let write = |name: &str, text: &str| std::fs::write(dir.join(name), text).unwrap();
        write(
            "problems.jsonl",
            "{\"task_id\":\"a\",\"prompt\":\"def f():\\n\",\"entry_point\":\"f\",\"test\":\"def check(f):\\n    assert f()\\n\"}\n",
        );
        write("samples.jsonl", "{\"task_id\":\"a\",\"completion\":\"    return 1\\n\"}\n");
        for row in KINDS {
            for (name, text) in row.starter {
                let name = format!("{}/{name}", row.kind.as_str());
                std::fs::create_dir_all(dir.join(&name).parent().unwrap()).unwrap();
                write(&name, text);
            }
        }
        let suite = |kind: &crate::kinds::Row| {
            let (name, _) = kind.starter[0];
            dir.join(kind.kind.as_str()).join(name).into_string()
        };
        let probe = KINDS[0];
        let done = said(&["run", &suite(probe), "--run-dir", dir.join("run").as_str()].map(str::to_owned));
        assert!(done.is_ok(), "the run that `score` needs: {:?}", done.map_err(|failure| failure.message));

        let mut refused = 0;
        for row in KINDS {
            let flags = (row.flags.augment)(Command::new("flags"));
            for (flag, command) in flags.get_arguments().flat_map(|flag| {
                Cli::command().get_subcommands().map(|c| (flag, c.clone())).collect::<Vec<_>>()
            }) {
                // A command that reads no suite may have a flag of that name for something else.
                let has = |long: Option<&str>| command.get_arguments().any(|known| known.get_long() == long);
                let takes = has(Some("data-root")) && has(flag.get_long());
                let name = command.get_name().to_owned();
                for other in KINDS.iter().filter(|other| other.kind != row.kind) {
                    if name == "code" && other.kind.as_str() != "code" {
                        continue;
                    }
                    let mut words = vec![name.clone()];
                    words.extend(arguments(&name, dir, &suite(other)));
                    words.extend(given(flag));
                    let failure = said(&words).expect_err(&words.join(" "));
                    assert_eq!(failure.exit, Exit::Usage, "{}: {}", words.join(" "), failure.message);
                    if takes {
                        let what = format!("is for suites of kind `{}`", row.kind.as_str());
                        assert!(failure.message.contains(&what), "{}: {}", words.join(" "), failure.message);
                        refused += 1;
                    }
                }
            }
        }
        // Seven flags of three kinds at `check`, `plan`, `run`, `score` and `verify`, each with three other kinds, and three at `code`;
        // more with every kind.
        assert!(refused >= 7 * 5 * 3 + 3, "{refused}");
    }
}
