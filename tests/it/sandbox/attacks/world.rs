//! A disk to attack: two roots among siblings with canaries, and links of every kind; and the client that calls and
//! compares what must not change.

#[cfg(unix)]
use std::os::unix::{
    ffi::OsStrExt as _,
    fs::{MetadataExt as _, symlink},
    net::UnixListener,
};
use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Barrier, Case, Expect, checkouts::WORKTREE};
use crate::harness::{process::Process, program::ELSEWHERE};

/// Text that no answer may contain unless the call sent it: content from outside, secret content, and names from
/// outside.
pub(super) const CANARY: &str = "CANARY-of-the-outside";
pub(super) const SECRET: &str = "SECRET-of-the-inside";
pub(super) const NAME: &str = "zebra";

/// The disk, and the server on it.
pub(super) struct World {
    // Dropped first: Windows does not delete the current folder of a process.
    process: Process,
    dir: TempDir,
    /// The disk after the last call, so that each state is read once.
    last: Option<Picture>,
    /// Calls since then, and whether one of them may have changed the root.
    since: (usize, bool),
}

/// Calls after which the disk is compared: each one, but several together on Windows, where Wine takes 200 ms for it, and on
/// another machine, as the same attacks were compared one by one here.
fn compared_every() -> usize {
    if cfg!(windows) || std::env::var_os(ELSEWHERE).is_some() { 25 } else { 1 }
}

/// Each entry by its path as one string, which is compared faster than by its names: its marks, and its content.
type Picture = BTreeMap<OsString, (String, Vec<u8>)>;

impl World {
    /// Builds the disk and starts the server with `barrier`.
    pub(super) fn new(barrier: Barrier) -> Self {
        Self::with(barrier, &[])
    }

    /// The same with more options.
    pub(super) fn with(barrier: Barrier, more: &[&str]) -> Self {
        Self::arranged(barrier, more, |_| {})
    }

    /// The same, started once `arrange` has added to the disk.
    pub(super) fn arranged(barrier: Barrier, more: &[&str], arrange: fn(&Path)) -> Self {
        let dir = tempfile::Builder::new().prefix("rootbound-host-").tempdir().expect("a temporary folder");
        build(dir.path());
        arrange(dir.path());
        let mut arguments = vec![
            "--root",
            "app=root",
            "--root",
            "lib=lib:ro",
            "--read-before-write",
            "off",
            "--allow",
            "manage,patch,present,watch",
        ];
        // Reached by links below the root where there are links; its settings are the defaults.
        arguments.extend(["--config", if cfg!(unix) { "root/conf_dir/in/rb.toml" } else { "conf/rb.toml" }]);
        arguments.extend(barrier.arguments());
        arguments.extend(more);
        let mut process = Process::start_checked(dir.path(), &arguments);
        process.initialize();
        Self { process, dir, last: None, since: (0, false) }
    }

    /// Whether the disk here has what the case needs: Windows lacks [`LINKS`] and [`UNIX_ONLY`], and some names.
    pub(super) fn has_what_it_needs(case: &Case) -> bool {
        cfg!(unix) || !(UNIX_CASES.contains(&case.name.as_str()) || names_a_link(&case.arguments))
    }

    /// The host path of `relative`.
    pub(super) fn path(&self, relative: &str) -> PathBuf {
        self.dir.path().join(relative)
    }

