//! What several commands take from the command line: where replies come from, and what shapes the trials.

use std::sync::Arc;

use camino::Utf8PathBuf;
use clap::Args;
use proofhouse_ledger::record::Kind;

use super::env;
use super::exit::Exit;
use super::failure::Failure;
use crate::code::LanguageName;
use crate::containment::Lane;
use crate::robustness::PolicyName;
use crate::suite::{CodeOverrides, Overrides};
use crate::target::{Endpoints, Mode, Opening, Tape};

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
        let tape = tape.map_err(|what| Failure::say(Exit::Usage, what))?;
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
pub(super) struct Inputs {
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

    /// Code suites: the k of pass@k, instead of the suite's.
    #[arg(long, value_name = "K,…", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(super) k: Option<Vec<u64>>,

    /// Code suites: only this task; may be given several times.
    #[arg(long = "task", value_name = "ID")]
    tasks: Option<Vec<String>>,

    /// Code suites: only N tasks, drawn by the seed.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    sample: Option<u64>,

    /// Containment suites: the protocol probe only (1), the whole suite (2), or the whole suite if the probe passes (auto).
    #[arg(long, value_enum)]
    lane: Option<LaneArg>,

    /// Code suites: judge each completion alone, and record compile time and program size.
    #[arg(long)]
    measure: bool,

    /// Robustness suites: a file with the tools under test by name, instead of the suite's `targets`.
    #[arg(long, value_name = "FILE")]
    target: Option<Utf8PathBuf>,

    /// Robustness suites: when to stop repeating, instead of the suite's.
    #[arg(long, value_enum)]
    policy: Option<PolicyArg>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum PolicyArg {
    /// The rules of the seed, to the letter.
    Seed,
    /// The same questions with error control.
    Evidence,
    /// Every planned run.
    Fixed,
}

impl From<PolicyArg> for PolicyName {
    fn from(policy: PolicyArg) -> PolicyName {
        match policy {
            PolicyArg::Seed => PolicyName::Seed,
            PolicyArg::Evidence => PolicyName::Evidence,
            PolicyArg::Fixed => PolicyName::Fixed,
        }
    }
}

impl Inputs {
    /// Refuses what says nothing to a suite of this kind: a filter that is ignored would be a silent lie.
    pub(super) fn fit(&self, kind: Kind) -> Result<(), Failure> {
        let given = [
            ("--k", self.k.is_some(), Kind::Code),
            ("--task", self.tasks.is_some(), Kind::Code),
            ("--sample", self.sample.is_some(), Kind::Code),
            ("--measure", self.measure, Kind::Code),
            ("--target", self.target.is_some(), Kind::Robustness),
            ("--policy", self.policy.is_some(), Kind::Robustness),
        ];
        match given.iter().find(|(_, given, of)| *given && *of != kind) {
            None => Ok(()),
            Some((flag, _, of)) => {
                let what = format!(
                    "`{flag}` is for suites of kind `{}`; this one is of kind `{}`",
                    of.as_str(),
                    kind.as_str()
                );
                Err(Failure::say(Exit::Usage, what))
            }
        }
    }

    /// Refuses what says nothing to a problem file, whose solutions are tried one by one.
    pub(super) fn fit_problems(&self) -> Result<(), Failure> {
        self.fit(Kind::Code)?;
        match [("--k", self.k.is_some()), ("--measure", self.measure)].iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((flag, _)) => {
                let what =
                    format!("`{flag}` says nothing to a problem file: nobody is scored against it yet");
                Err(Failure::say(Exit::Usage, what).hint("`proofhouse code PROBLEMS SAMPLES` takes it"))
            }
        }
    }

    pub(super) fn overrides(&self) -> Overrides {
        Overrides {
            seed: self.seed,
            limit: self.limit,
            strict_serialization: self.no_strict_serialization.then_some(false),
            deterministic_artifacts: self.no_deterministic_artifacts.then_some(false),
            data_root: self.data_root.clone(),
            derived_from: None,
            code: CodeOverrides {
                k: self.k.clone(),
                tasks: self.tasks.clone(),
                sample: self.sample,
                measure: self.measure,
            },
            target: self.target.clone(),
            policy: self.policy.map(PolicyName::from),
            lane: self.lane.map(LaneArg::lane),
            environment: env::for_targets(),
        }
    }
}

/// A language that completions are judged in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum LanguageArg {
    Rust,
    Python,
}

impl From<LanguageArg> for LanguageName {
    fn from(language: LanguageArg) -> LanguageName {
        match language {
            LanguageArg::Rust => LanguageName::Rust,
            LanguageArg::Python => LanguageName::Python,
        }
    }
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum LaneArg {
    #[value(name = "1")]
    One,
    #[value(name = "2")]
    Two,
    Auto,
}

impl LaneArg {
    fn lane(self) -> Lane {
        match self {
            LaneArg::One => Lane::One,
            LaneArg::Two => Lane::Two,
            LaneArg::Auto => Lane::Auto,
        }
    }
}
