//! The report as bytes: the same for the same ledger, safe whatever a model said, honest about what is missing.

use proofhouse::spine::present::{self, ReportError};
use proofhouse::text::doc::terminal::Look;
use proofhouse_ledger::Digest;
use proofhouse_ledger::record::Status;

use crate::sample_run::{HOSTILE, SampleRun, Trial, sample_trials};

fn sample() -> SampleRun {
    SampleRun::new(&["careful", "hasty"], Some(0.8), sample_trials())
}

fn markdown(run: &SampleRun) -> String {
    present::markdown(&run.paths, proofhouse::kinds::own_presentation).unwrap()
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
                && html.contains(&format!("verdict=unassessed\">{unassessed}</a> of <a href="))
                && html.contains(&format!("\">{}</a></td>", slot.trials))
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
    let markdown = markdown(&run);
    assert!(markdown.starts_with("### sample-suite: ⚠️ Nothing could be assessed"), "{markdown}");
    assert!(markdown.contains("| only | not assessed | – | 0 of 0 | 4 of 4 |"), "{markdown}");
}

#[test]
fn a_terminal_rounds_nothing_into_certainty() {
    let trials = (0..3000u32).map(|at| {
        let output = if at == 0 { "wrong" } else { "right" };
        Trial { repetition: at, ..Trial::answered("only", "case", "right", output) }
    });
    let run = SampleRun::new(&["only"], None, trials);
    let look = Look { width: 80, colour: false };
    let text = present::terminal(&run.paths, proofhouse::kinds::own_presentation, look).unwrap();
    let row = text.lines().find(|line| line.starts_with("only ")).unwrap();
    assert!(row.contains(" >99.9 % ") && row.contains(" 2,999 of 3,000 "), "{text}");
    assert!(!row.contains(" 100 % ") && !text.contains("100.0"), "{text}");
}

#[test]
fn an_empty_run_is_said_to_be_empty() {
    let run = SampleRun::new(&[], None, []);
    let html = run.html();
    assert!(html.contains("Nothing was planned"));
    assert!(html.contains("0 of 0\u{a0}records embedded in this page"));
    assert!(markdown(&run).contains("Nothing was planned"));
}

