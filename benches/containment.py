#!/usr/bin/env python3
"""What containment costs: benches/containment.py [TREE] [ROUNDS]

Greps the same tree with the release binary, a new server for each search and `--index off`, with and
without each barrier in turn (A B C A B C …): the kernel's sandbox (`--confine auto` and `off`), and opening
a path in one system call (`--resolver auto`) or name by name. Prints the medians of the first search, of
the whole process and of its processor time, with and without the barrier. The answers must be equal.
Nothing else is asserted: only the ratios within one run are meaningful.
"""
import json
import os
import statistics
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.environ.get("PROGRAM", os.path.join(TOP, "target", "release", "rootbound"))
BARE = ("--confine", "off", "--resolver", "auto")
WALLS = {
    "with and without the kernel's sandbox (Landlock, seccomp)": (("--confine", "auto", "--resolver", "auto"), BARE),
    "opening in one step (openat2) and name by name": (BARE, ("--confine", "off", "--resolver", "walk")),
}
QUERIES = {"no hit": "zzqqxxyyvv", "rare literal": "pm_runtime_get_sync_zz|usb_hcd_giveback_urb_bh"}


class Run:
    """One server, one search: its times in milliseconds and its answer."""

    def __init__(self, options, tree, pattern):
        started = time.perf_counter()
        process = subprocess.Popen([PROGRAM, "--state-dir", "off", "--index", "off", *options, tree],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pipe = process
        self.ask(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                   "clientInfo": {"name": "bench", "version": "1"}})
        asked = time.perf_counter()
        result = self.ask(2, "tools/call", {"name": "grep", "arguments": {
            "pattern": pattern, "output_mode": "files_with_matches", "max_results": 500, "no_ignore": True}})
        self.search = (time.perf_counter() - asked) * 1000
        process.stdin.close()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.whole = (time.perf_counter() - started) * 1000
        self.processor = (used.ru_utime + used.ru_stime) * 1000
        process.stdout.close()
        assert process.returncode == 0 and not result.get("isError"), result
        self.answer = result["content"][0]["text"]
        self.files = result["_meta"]["rootbound/result"].get("searched")

    def ask(self, number, method, params):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.pipe.stdin.write((json.dumps(message) + "\n").encode())
        self.pipe.stdin.flush()
        while True:
            answer = json.loads(self.pipe.stdout.readline())
            if answer.get("id") == number:
                return answer["result"]


def compared(name, query, options, tree, rounds):
    pattern = QUERIES[query]
    for one in options:  # warm-up
        Run(one, tree, pattern)
    runs = [[Run(one, tree, pattern) for one in options] for _ in range(rounds)]
    assert len({run.answer for pair in runs for run in pair}) == 1, "the answers differ"
    cells = []
    for what in ("search", "whole", "processor"):
        with_wall, without = (statistics.median(getattr(pair[at], what) for pair in runs) for at in (0, 1))
        # Of each pair by itself, so that a slow minute of the machine counts on both sides.
        ratio = statistics.median(getattr(pair[0], what) / getattr(pair[1], what) for pair in runs)
        cells.append(f"{with_wall:.0f} / {without:.0f} ms = {ratio:.2f}")
    print(f"| {name}: {query} | {' | '.join(cells)} |", flush=True)


def main():
    tree = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else
                            subprocess.run(["rustc", "--print", "sysroot"], capture_output=True,
                                           text=True).stdout.strip())
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    files = sum(len(names) for _, _, names in os.walk(tree))
    print(f"{files} files, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, {rounds} rounds, medians\n")
    print("| comparison: search | first search | whole process | processor time |\n|---|---:|---:|---:|")
    for name, options in WALLS.items():
        for query in QUERIES:
            compared(name, query, options, tree, rounds)
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")


main()
