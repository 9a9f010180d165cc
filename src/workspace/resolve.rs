//! Resolves text from a caller to a [`WorkspacePath`], or refuses it.
//!
//! Compares whole components: a root `/a/root` does not hold `/a/root-evil`, as it does for servers that compare a
//! prefix of the text (CVE-2025-53110). Outside the roots the answer is the same whether or not a file is there.
//!
//! Limits: decides by the text alone and looks at the disk in one case only, whether a name begins with `@`. Where a
//! path leads is known once it is opened; see `links` and `sys/beneath`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use percent_encoding::percent_decode_str;

use super::escape::unescape_name;
use super::lexical::{lexically_below, lexically_normal};
use super::{PathError, Root, Roots, WorkspacePath};

/// Longest path below a root, in bytes: Linux's `PATH_MAX`.
const LONGEST: usize = 4096;
/// Longest text that is read as a path, in bytes: every printed path must resolve, and an escape has six bytes for one
/// (`\u{1f}`), with a mount name before the path.
const LONGEST_TEXT: usize = 8 * LONGEST;

/// What `text` means. `is_there` says whether a path exists.
pub(super) fn resolve(
    roots: &Roots,
    text: &str,
    is_there: impl Fn(&WorkspacePath) -> bool,
) -> Result<WorkspacePath, PathError> {
    check_text(text)?;
    let path = match (text.strip_prefix('@'), interpret(roots, text)) {
        // Clients write `@file` for a mention of `file`; a file may also be called that.
        (Some(mention), literal) if !literal.as_ref().is_ok_and(is_there) => interpret(roots, mention),
        (_, literal) => literal,
    };
    check_length(path.map_err(|refusal| refusal.of(text))?, text)
}

impl WorkspacePath {
    /// A path below this one, by the same rules as a path from a caller: nothing absolute, nothing that
    /// leaves its root.
    pub fn join(&self, text: &str) -> Result<Self, PathError> {
        check_text(text)?;
        if is_absolute(text) {
            return Err(Refusal::Denied.of(text));
        }
        let start = self.relative().iter().map(OsStr::to_os_string).collect();
        check_length(descend(self.root(), start, text).map_err(|refusal| refusal.of(text))?, text)
    }
}

/// Why a text is no path.
enum Refusal {
    Denied,
    Invalid(&'static str),
}

impl Refusal {
    fn of(self, given: &str) -> PathError {
        let given = given.to_owned();
        match self {
            Self::Denied => PathError::Denied { given },
            Self::Invalid(reason) => PathError::Invalid { given, reason },
        }
    }
}

/// A NUL ends a path where the system reads it: `a\0b` would be checked as one name and opened as `a`.
const NUL: &str = "it contains a NUL character";

fn check_text(text: &str) -> Result<(), PathError> {
    if text.contains('\0') {
        return Err(Refusal::Invalid(NUL).of(text));
    }
    if text.len() > LONGEST_TEXT { Err(too_long(text)) } else { Ok(()) }
}

fn check_length(path: WorkspacePath, given: &str) -> Result<WorkspacePath, PathError> {
    if path.relative().as_os_str().len() > LONGEST { Err(too_long(given)) } else { Ok(path) }
}

fn too_long(given: &str) -> PathError {
    PathError::TooLong { given: given.to_owned(), limit: LONGEST }
}

fn interpret(roots: &Roots, text: &str) -> Result<WorkspacePath, Refusal> {
    if let Some(uri) = strip_scheme(text) {
        return from_uri(roots, uri);
    }
    if let Some(rest) = strip_part(text, "~") {
        let home = home_dir().ok_or(Refusal::Denied)?;
        return from_host(roots, &home.join(rest.trim_start_matches(is_separator)));
    }
    if is_absolute(text) {
        // Dots first: what counts is where they lead, even through the name of the root itself.
        let normal = lexically_normal(Path::new(text));
        if let Some((root, rest)) = normal.to_str().and_then(|text| mounted(roots, text)) {
            return descend(root, Vec::new(), rest);
        }
        return from_host(roots, &normal);
    }
    if let Some((root, rest)) = mounted(roots, text) {
        return descend(root, Vec::new(), rest);
    }
    let first = roots.list().first().ok_or(Refusal::Denied)?;
    descend(first, Vec::new(), text)
}

/// The rest of a text that begins with a root's mount name, component by component. With one
/// relative name `x`, `./x` still means the entry called `x`.
fn mounted<'r, 't>(roots: &'r Roots, text: &'t str) -> Option<(&'r Arc<Root>, &'t str)> {
    roots.list().iter().find_map(|root| Some((root, strip_name(text, root.name()?)?)))
}

fn strip_name<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut rest = text;
    if let Some(virtual_path) = name.strip_prefix('/') {
        rest = rest.strip_prefix(is_separator)?;
        for part in virtual_path.split('/') {
            rest = strip_part(rest.trim_start_matches(is_separator), part)?;
        }
        return Some(rest);
    }
    for part in name.split('/') {
        rest = strip_part(rest, part)?;
        rest = rest.trim_start_matches(is_separator);
    }
    Some(rest)
}

