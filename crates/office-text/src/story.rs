//! The text of a part of a Word document or a presentation, in its order: `WordprocessingML` and `DrawingML`, ECMA-376
//! part 1, clauses 17 and 21. Their elements for paragraphs and tables have the same names.

use std::{
    collections::HashMap,
    mem,
    ops::ControlFlow::{Break, Continue},
};

use crate::{
    Paragraph,
    budget::Result,
    equation::equation,
    flow::{Flow, MAX_HELD, Table},
    package::{Package, Relationships},
    styles::{HIDDEN_MARK, Levels, MAX_LABEL, MAX_LEVELS, Numbers, Style, Styles, by},
    xml::{Node, Tag, Xml, character},
};

#[derive(Default)]
pub(crate) struct Docx {
    pub(crate) main: String,
    pub(crate) relationships: Relationships,
    styles: Styles,
    /// The style of paragraphs that name none.
    default_style: String,
    /// Author and text of notes and comments, by their kind and identifier, as `footnote 2`.
    notes: HashMap<String, (String, String)>,
}

impl Style {
    fn set(&mut self, tag: &Tag<'_>) {
        match tag.name() {
            "basedOn" | "pStyle" => self.based_on = tag.id("val"),
            "outlineLvl" => self.outline = tag.number("val"),
            "ilvl" => self.level = tag.number("val"),
            "numId" => self.list = Some(tag.id("val")),
            "vertAlign" => self.script = Some(script_of(tag)),
            _ => {}
        }
    }
}

/// The sign of raised or lowered text (22.9.2.17); a space for text that is neither.
pub(crate) fn script_of(tag: &Tag<'_>) -> char {
    match tag.text("val").as_str() {
        "superscript" => '^',
        "subscript" => '_',
        _ => ' ',
    }
}

impl Docx {
    pub(crate) fn open(package: &Package<'_>, main: &str) -> Result<Self> {
        let relationships = package.relationships(main)?;
        let mut docx = Self { main: main.to_owned(), relationships, ..Self::default() };
        docx.read_styles(package, &docx.relationships.of_type("styles"))?;
        docx.read_lists(package, &docx.relationships.of_type("numbering"))?;
        for kind in ["footnotes", "endnotes", "comments"] {
            let part = docx.relationships.of_type(kind);
            let Some(xml) = package.xml(&part)? else { continue };
            let relationships = package.relationships(&part)?;
            let mut nowhere = |_: Paragraph<'_>| Continue(());
            let mut story = Story::new(&docx, package, &relationships, Flow::new(1, &mut nowhere));
            story.read(xml)?;
            let notes = story.at.notes;
            docx.notes.extend(notes);
        }
        Ok(docx)
    }

    pub(crate) fn headers(&self, package: &Package<'_>) -> Result<Vec<(&'static str, String)>> {
        let mut found = Vec::new();
        for kind in ["header", "footer"] {
            for part in self.relationships.all_of_type(kind) {
                let Some(xml) = package.xml(part)? else { continue };
                let relationships = package.relationships(part)?;
                let text = text_of(package, |flow| Story::new(self, package, &relationships, flow).read(xml))?;
                found.push((kind, text));
            }
        }
        Ok(found)
    }

    fn read_styles(&mut self, package: &Package<'_>, part: &str) -> Result<()> {
        let mut id = String::new();
        package.tags(part, &mut |tag| match tag.name() {
            "style" => {
                id = tag.id("styleId");
                if matches!(tag.text("default").as_str(), "1" | "true") && tag.text("type") == "paragraph" {
                    self.default_style.clone_from(&id);
                }
                self.styles.named.insert(id.clone(), Style::default());
            }
            // Names of built-in styles are English in every language of Word; `outlineLvl` may be missing.
            "name" => {
                let name = tag.text("val").to_lowercase();
                let level = name.strip_prefix("heading ").and_then(|level| level.parse::<u8>().ok()?.checked_sub(1));
                let level = if name == "title" { Some(0) } else { level };
                self.styles.named.entry(id.clone()).and_modify(|style| style.outline = style.outline.or(level));
            }
            _ => drop(self.styles.named.entry(id.clone()).and_modify(|style| style.set(tag))),
        })
    }

