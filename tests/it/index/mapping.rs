//! Writes through a shared mapping, which only a system call that Rust calls unsafe makes: by a
//! Python process that is told over its input what to do.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

const PROGRAM: &str = r#"
import mmap, sys
held = None
def map_(path):
    with open(path, "r+b") as file:
        return mmap.mmap(file.fileno(), 0)
def put(area, at, text):
    data = bytes.fromhex(text)[:max(0, len(area) - at)]
    area[at:at + len(data)] = data
    return bool(data)
for line in sys.stdin:
    what, *rest = line.rstrip("\n").split("\t")
    done = False
    try:
        if what == "write":
            area = map_(rest[0])
            done = put(area, int(rest[1]), rest[2])
            area.close()
        elif what == "hold":
            held = map_(rest[0])
            done = True
        elif what == "poke":
            done = put(held, int(rest[0]), rest[1])
        elif what == "release":
            held.close()
            done = True
    except (OSError, ValueError, AttributeError):
        pass
    print("yes" if done else "no", flush=True)
"#;

/// The process; absent where there is no Python.
#[derive(Default)]
pub(super) struct Mapper {
    running: Option<Running>,
}

struct Running {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Mapper {
    pub(super) fn start() -> Self {
        let child = Command::new("python3").args(["-c", PROGRAM]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let running = child.ok().map(|mut child| Running {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
        });
        Self { running }
    }

    pub(super) fn is_there(&self) -> bool {
        self.running.is_some()
    }

    /// Maps the file, writes `text` at `at`, ends the mapping; false when nothing was written.
    pub(super) fn write(&mut self, path: &Path, at: usize, text: &str) -> bool {
        self.tell(&format!("write\t{}\t{at}\t{}", path.display(), hex(text)))
    }

    /// Maps the file until [`Self::release`].
    pub(super) fn hold(&mut self, path: &Path) -> bool {
        self.tell(&format!("hold\t{}", path.display()))
    }

    /// Writes into what is held.
    pub(super) fn poke(&mut self, at: usize, text: &str) -> bool {
        self.tell(&format!("poke\t{at}\t{}", hex(text)))
    }

    pub(super) fn release(&mut self) -> bool {
        self.tell("release")
    }

    /// Returns when it is done.
    fn tell(&mut self, what: &str) -> bool {
        let Some(running) = &mut self.running else { return false };
        writeln!(running.input, "{what}").unwrap();
        let mut answer = String::new();
        running.output.read_line(&mut answer).unwrap();
        assert!(answer == "yes\n" || answer == "no\n", "{what}: {answer:?}");
        answer == "yes\n"
    }
}

impl Drop for Mapper {
    fn drop(&mut self) {
        if let Some(Running { child, input, .. }) = self.running.take().as_mut() {
            let _ = input.flush();
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn hex(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}
