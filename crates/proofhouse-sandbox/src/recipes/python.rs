//! A Python installation as the user has it: the system's, a venv with its packages, one that pyenv or a container image built.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use super::{ask, libraries};
use crate::spec::{Arg, Bind, Proc, Spec};

/// Where an installation is inside the box.
const INSIDE: &str = "/python";
/// The name of its bind.
const NAME: &str = "python";

/// A Python installation: the interpreter itself, never a shim, and the folders of its packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Python {
    /// Its directory on the host.
    pub prefix: PathBuf,
    /// The interpreter, relative to it.
    pub program: PathBuf,
    /// Implementation and version as the host's command says; what runs in a box is asked there.
    pub version: String,
    /// Folders with packages, in the order in which they are searched.
    packages: Vec<PathBuf>,
    /// Whether it stays at its own path inside, for installations that cannot be moved.
    own_place: bool,
}

impl Python {
    /// Asks a Python of the host (a shim or one of a venv will do) where it is installed and where its packages are.
    pub fn find(python: &OsStr) -> io::Result<Python> {
        const QUESTION: &str = "import os, sys; print(sys.base_prefix); \
            print(os.path.realpath(getattr(sys, '_base_executable', sys.executable))); \
            print(sys.implementation.name, sys.version.replace('\\n', ' ')); \
            [print(os.path.realpath(each)) for each in sys.path if each and os.path.isdir(each)]";
        let answer = ask(python, &["-c", QUESTION])?;
        let mut lines = answer.lines();
        let (Some(prefix), Some(program), Some(version)) = (lines.next(), lines.next(), lines.next()) else {
            return Err(io::Error::other(format!(
                "`{}` does not say where it is installed",
                python.display()
            )));
        };
        let prefix = std::fs::canonicalize(prefix)?;
        let program = Path::new(program)
            .strip_prefix(&prefix)
            .map_err(|_| io::Error::other(format!("`{program}` is outside of `{}`", prefix.display())))?
            .to_owned();
        // The interpreter finds its own library by itself; packages are in folders of these names, or somewhere else.
        let is_package = |path: &PathBuf| {
            !path.starts_with(&prefix)
                || path.iter().any(|part| part == "site-packages" || part == "dist-packages")
        };
        let packages = lines.map(PathBuf::from).filter(is_package).collect();
        Ok(Python { program, version: version.to_owned(), packages, own_place: false, prefix })
    }

    /// The same installation at its own path inside the box.
    #[must_use]
    pub fn at_its_own_place(mut self) -> Python {
        self.own_place = true;
        self
    }

    /// A run of the interpreter, isolated from any user's settings.
    pub fn run(&self, args: impl IntoIterator<Item = impl Into<Arg>>) -> Spec {
        let program = Arg::bind(NAME, &self.program.to_string_lossy());
        let mut argv = vec![program, "-I".into(), "-B".into(), "-X".into(), "utf8".into()];
        argv.extend(args.into_iter().map(Into::into));
        let mut binds = vec![Bind::new(NAME, &self.prefix, self.inside())];
        // Where the prefix is the system's own, its libraries are inside it and in their own places too.
        binds.extend(libraries());
        binds.extend(self.outside().map(|(name, path)| Bind::new(&name, path, format!("/packages/{name}"))));
        let mut spec = Spec::new(argv).binds(binds).env("PYTHONHASHSEED", "0").env("TMPDIR", Arg::work(""));
        if self.has_shared_library() {
            spec = spec.env("LD_LIBRARY_PATH", Arg::bind(NAME, "lib"));
        }
        spec.proc = Proc::Absent;
        spec
    }

    /// A run of a script of the work directory, without the start-up files of `site`; its arguments are the folders of packages.
    pub fn script(&self, name: &str) -> Spec {
        let mut args: Vec<Arg> = vec!["-S".into(), Arg::work(name)];
        let mut outside = self.outside().map(|(name, _)| Arg::bind(&name, ""));
        args.extend(self.packages.iter().filter_map(|path| match path.strip_prefix(&self.prefix) {
            Ok(below) => Some(Arg::bind(NAME, &below.to_string_lossy())),
            Err(_) => outside.next(),
        }));
        self.run(args)
    }

    fn inside(&self) -> PathBuf {
        if self.own_place { self.prefix.clone() } else { INSIDE.into() }
    }

    /// Folders of packages that are not below the prefix, with the names of their binds.
    fn outside(&self) -> impl Iterator<Item = (String, &PathBuf)> {
        let outside = self.packages.iter().filter(|path| !path.starts_with(&self.prefix));
        outside.enumerate().map(|(at, path)| (format!("packages-{at}"), path))
    }

    /// Builds with `--enable-shared` look for their library at a path that is not there inside.
    fn has_shared_library(&self) -> bool {
        let names = crate::scratch::names(&self.prefix.join("lib")).unwrap_or_default();
        names.iter().any(|name| name.starts_with("libpython") && name.contains(".so"))
    }
}
