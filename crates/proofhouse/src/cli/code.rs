//! `code`: completions judged without a suite file.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use proofhouse_ledger::Json;
use proofhouse_ledger::files;

use super::exit::Exit;
use super::failure::Failure;
use super::run::{Run, Typed};
use super::{Terminal, plural, visible};
use crate::kinds::code::{
    self, Clippy, CodeFlags, Content, LanguageName, Problem, ProblemError, ProblemFile,
};

/// Judge completions without a suite: language, format and crates are detected from the problem file.
///
/// Every file of samples becomes a slot with the file's name. The run is a run like any other: it can be resumed,
/// verified, compared and exported. `--write-suite` writes the suite that it is.
#[derive(Debug, Args)]
#[command(
    mut_arg("suite", |arg| arg.index(1).value_name("PROBLEMS").help("The problem file: `.jsonl` or `.jsonl.gz`")),
    mut_arg("data_root", |arg| arg.hide(true)),
    mut_arg("record", |arg| arg.hide(true)),
    mut_arg("replay", |arg| arg.hide(true)),
    mut_arg("prices", |arg| arg.hide(true)),
    mut_arg("budget", |arg| arg.hide(true)),
    mut_arg("lane", |arg| arg.hide(true)),
    mut_arg("target", |arg| arg.hide(true)),
    mut_arg("policy", |arg| arg.hide(true)),
)]
pub(super) struct Code {
    #[command(flatten)]
    run: Run,

    /// Files of completions: lines with `task_id` and `completion` (or `solution`, `generation`).
    #[arg(required = true, index = 2, value_name = "SAMPLES")]
    samples: Vec<Utf8PathBuf>,

    /// The language [default: what the problems say or look like].
    #[arg(long, value_enum)]
    language: Option<LanguageName>,

    /// Whether completions are linted (Rust) [default: advisory].
    #[arg(long, value_enum)]
    clippy: Option<ClippyArg>,

    /// A crate that the tasks may use (Rust), as NAME=VERSION; may be given several times [default: those that they need].
    #[arg(long = "crate", value_name = "NAME=VERSION")]
    crates: Vec<String>,

    /// Build no crates (Rust): tasks that need one are left out by name.
    #[arg(long, conflicts_with = "crates")]
    no_crates: bool,

    /// Write the suite to this file, which must not exist yet, and run it from there; problems and samples have to lie in
    /// its folder or below.
    #[arg(long, value_name = "FILE")]
    write_suite: Option<Utf8PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ClippyArg {
    Off,
    Advisory,
    Required,
}

impl From<ClippyArg> for Clippy {
    fn from(clippy: ClippyArg) -> Clippy {
        match clippy {
            ClippyArg::Off => Clippy::Off,
            ClippyArg::Advisory => Clippy::Advisory,
            ClippyArg::Required => Clippy::Required,
        }
    }
}

/// What the files say.
struct Detected<'a> {
    language: LanguageName,
    /// Name and version of each crate that is built.
    crates: &'a [(String, String)],
    /// The file of each slot.
    slots: &'a [(String, Utf8PathBuf)],
}

