//! The text of an opened file as `read` shows it, in pieces: for the outline of a file with hits.

use std::io::{self, Read as _, Seek as _};

use encoding_rs::Encoding;

use crate::{
    stop::StopSignal,
    text::{
        self,
        outline::{Definition, OutlineBuilder, may_have_definitions},
    },
    workspace::OpenFile,
};

use super::ProgressReader;

/// Bytes decoded at a time.
const PIECE: usize = 256 << 10;

/// Hands the text of the file to `take`, whole where it is small; `encoding` is detected where it is not given.
///
/// # Errors
/// Those of reading, and one of the kind `InvalidData` where the file is not text.
pub(super) fn read_decoded(
    file: &mut OpenFile,
    encoding: Option<&'static Encoding>,
    stop: &StopSignal,
    mut take: impl FnMut(&str),
) -> io::Result<()> {
    let not_text = |_| io::Error::from(io::ErrorKind::InvalidData);
    file.rewind()?;
    let size = file.stat().size;
    // Not past the size at the start: a file that grows as fast as it is read has an end here.
    let mut reader = ProgressReader::new(file.take(size), size, stop, None);
    let mut bytes = Vec::new();
    reader.by_ref().take(text::HEAD as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() <= text::HEAD {
        take(&text::view(&bytes, encoding).map_err(not_text)?);
        return Ok(());
    }
    let mut decoder =
        text::encoding_of_head(&bytes[..text::HEAD], encoding).map_err(not_text)?.new_decoder_with_bom_removal();
    let mut text = String::new();
    loop {
        for piece in bytes.chunks(PIECE) {
            text.clear();
            text.reserve(decoder.max_utf8_buffer_length(piece.len()).unwrap_or(PIECE * 3));
            let _ = decoder.decode_to_string(piece, &mut text, false);
            take(&text);
        }
        bytes.clear();
        if reader.by_ref().take(PIECE as u64).read_to_end(&mut bytes)? == 0 {
            return Ok(());
        }
    }
}

/// The definitions of the file, whose language its name says; `encoding` is detected where it is not given.
///
/// # Errors
/// Those of reading, where the file is not text, and where the call is stopped.
pub fn outline_of_file(
    file: &mut OpenFile,
    name: &str,
    encoding: Option<&'static Encoding>,
    stop: &StopSignal,
) -> io::Result<Vec<Definition>> {
    let mut outline = OutlineBuilder::new(name);
    if may_have_definitions(name) {
        read_decoded(file, encoding, stop, |piece| outline.push(piece))?;
    }
    Ok(outline.finish())
}
