#!/usr/bin/env python3
"""Large inputs, each at n and 2n: benches/big.py [--small] [log] [names] [line] [ignored] [deep]

A log of 2 GB, a folder of 100,000 files, one line of 50 MB, 20,000 ignored files, 5,000 nested folders: the
time of each tool, and the peak memory of a new server (without the index). Answers are checked. Expected:
times at most double from n to 2n, memory does not grow with the size, cancelled work ends at once. --small
is a tenth of it.

Needs 7 GB below TMPDIR. PROGRAM names another binary than target/release/rootbound.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.environ.get("PROGRAM", os.path.join(TOP, "target", "release", "rootbound"))
SCALE = 10 if "--small" in sys.argv else 1


class Server:
    """One server process on a folder, called with JSON lines."""

    def __init__(self, folder, *options):
        self.process = subprocess.Popen([PROGRAM, "--state-dir", "off", "--index", "off", "--allow", "manage",
                                         "--max-file-size", "256MiB", *options, folder],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.last, self.progress = 0, 0
        self.send("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                 "clientInfo": {"name": "big", "version": "1"}})
        self.answer()

    def send(self, method, params, notification=False):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if not notification:
            self.last += 1
            message["id"] = self.last
        self.process.stdin.write((json.dumps(message) + "\n").encode())
        self.process.stdin.flush()

    def answer(self):
        while line := self.process.stdout.readline():
            message = json.loads(line)
            self.progress += message.get("method") == "notifications/progress"
            if message.get("id") == self.last:
                return message["result"]
        raise SystemExit("the server ended")

    def call(self, tool, **arguments):
        started = time.perf_counter()
        self.send("tools/call", {"name": tool, "arguments": arguments, "_meta": {"progressToken": self.last}})
        result = self.answer()
        return result["content"][0].get("text", ""), (time.perf_counter() - started) * 1000, result.get("isError", False)

    def most(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmHWM:\s+(\d+)", status.read()).group(1)) / 1024

    def worked(self):
        """Processor time so far, in ms."""
        with open(f"/proc/{self.process.pid}/schedstat") as stat:
            main = int(stat.read().split()[0])
        total = 0
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            try:
                with open(f"/proc/{self.process.pid}/task/{task}/schedstat") as stat:
                    total += int(stat.read().split()[0])
            except OSError:
                pass
        return max(main, total) / 1e6

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def row(what, folder, tool, expected, *options, **arguments):
    """One call to a new server; `expected` is a part of the answer."""
    server = Server(folder, *options)
    text, took, failed = server.call(tool, **arguments)
    wrong = "" if expected in text else f" WRONG: {text[:200]!r}"
    # An error begins with a bracket.
    first = text.strip().split("\n")[0][:60]
    print(f"| {what} | {took:.0f} ms | {server.most():.0f} MiB | {server.progress} | "
          f"{'error: ' if failed else ''}{first.replace('|', ' ')}{wrong} |", flush=True)
    server.end()
    return took


def head(title):
    print(f"\n{title}\n\n| call | time | memory at most | progress | answer begins |\n|---|---:|---:|---:|---|", flush=True)


def log(top):
    for lines in (10_000_000 // SCALE, 20_000_000 // SCALE):
        folder = os.path.join(top, f"log{lines}")
        os.mkdir(folder)
        with open(os.path.join(folder, "big.log"), "w") as file:
            filler = "x" * 30 + " request served from the cache in some milliseconds " + "y" * 8
            for start in range(0, lines, 100_000):
                file.write("".join(f"{n:08d} {filler}\n" for n in range(start, start + 100_000)))
        head(f"A log of {os.path.getsize(os.path.join(folder, 'big.log')) / 1e9:.1f} GB, {lines:,} lines")
        at = 1_000_000 // SCALE
        row("read 51 lines in it", folder, "read", f"{at}\t{at - 1:08d} ", path="big.log", start_line=at, end_line=at + 50)
        row("read its last 50 lines", folder, "read", f"{lines}\t{lines - 1:08d} ", path="big.log", offset=-50)
        row("grep it, one hit at the end", folder, "grep", f"big.log:{lines - 1}: ", path="big.log",
            pattern=f"^{lines - 2:08d}")
        row("grep it, no hit", folder, "grep", "No matches found", path="big.log", pattern=r"zz\w+[q]never")
        server = Server(folder)
        for tool, arguments in (("grep", {"pattern": r"zz\w+[q]never", "path": "big.log"}), ("read", {"path": "big.log", "offset": -5})):
            server.send("tools/call", {"name": tool, "arguments": arguments})
            time.sleep(0.3)
            before = server.worked()
            server.send("notifications/cancelled", {"requestId": server.last}, notification=True)
            time.sleep(0.1)
            after = server.worked()
            time.sleep(0.3)
            print(f"| {tool} cancelled after 300 ms | {after - before:.0f} ms of work until 100 ms later, "
                  f"{server.worked() - after:.0f} after that | {server.most():.0f} MiB | | |")
        server.end()
        shutil.rmtree(folder)


def names(top):
    for count in (50_000 // SCALE, 100_000 // SCALE):
        folder = os.path.join(top, f"names{count}")
        os.makedirs(os.path.join(folder, "many"))
        for n in range(count):
            with open(os.path.join(folder, "many", f"file{n:06d}.txt"), "w") as file:
                file.write(f"content {n} of it\n")
        started = time.perf_counter()
        subprocess.run(["ls", "-U", os.path.join(folder, "many")], stdout=subprocess.DEVNULL, check=True)
        head(f"{count:,} files in one folder (ls -U takes {(time.perf_counter() - started) * 1000:.0f} ms)")
        row("ls it", folder, "ls", "file000000.txt", path="many", max_results=500)
        row("ls its parent", folder, "ls", "many/")
        row("glob by path", folder, "glob", "Found", pattern="**/*7.txt", sort="path")
        row("glob, newest first", folder, "glob", "Found", pattern="**/*7.txt")
        row("grep, one hit", folder, "grep", f"many/file{count - 1:06d}.txt:1:", pattern=f"content {count - 1} of")
        row("grep, capped", folder, "grep", "more than 100", pattern="content")
        shutil.rmtree(folder)


def line(top):
    for size in (25_000_000 // SCALE, 50_000_000 // SCALE):
        folder = os.path.join(top, f"line{size}")
        os.mkdir(folder)
        with open(os.path.join(folder, "data.json"), "w") as file:
            file.write("[" + ",".join(f'{{"number": {n}, "name": "entry"}}' for n in range(size // 36)) + ',"needle"]')
        head(f"One line of {os.path.getsize(os.path.join(folder, 'data.json')) / 1e6:.0f} MB")
        row("read it", folder, "read", '[{"number": 0', path="data.json")
        row("grep it", folder, "grep", "needle", path="data.json", pattern='"needle"')
        row("grep it, no hit", folder, "grep", "No matches found", path="data.json", pattern="nothing_of_the_kind")
        row("edit it", folder, "edit", "", "--read-before-write", "off", path="data.json", old_string='"needle"', new_string='"found"')
        shutil.rmtree(folder)


def ignored(top):
    for count in (10_000 // SCALE, 20_000 // SCALE):
        folder = os.path.join(top, f"ignored{count}")
        os.makedirs(os.path.join(folder, "src"))
        with open(os.path.join(folder, "src/own.js"), "w") as file:
            file.write("const needle = 1;\n")
        for n in range(count):
            place = os.path.join(folder, "node_modules", f"package{n // 20}")
            os.makedirs(place, exist_ok=True)
            with open(os.path.join(place, f"file{n}.js"), "w") as file:
                file.write(f"exports.needle{n} = {n};\n")
        head(f"{count:,} files in node_modules")
        row("grep, found outside", folder, "grep", "more in ignored files; pass no_ignore", pattern="needle")
        row("grep, nothing outside", folder, "grep", "in ignored files; pass no_ignore", pattern="exports")
        row("grep with no_ignore", folder, "grep", "more than 100", pattern="exports", no_ignore=True)
        row("glob", folder, "glob", "src/own.js", pattern="**/*.js")
        row("ls", folder, "ls", "src/")
        shutil.rmtree(folder)


def deep(top):
    for levels in (2_500 // SCALE, 5_000 // SCALE):
        folder = os.path.join(top, f"deep{levels}")
        os.makedirs(os.path.join(folder, "top"))
        here = os.open(os.path.join(folder, "top"), os.O_RDONLY)
        for _ in range(levels - 1):
            os.mkdir("d", dir_fd=here)
            below = os.open("d", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        with os.fdopen(os.open("end.txt", os.O_WRONLY | os.O_CREAT, dir_fd=here), "w") as file:
            file.write("the needle\n")
        os.close(here)
        end = "top/" + "d/" * (levels - 1) + "end.txt"
        head(f"{levels:,} folders in one another")
        row("ls", folder, "ls", "top/")
        row("glob", folder, "glob", "Found 1 path", pattern="**/end.txt")
        row("grep", folder, "grep", "Found 1 match", pattern="needle")
        row("read the file at the end", folder, "read", "", path=end)
        row("copy all", folder, "copy", "opied", source="top", destination="copied")
        row("move all", folder, "move", "oved", source="copied", destination="moved")
        row("delete all", folder, "delete", "", path="moved", recursive=True)
        subprocess.run(["rm", "-rf", folder], check=True)


def main():
    things = {thing.__name__: thing for thing in (log, names, line, ignored, deep)}
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--small", action="store_true", help="a tenth of it")
    arguments.add_argument("thing", nargs="*", help="all of them without one: " + ", ".join(things))
    chosen = arguments.parse_args().thing or things
    unknown = set(chosen) - set(things)
    if unknown:
        arguments.error("there is no " + ", ".join(sorted(unknown)))
    with tempfile.TemporaryDirectory(prefix="big-") as top:
        for name in chosen:
            things[name](top)


main()
