//! What is known of a text file as a whole, whatever is shown of it.

use crate::{text::LineEnding, workspace::Revision};

use super::output::Facts;

/// What a text file is like.
#[derive(Clone, Debug)]
pub(super) struct Properties {
    /// Lines.
    pub(super) total: usize,
    /// Bytes.
    pub(super) size: u64,
    pub(super) encoding: &'static str,
    pub(super) bom: bool,
    /// Whether some bytes are invalid in the encoding.
    pub(super) lossy: bool,
    pub(super) line_ending: LineEnding,
    pub(super) final_newline: bool,
    /// None where the content was not hashed, or changed while it was read.
    pub(super) revision: Option<Revision>,
}

impl Properties {
    /// The numbers for programs, where so many lines are shown and the rest is at `next_offset`.
    pub(super) fn facts(&self, returned: usize, next_offset: Option<usize>) -> Facts {
        Facts {
            total_lines: Some(self.total),
            returned_lines: Some(returned),
            has_more: Some(next_offset.is_some()),
            next_offset,
            revision: self.revision.map(|revision| revision.to_string()),
            encoding: Some(self.encoding.to_owned()),
            line_ending: Some(self.line_ending.as_str().to_owned()),
            final_newline: Some(self.final_newline),
            bom: self.bom,
            lossy: self.lossy,
            size: self.size,
            ..Facts::default()
        }
    }
}
