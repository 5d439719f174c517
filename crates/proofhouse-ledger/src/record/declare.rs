//! The one declaration of a record, and all that follows from it.
//!
//! `record!` makes of one list of fields: the borrowed writer, the owned reader with its JSON Schema, the fields by name
//! and type, and the digests that `verify` computes anew. The order of a line's keys is computed by the compiler, so a
//! declaration may tell its fields in the order in which a reader understands them, and writing compares no names.

use serde::{Deserialize, Deserializer};

use super::{Head, Value};
use crate::Digest;
use crate::digest::Hasher;

/// Hands the fields of the head to another macro: they are listed here and nowhere else.
///
/// `schema_version` and `record_sha256` are the writer's own; it is given the rest in a [`Head`].
macro_rules! with_head {
    ($then:ident { $($rest:tt)* }) => {
        $crate::record::declare::$then! {
            head {
                /// The case.
                case_id: String,
                /// On the time spine in deterministic mode.
                completed_at: String,
                /// What went wrong, in words.
                error: Option<String>,
                /// A stable code for what went wrong.
                error_type: Option<String>,
                /// The place in the plan.
                index: u64,
                /// SHA-256 of what the target received.
                input_fingerprint: $crate::Digest,
                /// The kind of suite.
                kind: $crate::record::Kind,
                /// Null in deterministic mode.
                latency_ms: Option<f64>,
                /// SHA-256 of the output, null where there is none.
                output_sha256: Option<$crate::Digest>,
                /// Whether it passed; null where that could not be said.
                passed: Option<bool>,
                /// Which score decides.
                primary_metric: Option<String>,
                /// The trial within the plan.
                record_id: $crate::RecordId,
                /// Which repetition, from 0.
                repetition: u32,
                /// The run.
                run_id: $crate::RunId,
                /// Each score, 0 to 1; null where it could not be said.
                scores: std::collections::BTreeMap<String, Option<f64>>,
                /// The target's name in the suite.
                slot: String,
                /// On the time spine in deterministic mode.
                started_at: String,
                /// What became of the trial.
                status: $crate::record::Status,
                /// The suite.
                suite_id: String,
                /// Tokens and the like, as the target reported them.
                usage: $crate::Json,
                /// The variant of the case, if a generator made one.
                variant_id: Option<String>,
            }
            fixed {
                /// SHA-256 of this line without this field.
                record_sha256: $crate::Digest,
                /// The version of this format.
                schema_version: String,
            }
            $($rest)*
        }
    };
}
pub(super) use with_head;

