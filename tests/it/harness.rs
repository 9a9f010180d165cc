//! A workspace on the disk and the real server on it, in this process.
//!
//! Every answer is checked for host paths: none may reach a model.

pub(crate) mod each;
pub(crate) mod process;
pub(crate) mod program;
pub(crate) mod seeded_random;

#[cfg(unix)]
use std::time::Duration;
use std::{
    cell::RefCell,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use change_set::{StaleAfter, StateDir, Workspace};
use confined_fs::{Access, PolicyRules, RootSpec};
#[cfg(unix)]
use file_tools::CallContext;
use file_tools::{
    Selection, Settings, Toolbox,
    session::{HistoryLimits, QuotaLimits, Session},
};
use rootbound::server::{Block, CallOutcome, InProcessClient, Server, ServerOptions, Services};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
#[cfg(unix)]
use tree_search::{IndexMode, PathIndex};

/// A test that gets a harness with one unnamed read-write root.
macro_rules! mcp_test {
    ($(#[$meta:meta])* $name:ident, |$h:ident| $body:block) => {
        #[test]
        $(#[$meta])*
        fn $name() {
            let $h = crate::harness::Harness::new();
            $body
        }
    };
}
pub(crate) use mcp_test;

/// The settings of a harness; change what a test needs, then [`open`](Setup::open).
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// Roots by mount name, folder below the temporary one, and access.
    pub(crate) roots: Vec<(Option<&'static str>, &'static str, Access)>,
    /// The folders of the roots whose content is untrusted.
    pub(crate) untrusted: &'static [&'static str],
    pub(crate) selection: Selection,
    pub(crate) settings: Settings,
    pub(crate) options: ServerOptions,
    pub(crate) workspace: confined_fs::WorkspaceOptions,
    /// When a temporary file counts as left behind.
    pub(crate) stale_after: StaleAfter,
    /// Whether the server has a state folder.
    pub(crate) state: bool,
    pub(crate) quota: QuotaLimits,
    /// What the client calls itself; `None` for the client in this process.
    pub(crate) client: Option<&'static str>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            roots: vec![(None, "root", Access::ReadWrite)],
            untrusted: &[],
            selection: Selection::default(),
            settings: Settings::default(),
            options: ServerOptions::default(),
            workspace: confined_fs::WorkspaceOptions::default(),
            stale_after: StaleAfter::default(),
            state: false,
            quota: QuotaLimits::default(),
            client: None,
        }
    }
}

impl Setup {
    /// Makes the folders and connects to a server on them.
    pub(crate) fn open(self) -> Harness {
        let dir = tempfile::Builder::new().prefix("rootbound-host-").tempdir().expect("a temporary folder");
        for (_, folder, _) in &self.roots {
            fs::create_dir_all(dir.path().join(folder)).expect("a folder for each root");
        }
        let client = RefCell::new(self.connect(dir.path()));
        Harness { client, dir, setup: self }
    }

    /// The roots, opened in the folders below `dir`.
    pub(crate) fn workspace(&self, dir: &Path) -> Workspace {
        let roots: Vec<RootSpec> = self
            .roots
            .iter()
            .map(|(name, folder, access)| RootSpec {
                name: name.map(str::to_owned),
                path: dir.join(folder),
                access: *access,
                policy: PolicyRules { untrusted: self.untrusted.contains(folder), ..PolicyRules::default() },
                optional: false,
            })
            .collect();
        Workspace::open_sweeping(&roots, self.workspace.clone(), self.stale_after).expect("the roots open").workspace
    }

    /// What a call has in `workspace`, whose session keeps names and filters as `index` says. It is neither
    /// cancelled nor out of time.
    #[cfg(unix)]
    pub(crate) fn context(&self, workspace: &Arc<Workspace>, index: IndexMode) -> CallContext {
        let (session, path_index) = (Arc::new(self.session(None)), Arc::new(PathIndex::new(index)));
        let settings = Arc::new(self.settings.clone());
        CallContext::new(Arc::clone(workspace), session, path_index, settings, Duration::from_secs(24 * 3600))
    }

    fn session(&self, state: Option<StateDir>) -> Session {
        Session::of(state, &HistoryLimits::default(), None, self.quota)
    }

    /// The server that these settings describe, on the folders below `dir`.
    pub(crate) fn server(&self, dir: &Path) -> Server {
        let state = self.state.then(|| StateDir::open(&dir.join("state")).expect("the state folder opens"));
        let workspace = self.workspace(dir);
        if let Some(state) = &state {
            workspace.keep_intents(state);
        }
        Server::new(Services {
            workspace: Arc::new(workspace),
            session: Arc::new(self.session(state)),
            path_index: Arc::default(),
            toolbox: Toolbox::new(&self.selection),
            settings: Arc::new(self.settings.clone()),
            language_servers: None,
            options: self.options.clone(),
        })
    }

