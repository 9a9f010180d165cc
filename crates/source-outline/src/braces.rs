//! Languages with braces: definitions by what precedes a `{` or `;`, extents by the braces.
//!
//! Holds the tokens since the last boundary, bounded, the open braces, and the state to which each branch of an `#if`
//! returns. The [`BraceGrammar`] of the language (`c`, `go`, `java`, `javascript` or `rust`) reads a header.

pub(super) mod c;
pub(super) mod go;
pub(super) mod java;
pub(super) mod javascript;
pub(super) mod rust;

use crate::definition::{Definition, MAX_DEFINITIONS, Outline};
use crate::directives::{Branch, Directive};
use crate::header::{BlockKind, Ending, Header, HeaderBuffer, HeaderContext, HeaderStart, Named, Opening};
use crate::lex_rules::{LexRules, WordSet};
use crate::lexer::{Lexeme, LexemeKind, Lexer};

#[derive(Debug)]
pub(super) struct BraceGrammar {
    pub(super) lex: &'static LexRules,
    open: fn(&Header<'_>, HeaderContext<'_>) -> Opening,
    end: fn(&Header<'_>, HeaderContext<'_>) -> Ending,
    newline_ends: bool,
    /// Lines that begin with `#` are directives, and `}` in the first column closes what began there.
    directives: bool,
    outer_functions: bool,
    /// `type (` and the like begin a group of definitions.
    groups: WordSet,
    labels: WordSet,
}

impl BraceGrammar {
    const fn new(
        lex: &'static LexRules,
        open: fn(&Header<'_>, HeaderContext<'_>) -> Opening,
        end: fn(&Header<'_>, HeaderContext<'_>) -> Ending,
    ) -> Self {
        let (groups, labels) = (WordSet(""), WordSet(""));
        Self { lex, open, end, newline_ends: false, directives: false, outer_functions: false, groups, labels }
    }
}

#[derive(Clone, Debug)]
struct OpenBlock {
    block: BlockKind,
    definition: Option<usize>,
    continues: bool,
    header: HeaderStart,
    tokens: usize,
    /// The column that the line of its header begins in.
    indent: usize,
    is_paren: bool,
}

#[derive(Clone, Debug)]
struct Fork {
    open: Vec<OpenBlock>,
    header: HeaderStart,
    tokens: usize,
}

/// Braces within each other at most; deeper ones are counted.
const MAX_DEPTH: usize = 256;
/// `#if` within each other at most.
const MAX_BRANCHES: usize = 64;

#[derive(Debug)]
pub(super) struct BraceOutline {
    grammar: &'static BraceGrammar,
    lexer: Lexer,
    definitions: Vec<Definition>,
    open: Vec<OpenBlock>,
    deeper: usize,
    headers: HeaderBuffer,
    /// The column of the first token of the header's first line.
    indent: usize,
    line: usize,
    comment: Option<usize>,
    forks: Vec<Fork>,
    left_out: usize,
    /// A directive continues on the next line, and so does the definition that it makes.
    in_directive: bool,
    continued: Option<usize>,
    guard: String,
}

impl Outline for BraceOutline {
    fn line(&mut self, line: &str, lexemes: &mut Vec<Lexeme>) {
        self.line += 1;
        let bytes = line.as_bytes();
        let content = bytes.trim_ascii();
        if self.in_directive {
            self.in_directive = content.ends_with(b"\\");
            if let Some(definition) = self.continued {
                self.definitions[definition].end = self.line;
            }
            return;
        }
        if self.grammar.directives && content.first() == Some(&b'#') && self.lexer.is_in_code() {
            self.directive(content);
            return;
        }
        if self.left_out > 0 {
            return;
        }
        let began_in_code = self.lexer.is_in_code();
        self.lexer.line(bytes, lexemes);
        if lexemes.is_empty() {
            self.note_comment(content, began_in_code);
        } else {
            let indent = bytes.len() - bytes.trim_ascii_start().len();
            for (at, lexeme) in lexemes.iter().enumerate() {
                let is_first = at == 0 && began_in_code;
                if is_first && self.grammar.newline_ends {
                    self.end_at_newline(lexeme, line);
                }
                self.lexeme(lexeme, line, is_first.then_some(indent));
            }
            self.comment = None;
        }
    }

