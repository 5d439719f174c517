//! The flags that only robustness suites have.

use camino::Utf8PathBuf;
use clap::Args;

use super::PolicyName;

/// What the command line says against a robustness suite.
#[derive(Debug, Clone, Default, Args)]
pub struct RobustnessFlags {
    /// Robustness suites: a file with the tools under test by name, instead of the suite's `targets`.
    #[arg(long, value_name = "FILE")]
    pub target: Option<Utf8PathBuf>,

    /// Robustness suites: when to stop repeating, instead of the suite's.
    #[arg(long, value_enum)]
    pub policy: Option<PolicyName>,
}
