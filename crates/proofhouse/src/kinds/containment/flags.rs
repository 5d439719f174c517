//! The flags that only containment suites have.

use clap::Args;

use super::Lane;

/// What the command line says against a containment suite.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct ContainmentFlags {
    /// Containment suites: the protocol probe only (1), the whole suite (2), or the whole suite if the probe passes (auto).
    #[arg(long, value_enum)]
    pub lane: Option<Lane>,
}
