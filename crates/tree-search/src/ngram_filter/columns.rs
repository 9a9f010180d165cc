//! The columns of a filter: all of them in memory, or those that a query names, read from a stored index.

use std::{collections::HashMap, sync::Arc};

use super::SegmentBlock;

/// Where the words of columns come from. A word has a bit for each segment of one block.
#[derive(Clone, Debug)]
pub(crate) enum Columns {
    /// A filter in memory, as of one moment.
    Memory(Arc<Vec<Option<Arc<SegmentBlock>>>>),
    /// By column, for each block its word.
    Read(HashMap<u16, Box<[u64]>>),
}

impl Columns {
    /// The word of a column for a block; `None` where that is not known, so that nothing may be refused.
    pub(super) fn word(&self, block: usize, column: u16) -> Option<u64> {
        match self {
            Self::Memory(blocks) => Some(blocks.get(block)?.as_ref()?.columns[usize::from(column)]),
            Self::Read(columns) => columns.get(&column)?.get(block).copied(),
        }
    }
}
