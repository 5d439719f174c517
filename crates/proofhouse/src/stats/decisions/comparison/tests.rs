//! What a comparison says, in a sentence and in a cell, and which comparisons are made.

use super::*;

fn single(both: u64, worse: u64, better: u64) -> Differences {
    let mut differences = Differences::default();
    for (count, first, second) in [(both, 1, 1), (worse, 1, 0), (better, 0, 1)] {
        (0..count).for_each(|_| differences.push((first, 1), (second, 1)));
    }
    differences
}

#[test]
fn a_sentence_names_population_size_and_doubt() {
    let say = |both, worse, better| compare("old", "new", &single(both, worse, better)).sentence();
    insta::assert_snapshot!(say(84, 15, 1), @"on cases like these, new is worse than old by 14.0 points (95 % interval +7.3 to +22.5): more than noise (permutation test over 100 cases, p = 0.0005)");
    insta::assert_snapshot!(say(97, 2, 1), @"on cases like these, new cannot be told from old: −1.0 points (95 % interval −6.1 to +3.7) may be noise (permutation test over 100 cases, p = 1); about 2,549 cases would tell with 80 % power, if they fall out like these");
    assert!(say(1_000_000, 0, 0).ends_with("a difference of up to 0.0004 points is not excluded"));
    insta::assert_snapshot!(say(100, 0, 0), @"old and new fare alike on all 100 cases; on cases like these, a difference of up to 3.7 points is not excluded");
    insta::assert_snapshot!(say(0, 0, 0), @"no case was assessed for both old and new, so nothing can be compared");
    insta::assert_snapshot!(say(96, 2, 2), @"on cases like these, new cannot be told from old: 0 points (95 % interval −5.3 to +5.3) may be noise (permutation test over 100 cases, p = 1)");
}

#[test]
fn a_cell_says_it_in_a_few_words() {
    let say = |both, worse, better| compare("old", "new", &single(both, worse, better)).in_short();
    for ((both, worse, better), expected) in [
        ((84, 15, 1), "worse (p = 0.0005)"),
        ((84, 1, 15), "better (p = 0.0005)"),
        ((97, 2, 1), "about 2,449 more cases would tell"),
        ((100, 0, 0), "same within 3.7 points"),
        ((96, 2, 2), "same within 5.3 points"),
        ((0, 0, 0), "nothing to compare"),
    ] {
        assert_eq!(say(both, worse, better), expected);
    }
    let harm = Comparison { is_harm: true, ..compare("old", "new", &single(84, 15, 1)) };
    assert_eq!(harm.in_short(), "lower (p = 0.0005)");
}

/// An interval that leaves 0 out beside a test that cannot tell is explained, not left to the reader.
#[test]
fn a_test_that_cannot_tell_says_why() {
    let mut three = Differences::default();
    [(4, 9), (3, 9), (5, 10)].into_iter().for_each(|(a, b)| three.push((a, 10), (b, 10)));
    let found = compare("a", "b", &three);
    assert!(found.interval.unwrap().low > 0.0 && found.more_than_noise() == Some(false));
    insta::assert_snapshot!(found.sentence(), @"on cases like these, b cannot be told from a: +53.3 points (95 % interval +39.0 to +67.7) may be noise (permutation test over 3 cases, p = 0.25); 3 cases that differ are too few to be sure of anything; about 6 cases would tell with 80 % power, if they fall out like these");
    let pair = ("a".to_owned(), "b".to_owned(), single(80, 8, 0));
    insta::assert_snapshot!(compare_family(&[pair], 45)[0].sentence(), @"on cases like these, b cannot be told from a: −9.1 points (95 % interval −16.9 to −4.5) may be noise (permutation test over 88 cases, p = 0.3516, adjusted for 45 comparisons); 8 cases that differ are too few to be sure of anything; about 204 cases would tell with 80 % power, if they fall out like these");
    insta::assert_snapshot!(compare("a", "b", &single(1, 0, 0)).sentence(), @"a and b fare alike on the one case; on cases like these, a difference of up to 79.3 points is not excluded");
}

