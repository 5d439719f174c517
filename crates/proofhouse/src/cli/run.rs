//! `run`: the whole way of the data on one screen.

use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use clap::{Args, Parser as _};
use proofhouse_ledger::envelope::{Envelope, ExitStatus};
use proofhouse_ledger::summary::Summary;
use proofhouse_ledger::write::Durability;
use proofhouse_ledger::{Digest, Part, RunPaths, files};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::baseline::BaselineArgs;
use super::doctor::SandboxArgs;
use super::exit::Exit;
use super::failure::{self, Failure};
use super::inputs::{Inputs, Tapes};
use super::progress::Live;
use super::shard::{self, ShardArg};
use super::{Cli, Command, Terminal, browser, closing, env, events, lanes, otel};
use crate::family::target::{Answers, Budget, Prices};
use crate::kinds::containment::{ContainmentFlags, Lane};
use crate::kinds::{self, OwnVerdict};
use crate::spine::present;
use crate::spine::run::{self, Ending, Executed, Job, Means, Open, OpenError, Options, Stop, Stored};
use crate::spine::suite::{Loaded, Overrides, PriceFile};
use crate::spine::tally::{self, Sum};

/// Run a suite: every planned trial gets exactly one record.
#[derive(Debug, Args)]
pub(super) struct Run {
    /// The suite file.
    pub(super) suite: Utf8PathBuf,

    #[command(flatten)]
    pub(super) inputs: Inputs,

    /// The run directory [default: <root>/<suite_id>/<run_id>__<time>].
    #[arg(long, value_name = "DIR")]
    pub(super) run_dir: Option<Utf8PathBuf>,

    /// Where run directories go when none is named.
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(super) root: Utf8PathBuf,

    /// The most trials in flight at a time [default: 16; for suites that run programs here, the number of cores].
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    jobs: Option<u64>,

    /// Complete an interrupted run; what is finished is not run again.
    #[arg(long)]
    pub(super) resume: bool,

    /// With --resume: run again what ended in an error, a timeout or a rate limit.
    #[arg(long, requires = "resume")]
    retry_errors: bool,

    /// Replace the run in --run-dir, which stays until the new one is complete.
    #[arg(long, requires = "run_dir")]
    overwrite: bool,

    /// When finished trials are synced to disk: several together (within 200 ms), or each by itself.
    #[arg(long, value_enum, default_value_t = DurabilityArg::Group)]
    durability: DurabilityArg,

    /// Run one part of the plan: `I/N`, counted from `0/N`, or `auto` to ask the scheduler; `merge` makes one run of all parts.
    #[arg(long, value_name = "I/N", conflicts_with = "overwrite")]
    pub(super) shard: Option<ShardArg>,

    /// With --shard: at most this many shards run at the same time, and rate limits of endpoints are divided among them [default: all].
    #[arg(long, value_name = "N", requires = "shard", value_parser = clap::value_parser!(u32).range(1..))]
    shards_at_once: Option<u32>,

    /// Stop the run after this many seconds; it can be resumed.
    #[arg(long, value_name = "SECONDS")]
    deadline: Option<f64>,

    /// Stop the run when more trials than this timed out; it can be resumed.
    #[arg(long, value_name = "N")]
    max_timeouts: Option<u64>,

    /// Leave out report.html; `proofhouse report` writes it later.
    #[arg(long)]
    skip_report: bool,

    /// Print what happens as lines of JSON (launch, progress, trial, done) instead of the result; `schema event` describes them.
    #[arg(long, conflicts_with = "shard")]
    json: bool,

    /// Open the report in the browser when the run is done.
    #[arg(long, conflicts_with = "skip_report")]
    open: bool,

    #[command(flatten)]
    baseline: BaselineArgs,

    #[command(flatten)]
    tapes: Tapes,

    /// Prices by model, in US dollars for a million tokens: YAML, `MODEL: {input: 0.15, output: 0.6}`.
    #[arg(long, value_name = "FILE")]
    prices: Option<Utf8PathBuf>,

    /// Start no further trials once this run has spent this many US dollars; it can be resumed.
    #[arg(long, value_name = "USD", requires = "prices")]
    budget: Option<f64>,

    #[command(flatten)]
    sandbox: SandboxArgs,

    /// Where answers (probe) and verdicts on completions (code) are kept by content and found again; for probe suites it is on
    /// with `cache: true`, too [default: proofhouse/answers and proofhouse/verdicts in the user's cache folder].
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache")]
    cache: Option<Utf8PathBuf>,

