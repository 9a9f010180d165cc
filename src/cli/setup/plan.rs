//! What changes in which files, computed from their content at this moment.

use std::path::{Path, PathBuf};

use crate::config::SetupRequest;

use super::{
    apply::FileChange,
    client::{Client, EntryScope, OwnTools},
    client_file::ClientFile,
    entry::{self, ServerEntry},
    folders::Folders,
    json_entry::FoundEntry,
    marker::{Made, Marker, ToolsOff},
    own_tools,
    server_list::ServerList,
};

/// The place of an entry.
#[derive(Debug)]
pub(super) struct SetupTarget<'f> {
    pub(super) client: &'static Client,
    pub(super) scope: EntryScope,
    pub(super) folders: &'f Folders<'f>,
    /// The client's file.
    pub(super) path: PathBuf,
    pub(super) list: ServerList,
}

/// The changes, in the order in which they are made.
#[derive(Debug, Default)]
pub(super) struct SetupPlan {
    pub(super) changes: Vec<FileChange>,
    /// The names of entries of other servers that are replaced.
    pub(super) replaced: Vec<String>,
}

impl SetupTarget<'_> {
    /// The change that adds the entries, or brings them up to date.
    pub(super) fn write(&self, entries: &[ServerEntry], tools_off: bool) -> Result<SetupPlan, String> {
        let tools_path = if tools_off { Some(own_tools::file(self.client, self.scope, self.folders)?) } else { None };
        let document = self.read(&self.path)?;
        let first = self.found(&document, &document.text, &entries[0].name)?;
        let earlier = first.map(|found| found.marker.tools).unwrap_or_default();
        let mut text = document.text.clone();
        let mut tools = ToolsOff::default();
        let mut tools_change = None;
        if let Some(path) = tools_path {
            let other = if path == self.path { None } else { Some(self.read(&path)?) };
            let list = other.as_ref().unwrap_or(&document);
            let (edited, off) =
                own_tools::off(self.client, &list.text, made_for(list), &earlier).map_err(|why| failed(list, &why))?;
            tools = off;
            match other {
                Some(other) if other.exists() || !edited.is_empty() => tools_change = Some(other.change(&edited, None)),
                Some(_) => {}
                None => text = edited,
            }
        }
        let mut replaced = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            let tools = if index == 0 { tools.clone() } else { ToolsOff::default() };
            text = self.with_entry(&document, &text, entry, tools, &mut replaced)?;
        }
        let changes = [Some(document.change(&text, None)), tools_change].into_iter().flatten();
        Ok(SetupPlan { changes: changes.filter(FileChange::is_needed).collect(), replaced })
    }

    fn with_entry(
        &self,
        document: &ClientFile,
        text: &str,
        entry: &ServerEntry,
        tools: ToolsOff,
        replaced: &mut Vec<String>,
    ) -> Result<String, String> {
        let edited = match self.found(document, text, &entry.name)? {
            None => self.list.add(text, entry, Marker { tools, ..Marker::default() }, made_for(document)),
            Some(found) if found.ours => {
                let tools = if tools.names.is_empty() { found.marker.tools } else { tools };
                self.list.update(text, entry, &Marker { tools, ..found.marker })
            }
            Some(found) => {
                replaced.push(entry.name.clone());
                let marker = Marker { was: Some(found.text), tools, ..Marker::default() };
                self.list.replace(text, entry, &marker)
            }
        };
        edited.map_err(|why| failed(document, &why))
    }

    /// The change that takes the entries out and turns the client's own tools on. Empty if there is no entry.
    pub(super) fn remove(&self, request: &SetupRequest) -> Result<SetupPlan, String> {
        let document = self.read(&self.path)?;
        let names = self.names_to_remove(&document, request)?;
        let (mut text, mut markers) = (document.text.clone(), Vec::new());
        for name in &names {
            // Of several entries of this name, what is left may be somebody else's.
            let Some(found) = self.found(&document, &text, name)?.filter(|found| found.ours) else { continue };
            let shared = own_tools::file(self.client, self.scope, self.folders).is_ok_and(|path| path == self.path);
            let mut marker = found.marker;
            if shared {
                let padding = marker.made.added.padding.max(marker.tools.made.added.padding);
                marker.made.added.padding = padding;
            }
            text = self.list.remove(&text, name, &marker).map_err(|why| failed(&document, &why))?;
            markers.push(marker);
        }
        let mut changes = Vec::new();
        for marker in markers.iter().filter(|marker| !marker.tools.names.is_empty()) {
            let path = own_tools::file(self.client, self.scope, self.folders)?;
            let on = |document: &ClientFile, text: &str| {
                let padding = if path == self.path { marker.made.added.padding } else { 0 };
                own_tools::on(self.client, text, marker, padding).map_err(|why| failed(document, &why))
            };
            if path == self.path {
                text = on(&document, &text)?;
            } else {
                let list = self.read(&path)?;
                let edited = on(&list, &list.text)?;
                let made = &marker.tools.made;
                changes.push(list.change(&edited, made.file.then_some(made.folders)));
            }
        }
        let made = markers.iter().flat_map(|marker| {
            let tools = Some(&marker.tools.made).filter(|_| changes.is_empty());
            [Some(&marker.made), tools].into_iter().flatten()
        });
        let made: Vec<&Made> = made.collect();
        let before = made.iter().find_map(|made| made.added.document);
        text = self.list.without_empty_document(text, before).map_err(|why| failed(&document, &why))?;
        let file = made.iter().find(|made| made.file).map(|made| made.folders);
        changes.push(document.change(&text, file));
        changes.retain(FileChange::is_needed);
        Ok(SetupPlan { changes, replaced: Vec::new() })
    }

    /// The entries of ours that are meant: those of the name asked for, or of the usual name, or the only one.
    fn names_to_remove(&self, document: &ClientFile, request: &SetupRequest) -> Result<Vec<String>, String> {
        let ours = self.list.ours(&document.text).map_err(|why| failed(document, &why))?;
        let name = request.name.as_deref().unwrap_or(entry::NAME);
        // Only the client that has it with `--split` has a second entry.
        let splits = matches!(self.client.own_tools, OwnTools::YamlList { .. });
        let is_meant = |one: &str| one == name || splits && one.strip_suffix("-write") == Some(name);
        let found: Vec<String> = ours.iter().filter(|one| is_meant(one)).cloned().collect();
        if !found.is_empty() {
            return Ok(found);
        }
        if request.name.is_none() {
            match ours.as_slice() {
                [] => {}
                [one] => return Ok(vec![one.clone()]),
                several => {
                    return Err(format!(
                        "{} has several entries of rootbound: name one with --name ({})",
                        document.path().display(),
                        several.join(", ")
                    ));
                }
            }
        }
        if self.found(document, &document.text, name)?.is_some() {
            return Err(format!(
                "the entry {name} in {} starts another program: remove it by hand if you do not need it",
                document.path().display()
            ));
        }
        Ok(Vec::new())
    }

    fn found(&self, document: &ClientFile, text: &str, name: &str) -> Result<Option<FoundEntry>, String> {
        self.list.existing(text, name).map_err(|why| failed(document, &why))
    }

    /// Reads a file; one of a project must be in the project, wherever its links lead.
    fn read(&self, path: &Path) -> Result<ClientFile, String> {
        let document = ClientFile::read(path)?;
        let project = &self.folders.environment.directory;
        if path.starts_with(project) && self.scope != EntryScope::User && !document.is_below(project) {
            return Err(format!(
                "{} is a link that leads out of the project: remove the link, or name its target with --file",
                path.display()
            ));
        }
        Ok(document)
    }
}

fn made_for(document: &ClientFile) -> Made {
    Made { file: !document.exists(), folders: document.missing_folders(), ..Made::default() }
}

fn failed(document: &ClientFile, why: &str) -> String {
    format!("{}: {why}; nothing was changed: repair that line first", document.path().display())
}
