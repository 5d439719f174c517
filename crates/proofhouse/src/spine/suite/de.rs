//! From a tree to typed configuration, reporting every mistake that is independent of the others.
//!
//! Serde stops at the first error. Here an unknown key is noted and skipped, and any other mistake is noted, the entry that
//! holds it is set aside, and reading starts again: a suite with five mistakes costs the user one round, not five.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use proofhouse_ledger::json::MAX_SAFE_INTEGER;
use serde::de::{self, DeserializeOwned, Unexpected, Visitor};

use super::peers;
use super::problem::{Code, MAX_REPORTED, Problem, did_you_mean, listed, nearest, quoted};
use super::tree::{Kind, NodeId, Step, Tree, path_text, push_step};

mod access;
mod error;

use access::{Entries, Items, Variant};
use error::Error;

/// What was read, and what was wrong on the way.
pub(crate) struct ReadValue<T> {
    /// The value without what was wrong, when anything is left.
    pub(crate) value: Option<T>,
    /// In the order of the file.
    pub(crate) problems: Vec<Problem>,
    /// Integers that were kept as text, in lenient mode.
    pub(crate) warnings: Vec<String>,
}

/// Reads a document. In lenient mode an integer beyond 2^53 in a free value becomes text.
pub(crate) fn read<T: DeserializeOwned>(tree: &Tree, lenient: bool) -> ReadValue<T> {
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
    ReadValue { value, problems, warnings: cx.warnings.into_inner() }
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
            Kind::Float(value) => Err(not_finite(*value)),
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
            None => Err(Error::boxed(
                Code::NotCanonical,
                format!("integer {} is beyond 2^53 and would be rounded", quoted(digits)),
            )
            .hint(format!("put it in quotes: \"{digits}\""))),
        }
    }

    /// A value for a place that takes numbers of its own range: it says itself what does not fit.
    fn number<'de, V: Visitor<'de>>(self, visitor: V) -> Res<V::Value> {
        let result = match self.kind() {
            // The type's own range comes first, because it says what would fit.
            Kind::Integer(digits) => match (digits.parse::<i64>(), digits.parse::<u64>()) {
                (_, Ok(value)) if value <= MAX_SAFE_INTEGER => visitor.visit_u64(value),
                (_, Ok(value)) => visitor.visit_u64(value).and_then(|_| Err(too_large(digits))),
                (Ok(value), _) if value.unsigned_abs() <= MAX_SAFE_INTEGER => visitor.visit_i64(value),
                (Ok(value), _) => visitor.visit_i64(value).and_then(|_| Err(too_large(digits))),
                _ => Err(too_large(digits)),
            },
            Kind::Float(value) if value.is_finite() => visitor.visit_f64(*value),
            Kind::Float(value) => visitor.visit_f64(*value).and_then(|_| Err(not_finite(*value))),
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
                        .hint(
                            peers::ours(&entry.key, known)
                                .unwrap_or_else(|| did_you_mean(&entry.key, known, "keys")),
                        );
                let meant = nearest(&entry.key, known.iter().copied());
                self.cx.unknown.borrow_mut().insert((self.node, at), Unknown { problem, meant });
            }
        }
        Entries { de: self, known, at: 0, value: None }
    }
}

fn not_finite(value: f64) -> Box<Error> {
    let name = match value {
        value if value.is_nan() => "NaN",
        value if value > 0.0 => "infinity",
        _ => "minus infinity",
    };
    Error::boxed(Code::NotCanonical, format!("{name} is not a number that JSON can hold"))
        .hint("write null, or put it in quotes")
}

fn too_large(digits: &str) -> Box<Error> {
    Error::boxed(Code::OutOfRange, format!("integer {} is beyond 2^53 and would be rounded", quoted(digits)))
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
            _ => format!("one of {}", listed(variants.iter().copied())),
        };
        let result = match self.kind() {
            Kind::Map(entries) if entries.len() == 1 => {
                let entry = &entries[0];
                let path = Path::Below(self.path, Step::Key(&entry.key));
                let value = De { cx: self.cx, node: entry.value, slot: self.slot, path: &path };
                if variants.contains(&entry.key.as_str()) {
                    visitor.visit_enum(Variant { name: &entry.key, value: Some(value), at: self })
                } else {
                    let mut error =
                        Error::boxed(Code::BadValue, format!("unknown key {}", quoted(&entry.key)))
                            .hint(did_you_mean(&entry.key, variants, "choices"));
                    error.place = Some(self.cx.tree.source.place(entry.key_mark));
                    error.path = path.to_string();
                    error.slot = self.slot;
                    Err(error)
                }
            }
            Kind::Map(entries) => {
                let keys = listed(entries.iter().map(|entry| entry.key.as_str()));
                let (found, hint) = match entries.len() {
                    0 => ("none".to_owned(), format!("write {}", one_of())),
                    count => (format!("{count}: {keys}"), "give each a name of its own".to_owned()),
                };
                Err(Error::boxed(Code::WrongType, format!("expected one key, found {found}")).hint(hint))
            }
            Kind::Text(name) if variants.contains(&name.as_str()) => {
                visitor.visit_enum(Variant { name, value: None, at: self })
            }
            Kind::Text(name) => Err(de::Error::unknown_variant(name, variants)),
            other => Err(Error::boxed(
                Code::WrongType,
                format!("expected {}, found {}", one_of(), other.describe()),
            )),
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
