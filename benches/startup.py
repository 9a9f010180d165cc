#!/usr/bin/env python3
"""The cost of starting: benches/startup.py [PROGRAM…] [ROUNDS]

Prints the time from spawning the server to its answer to `initialize`, and its ratio to spawning `true` and waiting
for its end, both by posix_spawn and interleaved (medians and quartiles); the size of the program; and the resident memory
after `initialize` and after `tools/list`. Without PROGRAM: the release program of `cargo build --release`, and the one
for musl if it was built. Nothing is asserted: only the ratios within one run are meaningful.
"""

import glob
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WARM_UP = 10
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "startup", "version": "1"},
    },
}


def line(message):
    return json.dumps(message).encode() + b"\n"


def spawn_true(true):
    started = time.perf_counter()
    pid = os.posix_spawn(true, [true], os.environ)
    os.waitpid(pid, 0)
    return time.perf_counter() - started


class Server:
    """One server, spawned without the slow set-up of Python."""

    def __init__(self, program, directory):
        child_in, self.stdin = os.pipe()
        self.stdout, child_out = os.pipe()
        actions = [(os.POSIX_SPAWN_DUP2, child_in, 0), (os.POSIX_SPAWN_DUP2, child_out, 1)]
        self.pid = os.posix_spawn(program, [program, "--state-dir=off", directory], os.environ, file_actions=actions)
        os.close(child_in)
        os.close(child_out)

    def ask(self, message):
        os.write(self.stdin, line(message))
        answer = b""
        while not answer.endswith(b"\n"):
            part = os.read(self.stdout, 1 << 16)
            assert part, "the server ended without an answer"
            answer += part
        return json.loads(answer)

    def tell(self, message):
        os.write(self.stdin, line(message))

    def resident(self):
        if sys.platform == "linux":
            with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
                return next(int(row.split()[1]) for row in status if row.startswith("VmRSS:"))
        return int(subprocess.check_output(["ps", "-o", "rss=", "-p", str(self.pid)]))

    def end(self):
        os.close(self.stdin)
        os.waitpid(self.pid, 0)
        os.close(self.stdout)


def programs():
    """The release program, and that of the packages where it was built."""
    release = os.path.join(TOP, "target", "release", "rootbound")
    others = glob.glob(os.path.join(TOP, "target", "*-linux-musl", "release", "rootbound"))
    return [release, *(path for path in others if platform.machine() in path)]


def quartiles(times):
    return statistics.quantiles(times, n=4)


def shown(name, times, base=None):
    low, middle, high = (time * 1e3 for time in quartiles(times))
    ratio = ""
    if base:
        # By the fast quarter as well, which other work on the machine disturbs least.
        ratio = f"  {middle / (quartiles(base)[1] * 1e3):.2f} times (fast quarter: {low / (quartiles(base)[0] * 1e3):.2f}; goal: at most 2)"
    print(f"{name:27}{middle:7.3f} ms (quartiles {low:.3f} to {high:.3f}){ratio}")


def main(*arguments):
    rounds = next((int(word) for word in arguments if word.isdigit()), 200)
    measured = [word for word in arguments if not word.isdigit()] or programs()
    true = shutil.which("true")
    trues = []
    runs = {program: {"times": [], "initialize": [], "list": []} for program in measured}
    with tempfile.TemporaryDirectory() as directory:
        for _ in range(WARM_UP + rounds):
            trues.append(spawn_true(true))
            for program, run in runs.items():
                started = time.perf_counter()
                server = Server(program, directory)
                answer = server.ask(INITIALIZE)
                run["times"].append(time.perf_counter() - started)
                assert answer["result"]["serverInfo"]["name"] == "rootbound", answer
                run["initialize"].append(server.resident())
                server.tell({"jsonrpc": "2.0", "method": "notifications/initialized"})
                server.ask({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
                run["list"].append(server.resident())
                server.end()
    trues = trues[WARM_UP:]
    shown("spawn true", trues)
    for program, run in runs.items():
        print(os.path.relpath(program))
        shown("spawn to initialize answer", run["times"][WARM_UP:], trues)
        print(f"binary                     {os.path.getsize(program) / 1e6:7.2f} MB")
        print(f"resident after initialize  {statistics.median(run['initialize']) / 1024:7.2f} MiB (goal: at most 8)")
        print(f"resident after tools/list  {statistics.median(run['list']) / 1024:7.2f} MiB")
    print(f"{rounds} rounds, load {os.getloadavg()[0]:.1f}")


main(*sys.argv[1:])
