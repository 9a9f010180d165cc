#!/usr/bin/env python3
"""Search beside ripgrep: benches/search.py [TREE] [ROUNDS]

Starts the release binary and `rg` in turn (A B A B …) on the same tree and prints medians and the
ratio. "First" starts a server for each search, as `rg` starts a process; "repeat" asks one server that
stays alive, as a client does. Each answer is compared with rg's as a set before its time counts.
Nothing is asserted: only ratios within one run mean anything.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.environ.get("PROGRAM", os.path.join(TOP, "target", "release", "rootbound"))
RG = ["rg", "--no-config", "--hidden", "--no-require-git", "--glob", "!.git", "--max-filesize", "16M"]


class Server:
    """One server process on TREE, spoken to in JSON lines."""

    def __init__(self, tree):
        self.process = subprocess.Popen([PROGRAM, "--state-dir", "off", "--max-output", "10485760", tree],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last = 0
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                "clientInfo": {"name": "bench", "version": "1"}})

    def ask(self, method, params):
        self.last += 1
        self.process.stdin.write((json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method,
                                              "params": params}) + "\n").encode())
        self.process.stdin.flush()
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.last:
                return answer["result"]

    def call(self, tool, arguments):
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        return result["content"][0]["text"], result["_meta"].get("rootbound/result", {})

    def resident(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) / 1024

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def rg(tree, arguments):
    done = subprocess.run(RG + arguments + ["."], cwd=tree, capture_output=True, text=True, errors="replace")
    return done.stdout


def timed(work):
    started = time.perf_counter()
    answer = work()
    return (time.perf_counter() - started) * 1000, answer


def files(text):
    """The files of an answer in files_with_matches mode."""
    found = text.startswith("Found ")
    return {line for line in text.split("\n\n")[0].split("\n")[1:] if line} if found else set()


def paths(text):
    """The paths of an answer of glob."""
    return {line.split(". ", 1)[1] for line in text.split("\n\n")[0].split("\n") if re.match(r"\d+\. ", line)}


def relative(text):
    return {line.removeprefix("./") for line in text.splitlines()}


def row(name, goal, ours, theirs, rounds, note=""):
    ours(), theirs()  # warm-up
    a, b = [], []
    for _ in range(rounds):
        a.append(timed(ours)[0])
        b.append(timed(theirs)[0])
    a, b = statistics.median(a), statistics.median(b)
    print(f"| {name} | {a:.1f} ms | {b:.1f} ms | {a / b:.3f} | {goal} |{note}", flush=True)


def main():
    tree = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else
                            subprocess.run(["rustc", "--print", "sysroot"], capture_output=True,
                                           text=True).stdout.strip())
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    server = Server(tree)
    total = len(rg(tree, ["--files"]).splitlines())
    print(f"{total} files, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, {rounds} rounds, medians\n")
    print("| search | rootbound | rg | ratio | goal |\n|---|---:|---:|---:|---:|")

    def same(name, ours, theirs):
        if ours != theirs:
            print(f"DIFFERENT: {name}: only ours {sorted(ours - theirs)[:3]}, only rg's {sorted(theirs - ours)[:3]}")

    def grep(pattern, on=None, **more):
        server_ = on or server
        return server_.call("grep", {"pattern": pattern, "output_mode": "files_with_matches", "max_results": 500, **more})

    queries = {
        "rare literal": ("pm_runtime_get_sync_zz|usb_hcd_giveback_urb_bh", "≤ 0.01"),
        "no hit": ("zzqqxxyyvv", "≤ 0.01"),
        "regex with literals": (r"fn\s+block_on_\w+|struct\s+usb_device_id\s+\w+\[\]", "≤ 0.1"),
    }
    for name, (pattern, goal) in queries.items():
        text, facts = grep(pattern)
        if not facts.get("truncated"):
            same(name, files(text), relative(rg(tree, ["-l", "-i", pattern])))

        def first(pattern=pattern):
            one = Server(tree)
            grep(pattern, one)
            one.end()

        row(f"first grep, {name}", "≤ 0.75", first, lambda: rg(tree, ["-l", "-i", pattern]), rounds)
    time.sleep(8)  # whatever is built in the background is built now
    for name, (pattern, goal) in queries.items():
        text, facts = grep(pattern)
        if not facts.get("truncated"):
            same(f"repeat {name}", files(text), relative(rg(tree, ["-l", "-i", pattern])))
        row(f"repeat grep, {name}", goal, lambda: grep(pattern), lambda: rg(tree, ["-l", "-i", pattern]), rounds)
    row("repeat grep, common word, counts", "≤ 0.5", lambda: grep("return", output_mode="count"),
        lambda: rg(tree, ["-c", "-i", "return"]), rounds)
    row("capped grep, 100 of all, path order", "≤ 0.01", lambda: server.call("grep", {"pattern": "return"}),
        lambda: rg(tree, ["-n", "-i", "--sort", "path", "return"]), min(rounds, 3))
    text, facts = server.call("glob", {"pattern": "**/*.rs", "sort": "path", "max_results": 1000})
    if not facts.get("truncated"):
        same("glob", paths(text), relative(rg(tree, ["--files", "-g", "*.rs"])))
    row("repeat glob **/*.c", "≤ 0.125", lambda: server.call("glob", {"pattern": "**/*.c"}),
        lambda: rg(tree, ["--files", "-g", "*.c"]), rounds)
    print(f"\nresident: {server.resident():.0f} MiB")
    server.end()


main()
