//! A text file: decoded whole where it is small, streamed where it is not.

use super::{
    super::{CallContext, ToolError},
    request::FileRequest,
    section::Section,
    source::Source,
    stream::read_streamed,
    whole::read_whole,
};

/// The lines that are wanted of a text file.
pub(super) fn read_text(cx: &CallContext, request: &FileRequest, source: Source) -> Result<Section, ToolError> {
    let Source { path, file, head, whole } = source;
    let (page, sighting) = if whole {
        read_whole(cx, &path, &file, head, request)?
    } else {
        (read_streamed(cx, &path, file, &head, request)?, None)
    };
    Ok(Section { sighting, ..page.section(path, request.lines) })
}
