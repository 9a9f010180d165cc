//! A directory that may be missing: what a model, and other programs, put where it would be.
//!
//! `late` may be missing beside the root of the model, `app/ro` and `app/deep/er/ro` below it: those the model could make
//! itself, if it were allowed to, and would then have made the content of a read-only directory.

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::Barrier;
use crate::harness::process::Process;

const CANARY: &str = "CANARY-of-the-outside";

struct Late {
    dir: TempDir,
    process: Process,
}

impl Late {
    fn new(barrier: Barrier) -> Self {
        let dir = tempfile::Builder::new().prefix("rootbound-late-").tempdir().expect("a temporary folder");
        for folder in ["app", "up", "outside"] {
            fs::create_dir(dir.path().join(folder)).expect("a folder");
        }
        fs::write(dir.path().join("app/a.txt"), "inside\n").expect("a file");
        fs::write(dir.path().join("outside/a.txt"), format!("{CANARY}\n")).expect("a file");
        let roots = [
            "app=app",
            "late=late:optional",
            "up=up/late:ro:optional",
            "ro=app/ro:ro:optional",
            "er=app/deep/er/ro:ro:optional",
        ];
        let mut arguments = vec!["--read-before-write", "off", "--allow", "manage"];
        arguments.extend(roots.iter().flat_map(|root| ["--root", root]));
        arguments.extend(barrier.arguments());
        let mut process = Process::start_checked(dir.path(), &arguments);
        process.initialize();
        Self { dir, process }
    }

