//! Fills in the places of an argument once it is known where they are.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::spec::{Arg, Bind, Piece};

/// Where the named places are.
pub(crate) struct Layout<'a> {
    pub(crate) binds: &'a [Bind],
    /// Whether binds are at their inside paths, or where the host has them.
    pub(crate) inside: bool,
    pub(crate) work: PathBuf,
}

/// The text of an argument. A name that no bind has stays empty, so the program fails to find it, visibly.
pub(crate) fn expand(arg: &Arg, layout: &Layout<'_>) -> OsString {
    let mut text = OsString::new();
    for piece in &arg.0 {
        match piece {
            Piece::Text(literal) => text.push(literal),
            Piece::Work(rest) => text.push(join(layout.work.clone(), rest)),
            Piece::Bind(name, rest) => {
                let bind = layout.binds.iter().find(|bind| bind.name == *name);
                let place = bind.map(|bind| if layout.inside { &bind.inside } else { &bind.host });
                text.push(join(place.cloned().unwrap_or_default(), rest));
            }
        }
    }
    text
}

fn join(base: PathBuf, rest: &str) -> PathBuf {
    if rest.is_empty() { base } else { base.join(rest) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_text_is_never_replaced() {
        let binds = [Bind::new("tools", "/host/tools", "/tools")];
        let arg = Arg::text("--x={work}:").then(Arg::bind("tools", "bin/a")).then(Arg::work(""));
        let inside = Layout { binds: &binds, inside: true, work: "/work".into() };
        let host = Layout { binds: &binds, inside: false, work: "/tmp/w".into() };
        assert_eq!(expand(&arg, &inside), "--x={work}:/tools/bin/a/work");
        assert_eq!(expand(&arg, &host), "--x={work}:/host/tools/bin/a/tmp/w");
    }
}
