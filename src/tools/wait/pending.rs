//! A wait from its first poll to its last.

use std::{
    ops::ControlFlow,
    sync::Arc,
    time::{Duration, Instant},
};

use confined_fs::{DiskWatcher, OnEvent, OpenFile, PathWatch};

use crate::session::WaitMark;

use super::{
    super::{Answer, CallContext, EndReason, Kind, Plan, PollResult, ToolError, Wait, fence::FENCE},
    file_tail::{Advance, FileTail, RawLine, lines_of_revision},
    report::{Outcome, WaitReport, WaitResult},
    request::{NewFrom, Until, WaitRequest},
    state::{Before, DirectoryNames, KeepLines, NewLines, Observed, PendingWait, observe},
};

/// How long a last line without a line break stays as it is until it counts: a prompt, or the last words of a program.
const QUIET_DELAY: Duration = Duration::from_millis(250);
/// How long a change is left alone before a poll, so that a file that is written in steps is there as a whole.
const SETTLE_DELAY: Duration = Duration::from_millis(20);

/// Looks for the first time, and plans to wait if that is not enough.
///
/// # Errors
/// Those of the path, as `read` has them, and `invalid_input` for arguments that do not go with what is there.
pub(super) fn begin(cx: &CallContext, request: WaitRequest) -> Result<Plan, ToolError> {
    let observed = observe(cx, &request, request.until)?;
    let is_missing = matches!(observed, Observed::Missing);
    // It has come between the last wait for it and this one. A line that matches is reported as one that is there.
    let has_come = !is_missing && request.pattern.is_none() && cx.session.waits.was_missing(&request.path);
    let until = request.until.unwrap_or(match request.pattern {
        Some(_) => Until::Line,
        None if is_missing || has_come => Until::Appears,
        None => Until::Changes,
    });
    observed.check(&request, until)?;
    let path = &request.path;
    let room = cx.budget.list();
    let room = if cx.workspace.is_untrusted(path) { room.reduced(FENCE) } else { room };
    let keep = if request.pattern.is_some() { KeepLines::Last } else { KeepLines::First };
    let mut pending = PendingWait {
        until,
        before: Before::Missing,
        tail: FileTail::new(),
        is_text: true,
        new: NewLines::new(room, keep),
        known: 0,
        unfinished: (0, request.started, false),
        notes: Vec::new(),
        there: None,
        watch: None,
        request,
    };
    // Otherwise all of it is new.
    if !has_come || until == Until::Appears || pending.request.new_from != NewFrom::Now {
        pending.remember(cx, observed)?;
    }
    if let Some(answer) = pending.there_already(cx) {
        return Ok(Plan::Answer(answer));
    }
    match pending.poll(cx)? {
        PollResult::Happened(answer) => Ok(Plan::Answer(answer)),
        PollResult::NotYet(_) => Ok(Plan::Wait(Box::new(pending))),
    }
}

impl PendingWait {
    /// Keeps what is there now, to be compared with.
    fn remember(&mut self, cx: &CallContext, observed: Observed) -> Result<(), ToolError> {
        let needs_content = matches!(self.until, Until::Line | Until::Changes);
        match observed {
            Observed::File(file) if needs_content => self.remember_file(cx, file)?,
            Observed::File(file) => self.before = Before::File(file.stat().clone()),
            Observed::Directory => {
                let names = DirectoryNames::of(cx, &self.request.path)?;
                if names.more {
                    self.notes.push(format!("(only the first {} names are compared)", names.len()));
                }
                self.before = Before::Directory(names);
            }
            Observed::Special(stat) => self.before = Before::Special(stat),
            Observed::Missing | Observed::Unsettled => {}
        }
        Ok(())
    }

