//! A memory of one: what was compiled for the last case, because repetitions and slots of a case follow one another.

use std::borrow::Borrow;
use std::sync::{Arc, Mutex, PoisonError};

/// The newest value and the key that it was made from.
pub(super) struct Latest<K, V>(Mutex<Option<(K, Arc<V>)>>);

impl<K, V> Default for Latest<K, V> {
    fn default() -> Self {
        Latest(Mutex::new(None))
    }
}

impl<K, V> Latest<K, V> {
    /// The value of this key: the newest one if it was made from it, else a new one.
    pub(super) fn get<Q>(&self, key: &Q, make: impl FnOnce(&Q) -> V) -> Arc<V>
    where
        K: Borrow<Q>,
        Q: PartialEq + ToOwned<Owned = K> + ?Sized,
    {
        let mut newest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*newest {
            Some((known, value)) if known.borrow() == key => Arc::clone(value),
            _ => {
                let value = Arc::new(make(key));
                *newest = Some((key.to_owned(), Arc::clone(&value)));
                value
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makes_a_value_only_when_the_key_changes() {
        let latest: Latest<String, usize> = Latest::default();
        let mut made = 0;
        for key in ["a", "a", "bc", "a"] {
            let value = latest.get(key, |key| {
                made += 1;
                key.len()
            });
            assert_eq!(*value, key.len());
        }
        assert_eq!(made, 3);
    }
}