    /// Lists (`num`), after their definitions (`abstractNum`): 17.9.
    fn read_lists(&mut self, package: &Package<'_>, part: &str) -> Result<()> {
        let mut definitions: HashMap<String, Levels> = HashMap::new();
        let (mut definition, mut list, mut level) = (String::new(), String::new(), 0);
        // The style whose list is meant where a definition has no levels of its own: 17.9.21.
        let mut links: HashMap<String, String> = HashMap::new();
        package.tags(part, &mut |tag| {
            let value = tag.text("val");
            let levels =
                self.styles.lists.get_mut(&list).map(|list| &mut list.1).or_else(|| definitions.get_mut(&definition));
            let open = levels.and_then(|levels| levels.get_mut(level));
            match (tag.name(), open) {
                // A definition or a list costs more than its tags say. The next read fails where this does.
                ("abstractNum", _) => {
                    definition = tag.id("abstractNumId");
                    let _ = package.budget.hold(mem::size_of::<Levels>());
                    definitions.insert(definition.clone(), Levels::default());
                }
                ("num", _) => list = tag.id("numId"),
                ("abstractNumId", _) => {
                    let levels = definitions.get(&value).cloned().unwrap_or_default();
                    let texts =
                        levels.iter().map(|level| level.format.len() + level.text.as_ref().map_or(0, String::len));
                    let _ = package.budget.hold(mem::size_of::<Levels>() + texts.sum::<usize>());
                    self.styles.lists.insert(list.clone(), (tag.id("val"), levels));
                }
                ("lvl" | "lvlOverride", _) => level = tag.number("ilvl").unwrap_or(MAX_LEVELS),
                ("numStyleLink", _) => drop(links.insert(definition.clone(), tag.id("val"))),
                ("start", Some(open)) => open.start = value.parse().ok(),
                ("numFmt", Some(open)) => open.format = value,
                ("lvlText", Some(open)) => open.text = Some(value.chars().take(MAX_LABEL).collect()),
                ("isLgl", Some(open)) => open.is_legal = !tag.is_off("val"),
                ("lvlRestart", Some(open)) => open.goes_on = value == "0",
                ("startOverride", Some(open)) => (open.start, open.restarts) = (value.parse().ok(), true),
                _ => {}
            }
        })?;
        let (lists, named) = (&self.styles.lists, &self.styles.named);
        let linked = lists.iter().filter_map(|(list, (definition, _))| {
            let meant = lists.get(named.get(links.get(definition)?)?.list.as_ref()?)?;
            // As much as its texts may take.
            package.budget.hold(MAX_LEVELS * MAX_LABEL * 4).ok()?;
            Some((list.clone(), meant.clone()))
        });
        let linked: Vec<_> = linked.collect();
        self.styles.lists.extend(linked);
        Ok(())
    }
}

#[derive(Default)]
struct Position {
    numbers: Numbers,
    paragraphs: Vec<Style>,
    properties: usize,
    is_text: bool,
    columns: usize,
    alt: String,
    note: (String, String),
    is_title: bool,
    is_left_out: bool,
    /// Author and text of the notes that were read, by their kind and identifier.
    notes: HashMap<String, (String, String)>,
    /// The title of a slide, and whether it is hidden.
    slide: Slide,
}

pub(crate) struct Story<'d, 't> {
    docx: &'d Docx,
    package: &'d Package<'d>,
    relationships: &'d Relationships,
    flow: Flow<'t>,
    at: Position,
}

impl<'d, 't> Story<'d, 't> {
    pub(crate) fn new(docx: &'d Docx, package: &'d Package<'d>, links: &'d Relationships, flow: Flow<'t>) -> Self {
        Self { docx, package, relationships: links, flow, at: Position::default() }
    }

