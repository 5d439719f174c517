//! The way between two boxes: a stream in both directions of which each box gets one end as its standard input.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

/// Two connected ends, closed on exec.
pub fn link() -> io::Result<(OwnedFd, OwnedFd)> {
    let (one, other) = UnixStream::pair()?;
    Ok((one.into(), other.into()))
}

/// Sends these bytes (at least one) and a descriptor to the holder of the other end of a link, which may be in a box already. The
/// caller closes its own copy.
pub fn hand_over(end: impl AsFd, bytes: &[u8], descriptor: impl AsFd) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let descriptors = [descriptor.as_fd()];
    ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
    let mut sent = loop {
        match sendmsg(&end, &[IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL) {
            Ok(sent) => break sent,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    };
    // The descriptor went with the first byte; a long message may need more than one call.
    while sent < bytes.len() {
        match rustix::net::send(&end, &bytes[sent..], SendFlags::NOSIGNAL) {
            Ok(more) => sent += more,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
