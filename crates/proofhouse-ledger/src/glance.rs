//! What a list of runs says of each: a few fields of its files, read without the rest, so that ten thousand runs are listed at once.
//!
//! Whoever shows more of a run, or relies on it, reads the whole files through `format`.

use std::fs::File;
use std::io::Read as _;

use camino::Utf8Path;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::envelope::ExitStatus;
use crate::record::Kind;
use crate::summary::{Gate, Latency, Mean, Rate, Usage};
use crate::{RunId, RunPaths, files};

/// Of `manifest.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ManifestGlance {
    /// What was run.
    pub run_id: RunId,
}

/// Of `summary.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SummaryGlance {
    /// The kind of suite.
    pub kind: Kind,
    /// The run.
    pub run_id: RunId,
    /// The suite.
    pub suite_id: String,
    /// Planned trials.
    pub trials: u64,
    /// The suite's gate, if it has one.
    pub gate: Option<Gate>,
    /// Each target.
    pub slots: Vec<SlotGlance>,
}

/// One target's tally, without its scores and tags.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SlotGlance {
    /// The target.
    pub slot: String,
    /// Passed over assessed.
    pub pass_rate: Rate,
    /// The same with cases as clusters.
    pub pass_rate_clustered: Option<Mean>,
    /// How long its trials took, where records say it.
    #[serde(default)]
    pub latency_ms: Option<Latency>,
    /// What it says that it used.
    #[serde(default)]
    pub usage: Option<Usage>,
}

impl SlotGlance {
    /// Lower end, value and upper end of its pass rate; over cases where they are repeated.
    pub fn estimate(&self) -> Option<[f64; 3]> {
        let clustered = self.pass_rate_clustered.as_ref().and_then(|mean| mean.low.zip(mean.high));
        let ends = clustered.or(self.pass_rate.low.zip(self.pass_rate.high));
        ends.zip(self.pass_rate.value).map(|((low, high), value)| [low, value, high])
    }
}

/// Of the envelope.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct EnvelopeGlance {
    /// The suite.
    pub suite: String,
    /// Planned trials.
    pub total_cases_expected: u64,
    /// Wall clock.
    pub run_start_ts_utc: Option<String>,
    /// How it ended.
    pub exit_status: ExitStatus,
    /// The process.
    pub pid: Option<u32>,
    /// The boot of the machine.
    pub boot_id: Option<String>,
}

/// The manifest, if it is there and is one.
pub fn manifest(paths: &RunPaths) -> Option<ManifestGlance> {
    glance(&paths.manifest())
}

/// The summary, if it is there and is one.
pub fn summary(paths: &RunPaths) -> Option<SummaryGlance> {
    glance(&paths.summary())
}

/// The envelope of a run that has ended, or of one that has not.
pub fn envelope(paths: &RunPaths) -> Option<EnvelopeGlance> {
    glance(&paths.envelope()).or_else(|| glance(&paths.envelope_tmp()))
}

