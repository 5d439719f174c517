//! What to run: the program, what it may see, and how much of everything it may use.
//!
//! A `Spec` is plain data. Paths that differ between tiers (the toolchain is at a fixed place inside a private root, but at
//! its own place on a host without one) are written as [`Arg`]s made of pieces, and are filled in when the tier is known;
//! text from a model or a user is always literal.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything that one boxed run needs.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The program and its arguments. A program name without `/` is looked up in the box's own `PATH`.
    pub argv: Vec<Arg>,
    /// The whole environment: it starts empty.
    pub env: Vec<(String, Arg)>,
    /// What the program reads on standard input.
    pub stdin: Stdin,
    /// Host files and directories that are visible, read-only.
    pub binds: Vec<Bind>,
    /// What stands behind the work directory.
    pub work: Work,
    /// Files put into the work directory before the program starts.
    pub files: Vec<PlacedFile>,
    /// Where the program starts, relative to the work directory.
    pub cwd: String,
    /// Whether `/proc` is there. `rustc` needs it; a test run must not have it.
    pub proc: Proc,
    /// Whether the host's network is reachable.
    pub network: Network,
    /// Ports of the box's own loopback that are served from outside, with [`Network::Own`] alone.
    pub doors: Vec<Door>,
    /// Which system calls are open.
    pub calls: Calls,
    /// Whether other programs may be started, not only the first.
    pub exec: bool,
    /// Whether the program boxes what it forks: filters and Landlock rules of its own, and limits of its children. It adds to
    /// [`Calls::Program`] only.
    pub zygote: bool,
    /// How much the whole tree may use.
    pub limits: Limits,
    /// How much of the output is kept.
    pub keep: Keep,
    /// Files to bring out of the work directory afterwards.
    pub collect: Vec<Collect>,
    /// A function of this crate to run in place of a program (probes and attacks).
    pub(crate) builtin: Option<Vec<String>>,
    /// Guards that are left out, so that a control run can show what each one stops.
    pub(crate) without: crate::guards::Guards,
}

impl Spec {
    /// A run of `argv` with default limits, an empty environment and an empty work directory.
    pub fn new(argv: impl IntoIterator<Item = impl Into<Arg>>) -> Spec {
        Spec {
            argv: argv.into_iter().map(Into::into).collect(),
            env: Vec::new(),
            stdin: Stdin::Null,
            binds: Vec::new(),
            work: Work::Private,
            files: Vec::new(),
            cwd: String::new(),
            proc: Proc::Absent,
            network: Network::None,
            doors: Vec::new(),
            calls: Calls::Compiler,
            exec: true,
            zygote: false,
            limits: Limits::default(),
            keep: Keep::default(),
            collect: Vec::new(),
            builtin: None,
            without: crate::guards::Guards::NONE,
        }
    }

    /// A run of one of this crate's own functions inside the box.
    #[cfg(target_os = "linux")]
    pub(crate) fn builtin(words: &[&str]) -> Spec {
        let mut spec = Spec::new(Vec::<Arg>::new());
        spec.builtin = Some(words.iter().map(|word| (*word).to_owned()).collect());
        spec
    }

    /// Adds one environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<Arg>) -> Spec {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// Adds read-only binds.
    #[must_use]
    pub fn binds(mut self, binds: impl IntoIterator<Item = Bind>) -> Spec {
        self.binds.extend(binds);
        self
    }

    /// Puts a file with these bytes into the work directory.
    #[must_use]
    pub fn file(mut self, path: &str, bytes: impl Into<Vec<u8>>) -> Spec {
        self.files.push(PlacedFile {
            path: path.to_owned(),
            source: Source::Bytes(bytes.into()),
            executable: false,
        });
        self
    }

    /// Puts a program that another box made into the work directory.
    #[must_use]
    pub fn program_from(mut self, path: &str, from: Arc<OwnedFd>) -> Spec {
        self.files.push(PlacedFile { path: path.to_owned(), source: Source::Fd(from), executable: true });
        self
    }

