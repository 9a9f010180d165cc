//! The watcher of systems where none is known that reports every change before the call that made it returns.
//! `FSEvents` (macOS) and `ReadDirectoryChangesW` (Windows) report later, and may merge or drop events.
//!
//! Every attempt to watch says so; lists are then made by walking.

use std::{convert::Infallible, fs::File};

use beneath::Dir;

use super::{Event, MountsBelow, OpenPath, Unwatchable};

#[derive(Debug)]
pub(crate) struct SystemEvents;

#[expect(clippy::unused_self, reason = "the same signatures as on Linux")]
impl SystemEvents {
    pub(crate) fn open() -> Self {
        Self
    }

    pub(super) fn generation(&self) -> Option<u64> {
        None
    }

    pub(super) fn below(&self, _: &Dir) -> Option<MountsBelow> {
        None
    }

    pub(super) fn has_aio(&self) -> bool {
        false
    }
}

#[derive(Debug)]
pub(super) struct Queue(Infallible);

impl Queue {
    pub(super) fn new() -> Result<Self, Unwatchable> {
        Err(Unwatchable::Platform)
    }

    pub(super) fn watch(&self, _: &Dir, _: bool) -> Result<Option<i32>, Unwatchable> {
        match self.0 {}
    }

    pub(super) fn watch_file(&self, _: &File) -> Result<Option<i32>, Unwatchable> {
        match self.0 {}
    }

    pub(super) fn watch_for_hints(&self, _: &OpenPath<'_>) -> Result<(i32, bool), Unwatchable> {
        match self.0 {}
    }

    pub(super) fn forget(&self, _: i32) {
        match self.0 {}
    }

    pub(super) fn read(&self, _: usize, _: &mut dyn FnMut(&Event<'_>)) -> Result<bool, Unwatchable> {
        match self.0 {}
    }
}

pub fn watch_limit() -> Option<u64> {
    None
}