    fn finish(mut self: Box<Self>) -> Vec<Definition> {
        self.end_statement();
        self.close_down_to(0, self.line);
        self.definitions
    }
}

impl BraceOutline {
    pub(super) fn new(grammar: &'static BraceGrammar) -> Self {
        Self {
            grammar,
            lexer: Lexer::new(grammar.lex),
            definitions: Vec::new(),
            open: Vec::new(),
            deeper: 0,
            headers: HeaderBuffer::default(),
            indent: 0,
            line: 0,
            comment: None,
            forks: Vec::new(),
            left_out: 0,
            in_directive: false,
            continued: None,
            guard: String::new(),
        }
    }

    /// A line without code: part of a comment above a definition, or blank.
    fn note_comment(&mut self, content: &[u8], began_in_code: bool) {
        if content.is_empty() && began_in_code {
            self.comment = None;
        } else if began_in_code && !content.starts_with(b"//!") {
            self.comment.get_or_insert(self.line);
        }
    }

    fn lexeme(&mut self, lexeme: &Lexeme, line: &str, indent: Option<usize>) {
        let LexemeKind::Sign(sign) = lexeme.kind else {
            self.push(lexeme, line, indent);
            return;
        };
        match sign {
            b'{' => self.open_brace(indent),
            b'}' => self.close_brace(lexeme.start == 0),
            b'(' if self.begins_group() => self.open_block(Opening::of(None, BlockKind::Items), true),
            b'(' | b'[' => {
                self.push(lexeme, line, indent);
                self.headers.start.parens += 1;
            }
            b')' | b']' => {
                if self.headers.start.parens == 0 && self.open.last().is_some_and(|open| open.is_paren) {
                    self.end_statement();
                    self.close_one();
                    return;
                }
                self.headers.start.parens = self.headers.start.parens.saturating_sub(1);
                self.push(lexeme, line, indent);
                self.drop_inner_attribute();
            }
            b';' if self.headers.start.parens == 0 => {
                if !self.end_statement() {
                    self.push(lexeme, line, indent);
                }
            }
            b',' if self.headers.start.parens == 0 && self.block() == BlockKind::Properties => {
                self.end_statement();
            }
            b':' if self.headers.start.parens == 0 && self.is_label() => self.headers.clear(),
            _ => self.push(lexeme, line, indent),
        }
    }

    fn block(&self) -> BlockKind {
        self.open.last().map_or(BlockKind::Items, |open| open.block)
    }

