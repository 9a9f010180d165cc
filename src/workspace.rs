//! STUB of the workspace layer: signatures only.
#![allow(
    missing_docs,
    unused_variables,
    clippy::all,
    clippy::pedantic,
    clippy::todo,
    clippy::disallowed_types,
    clippy::allow_attributes_without_reason
)]
use std::{
    borrow::Cow,
    ffi::OsStr,
    fmt, io,
    ops::ControlFlow,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
    time::SystemTime,
};
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    ReadOnly,
    ReadWrite,
}
#[derive(Clone, Debug)]
pub struct RootSpec {
    pub name: Option<String>,
    pub path: PathBuf,
    pub access: Access,
}
#[derive(Debug)]
pub struct Root {
    name: Option<String>,
    access: Access,
    key: String,
}
impl Root {
    pub fn name(&self) -> Option<&str> {
        todo!()
    }
    pub fn access(&self) -> Access {
        todo!()
    }
    pub fn public(&self) -> String {
        todo!()
    }
    pub fn key(&self) -> &str {
        todo!()
    }
}
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub policy: PolicyRules,
    pub ignore: IgnoreRules,
    pub force_fallback: bool,
}
#[derive(Debug)]
pub struct Workspace {}
#[derive(Debug)]
pub struct Opened {
    pub workspace: Workspace,
    pub warnings: Vec<String>,
}
impl Workspace {
    pub fn open(specs: &[RootSpec], options: Options) -> Result<Opened, Vec<String>> {
        todo!()
    }
    pub fn roots(&self) -> &[Arc<Root>] {
        todo!()
    }
    pub fn root_path(&self, root: &Arc<Root>) -> WorkspacePath {
        todo!()
    }
    pub fn resolve(&self, text: &str) -> Result<WorkspacePath, PathError> {
        todo!()
    }
    pub fn stat(&self, path: &WorkspacePath) -> Result<Stat, AccessError> {
        todo!()
    }
    pub fn open_file(&self, path: &WorkspacePath) -> Result<OpenFile, AccessError> {
        todo!()
    }
    pub fn read(&self, path: &WorkspacePath, max_bytes: u64) -> Result<Snapshot, AccessError> {
        todo!()
    }
    pub fn walk(
        &self,
        start: &WorkspacePath,
        options: &WalkOptions,
        visit: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<WalkReport, AccessError> {
        todo!()
    }
    pub fn suggest(&self, missing: &WorkspacePath) -> Vec<WorkspacePath> {
        todo!()
    }
    pub fn writable(&self, path: &WorkspacePath) -> Result<WritablePath, AccessError> {
        todo!()
    }
    pub fn canonical(&self, path: &WorkspacePath) -> Result<WorkspacePath, AccessError> {
        todo!()
    }
    pub fn confine(&self, how: Confine, state: Option<&Path>) -> Result<ConfineReport, String> {
        todo!()
    }
}
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct WorkspacePath {
    rel: PathBuf,
}
impl fmt::Display for WorkspacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}
impl WorkspacePath {
    pub fn root(&self) -> &Arc<Root> {
        todo!()
    }
    pub fn is_root(&self) -> bool {
        todo!()
    }
    pub fn file_name(&self) -> Option<&OsStr> {
        todo!()
    }
    pub fn parent(&self) -> Option<WorkspacePath> {
        todo!()
    }
    pub fn relative(&self) -> &Path {
        todo!()
    }
    pub fn relative_to(&self, base: &WorkspacePath) -> &Path {
        todo!()
    }
    pub fn join(&self, relative: &str) -> Result<WorkspacePath, PathError> {
        todo!()
    }
    pub fn display_name(&self) -> String {
        todo!()
    }
}
pub fn escape_name(name: &OsStr) -> Cow<'_, str> {
    todo!()
}
#[derive(Debug)]
pub enum PathError {
    Denied { given: String },
    Invalid { given: String, reason: &'static str },
}
impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}
#[derive(Debug)]
pub struct AccessError {
    pub kind: AccessErrorKind,
    pub path: WorkspacePath,
    pub source: Option<io::Error>,
}
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessErrorKind {
    NotFound,
    Denied,
    Protected,
    ProtectedWrite,
    ReadOnly,
    IsDirectory,
    NotADirectory,
    Special(&'static str),
    TooLarge { size: u64, limit: u64 },
    Permission,
    Changed,
    Exists,
    Stale,
    TooManyLinks,
    NameTooLong,
    Io,
}
impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    File,
    Directory,
    Symlink,
    Other,
}
#[derive(Clone, Debug)]
pub struct Stat {
    pub kind: FileKind,
    pub size: u64,
    pub modified: Option<SystemTime>,
}
impl Stat {
    pub fn same_file_state(&self, other: &Stat) -> bool {
        todo!()
    }
}
#[derive(Debug)]
pub struct OpenFile {}
impl OpenFile {
    pub fn path(&self) -> &WorkspacePath {
        todo!()
    }
    pub fn real_path(&self) -> &WorkspacePath {
        todo!()
    }
    pub fn stat(&self) -> &Stat {
        todo!()
    }
    pub fn restat(&self) -> io::Result<Stat> {
        todo!()
    }
    pub fn read_to_limit(&mut self, buf: &mut Vec<u8>, limit: u64) -> io::Result<bool> {
        todo!()
    }
}
impl io::Read for OpenFile {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        todo!()
    }
}
impl io::Seek for OpenFile {
    fn seek(&mut self, pos: io::SeekFrom) -> io::Result<u64> {
        todo!()
    }
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Revision([u8; 16]);
pub struct RevisionHasher {}
impl RevisionHasher {
    pub fn update(&mut self, bytes: &[u8]) {
        todo!()
    }
    pub fn finish(self) -> Revision {
        todo!()
    }
}
impl Revision {
    pub fn of(bytes: &[u8]) -> Self {
        todo!()
    }
    pub fn hasher() -> RevisionHasher {
        todo!()
    }
}
impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}
impl FromStr for Revision {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        todo!()
    }
}
pub struct Snapshot {
    pub bytes: Vec<u8>,
    pub revision: Revision,
    pub stat: Stat,
    pub path: WorkspacePath,
}
#[derive(Clone, Debug, Default)]
pub struct PolicyRules {
    pub deny: Vec<String>,
    pub allow_secret: Vec<String>,
    pub protect: Vec<String>,
    pub allow_protected: Vec<String>,
    pub hide: Vec<String>,
}
impl PolicyRules {
    pub fn validate(&self) -> Vec<String> {
        todo!()
    }
}
#[derive(Clone, Debug, Default)]
pub struct IgnoreRules {
    pub extra: Vec<String>,
    pub no_default: bool,
}
impl IgnoreRules {
    pub fn validate(&self) -> Vec<String> {
        todo!()
    }
}
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ignored {
    Skip,
    Include,
    Only,
}
#[derive(Clone, Debug)]
pub struct WalkOptions {
    pub ignored: Ignored,
    pub max_depth: Option<usize>,
    pub directories: bool,
    pub symlinks: bool,
}
#[derive(Clone, Debug)]
pub struct Entry {}
impl Entry {
    pub fn path(&self) -> &WorkspacePath {
        todo!()
    }
    pub fn into_path(self) -> WorkspacePath {
        todo!()
    }
    pub fn kind(&self) -> FileKind {
        todo!()
    }
    pub fn depth(&self) -> usize {
        todo!()
    }
    pub fn stat(&self) -> Result<Stat, AccessError> {
        todo!()
    }
    pub fn open(&self) -> Result<OpenFile, AccessError> {
        todo!()
    }
    pub fn link_target(&self) -> Option<WorkspacePath> {
        todo!()
    }
    pub fn protected(&self) -> bool {
        todo!()
    }
}
#[derive(Clone, Debug, Default)]
pub struct WalkReport {
    pub unreadable: Vec<WorkspacePath>,
    pub unreadable_count: usize,
    pub ignored_files: usize,
    pub ignored_dirs: usize,
    pub stopped: bool,
}
#[derive(Clone, Debug)]
pub struct WritablePath {}
impl WritablePath {
    pub fn path(&self) -> &WorkspacePath {
        todo!()
    }
    pub fn asked(&self) -> &WorkspacePath {
        todo!()
    }
}
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    Absent,
    Revision(Revision),
}
pub struct Approval(());
impl Approval {
    pub fn by_policy() -> Self {
        todo!()
    }
}
pub struct WriteGuard {}
impl WriteGuard {
    pub fn acquire(workspace: &Workspace, path: WritablePath, base: Base) -> Result<WriteGuard, AccessError> {
        todo!()
    }
    pub fn commit(self, bytes: &[u8], approval: Approval) -> Result<Committed, AccessError> {
        todo!()
    }
}
#[derive(Debug)]
pub struct Committed {
    pub created: bool,
    pub revision: Revision,
    pub path: WorkspacePath,
}
#[derive(Debug)]
pub struct StateDir {}
impl StateDir {
    pub fn open(path: &Path) -> io::Result<Self> {
        todo!()
    }
    pub fn append(&self, file: &str, line: &[u8]) -> io::Result<()> {
        todo!()
    }
    pub fn read(&self, file: &str, max: u64) -> io::Result<Vec<u8>> {
        todo!()
    }
    pub fn replace(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        todo!()
    }
}
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confine {
    #[default]
    Auto,
    Required,
    Off,
}
#[derive(Debug)]
pub struct ConfineReport {
    pub level: String,
    pub enforced: bool,
}
