//! Ready-made parts of specs for common programs: the system's libraries, and a Rust toolchain at a fixed place inside the box, so
//! that diagnostics are the same bytes on every host.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::spec::{Arg, Bind, Proc, Spec};

mod python;

pub use python::Python;

/// Directories that hold the loader and shared libraries, on the distributions there are. Absent ones are left out.
const LIBRARIES: [&str; 6] = ["/lib", "/lib64", "/lib32", "/usr/lib", "/usr/lib64", "/nix/store"];

/// The system's loader and libraries: enough for any dynamically linked program.
pub fn libraries() -> Vec<Bind> {
    present(&LIBRARIES)
}

/// The system's programs with their libraries, for black-box commands.
pub fn programs() -> Vec<Bind> {
    let mut binds = libraries();
    binds.extend(present(&[
        "/bin",
        "/sbin",
        "/usr/bin",
        "/usr/sbin",
        "/usr/share",
        "/usr/libexec",
        "/usr/local",
    ]));
    binds
}

/// What a program with a network grant needs to find hosts and check certificates.
pub fn name_service() -> Vec<Bind> {
    present(&[
        "/etc/resolv.conf",
        "/etc/hosts",
        "/etc/nsswitch.conf",
        "/etc/services",
        "/etc/ssl/certs",
        "/etc/pki/tls/certs",
        "/usr/share/ca-certificates",
    ])
}

fn present(paths: &[&str]) -> Vec<Bind> {
    paths.iter().filter(|path| Path::new(path).exists()).map(Bind::same).collect()
}

/// Where a toolchain is inside the box.
const INSIDE: &str = "/toolchain";
/// The name of its bind.
const NAME: &str = "toolchain";

/// A Rust toolchain: the compiler and linter themselves, never rustup's proxies, linked with the linker that comes with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolchain {
    /// Its directory on the host.
    pub sysroot: PathBuf,
    /// The target that it compiles for.
    pub triple: String,
    /// The whole of `rustc -vV`, for the record.
    pub version: String,
    startup: Option<Startup>,
}

/// Object files and directories that a C compiler would add when linking.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Startup {
    program: PathBuf,
    first: Vec<PathBuf>,
    last: Vec<PathBuf>,
    search: Vec<PathBuf>,
    loader: PathBuf,
}

/// What cargo finds its tools, caches and the way to its registry by.
const CARGO_NEEDS: [&str; 12] = [
    "PATH",
    "HOME",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "TMPDIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// What the linker is to make.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    Program,
    Library,
}

impl Toolchain {
    /// Asks a `rustc` of the host (a proxy will do) where its toolchain is.
    pub fn rust(rustc: &OsStr) -> io::Result<Toolchain> {
        let sysroot = PathBuf::from(ask(rustc, &["--print", "sysroot"])?.trim_end());
        let version = ask(sysroot.join("bin/rustc").as_os_str(), &["-vV"])?;
        let triple =
            version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default().to_owned();
        Ok(Toolchain { startup: startup(&triple), sysroot, triple, version })
    }

    /// The linter's version text, where it is there and answers.
    pub fn clippy_version(&self) -> Option<String> {
        let driver = self.sysroot.join("bin/clippy-driver");
        self.has_clippy().then(|| ask(driver.as_os_str(), &["-V"]).ok())?.map(|text| text.trim().to_owned())
    }

    /// Has cargo build the project in this folder with this toolchain; gives name and file of every library that it made.
    ///
    /// It runs on the host, because it may have to fetch, with nothing of the environment but where tools, caches and
    /// proxies are: build scripts see no keys.
    pub fn cargo_build(&self, project: &Path, offline: bool) -> io::Result<Vec<(String, PathBuf)>> {
        #[expect(clippy::disallowed_methods, reason = "this crate is the home of process starting")]
        let mut cargo = Command::new("cargo");
        cargo
            .args(["build", "--quiet", "--message-format=json", "--target-dir", "target"])
            .current_dir(project);
        cargo.env_clear().env("RUSTC", self.sysroot.join("bin/rustc"));
        for name in CARGO_NEEDS {
            #[expect(clippy::disallowed_methods, reason = "what cargo itself needs, by name")]
            let value = std::env::var_os(name);
            cargo.envs(value.map(|value| (name, value)));
        }
        if offline {
            cargo.arg("--offline");
        }
        let output = cargo.stdin(Stdio::null()).output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(io::Error::other(said));
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(text.lines().filter_map(library).collect())
    }