#[test]
fn a_family_is_adjusted_whether_it_was_computed_or_not() {
    let pair = ("a".to_owned(), "b".to_owned(), single(80, 8, 0));
    let alone = compare_family(std::slice::from_ref(&pair), 1);
    let chosen = compare_family(std::slice::from_ref(&pair), 45);
    assert_eq!((alone[0].more_than_noise(), chosen[0].more_than_noise()), (Some(true), Some(false)));
    assert!((chosen[0].adjusted_p.unwrap() - 45.0 * alone[0].p.unwrap()).abs() < 1e-12);
    assert!(chosen[0].sentence().contains("adjusted for 45 comparisons"), "{}", chosen[0].sentence());
}

/// Three cases for one side and five for the other.
fn open() -> Comparison {
    Comparison {
        a: "old".to_owned(),
        b: "new".to_owned(),
        cases: 20,
        better: (3, 5),
        difference: Some(0.1),
        interval: Some(Interval { low: -0.05, high: 0.25 }),
        p: Some(0.3),
        adjusted_p: Some(0.3),
        family: 1,
        needed: Some(34),
        silent: Vec::new(),
        is_harm: false,
    }
}

#[test]
fn a_cell_asks_for_more_cases_only_where_they_would_tell() {
    let around = |low, high| Comparison { interval: Some(Interval { low, high }), ..open() };
    for (comparison, expected) in [
        (open(), "about 14 more cases would tell"),
        (Comparison { needed: Some(21), ..open() }, "about 1 more case would tell"),
        (Comparison { needed: Some(20), ..open() }, "same within 25.0 points"),
        (Comparison { better: (0, 0), ..open() }, "same within 25.0 points"),
        (around(-0.03, 0.02), "same within 3.0 points"),
        (Comparison { needed: None, ..around(0.01, 0.25) }, "may be noise (p = 0.3)"),
        (Comparison { needed: None, ..around(-0.25, -0.01) }, "may be noise (p = 0.3)"),
        (Comparison { needed: None, ..around(0.0, 0.25) }, "same within 25.0 points"),
        (Comparison { needed: None, ..around(-0.25, 0.0) }, "same within 25.0 points"),
        (Comparison { adjusted_p: Some(0.049), ..open() }, "better (p = 0.049)"),
        (Comparison { adjusted_p: Some(LEVEL), needed: None, ..open() }, "same within 25.0 points"),
    ] {
        assert_eq!(comparison.in_short(), expected, "{comparison:?}");
    }
    assert_eq!(Comparison { adjusted_p: Some(LEVEL), ..open() }.more_than_noise(), Some(false));
    assert_eq!(open().least_p(), 2.0 / 256.0, "all eight in one direction, or all in the other");
}

#[test]
fn what_is_more_than_noise_is_said_from_the_side_that_lies_lower_or_higher() {
    let said = |is_harm, difference, low, high| {
        let interval = Some(Interval { low, high });
        let found =
            Comparison { is_harm, difference: Some(difference), interval, adjusted_p: Some(0.049), ..open() };
        found.sentence().split(": more than noise").next().unwrap().to_owned()
    };
    let up = "than old by 10.0 points (95 % interval +5.0 to +25.0)";
    assert_eq!(said(false, 0.1, 0.05, 0.25), format!("on cases like these, new is better {up}"));
    assert_eq!(said(true, 0.1, 0.05, 0.25), format!("on cases like these, new is higher {up}"));
    assert_eq!(said(false, -0.1, -0.25, -0.05), format!("on cases like these, new is worse {up}"));
    assert_eq!(said(true, -0.1, -0.25, -0.05), format!("on cases like these, new is lower {up}"));
}

