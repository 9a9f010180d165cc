//! Resolves text from a caller to a [`WorkspacePath`], or refuses it; or takes it for the last names of one.
//!
//! Compares whole components: a root `/a/root` does not hold `/a/root-evil`, as it does for servers that compare a
//! prefix of the text (CVE-2025-53110). Outside the roots the answer is the same whether or not a file is there.
//!
//! Limits: decides by the text alone, and looks at the disk only where a text can be read in two ways: whether a name
//! has the signs of a mention in it, whether a URI is one of the host. Where a path leads is known once it is opened; see
//! `links` and `sys/beneath`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf, is_separator};
use std::sync::Arc;

use beneath::lexical::{is_same_name, lexically_normal, strip_base};
use percent_encoding::percent_decode_str;
use text_file::look_alike::look_alike;

use crate::error::{AccessErrorKind, PathError};
use crate::{path::WorkspacePath, policy::Policy, root::Root, roots::Roots, shared::Workspace};
use text_file::escape::{name_of, unescape_name};

/// Longest path below a root, in bytes: Linux's `PATH_MAX`.
const MAX_PATH_BYTES: usize = 4096;
/// Longest text that is read as a path, in bytes: every printed path must resolve, and an escape has six bytes for one
/// (`\u{1f}`), with a mount name before the path.
const LONGEST_TEXT: usize = 8 * MAX_PATH_BYTES;

pub(crate) fn resolve(
    roots: &Roots,
    text: &str,
    is_there: impl Fn(&WorkspacePath) -> bool,
) -> Result<WorkspacePath, PathError> {
    check_text(text)?;
    let path = interpret_spoken(roots, text, &is_there).map_err(|refusal| refusal.below(roots, text))?;
    check_length(path, text)
}

/// As [`interpret`], of a text that may have the signs of a mention: a file that has them in its name comes first.
fn interpret_spoken(
    roots: &Roots,
    text: &str,
    is_there: impl Fn(&WorkspacePath) -> bool,
) -> Result<WorkspacePath, Refusal> {
    let spellings = strip_mention(text);
    let (last, longer) = spellings.split_last().ok_or(Refusal::Denied)?;
    let found = |text: &str| interpret(roots, text, &is_there).ok().filter(&is_there);
    if let Some(path) = longer.iter().find_map(|text| found(text)) {
        return Ok(path);
    }
    let path = interpret(roots, last, &is_there);
    if let Some(plain) = without_shell_escapes(last)
        && !path.as_ref().is_ok_and(&is_there)
        && let Some(path) = found(&plain)
    {
        return Ok(path);
    }
    // A shell makes another home directory of it, which is outside; here it may be a name.
    if names_home_of_user(last) && !path.as_ref().is_ok_and(&is_there) { Err(Refusal::Denied) } else { path }
}

fn relative_names(roots: &Roots, text: &str) -> Option<Vec<OsString>> {
    let says_where = strip_scheme(text).is_some()
        || text.starts_with('~')
        || is_absolute(text)
        || mounted(roots, text).is_some()
        || text.split(is_separator).any(|part| matches!(part, "." | ".."));
    if says_where || check_text(text).is_err() {
        return None;
    }
    let parts = text.split(is_separator).filter(|part| !part.is_empty());
    let names: Vec<OsString> =
        parts.map(|part| unescape_name(part).filter(|name| is_name(name))).collect::<Option<_>>()?;
    (!names.is_empty()).then_some(names)
}

pub(crate) fn resolve_uri(
    roots: &Roots,
    uri: &str,
    is_there: impl Fn(&WorkspacePath) -> bool,
) -> Result<WorkspacePath, PathError> {
    check_text(uri)?;
    let path = strip_scheme(uri).ok_or_else(|| Refusal::Invalid("it is no file:// URI").of(uri))?;
    check_length(from_uri(roots, path, is_there).map_err(|refusal| refusal.below(roots, uri))?, uri)
}

