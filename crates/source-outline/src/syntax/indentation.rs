//! The indentation of Python, by the rules of its tokenizer
//! (<https://docs.python.org/3/reference/lexical_analysis.html#indentation>).

use structured_text::SyntaxError;

use crate::lexer::{Lexeme, LexemeKind};

/// Levels of indentation that Python allows.
const MAX_LEVELS: usize = 100;

/// The blocks that are open.
#[derive(Debug, Default)]
pub(super) struct Indentation {
    /// The widths of the blocks that are open, outermost first, without the file's own of nothing.
    blocks: Vec<Width>,
    /// Whether the statement of the last lines goes on.
    continues: bool,
    /// Whether the last statement opens a block.
    opens_block: bool,
}

/// The width of white space with tabs of eight, and of one character: two that are equal in one way have to be in both.
type Width = (usize, usize);

impl Indentation {
    /// The next line, whose `content` begins at the byte `start` of the text, in code unless it is `in_string`. After its
    /// `lexemes` so many brackets are open as `depth` says.
    pub(super) fn line(
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
        if self.blocks.last().copied().unwrap_or_default().0 == width.0 {
            Ok(())
        } else {
            error("the indentation matches no block around it")
        }
    }
}

fn width(space: &[u8]) -> Width {
    space.iter().fold((0, 0), |(wide, narrow), byte| match byte {
        b'\t' => (wide / 8 * 8 + 8, narrow + 1),
        // Python's tokenizer begins to count again after a form feed.
        0x0c => (0, 0),
        _ => (wide + 1, narrow + 1),
    })
}