    /// Makes the call; an error says what was wrong.
    pub(super) fn attack(&mut self, case: &Case) -> Result<(), String> {
        let mut arguments = case.arguments.clone();
        self.fill_in(&mut arguments);
        let before = self.last.take().unwrap_or_else(|| self.picture());
        let answer = self.process.ask("tools/call", &json!({ "name": case.tool, "arguments": arguments }));
        self.last = Some(before);
        self.since = (self.since.0 + 1, self.since.1 || case.writes);
        let checked = if self.since.0 >= compared_every() { self.compare() } else { Ok(()) };
        let report = |what: String| format!("{}: {what}\n    {} {arguments}\n    {answer}", case.name, case.tool);
        checked.map_err(&report)?;
        self.silent(&arguments.to_string(), &answer).map_err(&report)?;
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        let kind = result["_meta"]["rootbound/error"].as_str();
        let failed = result["isError"] == true;
        Self::plain(text, !failed && matches!(case.tool, "read" | "grep")).map_err(&report)?;
        match case.expect {
            // A name that Windows does not allow is refused as such, before any rule.
            Expect::Fails(["denied" | "not_found"]) if cfg!(windows) && failed && kind == Some("invalid_input") => {
                Ok(())
            }
            Expect::Fails(kinds) if !(failed && kind.is_some_and(|kind| kinds.contains(&kind))) => {
                Err(report(format!("expected an error of {kinds:?}")))
            }
            Expect::Answers(part) if failed || !text.contains(part) => {
                Err(report(format!("expected an answer with {part:?}")))
            }
            Expect::Without(part) if failed || text.contains(part) => {
                Err(report(format!("expected an answer without {part:?}")))
            }
            Expect::Refused if answer.get("error").is_none() => Err(report("expected a protocol error".into())),
            Expect::Harmless if answer.get("error").is_some() => Err(report("unexpected protocol error".into())),
            _ => Ok(()),
        }
    }

    /// Compares the disk with that of the last comparison; an error of [`compared_every`] calls names the last.
    pub(super) fn compare(&mut self) -> Result<(), String> {
        let (_, writes) = std::mem::take(&mut self.since);
        let after = self.picture();
        let before = self.last.replace(after);
        let (Some(before), Some(after)) = (before, &self.last) else { return Ok(()) };
        Self::unchanged(&before, after, writes)
    }

    /// Checks that the server still answers and reads.
    pub(super) fn alive(&mut self) {
        let answer = self.process.ask("tools/call", &json!({ "name": "read", "arguments": { "path": "app/a.txt" } }));
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }

    /// The connection, for messages that are no calls.
    pub(super) fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// Everything outside, the read-only root, and the read-write root without its directories' times.
    pub(super) fn picture(&self) -> Picture {
        let mut picture = Picture::new();
        look(self.dir.path(), Path::new(""), &mut picture);
        picture
    }

    /// Checks that nothing changed that must not.
    pub(super) fn unchanged(before: &Picture, after: &Picture, root_too: bool) -> Result<(), String> {
        if before == after {
            return Ok(());
        }
        let guarded = |path: &Path| {
            let inside = path.starts_with("root");
            // In a worktree with its own rules what is kept is kept from its top.
            let from_top = path.strip_prefix(Path::new("root").join(WORKTREE)).or_else(|_| path.strip_prefix("root"));
            let from_top = from_top.unwrap_or(path);
            !(inside && root_too) || KEPT.iter().any(|kept| from_top.starts_with(kept))
        };
        let differs = |path: &&OsString| before.get(*path) != after.get(*path) && guarded(Path::new(path));
        let changed: Vec<_> = before.keys().chain(after.keys()).filter(differs).collect();
        if changed.is_empty() { Ok(()) } else { Err(format!("the disk changed: {changed:?}")) }
    }

    /// Checks that the answer has no forbidden text.
    pub(super) fn silent(&self, sent: &str, answer: &Value) -> Result<(), String> {
        let shown = answer.to_string();
        let host = self.dir.path().to_str().expect("temporary folders have plain names");
        for needle in [CANARY, SECRET, NAME, host, "root:x:0:0", "PATH=", "rootbound-host-"] {
            if shown.contains(needle) && !sent.contains(needle) {
                return Err(format!("the answer shows {needle:?}"));
            }
        }
        Ok(())
    }

