//! Reading the output of a tool again: the record holds what it printed, the configuration the rules.

use std::collections::BTreeMap;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::from_json;
use proofhouse_ledger::record::{Damage, HEAD, Line, Observed, ROBUSTNESS};

use crate::family::target::Command;
use crate::family::target::command::{Evidence, Reader};
use crate::spine::rejudge::{Again, Rejudge};

/// The rules of each slot; nothing where they look at more than the record holds.
struct Rules(BTreeMap<String, Option<Reader>>);

/// The rules of a run with this configuration.
pub(super) fn open(config: &Json) -> Box<dyn Rejudge> {
    let targets = match config.get("targets") {
        Some(Json::Array(targets)) => targets.as_slice(),
        _ => &[],
    };
    let rules = targets.iter().filter_map(|target| {
        let slot = target.get("slot")?.as_str()?.to_owned();
        let reader =
            from_json::<Command>(target.get("command")?).ok().and_then(|tool| Reader::new(&tool).ok());
        Some((slot, reader.filter(|reader| reader.files().is_empty() && !reader.wants_artefacts())))
    });
    Box::new(Rules(rules.collect()))
}

impl Rules {
    fn read(&self, line: &Line<'_>) -> Result<Again, Damage> {
        let (Some(termination), Some(success)) =
            (line.get(ROBUSTNESS.termination)?, line.get(ROBUSTNESS.success)?)
        else {
            return Ok(Again::Nothing);
        };
        let Some(reader) = self.0.get(&*line.get(HEAD.slot)?).and_then(Option::as_ref) else {
            return Ok(Again::Impossible("its rules look at files that the run does not hold"));
        };
        let (stdout, stderr) = (line.get(ROBUSTNESS.stdout)?, line.get(ROBUSTNESS.stderr)?);
        let (stdout, stderr) = (stdout.unwrap_or_default(), stderr.unwrap_or_default());
        let lengths = (line.get(ROBUSTNESS.stdout_bytes)?, line.get(ROBUSTNESS.stderr_bytes)?);
        let whole = |text: &str| !text.contains('\u{fffd}') && !text.contains("[redacted");
        if lengths != (Some(stdout.len() as u64), Some(stderr.len() as u64))
            || !whole(&stdout)
            || !whole(&stderr)
        {
            return Ok(Again::Impossible("its output is not stored whole"));
        }
        let evidence = Evidence {
            termination,
            exit_code: line.get(ROBUSTNESS.exit_code)?,
            stdout: &stdout,
            stderr: &stderr,
            files: &[],
            artefacts: &[],
        };
        let stored = Observed {
            termination,
            success,
            failure_stage: line.get(ROBUSTNESS.failure_stage)?,
            attempts: line.get(ROBUSTNESS.attempts)?,
            repairs_triggered: line.get(ROBUSTNESS.repairs_triggered)?,
        };
        let found = reader.read(&evidence);
        Ok(match found == stored {
            true => Again::Same,
            false => Again::Other(format!(
                "`success` is {success}, read again it is {} (failure stage, attempts and repairs count too)",
                found.success
            )),
        })
    }
}

impl Rejudge for Rules {
    fn again(&self, line: &Line<'_>) -> Again {
        self.read(line).unwrap_or_else(|damage| Again::Other(damage.to_string()))
    }
}
