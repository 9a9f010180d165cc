//! Brackets of programming languages: one that is not closed, or closes nothing.
//!
//! Reads the tokens of the outline's lexer. Where it cannot be certain – a branch of `#if` that opens what it does not
//! close, a line of generated code, JSX – the text counts as balanced. `.py` files get the rules of Python's tokenizer
//! for indentation as well.

use std::ptr;

use structured_text::{Findings, SyntaxError, line_of};

use crate::directives::{Branch, Directive};
use crate::lex_rules::{self, LexRules, Width, width};
use crate::lexer::{Lexeme, LexemeKind, Lexer};

/// Bytes of the longest line that is read: longer ones are generated.
const LONGEST_LINE: usize = 16 << 10;
/// Brackets within one another: more are generated.
const MAX_OPEN: usize = 500;

/// Checks a source; one that may be balanced is.
pub(super) fn check(text: &str, language: &'static LexRules) -> Findings {
    if ptr::eq(language, &raw const lex_rules::JAVASCRIPT) && may_be_jsx(text) {
        return Findings::default();
    }
    let mut checker = Checker {
        text,
        open: Vec::new(),
        misplaced: None,
        forks: Vec::new(),
        left_out: 0,
        indentation: ptr::eq(language, &raw const lex_rules::PYTHON).then(Indentation::default),
    };
    Findings { error: checker.run(language).err().flatten(), warnings: Vec::new() }
}

fn may_be_jsx(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), b"</").is_some() || memchr::memmem::find(text.as_bytes(), b"/>").is_some()
}

/// Why a check ends early: the first error, or `None` where it cannot be certain.
type Stop = Option<SyntaxError>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Open {
    bracket: u8,
    at: usize,
    indent: usize,
}

struct Fork {
    before: Vec<Open>,
    after: Option<Vec<Open>>,
    has_else: bool,
}

struct Checker<'t> {
    text: &'t str,
    open: Vec<Open>,
    /// The first bracket whose closing one is indented less: that one belongs to something around it.
    misplaced: Option<Open>,
    forks: Vec<Fork>,
    left_out: usize,
    indentation: Option<Indentation>,
}

