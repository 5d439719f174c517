//! Doors: sockets on the box's own loopback that are made by init and served from outside. A socket belongs to the network
//! namespace in which it was made, so whoever holds it out there is reached from in here, and nothing else is.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, SocketFlags, SocketType};

use super::{At, Step, sys};
use crate::spec::Door;

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 128;
/// Datagrams are told from connections by this bit.
const UDP: u64 = 1 << 16;
/// Buffers of connections within the box: what waits in them is in no process that the watchdog sees.
const BUFFERS: [&str; 2] = ["/proc/sys/net/ipv4/tcp_rmem", "/proc/sys/net/ipv4/tcp_wmem"];
const BUFFER_BYTES: &str = "4096 65536 131072";

/// A door as it travels.
pub(crate) fn to_wire(door: Door) -> u64 {
    match door {
        Door::Tcp(port) => u64::from(port),
        Door::Udp(port) => u64::from(port) | UDP,
    }
}

/// Brings the loopback up and makes the sockets. Called by init before the host's files are out of sight.
pub(crate) fn open(doors: &[u64]) -> Result<Vec<OwnedFd>, Step> {
    if doors.is_empty() {
        return Ok(Vec::new());
    }
    sys::bring_loopback_up().at("bring the loopback up")?;
    for file in BUFFERS {
        // These are the namespace's own. A container may not let anybody write there; the box's open files still bound them.
        let _ = std::fs::write(file, BUFFER_BYTES);
    }
    doors.iter().map(|door| socket(*door).at(format!("open the door {}", door & 0xffff))).collect()
}

fn socket(door: u64) -> rustix::io::Result<OwnedFd> {
    let kind = if door & UDP == 0 { SocketType::STREAM } else { SocketType::DGRAM };
    let socket = rustix::net::socket_with(AddressFamily::INET, kind, SocketFlags::CLOEXEC, None)?;
    let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, (door & 0xffff) as u16);
    rustix::net::bind(&socket, &address)?;
    if kind == SocketType::STREAM {
        rustix::net::listen(&socket, BACKLOG)?;
    }
    Ok(socket)
}
