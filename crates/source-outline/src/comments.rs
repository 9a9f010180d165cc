//! Which parts of a line are comments.
//!
//! By the rules of the `lexer` for the language of the file: what spans lines is kept from line to line. A string that is a
//! statement of its own (a docstring) is a comment; any other string is code, whatever is in it.

use std::{mem, ops::Range};

use crate::lex_rules::LexRules;
use crate::lexer::{Lexeme, LexemeKind, Lexer};
use crate::{language, language::Language, outline_builder::may_have_definitions};

/// Takes the lines of a file, one after the other.
#[derive(Debug)]
pub struct CommentScanner {
    rules: Option<&'static LexRules>,
    lexer: Option<Lexer>,
    /// The first line of a script says its language.
    may_be_script: bool,
    lexemes: Vec<Lexeme>,
    open_brackets: usize,
    /// The statement goes on in the next line.
    goes_on: bool,
    in_docstring: bool,
}

impl CommentScanner {
    /// One for a file of this name.
    pub fn new(path: &str) -> Self {
        let rules = language::comment_rules(path);
        Self {
            rules,
            lexer: rules.map(Lexer::new),
            may_be_script: rules.is_none() && may_have_definitions(path),
            lexemes: Vec::new(),
            open_brackets: 0,
            goes_on: false,
            in_docstring: false,
        }
    }

    /// Whether comments are recognised in the file; of a script only its first line says it.
    pub fn is_known(&self) -> bool {
        self.lexer.is_some() || self.may_be_script
    }

    /// The comments in the next line, as ascending ranges of its bytes.
    ///
    /// # Examples
    /// ```
    /// let mut scanner = source_outline::CommentScanner::new("a.c");
    /// assert_eq!(scanner.line("load(\"http://x\"); /* load"), [18..25]);
    /// assert_eq!(scanner.line(" * load */ load();"), [0..10]);
    /// ```
    pub fn line(&mut self, line: &str) -> &[Range<usize>] {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if mem::take(&mut self.may_be_script) {
            self.rules = Language::of_first_line(line).and_then(Language::lex_rules);
            self.lexer = self.rules.map(Lexer::new);
        }
        let (Some(rules), Some(lexer)) = (self.rules, &mut self.lexer) else { return &[] };
        let began_in_code = lexer.is_in_code();
        lexer.line(line.as_bytes(), &mut self.lexemes);
        if rules.has_docstrings() {
            let went_on = mem::replace(&mut self.goes_on, line.ends_with('\\'));
            let begins = began_in_code && !went_on && self.open_brackets == 0 && is_text(line, &self.lexemes);
            if self.in_docstring {
                let end = self.lexemes.first().map_or(line.len(), |lexeme| lexeme.start);
                lexer.comments.retain(|comment| comment.start >= end);
                lexer.comments.insert(0, 0..end);
            } else if begins {
                lexer.comments.clear();
                lexer.comments.push(0..line.len());
            }
            self.in_docstring = (begins || self.in_docstring) && !lexer.is_in_code();
            for lexeme in &self.lexemes {
                match lexeme.kind {
                    LexemeKind::Sign(b'(' | b'[' | b'{') => self.open_brackets += 1,
                    LexemeKind::Sign(b')' | b']' | b'}') => self.open_brackets = self.open_brackets.saturating_sub(1),
                    _ => {}
                }
            }
            self.goes_on |= self.lexemes.last().is_some_and(|last| last.kind == LexemeKind::Sign(b'='));
        }
        &lexer.comments
    }
}

