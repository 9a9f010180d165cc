//! Paths: any text is a place in a root or an error, printing and reading are inverse, links lead where
//! an oracle says, by both ways of opening.

use std::path::{Component, Path};

use change_set::Workspace;
use confined_fs::{AccessErrorKind, FileKind, PathError, WorkspacePath, escape::escape_name};

use super::world::{Meaning, RootSet, World};

/// Longest text that the oracle takes for a path.
const LONGEST: usize = 4096;

/// Replaces the world's own host path, which is another one on each machine.
const HOST: &str = "{world}";

/// Reads `input` as a path in each workspace of `world`.
///
/// # Panics
/// Where a property does not hold.
pub fn check(world: &World, input: &[u8]) {
    let text = String::from_utf8_lossy(input).replace(HOST, world.host());
    for root_set in &world.root_sets {
        let mut answers = root_set.both.iter().map(|workspace| resolved(world, workspace, &text));
        let (kernel, careful) = (answers.next().expect("two ways"), answers.next().expect("two ways"));
        assert_eq!(kernel.as_ref().map(shown), careful.as_ref().map(shown), "{text:?} depends on the way of opening");
        let expected = lexical(root_set, &text);
        if expected != Lexical::Unknown {
            let inside = |path: &WorkspacePath| Lexical::Inside(path.root().public(), names(path).join("/"));
            assert_eq!(kernel.as_ref().map_or(Lexical::Outside, inside), expected, "{text:?} by components");
        }
        if let Some(path) = kernel {
            opened(world, root_set, &path);
        }
    }
}

/// What the text resolves to, and what must hold of that.
fn resolved(world: &World, workspace: &Workspace, text: &str) -> Option<WorkspacePath> {
    match workspace.resolve(text) {
        Ok(path) => {
            assert_plain(path.relative(), text);
            let printed = path.to_string();
            assert!(!printed.contains(char::is_control), "{printed:?} drives a terminal");
            assert!(!leaks(world, &printed, &path), "{printed:?} shows a host path");
            match workspace.resolve(&printed) {
                Ok(back) => assert_eq!(back, path, "{text:?} prints as {printed:?}"),
                Err(error) => panic!("{text:?} prints as {printed:?}, which is refused: {error}"),
            }
            // Below a root without a name a URI of what is not there may be one of the host.
            if path.root().name().is_some() || workspace.stat(&path).is_ok() {
                let uri = path.resource_uri();
                let back = workspace.resolve_uri(&uri).expect("printed");
                assert_eq!(back, path, "{text:?} has the URI {uri:?}");
            }
            for name in path.relative() {
                let name = escape_name(name);
                assert!(!name.contains(char::is_control) && !name.contains('/'), "{name:?}");
            }
            if let Ok(below) = path.join(text) {
                assert_plain(below.relative(), text);
                assert!(below.root().key() == path.root().key(), "{text:?} below {path} changes the root");
            }
            Some(path)
        }
        Err(error) => {
            let said = error.to_string();
            assert!(!said.contains(char::is_control), "{said:?} drives a terminal");
            assert!(said.len() < 2500, "{} bytes of error", said.len());
            assert!(text.contains(world.host()) || !said.contains(world.host()), "{said:?} shows a host path");
            if let PathError::Denied { .. } = error {
                assert!(said.starts_with("access denied: ") && said.ends_with(" is outside the workspace roots"));
            }
            None
        }
    }
}

/// Whether a host path is shown that is no part of the path itself.
fn leaks(world: &World, shown: &str, path: &WorkspacePath) -> bool {
    shown.contains(world.host()) && !path.relative().to_string_lossy().contains(world.host().trim_start_matches('/'))
}

/// Below a root there are names alone.
fn assert_plain(relative: &Path, text: &str) {
    let plain = |part: Component<'_>| matches!(part, Component::Normal(name) if !name.as_encoded_bytes().contains(&0));
    assert!(relative.components().all(plain) && !relative.has_root(), "{text:?} became {}", relative.display());
}

/// What the oracle says of a text.
#[derive(Debug, PartialEq, Eq)]
enum Lexical {
    /// A root, by its public name, and what follows below it.
    Inside(String, String),
    /// Outside of every root.
    Outside,
    /// Nothing: the text has a special beginning.
    Unknown,
}

/// What a text without any special beginning means, one component after another.
fn lexical(root_set: &RootSet, text: &str) -> Lexical {
    let special =
        text.starts_with(['/', '~', '@', '"', '\'', '`', '#']) || text.contains(['\\', '\0']) || text.len() > LONGEST;
    if special || text.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file://")) {
        return Lexical::Unknown;
    }
    let first = text.split('/').next().unwrap_or_default();
    let roots = root_set.both[0].roots();
    let (root, rest) = match roots.iter().find(|root| root.name() == Some(first)) {
        Some(root) => (root, &text[first.len()..]),
        None => (&roots[0], text),
    };
    // It may leave the root and come back to it by what the root is called.
    let host = root.host().to_string_lossy();
    let own: Vec<&str> = root.name().unwrap_or(&host).split('/').filter(|name| !name.is_empty()).collect();
    let mut names = own.clone();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." if names.is_empty() => return Lexical::Outside,
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    let below = names.strip_prefix(own.as_slice());
    below.map_or(Lexical::Outside, |below| Lexical::Inside(root.public(), below.join("/")))
}

/// Opens the place and compares with where the oracle says it leads.
fn opened(world: &World, root_set: &RootSet, path: &WorkspacePath) {
    let roots = root_set.both[0].roots();
    let index = roots.iter().position(|root| root.key() == path.root().key()).expect("one of the roots");
    let names = names(path);
    let meaning = world.meaning(&root_set.roots, root_set.roots[index].1, names.iter().map(String::as_str));
    for workspace in &root_set.both {
        let path = workspace.resolve(&path.to_string()).expect("resolved before");
        let stat = workspace.stat(&path);
        if let Err(error) = &stat {
            let said = error.to_string();
            assert!(!leaks(world, &said, &path) && !said.contains(char::is_control), "{said:?}");
        }
        let kind = stat.map(|stat| stat.kind).map_err(|error| error.kind);
        match &meaning {
            Meaning::There(real, folder) => {
                assert_eq!(kind, Ok(if *folder { FileKind::Directory } else { FileKind::File }), "{path}");
                let canonical = workspace.canonical(&path).expect("it is there");
                let at = workspace.roots().iter().position(|root| root.key() == canonical.root().key());
                let root = root_set.roots[at.expect("one of the roots")].1;
                let below = self::names(&canonical).join("/");
                let found = if below.is_empty() { root.to_owned() } else { format!("{root}/{below}") };
                assert_eq!(&found, real, "{path}");
            }
            Meaning::Missing => {
                let gone = [AccessErrorKind::NotFound, AccessErrorKind::NameTooLong];
                assert!(kind.as_ref().is_err_and(|kind| gone.contains(kind)), "{path}: {kind:?}");
            }
            Meaning::ThroughFile => assert_eq!(kind, Err(AccessErrorKind::NotADirectory), "{path}"),
            Meaning::Outside => assert_eq!(kind, Err(AccessErrorKind::Denied), "{path}"),
            Meaning::Loop => assert_eq!(kind, Err(AccessErrorKind::TooManyLinks), "{path}"),
        }
    }
}

fn names(path: &WorkspacePath) -> Vec<String> {
    path.relative().iter().map(|name| name.to_string_lossy().into_owned()).collect()
}

fn shown(path: &WorkspacePath) -> String {
    path.to_string()
}
