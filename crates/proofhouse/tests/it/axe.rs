//! Every kind of page as axe-core sees it, by day and by night: nothing serious. `./test` installs it.

use serde_json::{Value, json};

use super::lab::{Lab, kept, variable};
use super::view::{Server, suite};
use super::webdriver::{Browser, DESKTOP, Screen};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1");

/// What axe-core finds in the page that is open; `resultTypes` keeps it from telling what is right.
fn findings(browser: &Browser, axe: &str) -> Vec<String> {
    let found = browser.eval_async(&format!(
        "{axe}; const done = arguments[arguments.length - 1];
         axe.run(document, {{ resultTypes: ['violations'] }}).then((found) => done(found.violations.map(
           (each) => [each.impact, each.id, each.nodes[0].html.slice(0, 200)].join(' '))), (error) => done(['critical ' + error]));"
    ), &json!([]));
    let found: Vec<String> = serde_json::from_value(found).unwrap();
    found.into_iter().filter(|each| each.starts_with("serious") || each.starts_with("critical")).collect()
}

#[test]
fn no_page_has_anything_serious() {
    let script = kept("axe").join("axe.min.js");
    let Ok(axe) = std::fs::read_to_string(script) else {
        assert!(variable("PROOFHOUSE_REQUIRE_AXE").is_none(), "tools/axe is not installed");
        eprintln!("SKIPPED: `tools/axe install` has not been run");
        return;
    };
    let lab = Lab::new();
    suite(&lab, "a.yaml", "yes");
    suite(&lab, "b.yaml", "no");
    lab.run("run a.yaml --run-dir runs/a --quiet").exits(0);
    lab.run("run b.yaml --run-dir runs/b --quiet").exits(0);
    lab.write("diff.html", lab.run("diff runs/a runs/b --format html").exits(0).stdout);
    for kind in ["probe", "code", "robustness", "containment"] {
        for name in ["manifest.json", "summary.json", "records.jsonl", "config.resolved.yaml"] {
            lab.write(
                &format!("{kind}/{name}"),
                std::fs::read(format!("{GOLDEN}/{kind}/run/{name}")).unwrap(),
            );
        }
        lab.run(&format!("report {kind} --quiet")).exits(0);
    }
    let server = Server::start(&lab, &["view", "runs", "--watch", "a.yaml"]);
    for dark in [false, true] {
        let Some(browser) = Browser::start(Screen { dark, ..DESKTOP }) else { return };
        let none: [String; 0] = [];
        for kind in ["probe", "code", "robustness", "containment"] {
            let page = lab.path(&format!("{kind}/report.html"));
            browser.open(page.to_str().unwrap().into(), "");
            assert_eq!(findings(&browser, &axe), none, "{kind}, dark: {dark}");
            browser.wait_for("document.querySelector('#table tbody a') !== null");
            browser.eval("document.querySelector('#table tbody a').click()");
            assert_eq!(browser.eval("document.getElementById('detail').open"), Value::Bool(true));
            assert_eq!(findings(&browser, &axe), none, "a record of {kind}, dark: {dark}");
        }
        browser.open(lab.path("diff.html").to_str().unwrap().into(), "");
        assert_eq!(findings(&browser, &axe), none, "diff, dark: {dark}");
        for path in ["", "trend?suite=seen", "compare?run=a&run=b", "watch", "live?run=a"] {
            browser.visit(&format!("http://{}/{path}", server.address));
            assert_eq!(findings(&browser, &axe), none, "/{path}, dark: {dark}");
        }
    }
}
