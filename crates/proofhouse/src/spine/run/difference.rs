//! Which setting of an earlier run is another one now.

use std::collections::BTreeMap;

/// The first setting that differs between two files of resolved settings, in words.
pub(super) fn first(theirs: &[u8], ours: &[u8]) -> String {
    let (theirs, ours) = (String::from_utf8_lossy(theirs), String::from_utf8_lossy(ours));
    let (theirs, ours) = (by_key(&theirs), by_key(&ours));
    for (key, then) in &theirs {
        let now = ours.get(key).map(Vec::as_slice).unwrap_or_default();
        let at = (0..then.len().max(now.len())).find(|at| then.get(*at) != now.get(*at));
        let Some(at) = at else { continue };
        let said =
            |lines: &[&str]| lines.get(at).map_or("nothing".to_owned(), |line| format!("`{}`", line.trim()));
        let of = if at > 0 { format!(" in `{key}`") } else { String::new() };
        return format!("its settings differ{of}: {} then, {} now", said(then), said(now));
    }
    "its settings differ".to_owned()
}

/// The lines of each setting at the top, so that a list that grew is not compared with what follows it.
fn by_key(config: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut settings: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut key = "";
    for line in config.lines() {
        if !line.starts_with([' ', '-']) {
            key = line.split(':').next().unwrap_or(line);
        }
        settings.entry(key).or_default().push(line);
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_differs_is_named() {
        let differ = |a: &str, b: &str| first(a.as_bytes(), b.as_bytes());
        assert_eq!(
            differ("k:\n  - 1\n  - 5\nkind: code\n", "k:\n  - 1\nkind: code\n"),
            "its settings differ in `k`: `- 5` then, nothing now"
        );
        assert_eq!(
            differ("a: 1\nseed: 1\n", "a: 1\nseed: 2\n"),
            "its settings differ: `seed: 1` then, `seed: 2` now"
        );
        assert_eq!(differ("a: 1\n", "a: 1\nb: 2\n"), "its settings differ");
    }
}