    fn remember_file(&mut self, cx: &CallContext, mut file: OpenFile) -> Result<(), ToolError> {
        let path = self.request.path.clone();
        let skip = match self.request.new_from {
            NewFrom::Now => Some(usize::MAX),
            NewFrom::Offset(lines) => {
                let mark = cx.session.waits.after(&path, lines);
                let is_other = mark.is_some_and(|mark: WaitMark| !mark.start.is_of(&mut file).unwrap_or(true));
                self.known = mark.map_or(0, |mark| mark.unfinished);
                (!is_other).then_some(lines)
            }
            NewFrom::Since(since) => {
                let found = lines_of_revision(cx, &mut file, since);
                if found.is_none() {
                    self.notes.push(format!("(rev {since} is not the beginning of the file: all lines count as new)"));
                    self.tail.restarts = 1;
                }
                found.map(|(lines, unfinished)| {
                    self.known = unfinished;
                    lines
                })
            }
        };
        let mut stat = file.stat().clone();
        if let Some(skip @ 1..) = skip {
            match self.skip(cx, file, skip) {
                Err(error) if error.kind() == Kind::Binary && self.until == Until::Changes => self.is_text = false,
                skipped => {
                    let is_there = skipped?;
                    if self.request.new_from == NewFrom::Now {
                        self.known = self.tail.lines.unfinished_bytes;
                    } else if !is_there {
                        self.known = 0;
                    }
                    stat = self.tail.restat().unwrap_or(stat);
                }
            }
        }
        if skip.is_none() && self.tail.restarts == 0 {
            self.restart();
        }
        self.before = Before::File(stat);
        Ok(())
    }

    /// All lines are new.
    fn restart(&mut self) {
        self.tail = FileTail::restarted(self.tail.restarts + 1);
        self.known = 0;
    }

    fn happened(&mut self, cx: &CallContext, news: WaitResult) -> PollResult {
        PollResult::Happened(self.answer(cx, news))
    }

    /// Looks at a regular file; `is_new` where it is enough that it is there.
    fn look_at_file(&mut self, cx: &CallContext, file: OpenFile, is_new: bool) -> Result<PollResult, ToolError> {
        let stat = file.stat().clone();
        let mut news = WaitResult::default();
        let mut advance = Advance::End;
        if self.is_text {
            match self.read_on(cx, Some(file), &mut news) {
                // That it changed can be reported without its lines.
                Err(error) if error.kind() == Kind::Binary && self.until != Until::Line => self.is_text = false,
                read => advance = read?,
            }
        }
        if self.until == Until::Line {
            return Ok(self.line_found(cx, news, advance));
        }
        // A line that matches is what was waited for only in the case above.
        news.matched = None;
        let is_changed = match &self.before {
            Before::File(before) => !before.same_file_state(&stat),
            _ => true,
        };
        let has_news = self.new.count > 0 || self.tail.restarts > 0 || self.tail.lines.unfinished_bytes > self.known;
        if is_new {
            news.outcome = Outcome::Appeared;
        } else if (is_changed || has_news) && (advance != Advance::More || self.new.count > 0) {
            self.show_unfinished();
            news.outcome = Outcome::Changed;
        } else {
            return Ok(PollResult::NotYet((advance == Advance::More).then_some(Duration::ZERO)));
        }
        Ok(self.happened(cx, news))
    }

    /// Reads new lines, of the file at the path or, without one, of that which was there.
    fn read_on(
        &mut self,
        cx: &CallContext,
        file: Option<OpenFile>,
        news: &mut WaitResult,
    ) -> Result<Advance, ToolError> {
        let (pattern, new) = (self.request.pattern.as_ref(), &mut self.new);
        let restarts = self.tail.restarts;
        let mut each = |line: RawLine<'_>, encoding| {
            let text = line.text(encoding);
            if !new.push(line.number, &text, line.is_cut) {
                news.full = Some(line.number);
                return ControlFlow::Break(());
            }
            if pattern.is_some_and(|pattern| pattern.is_in_line(text.as_bytes())) {
                news.matched = Some(line.number);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        };
        let advance = match file {
            Some(file) => self.tail.advance(cx, file, &mut each),
            None => self.tail.finish_gone(cx, &mut each),
        };
        if self.tail.restarts > restarts {
            self.known = 0;
        }
        advance
    }

