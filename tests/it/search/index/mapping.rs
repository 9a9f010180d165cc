//! Writes through a shared mapping or by Linux AIO, which need `unsafe` in Rust: made by a Python process that reads its
//! commands from stdin.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

const PROGRAM: &str = r#"
import ctypes, mmap, os, platform, struct, sys
held = None
call = ctypes.CDLL(None, use_errno=True).syscall
SETUP, DESTROY, GETEVENTS, SUBMIT = (206, 207, 208, 209) if platform.machine() == "x86_64" else (0, 1, 4, 2)
context, opened = ctypes.c_ulong(0), None
def aio_write(at, text):
    data = ctypes.create_string_buffer(bytes.fromhex(text))
    # struct iocb of linux/aio_abi.h; 1 is IOCB_CMD_PWRITE
    block = struct.pack("<QIIHhIQQqQII", 0, 0, 0, 1, 0, opened, ctypes.addressof(data), len(data) - 1, at, 0, 0, 0)
    block = ctypes.create_string_buffer(block, 64)
    blocks = (ctypes.c_void_p * 1)(ctypes.addressof(block))
    if call(SUBMIT, context, ctypes.c_long(1), blocks) != 1:
        return False
    event = ctypes.create_string_buffer(32)
    done = call(GETEVENTS, context, ctypes.c_long(1), ctypes.c_long(1), event, None)
    return done == 1 and struct.unpack("<QQqq", event.raw)[2] == len(data) - 1
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
        elif what == "setup":
            context = ctypes.c_ulong(0)
            done = call(SETUP, ctypes.c_long(8), ctypes.byref(context)) == 0
        elif what == "destroy":
            done = call(DESTROY, context) == 0
        elif what == "open":
            opened = os.open(rest[0], os.O_RDWR)
            done = True
        elif what == "submit":
            done = aio_write(int(rest[0]), rest[1])
        elif what == "close":
            os.close(opened)
            done = True
    except (OSError, ValueError, AttributeError, TypeError):
        pass
    print("yes" if done else "no", flush=True)
"#;

/// The process; `None` without Python.
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

    /// Maps the file, writes `text` at `at`, ends the mapping; false if nothing was written.
    pub(super) fn write(&mut self, path: &Path, at: usize, text: &str) -> bool {
        self.tell(&format!("write\t{}\t{at}\t{}", path.display(), hex(text)))
    }

    /// Maps the file until [`Self::release`].
    pub(super) fn hold(&mut self, path: &Path) -> bool {
        self.tell(&format!("hold\t{}", path.display()))
    }

    /// Writes into the mapping.
    pub(super) fn poke(&mut self, at: usize, text: &str) -> bool {
        self.tell(&format!("poke\t{at}\t{}", hex(text)))
    }

    pub(super) fn release(&mut self) -> bool {
        self.tell("release")
    }

    /// Creates a Linux AIO context; false if that is impossible.
    pub(super) fn begin_aio(&mut self) -> bool {
        self.tell("setup")
    }

    /// Ends the context.
    pub(super) fn end_aio(&mut self) -> bool {
        self.tell("destroy")
    }

    /// Opens a file for [`Self::write_by_aio`], until [`Self::close`].
    pub(super) fn open(&mut self, path: &Path) -> bool {
        self.tell(&format!("open\t{}", path.display()))
    }

    /// Writes to the open file in the context and waits for the end.
    pub(super) fn write_by_aio(&mut self, at: usize, text: &str) -> bool {
        self.tell(&format!("submit\t{at}\t{}", hex(text)))
    }

    pub(super) fn close(&mut self) -> bool {
        self.tell("close")
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
