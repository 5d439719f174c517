//! What came of a run. A program that misbehaves is never a Rust error: it is a [`Status`].

use std::fmt;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::tier::Tier;

/// Everything that one boxed run left behind.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// What it wrote to standard output.
    pub stdout: Stream,
    /// What it wrote to standard error.
    pub stderr: Stream,
    /// One entry per [`crate::Collect`] of the spec, in its order.
    pub collected: Vec<Collected>,
    /// What it used.
    pub usage: Usage,
    /// The tier that held it.
    pub tier: Tier,
}

impl Outcome {
    /// The outcome of a box that never ran.
    pub(crate) fn failed(tier: Tier, spec: &crate::spec::Spec, infra: Infra) -> Outcome {
        let not_reached = |each: &crate::spec::Collect| Collected {
            path: each.path.clone(),
            result: Err(NotTaken::NotReached),
        };
        Outcome {
            status: Status::InfraError(infra),
            stdout: Stream::default(),
            stderr: Stream::default(),
            collected: spec.collect.iter().map(not_reached).collect(),
            usage: Usage::default(),
            tier,
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Exit code 0.
    Ok,
    /// Another exit code.
    Exit(i32),
    /// Ended by a signal of its own making.
    Signal(i32),
    /// The tree used more CPU time than its limit.
    CpuLimit,
    /// The wall-clock guard was reached.
    WallLimit,
    /// The tree used more memory than its limit.
    MemoryLimit,
    /// A stream was longer than its limit.
    OutputLimit,
    /// A file was larger than its limit.
    FileLimit,
    /// The program made a call for which the policy ends it, or had more processes than the policy can allow.
    Denied,
    /// The box itself failed: nothing is known about the program.
    InfraError(Infra),
}

impl Status {
    /// A stable word for records.
    pub fn word(&self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Exit(_) => "exit",
            Status::Signal(_) => "signal",
            Status::CpuLimit => "cpu_limit",
            Status::WallLimit => "wall_limit",
            Status::MemoryLimit => "memory_limit",
            Status::OutputLimit => "output_limit",
            Status::FileLimit => "file_limit",
            Status::Denied => "denied",
            Status::InfraError(_) => "infra_error",
        }
    }
}

/// Why a box failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Infra {
    /// A step of the setup failed before the program ran.
    #[error("the box could not be set up: {step}: {}", errno_text(*errno))]
    Setup {
        /// What was being done.
        step: String,
        /// The system's error number.
        errno: i32,
    },
    /// The program could not be started: it is missing, not executable, or its loader is missing.
    #[error("`{program}` could not be started: {}", errno_text(*errno))]
    Exec {
        /// The program as the box saw it.
        program: String,
        /// The system's error number.
        errno: i32,
    },
    /// The box ended without a report, so its exit says nothing about the program.
    #[error("the box ended without a report")]
    NoReport,
    /// The run was called off.
    #[error("the run was called off")]
    Cancelled,
}

/// The name and meaning of an error number.
pub(crate) fn errno_text(errno: i32) -> String {
    let text = std::io::Error::from_raw_os_error(errno).to_string();
    match crate::errno_name(errno) {
        Some(name) => format!("{name} ({})", text.split(" (os error").next().unwrap_or_default()),
        None => text,
    }
}

/// One output stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// The first bytes, as many as the spec keeps.
    pub head: Vec<u8>,
    /// The last bytes, when the head does not hold everything.
    pub tail: Vec<u8>,
    /// How many bytes were written, up to the limit exactly.
    pub length: u64,
    /// Whether the program wrote more than the limit.
    pub truncated: bool,
    /// SHA-256 of all bytes up to the limit, as hexadecimal digits.
    pub sha256: String,
}

impl Stream {
    /// The head as text, with replacement characters for what is not UTF-8.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.head).into_owned()
    }
}

/// What a run used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time of the whole tree, user and system.
    pub cpu_ms: u64,
    /// The same in microseconds, for comparisons.
    pub cpu_us: u64,
    /// Wall clock from the start of the program to its end.
    pub wall_ms: u64,
    /// Largest resident set of any one process.
    pub max_rss_bytes: u64,
    /// Largest total that the watchdog or the cgroup saw.
    pub peak_memory_bytes: u64,
}

/// One collected result.
#[derive(Debug)]
pub struct Collected {
    /// The path that was asked for.
    pub path: String,
    /// The file, or why it was not taken.
    pub result: Result<ResultFile, NotTaken>,
}

/// A result file: regular, with one link, no larger than asked.
#[derive(Clone, Debug)]
pub struct ResultFile {
    /// The open file. It can be placed into another box without being read here.
    pub fd: Arc<OwnedFd>,
    /// Its size when it was opened; nothing in the box was running any more.
    pub length: u64,
}

impl ResultFile {
    /// Reads the whole file, never more than its length.
    pub fn read(&self) -> std::io::Result<Vec<u8>> {
        use std::os::unix::fs::FileExt;
        let file = File::from(self.fd.try_clone()?);
        let mut bytes = vec![0; usize::try_from(self.length).unwrap_or(usize::MAX)];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    }
}

/// Why a result was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotTaken {
    /// There is nothing at that path.
    Missing,
    /// Something on the path is a symbolic link, or leads out of the work directory.
    Link,
    /// It is a FIFO, socket, device or directory.
    NotRegular,
    /// It has a second name, perhaps outside.
    HardLinked,
    /// It is larger than asked.
    TooLarge,
    /// It could not be opened.
    Unreadable,
    /// The run did not get so far.
    NotReached,
}

impl fmt::Display for NotTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotTaken::Missing => "missing",
            NotTaken::Link => "a symbolic link",
            NotTaken::NotRegular => "not a regular file",
            NotTaken::HardLinked => "a file with a second name",
            NotTaken::TooLarge => "larger than allowed",
            NotTaken::Unreadable => "unreadable",
            NotTaken::NotReached => "not reached",
        })
    }
}
