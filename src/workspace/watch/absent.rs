//! Where no watcher is known to tell of every change before the call that made it returns.
//!
//! Every attempt to watch says so; lists are then made by walking.

use std::convert::Infallible;
use std::ffi::OsStr;

use super::Unwatchable;
use crate::workspace::sys::Dir;

/// As on Linux; never made here.
#[derive(Debug)]
pub(super) struct Event<'a> {
    pub(super) watch: i32,
    pub(super) name: Option<&'a OsStr>,
    pub(super) directory: bool,
    pub(super) names: bool,
    pub(super) lost: bool,
    pub(super) ended: bool,
}

/// Cannot be made.
#[derive(Debug)]
pub(super) struct Queue(Infallible);

impl Queue {
    pub(super) fn new() -> Result<Self, Unwatchable> {
        Err(Unwatchable::Platform)
    }

    pub(super) fn watch(&self, _: &Dir, _: bool) -> Result<Option<i32>, Unwatchable> {
        match self.0 {}
    }

    pub(super) fn forget(&self, _: i32) {
        match self.0 {}
    }

    pub(super) fn read(&self, _: &mut dyn FnMut(&Event<'_>)) -> Result<(), Unwatchable> {
        match self.0 {}
    }
}
