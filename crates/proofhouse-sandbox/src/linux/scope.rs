//! Asks the user's systemd for a scope with a cgroup of its own, where no cgroup is ours to write otherwise: an ordinary user's
//! session has none. The helper moves into the scope, boxes get groups below it, and it is gone with the helper.
//!
//! This is the little of the D-Bus protocol that one call needs: authentication by user, `Hello`, `StartTransientUnit`.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long the bus may take for one answer, and systemd for moving a process.
const PATIENCE: Duration = Duration::from_secs(1);
/// No message that concerns us is longer.
const MAX_BYTES: usize = 1 << 20;

/// Moves the process into a scope of its own and gives the scope's path below the root of cgroups.
pub(crate) fn enter(pid: u32) -> io::Result<PathBuf> {
    let name = format!("proofhouse-{}.scope", crate::scratch::random_name()?);
    let bus = format!("/run/user/{}/bus", rustix::process::geteuid().as_raw());
    start_unit(Path::new(&bus), &name, pid)?;
    // The answer says that the job was taken; the process is moved a moment later.
    for _ in 0..200 {
        let own = std::fs::read_to_string(format!("/proc/{pid}/cgroup"))?;
        let group = own.lines().find_map(|line| line.strip_prefix("0::"));
        if let Some(group) = group.filter(|group| group.ends_with(&name)) {
            return Ok(PathBuf::from(group.trim_start_matches('/')));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Err(io::ErrorKind::TimedOut.into())
}

fn start_unit(bus: &Path, name: &str, pid: u32) -> io::Result<()> {
    let mut bus = Bus::connect(bus)?;
    let mut body = Writer::default();
    body.text(name);
    body.text("fail");
    body.list(8, |list| {
        list.property("PIDs", "au", |value| value.list(4, |pids| pids.number(pid)));
        list.property("Delegate", "b", |value| value.number(1));
        list.property("Description", "s", |value| value.text("programs that Proofhouse tries"));
    });
    // No further units.
    body.list(8, |_| {});
    bus.call(
        [
            "org.freedesktop.systemd1",
            "/org/freedesktop/systemd1",
            "org.freedesktop.systemd1.Manager",
            "StartTransientUnit",
        ],
        "ssa(sv)a(sa(sv))",
        &body.0,
    )
}

/// A connection on which one call after the other is made.
struct Bus {
    stream: UnixStream,
    serial: u32,
}

impl Bus {
    fn connect(path: &Path) -> io::Result<Bus> {
        let mut stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let user: String = rustix::process::geteuid()
            .as_raw()
            .to_string()
            .bytes()
            .map(|digit| format!("{digit:02x}"))
            .collect();
        stream.write_all(format!("\0AUTH EXTERNAL {user}\r\n").as_bytes())?;
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n") && answer.len() < 512 {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            answer.extend(byte);
        }
        if !answer.starts_with(b"OK ") {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        stream.write_all(b"BEGIN\r\n")?;
        let mut bus = Bus { stream, serial: 0 };
        bus.call(
            ["org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello"],
            "",
            &[],
        )?;
        Ok(bus)
    }

    /// Calls a method (destination, object, interface, member) and waits for its answer.
    fn call(&mut self, method: [&str; 4], signature: &str, body: &[u8]) -> io::Result<()> {
        self.serial += 1;
        let [destination, path, interface, member] = method;
        let mut message = Writer(vec![b'l', METHOD_CALL, 0, 1]);
        message.number(body.len() as u32);
        message.number(self.serial);
        message.list(8, |fields| {
            fields.field(1, "o", path);
            fields.field(2, "s", interface);
            fields.field(3, "s", member);
            fields.field(6, "s", destination);
            if !signature.is_empty() {
                fields.align(8);
                fields.0.push(8);
                fields.signature("g");
                fields.signature(signature);
            }
        });
        message.align(8);
        message.0.extend_from_slice(body);
        self.stream.write_all(&message.0)?;
        // Signals may come in between.
        for _ in 0..64 {
            match self.receive()? {
                (METHOD_RETURN, serial) if serial == self.serial => return Ok(()),
                (ERROR, serial) if serial == self.serial => {
                    return Err(io::ErrorKind::ConnectionRefused.into());
                }
                _ => {}
            }
        }
        Err(io::ErrorKind::InvalidData.into())
    }

    /// Reads one message: its kind, and which call it answers.
    fn receive(&mut self) -> io::Result<(u8, u32)> {
        let mut head = [0; 16];
        self.stream.read_exact(&mut head)?;
        let number =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize;
        let (body, fields) = (number(4), number(12));
        if head[0] != b'l' || body > MAX_BYTES || fields > MAX_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut rest = vec![0; fields.next_multiple_of(8) + body];
        self.stream.read_exact(&mut rest)?;
        Ok((head[1], answered(&rest[..fields]).unwrap_or(0)))
    }
}

const METHOD_CALL: u8 = 1;
const METHOD_RETURN: u8 = 2;
const ERROR: u8 = 3;

/// The number of the call that a message answers, from its header fields.
fn answered(fields: &[u8]) -> Option<u32> {
    let number = |at: usize| Some(u32::from_le_bytes(fields.get(at..at + 4)?.try_into().ok()?));
    let mut at = 0usize;
    loop {
        // The array begins at a multiple of eight behind the fixed head.
        at = at.next_multiple_of(8);
        let code = *fields.get(at)?;
        let kind = *fields.get(at + 2)?;
        at += 4;
        match kind {
            b'u' => {
                at = at.next_multiple_of(4);
                if code == 5 {
                    return number(at);
                }
                at += 4;
            }
            b's' | b'o' => {
                at = at.next_multiple_of(4);
                at += 4 + number(at)? as usize + 1;
            }
            b'g' => at += 2 + usize::from(*fields.get(at)?),
            _ => return None,
        }
    }
}

/// Values as the bus lays them out.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn align(&mut self, to: usize) {
        self.0.resize(self.0.len().next_multiple_of(to), 0);
    }

    fn number(&mut self, value: u32) {
        self.align(4);
        self.0.extend(value.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u32);
        self.0.extend_from_slice(text.as_bytes());
        self.0.push(0);
    }

    fn signature(&mut self, text: &str) {
        self.0.push(text.len() as u8);
        self.0.extend_from_slice(text.as_bytes());
        self.0.push(0);
    }

    /// An array: its length in bytes stands before it, without the gap to its first item.
    fn list(&mut self, item_alignment: usize, fill: impl FnOnce(&mut Writer)) {
        self.number(0);
        let length_at = self.0.len() - 4;
        self.align(item_alignment);
        let start = self.0.len();
        fill(self);
        let length = (self.0.len() - start) as u32;
        self.0[length_at..length_at + 4].copy_from_slice(&length.to_le_bytes());
    }

    fn property(&mut self, name: &str, signature: &str, value: impl FnOnce(&mut Writer)) {
        self.align(8);
        self.text(name);
        self.signature(signature);
        value(self);
    }

    fn field(&mut self, code: u8, signature: &str, value: &str) {
        self.align(8);
        self.0.push(code);
        self.signature(signature);
        self.text(value);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::process::{Command, Stdio};

    use super::*;

    /// A bus that takes one client, answers its calls, and gives back what it was sent.
    fn stand_in(refuse: bool) -> (tempfile::TempDir, std::thread::JoinHandle<Vec<u8>>) {
        let dir = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(dir.path().join("bus")).unwrap();
        let serve = move || {
            let (mut client, _) = listener.accept().unwrap();
            let mut line = vec![0; 1];
            client.read_exact(&mut line).unwrap();
            while !line.ends_with(b"\r\n") {
                let mut byte = [0];
                client.read_exact(&mut byte).unwrap();
                line.extend(byte);
            }
            assert!(line.starts_with(b"\0AUTH EXTERNAL 3"), "{line:?}");
            client.write_all(b"OK 0123\r\n").unwrap();
            client.read_exact(&mut [0; 7]).unwrap();
            let mut last = Vec::new();
            for serial in 1..=2u32 {
                let mut head = [0; 16];
                client.read_exact(&mut head).unwrap();
                let number = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap()) as usize;
                assert_eq!(number(8), serial as usize);
                last = vec![0; number(12).next_multiple_of(8) + number(4)];
                client.read_exact(&mut last).unwrap();
                // A signal that nobody asked for, then the answer.
                let mut answers = Writer(vec![b'l', 4, 0, 1]);
                answers.number(0);
                answers.number(70 + serial);
                answers.list(8, |fields| fields.field(2, "s", "org.example.Noise"));
                answers.align(8);
                let kind = if refuse && serial == 2 { ERROR } else { METHOD_RETURN };
                let mut answer = Writer(vec![b'l', kind, 0, 1]);
                answer.number(0);
                answer.number(80 + serial);
                answer.list(8, |fields| {
                    fields.field(7, "s", "org.freedesktop.DBus");
                    fields.align(8);
                    fields.0.push(5);
                    fields.signature("u");
                    fields.number(serial);
                });
                answer.align(8);
                client.write_all(&[answers.0, answer.0].concat()).unwrap();
            }
            last
        };
        (dir, std::thread::spawn(serve))
    }

    #[test]
    fn a_scope_is_asked_for_with_the_process_and_delegation() {
        let (dir, bus) = stand_in(false);
        start_unit(&dir.path().join("bus"), "proofhouse-x.scope", 0x0102_0304).unwrap();
        let sent = bus.join().unwrap();
        let has = |part: &[u8]| sent.windows(part.len()).any(|window| window == part);
        for part in [&b"StartTransientUnit\0"[..], b"proofhouse-x.scope\0", b"PIDs\0\x02au\0", &[4, 3, 2, 1]]
        {
            assert!(has(part), "{part:?}");
        }
        assert!(has(b"Delegate\0\x01b\0"));
    }

    #[test]
    fn a_refusal_and_a_missing_bus_are_errors() {
        let (dir, bus) = stand_in(true);
        let refused = start_unit(&dir.path().join("bus"), "x.scope", 1).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        bus.join().unwrap();
        assert!(start_unit(&dir.path().join("none"), "x.scope", 1).is_err());
    }

    /// A real bus takes only well-formed messages and closes the connection on others; one without systemd refuses the call.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a bus to speak with, where one is installed")]
    fn a_real_bus_understands_the_call() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bus");
        let address = format!("--address=unix:path={}", path.display());
        let started = Command::new("dbus-daemon")
            .args(["--session", "--nofork", "--nopidfile", &address])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut daemon) = started else { return };
        for _ in 0..200 {
            if path.exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let answer = start_unit(&path, "proofhouse-x.scope", std::process::id());
        let _ = daemon.kill();
        let _ = daemon.wait();
        assert_eq!(answer.unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    }
}
