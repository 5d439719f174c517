//! The flags that only code suites have.

use clap::Args;

/// What the command line says against a code suite.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct CodeFlags {
    /// Code suites: the k of pass@k, instead of the suite's.
    #[arg(long, value_name = "K,…", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub k: Option<Vec<u64>>,

    /// Code suites: only this task; may be given several times.
    #[arg(long = "task", value_name = "ID")]
    pub tasks: Option<Vec<String>>,

    /// Code suites: only N tasks, drawn by the seed.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub sample: Option<u64>,

    /// Code suites: judge each completion alone, and record compile time and program size.
    #[arg(long)]
    pub measure: bool,
}