/// The fields of the head by name and type, and their values in the same order.
macro_rules! head_fields {
    (
        head { $($(#[$doc:meta])* $name:ident: $type:ty,)* }
        fixed { $($(#[$fixed_doc:meta])* $fixed:ident: $fixed_type:ty,)* }
    ) => {
        /// The fields that every record has.
        #[derive(Clone, Copy)]
        pub struct HeadFields {
            $($(#[$doc])* pub $name: Field<$type>,)*
            $($(#[$fixed_doc])* pub $fixed: Field<$fixed_type>,)*
        }

        /// The fields that every record has, by name and type.
        pub const HEAD: HeadFields = HeadFields {
            $($name: Field::new(stringify!($name)),)*
            $($fixed: Field::new(stringify!($fixed)),)*
        };

        impl<'a> Head<'a> {
            /// In the order of the declaration.
            fn values(&self) -> [Value<'a>; [$(stringify!($name)),*].len()] {
                [$(self.$name.into()),*]
            }
        }
    };
}
pub(super) use head_fields;

/// Declares the record of a kind. See the files beside this one.
macro_rules! record {
    ($($declaration:tt)*) => {
        $crate::record::declare::with_head!(declare { $($declaration)* });
    };
}
pub(super) use record;

macro_rules! declare {
    (
        head { $($(#[doc = $head_doc:literal])* $head:ident: $head_type:ty,)* }
        fixed { $($(#[doc = $fixed_doc:literal])* $fixed:ident: $fixed_type:ty,)* }
        fields $FIELDS:ident: $Fields:ident;
        $(#[$reader_doc:meta])* reads $Reader:ident;
        $(#[$writer_doc:meta])* writes $Writer:ident;
        own {
            $($(#[doc = $doc:literal])* $name:ident $(as $wire:literal)? $([absent if $absent:literal])?: $type:ty,)*
        }
        given { $($(#[doc = $given_doc:literal])* $given:ident: $given_type:ty,)* }
        derived {
            $($(#[doc = $more_doc:literal])* $more:ident $([absent if $more_absent:literal])?: $more_type:ty
                = |$body:ident, $of:ident| $value:expr;)*
        }
        means { $($meant:ident: $meaning:literal,)* }
        digests { $($digest:expr => $content:expr,)* }
    ) => {
        $(#[$reader_doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[schemars(transform = annotate)]
        pub struct $Reader {
            $($(#[doc = $head_doc])* pub $head: $head_type,)*
            $($(#[doc = $fixed_doc])* pub $fixed: $fixed_type,)*
            $(
                $(#[doc = $doc])*
                $(#[serde(rename = $wire)])?
                $(#[serde(
                    default,
                    skip_serializing_if = $absent,
                    deserialize_with = "crate::record::declare::present"
                )])?
                pub $name: $type,
            )*
            $(
                $(#[doc = $more_doc])*
                $(#[serde(
                    default,
                    skip_serializing_if = $more_absent,
                    deserialize_with = "crate::record::declare::present"
                )])?
                pub $more: $more_type,
            )*
        }

        $(#[$writer_doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $Writer<'a> {
            $($(#[doc = $doc])* pub $name: <$type as $crate::record::Stored>::Given<'a>,)*
            $($(#[doc = $given_doc])* pub $given: $given_type,)*
        }

        impl $Writer<'_> {
            /// Appends the line and gives its digest.
            pub fn push(&self, out: &mut Vec<u8>, head: &$crate::record::Head<'_>) -> $crate::Digest {
                use $crate::record::declare::{absentable, order, push_line, wire};
                const OWN: &[&str] = &[$(wire!($name $($wire)?),)* $(wire!($more),)*];
                const NAMES: &[&str] = &[
                    $(wire!($head),)* $(wire!($fixed),)* $(wire!($name $($wire)?),)* $(wire!($more),)*
                ];
                const ORDER: [usize; NAMES.len()] = order(NAMES);
                let own: [$crate::record::Value<'_>; OWN.len()] = [
                    $(absentable!(self.$name $(, $absent)?),)*
                    $({
                        let ($body, $of) = (self, head);
                        let _ = ($body, $of);
                        absentable!($value $(, $more_absent)?)
                    },)*
                ];
                push_line(out, head, &own, (NAMES, &ORDER))
            }
        }

        /// The fields that this kind adds to the head.
        #[derive(Clone, Copy)]
        pub struct $Fields {
            $($(#[doc = $doc])* pub $name: $crate::record::declare::field_of!($type $(, $absent)?),)*
            $($(#[doc = $more_doc])* pub $more: $crate::record::declare::field_of!($more_type $(, $more_absent)?),)*
        }

        /// The fields that this kind adds to the head, by name and type.
        pub const $FIELDS: $Fields = $Fields {
            $($name: $crate::record::Field::new($crate::record::declare::wire!($name $($wire)?)),)*
            $($more: $crate::record::Field::new(stringify!($more)),)*
        };

        /// The digests of a record's own content.
        pub(super) const DIGESTS: &[$crate::record::ContentDigest] =
            &[$($crate::record::ContentDigest::new($digest, $content)),*];

        /// Every field of the kind in the order of a line, and what its value can be.
        pub(super) const SHAPE: &[$crate::record::declare::Shape] = {
            use $crate::record::declare::{Shape, order, stored_of, wire};
            const NAMES: &[&str] = &[
                $(wire!($head),)* $(wire!($fixed),)* $(wire!($name $($wire)?),)* $(wire!($more),)*
            ];
            const ORDER: [usize; NAMES.len()] = order(NAMES);
            const ALL: [Shape; NAMES.len()] = [
                $(Shape::of::<$head_type>(wire!($head)),)*
                $(Shape::of::<$fixed_type>(wire!($fixed)),)*
                $(Shape::of::<stored_of!($type $(, $absent)?)>(wire!($name $($wire)?)),)*
                $(Shape::of::<stored_of!($more_type $(, $more_absent)?)>(wire!($more)),)*
            ];
            const SORTED: [Shape; NAMES.len()] = {
                let mut sorted = ALL;
                let mut at = 0;
                while at < sorted.len() {
                    sorted[at] = ALL[ORDER[at]];
                    at += 1;
                }
                sorted
            };
            &SORTED
        };

        /// The JSON Schema of a line.
        pub(super) fn schema() -> schemars::Schema {
            schemars::schema_for!($Reader)
        }

        fn annotate(schema: &mut schemars::Schema) {
            $crate::record::declare::annotate(
                schema,
                &[$(($crate::record::HEAD.$meant.as_str(), $meaning)),*],
            );
        }
    };
}
pub(super) use declare;

/// The name in files: the field's own, unless another is given.
macro_rules! wire {
    ($name:ident) => {
        stringify!($name)
    };
    ($name:ident $wire:literal) => {
        $wire
    };
}
pub(super) use wire;

/// A value that is null, or not there at all, where there is none.
macro_rules! absentable {
    ($value:expr) => {
        $crate::record::Value::from($value)
    };
    ($value:expr, $absent:literal) => {
        $crate::record::value::OrAbsent::or_absent($value)
    };
}
pub(super) use absentable;

macro_rules! field_of {
    ($type:ty) => {
        $crate::record::Field<$type>
    };
    ($type:ty, $absent:literal) => {
        $crate::record::Field<$crate::record::Maybe<$type>>
    };
}
pub(super) use field_of;

macro_rules! stored_of {
    ($type:ty) => {
        $type
    };
    ($type:ty, $absent:literal) => {
        $crate::record::Maybe<$type>
    };
}
pub(super) use stored_of;

/// A field by name, and what its value can be.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) fits: fn(&[u8]) -> bool,
    pub(crate) may_be_missing: fn() -> bool,
}

impl Shape {
    pub(super) const fn of<T: super::Stored>(name: &'static str) -> Self {
        Self { name, fits: T::fits, may_be_missing: T::may_be_missing }
    }
}

/// The places of the names in the order of a line's keys. A name that comes twice does not compile.
pub(super) const fn order<const N: usize>(names: &[&str]) -> [usize; N] {
    let mut order = [0; N];
    let mut count = 0;
    while count < N {
        let mut at = count;
        while at > 0 && is_before(names[count].as_bytes(), names[order[at - 1]].as_bytes()) {
            order[at] = order[at - 1];
            at -= 1;
        }
        order[at] = count;
        count += 1;
    }
    order
}

const fn is_before(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() {
        if a[at] != b[at] {
            return a[at] < b[at];
        }
        at += 1;
    }
    assert!(a.len() != b.len(), "a field is declared twice");
    a.len() < b.len()
}

/// Appends a line. `names` and their `order` are of the head's values and then of the record's `own`.
pub(super) fn push_line(
    out: &mut Vec<u8>,
    head: &Head<'_>,
    own: &[Value<'_>],
    (names, order): (&[&str], &[usize]),
) -> Digest {
    let head = head.values();
    let fixed = [Value::OwnDigest, Value::Word(super::SCHEMA_VERSION)];
    let from = out.len();
    let mut cut = from;
    out.push(b'{');
    for place in order {
        let value = match place.checked_sub(head.len()) {
            None => head[*place],
            Some(place) => fixed.get(place).copied().unwrap_or_else(|| own[place - fixed.len()]),
        };
        match value {
            Value::Absent => {}
            Value::OwnDigest => cut = out.len(),
            value => push_field(out, names[*place], value),
        }
    }
    out.pop();
    out.push(b'}');

    let mut hasher = Hasher::default();
    hasher.update(&out[from..]);
    let digest = hasher.finish();
    let mut field = [0u8; SELF_FIELD_BYTES];
    self_field(&digest, &mut field);
    out.splice(cut..cut, field);
    out.push(b'\n');
    digest
}

fn push_field(out: &mut Vec<u8>, key: &str, value: Value<'_>) {
    out.push(b'"');
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b"\":");
    value.push(out);
    out.push(b',');
}

const SELF_DIGEST: &str = super::HEAD.record_sha256.as_str();

/// `"record_sha256":"…64…",` is always this long.
const SELF_FIELD_BYTES: usize = SELF_DIGEST.len() + 3 + 66 + 1;

fn self_field(digest: &Digest, out: &mut [u8; SELF_FIELD_BYTES]) {
    let key = SELF_DIGEST.len();
    out[0] = b'"';
    out[1..=key].copy_from_slice(SELF_DIGEST.as_bytes());
    out[key + 1..key + 4].copy_from_slice(b"\":\"");
    out[key + 4..key + 68].copy_from_slice(&digest.hex());
    out[key + 68..].copy_from_slice(b"\",");
}

/// The type of a field that may be absent.
pub(super) trait Absentable<'de>: Sized {
    /// Reads it where it is there: then it is not nothing, even if it is null.
    fn present<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

impl<'de, T: Deserialize<'de>> Absentable<'de> for Option<T> {
    fn present<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Some)
    }
}

impl<'de> Absentable<'de> for Vec<String> {
    fn present<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer)
    }
}

/// Reads a field that may be absent, where it is there.
pub(super) fn present<'de, T: Absentable<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::present(deserializer)
}

/// Says in a record's schema what the head's fields mean for its kind; required fields are listed in the order of a line.
pub(super) fn annotate(schema: &mut schemars::Schema, meanings: &[(&str, &str)]) {
    if let Some(serde_json::Value::Array(required)) = schema.get_mut("required") {
        required.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    }
    for (name, meaning) in meanings {
        if let Some(property) = schema.pointer_mut(&format!("/properties/{name}")) {
            property["description"] = (*meaning).into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_put_in_the_order_of_keys() {
        const NAMES: &[&str] = &["stop", "a", "stop_n", "ab", "B", "z", "sto"];
        const ORDER: [usize; NAMES.len()] = order(NAMES);
        assert_eq!(ORDER.map(|at| NAMES[at]), ["B", "a", "ab", "sto", "stop", "stop_n", "z"]);
    }

    #[test]
    #[should_panic(expected = "declared twice")]
    fn a_name_that_comes_twice_is_refused() {
        let _: [usize; 3] = order(&["a", "b", "a"]);
    }
}
