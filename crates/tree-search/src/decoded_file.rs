//! The text of an opened file as `read` shows it, in pieces: for the outline of a file with hits.

use std::io::{self, Read as _, Seek as _, SeekFrom};

use encoding_rs::Encoding;
use source_outline::{Definition, OutlineBuilder, may_have_definitions};
use text_file::DecodeError;

use confined_fs::{OpenFile, stop::StopSignal};

use super::ProgressReader;

/// Bytes decoded at a time.
const PIECE: usize = 256 << 10;

/// NULs at the beginning of a file, outside of holes, that are read to find what it begins with after them.
const LEADING: u64 = 64 << 20;

/// The encoding of a file that is larger than its first bytes, `head`, as [`text_file::encoding_of_head`] has it: of what
/// comes after the NULs with which the file begins. A file that is mostly holes is no text.
///
/// # Errors
/// Those of reading.
pub fn encoding_of_file(
    file: &mut OpenFile,
    head: &[u8],
    encoding: Option<&'static Encoding>,
) -> io::Result<Result<&'static Encoding, DecodeError>> {
    if file.is_mostly_holes() {
        let kind = text_file::binary_kind(head).unwrap_or_else(|| "binary data".to_owned());
        return Ok(Err(DecodeError { kind }));
    }
    let (mut piece, mut at, mut passed) = (head.to_vec(), 0, 0);
    while piece.iter().all(|byte| *byte == 0) && !piece.is_empty() && passed < LEADING {
        passed += piece.len() as u64;
        at = file.next_data(at + piece.len() as u64);
        file.seek(SeekFrom::Start(at))?;
        piece.clear();
        file.take(text_file::HEAD as u64).read_to_end(&mut piece)?;
    }
    Ok(text_file::encoding_of_head(&piece, encoding))
}

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
    let mut bytes = Vec::new();
    // Not past the size at the start: a file that grows as fast as it is read has an end here.
    file.take(size.min(text_file::HEAD as u64 + 1)).read_to_end(&mut bytes)?;
    if bytes.len() <= text_file::HEAD {
        take(&text_file::view(&bytes, encoding).map_err(not_text)?);
        return Ok(());
    }
    let encoding = encoding_of_file(file, &bytes[..text_file::HEAD], encoding)?.map_err(not_text)?;
    let mut decoder = encoding.new_decoder_with_bom_removal();
    file.seek(SeekFrom::Start(bytes.len() as u64))?;
    let mut reader = ProgressReader::new(file.take(size - bytes.len() as u64), size, stop, None);
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
