//! The encoding in a Type 1 font program, which counts where the PDF names none: the mathematical fonts of TeX.

use crate::{
    budget::PdfError,
    lexer::{PdfLexer, PdfToken},
    object::{Dict, Object},
    pdf_file::PdfFile,
};

/// Bytes of a font program up to the end of its encoding, which is at its beginning.
const CLEAR_TEXT: usize = 64 << 10;

/// The glyph names of the 256 codes; `None` if the font has no such program, or the standard encoding.
pub(super) fn own_encoding(file: &PdfFile<'_>, font: &Dict) -> Result<Option<Vec<String>>, PdfError> {
    let descriptor = file.get(font, b"FontDescriptor")?;
    let Some(descriptor) = descriptor.dict() else { return Ok(None) };
    let Object::Stream(program) = file.get(descriptor, b"FontFile")? else { return Ok(None) };
    let Some(decoded) = file.decode(&program, CLEAR_TEXT)? else { return Ok(None) };
    let Some(start) = memchr::memmem::find(&decoded.bytes, b"/Encoding") else { return Ok(None) };
    let mut names = vec![String::new(); 256];
    let mut found = false;
    let mut lexer = PdfLexer::of_content(&decoded.bytes[start + "/Encoding".len()..]);
    let mut code = None;
    let mut name = None;
    while let Some(token) = lexer.token() {
        match token {
            PdfToken::Object(Object::Number(_)) if name.is_some() => {}
            PdfToken::Object(number @ Object::Number(_)) => code = number.index(),
            PdfToken::Object(Object::Name(text)) => name = Some(text),
            // `dup 65 /A put`
            PdfToken::Keyword(b"put") => {
                if let (Some(slot), Some(name)) = (code.take().and_then(|code| names.get_mut(code)), name.take()) {
                    *slot = String::from_utf8_lossy(&name).into_owned();
                    found = true;
                }
            }
            PdfToken::Keyword(b"StandardEncoding" | b"currentfile" | b"eexec") => break,
            PdfToken::Keyword(b"def" | b"readonly") if found => break,
            PdfToken::Keyword(b"dup") => (code, name) = (None, None),
            _ => {}
        }
    }
    Ok(found.then_some(names))
}
