//! Lists and tables in brackets, which YAML and TOML masks as one value.

/// How strings and comments are written between the brackets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Toml,
    Yaml,
}

/// The position behind the bracket that closes the one at `open`; `None` if none does.
pub(super) fn closing_bracket(text: &[u8], open: usize, syntax: Syntax) -> Option<usize> {
    let (mut at, mut expected) = (open, Vec::new());
    loop {
        match *text.get(at)? {
            b'[' => expected.push(b']'),
            b'{' => expected.push(b'}'),
            close @ (b']' | b'}') => {
                if expected.pop() != Some(close) {
                    return None;
                }
                if expected.is_empty() {
                    return Some(at + 1);
                }
            }
            b'"' | b'\'' => {
                at = closing_string(text, at, syntax)?;
                continue;
            }
            b'#' => {
                at += memchr::memchr(b'\n', &text[at..])?;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
}

/// The position behind the string that begins at `open`; `None` if it does not end.
pub(super) fn closing_string(text: &[u8], open: usize, syntax: Syntax) -> Option<usize> {
    let quote = *text.get(open)?;
    let triple = [quote; 3];
    let is_long = syntax == Syntax::Toml && text[open..].starts_with(&triple);
    let mut at = open + if is_long { 3 } else { 1 };
    loop {
        let byte = *text.get(at)?;
        if byte == b'\\' && quote == b'"' {
            at += 2;
        } else if is_long && text[at..].starts_with(&triple) {
            // As many as two more belong to the string.
            return Some(at + text[at..].iter().take(5).take_while(|byte| **byte == quote).count());
        } else if is_long || byte != quote {
            if byte == b'\n' && syntax == Syntax::Toml && !is_long {
                return None;
            }
            at += 1;
        } else if syntax == Syntax::Yaml && quote == b'\'' && text.get(at + 1) == Some(&quote) {
            at += 2;
        } else {
            return Some(at + 1);
        }
    }
}
