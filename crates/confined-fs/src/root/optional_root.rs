//! A root that may be missing: where it would be, why it is not there, and what the kernel's sandbox allows on the way
//! to it.
//!
//! Landlock rules name directories that exist, so the rule for such a root is on the nearest existing directory above it,
//! with the rights of that root and no others. That makes the second barrier wider by what else is below that directory;
//! the first one (`root_dir`) is as exact as for any root. No rule is made above a home directory or for the whole file
//! system: a root there is served once the program is started again.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use beneath::Failure;
use beneath::lexical::{lexically_normal, without_verbatim};

use super::root_dir::RootDir;
use crate::limits::error_text;

/// Why a root is not served now. Its text is the end of a sentence about the root.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RootGone {
    #[error("was deleted after the server started")]
    Deleted,
    #[error("was moved away or renamed after the server started")]
    Moved,
    /// Another directory is in its place: made or moved there, mounted over it, or a link on the way
    /// leads there now.
    #[error("was replaced after the server started: another directory, or a mounted file system, is in its place")]
    Replaced,
    #[error("does not exist yet")]
    NotYet,
    /// It may be missing, and something else than a directory is at its path: a link, which is never followed there, or
    /// a file.
    #[error("does not exist yet: a link or a file is in its place, which is not opened")]
    NoDirectory,
    /// It may be missing, is there now, and the sandbox that was set up at the start does not reach it.
    #[error("was made after the server started, whose sandbox does not reach it")]
    OutsideSandbox,
    /// It could not be used at the start, and is not looked at again.
    #[error("{0}")]
    SinceStart(Arc<str>),
}

impl RootGone {
    pub(super) fn since_start(error: &io::Error) -> Self {
        let why = match error.kind() {
            io::ErrorKind::NotFound => "did not exist when the server started".to_owned(),
            io::ErrorKind::NotADirectory => "was no directory when the server started".to_owned(),
            _ => format!("could not be read when the server started ({})", error_text(error)),
        };
        Self::SinceStart(why.into())
    }
}

#[derive(Debug)]
pub(crate) struct OptionalRoot {
    /// The directory that the sandbox allows: the nearest existing one above it, or where that is too wide the one that
    /// was there at the start.
    pub(crate) rule: Option<beneath::Dir>,
    pub(crate) rule_above: Option<PathBuf>,
    /// The directory that was there at the start, where the rule is on that alone.
    only: Option<(u64, u64)>,
    sandboxed: AtomicBool,
    noticed: AtomicBool,
}

pub(crate) struct NearestDirectory {
    pub(crate) canonical: PathBuf,
    pub(crate) above: PathBuf,
}

#[expect(clippy::disallowed_methods, reason = "once at start-up, on trusted paths, before any call is served")]
pub(crate) fn nearest(path: &Path) -> io::Result<NearestDirectory> {
    let path = std::path::absolute(path)?;
    let mut canonical = path.canonicalize().unwrap_or_else(|_| {
        // Links that exist are followed; a link to nothing keeps its name, and is refused when it is opened.
        let existing = path.ancestors().skip(1).find_map(|part| Some((part, part.canonicalize().ok()?)));
        existing
            .map_or_else(|| path.clone(), |(part, real)| real.join(path.strip_prefix(part).unwrap_or(Path::new(""))))
    });
    // Below what exists nothing is a link, so `..` is resolved by its text.
    if canonical.components().any(|part| part == Component::ParentDir) {
        canonical = lexically_normal(&canonical);
    }
    let canonical = without_verbatim(canonical);
    let above = canonical.ancestors().skip(1).find(|above| above.is_dir());
    let above = above.ok_or(io::ErrorKind::NotFound)?.to_owned();
    Ok(NearestDirectory { canonical, above })
}

/// The home directory as it is named, and by its path without links.
#[expect(clippy::disallowed_methods, reason = "once at start-up, on a trusted path, before any call is served")]
pub(crate) fn homes() -> Vec<PathBuf> {
    let Some(home) = std::env::home_dir().filter(|home| home.is_absolute()) else { return Vec::new() };
    let real = home.canonicalize().map(without_verbatim);
    let mut homes: Vec<PathBuf> = std::iter::once(home).chain(real).collect();
    homes.dedup();
    homes
}

impl OptionalRoot {
    /// `above` is a handle of `nearest.above`; `now` is the directory itself, where it exists.
    pub(crate) fn new(
        nearest: &NearestDirectory,
        above: beneath::Dir,
        now: Option<beneath::Dir>,
        homes: &[PathBuf],
    ) -> Self {
        let is_too_wide = nearest.above.parent().is_none() || homes.iter().any(|home| home.starts_with(&nearest.above));
        let (rule, rule_above, only) = if is_too_wide {
            let only = now.as_ref().and_then(|now| Some(now.stat().ok()?.device_and_inode()));
            (now, None, only)
        } else {
            (Some(above), Some(nearest.above.clone()), None)
        };
        Self { rule, rule_above, only, sandboxed: AtomicBool::new(false), noticed: AtomicBool::new(false) }
    }

    /// The sandbox is in force from now on.
    pub(crate) fn sandboxed(&self) {
        self.sandboxed.store(true, Ordering::Relaxed);
    }

    /// Whether the rules that are found in the directory are still to be read.
    pub(crate) fn is_unnoticed(&self) -> bool {
        !self.noticed.load(Ordering::Acquire)
    }

    pub(crate) fn noticed(&self) {
        // Release: a thread that sees this sees the rules, which were set before.
        self.noticed.store(true, Ordering::Release);
    }

    pub(crate) fn absence(&self, dir: &RootDir) -> Option<RootGone> {
        match dir.stat_beneath(Path::new("")) {
            Ok(now) => {
                let is_outside = self.rule_above.is_none() && self.only != Some(now.device_and_inode());
                (is_outside && self.sandboxed.load(Ordering::Relaxed)).then_some(RootGone::OutsideSandbox)
            }
            Err(Failure::Link) => Some(RootGone::NoDirectory),
            Err(Failure::Io(error)) => match error.kind() {
                io::ErrorKind::NotFound => Some(RootGone::NotYet),
                io::ErrorKind::NotADirectory => Some(RootGone::NoDirectory),
                // Another error, such as `EACCES`, says nothing of absence: the call reports it.
                _ => None,
            },
        }
    }
}
