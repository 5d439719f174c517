//! The order of the stages: a module uses only modules that stand before it.

use std::path::Path;

/// `lib.rs` in its order; the ledger and the sandbox are crates of their own.
const ORDER: [&str; 13] = [
    "page", "vary", "target", "judge", "code", "suite", "plan", "run", "tally", "diff", "report", "export",
    "cli",
];

/// Modules that see the ledger and what stands between, but never what could run or judge anything again.
const LEDGER_ONLY: [&str; 4] = ["tally", "diff", "report", "export"];

fn sources(dir: &Path, files: &mut Vec<std::path::PathBuf>) {
    #[expect(clippy::disallowed_methods, reason = "the order of findings does not matter")]
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn used_modules(text: &str) -> Vec<String> {
    let mut used = Vec::new();
    for piece in text.split("crate::").skip(1) {
        let names = match piece.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or_default().split(',').map(str::trim).collect(),
            None => vec![piece],
        };
        for name in names {
            let word: String = name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if ORDER.contains(&word.as_str()) {
                used.push(word);
            }
        }
    }
    used
}

#[test]
fn modules_use_only_what_stands_before_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let place = |name: &str| ORDER.iter().position(|known| *known == name);
    let mut checked = 0;
    let mut wrong = Vec::new();
    let mut files = Vec::new();
    sources(&root, &mut files);
    for path in files {
        let relative = path.strip_prefix(&root).unwrap();
        let module = relative.components().next().unwrap().as_os_str().to_str().unwrap();
        let Some(own) = place(module.trim_end_matches(".rs")) else { continue };
        checked += 1;
        for used in used_modules(&std::fs::read_to_string(&path).unwrap()) {
            let forbidden = LEDGER_ONLY.contains(&ORDER[own])
                && matches!(used.as_str(), "vary" | "target" | "judge" | "code" | "suite" | "plan" | "run");
            if place(&used) > Some(own) || forbidden {
                wrong.push(format!("{} uses {used}", relative.display()));
            }
        }
    }
    assert!(checked > 20, "the sources were found");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_source_file_says_what_it_is_for() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    sources(crates, &mut files);
    let silent: Vec<_> =
        files.iter().filter(|path| !std::fs::read_to_string(path).unwrap().starts_with("//!")).collect();
    assert!(silent.is_empty(), "without a `//!` opening: {silent:#?}");
}
