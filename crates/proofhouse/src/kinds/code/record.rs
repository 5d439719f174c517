//! From a verdict to the fields of its record.

use proofhouse_ledger::Json;
use proofhouse_ledger::record::{Code, Status};

use super::output;
use super::sample::Sample;
use super::verdict::{Border, ErrorType, Finding, Judged, TestOutcome};

/// JSON bytes kept from the beginning of a completion: no record is longer than 100 kB, whatever the model wrote.
const COMPLETION_HEAD_BYTES: usize = 32 << 10;

/// JSON bytes kept of the task, of the program, and of the lines around the test that failed.
const TASK_BYTES: usize = 4 << 10;
const PROGRAM_BYTES: usize = 8 << 10;
const TEST_BYTES: usize = 3 << 10;
/// Lines of a test before and behind the one that failed.
const AROUND: usize = 12;

/// What an answer was judged in: for whoever reads the record, not for the verdict.
#[derive(Debug, Clone, Default)]
pub struct Context {
    task: Option<String>,
    program: Option<String>,
    test: Option<(u64, String)>,
}

impl Context {
    /// Of an answer to a task.
    pub fn of(task: &str) -> Context {
        Context {
            task: (!task.is_empty()).then(|| output::beginning(task, TASK_BYTES)),
            ..Context::default()
        }
    }

    /// The same with the program that failed and the test that it failed at.
    #[must_use]
    pub fn failed(mut self, program: Option<String>, test: &str, judged: &Judged) -> Context {
        self.program = program.map(|program| output::beginning(&program, PROGRAM_BYTES));
        let failed_at =
            judged.diagnostics.panic.as_ref().filter(|panic| panic.file.as_deref() == Some("test"));
        let line = failed_at.and_then(|panic| panic.line).map_or(1, |line| line as usize);
        let first = line.saturating_sub(AROUND).max(1);
        let lines: Vec<&str> = test.lines().skip(first - 1).take(line - first + AROUND).collect();
        let excerpt = output::beginning(&lines.join("\n"), TEST_BYTES);
        self.test = (!excerpt.trim().is_empty()).then_some((first as u64, excerpt));
        self
    }
}

/// The fields of a `code` record that own what they hold.
#[derive(Debug, Clone)]
pub struct Body {
    context: Context,
    completion: Option<super::verdict::Bounded>,
    result: String,
    compile_errors: Json,
    lints: Json,
    tests: Json,
    panic: Option<Json>,
    missing_crates: Vec<String>,
    tries: Json,
    tags: Vec<String>,
}

/// Makes the fields of a record.
pub fn body(sample: &Sample, judged: &Judged, tags: &[String]) -> Body {
    let diagnostics = &judged.diagnostics;
    let findings = |all: &[Finding]| Json::Array(all.iter().map(finding).collect());
    let word =
        |each: &Option<super::verdict::ErrorType>| each.map_or(Json::Null, |each| each.as_str().into());
    // A first try that only a loaded or broken machine explains is told beside the record: the verdict stands without it.
    let last = [judged.error_type];
    let tries = if judged.is_doubtful() { judged.tries.as_slice() } else { &last };
    Body {
        context: Context::default(),
        completion: sample.completion.as_ref().ok().map(|text| output::within(text, COMPLETION_HEAD_BYTES)),
        result: judged.result(),
        compile_errors: findings(&diagnostics.errors),
        lints: findings(&diagnostics.lints),
        tests: Json::Array(diagnostics.tests.iter().map(test).collect()),
        panic: diagnostics.panic.as_ref().map(finding),
        missing_crates: diagnostics.missing_crates.clone(),
        tries: Json::Array(tries.iter().map(word).collect()),
        tags: tags.to_vec(),
    }
}

impl Body {
    /// Says what the answer was judged in.
    #[must_use]
    pub fn within(self, context: Context) -> Body {
        Body { context, ..self }
    }

    /// Says that the model gave nothing to judge, with the class of what went wrong.
    pub fn was_not_judged(&mut self, error_type: &str) {
        self.result = format!("failed: {error_type}");
    }

