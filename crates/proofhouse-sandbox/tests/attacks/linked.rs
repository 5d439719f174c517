//! Two boxes that speak with each other, and what each sees of the other's end.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use proofhouse_sandbox::recipes;
use proofhouse_sandbox::{Spec, Status, Tier, hand_over, link};

use crate::lab::lab;

fn shell(script: &str) -> Spec {
    Spec::new(["/bin/sh", "-c", script]).binds(recipes::programs())
}

#[test]
fn two_boxes_speak_over_a_link_and_see_each_other_go() {
    for tier in [Tier::Strong, Tier::Confined, Tier::None] {
        let lab = lab(tier);
        let (one, other) = link().unwrap();
        std::thread::scope(|scope| {
            let answering = scope.spawn(|| {
                lab.run_linked(&shell("read -r line; echo \"heard $line\" >&0; exit 3"), other, None)
            });
            // `cat` ends only when nobody holds the other end any more, not even the harness.
            let asking = lab.run_linked(&shell("echo question >&0; cat"), one, None);
            assert_eq!(answering.join().unwrap().status, Status::Exit(3), "{tier:?}");
            assert_eq!(asking.status, Status::Ok, "{tier:?}");
            assert_eq!(asking.stdout.text(), "heard question\n", "{tier:?}");
        });
    }
}

#[test]
fn a_descriptor_reaches_a_box_that_is_running() {
    let lab = lab(Tier::Strong);
    let (ours, theirs) = link().unwrap();
    let (mut ask, given) = UnixStream::pair().unwrap();
    let receive = "import os, socket; s = socket.socket(fileno=0); _, fds, _, _ = socket.recv_fds(s, 1, 1); os.write(fds[0], b'here')";
    let python = recipes::Python::find("python3".as_ref()).expect("the machine has Python");
    std::thread::scope(|scope| {
        let boxed = scope.spawn(|| lab.run_linked(&python.run(["-c", receive]), theirs, None));
        hand_over(&ours, &[1], &given).unwrap();
        drop(given);
        ask.flush().unwrap();
        let mut heard = String::new();
        ask.read_to_string(&mut heard).unwrap();
        assert_eq!(heard, "here");
        assert_eq!(boxed.join().unwrap().status, Status::Ok);
    });
}
