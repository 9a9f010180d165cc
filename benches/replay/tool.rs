//! The edits made by calls of the tool: the whole server in this process, judged by the bytes on the disk.

use std::{fs, path::PathBuf, sync::Arc};

use change_set::Workspace;
use confined_fs::{Access, PolicyRules, RootSpec};
use file_tools::{Selection, Settings, Toolbox, session::Session};
use rootbound::server::{InProcessClient, Server, ServerOptions, Services};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::case::{Case, Outcome};

/// A workspace of one file at a time and a client of a server on it.
pub(crate) struct Tool {
    client: InProcessClient,
    folder: TempDir,
    /// How many there were, which is the name of the one that is there.
    files: usize,
}

impl Tool {
    /// Starts a server on an empty folder.
    pub(crate) fn start() -> Result<Self, String> {
        // Syncing to a disk would be most of the time.
        let memory = PathBuf::from("/dev/shm");
        let folder = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() };
        let folder = folder.map_err(|error| error.to_string())?;
        let root = RootSpec {
            name: None,
            path: folder.path().to_owned(),
            access: Access::ReadWrite,
            policy: PolicyRules::default(),
            optional: false,
        };
        let opened =
            Workspace::open(&[root], confined_fs::WorkspaceOptions::default()).map_err(|error| error.to_string())?;
        let server = Server::new(Services {
            workspace: Arc::new(opened.workspace),
            session: Arc::new(Session::new(None)),
            path_index: Arc::default(),
            toolbox: Toolbox::new(&Selection::default()),
            settings: Arc::new(Settings::default()),
            language_servers: None,
            options: ServerOptions::default(),
        });
        Ok(Self { client: InProcessClient::open(server).map_err(|error| error.to_string())?, folder, files: 0 })
    }

    fn name(&self) -> String {
        format!("{}.txt", self.files)
    }

    /// Puts the file of `case` in place of the one before, under a name that was never read, and reads it: a large file is
    /// shown in part, and lines of another content that were shown before would be changed by somebody since.
    fn put(&mut self, case: &Case) -> Result<(), String> {
        let _ = fs::remove_file(self.folder.path().join(self.name()));
        self.files += 1;
        let name = self.name();
        fs::write(self.folder.path().join(&name), &case.file).map_err(|error| error.to_string())?;
        self.call("read", &json!({ "path": name })).map(drop)
    }

    /// Reads the file and makes the edit, like a model.
    pub(crate) fn run(&mut self, case: &Case) -> Outcome {
        self.tried(case).unwrap_or_else(Outcome::Unfit)
    }

    /// Makes an edit that is refused: the error as a model reads it, its kind in brackets before it.
    pub(crate) fn refused(&mut self, case: &Case) -> Result<String, String> {
        self.put(case)?;
        let outcome = self
            .client
            .call("edit", case.arguments(&self.name()).as_object().cloned().unwrap_or_default())
            .map_err(|error| error.to_string())?;
        let kind = outcome.meta.get("rootbound/error").and_then(Value::as_str).unwrap_or("none");
        Ok(format!("[{kind}]\n{}", outcome.text()))
    }

    /// Makes an edit of the file as it is, which was read already.
    pub(crate) fn once_more(&mut self, case: &Case) -> Outcome {
        let tried = |this: &mut Self| {
            let name = this.name();
            let kind = this.call("edit", &case.arguments(&name))?;
            let bytes = fs::read(this.folder.path().join(name)).map_err(|error| error.to_string())?;
            Ok::<_, String>(Outcome::of_call(case, kind.as_deref(), bytes))
        };
        tried(self).unwrap_or_else(Outcome::Unfit)
    }

    fn tried(&mut self, case: &Case) -> Result<Outcome, String> {
        self.put(case)?;
        let name = self.name();
        let kind = self.call("edit", &case.arguments(&name))?;
        let bytes = fs::read(self.folder.path().join(name)).map_err(|error| error.to_string())?;
        let left = fs::read_dir(self.folder.path()).map_err(|error| error.to_string())?.count();
        if left != 1 {
            return Err(format!("{left} files in the folder of one"));
        }
        Ok(Outcome::of_call(case, kind.as_deref(), bytes))
    }

    /// The kind of error, if it was one.
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Option<String>, String> {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let outcome = self.client.call(tool, arguments).map_err(|error| error.to_string())?;
        let kind = outcome.meta.get("rootbound/error").and_then(Value::as_str).map(str::to_owned);
        if outcome.is_error && kind.is_none() { Err(outcome.text()) } else { Ok(kind) }
    }
}
