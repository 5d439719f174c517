//! What is wrong with something that a user wrote or has, as a value: where it is, what it is, what to do about it, and
//! whether the place may be shown.
//!
//! Whoever finds the fault makes the complaint, and only whoever prints it turns it into text; in between nobody reads
//! its words.

use std::borrow::Cow;
use std::fmt;

/// Something that cannot work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// The keys and list places that lead from the settings in question to it; empty for the settings as a whole.
    pub at: Vec<At>,
    /// What is wrong: a lowercase fragment, the subject in backticks.
    pub what: String,
    /// How to fix it.
    pub hint: Option<String>,
    /// Whether a key may stand at that place, so that nothing of it is to be shown.
    pub secret: bool,
}

/// One step from a setting to one inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    /// A key of a map.
    Key(Cow<'static, str>),
    /// A place in a list, from 0.
    Index(usize),
}

impl Complaint {
    /// A complaint about the settings as a whole.
    pub fn new(what: impl Into<String>) -> Self {
        Complaint { at: Vec::new(), what: what.into(), hint: None, secret: false }
    }

    /// A complaint in the words of another error.
    pub fn of(error: impl fmt::Display) -> Self {
        Complaint::new(error.to_string())
    }

    /// Adds how to fix it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A complaint about the setting of this name, within the one that it was about before.
    #[must_use]
    pub fn key(mut self, key: impl Into<Cow<'static, str>>) -> Self {
        self.at.push(At::Key(key.into()));
        self
    }

    /// A complaint about this place of a list, within the setting that it was about before.
    #[must_use]
    pub fn index(mut self, index: usize) -> Self {
        self.at.push(At::Index(index));
        self
    }

    /// The same, told from further outside: `steps` lead to where its own way begins.
    #[must_use]
    pub fn below(mut self, steps: impl IntoIterator<Item = At>) -> Self {
        self.at.splice(0..0, steps);
        self
    }

    /// Nothing of the place may be shown, because it may hold a key.
    #[must_use]
    pub fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// The same with a subject before it: `value` before `is empty`.
    #[must_use]
    pub fn about(mut self, subject: impl fmt::Display) -> Self {
        self.what = format!("{subject} {}", self.what);
        self
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.hint {
            Some(hint) => write!(f, "\n\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Complaint {}

/// For records and reports that keep it as text.
impl From<Complaint> for String {
    fn from(complaint: Complaint) -> Self {
        complaint.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_keeps_its_parts_apart_until_it_is_printed() {
        let complaint = Complaint::new("is 0").hint("give 1").key("count").about("`count`");
        let outside = complaint.below([At::Key("params".into()), At::Index(2)]);
        assert_eq!(outside.at, [At::Key("params".into()), At::Index(2), At::Key("count".into())]);
        assert_eq!(outside.to_string(), "`count` is 0\n\nhint: give 1");
        assert!(!outside.secret && outside.secret().secret);
    }
}
