//! Keeps the most recently modified of many files without holding them all.

use std::{cmp::Reverse, collections::BTreeMap, time::SystemTime};

/// The `limit` newest of what is pushed, ties by their keys, of which each is pushed once; holds no more than that.
#[derive(Debug)]
pub struct Newest<K: Ord, V> {
    kept: BTreeMap<(Reverse<Option<SystemTime>>, K), V>,
    limit: usize,
}

impl<K: Ord, V> Newest<K, V> {
    /// Keeps at most `limit` items.
    pub fn new(limit: usize) -> Self {
        Self { kept: BTreeMap::new(), limit }
    }

    /// Offers an item.
    pub fn push(&mut self, modified: Option<SystemTime>, key: K, value: V) {
        self.kept.insert((Reverse(modified), key), value);
        if self.kept.len() > self.limit {
            self.kept.pop_last();
        }
    }

    /// Offers an item whose key comes after all others; the key is made only when it is kept.
    pub fn push_next(&mut self, modified: Option<SystemTime>, key: impl FnOnce() -> K, value: V) {
        let is_newer = |((Reverse(oldest), _), _): (&(_, _), _)| modified > *oldest;
        if self.kept.len() < self.limit || self.kept.last_key_value().is_some_and(is_newer) {
            self.push(modified, key(), value);
        }
    }

    /// What was kept, the newest first.
    pub fn into_sorted(self) -> impl Iterator<Item = (K, V)> {
        self.kept.into_iter().map(|((_, key), value)| (key, value))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn newest_keeps_the_latest() {
        let at = |seconds| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        let mut newest = Newest::new(3);
        for (time, name) in [(1, "old"), (9, "b"), (9, "a"), (5, "mid"), (2, "older")] {
            newest.push(at(time), name, ());
        }
        assert!(newest.into_sorted().map(|(name, ())| name).eq(["a", "b", "mid"]));
    }

    #[test]
    fn push_next_keeps_the_same_items_as_push() {
        let times = [3, 9, 9, 1, 9, 4, 9, 3, 0, 10];
        for limit in 0..=times.len() {
            let (mut all, mut in_order) = (Newest::new(limit), Newest::new(limit));
            for (at, time) in times.into_iter().enumerate() {
                let modified = (time > 0).then(|| SystemTime::UNIX_EPOCH + Duration::from_secs(time));
                all.push(modified, at, ());
                in_order.push_next(modified, || at, ());
            }
            assert!(in_order.into_sorted().eq(all.into_sorted()), "{limit}");
        }
    }
}
