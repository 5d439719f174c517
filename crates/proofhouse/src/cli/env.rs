//! Every environment variable that the program reads, in one place.

use std::io::IsTerminal as _;

use camino::Utf8PathBuf;
use proofhouse_ledger::part::{NoPart, Part};

use crate::family::target::Environment;
use crate::text::doc::terminal::WIDTH;

/// `NO_COLOR`: any value turns colour off.
const NO_COLOR: &str = "NO_COLOR";
/// `CI`: any value makes progress plain lines.
const CI: &str = "CI";

/// `XDG_CACHE_HOME`: where what can be made again is kept; `HOME`: the same in `.cache` below it.
const XDG_CACHE_HOME: &str = "XDG_CACHE_HOME";
const HOME: &str = "HOME";

/// The folder for what can be made again, if the user has one.
pub fn cache_folder() -> Option<Utf8PathBuf> {
    let folder = |name: &str| {
        #[expect(clippy::disallowed_methods, reason = "the one home of the environment")]
        let value = std::env::var(name).ok()?;
        Some(Utf8PathBuf::from(value)).filter(|path| path.is_absolute())
    };
    let cache = folder(XDG_CACHE_HOME).or_else(|| Some(folder(HOME)?.join(".cache")))?;
    Some(cache.join("proofhouse"))
}

/// `BROWSER`: what opens a page for `--open`.
const BROWSER: &str = "BROWSER";
/// Where CI systems say which branch is built: that of a pull request first.
const BRANCHES: [&str; 4] = ["GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "BRANCH_NAME"];

/// The user's browser, if one is named.
pub fn browser() -> Option<String> {
    passed(BROWSER).filter(|browser| !browser.is_empty())
}

/// The branch that is built here, if a CI system says it.
pub fn branch() -> Option<String> {
    BRANCHES.into_iter().find_map(|name| passed(name).filter(|branch| !branch.is_empty()))
}

/// A variable that a target's `pass_env` names.
pub fn passed(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "the one home of the environment")]
    std::env::var(name).ok()
}

/// Where a scheduler says which of several equal jobs this one is: index, count, and what the index starts from. An index whose
/// count is given by nobody takes `PROOFHOUSE_SHARD_COUNT`.
const SHARD_VARIABLES: [(&str, &str, Start); 5] = [
    ("SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", Start::At("SLURM_ARRAY_TASK_MIN")),
    ("JOB_COMPLETION_INDEX", SHARD_COUNT, Start::Zero),
    ("CI_NODE_INDEX", "CI_NODE_TOTAL", Start::One),
    ("CIRCLE_NODE_INDEX", "CIRCLE_NODE_TOTAL", Start::Zero),
    ("BUILDKITE_PARALLEL_JOB", "BUILDKITE_PARALLEL_JOB_COUNT", Start::Zero),
];
/// `PROOFHOUSE_SHARD`: `I/N`, for whatever sets an index by other names; `PROOFHOUSE_SHARD_COUNT`: the N alone.
const SHARD: &str = "PROOFHOUSE_SHARD";
const SHARD_COUNT: &str = "PROOFHOUSE_SHARD_COUNT";

#[derive(Debug, Clone, Copy)]
enum Start {
    Zero,
    One,
    At(&'static str),
}

/// Which of several equal jobs this one is, and the variable that says so; nothing where no scheduler set any.
pub fn shard(look: &dyn Fn(&str) -> Option<String>) -> Option<(String, Result<Part, NoPart>)> {
    if let Some(text) = look(SHARD) {
        return Some((SHARD.to_owned(), text.parse()));
    }
    let number = |name: &str| look(name)?.trim().parse::<u32>().ok();
    SHARD_VARIABLES.iter().find_map(|(index, count, start)| {
        let start = match start {
            Start::Zero => 0,
            Start::One => 1,
            Start::At(name) => number(name).unwrap_or(0),
        };
        let (index_of, count_of) = (number(index)?, number(count)?);
        let part = index_of.checked_sub(start).ok_or(NoPart).and_then(|place| Part::new(place, count_of));
        Some((format!("{index} with {count}"), part))
    })
}

/// Where OpenTelemetry's own variables say that telemetry goes.
#[derive(Debug)]
pub struct Collector {
    /// `OTEL_EXPORTER_OTLP_ENDPOINT`: the address before `/v1/traces`.
    pub endpoint: String,
    /// `OTEL_EXPORTER_OTLP_HEADERS`: `name=value,…`, often a key.
    pub headers: Vec<(String, String)>,
    /// `OTEL_EXPORTER_OTLP_PROTOCOL`, if it is set.
    pub protocol: Option<String>,
    /// `OTEL_SERVICE_NAME`, or our own name.
    pub service: String,
}

/// Where telemetry goes; nothing without an endpoint, or where `OTEL_SDK_DISABLED` is `true`.
pub fn collector() -> Option<Collector> {
    let set = |name: &str| passed(name).filter(|value| !value.is_empty());
    let off = set("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    let endpoint = set("OTEL_EXPORTER_OTLP_ENDPOINT").filter(|_| !off)?;
    let headers = set("OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default();
    let headers = headers.split(',').filter_map(|pair| pair.split_once('='));
    Some(Collector {
        endpoint,
        headers: headers.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect(),
        protocol: set("OTEL_EXPORTER_OTLP_PROTOCOL"),
        service: set("OTEL_SERVICE_NAME").unwrap_or_else(|| "proofhouse".to_owned()),
    })
}

/// What targets may ask for: the keys, addresses and proxies that their settings name.
pub fn for_targets() -> Environment {
    let look = |name: &str| {
        #[expect(clippy::disallowed_methods, reason = "the one home of the environment")]
        std::env::var(name).ok()
    };
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    Environment::new(look).with_names(names.collect())
}

fn is_set(name: &str) -> bool {
    #[expect(clippy::disallowed_methods, reason = "the one home of the environment")]
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// What the surroundings ask of our output.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings {
    /// Whether standard output may be coloured.
    pub colour_out: bool,
    /// Columns of standard output.
    pub width: usize,
    /// Whether standard output is a terminal that says how wide it is: what goes into a file is not folded.
    pub folds: bool,
    /// Columns of standard error where it is a terminal that says how wide it is.
    pub talk_width: Option<usize>,
    /// Whether standard error is a person's terminal, on which a line can be rewritten.
    pub live: bool,
}

/// Looks around.
pub fn surroundings(no_color: bool) -> Surroundings {
    let plain = no_color || is_set(NO_COLOR);
    Surroundings {
        colour_out: !plain && std::io::stdout().is_terminal(),
        width: width(std::io::stdout()).unwrap_or(WIDTH),
        folds: width(std::io::stdout()).is_some(),
        talk_width: width(std::io::stderr()),
        live: !is_set(CI) && std::io::stderr().is_terminal(),
    }
}

/// The width of an output where it is a terminal that tells it.
fn width(output: impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(output).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns >= 20)
}
