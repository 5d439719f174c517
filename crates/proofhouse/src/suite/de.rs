//! From a tree to typed configuration, reporting every mistake that is independent of the others.
//!
//! Serde stops at the first error. Here an unknown key is noted and skipped, and any other mistake is noted, the entry that
//! holds it is set aside, and reading starts again: a suite with five mistakes costs the user one round, not five.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use proofhouse_ledger::json::MAX_SAFE_INTEGER;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Unexpected, Visitor};

use super::problem::{Code, MAX_REPORTED, Problem, did_you_mean, nearest, quoted};
use super::tree::{Kind, NodeId, Step, Tree, path_text, push_step};

/// What was read, and what was wrong on the way.
pub(crate) struct Reading<T> {
    /// The value without what was wrong, when anything is left.
    pub(crate) value: Option<T>,
    /// In the order of the file.
    pub(crate) problems: Vec<Problem>,
    /// Integers that were kept as text, in lenient mode.
    pub(crate) warnings: Vec<String>,
}

/// Reads a document. In lenient mode an integer beyond 2^53 in a free value becomes text.
pub(crate) fn read<T: DeserializeOwned>(tree: &Tree, lenient: bool) -> Reading<T> {
    let cx = Context {
        tree,
        lenient,
        dropped: RefCell::default(),
        unknown: RefCell::default(),
        warnings: RefCell::default(),
    };
    let mut problems = Vec::new();
    let value = loop {
        cx.warnings.borrow_mut().clear();
        let deserializer = De { cx: &cx, node: tree.root, slot: None, path: &Path::Root };
        let error = match T::deserialize(deserializer) {
            Ok(value) => break Some(value),
            Err(error) => *error,
        };
        let follows = error.missing.is_some_and(|(map, field)| cx.explains(map, field));
        let slot = error.slot;
        if !follows {
            problems.push(error.into_problem(tree));
        }
        match slot {
            Some(slot) if problems.len() < MAX_REPORTED && cx.dropped.borrow_mut().insert(slot) => {}
            _ => break None,
        }
    };
    problems.extend(cx.unknown.into_inner().into_values().map(|unknown| unknown.problem));
    problems.sort_by_key(|problem| (problem.place.line, problem.place.column));
    Reading { value, problems, warnings: cx.warnings.into_inner() }
}

/// An entry of a list or a map.
type Slot = (NodeId, usize);

struct Unknown {
    problem: Problem,
    meant: Option<&'static str>,
}

struct Context<'t> {
    tree: &'t Tree,
    lenient: bool,
    dropped: RefCell<BTreeSet<Slot>>,
    unknown: RefCell<BTreeMap<Slot, Unknown>>,
    warnings: RefCell<Vec<String>>,
}

impl Context<'_> {
    /// Whether a missing key follows from a mistake that is reported already: the entry was set aside, or misspelt.
    fn explains(&self, map: NodeId, field: &str) -> bool {
        let Kind::Map(entries) = &self.tree.node(map).kind else { return false };
        let dropped = self.dropped.borrow();
        let unknown = self.unknown.borrow();
        entries.iter().enumerate().any(|(at, entry)| {
            let misspelt = unknown.get(&(map, at)).and_then(|unknown| unknown.meant) == Some(field);
            misspelt || (entry.key == field && dropped.contains(&(map, at)))
        })
    }
}

enum Path<'p> {
    Root,
    Below(&'p Path<'p>, Step<'p>),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn push(path: &Path<'_>, out: &mut String) {
            if let Path::Below(parent, step) = path {
                push(parent, out);
                push_step(out, *step);
            }
        }
        let mut out = String::new();
        push(self, &mut out);
        f.write_str(&out)
    }
}

