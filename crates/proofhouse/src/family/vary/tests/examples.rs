//! Examples: the published ones, word for word, and those that show what a generator must never do.

use super::*;

const REGEX: &str = "Compile a list of email patterns into regex objects.";
const DICTIONARY: &str = "Convert a list of dictionaries into a dictionary keyed by id.";
const CACHE: &str = "Design a simple in-memory cache with get and set operations.";

fn ask(base: &str, count: u32) -> Ask<'_> {
    Ask { base, count, seed: 1337, case_id: "example" }
}

/// All variants that exist, in the order of the alphabet.
fn all(yaml: &str, base: &str) -> Vec<String> {
    let given = variants(&config(yaml), &ask(base, 5_000));
    assert!(given.shortfall.is_some(), "{yaml} has more variants");
    let mut texts: Vec<String> = given.list.into_iter().map(|variant| variant.text).collect();
    texts.sort();
    texts
}

fn lack(yaml: &str, base: &str) -> Option<Lack> {
    variants(&config(yaml), &ask(base, 10)).shortfall.map(|shortfall| shortfall.reason)
}

#[track_caller]
fn refused(yaml: &str, why: &str) {
    let error = config(yaml).check().expect_err(yaml);
    assert!(error.what.contains(why) && error.hint.is_some(), "{yaml}: {error}");
}

#[test]
fn add_multi_objective_as_in_the_proposal() {
    let yaml = "add_multi_objective: {additions: [Return both compiled regex objects and a brief explanation of each pattern., Keep public API small and clean.]}";
    let expected = "Compile a list of email patterns into regex objects. Return both compiled regex objects and a \
                    brief explanation of each pattern. Keep public API small and clean.";
    assert_eq!(all(yaml, REGEX), [expected]);
    assert!(config(yaml).check().is_ok());
}

#[test]
fn the_other_stress_examples_of_the_proposal() {
    let ambiguity = "add_ambiguity: {additions: [where appropriate, in common cases], cumulative: true}";
    assert_eq!(
        variants(&config(ambiguity), &ask(REGEX, 2))
            .list
            .iter()
            .map(|variant| &*variant.text)
            .collect::<Vec<_>>(),
        [
            "Compile a list of email patterns into regex objects, where appropriate.",
            "Compile a list of email patterns into regex objects, where appropriate, in common cases.",
        ]
    );
    let scope = "add_scope_detail: {additions: [Include plus addressing and subdomains., Include clear examples of what each pattern is intended to match.]}";
    assert_eq!(
        all(scope, REGEX),
        [format!(
            "{REGEX} Include plus addressing and subdomains. Include clear examples of what each pattern is intended to match."
        )]
    );
    let tension = "add_constraints_tension: {additions: [Prefer maintainable patterns over extreme strictness., Prefer clarity over cleverness.]}";
    assert_eq!(
        all(tension, REGEX),
        [format!(
            "{REGEX} Prefer maintainable patterns over extreme strictness. Prefer clarity over cleverness."
        )]
    );
}

#[test]
fn additions_of_another_task_are_refused() {
    for (addition, what) in [
        ("also provide documentation", "documentation"),
        ("Document every function.", "documentation"),
        ("add error handling", "error handling"),
        ("Handle errors gracefully.", "error handling"),
        ("create test suite", "a test suite"),
        ("Write unit tests.", "a test suite"),
        ("Deploy it.", "deployment"),
    ] {
        refused(&format!("add_multi_objective: {{additions: ['{addition}']}}"), what);
        assert!(config(&format!("add_scope_detail: {{additions: ['{addition}']}}")).check().is_ok());
    }
    assert!(
        config("add_multi_objective: {additions: [Handle duplicates., Print the greatest error.]}")
            .check()
            .is_ok()
    );
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    refused("whitespace_noise: {intensity_min: 0.5, intensity_max: 0.1}", "greater");
    refused("punctuation_noise: {intensity_max: 1.5}", "`intensity_max` is 1.5");
    refused("lexical_shuffle: {max_swaps: 0}", "`max_swaps`");
    refused("synonym_substitution: {max_replacements: 0}", "`max_replacements`");
    refused("synonym_substitution: {whitelist: [zebra]}", "`zebra`");
    refused("add_ambiguity: {additions: []}", "empty");
    refused("add_ambiguity: {additions: [x, ' ']}", "addition 2");
    refused("ai_rewrite: {styles: [casual_request, casual_request]}", "entry 2");
}

