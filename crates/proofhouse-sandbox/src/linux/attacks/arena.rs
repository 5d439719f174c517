//! What an attack is aimed at: a directory with a secret, listeners, and a process to harm. Made afresh for each attack, and looked at
//! afterwards.

use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Check, REACHED};
use crate::outcome::Outcome;
use crate::sandbox::{Helper, Sandbox};

/// The coordinates that a payload is told. The secret is not among them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Target {
    pub(crate) dir: PathBuf,
    pub(crate) tcp: u16,
    pub(crate) udp: u16,
    pub(crate) tag: String,
    pub(crate) harness: i32,
    pub(crate) victim: i32,
    /// Where the victim keeps the secret in its memory.
    pub(crate) address: u64,
}

impl Target {
    pub(crate) fn words(&self) -> Vec<String> {
        vec![
            self.dir.display().to_string(),
            self.tcp.to_string(),
            self.udp.to_string(),
            self.tag.clone(),
            self.harness.to_string(),
            self.victim.to_string(),
            self.address.to_string(),
        ]
    }

    pub(crate) fn parse(words: &[&str]) -> Option<Target> {
        let [dir, tcp, udp, tag, harness, victim, address] = words else { return None };
        Some(Target {
            dir: PathBuf::from(dir),
            tcp: tcp.parse().ok()?,
            udp: udp.parse().ok()?,
            tag: (*tag).to_owned(),
            harness: harness.parse().ok()?,
            victim: victim.parse().ok()?,
            address: address.parse().ok()?,
        })
    }

    /// The secret's file.
    pub(crate) fn secret(&self) -> PathBuf {
        self.dir.join("secret")
    }

    /// A file that is there and should stay as it is.
    pub(crate) fn existing(&self) -> PathBuf {
        self.dir.join("existing")
    }

    /// A name at which nothing should appear.
    pub(crate) fn absent(&self) -> PathBuf {
        self.dir.join("absent")
    }
}

/// The target with what is behind it.
pub(crate) struct Arena {
    pub(crate) target: Target,
    pub(crate) secret: String,
    tcp: TcpListener,
    udp: UdpSocket,
    unix: UnixListener,
    datagram: UnixDatagram,
    unnamed: UnixListener,
    victim: Option<Child>,
    before: Vec<String>,
}

static NEXT: AtomicU64 = AtomicU64::new(0);

