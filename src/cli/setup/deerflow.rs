//! What the server gets as arguments below DeerFlow, which starts it in the workspace of a thread.

/// The directories by the five paths that DeerFlow's model knows, with the rights of its own tools. They are relative to
/// the workspace of a thread, `.deer-flow/users/USER/threads/THREAD/user-data/workspace` below `backend`, next to which the
/// skills are. Optional, as the tools are asked for in another directory, and since DeerFlow makes some of them later.
pub(super) const DIRECTORIES: &[&str] = &[
    "--root",
    "/mnt/user-data/workspace=.:optional",
    "--root",
    "/mnt/user-data/uploads=../uploads:optional",
    "--root",
    "/mnt/user-data/outputs=../outputs:optional",
    "--root",
    "/mnt/skills=../../../../../../../../skills:ro:optional",
    "--root",
    "/mnt/acp-workspace=../../acp-workspace:ro:optional",
];

/// What the entry that reads gets where there are two, for the tool group `file:read`.
pub(super) const READING: &[&str] = &["--read-only"];

/// What the entry that writes gets where there are two, for the tool group `file:write`.
pub(super) const WRITING: &[&str] = &["--tools", "edit,write"];
