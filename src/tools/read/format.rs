//! What a file is, as far as `read` shows it in different ways.

use image_view::ImageInfo;

use confined_fs::WorkspacePath;

/// Within how many first bytes a file that is called a PDF has the header of one.
const PDF_HEADER_WITHIN: usize = 1024;

/// The formats that are shown in their own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Image(ImageInfo),
    Pdf,
    Notebook,
    /// Everything else, binary content included, which fails to decode.
    Text,
}

impl Format {
    /// The format of the file at `path`, whose content begins with `head`.
    pub(super) fn of(path: &WorkspacePath, head: &[u8]) -> Self {
        if let Some(image) = image_view::image_info(head) {
            return Self::Image(image);
        }
        let is_named = |ending: &str| path.relative().extension().is_some_and(|name| name.eq_ignore_ascii_case(ending));
        // A text may speak of the header; in a file of that name it may have other bytes before it.
        let start =
            if is_named("pdf") { &head[..head.len().min(PDF_HEADER_WITHIN)] } else { &head[..head.len().min(5)] };
        if memchr::memmem::find(start, b"%PDF-").is_some() {
            return Self::Pdf;
        }
        if is_named("ipynb") { Self::Notebook } else { Self::Text }
    }
}
