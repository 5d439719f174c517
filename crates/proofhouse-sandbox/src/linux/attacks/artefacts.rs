//! Attacks of a tool on the host directory in which its artefacts arrive, and on whoever reads them there.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

use super::arena::Arena;
use super::raw::{at, call};
use super::{Attack, Check, Control, Shape, Target};
use crate::guards::Guards;
use crate::outcome::Outcome;
use crate::spec::Spec;
use crate::tier::Tier;

macro_rules! row {
    ($name:literal, $what:literal, $payload:expr, $check:expr) => {
        Attack {
            name: $name,
            what: $what,
            payload: $payload,
            check: Check::Other($check),
            control: Control::Without(Tier::Limited, Guards::USER.and(Guards::RLIMITS)),
            adjust: little,
            shapes: &[Shape::Artefacts],
        }
    };
}

pub(crate) const ATTACKS: &[Attack] = &[
    row!("artefact-fill", "fill the disk with artefacts", fill, too_much),
    row!("artefact-inodes", "leave artefacts without end", inodes, too_many),
    row!("artefact-sparse", "leave files that look enormous", sparse, too_much),
    row!("artefact-link", "leave a link to a secret as artefact", link, strange),
    row!("artefact-fifo", "leave a FIFO as artefact", fifo, strange),
    row!("artefact-set-user", "leave a program that runs as its owner", set_user, runs_as_owner),
];

fn little(spec: &mut Spec, _: &Arena) {
    spec.limits.disk_bytes = 8 << 20;
    spec.limits.disk_inodes = 100;
    spec.limits.file_bytes = 4 << 20;
}

fn fill(_: &Target) -> i32 {
    let block = vec![1u8; 1 << 20];
    let _ = (0..64).take_while(|number| fs::write(format!("f{number}"), &block).is_ok()).count();
    0
}

fn inodes(_: &Target) -> i32 {
    let _ = (0..2_000).take_while(|number| fs::write(format!("f{number}"), "").is_ok()).count();
    0
}

fn sparse(_: &Target) -> i32 {
    for number in 0..64 {
        let _ = fs::File::create(format!("f{number}")).map(|file| file.set_len(4 << 20));
    }
    0
}

fn link(target: &Target) -> i32 {
    i32::from(symlink(target.secret(), "artefact").is_err())
}

fn fifo(_: &Target) -> i32 {
    let args = [libc::AT_FDCWD as u64, at(c"artefact"), (libc::S_IFIFO | 0o666) as u64, 0, 0, 0];
    i32::from(call(libc::SYS_mknodat, args).is_err())
}

fn set_user(_: &Target) -> i32 {
    let _ = fs::write("artefact", "#!/bin/sh\n");
    let _ = call(libc::SYS_fchmodat, [libc::AT_FDCWD as u64, at(c"artefact"), 0o4755, 0, 0, 0]);
    0
}

/// Every file that arrived.
fn arrived(arena: &Arena) -> Vec<fs::Metadata> {
    let work = arena.work();
    let names = crate::scratch::names(&work).unwrap_or_default();
    names.iter().filter_map(|name| fs::symlink_metadata(Path::new(&work).join(name)).ok()).collect()
}

fn too_much(arena: &Arena, _: &Outcome) -> Option<String> {
    let bytes: u64 = arrived(arena).iter().map(|found| found.len()).sum();
    (bytes > 9 << 20).then(|| format!("{bytes} bytes arrived"))
}

fn too_many(arena: &Arena, _: &Outcome) -> Option<String> {
    let count = arrived(arena).len();
    (count > 110).then(|| format!("{count} files arrived"))
}

fn strange(arena: &Arena, _: &Outcome) -> Option<String> {
    let odd = |found: &fs::Metadata| !found.is_file() && !found.is_dir();
    arrived(arena).iter().any(odd).then(|| "something that is no file arrived".to_owned())
}

fn runs_as_owner(arena: &Arena, _: &Outcome) -> Option<String> {
    let set = |found: &fs::Metadata| found.mode() & 0o6000 != 0;
    arrived(arena).iter().any(set).then(|| "a program that runs as its owner arrived".to_owned())
}
