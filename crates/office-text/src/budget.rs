//! What the reading of one document may cost (inflated bytes, memory and time), and why one gives no text.

use std::{cell::Cell, io};

/// Why a document cannot be read; displayed as the end of a sentence that begins with the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OfficeError {
    /// The structure cannot be followed; says where it ends.
    #[error("damaged: {0}")]
    Damaged(&'static str),
    /// A part that another one names is absent.
    #[error("damaged: it has no part {0:?}")]
    Missing(String),
    /// Only a password opens it.
    #[error("encrypted with a password")]
    Password,
    /// In a format that is not read: which one, and in which it can be read.
    #[error("{0}, which is not supported; saved as {1} it can be read")]
    Format(&'static str, &'static str),
    /// A file of another kind.
    #[error("no Word, Excel, PowerPoint or OpenDocument file")]
    NoDocument,
    /// More work or memory than one document may cost.
    #[error("too large: {0}")]
    TooLarge(&'static str),
    /// The caller no longer wants it, or its time is used up.
    #[error("too complex to be read within the time limit")]
    Stopped,
}

pub(crate) type Result<T, E = OfficeError> = std::result::Result<T, E>;

/// The libraries between take no other errors from a source; the conversion back finds it again.
impl From<OfficeError> for io::Error {
    fn from(error: OfficeError) -> Self {
        Self::other(error)
    }
}

impl From<io::Error> for OfficeError {
    fn from(error: io::Error) -> Self {
        let own = error.get_ref().and_then(|inner| inner.downcast_ref::<Self>());
        // What flate2 and rawzip say of data that is wrong, or a disk that fails.
        own.cloned().unwrap_or(Self::Damaged("its compressed data is invalid"))
    }
}

/// Bytes that all parts of one call may inflate to, one after the other. A sheet of a million rows and ten columns has
/// 300 to 500 MB of XML; as much as this takes some four seconds.
const MAX_INFLATED_BYTES: u64 = 1 << 30;

/// Bytes between two looks at the caller's signal: well under a millisecond.
const BYTES_PER_LOOK: u64 = 1 << 17;

/// Bytes that what is kept of names, styles, notes and strings may take.
const MAX_HELD_BYTES: usize = 32 << 20;

pub(crate) struct Budget<'a> {
    /// How many more bytes may be inflated.
    pub(crate) inflated: Cell<u64>,
    look_at: Cell<u64>,
    held: Cell<usize>,
    /// Whether the caller no longer wants it: the look at its signal may be in a function that cannot fail.
    is_stopped: Cell<bool>,
    stopped: &'a dyn Fn() -> bool,
}

impl<'a> Budget<'a> {
    pub(crate) fn new(stopped: &'a dyn Fn() -> bool) -> Self {
        let (inflated, look_at) = (Cell::new(MAX_INFLATED_BYTES), Cell::new(MAX_INFLATED_BYTES));
        Self { inflated, look_at, held: Cell::new(MAX_HELD_BYTES), is_stopped: Cell::new(false), stopped }
    }

    /// Counts bytes that were inflated, or as much work.
    pub(crate) fn inflate(&self, bytes: usize) -> Result<()> {
        let left = self.inflated.get().saturating_sub(bytes as u64);
        self.inflated.set(left);
        if left == 0 {
            return Err(OfficeError::TooLarge("its parts have more than 1 GiB"));
        }
        if left <= self.look_at.get() {
            self.look_at.set(left.saturating_sub(BYTES_PER_LOOK));
            self.is_stopped.set((self.stopped)());
        }
        if self.is_stopped.get() { Err(OfficeError::Stopped) } else { Ok(()) }
    }

    /// Counts bytes that stay in memory until the document is closed. The entry of a map takes some 100 beside its text.
    pub(crate) fn hold(&self, bytes: usize) -> Result<()> {
        let left = self.held.get().checked_sub(bytes + 100);
        self.held.set(left.unwrap_or_default());
        left.map(drop).ok_or(OfficeError::TooLarge("its names, styles and notes take too much memory"))
    }
}
