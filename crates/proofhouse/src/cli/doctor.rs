//! `doctor`: whether this machine can do what suites ask for.

use camino::Utf8PathBuf;
use clap::Args;
use proofhouse_ledger::files::{self, FileError};

use super::Terminal;
use super::exit::Exit;
use super::failure::Failure;
use super::table;
use crate::run::clock::Watch;
use crate::run::host;

/// Look at this machine: version, platform, and whether the disk keeps what it is given.
#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// Where run directories would go.
    #[arg(long, value_name = "DIR", default_value = "runs")]
    root: Utf8PathBuf,
}

impl Doctor {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let mut rows = vec![
            row("proofhouse", "ok", env!("CARGO_PKG_VERSION")),
            row("platform", "ok", &host::platform()),
        ];
        let disk = check_disk(&self.root);
        let healthy = disk.is_ok();
        rows.push(match disk {
            Ok(milliseconds) => {
                row("disk", "ok", &format!("`{}`: one sync takes {milliseconds:.1} ms", self.root))
            }
            Err(error) => {
                row("disk", "FAILED", &Failure::new(Exit::Internal, &error).message.replace('\n', ""))
            }
        });
        terminal.data(&table::align(&rows))?;
        Ok(if healthy { Exit::Ok } else { Exit::Infrastructure })
    }
}

fn row(what: &str, state: &str, detail: &str) -> [String; 3] {
    [what, state, detail].map(str::to_owned)
}

/// Writes, syncs and removes a small file in the place itself, or in the nearest directory above that exists.
fn check_disk(root: &Utf8PathBuf) -> Result<f64, FileError> {
    let dir = root.ancestors().find(|dir| dir.is_dir()).map_or(Utf8PathBuf::from("."), |dir| dir.to_owned());
    let path = dir.join(format!(".proofhouse-doctor-{}", std::process::id()));
    let watch = Watch::start();
    let written = files::write_synced(&path, b"doctor\n");
    let elapsed = watch.elapsed_ms();
    files::remove_if_there(&path)?;
    written.map(|()| elapsed)
}
