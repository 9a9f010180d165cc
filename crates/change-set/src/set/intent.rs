//! The intent of a transaction as text: what recovery needs to know, and nothing that it would have to trust.
//!
//! JSON lines: a head, a line for each step, and the hash of all that. It holds names and hashes, no contents. It is read
//! as untrusted input: a root is known by its key and found among those that this process serves, and a path below it is
//! made of ordinary names alone. The reserved names that recovery touches follow from the id and are not written down.

use std::path::{Component, Path};
use std::{ffi::OsString, sync::Arc};

use serde::{Deserialize, Serialize};

use super::steps::{MAX_STEPS, Step, Steps};
use crate::tree::{EntryChange, EntryState, Rights};
use confined_fs::{
    Revision, Root, WorkspacePath,
    escape::name_of,
    for_changes::{is_reserved, path_below},
};

/// The version of the format. Another one is left to the program that knows it.
const VERSION: u32 = 1;
/// Bytes of the longest path below a root.
const MAX_PATH_BYTES: usize = 4096;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct IntentHead {
    rootbound: u32,
    id: String,
    steps: usize,
}

#[derive(Serialize, Deserialize)]
struct IntentLine {
    root: RootId,
    path: IntentName,
    #[serde(flatten)]
    action: LineAction,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum LineAction {
    Replace { old: String, new: String },
    Remove(LineState),
    Move { root: RootId, to: IntentName, was: LineState, device: u64, inode: u64 },
    Create(LineState),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum LineState {
    File(String),
    Link(IntentName),
    Directory,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Checksum {
    sum: String,
}

/// Which root, by its key.
#[derive(Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum RootId {
    Disk(String),
    /// Read alone: the former program's layer over a root, which is none that is served, so that the intent is
    /// [`Unusable::Foreign`].
    Staged(String),
}

/// A name or a path: as it is, or in hexadecimal digits where it is no UTF-8.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum IntentName {
    Text(String),
    Bytes { hex: String },
}

/// Why a text is no intent that can be acted upon.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unusable {
    /// It is not whole, or says what no transaction does.
    #[error("{0}")]
    Damaged(&'static str),
    /// It is of a newer version, or of a root that this process does not serve.
    #[error("it is of a newer version, or of a root that is not served")]
    Foreign,
}

/// The text of the intent of `steps`; `None` where a name cannot be written down.
pub(super) fn write(steps: &Steps<'_>) -> Option<Vec<u8>> {
    let head = IntentHead { rootbound: VERSION, id: format!("{:016x}", steps.id), steps: steps.list.len() };
    let mut text = line_of(&head)?;
    for step in &steps.list {
        text.push_str(&line_of(&IntentLine::of(step)?)?);
    }
    let sum = Checksum { sum: Revision::of(text.as_bytes()).to_string() };
    text.push_str(&line_of(&sum)?);
    Some(text.into_bytes())
}

fn line_of(value: &impl Serialize) -> Option<String> {
    serde_json::to_string(value).ok().map(|line| line + "\n")
}

/// Reads the intent that the name of its file says is of the transaction `id`.
pub(super) fn read(bytes: &[u8], id: u64, roots: &[Arc<Root>]) -> Result<Steps<'static>, Unusable> {
    let damaged = Unusable::Damaged;
    let text = str::from_utf8(bytes).map_err(|_| damaged("it is no text"))?;
    let (first, _) = text.split_once('\n').ok_or(damaged("it is cut"))?;
    let head: IntentHead = serde_json::from_str(first).map_err(|_| damaged("its first line is not a head"))?;
    // Before the hash is looked at: a newer format may end in another way, and is not damaged because of that.
    if head.rootbound > VERSION {
        return Err(Unusable::Foreign);
    }
    let end = text.trim_end_matches('\n').rfind('\n').ok_or(damaged("it is cut"))? + 1;
    let sum: Checksum = serde_json::from_str(&text[end..]).map_err(|_| damaged("it is cut"))?;
    if sum.sum != Revision::of(&bytes[..end]).to_string() {
        return Err(damaged("its hash is another one"));
    }
    if head.id != format!("{id:016x}") || head.rootbound != VERSION || head.steps > MAX_STEPS {
        return Err(damaged("its head does not fit"));
    }
    let lines: Vec<&str> = text[..end].lines().skip(1).collect();
    if lines.len() != head.steps {
        return Err(damaged("steps are missing"));
    }
    let step = |line: &&str| {
        let line: IntentLine = serde_json::from_str(line).map_err(|_| damaged("a line is not a step"))?;
        line.step(roots)
    };
    Ok(Steps::new(id, lines.iter().map(step).collect::<Result<_, _>>()?))
}