#[test]
fn a_shortfall_is_exact() {
    assert_eq!(
        all("whitespace_noise: {intensity_min: 0, intensity_max: 0}", "a b"),
        ["a\t b", "a\n b", "a  b"]
    );
    let two = all("whitespace_noise: {intensity_min: 0.34, intensity_max: 0.67}", "a b c");
    assert_eq!(two.len(), 9 * 3 + 3usize.pow(3) * 4, "two characters in two gaps, and three");
    assert_eq!(all("punctuation_noise: {intensity_min: 0.1, intensity_max: 0.2}", "do it"), ["do it."]);
    assert_eq!(lack("whitespace_noise: {}", "word"), Some(Lack::NoGap));
    assert_eq!(lack("whitespace_noise: {}", ""), Some(Lack::NoGap));
    assert_eq!(
        lack("punctuation_noise: {intensity_min: 0.5, intensity_max: 0.6}", REGEX),
        Some(Lack::IntensityOutOfReach)
    );
    assert_eq!(lack("punctuation_noise: {}", "`a`"), Some(Lack::EmptyText));
    assert_eq!(lack("ambiguity_injection_light: {}", " ... "), Some(Lack::EmptyText));
    assert_eq!(lack("add_ambiguity: {additions: [x]}", "\n"), Some(Lack::EmptyText));
    assert_eq!(lack("synonym_substitution: {}", "Get the JSON value."), Some(Lack::NoSynonym));
    assert_eq!(lack("add_ambiguity: {additions: [x]}", "a"), Some(Lack::Exhausted));
    let given = variants(&config("whitespace_noise: {}"), &ask(REGEX, MAX_VARIANTS + 1));
    assert_eq!(given.shortfall.map(|shortfall| shortfall.reason), Some(Lack::Limit));
}

#[test]
fn safe_moves() {
    let moves = |base: &str| all("lexical_shuffle: {max_swaps: 3}", base);
    assert_eq!(
        moves(REGEX),
        [
            "Compile, into regex objects, a list of email patterns.",
            "Into regex objects, compile a list of email patterns.",
        ]
    );
    assert_eq!(
        moves(DICTIONARY),
        [
            "Convert, into a dictionary keyed by id, a list of dictionaries.",
            "Into a dictionary keyed by id, convert a list of dictionaries.",
        ]
    );
    assert_eq!(moves(CACHE), ["Design a simple in-memory cache with set and get operations."]);
    assert_eq!(
        moves("Return a table of names, emails or phones."),
        [
            "Return a table of emails, names or phones.",
            "Return a table of names, phones or emails.",
            "Return a table of phones, emails or names.",
        ]
    );
    assert_eq!(moves("Write an easy and useful guide"), Vec::<String>::new(), "the article would not fit");
    assert_eq!(moves("Write a clear and concise guide"), ["Write a concise and clear guide"]);
    assert_eq!(
        moves("Sort the rows of users and groups using keys."),
        [
            "Sort the rows of groups and users using keys.",
            "Sort, using keys, the rows of groups and users.",
            "Sort, using keys, the rows of users and groups.",
            "Using keys, sort the rows of groups and users.",
            "Using keys, sort the rows of users and groups.",
        ]
    );
}

