//! Stands in the copy's crate as `crate::mutants`: which variant is run at a place, or which places a test comes by.

use std::env::var;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// `place << 8 | variant`; 0 before the environment was asked.
static CHOSEN: AtomicUsize = AtomicUsize::new(0);
const NONE: usize = usize::MAX;
static SEEN: [AtomicBool; 1 << 14] = [const { AtomicBool::new(false) }; 1 << 14];

/// 0 is what the source says.
pub fn at(place: usize) -> usize {
    let chosen = CHOSEN.load(Relaxed);
    if chosen == NONE {
        return 0;
    }
    if chosen == 0 {
        let number = var("MUTANT").ok().and_then(|text| text.parse().ok());
        CHOSEN.store(number.unwrap_or(NONE - 1), Relaxed);
        if number.is_none() && file().is_none() {
            CHOSEN.store(NONE, Relaxed);
        }
        return at(place);
    }
    if chosen == NONE - 1 && !SEEN[place].swap(true, Relaxed) {
        let mut file = file().as_ref().expect("places are noted only where there is a file");
        file.write_all(format!("{place}\n").as_bytes()).expect("the places a test comes by are written down");
    }
    if chosen >> 8 == place { chosen & 255 } else { 0 }
}

fn file() -> &'static Option<std::fs::File> {
    static FILE: OnceLock<Option<std::fs::File>> = OnceLock::new();
    FILE.get_or_init(|| {
        let path = var("MUTANTS_SEEN").ok()?;
        Some(OpenOptions::new().append(true).create(true).open(path).expect("the file for places opens"))
    })
}
