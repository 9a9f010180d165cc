//! Lines that are there when a wait begins.

use std::ops::ControlFlow;

use confined_fs::OpenFile;

use crate::tools::{
    Answer, CallContext, ToolError,
    wait::{args::Until, file_tail::Advance, output::Outcome, report::WaitResult, request::NewFrom},
};

use super::PendingWait;

impl PendingWait {
    /// Skips lines that are not new. Whether there are so many; if not, the file is another one by now, and all of
    /// its lines are new.
    pub(super) fn skip(&mut self, cx: &CallContext, mut file: OpenFile, lines: usize) -> Result<bool, ToolError> {
        let path = self.request.path.clone();
        loop {
            let is_sought = self.until == Until::Line && self.request.new_from == NewFrom::Now;
            let (pattern, there) = (self.request.pattern.as_ref().filter(|_| is_sought), &mut self.there);
            let advance = self.tail.advance(cx, &path, file, &mut |line, encoding| {
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
                    file = cx.workspace.open_file(&path)?;
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
        Some(self.answer(cx, WaitResult { matched: Some(number), was_there: true, ..WaitResult::of(Outcome::Line) }))
    }
}