    /// Reads a part until its end, or until what takes the paragraphs wants no more.
    pub(crate) fn read(&mut self, mut xml: Xml<'_>) -> Result<()> {
        while !self.flow.is_done {
            match xml.next()? {
                Some(Node::Start(tag)) => match tag.name() {
                    // The older form of what `Choice` has (part 3), formats before a change, instructions of fields,
                    // settings of controls, how Chinese is pronounced, and what
                    // DrawingML says of the look of paragraphs.
                    "Fallback" | "pPrChange" | "rPrChange" | "tblPrChange" | "trPrChange" | "tcPrChange"
                    | "sectPrChange" | "instrText" | "delInstrText" | "fldData" | "sdtPr" | "rt" | "lstStyle"
                    | "endParaRPr" | "buBlip" => xml.skip()?,
                    "txBody" if self.at.is_left_out => xml.skip()?,
                    "oMath" => {
                        let text = equation(&mut xml, self.package.budget)?;
                        self.flow.push_equation(&text);
                    }
                    "pPr" | "rPr" | "trPr" | "tcPr" | "tblPr" | "sectPr" => {
                        self.at.properties += 1;
                        // In DrawingML the level is here, and whether it has a sign is known to the layout alone.
                        if let (Some(level), Some(open)) = (tag.number("lvl"), self.at.paragraphs.last_mut()) {
                            open.level = Some(level);
                        }
                        // So is by how many per cent a text is raised.
                        match tag.text("baseline").trim_end_matches('%').parse::<f64>() {
                            Ok(by) if by != 0.0 => self.flow.set_script(Some(if by > 0.0 { '^' } else { '_' })),
                            _ => {}
                        }
                    }
                    _ if self.at.properties > 0 => self.property(&tag),
                    _ => self.start(&tag),
                },
                Some(Node::End(tag)) => match tag.local_name().into_inner() {
                    "pPr" | "rPr" | "trPr" | "tcPr" | "tblPr" | "sectPr" => self.at.properties -= 1,
                    _ if self.at.properties > 0 => {}
                    name => self.end(name)?,
                },
                Some(Node::Text(text)) if self.at.is_text => self.flow.push_text(&text),
                Some(Node::Text(_)) => {}
                None => break,
            }
        }
        Ok(())
    }

