//! The size of all files of one call, which are in memory together.

use super::{
    super::{CallContext, Kind, ToolError},
    planned::Planned,
};

/// Bytes of the files so far, as they are and as they will be.
#[derive(Default)]
pub(super) struct TotalSize {
    old: u64,
    new: u64,
}

impl TotalSize {
    /// Adds a file.
    ///
    /// # Errors
    /// Where all of them are larger than one file may be.
    pub(super) fn add(&mut self, cx: &CallContext, planned: &Planned) -> Result<(), ToolError> {
        self.old += planned.old_bytes();
        self.new += planned.new_bytes();
        if self.old.max(self.new) <= cx.settings.max_file_size { Ok(()) } else { Err(too_large(cx)) }
    }
}

/// The error for files that are too large together.
pub(super) fn too_large(cx: &CallContext) -> ToolError {
    let limit = cx.settings.max_file_size;
    ToolError::new(Kind::TooLarge, format!("the files of this call are over {limit} bytes together"))
        .hint("nothing was changed; send the edits in several calls")
}