    /// The fields as the ledger takes them.
    pub fn fields<'a>(&'a self, sample: &'a Sample, judged: &'a Judged) -> Code<'a> {
        Code {
            task_id: sample.task_id.as_deref(),
            task: self.context.task.as_deref(),
            program: self.context.program.as_deref(),
            test_source: self.context.test.as_ref().map(|(_, text)| text.as_str()),
            test_line: self.context.test.as_ref().map(|(first, _)| *first),
            completion: self.completion.as_ref().map(|bounded| bounded.text.as_str()),
            completion_bytes: self.completion.as_ref().map(|bounded| bounded.bytes),
            completion_id: sample.completion_id,
            compile_ok: judged.compile_ok,
            clippy_ok: judged.clippy_ok,
            test_ok: judged.test_ok,
            main_free: judged.main_free,
            border: judged.border.map(Border::as_str),
            has_unsafe: judged.has_unsafe,
            cached: None,
            compile_time_ms: judged.compile_time_ms,
            binary_size_bytes: judged.binary_size_bytes,
            baseline_size_bytes: judged.baseline_size_bytes,
            result: &self.result,
            stderr: &judged.stderr.text,
            stderr_bytes: judged.stderr.bytes,
            stderr_sha256: judged.stderr.sha256.as_deref(),
            compile_errors: &self.compile_errors,
            lints: &self.lints,
            tests: &self.tests,
            panic: self.panic.as_ref(),
            missing_crates: &self.missing_crates,
            tries: &self.tries,
            tags: &self.tags,
            sandbox_does_not_hold: &[],
        }
    }
}

impl Judged {
    /// The same as what it says of an answer to a task that there is: one that cannot be read is the model's failure.
    pub fn of_an_answer(&self) -> (Status, Option<bool>) {
        match self.error_type {
            Some(ErrorType::InvalidSample) => (Status::Success, Some(false)),
            _ => (self.status(), self.verdict()),
        }
    }

    /// What became of the trial: a completion that fails is still an answer.
    pub fn status(&self) -> Status {
        match self.error_type {
            Some(error_type) if error_type.is_infra() || error_type == ErrorType::Unsupported => {
                Status::Error
            }
            Some(error_type) if error_type.is_invalid() || error_type.is_of_the_task() => Status::Skipped,
            _ => Status::Success,
        }
    }

    /// Whether it passed; `None` where nothing can be said about the completion.
    pub fn verdict(&self) -> Option<bool> {
        (self.status() == Status::Success).then(|| self.passed())
    }
}

fn finding(finding: &Finding) -> Json {
    let mut object = proofhouse_ledger::json::Object::default();
    let text = |text: &Option<String>| text.as_deref().map_or(Json::Null, Json::from);
    let number = |number: Option<u64>| number.map_or(Json::Null, |number| Json::Number(number as f64));
    object.set("code", text(&finding.code));
    object.set("column", number(finding.column));
    object.set("file", text(&finding.file));
    object.set("line", number(finding.line));
    object.set("message", finding.message.as_str());
    Json::Object(object)
}

fn test(test: &TestOutcome) -> Json {
    let mut object = proofhouse_ledger::json::Object::default();
    object.set("name", test.name.as_str());
    object.set("ok", test.ok);
    Json::Object(object)
}

#[cfg(test)]
mod tests {
    use proofhouse_ledger::canonical;
    use proofhouse_ledger::record::{CodeRecord, Head, Kind};
    use proofhouse_ledger::spine::Spine;
    use proofhouse_ledger::{Digest, RecordId, RunId};

    use super::*;
    use crate::kinds::code::verdict::{Bounded, Diagnostics};