    fn host(&self, path: &str) -> std::path::PathBuf {
        self.dir.path().join(path)
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> (bool, String) {
        let answer = self.process.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let shown = answer.to_string();
        assert!(!shown.contains(CANARY) && !shown.contains("rootbound-late-"), "{tool} {arguments}: {shown}");
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        (result["isError"] == false, text)
    }

    #[expect(clippy::needless_pass_by_value, reason = "written in the call")]
    fn fails(&mut self, tool: &str, arguments: Value, part: &str) {
        let (succeeded, text) = self.call(tool, &arguments);
        assert!(!succeeded && text.contains(part), "{tool} {arguments} should fail with {part:?}: {text}");
    }

    #[expect(clippy::needless_pass_by_value, reason = "written in the call")]
    fn answers(&mut self, tool: &str, arguments: Value, part: &str) {
        let (succeeded, text) = self.call(tool, &arguments);
        assert!(succeeded && text.contains(part), "{tool} {arguments} should answer with {part:?}: {text}");
    }

    /// No tool reaches anything by the name of the root `root`, and each says why with `part`.
    fn is_absent(&mut self, root: &str, part: &str) {
        for path in [root.to_owned(), format!("{root}/a.txt"), format!("{root}/x/y")] {
            for tool in ["read", "ls"] {
                self.fails(tool, json!({ "path": path }), part);
            }
            self.fails("grep", json!({ "pattern": ".", "path": path }), part);
            self.fails("glob", json!({ "pattern": "**", "path": path }), part);
            self.fails("copy", json!({ "source": path, "destination": "app/copied" }), "");
            if root == "late" {
                self.fails("write", json!({ "path": path, "content": "owned" }), "");
                self.fails("edit", json!({ "path": path, "old_string": "C", "new_string": "owned" }), "");
                self.fails("mkdir", json!({ "path": path }), "");
                self.fails("delete", json!({ "path": path }), "");
                self.fails("move", json!({ "source": "app/a.txt", "destination": path }), "");
            }
        }
        self.answers("grep", json!({ "pattern": "inside" }), "does not exist yet");
        let (_, listed) = self.call("ls", &json!({}));
        let line = listed.lines().find(|line| line.trim_start().starts_with(&format!("{root}/"))).unwrap_or_default();
        assert!(line.contains("not there yet"), "{listed}");
        assert!(!self.host("app/copied").exists());
        assert_eq!(fs::read_to_string(self.host("outside/a.txt")).expect("a file"), format!("{CANARY}\n"));
        assert_eq!(fs::read_dir(self.host("outside")).expect("a folder").count(), 1);
    }
}

/// Serves from the first moment, says when it is gone, and serves what is made again.
fn lifecycle(barrier: Barrier) {
    let mut late = Late::new(barrier);
    late.is_absent("late", "does not exist yet");
    late.is_absent("up", "does not exist yet");
    for round in ["one", "two"] {
        for folder in ["late", "up/late"] {
            fs::create_dir(late.host(folder)).expect("a folder");
            fs::write(late.host(folder).join("a.txt"), format!("{round}\n")).expect("a file");
        }
        late.answers("read", json!({ "path": "late/a.txt" }), round);
        late.answers("grep", json!({ "pattern": round }), "late/a.txt:1");
        late.answers("write", json!({ "path": "late/x/new.txt", "content": round }), "Created");
        late.answers("edit", json!({ "path": "late/a.txt", "old_string": round, "new_string": "new" }), "Edited");
        late.answers("read", json!({ "path": "up/a.txt" }), round);
        late.fails("write", json!({ "path": "up/a.txt", "content": "owned" }), "read-only");
        late.fails("delete", json!({ "path": "late" }), "");
        for folder in ["late", "up/late"] {
            fs::rename(late.host(folder), late.host(&format!("{}-{round}", folder.replace('/', "-")))).expect("moved");
        }
        // The directory that was served is another one now, and is not reached.
        late.is_absent("late", "does not exist yet");
        late.is_absent("up", "does not exist yet");
        assert_eq!(fs::read_to_string(late.host(&format!("late-{round}/a.txt"))).expect("a file"), "new\n");
    }
}

/// Links, files and FIFOs in its place, and links on the way to it.
fn planted(barrier: Barrier) {
    let mut late = Late::new(barrier);
    for target in ["outside", "/", "app", "late", "nowhere"] {
        let target = if target.starts_with('/') { target.into() } else { late.host(target) };
        symlink(&target, late.host("late")).expect("a link");
        late.is_absent("late", "a link or a file is in its place");
        fs::remove_file(late.host("late")).expect("removed");
    }
    fs::write(late.host("late"), CANARY).expect("a file");
    late.is_absent("late", "a link or a file is in its place");
    fs::remove_file(late.host("late")).expect("removed");
    let made = std::process::Command::new("mkfifo").arg(late.host("late")).status().expect("mkfifo runs");
    assert!(made.success());
    late.is_absent("late", "a link or a file is in its place");
    fs::remove_file(late.host("late")).expect("removed");

    // The directory above becomes a link to one that has such a directory.
    fs::create_dir(late.host("outside/late")).expect("a folder");
    fs::write(late.host("outside/late/a.txt"), CANARY).expect("a file");
    fs::rename(late.host("up"), late.host("moved")).expect("moved");
    symlink(late.host("outside"), late.host("up")).expect("a link");
    for tool in ["read", "ls"] {
        late.fails(tool, json!({ "path": "up/a.txt" }), "");
    }
    late.fails("grep", json!({ "pattern": ".", "path": "up" }), "");
    // Back in its place, but as another directory: its handle is that of the moved one.
    fs::remove_file(late.host("up")).expect("removed");
    fs::create_dir_all(late.host("moved/late")).expect("a folder");
    fs::write(late.host("moved/late/a.txt"), CANARY).expect("a file");
    late.fails("read", json!({ "path": "up/a.txt" }), "");
    fs::create_dir_all(late.host("up/late")).expect("a folder");
    late.fails("read", json!({ "path": "up/a.txt" }), "replaced");
}

/// The model makes what should be read-only, by every way that makes a name.
fn made_by_the_model(barrier: Barrier) {
    let mut late = Late::new(barrier);
    late.answers("mkdir", json!({ "path": "app/tree/er/ro" }), "Created");
    late.answers("write", json!({ "path": "app/tree/er/ro/a.txt", "content": "owned" }), "Created");
    for place in
        ["app/ro", "app/RO", "app/./ro", "ro", "er", "app/deep/er/ro", "app/deep/ER/Ro", "app/ro/", "app/x/../ro"]
    {
        late.fails("mkdir", json!({ "path": place }), "");
        late.fails("mkdir", json!({ "path": format!("{place}/sub") }), "");
        late.fails("write", json!({ "path": format!("{place}/a.txt"), "content": "owned" }), "");
        late.fails("write", json!({ "path": place, "content": "owned" }), "");
        late.fails("edit", json!({ "path": format!("{place}/b.txt"), "old_string": "", "new_string": "owned" }), "");
        for tool in ["move", "copy"] {
            late.fails(tool, json!({ "source": "app/tree/er/ro", "destination": place }), "");
            late.fails(tool, json!({ "source": "app/tree/er/ro/a.txt", "destination": format!("{place}/a.txt") }), "");
            late.fails(tool, json!({ "source": "app/a.txt", "destination": place }), "");
        }
    }
    // A whole tree whose part would be the read-only directory.
    for tool in ["move", "copy"] {
        late.fails(tool, json!({ "source": "app/tree", "destination": "app/deep" }), "");
        late.fails(tool, json!({ "source": "app/tree/er", "destination": "app/deep/er" }), "");
    }
    // A link on the way, which another program made.
    symlink("tree", late.host("app/link")).expect("a link");
    late.fails("move", json!({ "source": "app/link", "destination": "app/ro" }), "");
    let _ = late.call("move", &json!({ "source": "app/link", "destination": "app/deep" }));
    late.fails("read", json!({ "path": "er/a.txt" }), "does not exist yet");
    late.fails("read", json!({ "path": "ro/a.txt" }), "does not exist yet");
    let _ = fs::remove_file(late.host("app/deep"));
    assert!(!late.host("app/ro").exists() && !late.host("app/RO").exists(), "nothing was made");

    // What the user makes is served with its right, by both names, and the way to it may be made and removed.
    late.answers("mkdir", json!({ "path": "app/deep/er" }), "Created");
    late.answers("delete", json!({ "path": "app/deep", "recursive": true }), "");
    for place in ["app/ro", "app/deep/er/ro"] {
        fs::create_dir_all(late.host(place)).expect("a folder");
        fs::write(late.host(place).join("a.txt"), "theirs\n").expect("a file");
        late.answers("read", json!({ "path": format!("{place}/a.txt") }), "theirs");
        late.fails("write", json!({ "path": format!("{place}/a.txt"), "content": "owned" }), "read-only");
    }
    late.answers("read", json!({ "path": "er/a.txt" }), "theirs");
    late.fails("delete", json!({ "path": "app/deep", "recursive": true }), "");
    late.fails("move", json!({ "source": "app/deep", "destination": "app/other" }), "");
    for root in ["ro", "er"] {
        late.fails("write", json!({ "path": format!("{root}/a.txt"), "content": "owned" }), "read-only");
    }
}

/// A link and the directory are exchanged as fast as it goes, while calls run.
fn raced(barrier: Barrier) {
    let mut late = Late::new(barrier);
    let seconds = std::env::var("RACE_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(0.7);
    fs::create_dir(late.host("late")).expect("a folder");
    fs::write(late.host("late/a.txt"), "inside\n").expect("a file");
    symlink(late.host("outside"), late.host("swap")).expect("a link");
    let (one, other, done) = (late.host("late"), late.host("swap"), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let _ = renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE);
            }
        });
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        let mut round = 0;
        while Instant::now() < end || round < 20 {
            round += 1;
            for (tool, arguments) in [
                ("read", json!({ "path": "late/a.txt" })),
                ("ls", json!({ "path": "late" })),
                ("grep", json!({ "pattern": "." })),
                ("glob", json!({ "pattern": "late/**" })),
                ("write", json!({ "path": "late/made.txt", "content": "made" })),
                ("write", json!({ "path": "late/sub/made.txt", "content": "made" })),
                ("edit", json!({ "path": "late/a.txt", "old_string": "i", "new_string": "i" })),
                ("delete", json!({ "path": "late/made.txt" })),
            ] {
                let _ = late.call(tool, &arguments);
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    untouched(&late.host("outside"));
    late.answers("read", json!({ "path": "app/a.txt" }), "inside");
}

fn untouched(outside: &Path) {
    let names: Vec<_> = fs::read_dir(outside).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["a.txt"], "nothing is made or removed outside");
    assert_eq!(fs::read_to_string(outside.join("a.txt")).expect("a file"), format!("{CANARY}\n"));
}

macro_rules! behind_each_barrier {
    ($($scenario:ident: $run:ident;)*) => {
        $(mod $scenario {
            use super::Barrier;

            #[test]
            fn with_all_barriers() {
                super::$run(Barrier::All);
            }

            #[test]
            fn with_openat2_alone() {
                super::$run(Barrier::Openat2);
            }

            #[test]
            fn with_the_walk_alone() {
                super::$run(Barrier::Walk);
            }
        })*
    };
}

behind_each_barrier! {
    missing_directory_is_served_whenever_it_exists: lifecycle;
    what_is_planted_in_its_place_is_refused: planted;
    model_cannot_make_a_read_only_directory: made_by_the_model;
    exchange_with_a_link_leads_nowhere: raced;
}