    /// Gives these bytes as standard input.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Spec {
        self.stdin = Stdin::Bytes(bytes.into());
        self
    }

    /// Brings a file out of the work directory when the run has ended.
    #[must_use]
    pub fn collect(mut self, path: &str, max_bytes: u64) -> Spec {
        self.collect.push(Collect { path: path.to_owned(), max_bytes });
        self
    }

    /// Gives it a loopback of its own with these doors, see [`crate::Sandbox::run_served`].
    #[must_use]
    pub fn doors(mut self, doors: impl IntoIterator<Item = Door>) -> Spec {
        self.network = Network::Own;
        self.doors.extend(doors);
        self
    }

    /// Makes it the run of a candidate or checker: only the calls that such a program needs, and no other program is started.
    #[must_use]
    pub fn as_program(mut self) -> Spec {
        self.calls = Calls::Program;
        self.exec = false;
        self
    }

    /// The same for a program that forks what it is given and boxes each fork itself.
    #[must_use]
    pub fn as_zygote(mut self) -> Spec {
        self.zygote = true;
        self.as_program()
    }

    /// Leaves out the kernel's count of CPU time, so that a benchmark can say what it costs. The box then counts by looking.
    #[doc(hidden)]
    #[must_use]
    pub fn without_task_clock(mut self) -> Spec {
        self.without = self.without.and(crate::guards::Guards::CLOCK);
        self
    }

    /// Changes the limits.
    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Spec {
        change(&mut self.limits);
        self
    }
}

/// A text of the command line or environment, made of literal pieces and of places inside the box.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arg(pub(crate) Vec<Piece>);

/// One piece of an [`Arg`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(OsString),
    Work(String),
    Bind(String, String),
}

impl Arg {
    /// Literal text; nothing in it is ever replaced.
    pub fn text(text: impl Into<OsString>) -> Arg {
        Arg(vec![Piece::Text(text.into())])
    }

    /// The path of something in the work directory (`""` for the directory itself).
    pub fn work(rest: &str) -> Arg {
        Arg(vec![Piece::Work(rest.to_owned())])
    }

    /// The path of something in the bind of this name (`""` for the bind itself).
    pub fn bind(name: &str, rest: &str) -> Arg {
        Arg(vec![Piece::Bind(name.to_owned(), rest.to_owned())])
    }

    /// The same text with more behind it, for arguments such as `--out=<path>`.
    #[must_use]
    pub fn then(mut self, more: impl Into<Arg>) -> Arg {
        self.0.extend(more.into().0);
        self
    }
}

impl From<&str> for Arg {
    fn from(text: &str) -> Arg {
        Arg::text(text)
    }
}

impl From<String> for Arg {
    fn from(text: String) -> Arg {
        Arg::text(text)
    }
}

impl From<OsString> for Arg {
    fn from(text: OsString) -> Arg {
        Arg::text(text)
    }
}

impl From<&Path> for Arg {
    fn from(path: &Path) -> Arg {
        Arg::text(path.as_os_str())
    }
}

/// A host file or directory that the box may read and execute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bind {
    /// The name by which an [`Arg`] refers to it.
    pub name: String,
    /// Where it is on the host.
    pub host: PathBuf,
    /// Where it is inside a box with a private root; without one it stays where it is on the host.
    pub inside: PathBuf,
}

impl Bind {
    /// A bind whose place inside differs from the host's.
    pub fn new(name: &str, host: impl Into<PathBuf>, inside: impl Into<PathBuf>) -> Bind {
        Bind { name: name.to_owned(), host: host.into(), inside: inside.into() }
    }

    /// A bind that is at the same place inside as on the host.
    pub fn same(path: impl Into<PathBuf>) -> Bind {
        let path = path.into();
        Bind { name: path.display().to_string(), host: path.clone(), inside: path }
    }
}

/// A file put into the work directory before the start.
#[derive(Clone, Debug)]
pub struct PlacedFile {
    /// Relative path under the work directory; missing directories are made.
    pub path: String,
    /// Where the bytes come from.
    pub source: Source,
    /// Whether it may be executed.
    pub executable: bool,
}

/// Where the bytes of a placed file come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// From the caller's memory.
    Bytes(Vec<u8>),
    /// From an open file, such as a result that another box made: copied by the kernel, never read into the caller.
    Fd(Arc<OwnedFd>),
}

/// Standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: end of file at once.
    Null,
    /// These bytes, then end of file.
    Bytes(Vec<u8>),
}

/// What stands behind the work directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// An empty directory that is gone afterwards, limited in size and number of files where the tier can.
    Private,
    /// A host directory whose files the program finds, and where the directories and regular files that it leaves arrive. In a
    /// private root it is copied in and out, and limited like any other; without one the program writes to it directly, its size is
    /// not limited, and when the caller is root it is handed to the box's own user before the start, so give it one made for
    /// this run.
    Host(PathBuf),
}

/// Whether `/proc` is visible. Without a private root there is only the host's, and it is granted as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proc {
    /// No `/proc`.
    Absent,
    /// The box's own processes only.
    Own,
}

/// Which system calls are open. Calls that are newer than this crate are closed in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// Everything but a list: for compilers and tools of any language.
    Compiler,
    /// Nothing but a list: for candidates and checkers, which compute and exchange bytes.
    Program,
}

/// Whether the network is reachable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Nothing, not even the host's loopback.
    None,
    /// A loopback of the box's own, where nobody listens but the program itself and the caller, behind [`Spec::doors`]. Only
    /// [`crate::Tier::Strong`] has one.
    Own,
    /// The host's network over IPv4 and IPv6: a grant that the caller records.
    Host,
}

/// A port of the address 127.0.0.1 in a box. Its socket is made inside and handed out before the program starts, so that whoever
/// serves it is out of the program's reach, and nothing forwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// Connections; the descriptor listens.
    Tcp(u16),
    /// Datagrams.
    Udp(u16),
}

/// Limits on the whole tree of processes in one box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// CPU time, summed over all processes: what a verdict uses.
    pub cpu_ms: u64,
    /// Wall clock from the start of the program: a guard.
    pub wall_ms: u64,
    /// Memory of all processes together.
    pub memory_bytes: u64,
    /// Address space of each process, `None` for programs that reserve without using (Go, Java, JavaScript).
    pub address_bytes: Option<u64>,
    /// Processes and threads at one time.
    pub processes: u64,
    /// Open files of each process.
    pub open_files: u64,
    /// Size of the private work directory.
    pub disk_bytes: u64,
    /// Files in the private work directory.
    pub disk_inodes: u64,
    /// Size of one file.
    pub file_bytes: u64,
    /// Bytes on standard output and, separately, on standard error. One more ends the run.
    pub output_bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        const MIB: u64 = 1 << 20;
        Limits {
            cpu_ms: 10_000,
            wall_ms: 30_000,
            memory_bytes: 1024 * MIB,
            address_bytes: Some(5 * 1024 * MIB),
            processes: 64,
            open_files: 256,
            disk_bytes: 256 * MIB,
            disk_inodes: 4096,
            file_bytes: 128 * MIB,
            output_bytes: 16 * MIB,
        }
    }
}

impl Limits {
    /// The limits as rows of name and value, for a manifest or a report.
    pub fn rows(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("cpu_ms", self.cpu_ms),
            ("wall_ms", self.wall_ms),
            ("memory_bytes", self.memory_bytes),
            ("address_bytes", self.address_bytes.unwrap_or(0)),
            ("processes", self.processes),
            ("open_files", self.open_files),
            ("disk_bytes", self.disk_bytes),
            ("disk_inodes", self.disk_inodes),
            ("file_bytes", self.file_bytes),
            ("output_bytes", self.output_bytes),
        ]
    }
}

/// How much of each output stream is kept in memory; length and digest always cover all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Bytes kept from the beginning.
    pub head_bytes: usize,
    /// Bytes kept from the end, when the head does not hold everything.
    pub tail_bytes: usize,
}

impl Default for Keep {
    fn default() -> Keep {
        Keep { head_bytes: usize::MAX, tail_bytes: 0 }
    }
}

/// A result to bring out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collect {
    /// Relative path under the work directory.
    pub path: String,
    /// A larger file is refused, not read.
    pub max_bytes: u64,
}
