#!/usr/bin/env python3
"""How a file server answers a few ordinary and a few hostile requests.

The facts of the comparison in docs/why.md. Works with any stdio server; WS is a new workspace that the
script creates:

    benches/peers.py target/release/rootbound WS
    benches/peers.py npx -y @modelcontextprotocol/server-filesystem WS
    benches/peers.py rust-mcp-filesystem -w WS
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading

# Names of the tools and arguments of an edit, by the names that a server offers.
NAMES = {
    "edit": (("edit", lambda p, o, n: {"path": p, "old_string": o, "new_string": n}),
             ("edit_file", lambda p, o, n: {"path": p, "edits": [{"oldText": o, "newText": n}]})),
    "read": (("read", lambda p: {"path": p}), ("read_text_file", lambda p: {"path": p})),
    "write": (("write", lambda p, c: {"path": p, "content": c}),
              ("write_file", lambda p, c: {"path": p, "content": c})),
    "search": (("grep", lambda d, q: {"path": d, "pattern": q}),
               ("search_files_content", lambda d, q: {"path": d, "pattern": "**/*", "query": q, "is_regex": True})),
}


class Server:
    """One process, called with JSON lines."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, start_new_session=True)
        self.last = 0
        # npx fetches a package first.
        hello = self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                        "clientInfo": {"name": "peers", "version": "1"}}, 120)
        if hello is None:
            sys.exit(f"{' '.join(command)} has not answered: it could not be started or fetched")
        self.info = hello["result"]["serverInfo"]
        self.send({"method": "notifications/initialized"})
        self.tools = {tool["name"] for tool in self.ask("tools/list", {})["result"]["tools"]}

    def send(self, message):
        self.process.stdin.write((json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode())
        self.process.stdin.flush()

    def ask(self, method, params, seconds=5):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        timer = threading.Timer(seconds, self.end)
        timer.start()
        try:
            while line := self.process.stdout.readline():
                try:
                    answer = json.loads(line)
                except ValueError:
                    continue
                if answer.get("id") == self.last:
                    return answer
            return None
        finally:
            timer.cancel()

    def end(self):
        """Of npx, what it has started ends, too."""
        os.killpg(self.process.pid, signal.SIGKILL)

    def call(self, what, *values):
        for name, arguments in NAMES[what]:
            if name in self.tools:
                answer = self.ask("tools/call", {"name": name, "arguments": arguments(*values)})
                if answer is None:
                    return "NO ANSWER within 5 s"
                result = answer.get("result") or {"isError": True, "content": [{"text": str(answer.get("error"))}]}
                text = " ".join(block.get("text", "") for block in result["content"])
                return ("error: " if result.get("isError") else "") + " ".join(text.split())[:110]
        return "no such tool"


def main():
    command = sys.argv[1:]
    if not command:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as top:
        workspace = os.path.join(top, "workspace")
        os.makedirs(os.path.join(workspace, ".git", "hooks"))
        os.mkdir(os.path.join(top, "workspace-evil"))

        def put(name, content):
            with open(os.path.join(workspace, name), "wb") as file:
                file.write(content)
            return os.path.join(workspace, name)

        def bytes_of(path):
            with open(path, "rb") as file:
                return file.read()

        server = Server([workspace if word == "WS" else word for word in command])
        print(f"server: {server.info['name']} {server.info['version']}")
        edits = {
            "CRLF file": (b"one\r\ntwo\r\nthree\r\n", "two", "TWO", b"one\r\nTWO\r\nthree\r\n"),
            "mixed endings": (b"one\r\ntwo\nthree\r\n", "two", "TWO", b"one\r\nTWO\nthree\r\n"),
            "Latin-1 file": (b"caf\xe9\ntwo\n", "two", "TWO", b"caf\xe9\nTWO\n"),
            "two places": (b"x = 1\ny = 2\nx = 1\n", "x = 1", "x = 9", None),
        }
        for name, (before, old, new, wanted) in edits.items():
            path = put(name.replace(" ", "_") + ".txt", before)
            server.call("read", path)
            said = server.call("edit", path, old, new)
            after = bytes_of(path)
            verdict = ("unchanged" if after == before else "right" if after == wanted else f"CHANGED TO {after!r}")
            print(f"edit, {name}: {verdict} | {said}")
        unread = put("unread.txt", b"one\n")
        server.call("edit", unread, "one", "two")
        print("edit of a file never read:", "done" if bytes_of(unread) != b"one\n" else "refused")
        stale = put("stale.txt", b"one\ntwo\n")
        server.call("read", stale)
        put("stale.txt", b"one\nTHREE\n")
        server.call("edit", stale, "one", "1")
        print("edit after another program's change:", "done" if b"1" in bytes_of(stale) else "refused")
        print("read .env:", server.call("read", put(".env", b"SECRET=hunter2\n")))
        hook = os.path.join(workspace, ".git", "hooks", "pre-commit")
        server.call("write", hook, "#!/bin/sh\n")
        print("write .git/hooks/pre-commit:", "done" if os.path.exists(hook) else "refused")
        print("search, nothing there:", server.call("search", workspace, "zzzzzz"))
        print("search, invalid regex:", server.call("search", workspace, "("))
        print("read of a missing file:", server.call("read", os.path.join(workspace, "stael.txt")))
        os.mkfifo(os.path.join(workspace, "fifo"))
        print("read of a FIFO:", server.call("read", os.path.join(workspace, "fifo")))
        server.end()


main()