/// Each line is a base and, after `=>`, everything that is made of it.
#[test]
fn moves_in_sums_dates_and_tasks() {
    for line in [
        "Nora sold 3 jars to a friend. => Nora sold, to a friend, 3 jars. | Nora, to a friend, sold 3 jars. | To a friend, Nora sold 3 jars.",
        "On Monday, Nora sold half of the jars. => Nora, on Monday, sold half of the jars.",
        "Today is May 5, 2020. => May 5, 2020 is today.",
        "The price of a lamp is $40. => $40 is the price of a lamp.",
        "Nora spent $5 on a book and $9 on a game. => Nora spent $9 on a game and $5 on a book.",
        "How much does he pay in a year? => How much, in a year, does he pay? | In a year, how much does he pay?",
        "How many jars in total are there? => In total, how many jars are there?",
        "How many of the jars are red? => Of the jars, how many are red?",
        "Given a list, return all values. => Return, given a list, all values.",
        "Your task is to sort the rows. => To sort the rows is your task.",
        "It takes 10 minutes to bake a pie. => To bake a pie, it takes 10 minutes.",
        "On Monday she counts just 3 clouds. => She, on Monday, counts just 3 clouds.",
        "She has 7 hours on Saturday and 5 hours on Sunday. => She has 5 hours on Sunday and 7 hours on Saturday.",
        "How long will it take Nora to paint the fence? => How long, to paint the fence, will it take Nora? | To paint the fence, how long will it take Nora?",
        "If each jar costs $3, how much does Nora pay? => How much does Nora pay if each jar costs $3? | How much, if each jar costs $3, does Nora pay?",
        "Write a function to drop all empty rows. => To drop all empty rows, write a function. | Write, to drop all empty rows, a function.",
        "Return True if all rows are empty. => If all rows are empty, return True.",
        "Nora had 9 jars. She gave half of them to Ben. How many jars are left? => How many jars are left? Nora had 9 jars. She gave half of them to Ben.",
        "Tomorrow is 5/12/2020. => 5/12/2020 is tomorrow.",
        "Two-thirds of the loaves are sold. => Of the loaves, two-thirds are sold.",
        "To greet the week, Nora bakes 9 pies. => Nora, to greet the week, bakes 9 pies.",
        "If Nora buys 4 red pens, how many pens will she own? => How many pens, if Nora buys 4 red pens, will she own?",
        "If each of them ate 2 pies, and Ben ate 3, calculate the number of pies. => Calculate, if each of them ate 2 pies, and Ben ate 3, the number of pies.",
        "How many jars are there in the attic? => How many jars, in the attic, are there? | In the attic, how many jars are there?",
        "What is the price of a lamp? => The price of a lamp is what?",
        "Write a function to check whether the row is sorted or not. => To check whether the row is sorted or not, write a function. | Write a function to check whether or not the row is sorted. | Write, to check whether the row is sorted or not, a function.",
        "Write a function to drop all empty rows using a loop. => To drop all empty rows using a loop, write a function. | Using a loop, write a function to drop all empty rows. | Write a function, using a loop, to drop all empty rows. | Write, to drop all empty rows using a loop, a function.",
        "I own a bed, two lamps, and a car. => I own a bed, a car, and two lamps. | I own a car, two lamps, and a bed. | I own two lamps, a bed, and a car.",
        "Nora had 9 jars. She gave 4 away. Calculate how many she kept. => Calculate how many she kept. Nora had 9 jars. She gave 4 away.",
    ] {
        let (base, expected) = line.split_once(" => ").expect("a base and its variants");
        let expected: Vec<&str> = expected.split(" | ").collect();
        assert_eq!(all("lexical_shuffle: {max_swaps: 1}", base), expected, "{base}");
    }
}

#[test]
fn examples_of_a_docstring_change_places_and_stay_whole() {
    let text = |first: &str, second: &str| {
        format!("def f(n):\n    \"\"\"Twice the number.\n    {first}\n    {second}\n    \"\"\"\n")
    };
    for (first, second) in [(">>> f(1)\n    2", ">>> f(2)\n    4"), ("f(1) == 2", "f(2) == 4")] {
        assert_eq!(all("lexical_shuffle: {}", &text(first, second)), [text(second, first)]);
    }
    // A session goes on from line to line, a rule is no example, and prose may stand below what a call gave.
    for (first, second) in [
        (">>> a = 1", ">>> f(a)\n    2"),
        ("f(0) == 0", "f(n) == f(n-1) + 2"),
        (">>> f(1)\n    2\n    Both are even.", ">>> f(2)\n    4"),
    ] {
        assert_eq!(all("lexical_shuffle: {}", &text(first, second)), Vec::<String>::new(), "{first}");
    }
}