impl Checker<'_> {
    fn run(&mut self, language: &'static LexRules) -> Result<(), Stop> {
        let mut lexer = Lexer::new(language);
        let mut lexemes = Vec::new();
        let (mut start, mut goes_on) = (0, false);
        for line in self.text.split_inclusive('\n') {
            let content = line.trim_end_matches(['\n', '\r']).as_bytes();
            if content.len() > LONGEST_LINE {
                return Err(None);
            }
            let is_directive = goes_on || lexer.is_in_code() && content.trim_ascii_start().starts_with(b"#");
            if ptr::eq(language, &raw const lex_rules::C) && is_directive {
                if !goes_on {
                    self.directive(content.trim_ascii())?;
                }
                lexer.line(content, &mut lexemes);
                // The lines of a comment in a directive need no backslash.
                goes_on = content.ends_with(b"\\") || lexer.is_in_comment();
            } else if self.left_out == 0 {
                let in_string = !lexer.is_in_code();
                lexer.line(content, &mut lexemes);
                self.line(start, content, &lexemes)?;
                if let Some(indentation) = &mut self.indentation {
                    indentation.line((start, content), in_string, &lexemes, self.open.len())?;
                }
            }
            start += line.len();
        }
        // The rest of the file is in a string or comment that the lexer may have taken wrong.
        if !lexer.is_in_code() || !self.forks.is_empty() || self.left_out > 0 {
            return Err(None);
        }
        match self.misplaced.filter(|_| !self.open.is_empty()).or(self.open.last().copied()) {
            Some(open) => error(open.at, format!("`{}` is not closed", open.bracket as char)),
            None => Ok(()),
        }
    }

    fn line(&mut self, start: usize, content: &[u8], lexemes: &[Lexeme]) -> Result<(), Stop> {
        let indent = content.len() - content.trim_ascii_start().len();
        for lexeme in lexemes {
            let LexemeKind::Sign(sign) = lexeme.kind else { continue };
            let at = start + lexeme.start;
            match sign {
                b'(' | b'[' | b'{' if self.open.len() == MAX_OPEN => return Err(None),
                b'(' | b'[' | b'{' => self.open.push(Open { bracket: sign, at, indent }),
                b')' | b']' | b'}' => {
                    let Some(open) = self.open.pop() else {
                        return error(at, format!("`{}` closes nothing", sign as char));
                    };
                    if closing(open.bracket) != sign {
                        let (opened, line) = (open.bracket as char, line_of(self.text, open.at));
                        let closed = sign as char;
                        return error(at, format!("`{closed}` does not close the `{opened}` of line {line}"));
                    }
                    let is_first = lexeme.start == indent;
                    if is_first && indent < open.indent && self.misplaced.is_none() {
                        self.misplaced = Some(open);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn directive(&mut self, line: &[u8]) -> Result<(), Stop> {
        // What only C++ sees is `extern "C" {` in one place, and its end in another.
        let is_for_cpp = line.ends_with(b"__cplusplus") || line.ends_with(b"defined(__cplusplus)");
        match Directive::parse(line) {
            Directive::Unless(_) => self.branch(Branch::Begin { left_out: false }),
            Directive::Branch(Branch::Begin { .. }) if is_for_cpp => self.branch(Branch::Begin { left_out: true }),
            Directive::Branch(branch) => self.branch(branch),
            _ => Ok(()),
        }
    }

    /// Each branch of a conditional begins with what was open before it, and all have to leave the same open.
    fn branch(&mut self, branch: Branch) -> Result<(), Stop> {
        match branch {
            Branch::Begin { .. } if self.left_out > 0 => self.left_out += 1,
            Branch::Begin { left_out } => {
                self.left_out = usize::from(left_out);
                self.forks.push(Fork { before: self.open.clone(), after: None, has_else: left_out });
            }
            Branch::Next if self.left_out > 1 => {}
            // What is left out decides nothing; neither does its other branch.
            Branch::Next if self.left_out == 1 => self.left_out = 0,
            Branch::Next => {
                let fork = self.forks.last_mut().ok_or(None)?;
                let open = std::mem::replace(&mut self.open, fork.before.clone());
                fork.has_else = true;
                if !is_alike(fork.after.get_or_insert_with(|| open.clone()), &open) {
                    return Err(None);
                }
            }
            Branch::End if self.left_out > 1 => self.left_out -= 1,
            Branch::End => {
                self.left_out = 0;
                let fork = self.forks.pop().ok_or(None)?;
                let other = fork.after.as_ref().or((!fork.has_else).then_some(&fork.before));
                if other.is_some_and(|other| !is_alike(other, &self.open)) {
                    return Err(None);
                }
            }
        }
        Ok(())
    }
}

fn error<T>(at: usize, message: String) -> Result<T, Stop> {
    Err(Some(SyntaxError::new(at, message)))
}

fn is_alike(one: &[Open], other: &[Open]) -> bool {
    one.iter().map(|open| open.bracket).eq(other.iter().map(|open| open.bracket))
}

fn closing(bracket: u8) -> u8 {
    if bracket == b'(' { b')' } else { bracket + 2 }
}

/// Levels of indentation that Python allows.
const MAX_LEVELS: usize = 100;

/// The blocks of Python that are open, by the rules of its tokenizer
/// (<https://docs.python.org/3/reference/lexical_analysis.html#indentation>).
#[derive(Debug, Default)]
struct Indentation {
    /// The widths of the blocks that are open, outermost first, without the file's own of nothing.
    blocks: Vec<Width>,
    continues: bool,
    opens_block: bool,
}

impl Indentation {
    /// The next line, whose `content` begins at the byte `start` of the text, in code unless it is `in_string`. After its
    /// `lexemes` `depth` brackets are open.
    fn line(
        &mut self,
        (start, content): (usize, &[u8]),
        in_string: bool,
        lexemes: &[Lexeme],
        depth: usize,
    ) -> Result<(), SyntaxError> {
        let (Some(first), Some(last)) = (lexemes.first(), lexemes.last()) else { return Ok(()) };
        let continues = depth > 0 || last.kind == LexemeKind::Sign(b'\\');
        let was_continued = std::mem::replace(&mut self.continues, continues);
        if !was_continued && !in_string {
            self.begin(start, content, first.start)?;
        }
        if !continues {
            self.opens_block = last.kind == LexemeKind::Sign(b':');
        }
        Ok(())
    }

    /// A statement begins at the byte `first` of its line.
    fn begin(&mut self, start: usize, line: &[u8], first: usize) -> Result<(), SyntaxError> {
        let (width, error) = (width(&line[..first]), |message: &str| Err(SyntaxError::new(start + first, message)));
        let outer = self.blocks.last().copied().unwrap_or_default();
        if (width.0 > outer.0) != (width.1 > outer.1) || (width.0 == outer.0) != (width.1 == outer.1) {
            return error("tabs and spaces are mixed in the indentation");
        }
        let opens_block = std::mem::take(&mut self.opens_block);
        match (opens_block, width > outer) {
            (true, false) => return error("expected an indented block"),
            (false, true) => return error("unexpected indentation"),
            (true, true) if self.blocks.len() < MAX_LEVELS => self.blocks.push(width),
            (true, true) => return error("too many levels of indentation"),
            (false, false) => {}
        }
        while self.blocks.last().is_some_and(|block| block.0 > width.0) {
            self.blocks.pop();
        }
        let is_as_block = self.blocks.last().copied().unwrap_or_default().0 == width.0;
        if is_as_block { Ok(()) } else { error("the indentation matches no block around it") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(language: &'static LexRules, text: &str) -> Option<(usize, String)> {
        check(text, language).error.map(|fault| (line_of(text, fault.at), fault.message))
    }

    #[test]
    fn balanced_sources_pass() {
        for (language, text) in [
            (&lex_rules::RUST, "fn f<'a>(x: &'a str) { let s = r#\"}\"#; /* { /* ( */ */ match x { _ => '{' } } // ["),
            (&lex_rules::RUST, "const A: [u8; 3] = [b'(', b'\\'', b'\"']; // '\nfn g() { \"multi\n { line\" ; }\n"),
            (&lex_rules::C, "#define OPEN if (x) { \\\n y\n#error don't (\nint f(void) { return '('; }\n"),
            (&lex_rules::C, "#if 0\nit's {\n#endif\nint a[2];\n"),
            (&lex_rules::C, "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint a[2];\n#ifdef __cplusplus\n}\n#endif\n"),
            (&lex_rules::C, "#if A\nvoid f(int a) {\n#else\nvoid f(void) {\n#endif\n}\n"),
            (&lex_rules::C, "#define A(x) do { \\\n /* one\n two */ \\\n} while (0)\nint x[1];\n"),
            (&lex_rules::GO, "package a\nvar x = `\n{ ` + \"\\\"{\" + string('{')\n"),
            (&lex_rules::JAVA, "class A { String s = \"\"\"\n  { \"\"\"; char c = '}'; }"),
            (&lex_rules::JAVASCRIPT, "const a = x => `${b({c: `}${d}`})} {`; const r = /[(/]{/g;"),
            (
                &lex_rules::PYTHON,
                "def f(\n  a,\n):  # (\n    return '''(\n{''' + \"[\" \\\n        + a\n\n\nclass A: pass\n",
            ),
            (&lex_rules::PYTHON, "if x:\n\ty = [\n1]\n\n# c\n\tif y:\n\t    z\nelse:\n    '''a\n  b:'''\nw = 1\n"),
        ] {
            assert_eq!(error(language, text), None, "{text}");
        }
    }

    #[test]
    fn unbalanced_bracket_is_named_at_its_line() {
        for (language, text, line, message) in [
            (&lex_rules::RUST, "fn f() {\n    if x {\n        y();\n}\n\nfn g() {}\n", 2, "`{` is not closed"),
            (&lex_rules::RUST, "fn f() {\n    g(1;\n}\n", 3, "`}` does not close the `(` of line 2"),
            (&lex_rules::RUST, "fn f() {}\n}\n", 2, "`}` closes nothing"),
            (&lex_rules::C, "int f(void)\n{\n\tif (x) {\n\t}\n", 2, "`{` is not closed"),
            (&lex_rules::GO, "func f() {\n\tg(]\n}\n", 2, "`]` does not close the `(` of line 2"),
            (&lex_rules::JAVASCRIPT, "f(() => {\n  g();\n);\n", 3, "`)` does not close the `{` of line 1"),
            (&lex_rules::PYTHON, "x = [1, 2\ny = 3\n", 1, "`[` is not closed"),
            (&lex_rules::PYTHON, "def f():\nreturn 1\n", 2, "expected an indented block"),
            (&lex_rules::PYTHON, "x = 1\n  y = 2\n", 2, "unexpected indentation"),
            (
                &lex_rules::PYTHON,
                "if x:\n    if y:\n        z\n      w\n",
                4,
                "the indentation matches no block around it",
            ),
            (&lex_rules::PYTHON, "if x:\n        y\n\tz\n", 3, "tabs and spaces are mixed in the indentation"),
        ] {
            assert_eq!(error(language, text), Some((line, message.to_owned())), "{text}");
        }
    }

    #[test]
    fn uncertain_sources_are_passed_over() {
        for (language, text) in [
            (&lex_rules::C, "#ifdef A\nif (x) {\n#endif\ny();\n"),
            (&lex_rules::JAVASCRIPT, "const a = <p>Don't {x}</p>;\n{"),
            (&lex_rules::RUST, "fn f() { /* not closed"),
        ] {
            assert_eq!(error(language, text), None, "{text}");
        }
        assert_eq!(error(&lex_rules::RUST, &"(".repeat(LONGEST_LINE + 1)), None);
        assert_eq!(error(&lex_rules::RUST, &"(\n".repeat(MAX_OPEN + 1)), None);
    }
}
