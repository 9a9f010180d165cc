#!/usr/bin/env python3
"""Every performance goal and its reference: benches/goals.py [--update] [--rounds N] [--peer COMMAND] [TREE]

Runs the release binary and its reference in turn (A B A B …) and prints medians and ratios; nothing is
asserted, and only the ratios within one run are meaningful. The result of each search is compared with that
of rg, as a set, before its time counts. TREE is by default the Rust toolchain; the goals are for the sources
of Linux. COMMAND starts server-filesystem, with WS for its directory, for instance
"node …/server-filesystem/dist/index.js WS". Rows whose reference is not installed are skipped: that server,
fd, or the bare server (cargo build --release --example echo). --update replaces the table in
docs/performance.md.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.environ.get("PROGRAM", os.path.join(TOP, "target", "release", "rootbound"))
ECHO = os.path.join(TOP, "target", "release", "examples", "echo")
RG = ["rg", "--no-config", "--hidden", "--no-require-git", "--glob", "!.git", "--max-filesize", "16M"]
FD = next(filter(None, map(shutil.which, ("fdfind", "fd"))), None)
FILES = {"output_mode": "files_with_matches", "max_results": 500}
MARK = "<!-- benches/goals.py -->"


class Server:
    """A server process, called with JSON lines."""

    def __init__(self, command, log=subprocess.DEVNULL):
        self.started = time.perf_counter()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        self.last = 0
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                "clientInfo": {"name": "bench", "version": "1"}})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write((json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode())
        self.process.stdin.flush()

    def request(self, method, params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        return self.last

    def answer(self, wanted):
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == wanted:
                return answer["result"]

    def ask(self, method, params):
        return self.answer(self.request(method, params))

    def flood(self, method, params, many=32):
        """`many` concurrent requests; the answers may come in any order."""
        waiting = {self.request(method, params) for _ in range(many)}
        while waiting:
            waiting.discard(json.loads(self.process.stdout.readline()).get("id"))

    def call(self, tool, **arguments):
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert not result.get("isError"), result
        return result["content"][0]["text"], result.get("_meta", {}).get("rootbound/result", {})

    def memory(self, what):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(re.search(rf"{what}:\s+(\d+)", status.read()).group(1)) / 1024

    def cpu(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def settle(self):
        """Waits until the background work ends; returns its seconds of work."""
        first = before = self.cpu()
        while True:
            time.sleep(1.5)
            now = self.cpu()
            if now - before < 0.03:
                return now - first
            before = now

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def ours(directory, *options, **others):
    return Server([PROGRAM, "--state-dir", "off", "--max-output", "10485760", *options, directory], **others)


def run(command, directory):
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, errors="replace")
    return {line.removeprefix("./") for line in done.stdout.splitlines()}


class Table:
    """The rows, printed one by one."""

    def __init__(self, rounds):
        self.rounds = rounds
        self.rows = ["| work | rootbound | compared with | | ratio | goal |", "|---|---:|---|---:|---:|---:|"]
        print("\n".join(self.rows))

    def add(self, *cells):
        self.rows.append("| " + " | ".join(cells) + " |")
        print(self.rows[-1], flush=True)

    def pair(self, name, goal, mine, reference, theirs, rounds=None, each=1, floor=False):
        """Both in turn. `each` is the number of calls of one run."""
        mine(), theirs()
        times = ([], [])
        for _ in range(rounds or self.rounds):
            for kept, work in zip(times, (mine, theirs)):
                started = time.perf_counter()
                kept.append(work() or time.perf_counter() - started)
        a, b = (statistics.median(kept) * 1000 / each for kept in times)
        sign = "≥" if floor else "≤"
        met = a / b >= goal if floor else a / b <= goal
        self.add(name, f"{a:.2f} ms", reference, f"{b:.2f} ms", f"{a / b:.3f}",
                 f"{sign} {goal:g}" + ("" if met else " **missed**"))

    def bound(self, name, value, unit, goal):
        self.add(name, f"{value:.1f} {unit}", "", "", "", f"≤ {goal:g}" + ("" if value <= goal else " **missed**"))


def start_and_small_calls(table, work, peer):
    with open(os.path.join(work, "a.txt"), "w", encoding="ascii") as file:
        file.write("a line of some sixty characters, as source code often has\n" * 200)
    with open(os.path.join(work, "large.txt"), "w", encoding="ascii") as file:
        file.write("a line of some sixty characters, as source code often has\n" * 180_000)

    def begin():
        server = ours(work)
        took = time.perf_counter() - server.started
        server.end()
        return took

    def true():
        started = time.perf_counter()
        subprocess.Popen(["true"]).wait()
        return time.perf_counter() - started

    table.pair("start, until `initialize` is answered", 2, begin, "`true`", true, 50)
    server = ours(work)
    table.bound("resident after `initialize`", server.memory("VmRSS"), "MiB", 8)
    read = {"name": "read", "arguments": {"path": "a.txt"}}

    def many(server, params):
        return lambda: [server.ask("tools/call", params) for _ in range(100)] and None

    if os.path.exists(ECHO):
        echo, same = Server([ECHO]), {"name": "echo", "arguments": {"lines": 200}}
        table.pair("read 200 lines, round trip", 1.5, many(server, read), "bare rmcp, as many lines", many(echo, same),
                   15, 100)
        table.pair("the same, 32 in flight, a call", 1.5, lambda: server.flood("tools/call", read), "bare rmcp",
                   lambda: echo.flood("tools/call", same), 50, 32)
        echo.end()
    table.pair("read the last 50 lines of 10 MB", 3, lambda: server.call("read", path="large.txt", offset=-50) and None,
               "`cat` into a pipe",
               lambda: subprocess.run(["cat", "large.txt"], cwd=work, stdout=subprocess.PIPE) and None)
    if peer:
        other = Server([work if word == "WS" else word for word in peer])
        body = "a line of some sixty characters, as source code often has\n" * 17_000
        mine, theirs = (os.path.join(work, name) for name in ("mine.txt", "theirs.txt"))
        count = [0]

        def text():
            count[0] += 1
            return f"first {count[0]}\n{body}"

        table.pair("write 1 MB", 0.25, lambda: server.call("write", path=mine, content=text()) and None,
                   "server-filesystem", lambda: other.call("write_file", path=theirs, content=text()) and None)
        with open(theirs, "w", encoding="ascii") as file:
            file.write(f"first 0\n{body}")
        server.call("write", path=mine, content=f"first 0\n{body}")
        at = [0, 0]

        def edit(one, which, how):
            at[which] += 1
            old, new = f"first {at[which] - 1}\n", f"first {at[which]}\n"
            how(old, new)

        table.pair("edit a line of 1 MB", 0.1,
                   lambda: edit(server, 0, lambda old, new: server.call("edit", path=mine, old_string=old, new_string=new)),
                   "server-filesystem",
                   lambda: edit(other, 1, lambda old, new: other.call("edit_file", path=theirs,
                                                                      edits=[{"oldText": old, "newText": new}])))
        other.end()
    wide = os.path.join(work, "wide")
    os.mkdir(wide)
    for number in range(100_000):
        open(os.path.join(wide, f"file{number:06}"), "w", encoding="ascii").close()
    table.pair("list a directory of 100,000, first 2,000", 1.2,
               lambda: server.call("ls", path="wide", max_results=2000) and None, "`ls -U`",
               lambda: subprocess.run(["ls", "-U", wide], stdout=subprocess.DEVNULL) and None)
    server.end()


def searches(table, tree):
    rg = lambda *arguments: run([*RG, *arguments, "."], tree)
    queries = {
        "rare literal": ("pm_runtime_get_sync_zz|usb_hcd_giveback_urb_bh", 0.01),
        "no hit": ("zzqqxxyyvv", 0.01),
        "regex with literals": (r"fn\s+block_on_\w+|struct\s+usb_device_id\s+\w+\[\]", 0.1),
    }

    def same(server, pattern):
        text, facts = server.call("grep", pattern=pattern, **FILES)
        found = set(text.split("\n\n")[0].split("\n")[1:]) if text.startswith("Found ") else set()
        if not facts["truncated"] and found != rg("-l", "-i", pattern):
            raise SystemExit(f"DIFFERENT from rg: {pattern}: {sorted(found ^ rg('-l', '-i', pattern))[:5]}")

    def first(pattern, *options):
        """A server started for one search, as rg is, without waiting for its end."""
        def work():
            server = ours(tree, *options)
            server.call("grep", pattern=pattern, **FILES)
            took = time.perf_counter() - server.started
            server.process.kill()
            server.end()
            return took
        return work

    def process(*arguments):
        return lambda: rg(*arguments) and None

    server = ours(tree)
    for name, (pattern, _) in queries.items():
        table.pair(f"first grep, {name}, server started for it", 0.75, first(pattern), "`rg`",
                   process("-l", "-i", pattern))
    table.pair("containment: first grep, no hit", 1.05, first("zzqqxxyyvv", "--index", "off"), "`--confine off`",
               first("zzqqxxyyvv", "--index", "off", "--confine", "off"))
    bare = ours(tree, "--index", "off")
    for pattern, _ in queries.values():
        same(bare, pattern)
    bare.call("glob", pattern="**/*.c")
    table.bound("resident without index, after grep and glob (peak)", bare.memory("VmHWM"), "MiB", 30)
    bare.end()
    server.call("grep", pattern="zzqqxxyyvv", **FILES)
    took = server.settle()
    table.bound("index: background work to build it", took, "s", 6)
    table.bound("resident with index (peak)", server.memory("VmHWM"), "MiB", 150)
    with tempfile.TemporaryFile("w+") as log:
        said = ours(tree, "--log", "debug", log=log)
        said.call("grep", pattern="zzqqxxyyvv", **FILES)
        said.settle()
        said.end()
        log.seek(0)
        sizes = re.findall(r"paths=(\d+) filter=(\d+)", re.sub(r"\x1b\[\d*m", "", log.read()))
    # No row for a tree that is too small for an index.
    if sizes:
        paths, size = (int(bytes_) / 2 ** 20 for bytes_ in sizes[-1])
        table.bound(f"index: filter, in addition to {paths:.0f} MiB of paths", size, "MiB", 100)
    for name, (pattern, goal) in queries.items():
        same(server, pattern)
        table.pair(f"repeat grep, {name}", goal, lambda: server.call("grep", pattern=pattern, **FILES) and None, "`rg`",
                   process("-l", "-i", pattern))
    table.pair("repeat grep, common word, counts of 500 files", 0.5,
               lambda: server.call("grep", pattern="return", output_mode="count", max_results=500) and None, "`rg`",
               process("-c", "-i", "return"))
    table.pair("first 100 of a common word, in path order", 0.01,
               lambda: server.call("grep", pattern="return") and None, "`rg --sort path`",
               process("-n", "-i", "--sort", "path", "return"), min(table.rounds, 3))
    glob = lambda: server.call("glob", pattern="**/*.c") and None
    table.pair("repeat glob `**/*.c`, newest first", 0.125, glob, "`rg --files`", process("--files", "-g", "*.c"))
    if FD:
        table.pair("the same", 0.125, glob, "`fd`", lambda: run([FD, "--hidden", "--glob", "*.c"], tree) and None)
    server.end()


def write_table(rows):
    path = os.path.join(TOP, "docs", "performance.md")
    with open(path, encoding="utf-8") as file:
        before, _, after = file.read().split(MARK)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([before + MARK, "", *rows, "", MARK]) + after)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", nargs="?", metavar="TREE")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--peer", type=str.split, metavar="COMMAND")
    given = parser.parse_args()
    tree = given.tree or subprocess.check_output(["rustc", "--print", "sysroot"], text=True).strip()
    tree = os.path.realpath(tree)
    print(f"{len(run([*RG, '--files', '.'], tree))} files, {os.cpu_count()} processors, "
          f"load {os.getloadavg()[0]:.1f}, {given.rounds} rounds, medians\n")
    table = Table(given.rounds)
    with tempfile.TemporaryDirectory() as work:
        start_and_small_calls(table, work, given.peer)
    searches(table, tree)
    if given.update:
        write_table(table.rows)


if __name__ == "__main__":
    main()
