//! The name service of a trial: no name exists, and what was asked for is told.

/// The name that a query asks for, and the answer that there is none such.
pub(super) fn refuse(query: &[u8]) -> Option<(String, Vec<u8>)> {
    const HEADER: usize = 12;
    let (mut at, mut labels) = (HEADER, Vec::new());
    loop {
        let length = usize::from(*query.get(at)?);
        if length == 0 {
            break;
        }
        // A longer label is a pointer, which no question needs.
        let label = query.get(at + 1..at + 1 + length).filter(|_| length < 64)?;
        labels.push(String::from_utf8_lossy(label).to_lowercase());
        at += 1 + length;
        if at > 255 + HEADER {
            return None;
        }
    }
    let question = query.get(HEADER..at + 5)?;
    // An answer to this very question, recursion as asked, and the code for a name that does not exist.
    let mut answer = query.get(..2)?.to_vec();
    answer.extend([0x81, 0x83, 0, 1, 0, 0, 0, 0, 0, 0]);
    answer.extend(question);
    Some((labels.join("."), answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_exists() {
        let mut query = vec![0xab, 0xcd, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        query.extend(b"\x03Api\x07example\x04test\0\0\x01\0\x01");
        let (name, answer) = refuse(&query).unwrap();
        assert_eq!(name, "api.example.test");
        assert_eq!(answer[..4], [0xab, 0xcd, 0x81, 0x83]);
        assert_eq!(answer[12..], query[12..]);
        for cut in 0..query.len() {
            assert_eq!(refuse(&query[..cut]), None, "{cut}");
        }
        query[12] = 0xc0;
        assert_eq!(refuse(&query), None);
    }
}
