//! A wait from its first poll to its last.

use std::{
    ops::ControlFlow,
    sync::Arc,
    time::{Duration, Instant},
};

use confined_fs::OpenFile;
use confined_fs::watch::{DiskWatcher, OnEvent, PathWatch};

use super::{
    super::{Answer, CallContext, EndReason, Kind, Plan, PollResult, ToolError, Wait, fence::FENCE_BYTES},
    file_tail::{Advance, FileTail, TailLine, end_of_revision},
    report::Outcome,
    request::{NewFrom, Until, WaitRequest},
    state::{DirectoryNames, Entry, KeepLines, NewLines, PendingWait},
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
    let observed = Entry::observe(cx, &request, request.until)?;
    let until = request.until.unwrap_or(match (&request.pattern, &observed) {
        (Some(_), _) => Until::Line,
        (None, Some((Entry::Missing, _))) => Until::Appears,
        (None, _) => Until::Changes,
    });
    let room = cx.budget.list();
    let room = if cx.workspace.is_untrusted(&request.path) { room.reduced(FENCE_BYTES) } else { room };
    let keep = if request.pattern.is_some() { KeepLines::Last } else { KeepLines::First };
    let mut pending = PendingWait {
        until,
        before: Entry::Missing,
        tail: FileTail::new(),
        is_text: true,
        new: NewLines::new(room, keep),
        matched: None,
        was_there: false,
        ends_at: None,
        names: Vec::new(),
        entries: None,
        unfinished: (0, request.started, false),
        notes: Vec::new(),
        watch: None,
        request,
    };
    // What cannot be observed yet is new as a whole.
    if let Some((entry, file)) = observed {
        entry.check(&pending.request, until)?;
        pending.before = entry;
        match (&pending.before, file) {
            (Entry::Directory(names), _) if names.more => {
                pending.notes.push(format!("(only the first {} names are compared)", names.len()));
            }
            (_, Some(file)) if matches!(until, Until::Line | Until::Changes) => pending.remember(cx, file)?,
            _ => {}
        }
    }
    if pending.was_there {
        return Ok(Plan::Answer(pending.answer(cx, Outcome::Line, None)));
    }
    match pending.poll(cx)? {
        PollResult::Happened(answer) => Ok(Plan::Answer(answer)),
        PollResult::NotYet(_) => Ok(Plan::Wait(Box::new(pending))),
    }
}

impl PendingWait {
    fn remember(&mut self, cx: &CallContext, mut file: OpenFile) -> Result<(), ToolError> {
        match self.request.new_from {
            NewFrom::Offset(lines) => {
                self.tail.skip = lines;
                return Ok(());
            }
            NewFrom::Since(since, length) => {
                self.tail.stop_at = end_of_revision(cx, &mut file, since, length);
                if self.tail.stop_at.is_none() {
                    self.notes.push(format!("(rev {since} is not the beginning of the file: all lines count as new)"));
                    self.tail.restarts = 1;
                    return Ok(());
                }
            }
            NewFrom::Now => {}
        }
        match self.read_known(cx, file) {
            Err(error) if error.kind() == Kind::Binary && self.until == Until::Changes => self.is_text = false,
            read => {
                read?;
                self.tail.stop_at = None;
                self.tail.known = self.tail.unfinished_length;
            }
        }
        if let Some(stat) = self.tail.restat() {
            self.before = Entry::File(stat);
        }
        Ok(())
    }

    /// Reads the lines that are not new. The last of them that matches is an answer, where the call does not say which
    /// lines it has.
    fn read_known(&mut self, cx: &CallContext, mut file: OpenFile) -> Result<(), ToolError> {
        let pattern = self.request.pattern.as_ref().filter(|_| self.request.new_from == NewFrom::Now);
        let is_meant = |line: TailLine<'_>| pattern.is_some_and(|pattern| pattern.is_in_line(line.text.as_bytes()));
        let mut there = None;
        let kept = |line: TailLine<'_>| (line.number, line.text.to_owned(), line.is_cut);
        while self.tail.advance(cx, file, &mut |line| {
            if is_meant(line) {
                there = Some(kept(line));
            }
            ControlFlow::Continue(())
        })? == Advance::More
        {
            cx.check()?;
            file = cx.workspace.open_file(&self.request.path)?;
        }
        let there = self.tail.unfinished().filter(|line| is_meant(*line)).map(kept).or(there);
        if let Some((number, text, is_cut)) = there {
            self.new.push(number, &text, is_cut);
            (self.matched, self.was_there) = (Some(number), true);
        }
        Ok(())
    }

    fn happened(&mut self, cx: &CallContext, outcome: Outcome) -> PollResult {
        PollResult::Happened(self.answer(cx, outcome, None))
    }

    /// Looks at a regular file; `is_new` where it is enough that it is there.
    fn look_at_file(&mut self, cx: &CallContext, file: OpenFile, is_new: bool) -> Result<PollResult, ToolError> {
        let is_same = matches!(&self.before, Entry::File(before) if before.same_file_state(file.stat()));
        let mut advance = Advance::End;
        if self.is_text {
            match self.read_on(cx, Some(file)) {
                // That it changed can be reported without its lines.
                Err(error) if error.kind() == Kind::Binary && self.until != Until::Line => self.is_text = false,
                read => advance = read?,
            }
        }
        if self.until == Until::Line {
            return Ok(self.line_found(cx, advance));
        }
        if is_new {
            return Ok(self.happened(cx, Outcome::Appeared));
        }
        let has_news = self.new.count > 0 || self.tail.restarts > 0 || self.tail.is_end_new();
        if (!is_same || has_news) && (advance != Advance::More || self.new.count > 0) {
            self.show_unfinished();
            return Ok(self.happened(cx, Outcome::Changed));
        }
        Ok(PollResult::NotYet((advance == Advance::More).then_some(Duration::ZERO)))
    }

