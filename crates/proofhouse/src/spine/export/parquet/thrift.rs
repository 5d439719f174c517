//! As much of Thrift's compact protocol as the headers and the footer of a Parquet file take.

/// A struct that is being written: fields in ascending order.
#[derive(Debug, Default)]
pub(super) struct Struct {
    bytes: Vec<u8>,
    last: i16,
}

/// The types of the protocol.
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A number in groups of seven bits, the lowest first.
pub(super) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

impl Struct {
    fn field(&mut self, id: i16, kind: u8) {
        debug_assert!(id > self.last && id - self.last < 16, "fields stand in ascending order");
        self.bytes.push(((id - self.last) as u8) << 4 | kind);
        self.last = id;
    }

    pub(super) fn i32(mut self, id: i16, value: i32) -> Self {
        self.field(id, I32);
        varint(&mut self.bytes, zigzag(value.into()));
        self
    }

    pub(super) fn i64(mut self, id: i16, value: u64) -> Self {
        self.field(id, I64);
        varint(&mut self.bytes, zigzag(value as i64));
        self
    }

    pub(super) fn text(mut self, id: i16, value: &str) -> Self {
        self.field(id, BINARY);
        push_text(&mut self.bytes, value);
        self
    }

    pub(super) fn nested(mut self, id: i16, value: Struct) -> Self {
        self.field(id, STRUCT);
        self.bytes.extend(value.end());
        self
    }

    pub(super) fn structs(mut self, id: i16, values: Vec<Struct>) -> Self {
        self.list(id, STRUCT, values.len());
        for value in values {
            self.bytes.extend(value.end());
        }
        self
    }

    pub(super) fn i32s(mut self, id: i16, values: &[i32]) -> Self {
        self.list(id, I32, values.len());
        for value in values {
            varint(&mut self.bytes, zigzag((*value).into()));
        }
        self
    }

    pub(super) fn texts(mut self, id: i16, values: &[&str]) -> Self {
        self.list(id, BINARY, values.len());
        for value in values {
            push_text(&mut self.bytes, value);
        }
        self
    }

    fn list(&mut self, id: i16, kind: u8, length: usize) {
        self.field(id, LIST);
        if length < 15 {
            self.bytes.push((length as u8) << 4 | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            varint(&mut self.bytes, length as u64);
        }
    }

    /// The bytes of the whole struct.
    pub(super) fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

fn push_text(out: &mut Vec<u8>, value: &str) {
    varint(out, value.len() as u64);
    out.extend_from_slice(value.as_bytes());
}
