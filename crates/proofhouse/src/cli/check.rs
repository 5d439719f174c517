//! `check`: everything that would refuse a run, without running; and problem files, whose solutions are tried.

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;

use super::doctor::SandboxArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::inputs::Inputs;
use super::{Terminal, plural, visible};
use crate::kinds;
use crate::kinds::code::{self, Bench, Budgets, CodeFlags, Judge, LanguageName, ProblemFile};

/// Check suites and their datasets without starting anything; try the solutions of problem files.
///
/// A file that ends in `.jsonl` or `.jsonl.gz` is read as a problem file: its canonical solutions have to pass in the
/// sandbox, and its buggy ones, where it has any, have to fail.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// Suite files, or problem files.
    #[arg(required = true)]
    files: Vec<Utf8PathBuf>,

    #[command(flatten)]
    inputs: Inputs,

    /// The language of problem files [default: what they say or look like].
    #[arg(long, value_enum)]
    language: Option<LanguageName>,

    /// Say which crates the tasks of problem files use, as lines for a suite; nothing is run.
    #[arg(long)]
    crates: bool,

    #[command(flatten)]
    sandbox: SandboxArgs,
}

impl Check {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let mut broken = Vec::new();
        for path in &self.files {
            if is_problem_file(path) {
                self.fit_problems()?;
                let mut file = super::code::problems(path)?;
                file.problems =
                    code::chosen_tasks(file.problems, &self.inputs.overrides()).map_err(|complaint| {
                        Failure::of(Exit::InvalidSuite, complaint.about(format!("{path}:")))
                    })?;
                match self.crates {
                    true => say_crates(path, &file, terminal)?,
                    false => broken.extend(self.rehearse(path, file, terminal)?),
                }
                continue;
            }
            match kinds::load(path, &self.inputs.overrides()) {
                Ok(job) => {
                    let loaded = &job.loaded;
                    self.inputs.fit(loaded.suite.kind)?;
                    for warning in &loaded.warnings {
                        terminal.say(&format!("warning: {warning}"));
                    }
                    let cases = plural(loaded.case_count, "case", "cases");
                    let trials = plural(loaded.trial_count, "trial", "trials");
                    terminal.data(&format!("{path}: ok, {cases}, {trials}\n"))?;
                }
                Err(problems) => broken.push(problems.to_string().trim_end().to_owned()),
            }
        }
        if broken.is_empty() {
            return Ok(Exit::Ok);
        }
        Err(Failure::say(Exit::InvalidSuite, broken.join("\n\n")))
    }

    /// Refuses what says nothing to a problem file, whose solutions are tried one by one.
    fn fit_problems(&self) -> Result<(), Failure> {
        self.inputs.fit(code::KIND)?;
        let flags = self.inputs.own::<CodeFlags>();
        let given = flags.map(|flags| [("--k", flags.k.is_some()), ("--measure", flags.measure)]);
        match given.into_iter().flatten().find(|(_, given)| *given) {
            None => Ok(()),
            Some((flag, _)) => {
                let what = format!("`{flag}` means nothing for a problem file: nothing is scored here");
                Err(Failure::say(Exit::Usage, what).hint("`proofhouse code PROBLEMS SAMPLES` takes it"))
            }
        }
    }

    /// Tries the solutions of a problem file; gives what is broken.
    fn rehearse(
        &self,
        path: &Utf8Path,
        file: ProblemFile,
        terminal: &Terminal,
    ) -> Result<Option<String>, Failure> {
        for note in &file.notes {
            terminal.say(&format!("warning: {path}: {}", visible(note)));
        }
        let problems = file.problems;
        let language = match self.language {
            Some(language) => language,
            None => code::language_of(&problems).map_err(|why| {
                Failure::say(Exit::InvalidSuite, format!("{path}: {why}")).hint(why.flag_hint())
            })?,
        };
        let bench = Bench::new(self.sandbox.open()?, Budgets::default())?;
        let judge = Judge::new(bench, (language.profile().bare)(), problems.clone());
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let remarks = code::rehearse(&judge, &problems, threads);
        let (broken, others): (Vec<_>, Vec<_>) = remarks.into_iter().partition(code::Remark::is_broken);
        for note in notes(&others) {
            terminal.say(&format!("note: {path}: {}", visible(&note)));
        }
        let tried = problems.len() - others.len();
        if broken.is_empty() {
            if tried == 0 {
                return Err(Failure::say(
                    Exit::Infrastructure,
                    format!("{path}: no solution could be tried"),
                ));
            }
            let tasks = plural(problems.len() as u64, "task hold", "tasks hold");
            terminal.data(&format!("{path}: ok, the solutions of {tried} of {tasks}\n"))?;
            return Ok(None);
        }
        let lines: Vec<String> =
            broken.iter().map(|remark| format!("{path}: {}", visible(&remark.to_string()))).collect();
        Ok(Some(lines.join("\n")))
    }
}

/// Tasks of which the same is to be said are told together.
fn notes(remarks: &[code::Remark]) -> Vec<String> {
    let mut told: Vec<(String, Vec<&str>)> = Vec::new();
    for remark in remarks {
        let what = remark.what.to_string();
        match told.iter_mut().find(|(known, _)| *known == what) {
            Some((_, tasks)) => tasks.push(&remark.task_id),
            None => told.push((what, vec![&remark.task_id])),
        }
    }
    told.into_iter()
        .map(|(what, tasks)| {
            let some: Vec<String> = tasks.iter().take(3).map(|task| format!("`{task}`")).collect();
            let names = match tasks.len() - some.len() {
                0 => some.join(", "),
                more => format!("{} and {more} more", some.join(", ")),
            };
            if tasks.len() == 1 {
                format!("{names}: {what}")
            } else {
                format!("{} tasks: {what}: {names}", tasks.len())
            }
        })
        .collect()
}

pub(super) fn is_problem_file(path: &Utf8Path) -> bool {
    let name = path.as_str().strip_suffix(".gz").unwrap_or(path.as_str());
    name.ends_with(".jsonl")
}

/// The crates that the tasks use, as lines for a suite.
fn say_crates(path: &Utf8Path, file: &ProblemFile, terminal: &Terminal) -> Result<(), Failure> {
    let crates = match code::language_of(&file.problems) {
        Ok(language) => (language.profile().crates)(&file.problems),
        Err(_) => code::crates_of(&file.problems),
    };
    if crates.is_empty() {
        terminal.data(&format!("# {path}: the tasks use no crates\n"))?;
        return Ok(());
    }
    let mut text = format!("# {path}\ncrates:\n");
    for (name, tasks) in &crates {
        let version = code::usual_version(name);
        let unknown = if version.is_none() { ", version not known here" } else { "" };
        let some: Vec<&str> = tasks.iter().take(3).map(String::as_str).collect();
        let more = if tasks.len() > some.len() { ", …" } else { "" };
        text.push_str(&format!(
            "  {name}: \"{}\" # {} of {} tasks{unknown}: {}{more}\n",
            version.unwrap_or("*"),
            tasks.len(),
            file.problems.len(),
            some.join(", "),
        ));
    }
    terminal.data(&visible(&text))?;
    Ok(())
}
