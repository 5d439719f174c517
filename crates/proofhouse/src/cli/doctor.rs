//! `doctor`: whether this machine can do what suites ask for.

use camino::Utf8PathBuf;
use clap::Args;
use proofhouse_ledger::files::{self, FileError};
use proofhouse_sandbox::{OpenError, Options, Request, Sandbox, Tier, attacks};

use super::Terminal;
use super::exit::Exit;
use super::failure::Failure;
use super::table;
use crate::run::clock::Watch;
use crate::run::host;

/// Look at this machine: platform, disk, and how well hostile programs can be held.
#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// Where run directories would go.
    #[arg(long, value_name = "DIR", default_value = "runs")]
    root: Utf8PathBuf,

    #[command(flatten)]
    sandbox: SandboxArgs,

    /// Attack the sandbox on this machine, and say what got through.
    #[arg(long)]
    attack: bool,
}

/// Which sandbox to use; shared by all commands that start programs.
#[derive(Debug, Args)]
pub(super) struct SandboxArgs {
    /// Exactly this tier: strong, confined, limited or none [default: the better of strong and confined].
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

fn tier(word: &str) -> Result<Tier, String> {
    Tier::parse(word).ok_or_else(|| "the tiers are strong, confined, limited and none".to_owned())
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
        let healthy = disk.is_ok();
        rows.push(match disk {
            Ok((dir, milliseconds)) => row("disk", &format!("`{dir}`: one sync takes {milliseconds:.1} ms")),
            Err(error) => row("disk", &Failure::new(Exit::Internal, &error).message.replace('\n', "")),
        });
        let probe = Sandbox::examine(Options::new(std::env::temp_dir()))
            .map_err(|error| Failure::new(Exit::Infrastructure, &error))?;
        rows.extend(probe.rows().iter().map(|(name, value)| row(name, value)));
        terminal.data(&table::left(&rows))?;
        let sandbox = self.sandbox.open()?;
        terminal.data(&format!("sandbox: {}\n", probe.label(sandbox.tier())))?;
        if self.attack && !attack(&sandbox, terminal)? {
            return Ok(Exit::VerificationFailed);
        }
        Ok(if healthy { Exit::Ok } else { Exit::Infrastructure })
    }
}

/// Whether the tier held what it promises.
fn attack(sandbox: &Sandbox, terminal: &Terminal) -> Result<bool, Failure> {
    let results = attacks::run_attacks(sandbox, sandbox.tier());
    let mut text = String::new();
    for result in &results {
        let effect = match (&result.effect, result.declared) {
            (None, _) => "held".to_owned(),
            (Some(effect), true) => format!("got through, as declared: {effect}"),
            (Some(effect), false) => format!("GOT THROUGH: {effect}"),
        };
        text.push_str(&format!("{:36}  {}\n", result.name, effect.replace('\n', " ")));
    }
    let through = results.iter().filter(|result| !result.as_promised()).count();
    text.push_str(&format!("{} attacks on `{}`, {through} got through\n", results.len(), sandbox.tier()));
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
