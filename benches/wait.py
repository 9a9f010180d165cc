#!/usr/bin/env python3
"""Latency of waits: benches/wait.py [--program PROGRAM] [--rounds N]

Prints the time from the write of a matching line to the answer (median, worst of
200 rounds), and from a cancellation until the place of the wait is free again. Then the latency of a read, alone and
beside 32 waits. All times in milliseconds; it takes about 45 seconds.
"""

import argparse
import json
import os
import queue
import statistics
import subprocess
import tempfile
import threading
import time

MOST_WAITS = 64


class Server:
    def __init__(self, program, root, *options):
        command = [program, "--state-dir", "off", "--allow", "watch", "--root", root, *options]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.answers = queue.SimpleQueue()
        self.last = 0
        threading.Thread(target=self.receive, daemon=True).start()
        client = {"name": "bench", "version": "1"}
        self.send("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        self.answer(self.last)
        self.notify("notifications/initialized", {})

    def receive(self):
        for line in self.process.stdout:
            self.answers.put((time.perf_counter(), json.loads(line)))

    def notify(self, method, params):
        line = json.dumps({"jsonrpc": "2.0", "method": method, "params": params}) + "\n"
        self.process.stdin.write(line.encode())
        self.process.stdin.flush()

    def send(self, method, params):
        self.last += 1
        line = json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}) + "\n"
        self.process.stdin.write(line.encode())
        self.process.stdin.flush()
        return self.last

    def answer(self, request):
        """When the answer of that request came, and the answer; others are skipped."""
        while True:
            came, message = self.answers.get(timeout=60)
            if message.get("id") == request:
                return came, message

    def call(self, tool, **arguments):
        return self.send("tools/call", {"name": tool, "arguments": arguments})

    def begin(self, **arguments):
        """Starts a wait and returns once it has looked: it reports progress then."""
        meta = {"progressToken": "begun"}
        request = self.send("tools/call", {"name": "wait", "arguments": arguments, "_meta": meta})
        while self.answers.get(timeout=60)[1].get("method") != "notifications/progress":
            pass
        return request

    def cancel(self, request):
        self.notify("notifications/cancelled", {"requestId": request})

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def percentile(latencies, part):
    return sorted(latencies)[min(len(latencies) - 1, int(len(latencies) * part))]


def line_to_answer(server, path, rounds):
    latencies = []
    for number in range(rounds):
        request = server.begin(path="log", pattern=f"line {number} ends")
        # Not in step with the looks.
        time.sleep(0.02 + number % 10 * 0.007)
        with open(path, "ab", buffering=0) as log:
            started = time.perf_counter()
            log.write(b"compiling\nline %d ends\n" % number)
        came, message = server.answer(request)
        assert "matched" in message["result"]["content"][0]["text"], message
        latencies.append((came - started) * 1000)
    return latencies


def cancelled_to_free(server, rounds):
    """All places are taken; one wait is cancelled, and a new one is tried until it is accepted."""
    waits = [server.begin(path="log", pattern="never") for _ in range(MOST_WAITS)]
    latencies = []
    for _ in range(rounds):
        started = time.perf_counter()
        server.cancel(waits.pop(0))
        while True:
            came, message = server.answer(server.call("wait", path="log", timeout=0))
            if not message["result"]["isError"]:
                break
        latencies.append((came - started) * 1000)
        waits.append(server.begin(path="log", pattern="never"))
    for request in waits:
        server.cancel(request)
    return latencies


def reads(server, count):
    latencies = []
    for number in range(count):
        started = time.perf_counter()
        # Each time other lines: a read of what was read before is answered without them.
        came, message = server.answer(server.call("read", path="lines", offset=1 + number % 200, limit=200))
        assert "\tline " in message["result"]["content"][0]["text"], message
        latencies.append((came - started) * 1000)
    return latencies


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=os.path.join(os.path.dirname(__file__), "../target/release/rootbound"))
    parser.add_argument("--rounds", type=int, default=200)
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)
    with tempfile.TemporaryDirectory() as root:
        path = os.path.join(root, "log")
        open(path, "w").close()
        with open(os.path.join(root, "lines"), "w") as lines:
            lines.writelines(f"line {number}\n" for number in range(400))
        server = Server(program, root)
        times = line_to_answer(server, path, arguments.rounds)
        print(f"line to answer       median {statistics.median(times):7.2f}   worst {max(times):7.2f}")
        times = cancelled_to_free(server, 50)
        print(f"cancelled to free    median {statistics.median(times):7.2f}   worst {max(times):7.2f}")
        server.end()
        server = Server(program, root)
        for waits in [0, 32]:
            requests = [server.begin(path="log", pattern="never") for _ in range(waits)]
            times = reads(server, 2000)
            print(f"read beside {waits:2} waits  median {statistics.median(times):7.3f}   "
                  f"p99   {percentile(times, 0.99):7.3f}")
            for request in requests:
                server.cancel(request)
        server.end()


main()
