//! A line of an ignore file as git reads it (`dir.c` and `wildmatch.c`), written for the matcher of ripgrep, which reads
//! some of it in another way: to git a brace is a character, `[[:digit:]]` a class, a tab at the end a part of the name, a
//! pattern with a `[` that nothing closes matches nothing, and no class matches a slash.
//!
//! Bytes beyond ASCII are the same in both: `?` and a class match one of them. Limits: bytes that are not UTF-8 match
//! nothing, and upper and lower case are different on every system (git has `core.ignoreCase`).

use std::str::Chars;

/// The lines for `ignore` that together match what git matches by `line`; none where that is nothing.
pub(super) fn translated(line: &str) -> Vec<String> {
    rule(line).unwrap_or_default()
}

fn rule(line: &str) -> Option<Vec<String>> {
    let line = line.split('\0').next().filter(|line| !line.starts_with('#'))?;
    let line = without_blanks_at_end(line);
    let (not, pattern) = line.strip_prefix('!').map_or(("", line), |rest| ("!", rest));
    let (pattern, directory) = pattern.strip_suffix('/').map_or((pattern, ""), |rest| (rest, "/"));
    // A slash in a class counts, too.
    let is_path = pattern.contains('/');
    let anchor = if is_path { "/" } else { "**/" };
    let pattern = pattern.strip_prefix('/').unwrap_or(pattern);
    let globs = globs(pattern, is_path)?;
    Some(globs.into_iter().map(|glob| format!("{not}{anchor}{glob}{directory}")).collect())
}

fn without_blanks_at_end(line: &str) -> &str {
    let (mut end, mut letters) = (0, line.char_indices());
    while let Some((at, letter)) = letters.next() {
        match letter {
            ' ' => {}
            '\\' => end = letters.next().map_or(line.len(), |(at, escaped)| at + escaped.len_utf8()),
            _ => end = at + letter.len_utf8(),
        }
    }
    &line[..end]
}

fn globs(pattern: &str, is_path: bool) -> Option<Vec<String>> {
    if pattern.is_empty() {
        return None;
    }
    let first_special = pattern.find(['*', '?', '[', '\\']);
    let (mut glob, mut fork, mut rest) = (String::new(), None, pattern.chars());
    loop {
        let at = pattern.len() - rest.as_str().len();
        let Some(letter) = rest.next() else { break };
        match letter {
            '*' => {
                let after = rest.as_str().trim_start_matches('*');
                let is_double = after.len() < rest.as_str().len();
                rest = after.chars();
                let ends = after.is_empty() || after.starts_with('/') || after.starts_with("\\/");
                let is_start = at == 0 || pattern[..at].ends_with('/');
                // git compares what is before the first special character by itself, and starts again after it.
                if !(is_path && is_double && ends && (is_start || Some(at) == first_special)) {
                    glob.push('*');
                } else if after.starts_with('\\') {
                    glob.push_str("*/**");
                } else if is_start {
                    glob.push_str("**");
                } else if after.is_empty() {
                    glob.push_str("{*,*/**/*}");
                } else {
                    fork = Some(glob.len());
                    rest.next();
                }
            }
            '?' => glob.push('?'),
            '[' => glob.push_str(&class(&mut rest)?),
            '\\' => {
                let escaped = rest.next()?;
                push_literal(&mut glob, escaped, rest.as_str().is_empty());
            }
            _ => push_literal(&mut glob, letter, rest.as_str().is_empty()),
        }
    }
    let forked = fork.map(|at| format!("{}*/**/{}", &glob[..at], &glob[at..]));
    Some(std::iter::once(glob).chain(forked).collect())
}

fn push_literal(glob: &mut String, letter: char, is_last: bool) {
    match letter {
        // A backslash before a slash at the end would be taken away, and so would what is white there.
        '\\' => glob.push_str("[\\]"),
        _ if is_last && letter.is_whitespace() => glob.extend(['{', letter, '}']),
        '*' | '?' | '[' | ']' | '{' | '}' | '!' | '#' => glob.extend(['\\', letter]),
        _ => glob.push(letter),
    }
}

