//! Names that reach the disk: run and record ids, and the rule for names that people choose.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::Digest;
use crate::canonical::push_text;

macro_rules! hex_id {
    ($(#[$doc:meta])* $name:ident, $bytes:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; $bytes]);

        impl $name {
            /// The leading bytes of a digest.
            pub fn from_digest(digest: &Digest) -> Self {
                let mut id = [0u8; $bytes];
                id.copy_from_slice(&digest.0[..$bytes]);
                Self(id)
            }

            /// Reads the lowercase hexadecimal text.
            pub fn from_hex(text: &[u8]) -> Option<Self> {
                if text.len() != 2 * $bytes {
                    return None;
                }
                let mut padded = [b'0'; 64];
                padded[..2 * $bytes].copy_from_slice(text);
                Digest::from_hex(&padded).map(|digest| Self::from_digest(&digest))
            }

            /// The raw bytes.
            pub fn bytes(&self) -> &[u8; $bytes] {
                &self.0
            }

            /// The text, without an allocation.
            pub fn hex(&self) -> [u8; 2 * $bytes] {
                let mut whole = [0u8; 32];
                whole[..$bytes].copy_from_slice(&self.0);
                let mut out = [0u8; 2 * $bytes];
                out.copy_from_slice(&Digest(whole).hex()[..2 * $bytes]);
                out
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(std::str::from_utf8(&self.hex()).expect("hexadecimal digits are ASCII"))
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::from_hex(text.as_bytes())
                    .ok_or_else(|| de::Error::custom(format_args!("`{text}` is not a {}", stringify!($name))))
            }
        }
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "pattern": format!("^[0-9a-f]{{{}}}$", 2 * $bytes) })
            }
        }
    };
}

hex_id!(
    /// What was run: 12 hexadecimal digits of the digest over suite content, seed, datasets and targets.
    RunId,
    6
);
hex_id!(
    /// Which trial of a plan: 24 hexadecimal digits over slot, case, variant and repetition.
    RecordId,
    12
);

impl RunId {
    /// The id of an identity, given as canonical JSON.
    pub fn of_identity(canonical: &[u8]) -> Self {
        Self::from_digest(&Digest::of(canonical))
    }
}

impl RecordId {
    /// The id of a trial. It knows nothing of the dataset's hash or the row's place, so one edited row is one changed
    /// record. The digest is over the canonical array `[slot, case, variant, repetition]`, so no two trials collide by
    /// the way their names join.
    pub fn of_trial(slot: &str, case_id: &str, variant_id: Option<&str>, repetition: u32) -> Self {
        let mut key = Vec::with_capacity(64 + slot.len() + case_id.len());
        key.push(b'[');
        push_text(&mut key, slot);
        key.push(b',');
        push_text(&mut key, case_id);
        key.push(b',');
        match variant_id {
            Some(variant) => push_text(&mut key, variant),
            None => key.extend_from_slice(b"null"),
        }
        key.push(b',');
        crate::canonical::push_integer(&mut key, repetition.into());
        key.push(b']');
        Self::from_digest(&Digest::of(&key))
    }
}

/// Why a name cannot be used for a suite or a slot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a usable name: 1 to 100 of a-z A-Z 0-9 . _ - and no dot in front")]
pub struct BadName(pub String);

/// Suite ids and slots become parts of paths, so they are held to what cannot leave a directory.
pub fn check_name(name: &str) -> Result<(), BadName> {
    let fits = (1..=100).contains(&name.len())
        && !name.starts_with('.')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    if fits { Ok(()) } else { Err(BadName(name.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_a_directory() {
        for good in ["a", "quick-start_1.2", "A..b"] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        for bad in ["", ".", "..", ".hidden", "a/b", "a\\b", "a\0", "ä", "a b", &"x".repeat(101)] {
            assert!(check_name(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn joined_names_never_collide() {
        let a = RecordId::of_trial("s", "a\",\"b", None, 0);
        let b = RecordId::of_trial("s\",\"a", "b", None, 0);
        assert_ne!(a, b);
        assert_ne!(RecordId::of_trial("s", "c", None, 0), RecordId::of_trial("s", "c", Some("null"), 0));
    }

    #[test]
    fn hex_round_trip() {
        let id = RecordId::of_trial("slot", "case", Some("v"), 3);
        assert_eq!(RecordId::from_hex(&id.hex()), Some(id));
        assert_eq!(RecordId::from_hex(b"xyz"), None);
    }

    /// By `printf '["s","c","v",7]' | sha256sum`, and `["s","c",null,0]`.
    #[test]
    fn the_id_of_a_trial_follows_from_what_it_is_of() {
        let text = |variant, repetition| RecordId::of_trial("s", "c", variant, repetition).to_string();
        assert_eq!(text(Some("v"), 7), "e8c9d0bd0653863530ed3786");
        assert_eq!(text(None, 0), "01939a018a7259d532e3978c");
        assert_eq!(check_name(&"x".repeat(100)), Ok(()), "as long as a name may be");
    }
}