/// Where the roots have the path that `text` names in another checkout of their repository, as those were at the start.
/// Nothing is looked at outside: the answer is the same whether or not a file is there.
fn in_other_checkout(roots: &Roots, text: &str) -> Option<WorkspacePath> {
    let text = *strip_mention(text).last()?;
    let host = match (strip_scheme(text), strip_part(text, "~")) {
        (Some(uri), _) => host_path(UriPath::of(uri).ok().filter(|uri| uri.machine.is_none())?.bytes)?,
        (None, Some(rest)) => home_dir()?.join(rest.trim_start_matches(is_separator)),
        (None, None) => text.into(),
    };
    roots.list().iter().find_map(|root| {
        let (found, host) = (root.checkouts.get()?, lexically_normal(&root.canonical.join(&host)));
        let tops = found.others.iter().chain([&found.top]).filter_map(|top| Some((top, strip_base(&host, top)?)));
        let (top, rest) = tops.min_by_key(|(_, rest)| rest.components().count())?;
        let is_git = rest.iter().next().is_some_and(|name| Policy::is_one_of(name, &[".git"]));
        let here = from_host(roots, &found.top.join(rest)).ok().filter(|_| !is_git && *top != found.top)?;
        check_length(here, text).ok()
    })
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

enum Refusal {
    Denied,
    Invalid(&'static str),
}

impl Refusal {
    fn of(self, given: &str) -> PathError {
        let given = given.to_owned();
        match self {
            Self::Denied => PathError::Denied { given, here: None },
            Self::Invalid(reason) => PathError::Invalid { given, reason },
        }
    }

    /// As [`Self::of`], of a text that may be a path of the host.
    fn below(self, roots: &Roots, given: &str) -> PathError {
        match self {
            Self::Denied => PathError::Denied { given: given.to_owned(), here: in_other_checkout(roots, given) },
            Self::Invalid(_) => self.of(given),
        }
    }
}

/// A NUL ends a path where the system reads it: `a\0b` would be checked as one name and opened as `a`.
const NUL_REASON: &str = "it contains a NUL character";

fn check_text(text: &str) -> Result<(), PathError> {
    if text.contains('\0') {
        return Err(Refusal::Invalid(NUL_REASON).of(text));
    }
    if text.len() > LONGEST_TEXT { Err(too_long(text)) } else { Ok(()) }
}

fn check_length(path: WorkspacePath, given: &str) -> Result<WorkspacePath, PathError> {
    if path.relative().as_os_str().len() > MAX_PATH_BYTES { Err(too_long(given)) } else { Ok(path) }
}

fn too_long(given: &str) -> PathError {
    PathError::TooLong { given: given.to_owned(), limit: MAX_PATH_BYTES }
}

fn interpret(roots: &Roots, text: &str, is_there: impl Fn(&WorkspacePath) -> bool) -> Result<WorkspacePath, Refusal> {
    if let Some(uri) = strip_scheme(text) {
        return from_uri(roots, uri, is_there);
    }
    if let Some(rest) = strip_part(text, "~") {
        let home = home_dir().ok_or(Refusal::Denied)?;
        // `join` with an absolute path would drop the home directory.
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
    let (mut rest, name) = match name.strip_prefix('/') {
        Some(below) => (text.strip_prefix(is_separator)?.trim_start_matches(is_separator), below),
        None => (text, name),
    };
    for part in name.split('/') {
        rest = strip_part(rest, part)?.trim_start_matches(is_separator);
    }
    Some(rest)
}

fn strip_part<'t>(text: &'t str, part: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(part)?;
    (rest.is_empty() || rest.starts_with(is_separator)).then_some(rest)
}

/// Applies the components of `text` below `root`, starting at `below`. `../name` leaves it and comes back, if that is what
/// the root is called.
fn descend(root: &Arc<Root>, below: Vec<OsString>, text: &str) -> Result<WorkspacePath, Refusal> {
    let own: Vec<OsString> = root.name().map_or(root.host(), Path::new).iter().map(OsStr::to_os_string).collect();
    let mut names = [own.clone(), below].concat();
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
    let below = names.strip_prefix(own.as_slice()).ok_or(Refusal::Denied)?;
    Ok(WorkspacePath::new(root, &below.iter().collect::<PathBuf>()))
}

/// A host path under a root, by its text.
fn from_host(roots: &Roots, host: &Path) -> Result<WorkspacePath, Refusal> {
    let normal = lexically_normal(host);
    let found = roots.containing(&normal, true).ok_or(Refusal::Denied)?;
    if found.relative().iter().all(is_name) { Ok(found) } else { Err(Refusal::Denied) }
}

/// `file:///path` or `file://localhost/path` (RFC 8089), percent-decoded. Plain paths are not: a file may be called
/// `a%20b`. On Windows `file://server/share/path` is a share (RFC 8089, appendix E.3).
///
/// The path is the one that `WorkspacePath::resource_uri` prints, or a host path. Where roots have names no text can be
/// both. Below a single root without a name, a host path under the root is one unless the printed path is there, and any
/// other text is a printed path if its first name is there: `file:///etc/passwd` is denied, as `/etc/passwd` is.
fn from_uri(roots: &Roots, uri: &str, is_there: impl Fn(&WorkspacePath) -> bool) -> Result<WorkspacePath, Refusal> {
    let uri = UriPath::of(uri)?;
    let printed = uri.machine.is_none().then(|| printed_path(roots, &uri.bytes)).flatten();
    let Some(printed) = printed else { return uri.on_host(roots) };
    if printed.root().name().is_some() {
        return Ok(uri.literal(roots).filter(|literal| !is_there(&printed) && is_there(literal)).unwrap_or(printed));
    }
    if let Some(found) = [Some(&printed), uri.literal(roots).as_ref()].into_iter().flatten().find(|path| is_there(path))
    {
        return Ok(found.clone());
    }
    let host = uri.on_host(roots);
    let first = printed.relative().iter().next().map(|name| WorkspacePath::new(printed.root(), Path::new(name)));
    if host.is_err() && first.is_some_and(|first| is_there(&first)) { Ok(printed) } else { host }
}

struct UriPath<'t> {
    text: &'t str,
    /// The same, percent-decoded: any bytes but NUL.
    bytes: Vec<u8>,
    machine: Option<&'t str>,
}

impl<'t> UriPath<'t> {
    fn of(uri: &'t str) -> Result<Self, Refusal> {
        let at = uri.find('/').ok_or(Refusal::Denied)?;
        let (host, text) = uri.split_at(at);
        let is_local = host.is_empty() || host.eq_ignore_ascii_case("localhost");
        if !is_local && !cfg!(windows) {
            return Err(Refusal::Denied);
        }
        let bytes: Vec<u8> = percent_decode_str(text).collect();
        if bytes.contains(&0) {
            return Err(Refusal::Invalid(NUL_REASON));
        }
        Ok(Self { text, bytes, machine: (!is_local).then_some(host) })
    }

    /// The same without percent-decoding: clients that put a name into a template as it is (RFC 6570, section 3.2.3:
    /// reserved expansion keeps `%25`) write `a%25b` for a file of that name.
    fn literal(&self, roots: &Roots) -> Option<WorkspacePath> {
        let is_other = self.machine.is_none() && self.text.as_bytes() != self.bytes;
        is_other.then(|| printed_path(roots, self.text.as_bytes())).flatten()
    }

    fn on_host(mut self, roots: &Roots) -> Result<WorkspacePath, Refusal> {
        if let Some(machine) = self.machine {
            self.bytes.splice(0..0, format!("//{machine}").into_bytes());
        }
        from_host(roots, &lexically_normal(&host_path(self.bytes).ok_or(Refusal::Denied)?))
    }
}

/// The root whose name `path` begins with, and the path below it. Dots first, as in an absolute path.
fn printed_path(roots: &Roots, path: &[u8]) -> Option<WorkspacePath> {
    let mut names: Vec<&[u8]> = Vec::new();
    for name in path.split(|byte| is_separator(char::from(*byte))) {
        match name {
            b"" | b"." => {}
            b".." => {
                names.pop()?;
            }
            _ => names.push(name),
        }
    }
    roots.list().iter().find_map(|root| {
        let mount = root.name().unwrap_or_default().split('/').filter(|name| !name.is_empty());
        let mut rest = names.iter();
        mount.into_iter().all(|name| rest.next().is_some_and(|own| *own == name.as_bytes())).then_some(())?;
        let below: PathBuf =
            rest.map(|name| name_of(name.to_vec()).filter(|name| is_name(name))).collect::<Option<_>>()?;
        Some(WorkspacePath::new(root, &below))
    })
}

fn strip_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_at_checked(7)?;
    scheme.eq_ignore_ascii_case("file://").then_some(rest)
}

