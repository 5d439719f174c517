//! The report as bytes: the same for the same ledger, safe whatever a model said, honest about what is missing.

use proofhouse::spine::present::{self, ReportError};
use proofhouse_ledger::Digest;
use proofhouse_ledger::record::Status;

use crate::sample_run::{HOSTILE, SampleRun, Trial, sample_trials};

fn sample() -> SampleRun {
    SampleRun::new(&["careful", "hasty"], Some(0.8), sample_trials())
}

/// The page without its data blocks.
fn frame(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some(from) = rest.find("<script type=\"application/json\"") {
        out.push_str(&rest[..from]);
        let end = rest[from..].find("</script>").unwrap();
        rest = &rest[from + end..];
    }
    out + rest
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let start = text.find(from).unwrap() + from.len();
    &text[start..start + text[start..].find(to).unwrap()]
}

#[test]
fn the_same_ledger_gives_the_same_bytes_wherever_it_is() {
    let (one, two) = (sample(), sample());
    assert_eq!(one.html(), one.html());
    assert_eq!(one.html(), two.html(), "another directory");
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    let html = sample().html();
    let frame = frame(&html);
    for reference in ["http:", "https:", "//cdn", "src=", "url(", "@import", "<link", "<iframe", "<img"] {
        assert!(!frame.contains(reference), "{reference}");
    }
    for inline in [" style=", " onclick=", " onload=", " onerror=", "javascript:", "innerHTML", "eval("] {
        assert!(!frame.contains(inline), "{inline}");
    }
    assert!(frame.len() < 200_000, "{} bytes without data", frame.len());
}

#[test]
fn the_policy_allows_exactly_what_is_in_the_page() {
    let html = sample().html();
    let policy = between(&html, "Content-Security-Policy\" content=\"", "\"");
    assert!(policy.starts_with("default-src 'none';"), "{policy}");
    for (open, close, directive) in
        [("<style>", "</style>", "style-src"), ("\n<script>", "</script>", "script-src")]
    {
        let digest = Digest::of(between(&html, open, close).as_bytes());
        assert!(
            policy.contains(&format!("{directive} 'sha256-{}'", base64(&digest.0))),
            "{directive} in {policy}"
        );
    }
    assert!(!policy.contains("unsafe"));
}

/// A second way to base64: bit by bit.
fn base64(bytes: &[u8]) -> String {
    let bits: Vec<u8> = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).collect();
    let alphabet: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
    let mut out: String = bits
        .chunks(6)
        .map(|six| alphabet[(0..6).fold(0, |word, at| word * 2 + usize::from(*six.get(at).unwrap_or(&0)))])
        .collect();
    while !out.len().is_multiple_of(4) {
        out.push('=');
    }
    out
}

#[test]
fn hostile_text_is_never_markup() {
    let mut trials = sample_trials();
    for (_, text) in HOSTILE {
        let error = Trial::answered("careful", text, "x", "y").unanswered(
            Status::Error,
            "<script>alert(1)</script>",
            text,
        );
        trials.push(error.tagged(&[text]));
    }
    let html = SampleRun::new(&["careful", "hasty"], None, trials).html();
    let scripts = html.matches("<script").count();
    assert_eq!(scripts, html.matches("</script>").count());
    assert_eq!(
        scripts,
        html.matches("<script type=\"application/json\"").count() + 1,
        "one script that runs"
    );
    for (name, text) in HOSTILE {
        if text.contains(['<', '"']) {
            assert!(!html.contains(text), "{name}");
        }
    }
    for bytes in ["<!--", "<img", "\0", "\u{1b}", "\u{202e}", "\u{2028}", "\u{2029}", "<![CDATA["] {
        let page = if bytes == "\u{202e}" { frame(&html) } else { html.clone() };
        assert!(!page.contains(bytes), "{bytes:?}");
    }
}

