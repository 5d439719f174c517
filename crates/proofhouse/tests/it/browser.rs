//! The report in a real browser: filter, search, sort, permalink, hostile output, themes, phone, print, many records.
//!
//! Each test starts its own headless Chromium and is skipped, aloud, where there is none.

use proofhouse_ledger::RecordId;
use serde_json::json;

use crate::sample_run::{HOSTILE, SampleRun, Trial, sample_trials};
use crate::webdriver::{Browser, DESKTOP, Screen};

fn sample() -> SampleRun {
    SampleRun::new(&["careful", "hasty"], Some(0.8), sample_trials())
}

/// The texts of a column of the table as it is shown.
fn column(browser: &Browser, name: &str) -> Vec<String> {
    let cells = browser
        .eval(&format!("[...document.querySelectorAll('tbody .c-{name}')].map((cell) => cell.innerText)"));
    serde_json::from_value(cells).unwrap()
}

fn text(browser: &Browser, selector: &str) -> String {
    browser.text(selector)
}

fn choose(browser: &Browser, field: &str, value: &str) {
    browser.and_wait(&format!(
        "const field = document.getElementById('f-{field}'); field.value = {};
         field.dispatchEvent(new Event('input', {{ bubbles: true }}));",
        json!(value)
    ));
}

fn contrast(browser: &Browser, selector: &str) -> f64 {
    let ratio = browser.eval(&format!(
        "(() => {{
          const light = (color) => color.match(/[\\d.]+/g).slice(0, 3).map((c) => c / 255)
            .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
            .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
          const node = document.querySelector({});
          let back = node;
          while (getComputedStyle(back).backgroundColor === 'rgba(0, 0, 0, 0)') back = back.parentElement;
          const pair = [light(getComputedStyle(node).color), light(getComputedStyle(back).backgroundColor)].sort((a, b) => b - a);
          return (pair[0] + 0.05) / (pair[1] + 0.05);
        }})()",
        json!(selector)
    ));
    ratio.as_f64().unwrap()
}

