//! `doctor`: whether this machine can do what suites ask for.

use std::time::Duration;

use camino::Utf8PathBuf;
use clap::Args;
use proofhouse_ledger::files::{self, FileError};
use proofhouse_sandbox::{OpenError, Options, Request, Sandbox, Tier, attacks, recipes};

use super::exit::Exit;
use super::failure::Failure;
use super::machine::{self, Examined, Form, Named};
use super::{Terminal, env, visible};
use crate::family::target::{Chat, Opening};
use crate::kinds;
use crate::spine::run::clock::Watch;
use crate::spine::run::host;
use crate::spine::suite::Overrides;
use crate::text::complaint::Complaint;
use crate::text::doc::terminal::pairs;

/// Look at this machine: platform, disk, endpoints, and how well it can hold hostile programs.
#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// Suites whose targets are asked one short question each.
    suites: Vec<Utf8PathBuf>,

    /// Where run directories would go.
    #[arg(long, value_name = "DIR", default_value = "runs")]
    root: Utf8PathBuf,

    #[command(flatten)]
    sandbox: SandboxArgs,

    /// Attack the sandbox on this machine, and say what got through.
    #[arg(long)]
    attack: bool,

    /// How to print.
    #[arg(long, value_enum, default_value_t, conflicts_with = "attack")]
    format: Form,
}

/// Which sandbox to use; shared by all commands that start programs.
#[derive(Debug, Args)]
pub(super) struct SandboxArgs {
    /// Use exactly this tier: strong, confined, limited or none [default: the better of strong and confined].
    #[arg(long, value_name = "TIER", value_parser = tier)]
    sandbox: Option<Tier>,

    /// Refuse (exit code 10) when the tier is lower than this [default when given without a value: confined].
    #[arg(
        long,
        value_name = "TIER",
        value_parser = tier,
        num_args = 0..=1,
        default_missing_value = "confined",
        require_equals = true
    )]
    require_sandbox: Option<Tier>,
}

fn tier(word: &str) -> Result<Tier, Complaint> {
    Tier::parse(word).ok_or_else(|| Complaint::new("the tiers are strong, confined, limited and none"))
}

impl SandboxArgs {
    /// Probes the machine and takes the tier that was asked for, or refuses.
    pub(super) fn open(&self) -> Result<Sandbox, Failure> {
        let mut options = Options::new(std::env::temp_dir());
        options.request = Request { sandbox: self.sandbox, require: self.require_sandbox };
        Sandbox::open(options).map_err(|error| {
            let exit = match &error {
                OpenError::Refused(_) => Exit::SandboxRefused,
                OpenError::Helper(_) => Exit::Infrastructure,
            };
            Failure::new(exit, &error)
        })
    }
}

impl Doctor {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let mut rows = vec![row("proofhouse", env!("CARGO_PKG_VERSION")), row("platform", &host::platform())];
        let disk = check_disk(&self.root);
        let mut healthy = disk.is_ok();
        rows.push(match disk {
            Ok((dir, milliseconds)) => row("disk", &format!("`{dir}`: one sync takes {milliseconds:.1} ms")),
            Err(error) => row("disk", &Failure::new(Exit::Internal, &error).message.replace('\n', "")),
        });
        let probe = Sandbox::examine(Options::new(std::env::temp_dir()))
            .map_err(|error| Failure::new(Exit::Infrastructure, &error))?;
        rows.extend(probe.rows().iter().map(|(name, value)| row(name, value)));
        for suite in &self.suites {
            let (endpoints, well) = endpoints(suite)?;
            rows.extend(endpoints);
            healthy &= well;
        }
        if self.format == Form::Text {
            let widest = rows.iter().map(|[name, _]| name.len()).max().unwrap_or(0);
            terminal.facts(&pairs(&rows), widest + 2)?;
        }
        let sandbox = self.sandbox.open()?;
        let label = probe.label(sandbox.tier()).to_string();
        match self.format {
            Form::Text => terminal.data(&format!("sandbox: {label}\n"))?,
            Form::Json => {
                let rows = rows.into_iter().map(|[name, value]| Named { name, value }).collect();
                let examined = Examined { schema_version: machine::VERSION, healthy, sandbox: label, rows };
                machine::print(terminal, &examined)?;
            }
        }
        if self.attack && !attack(&sandbox, terminal)? {
            return Ok(Exit::VerificationFailed);
        }
        Ok(if healthy { Exit::Ok } else { Exit::Infrastructure })
    }
}

