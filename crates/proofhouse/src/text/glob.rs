//! Path globs as people write them, read by `globset`; the one reading for the gate's rules and for artefacts.

use globset::{GlobBuilder, GlobMatcher};

/// What a glob may hold, for hints.
pub(crate) const GLOBS: &str =
    "`*` and `?` stay within a folder, `**` stands for whole folders, `[…]` is a set, `{a,b}` is either";

/// Why a text is no glob.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum GlobProblem {
    /// `globset` cannot read it.
    #[error("`{0}` is not a path glob: {1}")]
    Unreadable(String, globset::ErrorKind),
    /// `globset` reads such a `**` as a `*`, and a rule that forbids `/etc**` would let `/etc/shadow` pass.
    #[error("`{0}` has a `**` beside other characters")]
    Beside(String),
    /// `globset` looks at bytes, of which such a character has several.
    #[error("`{0}` has a set with a character that is not ASCII")]
    Set(String),
}

/// Compiles a path glob: `*` and `?` stay within a folder, `**` crosses folders, `[…]` is a set, `{a,b}` is either.
pub(crate) fn path_glob(text: &str) -> Result<GlobMatcher, GlobProblem> {
    let beside = |part: &str| part.contains("**") && part != "**";
    if text.split('/').any(beside) {
        return Err(GlobProblem::Beside(text.to_owned()));
    }
    if text.split('[').skip(1).any(|rest| !rest.split(']').next().unwrap_or(rest).is_ascii()) {
        return Err(GlobProblem::Set(text.to_owned()));
    }
    let built = GlobBuilder::new(text).literal_separator(true).build();
    let glob = built.map_err(|error| GlobProblem::Unreadable(text.to_owned(), error.kind().clone()))?;
    Ok(glob.compile_matcher())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        for (glob, path, expected) in [
            ("/etc/**", "/etc/shadow", true),
            ("/etc/**", "/etc/ssl/private/key", true),
            ("/etc/**", "/etc", false),
            ("/etc/*", "/etc/ssl/private", false),
            ("/**", "/", true),
            ("/**", "/a\nb/c", true),
            ("../**", "../x", true),
            ("..", "..", true),
            ("**", "a/b", true),
            ("**/.env", ".env", true),
            ("**/.env", "a/b/.env", true),
            ("**/.env", "/.env", true),
            ("**/.env", "a/b.env", false),
            ("**/.ssh/**", "/root/.ssh/id", true),
            ("a/**/b", "a/b", true),
            ("a/**/b", "a/x/y/b", true),
            ("keys/?.pem", "keys/a.pem", true),
            ("keys/[!a-c].pem", "keys/a.pem", false),
            ("keys/{id,rsa}.pem", "keys/rsa.pem", true),
            ("*.py", "x.py", true),
            ("*.py", "a/x.py", false),
            ("*.py", "ä\n.py", true),
            ("**/*.py", "a/b/x.py", true),
            ("a?c", "abc", true),
            ("a?c", "a/c", false),
            ("a.c", "abc", false),
            ("schlüssel/**", "schlüssel/a", true),
        ] {
            assert_eq!(path_glob(glob).unwrap().is_match(path), expected, "{glob} on {path:?}");
        }
    }

    #[test]
    fn what_would_let_more_pass_than_it_says_is_refused() {
        let problem = |glob: &str| path_glob(glob).unwrap_err().to_string();
        assert_eq!(problem("/etc**"), "`/etc**` has a `**` beside other characters");
        assert_eq!(problem("a/***/b"), "`a/***/b` has a `**` beside other characters");
        assert_eq!(problem("[äö]"), "`[äö]` has a set with a character that is not ASCII");
        assert!(problem("[").starts_with("`[` is not a path glob: "), "{}", problem("["));
        assert!(problem("{a").starts_with("`{a` is not a path glob: "), "{}", problem("{a"));
    }
}