#[test]
fn filters_narrow_the_table_and_the_address_keeps_them() {
    let run = sample();
    let Some(browser) = Browser::start(DESKTOP) else { return };
    browser.open(&run.write_html(), "");
    assert_eq!(text(&browser, "#count"), "168 records; shown here: 1–100");
    choose(&browser, "slot", "hasty");
    choose(&browser, "verdict", "unassessed");
    assert_eq!(text(&browser, "#count"), "10 of 168 records");
    assert!(column(&browser, "slot").iter().all(|slot| slot == "hasty"));
    assert!(column(&browser, "verdict").iter().all(|verdict| verdict == "not assessed"));
    choose(&browser, "status", "timeout");
    assert_eq!(column(&browser, "case"), ["arithmetic/07"; 3]);
    assert_eq!(browser.eval("location.hash"), "#slot=hasty&verdict=unassessed&status=timeout");

    browser.open(&run.paths.report(), "#slot=careful&tag=%3Cb%3Etag%3C%2Fb%3E");
    assert_eq!(text(&browser, "#count"), "10 of 168 records");
    browser.and_wait("document.getElementById('f-clear').click()");
    assert_eq!(text(&browser, "#count"), "168 records; shown here: 1–100");
    browser.and_wait("document.querySelector('.heat li:nth-child(3) > a').click()");
    assert_eq!(column(&browser, "case"), ["capital/australia"; 6], "the heat map leads to its records");
    browser.and_wait("document.querySelector('.heat li:nth-child(3) .cells a').click()");
    assert_eq!(column(&browser, "slot"), ["careful"; 3], "and so does each of its cells");
    browser.and_wait("document.querySelector('.stacked a[aria-label^=Timeout]').dispatchEvent(new MouseEvent('click', { bubbles: true }))");
    assert_eq!(text(&browser, "#count"), "3 of 168 records", "and each part of a bar");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn search_reads_every_text() {
    let run = sample();
    let Some(browser) = Browser::start(DESKTOP) else { return };
    browser.open(&run.write_html(), "");
    browser.press("/");
    assert_eq!(browser.eval("document.activeElement.id"), "f-q");
    choose(&browser, "q", "17 TIMES 3");
    assert_eq!(column(&browser, "case"), ["arithmetic/00"; 6], "input, whatever its case");
    choose(&browser, "q", "connection refused (os error 111)");
    assert_eq!(text(&browser, "#count"), "3 of 168 records", "error text");
    let id = RecordId::of_trial("hasty", "structured", None, 0).to_string();
    choose(&browser, "q", &id);
    assert_eq!(column(&browser, "case"), ["structured"]);
    choose(&browser, "q", "nobody said this");
    assert_eq!(text(&browser, "#count"), "No record matches.");
}

#[test]
fn columns_sort_both_ways_and_pages_turn() {
    let run = sample();
    let Some(browser) = Browser::start(DESKTOP) else { return };
    browser.open(&run.write_html(), "");
    let click = "document.querySelector('th.c-case button').click()";
    browser.and_wait(click);
    let up = column(&browser, "case");
    assert!(up.is_sorted() && up[0] == "arithmetic/00", "{up:?}");
    assert_eq!(browser.eval("document.querySelector('th.c-case').getAttribute('aria-sort')"), "ascending");
    browser.and_wait(click);
    assert_eq!(column(&browser, "case")[..3], ["structured", "structured", "long-output"]);
    assert_eq!(browser.eval("document.querySelector('th.c-case').getAttribute('aria-sort')"), "descending");
    browser.and_wait("document.getElementById('p-next').click()");
    assert_eq!(column(&browser, "case").len(), 68);
    assert_eq!(browser.eval("document.getElementById('p-next').disabled"), true);
    browser.and_wait("document.querySelector('th.c-verdict button').click()");
    assert_eq!(column(&browser, "verdict")[0], "failed");
}

#[test]
fn a_permalink_opens_its_record_and_keys_walk_on() {
    let run = sample();
    let Some(browser) = Browser::start(DESKTOP) else { return };
    let id = RecordId::of_trial("hasty", "capital/japan", None, 0).to_string();
    browser.open(&run.write_html(), &format!("#r={id}"));
    assert_eq!(text(&browser, "#d-title"), "capital/japan");
    assert_eq!(browser.eval("document.getElementById('detail').open"), true);
    let changed = |name: &str| {
        browser.eval(&format!(
            "[...document.querySelectorAll('.diff pre {name}')].map((part) => part.textContent)"
        ))
    };
    assert_eq!(changed("del"), json!(["capital ", "middle", "."]));
    assert_eq!(changed("ins"), json!(["largest city ", "somewhere near ", "north", "!"]));
    assert!(
        text(&browser, "#d-body").contains("the output is not the expected text <b>at all</b>"),
        "judge's reason"
    );
    let raw = browser.eval("document.querySelector('#d-body .raw').textContent");
    assert!(raw.as_str().unwrap().contains("sed -n '88p' records.jsonl"), "{raw}");

    browser.press("j");
    let next = RecordId::of_trial("hasty", "capital/japan", None, 1).to_string();
    assert_eq!(browser.eval("location.hash"), format!("#r={next}"));
    browser.press("k");
    assert_eq!(browser.eval("location.hash"), format!("#r={id}"));
    browser.press("\u{e00c}");
    assert_eq!(browser.eval("document.getElementById('detail').open"), false, "Escape closes");
    assert_eq!(browser.eval("location.hash"), "#records");

    browser.eval("document.querySelector('#table tbody a').focus()");
    browser.press("\u{e007}");
    assert_eq!(text(&browser, "#d-title"), "capital/france", "Enter on a case opens its record");

    browser.open(&run.paths.report(), "#r=000000000000000000000000");
    assert_eq!(text(&browser, "#d-title"), "No such record");
}

#[test]
fn chips_deal_cards_of_their_outcome() {
    let run = sample();
    let Some(browser) = Browser::start(DESKTOP) else { return };
    browser.open(&run.write_html(), "");
    let cards = |what: &str| {
        browser.eval(&format!("[...document.querySelectorAll('#cards .card')].map((card) => card{what})"))
    };
    let first = cards(".innerText");
    let first = first[0].as_str().unwrap();
    for part in ["capital/france on careful", "Question", "Expected", "Answer", "I am not sure.", "Why"] {
        assert!(first.contains(part), "{part} in {first}");
    }
    let top = browser.eval("document.querySelector('.card').getBoundingClientRect().top");
    assert!(top.as_f64().unwrap() < 800.0, "the first card is on the first screen: {top}");
    assert_eq!(cards(".className.includes('v0')"), json!(vec![true; 12]));
    let chips = browser
        .eval("[...document.querySelectorAll('.outcome-chips a')].slice(0, 4).map((chip) => chip.innerText)");
    assert_eq!(chips, json!(["39 failed", "19 flaky", "11 not assessed", "118 passed"]));
    browser.eval("document.querySelector('.outcome-chips a[href=\"#show=unassessed\"]').click()");
    wait_for(
        &browser,
        "location.hash === '#show=unassessed' && document.querySelectorAll('#cards .v2').length > 0",
    );
    assert_eq!(browser.eval("document.querySelectorAll('#cards .card:not(.v2)').length"), 0);
    browser.eval("history.back()");
    wait_for(&browser, "location.hash === ''");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn a_record_opens_over_the_page_and_gives_the_focus_back() {
    let run = sample();
    let Some(browser) = Browser::start(DESKTOP) else { return };
    browser.open(&run.write_html(), "");
    browser.eval("document.querySelector('#cards a').focus()");
    browser.press("j");
    let second = browser.eval("document.activeElement.hash");
    browser.press("\u{e007}");
    assert_eq!(browser.eval("document.getElementById('detail').open"), true);
    assert_eq!(browser.eval("location.hash"), second);
    browser.press("\u{e00c}");
    assert_eq!(browser.eval("document.activeElement.hash"), second, "where it came from");
    browser.eval("document.activeElement.click()");
    browser.eval("history.back()");
    wait_for(&browser, "!document.getElementById('detail').open");
}

#[test]
fn answers_stand_side_by_side_where_they_differ() {
    let run = sample();
    let Some(browser) = Browser::start(DESKTOP) else { return };
    browser.open(&run.write_html(), "");
    let rows = || browser.eval("document.querySelectorAll('#matrix-table tbody tr').length");
    assert_eq!(rows(), 20);
    assert_eq!(text(&browser, "#matrix-table thead").trim_end(), "Question\tcareful\thasty");
    browser.eval("document.getElementById('m-differ').click()");
    wait_for(
        &browser,
        "document.getElementById('m-count').textContent.includes('on which the targets differ')",
    );
    let case = "[...document.querySelectorAll('#matrix-table tbody tr')].find((row) => row.innerText.includes('capital/japan'))";
    browser.eval("(document.getElementById('m-against').value = 'expected', document.getElementById('m-against').dispatchEvent(new Event('input')))");
    wait_for(&browser, &format!("{case}.querySelector('ins') !== null"));
    assert_eq!(browser.eval(&format!("{case}.querySelectorAll('td').length")), 2);
    assert_eq!(browser.complaints(), [""; 0]);
}

/// Waits until an expression is true in the page.
#[track_caller]
fn wait_for(browser: &Browser, expression: &str) {
    browser.wait_for(expression);
}

#[test]
fn hostile_output_stays_text() {
    let mut trials = sample_trials();
    for (_, hostile) in HOSTILE {
        trials.push(Trial::answered("careful", hostile, hostile, "other").tagged(&[hostile]));
    }
    let run = SampleRun::new(&["careful", "hasty"], None, trials);
    let Some(browser) = Browser::start(DESKTOP) else { return };
    let page = run.write_html();
    browser.open(&page, "");
    let title = browser.eval("document.title");
    for (name, hostile) in HOSTILE {
        for (slot, case) in [("hasty", format!("hostile/{name}")), ("careful", hostile.to_owned())] {
            let id = RecordId::of_trial(slot, &case, None, 0);
            browser.and_wait(&format!("location.hash = '#r={id}'"));
            assert_eq!(
                browser.eval("document.querySelector('#d-body .facts dd').textContent"),
                id.to_string()
            );
        }
        assert!(!browser.has_alert(), "{name}");
    }
    browser.and_wait("location.hash = '#q=script'");
    let ours =
        browser.eval("[...document.scripts].filter((script) => script.type !== 'application/json').length");
    assert_eq!(ours, 1, "one script, and it is ours");
    assert_eq!(browser.eval("document.querySelectorAll('img, iframe, object, embed, link, b:not(.legend b), [onerror], [style]').length"), 0);
    assert_eq!(browser.eval("document.title"), title);
    assert_eq!(browser.complaints(), [""; 0], "the policy had nothing to stop");

    let id = RecordId::of_trial("hasty", "hostile/ansi", None, 0);
    browser.open(&page, &format!("#r={id}"));
    let output = text(&browser, "#d-body [aria-label='Output']");
    assert_eq!(output, "␛[31mred␛[0m ␇bell ␈back␍return", "what cannot be seen is shown");
    let id = RecordId::of_trial("hasty", "hostile/script", None, 0);
    browser.open(&page, &format!("#r={id}"));
    assert_eq!(
        text(&browser, "#d-body [aria-label='Output']"),
        HOSTILE[0].1,
        "what was said is shown as it was said"
    );
}

#[test]
fn the_policy_stops_what_the_escaping_would_miss() {
    let run = sample();
    let page = run.write_html();
    let injected = std::fs::read_to_string(&page).unwrap().replace(
        "<main>",
        "<main><script>document.title='owned'</script><p id=\"x\" style=\"color:red\" onclick=\"document.title='owned'\">x</p>",
    );
    std::fs::write(&page, injected).unwrap();
    let Some(browser) = Browser::start(DESKTOP) else { return };
    browser.open(&page, "");
    browser.eval("document.getElementById('x').click()");
    assert_eq!(browser.eval("document.title.includes('owned')"), false);
    assert_eq!(
        browser.eval("(() => { try { document.body.innerHTML = 'x'; } catch { return 'refused'; } })()"),
        "refused"
    );
    let complaints = browser.complaints().join("\n");
    assert!(complaints.contains("Content Security Policy"), "{complaints}");
}

const LIGHT: &str = "rgb(252, 251, 248)";
const DARK: &str = "rgb(21, 24, 27)";

#[test]
fn the_theme_is_the_systems_until_the_button_says_otherwise() {
    let run = sample();
    let page = run.write_html();
    for (dark, system) in [(false, LIGHT), (true, DARK)] {
        let Some(browser) = Browser::start(Screen { dark, ..DESKTOP }) else { return };
        browser.open(&page, "");
        let paper = || browser.eval("getComputedStyle(document.body).backgroundColor");
        assert_eq!(paper(), system);
        for (title, color) in [("Theme: light", LIGHT), ("Theme: dark", DARK), ("Theme: auto", system)] {
            browser.eval("document.getElementById('theme').click()");
            assert_eq!((text(&browser, "#theme").as_str(), paper()), (title, color.into()));
        }
    }
}

#[test]
fn text_is_readable_in_both_themes() {
    let run = sample();
    let Some(browser) = Browser::start(DESKTOP) else { return };
    browser.open(&run.write_html(), "");
    browser.eval("document.querySelector('.heat .cell').className = 'cell flaky s1'");
    browser.eval("document.getElementById('count').append(Object.assign(document.createElement('del'), { textContent: 'old' }))");
    browser.eval("document.getElementById('count').append(Object.assign(document.createElement('ins'), { textContent: 'new' }))");
    for _ in ["auto", "light", "dark"] {
        for selector in [
            "body",
            ".lede",
            ".lede strong",
            "a",
            "small",
            ".unassessed a",
            ".unassessed",
            ".note",
            ".headline strong",
            ".headline .why",
            ".headline .mark",
            "thead th",
            ".badge.v0",
            ".badge.v1",
            ".badge.v2",
            ".preview",
            ".s0",
            ".s1",
            ".s2",
            ".s3",
            ".s4",
            ".cell.none",
            "code",
            "pre",
            "button",
            "dt",
            "del",
            "ins",
            "footer p",
            "#filters label",
        ] {
            let ratio = contrast(&browser, selector);
            assert!(
                ratio >= 4.5,
                "`{selector}` has a contrast of {ratio:.2} with {}",
                text(&browser, "#theme")
            );
        }
        browser.eval("document.getElementById('theme').click()");
    }
}

#[test]
fn a_phone_scrolls_in_one_direction_only() {
    let run = sample();
    let Some(browser) = Browser::start(Screen { width: 360, height: 740, phone: true, ..DESKTOP }) else {
        return;
    };
    browser.open(&run.write_html(), "");
    assert_eq!(browser.eval("innerWidth"), 360);
    assert_eq!(browser.eval("document.documentElement.scrollWidth <= 360"), true);
    assert_eq!(column(&browser, "case").len(), 100);
}

#[test]
fn paper_is_white_and_has_no_controls() {
    let run = sample();
    let Some(browser) = Browser::start(Screen { dark: true, ..DESKTOP }) else { return };
    browser.open(&run.write_html(), "");
    browser.as_printed();
    assert_eq!(browser.eval("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)");
    let shown =
        |selector: &str| browser.eval(&format!("document.querySelector('{selector}').checkVisibility()"));
    for control in ["#theme", "#filters", "#pager", ".contents", "#table th button"] {
        assert_eq!(shown(control), false, "{control}");
    }
    assert_eq!(
        browser.eval("getComputedStyle(document.querySelector('th.c-case'), '::before').content"),
        "\"Case\""
    );
    assert_eq!(shown("#table tbody td"), true);
}

#[test]
fn without_scripts_the_verdict_and_the_charts_are_there() {
    let run = sample();
    let Some(browser) = Browser::start(Screen { scripts: false, ..DESKTOP }) else { return };
    browser.open(&run.write_html(), "");
    let page = text(&browser, "body");
    assert!(page.contains("The gate was missed") && page.contains("92.8\u{a0}%"), "{page}");
    assert!(page.contains("The table needs JavaScript"), "{page}");
    assert_eq!(browser.eval("document.getElementById('browser').hidden"), true);
    assert_eq!(browser.eval("document.querySelectorAll('svg.interval circle').length > 10"), true);
}

#[test]
fn a_hundred_thousand_records_open_and_answer() {
    let trials = (0..100_000u32).map(|at| {
        let output = if at % 9 == 4 { "a wrong answer" } else { "the right answer" };
        let case = format!("case-{:05}", at / 4);
        Trial { repetition: at % 4, ..Trial::answered("only", &case, "the right answer", output) }
    });
    let run = SampleRun::new(&["only"], None, trials);
    let Some(browser) = Browser::start(DESKTOP) else { return };
    browser.open(&run.write_html(), "");
    // A loaded machine may take its time; what counts is what the page says in the end.
    becomes(&browser, "100,000 records; shown here: 1–100");
    choose(&browser, "verdict", "failed");
    becomes(&browser, "11,111 of 100,000 records; shown here: 1–100");
    choose(&browser, "q", "question of case-24998");
    becomes(&browser, "1 of 100,000 records");
    assert_eq!(column(&browser, "case"), ["case-24998"]);
}

/// Waits until the page's count of records says this.
#[track_caller]
fn becomes(browser: &Browser, expected: &str) {
    let mut last = String::new();
    for _ in 0..600 {
        last = text(browser, "#count");
        if last == expected {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(last, expected, "within a minute");
}
