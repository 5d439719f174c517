//! Attacks on whoever reads the results: links, FIFOs and giants planted where a file is expected.

use std::fs;
use std::os::unix::fs::symlink;

use super::arena::Arena;
use super::raw::{at, c_path, call};
use super::{Attack, Check, Control, Target};
use crate::outcome::Outcome;
use crate::spec::{Spec, Work};

macro_rules! row {
    ($name:literal, $what:literal, $payload:expr) => {
        Attack {
            name: $name,
            what: $what,
            payload: $payload,
            check: Check::Other(taken),
            control: Control::Bare,
            adjust: collected,
            shapes: super::ONE_OF_EACH,
        }
    };
}

pub(crate) const ATTACKS: &[Attack] = &[
    row!("result-symlink", "a symbolic link to the secret as result", result_symlink),
    row!("result-symlink-dir", "a directory on the way that is a link", result_symlink_dir),
    row!("result-hard-link", "a second name of the secret as result", result_hard_link),
    row!("result-fifo", "a FIFO as result, which never ends", result_fifo),
    row!("result-giant", "an enormous file as result", result_giant),
    row!("result-directory", "a directory as result", result_directory),
];

const MAX_BYTES: u64 = 1 << 20;

/// The work directory is beside the arena, so that a control can look into it as a careless reader would.
fn collected(spec: &mut Spec, arena: &Arena) {
    let work = arena.target.dir.join("work");
    let _ = fs::create_dir(&work);
    let _ = fs::set_permissions(&work, std::os::unix::fs::PermissionsExt::from_mode(0o777));
    if spec.without.has(crate::guards::Guards::ENV) {
        spec.work = Work::Host(work);
    }
    for path in ["result", "dir/secret"] {
        spec.collect.push(crate::spec::Collect { path: path.to_owned(), max_bytes: MAX_BYTES });
    }
}

/// In a box: what was collected must not be the secret, must be small, and must be a file that the payload itself wrote. In a control: what
/// a reader would have met who just opens the path.
fn taken(arena: &Arena, outcome: &Outcome) -> Option<String> {
    for each in &outcome.collected {
        if let Ok(found) = &each.result {
            return Some(format!("`{}` was taken with {} bytes", each.path, found.length));
        }
    }
    let work = arena.target.dir.join("work");
    let careless = |name: &str| {
        let path = work.join(name);
        let found = fs::metadata(&path).ok()?;
        let secret =
            found.is_file() && found.len() < MAX_BYTES && fs::read_to_string(&path).ok()? == arena.secret;
        let trap = !found.is_file() || found.len() > MAX_BYTES;
        (secret || trap).then(|| format!("a careless reader of `{name}` is caught"))
    };
    careless("result").or_else(|| careless("dir/secret"))
}

fn result_symlink(target: &Target) -> i32 {
    i32::from(symlink(target.secret(), "result").is_err())
}

fn result_symlink_dir(target: &Target) -> i32 {
    i32::from(symlink(&target.dir, "dir").is_err())
}

fn result_hard_link(target: &Target) -> i32 {
    i32::from(fs::hard_link(target.secret(), "result").is_err())
}

fn result_fifo(_: &Target) -> i32 {
    let path = c_path("result".as_ref());
    let mode = u64::from(libc::S_IFIFO | 0o666);
    i32::from(call(libc::SYS_mknodat, [libc::AT_FDCWD as u64, at(&path), mode, 0, 0, 0]).is_err())
}

fn result_giant(_: &Target) -> i32 {
    i32::from(fs::File::create("result").and_then(|file| file.set_len(100 << 20)).is_err())
}

fn result_directory(_: &Target) -> i32 {
    i32::from(fs::create_dir("result").is_err())
}
