//! Doors: ports of a box's own loopback that are served from outside, and everything else that such a box cannot reach.

use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::mpsc;

use proofhouse_sandbox::{Door, Infra, Outcome, Spec, Status, Tier, recipes};

use crate::lab::{Lab, lab};

fn python(lab: &Lab, script: &str, serve: impl FnOnce(Vec<OwnedFd>) + Send) -> Outcome {
    let python = recipes::Python::find("python3".as_ref()).expect("the machine has Python");
    let mut spec = python.run(["-c", script]).doors([Door::Tcp(8080), Door::Tcp(8081), Door::Udp(53)]);
    spec.calls = proofhouse_sandbox::Calls::Compiler;
    let (give, take) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if let Ok(sockets) = take.recv() {
                serve(sockets);
            }
        });
        // The sender goes with the closure, so that nobody waits for doors that never opened.
        let opened = &mut move |sockets| give.send(sockets).expect("somebody serves");
        lab.run_served(&spec, None, opened)
    })
}

#[test]
fn what_a_box_asks_at_its_doors_is_answered_outside() {
    let lab = lab(Tier::Strong);
    let script = "\
import os, socket
for port in (8080, 8081):
    s = socket.create_connection(('127.0.0.1', port)); s.sendall(b'who'); s.shutdown(1)
    print(s.makefile().read())
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.sendto(b'name', ('127.0.0.1', 53)); print(u.recv(9).decode())
open_fds = []
for fd in range(64):
    try: os.fstat(fd); open_fds.append(fd)
    except OSError: pass
print([fd for fd in open_fds if fd > 2 and fd not in (s.fileno(), u.fileno())])
";
    let outcome = python(&lab, script, |sockets| {
        let [first, second, names]: [OwnedFd; 3] = sockets.try_into().expect("three doors");
        for (door, word) in [(first, "one"), (second, "two")] {
            let (mut stream, _) = TcpListener::from(door).accept().unwrap();
            let mut heard = String::new();
            stream.read_to_string(&mut heard).unwrap();
            assert_eq!(heard, "who");
            stream.write_all(word.as_bytes()).unwrap();
        }
        let names = UdpSocket::from(names);
        let mut buffer = [0; 16];
        let (length, from) = names.recv_from(&mut buffer).unwrap();
        names.send_to(&buffer[..length], from).unwrap();
    });
    assert_eq!(outcome.status, Status::Ok, "{}", outcome.stderr.text());
    assert_eq!(outcome.stdout.text(), "one\ntwo\nname\n[]\n", "every door, and no other descriptor");
}

#[test]
fn parallel_boxes_have_the_same_ports() {
    let lab = lab(Tier::Strong);
    let script =
        "import socket; s = socket.create_connection(('127.0.0.1', 8080)); print(s.makefile().read())";
    std::thread::scope(|scope| {
        let lab = &lab;
        for number in 0..4 {
            scope.spawn(move || {
                let outcome = python(lab, script, |sockets| {
                    let door = TcpListener::from(sockets.into_iter().next().expect("a door"));
                    door.accept().unwrap().0.write_all(number.to_string().as_bytes()).unwrap();
                });
                assert_eq!(outcome.stdout.text().trim(), number.to_string());
            });
        }
    });
}

#[test]
fn tiers_without_a_network_of_their_own_say_so() {
    for tier in [Tier::Confined, Tier::Limited, Tier::None] {
        let lab = lab(tier);
        assert!(!lab.has_own_network());
        let spec = Spec::new(["/bin/true"]).binds(recipes::programs()).doors([Door::Tcp(8080)]);
        let outcome = lab.run_served(&spec, None, &mut |_| panic!("no door was opened"));
        let Status::InfraError(Infra::Setup { step, .. }) = &outcome.status else {
            panic!("{:?}", outcome.status)
        };
        assert!(step.contains("a network of its own") && step.contains(&tier.to_string()), "{step}");
    }
}
