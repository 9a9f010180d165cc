//! The text of a PDF, page by page.

use std::fmt::Write as _;

use confined_fs::{Revision, WorkspacePath, stop::StopReason};
use pdf_text::{Pdf, PdfError, PdfPage, with_pdf};
use text_file::hidden;

use super::{
    super::{AnswerBudget, CallContext, Kind, ToolError, answer::count, hidden_note::HiddenNote},
    open::Source,
    request::FileRequest,
    section::{ReadFacts, Section, continued_with, record_of},
};

/// Units of the budget kept back for the lines below the text.
const FOOTER_UNITS: usize = 480;

/// Runs of damaged pages that are named.
const MAX_DAMAGED_NAMED: usize = 8;

/// The pages that are wanted; all of them, or from the first to the last, counted from 1.
pub(super) fn read_pdf(
    cx: &CallContext,
    request: &FileRequest,
    mut source: Source,
    pages: Option<(usize, usize)>,
) -> Result<Section, ToolError> {
    let path = source.path().clone();
    let Some((skip, take)) = request.lines.without_numbers() else {
        let sentence = format!(
            "{path} is a PDF: its lines have no numbers, so start_line, end_line and a negative offset do not apply"
        );
        return Err(ToolError::invalid(sentence)
            .hint("use part=\"pages 3-5\"; an offset that is not negative skips lines of its first page"));
    };
    let (size, limit) = (source.size(), cx.settings.max_file_size);
    if size > limit {
        let sentence = format!("{path} is a PDF of {size} bytes; the limit is {limit} bytes (--max-file-size)");
        return Err(ToolError::new(Kind::TooLarge, sentence).hint("ask the user for its text, or for a part of it"));
    }
    source.read_on(limit)?;
    cx.check()?;
    let bytes = &source.head;
    let stopped = || cx.stop.stopped().is_some();
    // One of several files may have a share smaller than the footer.
    let budget = request.budget.reduced(FOOTER_UNITS.min(request.budget.limit / 2));
    let mut text = PagesText { budget, skip, take, ..PagesText::default() };
    let read = with_pdf(bytes, &stopped, |pdf| text.read(pdf, pages));
    // At the time limit the pages that were read until then are an answer. Nobody waits for those of a cancelled call.
    if cx.stop.stopped() == Some(StopReason::Cancelled) || text.shown.is_none() && read == Err(PdfError::Stopped) {
        cx.check()?;
    }
    if let Err(error) = read {
        if text.shown.is_none() {
            return Err(unreadable(&path, bytes.len(), &error));
        }
        text.is_cut = true;
        let _ = writeln!(text.note, "(reading stopped: the file is {error})");
    }
    if let Some((first, _)) = pages.filter(|(first, _)| *first > text.pages) {
        let sentence = format!("page {first} is past the end: {path} has {}", count(text.pages, "page"));
        return Err(ToolError::invalid(sentence).hint(format!("use part=\"pages 1-{}\"", text.pages)));
    }
    // The bytes may be half of one state and half of another, which no rev names.
    let revision = if source.has_changed()? { None } else { Some(Revision::of(bytes)) };
    let record = revision.map(|revision| record_of(cx, source.file.real_path(), revision, None));
    Ok(Section { record, ..text.section(path, revision, bytes.len() as u64) })
}

/// The error for a file of which nothing can be shown.
fn unreadable(path: &WorkspacePath, size: usize, error: &PdfError) -> ToolError {
    let (kind, hint) = match error {
        PdfError::Password | PdfError::Encryption(_) => {
            (Kind::Binary, "ask the user for a copy without a password, or for its text")
        }
        PdfError::TooLarge(_) | PdfError::NotSmall | PdfError::Stopped => {
            (Kind::TooLarge, "ask the user for its text, or for a part of it")
        }
        PdfError::Damaged(_) => (Kind::Binary, "create it again, or ask the user for another copy"),
    };
    ToolError::new(kind, format!("{path} is a PDF of {size} bytes that cannot be read: it is {error}")).hint(hint)
}

