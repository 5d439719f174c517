//! Slurm: an array job with a task for each shard, and a job behind it that merges them.

use clap::Args;

use super::super::Terminal;
use super::super::exit::Exit;
use super::super::failure::Failure;
use super::{Common, Plan, absolute, command_line, program, quoted};

/// What Slurm's arrays may have unless a cluster says otherwise: their numbers are below 1001.
const MAX_ARRAY_SIZE: u32 = 1001;

/// What a task does that was killed by something else than Slurm.
const BACK_INTO_THE_QUEUE: &str = "\
# Killed, perhaps for want of memory: the task goes back into the queue and goes on where it was, three times at most.
if [ $code -gt 128 ] && [ \"${SLURM_RESTART_COUNT:-0}\" -lt 3 ]; then
    scontrol requeue \"${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}\"
fi
exit $code
";

/// Write an array job and a dependent merge job for Slurm, and submit them if asked.
///
/// The run directory has to be on a file system that all nodes share. A task that is requeued or preempted goes on where it was.
#[derive(Debug, Args)]
pub(super) struct Slurm {
    #[command(flatten)]
    common: Common,

    /// Submit both jobs with `sbatch`.
    #[arg(long)]
    submit: bool,

    /// Further settings for `sbatch`, such as `--sbatch=--partition=cpu`; may be given several times.
    #[arg(long, value_name = "SETTING", allow_hyphen_values = true)]
    sbatch: Vec<String>,
}

impl Slurm {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let plan = self.common.plan(terminal)?;
        let shards = plan.write(terminal, "slurm.sh", &self.array(&plan)?)?;
        let merge = plan.write(terminal, "merge.slurm.sh", &self.merge(&plan)?)?;
        if !self.submit {
            terminal.say(&format!(
                "next:   job=$(sbatch --parsable {shards}) && sbatch --dependency=afterok:$job --kill-on-invalid-dep=yes {merge}"
            ));
            return Ok(Exit::Ok);
        }
        // Slurm's own words for an array that is too large do not say what is wrong with it.
        let array = sbatch(&["--parsable", shards.as_str()]).map_err(|failure| match plan.shards {
            0..=MAX_ARRAY_SIZE => failure,
            _ => failure.hint("Slurm's `MaxArraySize` is 1001 unless it is set: take fewer shards"),
        })?;
        let behind = format!("--dependency=afterok:{array}");
        let merging = sbatch(&["--parsable", "--kill-on-invalid-dep=yes", &behind, merge.as_str()])?;
        terminal.data(&format!("{array}\n{merging}\n"))?;
        terminal.say(&format!(
            "array job {array}, merge job {merging}\nnext:   proofhouse status {} --shards {}",
            self.common.run_dir, plan.shards
        ));
        Ok(Exit::Ok)
    }

    /// What both scripts begin with.
    fn head(&self, plan: &Plan<'_>, name: &str, log: &str) -> Result<String, Failure> {
        // A `%` of a path is none of the signs that Slurm fills in.
        let folder = absolute(&plan.beside(""))?.as_str().replace('%', "%%");
        let mut text = format!("#!/bin/sh\n#SBATCH --job-name={name}\n#SBATCH --output=\"{folder}{log}\"\n");
        text.push_str("#SBATCH --open-mode=append\n");
        for setting in &self.sbatch {
            text.push_str(&format!("#SBATCH {setting}\n"));
        }
        Ok(text)
    }

    fn array(&self, plan: &Plan<'_>) -> Result<String, Failure> {
        let common = plan.common;
        let mut text = self.head(plan, &plan.job_name(), "slurm-%a.log")?;
        text.push_str(&format!("#SBATCH --array=0-{}%{}\n", plan.shards - 1, common.workers));
        text.push_str(&format!(
            "#SBATCH --cpus-per-task={}\n#SBATCH --mem={}G\n",
            common.cpus, common.memory_gib
        ));
        text.push_str("#SBATCH --requeue\n\n");
        text.push_str("# One shard of the plan. `--resume` goes on with what an earlier try of this task has recorded.\n");
        let (program, suite) = (program()?, absolute(&common.suite)?);
        let run_dir = absolute(&common.run_dir)?;
        let words = [program.as_str(), "run", suite.as_str(), "--run-dir", run_dir.as_str(), "--resume"];
        let flags = plan.flags.iter().map(String::as_str);
        text.push_str(&format!("cd {}\n", quoted(absolute("".into())?.as_str().trim_end_matches('/'))));
        // The shell waits while the program ends in order: what Slurm takes away gets a signal first.
        text.push_str("trap : TERM\n");
        // By number, so that `sbatch --array=7` runs shard 7 again and not the only one of one.
        let command = command_line(words.into_iter().chain(flags));
        text.push_str(&format!("{command} --shard \"$SLURM_ARRAY_TASK_ID/{}\"\ncode=$?\n", plan.shards));
        text.push_str(BACK_INTO_THE_QUEUE);
        Ok(text)
    }

    fn merge(&self, plan: &Plan<'_>) -> Result<String, Failure> {
        let mut text = self.head(plan, &format!("{}-merge", plan.job_name()), "slurm-merge.log")?;
        text.push_str("#SBATCH --cpus-per-task=1\n#SBATCH --mem=2G\n\n");
        let run_dir = absolute(&plan.common.run_dir)?;
        text.push_str("# All shards are there: one run of them, as if one machine had run the whole plan. 4 and 9 are verdicts of a complete run.\n");
        let words = command_line([program()?.as_str(), "merge", run_dir.as_str(), "--overwrite"]);
        text.push_str(&format!("{words}\ncode=$?\ncase $code in 4 | 9) exit 0 ;; *) exit $code ;; esac\n"));
        Ok(text)
    }
}

/// Calls `sbatch` and gives the number of the job.
fn sbatch(words: &[&str]) -> Result<String, Failure> {
    #[expect(clippy::disallowed_methods, reason = "submitting a job is what the user asked for")]
    let mut command = std::process::Command::new("sbatch");
    let output = command.args(words).output().map_err(|error| {
        Failure::say(Exit::Infrastructure, format!("`sbatch` cannot be started: {error}"))
            .hint("run this where Slurm's commands are, or leave `--submit` out and submit the scripts there")
    })?;
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Failure::say(Exit::Infrastructure, format!("`sbatch` refused the job: {why}")));
    }
    // With several clusters it says `NUMBER;CLUSTER`.
    Ok(said.split(';').next().unwrap_or_default().to_owned())
}
