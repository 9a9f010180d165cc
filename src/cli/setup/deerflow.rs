//! What the server gets as arguments below DeerFlow, which starts it in the workspace of a thread.

/// The directories by the paths that DeerFlow's model knows.
pub(super) const DIRECTORIES: &[&str] = &["--root", "/mnt/user-data/workspace=."];

/// What the entry that reads gets where there are two, for the tool group `file:read`.
pub(super) const READING: &[&str] = &["--read-only"];

/// What the entry that writes gets where there are two, for the tool group `file:write`.
pub(super) const WRITING: &[&str] = &["--tools", "edit,write"];
