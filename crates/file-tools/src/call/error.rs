//! Errors of tools: a kind for programs, a sentence and next steps for the model, a cause for the log.
//!
//! The wording avoids what clients classify by substring ("timeout", "connection", bare status
//! numbers, "not configured", "disabled"), and its point is in the first 480 characters.

use std::{fmt, time::Duration};

use change_set::Workspace;
use confined_fs::{AccessError, AccessErrorKind, Limit, PathError, RootGone, WorkspacePath, escape::escape_controls};
use text_file::nearest_name::did_you_mean;

use crate::session::QuotaError;

use super::{
    answer_budget::AnswerBudget,
    fence::{end_of_fence, fenced},
};

/// The closed set of error kinds, as they are named in `_meta` under `rootbound/error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    InvalidInput,
    NotFound,
    /// Policy, or the boundary of the roots.
    Denied,
    ReadOnly,
    NotRead,
    Stale,
    NoMatch,
    Ambiguous,
    TooLarge,
    Binary,
    Declined,
    TimedOut,
    Cancelled,
    Quota,
    Internal,
}

impl Kind {
    pub fn as_str(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// In the order of the variants.
    const NAMES: [&str; 15] = [
        "invalid_input",
        "not_found",
        "denied",
        "read_only",
        "not_read",
        "stale",
        "no_match",
        "ambiguous",
        "too_large",
        "binary",
        "declined",
        "timed_out",
        "cancelled",
        "quota",
        "internal",
    ];
}

/// Near names in an error.
const MAX_NEAR: usize = 3;

/// The failure of a call, for the model and for the log.
#[derive(Debug, thiserror::Error)]
#[error("{}: {message}", kind.as_str())]
pub struct ToolError {
    kind: Kind,
    message: String,
    below: Box<str>,
    details: String,
    hints: Vec<String>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl ToolError {
    /// An error of `kind`; `message` is a lower-case sentence that names the value that was wrong.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            below: Box::default(),
            details: String::new(),
            hints: Vec::new(),
            source: None,
        }
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Kind::InvalidInput, message)
    }

    /// The client cancelled the call; worded the same wherever it is noticed.
    pub fn cancelled() -> Self {
        Self::new(Kind::Cancelled, "the call was cancelled").hint("call again if it is still wanted")
    }

    /// The refusal to change a part of a file in an encoding in which new bytes would join with those next to them.
    pub(crate) fn inseparable(path: &WorkspacePath, encoding: &str) -> Self {
        Self::new(
            Kind::Binary,
            format!("{path} is in {encoding}, where a part cannot be changed without touching the rest"),
        )
        .hint("replace the whole file with write")
    }

    pub fn compiled_too_long(limit: Duration) -> Self {
        let sentence =
            format!("the time limit of {limit:.0?} was reached while the pattern was compiled; nothing was searched");
        Self::new(Kind::TimedOut, sentence)
            .hint("use a simpler pattern: smaller repetition counts, fewer alternatives, or literal=true")
    }

    /// An attempt that must not block would have to. Nobody reads this: the call is planned again where it may.
    pub fn would_block() -> Self {
        Self::new(Kind::Internal, "this attempt would have to wait")
    }

    /// The file at `path` is no longer what a person was shown a change of.
    pub fn changed_while_asked(path: impl fmt::Display) -> Self {
        Self::new(Kind::Stale, format!("{path} changed while a person was asked about this change, so it was not made"))
            .hint("read it again, then repeat the call on what is there now; the user is asked again")
    }

    /// The file at `path` would grow beyond the limit for one file.
    pub fn would_grow(path: impl fmt::Display, size: u64, limit: u64) -> Self {
        Self::new(Kind::TooLarge, format!("{path} would grow to {size} bytes; at most {limit} are allowed"))
            .hint("nothing was changed; write the new text to another file")
    }

    /// The error of a call of which each file failed: that of the only one, or all below each other, of which `errors` has
    /// the texts with their headings. `done` is the participle of what the call does.
    pub(crate) fn of_all(mut errors: Vec<(Self, String)>, done: &str) -> Self {
        let kind = errors.first().map_or(Kind::Internal, |(error, _)| error.kind);
        if errors.len() == 1
            && let Some((only, _)) = errors.pop()
        {
            return only;
        }
        let texts: Vec<&str> = errors.iter().map(|(_, text)| text.as_str()).collect();
        Self::new(kind, format!("none of the {} files could be {done}", texts.len()))
            .hint("correct the paths; each has its error below")
            .details(texts.join("\n\n"))
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds lines between the sentence and the hints: a place in an argument.
    #[must_use]
    pub(crate) fn below(mut self, lines: &str) -> Self {
        self.below = format!("\n{lines}").into();
        self
    }

    /// Adds what follows the hints: a diff, the nearest block, a list of places.
    #[must_use]
    pub fn details(mut self, details: impl Into<String>) -> Self {
        self.details = details.into();
        self
    }

    /// Adds the cause, for the log only.
    #[must_use]
    pub fn source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    #[must_use]
    pub fn followed_by(mut self, end: &str) -> Self {
        self.message.push_str(end);
        self
    }

    /// Adds where in the arguments the error is.
    #[must_use]
    pub fn within(mut self, place: &str) -> Self {
        self.message = format!("in {place}: {}", self.message);
        self
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The text for the model. Sentences repeat arguments and names from files, so that line breaks and what could drive a
    /// terminal are escaped in them; the content of a file is in the details, as it is.
    pub fn text(&self) -> String {
        let mut text = self.sentences();
        if !self.details.is_empty() {
            text.push_str("\n\n");
            text.push_str(&self.details);
        }
        text
    }

    pub fn text_within(&self, budget: &AnswerBudget) -> String {
        let whole = self.text();
        if self.details.is_empty() || budget.fits(&whole) {
            return whole;
        }
        // A fence that is cut is closed again, or what follows it would count as text of the file.
        let end_of_fence = end_of_fence(&self.details).map(|end| format!("{end}\n")).unwrap_or_default();
        let lines: Vec<&str> = self.details.lines().collect();
        let rest = |left_out: usize| format!("{end_of_fence}… {left_out} more lines");
        let mut gauge = budget.less(&rest(lines.len())).gauge();
        let mut text = self.sentences();
        text.push_str("\n\n");
        for (shown, line) in lines.iter().enumerate() {
            if !gauge.push(&mut text, &format!("{line}\n"), false) {
                text.push_str(&rest(lines.len() - shown - usize::from(!end_of_fence.is_empty())));
                break;
            }
        }
        text
    }

    fn sentences(&self) -> String {
        let hint = self.hints.first().map_or(0, |hint| hint.chars().count());
        let mut text = elided(&sentence(&self.message), hint) + &escape_controls(&self.below);
        if !self.hints.is_empty() {
            text.push('\n');
        }
        for hint in &self.hints {
            text.push_str("\nhint: ");
            text.push_str(&sentence(hint));
        }
        text
    }

    /// The error for a path that is not there, with near names from inside the roots.
    pub fn not_found(workspace: &Workspace, path: &WorkspacePath) -> Self {
        Self::not_found_near(workspace, path, Vec::new())
    }

    pub(crate) fn not_found_near(workspace: &Workspace, path: &WorkspacePath, others: Vec<WorkspacePath>) -> Self {
        let error = Self::new(Kind::NotFound, format!("no such file or directory: {path:#}"));
        let mut near = workspace.suggest(path);
        for other in others {
            if near.len() < MAX_NEAR && !near.contains(&other) {
                near.push(other);
            }
        }
        // A name in an untrusted root is its author's text, and a hint is the server's.
        if !near.is_empty() && near.iter().any(|near| workspace.is_untrusted(near)) {
            let names: Vec<String> = near.iter().map(|near| format!("{near:#}")).collect();
            return error.hint("did you mean a path below?").details(fenced(workspace, &near, names.join("\n")));
        }
        let question = did_you_mean(near.iter().map(|near| format!("{near:#}")));
        error.hint(question.unwrap_or_else(|| "list what is there with ls, or search by name with glob".to_owned()))
    }

    /// Turns a failed access into an error, adding suggestions where the path is missing.
    pub fn access(workspace: &Workspace, error: AccessError) -> Self {
        match error.kind {
            AccessErrorKind::NotFound => Self::not_found(workspace, &error.path),
            _ => error.into(),
        }
    }
}

/// A sentence in one line: no other begins with a name in it.
fn sentence(text: &str) -> String {
    escape_controls(text).replace('\n', "\\u{a}")
}

/// A message with room for a hint of this many characters in the first 480, where a client cuts (DeerFlow): one
/// that repeats a path of thousands keeps its two ends. A hint is never cut, as it may hold a path to pass.
fn elided(message: &str, hint: usize) -> String {
    const SHOWN_CHARS: usize = 480;
    const MAX_HINT_CHARS: usize = 320;
    const MIN_PROBLEM_CHARS: usize = 80;
    let longest = SHOWN_CHARS.saturating_sub("\n\nhint: ".len() + hint).clamp(MIN_PROBLEM_CHARS, MAX_HINT_CHARS);
    let length = message.chars().count();
    if length <= longest {
        return message.to_owned();
    }
    let ends = (longest - 1) / 2;
    let head: String = message.chars().take(ends).collect();
    let tail: String = message.chars().skip(length - ends).collect();
    format!("{head}…{tail}")
}

impl From<PathError> for ToolError {
    fn from(error: PathError) -> Self {
        match &error {
            PathError::Denied { here: Some(here), .. } => Self::new(Kind::Denied, error.to_string())
                .hint(format!("it is in another checkout of this repository; the same file here is {here}")),
            PathError::Denied { .. } => Self::new(Kind::Denied, error.to_string())
                .hint("use a path relative to a workspace root; ls without a path lists the roots"),
            PathError::TooLong { .. } => Self::invalid(error.to_string())
                .hint("use a shorter path: what is deeper in the tree is listed, but cannot be read or changed"),
            PathError::Invalid { .. } => {
                Self::invalid(error.to_string()).hint("pass a path as ls, glob or grep print it")
            }
        }
    }
}

impl From<QuotaError> for ToolError {
    fn from(error: QuotaError) -> Self {
        let option = match &error {
            QuotaError::Files { .. } => "--max-files-created",
            QuotaError::Bytes { .. } => "--max-bytes-written",
            QuotaError::Root { .. } => "--max-root-size",
        };
        Self::new(Kind::Quota, error.to_string())
            .hint(format!("nothing was changed; ask the user, who can raise the limit with {option}"))
    }
}

/// The kind of what the system or the rules refuse.
fn kind_of(kind: &AccessErrorKind) -> Kind {
    use AccessErrorKind as A;
    match kind {
        A::NotFound | A::NotStored | A::RootGone(_) => Kind::NotFound,
        A::Denied | A::Secret | A::ProtectedWrite | A::IsRoot | A::Permission | A::MarkedReadOnly => Kind::Denied,
        A::ReadOnly | A::NotWritable | A::Mounted => Kind::ReadOnly,
        A::IsDirectory | A::NotADirectory | A::Special(_) | A::TooManyLinks | A::NameTooLong => Kind::InvalidInput,
        A::TooLarge { .. } | A::TooMany { .. } | A::Limit(Limit::FileSize(_)) => Kind::TooLarge,
        A::InUse | A::Changed | A::Exists | A::Stale | A::TooManyWaiting => Kind::Stale,
        A::Stopped | A::Locked => Kind::TimedOut,
        A::Limit(Limit::Space | Limit::DiskQuota) => Kind::Quota,
        A::MovedInPart | A::Limit(_) | A::Io => Kind::Internal,
    }
}

fn hint_on(kind: &AccessErrorKind) -> &'static str {
    use AccessErrorKind as A;
    match kind {
        A::NotFound => "list what is there with ls, or search by name with glob",
        A::Denied => "use a path that stays inside the workspace roots",
        A::Secret => "the rules of this server deny its content; work without it, or ask the user to allow it",
        A::ProtectedWrite => {
            "programs execute such files, or a person protects them, so they are written only if the configuration \
             allows it; ask the user to make this change"
        }
        A::ReadOnly => "write below a root with read-write rights; ls without a path lists the roots",
        A::IsDirectory => "list a directory with ls",
        A::NotADirectory => "a file cannot contain other files; check the path with ls",
        A::Special(_) => "only regular files can be read or written",
        A::TooLarge { .. } => "work with a smaller file; read and grep also take larger ones",
        A::TooMany { .. } => "work on the directories below it one by one",
        A::NotStored => "write the content again",
        A::IsRoot => "name an entry below it",
        A::Permission => "the operating system refuses it; choose another file or ask the user",
        A::MarkedReadOnly => {
            "nothing was changed; ask the user to clear the attribute (attrib -r), or write another file"
        }
        A::NotWritable => "nothing was changed; ask the user to change it or its rights, or write another file",
        A::Mounted => "nothing was changed; it is neither moved, replaced nor deleted, but its content can change",
        A::InUse => "nothing was changed; try again, or ask the user to close that program",
        A::Changed => "another program is changing it; read it again, or only append to it",
        A::Exists => "read it, then edit it or overwrite it",
        A::Stale => "read it again, then repeat the change on what is there now",
        A::Stopped => "nothing was changed; wait for the other changes there to end, or ask for less at a time",
        A::TooManyWaiting => "nothing was changed; wait until the other calls are answered, then send it again",
        A::Locked => {
            "repeat the call; if it fails again, report it to the user that a process holds a lock (flock) on that directory"
        }
        A::TooManyLinks => "its links lead in a circle; use the path of the file itself",
        A::NameTooLong => "use a shorter name",
        A::MovedInPart => "nothing is lost; ask the user to remove what is left at the old path",
        A::RootGone(RootGone::Replaced) => {
            "nothing was changed; ask the user to restart the server, which then serves the directory that is there now"
        }
        A::RootGone(RootGone::NotYet | RootGone::NoDirectory) => {
            "nothing was changed; go on without it: it can be used as soon as another program or the user makes that \
             directory, and no tool here can"
        }
        A::RootGone(RootGone::OutsideSandbox) => {
            "nothing was changed; ask the user to restart the server, which then serves that directory"
        }
        A::RootGone(RootGone::SinceStart(_)) => UNUSABLE_ROOT,
        A::RootGone(_) => "nothing was changed; ask the user to put the directory back and to restart the server",
        A::Limit(Limit::OpenFiles(_) | Limit::OpenFilesOfAll) => {
            "call again after other calls are answered; if it fails again, ask the user, who can raise the limit"
        }
        A::Limit(Limit::FileSize(_)) => "nothing was changed; write the new text to another file, or ask the user",
        A::Limit(Limit::Space | Limit::DiskQuota) => {
            "nothing was changed; ask the user, who can make room, then send it again"
        }
        A::Limit(Limit::Memory) => "ask for less at a time; if it fails again, report it to the user",
        A::Io => "try once more; if it fails again, report it to the user",
    }
}

