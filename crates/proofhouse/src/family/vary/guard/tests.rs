//! Every reason by itself, every published example, and the rules for words that the base has already.

use super::*;

const REGEX: &str = "Compile a list of email patterns into regex objects.";
const DICTIONARY: &str = "Convert a list of dictionaries into a dictionary keyed by id.";
const CACHE: &str = "Design a simple in-memory cache with get and set operations.";

fn reasons(base: &str, answer: &str, strict: bool) -> Vec<String> {
    let refused = check(base, answer.as_bytes(), strict, &[]).err().unwrap_or_default();
    refused.iter().map(Reason::to_string).collect()
}

#[track_caller]
fn accepted(base: &str, answer: &str) {
    assert_eq!(reasons(base, answer, false), [""; 0], "{answer}");
}

/// Accepted by default and by the strict guard.
#[track_caller]
fn accepted_strictly(base: &str, answer: &str) {
    accepted(base, answer);
    assert_eq!(reasons(base, answer, true), [""; 0], "{answer}");
}

/// Accepted by default, refused by the strict guard.
#[track_caller]
fn doubtful(base: &str, answer: &str, expected: &[&str]) {
    accepted(base, answer);
    assert_eq!(reasons(base, answer, true), expected, "{answer}");
}

/// Refused for exactly these reasons.
#[track_caller]
fn refused(base: &str, answer: &str, expected: &[&str]) {
    assert_eq!(reasons(base, answer, false), expected, "{answer}");
}

#[test]
fn examples_of_the_proposal() {
    doubtful(REGEX, "Compile common email patterns into regex objects.", &["removed_content:list"]);
    accepted_strictly(CACHE, "Design a straightforward in-memory cache with get and set operations.");
    doubtful(
        CACHE,
        "Design an in-memory cache with get and set operations that is easy to understand and maintain.",
        &["adds_requirement"],
    );
    accepted_strictly(
        DICTIONARY,
        "Take a list of dictionaries and return a single dictionary indexed by each element's id.",
    );
    accepted_strictly(REGEX, "Produce regex objects for a set of common email patterns.");
    doubtful(
        REGEX,
        "Deliver compiled regex objects that capture common email patterns.",
        &["new_work_verb:deliver", "removed_content:list"],
    );
    accepted_strictly(
        REGEX,
        "Build compiled regex objects representing a list of common email address patterns.",
    );
}

#[test]
fn the_failure_of_the_proposal() {
    let answer = "Compile email patterns into regex objects and test them thoroughly.";
    refused(REGEX, answer, &["forbidden_token:test", "adds_requirement"]);
}

#[test]
fn rejections_of_the_proposal() {
    refused(
        CACHE,
        "Design a simple in-memory cache with get, set and eviction operations.",
        &["out_of_scope_term:eviction"],
    );
    refused(
        CACHE,
        "Design a simple, concurrent in-memory cache with get and set operations.",
        &["out_of_scope_term:concurrency"],
    );
    refused(CACHE, "Design a fast in-memory cache with get and set operations.", &["references_performance"]);
    refused(
        REGEX,
        "Compile and validate a list of email patterns into regex objects.",
        &["new_work_verb:validate", "adds_requirement"],
    );
    refused(
        REGEX,
        "Compile a list of email patterns into regex objects, including examples.",
        &["adds_requirement"],
    );
    refused(
        DICTIONARY,
        "Convert a list of dictionaries into a dictionary keyed by id and return a summary.",
        &["adds_requirement"],
    );
}

#[test]
fn styles_and_registers_that_keep_the_task() {
    accepted_strictly(REGEX, "Could you please compile a list of email patterns into regex objects?");
    accepted_strictly(REGEX, "The program shall compile a list of email patterns into regex objects.");
    accepted_strictly(REGEX, "The system must compile a list of email patterns into regex objects.");
    accepted_strictly(REGEX, "Turn the email patterns in a list into regex objects.");
    accepted(CACHE, "Design a simple in-memory cache that supports get and set operations.");
    accepted_strictly(
        CACHE,
        "It is requested that a simple in-memory cache with get and set operations be designed.",
    );
}

#[test]
fn not_a_text() {
    assert_eq!(check(REGEX, b"Compile \xff", false, &[]), Err(vec![Reason::InvalidUtf8]));
    refused(REGEX, " \n", &["empty"]);
    refused(REGEX, "", &["empty"]);
    refused(REGEX, REGEX, &["unchanged"]);
    refused(REGEX, "Compile  a list of email\npatterns into regex objects.\n", &["unchanged"]);
    assert_eq!(
        check(REGEX, b"\n Turn a list of email patterns into regex objects. \n", false, &[]).as_deref(),
        Ok("Turn a list of email patterns into regex objects.")
    );
}

