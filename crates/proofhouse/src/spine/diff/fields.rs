//! Where two values differ, by RFC 6901 pointer, and what the user asked not to see.

use std::cmp::Ordering;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::key_order;

use super::report::{Excerpt, FieldChange};
use super::{DiffError, Options};

/// How much of a long value is kept on either side of where it begins to differ.
const KEPT_BEFORE_CHARS: usize = 200;
const KEPT_CHARS: usize = 2_000;

/// The options, checked.
#[derive(Debug)]
pub(super) struct Rules {
    ignore: Vec<String>,
    /// Pointers of whole top-level fields, as their names.
    ignored_keys: Vec<String>,
    tolerance: f64,
}

impl Rules {
    pub(super) fn new(options: &Options) -> Result<Self, DiffError> {
        if !(options.tolerance.is_finite() && options.tolerance >= 0.0) {
            return Err(DiffError::BadTolerance(options.tolerance));
        }
        if let Some(margin) = options.margin.filter(|margin| !(0.0..=1.0).contains(margin)) {
            return Err(DiffError::BadMargin(margin));
        }
        if let Some(bad) = options.ignore.iter().find(|pointer| !is_pointer(pointer)) {
            return Err(DiffError::BadPointer(bad.clone()));
        }
        let ignored_keys = options.ignore.iter().filter_map(|pointer| {
            let key = &pointer[1..];
            (!key.contains(['/', '~'])).then(|| key.to_owned())
        });
        Ok(Self {
            ignored_keys: ignored_keys.collect(),
            ignore: options.ignore.clone(),
            tolerance: options.tolerance,
        })
    }

    /// Whether a difference at `pointer` is not a change.
    pub(super) fn ignores(&self, pointer: &str) -> bool {
        self.ignore.iter().any(|ignored| {
            pointer
                .strip_prefix(ignored.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// Whether a whole top-level field is not compared.
    pub(super) fn ignores_key(&self, key: &[u8]) -> bool {
        self.ignored_keys.iter().any(|ignored| ignored.as_bytes() == key)
    }

    fn tolerates(&self, difference: &Difference<'_>) -> bool {
        let (Some(Json::Number(old)), Some(Json::Number(new))) = (difference.old, difference.new) else {
            return false;
        };
        difference.pointer.starts_with("/scores/") && (old - new).abs() <= self.tolerance
    }
}

fn is_pointer(text: &str) -> bool {
    let tildes_fine = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    text.len() > 1 && text.starts_with('/') && tildes_fine
}

/// One difference between two records.
#[derive(Debug)]
pub(super) struct Difference<'j> {
    pub(super) pointer: String,
    pub(super) old: Option<&'j Json>,
    pub(super) new: Option<&'j Json>,
}

impl Difference<'_> {
    /// The name of the record's field that it is in.
    pub(super) fn key(&self) -> &str {
        let path = self.pointer.get(1..).unwrap_or("");
        path.split('/').next().unwrap_or("")
    }

    /// With its values shortened around where they begin to differ.
    pub(super) fn shown(&self) -> FieldChange {
        let (old, new) = (self.old.map(Json::to_text), self.new.map(Json::to_text));
        let same = match (&old, &new) {
            (Some(old), Some(new)) => old.chars().zip(new.chars()).take_while(|(a, b)| a == b).count(),
            _ => 0,
        };
        let excerpt = |value: Option<&Json>, text: Option<String>| Some(excerpt(value?, &text?, same));
        FieldChange {
            old: excerpt(self.old, old),
            new: excerpt(self.new, new),
            pointer: self.pointer.clone(),
        }
    }
}

fn excerpt(value: &Json, text: &str, same: usize) -> Excerpt {
    let total = text.chars().count();
    let from = if total > KEPT_CHARS { same.min(total).saturating_sub(KEPT_BEFORE_CHARS) } else { 0 };
    let kept: String = text.chars().skip(from).take(KEPT_CHARS).collect();
    let cut_after = total - from - kept.chars().count();
    Excerpt {
        kind: value.type_name().to_owned(),
        text: kept,
        cut_before: from as u64,
        cut_after: cut_after as u64,
    }
}

/// All differences within one field that `rules` does not leave out, in the order of their pointers.
pub(super) fn differences<'j>(
    key: &str,
    old: Option<&'j Json>,
    new: Option<&'j Json>,
    rules: &Rules,
) -> Vec<Difference<'j>> {
    let mut found = Vec::new();
    step_into(&mut String::new(), key, old, new, &mut |difference: Difference<'j>| {
        if !rules.ignores(&difference.pointer) && !rules.tolerates(&difference) {
            found.push(difference);
        }
    });
    found
}