#[test]
fn markdown_says_the_same() {
    let run = sample();
    insta::assert_snapshot!(markdown(&run), @r"
    ### sample-suite: ❌ The gate was missed

    probe suite, run <code>af2bdbe1aa9b</code>: 168 trials, 157 assessed, **11 not assessed**; 2 targets.

    Some(false).

    | Target | Passed | 95 % interval | Passed of assessed | Not assessed | If those failed–passed | Flaky cases |
    |---|--:|--:|--:|--:|--:|--:|
    | careful | 92.8 % | 82.7–98.8 %<br>over cases | 77 of 83 | 1 of 84 | 91.7–92.9 % | 4 of 24 |
    | hasty | 55.4 % | 30.1–55.7 %<br>over cases | 41 of 74 | 10 of 84 | 48.8–60.7 % | 15 of 23 |

    ⚠️ 11 of 168 trials could not be assessed: 4 × http\_429, 3 × connection\_refused, 3 × timeout, 1 × judge\_failed.

    #### What to look at

    ❌ 39 trials of 157 assessed failed. All are in <code>report.html&#35;verdict=failed</code>, the first by name here:

    - capital/france on careful: expected <code>The capital of france is Paris, which lies in the middle of the country.</code>, answered <code>I am not sure.</code>; equals: the output is not the expected text &lt;b&gt;at all&lt;/b&gt;
    - capital/switzerland on careful: expected <code>The capital of switzerland is Bern, which lies in the middle of the country.</code>, answered <code>I am not sure.</code>; equals: the output is not the expected text &lt;b&gt;at all&lt;/b&gt;
    - capital/myanmar on careful: expected <code>The capital of myanmar is Naypyidaw, which lies in the middle of the country.</code>, answered <code>I am not sure.</code>; equals: the output is not the expected text &lt;b&gt;at all&lt;/b&gt;
    - capital/south-africa on careful: expected <code>The capital of south-africa is Pretoria, Cape Town and Bloemfontein, which lies in the middle of the country.</code>, answered <code>I am not sure.</code>; equals: the output is not the expected text &lt;b&gt;at all&lt;/b&gt;
    - long-output on careful: expected <code>short</code>, answered <code>lorem ipsum dolor lorem ipsum dolor lorem ipsum dolor lorem ipsum dolor lorem ipsum dolor lorem ipsum dolor lorem ipsum dolor lorem ipsum dolor lorem ipsum dolo…</code>; equals: the output is not the expected text &lt;b&gt;at all&lt;/b&gt;

    #### Targets compared

    hasty against careful: 0 against 31 cases.

    | Difference | Points | 95 % interval | p | Only left | Only right | Both | Neither | Pairs |
    |---|--:|--:|--:|--:|--:|--:|--:|--:|
    | hasty − careful | −42.5 | −53.8 to −31.1 | &lt; 0.001 | 0 | 31 | 40 | 2 | 73 |

    p is the permutation test over cases, which is McNemar’s exact test where no case is repeated, adjusted (Holm) for all pairs of targets. Cases were repeated; repetitions of one case are not independent, so each case counts once, and the interval takes cases as clusters.

    #### What became of the trials

    | Target | Passed | Failed | Answered, not judged | Error | Timeout | Rate limited |
    |---|--:|--:|--:|--:|--:|--:|
    | careful | 77 | 6 | 1 | 0 | 0 | 0 |
    | hasty | 41 | 33 | 0 | 3 | 3 | 4 |

    ##### Error types

    | Error type | Records |
    |---|--:|
    | http\_429 | 4 |
    | connection\_refused | 3 |
    | timeout | 3 |
    | judge\_failed | 1 |

    #### By tag

    | Tag | Target | Passed | 95 % interval | Passed of assessed |
    |---|---|--:|--:|--:|
    | &lt;b&gt;tag&lt;/b&gt; | careful | 100 % | 72.2–100 % | 10 of 10 |
    | &lt;b&gt;tag&lt;/b&gt; | hasty | 0 % | 0–27.8 % | 0 of 10 |
    | arithmetic | careful | 100 % | 90.4–100 % | 36 of 36 |
    | arithmetic | hasty | 75.8 % | 59.0–87.2 % | 25 of 33 |
    | capital | careful | 88.6 % | 74.0–95.5 % | 31 of 35 |
    | capital | hasty | 55.2 % | 37.5–71.6 % | 16 of 29 |
    | geography | careful | 88.6 % | 74.0–95.5 % | 31 of 35 |
    | geography | hasty | 55.2 % | 37.5–71.6 % | 16 of 29 |
    | hostile | careful | 100 % | 72.2–100 % | 10 of 10 |
    | hostile | hasty | 0 % | 0–27.8 % | 0 of 10 |
    | json | careful | 0 % | 0–79.3 % | 0 of 1 |
    | json | hasty | 0 % | 0–79.3 % | 0 of 1 |
    | limits | careful | 0 % | 0–79.3 % | 0 of 1 |
    | limits | hasty | 0 % | 0–79.3 % | 0 of 1 |

    A case with several tags counts under each. Of many small groups, some look bad by chance.

    #### Judges

    | Judge | Target | Mean score | 95 % interval | Scores | Cases |
    |---|---|--:|--:|--:|--:|
    | equals | careful | 0.907 | 0.827–0.988 | 83 | 36 |
    | equals | hasty | 0.429 | 0.301–0.557 | 74 | 35 |

    #### Case by case

    careful: the repetitions of 4 of 24 repeated cases did not agree (16.7 %, 95 % interval 6.7–35.9 %).

    hasty: the repetitions of 15 of 23 repeated cases did not agree (65.2 %, 95 % interval 44.9–81.2 %).

    <sub>run <code>af2bdbe1aa9b</code>, suite content <code>ed7002b439e9</code>, records <code>52f912a66550</code>, seed 42, proofhouse 0.1.0</sub>
    ");
}

#[test]
fn more_records_than_fit_lie_beside_the_page_in_parts() {
    let trials = (0..100_020u32).map(|at| {
        let output = if at >= 100_000 { "wrong" } else { "right </script>" };
        Trial { repetition: at, ..Trial::answered("only", "case", "right </script>", output) }
    });
    let run = SampleRun::new(&["only"], None, trials);
    let page = run.write_html();
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("20,000 of 100,020\u{a0}records embedded in this page"));
    let last = html.rfind("class=\"rows\">").unwrap();
    let rows: Vec<serde_json::Value> =
        serde_json::from_str(html[last + 13..].split("</script>").next().unwrap()).unwrap();
    assert_eq!(rows.last().unwrap()[0], 100_019, "those that did not pass are in, wherever they are");
    assert_eq!(rows[rows.len() - 21][0], 19_979, "then the first passed ones");
    let kinds = proofhouse::kinds::own_presentation;
    present::write(&run.paths, kinds).unwrap();
    let parts = proofhouse_ledger::files::sorted_dir(&run.paths.report_data()).unwrap();
    assert_eq!((parts.len(), parts[0].as_str(), parts[10].as_str()), (11, "0001.js", "0011.js"));
    let part = std::fs::read_to_string(run.paths.report_data().join("0011.js")).unwrap();
    let lists = part.strip_prefix("proofhousePart(11,").unwrap().strip_suffix(");\n").unwrap();
    let lists: Vec<Vec<serde_json::Value>> = serde_json::from_str(&format!("[{lists}]")).unwrap();
    assert_eq!((lists[0].len(), lists[1].len(), &lists[0][0][0]), (20, 20, &100_000.into()), "in plan order");
    assert!(present::matches(&run.paths, kinds).unwrap());
    for change in ["proofhousePart(11,[],[]);\n", &part.replacen("wrong", "right", 1)] {
        std::fs::write(run.paths.report_data().join("0011.js"), change).unwrap();
        assert!(!present::matches(&run.paths, kinds).unwrap(), "a part that was touched is found");
    }
    std::fs::write(run.paths.report_data().join("0011.js"), &part).unwrap();
    std::fs::write(run.paths.report_data().join("0012.js"), "alert(1)").unwrap();
    assert!(!present::matches(&run.paths, kinds).unwrap(), "and so is one too many");

    let Some(browser) = crate::webdriver::Browser::start(crate::webdriver::DESKTOP) else { return };
    std::fs::remove_file(run.paths.report_data().join("0012.js")).unwrap();
    browser.open(&page, "");
    let count = |expected: &str| {
        let is = format!("document.getElementById('count').textContent === {}", serde_json::json!(expected));
        for _ in 0..600 {
            if browser.eval(&is) == true {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("{expected}: {}", browser.eval("document.getElementById('count').textContent"));
    };
    count("20,000 records; shown here: 1–100");
    browser.eval("(document.getElementById('p-part').value = '11', document.getElementById('p-part').dispatchEvent(new Event('input')))");
    count("20 records");
    assert_eq!(browser.eval("document.querySelector('#table tbody .c-index').innerText"), "100,000");
    browser.eval("document.querySelector('#table tbody a').click()");
    assert_eq!(browser.eval("document.querySelector('[aria-label=Output]').textContent"), "wrong");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn long_texts_are_cut_shorter_where_there_are_many() {
    let run_of = |count: u32, times: usize| {
        let long = "long text ".repeat(times);
        let trials =
            (0..count).map(|at| Trial { repetition: at, ..Trial::answered("only", "case", "x", &long) });
        SampleRun::new(&["only"], None, trials).html()
    };
    let few = run_of(20, 7_000);
    assert!(few.contains("kept up to 65,536 bytes of its JSON form; where more was cut"));
    assert!(few.contains("{\"n\":70000,\"t\":\"long text "));
    assert!(run_of(2, 6_500).contains(&"long text ".repeat(6_500)), "64 kB are kept whole");
    let many = run_of(12_000, 500);
    assert!(many.contains("kept up to 1,024 bytes of its JSON form (less than the usual 65,536"));
    assert!(many.len() < 48 << 20, "{}", many.len());
}

#[test]
fn a_damaged_ledger_is_refused_with_the_line() {
    let run = sample();
    let records = std::fs::read_to_string(run.paths.records()).unwrap();
    std::fs::write(run.paths.records(), records.replacen("\"status\":\"timeout\"", "\"status\":\"late\"", 1))
        .unwrap();
    let line = 1 + records.lines().position(|line| line.contains("\"status\":\"timeout\"")).unwrap() as u64;
    let error =
        present::render(&run.paths, proofhouse::kinds::own_presentation, &mut Vec::new()).unwrap_err();
    assert!(matches!(error, ReportError::Record { line: at, .. } if at == line), "{error}");

    std::fs::write(run.paths.records(), records.lines().next().unwrap().to_owned() + "\n").unwrap();
    let error =
        present::render(&run.paths, proofhouse::kinds::own_presentation, &mut Vec::new()).unwrap_err();
    assert!(matches!(&error, ReportError::Contradiction(why) if why.contains("has 1 lines")), "{error}");

    std::fs::write(run.paths.records(), records.replacen("\"passed\":false", "\"passed\":true", 1)).unwrap();
    let error =
        present::render(&run.paths, proofhouse::kinds::own_presentation, &mut Vec::new()).unwrap_err();
    assert!(
        matches!(&error, ReportError::Contradiction(why) if why.contains("78 of 83 assessed records of `careful`")),
        "{error}"
    );
}
