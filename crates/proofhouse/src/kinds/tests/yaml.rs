//! The emitter against two readers: ours and `serde-saphyr`'s own.

use std::sync::Arc;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::Object;
use proptest::prelude::*;

use crate::spine::suite::tree::{Source, Tree};
use crate::spine::suite::{de, yaml};

fn read_back(text: &str) -> Json {
    let source = Source::new("x.yaml".to_owned(), text.as_bytes().to_vec()).unwrap();
    let tree = Tree::parse(Arc::new(source)).unwrap_or_else(|problems| panic!("{}\n{text}", problems[0]));
    de::read(&tree, false).value.unwrap()
}

fn saphyr(text: &str) -> Json {
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options(text, options).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn any_json() -> impl Strategy<Value = Json> {
    let text = prop_oneof![
        any::<String>(),
        "[ -~]{0,12}",
        "(yes|no|on|null|~|true|1e3|0x10|- a|# b|: c|\\{|\\[|&a|\\*a|!b|%|@|`|\\?|\\||>|<<|---|\\.\\.\\.)",
        "[\\x00-\\x20\\x7f-\\u{a0}\\u{2028}\\u{2029}\\u{feff}\\u{fffe}\\u{1f600}]{1,6}",
    ];
    let number = prop_oneof![
        any::<f64>().prop_filter("finite", |n| n.is_finite()),
        (-1000i32..1000).prop_map(f64::from)
    ];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        number.prop_map(Json::Number),
        text.clone().prop_map(Json::String),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            prop::collection::vec((text.clone(), inner), 0..6)
                .prop_map(|pairs| Json::Object(Object::from_iter(pairs))),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_emitted_is_read_back(value in any_json()) {
        let text = yaml::emit(&value);
        prop_assert_eq!(&saphyr(&text), &value, "{}", text);
        prop_assert_eq!(&read_back(&text), &value, "{}", text);
        prop_assert_eq!(yaml::emit(&read_back(&text)), text);
    }
}

#[test]
fn long_keys() {
    for length in [90, 101, 998, 999, 1000, 1024, 5000] {
        for member in
            [Json::Null, Json::Array(vec![Json::Null]), Json::Object(Object::from_iter([("a", true)]))]
        {
            let inner =
                Json::Object(Object::from_iter([("k".repeat(length), member), ("z".to_owned(), Json::Null)]));
            let value = Json::Array(vec![inner.clone(), Json::Object(Object::from_iter([("deep", inner)]))]);
            let text = yaml::emit(&value);
            assert_eq!(saphyr(&text), value, "{length}");
            assert_eq!(read_back(&text), value, "{length}");
        }
    }
}

#[test]
fn layout() {
    let value = serde_json::json!({
        "empty": {}, "none": [], "nested": [[1, [2]], {"a": 1, "b": {"c": "x\ny"}}], "yes": "no", "a b": 1.5, "1": null,
    });
    let value: Json = serde_json::from_value(value).unwrap();
    insta::assert_snapshot!(yaml::emit(&value), @r#"
    "1": null
    "a b": 1.5
    empty: {}
    nested:
      - - 1
        - - 2
      - a: 1
        b:
          c: "x\ny"
    none: []
    "yes": "no"
    "#);
    assert_eq!(yaml::emit(&Json::Null), "null\n");
    assert_eq!(yaml::emit(&Json::Array(Vec::new())), "[]\n");
}
