//! Opening a page for the person who asked for it.

use std::process::Stdio;

use camino::Utf8Path;

use super::{Terminal, env};

/// Opens a page in the user's browser; where there is none, says where the page is.
pub(super) fn open(page: &Utf8Path, terminal: &Terminal) {
    let openers = env::browser().into_iter().chain(["xdg-open".to_owned(), "open".to_owned()]);
    for opener in openers {
        #[expect(clippy::disallowed_methods, reason = "the user's own browser, which no sandbox should hold")]
        let started = std::process::Command::new(&opener)
            .arg(page)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        if started.is_ok() {
            return;
        }
    }
    terminal.say(&format!("note: no browser could be started; the page is `{page}`"));
}
