//! Generated pages and schemas in the tree are what the program says.

use std::path::Path;

/// `PROOFHOUSE_UPDATE=1 cargo nextest run reference` writes them anew.
#[test]
fn generated_files_have_not_drifted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    #[expect(clippy::disallowed_methods, reason = "the switch of a developer")]
    let update = std::env::var_os("PROOFHOUSE_UPDATE").is_some();
    let mut drifted = Vec::new();
    for (name, content) in proofhouse::cli::generated() {
        let path = root.join(&name);
        if std::fs::read_to_string(&path).ok().as_deref() == Some(&content) {
            continue;
        }
        if update {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, content).unwrap();
        } else {
            drifted.push(name);
        }
    }
    assert!(
        drifted.is_empty(),
        "{drifted:?} drifted; `PROOFHOUSE_UPDATE=1 cargo nextest run reference` writes them anew"
    );
}