impl IntentLine {
    fn of(step: &Step<'_>) -> Option<Self> {
        let action = match (step.moved(), step.replaced(), step.removed()) {
            (Some((to, was)), ..) => {
                let (device, inode) = step.change.identity.unwrap_or_default();
                let (root, to) = (RootId::of(to.root()), IntentName::of(to.relative().as_os_str())?);
                LineAction::Move { root, to, was: LineState::of(was)?, device, inode }
            }
            (_, Some((old, new)), _) => LineAction::Replace { old: old.to_string(), new: new.to_string() },
            (.., Some(was)) => LineAction::Remove(LineState::of(was)?),
            _ => LineAction::Create(LineState::of(step.made()?)?),
        };
        let path = IntentName::of(step.path.relative().as_os_str())?;
        Some(Self { root: RootId::of(step.path.root()), path, action })
    }

    fn step(self, roots: &[Arc<Root>]) -> Result<Step<'static>, Unusable> {
        let path = self.path.path(&self.root, roots)?;
        let change = match self.action {
            LineAction::Replace { old, new } => {
                EntryChange::new(&path, Some(revision(&old)?.into()), Some(revision(&new)?.into()))
            }
            LineAction::Remove(was) => EntryChange::new(&path, Some(was.entry()?), None),
            LineAction::Move { root, to, was, device, inode } => {
                let moved = EntryChange::new(&to.path(&root, roots)?, None, Some(was.entry()?));
                EntryChange { moved_from: Some(path), identity: Some((device, inode)), ..moved }
            }
            LineAction::Create(is) => EntryChange::new(&path, None, Some(is.entry()?)),
        };
        Ok(Step::from(change))
    }
}

impl RootId {
    fn of(root: &Root) -> Self {
        Self::Disk(root.key().to_owned())
    }
}

impl LineState {
    fn of(state: &EntryState) -> Option<Self> {
        Some(match state {
            EntryState::File(file) => Self::File(file.revision.to_string()),
            EntryState::Link(target) => Self::Link(IntentName::of(target)?),
            EntryState::Directory { .. } => Self::Directory,
        })
    }

    fn entry(self) -> Result<EntryState, Unusable> {
        Ok(match self {
            Self::File(digits) => revision(&digits)?.into(),
            Self::Link(target) => EntryState::Link(target.os()?),
            Self::Directory => EntryState::Directory { rights: Rights::default() },
        })
    }
}

impl IntentName {
    fn of(name: &std::ffi::OsStr) -> Option<Self> {
        match name.to_str() {
            Some(text) => Some(Self::Text(text.to_owned())),
            None if cfg!(unix) => {
                let digits = name.as_encoded_bytes().iter().map(|byte| format!("{byte:02x}"));
                Some(Self::Bytes { hex: digits.collect() })
            }
            None => None,
        }
    }

    fn os(self) -> Result<OsString, Unusable> {
        match self {
            Self::Text(text) => Ok(text.into()),
            Self::Bytes { hex } => of_bytes(&hex).ok_or(Unusable::Damaged("a name is none")),
        }
    }

    /// A path below this root, made of ordinary names.
    fn path(self, id: &RootId, roots: &[Arc<Root>]) -> Result<WorkspacePath, Unusable> {
        let path = self.os()?;
        let path = Path::new(&path);
        // A forged intent must neither lead out by `..` nor name what another transaction keeps under a reserved name.
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(name) if !is_reserved(name));
        let bytes = path.as_os_str().as_encoded_bytes();
        // Again from its parts, so that no separator is doubled or at the end.
        let plain: std::path::PathBuf = path.components().collect();
        let is_path = !bytes.is_empty()
            && bytes.len() <= MAX_PATH_BYTES
            && !bytes.contains(&0)
            && path.components().all(is_plain)
            && plain.as_os_str() == path.as_os_str();
        if !is_path {
            return Err(Unusable::Damaged("a path is none"));
        }
        let root = roots.iter().find(|root| RootId::of(root) == *id).ok_or(Unusable::Foreign)?;
        Ok(path_below(root, path))
    }
}

fn revision(digits: &str) -> Result<Revision, Unusable> {
    digits.parse().map_err(|_| Unusable::Damaged("a hash is none"))
}

fn of_bytes(hex: &str) -> Option<OsString> {
    let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    let bytes = pairs.iter().map(byte).collect::<Option<Vec<u8>>>();
    name_of(bytes.filter(|_| rest.is_empty())?)
}