#[test]
fn what_looks_like_a_move_and_is_none() {
    for base in [
        "Iris and Noah split 90 marbles in the ratio 4:5.",
        "Anna and Ben have 3 and 5 pens.",
        "He saw two owls the last time he was at the zoo.",
        "How tall is Mira right now?",
        "It is three stops away from now.",
        "Find the height of the tree in the year 1999.",
        "How many steps must he take from the gate to the door?",
        "Each of them sold half of it in May.",
        "Nora has a dog, and a cat, which sleeps.",
        "For example, return the sum of it.",
        "The team is 10 years old.",
        "Nora wants to buy a pen at the store.",
        "A baker is trying to create a bread.",
        "Find out if all rows are empty.",
        "Nora had 9 jars. She bought some. How many jars does Nora have?",
        "Nora had 9 jars. Ben had 4. How many did she keep?",
        "Nora had 9 jars. She gave 4 to each friend. How much did each get?",
        "Nora had 9 jars. She gave 4 away. How many jars does she still need?",
        "Nora had 9 jars, Ben had 5 jars, and Ida had 4 jars after Easter.",
        "What is the house worth?",
        "If it is late, stop, and say how many are left?",
        "If Ben eats 3 pies every day how many more will he eat?",
        "How many jars are in the attic?",
        "If they build a row, where 4 stand in front, how tall is it?",
    ] {
        assert_eq!(all("lexical_shuffle: {max_swaps: 3}", base), Vec::<String>::new(), "{base}");
    }
}

#[test]
fn unsafe_moves_are_not_made() {
    for base in [
        "Read the file and write the output.",
        "Take a list of names and return.",
        "Take a list of names and sort by age.",
        "Load the rows and returns of users, then stop.",
        "Map the names and emails to rows and keys, respectively.",
        "Do not compile the list into objects.",
        "Convert all the lists into sets.",
        "Convert the list into a set, not a map.",
        "Compute the sum of numbers in a list.",
        "Sort the students by grades and ages.",
        "Design a cache with get and put.",
        "Write a script that splits rows into groups.",
        "Python scripts turn rows into groups.",
        "Split the rows into groups and print them.",
        "Copy rows between names and emails.",
        "Parse `names and emails` into \"a and b\".",
        "a list of names, and emails",
        "",
    ] {
        let given = variants(&config("lexical_shuffle: {max_swaps: 3}"), &ask(base, 3));
        let reason = given.shortfall.map(|shortfall| shortfall.reason);
        assert_eq!((given.list, reason), (Vec::new(), Some(Lack::NoSafeMove)), "{base}");
    }
}

#[test]
fn synonyms_fit_where_they_stand() {
    let synonyms = |base: &str| all("synonym_substitution: {max_replacements: 1}", base);
    assert_eq!(
        synonyms(REGEX),
        [
            "Convert a list of email patterns into regex objects.",
            "Transform a list of email patterns into regex objects.",
            "Turn a list of email patterns into regex objects.",
        ]
    );
    assert_eq!(synonyms("Compile it."), Vec::<String>::new(), "only with `into`");
    for base in [
        "The design of it.",
        "It is a merge step.",
        "Transform it, then load it into memory.",
        "Convert rows and load them into memory.",
        "Press the create button, provided that it is there.",
        "Tom Large lives here.",
    ] {
        assert_eq!(synonyms(base), Vec::<String>::new(), "{base}");
    }
    assert_eq!(synonyms("Try to select the rows"), ["Try to choose the rows", "Try to pick the rows"]);
    assert_eq!(synonyms("For example, it fails"), ["For instance, it fails"]);
    assert_eq!(synonyms("A function that removes rows").len(), 2);
    assert_eq!(
        synonyms("A simple `simple` \"simple\" simple_x thing"),
        [
            "A basic `simple` \"simple\" simple_x thing",
            "A straightforward `simple` \"simple\" simple_x thing",
        ]
    );
    assert_eq!(
        synonyms("An unusual ENTIRE"),
        ["An uncommon ENTIRE", "An unusual COMPLETE", "An unusual WHOLE"]
    );
    let whitelisted =
        all("synonym_substitution: {max_replacements: 1, whitelist: [dictionary]}", "many dictionaries");
    assert_eq!(whitelisted, ["many mappings", "many maps"]);
    assert_eq!(all("synonym_substitution: {max_replacements: 5}", DICTIONARY).len(), 4 * 2 - 1);
}

