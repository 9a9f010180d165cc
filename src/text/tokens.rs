//! How many tokens a model may count for a text: an upper bound in practice, from the classes of its characters.
//!
//! Vocabularies differ and the newest are not public, so this does not imitate one. It never counts more tokens than
//! the text has bytes, which every byte-level tokenizer keeps to.

/// About how many tokens `text` has at most.
///
/// The estimate of a text is never more than that of its lines added up.
///
/// # Examples
/// ```
/// use rootbound::text::estimated_tokens;
///
/// assert_eq!(estimated_tokens(""), 0);
/// assert!((5..12).contains(&estimated_tokens("fn main() {}\n")));
/// ```
pub fn estimated_tokens(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut tokens, mut at) = (0, 0);
    while at < bytes.len() {
        let class = class(bytes[at]);
        let start = at;
        while at < bytes.len() && self::class(bytes[at]) == class {
            at += 1;
        }
        let run = at - start;
        tokens += match class {
            Class::Lower => run.div_ceil(4),
            Class::Space => usize::from(run > 1) + run / 64,
            Class::Upper | Class::Digit | Class::Newline | Class::Sign | Class::Other => run.div_ceil(2),
        };
    }
    tokens
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Space,
    Newline,
    Sign,
    Other,
}

fn class(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' => Class::Lower,
        b'A'..=b'Z' => Class::Upper,
        b'0'..=b'9' => Class::Digit,
        b' ' | b'\t' => Class::Space,
        b'\n' | b'\r' => Class::Newline,
        128.. => Class::Other,
        _ => Class::Sign,
    }
}