#[test]
fn data_blocks_hold_every_record_as_it_is() {
    let run = sample();
    let html = run.html();
    let records = std::fs::read_to_string(run.paths.records()).unwrap();
    let lines: Vec<serde_json::Value> =
        records.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let blocks = |class: &str| -> Vec<serde_json::Value> {
        html.split(&format!("<script type=\"application/json\" class=\"{class}\">"))
            .skip(1)
            .flat_map(|part| {
                serde_json::from_str::<Vec<serde_json::Value>>(part.split("</script>").next().unwrap())
                    .unwrap()
            })
            .collect()
    };
    let (rows, texts) = (blocks("rows"), blocks("texts"));
    assert_eq!((rows.len(), texts.len()), (lines.len(), lines.len()));
    for ((line, row), text) in lines.iter().zip(&rows).zip(&texts) {
        assert_eq!(row[1], line["record_id"]);
        assert_eq!(row[2], line["case_id"]);
        assert_eq!(text["input"], line["input"]);
        assert_eq!(text["record_sha256"], line["record_sha256"]);
        match (&line["output"], &text["output"]) {
            (serde_json::Value::String(whole), cut) if cut.is_object() => {
                assert!(whole.len() > 1_000_000 && whole.starts_with(cut["t"].as_str().unwrap()));
                assert_eq!(cut["n"], whole.len());
            }
            (serde_json::Value::Object(_), shown) => {
                let back: serde_json::Value = serde_json::from_str(shown["j"].as_str().unwrap()).unwrap();
                assert_eq!(back, line["output"]);
            }
            (whole, shown) => assert_eq!(whole, shown),
        }
    }
}

#[test]
fn rates_are_those_of_the_summary() {
    let run = sample();
    let html = run.html();
    for slot in run.summary().slots {
        let percent = format!("{:.1}\u{a0}%", slot.pass_rate.value.unwrap() * 100.0);
        assert!(html.contains(&format!("<td class=\"num big\">{percent}</td>")), "{percent}");
        let interval =
            format!("{:.1}–{:.1}", slot.pass_rate.low.unwrap() * 100.0, slot.pass_rate.high.unwrap() * 100.0);
        assert!(html.contains(&interval), "{interval}");
        let unassessed = slot.trials - slot.pass_rate.denominator;
        assert!(
            unassessed > 0
                && html.contains(&format!("verdict=unassessed\">{unassessed}</a> of {}", slot.trials))
        );
    }
    assert!(html.contains("The gate was missed"));
    let manifest = run.manifest();
    assert!(html.contains(&format!("{}  records.jsonl", manifest.records_sha256)));
}

#[test]
fn what_was_not_assessed_has_no_rate() {
    let trials = (0..4).map(|at| {
        Trial::answered("only", &format!("case {at}"), "x", "y").unanswered(
            Status::Timeout,
            "timeout",
            "too late",
        )
    });
    let run = SampleRun::new(&["only"], Some(0.5), trials);
    let html = run.html();
    assert!(html.contains("Nothing could be assessed"));
    assert!(html.contains("<td class=\"num big missing\">not assessed</td>"));
    let verdict = between(&html, "<section id=\"verdict\"", "</section>");
    assert!(!verdict.contains(">0\u{a0}%") && !verdict.contains(">0 %"), "{verdict}");
    let markdown = present::render_markdown(&run.summary(), &run.manifest());
    assert!(markdown.starts_with("### sample-suite: nothing could be assessed"), "{markdown}");
    assert!(markdown.contains("| only | not assessed | – | 0 of 0 | 4 of 4 | – |"), "{markdown}");
}

#[test]
fn an_empty_run_is_said_to_be_empty() {
    let run = SampleRun::new(&[], None, []);
    let html = run.html();
    assert!(html.contains("Nothing was planned"));
    assert!(html.contains("0 of 0\u{a0}records embedded in this page"));
    assert!(present::render_markdown(&run.summary(), &run.manifest()).contains("nothing was planned"));
}