fn home_dir() -> Option<PathBuf> {
    // A relative `HOME` would count from the directory of the process.
    std::env::home_dir().filter(|home| home.is_absolute())
}

fn is_absolute(text: &str) -> bool {
    // To `Path` on Windows, what has a root and no drive is relative.
    text.starts_with(is_separator) || Path::new(text).is_absolute()
}

/// `/C:/x` is how a URI of Windows writes `C:/x`; `//server/share` is a share.
fn host_path(bytes: Vec<u8>) -> Option<PathBuf> {
    let path = name_of(bytes)?;
    if cfg!(unix) {
        return Some(path.into());
    }
    let text = path.to_str()?;
    let text = if text.starts_with("//") { text } else { text.trim_start_matches('/') };
    Some(text.replace('/', "\\").into())
}

/// Whether the system takes a component for a plain name of one entry.
///
/// Windows reads more into a name than a name: streams (`a:b`), devices (`CON`, `COM¹`), short names (`PROGRA~1`), and it
/// drops trailing dots and spaces, so that two texts mean one file. See "Naming Files, Paths, and Namespaces" at
/// <https://learn.microsoft.com/windows/win32/fileio/naming-a-file>.
fn is_name(name: impl AsRef<OsStr>) -> bool {
    if cfg!(unix) {
        return true;
    }
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

/// Most signs of a mention that are stripped off one text.
const MAX_SIGNS: usize = 5;

/// The text, and what is left of it when one sign after the other is stripped off, the longest first: what people and clients
/// put around a path in a conversation, such as `@` or `#file:` before it, quotes around it, backslashes before its spaces.
///
/// Claude Code writes `@"my file.txt"`, Gemini CLI `@my\ file.txt`, VS Code `#file:a.ts`. Each of these may as well be a
/// part of a name, so a caller that strips them asks first whether there is a file of the longer name.
pub fn strip_mention(text: &str) -> Vec<&str> {
    let mut all = vec![text];
    while let Some(rest) = all.last().and_then(|text| peel(text)).filter(|_| all.len() <= MAX_SIGNS) {
        all.push(rest);
        // `file://` is a URI, and resolved as one.
        if let Some(path) = rest.strip_prefix("file:").filter(|path| !path.starts_with("//")) {
            all.push(path);
        }
    }
    all
}

/// The text without its outermost sign; `None` if it has none.
pub(crate) fn peel(text: &str) -> Option<&str> {
    let quoted = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote).filter(|inner| !inner.is_empty());
    text.strip_prefix('@')
        .or_else(|| text.strip_prefix("#file:"))
        .or_else(|| ['"', '\'', '`'].into_iter().find_map(quoted))
}