impl Code {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let path = self.run.suite.clone();
        let file = problems(&path)?;
        self.samples.iter().try_for_each(|samples| look_at(samples))?;
        let language = self.language(&path, &file.problems)?;
        self.fit(language)?;
        let crates = self.crates(language, &file.problems)?;
        let slots = slots(&self.samples);
        self.say(terminal, &file, &Detected { language, crates: &crates, slots: &slots });
        let base = self.base()?;
        let mut text = format!("kind: code\nsuite_id: {}\n", name_of(&path));
        text.push_str(&format!("language: {}\n", language.as_str()));
        text.push_str(&format!("problems: {}\n", quoted(&below(&base, &path)?)));
        text.push_str("samples:\n");
        for (slot, samples) in &slots {
            text.push_str(&format!("  {}: {}\n", quoted(slot), quoted(&below(&base, samples)?)));
        }
        if let Some(k) = self.run.inputs.own::<CodeFlags>().and_then(|flags| flags.k.as_ref()) {
            let k: Vec<String> = k.iter().map(u64::to_string).collect();
            text.push_str(&format!("k: [{}]\n", k.join(", ")));
        }
        if language == LanguageName::Rust {
            let clippy = serde_json::to_string(&Clippy::from(self.clippy.unwrap_or(ClippyArg::Advisory)))
                .unwrap_or_default();
            text.push_str(&format!("clippy: {clippy}\n"));
        }
        if !crates.is_empty() {
            text.push_str("crates:\n");
            for (name, version) in &crates {
                text.push_str(&format!("  {name}: {}\n", quoted(version)));
            }
        }
        let mut run = self.run;
        match self.write_suite {
            Some(suite) => {
                if suite.exists() {
                    return Err(Failure::say(Exit::Refused, format!("`{suite}` is there already"))
                        .hint(format!("`proofhouse run {suite}` runs it")));
                }
                files::write_atomic(&suite, text.as_bytes())?;
                terminal.say(&format!("suite: {suite}"));
                run.suite = suite;
            }
            None => {
                let command = again(std::env::args().skip(1));
                run = run.of_text(Typed { text, base, command });
            }
        }
        run.run(terminal)
    }

    /// Refuses what says nothing to this language.
    fn fit(&self, language: LanguageName) -> Result<(), Failure> {
        let given = [
            ("--clippy", self.clippy.is_some()),
            ("--crate", !self.crates.is_empty()),
            ("--no-crates", self.no_crates),
        ];
        match given.iter().find(|(_, given)| *given && language != LanguageName::Rust) {
            None => Ok(()),
            Some((flag, _)) => {
                let what =
                    format!("`{flag}` is for Rust, and the problems are judged as {}", language.as_str());
                let hint = match self.language {
                    Some(_) => format!("leave `{flag}` out"),
                    None => format!("leave `{flag}` out, or say `--language rust` if they are Rust"),
                };
                Err(Failure::say(Exit::Usage, what).hint(hint))
            }
        }
    }

    fn language(&self, path: &Utf8Path, problems: &[Problem]) -> Result<LanguageName, Failure> {
        match self.language {
            Some(language) => Ok(language),
            None => code::language_of(problems).map_err(|why| {
                Failure::say(Exit::InvalidSuite, format!("{path}: {why}")).hint(why.flag_hint())
            }),
        }
    }

    /// Name and version of each crate that is built.
    fn crates(&self, language: LanguageName, problems: &[Problem]) -> Result<Vec<(String, String)>, Failure> {
        if language != LanguageName::Rust || self.no_crates {
            return Ok(Vec::new());
        }
        let given = self.crates.iter().map(|given| match given.split_once('=') {
            Some((name, version)) => Ok((name.to_owned(), version.to_owned())),
            None => Err(Failure::say(Exit::Usage, format!("`--crate {given}` names no version"))
                .hint("for example `--crate rand=0.4`")),
        });
        let mut crates: BTreeMap<String, String> = given.collect::<Result<_, _>>()?;
        for name in code::crates_of(problems).into_keys() {
            if let Some(version) = code::usual_version(&name) {
                crates.entry(name).or_insert_with(|| version.to_owned());
            }
        }
        Ok(crates.into_iter().collect())
    }

    /// What was found, before anything is run.
    fn say(
        &self,
        terminal: &Terminal,
        file: &ProblemFile,
        &Detected { language, crates, slots }: &Detected<'_>,
    ) {
        let mut formats: Vec<code::Format> = file.problems.iter().map(|problem| problem.format).collect();
        formats.sort_unstable();
        formats.dedup();
        let formats: Vec<&str> = formats.into_iter().map(code::Format::name).collect();
        terminal.say(&format!(
            "problems: {} in {} format, judged as {}{}",
            plural(file.problems.len() as u64, "task", "tasks"),
            formats.join(" and "),
            language.as_str(),
            if self.language.is_some() { "" } else { " (detected)" }
        ));
        for (slot, path) in slots {
            terminal.say(&format!("samples:  `{path}` is slot `{slot}`"));
        }
        let needed = (language.profile().crates)(&file.problems);
        for (name, tasks) in &needed {
            let built = crates.iter().find(|(built, _)| built == name);
            let how = match built {
                Some((_, version)) => format!("{version} is built for them"),
                None if self.no_crates => "not built: they are left out by name".to_owned(),
                None => format!("no version is known here: `--crate {name}=VERSION` adds it"),
            };
            let tasks = plural(tasks.len() as u64, "task", "tasks");
            terminal.say(&visible(&format!("crates:   `{name}` is used by {tasks}; {how}")));
        }
    }

    /// The folder that all files are below, or where the suite is written.
    fn base(&self) -> Result<Utf8PathBuf, Failure> {
        if let Some(suite) = &self.write_suite {
            let parent = suite.parent().filter(|parent| !parent.as_str().is_empty());
            return canonical(parent.unwrap_or(Utf8Path::new(".")));
        }
        let mut base: Option<Utf8PathBuf> = None;
        for path in self.samples.iter().chain([&self.run.suite]) {
            let folder = canonical(path)?;
            let folder = folder.parent().unwrap_or(Utf8Path::new("/")).to_owned();
            base = Some(match base {
                None => folder,
                Some(base) => {
                    let common = base.ancestors().find(|above| folder.starts_with(above));
                    common.unwrap_or(Utf8Path::new("/")).to_owned()
                }
            });
        }
        Ok(base.unwrap_or_default())
    }
}

