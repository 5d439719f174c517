//! Where a dataset may be: below the suite's directory, whatever the path or a link says.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use proofhouse_ledger::files::sorted_dir;

use super::problem::{Code, nearest, quoted};
use crate::text::glob::{GLOBS, path_glob};

/// Why a path does not lead to a dataset.
#[derive(Debug)]
pub(crate) struct PathFault {
    pub(crate) code: Code,
    pub(crate) what: String,
    pub(crate) hint: String,
}

/// The file that `path` means below `base`.
pub(crate) fn resolve(base: &Utf8Path, path: &str) -> Result<Utf8PathBuf, PathFault> {
    let escape = |what: String| {
        PathFault {
        code: Code::PathEscape,
        what,
        hint: "datasets lie below the suite's directory; move the file there, or give another root with `--data-root`"
            .to_owned(),
    }
    };
    let relative = Utf8Path::new(path);
    if path.is_empty() {
        return Err(PathFault {
            code: Code::BadValue,
            what: "the path is empty".to_owned(),
            hint: "write the file's path, relative to the suite".to_owned(),
        });
    }
    if relative.is_absolute() || path.starts_with('/') {
        return Err(escape(format!("{} is an absolute path", quoted(path))));
    }
    let mut depth = 0i64;
    for component in relative.components() {
        match component {
            Utf8Component::ParentDir => depth -= 1,
            Utf8Component::Normal(_) => depth += 1,
            _ => {}
        }
        if depth < 0 {
            return Err(escape(format!("{} leaves the suite's directory", quoted(path))));
        }
    }
    let full = base.join(relative);
    let real = match full.canonicalize_utf8() {
        Ok(real) => real,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(missing(&full, path)),
        Err(error) => {
            return Err(PathFault {
                code: Code::Unreadable,
                what: format!("{} cannot be read: {error}", quoted(path)),
                hint: "check the file's permissions".to_owned(),
            });
        }
    };
    let inside = base.canonicalize_utf8().is_ok_and(|base| real.starts_with(base));
    if !inside {
        return Err(escape(format!("{} is a link that leaves the suite's directory", quoted(path))));
    }
    if !real.is_file() {
        return Err(PathFault {
            code: Code::Unreadable,
            what: format!("{} is not a file", quoted(path)),
            hint: "name one file; list several datasets one by one".to_owned(),
        });
    }
    Ok(real)
}

fn missing(full: &Utf8Path, path: &str) -> PathFault {
    let what = format!("there is no file {}", quoted(path));
    let (folder, name) = (full.parent().unwrap_or(Utf8Path::new("")), full.file_name().unwrap_or_default());
    let names = sorted_names(folder);
    let hint = match (nearest(name, names.iter().map(String::as_str)), names.is_empty()) {
        (Some(near), _) => {
            let near = Utf8Path::new(path).with_file_name(near);
            format!("did you mean `{near}`?")
        }
        (None, true) => format!("paths are relative to the suite: `{folder}` is empty or not there"),
        (None, false) => format!(
            "the files in `{folder}` are {}",
            super::problem::listed(names.iter().map(String::as_str))
        ),
    };
    PathFault { code: Code::MissingDataset, what, hint }
}

/// Names in a directory, in an order that does not depend on the file system.
#[expect(clippy::disallowed_methods, reason = "sorted just below, and only for a hint")]
fn sorted_names(folder: &Utf8Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort_unstable();
    names
}
/// Files at most that a glob may look at.
const MAX_LISTED: usize = 100_000;

/// The files below `base` whose path matches a glob, in order. Links out of the directory are refused when they are opened.
pub(crate) fn matching(base: &Utf8Path, pattern: &str) -> Result<Vec<String>, PathFault> {
    let fault = |code, what: String, hint: &str| PathFault { code, what, hint: hint.to_owned() };
    if pattern.starts_with('/') || pattern.split('/').any(|part| part == "..") {
        let what = format!("{} leaves the suite's directory", quoted(pattern));
        return Err(fault(Code::PathEscape, what, "datasets lie below the suite's directory"));
    }
    let glob = path_glob(pattern).map_err(|problem| fault(Code::BadValue, problem.to_string(), GLOBS))?;
    // Whole folders before the first wildcard need not be searched for.
    let fixed: Vec<&str> =
        pattern.split('/').take_while(|part| !part.contains(['*', '?', '[', '{'])).collect();
    let mut folders = vec![fixed.join("/")];
    let (mut found, mut listed) = (Vec::new(), 0);
    while let Some(folder) = folders.pop() {
        for name in sorted_dir(&base.join(&folder)).unwrap_or_default() {
            listed += 1;
            if listed > MAX_LISTED {
                let what = format!("{} has more than {MAX_LISTED} files to look at", quoted(pattern));
                return Err(fault(Code::TooLarge, what, "name the folder more closely"));
            }
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            match std::fs::metadata(base.join(&path)) {
                Ok(about) if about.is_dir() && path.split('/').count() < 32 => folders.push(path),
                Ok(about) if about.is_file() && glob.is_match(&path) => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}
