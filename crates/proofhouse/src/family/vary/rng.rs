//! Random numbers that depend on nothing but what they are for: no state is shared between variants or generators.
//!
//! `Key` is SHA-256 over case, generator, version and seed. A `Stream` is SHA-256 over the key, the variant's index and
//! the attempt; its n-th number is the SplitMix64 mix of (start + n × the golden ratio's 64 bits). So one draw more in one
//! variant never shifts another, and every platform gets the same numbers: only integers take part.

use proofhouse_ledger::Digest;

use super::{Ask, Settings};

/// Where all streams of one ask come from.
pub(super) struct Key(Digest);

impl Key {
    pub(super) fn of<S: Settings>(ask: &Ask<'_>) -> Key {
        let case_length = (ask.case_id.len() as u64).to_le_bytes();
        let name_length = (S::NAME.len() as u64).to_le_bytes();
        Key(Digest::of_parts(&[
            b"proofhouse vary 1",
            &case_length,
            ask.case_id.as_bytes(),
            &name_length,
            S::NAME.as_bytes(),
            &S::GENERATOR_VERSION.to_le_bytes(),
            &ask.seed.to_le_bytes(),
        ]))
    }

    /// The numbers for one attempt at one variant.
    pub(super) fn stream(&self, index: u32, attempt: u32) -> Stream {
        let Digest(bytes) = Digest::of_parts(&[&self.0.0, &index.to_le_bytes(), &attempt.to_le_bytes()]);
        let (head, _) = bytes.split_first_chunk().expect("a digest has more than eight bytes");
        Stream { state: u64::from_le_bytes(*head) }
    }
}

/// A sequence of random numbers.
pub(super) struct Stream {
    state: u64,
}

impl Stream {
    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, each equally likely (Lemire's method: the few numbers that would favour some are redrawn).
    pub(super) fn below(&mut self, bound: usize) -> usize {
        debug_assert!(bound > 0, "there is no number below zero");
        let bound = bound as u64;
        let unfair = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.next()) * u128::from(bound);
            if product as u64 >= unfair {
                return (product >> 64) as usize;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix64_as_published() {
        let mut stream = Stream { state: 1_234_567 };
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423u64];
        assert_eq!([stream.next(), stream.next(), stream.next()], expected);
    }

    #[test]
    fn every_number_below_is_about_as_likely() {
        let mut stream = Stream { state: 7 };
        let mut seen = [0u32; 6];
        for _ in 0..60_000 {
            seen[stream.below(6)] += 1;
        }
        assert!(seen.iter().all(|count| (9_600..10_400).contains(count)), "{seen:?}");
        assert_eq!(stream.below(1), 0);
    }
}