/// Reads a problem file that has problems.
pub(super) fn problems(path: &Utf8Path) -> Result<ProblemFile, Failure> {
    match code::read_problem_file(path) {
        Ok(file) if file.problems.is_empty() => {
            Err(Failure::say(Exit::InvalidSuite, format!("`{path}` is empty: it has no problems"))
                .hint("a problem file has one JSON object per line, with `task_id`, `prompt` and `test`"))
        }
        Ok(file) => Ok(file),
        Err(ProblemError::Line { complaint, .. }) if code::content_of(path) == Content::Samples => {
            let what = format!("`{path}` holds completions, not problems: {}", complaint.what);
            Err(Failure::say(Exit::InvalidSuite, what)
                .hint("the problem file comes first: `proofhouse code PROBLEMS SAMPLES`"))
        }
        Err(error) => Err(Failure::new(Exit::InvalidSuite, &error)),
    }
}

/// Refuses a file of samples that has none, before anything is said of the run.
fn look_at(path: &Utf8Path) -> Result<(), Failure> {
    let mut samples = code::Samples::open(path)
        .map_err(|error| Failure::say(Exit::InvalidSuite, format!("`{path}` cannot be read: {error}")))?;
    if samples.next().is_none() {
        return Err(Failure::say(Exit::InvalidSuite, format!("`{path}` is empty: it has no completions"))
            .hint("a line is `{\"task_id\": …, \"completion\": …}`"));
    }
    match code::content_of(path) {
        Content::Problems => {
            Err(Failure::say(Exit::InvalidSuite, format!("`{path}` holds problems, not completions")).hint(
                "the problem file comes first, then files of completions: `proofhouse code PROBLEMS SAMPLES`",
            ))
        }
        Content::Samples | Content::Other => Ok(()),
    }
}

/// The command that was typed, without what says where its run is and how it is taken up.
fn again(typed: impl Iterator<Item = String>) -> String {
    let mut command = "proofhouse".to_owned();
    let mut skip = false;
    for word in typed {
        if std::mem::take(&mut skip) {
            continue;
        }
        skip = word == "--run-dir";
        let left_out = ["--resume", "--overwrite", "--retry-errors"].contains(&word.as_str());
        if skip || left_out || word.starts_with("--run-dir=") {
            continue;
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:@+%".contains(c);
        match !word.is_empty() && word.chars().all(plain) {
            true => command.push_str(&format!(" {word}")),
            false => command.push_str(&format!(" '{}'", word.replace('\'', r"'\''"))),
        }
    }
    command
}

fn canonical(path: &Utf8Path) -> Result<Utf8PathBuf, Failure> {
    path.canonicalize_utf8()
        .map_err(|error| Failure::say(Exit::InvalidSuite, format!("`{path}` cannot be read: {error}")))
}

/// The path from the folder that suites start from.
fn below(base: &Utf8Path, path: &Utf8Path) -> Result<String, Failure> {
    let full = canonical(path)?;
    full.strip_prefix(base).map(|path| path.to_string()).map_err(|_| {
        Failure::say(Exit::Usage, format!("`{path}` is not below the folder of the suite"))
            .hint("write the suite into a folder that holds all files, or leave `--write-suite` out")
    })
}

/// A name for each file of samples: its own, made different where two are the same.
fn slots(samples: &[Utf8PathBuf]) -> Vec<(String, Utf8PathBuf)> {
    let mut slots: Vec<(String, Utf8PathBuf)> = Vec::new();
    for path in samples {
        let name = name_of(path);
        let taken = |name: &str| slots.iter().any(|(slot, _)| slot == name);
        let numbered = (2..).map(|nth: u32| format!("{name}-{nth}"));
        let name = std::iter::once(name.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(name);
        slots.push((name, path.clone()));
    }
    slots
}

/// A file's name without its endings, as suites name things.
fn name_of(path: &Utf8Path) -> String {
    let name = path.file_name().unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let name = name.strip_suffix(".jsonl").or(name.strip_suffix(".json")).unwrap_or(name);
    let fits = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
    let name: String = name.chars().map(fits).take(80).collect();
    let name = name.trim_start_matches('.');
    if name.is_empty() { "samples".to_owned() } else { name.to_owned() }
}

fn quoted(text: &str) -> String {
    Json::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_said_again_with_everything_that_shapes_the_run() {
        let typed =
            ["code", "p.jsonl", "a b.jsonl", "--k", "1,5", "--run-dir", "r", "--limit=3", "--resume", "it's"];
        let said = again(typed.iter().map(|word| (*word).to_owned()));
        assert_eq!(said, r"proofhouse code p.jsonl 'a b.jsonl' --k 1,5 --limit=3 'it'\''s'");
    }

    #[test]
    fn slots_are_named_after_files() {
        let paths = ["a/gpt 4.jsonl.gz", "b/gpt 4.jsonl", "c/.x.json"].map(Utf8PathBuf::from);
        let names: Vec<String> = slots(&paths).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["gpt-4", "gpt-4-2", "x"]);
    }
}
