//! Paths of the host: without links, and with nothing in them that is read as anything but a name.

#![expect(clippy::disallowed_methods, reason = "once at start-up, on trusted paths, before any call is served")]

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf, Prefix};

/// `ERROR_INVALID_FUNCTION` and `ERROR_UNRECOGNIZED_VOLUME` of drives that do not say the path of an open file (`ImDisk`:
/// <https://github.com/rust-lang/rust/issues/79449>), and `ERROR_MORE_DATA` of Wine 8 for more than 260 characters.
const NOT_SAID: [i32; 3] = [1, 1005, 234];

/// The path without links, where the drive says it; else with `.` and `..` taken out.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Err(error) if error.raw_os_error().is_some_and(|code| NOT_SAID.contains(&code)) => std::path::absolute(path),
        answer => answer,
    }
}

/// The path beginning with `\\?\`.
pub(super) fn verbatim(path: &Path) -> io::Result<PathBuf> {
    let path = canonical(path)?;
    let is_drive =
        |part: Component<'_>| matches!(part, Component::Prefix(prefix) if matches!(prefix.kind(), Prefix::Disk(_)));
    if !path.components().next().is_some_and(is_drive) {
        return Ok(path);
    }
    let mut verbatim = OsString::from(r"\\?\");
    verbatim.push(path.components().as_path());
    Ok(verbatim.into())
}
