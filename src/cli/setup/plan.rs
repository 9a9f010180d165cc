//! The changes of files, computed from their content at this moment.

use std::{
    mem,
    path::{Path, PathBuf},
};

use crate::config::SetupRequest;

use super::{
    client_file::{ClientFile, FileChange},
    clients::{Client, EntryScope, Folders, Format},
    entry::{self, ServerEntry, is_ours},
    error::{Result, SetupError, refused},
    hooks, own_tools,
    records::{Created, Marker, RecordEdit, Records, ToolsOff},
    server_list::ServerList,
};

#[derive(Debug)]
pub(super) struct SetupTarget<'f> {
    pub(super) client: &'static Client,
    pub(super) scope: EntryScope,
    pub(super) folders: &'f Folders<'f>,
    pub(super) path: PathBuf,
    pub(super) list: ServerList,
}

#[derive(Debug, Default)]
pub(super) struct SetupPlan {
    pub(super) changes: Vec<FileChange>,
    pub(super) records: Vec<RecordEdit>,
    pub(super) notes: Vec<String>,
}

impl SetupTarget<'_> {
    pub(super) fn records(&self) -> Records {
        let place = format!("{} {}", self.path.display(), self.list.name());
        Records { folder: self.folders.environment.state_folder(), place }
    }

    /// Why a person has to paste the entry, or to take it out, and where; `None` where setup does.
    pub(super) fn by_hand(&self, is_removal: bool) -> Option<String> {
        let (path, is_yaml) = (self.path.display().to_string(), matches!(self.client.format, Format::Yaml(_)));
        let place = if path.is_empty() { "its file, or name that with --file" } else { &path };
        let how = if is_removal {
            "take the entry out of"
        } else {
            &format!("paste what `rootbound setup {}` prints into", self.client.id)
        };
        (is_yaml || path.is_empty()).then(|| format!("setup does not write the file of this client: {how} {place}"))
    }

    pub(super) fn write(&self, entries: &[ServerEntry], request: &SetupRequest) -> Result<SetupPlan> {
        let document = self.read(&self.path)?;
        let failed_here = |why: SetupError| failed(&document, &why);
        let records = self.records();
        let earlier = records.of(&entries[0].name).unwrap_or_default();
        let (mut others, mut tools, mut hooks, mut hook) = (Vec::new(), earlier.tools, earlier.hooks, earlier.hook);
        if let (true, Ok(own)) = (request.replace, &self.client.own_tools) {
            let mut list = self.other(&mut others, &self.tools_path()?)?;
            let off = own_tools::off(own, &list.text, made_for(&list), &tools);
            (list.text, tools) = off.map_err(|why| failed(&list, &why))?;
            others.push(list);
        }
        if request.hooks {
            let mut list = self.other(&mut others, &hooks::file(self.client, self.scope, self.folders)?)?;
            if list.before.is_none() {
                hooks = made_for(&list);
            }
            let found = self.list.existing(&document.text, &entries[0].name).map_err(failed_here)?;
            // As the entry that is there is started, which may be a version that a person chose.
            let start = found.filter(is_ours).map_or_else(|| entries[0].clone(), |found| entries[0].started_as(&found));
            let command = hooks::command(self.client, self.scope, &start, request)?;
            list.text = hooks::on(&list.text, &command, &hook, &mut hooks).map_err(|why| failed(&list, &why))?;
            hook = command;
            others.push(list);
        }
        let mut text = document.text.clone();
        let mut edits = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            let recorded = records.of(&entry.name);
            let mut marker = recorded.clone().unwrap_or_default();
            let is_new = match self.list.existing(&text, &entry.name).map_err(failed_here)? {
                None => {
                    let inherited = self.made_for_others(&text, &records)?;
                    let (edited, containers) = self.list.add(&text, entry).map_err(failed_here)?;
                    marker.made = inherited.unwrap_or(Created { containers, ..made_for(&document) });
                    text = edited;
                    true
                }
                Some(found) if is_ours(&found) => {
                    let entry = entry.started_as(&found);
                    text = self.list.update(&text, &entry).map_err(failed_here)?;
                    false
                }
                Some(_) => return Err(self.foreign(&document, &entry.name)),
            };
            if index == 0 {
                (marker.tools, marker.hooks, marker.hook) = (tools.clone(), hooks.clone(), hook.clone());
            }
            if is_new || recorded.is_some() || !marker.tools.names.is_empty() || !marker.hook.is_empty() {
                edits.push((entry.name.clone(), Some(marker)));
            }
        }
        // The entry first: with the client's own tools off and without it, a model would have no tools for files.
        // No empty file is made.
        let others = others.iter().filter(|list| list.before.is_some() || !list.text.is_empty());
        let others = others.map(|list| list.clone().change(&list.text, None));
        let changes = std::iter::once(document.change(&text, None)).chain(others);
        Ok(SetupPlan { changes: changes.filter(FileChange::is_needed).collect(), records: edits, notes: Vec::new() })
    }

    /// Another file of the client: with its new text if it is one of `changed`.
    fn other(&self, changed: &mut Vec<ClientFile>, path: &Path) -> Result<ClientFile> {
        let known = changed.iter().position(|file| file.path == path);
        known.map_or_else(|| self.read(path), |index| Ok(changed.swap_remove(index)))
    }

    /// The files and containers that were made for another entry of ours. Whichever of them is removed last undoes it.
    fn made_for_others(&self, text: &str, records: &Records) -> Result<Option<Created>> {
        let ours = self.list.ours(text)?;
        let mut made = records.all().into_iter().filter(|(name, _)| ours.contains(name)).map(|(_, marker)| marker.made);
        Ok(made.find(|made| *made != Created::default()))
    }

    /// The change that takes the entries out and turns the client's own tools on, or what of it is asked for alone. Empty if
    /// there is no entry.
    pub(super) fn remove(&self, request: &SetupRequest) -> Result<SetupPlan> {
        let document = self.read(&self.path)?;
        let records = self.records();
        let failed_here = |why: SetupError| failed(&document, &why);
        let (mut plan, mut text, mut made) = (SetupPlan::default(), document.text.clone(), Vec::new());
        // Containers that were made for an entry may be kept by a later one, and go with that.
        let mut containers = 0;
        let (mut is_unrecorded, mut off, mut hooks, mut hook, mut others) =
            (false, None, Created::default(), String::new(), Vec::new());
        for name in self.names_to_remove(&document, &records, request)? {
            let recorded = records.of(&name);
            let mut marker = recorded.clone().unwrap_or_default();
            let takes_all = !request.replace && !request.hooks;
            // Of several entries of this name, what is left may be somebody else's.
            if takes_all && self.list.existing(&text, &name).map_err(failed_here)?.is_some_and(|found| is_ours(&found))
            {
                containers = containers.max(marker.made.containers);
                text = self.list.remove(&text, &name, containers).map_err(failed_here)?;
                is_unrecorded |= recorded.is_none();
            }
            if takes_all {
                made.push(marker.made.clone());
            }
            if (takes_all || request.hooks) && !marker.hook.is_empty() {
                (hooks, hook) = (mem::take(&mut marker.hooks), mem::take(&mut marker.hook));
            }
            if takes_all || request.replace {
                off = off.or(Some(mem::take(&mut marker.tools)).filter(|tools| !tools.names.is_empty()));
                is_unrecorded |= !takes_all && recorded.is_none();
            }
            plan.records.push((name, recorded.filter(|_| !takes_all).map(|_| marker)));
        }
        // What is off in a list of YAML is marked there.
        let is_marked = is_unrecorded && self.client.splits_tools();
        if let Some(turned) = off.or(is_marked.then(ToolsOff::default))
            && let (Ok(path), Ok(own)) = (self.tools_path(), &self.client.own_tools)
        {
            let mut list = self.other(&mut others, &path)?;
            list.text = own_tools::on(own, &list.text, &turned).map_err(|why| failed(&list, &why))?;
            if turned.made.file {
                // Its object was made for the tools, and is left for the hooks.
                hooks = Created { containers: hooks.containers + 1, ..turned.made };
            }
            others.push(list);
        } else if is_unrecorded
            && let (Ok(list), Ok(own)) = (self.tools_path().and_then(|path| self.read(&path)), &self.client.own_tools)
        {
            let left = own_tools::still_off(own, &list.text);
            if !left.is_empty() {
                plan.notes.push(format!(
                    "left      {} turns {} off, and no record says that setup did it: take them out there if they are not \
                     yours",
                    list.path.display(),
                    left.join(", ")
                ));
            }
        }
        if !hook.is_empty()
            && let Ok(path) = hooks::file(self.client, self.scope, self.folders)
            && let Ok(mut list) = self.other(&mut others, &path)
        {
            list.text = hooks::off(&list.text, &hook, hooks.containers).map_err(|why| failed(&list, &why))?;
            others.push(list);
        }
        // Before the entry goes, for the same reason.
        let folders = hooks.file.then_some(hooks.folders);
        plan.changes.extend(others.iter().map(|list| list.clone().change(&list.text, folders)));
        let file = made.iter().find(|made| made.file).map(|made| made.folders);
        plan.changes.push(document.change(&text, file));
        plan.changes.retain(FileChange::is_needed);
        Ok(plan)
    }

    /// The file that turns the client's own tools off, which is not that of the entry.
    fn tools_path(&self) -> Result<PathBuf> {
        let path = own_tools::file(self.client, self.scope, self.folders)?;
        if path == self.path {
            return refused(format!("{} lists the client's own tools: name another file with --file", path.display()));
        }
        Ok(path)
    }

    /// The entries of ours that are meant: those of the name asked for, or of the usual name, or the only one.
    fn names_to_remove(&self, document: &ClientFile, records: &Records, request: &SetupRequest) -> Result<Vec<String>> {
        let ours = self.list.ours(&document.text).map_err(|why| failed(document, &why))?;
        let name = request.name.as_deref().unwrap_or(entry::DEFAULT_NAME);
        // Only the client that has it with `--split` has a second entry.
        let splits = self.client.splits_tools();
        let is_meant = |one: &str| one == name || splits && one.strip_suffix("-write") == Some(name);
        let mut found: Vec<String> = ours.iter().filter(|one| is_meant(one)).cloned().collect();
        // A person may have taken an entry out by hand; its tools are still off.
        let is_left = |marker: &Marker| !marker.tools.names.is_empty() || !marker.hook.is_empty();
        let recorded = records.all().into_iter().filter(|(_, marker)| is_left(marker));
        found.extend(recorded.map(|(name, _)| name).filter(|one| is_meant(one) && !ours.contains(one)));
        match ours.as_slice() {
            _ if !found.is_empty() => return Ok(found),
            [one] if request.name.is_none() => return Ok(vec![one.clone()]),
            [_, ..] if request.name.is_none() => {
                return refused(format!(
                    "{} has several entries of rootbound: name one with --name ({})",
                    document.path.display(),
                    ours.join(", ")
                ));
            }
            _ => {}
        }
        if self.list.existing(&document.text, name).map_err(|why| failed(document, &why))?.is_some() {
            return refused(format!(
                "the entry {name} in {} starts another program: remove it by hand if you do not need it",
                document.path.display()
            ));
        }
        Ok(Vec::new())
    }

    fn foreign(&self, document: &ClientFile, name: &str) -> SetupError {
        let is_free = |name: &String| self.list.existing(&document.text, name).is_ok_and(|found| found.is_none());
        let mut free =
            (1..100).map(|number| if number == 1 { "rootbound".to_owned() } else { format!("rootbound{number}") });
        let free = free.find(is_free);
        format!(
            "the entry {name} in {} starts another program, and nothing was changed: choose another name for this one, as in \
             --name {}",
            document.path.display(),
            free.unwrap_or_default()
        )
        .into()
    }

    /// Reads a file; one of a project must be in the project, wherever its links lead.
    fn read(&self, path: &Path) -> Result<ClientFile> {
        let document = ClientFile::read(path)?;
        let project = &self.folders.environment.directory;
        if path.starts_with(project) && self.scope != EntryScope::User && !document.file.is_below(project) {
            return refused(format!(
                "{} is a link that leads out of the project: remove the link, or name its target with --file",
                path.display()
            ));
        }
        Ok(document)
    }
}

fn made_for(document: &ClientFile) -> Created {
    Created { file: document.before.is_none(), folders: document.file.missing_folders(), ..Created::default() }
}

fn failed(document: &ClientFile, why: &SetupError) -> SetupError {
    format!("{}: {why}; nothing was changed: repair that line first", document.path.display()).into()
}
