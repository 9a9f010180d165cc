//! What macOS has for profiles, and the paths that they need.

use std::fs::File;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// Part of every macOS, on the volume that no process can write to.
pub(super) const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";
/// The system's rules for its dynamic linker, imported by its own profiles.
pub(super) const DYLD_SUPPORT: &str = "/System/Library/Sandbox/Profiles/dyld-support.sb";

/// The real path of a file that may be missing: that of the nearest directory above it, and the rest as it is.
#[expect(clippy::disallowed_methods, reason = "once at start-up, on trusted paths, before any call is served")]
pub(super) fn real(path: &Path) -> Result<PathBuf, String> {
    let path = std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()))?;
    for above in path.ancestors() {
        let Ok(found) = above.canonicalize() else { continue };
        // With the letters' case that the disk has, where the file system ignores it (F_GETPATH).
        let known = File::open(&found).ok().and_then(|file| rustix::fs::getpath(file).ok());
        let found = known.map_or(found, |path| PathBuf::from(std::ffi::OsString::from_vec(path.into_bytes())));
        let rest = path.strip_prefix(above).map_err(|error| error.to_string())?;
        return Ok(found.join(rest).components().collect());
    }
    Err(format!("{} has no real path", path.display()))
}