#[test]
fn length_is_counted_in_scalars() {
    let base = "Sort the list.";
    let answer = |extra: usize| format!("Sort the list {}.", "y".repeat(extra));
    accepted(base, &answer(3 * 14 - 15));
    refused(base, &answer(3 * 14 - 14), &["too_long"]);
    accepted("并 文字列", &format!("文字列 {}", "好".repeat(11)));
}

#[test]
fn forbidden_tokens_one_by_one() {
    for token in [
        "test",
        "tests",
        "coverage",
        "pytest",
        "benchmark",
        "harness",
        "log",
        "debug",
        "performance",
        "optimize",
        "validation",
    ] {
        let answer = format!("Compile a list of email patterns into regex objects for {token}.");
        refused(REGEX, &answer, &[&format!("forbidden_token:{token}")]);
    }
    for (word, token) in
        [("testing", "test"), ("logging", "log"), ("Benchmarks", "benchmark"), ("optimised", "optimize")]
    {
        let answer = format!("Compile a list of email patterns into regex objects for {word}.");
        refused(REGEX, &answer, &[&format!("forbidden_token:{token}")]);
    }
    accepted(REGEX, "Compile the contested list of email patterns into regex objects in a catalog.");
}

#[test]
fn work_verbs_one_by_one() {
    for verb in terms::WORK_VERBS {
        let answer = format!("Compile a list of email patterns into regex objects to {verb}.");
        refused(REGEX, &answer, &[&format!("new_work_verb:{verb}")]);
    }
}

#[test]
fn sentences_and_steps() {
    refused(REGEX, "Compile a list of email patterns. Make them regex objects.", &["extra_sentence"]);
    refused(REGEX, "Compile a list of email patterns into regex objects\n\nNames stay.", &["extra_sentence"]);
    refused(REGEX, "Take a list of email patterns, then compile regex objects.", &["multi_step"]);
    refused(REGEX, "1. Compile a list of email patterns\n2. into regex objects", &["multi_step"]);
    refused(REGEX, "Finally compile a list of email patterns into regex objects.", &["multi_step"]);
    accepted("Sort it. Then save it, e.g. JSON.", "Sort it all. Then store it, e.g. JSON.");
    doubtful(REGEX, "Compile a list of email patterns; make regex objects.", &["multi_step"]);
}

#[test]
fn talk_about_the_answer() {
    for answer in [
        "Here is the instruction: Compile the list of email patterns into regex objects.",
        "Sure, compile the list of email patterns into regex objects.",
        "Rewritten: Compile the list of email patterns into regex objects.",
        "Output: compile the list of email patterns into regex objects.",
        "\"Compile the list of email patterns into regex objects.\"",
        "```\nCompile the list of email patterns into regex objects.\n```",
        "Compile the list of email patterns into regex objects (this version is shorter).",
    ] {
        refused(REGEX, answer, &["meta_commentary"]);
    }
}

#[test]
fn talk_that_is_the_task() {
    accepted("Print the sorted rows.", "Output the sorted rows.");
    accepted("Rephrase the sorted rows.", "Rewrite the sorted rows.");
    accepted("Sort my rows.", "I have rows, could you sort them?");
    accepted("Print \"a\" and \"b\".", "\"a\" is to be printed, and \"b\"");
}

#[test]
fn formats_performance_and_tools() {
    refused(REGEX, "Compile a list of email patterns into regex objects as JSON.", &["references_format"]);
    refused(
        REGEX,
        "Quickly compile a list of email patterns into regex objects.",
        &["references_performance"],
    );
    refused(
        REGEX,
        "Compile a list of email patterns into regex objects with a linter.",
        &["references_tooling"],
    );
}

#[test]
fn requirements() {
    for more in [
        "and sort them",
        "and also names",
        "and make sure they work",
        "without duplicates",
        "which should be sorted",
        "that you need to save",
        "in addition to names",
    ] {
        let answer = format!("Compile a list of email patterns into regex objects {more}.");
        refused(REGEX, &answer, &["adds_requirement"]);
    }
    accepted("Read and sort the rows.", "Sort and read the rows.");
}

#[test]
fn losses() {
    refused(
        "Keep 3 rows of `a b` and https://x.y/z.",
        "Keep 13 rows of `a` and a link.",
        &["removed_content:`a b`", "removed_content:3", "removed_content:https://x.y/z"],
    );
    refused("Sort the rows but do not copy them.", "Sort the rows, copy them.", &["removed_content:not"]);
    refused(
        REGEX,
        "Write a poem.",
        &[
            "removed_content:list",
            "removed_content:email",
            "removed_content:patterns",
            "removed_content:regex",
            "removed_content:objects",
        ],
    );
}

