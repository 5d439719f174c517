//! Boxes that stay for many answers, and the frames that are exchanged with those that speak JSON: four bytes of length before it.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use proofhouse_sandbox::{Cancel, Outcome, Sandbox, Spec, hand_over, link};
use serde::de::DeserializeOwned;

use super::bench::told;

/// No report is longer.
const MAX_FRAME_BYTES: usize = 16 << 20;

/// A message with its length before it.
pub(super) fn frame(message: &serde_json::Value) -> Vec<u8> {
    let text = message.to_string();
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    [&length.to_be_bytes(), text.as_bytes()].concat()
}

/// Reads one message; `None` if there is none in time, or it is none.
pub(super) fn read_frame<T: DeserializeOwned>(stream: &mut UnixStream, wait: Duration) -> Option<T> {
    stream.set_read_timeout(Some(wait)).ok()?;
    let mut length = [0; 4];
    stream.read_exact(&mut length).ok()?;
    let length = usize::try_from(u32::from_be_bytes(length)).ok().filter(|it| *it <= MAX_FRAME_BYTES)?;
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// A box that runs beside us, with our end of a link to it.
pub(super) struct Running {
    link: UnixStream,
    cancel: Arc<Cancel>,
    ended: Receiver<Outcome>,
}

impl Running {
    /// Starts a box on a thread of its own, with the other end as its standard input.
    pub(super) fn start(purpose: &'static str, sandbox: &Arc<Sandbox>, spec: Spec) -> io::Result<Running> {
        let (ours, theirs) = link()?;
        let cancel = Arc::new(Cancel::new()?);
        let (tell, ended) = mpsc::channel();
        let (stop, sandbox) = (Arc::clone(&cancel), Arc::clone(sandbox));
        std::thread::Builder::new().name(purpose.to_owned()).spawn(move || {
            // Nobody may be left who wants to know.
            let _ = tell.send(told(purpose, sandbox.run_linked(&spec, theirs, Some(&stop))));
        })?;
        Ok(Running { link: ours.into(), cancel, ended })
    }

    /// Sends a message.
    pub(super) fn send(&mut self, message: &serde_json::Value, wait: Duration) -> io::Result<()> {
        self.link.set_write_timeout(Some(wait))?;
        self.link.write_all(&frame(message))
    }

    /// Sends a message and a descriptor.
    pub(super) fn hand(&self, message: &serde_json::Value, descriptor: impl AsFd) -> io::Result<()> {
        self.link.set_write_timeout(Some(Duration::from_secs(10)))?;
        hand_over(&self.link, &frame(message), descriptor)
    }

    /// Reads a message.
    pub(super) fn read<T: DeserializeOwned>(&mut self, wait: Duration) -> Option<T> {
        read_frame(&mut self.link, wait)
    }

    /// Our end of the link.
    pub(super) fn link(&mut self) -> &mut UnixStream {
        &mut self.link
    }

    /// Gives our end away: whoever gets it speaks with the box from now on.
    pub(super) fn give_link(self) -> io::Result<(OwnedFd, Ending)> {
        Ok((self.link.into(), Ending { cancel: self.cancel, ended: self.ended }))
    }

    /// Ends it, and says how it ended before, if it had.
    pub(super) fn end(self, wait: Duration) -> Option<Outcome> {
        drop(self.link);
        Ending { cancel: self.cancel, ended: self.ended }.within(wait)
    }
}

/// The end of a box, which comes or is made.
pub(super) struct Ending {
    cancel: Arc<Cancel>,
    ended: Receiver<Outcome>,
}

impl Ending {
    /// How it ended by itself in that time; otherwise it is ended.
    pub(super) fn within(self, wait: Duration) -> Option<Outcome> {
        if let Ok(outcome) = self.ended.recv_timeout(wait) {
            return Some(outcome);
        }
        self.cancel.cancel();
        None
    }
}
