//! The instructions of a page: which strings are shown where (ISO 32000-1, 9).
//!
//! Paths, colours and images are passed over, also those whose bytes are among the instructions (8.9.7); images are
//! counted.

use std::{collections::HashMap, rc::Rc};

use crate::font::{Font, FontCache, keep};
use crate::lexer::{PdfLexer, PdfToken, is_space};
use crate::object::{Dict, Object, Reference, Stream};
use crate::page_layout::{Glyph, PageLayout};
use crate::{budget::PdfError, pdf_file::PdfFile};

/// Bytes of the instructions of a page, and of one drawing used in it.
const MAX_CONTENT_BYTES: usize = 24 << 20;

/// Drawings within one another.
const MAX_FORM_DEPTH: usize = 10;

/// Drawings used on one page, also those within others: five of them in each would be ten million.
const MAX_FORM_DRAWS: usize = 4000;

/// Glyphs of one page; the densest have a hundredth.
const MAX_PAGE_GLYPHS: usize = 400_000;

/// Characters that marked content may have instead of its glyphs.
const OWN_TEXT: usize = 4096;

/// Operands that are kept: no operator of those below has more.
const MAX_OPERANDS: usize = 8;

/// Saved states; more are an error of the writer.
const MAX_SAVED_STATES: usize = 512;

#[derive(Default)]
pub(super) struct PageContent {
    pub(super) layout: PageLayout,
    pub(super) images: usize,
    glyphs: usize,
    drawn: usize,
    pub(super) unknown: usize,
    pub(super) cut: bool,
    /// Whether instructions are damaged or in an unknown form, so that text may be missing.
    pub(super) damaged: bool,
}

struct Interpreter<'f> {
    resources: Rc<Dict>,
    fonts: HashMap<Vec<u8>, Rc<Font>>,
    state: TextState,
    saved: Vec<TextState>,
    text: Matrix,
    line: Matrix,
    marked: Vec<Marked>,
    file: &'f PdfFile<'f>,
    kept: &'f FontCache,
    depth: usize,
}

enum Marked {
    Plain,
    /// The text that replaces its glyphs (`ActualText`); empty once it was shown.
    OwnText(Option<String>),
}

#[derive(Clone, Default)]
struct TextState {
    page: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    character_space: f64,
    word_space: f64,
    scale: f64,
    leading: f64,
    rise: f64,
}

pub(super) fn read_page(
    file: &PdfFile<'_>,
    fonts: &FontCache,
    contents: &Object,
    resources: Dict,
    page: Matrix,
) -> Result<PageContent, PdfError> {
    let mut found = PageContent::default();
    let mut instructions = Vec::new();
    let parts = match contents {
        Object::Array(parts) => parts.as_slice(),
        part => std::slice::from_ref(part),
    };
    for part in parts {
        file.budget.work(16)?;
        let Object::Stream(stream) = file.resolve(part)? else {
            found.damaged |= *part != Object::Null;
            continue;
        };
        let decoded = file.decode(&stream, MAX_CONTENT_BYTES.saturating_sub(instructions.len()))?;
        let Some(decoded) = decoded.filter(|_| stream.dict.get(b"F").is_none()) else {
            // An unknown filter, or the bytes are in another file.
            found.damaged = true;
            continue;
        };
        found.cut |= decoded.cut;
        found.damaged |= decoded.damaged;
        // Most pages have one stream, which is not copied.
        if instructions.is_empty() {
            instructions = decoded.bytes;
        } else {
            instructions.extend_from_slice(&decoded.bytes);
        }
        instructions.push(b'\n');
    }
    let state = TextState { page, scale: 1.0, ..TextState::default() };
    match Interpreter::new(file, fonts, Rc::new(resources), state, 0).follow(&instructions, &mut found) {
        // What was found before the limit is shown.
        Err(PdfError::TooLarge(_)) => found.cut = true,
        other => other?,
    }
    Ok(found)
}

