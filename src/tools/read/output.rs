//! What `read` returns as data.

use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use image_view::Region;

/// The complete result as data: of one file, or of each of `paths`.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Output {
    #[serde(flatten)]
    pub(super) file: Option<FileOutput>,
    /// One for each of `paths`, in that order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) files: Option<Vec<FileOutput>>,
    /// Those of `paths` that the answer has no room for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) not_shown: Vec<String>,
    #[serde(flatten)]
    pub(super) totals: Option<Totals>,
}

/// One file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct FileOutput {
    /// The lines, numbered as in the text; absent for an image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    /// Media type of an image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mime_type: Option<String>,
    #[serde(flatten)]
    pub(super) facts: FileFacts,
}

/// The numbers of one file, with its name.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct FileFacts {
    /// The file, as paths are printed.
    pub(super) path: String,
    /// The kind of the error, where it could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<&'static str>,
    #[serde(flatten)]
    pub(super) facts: Option<Facts>,
}

/// The numbers of several files together.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(super) struct Totals {
    /// Files that were read.
    pub(super) read: usize,
    /// Files that could not be read.
    pub(super) failed: usize,
    /// Lines returned of all files.
    pub(super) total_returned_lines: usize,
}

/// The numbers for programs.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(super) struct Facts {
    /// Lines in the file.
    pub(super) total_lines: Option<usize>,
    /// Lines returned.
    pub(super) returned_lines: Option<usize>,
    /// Whether lines follow the returned ones.
    pub(super) has_more: Option<bool>,
    /// The offset that continues.
    pub(super) next_offset: Option<usize>,
    /// Characters of the longest line, where columns were asked for.
    pub(super) total_columns: Option<usize>,
    /// Revision of the content, for `expected_revision`.
    pub(super) revision: Option<String>,
    /// Encoding of the text.
    pub(super) encoding: Option<String>,
    /// Line endings: lf, crlf, cr, mixed or none.
    pub(super) line_ending: Option<String>,
    /// Whether the last line ends with a line ending.
    pub(super) final_newline: Option<bool>,
    /// Whether the file begins with a byte-order mark.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) bom: bool,
    /// Whether some bytes are invalid in the encoding, and shown as U+FFFD.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) lossy: bool,
    /// How the file compares with the revision `since`: unchanged, changed, or unknown where nothing was compared.
    pub(super) since: Option<&'static str>,
    /// Bytes in the file.
    pub(super) size: u64,
    /// Cells of a notebook.
    pub(super) total_cells: Option<usize>,
    /// Cells returned.
    pub(super) returned_cells: Option<usize>,
    /// The cell that continues.
    pub(super) next_cell: Option<usize>,
    /// Pixels across an image.
    pub(super) width: Option<usize>,
    /// Pixels down an image.
    pub(super) height: Option<usize>,
    /// Pages of a PDF.
    pub(super) pages: Option<usize>,
    /// The first page returned, counted from 1.
    pub(super) first_page: Option<usize>,
    /// The last page returned.
    pub(super) last_page: Option<usize>,
    /// The `part` that continues, with `next_offset` inside of a page.
    pub(super) next_part: Option<String>,
    /// Pixels across what is shown of an image.
    pub(super) shown_width: Option<u32>,
    /// Pixels down what is shown of an image.
    pub(super) shown_height: Option<u32>,
    /// The part of an image that is shown.
    pub(super) region: Option<RegionFacts>,
    /// Whether an image is shown upright, as its EXIF orientation says, and not as it is stored.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) turned: bool,
    /// Whether white was put behind what is transparent in an image.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) flattened: bool,
    /// Frames of an animated image.
    pub(super) frames: Option<u32>,
}

/// A part of an image, in its pixels when it is upright.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(super) struct RegionFacts {
    /// Pixels to the left of it.
    x: u32,
    /// Pixels above it.
    y: u32,
    /// Pixels across.
    width: u32,
    /// Pixels down.
    height: u32,
}

impl From<Region> for RegionFacts {
    fn from(Region { x, y, width, height }: Region) -> Self {
        Self { x, y, width, height }
    }
}