/// Whether a person or a client mentions a file that exists: it has an `@` or `#file:`.
fn is_mention(text: &str) -> bool {
    strip_mention(text).iter().any(|text| text.starts_with('@') || text.starts_with("#file:"))
}

/// The text without the backslashes that a shell needs before spaces and its own signs; `None` if it has none.
fn without_shell_escapes(text: &str) -> Option<String> {
    if is_separator('\\') || !text.contains('\\') {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letters.next_if(|next| letter == '\\' && " \t()[]{};&|*?$'\"`#!~<>,".contains(*next)) {
            Some(escaped) => out.push(escaped),
            None => out.push(letter),
        }
    }
    (out != text).then_some(out)
}

/// A path as Windows writes it (`.\\src\\a.go`), with the separators of this system; `None` where it is no other text.
pub fn windows_form(text: &str) -> Option<String> {
    (!is_separator('\\') && text.contains('\\')).then(|| text.replace("\\ ", " ").replace('\\', "/"))
}

/// Whether a text is a path with a drive or a share of Windows, on a system that has none.
pub fn has_drive(text: &str) -> bool {
    let text = strip_mention(text).last().copied().unwrap_or(text).as_bytes();
    let is_share = |rest: &[u8]| rest.contains(&b'\\') && rest.first().is_some_and(u8::is_ascii_alphanumeric);
    !is_separator('\\')
        && match text {
            [drive, b':', b'\\' | b'/', ..] => drive.is_ascii_alphabetic(),
            [b'\\', b'\\', rest @ ..] => is_share(rest),
            _ => false,
        }
}