    fn property(&mut self, tag: &Tag<'_>) {
        let is_hidden = self.flow.marks.last().is_some_and(|mark| mark == HIDDEN_MARK);
        match (tag.name(), self.at.paragraphs.last_mut()) {
            ("gridSpan", _) => self.at.columns = tag.number("val").unwrap_or(1),
            // Of a run: within the properties of a paragraph it is that of the sign at its end.
            ("vanish", Some(_)) if self.at.properties == 1 && !is_hidden && !tag.is_off("val") => {
                self.flow.marks.push(HIDDEN_MARK.to_owned());
            }
            ("vertAlign", Some(_)) if self.at.properties == 1 => self.flow.set_script(Some(script_of(tag))),
            ("rStyle", Some(_)) if self.at.properties == 1 => {
                self.flow.set_script(self.docx.styles.script(tag.id("val"), None));
            }
            (_, Some(open)) => open.set(tag),
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag.name() {
            "p" => self.at.paragraphs.push(Style::default()),
            "t" | "delText" => self.at.is_text = true,
            "tab" | "ptab" => self.flow.push("\t"),
            "br" | "cr" => self.flow.push("\n"),
            // It may be the sign of a raised number.
            "noBreakHyphen" => self.flow.push_text("-"),
            // A character of a font of signs, as the boxes and ticks of forms; in DrawingML it is the font.
            "sym" => self.flow.push_text(sign(&tag.text("char").to_uppercase(), &tag.text("font"))),
            // An emoji, whose older form is the `Fallback`.
            "symEx" => self.flow.push(&character(&tag.text("char")).map(String::from).unwrap_or_default()),
            "ins" | "moveTo" => self.flow.marks.push(by("inserted", &tag.text("author"))),
            "del" | "moveFrom" => self.flow.marks.push(by("deleted", &tag.text("author"))),
            "footnoteReference" => self.note("footnote", tag),
            "endnoteReference" => self.note("endnote", tag),
            "commentReference" => {
                if let Some((author, text)) = self.find_note("comment", tag) {
                    self.flow.push(&format!("[{}: {text}]", by("comment", author)));
                }
            }
            "footnote" | "endnote" | "comment" => {
                self.at.note = (format!("{} {}", tag.name(), tag.text("id")), tag.text("author"));
                self.flow.begin_capture(' ');
            }
            "docPr" => self.at.alt = tag.text("descr"),
            // Of a shape on a slide; in a drawing of Word it is of the picture, for which the drawing speaks.
            "cNvPr" if self.docx.main.is_empty() => self.at.alt = tag.text("descr"),
            "blip" => self.object(tag, "embed"),
            "imagedata" => self.object(tag, "id"),
            "chart" | "relIds" => self.object(tag, "dm"),
            "txbxContent" => self.flow.begin_capture('\n'),
            "tbl" => self.flow.tables.push(Table::default()),
            "tc" => {
                // In DrawingML they are here, and a cell that another one spans is there as well.
                self.at.columns = if tag.text("hMerge") == "1" { 0 } else { tag.number("gridSpan").unwrap_or(1) };
                self.flow.begin_capture('\n');
            }
            "sld" => self.at.slide.hidden = tag.is_off("show"),
            "ph" => match tag.text("type").as_str() {
                "title" | "ctrTitle" => self.at.is_title = self.at.slide.title.is_none(),
                "sldNum" | "sldImg" | "dt" | "hdr" => self.at.is_left_out = true,
                _ => {}
            },
            "txBody" if self.at.is_title => self.flow.begin_capture(' '),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) -> Result<()> {
        match name {
            "p" => self.end_paragraph(),
            "t" | "delText" => self.at.is_text = false,
            "ins" | "moveTo" | "del" | "moveFrom" => {
                // A run without an end would leave one for each.
                self.flow.marks.retain(|mark| mark != HIDDEN_MARK);
                self.flow.marks.pop();
            }
            "r" | "fld" => {
                self.flow.set_script(None);
                self.flow.marks.pop_if(|mark| mark == HIDDEN_MARK);
            }
            "txbxContent" => {
                let text = self.flow.end_capture();
                self.flow.push_after(text);
            }
            "tbl" => drop(self.flow.tables.pop()),
            "tr" => self.flow.end_row(),
            "tc" => drop(self.flow.end_cell(self.at.columns, false)),
            "footnote" | "endnote" | "comment" => {
                let text = self.flow.end_capture();
                self.flow.release();
                let (name, author) = mem::take(&mut self.at.note);
                self.package.budget.hold(name.len() + author.len() + text.len())?;
                self.at.notes.insert(name, (author, text.trim_start().to_owned()));
            }
            "sp" | "pic" | "graphicFrame" => (self.at.is_title, self.at.is_left_out) = (false, false),
            "txBody" if mem::take(&mut self.at.is_title) => {
                self.at.slide.title = Some(self.flow.end_capture().split_whitespace().collect::<Vec<_>>().join(" "));
            }
            _ => {}
        }
        Ok(())
    }

    fn end_paragraph(&mut self) {
        let mut open = self.at.paragraphs.pop().unwrap_or_default();
        if open.based_on.is_empty() {
            open.based_on.clone_from(&self.docx.default_style);
        }
        let heading =
            self.docx.styles.inherited(&open, |style| style.outline).filter(|level| *level < 9).map(|level| level + 1);
        let level = self.docx.styles.inherited(&open, |style| style.level);
        // The list `0` takes that of the style away: 17.9.18.
        let list = self.docx.styles.inherited(&open, |style| style.list.clone());
        let prefix = match list.and_then(|list| self.docx.styles.lists.get_key_value(&list)) {
            Some((id, list)) => self.at.numbers.prefix(id, list, level.unwrap_or(0), heading.is_some()),
            // On a slide.
            None if self.docx.main.is_empty() => level
                .filter(|level| *level > 0)
                .map_or_else(String::new, |level| "  ".repeat(level.min(MAX_LEVELS)) + "- "),
            None => String::new(),
        };
        // A long one before a million items is work. The next read fails where this does.
        let _ = self.package.budget.inflate(prefix.len());
        self.flow.end_paragraph(heading, &prefix);
    }

    fn note(&mut self, kind: &str, tag: &Tag<'_>) {
        let label = self.flow.reference(kind);
        if let Some((_, text)) = self.find_note(kind, tag) {
            self.flow.push_after(format!("{label}: {text}"));
        }
    }

    fn find_note(&self, kind: &str, tag: &Tag<'_>) -> Option<&'d (String, String)> {
        let note = self.docx.notes.get(&format!("{kind} {}", tag.text("id")))?;
        // A long note to which a million places refer is work. The next read fails where this does.
        let _ = self.package.budget.inflate(note.1.len());
        Some(note)
    }

    /// An image by the attribute that refers to it; a diagram, whose text is in a part of its own; a chart, which is not read.
    fn object(&mut self, tag: &Tag<'_>, attribute: &str) {
        let alt = mem::take(&mut self.at.alt);
        let part = self.relationships.part(&tag.prefixed(attribute));
        let text = |part: &str| read_shapes(self.package, part, &Relationships::default()).unwrap_or_default().text;
        let label = match attribute {
            "dm" => format!("[chart or diagram] {}", text(&part).replace('\n', " / ")),
            _ => self.package.image_label(&part, &alt),
        };
        self.flow.push(&label);
        // On a slide it is in no paragraph.
        if self.at.paragraphs.is_empty() {
            self.flow.end_paragraph(None, "");
        }
    }
}

/// A character of Wingdings, as the boxes and ticks of forms; a box for another one. In `DrawingML` a `sym` is a font, and
/// has none.
fn sign(code: &str, font: &str) -> &'static str {
    match code.trim_start_matches("F0") {
        "2B" if font == "Symbol" => "+",
        "2D" if font == "Symbol" => "−",
        "B1" if font == "Symbol" => "±",
        "B4" if font == "Symbol" => "×",
        "" => "",
        "FB" => "✗",
        "FC" => "✓",
        "FD" | "78" => "☒",
        "FE" => "☑",
        "B7" | "A7" => "•",
        _ => "□",
    }
}

/// A slide of a presentation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slide {
    /// The text of its title, in one line.
    pub title: Option<String>,
    /// Whether a presentation leaves it out.
    pub hidden: bool,
    /// The text of all but the title, in the order of the shapes, which is that of reading: paragraphs as lines, tables as
    /// those of Markdown.
    pub text: String,
    /// The notes of the speaker.
    pub notes: String,
    /// Whether a limit was reached, so that text is missing.
    pub cut: bool,
}

/// The parts of the slides of a presentation, in the order in which they are shown; their names have that of their making.
pub(crate) fn slide_parts(package: &Package<'_>, main: &str) -> Result<Vec<String>> {
    let relationships = package.relationships(main)?;
    let mut slides = Vec::new();
    package.tags(main, &mut |tag| {
        // Those of sections refer to no part.
        let id = Some(tag.prefixed("id")).filter(|id| tag.name() == "sldId" && !id.is_empty());
        let slide = id.map(|id| relationships.part(&id));
        // Many slides may be one part. The next read fails where this does.
        let _ = package.budget.hold(slide.as_ref().map_or(0, String::len));
        slides.extend(slide);
    })?;
    Ok(slides)
}

pub(crate) fn read_slide(package: &Package<'_>, part: &str) -> Result<Slide> {
    let relationships = package.relationships(part)?;
    let mut slide = read_shapes(package, part, &relationships)?;
    let part = relationships.of_type("notesSlide");
    if package.xml(&part)?.is_some() {
        slide.notes = read_shapes(package, &part, &Relationships::default())?.text;
    }
    Ok(slide)
}

fn read_shapes(package: &Package<'_>, part: &str, relationships: &Relationships) -> Result<Slide> {
    let nothing = Docx::default();
    slide_of(|flow| {
        let mut story = Story::new(&nothing, package, relationships, flow);
        story.read(package.required_xml(part)?)?;
        Ok(story.at.slide)
    })
}

pub(crate) fn text_of(package: &Package<'_>, read: impl FnOnce(Flow<'_>) -> Result<()>) -> Result<String> {
    let text = slide_of(|flow| read(flow).map(|()| Slide::default()))?.text;
    package.budget.hold(text.len())?;
    Ok(text)
}

pub(crate) fn slide_of(read: impl FnOnce(Flow<'_>) -> Result<Slide>) -> Result<Slide> {
    let (mut text, mut cut) = (String::new(), false);
    let mut take = |paragraph: Paragraph<'_>| {
        text.extend((!text.is_empty()).then_some('\n'));
        text.push_str(paragraph.text);
        cut |= paragraph.cut || text.len() > MAX_HELD;
        if cut { Break(()) } else { Continue(()) }
    };
    let slide = read(Flow::new(1, &mut take))?;
    Ok(Slide { text, cut: cut || slide.cut, ..slide })
}