    /// Checks that the text has no terminal control characters. `content`: it has lines of files, whose bidirectional
    /// characters are kept.
    fn plain(text: &str, content: bool) -> Result<(), String> {
        let drives = |c: &char| match *c {
            '\n' | '\t' => false,
            c => {
                c.is_control()
                    || !content
                        && matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            }
        };
        match text.chars().find(drives) {
            Some(control) => Err(format!("the answer holds a raw {control:?}")),
            None => Ok(()),
        }
    }

    /// Puts the host paths into arguments that name them as `{host}`.
    fn fill_in(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                let host = self.dir.path().to_str().expect("a plain name");
                let rooted = host.split_once(':').map_or(host, |(_drive, rooted)| rooted);
                let uri = if cfg!(windows) {
                    format!("file:///{}", host.replace('\\', "/"))
                } else {
                    format!("file://{host}")
                };
                *text = text.replace("{uri}", &uri).replace("{host}", host).replace("{rooted}", rooted);
            }
            Value::Object(map) => map.values_mut().for_each(|value| self.fill_in(value)),
            Value::Array(list) => list.iter_mut().for_each(|value| self.fill_in(value)),
            _ => {}
        }
    }
}

/// Paths that must not change even if a case may write below the root.
const KEPT: &[&str] = &[
    ".git",
    ".env",
    ".ssh",
    "id_rsa",
    "keys",
    ".vscode",
    ".claude",
    ".mcp.json",
    "way",
    "far_conf",
    "conf_dir/in",
    "mirror.git",
    "sep",
    "wtmeta",
    "halfhead/HEAD",
    "shared_zed",
    "cfgs/git",
    "ring",
    "k8s",
    "agent_secret",
    "agent_kept",
    "vault",
    ".cursorignore",
];

/// Links in the root: name and target, `{host}` being the folder that holds everything.
const LINKS: &[(&str, &str)] = &[
    // Out of the root
    ("out_file", "../outside/zebra-secret.txt"),
    ("out_file_absolute", "{host}/outside/zebra-secret.txt"),
    ("out_dir", "../outside"),
    ("out_dir_absolute", "{host}/outside"),
    ("out_chain", "out_chain_2"),
    ("out_chain_2", "sub/../out_file"),
    ("out_through_dir", "sub/up/outside/zebra-secret.txt"),
    ("sub/up", "../.."),
    ("out_sibling", "../root-evil/zebra-secret.txt"),
    ("out_sibling_dir", "../root-evil"),
    ("out_parent", ".."),
    ("out_bounce", "../outside/zebra-back"),
    ("out_bounce_dir", "../outside/zebra-back-dir/a.txt"),
    ("out_slash", "/"),
    ("out_etc", "/etc/passwd"),
    ("out_dangling", "../outside/zebra-new.txt"),
    ("out_dangling_deep", "../outside/zebra-no/zebra-new.txt"),
    ("out_dangling_absolute", "{host}/outside/zebra-new.txt"),
    ("out_nowhere", "/nonexistent/zebra"),
    ("out_dots", "sub/../../outside/./zebra-secret.txt"),
    ("out_almost_root", "../root/../outside/zebra-secret.txt"),
    // The kernel's magic
    ("magic_root", "/proc/self/root"),
    ("magic_cwd", "/proc/self/cwd"),
    ("magic_environ", "/proc/self/environ"),
    ("magic_maps", "/proc/self/maps"),
    ("magic_fd", "/proc/self/fd/0"),
    ("magic_fds", "/proc/self/fd"),
    ("magic_thread", "/proc/thread-self/root/etc/passwd"),
    ("magic_stdin", "/dev/stdin"),
    ("magic_stdout", "/dev/stdout"),
    ("device_zero", "/dev/zero"),
    ("device_random", "/dev/urandom"),
    ("device_full", "/dev/full"),
    ("device_tty", "/dev/tty"),
    // Loops
    ("loop_self", "loop_self"),
    ("loop_a", "loop_b"),
    ("loop_b", "loop_a"),
    ("loop_deep", "loop_deep/x"),
    // Names in the lists of the policy
    ("alias_env", ".env"),
    ("alias_key", "keys/server.pem"),
    ("alias_ssh", ".ssh"),
    ("alias_of_alias", "alias_env"),
    ("alias_absolute", "{host}/root/.env"),
    ("sub/alias_up", "../id_rsa"),
    ("alias_git", ".git"),
    ("alias_hooks", ".git/hooks"),
    ("alias_config", ".git/config"),
    ("alias_tasks", ".vscode/tasks.json"),
    ("alias_vscode", ".vscode"),
    ("alias_future_hook", ".git/hooks/pre-push"),
    ("alias_future_env", ".env.production"),
    // Links to the configuration
    ("conf_dir/in", "../way"),
    ("way", "far_conf"),
    ("far_conf", "../conf"),
    // Links that span a name of the lists
    (".zed", "shared_zed"),
    ("to_zed", ".zed"),
    (".config", "cfgs"),
    ("to_config", ".config"),
    (".cargo", "cargo_shared"),
    ("proj/.cargo", "../cargo_proj"),
    (".gnupg", "ring"),
    ("to_gnupg", ".gnupg"),
    (".kube", "k8s"),
    ("to_kube", ".kube"),
    ("to_vault", "vault"),
    ("alias_mirror", "mirror.git"),
    ("to_sub", "sub"),
    ("with_link/tasks", "../sub"),
    // Legitimate ones
    ("in_file", "a.txt"),
    ("in_dir", "sub"),
    ("in_absolute", "{host}/root/a.txt"),
    ("in_there_and_back", "../root/a.txt"),
    ("in_chain", "in_file"),
    ("in_dangling", "fresh.txt"),
    ("in_lib", "../lib"),
    ("in_lib_absolute", "{host}/lib/shared.txt"),
];