/// A regular file of bounded size, no link to one, with as few questions to the file system as that takes: they are what a list of
/// many runs waits for.
fn glance<T: DeserializeOwned>(path: &Utf8Path) -> Option<T> {
    let meta = std::fs::symlink_metadata(path).ok()?;
    if !meta.is_file() || meta.len() > files::MAX_FACTS_BYTES {
        return None;
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).ok()? + 1);
    File::open(path).ok()?.take(files::MAX_FACTS_BYTES).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::Envelope;
    use crate::summary::Summary;

    /// A glance says what the whole files say, of every released version.
    #[test]
    fn a_glance_says_what_the_whole_files_say() {
        let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../proofhouse/tests/golden/v1");
        for kind in Kind::ALL {
            let paths = RunPaths::new(format!("{golden}/{}/run", kind.as_str()));
            let whole: Summary = glance(&paths.summary()).unwrap();
            let seen = summary(&paths).unwrap();
            assert_eq!((seen.kind, seen.trials, &seen.suite_id), (kind, whole.trials, &whole.suite_id));
            assert_eq!((seen.gate, seen.run_id), (whole.gate, manifest(&paths).unwrap().run_id));
            assert_eq!(seen.slots.len(), whole.slots.len());
            for (seen, whole) in seen.slots.iter().zip(&whole.slots) {
                assert_eq!((&seen.slot, &seen.pass_rate), (&whole.slot, &whole.pass_rate));
                assert_eq!((&seen.usage, &seen.latency_ms), (&whole.usage, &whole.latency_ms));
            }
            if let Some(whole) = glance::<Envelope>(&paths.envelope()) {
                let seen = envelope(&paths).unwrap();
                assert_eq!((seen.suite, seen.run_start_ts_utc), (whole.suite, whole.run_start_ts_utc));
            }
        }
    }

    #[test]
    fn an_estimate_is_that_over_cases_where_there_is_one() {
        let slot = |rate: &str, clustered: &str| -> SlotGlance {
            let rate = format!(r#"{{"numerator":1,"denominator":2,{rate},"records":""}}"#);
            let text = format!(r#"{{"slot":"s","pass_rate":{rate},"pass_rate_clustered":{clustered}}}"#);
            serde_json::from_str(&text).unwrap()
        };
        let mean =
            |ends: &str| format!(r#"{{"count":2,"clusters":2,"value":0.5,"standard_error":null,{ends}}}"#);
        let (rate, none) = (r#""value":0.5,"low":0.1,"high":0.9"#, r#""value":null,"low":null,"high":null"#);
        assert_eq!(slot(rate, "null").estimate(), Some([0.1, 0.5, 0.9]));
        assert_eq!(slot(rate, &mean(r#""low":0.2,"high":0.8"#)).estimate(), Some([0.2, 0.5, 0.8]));
        assert_eq!(slot(rate, &mean(r#""low":null,"high":null"#)).estimate(), Some([0.1, 0.5, 0.9]));
        assert_eq!(slot(none, "null").estimate(), None);
    }

    #[test]
    fn only_a_regular_file_of_bounded_size_is_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let paths = RunPaths::new(camino::Utf8PathBuf::from_path_buf(dir.path().join("run")).unwrap());
        std::fs::create_dir(&paths.dir).unwrap();
        assert_eq!(manifest(&paths), None, "there is none");
        let mut text = br#"{"run_id":"0123456789ab","more":1}"#.to_vec();
        let run_id = RunId::from_hex(b"0123456789ab").unwrap();
        text.resize(files::MAX_FACTS_BYTES as usize, b' ');
        std::fs::write(paths.manifest(), &text).unwrap();
        assert_eq!(manifest(&paths), Some(ManifestGlance { run_id }), "just as long as it may be");
        text.push(b' ');
        std::fs::write(paths.manifest(), &text).unwrap();
        assert_eq!(manifest(&paths), None, "longer by one byte");
        std::fs::write(paths.manifest(), "{}").unwrap();
        assert_eq!(manifest(&paths), None, "without a run");
        #[cfg(unix)]
        {
            let elsewhere = paths.dir.join("elsewhere");
            std::fs::write(&elsewhere, r#"{"run_id":"0123456789ab"}"#).unwrap();
            std::fs::remove_file(paths.manifest()).unwrap();
            std::os::unix::fs::symlink(&elsewhere, paths.manifest()).unwrap();
            assert_eq!(manifest(&paths), None, "a link");
        }
    }

    #[test]
    fn a_run_that_has_not_ended_has_an_envelope_too() {
        let dir = tempfile::tempdir().unwrap();
        let paths = RunPaths::new(camino::Utf8PathBuf::from_path_buf(dir.path().join("run")).unwrap());
        let says = |suite: &str, exit: &str| {
            format!(r#"{{"suite":"{suite}","total_cases_expected":3,"exit_status":"{exit}","pid":7}}"#)
        };
        assert_eq!(envelope(&paths), None);
        std::fs::write(paths.envelope_tmp(), says("begun", "in_progress")).unwrap();
        let seen = envelope(&paths).unwrap();
        assert_eq!((seen.suite.as_str(), seen.total_cases_expected, seen.pid), ("begun", 3, Some(7)));
        std::fs::write(paths.envelope(), says("ended", "normal")).unwrap();
        assert_eq!(envelope(&paths).unwrap().suite, "ended");
    }
}