#[test]
fn languages() {
    refused(REGEX, "Compile a list of email patterns into Python regex objects.", &["new_language:python"]);
    refused(REGEX, "Compile a list of email patterns into regex objects in Go.", &["new_language:go"]);
    refused(REGEX, "Compile a list of email patterns into C++ regex objects.", &["new_language:c++"]);
    accepted("Write Python that sorts rows.", "Write some Python that sorts rows.");
    refused(REGEX, "Compile a list of email patterns into regex objects 好.", &["new_language:han"]);
    accepted(REGEX, "Go compile a list of email patterns into regex objects.");
}

#[test]
fn scope_terms_one_by_one() {
    for (term, phrases) in terms::OUT_OF_SCOPE {
        for phrase in *phrases {
            let answer = format!("Design a simple in-memory cache with get and set operations, {phrase}.");
            refused(CACHE, &answer, &[&format!("out_of_scope_term:{term}")]);
        }
    }
}

#[test]
fn a_word_of_the_base_is_exempt_until_it_grows() {
    let base = "Parse the test log of the database.";
    accepted(base, "Parse the log of the database test.");
    refused(base, "Parse the test log of the database test.", &["forbidden_token:test"]);
    refused(base, "Parse the log of the database for tests and testing.", &["forbidden_token:tests"]);
}

#[test]
fn allowed_terms_are_exempt() {
    let allow = ["test".to_owned(), "Concurrency".to_owned(), "c++".to_owned()];
    let allowed = |answer: &str| check(CACHE, answer.as_bytes(), false, &allow).is_ok();
    assert!(allowed(
        "Design a simple concurrent in-memory cache with get and set operations for tests in C++."
    ));
    assert!(!allowed("Design a simple in-memory cache with get and set operations for eviction."));
}

#[test]
fn word_lists_are_sorted() {
    assert!(terms::EMPTY_WORDS.windows(2).all(|pair| pair[0] < pair[1]), "binary search needs it");
}

#[test]
fn hostile_answers_are_judged_in_time() {
    for unit in
        ["a", "test ", "and sort ", "\n\n", "`", "'", "\"", "1. ", ".", "é", "must ", "文", "🙂\u{200d}"]
    {
        let answer = unit.repeat(20_000 / unit.len());
        assert!(check(REGEX, answer.as_bytes(), true, &[]).is_err(), "{unit:?}");
    }
}

/// Of labelled pairs: rewordings that are kept and refused, changed tasks that are missed and caught; and what went wrong.
fn rates(pairs: &str) -> ((u32, u32, u32, u32), String) {
    let mut counts = [[0u32; 2]; 2];
    let mut wrong = String::new();
    for pair in
        pairs.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect::<Vec<_>>())
    {
        let [label, base, answer] = pair[..] else { panic!("{pair:?}") };
        let changed = match label {
            "changed" => true,
            "same" => false,
            other => panic!("{other}"),
        };
        let found = reasons(base, answer, false);
        counts[usize::from(changed)][usize::from(!found.is_empty())] += 1;
        if changed == found.is_empty() {
            wrong.push_str(&format!("{label}: {base} | {answer} | {found:?}\n"));
        }
    }
    let [[kept, refused], [missed, caught]] = counts;
    ((kept, refused, missed, caught), wrong)
}

/// `docs/statistics.md` publishes these.
#[test]
fn rates_on_the_labelled_set() {
    let (rates, wrong) = rates(include_str!("labelled.tsv"));
    assert!(rates.0 + rates.1 >= 100 && rates.2 + rates.3 >= 100, "{rates:?}");
    assert_eq!(rates, (96, 6, 4, 119), "{wrong}");
}

/// Pairs that were written before anybody looked at the rules; `docs/statistics.md` publishes these beside the others.
#[test]
fn rates_on_pairs_that_the_rules_have_not_seen() {
    let (rates, wrong) = rates(include_str!("heldout.tsv"));
    assert!(rates.0 + rates.1 >= 60 && rates.2 + rates.3 >= 60, "{rates:?}");
    assert_eq!(rates, (57, 7, 19, 45), "{wrong}");
}

/// Changes of the task in one word, each of which must be refused for that word's sake.
#[test]
fn small_words_that_make_another_task() {
    for (base, answer) in [
        ("Delete files older than a week.", "Delete files newer than a week."),
        ("Check that all items match.", "Check that any items match."),
        ("Match names or numbers.", "Match names and numbers."),
        ("Retry three times.", "Retry five times."),
        ("Design an in-memory cache.", "Design an on-disk cache."),
        ("Copy rows from the table to the file.", "Copy rows from the file to the table."),
        ("Stop if the value is valid.", "Stop if the value is not valid."),
    ] {
        let found = reasons(base, answer, false);
        let meant = |reason: &String| reason.starts_with("changed_meaning:");
        assert!(!found.is_empty() && found.iter().all(meant), "{answer}: {found:?}");
    }
}
