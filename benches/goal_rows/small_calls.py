"""Starting, reads, writes and edits, and one directory of many files."""
import os
import time

from . import trees
from .servers import ECHO, PROGRAM, Failed, Server, names, ours, output

LINE = "a line of some sixty characters, as source code often has\n"


def spawned(command):
    """From its start to its end."""
    def work():
        with open(os.devnull, "w", encoding="ascii") as sink:
            started = time.perf_counter()
            pid = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, sink.fileno(), 1)])
            os.waitpid(pid, 0)
            return time.perf_counter() - started
    return work


def begun(start):
    """From its start to the answer to `initialize`."""
    def work():
        server = start()
        server.end(kill=True)
        return server.ready - server.started
    return work


def start(table, peers, work):
    servers = [(name, begun(lambda name=name: peers.start(name, work)), None) for name in peers.commands]
    echo = [("bare rmcp", begun(lambda: Server([ECHO])), None)] if os.path.exists(ECHO) else []
    programs = [("`rg --version`", spawned([peers.rg, "--version"]), None)]
    if peers.fd:
        programs.append(("`fd --version`", spawned([peers.fd, "--version"]), None))
    table.compare("start", "start, until `initialize` is answered", begun(lambda: ours(work)),
                  [("`true`", spawned(["/bin/true"]), 2), *programs, *echo], 50)
    table.compare("start", "the same, other servers", begun(lambda: ours(work)), servers, 9)
    server, others = ours(work), []
    for name in peers.commands:
        other = peers.start(name, work)
        others.append((name, other.memory("VmRSS")))
        other.end(kill=True)
    table.bound("resident", "resident after `initialize`", server.memory("VmRSS"), "MiB", 8, others)
    server.end()
    table.bound("size", "size of the program", os.path.getsize(PROGRAM) / 2 ** 20, "MiB", 15)


def reads(table, peers, work):
    with open(os.path.join(work, "a.txt"), "w", encoding="ascii") as file:
        file.write(LINE * 200)
    with open(os.path.join(work, "large.txt"), "w", encoding="ascii") as file:
        file.write(LINE * 180_000)
    server = ours(work)
    read = {"name": "read", "arguments": {"path": "a.txt"}}
    whole = {"path": os.path.join(work, "a.txt")}

    def many(server, params):
        return lambda: [server.ask("tools/call", params) for _ in range(100)] and None

    def flood(server, params):
        return lambda: server.flood("tools/call", params)

    def check():
        if server.call("read", path="a.txt")[0].count(LINE) != 200:
            raise Failed("not the 200 lines")

    calls = []
    if os.path.exists(ECHO):
        calls.append(("bare rmcp, as many lines", Server([ECHO]), {"name": "echo", "arguments": {"lines": 200}}, 1.5))
    for name, tool in (("rust-mcp-filesystem", "read_text_file"), ("server-filesystem", "read_text_file")):
        if peers.has(name):
            other = peers.start(name, work)
            calls.append((name, other, {"name": tool, "arguments": whole}, None))
    table.compare("read", "read 200 lines, round trip", many(server, read),
                  [(name, many(other, params), goal) for name, other, params, goal in calls], 15, 100, check)
    table.compare("concurrent", "the same, 32 concurrent, per call", flood(server, read),
                  [(name, flood(other, params), goal) for name, other, params, goal in calls], 50, 32)
    for _, other, _, _ in calls:
        other.end(kill=True)
    table.compare("large file", "read the last 50 lines of 10 MB",
                  lambda: server.call("read", path="large.txt", offset=-50) and None,
                  [("`cat` into a pipe", lambda: output(["cat", "large.txt"], work) and None, 3)])
    server.end()


def changes(table, peers, work):
    """Writes and edits of 1 MB."""
    server, body = ours(work), LINE * 17_000
    goals = {"server-filesystem": (0.25, 0.1), "rust-mcp-filesystem": (None, None)}
    others = [(name, peers.start(name, work)) for name in goals if peers.has(name)]
    if not others:
        table.unmeasured("write and edit of 1 MB", "no other server is installed")
    count = [0]
    paths = {name: os.path.join(work, f"{name}.txt") for name in ("ours", *goals)}

    def text():
        count[0] += 1
        return f"first {count[0]}\n{body}"

    def write(server, tool, path):
        return lambda: server.timed_call(tool, path=path, content=text())

    def check():
        server.call("write", path=paths["ours"], content=(wanted := text()))
        with open(paths["ours"], encoding="ascii") as file:
            if file.read() != wanted:
                raise Failed("another content")

    table.compare("write", "write 1 MB", write(server, "write", paths["ours"]),
                  [(name, write(other, "write_file", paths[name]), goals[name][0]) for name, other in others], check=check)
    for path in paths.values():
        with open(path, "w", encoding="ascii") as file:
            file.write(f"first 0\n{body}")
    server.call("read", path=paths["ours"], limit=1)
    at = dict.fromkeys(paths, 0)

    def edit(name, change):
        def work():
            at[name] += 1
            change(f"first {at[name] - 1}\n", f"first {at[name]}\n")
        return work

    def of_other(name, other):
        return edit(name, lambda old, new: other.call("edit_file", path=paths[name],
                                                      edits=[{"oldText": old, "newText": new}]))

    table.compare("edit", "edit a line of 1 MB",
                  edit("ours", lambda old, new: server.call("edit", path=paths["ours"], old_string=old, new_string=new)),
                  [(name, of_other(name, other), goals[name][1]) for name, other in others])
    with open(paths["ours"], encoding="ascii") as file:
        if file.readline() != f"first {at['ours']}\n":
            table.wrong.append("edit a line of 1 MB: another content")
    for _, other in others:
        other.end(kill=True)
    server.end()


def wide(table, peers, work):
    """100,000 small files in one directory."""
    folder = os.path.join(work, "wide")
    trees.wide(folder, 100_000)
    server = ours(work)
    listing = {"path": "wide", "max_results": 2000}

    def first():
        server = ours(work)
        server.call("ls", **listing)
        took = time.perf_counter() - server.started
        server.end(kill=True)
        return took

    def check():
        shown = server.call("ls", **listing)[0]
        if not all(f"file{number:06}" in shown for number in (0, 1000, 1990)):
            raise Failed("not the first 2,000 names")

    reference = ("`ls -U`", lambda: output(["ls", "-U", folder], work) and None, 1.2)
    table.compare("ls", "list a directory of 100,000, first 2,000, server started for it", first, [reference], check=check)
    table.compare("ls", "the same of a running server", lambda: server.call("ls", **listing) and None, [reference])
    query = "small file 77777"
    rg = [peers.rg, "--no-config", "--hidden", "-l", "-i", query, "."]
    server.call("grep", pattern=query, path="wide")
    server.settle()

    def found():
        text, facts = server.call("grep", pattern=query, path="wide", output_mode="files_with_matches")
        if {os.path.relpath(line, "wide") for line in text.split("\n")[1:] if line} != names(output(rg, folder)):
            raise Failed(f"differs from rg: {text[:80]} {facts}")

    others = [("`rg`", lambda: output(rg, folder) and None, 0.1)]
    other = None
    if peers.has("fff-mcp"):
        other = peers.start("fff-mcp", folder)
        other.settle()
        others.append(("fff-mcp", lambda: other.finds(["file077777"], "grep", query=query), 1))
    table.compare("wide", "repeat grep in 100,000 small files of one directory",
                  lambda: server.call("grep", pattern=query, path="wide", output_mode="files_with_matches") and None,
                  others, 15, check=found)
    if other:
        other.end(kill=True)
    server.end()
