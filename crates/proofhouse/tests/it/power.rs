//! The power goes: a run on a real ext4 file system, on a loop device, that is cut off between any two of its operations.
//!
//! The file system is shut down as `xfstests` does it: what was not synced is gone, and the journal is not flushed. A library before the
//! program's own counts its operations, keeps a copy of whatever the program was told is synced, and cuts at the n-th.
//! `PROOFHOUSE_POWER_CUTS=500 cargo nextest run -p proofhouse --test it power` cuts more often. It takes root and loop devices.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::lab::{Lab, variable};

/// Every operation below `disk/` is counted. Syncs are noted when they have succeeded, with what they were of; with `SYNC=lies` they do
/// nothing and say that they have. Now and then a write reaches the disk without having been asked to.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
static atomic_long operations, copies;
static int on_disk(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, 4095);
    if (n <= 0) return 0;
    path[n] = 0;
    return strstr(path, "/disk/") != NULL;
}
static long next_operation(void) {
    long n = atomic_fetch_add(&operations, 1) + 1;
    if (n == atol(getenv("CUT"))) {
        unsigned flags = 2; /* without flushing the log */
        int disk = open("disk", O_RDONLY);
        if (ioctl(disk, _IOR('X', 125, unsigned), &flags) != 0) _exit(98);
        _exit(97);
    }
    return n;
}
static void keep(const char *path, int fd) {
    char name[256], block[65536];
    struct stat about;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) return;
    const char *base = strrchr(path, '/') + 1;
    snprintf(name, sizeof name, "synced/%s.%ld", base, (long)atomic_fetch_add(&copies, 1));
    int from = open(path, O_RDONLY), to = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ssize_t (*put)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    off_t left = about.st_size;
    while (left > 0) {
        ssize_t n = read(from, block, left < (off_t)sizeof block ? left : (off_t)sizeof block);
        if (n <= 0) break;
        put(to, block, n);
        left -= n;
    }
    close(from);
    close(to);
}
static int synced(int fd, const char *how) {
    int (*real)(int) = dlsym(RTLD_NEXT, how);
    char path[4096];
    if (!on_disk(fd, path)) return real(fd);
    next_operation();
    int result = strcmp(getenv("SYNC"), "lies") == 0 ? 0 : real(fd);
    if (result == 0) keep(path, fd);
    return result;
}
int fsync(int fd) { return synced(fd, "fsync"); }
int fdatasync(int fd) { return synced(fd, "fdatasync"); }
ssize_t write(int fd, const void *data, size_t count) {
    ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    char path[4096];
    if (!on_disk(fd, path)) return real(fd, data, count);
    long n = next_operation();
    ssize_t written = real(fd, data, count);
    if (n % 5 == 0 && strcmp(getenv("SYNC"), "lies") != 0) sync_file_range(fd, 0, 0, 7);
    return written;
}
int ftruncate64(int fd, off64_t length) {
    int (*real)(int, off64_t) = dlsym(RTLD_NEXT, "ftruncate64");
    char path[4096];
    if (on_disk(fd, path)) next_operation();
    return real(fd, length);
}
int rename(const char *from, const char *to) {
    int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
    if (strstr(to, "disk/")) next_operation();
    return real(from, to);
}
__attribute__((destructor)) static void tell(void) {
    char text[32];
    int to = open("operations", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ssize_t (*put)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    put(to, text, snprintf(text, sizeof text, "%ld", (long)operations));
    close(to);
}
"#;

/// Mount options under which ext4 keeps different promises.
const WAYS: [&str; 4] = ["data=ordered", "data=writeback", "data=journal", "nodelalloc"];

/// What came of a run whose power went.
struct Cut {
    /// How the program ended: 97 where it was cut.
    code: i32,
    /// Trials whose lines were said to be on the disk, and are not.
    lost: usize,
}

/// A suite, and how to run it on a disk of its own.
struct Disk {
    lab: Lab,
}

impl Disk {
    /// None where this machine cannot do it, which is said aloud.
    fn new() -> Option<Self> {
        let lab = Lab::new();
        lab.busy_suite(150, 1).write("power.c", SHIM);
        #[expect(clippy::disallowed_methods, reason = "the library is C")]
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-o", "power.so", "power.c", "-ldl"])
            .current_dir(lab.path(""))
            .status();
        assert!(built.is_ok_and(|status| status.success()), "a C compiler is part of the test environment");
        lab.run("run busy.yaml --run-dir whole --quiet --skip-report --jobs 40").exits(0);
        let disk = Self { lab };
        let can = "truncate -s 8M try.img && mkfs.ext4 -q -F try.img && mkdir -p disk && mount -o loop try.img disk && umount disk";
        let (code, said) = disk.script(can, &[]);
        if code != 0 {
            eprintln!(
                "NOT TRIED: power cuts take root, mkfs.ext4 and loop devices, which this machine does not give: {said}"
            );
            return None;
        }
        Some(disk)
    }

    /// Runs a script in a mount namespace of its own.
    fn script(&self, script: &str, variables: &[(&str, &str)]) -> (i32, String) {
        #[expect(clippy::disallowed_methods, reason = "the test needs a mount namespace of its own")]
        let output = Command::new("unshare")
            .args(["--mount", "sh", "-c", script])
            .current_dir(self.lab.path(""))
            .env("PROOFHOUSE", env!("CARGO_BIN_EXE_proofhouse"))
            .envs(variables.iter().copied())
            .output();
        match output {
            Ok(output) => {
                (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
            }
            Err(error) => (-1, error.to_string()),
        }
    }

    /// Runs on a new disk until the n-th operation, lets the power go, and copies what is on the disk after its next mount to `kept`.
    fn cut(&self, nth: u64, way: &str, sync: &str) -> Cut {
        let script = "rm -rf synced kept disk.img; mkdir -p synced kept disk
            truncate -s 24M disk.img && mkfs.ext4 -q -F disk.img && mount -o loop,$WAY disk.img disk || exit 90
            LD_PRELOAD=$PWD/power.so $PROOFHOUSE run busy.yaml --run-dir disk/run --quiet --skip-report --jobs 40
            code=$?
            umount disk && mount -o loop,$WAY disk.img disk || exit 91
            rm -rf disk/lost+found && cp -r disk/. kept/ && umount disk || exit 92
            exit $code";
        let (code, said) = self.script(script, &[("CUT", &nth.to_string()), ("WAY", way), ("SYNC", sync)]);
        assert!(matches!(code, 0 | 97), "operation {nth}, {way}: {code} {said}");
        let kept = lines(&self.lab.path("kept"));
        let synced = lines(&self.lab.path("synced"));
        Cut { code, lost: synced.difference(&kept).count() }
    }

    /// What was kept completes to the same bytes.
    fn completes(&self, about: &str) {
        let lab = &self.lab;
        let partial =
            std::fs::read(lab.path("kept/run.run.json")).is_ok_and(|bytes| !bytes.ends_with(b"}\n"));
        assert!(!partial, "{about}: a part of an envelope");
        let started = lab.path("kept/run").exists() || lab.path("kept/run.run.json").exists();
        if started && lab.path("kept/run/records.jsonl").exists() {
            let code = lab.run("verify kept/run").code;
            assert!(matches!(code, Some(0 | 8)), "{about}: what is there is sound, but verify says {code:?}");
        }
        let resume = if started { "--resume" } else { "" };
        lab.run(&format!("run busy.yaml --run-dir kept/run --quiet --skip-report --jobs 40 {resume}"))
            .exits(0);
        assert_eq!(lab.run_files("kept/run"), lab.run_files("whole"), "{about}");
    }

    /// How many operations a run takes that nothing cuts.
    fn operations(&self) -> u64 {
        let whole = self.cut(0, WAYS[0], "tells the truth");
        assert_eq!((whole.code, whole.lost), (0, 0), "nothing was cut");
        self.lab.read("operations").parse().unwrap()
    }
}

/// Every whole line of records that lies in the files of a directory, journals among them.
fn lines(dir: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for name in ["run", "."] {
        #[expect(clippy::disallowed_methods, reason = "what is found is put in order")]
        let Ok(files) = std::fs::read_dir(dir.join(name)) else { continue };
        for file in files.map(|file| file.unwrap().path()).filter(|path| path.is_file()) {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            if !name.starts_with("records.jsonl") && !name.contains(".journal.jsonl") {
                continue;
            }
            let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
            let whole = text.rfind('\n').map_or(0, |end| end + 1);
            found.extend(text[..whole].lines().map(str::to_owned));
        }
    }
    found
}

#[cfg(target_os = "linux")]
#[test]
fn a_power_cut_on_ext4_loses_nothing_that_was_synced_and_the_run_completes() {
    let Some(disk) = Disk::new() else { return };
    let cuts: u64 = variable("PROOFHOUSE_POWER_CUTS").map_or(24, |text| text.parse().expect("a number"));
    let operations = disk.operations();
    let mut hit = 0;
    for nth in 0..cuts {
        let at = 1 + nth * operations / cuts;
        let way = WAYS[nth as usize % WAYS.len()];
        let cut = disk.cut(at, way, "tells the truth");
        let about = format!("power cut before operation {at} of {operations}, {way}");
        assert_eq!(cut.lost, 0, "{about}: trials that were acknowledged are gone");
        disk.completes(&about);
        hit += u64::from(cut.code == 97);
    }
    assert!(hit * 3 > cuts, "only {hit} of {cuts} cuts hit a run under way");
    println!("{hit} power cuts, 0 acknowledged trials lost");
}

#[cfg(target_os = "linux")]
#[test]
fn without_its_syncs_the_same_cuts_lose_trials() {
    let Some(disk) = Disk::new() else { return };
    let operations = disk.operations();
    let lost: usize = (1..=4).map(|part| disk.cut(operations * part / 5, WAYS[0], "lies").lost).sum();
    assert!(lost > 0, "a test that finds nothing without syncs would find nothing with them");
}