    /// Whether the linter is there.
    pub fn has_clippy(&self) -> bool {
        self.sysroot.join("bin/clippy-driver").exists()
    }

    /// The toolchain and the libraries that it and its output need.
    pub fn binds(&self) -> Vec<Bind> {
        let mut binds = vec![Bind::new(NAME, &self.sysroot, INSIDE)];
        binds.extend(libraries());
        binds
    }

    /// A run of `rustc` in the work directory. Give sources by relative path: then no diagnostic names a host path.
    pub fn rustc(&self, args: impl IntoIterator<Item = impl Into<Arg>>) -> Spec {
        self.driver("bin/rustc", Output::Program, args)
    }

    /// A run of `rustc` that makes a shared library, such as a procedural macro.
    pub fn rustc_library(&self, args: impl IntoIterator<Item = impl Into<Arg>>) -> Spec {
        self.driver("bin/rustc", Output::Library, args)
    }

    /// A run of `clippy-driver`, which lints and compiles in one pass.
    pub fn clippy(&self, args: impl IntoIterator<Item = impl Into<Arg>>) -> Spec {
        self.driver("bin/clippy-driver", Output::Program, args)
    }

    fn driver(&self, program: &str, output: Output, args: impl IntoIterator<Item = impl Into<Arg>>) -> Spec {
        let mut argv = vec![Arg::bind(NAME, program)];
        argv.push(Arg::text("--sysroot=").then(Arg::bind(NAME, "")));
        argv.extend(self.linking(output));
        argv.extend(args.into_iter().map(Into::into));
        let mut spec = Spec::new(argv).binds(self.binds()).env("TMPDIR", Arg::work(""));
        spec.proc = Proc::Own;
        spec
    }

    /// Arguments that link with the bundled linker directly, where all it needs was found; otherwise none, and a C compiler is
    /// needed inside.
    fn linking(&self, output: Output) -> Vec<Arg> {
        let bundled = format!("lib/rustlib/{}/bin/rust-lld", self.triple);
        let Some(startup) = self.startup.as_ref().filter(|_| self.sysroot.join(&bundled).exists()) else {
            return Vec::new();
        };
        let mut args =
            vec![Arg::text("-Clinker=").then(Arg::bind(NAME, &bundled)), Arg::from("-Clinker-flavor=ld.lld")];
        // What is linked here is small: more threads only cost their start.
        args.push("-Clink-arg=--threads=1".into());
        let link = |path: &Path| Arg::text("-Clink-arg=").then(path);
        if output == Output::Program {
            args.push(Arg::text("-Clink-arg=--dynamic-linker=").then(startup.loader.as_path()));
            args.push(link(&startup.program));
        }
        args.extend(startup.first.iter().map(|path| link(path)));
        args.extend(startup.search.iter().map(|path| Arg::text("-Lnative=").then(path.as_path())));
        args.extend(startup.last.iter().map(|path| link(path)));
        args
    }
}

/// Name and file of the library that a message of cargo tells of: `lib<name>-<hash>.rlib`.
fn library(message: &str) -> Option<(String, PathBuf)> {
    let end = message.find(".rlib\"")? + ".rlib".len();
    let path = Path::new(&message[message[..end].rfind('"')? + 1..end]);
    let name = path.file_stem()?.to_str()?.strip_prefix("lib")?.rsplit_once('-')?.0;
    Some((name.to_owned(), path.to_owned()))
}

/// How long a tool may take to say its version: rustup's proxies and cold disks need seconds, a tool that hangs needs for ever.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a trusted program of the host and returns what it printed.
fn ask(program: &OsStr, args: &[&str]) -> io::Result<String> {
    ask_within(program, args, PATIENCE)
}