/// Other entries of the root that are on Unix only.
const UNIX_ONLY: &[&str] = &["fifo", "socket", "device", "sparse.bin"];

/// Cases about names that hold a `\`, a line break or an escape, none of which a name can hold on Windows.
const UNIX_CASES: &[&str] = &["an escaped name comes back", "a name that is a slash", "an escaped dot-dot"];

fn names_a_link(value: &Value) -> bool {
    match value {
        // Also in a patch, between quotes and behind the prefixes of git.
        Value::String(text) => text.split([' ', '\n', '"']).any(|word| {
            let word = word.strip_prefix("a/").or_else(|| word.strip_prefix("b/")).unwrap_or(word);
            let path = Path::new(word.trim_start_matches("{host}/root/").trim_start_matches("app/"));
            LINKS.iter().map(|(name, _)| name).chain(UNIX_ONLY).any(|name| path.starts_with(name))
        }),
        Value::Object(map) => map.values().any(names_a_link),
        Value::Array(list) => list.iter().any(names_a_link),
        _ => false,
    }
}

fn build(host: &Path) {
    let root = host.join("root");
    for (path, content) in [
        ("root/a.txt", "alpha\nbeta\n".to_owned()),
        ("root/sub/b.txt", "beneath\n".to_owned()),
        ("root/sub/c.rs", "fn main() {}\n".to_owned()),
        ("root/.env", format!("TOKEN={SECRET}\n")),
        ("root/.ssh/config", format!("{SECRET}\n")),
        ("root/id_rsa", format!("{SECRET}\n")),
        ("root/keys/server.pem", format!("{SECRET}\n")),
        ("root/.env.example", "TOKEN=\n".to_owned()),
        ("root/.git/config", "[core]\n\tbare = false\n".to_owned()),
        ("root/.git/hooks/pre-commit", "#!/bin/sh\nexit 0\n".to_owned()),
        ("root/.vscode/tasks.json", "{}\n".to_owned()),
        (
            "root/.claude/settings.json",
            r#"{"permissions":{"deny":["Read(/agent_secret/**)","Edit(./agent_kept/**)","Bash(rm *)"]}}"#.to_owned(),
        ),
        ("root/.cursorignore", "*.agent\n!open.agent\nvault/\n!vault/open.agent\n".to_owned()),
        ("root/agent_secret/x", format!("{SECRET}\n")),
        ("root/agent_secret/deep/y", format!("{SECRET}\n")),
        ("root/agent_kept/x", "kept\n".to_owned()),
        ("root/sub/agent_secret/x", "plain\n".to_owned()),
        ("root/a.agent", format!("{SECRET}\n")),
        ("root/sub/b.agent", format!("{SECRET}\n")),
        ("root/open.agent", "open\n".to_owned()),
        ("root/vault/open.agent", format!("{SECRET}\n")),
        ("root/vault/any", format!("{SECRET}\n")),
        ("conf/rb.toml", "log = \"warn\"\n".to_owned()),
        ("root/conf_dir/other.txt", "plain\n".to_owned()),
        ("root/mirror.git/worktrees/x/HEAD", "ref: refs/heads/x\n".to_owned()),
        ("root/mirror.git/worktrees/x/commondir", "../..\n".to_owned()),
        ("root/wtmeta/HEAD", "ref: refs/heads/x\n".to_owned()),
        ("root/wtmeta/commondir", "../sep\n".to_owned()),
        ("root/halfhead/HEAD", "ref: refs/heads/x\n".to_owned()),
        ("root/halfhead/config", "plain\n".to_owned()),
        ("root/tmpl/objects/a", "plain\n".to_owned()),
        ("root/tmpl/refs/a", "plain\n".to_owned()),
        ("root/shared_zed/tasks.json", "{}\n".to_owned()),
        ("root/cfgs/git/config", "[user]\n".to_owned()),
        ("root/cargo_shared/config.toml", "[build]\n".to_owned()),
        ("root/cargo_proj/config.toml", "[build]\n".to_owned()),
        ("root/proj/readme.txt", "plain\n".to_owned()),
        ("root/with_link/plain.txt", "plain\n".to_owned()),
        ("root/.mcp.json", "{}\n".to_owned()),
        ("root/hidden.txt", "plain\u{202e}reversed\ntag\u{e0041}\n".to_owned()),
        ("lib/shared.txt", "shared\n".to_owned()),
        ("lib/deep/more.txt", "more\n".to_owned()),
        ("outside/zebra-secret.txt", format!("{CANARY}\n")),
        ("outside/zebra-dir/zebra-deep.txt", format!("{CANARY}\n")),
        ("root-evil/zebra-secret.txt", format!("{CANARY}\n")),
        ("root2/zebra-secret.txt", format!("{CANARY}\n")),
        ("lib-evil/zebra-secret.txt", format!("{CANARY}\n")),
        ("roo/zebra-secret.txt", format!("{CANARY}\n")),
        ("zebra-beside.txt", format!("{CANARY}\n")),
        ("outside/zebra-shared.txt", "hard linked\n".to_owned()),
    ] {
        let path = host.join(path);
        fs::create_dir_all(path.parent().expect("below the host folder")).expect("a folder");
        fs::write(path, content).expect("a file");
    }
    for repository in ["mirror.git", "sep", "mirror.git/modules/m"] {
        let repository = root.join(repository);
        for folder in ["objects", "refs", "hooks"] {
            fs::create_dir_all(repository.join(folder)).expect("a folder");
        }
        for (name, content) in
            [("HEAD", "ref: refs/heads/main\n"), ("config", "[core]\n\tbare = true\n"), ("description", "unnamed\n")]
        {
            fs::write(repository.join(name), content).expect("a file");
        }
    }
    fs::hard_link(host.join("outside/zebra-shared.txt"), root.join("hard.txt")).expect("a hard link");
    for name in ["odd\u{202e}txt.exe", "odd\u{200b}zero.txt", "a%20b.txt", "-rf"] {
        fs::write(root.join(name), "odd\n").expect("a file");
    }
    fs::write(root.join("long-line.txt"), "x".repeat(4 << 20)).expect("a file");
    let deep = (0..if cfg!(unix) { 300 } else { 20 }).fold(root.join("deep"), |path, _| path.join("dddddd"));
    fs::create_dir_all(&deep).expect("a deep folder");
    #[cfg(unix)]
    unix_only(host, &root);
}

