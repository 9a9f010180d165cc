//! Keeps the most recently modified of many files without holding them all.

use std::{cmp::Reverse, collections::BinaryHeap, time::SystemTime};

/// The `limit` newest of what is pushed, ties by the item's own order; holds no more than that.
#[derive(Debug)]
pub struct Newest<T: Ord> {
    heap: BinaryHeap<(Reverse<Option<SystemTime>>, T)>,
    limit: usize,
    seen: usize,
}

impl<T: Ord> Newest<T> {
    /// Keeps at most `limit` items.
    pub fn new(limit: usize) -> Self {
        Self { heap: BinaryHeap::new(), limit, seen: 0 }
    }

    /// Offers an item.
    pub fn push(&mut self, modified: Option<SystemTime>, item: T) {
        self.seen += 1;
        self.heap.push((Reverse(modified), item));
        if self.heap.len() > self.limit {
            self.heap.pop();
        }
    }

    /// Offers an item that comes after all others in their own order: made only when it is kept.
    pub fn push_next(&mut self, modified: Option<SystemTime>, item: impl FnOnce() -> T) {
        let kept =
            self.heap.len() < self.limit || self.heap.peek().is_some_and(|(Reverse(oldest), _)| modified > *oldest);
        if kept {
            self.push(modified, item());
        } else {
            self.seen += 1;
        }
    }

    /// How many items were offered.
    pub fn seen(&self) -> usize {
        self.seen
    }

    /// What was kept, the newest first.
    pub fn into_sorted(self) -> Vec<T> {
        self.heap.into_sorted_vec().into_iter().map(|(_, item)| item).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn newest_keeps_the_latest_and_counts_all() {
        let at = |seconds| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        let mut newest = Newest::new(3);
        for (time, name) in [(1, "old"), (9, "b"), (9, "a"), (5, "mid"), (2, "older")] {
            newest.push(at(time), name);
        }
        assert_eq!(newest.seen(), 5);
        assert_eq!(newest.into_sorted(), ["a", "b", "mid"]);
    }

    #[test]
    fn push_next_keeps_the_same_items_as_push() {
        let times = [3, 9, 9, 1, 9, 4, 9, 3, 0, 10];
        for limit in 0..=times.len() {
            let (mut all, mut in_order) = (Newest::new(limit), Newest::new(limit));
            for (at, time) in times.into_iter().enumerate() {
                let modified = (time > 0).then(|| SystemTime::UNIX_EPOCH + Duration::from_secs(time));
                all.push(modified, at);
                in_order.push_next(modified, || at);
            }
            assert_eq!(in_order.seen(), times.len());
            assert_eq!(in_order.into_sorted(), all.into_sorted(), "{limit}");
        }
    }
}
