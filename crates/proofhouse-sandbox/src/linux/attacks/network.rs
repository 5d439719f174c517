//! Attacks over the network and over sockets of this host.

use std::io::Write;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};

use super::raw::{call, call3};
use super::{Attack, Check, Control, NO_FILTER, NO_FILTER_NO_DROP, Target, as_is, reached};
use crate::outcome::Outcome;

macro_rules! row {
    ($name:literal, $what:literal, $payload:expr, $check:expr, $control:expr) => {
        Attack {
            name: $name,
            what: $what,
            payload: $payload,
            check: $check,
            control: $control,
            adjust: as_is,
            shapes: super::NETWORKED,
        }
    };
}

pub(crate) const ATTACKS: &[Attack] = &[
    row!("tcp-loopback", "connect to a TCP port of this host", tcp_loopback, Check::Heard, Control::Bare),
    row!("tcp-any", "connect to 0.0.0.0", tcp_any, Check::Heard, Control::Bare),
    row!("tcp-mapped", "connect over IPv6 with a mapped address", tcp_mapped, Check::Heard, Control::Bare),
    row!("udp-loopback", "send a datagram to this host", udp_loopback, Check::Heard, Control::Bare),
    row!("unix-stream", "connect to a unix socket with a path", unix_stream, Check::Heard, Control::Bare),
    row!("unix-datagram", "send to a unix datagram socket", unix_datagram, Check::Heard, Control::Bare),
    row!("unix-abstract", "connect to an abstract unix socket", unix_abstract, Check::Heard, Control::Bare),
    // In a network of its own a box reaches the ports that it opens itself, and nobody else does.
    Attack {
        shapes: super::ONE_OF_EACH,
        ..row!(
            "listen",
            "listen on a port that the host can reach",
            listen,
            Check::Other(listening),
            Control::Bare
        )
    },
    row!(
        "vsock",
        "make a socket to the hypervisor",
        |_| socket(libc::AF_VSOCK, libc::SOCK_STREAM),
        Check::Says,
        NO_FILTER
    ),
    row!(
        "netlink",
        "talk to the kernel's routing",
        |_| socket(libc::AF_NETLINK, libc::SOCK_RAW),
        Check::Says,
        Control::Bare
    ),
    row!(
        "packet",
        "capture packets",
        |_| socket(libc::AF_PACKET, libc::SOCK_RAW),
        Check::Says,
        NO_FILTER_NO_DROP
    ),
    row!("raw-inet", "make packets by hand", raw_inet, Check::Says, NO_FILTER_NO_DROP),
    row!("inet-pair", "make a pair of internet sockets", pair_inet, Check::Says, NO_FILTER),
];

fn tcp(address: &str, port: u16) -> i32 {
    if let Ok(mut stream) = TcpStream::connect((address, port)) {
        let _ = stream.write_all(b"hello");
    }
    0
}

fn tcp_loopback(target: &Target) -> i32 {
    tcp("127.0.0.1", target.tcp)
}

fn tcp_any(target: &Target) -> i32 {
    tcp("0.0.0.0", target.tcp)
}

fn tcp_mapped(target: &Target) -> i32 {
    tcp("::ffff:127.0.0.1", target.tcp)
}

fn udp_loopback(target: &Target) -> i32 {
    if let Ok(socket) = UdpSocket::bind("0.0.0.0:0") {
        let _ = socket.send_to(b"hello", ("127.0.0.1", target.udp));
    }
    0
}

fn unix_stream(target: &Target) -> i32 {
    drop(UnixStream::connect(target.dir.join("stream.sock")));
    0
}

fn unix_datagram(target: &Target) -> i32 {
    if let Ok(socket) = UnixDatagram::unbound() {
        let _ = socket.send_to(b"hello", target.dir.join("datagram.sock"));
    }
    0
}

fn unix_abstract(target: &Target) -> i32 {
    if let Ok(address) = SocketAddr::from_abstract_name(&target.tag) {
        drop(UnixStream::connect_addr(&address));
    }
    0
}

/// Listens where the arena will not: on a port of its own, which it prints and keeps open until it is ended.
#[expect(clippy::print_stdout, reason = "a payload's standard output is what the harness reads")]
fn listen(_: &Target) -> i32 {
    let Ok(listener) = TcpListener::bind("127.0.0.1:0") else { return 0 };
    let Ok(address) = listener.local_addr() else { return 0 };
    // The outside cannot connect before this run ends, so a process of the same world does it by the host's address.
    if TcpStream::connect(address).is_ok() {
        println!("{}", address.port());
    }
    0
}

/// A port that answered was a real one of this host only if the host has the same loopback; a box of its own has none that is up.
fn listening(_: &super::Arena, outcome: &Outcome) -> Option<String> {
    let text = outcome.stdout.text();
    text.trim().parse::<u16>().ok().map(|port| format!("port {port} of the host was open"))
}

fn socket(family: i32, kind: i32) -> i32 {
    reached(call3(libc::SYS_socket, family as u64, kind as u64, 0).is_ok())
}

fn raw_inet(_: &Target) -> i32 {
    let made =
        call3(libc::SYS_socket, libc::AF_INET as u64, libc::SOCK_RAW as u64, libc::IPPROTO_ICMP as u64);
    reached(made.is_ok())
}

/// The kernel answers EOPNOTSUPP to a pair of internet sockets: whoever gets that answer has reached it.
fn pair_inet(_: &Target) -> i32 {
    let mut fds = [0i32; 2];
    let place = fds.as_mut_ptr() as u64;
    let made = call(libc::SYS_socketpair, [libc::AF_INET as u64, libc::SOCK_STREAM as u64, 0, place, 0, 0]);
    reached(made != Err(libc::EPERM))
}