/// A row for each target of a suite, and whether all of them answered. No key is ever part of a reply or a complaint.
fn endpoints(path: &Utf8PathBuf) -> Result<(Vec<[String; 2]>, bool), Failure> {
    let overrides = Overrides { environment: env::for_targets(), ..Overrides::default() };
    let loaded = kinds::load(path, &overrides)?.loaded;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let opening = Opening {
        environment: env::for_targets(),
        timeout: Duration::from_millis(loaded.suite.timeout_ms),
        base_dir: path.parent().map(|dir| dir.to_owned()).unwrap_or_default(),
        ..Opening::default()
    };
    let mut rows = Vec::new();
    let mut well = true;
    for (slot, config) in &loaded.suite.targets {
        let said = match config.open(slot, &opening) {
            Ok(target) => {
                let watch = Watch::start();
                let reply = runtime.block_on(target.chat(&Chat::ask("Say OK.", 0, 0)));
                let host = target.host().map_or(String::new(), |host| format!("`{host}`: "));
                let model = reply.model.as_deref().map_or(String::new(), |model| format!(" by `{model}`"));
                let missed = config.kind_name() == "replay";
                well &= reply.outcome.status() == "success" || missed;
                match reply.outcome.explained() {
                    (_, Some(error)) => format!("{host}{error}"),
                    (name, None) => {
                        format!("{host}{}{model} in {:.0} ms", name.unwrap_or("answered"), watch.elapsed_ms())
                    }
                }
            }
            Err(complaint) => {
                well = false;
                complaint.what
            }
        };
        rows.push(row(&format!("target {slot}"), &harmless(&said)));
    }
    Ok((rows, well))
}

/// Text of an endpoint on one line, without characters that a terminal obeys.
fn harmless(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    visible(&words.join(" "))
}

/// Whether the tier held what it promises.
fn attack(sandbox: &Sandbox, terminal: &Terminal) -> Result<bool, Failure> {
    let mut results = attacks::run_attacks(sandbox, sandbox.tier());
    let mut text = String::new();
    match recipes::Toolchain::rust("rustc".as_ref()) {
        Ok(toolchain) => results.extend(attacks::run_compile_attacks(sandbox, sandbox.tier(), &toolchain)),
        Err(_) => text.push_str("the compiler was not attacked: there is no `rustc` in the path\n"),
    }
    let row = |result: &attacks::AttackResult| {
        let effect = match (&result.effect, result.declared) {
            (None, _) => "held".to_owned(),
            (Some(effect), true) => format!("got through, as declared: {effect}"),
            (Some(effect), false) => format!("GOT THROUGH: {effect}"),
        };
        [format!("{} ({})", result.name, result.spec), effect.replace('\n', " ")]
    };
    text.push_str(&pairs(&results.iter().map(row).collect::<Vec<_>>()));
    let through = results.iter().filter(|result| !result.as_promised()).count();
    let held = results.iter().filter(|result| result.effect.is_none()).count();
    text.push_str(&format!(
        "{} attacks on `{}`: {held} held, {} declared, {through} got through\n",
        results.len(),
        sandbox.tier(),
        results.len() - held - through
    ));
    terminal.data(&text)?;
    Ok(through == 0)
}

fn row(what: &str, detail: &str) -> [String; 2] {
    [what, detail].map(str::to_owned)
}

/// Writes, syncs and removes a small file in the place itself, or in the nearest directory above that exists.
fn check_disk(root: &Utf8PathBuf) -> Result<(Utf8PathBuf, f64), FileError> {
    let there = root.ancestors().find(|dir| dir.is_dir());
    let dir = there.map_or(Utf8PathBuf::from("."), |dir| dir.to_owned());
    let path = dir.join(format!(".proofhouse-doctor-{}", std::process::id()));
    let watch = Watch::start();
    let written = files::write_synced(&path, b"doctor\n");
    let elapsed = watch.elapsed_ms();
    files::remove_if_there(&path)?;
    written.map(|()| (dir, elapsed))
}
