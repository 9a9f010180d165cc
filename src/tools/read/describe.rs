//! The facts of one file for `ls`, without its content.
//!
//! The content is streamed, as in a read, and does not count as seen.

use image_view::ImageInfo;
use text_file::Document;

use confined_fs::{Revision, RevisionHasher, Stat, WorkspacePath};
use tree_search::encoding_of_file;

use super::{
    super::{CallContext, ToolError},
    format::Format,
    properties::Properties,
    source::{Opened, Source, failed, open_exact},
    stream::{is_mostly_nuls, read_pieces, stream},
    window::{Window, WindowBounds},
};

/// What a file holds.
#[derive(Debug)]
pub(in crate::tools) enum Content {
    Text(Properties),
    /// An image, by its magic bytes.
    Image(ImageInfo),
    /// Neither: what it is instead.
    Binary(String),
}

#[derive(Debug)]
pub(in crate::tools) struct Description {
    pub(in crate::tools) stat: Stat,
    pub(in crate::tools) content: Content,
    /// `None` for a file that is too large to be changed: it is not hashed.
    pub(in crate::tools) revision: Option<Revision>,
}

/// Describes the file at `path`.
///
/// # Errors
/// Where it cannot be read, and at the time limit.
pub(in crate::tools) fn describe(cx: &CallContext, path: &WorkspacePath) -> Result<Description, ToolError> {
    let Source { path, mut file, head, whole } = match open_exact(cx, &path.to_string())? {
        Opened::File(source) => source,
        Opened::Directory(error) => return Err(error),
    };
    let stat = file.stat().clone();
    let mut hasher = (stat.size <= cx.settings.max_file_size).then(Revision::hasher);
    // The detection of an encoding sees more of a small file than its head.
    let encoding = if whole {
        Document::decode(head.clone(), None).map(|document| document.encoding())
    } else {
        encoding_of_file(&mut file, &head, None).map_err(|error| failed(&path, error))?
    };
    let mut kind = match (Format::of(&path, &head), encoding) {
        (Format::Image(image), _) => Err(Content::Image(image)),
        (Format::Pdf, _) => Err(Content::Binary("PDF document".to_owned())),
        (_, Err(error)) => Err(Content::Binary(error.kind)),
        (_, Ok(encoding)) => Ok(encoding),
    };
    let mut window = Window::new(WindowBounds::nothing());
    let mut lossy = false;
    if let Ok(encoding) = kind {
        lossy = stream(cx, &path, &mut file, encoding, hasher.as_mut(), &mut window)?;
        if is_mostly_nuls(encoding, stat.size, &window) {
            kind = Err(Content::Binary("binary data".to_owned()));
            hasher = hasher.map(|_| Revision::hasher());
        }
    }
    let content = match kind {
        Err(content) => {
            if let Some(hasher) = hasher.as_mut() {
                read_pieces(cx, &path, &mut file, "reading", |piece| {
                    hasher.update(piece);
                    true
                })?;
            }
            content
        }
        Ok(encoding) => {
            let totals = window.finish();
            let properties = Properties {
                total: totals.lines,
                size: stat.size,
                encoding: encoding.name(),
                bom: encoding_rs::Encoding::for_bom(&head).is_some_and(|(marked, _)| marked == encoding),
                lossy,
                nuls: window.nuls,
                line_ending: totals.line_ending(),
                final_newline: totals.final_newline,
                revision: None,
            };
            Content::Text(properties)
        }
    };
    Ok(Description { stat, content, revision: hasher.map(RevisionHasher::finish) })
}
