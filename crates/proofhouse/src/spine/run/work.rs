//! How trials are carried out: what the dispatcher and a kind's own work agree on.
//!
//! The dispatcher knows groups, records and limits; what happens inside a trial is known to its kind alone.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use camino::Utf8PathBuf;
use proofhouse_ledger::json::Object;
use proofhouse_ledger::manifest::SANDBOX_GAPS;
use proofhouse_ledger::record::{MISSING_SHARD, Status, VARIANT_SHORTFALL};
use proofhouse_ledger::{Json, RunPaths};
use proofhouse_sandbox::Sandbox;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::record::Assessment;
use super::stored::Stored;
use crate::family::target::Opening;
use crate::spine::plan::Trial;

/// Why the record of a wording says that there is none.
pub(crate) fn shortfall(reason: &str) -> String {
    format!("the generator has no such variant of this case ({reason})")
}

/// What is said of a wording that there is none of: its place in the plan has a record that says why.
pub(crate) fn left_out<'a>(error: &'a str, metric: &'a str) -> Assessment<'a> {
    Assessment {
        status: Status::Skipped,
        error_type: Some(VARIANT_SHORTFALL),
        error: Some(error),
        output_sha256: None,
        scores: &[],
        primary_metric: Some(metric),
        passed: None,
        usage: None,
    }
}

/// What is said of a trial that nobody ran: its shard was missing when the others were merged.
pub(crate) fn not_run<'a>(why: &'a str, metric: &'a str) -> Assessment<'a> {
    Assessment {
        status: Status::NotRun,
        error_type: Some(MISSING_SHARD),
        error: Some(why),
        output_sha256: None,
        scores: &[],
        primary_metric: Some(metric),
        passed: None,
        usage: None,
    }
}

/// What a run may use beside its targets.
#[derive(Default)]
pub struct Means {
    /// What targets need: environment, tape, budget. The suite's deadline and directory are filled in.
    pub opening: Opening,
    /// Where programs are run; there for every kind that runs any.
    pub sandbox: Option<Sandbox>,
    /// Replies that are there already, in place of targets.
    pub stored: Option<Stored>,
    /// Where verdicts are kept; `None`: nowhere.
    pub cache: Option<Utf8PathBuf>,
    /// Where the crates of code suites are built.
    pub crates: Option<Utf8PathBuf>,
    /// Variables of our environment that targets may have.
    pub environment: BTreeMap<String, String>,
    /// Trials in flight at most; as the kind has it if not given.
    pub jobs: Option<usize>,
}

/// A future that a group of trials is.
pub(crate) type Carrying = Pin<Box<dyn Future<Output = ()> + Send>>;

/// How one kind carries its trials out.
pub(crate) trait Work<I>: Send + Sync {
    /// Whether `next` is carried out together with the trials before it.
    fn joins(&self, group: &[GroupTrial<I>], next: &Trial) -> bool {
        let _ = (group, next);
        false
    }

    /// The run's directory is there, and its first trial is about to start; `anew` if no instance before this one ran any.
    fn begin(&self, paths: &RunPaths, anew: bool) {
        let _ = (paths, anew);
    }

    /// Whether a group needs to see the records that an earlier instance left.
    fn looks_back(&self) -> bool {
        false
    }

    /// Groups in flight unless the user says otherwise.
    fn jobs(&self) -> usize {
        16
    }

    /// Carries a trial out if nothing has to be waited for.
    fn at_once(&self, trial: &Trial, item: &I, lines: &mut TrialLines) -> Option<TrialResult> {
        let _ = (trial, item, lines);
        None
    }

    /// Carries a group out and hands each record over as soon as it is finished.
    fn carry_out(self: Arc<Self>, group: Vec<GroupTrial<I>>, sender: RecordSender) -> Carrying;

    /// What took part in verdicts.
    fn provenance(&self) -> Provenance {
        Provenance::default()
    }
}

/// One trial of a group.
pub(crate) struct GroupTrial<I> {
    /// Which trial.
    pub(crate) trial: Trial,
    /// What is to be done.
    pub(crate) item: I,
    /// The record that an earlier instance left, for kinds that look back; it is not made again.
    pub(crate) done: Option<Vec<u8>>,
}

/// A record and its telemetry.
#[derive(Default)]
pub(crate) struct TrialLines {
    pub(crate) record: Vec<u8>,
    pub(crate) telemetry: Vec<u8>,
}

/// What the dispatcher wants to know of a record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrialResult {
    /// What became of the trial.
    pub(crate) status: Status,
    /// Whether it was right.
    pub(crate) passed: Option<bool>,
}

/// What took part in verdicts, for manifest and envelope.
#[derive(Debug, Default, Clone)]
pub struct Provenance {
    /// Compilers and linters: name → version text.
    pub toolchains: BTreeMap<String, String>,
    /// Sandbox policy and limits; null where nothing was executed.
    pub sandbox: Json,
    /// The tier that this host reached.
    pub sandbox_tier: Option<String>,
    /// What that tier does not hold on this host, in the doctor's words.
    pub sandbox_gaps: Vec<String>,
}

impl Provenance {
    /// Facts with what this host's sandbox does not hold; unchanged where it holds everything.
    pub fn with_gaps(&self, facts: Json) -> Json {
        if self.sandbox_gaps.is_empty() {
            return facts;
        }
        let mut object = match facts {
            Json::Object(object) => object,
            _ => Object::default(),
        };
        let gaps = self.sandbox_gaps.iter().map(|gap| Json::from(gap.as_str())).collect();
        object.set(SANDBOX_GAPS, Json::Array(gaps));
        Json::Object(object)
    }
}

/// What records say that their sandbox does not hold; nothing where it lets nothing through.
pub(crate) fn not_held(sandbox: &Sandbox) -> Vec<String> {
    sandbox.open_gap_texts().iter().map(|gap| gap.as_str().to_owned()).collect()
}

/// A record that is finished.
pub(crate) struct Finished {
    pub(crate) index: u64,
    pub(crate) lines: TrialLines,
    pub(crate) result: TrialResult,
}

/// Where groups hand their records over.
#[derive(Clone)]
pub(crate) struct RecordSender(UnboundedSender<Finished>);

impl RecordSender {
    /// A sender and its other side. It holds what groups in flight finish between two looks, so it needs no bound.
    pub(crate) fn open() -> (RecordSender, UnboundedReceiver<Finished>) {
        let (sender, receiver) = unbounded_channel();
        (RecordSender(sender), receiver)
    }

    /// Hands a record over. A run that is being stopped takes none any more.
    pub(crate) fn hand_over(&self, trial: &Trial, lines: TrialLines, result: TrialResult) {
        let _ = self.0.send(Finished { index: trial.index, lines, result });
    }
}
