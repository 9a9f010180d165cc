"""An edit that breaks a file is answered with what a real language server says: language_servers.py PROGRAM DIR KIND PATH [N].

KIND is rust, page, typescript or python; page is the first configuration of docs/language-servers.md as it is written there, and
its output.
PATH: the program of rust-analyzer, or the folder with the packages of npm. Before that, N sessions (1) begin with a read and
a breaking edit, while the server starts: each answer names the problem, or says that it is not ready. None is silent.
"""

import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import time

PROGRAM, ROOT, KIND, PATH = sys.argv[1:5]
SESSIONS = int(sys.argv[5]) if len(sys.argv) > 5 else 1
# Machines of CI are slow, and a server loads its project first.
TIMEOUT = 60

if KIND in ("rust", "page"):
    toolchain = os.path.dirname(os.path.dirname(PATH))
    # Cargo reads the settings of each folder above, and ends where it may not.
    settings = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".cargo")
    COMMAND, ARGS, READ = PATH, [], [toolchain, os.path.realpath(settings)]
    ENV = [f"PATH={toolchain}/bin:/usr/bin:/bin", f"CARGO_HOME={ROOT}/target/cargo"]
    MORE = 'write = true\nroot_markers = ["Cargo.toml"]\n[lsp.real.initialization_options]\ncheckOnSave = true\n'
    EXTENSION = "rs"
    # A workspace, so that cargo does not look for one in the folders above, which it may not read.
    FILES = {
        "Cargo.toml": '[package]\nname = "broken"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n',
        "src/lib.rs": "pub mod other;\npub fn double(number: u32) -> u32 {\n    number * 2\n}\n",
        "src/other.rs": "pub fn four() -> u32 {\n    crate::double(2)\n}\n",
    }
    EDIT = {"path": "src/lib.rs", "old_string": "number: u32", "new_string": "number: String"}
    EXPECTED = ["src/lib.rs:3:", "rustc E0369", "src/other.rs:2:", "mismatched types"]
    if KIND == "page":
        page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "language-servers.md")
        page = open(page, encoding="utf-8").read()
        BLOCK = page.split("```toml\n")[1].split("```")[0]
        assert re.search(r"^timeout = \d+$", BLOCK, re.M)
        # Not below the checkout, whose settings of cargo the page does not offer; with the home directory that it names.
        WORKSPACE, ROOT = ROOT, os.path.realpath(tempfile.mkdtemp())
        shutil.copytree(WORKSPACE, ROOT, dirs_exist_ok=True)
        home = pwd.getpwuid(os.getuid()).pw_dir
        os.environ.update(HOME=home, PATH=f"{home}/.cargo/bin:{os.environ['PATH']}")
        FILES["src/lib.rs"] = "pub mod other;\npub fn double(number: u32) -> u32 {\n    let doubled: u32 = number * 2;\n    doubled\n}\n"
        OLD, NEW = re.search(r"here `(.+?)` to `(.+?)`", page).groups()
        EDIT = {"path": "src/lib.rs", "old_string": OLD, "new_string": NEW}
        EXPECTED = re.findall(r"^new problem: .*$", page, re.M)
        assert EXPECTED
elif KIND == "typescript":
    COMMAND, READ, ENV = shutil.which("node"), [PATH], []
    ARGS = [f"{PATH}/node_modules/typescript-language-server/lib/cli.mjs", "--stdio"]
    MORE, EXTENSION = 'root_markers = ["tsconfig.json"]\n', "ts"
    FILES = {
        "tsconfig.json": '{ "compilerOptions": { "strict": true, "types": [] } }\n',
        "src/a.ts": "export function double(number: number): number {\n  return number * 2;\n}\n",
    }
    EDIT = {"path": "src/a.ts", "old_string": "number: number", "new_string": "number: string"}
    EXPECTED = ["src/a.ts:2:10", "arithmetic operation", "(typescript 2362)"]
else:
    COMMAND, READ, ENV = shutil.which("node"), [PATH], []
    ARGS = [f"{PATH}/node_modules/pyright/langserver.index.js", "--stdio"]
    MORE, EXTENSION = "", "py"
    FILES = {"src/a.py": "def double(number: int) -> int:\n    return number * 2\n"}
    EDIT = {"path": "src/a.py", "old_string": "-> int", "new_string": "-> str"}
    EXPECTED = ["src/a.py:2:12", "is not assignable to return type", "Pyright"]


