//! What the runner wrote when the tests were done.

use super::verdict::{Finding, TestOutcome};

const MAX_MESSAGE_CHARS: usize = 1000;
const MAX_TESTS: usize = 200;

/// A report as it was read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) tests: Vec<TestOutcome>,
    /// The panic of the first test that failed.
    pub(super) panic: Option<Finding>,
    /// Whether all expected tests, and no others, are there and ok.
    pub(super) all_ok: bool,
    /// Whether the runner itself says so.
    pub(super) vouched: bool,
}

/// Reads a report. Only the runner knows the secret, and it writes it behind its lines when every test was ok.
pub(super) fn read(bytes: &[u8], names: &[String], secret: &str) -> Report {
    let vouched = bytes.strip_suffix(secret.as_bytes());
    let mut report = of_lines(&String::from_utf8_lossy(vouched.unwrap_or(bytes)), names);
    report.vouched = vouched.is_some() && report.all_ok && !secret.is_empty();
    report
}

/// Reads the lines of a report.
pub(super) fn of_lines(text: &str, names: &[String]) -> Report {
    let mut report = Report::default();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [ending, name, path, line, column, message] = fields[..] else { continue };
        // A line that the code under test made up says nothing.
        if !names.iter().any(|known| known == name) {
            continue;
        }
        let ok = ending == "ok";
        if !ok && report.panic.is_none() {
            report.panic = Some(Finding {
                code: None,
                message: unhex(message).chars().take(MAX_MESSAGE_CHARS).collect(),
                file: Some(word(path).to_owned()).filter(|path| !path.is_empty()),
                line: line.parse().ok().filter(|line| *line > 0),
                column: column.parse().ok().filter(|column| *column > 0),
            });
        }
        if report.tests.len() < names.len().min(MAX_TESTS) {
            report.tests.push(TestOutcome { name: name.to_owned(), ok });
        }
    }
    let expected = names.iter().take(MAX_TESTS);
    report.all_ok = report.panic.is_none() && report.tests.iter().map(|test| &test.name).eq(expected);
    report
}

/// The word for a file of the program.
pub(super) fn word(name: &str) -> &str {
    match name {
        "candidate.rs" | "candidate.py" => "completion",
        "tests.rs" | "tests.py" => "test",
        other => other,
    }
}

fn unhex(text: &str) -> String {
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap_or_default() as u8;
    let bytes: Vec<u8> =
        text.as_bytes().chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_secret_vouches() {
        let names = ["a".to_owned(), "b".to_owned()];
        let ok = b"ok\ta\t\t0\t0\t\nok\tb\t\t0\t0\t\n";
        let with = |secret: &[u8]| [ok, secret].concat();
        assert!(read(&with(b"s3cret"), &names, "s3cret").vouched);
        assert!(!read(ok, &names, "s3cret").vouched);
        assert!(!read(&with(b"other"), &names, "s3cret").vouched);
        assert!(!read(b"ok\ta\t\t0\t0\t\ns3cret", &names, "s3cret").vouched, "one test is missing");
        assert!(!read(b"", &names, "").vouched);
    }

    #[test]
    fn the_first_failure_has_its_place() {
        let names = ["a".to_owned(), "b".to_owned()];
        let report = read(b"ok\ta\t\t0\t0\t\nfailed\tb\ttests.rs\t4\t9\t6e6f\n", &names, "s");
        let panic = report.panic.unwrap();
        assert_eq!(
            (panic.file.as_deref(), panic.line, panic.message.as_str()),
            (Some("test"), Some(4), "no")
        );
        assert_eq!(report.tests.len(), 2);
    }
}