fn descend<'j>(
    path: &mut String,
    old: Option<&'j Json>,
    new: Option<&'j Json>,
    visit: &mut impl FnMut(Difference<'j>),
) {
    match (old, new) {
        (Some(old), Some(new)) if old == new => {}
        (Some(Json::Object(old)), Some(Json::Object(new))) => {
            let (mut olds, mut news) = (old.iter().peekable(), new.iter().peekable());
            loop {
                let order = match (olds.peek(), news.peek()) {
                    (None, None) => break,
                    (Some(_), None) => Ordering::Less,
                    (None, Some(_)) => Ordering::Greater,
                    (Some((a, _)), Some((b, _))) => key_order(a, b),
                };
                let old = if order.is_le() { olds.next() } else { None };
                let new = if order.is_ge() { news.next() } else { None };
                let key = old.or(new).expect("one of the two is there").0;
                step_into(path, key, old.map(|(_, v)| v), new.map(|(_, v)| v), visit);
            }
        }
        (Some(Json::Array(old)), Some(Json::Array(new))) => {
            for at in 0..old.len().max(new.len()) {
                step_into(path, &at.to_string(), old.get(at), new.get(at), visit);
            }
        }
        _ => visit(Difference { pointer: path.clone(), old, new }),
    }
}

fn step_into<'j>(
    path: &mut String,
    step: &str,
    old: Option<&'j Json>,
    new: Option<&'j Json>,
    visit: &mut impl FnMut(Difference<'j>),
) {
    let length = path.len();
    path.push('/');
    path.push_str(&step.replace('~', "~0").replace('/', "~1"));
    descend(path, old, new, visit);
    path.truncate(length);
}

#[cfg(test)]
mod tests {
    use proofhouse_ledger::json::{Strictness, parse};

    use super::*;

    fn check(old: &str, new: &str, ignore: &[&str], expected: &[&str]) {
        let ignore = ignore.iter().map(|pointer| (*pointer).to_owned()).collect();
        let rules = Rules::new(&Options { ignore, tolerance: 0.1, ..Options::default() }).unwrap();
        let [old, new] = [old, new].map(|text| parse(text.as_bytes(), Strictness::Strict).unwrap());
        let found = differences("scores", Some(&old), Some(&new), &rules);
        assert_eq!(found.iter().map(|d| d.pointer.as_str()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn differences_are_named_by_pointer() {
        check(r#"{"b":[1,"2"]}"#, r#"{"b":[1,"3",4]}"#, &[], &["/scores/b/1", "/scores/b/2"]);
        check(r#"{"a/b":1,"c~d":1}"#, r#"{"a/b":2,"c~d":2}"#, &[], &["/scores/a~1b", "/scores/c~0d"]);
        check(r#"{"a":1,"c":1}"#, r#"{"b":1,"c":1}"#, &[], &["/scores/a", "/scores/b"]);
        check("[1]", r#""x""#, &[], &["/scores"]);
    }

    #[test]
    fn ignored_and_tolerated_differences_are_left_out() {
        let ignored = &["/scores/debug", "/scores/o"];
        check(r#"{"debug":1,"x":1}"#, r#"{"debug":2,"x":2}"#, ignored, &["/scores/x"]);
        check(r#"{"x":1}"#, r#"{"debug":2,"x":1}"#, ignored, &[]);
        check(r#"{"o":1,"other":1}"#, r#"{"o":2,"other":2}"#, ignored, &["/scores/other"]);
        check(r#"{"a":0.5,"b":0.5}"#, r#"{"a":0.55,"b":0.7}"#, &[], &["/scores/b"]);
        check(r#"{"a":null}"#, r#"{"a":0}"#, &[], &["/scores/a"]);
    }

    #[test]
    fn unusable_options_are_refused() {
        for bad in ["", "/", "usage", "/a~2"] {
            let options = Options { ignore: vec![bad.to_owned()], ..Options::default() };
            assert!(matches!(Rules::new(&options), Err(DiffError::BadPointer(_))), "{bad:?}");
        }
        for bad in [f64::NAN, -0.1, f64::INFINITY] {
            assert!(Rules::new(&Options { tolerance: bad, ..Options::default() }).is_err());
        }
    }

    #[test]
    fn a_long_value_is_kept_around_its_difference() {
        let (old, new) = (format!("{}old tail", "x".repeat(9_000)), format!("{}new tail", "x".repeat(9_000)));
        let (old, new) = (Json::from(old), Json::from(new));
        let shown = Difference { pointer: "/output".to_owned(), old: Some(&old), new: Some(&new) }.shown();
        let new = shown.new.unwrap();
        assert!(new.text.ends_with("xnew tail"));
        assert_eq!((new.cut_before, new.cut_after), (8_800, 0));
    }
}
