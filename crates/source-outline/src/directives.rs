//! The directives of the C preprocessor, as far as they matter to an outline.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directive<'l> {
    Define(&'l str),
    Flag(&'l str),
    Unless(&'l str),
    Branch(Branch),
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Branch {
    /// `#if`; `left_out` where it is `#if 0`.
    Begin {
        left_out: bool,
    },
    /// Another branch of the same conditional: `#else` or `#elif`.
    Next,
    End,
}

impl<'l> Directive<'l> {
    pub(crate) fn parse(line: &'l [u8]) -> Self {
        // A line of a text that was trimmed of ASCII is UTF-8.
        let line = str::from_utf8(line).unwrap_or_default();
        let rest = line.strip_prefix('#').unwrap_or_default().trim_start();
        let (word, rest) = split_word(rest);
        match word {
            "define" => {
                let (name, rest) = split_word(rest.trim_start());
                if rest.trim().is_empty() { Self::Flag(name) } else { Self::Define(name) }
            }
            "if" => Self::Branch(Branch::Begin { left_out: split_word(rest.trim()).0 == "0" }),
            "ifndef" => Self::Unless(split_word(rest.trim_start()).0),
            "ifdef" => Self::Branch(Branch::Begin { left_out: false }),
            "else" | "elif" | "elifdef" | "elifndef" => Self::Branch(Branch::Next),
            "endif" => Self::Branch(Branch::End),
            _ => Self::Other,
        }
    }
}

fn split_word(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_recognised() {
        for (line, expected) in [
            ("#define MAX(a, b) a", Directive::Define("MAX")),
            ("# define X 1", Directive::Define("X")),
            ("#define GUARD_H", Directive::Flag("GUARD_H")),
            ("#ifndef GUARD_H", Directive::Unless("GUARD_H")),
            ("#if 0", Directive::Branch(Branch::Begin { left_out: true })),
            ("#ifdef X", Directive::Branch(Branch::Begin { left_out: false })),
            ("#elif Y", Directive::Branch(Branch::Next)),
            ("#endif /* X */", Directive::Branch(Branch::End)),
            ("#include <a.h>", Directive::Other),
        ] {
            assert_eq!(Directive::parse(line.as_bytes()), expected, "{line}");
        }
    }
}