class Server:
    def __init__(self, config):
        arguments = [PROGRAM, "--config", config, "--state-dir", "off", "--confine", "required", "--root", ROOT]
        pipe = subprocess.PIPE
        environment = {**os.environ, "TMPDIR": os.path.dirname(config)}
        self.process = subprocess.Popen(arguments, stdin=pipe, stdout=pipe, text=True, env=environment)
        self.last = 0
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        self.ask("initialize", hello)
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        while True:
            message = json.loads(self.process.stdout.readline())
            if message.get("id") == self.last:
                return message["result"]

    def call(self, tool, **arguments):
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        text = result["content"][0]["text"]
        print(f"--- {tool} {arguments.get('path')}\n{text}")
        assert not result.get("isError"), text
        return text


def configure(folder, timeout):
    config = os.path.join(folder, "rootbound.toml")
    with open(config, "w", encoding="utf-8") as out:
        out.write(
            re.sub(r"^timeout = .*", f"timeout = {timeout}", BLOCK, flags=re.M)
            if KIND == "page"
            else f"[lsp.real]\ncommand = {json.dumps(COMMAND)}\nargs = {json.dumps(ARGS)}\n"
            f"extensions = [{json.dumps(EXTENSION)}]\nread = {json.dumps(READ)}\nenv = {json.dumps(ENV)}\n"
            f"timeout = {timeout}\n{MORE}"
        )
    return config


def begin(folder, timeout):
    """What becomes of the first breaking edit of a session. If it is not named, no further one is silent, either."""
    for path, content in FILES.items():
        os.makedirs(os.path.dirname(os.path.join(ROOT, path)) or ROOT, exist_ok=True)
        with open(os.path.join(ROOT, path), "w", encoding="utf-8") as out:
            out.write(content)
    server = Server(configure(folder, timeout))
    server.call("read", path=EDIT["path"])
    text = server.call("edit", **EDIT)
    first = "named" if "new problem" in text else "not ready" if "\ndiagnostics: " in text else "silent"
    further = 0
    while "new problem" not in text and further < 3:
        # Each has the same problem and a comment more: one that loses those before would be refused. A model takes a moment.
        time.sleep(0.3)
        further += 1
        end = "#" if EXTENSION == "py" else "//"
        comments = "".join(f"{end} {number}\n" for number in range(1, further + 1))
        content = FILES[EDIT["path"]].replace(EDIT["old_string"], EDIT["new_string"]) + comments
        text = server.call("write", path=EDIT["path"], content=content)
        assert "new problem" in text or "\ndiagnostics: " in text, f"silent: {text}"
    assert "new problem" in text or timeout < TIMEOUT, "the problem is not named although the limit suffices"
    server.process.stdin.close()
    assert server.process.wait(60) == 0
    return first


def clean():
    for path in [*FILES, "Cargo.lock"]:
        if os.path.exists(os.path.join(ROOT, path)):
            os.remove(os.path.join(ROOT, path))
    shutil.rmtree(os.path.join(ROOT, "target"), ignore_errors=True)


with tempfile.TemporaryDirectory() as folder:
    # A short limit, so that it is met while the server loads; then one that suffices.
    for timeout in (2, TIMEOUT):
        counts = {"named": 0, "not ready": 0, "silent": 0}
        for _ in range(SESSIONS):
            counts[begin(folder, timeout)] += 1
            clean()
        print(f"=== {KIND}, a limit of {timeout} s: the first breaking edit of {SESSIONS} sessions: {counts}")
        assert counts["silent"] == 0
    config = configure(folder, TIMEOUT)
    server = Server(config)
    for path, content in FILES.items():
        server.call("write", path=path, content=content)
    back = {"path": EDIT["path"], "old_string": EDIT["new_string"], "new_string": EDIT["old_string"]}
    # Once it is ready, each breaking edit names its problem.
    for attempt in range(3):
        text = server.call("edit", **EDIT)
        missing = [part for part in EXPECTED if part not in text]
        assert not missing, f"{missing} are missing"
        repaired = server.call("edit", **back)
        # Without a network rust-analyzer cannot load all of the standard library, and says so.
        said = repaired.replace("diagnostics: incomplete, rust-analyzer says: Failed to read Cargo metadata", "")
        assert "new problem" not in said and "diagnostics: " not in said, "a repaired file has no new problem"
    server.call("read", path="src/config.py")
    server.call("edit", path="src/config.py", old_string="RETRIES = 3", new_string="RETRIES = 5")
    server.process.stdin.close()
    assert server.process.wait(60) == 0

clean()
if KIND == "page":
    shutil.copytree(ROOT, WORKSPACE, dirs_exist_ok=True)
    shutil.rmtree(ROOT)