impl<'f> Interpreter<'f> {
    fn new(file: &'f PdfFile<'_>, kept: &'f FontCache, resources: Rc<Dict>, state: TextState, depth: usize) -> Self {
        Self {
            resources,
            fonts: HashMap::new(),
            state,
            saved: Vec::new(),
            text: Matrix::IDENTITY,
            line: Matrix::IDENTITY,
            marked: Vec::new(),
            file,
            kept,
            depth,
        }
    }

    fn follow(mut self, instructions: &[u8], found: &mut PageContent) -> Result<(), PdfError> {
        let mut lexer = PdfLexer::of_content(instructions);
        let mut operands: Vec<Object> = Vec::with_capacity(MAX_OPERANDS);
        loop {
            let before = lexer.position();
            let token = lexer.token();
            // Instructions that are cut end within an object.
            found.damaged |= lexer.is_damaged && !found.cut;
            let Some(token) = token else { return Ok(()) };
            self.file.budget.work((lexer.position() - before) as u64)?;
            match token {
                PdfToken::Object(object) => {
                    // Of too many the last ones are the operator's.
                    if operands.len() == MAX_OPERANDS {
                        operands.remove(0);
                    }
                    operands.push(object);
                }
                PdfToken::Keyword(b"ID") => {
                    found.damaged |= !skip_image(&mut lexer);
                    found.images += 1;
                    operands.clear();
                }
                PdfToken::Keyword(operator) => {
                    self.operator(operator, &operands, found)?;
                    operands.clear();
                    if found.glyphs >= MAX_PAGE_GLYPHS || found.layout.is_full() {
                        found.cut = true;
                        return Ok(());
                    }
                }
            }
        }
    }

    fn operator(&mut self, operator: &[u8], operands: &[Object], found: &mut PageContent) -> Result<(), PdfError> {
        let number = |index: usize| operands.get(index).and_then(Object::number).unwrap_or(0.0);
        match operator {
            b"q" if self.saved.len() < MAX_SAVED_STATES => self.saved.push(self.state.clone()),
            b"Q" => {
                if let Some(saved) = self.saved.pop() {
                    self.state = saved;
                }
            }
            b"cm" => {
                if let Some(matrix) = matrix(operands) {
                    self.state.page = matrix.then(&self.state.page);
                }
            }
            b"BT" => (self.text, self.line) = (Matrix::IDENTITY, Matrix::IDENTITY),
            b"Tc" => self.state.character_space = number(0),
            b"Tw" => self.state.word_space = number(0),
            b"Tz" => self.state.scale = number(0) / 100.0,
            b"TL" => self.state.leading = number(0),
            b"Ts" => self.state.rise = number(0),
            b"Tf" => {
                self.state.size = number(1);
                self.state.font = self.font(operands.first().and_then(Object::name).unwrap_or_default())?;
            }
            b"Td" => self.move_line(number(0), number(1)),
            b"TD" => {
                self.state.leading = -number(1);
                self.move_line(number(0), number(1));
            }
            b"Tm" => {
                if let Some(matrix) = matrix(operands) {
                    (self.text, self.line) = (matrix, matrix);
                }
            }
            b"T*" => self.next_line(),
            b"Tj" => self.show(operands.first(), found)?,
            b"'" => {
                self.next_line();
                self.show(operands.first(), found)?;
            }
            b"\"" => {
                (self.state.word_space, self.state.character_space) = (number(0), number(1));
                self.next_line();
                self.show(operands.get(2), found)?;
            }
            b"TJ" => {
                for item in operands.first().and_then(Object::array).unwrap_or_default() {
                    match item {
                        Object::Number(back) => self.advance(-back / 1000.0 * self.state.size, false),
                        string => self.show(Some(string), found)?,
                    }
                }
            }
            b"Do" => self.draw(operands.first().and_then(Object::name).unwrap_or_default(), found)?,
            b"BMC" => self.mark(Marked::Plain),
            b"BDC" => {
                let own = self.own_text(operands.get(1))?;
                self.mark(own.map_or(Marked::Plain, |own| Marked::OwnText(Some(own))));
            }
            b"EMC" => {
                self.marked.pop();
            }
            _ => {}
        }
        Ok(())
    }

