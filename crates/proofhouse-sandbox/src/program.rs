//! A program that one box made and others run: a file of the host that each of them binds, in place of a copy for each.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::outcome::ResultFile;
use crate::sandbox::Sandbox;
use crate::scratch::Scratch;
use crate::spec::{Arg, Bind, Spec};

/// Its file, its bind, and the bind's place inside.
const NAME: &str = "program";
const INSIDE: &str = "/program";

/// A program that boxes run.
#[derive(Debug)]
pub struct Program {
    found: ResultFile,
    /// The directory that is bound; without it every box gets a copy.
    shared: Option<Scratch>,
}

impl Sandbox {
    /// Makes a program of what a box left. Where nothing can be run from the scratch directory, every box will get a copy.
    pub fn program(&self, found: ResultFile) -> Program {
        let shared = may_run_from(self.scratch()).then(|| share(&found, self.scratch()).ok()).flatten();
        Program { found, shared }
    }
}

impl Program {
    /// Its size.
    pub fn length(&self) -> u64 {
        self.found.length
    }

    /// A run of it.
    pub fn run(&self, args: impl IntoIterator<Item = Arg>) -> Spec {
        let argv = |program| [program].into_iter().chain(args);
        let spec = match &self.shared {
            Some(scratch) => {
                Spec::new(argv(Arg::bind(NAME, NAME))).binds([Bind::new(NAME, below(scratch), INSIDE)])
            }
            None => Spec::new(argv(Arg::work(NAME))).program_from(NAME, self.found.fd.clone()),
        };
        spec.as_program()
    }
}

/// The directory of a scratch that every user may enter, which only who may enter the scratch can reach.
fn below(scratch: &Scratch) -> PathBuf {
    scratch.path().join("shared")
}

fn share(found: &ResultFile, parent: &Path) -> io::Result<Scratch> {
    let scratch = Scratch::new(parent)?;
    let directory = below(&scratch);
    let file = directory.join(NAME);
    std::fs::create_dir(&directory)?;
    std::fs::write(&file, found.read()?)?;
    for path in [&directory, &file] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?;
    }
    Ok(scratch)
}

fn may_run_from(directory: &Path) -> bool {
    rustix::fs::statvfs(directory)
        .is_ok_and(|found| !found.f_flag.contains(rustix::fs::StatVfsMountFlags::NOEXEC))
}
