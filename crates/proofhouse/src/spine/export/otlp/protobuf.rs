//! As much of protobuf's encoding as OTLP takes: numbers, fixed words, and whatever has a length.

/// A message that is being written.
#[derive(Debug, Default)]
pub(super) struct Message(Vec<u8>);

const VARINT: u64 = 0;
const FIXED: u64 = 1;
const LENGTH: u64 = 2;

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

impl Message {
    fn key(&mut self, field: u64, wire: u64) {
        varint(&mut self.0, field << 3 | wire);
    }

    /// An integer or an enumeration.
    pub(super) fn number(mut self, field: u64, value: u64) -> Self {
        self.key(field, VARINT);
        varint(&mut self.0, value);
        self
    }

    /// Eight bytes.
    pub(super) fn fixed(mut self, field: u64, value: u64) -> Self {
        self.key(field, FIXED);
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(super) fn double(self, field: u64, value: f64) -> Self {
        self.fixed(field, value.to_bits())
    }

    pub(super) fn bytes(mut self, field: u64, value: &[u8]) -> Self {
        self.key(field, LENGTH);
        varint(&mut self.0, value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    pub(super) fn text(self, field: u64, value: &str) -> Self {
        self.bytes(field, value.as_bytes())
    }

    pub(super) fn nested(self, field: u64, value: Message) -> Self {
        self.bytes(field, &value.0)
    }

    pub(super) fn end(self) -> Vec<u8> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Message;

    /// The examples of the encoding's own documentation: 150 in field 1, "testing" in field 2, a message in field 3.
    #[test]
    fn the_documented_examples() {
        let test1 = || Message::default().number(1, 150);
        assert_eq!(test1().end(), [0x08, 0x96, 0x01]);
        assert_eq!(Message::default().text(2, "testing").end(), b"\x12\x07testing");
        assert_eq!(Message::default().nested(3, test1()).end(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert_eq!(Message::default().double(4, 1.0).end(), [0x21, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
    }
}