#[test]
fn markdown_says_the_same() {
    let run = sample();
    insta::assert_snapshot!(present::render_markdown(&run.summary(), &run.manifest()), @r"
    ### sample-suite: ❌ gate of 0.8: Some(false)

    | target | passed | 95 % interval | passed of assessed | not assessed | flaky cases |
    |---|--:|--:|--:|--:|--:|
    | careful | 92.8 % | 85.1–96.6 % | 77 of 83 | 1 of 84 | 4 of 24 |
    | hasty | 55.4 % | 44.1–66.2 % | 41 of 74 | 10 of 84 | 15 of 23 |

    - hasty against careful: 0 against 31 cases.

    Error types: 4 × http\_429, 3 × connection\_refused, 3 × timeout, 1 × judge\_failed

    <sub>run `af2bdbe1aa9b`, suite content `ed7002b439e9`, records `52f912a66550`, seed 42, proofhouse 0.1.0</sub>
    ");
}

#[test]
fn more_records_than_fit_are_chosen_by_verdict_and_counted() {
    let trials = (0..100_020u32).map(|at| {
        let output = if at >= 100_000 { "wrong" } else { "right" };
        Trial { repetition: at, ..Trial::answered("only", "case", "right", output) }
    });
    let run = SampleRun::new(&["only"], None, trials);
    let html = run.html();
    assert!(html.contains("100,000 of 100,020\u{a0}records embedded in this page"));
    assert!(html.contains("The other 20 are only in <code>records.jsonl</code>."));
    let last = html.rfind("class=\"rows\">").unwrap();
    let rows: Vec<serde_json::Value> =
        serde_json::from_str(html[last + 13..].split("</script>").next().unwrap()).unwrap();
    assert_eq!(rows.last().unwrap()[0], 100_019, "those that did not pass are in, wherever they are");
    assert_eq!(rows[rows.len() - 21][0], 99_979, "the last passed ones are out");
}

#[test]
fn long_texts_are_cut_shorter_where_there_are_many() {
    let long = "long text ".repeat(500);
    let run_of = |count: u32| {
        let trials =
            (0..count).map(|at| Trial { repetition: at, ..Trial::answered("only", "case", "x", &long) });
        SampleRun::new(&["only"], None, trials).html()
    };
    let few = run_of(20);
    assert!(few.contains("kept up to 4,096 bytes of its JSON form; where more was cut"));
    assert!(few.contains("{\"n\":5000,\"t\":\"long text "));
    let many = run_of(12_000);
    assert!(many.contains("kept up to 1,024 bytes of its JSON form (less than the usual 4,096"));
    assert!(many.len() < 48 << 20, "{}", many.len());
}

#[test]
fn a_damaged_ledger_is_refused_with_the_line() {
    let run = sample();
    let records = std::fs::read_to_string(run.paths.records()).unwrap();
    std::fs::write(run.paths.records(), records.replacen("\"status\":\"timeout\"", "\"status\":\"late\"", 1))
        .unwrap();
    let line = 1 + records.lines().position(|line| line.contains("\"status\":\"timeout\"")).unwrap() as u64;
    let error = present::render(&run.paths, proofhouse::kinds::own_sections, &mut Vec::new()).unwrap_err();
    assert!(matches!(error, ReportError::Record { line: at, .. } if at == line), "{error}");

    std::fs::write(run.paths.records(), records.lines().next().unwrap().to_owned() + "\n").unwrap();
    let error = present::render(&run.paths, proofhouse::kinds::own_sections, &mut Vec::new()).unwrap_err();
    assert!(matches!(&error, ReportError::Contradiction(why) if why.contains("has 1 lines")), "{error}");

    std::fs::write(run.paths.records(), records.replacen("\"passed\":false", "\"passed\":true", 1)).unwrap();
    let error = present::render(&run.paths, proofhouse::kinds::own_sections, &mut Vec::new()).unwrap_err();
    assert!(
        matches!(&error, ReportError::Contradiction(why) if why.contains("78 of 83 assessed records of `careful`")),
        "{error}"
    );
}
