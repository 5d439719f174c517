//! Files of other tools that become suites or runs of ours: what an importer is given, what it gives, and what it leaves out.

use std::fmt;

use camino::Utf8Path;

use crate::text::complaint::Complaint;

/// One format of another tool.
pub(crate) struct Import {
    /// Its word on the command line.
    pub(crate) name: &'static str,
    /// What it reads, and what that becomes.
    pub(crate) about: &'static str,
    /// Reads a file.
    pub(crate) read: fn(&Importing<'_>) -> Result<Imported, Complaint>,
}

/// What an importer is asked for.
#[derive(Debug)]
pub(crate) struct Importing<'a> {
    /// The file; what it names lies beside it.
    pub(crate) path: &'a Utf8Path,
    /// Whether every system under test is to be replaced by one that answers from here.
    pub(crate) scripted: bool,
}

/// What a file became.
#[derive(Debug, Default)]
pub(crate) struct Imported {
    /// Names and contents of what is to be written.
    pub(crate) files: Vec<(String, Vec<u8>)>,
    /// The suites among them.
    pub(crate) suites: Vec<String>,
    /// Whether the answers are there already, so that each suite is run at once.
    pub(crate) answered: bool,
    /// How much of the file there is, and how much of it came along.
    pub(crate) counts: Vec<Count>,
    /// What did not come along.
    pub(crate) left_out: Vec<LeftOut>,
    /// What else a reader has to know.
    pub(crate) notes: Vec<String>,
}

/// How many parts of one sort a file has, and how many of them came along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count {
    /// The sort, in the plural.
    pub(crate) of: &'static str,
    /// All of them.
    pub(crate) all: u64,
    /// Those that came along.
    pub(crate) imported: u64,
}

/// A part of a file that has no place here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// The file, as its user names it.
    pub(crate) file: String,
    /// Its line there.
    pub(crate) line: u64,
    /// What it is.
    pub(crate) what: String,
    /// Why it has no place.
    pub(crate) why: String,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LeftOut { file, line, what, why } = self;
        write!(f, "{file}:{line}: {what}: {why}")
    }
}