    fn around(&self) -> HeaderContext<'_> {
        let owner = self.open.last().and_then(|open| open.definition);
        let owner = owner.map_or("", |at| self.definitions[at].name.as_str());
        let group =
            self.open.last().filter(|open| open.is_paren).map_or("", |open| self.headers.word(open.header.token));
        let outer_functions = self.grammar.outer_functions;
        HeaderContext { block: self.block(), outer_functions, owner, group, open: self.headers.start.parens }
    }

    fn push(&mut self, lexeme: &Lexeme, line: &str, indent: Option<usize>) {
        self.note_start(indent);
        // Nothing is defined within statements of a language with header files.
        if self.grammar.directives && matches!(self.block(), BlockKind::Statements | BlockKind::Values) {
            return;
        }
        self.headers.push(lexeme, line, self.line);
    }

    fn note_start(&mut self, indent: Option<usize>) {
        if self.headers.is_empty() {
            self.headers.start.line = self.comment.take().unwrap_or(self.line);
            if let Some(indent) = indent {
                self.indent = indent;
            }
        }
    }

    fn is_label(&self) -> bool {
        let header = self.headers.header();
        (1..=2).contains(&header.tokens.len()) && self.grammar.labels.contains(header.word(0))
    }

    fn begins_group(&self) -> bool {
        let header = self.headers.header();
        self.headers.start.parens == 0 && header.tokens.len() == 1 && self.grammar.groups.contains(header.word(0))
    }

    /// `#![…]` belongs to what is around it.
    fn drop_inner_attribute(&mut self) {
        let header = self.headers.header();
        if self.headers.start.parens == 0 && header.is_sign(0, b'#') && header.is_sign(1, b'!') {
            self.headers.clear();
        }
    }

    fn define(&mut self, named: Named, end: usize) -> Option<usize> {
        if self.definitions.len() >= MAX_DEFINITIONS || named.name.is_empty() {
            return None;
        }
        let level = self.open.iter().filter(|open| open.definition.is_some()).count();
        self.definitions.push(named.definition(self.headers.start.line, end, level));
        Some(self.definitions.len() - 1)
    }

    fn open_brace(&mut self, indent: Option<usize>) {
        self.note_start(indent);
        if self.open.len() >= MAX_DEPTH {
            // So that no brace that closes one of them is taken for another's.
            self.deeper += 1;
            return;
        }
        let mut opening = (self.grammar.open)(&self.headers.header(), self.around());
        opening.continues |= self.headers.start.parens > 0;
        self.open_block(opening, false);
    }

    fn open_block(&mut self, opening: Opening, is_paren: bool) {
        let definition = opening.named.and_then(|named| self.define(named, 0));
        self.open.push(OpenBlock {
            block: opening.block,
            definition,
            continues: opening.continues,
            header: self.headers.start,
            tokens: self.headers.len(),
            indent: self.indent,
            is_paren,
        });
        // The words before a group of definitions say what they are.
        self.headers.nest();
    }

    fn close_brace(&mut self, in_first_column: bool) {
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        if self.headers.start.parens == 0 {
            self.end_statement();
        }
        if self.grammar.directives && in_first_column {
            // What began farther right has lost its brace.
            let outermost = self.open.iter().rposition(|open| open.indent == 0);
            if let Some(at) = outermost.filter(|at| self.open[at + 1..].iter().all(|open| open.indent > 0)) {
                self.close_down_to(at + 1, self.line);
            }
        }
        self.close_one();
    }

    fn close_one(&mut self) {
        let Some(open) = self.open.pop() else {
            self.headers.clear();
            return;
        };
        if let Some(definition) = open.definition {
            self.definitions[definition].end = self.line;
        }
        self.headers.truncate(open.tokens);
        self.headers.start = open.header;
        if open.continues {
            self.headers.push_token(LexemeKind::Braces, "", self.line);
        } else {
            self.headers.clear();
        }
    }

    fn close_down_to(&mut self, length: usize, end: usize) {
        while self.open.len() > length {
            let line = std::mem::replace(&mut self.line, end);
            self.close_one();
            self.line = line;
        }
    }

    fn end_statement(&mut self) -> bool {
        if !self.headers.is_empty() {
            match (self.grammar.end)(&self.headers.header(), self.around()) {
                Ending::GoesOn => return false,
                Ending::Named(named) => {
                    let end = self.headers.last().map_or(self.line, |(token, _)| token.line);
                    self.define(named, end);
                }
                Ending::Nothing => {}
            }
        }
        self.headers.clear();
        true
    }

    /// A line break ends the statement unless one side of it requires a continuation.
    fn end_at_newline(&mut self, next: &Lexeme, line: &str) {
        let Some((last, word)) = self.headers.last() else { return };
        let next = (next.kind, &line[next.start..next.end]);
        let may_end = self.headers.start.parens == 0 && ends_statement((last.kind, word), next);
        // A decorator belongs to what follows.
        if may_end && !self.headers.is_only_decorators() {
            self.end_statement();
        }
    }

    fn directive(&mut self, content: &[u8]) {
        let directive = Directive::parse(content);
        let continues = content.ends_with(b"\\");
        let mut definition = None;
        let guard = std::mem::take(&mut self.guard);
        match directive {
            Directive::Unless(name) => {
                name.clone_into(&mut self.guard);
                self.branch(Branch::Begin { left_out: false });
            }
            // It only marks that a header was included.
            Directive::Flag(name) if name == guard => {}
            Directive::Branch(branch) => self.branch(branch),
            Directive::Define(name) | Directive::Flag(name) if self.left_out == 0 => {
                let start = std::mem::replace(&mut self.headers.start.line, self.comment.take().unwrap_or(self.line));
                definition = self.define(Named::new("#define", name, self.line), self.line);
                self.headers.start.line = start;
            }
            Directive::Define(_) | Directive::Flag(_) | Directive::Other => {}
        }
        if self.left_out == 0 {
            self.lexer.pass(content);
        }
        self.comment = None;
        (self.in_directive, self.continued) = (continues, definition);
    }

    fn branch(&mut self, branch: Branch) {
        match branch {
            Branch::Begin { .. } if self.left_out > 0 => self.left_out += 1,
            Branch::Begin { left_out: true } => self.left_out = 1,
            Branch::Begin { .. } if self.forks.len() < MAX_BRANCHES => self.forks.push(Fork {
                open: self.open.clone(),
                header: self.headers.start,
                tokens: self.headers.len(),
            }),
            Branch::Begin { .. } => {}
            Branch::Next if self.left_out > 1 => {}
            Branch::Next if self.left_out == 1 => {
                self.left_out = 0;
                // What ends with its `#endif` needs a beginning.
                self.branch(Branch::Begin { left_out: false });
            }
            Branch::Next => {
                if let Some(fork) = self.forks.last().cloned() {
                    self.close_down_to(fork.open.len(), self.line - 1);
                    self.headers.truncate(fork.tokens);
                    (self.open, self.headers.start) = (fork.open, fork.header);
                    // The header of a block that the last branch has closed is gone.
                    let most = self.headers.len();
                    self.headers.start.token = self.headers.start.token.min(most);
                    for open in &mut self.open {
                        (open.header.token, open.tokens) = (open.header.token.min(most), open.tokens.min(most));
                    }
                }
            }
            Branch::End if self.left_out > 0 => self.left_out -= 1,
            Branch::End => {
                self.forks.pop();
            }
        }
    }
}