fn strip_part<'t>(text: &'t str, part: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(part)?;
    (rest.is_empty() || rest.starts_with(is_separator)).then_some(rest)
}

/// Applies the components of `text` below `root`, starting at `names`.
fn descend(root: &Arc<Root>, mut names: Vec<OsString>, text: &str) -> Result<WorkspacePath, Refusal> {
    for part in text.split(is_separator) {
        match part {
            "" | "." => {}
            ".." => {
                names.pop().ok_or(Refusal::Denied)?;
            }
            _ => {
                let name = unescape_name(part).filter(|name| is_name(name));
                names.push(name.ok_or(Refusal::Invalid("a name in it cannot be a file name"))?);
            }
        }
    }
    Ok(WorkspacePath::new(root, &names.into_iter().collect::<PathBuf>()))
}

/// A host path under a root, by its text.
fn from_host(roots: &Roots, host: &Path) -> Result<WorkspacePath, Refusal> {
    let normal = lexically_normal(host);
    let found = roots.containing(&normal, true).ok_or(Refusal::Denied)?;
    if found.relative().iter().all(is_name) { Ok(found) } else { Err(Refusal::Denied) }
}

/// `file:///path` or `file://localhost/path` (RFC 8089), percent-decoded. Plain paths are not: a file may be called
/// `a%20b`. On Windows `file://server/share/path` is a share (RFC 8089, appendix E.3).
fn from_uri(roots: &Roots, uri: &str) -> Result<WorkspacePath, Refusal> {
    let at = uri.find('/').ok_or(Refusal::Denied)?;
    let (host, path) = uri.split_at(at);
    let is_local = host.is_empty() || host.eq_ignore_ascii_case("localhost");
    if !is_local && !cfg!(windows) {
        return Err(Refusal::Denied);
    }
    let mut bytes: Vec<u8> = percent_decode_str(path).collect();
    if bytes.contains(&0) {
        return Err(Refusal::Invalid(NUL));
    }
    if !is_local {
        bytes.splice(0..0, format!("//{host}").into_bytes());
    }
    // A root with a virtual absolute name is addressed by that name in URIs, too.
    let normal = std::str::from_utf8(&bytes).ok().map(|text| lexically_normal(Path::new(text)));
    if let Some((root, rest)) = normal.as_deref().and_then(Path::to_str).and_then(|text| mounted(roots, text)) {
        let names: PathBuf = rest.split(is_separator).collect();
        let below_root = lexically_below(&names).filter(|path| path.iter().all(is_name)).ok_or(Refusal::Denied)?;
        return Ok(WorkspacePath::new(root, &below_root));
    }
    from_host(roots, &lexically_normal(&host_path(bytes)?))
}

fn strip_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_at_checked(7)?;
    scheme.eq_ignore_ascii_case("file://").then_some(rest)
}

fn home_dir() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| home.is_absolute())
}

fn is_separator(character: char) -> bool {
    std::path::is_separator(character)
}

fn is_absolute(text: &str) -> bool {
    text.starts_with(is_separator) || Path::new(text).is_absolute()
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "the same signature as elsewhere")]
fn host_path(bytes: Vec<u8>) -> Result<PathBuf, Refusal> {
    use std::os::unix::ffi::OsStringExt as _;
    Ok(OsString::from_vec(bytes).into())
}

/// `/C:/x` is how a URI writes `C:/x`; `//server/share` is a share.
#[cfg(not(unix))]
fn host_path(bytes: Vec<u8>) -> Result<PathBuf, Refusal> {
    let text = String::from_utf8(bytes).map_err(|_| Refusal::Denied)?;
    let text = if text.starts_with("//") { &text } else { text.trim_start_matches('/') };
    Ok(text.replace('/', "\\").into())
}

/// Whether the system takes a component for a plain name of one entry.
#[cfg(unix)]
fn is_name(_name: impl AsRef<OsStr>) -> bool {
    true
}

/// Windows reads more into a name than a name: streams (`a:b`), devices (`CON`, `COM¹`), short names (`PROGRA~1`), and it
/// drops trailing dots and spaces, so that two texts mean one file. See "Naming Files, Paths, and Namespaces" at
/// <https://learn.microsoft.com/windows/win32/fileio/naming-a-file>.
#[cfg(not(unix))]
fn is_name(name: impl AsRef<OsStr>) -> bool {
    let Some(name) = name.as_ref().to_str() else {
        return false;
    };
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_ascii_uppercase();
    let device = matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$")
        || ["COM", "LPT"].iter().any(|port| {
            stem.strip_prefix(port).is_some_and(|rest| {
                let mut rest = rest.chars();
                matches!(rest.next(), Some('0'..='9' | '¹' | '²' | '³')) && rest.next().is_none()
            })
        });
    let short = name.split_once('~').is_some_and(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_digit()));
    let odd = name.chars().any(|c| c.is_control() || "<>:\"|?*".contains(c));
    !(device || short || odd || name.ends_with(['.', ' ']))
}