    fn mark(&mut self, marked: Marked) {
        if self.marked.len() < MAX_SAVED_STATES {
            self.marked.push(marked);
        }
    }

    fn move_line(&mut self, x: f64, y: f64) {
        self.line = self.line.moved(x, y);
        self.text = self.line;
    }

    fn next_line(&mut self) {
        self.move_line(0.0, -self.state.leading);
    }

    /// Moves on by a length in text space, to which the horizontal scale is not applied yet.
    fn advance(&mut self, length: f64, is_vertical: bool) {
        let is_vertical = is_vertical || self.state.font.as_ref().is_some_and(|font| font.is_vertical);
        let (x, y) = if is_vertical { (0.0, length) } else { (length * self.state.scale, 0.0) };
        self.text = self.text.moved(x, y);
    }

    fn show(&mut self, string: Option<&Object>, found: &mut PageContent) -> Result<(), PdfError> {
        let Some(Object::String(string)) = string else { return Ok(()) };
        let Some(font) = self.state.font.clone() else {
            found.damaged |= !string.is_empty();
            return Ok(());
        };
        let file = self.file;
        font.each_glyph(string, |shown| {
            file.budget.work(16)?;
            if found.glyphs >= MAX_PAGE_GLYPHS || found.layout.is_full() {
                return Ok(());
            }
            found.glyphs += 1;
            let TextState { size, character_space, word_space, scale, rise, .. } = self.state;
            let whole = self.text.then(&self.state.page);
            let at = whole.point(0.0, rise);
            // A vertical glyph is one size high.
            let own = if font.is_vertical { -size } else { shown.width * size };
            let reach = own + if font.is_vertical { -character_space } else { character_space };
            let end = if font.is_vertical { whole.point(0.0, rise + reach) } else { whole.point(reach * scale, rise) };
            let top = whole.point(0.0, rise + size);
            let height = (top.0 - at.0).hypot(top.1 - at.1);
            let own_text = self.marked.iter_mut().find_map(|marked| match marked {
                Marked::OwnText(text) => Some(text.take()),
                Marked::Plain => None,
            });
            let text = own_text.as_ref().map_or(shown.text, |text| text.as_deref().unwrap_or_default());
            if own_text.is_none() && text.is_empty() {
                found.unknown += 1;
            }
            found.layout.push(&Glyph { text, at, end, size: height });
            let space = if shown.is_space { word_space } else { 0.0 };
            let space = if font.is_vertical { -space } else { space };
            self.advance(reach + space, font.is_vertical);
            Ok(())
        })
    }

    /// The text that marked content says it has (ISO 32000-1, 14.9.4).
    fn own_text(&self, properties: Option<&Object>) -> Result<Option<String>, PdfError> {
        let properties = match properties {
            Some(Object::Name(name)) => self.resource(b"Properties", name)?.0,
            Some(direct) => direct.clone(),
            None => return Ok(None),
        };
        let Some(text) = properties.dict().and_then(|dict| dict.get(b"ActualText")) else { return Ok(None) };
        let Object::String(text) = self.file.resolve(text)? else { return Ok(None) };
        let text = match text.strip_prefix(b"\xFE\xFF") {
            Some(units) => encoding_rs::UTF_16BE.decode_without_bom_handling(units).0.into_owned(),
            None => encoding_rs::WINDOWS_1252.decode_without_bom_handling(&text).0.into_owned(),
        };
        Ok(Some(text.chars().take(OWN_TEXT).collect()))
    }

    fn resource(&self, kind: &[u8], name: &[u8]) -> Result<(Object, Option<Reference>), PdfError> {
        let all = self.file.get(&self.resources, kind)?;
        let Some(one) = all.dict().and_then(|all| all.get(name)) else { return Ok((Object::Null, None)) };
        Ok((self.file.resolve(one)?, one.reference()))
    }

