//! Making new entries, complete and synced, under reserved names, which no tool shows.

use std::fs::File;
use std::sync::Arc;

use beneath::Stat;

use crate::write::{NewContent, Temporary, fill};
use crate::{AccessError, AccessErrorKind, AtPath as _, Dir, WaitLimit, WorkspacePath};

use super::step::{EntryState, StepAction};
use super::steps::{Steps, last_name};

/// What a new entry is made of.
pub(super) enum Material<'n> {
    /// Nothing: the entry is removed, moved, or a link.
    None,
    /// A file's content, with the permission bits of a new file, or the file whose attributes it gets.
    File { content: Arc<NewContent<'n>>, mode: Option<u32>, like: Option<WorkspacePath> },
    /// A directory's permission bits; none for what the umask gives.
    Directory { mode: Option<u32> },
}

/// Makes all new entries. The caller removes them if this fails.
pub(super) fn prepare(
    steps: &Steps,
    material: &[Material<'_>],
    seen: &[Option<Stat>],
    wait_limit: &WaitLimit,
) -> Result<(), AccessError> {
    for (index, (step, material)) in steps.list().iter().zip(material).enumerate() {
        if wait_limit.ended() {
            return Err(AccessError::new(AccessErrorKind::Stopped, &step.path));
        }
        let path = &step.path;
        let new = steps.new_name(index);
        let is_new = matches!(step.action, StepAction::Create { .. });
        let name = if is_new && steps.is_in_new(path) { last_name(path).at(path)? } else { &new };
        match (&step.action, material) {
            (StepAction::Replace { .. } | StepAction::Create { .. }, Material::File { content, mode, like }) => {
                let dir = steps.holder(path).at(path)?;
                let like = like.as_ref().map(open).transpose()?;
                let old = match &seen[index] {
                    Some(seen) => Some(unchanged(&dir, path, seen)?),
                    None => like,
                };
                let stat = old.as_ref().map(|(_, stat)| stat);
                let mut temporary = Temporary::create_named(&dir, name, stat).at(path)?;
                let old = old.as_ref().map(|(file, stat)| (file, stat));
                fill(&mut temporary, content, old, *mode).at(path)?;
                temporary.keep();
            }
            (StepAction::Create { is: EntryState::Directory }, _) => {
                steps.holder(path).and_then(|dir| dir.make_dir(name, false)).at(path)?;
            }
            (StepAction::Create { is: EntryState::Link(target) }, _) => {
                steps.holder(path).and_then(|dir| dir.make_link(target, name)).at(path)?;
            }
            _ => {}
        }
    }
    // Rights once everything is in them, the innermost first.
    for (step, material) in steps.list().iter().zip(material).rev() {
        let StepAction::Create { is: EntryState::Directory } = step.action else { continue };
        let dir = steps.directory(&step.path).at(&step.path)?;
        if let Material::Directory { mode: Some(mode) } = material {
            dir.set_mode(*mode).at(&step.path)?;
        }
        dir.sync().at(&step.path)?;
    }
    Ok(())
}

fn open(like: &WorkspacePath) -> Result<(File, Stat), AccessError> {
    let file = like.root().dir.file_beneath(like.relative()).at(like)?;
    let stat = beneath::file_stat(&file).at(like)?;
    Ok((file, stat))
}

/// The file that is to be replaced, open, if it still looks as it was when it was checked.
fn unchanged(dir: &Dir, path: &WorkspacePath, seen: &Stat) -> Result<(File, Stat), AccessError> {
    let file = dir.child_file(last_name(path).at(path)?).at(path)?;
    let stat = beneath::file_stat(&file).at(path)?;
    if !stat.same_size_and_time(seen) {
        return Err(AccessError::new(AccessErrorKind::Stale, path));
    }
    Ok((file, stat))
}