fn ask_within(program: &OsStr, args: &[&str], patience: Duration) -> io::Result<String> {
    let named = || format!("`{} {}`", program.display(), args.join(" "));
    #[expect(clippy::disallowed_methods, reason = "this crate is the home of process starting")]
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    // What it says is read as it comes, so that it never waits for us.
    let (send, heard) = mpsc::channel();
    let pipes: [(bool, Option<Box<dyn Read + Send>>); 2] = [
        (true, child.stdout.take().map(|pipe| Box::new(pipe) as _)),
        (false, child.stderr.take().map(|pipe| Box::new(pipe) as _)),
    ];
    for (is_answer, pipe) in pipes {
        let send = send.clone();
        std::thread::Builder::new().spawn(move || {
            let mut text = Vec::new();
            let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut text));
            let _ = send.send((is_answer, text));
        })?;
    }
    let (mut answer, mut complaint) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        match heard.recv_timeout(patience) {
            Ok((true, text)) => answer = text,
            Ok((false, text)) => complaint = text,
            Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                let seconds = patience.as_secs();
                let what = format!("{} has not answered for {seconds} seconds: it hangs", named());
                return Err(io::Error::new(io::ErrorKind::TimedOut, what));
            }
        }
    }
    let status = child.wait()?;
    if !status.success() {
        let said = String::from_utf8_lossy(&complaint).trim().to_owned();
        return Err(io::Error::other(format!("`{}` failed: {said}", program.display())));
    }
    String::from_utf8(answer).map_err(io::Error::other)
}

/// Finds the start files of the C library and of the C compiler.
fn startup(triple: &str) -> Option<Startup> {
    let arch = triple.split('-').next()?;
    let multiarch = format!("{arch}-linux-gnu");
    let directories = ["/usr/lib64".to_owned(), format!("/usr/lib/{multiarch}"), "/usr/lib".to_owned()];
    let c = directories.iter().map(PathBuf::from).find(|directory| directory.join("Scrt1.o").exists())?;
    let compiler =
        ["/usr/lib/gcc", "/usr/lib64/gcc"].iter().find_map(|base| newest_compiler(Path::new(base), arch))?;
    let loaders = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
    let loader = loaders
        .iter()
        .map(PathBuf::from)
        .find(|path| path.to_string_lossy().contains(&arch.replace('_', "-")))?;
    Some(Startup {
        program: c.join("Scrt1.o"),
        first: vec![c.join("crti.o"), compiler.join("crtbeginS.o")],
        last: vec![compiler.join("crtendS.o"), c.join("crtn.o")],
        search: vec![c, compiler],
        loader,
    })
}

/// The directory of the newest C compiler for this architecture.
fn newest_compiler(base: &Path, arch: &str) -> Option<PathBuf> {
    let mut found = Vec::new();
    for target in crate::scratch::names(base).ok()?.into_iter().filter(|name| name.starts_with(arch)) {
        for version in crate::scratch::names(&base.join(&target)).unwrap_or_default() {
            let directory = base.join(&target).join(&version);
            let number: u32 = version.split('.').next().and_then(|major| major.parse().ok()).unwrap_or(0);
            if directory.join("crtbeginS.o").exists() {
                found.push((number, directory));
            }
        }
    }
    found.into_iter().max().map(|(_, directory)| directory)
}

#[cfg(test)]
mod patience {
    use super::*;

    #[test]
    fn a_tool_that_hangs_is_named_and_ended() {
        let limit = Duration::from_millis(200);
        let error = ask_within(OsStr::new("sleep"), &["1000"], limit).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(error.to_string(), "`sleep 1000` has not answered for 0 seconds: it hangs");
        let patient = Duration::from_secs(60);
        assert_eq!(ask_within(OsStr::new("echo"), &["a"], patient).unwrap(), "a\n");
        let error = ask_within(OsStr::new("sh"), &["-c", "echo no >&2; exit 3"], patient).unwrap_err();
        assert_eq!(error.to_string(), "`sh` failed: no");
        let long = ask_within(OsStr::new("seq"), &["100000"], patient).unwrap();
        assert_eq!(long.lines().count(), 100_000);
    }
}
