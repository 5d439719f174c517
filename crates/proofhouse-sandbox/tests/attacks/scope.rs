//! A real `systemd --user`, with a message bus and a cgroup of its own, gives scopes to an ordinary user's boxes. Everything of it lives
//! in namespaces and below one cgroup, and is gone with the test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::lab::is_root;

/// Starts the user's systemd as init would, waits for its bus, and runs the crate's program as that user. `$1` is the program, `$2` and
/// the rest the cgroups that are handed to the user. The user must be one that the system knows: the bus asks for its name.
const SCRIPT: &str = r#"
box=$1; shift
id=65534
run=$(mktemp -d); chmod 755 $run
mkdir -p $run/user/$id $run/home $run/systemd/system
chown $id:$id $run/user/$id $run/home; chmod 700 $run/user/$id
for group; do mkdir -p $group/user@$id.service; chown -R $id:$id $group; echo $$ > $group/user@$id.service/cgroup.procs; done
mount --bind $run /run
as() { setpriv --reuid $id --regid $id --clear-groups env -i PATH=/usr/bin:/bin HOME=/run/home XDG_RUNTIME_DIR=/run/user/$id "$@"; }
as /usr/lib/systemd/systemd --user --unit=basic.target >/dev/null 2>&1 &
tries=0
until as systemctl --user is-active dbus.socket >/dev/null 2>&1 && [ -S /run/user/$id/bus ]; do
    tries=$((tries+1)); [ $tries -lt 300 ] || { echo "no bus" >&2; exit 3; }
    sleep 0.1
done
as $box scope || exit 4
sleep 0.5
printf 'left\t%s\n' "$(as systemctl --user list-units --type=scope --plain --no-legend | grep -c proofhouse-)"
umount /run; rm -rf $run
"#;

/// Where a hierarchy of cgroups is mounted, by its kind and one of its options.
fn mounted(kind: &str, option: &str) -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    mounts.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        let fits =
            fields[2] == kind && (option.is_empty() || fields[3].split(',').any(|each| each == option));
        fits.then(|| PathBuf::from(fields[1]))
    })
}

/// What is missing for a systemd of our own.
fn missing() -> Option<&'static str> {
    match () {
        () if !is_root() => Some("only root can hand a cgroup to a user"),
        () if mounted("cgroup2", "").is_none() => Some("cgroup version 2 is not mounted"),
        () if !Path::new("/usr/lib/systemd/systemd").exists() => Some("systemd is not installed"),
        () if !Path::new("/usr/lib/systemd/user/dbus.socket").exists() => Some("there is no bus for users"),
        () => None,
    }
}

fn remove(group: &Path) {
    let flags = rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::CLOEXEC;
    let Ok(fd) = rustix::fs::open(group, flags, rustix::fs::Mode::empty()) else { return };
    for entry in rustix::fs::Dir::new(fd).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().is_dir() && !name.starts_with('.') {
            remove(&group.join(name));
        }
    }
    let _ = std::fs::remove_dir(group);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a systemd to speak with")]
fn the_users_systemd_gives_a_scope_and_another_to_the_next_helper() {
    if let Some(why) = missing() {
        eprintln!("skipped: {why}");
        return;
    }
    let name = format!("proofhouse-test-{}", std::process::id());
    let groups: Vec<PathBuf> = [mounted("cgroup2", ""), mounted("cgroup", "name=systemd")]
        .into_iter()
        .flatten()
        .map(|mount| mount.join(&name))
        .collect();
    // Where other users can start it.
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    std::fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let program = dir.path().join("box");
    std::fs::copy(env!("CARGO_BIN_EXE_proofhouse-box"), &program).unwrap();
    let output = Command::new("unshare")
        .args(["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", SCRIPT, "sh"])
        .arg(&program)
        .args(&groups)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    groups.iter().for_each(|group| remove(group));
    let (said, complaint) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}: {said}{complaint}", output.status);
    let rows: BTreeMap<&str, &str> = said.lines().filter_map(|line| line.split_once('\t')).collect();
    for round in ["first", "second"] {
        assert_eq!(rows[&*format!("{round} status")], "Ok", "{rows:#?}");
        let group = rows[&*format!("{round} group")];
        assert!(group.contains("/proofhouse-") && group.ends_with(".scope/helper"), "{rows:#?}");
    }
    assert_ne!(rows["first group"], rows["second group"], "the second helper is in a scope of its own");
    assert_eq!(rows["left"], "0", "scopes go with their helpers");
    // CPU time is counted by the scope, whatever else this host can do; memory where its controller is of this version.
    for kind in ["tool", "program"] {
        assert_eq!(rows[&*format!("time-ignored-children ({kind})")], "held", "{rows:#?}");
    }
    let controllers = groups[0].parent().unwrap().join("cgroup.controllers");
    let memory =
        std::fs::read_to_string(controllers).unwrap().split_whitespace().any(|each| each == "memory");
    assert_eq!(rows["counts CPU time alone"], if memory { "false" } else { "true" });
    assert_eq!(rows["label"], if memory { "strong+cgroup" } else { "strong" });
}
