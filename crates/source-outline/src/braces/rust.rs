//! Rust.

use super::BraceGrammar;
use crate::header::{BlockKind, Ending, Header, HeaderContext, Named, Opening, Term, find_word, text, word};
use crate::lex_rules::{self, WordSet};

pub(crate) static RUST: BraceGrammar = BraceGrammar::new(&lex_rules::RUST, open, end);

const MODIFIER_WORDS: WordSet = WordSet("pub async unsafe extern default safe const auto");
const DEFINING_WORDS: WordSet =
    WordSet("fn struct enum union trait impl mod type const static macro_rules=macro macro");

fn open(header: &Header<'_>, around: HeaderContext<'_>) -> Opening {
    if header.is_sign(header.tokens.len().wrapping_sub(1), b'<') {
        // `Array<{ N }>`
        return Opening { named: None, block: BlockKind::Values, continues: true };
    }
    // Neither fields nor the rules of a macro define anything.
    if around.block == BlockKind::Values {
        return Opening::of(None, BlockKind::Values);
    }
    match item(header) {
        Some(named) => {
            let block = match named.kind {
                "fn" | "type" | "const" | "static" => BlockKind::Statements,
                "trait" | "impl" => BlockKind::Members,
                "mod" => BlockKind::Items,
                _ => BlockKind::Values,
            };
            Opening::of(Some(named), block)
        }
        None if is_transparent(header) => Opening::of(None, around.block),
        None => Opening::of(None, BlockKind::Statements),
    }
}

fn end(header: &Header<'_>, around: HeaderContext<'_>) -> Ending {
    let item = if around.block == BlockKind::Values { None } else { item(header) };
    item.map(|named| if matches!(named.kind, "fn" | "mod") { named.prototype() } else { named }).into()
}

/// Whether it is `extern "C" {`, or a macro around definitions such as `cfg_if! {`.
fn is_transparent(header: &Header<'_>) -> bool {
    header.is_sign(header.tokens.len().wrapping_sub(1), b'!')
        || matches!(header.terms(false).as_slice(), [.., word, Term::Text] if word.text() == "extern")
}

fn item(header: &Header<'_>) -> Option<Named> {
    // Most statements begin with none of the words of an item.
    let first = header.word(0);
    if !header.is_sign(0, b'#') && !MODIFIER_WORDS.contains(first) && !DEFINING_WORDS.contains(first) {
        return None;
    }
    let terms = header.terms(true);
    let mut at = 0;
    while let [Term::Sign(b'#'), Term::Group(b'[', ..), ..] = terms.get(at..)? {
        at += 2;
    }
    loop {
        let (own, next) = (text(&terms, at), text(&terms, at + 1));
        let is_modifier =
            MODIFIER_WORDS.contains(own) && (own != "const" || MODIFIER_WORDS.contains(next) || next == "fn");
        at += match terms.get(at)? {
            Term::Word(_) if is_modifier => 1,
            // `pub(crate)`, `extern "C"`
            Term::Group(b'(', ..) | Term::Text if at > 0 => 1,
            _ => break,
        };
    }
    let keyword = word(&terms, at)?;
    let kind = DEFINING_WORDS.value_of(keyword.text)?;
    at += 1;
    if kind == "impl" {
        // The trait and type, without the generics and bounds.
        let from = if let Some(Term::Group(b'<', _, to)) = terms.get(at) { to + 1 } else { keyword.token + 1 };
        let bounds = find_word(&terms[at..], "where").and_then(|bounds| word(&terms, at + bounds));
        let named = header.named(kind, from, bounds.map_or(header.tokens.len(), |bounds| bounds.token));
        return Some(Named { line: keyword.line, ..named });
    }
    while matches!(text(&terms, at), "ref" | "mut") || kind == "macro" && terms.get(at) == Some(&Term::Sign(b'!')) {
        at += 1;
    }
    // `union` and `macro` are names, too.
    Some(word(&terms, at)?.named(kind))
}
