//! Globs as people write them on Windows: `src\**\*.rs`.

use std::borrow::Cow;
use std::path::is_separator;

/// A glob from a caller with `/` between names.
///
/// Where `\` separates names, every `\` does, and none escapes the next character: nobody there writes `\*` for a star,
/// since no name can hold one, and a bracket or brace is taken by its letter in a class (`[[]`). Elsewhere `\` escapes.
///
/// ```
/// use text_file::with_slashes;
///
/// let expected = if cfg!(windows) { "src/**/*.rs" } else { r"src\**\*.rs" };
/// assert_eq!(with_slashes(r"src\**\*.rs"), expected);
/// ```
pub fn with_slashes(glob: &str) -> Cow<'_, str> {
    if is_separator('\\') && glob.contains('\\') { Cow::Owned(glob.replace('\\', "/")) } else { Cow::Borrowed(glob) }
}

/// What an answer without results says of a glob that may have been meant for Windows.
pub fn backslash_note(glob: &str) -> Option<String> {
    let escapes = !is_separator('\\') && glob.contains('\\');
    escapes.then(|| r"(`\` is an escape here; write / between directories)".to_owned())
}
