#!/usr/bin/env python3
"""The cost of starting: benches/startup.py [PROGRAM] [ROUNDS]

Prints the time from spawning the server to its answer to `initialize` and the time of spawning `true`
(interleaved, medians and ratio), the size of the binary, and the resident memory after `initialize` and
after `tools/list`. Nothing is asserted: only the ratios within one run are meaningful.
"""

import json
import os
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


def main(program=os.path.join(TOP, "target", "release", "rootbound"), rounds="200"):
    true = shutil.which("true")
    trues, servers, after_initialize, after_list = [], [], [], []
    with tempfile.TemporaryDirectory() as directory:
        for _ in range(WARM_UP + int(rounds)):
            trues.append(spawn_true(true))
            started = time.perf_counter()
            server = Server(program, directory)
            answer = server.ask(INITIALIZE)
            servers.append(time.perf_counter() - started)
            assert answer["result"]["serverInfo"]["name"] == "rootbound", answer
            after_initialize.append(server.resident())
            server.tell({"jsonrpc": "2.0", "method": "notifications/initialized"})
            server.ask({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
            after_list.append(server.resident())
            server.end()
    base = statistics.median(trues[WARM_UP:])
    ours = statistics.median(servers[WARM_UP:])
    size = os.path.getsize(program)
    print(f"spawn true                 {base * 1e3:7.2f} ms")
    print(f"spawn to initialize answer {ours * 1e3:7.2f} ms   {ours / base:.2f} times (goal: at most 2)")
    print(f"binary                     {size / 1e6:7.2f} MB                (goal: under 12)")
    print(f"resident after initialize  {statistics.median(after_initialize) / 1024:7.2f} MiB               (goal: under 8 MB)")
    print(f"resident after tools/list  {statistics.median(after_list) / 1024:7.2f} MiB")
    print(f"{rounds} rounds, load {os.getloadavg()[0]:.1f}")


main(*sys.argv[1:])