/// Whether a shell would take it for a path in the home directory of some user: `~root/x`. `~/x` is another matter, and
/// `~notes.txt` is a name.
fn names_home_of_user(text: &str) -> bool {
    let Some(user) = text.strip_prefix('~').and_then(|rest| rest.split(is_separator).next()) else {
        return false;
    };
    user.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && user.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
}

/// One or more names at the end of a path, as a person writes them who does not write the whole: `index.ts`,
/// `app/index.ts`. Says which paths they fit, and does not look for those.
///
/// # Examples
/// ```
/// use confined_fs::{Access, WorkspaceOptions, PolicyRules, RootSpec, Workspace};
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().to_owned();
/// let root = RootSpec { name: None, path, access: Access::ReadOnly, policy: PolicyRules::default(), optional: false };
/// let workspace = Workspace::open(&[root], WorkspaceOptions::default()).unwrap().workspace;
///
/// let tail = workspace.tail_of("@app/index.ts").unwrap();
/// assert!(tail.fits(&workspace.resolve("src/app/index.ts").unwrap()));
/// assert!(!tail.fits(&workspace.resolve("src/myapp/index.ts").unwrap()));
/// assert!(workspace.tail_of("./index.ts").is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathSuffix {
    names: Vec<OsString>,
    /// Whether it was written with an `@` or `#file:`: it is the name of something that exists.
    pub is_mention: bool,
    /// Whether it ends with a slash: it is the name of a directory.
    pub is_directory: bool,
}

impl PathSuffix {
    pub fn is_bare(&self) -> bool {
        self.names.len() == 1
    }

    pub fn fits(&self, path: &WorkspacePath) -> bool {
        self.fits_by(path, |own, name| own == name)
    }

    pub fn fits_look_alike(&self, path: &WorkspacePath) -> bool {
        let texts = |one: &OsStr, other: &OsStr| Some(look_alike(one.to_str()?, other.to_str()?));
        self.fits_by(path, |own, name| own == name || texts(own, name).unwrap_or(false))
    }

    pub fn fits_in_other_case(&self, path: &WorkspacePath) -> bool {
        self.fits_by(path, is_same_name)
    }

    fn fits_by(&self, path: &WorkspacePath, is_same: impl Fn(&OsStr, &OsStr) -> bool) -> bool {
        let mount = path.root().name().unwrap_or_default().rsplit('/').filter(|name| !name.is_empty()).map(OsStr::new);
        let mut own = path.relative().iter().rev().chain(mount);
        // The root itself is no file of that name.
        !path.is_root() && self.names.iter().rev().all(|name| own.next().is_some_and(|own| is_same(own, name)))
    }
}

