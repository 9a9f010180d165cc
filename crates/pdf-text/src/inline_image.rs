//! Images within the instructions of a page (ISO 32000-1, 8.9.7).

use super::{byte_class::is_space, lexer::PdfLexer};

/// Moves over the bytes of an image within the instructions, to behind its `EI`; false if there is none.
pub(super) fn skip_image(lexer: &mut PdfLexer<'_>) -> bool {
    let rest = lexer.rest();
    let space = |at: usize| rest.get(at).is_none_or(|byte| is_space(*byte));
    // The bytes of an image may hold `EI` by chance; text follows a real one.
    let end = memchr::memmem::find_iter(rest, b"EI").find(|at| {
        *at > 0
            && space(at - 1)
            && space(at + 2)
            && rest[at + 2..].iter().take(10).all(|byte| byte.is_ascii() && (*byte >= 32 || is_space(*byte)))
    });
    lexer.skip(end.map_or(rest.len(), |end| end + 2));
    end.is_some()
}
