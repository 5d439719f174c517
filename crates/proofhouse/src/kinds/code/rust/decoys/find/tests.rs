//! What is found in tests, and what is dealt for it.

use super::super::Dealt;
use super::*;

fn all(source: &str, dice: &mut Dice) -> Vec<Site> {
    let before = "enum E { A, B(u8), C = 3 }";
    find(Source { text: source, before, entry: "f", open: false }, |_, _| true, dice)
}

fn sites(source: &str) -> Vec<(String, Weight)> {
    let found = all(source, &mut Dice::of("00000000000000ff"));
    let mut texts: Vec<_> = found.iter().map(|site| (site.texts[0].clone(), site.weight)).collect();
    texts.retain(|(_, weight)| *weight != Weight::Denial);
    texts.sort();
    texts
}

#[test]
fn expectations_are_found_by_what_they_say() {
    use Weight::{Loose, Told, Whole};
    let table: &[(&str, &[(&str, Weight)])] = &[
        ("assert_eq!(f(1), 7);", &[("7", Whole)]),
        ("assert_eq!(\"a\", f(1));", &[("\"a\"", Whole)]),
        ("assert_eq!(f(1), Some(-1.5));", &[("-1.5", Whole)]),
        ("assert_eq!(f(1), P { a: 0u8 });", &[("0u8", Whole)]),
        ("assert_eq!(f(1), of(0));", &[("0", Loose)]),
        // Another value there may come to the same.
        ("assert_eq!(f(1), [7; 0]);", &[("7", Loose)]),
        ("assert_eq!(f(1), 5 * 0);", &[("0", Loose), ("5", Loose)]),
        ("assert_eq!(f(1), 6 & 1);", &[("1", Loose), ("6", Loose)]),
        ("assert_eq!(f(1), 1e20 + 1.5);", &[("1.5", Loose), ("1e20", Loose)]),
        ("assert!(f(1) == 4 >> 3);", &[("3", Loose), ("4", Loose)]),
        ("assert_eq!(f(1), 2 + 3);", &[("2", Whole), ("3", Whole)]),
        ("assert_eq!(f(1), &[2]);", &[("2", Whole)]),
        ("assert!(f(2 * 3) == 6 && f(1) == 2);", &[("2", Whole), ("6", Whole)]),
        ("let w = vec![1]; assert_eq!(f(1), w);", &[("1", Whole)]),
        ("let w = vec![1]; { assert_eq!(f(1), w); }", &[("1", Told)]),
        ("let w = vec![1]; g(&w); assert_eq!(f(1), w);", &[("1", Told)]),
        ("assert_eq!(f(1), E::A); assert_eq!(f(1), E::B(2));", &[("2", Whole), ("E::A", Whole)]),
        ("assert!(f(1) == std::cmp::Ordering::Less);", &[]),
        ("assert_eq!(Ordering::Less, f(1));", &[("Ordering::Less", Whole)]),
        ("let w = vec![1]; assert_eq!(f(&w), w);", &[("1", Loose)]),
        ("assert_eq!(f(1).0, x.1);", &[]),
        ("assert!(f(1));", &[]),
        ("assert!(f(1) < 3);", &[]),
        ("assert!(f(1) == 3);", &[("3", Whole)]),
        ("assert!(f(1).eq(&[2]));", &[("2", Whole)]),
        ("assert!((f(1) - 2.0).abs() < 1e-9);", &[("2.0", Told)]),
        ("assert!(f(1).is(\"x\"));", &[("\"x\"", Told)]),
        ("assert!(!f(1)(6));", &[("6", Told)]),
        ("let p = f(1); assert!(p(6));", &[("6", Told)]),
        ("assert!(valid(f(1), 6));", &[("6", Loose)]),
        ("assert!(matches!(f(1), Some(3)));", &[]),
        ("assert_eq!(f(1), [0; 4]);", &[("0", Whole)]),
        ("for (x, y) in [(1, 2)] { assert_eq!(f(x), y); }", &[("1", Loose), ("2", Loose)]),
    ];
    for (source, expected) in table {
        let expected: Vec<_> = expected.iter().map(|(text, weight)| ((*text).to_owned(), *weight)).collect();
        assert_eq!(sites(source), expected, "{source}");
    }
}

#[test]
fn every_value_stands_once_and_is_told_by_its_place() {
    let source = "assert_eq!(f(1), 7); assert!(f(2));";
    let mut dice = Dice::of("00000000000000ff");
    let sites = all(source, &mut dice);
    assert_eq!(sites.len(), 2);
    let dealt = Dealt::of(source, &sites, &mut dice);
    let open = dealt.text.find("crate::__proofhouse_pick(0, [").unwrap() + 29;
    let values: Vec<&str> = dealt.text[open..].split(']').next().unwrap().split(", ").collect();
    let place = |told: String| usize::from_str_radix(&told[..2], 16).unwrap();
    assert_eq!(values[place(dealt.told(None))], "7");
    for other in 1..sites[0].texts.len() {
        assert_eq!(values[place(dealt.told(Some((0, other))))], sites[0].texts[other]);
    }
    assert_eq!(dealt.told(None).len(), dealt.told(Some((1, 1))).len());
    assert!(
        dealt.text.contains("assert!(crate::__proofhouse_turn(crate::__proofhouse_pick(1, ["),
        "{}",
        dealt.text
    );
}

#[test]
fn there_are_never_many() {
    let count = |source: &str| all(source, &mut Dice::of("00000000000000ff")).len();
    assert_eq!(count(&"assert_eq!(f(1), 7);".repeat(100)), MAX_DECOYS);
    assert_eq!(count("let x = f(1);"), 0);
}

/// `get("z")` is `None` for any name that is not there: an honest answer would pass with all of them.
#[test]
fn a_name_that_has_to_be_missing_is_changed_for_one_that_is_there() {
    let test = "let all = f(\"a=1;b=22\"); assert_eq!(all.get(\"a\"), Some(1)); assert_eq!(all.get(\"b\"), Some(22)); \
                assert_eq!(all.get(\"z\"), None); assert_eq!(all.len(), 2);";
    let list =
        format!("fn {LIST}() {{ list.push((\"tests::reads\", None)); list.push((\"tests::more\", None)); }}");
    let source = format!("{test} {list}");
    for seed in 1..300 {
        let found = all(&source, &mut Dice::of(&format!("{seed:016x}")));
        let site = found.iter().find(|site| site.texts[0] == "\"z\"").unwrap();
        assert!(site.texts.iter().any(|text| text == "\"a\"" || text == "\"b\""), "{seed}: {:?}", site.texts);
    }
}