impl From<AccessError> for ToolError {
    fn from(error: AccessError) -> Self {
        let this = Self::new(kind_of(&error.kind), error.to_string()).hint(hint_on(&error.kind));
        match error.source {
            Some(source) => this.source(source),
            None => this,
        }
    }
}

/// The hint where a directory could not be used at the start.
pub const UNUSABLE_ROOT: &str = "ask the user to put the directory back or to permit access to it, or to name another \
     one in this server's entry in the client's configuration, and to restart the server";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_own_name() {
        use Kind as K;
        let first =
            [K::InvalidInput, K::NotFound, K::Denied, K::ReadOnly, K::NotRead, K::Stale, K::NoMatch, K::Ambiguous];
        let rest = [K::TooLarge, K::Binary, K::Declined, K::TimedOut, K::Cancelled, K::Quota, K::Internal];
        for (kind, name) in first.into_iter().chain(rest).zip(Kind::NAMES) {
            assert_eq!(format!("{kind:?}").to_lowercase(), kind.as_str().replace('_', ""));
            assert_eq!(kind.as_str(), name);
        }
    }

    #[test]
    fn hint_is_within_what_a_client_shows() {
        let long = "d/".repeat(2000);
        let path = format!("{}x.rs", "d/".repeat(175));
        for hint in ["use ls".to_owned(), "read it again, ".repeat(20), format!("did you mean {path}?")] {
            let text = ToolError::new(Kind::NotFound, format!("no such file: {long}x.rs")).hint(&hint).text();
            assert!(text.starts_with("no such file: d/"), "{text}");
            let shown: String = text.chars().take(480).collect();
            assert!(shown.ends_with(&format!("/x.rs\n\nhint: {hint}")), "{text}");
        }
    }
}