/// The rest of a class, up to and with its end; `None` where the whole pattern matches nothing.
fn class(rest: &mut Chars<'_>) -> Option<String> {
    let negated = rest.as_str().starts_with(['!', '^']);
    if negated {
        rest.next();
    }
    let (mut ascii, mut beyond) = ([false; 128], String::new());
    let mut add = |first: char, last: char| {
        (first..=last.min('\x7f')).for_each(|letter| ascii[letter as usize] = true);
        let first = first.max('\u{80}');
        match first.cmp(&last) {
            std::cmp::Ordering::Less => beyond.extend([first, '-', last]),
            std::cmp::Ordering::Equal => beyond.push(first),
            std::cmp::Ordering::Greater => {}
        }
    };
    // What is after the next `]`: looked for at each `[:`, a line of these alone would take its length squared.
    let (mut is_first, mut before, mut after_end) = (true, None, None::<&str>);
    loop {
        let letter = rest.next()?;
        if letter == ']' && !std::mem::take(&mut is_first) {
            break;
        }
        is_first = false;
        before = match (letter, before) {
            ('\\', _) => {
                let escaped = rest.next()?;
                add(escaped, escaped);
                Some(escaped)
            }
            ('-', Some(first)) if !rest.as_str().starts_with(']') => {
                let last = rest.next()?;
                add(first, if last == '\\' { rest.next()? } else { last });
                None
            }
            ('[', _) if rest.as_str().starts_with(':') => {
                let text = &rest.as_str()[1..];
                let known = after_end.filter(|after| after.len() < text.len());
                let after = known.or_else(|| Some(text.split_once(']')?.1))?;
                after_end = Some(after);
                let inside = &text[..text.len() - after.len() - 1];
                if let Some(name) = inside.strip_suffix(':') {
                    let holds = named_class(name)?;
                    ('\0'..='\x7f').filter(holds).for_each(|letter| add(letter, letter));
                    *rest = after.chars();
                    None
                } else {
                    add('[', '[');
                    Some('[')
                }
            }
            _ => {
                add(letter, letter);
                Some(letter)
            }
        };
    }
    ascii['/' as usize] = negated;
    // Some mean something else, depending on their place. No name holds a NUL.
    let mut class = String::from(if negated { "[!" } else { "[" });
    class.push(if ascii[']' as usize] {
        ']'
    } else if negated {
        '/'
    } else {
        '\0'
    });
    let plain = ('\x01'..='\x7f').filter(|letter| ascii[*letter as usize] && !matches!(letter, '-' | ']'));
    class.extend(plain);
    class.push_str(&beyond);
    class.push_str(if ascii['-' as usize] { "-]" } else { "]" });
    Some(class)
}

/// Whether a character of ASCII is in the class of POSIX, as git has it.
fn named_class(name: &str) -> Option<fn(&char) -> bool> {
    Some(match name {
        "alnum" => char::is_ascii_alphanumeric,
        "alpha" => char::is_ascii_alphabetic,
        "blank" => |letter| matches!(letter, ' ' | '\t'),
        "cntrl" => char::is_ascii_control,
        "digit" => char::is_ascii_digit,
        "graph" => char::is_ascii_graphic,
        "lower" => char::is_ascii_lowercase,
        "print" => |letter| matches!(letter, ' '..='~'),
        "punct" => char::is_ascii_punctuation,
        "space" => |letter| matches!(letter, ' ' | '\t' | '\n' | '\r'),
        "upper" => char::is_ascii_uppercase,
        "xdigit" => char::is_ascii_hexdigit,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::translated;

    #[test]
    fn a_class_of_many_beginnings_of_named_ones_is_read_in_one_pass() {
        assert_eq!(translated(&format!("[{}x]y", "[:".repeat(1 << 19))), translated("[[:x]y"));
        assert_eq!(translated("[[:a][:digit:]]"), ["**/[\0:[a][\0:dgit]\\]"]);
    }
}
