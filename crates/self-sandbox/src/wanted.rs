//! What is asked of the sandbox: how much of it, and which directories the process may use.

use std::path::Path;

/// Whether to install the sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confine {
    /// As much of it as this system has.
    #[default]
    Auto,
    /// All of it, or an error.
    Required,
    /// None of it.
    Off,
}

/// A directory that the process may use, by its handle.
#[derive(Clone, Copy, Debug)]
pub struct GrantedDirectory<'d> {
    /// It, or the one above where it may come later.
    pub dir: &'d beneath::Dir,
    /// Whether what is in it may be changed.
    pub may_write: bool,
}

/// A directory that the process may use, by its path.
#[derive(Clone, Copy, Debug)]
pub struct GrantedPath<'p> {
    /// Where it is.
    pub path: &'p Path,
    /// Whether what is in it may be changed.
    pub may_write: bool,
    /// Whether it may be missing: then it is looked for name by name, from what exists above it.
    pub may_be_missing: bool,
}
