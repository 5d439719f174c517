//! `view` in a real browser: each control of the list, a run in progress, and a suite that is watched while its prompt is edited.

use std::time::Duration;

use super::lab::Lab;
use super::servers::{self, Act};
use super::view::{Server, suite};
use super::webdriver::{Browser, DESKTOP};

/// Clicks what a selector finds and waits for the page that follows.
fn follow(browser: &Browser, selector: &str) {
    browser.eval("(window.before = true)");
    browser.eval(&format!("document.querySelector({}).click()", serde_json::json!(selector)));
    browser.wait_for("!window.before && document.readyState === 'complete'");
}

fn choose(browser: &Browser, name: &str, value: &str) {
    let value = serde_json::json!(value);
    browser.eval(&format!("(document.querySelector('[name={name}]').value = {value})"));
}

fn names(browser: &Browser) -> serde_json::Value {
    browser.eval("[...document.querySelectorAll('.runs tbody th')].map((cell) => cell.innerText)")
}

#[test]
fn the_list_filters_leads_to_reports_trends_and_comparisons() {
    let lab = Lab::new();
    suite(&lab, "a.yaml", "yes");
    suite(&lab, "b.yaml", "<img src=x onerror=alert(1)>");
    lab.run("run a.yaml --run-dir runs/first --quiet").exits(0);
    lab.run("run b.yaml --run-dir runs/second --quiet").exits(0);
    lab.run("run a.yaml --run-dir runs/cut --quiet --deadline 0").exits(8);
    let Some(browser) = Browser::start(DESKTOP) else { return };
    let server = Server::start(&lab, &["view", "runs"]);
    browser.visit(&format!("http://{}/", server.address));
    assert_eq!(browser.text(".count"), "3 of 3 runs");
    assert_eq!(names(&browser), serde_json::json!(["cut", "second", "first"]), "newest first");

    choose(&browser, "q", "SECOND");
    follow(&browser, ".controls button");
    assert_eq!(names(&browser), serde_json::json!(["second"]));
    choose(&browser, "q", "");
    choose(&browser, "state", "incomplete");
    follow(&browser, ".controls button");
    assert_eq!(names(&browser), serde_json::json!(["cut"]));
    assert_eq!(browser.eval("document.querySelectorAll('tbody input').length"), 0, "it cannot be compared");
    choose(&browser, "state", "whole");
    choose(&browser, "suite", "seen");
    choose(&browser, "kind", "probe");
    follow(&browser, ".controls button");
    assert_eq!(browser.text(".count"), "2 of 3 runs");

    browser.eval("document.querySelectorAll('tbody input').forEach((box) => box.click())");
    follow(&browser, "form[action$=compare] button");
    assert!(browser.text("main").contains("Got worse: 1"), "{}", browser.text("main"));
    assert_eq!(browser.text("code"), "first", "what came first is what the other is held against");
    browser.eval("history.back()");
    browser.wait_for("document.querySelector('.runs') !== null");

    follow(&browser, ".runs tbody td a");
    assert_eq!(browser.text("h1"), "Trend of seen");
    assert_eq!(browser.eval("document.querySelectorAll('svg.band polyline').length"), 1);
    assert_eq!(browser.eval("document.querySelectorAll('svg.band .point').length"), 2);
    follow(&browser, "nav a[href*='metric=tokens']");
    assert!(browser.text("main").contains("No complete run of this suite has this figure"));

    browser.visit(&format!("http://{}/?q=second", server.address));
    follow(&browser, ".runs tbody th a");
    browser.wait_for("document.querySelectorAll('#cards .card').length > 0");
    assert!(browser.text("#cards").contains("<img src=x onerror=alert(1)>"), "hostile output stays text");
    browser.eval("document.querySelector('#cards a').click()");
    assert_eq!(browser.eval("document.getElementById('detail').open"), true);
    assert!(!browser.has_alert());
    assert_eq!(browser.complaints(), [""; 0], "the policies had nothing to stop");
}