    /// Ask for every answer and judge every completion, even those that are kept; with --lane auto, run lane 1 even if it
    /// passed before.
    #[arg(long)]
    pub(super) no_cache: bool,

    /// The run whose answers are judged in place of asking, and whether only the judges of the suite count; `score` sets it.
    #[arg(skip)]
    records_of: Option<(Utf8PathBuf, bool)>,

    /// The suite's text where it is in no file; `code` sets it.
    #[arg(skip)]
    typed: Option<Typed>,
}

/// A suite that is in no file.
#[derive(Debug, Clone)]
pub(super) struct Typed {
    /// What the file would hold.
    pub(super) text: String,
    /// Where its paths start.
    pub(super) base: Utf8PathBuf,
    /// The command that makes it again.
    pub(super) command: String,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum DurabilityArg {
    Group,
    Trial,
}

impl Run {
    /// The same, with the answers of an earlier run.
    pub(super) fn with_records_of(self, run: Utf8PathBuf, only_judges: bool) -> Self {
        Run { records_of: Some((run, only_judges)), ..self }
    }

    /// The same, with a suite that is in no file.
    pub(super) fn of_text(self, typed: Typed) -> Self {
        Run { typed: Some(typed), ..self }
    }

    /// What the words of a `run` command say; for commands that write such a command or go on from one.
    pub(super) fn parsed(words: &[&str]) -> Result<Run, Failure> {
        let typed = ["proofhouse", "run"].into_iter().chain(words.iter().copied());
        match Cli::try_parse_from(typed) {
            Ok(Cli { command: Some(Command::Run(run)), .. }) => Ok(run),
            Ok(_) => Err(Failure::say(Exit::Usage, "these are not flags of `proofhouse run`")),
            Err(error) => {
                let text = error.to_string();
                let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
                let what = format!("what follows `--` has to be flags of `proofhouse run`: {first}");
                Err(Failure::say(Exit::Usage, what).hint("`proofhouse run --help` lists them"))
            }
        }
    }

    /// Groups of trials that one shard with so many cores has under way.
    pub(super) fn jobs_on(&self, cores: u32, runs_programs: bool) -> u64 {
        self.jobs.unwrap_or(if runs_programs { cores.into() } else { 16 })
    }

    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let overrides = self.inputs.overrides();
        match self.inputs.own::<ContainmentFlags>().and_then(|flags| flags.lane) {
            Some(Lane::Auto) if self.shard.is_some() => {
                let what = "`--lane auto` decides by a whole lane 1, which no shard has";
                Err(Failure::say(Exit::Usage, what)
                    .hint("run `--lane 1` first, then every shard with `--lane 2`"))
            }
            Some(Lane::Auto) => lanes::auto(&self, terminal),
            lane => Ok(self.once(terminal, &overrides, lanes::alone(lane), self.destination())?.exit),
        }
    }

    /// Where the user wants the run.
    pub(super) fn destination(&self) -> Destination {
        Destination { dir: self.run_dir.clone(), overwrite: self.overwrite }
    }

