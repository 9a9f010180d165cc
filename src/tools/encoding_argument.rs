//! The argument `encoding`.

use text_file::{EncodingLabel, nearest_name::did_you_mean, shorten};

use super::ToolError;

/// Characters of an unknown label that the error repeats.
const SHOWN: usize = 64;

/// What the argument asks for.
///
/// # Errors
/// `invalid_input` with the nearest labels.
pub(super) fn parse(label: &str) -> Result<EncodingLabel, ToolError> {
    EncodingLabel::parse(label).map_err(|near| {
        let nearest = did_you_mean(near).map(|question| format!("{question} ")).unwrap_or_default();
        ToolError::invalid(format!("unknown encoding {:?}", shorten(label, SHOWN))).hint(format!(
            "{nearest}use a WHATWG label such as utf-8, utf-16le, windows-1252, shift_jis or gb18030, or leave it out"
        ))
    })
}