const GO_ON: WordSet =
    WordSet("extends implements function class export default async const return type abstract new in of func");
const JOINING_WORDS: WordSet = WordSet("extends implements where throws instanceof as in");

/// Whether the break between the last token of a line and the first lexeme of the next, each with its text, ends the
/// statement: unless one of them requires a continuation.
pub(super) fn ends_statement(last: (LexemeKind, &str), next: (LexemeKind, &str)) -> bool {
    let continues = match last.0 {
        LexemeKind::Braces | LexemeKind::Text | LexemeKind::Number => false,
        LexemeKind::Sign(sign) => !matches!(sign, b')' | b']' | b'>' | b'}' | b'?' | b'!'),
        LexemeKind::Word => GO_ON.contains(last.1),
        LexemeKind::Arrow | LexemeKind::PathSeparator | LexemeKind::Operator => true,
    };
    let belongs = match next.0 {
        LexemeKind::Sign(sign) => !matches!(sign, b'@' | b'#' | b'[' | b'(' | b'~' | b'!' | b'*' | b'}'),
        LexemeKind::Word => JOINING_WORDS.contains(next.1),
        LexemeKind::Braces | LexemeKind::Number | LexemeKind::Text => false,
        LexemeKind::Arrow | LexemeKind::PathSeparator | LexemeKind::Operator => true,
    };
    !continues && !belongs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_goes_on_where_either_line_says_so() {
        let word = (LexemeKind::Word, "load");
        let comma = (LexemeKind::Sign(b','), ",");
        let next = (LexemeKind::Word, "next");
        assert!(ends_statement(word, next) && ends_statement((LexemeKind::Braces, ""), next));
        assert!(!ends_statement(comma, next) && !ends_statement(word, (LexemeKind::Sign(b'.'), ".")));
        assert!(!ends_statement(word, (LexemeKind::Word, "extends")));
    }
}