    /// One run, from the suite to its seal.
    pub(super) fn once(
        &self,
        terminal: &Terminal,
        overrides: &Overrides,
        lane: run::Lane,
        destination: Destination,
    ) -> Result<Done, Failure> {
        if let Some(folder) = env::cache_folder() {
            run::host::keep_digests_in(folder.join("digests"));
        }
        let open = |(run, only_judges): &(Utf8PathBuf, bool)| {
            Stored::open(run).map(|stored| if *only_judges { stored.only_judges() } else { stored })
        };
        let stored = self.records_of.as_ref().map(open).transpose();
        let stored = stored.map_err(|error| Failure::new(Exit::Refused, &error))?;
        let derived_from = stored.as_ref().map(|stored| stored.origin.clone());
        let prices = self.prices()?.map(Arc::new);
        let overrides = Overrides { derived_from, prices: prices.clone(), ..overrides.clone() };
        let part = self.shard.map(ShardArg::part).transpose()?;
        let job = self.load(terminal, &overrides, part)?;
        let loaded = &job.loaded;
        self.inputs.fit(loaded.suite.kind)?;
        if stored.is_some() && !job.body.judges_stored_answers() {
            let what = format!(
                "answers to suites of kind `{}` are not judged by judges",
                loaded.suite.kind.as_str()
            );
            return Err(Failure::say(Exit::Usage, what).hint("`score` is for `kind: probe`"));
        }
        for warning in &loaded.warnings {
            terminal.say(&format!("warning: {warning}"));
        }
        let Destination { dir: run_dir, overwrite } = destination;
        let options = Options { lane, run_dir, overwrite, part, ..self.options()? };
        let means = Means { stored, ..self.means(&job, part, prices.as_deref())? };
        let answers = means.opening.answers.clone();
        // In this order: what a machine lacks (a key, a program, a price) is found out before `open` writes the first byte.
        let ready = job.ready(means)?;
        // What is there already is added up while it is checked.
        let mut sum = Some(Sum::new(&loaded.resolved(), kinds::own_tally));
        let mut open = run::open(&job, &options, &mut |record| {
            if sum.as_mut().is_some_and(|sum| sum.push(record).is_err()) {
                sum = None;
            }
        })?;
        if open.torn_bytes > 0 {
            terminal.say(&format!(
                "note: cut a torn last line of {} bytes; its trial runs again",
                open.torn_bytes
            ));
        }
        if self.resume && open.envelope.resumed_from.is_empty() && open.found.totals.count() == 0 {
            terminal.say("note: there is nothing to resume; this is a new run");
        }
        let stop = stop_on_signals()?;
        if self.json {
            events::launch(loaded, job.run_id().to_string(), &open.paths);
        }
        let mut live = Live::new(terminal);
        let outcome = ready.execute(&mut open, &options, &stop, &mut |progress| match self.json {
            true => events::progress(progress),
            false => live.show(progress),
        });
        live.clear();
        // From here on there is a run directory: whatever goes wrong is said in its envelope, and not only on the terminal.
        let mut executed = outcome.unwrap_or_else(|error| Executed::nothing(Failure::from(error).message));

        let mut summary = None;
        if executed.written.totals.count == open.envelope.total_cases_expected {
            match self.derive(loaded, &open, &options, &executed, sum) {
                Ok(tallied) => summary = Some(tallied),
                Err(failure) => executed.ending = Ending::Failed(failure.message),
            }
        }
        let paths = open.paths.clone();
        let (envelope, place) = run::seal(open, &executed)?;
        match summary {
            Some(summary) if envelope.exit_status == ExitStatus::Normal => {
                if let Some(part) = part {
                    terminal.say(&shard::done(part, &envelope, &paths));
                    return Ok(Done { exit: Exit::Ok, summary });
                }
                if !self.json {
                    closing::found(terminal, &paths).map_err(|error| Failure::new(Exit::Internal, &error))?;
                }
                if let Some(answers) = &answers {
                    terminal.say(&closing::cache(answers));
                }
                terminal.say(&closing::place(&paths, self.skip_report, &executed));
                closing::exports(terminal, &paths, summary.kind)
                    .map_err(|error| Failure::new(Exit::Internal, &error))?;
                terminal.say(&closing::next(&summary, &self.suite, &paths, self.skip_report));
                otel::send(&paths, terminal);
                let exit = self.baseline.check(verdict(&summary), &paths, self.json, terminal)?;
                if self.json {
                    events::done(exit, &paths, Some(&summary));
                }
                if self.open {
                    browser::open(&paths.report(), terminal);
                }
                Ok(Done { exit, summary })
            }
            _ => {
                if self.json {
                    events::done(Exit::Incomplete, &place, None);
                }
                Err(self.incomplete(&envelope, &executed, &paths, &place))
            }
        }
    }

    /// Everything that follows from the records. What could not be finished is taken away: the run is not whole then.
    fn derive(
        &self,
        loaded: &Loaded,
        open: &Open,
        options: &Options,
        executed: &Executed,
        sum: Option<Sum>,
    ) -> Result<Summary, Failure> {
        let internal = |error: &dyn std::error::Error| Failure::new(Exit::Internal, error);
        let summary = match sum {
            Some(sum) => sum.finish(&open.work),
            None => tally::tally(&open.work, kinds::own_tally),
        };
        let summary = summary.map_err(|error| internal(&error))?;
        let bytes = tally::write(&open.work, &summary)?;
        run::write_manifest(loaded, open, options, executed, &bytes)?;
        if !self.skip_report
            && options.part.is_none()
            && let Err(error) = present::write(&open.work, kinds::own_presentation)
        {
            files::remove_if_there(&open.work.manifest())?;
            return Err(internal(&error));
        }
        Ok(summary)
    }