    /// A client of a server of its own on the folders below `dir`.
    fn connect(&self, dir: &Path) -> InProcessClient {
        let Some(name) = self.client else {
            return InProcessClient::open(self.server(dir)).expect("the server starts");
        };
        let mut client = InProcessClient::connect(self.server(dir)).expect("the server starts");
        let info = json!({ "name": name, "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
        client.request("initialize", params).expect("the server answers");
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).expect("the server reads");
        client
    }
}

/// A workspace and a client of a server on it.
#[derive(Debug)]
pub(crate) struct Harness {
    client: RefCell<InProcessClient>,
    dir: TempDir,
    setup: Setup,
}

impl Harness {
    /// One unnamed read-write root, and defaults for all else.
    pub(crate) fn new() -> Self {
        Setup::default().open()
    }

    /// The host path of `relative` below the first root.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.outside(self.setup.roots[0].1).join(relative)
    }

    /// The host path of `relative` below the folder that holds the roots: outside of all of them.
    pub(crate) fn outside(&self, relative: &str) -> PathBuf {
        self.dir.path().join(relative)
    }

    /// Writes a file below the first root, with its folders.
    pub(crate) fn write(&self, relative: &str, content: impl AsRef<[u8]>) {
        write(&self.path(relative), content.as_ref());
    }

    /// Writes a file outside of the roots.
    pub(crate) fn write_outside(&self, relative: &str, content: impl AsRef<[u8]>) {
        write(&self.outside(relative), content.as_ref());
    }

    /// Makes a folder below the first root.
    pub(crate) fn mkdir(&self, relative: &str) {
        fs::create_dir_all(self.path(relative)).expect("a folder can be made");
    }

    /// Makes a link to `target`, as it is spelled, below the first root.
    #[cfg(unix)]
    pub(crate) fn symlink(&self, target: impl AsRef<Path>, relative: &str) {
        let link = self.path(relative);
        fs::create_dir_all(link.parent().expect("below the root")).expect("a folder can be made");
        std::os::unix::fs::symlink(target, link).expect("a link can be made");
    }

    /// The bytes of a file below the first root.
    pub(crate) fn bytes(&self, relative: &str) -> Vec<u8> {
        fs::read(self.path(relative)).unwrap_or_else(|error| panic!("{relative}: {error}"))
    }

    /// Whether the path below the first root exists, even as a dangling link.
    pub(crate) fn exists(&self, relative: &str) -> bool {
        fs::symlink_metadata(self.path(relative)).is_ok()
    }

    /// Ends the server and starts another on the same files.
    pub(crate) fn restart(&self) {
        *self.client.borrow_mut() = self.setup.connect(self.dir.path());
    }

    /// Another server on the same files, with a client of its own, until [`Self::exchange`] brings the first one back.
    pub(crate) fn other(&self) -> InProcessClient {
        self.setup.connect(self.dir.path())
    }

    /// Puts `client` in the place of the present one, which takes its place.
    pub(crate) fn exchange(&self, client: &mut InProcessClient) {
        std::mem::swap(&mut *self.client.borrow_mut(), client);
    }

    /// As [`Self::call`], in the name of a thread.
    #[expect(clippy::needless_pass_by_value, reason = "written in the call")]
    pub(crate) fn call_as(&self, thread: &str, tool: &str, arguments: Value) -> Answer {
        let call = format!("{thread}: {tool} {arguments}");
        let params = json!({ "name": tool, "arguments": arguments, "_meta": { "thread_id": thread } });
        let result = self.request("tools/call", params).unwrap_or_else(|error| panic!("{call}: {error}"));
        Answer { outcome: serde_json::from_value(result).expect("the result of a call"), call }
    }

    /// Sends a request; `Err` holds the message of a protocol error.
    pub(crate) fn request(&self, method: &str, params: Value) -> Result<Value, String> {
        self.client.borrow_mut().request(method, params).map_err(|error| error.to_string())
    }

    /// Calls a tool; `arguments` must be an object.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Answer {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object, not {arguments}") };
        let sent = Value::Object(arguments.clone()).to_string();
        let outcome = self.client.borrow_mut().call(tool, arguments);
        let outcome = outcome.unwrap_or_else(|error| panic!("{tool} {sent}: protocol error: {error}"));
        let host = self.dir.path().to_str().expect("temporary folders have plain names");
        let shown = format!("{outcome:?}");
        // A path that the model sent may be repeated.
        assert!(sent.contains(host) || !shown.contains(host), "{tool} {sent} shows the host path: {shown}");
        Answer { outcome, call: format!("{tool} {sent}") }
    }
}