impl Arena {
    /// Made for one attack, with a process to harm if it wants one.
    pub(crate) fn new(sandbox: &Sandbox, victim: bool) -> io::Result<Arena> {
        // A process name has room for fifteen bytes, and the tag is one.
        let tag = format!(
            "p{}{:x}",
            &crate::scratch::random_name()?[..9],
            NEXT.fetch_add(1, Ordering::Relaxed) & 0xffff
        );
        let secret = format!("SECRET-{tag}-{:x}", crate::clock::now_us());
        let dir = sandbox.scratch().join(format!("proofhouse-arena-{tag}"));
        std::os::unix::fs::DirBuilderExt::mode(&mut fs::DirBuilder::new(), 0o700).create(&dir)?;
        for (name, text) in [("secret", secret.as_str()), ("existing", "as it was")] {
            fs::write(dir.join(name), text)?;
            fs::set_permissions(dir.join(name), fs::Permissions::from_mode(0o666))?;
        }
        fs::write(
            dir.join("secret.rs"),
            format!("pub const S: &str = {secret:?};\ncompile_error!({secret:?});\n"),
        )?;
        let tcp = TcpListener::bind("127.0.0.1:0")?;
        let udp = UdpSocket::bind("127.0.0.1:0")?;
        let unix = UnixListener::bind(dir.join("stream.sock"))?;
        let datagram = UnixDatagram::bind(dir.join("datagram.sock"))?;
        for name in ["stream.sock", "datagram.sock"] {
            fs::set_permissions(dir.join(name), fs::Permissions::from_mode(0o777))?;
        }
        // Open to everybody: it is the box that must hold, not the modes of files. Nothing in it is touched by path after this.
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o777))?;
        let unnamed = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&tag)?)?;
        tcp.set_nonblocking(true)?;
        udp.set_nonblocking(true)?;
        unix.set_nonblocking(true)?;
        datagram.set_nonblocking(true)?;
        unnamed.set_nonblocking(true)?;
        let target = Target {
            dir,
            tcp: tcp.local_addr()?.port(),
            udp: udp.local_addr()?.port(),
            tag,
            harness: i32::try_from(std::process::id()).unwrap_or(0),
            victim: 0,
            address: 0,
        };
        let before = snapshot(&target.dir);
        let mut arena = Arena { target, secret, tcp, udp, unix, datagram, unnamed, victim: None, before };
        if victim {
            arena.start_victim(sandbox.helper())?;
        }
        Ok(arena)
    }

    /// A process of our own that holds the secret in its memory and tells where.
    fn start_victim(&mut self, helper: &Helper) -> io::Result<()> {
        let mut command = helper.command(crate::trampoline::BUILTIN)?;
        command.args(["attack", "victim"]).env("VICTIM_SECRET", &self.secret);
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or(io::ErrorKind::Other)?).read_line(&mut line)?;
        self.target.victim = i32::try_from(child.id()).unwrap_or(0);
        self.target.address = line.trim().parse().unwrap_or(0);
        self.victim = Some(child);
        Ok(())
    }

    /// A host work directory beside the arena, made by the attacks that want one.
    pub(crate) fn work(&self) -> PathBuf {
        self.target.dir.with_file_name(format!("proofhouse-arena-{}-work", self.target.tag))
    }

    /// Makes it.
    pub(crate) fn make_work(&self) {
        let _ = fs::create_dir(self.work());
    }

    /// Processes with the arena's name that are there now.
    pub(crate) fn survivors(&self) -> usize {
        named(&self.target.tag).len()
    }

    /// The effect that the check sees.
    pub(crate) fn effect(&self, check: Check, outcome: &Outcome) -> Option<String> {
        let text = outcome.stdout.text();
        match check {
            Check::Says => text.contains(REACHED).then(|| "the payload got through".to_owned()),
            Check::Leaks => text.contains(&self.secret).then(|| "the secret was read".to_owned()),
            Check::Changed => {
                let now = snapshot(&self.target.dir);
                (now != self.before).then(|| format!("{:?} became {now:?}", self.before))
            }
            Check::Heard => self.heard(),
            Check::Harmed => self.harmed(),
            Check::Survives => survivor(&self.target.tag),
            Check::Other(look) => look(self, outcome),
        }
    }

    fn heard(&self) -> Option<String> {
        let mut buffer = [0; 16];
        let said = |what: &str| Some(format!("the {what} heard something"));
        match () {
            () if self.tcp.accept().is_ok() => said("TCP port"),
            () if self.udp.recv_from(&mut buffer).is_ok() => said("UDP port"),
            () if self.unix.accept().is_ok() => said("unix socket"),
            () if self.datagram.recv(&mut buffer).is_ok() => said("unix datagram socket"),
            () if self.unnamed.accept().is_ok() => said("abstract socket"),
            () => None,
        }
    }

    /// Whether the victim is gone or stopped. It is our child, so its number cannot have become another's.
    fn harmed(&self) -> Option<String> {
        // A signal takes a moment to arrive.
        (0..10).find_map(|_| {
            super::raw::sleep_ms(2);
            self.harmed_now()
        })
    }

    fn harmed_now(&self) -> Option<String> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.target.victim)).unwrap_or_default();
        let state = stat.rsplit(") ").next()?.chars().next().unwrap_or('X');
        matches!(state, 'Z' | 'X' | 'T' | 't').then(|| format!("the victim is in state {state}"))
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        if let Some(mut victim) = self.victim.take() {
            let _ = victim.kill();
            let _ = victim.wait();
        }
        end_survivors(&self.target.tag);
        let _ = crate::scratch::remove_at(&self.target.dir);
        let _ = crate::scratch::remove_at(&self.work());
        for beside in ["link", "tagged"] {
            let _ = fs::remove_file(self.target.dir.with_extension(beside));
        }
        let _ = fs::remove_file(Path::new("/dev/shm").join(&self.target.tag));
    }
}

/// Everything that could be changed in the directory, one entry a line.
fn snapshot(dir: &Path) -> Vec<String> {
    let describe = |name: String| {
        let path = dir.join(&name);
        let Ok(found) = fs::symlink_metadata(&path) else { return name };
        let text =
            if found.is_file() { fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
        let tagged = rustix::fs::getxattr(&path, "user.attack", &mut [0u8; 8]).is_ok();
        format!(
            "{name} {:o} {} {} {} {tagged} {text}",
            found.mode(),
            found.nlink(),
            found.mtime(),
            found.uid()
        )
    };
    let names = crate::scratch::names(dir).unwrap_or_default();
    [".".to_owned()].into_iter().chain(names).map(describe).collect()
}

/// Processes that carry the arena's name.
fn named(tag: &str) -> Vec<i32> {
    let is_named =
        |pid: &i32| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == tag);
    let all = crate::scratch::names(Path::new("/proc")).unwrap_or_default();
    all.iter().filter_map(|name| name.parse().ok()).filter(is_named).collect()
}

/// Looks several times: a process that forks on and on can slip through one look.
fn survivor(tag: &str) -> Option<String> {
    for _ in 0..40 {
        let left = named(tag);
        if !left.is_empty() {
            return Some(format!("{} processes are still there", left.len()));
        }
        super::raw::sleep_ms(10);
    }
    None
}

fn end_survivors(tag: &str) {
    for _ in 0..1_000 {
        let left = named(tag);
        if left.is_empty() {
            return;
        }
        super::super::reap::kill_all(&left, || named(tag));
        super::raw::sleep_ms(1);
    }
}

/// The victim: keeps the secret in memory, says where, and waits for the end of its input.
#[expect(clippy::print_stdout, reason = "the harness reads the address from standard output")]
pub(crate) fn be_victim() -> i32 {
    let secret: Vec<u8> = std::env::vars_os()
        .find(|(name, _)| name == "VICTIM_SECRET")
        .map(|(_, value)| std::os::unix::ffi::OsStringExt::into_vec(value))
        .unwrap_or_default();
    println!("{}", secret.as_ptr() as u64);
    let mut rest = Vec::new();
    let _ = io::stdin().read_to_end(&mut rest);
    std::hint::black_box(&secret);
    0
}