impl Workspace {
    /// `text` as the end of a path: `None` if it says where it begins, by a slash, `~`, a scheme, the name of a root, or a
    /// `.` or `..` in it, and if it is no path at all.
    pub fn tail_of(&self, text: &str) -> Option<PathSuffix> {
        let is_mention = is_mention(text);
        let inner = *strip_mention(text).last()?;
        let unescaped = is_mention.then(|| without_shell_escapes(inner)).flatten();
        let inner = unescaped.as_deref().unwrap_or(inner);
        let names = relative_names(&self.shared.roots, inner)?;
        Some(PathSuffix { names, is_mention, is_directory: inner.ends_with(is_separator) })
    }

    /// Whether nothing has this path, not even a link that leads nowhere. What policy hides is not there.
    pub fn is_missing(&self, path: &WorkspacePath) -> bool {
        let is_missing = self.shared.stat(path).is_err_and(|error| error.kind == AccessErrorKind::NotFound);
        is_missing && !self.is_visible_entry(path)
    }

    /// Whether a name is there, links at the end of the path not followed.
    fn is_visible_entry(&self, path: &WorkspacePath) -> bool {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return true };
        let Ok(parent) = self.shared.locate(&parent) else { return false };
        let way = parent.child(&self.shared.roots, name.as_ref());
        !way.hidden() && way.real.root().dir.stat_beneath(way.real.relative()).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_peeled_off_one_after_the_other() {
        for (text, expected) in [
            ("a.ts", &["a.ts"][..]),
            ("@a.ts", &["@a.ts", "a.ts"]),
            ("@\"a b.ts\"", &["@\"a b.ts\"", "\"a b.ts\"", "a b.ts"]),
            ("'@a'", &["'@a'", "@a", "a"]),
            ("#file:a.ts", &["#file:a.ts", "a.ts"]),
            ("@file:a.ts", &["@file:a.ts", "file:a.ts", "a.ts"]),
            ("@file:///a", &["@file:///a", "file:///a"]),
            ("\"\"", &["\"\""]),
            ("'a\"", &["'a\""]),
            ("#a", &["#a"]),
            ("@", &["@", ""]),
        ] {
            assert_eq!(strip_mention(text), expected, "{text}");
        }
        assert!(strip_mention(&"@".repeat(10_000)).len() < 10);
    }

    #[test]
    fn at_and_file_make_a_mention_and_quotes_do_not() {
        for (text, expected) in [("@a", true), ("\"@a\"", true), ("#file:a", true), ("\"a\"", false), ("a@b", false)] {
            assert_eq!(is_mention(text), expected, "{text}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn backslashes_of_a_shell_are_dropped_and_others_kept() {
        assert_eq!(without_shell_escapes(r"my\ file\(1\).txt").as_deref(), Some("my file(1).txt"));
        assert_eq!(without_shell_escapes(r"a\b\x41\\"), None);
        assert_eq!(without_shell_escapes("plain"), None);
    }

    #[test]
    #[cfg(unix)]
    fn paths_of_windows_are_known() {
        for (text, slashes, drive) in [
            (r"src\a.go", Some("src/a.go"), false),
            (r".\src\a.go", Some("./src/a.go"), false),
            (r"my\ file\a b", Some("my file/a b"), false),
            (r"C:\a", Some("C:/a"), true),
            ("\"c:/a\"", None, true),
            (r"\\server\share\a", Some("//server/share/a"), true),
            (r"\\a", Some("//a"), false),
            ("a/b", None, false),
            ("12:30/a", None, false),
        ] {
            assert_eq!((windows_form(text).as_deref(), has_drive(text)), (slashes, drive), "{text}");
        }
    }

    #[test]
    fn home_of_a_user_is_no_name() {
        for (text, expected) in [
            ("~root/.ssh/id_rsa", true),
            ("~root", true),
            ("~_x-1/a", true),
            ("~", false),
            ("~/a", false),
            ("~notes.txt", false),
            ("~$letter.docx", false),
            ("a~root", false),
        ] {
            assert_eq!(names_home_of_user(text), expected, "{text}");
        }
    }
}
