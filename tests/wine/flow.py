#!/usr/bin/env python3
"""The Windows program on real pipes: tests/wine/flow.py COMMAND... (the program's start, without a directory)

A client on Linux talks to the program through Wine and compares bytes on the disk: glob, grep, read, edit, write,
append, move over, undo, with CRLF, a BOM and backslashes; large answers, 1,000 requests, the end of the input, a killed
client; and links that Linux made, which Wine does not show as links.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

LIMIT = 120  # seconds: for a program that hangs, on a busy machine
passed = 0


class Client:
    """One program and the answers it gives."""

    def __init__(self, directory, *options):
        self.process = subprocess.Popen(
            [*sys.argv[1:], "--state-dir", "off", "--allow", "manage", *options, directory],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=os.path.dirname(directory),
        )
        self.errors = []
        threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True).start()
        self.watch = threading.Timer(LIMIT * 5, self.process.terminate)
        self.watch.daemon = True
        self.watch.start()
        self.last = 0
        self.request("initialize", {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "wine", "version": "1"},
        })
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        assert line, f"the program ended: {b''.join(self.errors).decode(errors='replace')}"
        assert line.endswith(b"\n") and not line.endswith(b"\r\n"), "a line ends with LF alone"
        return json.loads(line.decode("utf-8", "strict"))

    def request(self, method, params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        answer = self.receive()
        assert answer["id"] == self.last, answer
        return answer["result"]

    def call(self, tool, error=False, **arguments):
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        text = "".join(block.get("text", "") for block in result["content"])
        assert bool(result.get("isError")) == error, f"{tool} {arguments}: {text}"
        return text

    def end(self):
        """Closes the input and returns the seconds until the program ends."""
        started = time.monotonic()
        self.process.stdin.close()
        rest = self.process.stdout.read()
        taken = time.monotonic() - started
        assert rest == b"", rest
        code = self.process.wait(LIMIT)
        self.watch.cancel()
        assert code == 0, (code, self.errors)
        return taken


def check(name, condition, shown=""):
    global passed
    assert condition, f"{name}: {shown}"
    passed += 1


def put(root, path, content):
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "wb") as file:
        file.write(content)


def content(root, path):
    with open(os.path.join(root, path), "rb") as file:
        return file.read()


def files(root):
    """Every file below `root` with its bytes."""
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            found[os.path.relpath(path, root)] = content(root, path)
    return found


def changes(root):
    """What a model does first, and every way to change a file."""
    config = b'NAME = "caf\xc3\xa9"\r\nRETRIES = 3\r\nOTHER = 1'
    put(root, "src/config.py", config)
    put(root, "src/nested/app.py", b"def run():\n    return 3\n")
    put(root, "bom.txt", b"\xef\xbb\xbfone\r\ntwo\r\n")
    expected = files(root)
    client = Client(root)

    found = client.call("glob", pattern=r"src\**\*.py")
    check("a glob with backslashes", "src/config.py" in found and "src/nested/app.py" in found, found)
    check("the same with slashes", client.call("glob", pattern="src/**/*.py") == found)
    hits = client.call("grep", pattern="^RETRIES", path="src", glob=r"*.py")
    check("grep", "src/config.py:2: RETRIES = 3" in hits, hits)
    text = client.call("read", path=r"src\config.py")
    check("a read with a backslash", "\n2\tRETRIES = 3" in text, text)
    for path in ["Z:" + root + "/src/config.py", "Z:" + root.replace("/", "\\") + r"\src\config.py"]:
        check(f"a read of {path}", "RETRIES = 3" in client.call("read", path=path))

    client.call("edit", path="src/config.py", old_string="RETRIES = 3\nOTHER", new_string="RETRIES = 5\nMORE = 2\nOTHER")
    edited = b'NAME = "caf\xc3\xa9"\r\nRETRIES = 5\r\nMORE = 2\r\nOTHER = 1'
    check("an edit keeps CRLF", content(root, "src/config.py") == edited, content(root, "src/config.py"))
    client.call("read", path="bom.txt")
    client.call("edit", path="bom.txt", old_string="two", new_string="three")
    check("an edit keeps the BOM", content(root, "bom.txt") == b"\xef\xbb\xbfone\r\nthree\r\n")
    client.call("write", path="bom.txt", content="new\nlines\n")
    check("so does a write", content(root, "bom.txt") == b"\xef\xbb\xbfnew\r\nlines\r\n", content(root, "bom.txt"))
    client.call("write", path="bom.txt", content="last\n", mode="append")
    check("and an append", content(root, "bom.txt") == b"\xef\xbb\xbfnew\r\nlines\r\nlast\r\n", content(root, "bom.txt"))
    client.call("write", path=r"made\deep\new.txt", content="made\n")
    check("a write makes folders", content(root, "made/deep/new.txt") == b"made\n")
    client.call("read", path="src/nested/app.py")
    client.call("move", source="made/deep/new.txt", destination="src/nested/app.py", overwrite=True)
    check("a move over a file", content(root, "src/nested/app.py") == b"made\n")
    check("the source is gone", not os.path.exists(os.path.join(root, "made/deep/new.txt")))
    client.call("move", source="src/nested/app.py", destination="src/nested/App.py")
    check("a move to another case", os.listdir(os.path.join(root, "src/nested")) == ["App.py"])
    client.call("move", source="src/nested/App.py", destination="src/nested/app.py")
    for path in ["src/nested/app.py", "src/nested/App.py", "src/nested/app.py", "bom.txt", "bom.txt", "bom.txt", "src/config.py"]:
        client.call("undo", path=path)
    shutil.rmtree(os.path.join(root, "made"))
    left = files(root)
    check("after undo all bytes are as before", left == expected, {k: v for k, v in left.items() if expected.get(k) != v})
    check("a missing file is named", "no such file" in client.call("read", error=True, path=r"no\such.py"))
    print(f"    the end of the input ended the program in {client.end():.1f} s")
    check("no temporary file is left", files(root) == expected, sorted(files(root)))


def volume(root):
    """Large answers, many requests, and requests that are not waited for."""
    put(root, "long.txt", "".join(f"{n} ünïcode line\r\n" for n in range(20_000)).encode())
    client = Client(root, "--max-output", "900KB")
    text = client.call("read", path="long.txt", limit=20_000)
    check("an answer of 500 KB", len(text) > 300_000 and "\n19999\t19998 ünïcode line" in text, len(text))
    for number in range(1_000):
        text = client.call("read", path="long.txt", offset=number, limit=1)
        assert f"{number} ünïcode line" in text, (number, text)
    check("1,000 requests", True)
    for number in range(200):
        client.send({"id": f"r{number}", "method": "tools/call",
                     "params": {"name": "read", "arguments": {"path": "long.txt", "limit": 100}}})
    answered = {client.receive()["id"] for _ in range(200)}
    check("200 requests at once", len(answered) == 200)
    client.end()


def killed(root):
    """A client that is killed leaves no program behind."""
    script = "import subprocess, sys; subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=1).wait()"
    client = subprocess.Popen(
        [sys.executable, "-c", script, *sys.argv[1:], "--state-dir", "off", root],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root, start_new_session=True,
    )
    time.sleep(2)
    client.send_signal(signal.SIGKILL)
    client.wait(LIMIT)
    # The program holds the pipe until it ends.
    ended = threading.Event()
    threading.Thread(target=lambda: (client.stdout.read(), ended.set()), daemon=True).start()
    check("a killed client ends the program", ended.wait(LIMIT))


def links(base, root):
    """Wine follows links of Linux and shows none: what is beyond them is reached, as documented; nothing is outside
    by a path."""
    outside = os.path.join(base, "outside")
    put(outside, "secret.txt", b"CANARY\n")
    os.symlink("../outside/secret.txt", os.path.join(root, "to_file"))
    os.symlink("../outside", os.path.join(root, "to_folder"))
    client = Client(root)
    results = {}
    for path in ["to_file", "to_folder/secret.txt"]:
        result = client.request("tools/call", {"name": "read", "arguments": {"path": path}})
        results[path] = "refused" if result.get("isError") else "followed by Wine"
    print(f"    links made on Linux: {results}")
    for path in ["../outside/secret.txt", r"..\outside\secret.txt", outside + "/secret.txt",
                 "Z:" + outside.replace("/", "\\") + r"\secret.txt", r"\\?\Z:" + outside.replace("/", "\\"),
                 r"\\?\unix" + outside, "Z:/etc/passwd", r"\etc\passwd", "/etc/passwd"]:
        text = client.call("read", error=True, path=path)
        check(f"{path} is refused", "CANARY" not in text and "root:" not in text, text)
    client.end()


def main():
    base = tempfile.mkdtemp(prefix="rootbound wine ")
    try:
        for number, part in enumerate([changes, volume, killed, lambda root: links(base, root)]):
            root = os.path.join(base, f"root {number}")
            os.mkdir(root)
            started = time.monotonic()
            part(root)
            print(f"ok {['changes', 'volume', 'killed client', 'links'][number]} ({time.monotonic() - started:.0f} s)", flush=True)
    finally:
        shutil.rmtree(base, ignore_errors=True)
    print(f"{passed} checks passed")


main()