/// Links, names and kinds of files that Windows does not have, or not without a privilege.
#[cfg(unix)]
fn unix_only(host: &Path, root: &Path) {
    let at_host = |target: &str| target.replace("{host}", host.to_str().expect("a plain name"));
    // Secret only by the names of links to them.
    for (folder, name) in [("ring", "keys"), ("k8s", "config")] {
        fs::create_dir(root.join(folder)).expect("a folder");
        fs::write(root.join(folder).join(name), format!("{SECRET}\n")).expect("a file");
    }
    for (name, target) in LINKS {
        symlink(at_host(target), root.join(name)).expect("a link");
    }
    symlink("../root/a.txt", host.join("outside/zebra-back")).expect("a link");
    symlink("../root", host.join("outside/zebra-back-dir")).expect("a link");
    symlink(at_host("{host}/outside/zebra-secret.txt"), host.join("lib/out")).expect("a link");
    let odd: [&[u8]; 4] = [b"odd\nline.txt", b"odd\x1b[31mred.txt", b"odd\xff\xfe.txt", b"odd\x07bell.txt"];
    for name in odd {
        fs::write(root.join(std::ffi::OsStr::from_bytes(name)), "odd\n").expect("a file");
    }
    special(root);
}

#[cfg(unix)]
fn special(root: &Path) {
    use rustix::fs::{CWD, FileType, Mode, OFlags, ftruncate, makedev, mknodat, openat};
    mknodat(CWD, root.join("fifo"), FileType::Fifo, Mode::from_raw_mode(0o666), 0).expect("a FIFO");
    drop(UnixListener::bind(root.join("socket")).expect("a socket"));
    // Only root may create one; otherwise the links to /dev replace it.
    let zero = (FileType::CharacterDevice, makedev(1, 5));
    if mknodat(CWD, root.join("device"), zero.0, Mode::from_raw_mode(0o666), zero.1).is_err() {
        symlink("/dev/zero", root.join("device")).expect("a link");
    }
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
    let sparse = openat(CWD, root.join("sparse.bin"), flags, Mode::from_raw_mode(0o644)).expect("a file");
    ftruncate(&sparse, 1 << 40).expect("a terabyte of nothing");
}

