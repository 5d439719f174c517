//! Lots for what an answer must not foresee: which values stand where, and in which order it meets them.

/// Lots that nobody can foresee.
pub(in crate::kinds::code) struct Dice(u64);

impl Dice {
    /// From a secret in hexadecimal digits.
    pub(in crate::kinds::code) fn of(secret: &str) -> Dice {
        Dice(u64::from_str_radix(secret.get(..16).unwrap_or_default(), 16).unwrap_or(1))
    }

    /// A number below this one.
    pub(in crate::kinds::code) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end.max(1) as u64) as usize
    }

    /// In an order of its own.
    pub(in crate::kinds::code) fn shuffle<T>(&mut self, all: &mut [T]) {
        for at in (1..all.len()).rev() {
            all.swap(at, self.below(at + 1));
        }
    }
}