    fn font(&mut self, name: &[u8]) -> Result<Option<Rc<Font>>, PdfError> {
        if let Some(font) = self.fonts.get(name) {
            return Ok(Some(Rc::clone(font)));
        }
        let (object, reference) = self.resource(b"Font", name)?;
        let Some(dict) = object.dict() else { return Ok(None) };
        let font = self.kept.load(self.file, reference, dict)?;
        keep(&mut self.fonts, name.to_vec(), &font);
        Ok(Some(font))
    }

    fn draw(&mut self, name: &[u8], found: &mut PageContent) -> Result<(), PdfError> {
        let (object, reference) = self.resource(b"XObject", name)?;
        let Object::Stream(stream) = object else {
            found.damaged |= reference.is_some();
            return Ok(());
        };
        let Stream { dict, .. } = &*stream;
        if self.file.get(dict, b"Subtype")?.name() != Some(b"Form") {
            found.images += 1;
            return Ok(());
        }
        if self.depth == MAX_FORM_DEPTH || found.drawn == MAX_FORM_DRAWS {
            found.cut = true;
            return Ok(());
        }
        found.drawn += 1;
        // Less for a deeper one: those around it stay in memory while it is followed.
        let Some(decoded) = self.file.decode(&stream, MAX_CONTENT_BYTES >> self.depth.min(4))? else {
            found.damaged = true;
            return Ok(());
        };
        found.cut |= decoded.cut;
        found.damaged |= decoded.damaged;
        let own = self.file.get(dict, b"Matrix")?;
        let own = own.array().and_then(matrix).unwrap_or(Matrix::IDENTITY);
        let resources = match self.file.get(dict, b"Resources")? {
            Object::Dict(resources) => Rc::new(resources),
            _ => Rc::clone(&self.resources),
        };
        let state = TextState { page: own.then(&self.state.page), ..self.state.clone() };
        Interpreter::new(self.file, self.kept, resources, state, self.depth + 1).follow(&decoded.bytes, found)
    }
}

/// The six numbers of a transformation; `None` where there are fewer, or something else.
fn matrix(operands: &[Object]) -> Option<Matrix> {
    let mut matrix = [0.0; 6];
    for (number, operand) in matrix.iter_mut().zip(operands.get(..6)?) {
        *number = operand.number()?;
    }
    Some(Matrix(matrix))
}

/// Moves over the bytes of an image within the instructions, to after its `EI`; false if there is none.
pub(super) fn skip_image(lexer: &mut PdfLexer<'_>) -> bool {
    let rest = lexer.rest();
    let space = |at: usize| rest.get(at).is_none_or(|byte| is_space(*byte));
    // The bytes of an image may hold `EI` by chance; text follows a real one.
    let end = memchr::memmem::find_iter(rest, b"EI").find(|at| {
        *at > 0
            && space(at - 1)
            && space(at + 2)
            && rest[at + 2..].iter().take(10).all(|byte| byte.is_ascii() && (*byte >= 32 || is_space(*byte)))
    });
    lexer.skip(end.map_or(rest.len(), |end| end + 2));
    end.is_some()
}

/// `[a b c d e f]`: x' = a·x + c·y + e, y' = b·x + d·y + f.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Matrix(pub(super) [f64; 6]);

impl Matrix {
    pub(super) const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    pub(super) fn then(&self, after: &Self) -> Self {
        let (own, after) = (&self.0, &after.0);
        let cell = |row: usize, column: usize| {
            let offset = if row == 2 { after[4 + column] } else { 0.0 };
            own[2 * row] * after[column] + own[2 * row + 1] * after[2 + column] + offset
        };
        Self([cell(0, 0), cell(0, 1), cell(1, 0), cell(1, 1), cell(2, 0), cell(2, 1)])
    }

    pub(super) fn point(&self, x: f64, y: f64) -> (f64, f64) {
        let own = &self.0;
        (own[0] * x + own[2] * y + own[4], own[1] * x + own[3] * y + own[5])
    }

    pub(super) fn moved(&self, x: f64, y: f64) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y]).then(self)
    }
}
