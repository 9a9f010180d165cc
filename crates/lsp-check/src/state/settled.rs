//! Whether a server is done with a change: what it has said since, and for how long it has been quiet.

use std::time::{Duration, Instant};

use super::{Phase, State, is_check};

/// How long a server must have said nothing more, once it has answered: checks of a save may begin a moment later.
const QUIET: Duration = Duration::from_millis(150);
/// The same for a server that sends what it finds bit by bit.
const QUIET_PUSHED: Duration = Duration::from_millis(300);
/// How long after it has taken note of a change a server that names no versions may be silent: some send nothing if
/// nothing has changed.
const SILENCE: Duration = Duration::from_secs(1);
/// How long after a save the check of a server that checks saves may begin: on a busy machine its compiler starts late.
const CHECK_BEGINS: Duration = Duration::from_secs(3);
/// How long a server must be silent before it is believed that a text has no problems, as long as it has not shown that
/// it is loaded: some send an empty list first. Shortly after its start that is not believed at all.
const QUIET_COLD: Duration = Duration::from_secs(2);
const YOUNG: Duration = Duration::from_secs(5);
/// How long a server that checks saves must be silent: a save ends the check that runs, which is no answer, and the
/// next begins a moment later, on a busy machine much later.
const QUIET_CHECKED: Duration = Duration::from_secs(1);

impl State {
    /// Whether the check of the last save has not begun yet. One that is sure to come is waited for as long as a change
    /// may wait: without it the answer is not the last one. So is the first one, by which saves are compared.
    fn will_check(&self, now: Instant) -> bool {
        // No check at all is before any save.
        let is_due = self.last_check < self.last_saved;
        let may_begin =
            |since: Option<Instant>| since.is_none_or(|at| now.saturating_duration_since(at) < CHECK_BEGINS);
        match (self.checks_saves, self.last_check) {
            (true, None) if self.last_saved.is_none() => may_begin(self.last_busy),
            (false, Some(_)) => is_due && may_begin(self.last_saved),
            (checks_saves, _) => is_due && checks_saves,
        }
    }

    /// Whether it is loading or checking something.
    pub(super) fn is_busy(&self) -> bool {
        match self.quiescent {
            // It indexes while it can answer. Checks of a save are what has to be waited for.
            Some(true) => self.progress.iter().any(|token| is_check(token)),
            Some(false) => true,
            None => !self.progress.is_empty(),
        }
    }

    /// Whether it has not loaded the project yet.
    pub(crate) fn is_loading(&self) -> bool {
        self.phase == Phase::Starting || self.quiescent == Some(false) || (self.quiescent.is_none() && self.is_busy())
    }

    /// Whether a change may wait for it again, after others have waited in vain: it is loaded, or has answered for all
    /// that it was sent.
    pub(crate) fn is_ready_again(&self) -> bool {
        let has_answered = !self.documents.is_empty() && self.documents.keys().all(|uri| self.has_answered(uri));
        self.phase == Phase::Ready && (self.quiescent == Some(true) || (!self.is_busy() && has_answered))
    }

    /// Whether it has said something of the content of a file.
    fn has_answered(&self, uri: &str) -> bool {
        let (Some(document), file) = (self.documents.get(uri), self.files.get(uri)) else { return false };
        if self.pulls {
            return self.is_pulled(uri);
        }
        file.is_some_and(|file| match file.pushed_version {
            Some(version) => version >= document.version,
            // A list without a version may be about the text before, until the server has shown that it knows this one.
            None => file.pushed_at.zip(document.passed).is_some_and(|(at, passed)| at >= passed),
        })
    }

    pub(super) fn is_pulled(&self, uri: &str) -> bool {
        let asked = self.documents.get(uri).and_then(|document| document.pulled);
        asked.is_some_and(|asked| self.last_busy.is_none_or(|busy| busy <= asked || self.quiescent.is_none()))
    }

    /// Whether all that it will say of the content of a file has arrived.
    pub(crate) fn is_settled(&self, uri: &str, now: Instant) -> bool {
        // Closed for other files meanwhile: nobody knows.
        let Some(document) = self.documents.get(uri) else { return false };
        let is_young = self.ready_at.is_none_or(|at| now.saturating_duration_since(at) < YOUNG);
        if self.is_busy() || self.will_check(now) || (is_young && !self.is_proven) {
            return false;
        }
        let last = [Some(document.sent), self.last_heard, self.last_busy].into_iter().flatten().max();
        let quiet = last.map_or(Duration::ZERO, |last| now.saturating_duration_since(last));
        // Nothing that is known of it says whether an empty list is its answer, or its greeting.
        let cold = match (self.is_proven, self.checks_saves) {
            (false, _) => QUIET_COLD,
            (true, true) => QUIET_CHECKED,
            (true, false) => Duration::ZERO,
        };
        let has_answered = self.has_answered(uri);
        if self.pulls {
            return has_answered && quiet >= QUIET.max(cold);
        }
        let pushed_at = self.files.get(uri).and_then(|file| file.pushed_at);
        let is_silent = (self.is_proven || pushed_at.is_some_and(|at| at >= document.sent))
            && !self.names_versions
            && document.passed.is_some_and(|at| now.saturating_duration_since(at) >= SILENCE);
        let more = cold.max(3 * self.last_gap);
        (has_answered && quiet >= QUIET_PUSHED.max(more)) || (is_silent && quiet >= SILENCE.max(more))
    }
}