    /// Reads new lines, of the file at the path or, without one, of that which was there.
    fn read_on(&mut self, cx: &CallContext, file: Option<OpenFile>) -> Result<Advance, ToolError> {
        let Self { request, new, matched, ends_at, tail, .. } = self;
        let mut each = |line: TailLine<'_>| {
            if !new.push(line.number, line.text, line.is_cut) {
                *ends_at = Some(line.number - 1);
            } else if request.pattern.as_ref().is_some_and(|pattern| pattern.is_in_line(line.text.as_bytes())) {
                (*matched, *ends_at) = (Some(line.number), Some(line.number));
            } else {
                return ControlFlow::Continue(());
            }
            ControlFlow::Break(())
        };
        match file {
            Some(file) => tail.advance(cx, file, &mut each),
            None => tail.finish_gone(cx, &mut each),
        }
    }

    /// Whether one of the new lines, or the last one without a line break, is what was waited for.
    fn line_found(&mut self, cx: &CallContext, advance: Advance) -> PollResult {
        let has_line = self.request.pattern.is_none() && self.new.count > 0 && advance != Advance::More;
        if self.matched.is_some() || has_line {
            return self.happened(cx, Outcome::Line);
        }
        if advance == Advance::More {
            return PollResult::NotYet(Some(Duration::ZERO));
        }
        if !self.tail.is_end_new() {
            return PollResult::NotYet(None);
        }
        let length = self.tail.unfinished_length;
        if length != self.unfinished.0 {
            self.unfinished = (length, Instant::now(), false);
        }
        let (_, since, is_compared) = self.unfinished;
        let left = QUIET_DELAY.saturating_sub(since.elapsed());
        if is_compared || !left.is_zero() {
            return PollResult::NotYet((!is_compared).then_some(left));
        }
        self.unfinished.2 = true;
        let pattern = self.request.pattern.as_ref();
        let is_meant = |line: TailLine<'_>| pattern.is_none_or(|pattern| pattern.is_in_line(line.text.as_bytes()));
        if !self.tail.unfinished().is_some_and(is_meant) {
            return PollResult::NotYet(None);
        }
        self.matched = self.show_unfinished().filter(|_| self.request.pattern.is_some());
        self.happened(cx, Outcome::Line)
    }

    /// Adds the last line without a line break, if it is new. Its number.
    fn show_unfinished(&mut self) -> Option<usize> {
        let TailLine { number, text, is_cut } = self.tail.unfinished()?;
        if self.ends_at.is_some() || !self.tail.is_end_new() || !self.new.push(number, text, is_cut) {
            return None;
        }
        self.tail.known = self.tail.unfinished_length;
        self.notes.push(format!("(line {number} has no line break yet)"));
        Some(number)
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
        let was_missing = matches!(self.before, Entry::Missing);
        let is_new = self.until == Until::Appears || self.until == Until::Changes && was_missing;
        let Some((entry, file)) = Entry::observe(cx, &self.request, Some(self.until))? else {
            return Ok(PollResult::NotYet(Some(SETTLE_DELAY)));
        };
        let not_yet = Ok(PollResult::NotYet(None));
        self.entries = None;
        match (&entry, self.until) {
            (Entry::Missing, Until::Line) => {
                // What was still appended before it went may have the line.
                let advance = self.read_on(cx, None)?;
                return Ok(self.line_found(cx, advance));
            }
            (Entry::Missing, until) if until == Until::Gone || until == Until::Changes && !was_missing => {
                self.tail.is_at_path = false;
                return Ok(self.happened(cx, Outcome::Gone));
            }
            (Entry::Missing, _) | (_, Until::Gone) => return not_yet,
            (Entry::File(_), _) => return file.map_or(not_yet, |file| self.look_at_file(cx, file, is_new)),
            (Entry::Directory(now), _) => {
                self.entries = Some(now.len());
                if !is_new {
                    let none = DirectoryNames::default();
                    let before = if let Entry::Directory(before) = &self.before { before } else { &none };
                    self.names = before.changes(now, self.request.pattern.as_ref());
                    if self.names.is_empty() && matches!(self.before, Entry::Directory(_) | Entry::Missing) {
                        return not_yet;
                    }
                }
            }
            (Entry::Special(stat), until) => {
                let is_same = matches!(&self.before, Entry::Special(before) if before.same_file_state(stat));
                if until == Until::Line || !is_new && is_same {
                    return not_yet;
                }
                self.is_text = false;
            }
        }
        Ok(self.happened(cx, if is_new { Outcome::Appeared } else { Outcome::Changed }))
    }

    fn give_up(mut self: Box<Self>, cx: &CallContext, why: EndReason) -> Result<Answer, ToolError> {
        if self.until == Until::Line {
            self.show_unfinished();
        }
        Ok(self.answer(cx, Outcome::NothingNew, Some(why)))
    }
}
