//! Contents kept in memory: the newest that fit.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use confined_fs::Revision;

/// Bytes kept in all.
const TOTAL: usize = 16 << 20;
/// Bytes of the largest content.
pub(super) const EACH: usize = 4 << 20;

/// A bounded set of contents; the oldest gives way.
#[derive(Debug, Default)]
pub(super) struct MemoryStore {
    contents: HashMap<Revision, Arc<[u8]>>,
    order: VecDeque<Revision>,
    total: usize,
}

impl MemoryStore {
    /// Keeps a content as the newest; false when it is too large.
    pub(super) fn insert(&mut self, revision: Revision, bytes: Arc<[u8]>) -> bool {
        if bytes.len() > EACH {
            return false;
        }
        self.order.retain(|other| *other != revision);
        self.order.push_back(revision);
        if !self.contents.contains_key(&revision) {
            self.total += bytes.len();
            self.contents.insert(revision, bytes);
        }
        while self.total > TOTAL {
            let Some(oldest) = self.order.pop_front() else { break };
            self.total -= self.contents.remove(&oldest).map_or(0, |bytes| bytes.len());
        }
        true
    }

    /// The content, if it is still kept.
    pub(super) fn content(&self, revision: Revision) -> Option<Vec<u8>> {
        self.contents.get(&revision).map(|bytes| bytes.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_content_is_evicted_and_renewed_one_kept() {
        let mut memory = MemoryStore::default();
        let revision = |n: u8| Revision::of(&[n]);
        for n in 0..4 {
            assert!(memory.insert(revision(n), vec![n; EACH].into()));
        }
        assert!(memory.insert(revision(0), vec![0; EACH].into()));
        assert!(memory.insert(revision(4), vec![4; EACH].into()));
        assert!(memory.content(revision(1)).is_none());
        for n in [0, 2, 3, 4] {
            assert_eq!(memory.content(revision(n)).unwrap()[0], n);
        }
        assert!(memory.total <= TOTAL);
        assert!(!memory.insert(revision(9), vec![0; EACH + 1].into()));
    }
}
