//! `attest`: a run signed by whoever vouches for it.

use camino::Utf8PathBuf;
use clap::Args;
use proofhouse_ledger::attest::{self, Dsse};
use proofhouse_ledger::envelope::ExitStatus;
use proofhouse_ledger::{canonical, files};

use super::exit::Exit;
use super::failure::Failure;
use super::key::PrivateKey;
use super::sound::refuse_unsound;
use super::{Terminal, run_dir};

/// Sign a run: an in-toto Statement over the digests of its files, in a DSSE envelope beside it.
///
/// `verify --key` checks it; so does every other implementation of DSSE. A run that `verify` refuses is not signed.
#[derive(Debug, Args)]
pub(super) struct Attest {
    /// The run directory.
    run_dir: Utf8PathBuf,

    /// The Ed25519 key (PKCS #8, PEM) to sign with: a file, or `env:NAME`.
    #[arg(long, value_name = "KEY", required_unless_present = "prove")]
    key: Option<String>,

    /// Print a proof that one record, by its id or its index, is in the run; `verify --proof` checks it without the run.
    #[arg(long, value_name = "RECORD", conflicts_with = "key")]
    prove: Option<String>,
}

impl Attest {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let paths = run_dir::readable(&self.run_dir)?;
        if let Some(record) = &self.prove {
            let proof = attest::prove(&paths, record).map_err(|error| Failure::new(Exit::Refused, &error))?;
            let bytes = canonical::to_file(&proof).expect("a proof is plain data");
            terminal.data(&String::from_utf8_lossy(&bytes))?;
            return Ok(Exit::Ok);
        }
        let key = PrivateKey::read(&self.key.unwrap_or_default())?;
        let inspected = refuse_unsound(&paths)?;
        let ended = inspected.verified.envelope.as_ref().is_some_and(|e| e.exit_status == ExitStatus::Normal);
        let (Some(manifest), true, true) =
            (&inspected.verified.manifest, ended, inspected.verified.findings.left_over.is_empty())
        else {
            return Err(Failure::say(Exit::Incomplete, format!("`{}` is not a finished run", paths.dir))
                .hint("`--resume` completes a run, `proofhouse recover` writes a missing envelope"));
        };
        let statement = attest::statement(&paths, manifest)?;
        let id = key.public().id();
        let signed = Dsse::sign(&statement, id.to_string(), |bytes| key.sign(bytes));
        let bytes = canonical::to_file(&signed).expect("an envelope is plain data");
        files::write_atomic(&paths.attestation(), &bytes)?;
        terminal.data(&format!("{}\n", paths.attestation()))?;
        terminal
            .say(&format!("signed by key {id}; `proofhouse verify {} --key PUBLIC` checks it", paths.dir));
        Ok(Exit::Ok)
    }
}
