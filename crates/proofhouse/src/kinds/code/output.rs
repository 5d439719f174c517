//! Output made fit for a record: valid text, bounded, without what changes from run to run.

use proofhouse_ledger::Digest;
use proofhouse_sandbox::Stream;

use super::verdict::Bounded;

/// Bytes of JSON text kept from the beginning and from the end.
const HEAD_BYTES: usize = 12 << 10;
const TAIL_BYTES: usize = 4 << 10;

/// What a box keeps of a stream: enough for the record after escaping.
pub(super) const KEEP: proofhouse_sandbox::Keep =
    proofhouse_sandbox::Keep { head_bytes: 64 << 10, tail_bytes: 16 << 10 };

/// Bounds a stream of a box.
pub(super) fn of_stream(stream: &Stream) -> Bounded {
    let whole = stream.tail.is_empty() && stream.length == stream.head.len() as u64;
    if whole {
        return of_text(&normal(&String::from_utf8_lossy(&stream.head)));
    }
    let head = normal(&String::from_utf8_lossy(&stream.head));
    let tail = normal(&String::from_utf8_lossy(&stream.tail));
    let text = join(&head, &tail, stream.length, HEAD_BYTES);
    Bounded { text, bytes: stream.length, sha256: Some(stream.sha256.clone()) }
}

/// Bounds a stream of a box with what somebody else said behind it; a stream that is too long stands alone.
pub(super) fn of_stream_and(stream: &Stream, said: &str) -> Bounded {
    let bounded = of_stream(stream);
    if said.is_empty() || bounded.sha256.is_some() { bounded } else { of_text(&(bounded.text + said)) }
}

/// Bounds a text.
pub(super) fn of_text(text: &str) -> Bounded {
    within(text, HEAD_BYTES)
}

/// Bounds a text of which this much of the beginning is kept.
pub(super) fn within(text: &str, head_bytes: usize) -> Bounded {
    let bytes = text.len() as u64;
    if escaped(text) <= head_bytes + TAIL_BYTES {
        return Bounded { text: text.to_owned(), bytes, sha256: None };
    }
    let sha256 = String::from_utf8_lossy(&Digest::of(text.as_bytes()).hex()).into_owned();
    Bounded { text: join(text, text, bytes, head_bytes), bytes, sha256: Some(sha256) }
}

/// The beginning of a text, within so many bytes of JSON text.
pub(super) fn beginning(text: &str, bytes: usize) -> String {
    let mut room = bytes;
    let end = text.char_indices().find(|(_, c)| !take(&mut room, *c)).map_or(text.len(), |(at, _)| at);
    text[..end].to_owned()
}

fn join(head: &str, tail: &str, bytes: u64, head_bytes: usize) -> String {
    let mut room = head_bytes;
    let end = head.char_indices().find(|(_, c)| !take(&mut room, *c)).map_or(head.len(), |(at, _)| at);
    let mut room = TAIL_BYTES;
    let start =
        tail.char_indices().rev().find(|(_, c)| !take(&mut room, *c)).map_or(0, |(at, c)| at + c.len_utf8());
    format!("{}\n[… of {bytes} bytes, the middle is left out …]\n{}", &head[..end], &tail[start..])
}

fn take(room: &mut usize, c: char) -> bool {
    let cost = cost(c);
    let fits = cost <= *room;
    *room = room.saturating_sub(cost);
    fits
}

/// The bytes of a character within a JSON text.
fn cost(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' => 2,
        c if c < ' ' => 6,
        c => c.len_utf8(),
    }
}

fn escaped(text: &str) -> usize {
    text.chars().map(cost).sum()
}

/// Thread numbers go: `thread 'test' (17) panicked` is `thread 'test' panicked`.
pub(super) fn normal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("thread '") {
        let behind_name = rest[at + 8..].find('\'').map(|end| at + 8 + end + 1);
        let Some(from) = behind_name else { break };
        out.push_str(&rest[..from]);
        rest = &rest[from..];
        if let Some(inner) = rest.strip_prefix(" (")
            && let Some(close) = inner.find(')')
            && close > 0
            && inner[..close].bytes().all(|byte| byte.is_ascii_digit())
        {
            rest = &inner[close + 1..];
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_bounded_by_what_it_costs_in_a_record() {
        for c in ['a', '\u{1}', 'é', '"'] {
            let text = c.to_string().repeat(200_000);
            let bounded = of_text(&text);
            assert!(escaped(&bounded.text) < 20_000, "{c:?}");
            assert_eq!(bounded.bytes, text.len() as u64);
            assert!(bounded.sha256.is_some() && bounded.text.starts_with(c) && bounded.text.ends_with(c));
        }
        assert_eq!(of_text("short"), Bounded { text: "short".into(), bytes: 5, sha256: None });
    }

    #[test]
    fn thread_numbers_go() {
        assert_eq!(
            normal("thread 'a' (12) panicked\nthread 'b' panicked\nthread 'c"),
            "thread 'a' panicked\nthread 'b' panicked\nthread 'c"
        );
    }
}