impl<'p> Path<'p> {
    fn steps(&'p self) -> Vec<Step<'p>> {
        match self {
            Path::Root => Vec::new(),
            Path::Below(parent, step) => {
                let mut steps = parent.steps();
                steps.push(*step);
                steps
            }
        }
    }
}

/// What went wrong while reading; it gets its place on the way out of the innermost value.
#[derive(Debug)]
pub(crate) struct Error {
    code: Code,
    what: String,
    hint: Option<String>,
    place: Option<super::problem::Place>,
    path: String,
    slot: Option<Slot>,
    missing: Option<(NodeId, &'static str)>,
    missing_field: Option<&'static str>,
}

impl Error {
    fn new(code: Code, what: impl Into<String>) -> Box<Self> {
        Box::new(Error {
            code,
            what: what.into(),
            hint: None,
            place: None,
            path: String::new(),
            slot: None,
            missing: None,
            missing_field: None,
        })
    }

    fn hint(mut self: Box<Self>, hint: impl Into<String>) -> Box<Self> {
        self.hint = Some(hint.into());
        self
    }

    fn into_problem(self, tree: &Tree) -> Problem {
        let place = self.place.unwrap_or_else(|| tree.place(tree.root, &[]));
        Problem {
            code: self.code,
            place,
            what: self.what,
            path: self.path,
            hint: self.hint,
            notes: Vec::new(),
            also: None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}
impl std::error::Error for Error {}

/// What serde says of a type, in the words of a suite's author.
fn in_plain_words(expected: &str) -> String {
    let whole = |from: i128, to: i128| format!("a whole number from {from} to {to}");
    match expected {
        "u8" => whole(0, u8::MAX.into()),
        "u16" => whole(0, u16::MAX.into()),
        "u32" => whole(0, u32::MAX.into()),
        "u64" | "usize" => whole(0, MAX_SAFE_INTEGER.into()),
        "i32" => whole(i32::MIN.into(), i32::MAX.into()),
        "i64" => whole(-i128::from(MAX_SAFE_INTEGER), MAX_SAFE_INTEGER.into()),
        "f64" | "f32" => "a number".to_owned(),
        "a boolean" => "`true` or `false`".to_owned(),
        "a string" | "str" => "text".to_owned(),
        "a sequence" => "a list".to_owned(),
        _ if expected.starts_with("struct ") => "a map of settings".to_owned(),
        _ => expected.to_owned(),
    }
}

fn found(unexpected: Unexpected<'_>) -> String {
    match unexpected {
        Unexpected::Bool(value) => format!("`{value}`"),
        Unexpected::Unsigned(value) => format!("`{value}`"),
        Unexpected::Signed(value) => format!("`{value}`"),
        Unexpected::Float(value) => format!("`{value}`"),
        Unexpected::Str("") => "empty text".to_owned(),
        Unexpected::Str(text) => format!("the text {}", quoted(text)),
        Unexpected::Unit | Unexpected::Option => "nothing".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a map".to_owned(),
        other => other.to_string(),
    }
}

/// What a wrong type most often means.
fn type_hint(unexpected: Unexpected<'_>, expected: &str) -> Option<String> {
    match (expected, unexpected) {
        ("`true` or `false`", Unexpected::Str(text)) => match text.to_ascii_lowercase().as_str() {
            "true" | "false" => Some(format!("remove the quotes: {}", text.to_ascii_lowercase())),
            "yes" | "on" | "y" => Some("write `true`".to_owned()),
            "no" | "off" | "n" => Some("write `false`".to_owned()),
            _ => None,
        },
        ("text", Unexpected::Bool(value)) => Some(format!("put it in quotes: \"{value}\"")),
        ("text", Unexpected::Unsigned(value)) => Some(format!("put it in quotes: \"{value}\"")),
        ("text", Unexpected::Signed(value)) => Some(format!("put it in quotes: \"{value}\"")),
        ("text", Unexpected::Float(value)) => Some(format!("put it in quotes: \"{value}\"")),
        ("a map of settings", Unexpected::Unit) => Some("write `{}` for no settings".to_owned()),
        (expected, Unexpected::Str(text))
            if expected.contains("number") && text.trim().parse::<f64>().is_ok() =>
        {
            Some(format!("remove the quotes: {}", text.trim()))
        }
        _ => None,
    }
}

impl de::Error for Box<Error> {
    fn custom<T: fmt::Display>(what: T) -> Self {
        Error::new(Code::BadValue, what.to_string())
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let expected = in_plain_words(&expected.to_string());
        let mut error =
            Error::new(Code::WrongType, format!("expected {expected}, found {}", found(unexpected)));
        error.hint = type_hint(unexpected, &expected);
        error
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let expected = in_plain_words(&expected.to_string());
        Error::new(Code::OutOfRange, format!("expected {expected}, found {}", found(unexpected)))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Error::new(Code::BadValue, format!("unknown value {}", quoted(variant)))
            .hint(did_you_mean(variant, expected, "choices"))
    }

    fn missing_field(field: &'static str) -> Self {
        let mut error =
            Error::new(Code::MissingKey, format!("missing key `{field}`")).hint(format!("add `{field}: …`"));
        error.missing_field = Some(field);
        error
    }
}

#[derive(Clone, Copy)]
struct De<'a, 't> {
    cx: &'a Context<'t>,
    node: NodeId,
    slot: Option<Slot>,
    path: &'a Path<'a>,
}

type Res<T> = Result<T, Box<Error>>;

impl<'a, 't> De<'a, 't> {
    fn kind(&self) -> &'t Kind {
        &self.cx.tree.node(self.node).kind
    }

    /// Gives an error this value's place, unless it has the place of a value inside.
    fn located<T>(self, result: Res<T>) -> Res<T> {
        result.map_err(|mut error| {
            if error.place.is_none() {
                let steps = self.path.steps();
                error.place = Some(self.cx.tree.place(self.cx.tree.root, &steps));
                error.path = path_text(&steps);
                error.slot = self.slot;
                error.missing = error.missing_field.map(|field| (self.node, field));
            }
            error
        })
    }

    /// What the value is by itself, for a place that takes any value.
    fn any<'de, V: Visitor<'de>>(self, visitor: V) -> Res<V::Value> {
        match self.kind() {
            Kind::Null => visitor.visit_unit(),
            Kind::Bool(value) => visitor.visit_bool(*value),
            Kind::Integer(digits) => self.integer(digits, visitor),
            Kind::Float(value) if value.is_finite() => visitor.visit_f64(*value),
            Kind::Float(value) => {
                let name = match value {
                    value if value.is_nan() => "NaN",
                    value if *value > 0.0 => "infinity",
                    _ => "minus infinity",
                };
                Err(Error::new(Code::NotCanonical, format!("{name} is not a number that JSON can hold"))
                    .hint("write null, or put it in quotes"))
            }
            Kind::Text(text) => visitor.visit_str(text),
            Kind::List(items) => visitor.visit_seq(Items { de: self, items, at: 0 }),
            Kind::Map(_) => visitor.visit_map(self.entries(None)),
        }
    }

    fn integer<'de, V: Visitor<'de>>(self, digits: &str, visitor: V) -> Res<V::Value> {
        let safe = digits.parse::<i64>().ok().filter(|value| value.unsigned_abs() <= MAX_SAFE_INTEGER);
        match safe {
            Some(value) if value < 0 => visitor.visit_i64(value),
            Some(value) => visitor.visit_u64(value.unsigned_abs()),
            None if self.cx.lenient => {
                let place = self.cx.tree.place(self.cx.tree.root, &self.path.steps());
                self.cx.warnings.borrow_mut().push(format!(
                    "{place}: integer {} is beyond 2^53 and would be rounded; kept as text in `{}`",
                    quoted(digits),
                    self.path
                ));
                visitor.visit_str(digits)
            }
            None => Err(Error::new(
                Code::NotCanonical,
                format!("integer {} is beyond 2^53 and would be rounded", quoted(digits)),
            )
            .hint(format!("put it in quotes: \"{digits}\""))),
        }
    }

    /// A value for a place that takes numbers of its own range: it says itself what does not fit.
    fn number<'de, V: Visitor<'de>>(self, visitor: V) -> Res<V::Value> {
        let result = match self.kind() {
            Kind::Integer(digits) => match (digits.parse::<i64>(), digits.parse::<u64>()) {
                (_, Ok(value)) => visitor.visit_u64(value),
                (Ok(value), _) => visitor.visit_i64(value),
                _ => visitor.visit_f64(digits.parse().unwrap_or(f64::INFINITY)),
            },
            Kind::Float(value) => visitor.visit_f64(*value),
            _ => self.any(visitor),
        };
        self.located(result)
    }

    /// The entries of a map, those of unknown keys noted and left out when the known ones are given.
    fn entries(self, known: Option<&'static [&'static str]>) -> Entries<'a, 't> {
        let Kind::Map(entries) = self.kind() else { unreachable!("only called on maps") };
        if let Some(known) = known {
            for (at, entry) in
                entries.iter().enumerate().filter(|(_, entry)| !known.contains(&entry.key.as_str()))
            {
                let place = self.cx.tree.source.place(entry.key_mark);
                let problem =
                    Problem::new(Code::UnknownKey, place, format!("unknown key {}", quoted(&entry.key)))
                        .at_path(Path::Below(self.path, Step::Key(&entry.key)).to_string())
                        .hint(did_you_mean(&entry.key, known, "keys"));
                let meant = nearest(&entry.key, known.iter().copied());
                self.cx.unknown.borrow_mut().insert((self.node, at), Unknown { problem, meant });
            }
        }
        Entries { de: self, known, at: 0, value: None }
    }
}

macro_rules! forward_numbers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Res<V::Value> {
            self.number(visitor)
        })*
    };
}

