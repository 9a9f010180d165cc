//! The properties of a whole text file, independent of the part that is shown.

use text_file::LineEnding;

use confined_fs::Revision;

use super::output::Facts;

/// What a text file is like.
#[derive(Clone, Debug)]
pub(in crate::tools) struct Properties {
    pub(in crate::tools) total: usize,
    pub(in crate::tools) size: u64,
    pub(in crate::tools) encoding: &'static str,
    pub(in crate::tools) bom: bool,
    /// Whether some bytes are invalid in the encoding.
    pub(in crate::tools) lossy: bool,
    /// NULs at its beginning or end, which are not shown.
    pub(in crate::tools) nuls: usize,
    pub(in crate::tools) line_ending: LineEnding,
    pub(in crate::tools) final_newline: bool,
    /// `None` if the content was not hashed, or changed while it was read.
    pub(in crate::tools) revision: Option<Revision>,
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
