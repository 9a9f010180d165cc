//! Why an image is not shown.

/// Why an image is not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageError {
    /// More pixels, or longer sides, than are decoded.
    TooManyPixels,
    /// So many bytes of memory would be needed.
    TooMuchMemory(u64),
    /// Not even its smallest form has as few bytes.
    TooFewBytes(usize),
    /// Not decodable; the reason as the end of a sentence.
    Broken(String),
    /// The call was stopped meanwhile.
    Stopped,
    /// The program was built without decoders.
    NotBuilt,
}

impl ImageError {
    /// A decoder's complaint, short and on one line.
    #[cfg(feature = "decode")]
    pub(super) fn broken(reason: &dyn ToString) -> Self {
        const SHOWN: usize = 120;
        let text = reason.to_string();
        Self::Broken(text_file::shorten(text.lines().next().unwrap_or_default(), SHOWN).into_owned())
    }
}
