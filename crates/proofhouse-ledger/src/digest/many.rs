//! Digests of many messages at once.
//!
//! One digest is computed block after block, and no processor is busy with that alone. Messages that do not depend on each
//! other can be hashed side by side: records, ids, nodes of a tree. That takes a fraction of the time.

use tape_sha256::{Message, hash_messages};

use super::Digest;

/// So many are handed over at once, out of memory that needs no allocation.
const ROW: usize = 64;

impl Digest {
    /// The digests of many messages, each of which lies in two pieces.
    pub fn of_many<'a>(messages: impl Iterator<Item = [&'a [u8]; 2]>) -> Vec<Self> {
        let messages: Vec<[&[u8]; 2]> = messages.collect();
        let mut order: Vec<usize> = (0..messages.len()).collect();
        let length = |at: usize| messages[at][0].len() + messages[at][1].len();
        // Those that are hashed side by side take as long as the longest of them.
        order.sort_by_key(|at| length(*at));
        let mut digests = vec![Digest([0; 32]); messages.len()];
        for places in order.chunks(ROW) {
            let mut row = [Message::new(&[]); ROW];
            for (message, at) in row.iter_mut().zip(places) {
                let [first, second] = messages[*at];
                *message = Message::prefixed(first, second);
            }
            let mut found = [[0; 32]; ROW];
            hash_messages(&row[..places.len()], &mut found[..places.len()]);
            for (at, digest) in places.iter().zip(found) {
                digests[*at] = Digest(digest);
            }
        }
        digests
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn agree(messages: &[(Vec<u8>, Vec<u8>)]) {
        let many = Digest::of_many(messages.iter().map(|(first, second)| [&first[..], &second[..]]));
        let each: Vec<Digest> =
            messages.iter().map(|(first, second)| Digest::of_parts(&[first, second])).collect();
        assert_eq!(many, each);
    }

    #[test]
    fn every_length_around_a_block_split_anywhere() {
        for length in 0..=200usize {
            let bytes: Vec<u8> = (0..length).map(|at| (at * 7 + length) as u8).collect();
            let splits: Vec<_> =
                (0..=length).map(|at| (bytes[..at].to_vec(), bytes[at..].to_vec())).collect();
            agree(&splits);
        }
    }

    #[test]
    fn any_number_of_messages() {
        for count in 0..=3 * ROW {
            let messages: Vec<_> = (0..count).map(|at| (vec![at as u8; at % 90], vec![1; 700])).collect();
            agree(&messages);
        }
    }

    proptest! {
        #[test]
        fn many_are_as_one_by_one(
            messages in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..200), prop::collection::vec(any::<u8>(), 0..600)), 0..50)
        ) {
            agree(&messages);
        }
    }
}