/// All of n cases that differ in one direction: p = 2 / 2ⁿ, which is 0.0625 for five, 0.03125 for six and 0.015625 for seven.
#[test]
fn an_interval_without_zero_beside_a_p_value_that_is_too_large_is_explained() {
    let more = |better, family, (low, high)| {
        let interval = Some(Interval { low, high });
        let found = Comparison { better, family, interval, needed: None, ..open() };
        found.sentence().rsplit_once(')').unwrap().1.to_owned()
    };
    let (up, down) = ((0.01, 0.25), (-0.25, -0.01));
    for (better, family, interval, expected) in [
        ((0, 5), 1, up, "; 5 cases that differ are too few to be sure of anything"),
        ((5, 0), 1, down, "; 5 cases that differ are too few to be sure of anything"),
        ((1, 0), 1, down, "; 1 case that differs is too few to be sure of anything"),
        ((2, 4), 1, up, ""),
        ((2, 4), 2, up, "; 6 cases that differ are too few to be sure of anything"),
        ((3, 4), 2, up, "; the interval is of this pair alone, not adjusted for the others"),
        ((3, 4), 2, (0.0, 0.25), ""),
        ((3, 4), 2, (-0.25, 0.0), ""),
        ((0, 5), 1, (-0.01, 0.25), ""),
    ] {
        assert_eq!(more(better, family, interval), expected, "{better:?} {family} {interval:?}");
    }
}

#[test]
fn a_sentence_asks_for_more_cases_only_where_there_are_fewer() {
    let ends = |comparison: Comparison| {
        comparison.sentence().ends_with("cases would tell with 80 % power, if they fall out like these")
    };
    assert!(ends(open()) && ends(Comparison { needed: Some(21), ..open() }));
    assert!(!ends(Comparison { needed: Some(20), ..open() }));
    let at = Comparison { adjusted_p: Some(LEVEL), ..open() }.sentence();
    assert!(at.contains("cannot be told from"), "a p-value at the level is not below it: {at}");
}

#[test]
fn columns_that_fare_alike_leave_the_farther_end() {
    let alike = |low, high| {
        let found = Comparison { better: (0, 0), interval: Some(Interval { low, high }), ..open() };
        found.sentence().rsplit_once("of up to ").unwrap().1.to_owned()
    };
    assert_eq!(alike(-0.3, 0.1), "30.0 points is not excluded");
    assert_eq!(alike(-0.1, 0.2), "20.0 points is not excluded");
    assert_eq!([0.0, 0.0001, 0.037].map(size), ["0", "0.01", "3.7"]);
}

/// Whichever of the two is better by one case of 100, 2,549 cases would tell.
#[test]
fn as_many_cases_would_tell_for_the_better_as_for_the_worse() {
    let needed = |worse, better| compare("old", "new", &single(97, worse, better)).needed;
    assert_eq!((needed(2, 1), needed(1, 2)), (Some(2549), Some(2549)));
}

#[test]
fn a_family_is_as_large_as_what_was_compared_and_what_has_no_case_counts() {
    let pair = |differences| ("a".to_owned(), "b".to_owned(), differences);
    let found = compare_family(&[pair(single(80, 8, 0)), pair(single(0, 0, 0))], 1);
    assert_eq!((found[0].family, found[1].family), (2, 2));
    // Two times what all eight in one direction have.
    assert!((found[0].adjusted_p.unwrap() - 4.0 / 256.0).abs() < 1e-12, "{:?}", found[0]);
    assert_eq!((found[1].p, found[1].adjusted_p, found[1].more_than_noise()), (None, None, None));
}

#[test]
fn all_pairs_of_a_few_columns_and_two_for_each_of_many() {
    assert_eq!([0, 1, 2, 5].map(all_pairs), [0, 0, 1, 10]);
    assert_eq!(chosen_pairs(3, 1), [(0, 1), (0, 2), (1, 2)]);
    assert_eq!((chosen_pairs(10, 0).len(), chosen_pairs(11, 0).len()), (45, 10));
    let many = chosen_pairs(12, 4);
    assert_eq!(many.len(), 21, "11 with the first, and 10 more with the best: {many:?}");
    assert!(many.iter().all(|(a, b)| a < b && (*a == 0 || *a == 4 || *b == 4)), "{many:?}");
}
