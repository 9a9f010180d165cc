//! Opening the file that is read: its format, and the errors that its content can make.

use confined_fs::{AccessError, AccessErrorKind, OpenFile, SecretNames, WorkspacePath};
use encoding_rs::Encoding;
use image_view::ImageInfo;
use text_file::{DecodeError, DocumentFormat, document_format};
use tree_search::encoding_of_file;

use super::super::{CallContext, Kind, ToolError};

/// Bytes of a file that are decoded whole; larger files are streamed.
const MAX_WHOLE: u64 = text_file::HEAD_BYTES as u64;
/// Bytes of the largest file that is read inline: a fraction of a millisecond if it is UTF-8; the detection of another
/// encoding takes a hundred times as long.
const MAX_INLINE: usize = 64 << 10;

pub(super) struct Source {
    pub(super) file: OpenFile,
    pub(super) head: Vec<u8>,
    pub(super) whole: bool,
}

pub(super) enum OpenedEntry {
    File(Source),
    /// With the error for those who want a file.
    Directory(ToolError),
    /// A secret file of which the names are shown, with the refusal for those who want its content.
    Names(SecretNames, ToolError),
}

pub(super) fn open(cx: &CallContext, path: &WorkspacePath) -> Result<OpenedEntry, ToolError> {
    let file = match cx.workspace.open_file(path) {
        Err(error) if error.kind == AccessErrorKind::IsDirectory => {
            return Ok(OpenedEntry::Directory(ToolError::access(&cx.workspace, error)));
        }
        Err(error) if error.kind == AccessErrorKind::Secret => {
            let refusal = ToolError::access(&cx.workspace, error);
            return match cx.workspace.secret_names(path) {
                Some(names) => Ok(OpenedEntry::Names(names, refusal)),
                None => Err(refusal),
            };
        }
        opened => opened.map_err(|error| ToolError::access(&cx.workspace, error))?,
    };
    let mut source = Source { file, head: Vec::new(), whole: false };
    source.read_on(MAX_WHOLE)?;
    Ok(OpenedEntry::File(source))
}

/// As [`open`], for a small file of UTF-8 text that the kernel has in memory.
pub(super) fn open_cached(cx: &CallContext, path: &str) -> Result<Source, ToolError> {
    let path = cx.workspace.resolve_lexically(path).ok_or_else(ToolError::would_block)?;
    let (file, head) = cx.workspace.read_cached(&path, MAX_INLINE).ok_or_else(ToolError::would_block)?;
    // A GIF may be ASCII from its first byte to its last, and decoding one waits for memory.
    if !text_file::is_plain(&head) || image_view::image_info(&head).is_some() {
        return Err(ToolError::would_block());
    }
    Ok(Source { file, head, whole: true })
}

impl Source {
    pub(super) fn path(&self) -> &WorkspacePath {
        self.file.path()
    }

    /// Bytes of the file when it was opened.
    pub(super) fn size(&self) -> u64 {
        self.file.stat().size
    }

    /// Adds at most `most` bytes to the head, where that is not all of the file.
    pub(super) fn read_on(&mut self, most: u64) -> Result<(), ToolError> {
        if !self.whole {
            self.whole = self.file.read_to_limit(&mut self.head, most).map_err(|error| self.failed(error))?;
        }
        Ok(())
    }

    /// The encoding of a file larger than its head, where `encoding` is what the call says.
    pub(super) fn encoding(&mut self, encoding: Option<&'static Encoding>) -> Result<&'static Encoding, ToolError> {
        let found = encoding_of_file(&mut self.file, &self.head, encoding).map_err(|error| self.failed(error))?;
        found.map_err(|error| self.binary(&error))
    }

    pub(super) fn has_changed(&self) -> Result<bool, ToolError> {
        // By the handle: the path may now lead to another file.
        let now = self.file.restat().map_err(|error| self.failed(error))?;
        Ok(!now.same_file_state(self.file.stat()))
    }

    pub(super) fn failed(&self, error: std::io::Error) -> ToolError {
        AccessError::from_io(error, self.path()).into()
    }

    pub(super) fn binary(&self, error: &DecodeError) -> ToolError {
        binary(self.path(), self.size(), error)
    }
}

pub(super) fn binary(path: &WorkspacePath, size: u64, error: &DecodeError) -> ToolError {
    let kind = &error.kind;
    if ["PNG image", "JPEG image", "WebP image", "GIF image"].contains(&kind.as_str()) {
        // One that decodes has already been shown.
        return ToolError::new(
            Kind::Binary,
            format!("{path} is a {kind} of {size} bytes whose header is damaged or cut off"),
        )
        .hint("create the image again, or ask the user for another copy");
    }
    ToolError::new(Kind::Binary, format!("{path} is not text: {kind}, {size} bytes"))
        .hint("only text, PDF, Word, Excel, PowerPoint and OpenDocument files and PNG, JPEG, WebP or GIF images can be read; for text in another encoding pass encoding")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Image(ImageInfo),
    Pdf,
    Notebook,
    Office,
    /// Everything else, binary content included, which fails to decode.
    Text,
}

impl Format {
    pub(super) fn of(path: &WorkspacePath, head: &[u8]) -> Self {
        if let Some(image) = image_view::image_info(head) {
            return Self::Image(image);
        }
        match document_format(path.relative(), head) {
            Some(DocumentFormat::Pdf) => return Self::Pdf,
            Some(DocumentFormat::Office) => return Self::Office,
            None => {}
        }
        let is_notebook = path.relative().extension().is_some_and(|name| name.eq_ignore_ascii_case("ipynb"));
        if is_notebook { Self::Notebook } else { Self::Text }
    }
}
