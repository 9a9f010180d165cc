//! Takes the stored index of a former process over, so that a new one reads only the files that have changed since.

use confined_fs::{StatCache, Visibility};

use super::{KnownContent, KnownStat, PathList};
use crate::{StoredIndex, ngram_filter::NgramFilter};
use std::{
    sync::{Arc, OnceLock},
    time::Instant,
};

/// What was taken over.
#[derive(Clone, Copy, Debug)]
pub(super) struct TakenOver {
    /// Files.
    pub(super) files: usize,
    /// Files of the stored index that were not: changed or gone.
    pub(super) outdated: usize,
    /// When.
    pub(super) at: Instant,
}

/// Marks the files of `list` that a stat of now shows in the state that `stored` knows, and makes the filter over them
/// with room for `memory` bytes. `None` where the stored filter is damaged: nothing is marked then.
pub(super) fn take_over(
    stored: &Arc<StoredIndex>,
    list: &mut PathList,
    memory: usize,
) -> Option<(NgramFilter, TakenOver)> {
    let (mut cursor, mut stats) = (stored.cursor(), StatCache::default());
    let mut marked = Vec::new();
    for at in 0..list.items.len() {
        let item = list.items.get(at);
        if !item.is_unread() {
            continue;
        }
        let Some(file) = cursor.file(item.relative()) else { continue };
        let is_known = matches!(file.content, KnownContent::Filtered(..) | KnownContent::Binary(_));
        if !is_known || item.entry().visibility() != Visibility::Open {
            continue;
        }
        let Ok(stat) = stats.stat(&item.entry()) else { continue };
        let Some(known) = KnownStat::of(&stat, true).filter(|_| stat.facts() == Some(file.facts)) else { continue };
        let content = file.content.clone();
        list.items.change(at, |item| {
            item.set_content(content);
            item.known = OnceLock::from(known);
        });
        marked.push(at);
    }
    let files = marked.iter().filter_map(|at| match list.items.get(*at).content().into_owned() {
        KnownContent::Filtered(segments, bytes, _) => Some((segments, bytes)),
        _ => None,
    });
    let Some(filter) = stored.filter(memory, files) else {
        for at in marked {
            list.items.change(at, |item| {
                item.set_content(KnownContent::Unread);
                item.known = OnceLock::new();
            });
        }
        return None;
    };
    let outdated = usize::try_from(stored.files()).unwrap_or(usize::MAX).saturating_sub(marked.len());
    Some((filter, TakenOver { files: marked.len(), outdated, at: Instant::now() }))
}