#[test]
fn noise_keeps_away_from_what_it_must_not_touch() {
    let text = "Set 3.5 to `a b` and \"c d\" at https://x.y/z or foo_bar e.g. v1.2";
    for variant in variants(&config("punctuation_noise: {intensity_min: 0.01}"), &ask(text, 200)).list {
        for atom in [" 3.5 ", " `a b` ", " \"c d\" ", " https://x.y/z ", " foo_bar e.g. v1.2"] {
            assert!(variant.text.contains(atom), "{}", variant.text);
        }
    }
    for variant in variants(&config("whitespace_noise: {}"), &ask(text, 200)).list {
        assert!(variant.text.contains("`a b`") && variant.text.contains("\"c d\""), "{}", variant.text);
    }
}

#[test]
fn a_preference_that_conflicts_is_left_out() {
    let clever = all("constraint_injection_light: {}", "Write a clever sorter.");
    assert!(clever.iter().all(|text| !text.contains("cleverness")));
    assert_eq!(clever.len(), 22);
    assert_eq!(all("constraint_injection_light: {}", "Write a sorter").len(), 12, "phrases only");
}

#[test]
fn seed_case_and_generator_all_matter() {
    let noise = config("whitespace_noise: {}");
    let first = variants(&noise, &ask(REGEX, 3));
    assert_ne!(first, variants(&noise, &Ask { seed: 1338, ..ask(REGEX, 3) }));
    assert_ne!(first, variants(&noise, &Ask { case_id: "other", ..ask(REGEX, 3) }));
}

#[test]
fn prompts_say_what_the_proposal_asks_and_take_turns() {
    let config = config("ai_rewrite: {styles: [casual_request, verbose_formal]}");
    let Maker::Model(rewriter) = config.maker() else { panic!("it asks a model") };
    let base = "Compile\n---\n`x`.";
    let prompts: Vec<Prompt> = (0..4).map(|index| rewriter.prompt(&ask(base, 4), index, 1)).collect();
    for prompt in &prompts {
        assert!(prompt.text.contains("Preserve the task exactly. Change wording only."));
        assert!(prompt.text.contains(&format!("\n----\n{base}\n----\n")), "{}", prompt.text);
    }
    let choices: Vec<&str> = prompts.iter().filter_map(|prompt| prompt.choice.as_deref()).collect();
    assert_eq!(choices, ["casual_request", "verbose_formal", "casual_request", "verbose_formal"]);
    assert!(proofhouse_ledger::json::to_json(&prompts).is_ok(), "a prompt can be recorded");
    let retry = rewriter.prompt(&ask(base, 4), 0, 2);
    assert!(retry.seed != prompts[0].seed && retry.text != prompts[0].text);
    assert_eq!(rewriter.prompt(&ask(base, 4), 0, 1), prompts[0]);
}

#[test]
fn every_style_is_spelt_as_in_the_proposal() {
    for (yaml, names) in [
        ("ai_rewrite: {}", "concise_directive verbose_formal casual_request specification_tone"),
        ("ai_rephrase_with_focus_shift: {}", "simplicity clarity maintainability correctness_emphasis_soft"),
        ("ai_register_shift: {}", "planner_voice executive_voice peer_engineer_voice"),
    ] {
        let config = config(yaml);
        let Maker::Model(rewriter) = config.maker() else { panic!("{yaml} asks no model") };
        for (index, name) in (0..).zip(names.split(' ')) {
            assert_eq!(rewriter.prompt(&ask(REGEX, 9), index, 1).choice.as_deref(), Some(name));
        }
    }
    let spelt =
        "ai_register_shift: {registers: [planner_voice, executive_voice, peer_engineer_voice], strict: true}";
    assert!(config(spelt).check().is_ok());
}
