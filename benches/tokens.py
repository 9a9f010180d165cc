#!/usr/bin/env python3
"""What file servers cost a model: benches/tokens.py [--update] [--check] [--answers] [TASK …]

Each task of benches/token_tasks is one goal, reached with this server, server-filesystem and
rust-mcp-filesystem by a fixed script of calls, and checked on the disk or in the answers, by the same check
for all. Each script is the best sequence that we know for its server, such as a model makes who knows
its tools: head and tail, several files in one read, searches before reads. A mistake that a task is about
(a stale edit, a wrong path) is made by each. A server that cannot reach the goal is "not done".

Counted is what the model pays, in tokens of o200k: name and arguments of each call as compact JSON, and the text
of each answer. An image counts width x height / 750 as the Anthropic API does, after scaling to at
most 1,568 pixels on the long side, at most 1,600 tokens; one that this API refuses (over 8,000 pixels, over
5 MB in base64) ends the conversation, so the task is not done, as is one that needs more than 200,000
tokens. Apart from the tasks: what a client pays before the first call, which is the name, the description
and the schema of each tool, and the server's instructions.

In favour of the peers: they are called with relative paths, although they print absolute ones.
server-filesystem sends each answer twice, as text and as structured content; the text is counted, although Claude
Code, VS Code and Codex pass on the other, where each line break takes a token more. Our line numbers, footers
and diffs count, also in tasks that need none. In our favour: where a line has to be cited by its number, a peer
has to show the number.

TASK selects tasks by a part of their names. --check runs ours alone, without a tokenizer. --answers prints
each call and its answer. --update replaces the table in docs/internals/performance.md. Peers and tokenizer are
installed into target/tokens.
"""
import argparse
import base64
import json
import math
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
from token_tasks import changing, editing, media, reading, searching  # noqa: F401, each adds its tasks
from token_tasks.task import TASKS, NotDone

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.environ.get("PROGRAM", os.path.join(TOP, "target", "release", "rootbound"))
CACHE = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(TOP, "target")), "tokens")
TOKENIZER = "bpe-openai==0.1.4"
NPM = "@modelcontextprotocol/server-filesystem@2026.8.31"
CRATE = "rust-mcp-filesystem", "0.4.5"
CONTEXT = 200_000
MARK = "<!-- benches/tokens.py -->"


def install():
    """Installs peers and tokenizer once, in these versions."""
    python, npm, cargo = (os.path.join(CACHE, name) for name in ("python", "npm", "cargo"))
    if not os.path.isdir(python):
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", python, TOKENIZER], check=True)
    if not os.path.isdir(os.path.join(npm, "node_modules")):
        subprocess.run(["npm", "install", "--prefix", npm, "--no-audit", "--no-fund", "--silent", NPM], check=True)
    if not os.path.exists(os.path.join(cargo, "bin", CRATE[0])):
        subprocess.run(["nice", "cargo", "install", "--quiet", "--locked", "--root", cargo, "--version", CRATE[1], CRATE[0]],
                       env={**os.environ, "CARGO_TARGET_DIR": os.path.join(cargo, "target")}, check=True)
        shutil.rmtree(os.path.join(cargo, "target"))
    sys.path.insert(0, python)


SERVERS = {
    "rootbound": lambda: [PROGRAM],
    "server_filesystem": lambda: ["node", os.path.join(
        CACHE, "npm", "node_modules", "@modelcontextprotocol", "server-filesystem", "dist", "index.js")],
    "rust_mcp_filesystem": lambda: [os.path.join(CACHE, "cargo", "bin", CRATE[0]), "--allow-write"],
}


class Count:
    """Calls, bytes and tokens of what a model sends and gets."""

    tokens_of = staticmethod(lambda text: 0)

    def __init__(self):
        self.calls = self.bytes = self.tokens = 0

    def text(self, text):
        self.bytes += len(text.encode())
        self.tokens += self.tokens_of(text)

    def image(self, data):
        self.bytes += len(data)
        width, height = dimensions(base64.b64decode(data))
        if max(width, height) > 8000 or len(data) > 5 * 2 ** 20:
            raise NotDone(f"the API refuses an image of {len(data) / 2 ** 20:.0f} MB")
        scale = min(1, 1568 / max(width, height))
        self.tokens += min(1600, math.ceil(width * scale * height * scale / 750))
        return f"[image {width} x {height}]"


