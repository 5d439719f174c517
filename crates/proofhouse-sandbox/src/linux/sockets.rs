//! What waits in the unix sockets of this network namespace, as the kernel's own diagnosis of sockets tells it.

use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

const NLMSG_DONE: u16 = 3;
const NLMSG_ERROR: u16 = 2;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// Request, and all of them.
const FLAGS: u16 = 1 | 0x300;
const SHOW_MEMORY: u32 = 0x20;
const MEMORY: u16 = 5;
/// Before the attributes of a socket: netlink's header and the socket's own.
const HEADER: usize = 16;
const SOCKET: usize = 16;

/// Bytes in the buffers of all unix sockets; `None` where the kernel does not tell.
pub(crate) fn held_bytes() -> Option<u64> {
    let socket = open()?;
    rustix::net::send(&socket, &request(), SendFlags::empty()).ok()?;
    let mut buffer = vec![0; 32 * 1024];
    let mut total = 0;
    // The kernel ends its list; the bound is for one that does not.
    for _ in 0..4096 {
        let (count, _) = rustix::net::recv(&socket, &mut buffer[..], RecvFlags::empty()).ok()?;
        match sum(&buffer[..count]) {
            Part::More(bytes) => total += bytes,
            Part::Last(bytes) => return Some(total + bytes),
            Part::Refused => return None,
        }
    }
    None
}

fn open() -> Option<OwnedFd> {
    let protocol = rustix::net::netlink::SOCK_DIAG;
    rustix::net::socket_with(AddressFamily::NETLINK, SocketType::DGRAM, SocketFlags::CLOEXEC, Some(protocol))
        .ok()
}

fn request() -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(40u32.to_ne_bytes());
    out.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    out.extend(FLAGS.to_ne_bytes());
    out.extend([0; 8]);
    out.extend([libc::AF_UNIX as u8, 0, 0, 0]);
    out.extend(u32::MAX.to_ne_bytes());
    out.extend(0u32.to_ne_bytes());
    out.extend(SHOW_MEMORY.to_ne_bytes());
    out.extend([0; 8]);
    out
}

#[derive(Debug, PartialEq, Eq)]
enum Part {
    More(u64),
    Last(u64),
    Refused,
}

/// Adds up one packet of answers.
fn sum(mut packet: &[u8]) -> Part {
    let mut total = 0;
    while let Some((length, kind)) =
        head(packet).filter(|(length, _)| (HEADER..=packet.len()).contains(length))
    {
        match kind {
            NLMSG_DONE => return Part::Last(total),
            NLMSG_ERROR => return Part::Refused,
            _ => total += memory(&packet[..length]),
        }
        packet = &packet[length.next_multiple_of(4).min(packet.len())..];
    }
    Part::More(total)
}

fn head(packet: &[u8]) -> Option<(usize, u16)> {
    let length = u32::from_ne_bytes(packet.get(..4)?.try_into().ok()?);
    let kind = u16::from_ne_bytes(packet.get(4..6)?.try_into().ok()?);
    Some((length as usize, kind))
}

/// What one socket has sent that nobody has read: it is charged to the sender until then.
fn memory(message: &[u8]) -> u64 {
    let mut rest = message.get(HEADER + SOCKET..).unwrap_or_default();
    while let Some(attribute) = rest.get(..4) {
        let length = usize::from(u16::from_ne_bytes([attribute[0], attribute[1]]));
        let kind = u16::from_ne_bytes([attribute[2], attribute[3]]);
        let Some(value) = rest.get(4..length.max(4)) else { return 0 };
        if kind == MEMORY {
            const SENT: usize = 2 * 4;
            return value
                .get(SENT..SENT + 4)
                .map_or(0, |word| u64::from(u32::from_ne_bytes([word[0], word[1], word[2], word[3]])));
        }
        rest = rest.get(length.next_multiple_of(4).max(4)..).unwrap_or_default();
    }
    0
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_waits_in_a_socket_is_seen() {
        // Other programs use sockets as well, so that only a large difference says something.
        let before = held_bytes().expect("the kernel tells");
        let pairs: Vec<_> = (0..40).map(|_| std::os::unix::net::UnixStream::pair().unwrap()).collect();
        for (end, _) in &pairs {
            end.set_nonblocking(true).unwrap();
            while (&*end).write(&[1; 65536]).is_ok() {}
        }
        let after = held_bytes().expect("the kernel tells");
        assert!(after > before + 40 * 150_000, "{before} {after}");
        assert_eq!(sum(&[]), Part::More(0));
        assert_eq!(sum(&[1, 0, 0, 0, 0, 0]), Part::More(0), "a torn packet is nothing");
    }
}
