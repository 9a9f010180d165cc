#!/usr/bin/env python3
"""Latency and memory of completions: benches/completions.py [--program PROGRAM] [--files N]

Makes a tree of N files (80,000), and asks a new server for the completions of `index` letter by letter, as a person
types it: the first request, before there is an index; the keystrokes right after it; and those once the index is there.
Prints the median and the worst latency of each, in milliseconds, and the resident memory of the server.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

NAMES = ["index.ts", "main.rs", "config.py", "README.md", "view.tsx", "test_window.py", "handler.go", "style.css"]
TYPED = ["@i", "@in", "@ind", "@inde", "@index", "hand", "mod12/ind", "ndow", "package9/mod", "readme", "zzz", ""]


def make_tree(root, files):
    made = 0
    for number in range(files):
        folder = os.path.join(root, f"package{number // 4000}", f"mod{number // 400 % 10}", f"part{number // 40 % 10}")
        if number % 40 == 0:
            os.makedirs(folder, exist_ok=True)
        name = NAMES[number % len(NAMES)]
        stem, ending = name.rsplit(".", 1)
        with open(os.path.join(folder, name if number % 40 < 8 else f"{stem}{number % 40}.{ending}"), "w") as file:
            file.write(f"{number}\n")
        made += 1
    return made


class Server:
    def __init__(self, program, root):
        command = [program, "--state-dir", "off", "--root", root]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.last = 0
        client = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})

    def ask(self, method, params):
        self.last += 1
        line = json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}) + "\n"
        started = time.perf_counter()
        self.process.stdin.write(line.encode())
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return (time.perf_counter() - started) * 1000, answer["result"]

    def complete(self, text):
        template = {"type": "ref/resource", "uri": "file:///{+path}"}
        took, result = self.ask("completion/complete", {"ref": template, "argument": {"name": "path", "value": text}})
        return took, result["completion"]

    def resident(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS:"))

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def summary(latencies):
    return f"{statistics.median(latencies):6.1f} ms median {max(latencies):6.1f} ms worst"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=os.path.join(os.path.dirname(__file__), "../target/release/rootbound"))
    parser.add_argument("--files", type=int, default=80_000)
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        print(f"{make_tree(root, arguments.files):,} files")
        first, next_keys, memory = [], [], []
        for _ in range(arguments.rounds):
            server = Server(arguments.program, root)
            idle = server.resident()
            first.append(server.complete("@i")[0])
            for text in TYPED[1:5]:
                next_keys.append(server.complete(text)[0])
                time.sleep(0.08)
            memory.append((idle, server.resident()))
            server.end()
        print(f"first request            {summary(first)}")
        print(f"next keystrokes, 80 ms   {summary(next_keys)}")
        server = Server(arguments.program, root)
        deadline = time.monotonic() + 60
        while server.complete("@i")[1]["hasMore"] and time.monotonic() < deadline and server.resident() < 30:
            time.sleep(0.2)
        time.sleep(5)
        everything = []
        for text in TYPED:
            times = [server.complete(text)[0] for _ in range(arguments.rounds)]
            everything += times
            found = server.complete(text)[1]
            print(f"  {text!r:18} {summary(times)}   {found.get('total', 0):6} fit, best {found['values'][:1]}")
        print(f"with the index           {summary(everything)}")
        print(f"resident: {memory[0][0]:.1f} MiB idle, {max(after for _, after in memory):.1f} MiB after the first word, "
              f"{server.resident():.1f} MiB with the index")
        server.end()


main()