    fn incomplete(
        &self,
        envelope: &Envelope,
        executed: &Executed,
        paths: &RunPaths,
        place: &RunPaths,
    ) -> Failure {
        let (done, expected) = (envelope.total_cases_completed, envelope.total_cases_expected);
        let why = failure::ending(&executed.ending);
        let journal = match executed.written.waiting {
            0 => String::new(),
            waiting => format!(" ({waiting} more wait in the journal)"),
        };
        let run = match &self.typed {
            Some(typed) => typed.command.clone(),
            None => format!("proofhouse run {}", self.suite),
        };
        let mut again = match &self.shard {
            None => format!("{run} --run-dir {} --resume", paths.dir),
            Some(_) => shard::again(&run, paths),
        };
        // Those that were refused have a record each; what was wrong with the key is no answer.
        let retry = self.retry_errors || matches!(executed.ending, Ending::Halted(_));
        for (flag, given) in [("--overwrite", self.overwrite), ("--retry-errors", retry)] {
            if given {
                again.push(' ');
                again.push_str(flag);
            }
        }
        // Without them the rest would ask somebody else, or cost more than was meant.
        let files = [
            ("--record", &self.tapes.record),
            ("--replay", &self.tapes.replay),
            ("--prices", &self.prices),
            ("--cache", &self.cache),
        ];
        for (flag, path) in files {
            if let (Some(path), None) = (path, &self.typed) {
                again.push_str(&format!(" {flag} {path}"));
            }
        }
        if let (Some(budget), None) = (self.budget, &self.typed) {
            again.push_str(&format!(" --budget {budget}"));
        }
        if let Some(most) = self.shards_at_once {
            again.push_str(&format!(" --shards-at-once {most}"));
        }
        Failure::say(
            Exit::Incomplete,
            format!("{why}\n{done} of {expected} trials are recorded in `{}`{journal}", place.dir),
        )
        .hint(format!("`{again}` completes it"))
    }

    /// The suite, with every variant written that a model has to write.
    pub(super) fn load(
        &self,
        terminal: &Terminal,
        overrides: &Overrides,
        part: Option<Part>,
    ) -> Result<Job, Failure> {
        if let Some(Typed { text, base, .. }) = &self.typed {
            let overrides = Overrides { data_root: Some(base.clone()), ..overrides.clone() };
            return Ok(kinds::load_text(text, &overrides)?);
        }
        let job = kinds::load(&self.suite, overrides)?;
        let open = job.body.unprepared(self.resume);
        if let Some(part) = part.filter(|part| part.index > 0 && open > 0) {
            // Two shards that ask by themselves are told different things, and are shards of different plans then.
            let what = format!("the rewriter still has to be asked for {open} variants, which shard 0 does");
            let (suite, count) = (&self.suite, part.count);
            return Err(Failure::say(Exit::Refused, what).hint(format!(
                "start `proofhouse run {suite} --shard 0/{count}` first; `proofhouse launch` asks before any shard starts"
            )));
        }
        let written = job
            .body
            .prepare(&job.loaded, &self.tapes.opening()?, self.resume)
            .map_err(|error| Failure::new(Exit::Infrastructure, &*error))?;
        if written == 0 {
            return Ok(job);
        }
        terminal.say(&format!("the rewriter was asked for {written} variants; its answers are recorded"));
        Ok(kinds::load(&self.suite, overrides)?)
    }

    /// What the kind of suite needs beside its targets.
    fn means(&self, job: &Job, part: Option<Part>, prices: Option<&PriceFile>) -> Result<Means, Failure> {
        let loaded = &job.loaded;
        let mut opening = self.tapes.opening()?;
        let budget = self.budget.map(|budget| budget / part.map_or(1.0, |part| f64::from(part.count)));
        opening.budget = prices.map(|prices| Arc::new(Budget::new(prices.prices.clone(), budget)));
        opening.answers = self.answers(job)?;
        opening.endpoints = opening.endpoints.divided(part, self.shards_at_once);
        let sandbox = if job.body.runs_programs() { Some(self.sandbox.open()?) } else { None };
        let cache = match self.no_cache {
            true => None,
            false => self.cache.clone().or_else(|| Some(env::cache_folder()?.join("verdicts"))),
        };
        let passed = loaded.suite.targets.iter().flat_map(|(_, target)| target.pass_env());
        let environment = passed.filter_map(|name| Some((name.clone(), env::passed(name)?))).collect();
        Ok(Means {
            opening,
            sandbox,
            stored: None,
            crates: env::cache_folder().map(|folder| folder.join("crates")),
            cache,
            environment,
            jobs: self.jobs.map(|jobs| jobs as usize),
        })
    }

