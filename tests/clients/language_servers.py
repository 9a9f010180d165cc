"""An edit that breaks a file is answered with what a real language server says: language_servers.py PROGRAM DIR KIND PATH.

KIND is rust, typescript or python. PATH: the program of rust-analyzer, or the folder with the packages of npm.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

PROGRAM, ROOT, KIND, PATH = sys.argv[1:]
# Machines of CI are slow, and a server loads its project first.
TIMEOUT = 60

if KIND == "rust":
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


with tempfile.TemporaryDirectory() as folder:
    config = os.path.join(folder, "rootbound.toml")
    with open(config, "w", encoding="utf-8") as out:
        out.write(
            f"[lsp.real]\ncommand = {json.dumps(COMMAND)}\nargs = {json.dumps(ARGS)}\n"
            f"extensions = [{json.dumps(EXTENSION)}]\nread = {json.dumps(READ)}\nenv = {json.dumps(ENV)}\n"
            f"timeout = {TIMEOUT}\n{MORE}"
        )
    server = Server(config)
    for path, content in FILES.items():
        server.call("write", path=path, content=content)
    back = {"path": EDIT["path"], "old_string": EDIT["new_string"], "new_string": EDIT["old_string"]}
    # On a busy machine a server may begin its check later than an answer waits for it.
    for attempt in range(3):
        text = server.call("edit", **EDIT)
        missing = [part for part in EXPECTED if part not in text]
        repaired = server.call("edit", **back)
        if not missing and "problem" not in repaired and "diagnostics" not in repaired:
            break
    assert not missing, f"{missing} are missing"
    assert "problem" not in repaired and "diagnostics" not in repaired, "a repaired file has no new problem"
    server.call("read", path="src/config.py")
    server.call("edit", path="src/config.py", old_string="RETRIES = 3", new_string="RETRIES = 5")
    server.process.stdin.close()
    assert server.process.wait(60) == 0

for path in [*FILES, "Cargo.lock"]:
    if os.path.exists(os.path.join(ROOT, path)):
        os.remove(os.path.join(ROOT, path))
shutil.rmtree(os.path.join(ROOT, "target"), ignore_errors=True)