impl<'de> de::Deserializer<'de> for De<'_, '_> {
    type Error = Box<Error>;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Res<V::Value> {
        self.located(self.any(visitor))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Res<V::Value> {
        match self.kind() {
            Kind::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Res<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Res<V::Value> {
        match self.kind() {
            Kind::Map(_) => self.located(visitor.visit_map(self.entries(Some(fields)))),
            // Serde would take a list for the fields in their order.
            Kind::List(_) => self.located(Err(de::Error::invalid_type(Unexpected::Seq, &visitor))),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Res<V::Value> {
        let one_of = || match variants {
            [only] => format!("`{only}`"),
            _ => format!("one of {}", super::problem::listed(variants.iter().copied())),
        };
        let result = match self.kind() {
            Kind::Map(entries) if entries.len() == 1 => {
                let entry = &entries[0];
                let path = Path::Below(self.path, Step::Key(&entry.key));
                let value = De { cx: self.cx, node: entry.value, slot: self.slot, path: &path };
                if variants.contains(&entry.key.as_str()) {
                    visitor.visit_enum(Variant { name: &entry.key, value: Some(value), at: self })
                } else {
                    let mut error = Error::new(Code::BadValue, format!("unknown key {}", quoted(&entry.key)))
                        .hint(did_you_mean(&entry.key, variants, "choices"));
                    error.place = Some(self.cx.tree.source.place(entry.key_mark));
                    error.path = path.to_string();
                    error.slot = self.slot;
                    Err(error)
                }
            }
            Kind::Map(entries) => {
                let what = format!("expected one key, {}, found {} keys", one_of(), entries.len());
                Err(Error::new(Code::WrongType, what).hint("give each a name of its own"))
            }
            Kind::Text(name) if variants.contains(&name.as_str()) => {
                visitor.visit_enum(Variant { name, value: None, at: self })
            }
            Kind::Text(name) => Err(de::Error::unknown_variant(name, variants)),
            other => {
                Err(Error::new(Code::WrongType, format!("expected {}, found {}", one_of(), other.describe())))
            }
        };
        self.located(result)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Res<V::Value> {
        visitor.visit_unit()
    }

    forward_numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    serde::forward_to_deserialize_any! {
        bool char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map identifier
    }
}

struct Items<'a, 't> {
    de: De<'a, 't>,
    items: &'t [NodeId],
    at: usize,
}

impl<'de> de::SeqAccess<'de> for Items<'_, '_> {
    type Error = Box<Error>;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Res<Option<T::Value>> {
        while let Some(node) = self.items.get(self.at) {
            let (index, slot) = (self.at, (self.de.node, self.at));
            self.at += 1;
            if self.de.cx.dropped.borrow().contains(&slot) {
                continue;
            }
            let path = Path::Below(self.de.path, Step::Index(index));
            return seed
                .deserialize(De { cx: self.de.cx, node: *node, slot: Some(slot), path: &path })
                .map(Some);
        }
        Ok(None)
    }
}

struct Entries<'a, 't> {
    de: De<'a, 't>,
    known: Option<&'static [&'static str]>,
    at: usize,
    value: Option<usize>,
}

impl<'de> de::MapAccess<'de> for Entries<'_, '_> {
    type Error = Box<Error>;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Res<Option<K::Value>> {
        let Kind::Map(entries) = self.de.kind() else { unreachable!("only made for maps") };
        while let Some(entry) = entries.get(self.at) {
            let at = self.at;
            self.at += 1;
            let unknown = self.known.is_some_and(|known| !known.contains(&entry.key.as_str()));
            if unknown || self.de.cx.dropped.borrow().contains(&(self.de.node, at)) {
                continue;
            }
            self.value = Some(at);
            let key = de::value::StrDeserializer::<Box<Error>>::new(&entry.key);
            return seed.deserialize(key).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Res<V::Value> {
        let Kind::Map(entries) = self.de.kind() else { unreachable!("only made for maps") };
        let at = self.value.take().expect("serde asks for a value after its key");
        let path = Path::Below(self.de.path, Step::Key(&entries[at].key));
        let slot = Some((self.de.node, at));
        seed.deserialize(De { cx: self.de.cx, node: entries[at].value, slot, path: &path })
    }
}

struct Variant<'a, 't> {
    name: &'a str,
    value: Option<De<'a, 't>>,
    at: De<'a, 't>,
}

impl<'a, 'de, 't> de::EnumAccess<'de> for Variant<'a, 't> {
    type Error = Box<Error>;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Res<(V::Value, Self)> {
        let name = seed.deserialize(de::value::StrDeserializer::<Box<Error>>::new(self.name))?;
        Ok((name, self))
    }
}

impl Variant<'_, '_> {
    fn bare(&self) -> Box<Error> {
        Error::new(Code::WrongType, format!("`{}` needs settings", self.name))
            .hint(format!("write `{}: {{}}`, or its settings instead of `{{}}`", self.name))
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'_, '_> {
    type Error = Box<Error>;

    fn unit_variant(self) -> Res<()> {
        match self.value {
            None => Ok(()),
            Some(_) => {
                let error = Error::new(Code::WrongType, format!("`{}` takes no settings", self.name));
                self.at.located(Err(error.hint(format!("write `{}` alone", self.name))))
            }
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Res<T::Value> {
        match self.value {
            Some(value) => seed.deserialize(value),
            None => self.at.located(Err(self.bare())),
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Res<V::Value> {
        match self.value {
            Some(value) => de::Deserializer::deserialize_any(value, visitor),
            None => self.at.located(Err(self.bare())),
        }
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Res<V::Value> {
        match self.value {
            Some(value) => de::Deserializer::deserialize_struct(value, "", fields, visitor),
            None => self.at.located(Err(self.bare())),
        }
    }
}