    /// Where answers are kept: the place that was named, or the usual one where the suite asks for it. A tape is hermetic.
    fn answers(&self, job: &Job) -> Result<Option<Arc<Answers>>, Failure> {
        let asks = job.body.judges_stored_answers() && self.records_of.is_none();
        if self.no_cache || !asks || self.tapes.record.is_some() || self.tapes.replay.is_some() {
            return Ok(None);
        }
        let usual = || Some(env::cache_folder()?.join("answers"));
        let dir = match &self.cache {
            Some(dir) => Some(dir.clone()),
            None => {
                if job.body.keeps_answers() {
                    usual()
                } else {
                    None
                }
            }
        };
        let opened = dir.map(|dir| Answers::open(&dir, self.cache.is_some()).map(Arc::new)).transpose();
        opened.map_err(|complaint| Failure::of(Exit::Usage, complaint))
    }

    fn prices(&self) -> Result<Option<PriceFile>, Failure> {
        let Some(path) = &self.prices else { return Ok(None) };
        if let Some(budget) = self.budget.filter(|budget| !budget.is_finite() || *budget <= 0.0) {
            return Err(Failure::say(Exit::Usage, format!("`--budget {budget}` is not a sum of money")));
        }
        let bytes = files::read(path)?;
        let prices = Prices::read(&String::from_utf8_lossy(&bytes))
            .map_err(|complaint| Failure::of(Exit::Usage, complaint.about(format!("`{path}`:"))))?;
        Ok(Some(PriceFile { sha256: Digest::of(&bytes), prices }))
    }

    fn options(&self) -> Result<Options, Failure> {
        let deadline = match self.deadline {
            None => None,
            Some(seconds) => Some(Duration::try_from_secs_f64(seconds).map_err(|_| {
                Failure::say(Exit::Usage, format!("`--deadline {seconds}` is not a time span"))
            })?),
        };
        Ok(Options {
            run_dir: self.run_dir.clone(),
            root: self.root.clone(),
            jobs: self.jobs.map(|jobs| jobs as usize),
            resume: self.resume,
            retry_errors: self.retry_errors,
            overwrite: self.overwrite,
            durability: match self.durability {
                DurabilityArg::Group => Durability::Group,
                DurabilityArg::Trial => Durability::Trial,
            },
            deadline,
            max_timeouts: self.max_timeouts,
            command: std::env::args().collect(),
            part: None,
            lane: run::Lane::default(),
            observer: self.json.then(events::trials),
        })
    }
}

/// Where a run goes.
pub(super) struct Destination {
    /// The run directory, if the user chose one.
    pub(super) dir: Option<Utf8PathBuf>,
    /// Whether it takes the place of what is there.
    pub(super) overwrite: bool,
}

/// A whole run.
pub(super) struct Done {
    pub(super) exit: Exit,
    pub(super) summary: Summary,
}

/// The exit code of a whole run.
pub(super) fn verdict(summary: &Summary) -> Exit {
    if summary.assessed == 0 {
        return Exit::Infrastructure;
    }
    match (kinds::row(summary.kind).verdict)(summary) {
        Some(OwnVerdict::Infrastructure) => return Exit::Infrastructure,
        Some(OwnVerdict::GateFailed) => return Exit::GateFailed,
        None => {}
    }
    match summary.gate.as_ref().map(|gate| gate.held) {
        Some(Some(false)) => Exit::GateFailed,
        Some(None) => Exit::Infrastructure,
        Some(Some(true)) | None => Exit::Ok,
    }
}

/// A thread that turns signals into a request to stop; a second signal ends the process at once.
fn stop_on_signals() -> Result<Stop, Failure> {
    let stop = Stop::default();
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let asked = stop.clone();
    let waiting = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut first = true;
        for signal in signals.forever() {
            if !first {
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
            first = false;
            asked.request(signal);
        }
    });
    waiting.map_err(OpenError::Thread)?;
    Ok(stop)
}
