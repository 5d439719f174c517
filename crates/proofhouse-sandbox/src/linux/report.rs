//! What a box tells the harness: that it was started, that its setup failed, or how the payload ended.

use super::Step;
use super::wire::{Reader, bytes, number};

/// One message over a box's channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// From the helper, with the pidfd of init.
    Started,
    /// From init, with the sockets of the doors.
    Opened,
    /// From helper or init: nothing ran. `exec` when only the program itself could not be started.
    Failed { step: Step, exec: bool },
    /// From init, when everything else in the box is gone.
    Ended(Ending),
}

/// How the payload ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ending {
    /// Wait status of the payload's first process, when it ended by itself.
    pub(crate) status: Option<i32>,
    /// Which limit ended it, when one did.
    pub(crate) limit: Option<Limit>,
    pub(crate) cpu_us: u64,
    pub(crate) wall_us: u64,
    pub(crate) max_rss_bytes: u64,
    pub(crate) peak_bytes: u64,
    /// One per result asked for: 0 and its length with a descriptor attached, or the reason as a number.
    pub(crate) collected: Vec<(u64, u64)>,
}

/// A limit that init enforces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Cpu = 1,
    Wall = 2,
    Memory = 3,
    Processes = 4,
    /// The harness asked for the end, or is gone.
    Asked = 5,
}

impl Message {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Message::Started => out.push(0),
            Message::Opened => out.push(3),
            Message::Failed { step, exec } => {
                out.push(1);
                out.push(u8::from(*exec));
                bytes(&mut out, step.step.as_bytes());
                number(&mut out, step.errno as u64);
            }
            Message::Ended(ending) => {
                out.push(2);
                out.push(u8::from(ending.status.is_some()));
                for value in [
                    ending.status.unwrap_or(0) as u64,
                    ending.limit.map_or(0, |limit| limit as u64),
                    ending.cpu_us,
                    ending.wall_us,
                    ending.max_rss_bytes,
                    ending.peak_bytes,
                    ending.collected.len() as u64,
                ] {
                    number(&mut out, value);
                }
                for (code, length) in &ending.collected {
                    number(&mut out, *code);
                    number(&mut out, *length);
                }
            }
        }
        out
    }

    pub(crate) fn decode(input: &[u8]) -> Option<Message> {
        let (kind, rest) = input.split_first()?;
        let mut reader = Reader(rest);
        match kind {
            0 => Some(Message::Started),
            1 => {
                let exec = reader.flag()?;
                let step = String::from_utf8_lossy(&reader.bytes()?).into_owned();
                Some(Message::Failed { step: Step { step, errno: reader.number()? as i32 }, exec })
            }
            2 => decode_ending(&mut reader).map(Message::Ended),
            3 => Some(Message::Opened),
            _ => None,
        }
    }
}

fn decode_ending(reader: &mut Reader<'_>) -> Option<Ending> {
    let ended = reader.flag()?;
    let status = reader.number()? as i32;
    let limit = match reader.number()? {
        0 => None,
        1 => Some(Limit::Cpu),
        2 => Some(Limit::Wall),
        3 => Some(Limit::Memory),
        4 => Some(Limit::Processes),
        _ => Some(Limit::Asked),
    };
    let mut ending = Ending { status: ended.then_some(status), limit, ..Ending::default() };
    ending.cpu_us = reader.number()?;
    ending.wall_us = reader.number()?;
    ending.max_rss_bytes = reader.number()?;
    ending.peak_bytes = reader.number()?;
    let count = reader.number()?;
    ending.collected =
        (0..count).map(|_| Some((reader.number()?, reader.number()?))).collect::<Option<_>>()?;
    Some(ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_the_wire() {
        let ending = Ending {
            status: Some(9),
            limit: Some(Limit::Memory),
            cpu_us: 1,
            wall_us: 2,
            max_rss_bytes: 3,
            peak_bytes: 4,
            collected: vec![(0, 5), (3, 0)],
        };
        let failed = Message::Failed { step: Step { step: "mount".into(), errno: 13 }, exec: false };
        for message in [Message::Started, Message::Opened, failed, Message::Ended(ending)] {
            assert_eq!(Message::decode(&message.encode()), Some(message));
        }
        assert_eq!(Message::decode(&[2, 1, 0]), None);
    }
}