#[test]
fn a_run_in_progress_is_followed_to_its_report() {
    let lab = Lab::new();
    lab.busy_suite(60, 120);
    let Some(browser) = Browser::start(DESKTOP) else { return };
    let server = Server::start(&lab, &["view", "runs"]);
    let mut run = lab.start("run busy.yaml --run-dir runs/now --quiet --jobs 1");
    while !lab.path("runs/now/records.jsonl").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    browser.visit(&format!("http://{}/", server.address));
    assert_eq!(browser.text(".verdict-open"), "running");
    follow(&browser, ".runs tbody th a");
    browser.wait_for("/^[1-9][0-9]* of 120 trials, /.test(document.getElementById('live')?.textContent)");
    assert_eq!(browser.eval("document.getElementById('bar').max"), 120);
    assert!(run.wait().unwrap().success());
    browser.wait_for(
        "location.pathname === '/run/now/report.html' && document.getElementById('count') !== null",
    );
    assert_eq!(browser.complaints(), [""; 0]);
}

/// Three prompts, two targets, a hundred cases, a server on loopback: a prompt is saved, and the open page shows what changed.
/// How long that takes is printed; `docs/benchmarks.md` has the figures.
#[test]
fn an_edited_prompt_is_on_the_open_page() {
    let lab = Lab::new();
    let model = servers::Server::start(|seen, _| {
        let asked = seen.body["messages"][0]["content"].as_str().unwrap_or_default();
        let right = !asked.contains("briefly") || asked.len() % 3 > 0;
        Act::Json(200, servers::completion(if right { "yes" } else { "no" }))
    });
    let cases: String = (0..100)
        .map(|at| format!("{{\"id\":\"c{at}\",\"q\":\"{}\",\"expected\":\"yes\"}}\n", "x".repeat(at % 9 + 1)))
        .collect();
    lab.write("cases.jsonl", cases)
        .write("b.md", "Now {{ q }}")
        .write("c.md", "Please {{ q }}")
        .write("a.md", "Say {{ q }}");
    let base = model.base();
    lab.write("s.yaml", format!(
        "kind: probe\nsuite_id: big\ndatasets: [{{path: cases.jsonl}}]\njudges: {{same: {{equals: {{}}}}}}\nprompts:\n  a: {{file: a.md}}\n  b: {{file: b.md}}\n  c: {{file: c.md}}\ntargets:\n  one: {{openai: {{base_url: '{base}', model: m}}}}\n  two: {{openai: {{base_url: '{base}', model: n}}}}\n"
    ));
    let Some(browser) = Browser::start(DESKTOP) else { return };
    let server = Server::start(&lab, &["view", "runs", "--watch", "s.yaml"]);
    browser.visit(&format!("http://{}/watch", server.address));
    browser.wait_for("document.getElementById('watch')?.innerText.startsWith('Run 1;')");
    assert_eq!(model.seen().len(), 600);
    for (nth, words) in
        ["Say briefly {{ q }}", "Say it {{ q }}", "Say briefly {{ q }}"].into_iter().enumerate()
    {
        #[expect(clippy::disallowed_methods, reason = "the figure is printed, nothing depends on it")]
        let begun = std::time::Instant::now();
        lab.write("a.md", words);
        let number = nth + 2;
        browser.wait_for(&format!(
            "document.getElementById('watch')?.innerText.startsWith('Run {number},') && document.querySelectorAll('.versus').length > 0"
        ));
        eprintln!("saved and seen in {} ms", begun.elapsed().as_millis());
    }
    // The first and the second wording ask for 200 cells each; the third is the first again, and in the cache.
    assert_eq!(model.seen().len(), 1_000);
    let changed = browser.eval(
        "[...document.querySelectorAll('.versus h3')].every((title) => title.innerText.includes('/a'))",
    );
    assert_eq!(changed, true, "only the cells of the edited prompt");
    let table = browser.text("#targets");
    assert!(table.contains("worse (p") && table.contains("same within"), "{table}");
    assert_eq!(browser.complaints(), [""; 0]);
}
