//! Exit codes: documented, distinct, and stable. Scripts may rely on them.

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Everything was done; gates held, nothing to report was found.
    Ok = 0,
    /// An error of ours, or of the machine.
    Internal = 1,
    /// The command line is wrong.
    Usage = 2,
    /// A suite or dataset is wrong, or the crates that it names cannot be built; no trial was started.
    InvalidSuite = 3,
    /// The run is complete, but a target missed the suite's gate.
    GateFailed = 4,
    /// `diff --fail-on-changes` found a difference.
    ChangesFound = 5,
    /// `diff --fail-on-regressions` found a regression, a lost verdict, a score drop or a removed trial, or
    /// `diff --fail-on-worse` a target that is worse by more than the margin.
    RegressionsFound = 6,
    /// `verify` found something that does not fit.
    VerificationFailed = 7,
    /// The run ended before every planned trial had its record.
    Incomplete = 8,
    /// The run is complete, but no trial could be assessed: the targets, their transport or the toolchain failed, not their
    /// answers. Or it cannot be told whether the gate holds: what was not assessed, or too few cases, would decide it.
    Infrastructure = 9,
    /// The sandbox that was asked for is not available.
    SandboxRefused = 10,
    /// The run directory is taken: by another process, by another run, or by something that is not a run.
    Refused = 11,
    /// `diff --fail-on-worse` cannot tell whether a target is worse by more than the margin.
    CannotTell = 12,
}

impl Exit {
    /// Every code with its meaning, for `--help` and the reference.
    pub const TABLE: [(Exit, &str); 13] = [
        (Exit::Ok, "done; gates held, nothing found"),
        (Exit::Internal, "an error of proofhouse or of the machine"),
        (Exit::Usage, "the command line is wrong"),
        (
            Exit::InvalidSuite,
            "a suite or dataset is wrong, or its crates cannot be built; no trial was started",
        ),
        (Exit::GateFailed, "the run is complete, but a target missed the suite's gate"),
        (Exit::ChangesFound, "`diff --fail-on-changes` found a difference"),
        (
            Exit::RegressionsFound,
            "`diff --fail-on-regressions` found a regression, or `diff --fail-on-worse` a target that is worse",
        ),
        (Exit::VerificationFailed, "`verify` found something that does not fit"),
        (
            Exit::Incomplete,
            "the run ended before every planned trial had its record, or a run that is to be compared or verified did",
        ),
        (
            Exit::Infrastructure,
            "the run is complete, but no trial (of a containment suite: no attack) could be assessed, or it cannot be told whether the gate holds",
        ),
        (Exit::SandboxRefused, "the sandbox that was asked for is not available"),
        (Exit::Refused, "the run directory is taken by another process, another run, or something else"),
        (Exit::CannotTell, "`diff --fail-on-worse` cannot tell whether a target is worse"),
    ];

    /// The table as text.
    pub fn help() -> String {
        let rows = Self::TABLE.iter().map(|(exit, meaning)| format!("  {:>2}  {meaning}\n", *exit as u8));
        format!("Exit codes:\n{}", rows.collect::<String>())
    }
}
