//! What the reading of one file may cost (decoded bytes, steps of work and time), and why a PDF gives no text.

use std::cell::Cell;

/// Why a file cannot be read; displayed as the end of a sentence that begins with the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PdfError {
    /// The structure cannot be followed; the text says where it ends.
    #[error("damaged: {0}")]
    Damaged(&'static str),
    /// Only a password opens it.
    #[error("encrypted with a password")]
    Password,
    /// Encrypted in a way that is not supported.
    #[error("encrypted with {0}, which is not supported")]
    Encryption(&'static str),
    /// More work or memory than one file may cost.
    #[error("too large: {0}")]
    TooLarge(&'static str),
    /// One of its streams is too large for a file that is read beside others: see
    /// [`with_small_pdf`](crate::with_small_pdf).
    #[error("too large to be read beside other files")]
    NotSmall,
    /// The caller no longer wants it, or its time is used up.
    #[error("too complex to be read within the time limit")]
    Stopped,
}

/// Bytes that all streams of one call may decode to, one after the other: a book with its fonts takes a tenth.
const MAX_DECODED_BYTES: usize = 256 << 20;

/// Bytes that a stream of a file that is read beside others may decode to.
const MAX_SMALL_STREAM_BYTES: usize = 4 << 20;

/// Steps of one call, each some nanoseconds: three seconds in all.
const MAX_STEPS: u64 = 1 << 30;

/// Steps between two looks at the caller's signal: well under a millisecond.
const STEPS_PER_LOOK: u64 = 1 << 15;

pub(super) struct PdfBudget<'a> {
    decoded: Cell<usize>,
    steps: Cell<u64>,
    look_at: Cell<u64>,
    /// Bytes that one stream may decode to.
    pub(super) largest_stream: usize,
    stopped: &'a dyn Fn() -> bool,
}

impl<'a> PdfBudget<'a> {
    pub(super) fn new(stopped: &'a dyn Fn() -> bool) -> Self {
        Self::of_streams(usize::MAX, stopped)
    }

    /// That of a file that is read beside others.
    pub(super) fn small(stopped: &'a dyn Fn() -> bool) -> Self {
        Self::of_streams(MAX_SMALL_STREAM_BYTES, stopped)
    }

    fn of_streams(largest_stream: usize, stopped: &'a dyn Fn() -> bool) -> Self {
        Self {
            decoded: Cell::new(MAX_DECODED_BYTES),
            steps: Cell::new(MAX_STEPS),
            look_at: Cell::new(MAX_STEPS),
            largest_stream,
            stopped,
        }
    }

    /// How many more bytes streams may decode to.
    pub(super) fn decodable(&self) -> usize {
        self.decoded.get()
    }

    pub(super) fn decoded(&self, bytes: usize) -> Result<(), PdfError> {
        self.decoded.set(self.decoded.get().saturating_sub(bytes));
        self.work(bytes as u64 / 4)
    }

    /// Bytes of which objects were made.
    pub(super) fn parsed(&self, bytes: usize) -> Result<(), PdfError> {
        self.work(bytes as u64 * 12)
    }

    /// Fails when the work is too much or no longer wanted.
    pub(super) fn work(&self, steps: u64) -> Result<(), PdfError> {
        let left = self.steps.get().saturating_sub(steps.max(1));
        self.steps.set(left);
        if left == 0 {
            return Err(PdfError::TooLarge("it takes too long to follow its structure"));
        }
        if left < self.look_at.get() {
            self.look_at.set(left.saturating_sub(STEPS_PER_LOOK));
            if (self.stopped)() {
                return Err(PdfError::Stopped);
            }
        }
        Ok(())
    }
}
