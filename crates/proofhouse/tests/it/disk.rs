//! A disk that is full or broken: a valid prefix, a clear message, and an envelope that says so.

use std::process::Command;

use crate::lab::Lab;

/// Runs a shell script in a mount namespace of its own, where a small tmpfs is mounted on `small`.
fn in_small_disk(lab: &Lab, size_kib: u32, script: &str) -> Option<(i32, String)> {
    std::fs::create_dir_all(lab.path("small")).unwrap();
    let script =
        format!("mount -t tmpfs -o size={size_kib}k tmpfs small || exit 99\n{script}\ncp -r small/. kept/");
    std::fs::create_dir_all(lab.path("kept")).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the test needs a mount namespace of its own")]
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .current_dir(lab.path(""))
        .env("PROOFHOUSE", env!("CARGO_BIN_EXE_proofhouse"))
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: `unshare` is not installed");
        return None;
    };
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(99) || text.contains("unshare:") {
        eprintln!("skipped: this machine gives no mount namespaces: {text}");
        return None;
    }
    Some((output.status.code().unwrap(), text))
}

#[test]
fn a_full_disk_leaves_a_valid_prefix_and_says_so() {
    // The two largest hold all records, but not the summary and the report behind them.
    for size_kib in [96, 200, 400, 740, 800] {
        let lab = Lab::new();
        lab.busy_suite(400, 0);
        let script =
            "\"$PROOFHOUSE\" run busy.yaml --run-dir small/run --quiet; code=$?; echo code=$code >&2";
        let Some((_, text)) = in_small_disk(&lab, size_kib, script) else { return };
        assert!(text.contains("code=8"), "{size_kib}: {text}");
        assert!(text.contains("No space left on device"), "{text}");
        assert!(text.contains("--resume"), "{text}");
        let envelope = lab.json("kept/run.run.json");
        assert_eq!(envelope["exit_status"], "exception", "{size_kib}");
        let records = lab.records("kept/run");
        assert_eq!(envelope["total_cases_completed"], records.len(), "{size_kib}");
        assert!(envelope["error"].as_str().unwrap().contains("No space left"));
        for (at, record) in records.iter().enumerate() {
            assert_eq!(record["index"], at);
        }
        lab.run("run busy.yaml --run-dir kept/run --resume --quiet").exits(0);
        lab.run("run busy.yaml --run-dir whole --quiet").exits(0);
        assert_eq!(lab.run_files("kept/run"), lab.run_files("whole"));
    }
}

/// A library that makes writes to the records fail with EIO after so many bytes.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static long left = -1;
static int is_records(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0) return 0;
    path[n] = 0;
    return strstr(path, "records.jsonl") != NULL;
}
ssize_t write(int fd, const void *data, size_t count) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "write");
    if (left < 0) left = atol(getenv("EIO_AFTER"));
    if (!is_records(fd)) return real(fd, data, count);
    if (left == 0) { errno = EIO; return -1; }
    size_t part = count < (size_t)left ? count : (size_t)left;
    ssize_t written = real(fd, data, part);
    if (written > 0) left -= written;
    return written;
}
"#;

#[test]
fn an_io_error_leaves_a_valid_prefix_and_says_so() {
    let lab = Lab::new();
    lab.busy_suite(300, 0).write("shim.c", SHIM);
    #[expect(clippy::disallowed_methods, reason = "the shim is C")]
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o", "shim.so", "shim.c", "-ldl"])
        .current_dir(lab.path(""))
        .status();
    assert!(built.is_ok_and(|status| status.success()), "a C compiler is part of the test environment");
    lab.run("run busy.yaml --run-dir whole --quiet").exits(0);
    for after in [1u32, 1000, 77_777, 300_000] {
        let run = format!("run{after}");
        let output = lab
            .command(&["run", "busy.yaml", "--run-dir", &run, "--quiet"])
            .env("LD_PRELOAD", lab.path("shim.so"))
            .env("EIO_AFTER", after.to_string())
            .output()
            .unwrap();
        let talk = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(8), "{talk}");
        assert!(talk.contains("Input/output error"), "{talk}");
        let envelope = lab.json(&format!("{run}.run.json"));
        assert_eq!(envelope["exit_status"], "exception");
        let text = lab.read(&format!("{run}/records.jsonl"));
        let whole = lab.read("whole/records.jsonl");
        assert!(whole.starts_with(&text), "a prefix of what it should be");
        assert_eq!(envelope["total_cases_completed"], text.lines().count(), "{after}");
        lab.run(&format!("run busy.yaml --run-dir {run} --resume --quiet")).exits(0);
        assert_eq!(lab.run_files(&run), lab.run_files("whole"));
    }
}
