//! Ray: a short driver in Python, one task for each shard. No shared file system: suite and program travel with the job, finished
//! and interrupted shards come back through the object store.

use clap::Args;

use super::super::Terminal;
use super::super::exit::Exit;
use super::super::failure::Failure;
use super::{Common, Plan, absolute, program};

/// The driver; what is particular to a launch stands in the settings in front of it.
const DRIVER: &str = include_str!("ray_driver.py");

/// Write a driver for Ray that runs the shards as tasks and merges them, and start it if asked.
#[derive(Debug, Args)]
pub(super) struct Ray {
    #[command(flatten)]
    common: Common,

    /// The cluster [default: the one that Ray's environment names, or a local one].
    #[arg(long, value_name = "ADDRESS")]
    address: Option<String>,

    /// How often a task that was lost with its node, or stopped, is tried again.
    #[arg(long, value_name = "N", default_value_t = 5)]
    retries: u32,

    /// Start the driver with `python3` now, and wait for it.
    #[arg(long)]
    submit: bool,
}

impl Ray {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let plan = self.common.plan(terminal)?;
        let path = plan.write(terminal, "ray.py", &self.driver(&plan)?)?;
        if !self.submit {
            terminal.say(&format!("next:   python3 {path}"));
            return Ok(Exit::Ok);
        }
        #[expect(clippy::disallowed_methods, reason = "starting the driver is what the user asked for")]
        let status = std::process::Command::new("python3").arg(path.as_str()).status();
        match status {
            Ok(status) if status.success() => Ok(Exit::Ok),
            Ok(status) => Err(Failure::say(Exit::Infrastructure, format!("the driver ended with {status}"))),
            Err(error) => {
                Err(Failure::say(Exit::Infrastructure, format!("`python3` cannot be started: {error}"))
                    .hint(format!("start `{path}` with a Python that has the package `ray`")))
            }
        }
    }

    fn driver(&self, plan: &Plan<'_>) -> Result<String, Failure> {
        let common = plan.common;
        let suite = absolute(&common.suite)?;
        let folder = suite.parent().map(ToString::to_string).unwrap_or_default();
        let settings = serde_json::json!({
            "address": self.address,
            "cpus": common.cpus,
            "flags": plan.flags,
            "folder": folder,
            "memory_gib": common.memory_gib,
            "program": program()?.as_str(),
            "retries": self.retries,
            "run_dir": absolute(&common.run_dir)?.as_str().trim_end_matches('/'),
            "shards": plan.shards,
            "suite": suite.file_name().unwrap_or_default(),
            "workers": common.workers,
        });
        let text = serde_json::to_string_pretty(&settings).expect("settings are plain data");
        // JSON in a raw text of Python: both ends of a quotation would have to be in a path to leave it.
        let text = text.replace("'''", "\\u0027\\u0027\\u0027");
        Ok(DRIVER.replace("{SETTINGS}", &text))
    }
}
