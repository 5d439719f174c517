//! One call of the compiler or of the linter, in its box.

use proofhouse_sandbox::recipes::Toolchain;
use proofhouse_sandbox::{Arg, Outcome, ResultFile, Status};

use super::Rust;
use super::program::{BORDER, BORDER_NAME, File};
use crate::kinds::code::bench::Bench;

/// The largest program that is taken out of a box.
const MAX_PROGRAM_BYTES: u64 = 256 << 20;

/// The file that a compilation leaves.
const OUTPUT: &str = "program";

/// What a compilation is to leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Emit<'a> {
    /// A program.
    Program,
    /// The program of rustc's own test harness.
    Harness,
    /// A library of this name that other crates are compiled with.
    Library(&'a str),
    /// Nothing but what the compiler says.
    Nothing,
}

/// A compiler with the box that holds it.
#[derive(Clone, Copy)]
pub(super) struct Compiler<'a> {
    pub(super) rust: &'a Rust,
    pub(super) toolchain: &'a Toolchain,
    pub(super) bench: &'a Bench,
}

impl Compiler<'_> {
    /// Compiles or lints a crate whose root is the first file.
    pub(super) fn run(&self, files: &[File], clippy: bool, emit: Emit<'_>) -> Outcome {
        self.call(files, clippy, emit, None)
    }

    /// Compiles a crate against one more library.
    pub(super) fn run_with(&self, files: &[File], emit: Emit<'_>, with: (&str, &ResultFile)) -> Outcome {
        self.call(files, false, emit, Some(with))
    }

    /// Compiles a library of this name, if it compiles.
    pub(super) fn library(&self, files: &[File], name: &str) -> Option<ResultFile> {
        let mut outcome = self.call(files, false, Emit::Library(name), None);
        let found = outcome.collected.pop().and_then(|each| each.result.ok());
        found.filter(|_| outcome.status == Status::Ok)
    }

    fn call(
        &self,
        files: &[File],
        clippy: bool,
        emit: Emit<'_>,
        with: Option<(&str, &ResultFile)>,
    ) -> Outcome {
        let border = match self.rust.border(self.toolchain, self.bench) {
            Ok(border) => border,
            Err(outcome) => return *outcome,
        };
        let library = format!("lib{BORDER_NAME}.rlib");
        let (name, kind, left) = match emit {
            Emit::Program | Emit::Harness => ("program", "bin", "link"),
            Emit::Library(name) => (name, "rlib", "link"),
            Emit::Nothing => ("program", "bin", "metadata"),
        };
        let mut args: Vec<Arg> = vec![
            format!("--edition={}", self.rust.edition).into(),
            format!("--crate-name={name}").into(),
            format!("--crate-type={kind}").into(),
            "--error-format=json".into(),
            "-Copt-level=0".into(),
            "-Cdebuginfo=0".into(),
            "-Ccodegen-units=1".into(),
            "-Cstrip=symbols".into(),
            format!("--emit={left}").into(),
            // The linter's own errors are advice here; the compiler's warnings are of no interest.
            if clippy { "-Wclippy::correctness" } else { "-Awarnings" }.into(),
            format!("--extern={BORDER_NAME}={library}").into(),
        ];
        if emit == Emit::Harness {
            args.push("--test".into());
        }
        args.extend(with.map(|(name, _)| Arg::from(format!("--extern={name}=lib{name}.rlib"))));
        args.extend(self.rust.crates.arguments());
        args.extend(["-o".into(), Arg::from(OUTPUT), files[0].0.as_str().into()]);
        let mut spec = if clippy { self.toolchain.clippy(args) } else { self.toolchain.rustc(args) };
        spec = self.rust.crates.give(spec).file(&library, border.as_slice());
        if let Some((name, library)) = with {
            spec = spec.program_from(&format!("lib{name}.rlib"), library.fd.clone());
        }
        if emit != Emit::Nothing {
            spec = spec.collect(OUTPUT, MAX_PROGRAM_BYTES);
        }
        for (name, text) in files {
            spec = spec.file(name, text.as_bytes());
        }
        self.bench.compile(spec)
    }
}

/// Compiles the library of the border; what the compiler came to, if it could not.
pub(super) fn build_border(toolchain: &Toolchain, bench: &Bench) -> Result<Vec<u8>, Box<Outcome>> {
    let file = format!("lib{BORDER_NAME}.rlib");
    let args: Vec<Arg> = vec![
        "--edition=2021".into(),
        format!("--crate-name={BORDER_NAME}").into(),
        "--crate-type=rlib".into(),
        "--error-format=json".into(),
        "-Copt-level=0".into(),
        "-Cdebuginfo=0".into(),
        "-Ccodegen-units=1".into(),
        "-o".into(),
        file.as_str().into(),
        "border.rs".into(),
    ];
    let spec = toolchain.rustc(args).file("border.rs", BORDER).collect(&file, MAX_PROGRAM_BYTES);
    let mut outcome = bench.compile(spec);
    let found = outcome.collected.pop().and_then(|each| each.result.ok());
    match found.filter(|_| outcome.status == Status::Ok).and_then(|found| found.read().ok()) {
        Some(library) => Ok(library),
        None => Err(Box::new(outcome)),
    }
}