/// Whether a line has nothing but a string, or its beginning: `"""Loads it."""`, `r"""Loads`. One that has code within
/// braces (`f"{load()}"`) is no docstring to Python either.
fn is_text(line: &str, lexemes: &[Lexeme]) -> bool {
    let (first, text) = match lexemes {
        [prefix, text] if prefix.end == text.start => (prefix, text),
        [text] => (text, text),
        _ => return false,
    };
    let prefix = line[first.start..].split(['"', '\'']).next().unwrap_or_default();
    text.kind == LexemeKind::Text && prefix.chars().all(|letter| "rRuUbB".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with each byte of a comment as `·`.
    fn without_comments(name: &str, text: &str) -> String {
        let mut scanner = CommentScanner::new(name);
        let line = |line: &str| {
            let mut bytes = line.as_bytes().to_vec();
            scanner.line(line).iter().for_each(|range| bytes[range.clone()].fill(b'.'));
            String::from_utf8(bytes).unwrap()
        };
        text.split('\n').map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn comments_of_each_language_are_found() {
        for (name, text, expected) in [
            ("a.c", "f(); // f\n/* f\n * f\n */ f(); /* f */ f();", "f(); ....\n....\n....\n... f(); ....... f();"),
            ("a.c", "s = \"http://f\"; c = '\"'; // f", "s = \"http://f\"; c = '\"'; ...."),
            ("a.c", "#define F f() /* f */\n#include <f.h> // f", "#define F f() .......\n#include <f.h> ...."),
            (
                "a.rs",
                "/* /* f */ f */ f(); /// f\nlet a = r#\"// f\"#;",
                "............... f(); .....\nlet a = r#\"// f\"#;",
            ),
            ("a.go", "f() // f\ns := `\n// f\n`", "f() ....\ns := `\n// f\n`"),
            ("a.ts", "a(`// ${f() /* f */}`); // f", "a(`// ${f() .......}`); ...."),
            ("a.tsx", "<a>https://f.org {f()}</a>", "<a>https://f.org {f()}</a>"),
            ("a.php", "#[F]\nf(); # f\n$a = '#f'; // f", "#[F]\nf(); ...\n$a = '#f'; ...."),
            ("a.rb", "f \"#{f} # f\" # f\n=begin\nf\n=end\nf", "f \"#{f} # f\" ...\n......\n.\n....\nf"),
            (
                "a.sh",
                "f ${#f} $# # f\necho \"# f\" '# f'\ncat <<EOF\n# f\nEOF",
                "f ${#f} $# ...\necho \"# f\" '# f'\ncat <<EOF\n# f\nEOF",
            ),
            ("a.lua", "f() -- f\n--[[ f\nf ]] f()", "f() ....\n......\n.... f()"),
            ("a.sql", "SELECT f('--f') -- f\n/* f */ f", "SELECT f('--f') ....\n....... f"),
            ("a.el", "(f \"; f\") ; f", "(f \"; f\") ..."),
            ("a.html", "<a>don't f</a> <!-- f\nf --> f", "<a>don't f</a> ......\n..... f"),
            ("a.yaml", "f: a#f # f\nit's: f", "f: a#f ...\nit's: f"),
            ("a.ini", "; f\nf=a;f ; f", "...\nf=a;f ..."),
            ("a.css", "f { a: url(//f) /* f */ }", "f { a: url(//f) ....... }"),
            ("a.tex", "f \\% f % f", "f \\% f ..."),
            ("a.txt", "// f # f", "// f # f"),
            ("run", "#!/bin/sh\nf # f", ".........\nf ..."),
            ("LICENSE", "f\n# f", "f\n# f"),
        ] {
            assert_eq!(without_comments(name, text), expected, "{name}");
        }
    }

    #[test]
    fn docstrings_are_comments_and_other_strings_are_not() {
        for (text, expected) in [
            ("def f():\n    \"\"\"f.\n\n    f\n    \"\"\"\n    f()", "def f():\n.........\n\n.....\n.......\n    f()"),
            ("r'''f'''  # f\nf()", ".............\nf()"),
            ("f\"{f()}\"\nrf'''{f}\n'''\nf()", "f\"{f()}\"\nrf'''{f}\n'''\nf()"),
            ("x = \"\"\"\nf\n\"\"\"\nf()", "x = \"\"\"\nf\n\"\"\"\nf()"),
            ("run(\n    \"\"\"f\n    f\"\"\"\n)", "run(\n    \"\"\"f\n    f\"\"\"\n)"),
            ("x = \\\n    \"f\"", "x = \\\n    \"f\""),
            ("d = {\n    \"f\": f,\n    \"f\"\n}\n\"f\"", "d = {\n    \"f\": f,\n    \"f\"\n}\n..."),
        ] {
            assert_eq!(without_comments("a.py", text), expected);
        }
    }
}
