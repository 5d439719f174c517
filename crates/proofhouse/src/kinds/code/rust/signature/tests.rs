//! What crosses, what does not, and what is generated for it.

use super::*;

fn open(text: &str) -> Signature {
    match Declared::of(text, "f") {
        Declared::Open(signature) => signature,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn what_crosses_is_written_by_absolute_paths() {
    let table = [
        (
            "fn f(a: &str, mut b: Vec<Vec<i64>>) -> Option<(i32, String)> {}",
            "(&::core::primitive::str, ::std::vec::Vec<::std::vec::Vec<::core::primitive::i64>>) -> ::std::option::Option<(::core::primitive::i32, ::std::string::String)>",
        ),
        (
            "use std::collections::{HashMap as Map, *};\nfn f(a: Map<String, u8>, b: &BTreeSet<char>) {}",
            "(::std::collections::HashMap<::std::string::String, ::core::primitive::u8>, &::std::collections::BTreeSet<::core::primitive::char>) -> ()",
        ),
        (
            "fn f<'a>(a: &'a [&'a str]) -> &'a str {}",
            "(&[&::core::primitive::str]) -> &'static ::core::primitive::str",
        ),
        (
            "fn f(a: &mut [f64], b: [u8; 3]) -> Result<(), Box<dyn std::error::Error>> {}",
            "(&mut [::core::primitive::f64], [::core::primitive::u8; 3]) -> ::std::result::Result<(), ::std::boxed::Box<dyn ::std::error::Error>>",
        ),
        (
            "fn f(n: u32) -> impl Iterator<Item = u32> + '_ {}",
            "(::core::primitive::u32) -> impl ::std::iter::Iterator<Item = ::core::primitive::u32>",
        ),
        (
            "type Row = std::vec::Vec<i32>;\ntype Rows = Vec<Row>;\nfn f(a: Rows) -> ::std::string::String {}",
            "(::std::vec::Vec<::std::vec::Vec<::core::primitive::i32>>) -> ::std::string::String",
        ),
        (
            "fn f((a, b): (i32, i32), &c: &i32) -> (i32,) {}",
            "((::core::primitive::i32, ::core::primitive::i32), &::core::primitive::i32) -> (::core::primitive::i32,)",
        ),
        (
            "use std::rc::Rc; use std::cell::RefCell;\nfn f() -> Option<Rc<RefCell<i32>>> {}",
            "() -> ::std::option::Option<::std::rc::Rc<::std::cell::RefCell<::core::primitive::i32>>>",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(open(text).key().trim_end(), expected, "{text}");
    }
}

#[test]
fn types_of_the_text_cross_by_their_fields() {
    let text = "#[derive(Debug, Clone)]\npub struct Node { pub(crate) value: i32, next: Option<Box<Node>> }\nenum Shape { Dot, Line(f64), Box2 { side: f64 } }\n\
                fn f(n: Node) -> Vec<Shape> {}";
    let signature = open(text);
    assert_eq!(signature.own_names().collect::<Vec<_>>(), ["Node", "Shape"]);
    let carriers = signature.carriers("super::");
    assert!(carriers.contains("super::Node { value: f0, next: f1 } => "), "{carriers}");
    assert!(
        carriers.contains("super::Shape::Line(f0) => ")
            && carriers.contains("2u32 => super::Shape::Box2 { side: "),
        "{carriers}"
    );
    let copies = signature.copies(&|name| name == "Shape");
    assert_eq!(
        copies,
        "#[allow(warnings)] #[derive(Debug, Clone)] pub(crate) struct Node { pub(crate) value: ::core::primitive::i32, \
         pub(crate) next: ::std::option::Option<::std::boxed::Box<self::Node>> }\n"
    );
    assert!(!signature.has_common_glue());
}

#[test]
fn names_that_the_text_gives_another_meaning_do_not_cross_as_the_standard_ones() {
    for text in [
        "struct Vec<T>(T);\nfn f(a: Vec<i32>) {}",
        "use mine::Vec;\nfn f(a: Vec<i32>) {}",
        "use mine::*;\nfn f(a: Vec<i32>) {}",
        "mod i32 {}\nfn f(a: i32::X) {}",
        "fn f(a: m::HashMap) {}",
        "type A = B; type B = A;\nfn f(a: A) {}",
        "trait Option {}\nfn f(a: Option<u8>) {}",
    ] {
        assert_eq!(Declared::of(text, "f"), Declared::Closed, "{text}");
    }
}

#[test]
fn what_cannot_cross_is_closed_or_generic() {
    for text in [
        "fn f(g: fn(i32) -> i32) -> i32 {}",
        "fn f(g: &dyn Fn(i32) -> i32) -> i32 {}",
        "fn f(a: Vec<Box<dyn std::any::Any>>) -> i32 {}",
        "async fn f() -> i32 {}",
        "fn f(a: &mut Vec<i32>) -> &i32 {}",
        "fn f(a: *const u8) {}",
        "fn f() -> impl Fn(i32) -> i32 {}",
        "struct S<T>(T);\nfn f(a: S<i32>) {}",
        "struct S { g: fn() }\nfn f(a: S) {}",
        "fn f(a: Option<&mut i32>) {}",
        "fn f(a: std::fs::File) {}",
        "fn f(a: &std::cell::RefCell<Vec<i32>>) {}",
    ] {
        assert_eq!(Declared::of(text, "f"), Declared::Closed, "{text}");
    }
    for text in
        ["fn f<T: Ord>(a: &[T]) {}", "fn f(a: impl AsRef<str>) {}", "fn f<const N: usize>(a: [u8; N]) {}"]
    {
        assert_eq!(Declared::of(text, "f"), Declared::Generic, "{text}");
    }
    assert_eq!(Declared::of("fn g() {}", "f"), Declared::Nowhere);
    assert_eq!(Declared::of("fn f( {", "f"), Declared::Nowhere);
    let deep = format!("fn f(a: {}i32{}) {{}}", "Vec<".repeat(3000), ">".repeat(3000));
    assert_eq!(Declared::of(&deep, "f"), Declared::Closed);
}

#[test]
fn borrowed_views_answer_for_what_is_turned_into_them() {
    let answers = |own: &str, task: &str| {
        open(&format!("fn f{own} {{}}")).answers_for(&open(&format!("fn f{task} {{}}")))
    };
    assert!(answers("(a: &[i32]) -> i32", "(a: &Vec<i32>) -> i32"));
    assert!(answers("(a: &str) -> i32", "(a: &String) -> i32"));
    assert!(answers("(b: std::string::String) -> i32", "(a: String) -> i32"));
    assert!(!answers("(a: &Vec<i32>) -> i32", "(a: &[i32]) -> i32"));
    assert!(!answers("(a: i32) -> i64", "(a: i32) -> i32"));
    assert!(!answers("(a: i32, b: i32) -> i32", "(a: i32) -> i32"));
}

#[test]
fn an_error_that_cannot_cross_shows_itself() {
    let shown = |text: &str| match Declared::of_answer(text, "f") {
        Declared::Open(signature) => signature.shows_its_error().then(|| signature.key()),
        _ => None,
    };
    for text in [
        "fn f() -> Result<i32, impl std::fmt::Debug> {}",
        "struct E<T>(T);\nfn f() -> Result<i32, E<Vec<u8>>> {}",
        "struct E<'a>(&'a str);\nfn f<'a>() -> Result<i32, E<'a>> {}",
        "struct E { g: fn() -> i32 }\ntype R<T, E> = Result<T, E>;\nfn f() -> R<i32, E> {}",
    ] {
        assert!(shown(text).unwrap().contains("::__proofhouse_border::Shown"), "{text}");
        assert_eq!(Declared::of(text, "f"), Declared::Closed, "{text}");
    }
    // What is carried stays what it is, and nothing but an error shows itself.
    assert_eq!(shown("fn f() -> Result<i32, String> {}"), None);
    assert_eq!(shown("struct E<T>(T);\nfn f() -> Result<E<i32>, String> {}"), None);
    assert_eq!(shown("struct E<T>(T);\nfn f() -> Vec<Result<i32, E<i32>>> {}"), None);
    let plain = open("type R<T, E = std::num::ParseIntError> = Result<T, E>;\nfn f() -> R<i32> {}");
    assert!(plain.key().contains("ParseIntError") && plain.showing_its_error().is_none());
    assert!(open("struct E(i32);\nfn f() -> Result<i32, E> {}").showing_its_error().is_some());
}
