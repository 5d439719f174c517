//! Expected failures on their way to the user: what, why, what to do, and the exit code.

use std::error::Error;
use std::fmt::Write as _;

use proofhouse_ledger::RunPaths;
use proofhouse_ledger::files::FileError;
use proofhouse_ledger::format;
use proofhouse_ledger::write::LockError;

use super::exit::Exit;
use crate::spine::run::{Ending, ExecuteError, OpenError, RecoverError, SealError};
use crate::spine::suite::Problems;
use crate::text::complaint::Complaint;

/// What ends a command early.
#[derive(Debug)]
pub struct Failure {
    /// The code to end with.
    pub exit: Exit,
    /// What is wrong.
    pub message: String,
    /// The command or flag that fixes it.
    pub hint: Option<String>,
    /// Whether it is only that nobody reads on.
    broken_pipe: bool,
}

impl Failure {
    /// Whether it is only that the reader of our output went away.
    pub fn is_broken_pipe(&self) -> bool {
        self.broken_pipe
    }

    /// An error with its chain of causes.
    pub fn new(exit: Exit, error: &dyn Error) -> Self {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            let _ = write!(message, "\n  caused by: {error}");
            cause = error.source();
        }
        Self { exit, message, hint: None, broken_pipe: false }
    }

    /// An error in words.
    pub fn say(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), hint: None, broken_pipe: false }
    }

    /// A complaint about what the user gave.
    pub fn of(exit: Exit, complaint: Complaint) -> Self {
        Self { hint: complaint.hint, ..Self::say(exit, complaint.what) }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The whole text for standard error.
    pub fn render(&self) -> String {
        match &self.hint {
            Some(hint) => format!("error: {}\n\nhint: {hint}\n", self.message),
            None => format!("error: {}\n", self.message),
        }
    }
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Failure::say(Exit::InvalidSuite, problems.to_string().trim_end())
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Failure::new(Exit::Internal, &error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let broken_pipe = error.kind() == std::io::ErrorKind::BrokenPipe;
        Failure { broken_pipe, ..Failure::new(Exit::Internal, &error) }
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let exit = match &error {
            OpenError::Suite(_) => Exit::InvalidSuite,
            OpenError::File(_) | OpenError::Thread(_) | OpenError::Lock(LockError::File(_)) => Exit::Internal,
            OpenError::Version { .. } => Exit::VerificationFailed,
            _ => Exit::Refused,
        };
        let hint = error.hint();
        Failure { hint, ..Failure::new(exit, &error) }
    }
}

impl From<ExecuteError> for Failure {
    fn from(error: ExecuteError) -> Self {
        let exit = match &error {
            ExecuteError::Target(..) | ExecuteError::Judge(_) => Exit::Infrastructure,
            ExecuteError::Stored(_) => Exit::Refused,
            ExecuteError::Crates(_) | ExecuteError::NoTargets => Exit::InvalidSuite,
            ExecuteError::Means(_) => Exit::Internal,
            ExecuteError::Runtime(_) | ExecuteError::Write(_) | ExecuteError::File(_) => Exit::Internal,
        };
        Failure { hint: error.hint(), ..Failure::new(exit, &error) }
    }
}

impl From<SealError> for Failure {
    fn from(error: SealError) -> Self {
        Failure::new(Exit::Internal, &error)
    }
}

impl From<RecoverError> for Failure {
    fn from(error: RecoverError) -> Self {
        let exit = match &error {
            RecoverError::Lock(_) | RecoverError::NotARun(_) | RecoverError::Ended(_) => Exit::Refused,
            RecoverError::Version(_) => Exit::VerificationFailed,
            _ => Exit::Internal,
        };
        Failure::new(exit, &error)
    }
}

/// Refuses a run of which a file is of a version that this program does not know.
pub fn refuse_unknown_versions(paths: &RunPaths) -> Result<(), Failure> {
    format::check_versions(paths).map_err(|error| {
        let what = format!("`{}` is of a version that this program does not read: {error}", paths.dir);
        Failure::say(Exit::VerificationFailed, what)
            .hint("a newer version of proofhouse wrote it, and reads it")
    })
}

/// Why a run ended before it was whole, in words.
pub fn ending(ending: &Ending) -> String {
    match ending {
        Ending::Complete => "every planned trial has its record".to_owned(),
        Ending::Signal(2) => "interrupted".to_owned(),
        Ending::Signal(signal) => format!("stopped by signal {signal}"),
        Ending::Budget(spent) => format!("the budget is used up: {spent:.4} US dollars are spent"),
        Ending::Halted(why) => why.clone(),
        Ending::Deadline => "the run's deadline passed".to_owned(),
        Ending::TooManyTimeouts => "more trials timed out than `--max-timeouts` allows".to_owned(),
        Ending::Disk(error) => Failure::new(Exit::Incomplete, error).message,
        Ending::File(error) => Failure::new(Exit::Incomplete, error).message,
        Ending::Suite(problems) => problems.to_string(),
        Ending::Failed(why) => why.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn what_a_machine_lacks_has_a_message_of_its_own() {
        let file = |kind: io::ErrorKind| FileError::new("lock", "run.lock".into())(io::Error::from(kind));
        let no_thread = || OpenError::Thread(io::Error::from(io::ErrorKind::WouldBlock));
        for (error, message, hint) in [
            (no_thread(), "thread", "raise the limit on processes"),
            (
                OpenError::Lock(LockError::File(file(io::ErrorKind::Unsupported))),
                "cannot lock `run.lock`",
                "has no locks",
            ),
            (OpenError::File(file(io::ErrorKind::StorageFull)), "`run.lock`", "the disk is full"),
            (OpenError::File(file(io::ErrorKind::ReadOnlyFilesystem)), "`run.lock`", "cannot be written"),
        ] {
            let failure = Failure::from(error);
            assert!(failure.message.contains(message), "{}", failure.message);
            assert!(failure.hint.as_deref().is_some_and(|told| told.contains(hint)), "{:?}", failure.hint);
        }
    }
}
