//! The `latency` judge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Judge, Settings, Subject, Verdict, Weighs};
use crate::text::complaint::Complaint;

/// The answer came in time.
///
/// The time is that of the request which was answered, from being sent to its last byte: waiting behind other requests, rate limits and
/// attempts that failed do not count. Of a conversation with several turns all turns count together. A `scripted` target takes the time
/// that its `latency_ms` says. The time stands in the record (`response.latency_ms`), so that `score` and `verify --rejudge` judge by it.
///
/// A time is chance: asked again, the same question takes longer or shorter, and the verdict may be another. So that a run can be repeated, the
/// time is a part of what a tape keeps: `run` wants `--record` or `--replay` for a suite with this judge, and refuses without. A suite
/// that says `determinism: {deterministic_artifacts: false}` does without a tape, and its runs differ from each other. Answers from the
/// cache took no time, and are not used. To hold a whole run to a limit, a gate on `latency_p95_ms` is the better instrument.
///
/// Guarantee: `--replay` repeats every verdict. An answer whose time nobody kept is not judged.
///
/// ```yaml
/// latency: {max_ms: 2000}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// The longest time that is right, in milliseconds.
    pub max_ms: f64,
}

impl Settings for Latency {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        if !self.max_ms.is_finite() || self.max_ms <= 0.0 {
            return Err(Complaint::new(format!("`max_ms` is {}", self.max_ms))
                .hint("a number of milliseconds above 0, for example `max_ms: 2000`"));
        }
        Ok(Box::new(Compiled(self.max_ms)))
    }

    fn needs_expected(&self) -> bool {
        false
    }
}

struct Compiled(f64);

impl Judge for Compiled {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let (most, Some(time)) = (self.0, subject.latency_ms) else {
            return Verdict::unjudged("nobody kept how long the answer took");
        };
        Verdict::of(time <= most, || format!("the answer took {time} ms, more than {most}"))
    }

    fn weighs(&self) -> Weighs {
        Weighs { time: true, ..Weighs::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{refused, unjudged};
    use super::*;

    #[test]
    fn the_kept_time_decides() {
        let judge = Latency { max_ms: 250.0 }.compile().unwrap();
        let of = |time: f64| judge.judge(&Subject { latency_ms: Some(time), ..Subject::default() });
        assert_eq!(of(250.0), Verdict::right());
        let late = of(250.001);
        assert_eq!(late.score, Some(0.0));
        assert_eq!(late.explanation(), Some("the answer took 250.001 ms, more than 250"));
        unjudged("latency: {max_ms: 1}", "null", "x", "nobody kept");
        refused("latency: {max_ms: 0}", "`max_ms` is 0");
        refused("latency: {max_ms: .inf}", "`max_ms` is inf");
    }

    #[test]
    fn judges_that_hold_it_need_the_time_too() {
        for yaml in [
            "latency: {max_ms: 1}",
            "not: {latency: {max_ms: 1}}",
            "any: {of: [{equals: {value: x}}, {not: {all: {of: [{latency: {max_ms: 1}}]}}}]}",
        ] {
            let judge = serde_saphyr::from_str::<super::super::JudgeConfig>(yaml).unwrap().compile().unwrap();
            assert_eq!(judge.weighs(), Weighs { time: true, cost: false }, "{yaml}");
        }
    }
}