/// Which pages may have more text than is shown; empty where there is none.
fn damaged_note(runs: &[(usize, usize)]) -> String {
    let named: Vec<String> = runs
        .iter()
        .take(MAX_DAMAGED_NAMED)
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
        .collect();
    let (pages, their) = match runs {
        [] => return String::new(),
        [(first, last)] if first == last => ("page", "its"),
        _ => ("pages", "their"),
    };
    let more = if runs.len() > MAX_DAMAGED_NAMED { " and more" } else { "" };
    let named = named.join(", ") + more;
    format!("({pages} {named}: {their} content is damaged or in an unknown form; text may be missing)\n")
}

#[derive(Clone, Copy)]
struct EmptyPages {
    start: usize,
    first: usize,
    damaged: bool,
}

/// The text of the wanted pages so far, as much as the budget takes; what it leaves out, and where a next call goes on.
#[derive(Default)]
struct PagesText {
    text: String,
    budget: AnswerBudget,
    /// Lines to skip at the start, and to show at most.
    skip: usize,
    take: Option<usize>,
    pages: usize,
    /// The first page that is shown and the last, counted from 1.
    shown: Option<(usize, usize)>,
    lines: usize,
    /// Where the text continues: the page, and lines of it to skip.
    next: Option<(usize, usize)>,
    /// The last page that was asked for, where that is not the last of the file.
    until: Option<usize>,
    is_cut: bool,
    empty: Option<EmptyPages>,
    images: usize,
    unknown: usize,
    /// The first page that is too large to be read whole.
    incomplete: Option<usize>,
    /// Pages that are damaged: the first and the last of each run.
    damaged: Vec<(usize, usize)>,
    hidden: HiddenNote,
    note: String,
}

impl PagesText {
    fn read(&mut self, pdf: &Pdf<'_>, pages: Option<(usize, usize)>) -> Result<(), PdfError> {
        self.pages = pdf.page_count();
        let (first, last) = pages.unwrap_or((1, self.pages));
        let last = last.min(self.pages);
        self.until = (last < self.pages).then_some(last);
        for number in first..=last {
            self.next = Some((number, 0));
            let page = pdf.page(number - 1)?;
            if !self.push(number, &page) {
                self.is_cut = true;
                return Ok(());
            }
            self.shown = Some((self.shown.map_or(first, |(first, _)| first), number));
        }
        self.next = (last < self.pages).then_some((last + 1, 0));
        Ok(())
    }

    /// Adds a page; false if it does not fit whole.
    fn push(&mut self, number: usize, page: &PdfPage) -> bool {
        let fits = if page.text.is_empty() { self.push_empty(number, page) } else { self.push_text(number, page) };
        if fits || self.shown.is_some_and(|(_, last)| last == number) {
            self.unknown += page.unknown;
            self.incomplete = self.incomplete.or(page.cut.then_some(number));
            match self.damaged.last_mut() {
                _ if !page.damaged => {}
                Some((_, last)) if *last + 1 == number => *last = number,
                _ => self.damaged.push((number, number)),
            }
        }
        fits
    }

    /// Pages without text share a heading, but those that are damaged may have text.
    fn push_empty(&mut self, number: usize, page: &PdfPage) -> bool {
        let alike = self.empty.filter(|empty| empty.damaged == page.damaged);
        let EmptyPages { start, first, .. } =
            alike.unwrap_or(EmptyPages { start: self.text.len(), first: number, damaged: page.damaged });
        let before = self.text.split_off(start);
        let images = page.images + if alike.is_some() { self.images } else { 0 };
        let (pages, these) = if first == number {
            (format!("page {number}"), "this page")
        } else {
            (format!("pages {first}-{number}"), "these pages")
        };
        let found = if page.damaged { "could be read on" } else { "on" };
        let (all, shown) = (self.pages, count(images, "image"));
        let _ = writeln!(self.text, "--- {pages} of {all} ---\n(no text {found} {these}; {shown})");
        if self.shown.is_some() && !self.budget.fits(&self.text) {
            self.text.truncate(start);
            self.text.push_str(&before);
            return false;
        }
        (self.empty, self.images) = (Some(EmptyPages { start, first, damaged: page.damaged }), images);
        true
    }