    /// Whether one of the new lines, or the last one without a line break, is what was waited for.
    fn line_found(&mut self, cx: &CallContext, mut news: WaitResult, advance: Advance) -> PollResult {
        news.outcome = Outcome::Line;
        let is_met = news.matched.is_some() || self.request.pattern.is_none() && self.new.count > 0;
        if is_met && (advance != Advance::More || news.matched.is_some()) {
            return self.happened(cx, news);
        }
        if advance == Advance::More {
            return PollResult::NotYet(Some(Duration::ZERO));
        }
        let bytes = self.tail.lines.unfinished_bytes;
        if bytes <= self.known {
            return PollResult::NotYet(None);
        }
        if bytes != self.unfinished.0 {
            self.unfinished = (bytes, Instant::now(), false);
        }
        let (_, since, is_compared) = self.unfinished;
        let left = QUIET_DELAY.saturating_sub(since.elapsed());
        if is_compared || !left.is_zero() {
            return PollResult::NotYet((!is_compared).then_some(left));
        }
        self.unfinished.2 = true;
        let is_meant = self.tail.unfinished().is_some_and(|(line, encoding)| {
            self.request.pattern.as_ref().is_none_or(|pattern| pattern.is_in_line(line.text(encoding).as_bytes()))
        });
        if !is_meant {
            return PollResult::NotYet(None);
        }
        let matched = self.show_unfinished().filter(|_| self.request.pattern.is_some());
        self.happened(cx, WaitResult { outcome: Outcome::Line, matched, ..WaitResult::default() })
    }

    /// Adds the last line without a line break, if it is new. Its number.
    fn show_unfinished(&mut self) -> Option<usize> {
        if self.tail.lines.unfinished_bytes <= self.known {
            return None;
        }
        let (line, encoding) = self.tail.unfinished()?;
        let number = line.number;
        let is_shown = self.new.push(number, &line.text(encoding), line.is_cut);
        if is_shown {
            self.known = self.tail.lines.unfinished_bytes;
            self.notes.push(format!("(line {number} has no line break yet)"));
        }
        is_shown.then_some(number)
    }

    /// The answer, after which the next call goes on.
    fn answer(&mut self, cx: &CallContext, news: WaitResult) -> Answer {
        let next = news.full.map_or(self.tail.lines.lines, |full| full - 1);
        if let Some(start) = self.tail.start() {
            let unfinished = if news.full.is_none() { self.known } else { 0 };
            cx.session.waits.keep(&self.request.path, WaitMark { lines: next, unfinished, start });
        }
        let has_lines = self.is_text && self.tail.stat().is_some();
        let totals = if has_lines { self.tail.totals(cx) } else { None };
        WaitReport { wait: self, next: has_lines.then_some(next), totals, news }.answer(cx)
    }
}

impl Wait for PendingWait {
    fn subject(&self) -> String {
        format!("waiting for {}", self.request.path)
    }

    fn limit(&self) -> Duration {
        self.request.limit
    }

    fn settle(&self) -> Duration {
        if self.request.pattern.is_some() { Duration::ZERO } else { SETTLE_DELAY }
    }

    fn watch(&mut self, cx: &CallContext, watcher: &Arc<DiskWatcher>, wake: &OnEvent) -> bool {
        let names = cx.workspace.names_to_follow(&self.request.path).ok();
        self.watch = names.map(|names| cx.workspace.watch_path(watcher, &names, wake));
        self.watch.as_ref().is_some_and(PathWatch::reports_all)
    }

