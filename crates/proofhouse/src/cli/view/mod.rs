//! `view`: the runs of a folder in the browser: list, filter, trend, comparison of any two, and a run in progress as it goes.
//!
//! It only reads. What it serves are pages that it makes itself and the reports of runs that it found, so no path of a request ever becomes
//! a path of a file: a run is looked up by its name among those that were found.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use camino::Utf8PathBuf;
use clap::Args;
use ring::rand::{SecureRandom as _, SystemRandom};

use super::exit::Exit;
use super::failure::Failure;
use super::{Terminal, browser};

mod live;
mod pages;
mod scan;
mod serve;
mod site;
mod trend;
mod watch;

/// Show the runs of a folder in the browser; nothing is changed.
#[derive(Debug, Args)]
pub(super) struct View {
    /// The folder with the runs.
    #[arg(default_value = "runs")]
    dir: Utf8PathBuf,

    /// The address to listen on; beyond this machine a token is required, which is part of the printed address.
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,

    /// The port; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,

    /// Run this suite now and whenever it or its data is saved, from the answer cache, and show what changed.
    #[arg(long, value_name = "SUITE")]
    watch: Option<Utf8PathBuf>,

    /// Open the page in the browser.
    #[arg(long)]
    open: bool,
}

impl View {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let place = SocketAddr::new(self.host, self.port);
        let socket = std::net::TcpListener::bind(place).map_err(|error| {
            Failure::say(Exit::Usage, format!("cannot listen on `{place}`: {error}"))
                .hint("`--port 0` takes a free port, `--host 127.0.0.1` listens on this machine alone")
        })?;
        let address = socket.local_addr()?;
        let base = if self.host.is_loopback() { String::new() } else { format!("/{}", token()?) };
        let watched =
            self.watch.clone().map(|suite| watch::Watch::new(suite, self.dir.clone(), terminal.surroundings));
        let site = Arc::new(site::Site {
            dir: self.dir.clone(),
            base: base.clone(),
            loopback: self.host.is_loopback(),
            found: scan::RunIndex::default(),
            watched: watched.map(Arc::new),
        });
        let start = if self.watch.is_some() { "watch" } else { "" };
        let url = format!("http://{address}{base}/{start}");
        terminal.data(&format!("{url}\n"))?;
        terminal.say("Ctrl-C ends it");
        if self.open {
            browser::open(camino::Utf8Path::new(&url), terminal);
        }
        if self.watch.is_some() {
            watch::end_on_signals()?;
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(serve::serve(socket, site));
        Ok(Exit::Ok)
    }
}

/// Something that nobody guesses.
fn token() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    let failed = |_| Failure::say(Exit::Internal, "there is no source of randomness for a token");
    SystemRandom::new().fill(&mut bytes).map_err(failed)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
