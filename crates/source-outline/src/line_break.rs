//! Whether a line break ends a statement, in languages that need no semicolons.

use super::{header::TokenKind, keyword_grammar::Words, lexer::LexemeKind};

/// Words that something must follow.
const GO_ON: Words =
    Words("extends implements function class export default async const return type abstract new in of func");
/// Words that belong to what is before them.
const BELONG: Words = Words("extends implements where throws instanceof as in");

/// Whether the break between the last token of a line and the first lexeme of the next, each with its text, ends the
/// statement: unless one of them requires a continuation.
pub(super) fn ends_statement(last: (TokenKind, &str), next: (LexemeKind, &str)) -> bool {
    let continues = match last.0 {
        TokenKind::Braces | TokenKind::Lexeme(LexemeKind::Text | LexemeKind::Number) => false,
        TokenKind::Lexeme(LexemeKind::Sign(sign)) => !matches!(sign, b')' | b']' | b'>' | b'}' | b'?' | b'!'),
        TokenKind::Lexeme(LexemeKind::Word) => GO_ON.contains(last.1),
        TokenKind::Lexeme(_) => true,
    };
    let belongs = match next.0 {
        LexemeKind::Sign(sign) => !matches!(sign, b'@' | b'#' | b'[' | b'(' | b'~' | b'!' | b'*' | b'}'),
        LexemeKind::Word => BELONG.contains(next.1),
        LexemeKind::Number | LexemeKind::Text => false,
        LexemeKind::Arrow | LexemeKind::PathSeparator | LexemeKind::Operator => true,
    };
    !continues && !belongs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_goes_on_where_either_line_says_so() {
        let word = (TokenKind::Lexeme(LexemeKind::Word), "load");
        let comma = (TokenKind::Lexeme(LexemeKind::Sign(b',')), ",");
        let next = (LexemeKind::Word, "next");
        assert!(ends_statement(word, next) && ends_statement((TokenKind::Braces, ""), next));
        assert!(!ends_statement(comma, next) && !ends_statement(word, (LexemeKind::Sign(b'.'), ".")));
        assert!(!ends_statement(word, (LexemeKind::Word, "extends")));
    }
}
