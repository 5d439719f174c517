//! A run in progress: what its records say so far. Each look reads only what came since the one before.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use proofhouse_ledger::RunPaths;
use proofhouse_ledger::disk::open_regular;
use proofhouse_ledger::glance;
use proofhouse_ledger::read::lines;
use proofhouse_ledger::record::{HEAD, Line, MAX_LINE_BYTES, Spans};

/// How far a run is, and how far its records were read.
#[derive(Debug, Default)]
pub(super) struct Progress {
    offset: u64,
    done: u64,
    passed: u64,
    failed: u64,
}

impl Progress {
    /// Reads what is new and gives all of it as JSON.
    pub(super) fn look(&mut self, paths: &RunPaths) -> String {
        let total = glance::envelope(paths).map_or(0, |envelope| envelope.total_cases_expected);
        if let Ok(file) = open_regular(&paths.records()) {
            let length = file.metadata().map_or(0, |meta| meta.len());
            if length < self.offset {
                // Another run took its place.
                *self = Progress::default();
            }
            let _ = self.read(file);
        }
        let Progress { done, passed, failed, .. } = self;
        serde_json::json!({"done": done, "total": total, "passed": passed, "failed": failed}).to_string()
    }

    fn read(&mut self, mut file: File) -> std::io::Result<()> {
        file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        // What one look reads at most; the rest is there for the next one.
        file.take(MAX_LINE_BYTES as u64).read_to_end(&mut bytes)?;
        // A line without its end is still being written.
        let whole = memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1);
        let mut spans = Spans::default();
        for bytes in lines(&bytes[..whole]) {
            let Ok(line) = Line::split(bytes, &mut spans) else { continue };
            self.done += 1;
            match line.get(HEAD.passed) {
                Ok(Some(true)) => self.passed += 1,
                Ok(Some(false)) => self.failed += 1,
                _ => {}
            }
        }
        self.offset += whole as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_not_read_again_and_a_torn_line_waits() {
        let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1/probe/run/records.jsonl");
        let all = std::fs::read(golden).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let paths = RunPaths::new(dir.path().to_str().unwrap());
        let count = memchr::memchr_iter(b'\n', &all).count() as u64;
        let torn = all.len() - 10;
        std::fs::write(paths.records(), &all[..torn]).unwrap();
        let mut progress = Progress::default();
        progress.look(&paths);
        assert_eq!(progress.done, count - 1);
        std::fs::write(paths.records(), &all).unwrap();
        progress.look(&paths);
        assert_eq!((progress.done, progress.offset), (count, all.len() as u64));
        std::fs::write(paths.records(), &all[..torn]).unwrap();
        progress.look(&paths);
        assert_eq!(progress.done, count - 1, "another run took its place");
    }
}