def tokenizer():
    import bpe_openai
    encoding = bpe_openai.get_encoding("o200k_base")
    # The tokenizer limits the length of its input; no token continues after a line's end or 20,000 characters.
    pieces = lambda line: (line[at:at + 20_000] for at in range(0, len(line), 20_000))
    whole = lambda text: len(encoding.encode_ordinary(text))

    def count(text):
        if len(text) < 100_000:
            return whole(text)
        return sum(whole(piece) for line in text.splitlines(keepends=True) for piece in pieces(line))
    return count


def dimensions(data):
    """Width and height of a PNG or a JPEG."""
    if data.startswith(b"\x89PNG"):
        return struct.unpack(">II", data[16:24])
    at = 2
    while data[at + 1] not in (0xC0, 0xC1, 0xC2):
        at += 2 + struct.unpack(">H", data[at + 2:at + 4])[0]
    return struct.unpack(">HH", data[at + 5:at + 9])[::-1]


class Session:
    """A server process in a workspace, whose calls are counted."""

    def __init__(self, command, workspace, state, show=False):
        self.count, self.said, self.show, self.last = Count(), [], show, 0
        self.process = subprocess.Popen(command, cwd=workspace, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env={**os.environ, "XDG_STATE_HOME": state})
        self.greeting = self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                                "clientInfo": {"name": "bench", "version": "1"}})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write((json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode())
        self.process.stdin.flush()

    def ask(self, method, params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        timer = threading.Timer(120, self.process.kill)
        timer.start()
        try:
            while line := self.process.stdout.readline():
                answer = json.loads(line)
                if answer.get("id") == self.last:
                    return answer.get("result") or {"isError": True, "content": [
                        {"type": "text", "text": answer["error"]["message"]}]}
            raise NotDone("the server ended")
        finally:
            timer.cancel()

    def call(self, tool, _earlier=False, **arguments):
        """The text of an answer. `_earlier`: the call is from before the task, and not counted."""
        if _earlier:
            return self.ask("tools/call", {"name": tool, "arguments": arguments})["content"][0]["text"]
        asked = compact({"name": tool, "arguments": arguments})
        self.count.calls += 1
        self.count.text(asked)
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        texts = []
        for block in result["content"]:
            if block["type"] == "text":
                self.count.text(block["text"])
                texts.append(block["text"])
            elif block["type"] == "image":
                texts.append(self.count.image(block["data"]))
        text = "\n".join(texts)
        self.said.append(text)
        if self.show:
            print(f"--> {asked[:600]}\n{text[:3000]}{'…' * (len(text) > 3000)}\n")
        if self.count.tokens > CONTEXT:
            raise NotDone(f"an answer of {self.count.tokens / 1e6:.1f} million tokens" if self.count.tokens > 1e6 else
                          f"{self.count.tokens // 1000},000 tokens do not fit a context")
        return text

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def workspace():
    """A new folder for one task, with the same path in each run, because the peers print it.

    It is as long as /home/ada/code/shop.
    """
    for number in range(1, 100):
        top = os.path.join(tempfile.gettempdir(), f"tokens{number}")
        try:
            os.mkdir(top)
        except FileExistsError:
            continue
        os.makedirs(os.path.join(top, "code", "shop"))
        return top
    raise SystemExit(f"{top} and 98 others are in the way")


def run(task, server, show):
    """The count of one task with one server, or the reason why it cannot finish it."""
    script = getattr(task, server)
    if isinstance(script, str):
        return script
    folder = workspace()
    top = os.path.join(folder, "code", "shop")
    session = None
    try:
        task.prepare(top)
        options = task.options if server == "rootbound" else ()
        session = Session([*SERVERS[server](), *options, top], top, folder, show)
        script(session.call)
        task.check(top, "\n".join(session.said))
        return session.count
    except NotDone as reason:
        return str(reason)
    except (AttributeError, IndexError, StopIteration, ValueError):
        # The script found no place or path in an answer.
        return f"the answer does not lead on: {' '.join(session.said[-1].split())[:60] if session.said else ''}"
    finally:
        if session:
            session.end()
        shutil.rmtree(folder)


def before_the_first_call(server, options=()):
    """Tokens of the list of tools and of the instructions."""
    with tempfile.TemporaryDirectory() as top:
        session = Session([*SERVERS[server](), *options, top], top, top)
        keys = {"name": "name", "description": "description", "input_schema": "inputSchema"}
        tools = [compact({key: tool[of] for key, of in keys.items()}) for tool in session.ask("tools/list", {})["tools"]]
        session.end()
        texts = [*tools, session.greeting.get("instructions") or ""]
        return sum(map(Count.tokens_of, texts)), len(tools)


def cell(count):
    return f"{count.tokens:,} · {count.calls} · {count.bytes:,}" if isinstance(count, Count) else f"not done: {count}".replace("|", "\\|")


def table(counts):
    """The rows of the table, and what is to be said about the whole."""
    rows = ["| task | rootbound | server-filesystem | rust-mcp-filesystem | ratio |", "|---|---:|---:|---:|---:|"]
    ratios, lost = [], []
    for name, found in counts.items():
        ours, *peers = found.values()
        done = [peer.tokens for peer in peers if isinstance(peer, Count)]
        ratio = ""
        if done and isinstance(ours, Count):
            ratios.append(ours.tokens / min(done))
            ratio = f"{ratios[-1]:.2f}"
            if ratios[-1] >= 1:
                lost.append(name)
        rows.append(f"| {name} | {' | '.join(map(cell, found.values()))} | {ratio} |")
    said = []
    for peer in list(SERVERS)[1:]:
        both = [(found["rootbound"], found[peer]) for found in counts.values()
                if isinstance(found["rootbound"], Count) and isinstance(found[peer], Count)]
        if both:
            ours, theirs = (sum(count.tokens for count in column) for column in zip(*both))
            said.append(f"{peer.replace('_', '-')} finishes {len(both)} of {len(counts)} tasks, with {theirs:,} tokens in "
                        f"{sum(count.calls for _, count in both):,} calls; rootbound needs {ours:,} in "
                        f"{sum(count.calls for count, _ in both):,} for them ({ours / theirs:.2f}).")
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        more = f"{len(lost)} cost more than with a peer: {'; '.join(lost)}" if lost else "none costs more than with a peer"
        said.append(f"The geometric mean of the {len(ratios)} ratios is {mean:.2f}; {more}.")
    return rows, said


def write_table(text):
    path = os.path.join(TOP, "docs", "internals", "performance.md")
    with open(path, encoding="utf-8") as file:
        before, _, after = file.read().split(MARK)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}{MARK}\n\n{text}\n\n{MARK}{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--answers", action="store_true")
    parser.add_argument("--server", choices=SERVERS)
    given = parser.parse_args()
    chosen = [task for task in TASKS if not given.tasks or any(part in task.__doc__ for part in given.tasks)]
    servers = ["rootbound"] if given.check else [given.server] if given.server else list(SERVERS)
    if not given.check:
        install()
        Count.tokens_of = staticmethod(tokenizer())
    counts = {}
    for task in chosen:
        counts[task.__doc__] = {server: run(task(), server, given.answers) for server in servers}
        if not given.check:
            print(f"{task.__doc__}: {' | '.join(map(cell, counts[task.__doc__].values()))}", flush=True)
    failed = [f"{name}: {found['rootbound']}" for name, found in counts.items()
              if isinstance(found.get("rootbound"), str)]
    if given.check:
        print("\n".join(failed) or f"all {len(chosen)} tasks are done")
    elif len(servers) > 1:
        rows, said = table(counts)
        prices = {server: before_the_first_call(server) for server in servers}
        said.append("Before the first call: " + ", ".join(
            f"{server.replace('_', '-')} {tokens:,} tokens for {tools} tools"
            for server, (tokens, tools) in prices.items()) + f"; rootbound with `--allow manage` {before_the_first_call('rootbound', ('--allow', 'manage'))[0]:,}.")
        text = "\n".join([*rows, "", *(f"- {sentence}" for sentence in said)])
        print("\n" + text)
        if given.update:
            write_table(text)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