/// A repository in the folder `main` outside of the roots, with worktrees as git makes them: each with its branch and id,
/// and its folder.
pub(crate) fn repository_with_worktrees(h: &Harness, worktrees: &[(&str, &str)]) {
    for (file, content) in
        [("HEAD", "ref: refs/heads/main\n"), ("config", "[core]\n\tbare = false\n"), ("objects/x", ""), ("refs/x", "")]
    {
        h.write_outside(&format!("main/.git/{file}"), content);
    }
    // With slashes, as git writes them on each system.
    let host = |path: &str| h.outside(path).to_str().expect("a plain name").replace('\\', "/");
    for (id, folder) in worktrees {
        let own = format!("main/.git/worktrees/{id}");
        h.write_outside(&format!("{own}/HEAD"), format!("ref: refs/heads/{id}\n"));
        h.write_outside(&format!("{own}/gitdir"), format!("{}/.git\n", host(folder)));
        h.write_outside(&format!("{folder}/.git"), format!("gitdir: {}\n", host(&own)));
    }
}

/// The answer of a call; each method that expects something shows the call if it fails.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    outcome: CallOutcome,
    call: String,
}

impl Answer {
    /// The text, of an answer or an error.
    pub(crate) fn text(&self) -> String {
        self.outcome.text()
    }

    /// The text of a success.
    #[track_caller]
    pub(crate) fn ok(&self) -> String {
        assert!(!self.outcome.is_error, "{}\nfailed: {}", self.call, self.text());
        self.text()
    }

    /// The metadata for programs, of a success.
    #[track_caller]
    pub(crate) fn facts(&self) -> Map<String, Value> {
        self.ok();
        let facts = self.outcome.meta.get("rootbound/result").and_then(Value::as_object);
        facts.unwrap_or_else(|| panic!("{}\nhas no facts: {:?}", self.call, self.outcome)).clone()
    }

    /// The kind of an error; `None` for a success.
    pub(crate) fn error_kind(&self) -> Option<&str> {
        let kind = || self.outcome.meta.get("rootbound/error").and_then(Value::as_str);
        self.outcome.is_error.then(|| kind().unwrap_or_else(|| panic!("{}\nerror without a kind", self.call)))
    }

    /// An error of `kind`; its text is returned.
    #[track_caller]
    pub(crate) fn fails(&self, kind: &str) -> String {
        assert_eq!(self.error_kind(), Some(kind), "{}\n{}", self.call, self.text());
        let text = self.text();
        assert!(!text.is_empty() && !text.starts_with(char::is_uppercase), "{}\nnot a sentence: {text}", self.call);
        let (_, hint) = text.split_once("\n\nhint: ").unwrap_or_else(|| panic!("{}\nno next call: {text}", self.call));
        let end = text.len() - hint.len() + hint.lines().next().unwrap_or_default().len();
        let shown = text[..end].chars().count();
        assert!(!hint.starts_with('\n') && shown <= 480, "{}\nno hint in 480 characters: {text}", self.call);
        text
    }

    /// An error that says that access was denied; its text is returned.
    #[track_caller]
    pub(crate) fn denied(&self) -> String {
        self.fails("denied")
    }

    /// The complete result as data.
    #[track_caller]
    pub(crate) fn structured(&self) -> &Value {
        self.outcome.structured.as_ref().unwrap_or_else(|| panic!("{}\nhas no data: {:?}", self.call, self.outcome))
    }

    /// The blocks.
    pub(crate) fn content(&self) -> &[Block] {
        &self.outcome.content
    }
}

fn write(path: &Path, content: &[u8]) {
    fs::create_dir_all(path.parent().expect("below a folder")).expect("a folder can be made");
    fs::write(path, content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// How many of so many random cases, or files, are tried here: an eighth on Windows. Under Wine each call to the file
/// system takes ten times as long; Linux tries all of them.
pub(crate) const fn share(cases: u32) -> u32 {
    if cfg!(windows) { cases.div_ceil(8) } else { cases }
}

/// A PNG of this size in pixels.
pub(crate) fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let picture = image::DynamicImage::new_rgb8(width, height);
    picture.write_to(&mut bytes, image::ImageFormat::Png).expect("an image is encoded in memory");
    bytes.into_inner()
}
