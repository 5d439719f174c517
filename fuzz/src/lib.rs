//! Feeds a reader of the program by its name.

use camino::{Utf8Path, Utf8PathBuf};

/// A folder for this process alone, for readers that want a file.
fn folder() -> Utf8PathBuf {
    let folder = std::env::temp_dir().join(format!("proofhouse-fuzz-{}", std::process::id()));
    Utf8PathBuf::from_path_buf(folder).expect("a temporary folder with a UTF-8 name")
}

/// Feeds the reader of this name.
pub fn feed(name: &str, bytes: &[u8]) {
    let reader = proofhouse::readers::named(name).expect("a reader of this name");
    let folder = folder();
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    (reader.read)(bytes, &folder);
}

/// Writes what every reader likes into a corpus that fuzzers begin from.
pub fn seed(corpus: &Utf8Path) -> std::io::Result<()> {
    for reader in proofhouse::readers::all() {
        let folder = corpus.join(reader.name.replace('-', "_"));
        std::fs::create_dir_all(&folder)?;
        for (number, example) in reader.examples.iter().enumerate() {
            std::fs::write(folder.join(format!("example-{number}")), example)?;
        }
    }
    Ok(())
}