    fn push_text(&mut self, number: usize, page: &PdfPage) -> bool {
        let before = self.text.len();
        let hidden_before = self.hidden.clone();
        let _ = writeln!(self.text, "--- page {number} of {} ---", self.pages);
        let mut gauge = self.budget.gauge();
        let mut shown = 0;
        let mut skipped = 0;
        for line in page.text.lines() {
            if self.skip > 0 {
                self.skip -= 1;
                skipped += 1;
                continue;
            }
            let end = self.text.len();
            self.text.push_str(line);
            self.text.push('\n');
            let is_first = shown == 0 && self.shown.is_none();
            if !is_first && !gauge.fits(&self.text) || self.take.is_some_and(|take| self.lines + shown >= take) {
                self.text.truncate(end);
                // Half a page is shown only where nothing else would be.
                if self.shown.is_some() || shown == 0 {
                    self.text.truncate(before);
                    self.hidden = hidden_before;
                } else {
                    self.shown = Some((number, number));
                    self.lines += shown;
                    self.next = Some((number, skipped + shown));
                }
                return false;
            }
            shown += 1;
            for one in hidden::in_line(line) {
                self.hidden.add(one.character, format_args!("on page {number}"));
            }
        }
        self.lines += shown;
        self.empty = None;
        true
    }

    fn section(self, path: WorkspacePath, revision: Option<Revision>, size: u64) -> Section {
        let mut closing = String::new();
        let Self { mut text, pages, shown, lines, next, is_cut, unknown, hidden, .. } = self;
        if self.empty.is_some_and(|empty| empty.start == 0 && empty.first == 1 && !empty.damaged) && next.is_none() {
            text.clear();
            let (images, pages) = (count(self.images, "image"), count(pages, "page"));
            let _ = writeln!(closing, "(this PDF holds no text; {images} on {pages})");
        } else if shown.is_some() && lines == 0 && self.empty.is_none() {
            let _ = writeln!(closing, "(offset is past the end of these pages)");
        }
        if unknown > 0 {
            let _ =
                writeln!(closing, "({} left out: the fonts do not map them to Unicode)", count(unknown, "character"));
        }
        if let Some(first) = self.incomplete {
            let _ = writeln!(closing, "(page {first} is too large to be read whole: text may be missing)");
        }
        closing.push_str(&damaged_note(&self.damaged));
        closing.extend(hidden.text().map(|note| note + "\n"));
        closing.push_str(&self.note);
        if revision.is_none() {
            closing.push_str("(the file changed while it was read; read it again)\n");
        }
        let rev = revision.map(|revision| format!(", rev {}", revision.short())).unwrap_or_default();
        let _ = write!(closing, "({}{rev}", count(pages, "page"));
        let until = self.until.filter(|_| is_cut).map(|until| until.to_string()).unwrap_or_default();
        let next_part = next.map(|(page, _)| format!("pages {page}-{until}"));
        let next_offset = next.map(|(_, offset)| offset).filter(|offset| *offset > 0);
        closing.extend(next_part.as_ref().filter(|_| is_cut).map(|part| continued_with(part, next_offset)));
        closing.push(')');
        let facts = ReadFacts {
            returned_lines: Some(lines),
            has_more: Some(next.is_some()),
            next_offset,
            revision: revision.map(|revision| revision.to_string()),
            size,
            pages: Some(pages),
            first_page: shown.map(|(first, _)| first),
            last_page: shown.map(|(_, last)| last),
            next_part,
            ..ReadFacts::default()
        };
        Section { closing, ..Section::of(path, text, facts) }
    }
}