    fn line(sample: &Sample, judged: &Judged) -> Vec<u8> {
        let run_id = RunId::of_identity(b"run");
        let spine = Spine::new(&run_id);
        let head = Head {
            kind: Kind::Code,
            run_id,
            record_id: RecordId::of_trial("slot", "case", None, 0),
            index: sample.index,
            suite_id: "suite",
            case_id: "case",
            slot: "slot",
            variant_id: None,
            repetition: 0,
            input_fingerprint: Digest::of(b"prompt"),
            status: judged.status(),
            error_type: judged.error_type.map(ErrorType::as_str),
            error: judged.error.as_deref(),
            output_sha256: None,
            scores: &[("pass", judged.verdict().map(f64::from))],
            primary_metric: Some("pass"),
            passed: judged.verdict(),
            started_at: spine.started(0),
            completed_at: spine.completed(0),
            latency_ms: None,
            usage: None,
        };
        let long = "\u{1}\n".repeat(20_000);
        let context = Context::of(&long).failed(Some(long.clone()), &long, judged);
        let body = body(sample, judged, &["tag".to_owned()]).within(context);
        let mut out = Vec::new();
        body.fields(sample, judged).push(&mut out, &head);
        out
    }

    #[test]
    fn a_record_reads_back_and_has_the_thirteen_fields() {
        let sample = Sample {
            index: 3,
            task_id: Some("HumanEval/0".into()),
            completion_id: 1,
            completion: Ok("    1\n}".into()),
        };
        let place =
            Finding { message: "m".into(), file: Some("test".into()), line: Some(8), ..Finding::default() };
        let judged = Judged {
            error_type: Some(ErrorType::AssertionFailure),
            compile_ok: Some(true),
            test_ok: Some(false),
            main_free: Some(true),
            compile_time_ms: Some(120),
            binary_size_bytes: Some(400_000),
            diagnostics: Diagnostics {
                panic: Some(place.clone()),
                lints: vec![place],
                tests: vec![TestOutcome { name: "tests::a".into(), ok: false }],
                ..Diagnostics::default()
            },
            tries: vec![Some(ErrorType::TestTimeout), Some(ErrorType::AssertionFailure)],
            ..Judged::default()
        };
        let bytes = line(&sample, &judged);
        let record: CodeRecord = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(
            canonical::to_vec(&record).unwrap(),
            bytes.strip_suffix(b"\n").unwrap(),
            "typed round trip"
        );
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        for field in [
            "task_id",
            "completion",
            "completion_id",
            "compile_ok",
            "test_ok",
            "clippy_ok",
            "compile_time_ms",
            "binary_size_bytes",
            "error_type",
            "stderr",
            "main_free",
            "passed",
            "result",
        ] {
            assert!(value.get(field).is_some(), "{field}");
        }
        assert_eq!(value["result"], "failed: assertion_failure");
        assert_eq!(value["passed"], false);
    }

    #[test]
    fn no_record_is_longer_than_100_kb() {
        let hostile = "\u{1}\"é".repeat(100_000);
        let place = Finding { message: hostile.chars().take(400).collect(), ..Finding::default() };
        let judged = Judged {
            error_type: Some(ErrorType::CompileError),
            error: Some(place.message.clone()),
            stderr: output::of_text(&hostile),
            diagnostics: Diagnostics { errors: vec![place.clone(); 10], ..Diagnostics::default() },
            ..Judged::default()
        };
        let sample =
            Sample { index: 0, task_id: Some("t".into()), completion_id: 0, completion: Ok(hostile.clone()) };
        assert!(line(&sample, &judged).len() < 100_000);
        assert_eq!(output::within(&hostile, 10).bytes, hostile.len() as u64);
        assert_eq!(Bounded::default().bytes, 0);
    }

    #[test]
    fn what_says_nothing_about_the_completion_is_neither_pass_nor_failure() {
        assert_eq!(Judged::refused(ErrorType::InfraSandbox, "x").verdict(), None);
        assert_eq!(Judged::refused(ErrorType::UnknownTask, "x").verdict(), None);
        assert_eq!(Judged::refused(ErrorType::NoTests, "x").verdict(), None);
        assert_eq!(Judged::refused(ErrorType::BrokenTask, "x").verdict(), None);
        let unreadable = Judged::refused(ErrorType::InvalidSample, "x");
        assert_eq!(unreadable.of_an_answer(), (Status::Success, Some(false)), "an answer that is none fails");
        assert_eq!(Judged::refused(ErrorType::InfraSandbox, "x").of_an_answer(), (Status::Error, None));
        assert_eq!(Judged::refused(ErrorType::TestTimeout, "x").verdict(), Some(false));
        assert_eq!(Judged::default().verdict(), Some(true));
    }
}
