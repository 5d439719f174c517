//! `check`: everything that would refuse a run, without running; and problem files, whose solutions are tried.

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;

use super::doctor::SandboxArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::inputs::Inputs;
use super::{Terminal, visible};
use crate::code::{self, Bench, Budgets, Clippy, Judge, Language, Problem, Python, Rust};
use crate::{plan, suite};

/// Check suites and their datasets without starting anything; try the solutions of problem files.
///
/// A file that ends in `.jsonl` or `.jsonl.gz` is taken for a problem file: its canonical solutions have to pass in the
/// sandbox, and its buggy ones, where it has any, have to fail.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// Suite files, or problem files.
    #[arg(required = true)]
    files: Vec<Utf8PathBuf>,

    #[command(flatten)]
    inputs: Inputs,

    /// The language of problem files [default: as their prompts look].
    #[arg(long, value_enum)]
    language: Option<LanguageArg>,

    #[command(flatten)]
    sandbox: SandboxArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum LanguageArg {
    Rust,
    Python,
}

impl Check {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let mut broken = Vec::new();
        for path in &self.files {
            if is_problem_file(path) {
                broken.extend(self.rehearse(path, terminal)?);
                continue;
            }
            match suite::load(path, &self.inputs.overrides()) {
                Ok(loaded) => {
                    for warning in &loaded.warnings {
                        terminal.say(&format!("warning: {warning}"));
                    }
                    let (cases, trials) = (loaded.case_count, plan::count(&loaded));
                    terminal.data(&format!("{path}: ok, {cases} cases, {trials} trials\n"))?;
                }
                Err(problems) => broken.push(problems.to_string().trim_end().to_owned()),
            }
        }
        if broken.is_empty() {
            return Ok(Exit::Ok);
        }
        Err(Failure::say(Exit::InvalidSuite, broken.join("\n\n")))
    }

    /// Tries the solutions of a problem file; gives what is broken.
    fn rehearse(&self, path: &Utf8Path, terminal: &Terminal) -> Result<Option<String>, Failure> {
        let problems = code::read_problems(path).map_err(|error| Failure::new(Exit::InvalidSuite, &error))?;
        let language = self.language.unwrap_or_else(|| looks_like(&problems));
        let bench = Bench::new(self.sandbox.open()?, Budgets::default())?;
        let language: Box<dyn Language> = match language {
            LanguageArg::Rust => Box::new(Rust::find("rustc".as_ref(), Clippy::Off)),
            LanguageArg::Python => Box::new(Python::find("python3".as_ref())),
        };
        let judge = Judge::new(bench, language, problems.clone());
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let remarks = code::rehearse(&judge, &problems, threads);
        let (broken, others): (Vec<_>, Vec<_>) = remarks.into_iter().partition(code::Remark::is_broken);
        for remark in &others {
            terminal.say(&format!("note: {path}: {}", visible(&remark.to_string())));
        }
        let tried = problems.len() - others.len();
        if broken.is_empty() {
            if tried == 0 {
                return Err(Failure::say(
                    Exit::Infrastructure,
                    format!("{path}: no solution could be tried"),
                ));
            }
            terminal
                .data(&format!("{path}: ok, the solutions of {tried} of {} tasks hold\n", problems.len()))?;
            return Ok(None);
        }
        let lines: Vec<String> =
            broken.iter().map(|remark| format!("{path}: {}", visible(&remark.to_string()))).collect();
        Ok(Some(lines.join("\n")))
    }
}

fn is_problem_file(path: &Utf8Path) -> bool {
    let name = path.as_str().strip_suffix(".gz").unwrap_or(path.as_str());
    name.ends_with(".jsonl")
}

/// Rust has `fn`, Python has `def`.
fn looks_like(problems: &[Problem]) -> LanguageArg {
    let has = |word: &str| problems.iter().filter(|problem| problem.prompt.contains(word)).count();
    if has("def ") > has("fn ") { LanguageArg::Python } else { LanguageArg::Rust }
}