    fn poll(&mut self, cx: &CallContext) -> Result<PollResult, ToolError> {
        let was_missing = matches!(self.before, Before::Missing);
        let is_new = self.until == Until::Appears || self.until == Until::Changes && was_missing;
        let mut news =
            WaitResult { outcome: if is_new { Outcome::Appeared } else { Outcome::Changed }, ..WaitResult::default() };
        match (observe(cx, &self.request, Some(self.until))?, self.until) {
            (Observed::Unsettled, _) => return Ok(PollResult::NotYet(Some(SETTLE_DELAY))),
            (Observed::Missing, Until::Line) => {
                // What was still appended before it went may have the line.
                let advance = self.read_on(cx, None, &mut news)?;
                return Ok(self.line_found(cx, news, advance));
            }
            (Observed::Missing, Until::Changes) if was_missing => return Ok(PollResult::NotYet(None)),
            (Observed::Missing, Until::Gone | Until::Changes) => news.outcome = Outcome::Gone,
            (Observed::Missing, Until::Appears) | (_, Until::Gone) => return Ok(PollResult::NotYet(None)),
            (Observed::File(file), _) => return self.look_at_file(cx, file, is_new),
            (Observed::Directory, _) => {
                let (now, none) = (DirectoryNames::of(cx, &self.request.path)?, DirectoryNames::default());
                news.entries = Some(now.len());
                if !is_new {
                    let before = if let Before::Directory(before) = &self.before { before } else { &none };
                    news.names = before.changes(&now, self.request.pattern.as_ref());
                    if news.names.is_empty() && matches!(self.before, Before::Directory(_) | Before::Missing) {
                        return Ok(PollResult::NotYet(None));
                    }
                }
            }
            (Observed::Special(stat), until) => {
                let is_same = matches!(&self.before, Before::Special(before) if before.same_file_state(&stat));
                if until == Until::Line || !is_new && is_same {
                    return Ok(PollResult::NotYet(None));
                }
                self.is_text = false;
            }
        }
        Ok(self.happened(cx, news))
    }

    fn give_up(mut self: Box<Self>, cx: &CallContext, why: EndReason) -> Result<Answer, ToolError> {
        if self.until == Until::Line {
            self.show_unfinished();
        }
        if matches!(self.before, Before::Missing) && self.tail.stat().is_none() {
            cx.session.waits.keep_missing(&self.request.path);
        }
        Ok(self.answer(cx, WaitResult { given_up: Some(why), ..WaitResult::default() }))
    }
}

impl PendingWait {
    /// Skips lines that are not new. Whether there are so many; if not, the file is another one by now, and all of
    /// its lines are new.
    pub(super) fn skip(&mut self, cx: &CallContext, mut file: OpenFile, lines: usize) -> Result<bool, ToolError> {
        loop {
            let is_sought = self.until == Until::Line && self.request.new_from == NewFrom::Now;
            let (pattern, there) = (self.request.pattern.as_ref().filter(|_| is_sought), &mut self.there);
            let advance = self.tail.advance(cx, file, &mut |line, encoding| {
                let text = pattern.map(|pattern| (pattern, line.text(encoding)));
                if let Some((_, text)) = text.filter(|(pattern, text)| pattern.is_in_line(text.as_bytes())) {
                    *there = Some((line.number, text.into_owned(), line.is_cut));
                }
                if line.number >= lines { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            match advance {
                Advance::BrokenOff => return Ok(true),
                Advance::End if lines == usize::MAX => return Ok(true),
                Advance::End => {
                    self.restart();
                    return Ok(false);
                }
                Advance::More => {
                    cx.check()?;
                    file = cx.workspace.open_file(&self.request.path)?;
                }
            }
        }
    }

    /// The answer where a line is there already that matches, and the call does not say which lines it has.
    pub(super) fn there_already(&mut self, cx: &CallContext) -> Option<Answer> {
        let pattern = self.request.pattern.as_ref().filter(|_| self.request.new_from == NewFrom::Now);
        let unfinished = pattern.filter(|_| self.until == Until::Line).zip(self.tail.unfinished());
        let unfinished = unfinished.and_then(|(pattern, (line, encoding))| {
            let text = line.text(encoding);
            pattern.is_in_line(text.as_bytes()).then(|| (line.number, text.into_owned(), line.is_cut))
        });
        let (number, text, is_cut) = unfinished.or_else(|| self.there.take())?;
        self.new.push(number, &text, is_cut);
        let news =
            WaitResult { outcome: Outcome::Line, matched: Some(number), was_there: true, ..WaitResult::default() };
        Some(self.answer(cx, news))
    }
}