/// Kind, mode, owner, size, times and (where small) content of everything below `dir`.
fn look(dir: &Path, relative: &Path, picture: &mut Picture) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(stat) = fs::symlink_metadata(&path) else { continue };
        let relative = relative.join(entry.file_name());
        let content = if stat.is_file() && stat.len() < 1 << 20 { fs::read(&path).unwrap_or_default() } else { vec![] };
        let inside = relative.starts_with("root");
        let marks = if stat.is_dir() && inside { mode(&stat) } else { marks(&stat) };
        if stat.is_dir() && !relative.starts_with("root/deep") {
            look(&path, &relative, picture);
        }
        picture.insert(relative.into_os_string(), (marks, content));
    }
}

#[cfg(unix)]
fn mode(stat: &fs::Metadata) -> String {
    format!("{:o}", stat.mode())
}

#[cfg(windows)]
fn mode(stat: &fs::Metadata) -> String {
    format!("{:?}", stat.permissions())
}

#[cfg(unix)]
fn marks(stat: &fs::Metadata) -> String {
    let time = (stat.mtime(), stat.mtime_nsec());
    format!("{:o} {} {} {time:?} {}", stat.mode(), stat.uid(), stat.len(), stat.ino())
}

#[cfg(windows)]
fn marks(stat: &fs::Metadata) -> String {
    format!("{} {} {:?} {:?}", mode(stat), stat.len(), stat.modified().ok(), stat.created().ok())
}
