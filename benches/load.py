#!/usr/bin/env python3
"""Concurrent calls on a changing tree: benches/load.py [--seconds 600] [--starve] TREE

Copies TREE, starts one server on the copy and keeps 32 mixed calls running on one pipe, while another
process creates, changes, renames and removes files. Every correct answer is known: reads of files that
nobody changes are compared byte for byte, inserted words must be found where they are and nowhere else (one
is inserted right before the search), writes are compared with the disk, and each edit must be made exactly
once. Prints calls, wrong answers, latencies by tool, errors by kind and the resident memory at each minute.
Exits with 1 if an answer was wrong.

--starve measures instead whether searches starve reads: the round trip of a read on an idle server, then
during 32 concurrent searches without a match (without the index, on TREE itself), and the memory.

PROGRAM names another binary than target/release/rootbound.
"""
import argparse
import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.environ.get("PROGRAM", os.path.join(TOP, "target", "release", "rootbound"))
IN_FLIGHT = 32


class Server:
    """One process that any thread may call."""

    def __init__(self, options):
        self.process = subprocess.Popen([PROGRAM, "--state-dir", "off", *options],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lock = threading.Lock()
        self.waiting = {}
        self.last = 0
        threading.Thread(target=self.listen, daemon=True).start()
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                "clientInfo": {"name": "load", "version": "1"}})

    def listen(self):
        for line in self.process.stdout:
            now = time.perf_counter()
            answer = json.loads(line)
            waiting = self.waiting.pop(answer.get("id"), None)
            if waiting:
                waiting[1:] = [answer, now]
                waiting[0].release()

    def begin(self, method, params):
        waiting = [threading.Lock(), None, None]
        waiting[0].acquire()
        with self.lock:
            self.last += 1
            self.waiting[self.last] = waiting
            message = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}
            self.process.stdin.write((json.dumps(message) + "\n").encode())
            self.process.stdin.flush()
        return waiting

    def ask(self, method, params):
        waiting = self.begin(method, params)
        if not waiting[0].acquire(timeout=120):
            raise SystemExit(f"no answer within 120 s: {method} {params}")
        return waiting[1]

    def call(self, tool, **arguments):
        """Text, whether it is an error and its kind, the metadata."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        meta = result.get("_meta", {})
        kind = meta.get("rootbound/error") if result.get("isError") else None
        return result["content"][0].get("text", ""), kind, meta.get("rootbound/result", {})

    def memory(self, what="VmRSS"):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(what + r":\s+(\d+)", status.read()).group(1)) / 1024

    def end(self):
        self.process.stdin.close()
        return self.process.wait()


def numbered(lines, first=1):
    return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, first))


def stable_files(tree, count, seed=1):
    """Plain text files that a read shows whole."""
    every = []
    for folder, folders, files in os.walk(tree):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in ("target", "node_modules"))
        every += [os.path.join(folder, name) for name in sorted(files) if re.search(r"\.(rs|c|h|md|py|txt)$", name)]
    random.Random(seed).shuffle(every)
    chosen = {}
    for path in every:
        if len(chosen) == count:
            break
        with open(path, "rb") as file:
            content = file.read(40_000)
        if not 0 < len(content) < 30_000 or not content.isascii() or not content.endswith(b"\n"):
            continue
        lines = content.decode().split("\n")[:-1]
        if len(lines) < 1500 and not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", content) and max(map(len, lines)) < 1500:
            chosen[os.path.relpath(path, tree)] = lines
    return chosen


def churn(folder, seed):
    """Runs in a separate process until it is ended: changes below `folder`, about 300 per second."""
    chance = random.Random(seed)
    names = [f"{folder}/d{n % 7}/{'e/' if n % 3 else ''}f{n}.txt" for n in range(400)]
    while True:
        path, other = chance.choice(names), chance.choice(names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        what = chance.randrange(12)
        try:
            if what < 5:
                with open(path, "w") as file:
                    file.write(f"changing return words {chance.random()}\n" * chance.randrange(1, 200))
            elif what < 7:
                with open(path, "a") as file:
                    file.write("appended return\n")
            elif what == 7:
                os.replace(path, other)
            elif what == 8:
                os.remove(path)
            elif what == 9:
                os.truncate(path, chance.randrange(100))
            elif what == 10:
                shutil.rmtree(f"{folder}/d{chance.randrange(7)}", ignore_errors=True)
            else:
                with open(f"{folder}/d{chance.randrange(7)}/.gitignore", "w") as file:
                    file.write(chance.choice(["*.txt\n", "e\n", ""]))
        except OSError:
            pass
        time.sleep(0.003)


class Load:
    """The calls, and their known answers."""

    def __init__(self, server, tree):
        self.server, self.tree = server, tree
        self.stable = stable_files(tree, 400)
        self.names = sorted(self.stable)
        self.lock = threading.Lock()
        self.took = collections.defaultdict(list)
        self.errors = collections.Counter()
        self.wrong = []
        self.landed = collections.Counter()
        self.sources = collections.Counter()
        self.common = re.compile("return", re.I)
        for folder in ("planted", "own", "churn", "fresh"):
            os.makedirs(os.path.join(tree, "load", folder))
        for n in range(20):
            self.put(f"load/planted/planted_{n}.txt", f"a line\nplantedword_{n % 10}_zz here\nlast\n")
        # One file that all edit, each its own line.
        self.put("load/own/shared.txt", "".join(f"slot {n}: 0 times\n" for n in range(IN_FLIGHT)))
        for n in range(IN_FLIGHT):
            self.put(f"load/own/edited_{n}.txt", f"head\r\nvalue 0 of {n}\r\ntail \xe9\r\n".encode("latin-1"))

    def put(self, relative, content):
        with open(os.path.join(self.tree, relative), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    def get(self, relative):
        with open(os.path.join(self.tree, relative), "rb") as file:
            return file.read()

    def call(self, name, tool, **arguments):
        started = time.perf_counter()
        text, kind, facts = self.server.call(tool, **arguments)
        took = time.perf_counter() - started
        with self.lock:
            self.took[name].append(took)
            if "source" in facts:
                self.sources[facts["source"]] += 1
            if kind:
                self.errors[f"{name}: {kind}"] += 1
        return text, kind, facts

    def must(self, holds, what, text):
        if not holds:
            with self.lock:
                self.wrong.append(f"{what}: {text[:300]!r}")

    # One method for each kind of call; `slot` is the number of the caller.

    def read(self, slot, chance):
        name = chance.choice(self.names)
        lines = self.stable[name]
        if chance.random() < 0.5:
            text, kind, _ = self.call("read", "read", path=name)
            self.must(kind is None and text == numbered(lines), f"read {name}", text)
        else:
            start = chance.randrange(len(lines)) + 1
            end = min(start + chance.randrange(50), len(lines))
            text, kind, _ = self.call("read", "read", path=name, start_line=start, end_line=end)
            body = numbered(lines[start - 1:end], start)
            self.must(kind is None and text.startswith(body) and text[len(body):].count("\n") <= 1,
                      f"read {name} {start}-{end}", text)

    def grep_rare(self, slot, chance):
        n = chance.randrange(10)
        text, kind, _ = self.call("grep rare", "grep", pattern=f"plantedword_{n}_zz", case_sensitive=chance.random() < 0.5)
        lines = sorted(f"load/planted/planted_{m}.txt:2: plantedword_{n}_zz here" for m in (n, n + 10))
        self.must(kind is None and text.split("\n")[1:3] == lines and text.startswith("Found 2 matches in 2 files"),
                  "grep rare", text)

    def grep_fresh(self, slot, chance):
        """Inserted a moment ago, in a file that is replaced, appended to or new."""
        word = f"freshword{slot}x{chance.getrandbits(60):x}"
        relative = f"load/fresh/{slot}_{chance.randrange(3)}.txt"
        if chance.random() < 0.5 or not os.path.exists(os.path.join(self.tree, relative)):
            self.put(relative, f"{word} alone\n")
        else:
            with open(os.path.join(self.tree, relative), "a") as file:
                file.write(f"{word} alone\n")
        text, kind, _ = self.call("grep fresh", "grep", pattern=word, output_mode="files_with_matches")
        self.must(kind is None and text.split("\n")[:2] == ["Found 1 file under .", relative], f"grep fresh {relative}", text)

    def grep_common(self, slot, chance):
        text, kind, _ = self.call("grep capped", "grep", pattern="return", max_results=100)
        found = [line.split(":", 2) for line in text.split("\n")[1:] if line]
        paths = [parts[0].split("/") for parts in found]
        fine = len(found) == 100 and paths == sorted(paths) and all(self.common.search(parts[2]) for parts in found)
        self.must(kind is None and fine, "grep capped", text)

    def grep_regex(self, slot, chance):
        n = chance.randrange(20)
        text, kind, _ = self.call("grep regex", "grep", pattern=r"^planted\w+_\d_z{2}\s+here$", path="load/planted",
                                  output_mode="count")
        expected = sorted(f"load/planted/planted_{m}.txt:1" for m in range(20))
        self.must(kind is None and text.split("\n")[1:21] == expected, f"grep regex {n}", text)

    def grep_none(self, slot, chance):
        text, kind, _ = self.call("grep no hit", "grep", pattern=r"zz[q]{3}\w+_never_(there|here)")
        self.must(kind is None and text.startswith("No matches found"), "grep no hit", text)

    def glob(self, slot, chance):
        text, kind, _ = self.call("glob", "glob", pattern="**/planted_1*.txt", sort="path")
        expected = sorted(f"load/planted/planted_{n}.txt" for n in (1, *range(10, 20)))
        self.must(kind is None and [line.split(". ", 1)[1] for line in text.split("\n")[1:12]] == expected, "glob", text)

    def ls(self, slot, chance):
        text, kind, _ = self.call("ls", "ls", path="load/planted")
        names = sorted(f"planted_{n}.txt" for n in range(20))
        self.must(kind is None and [line.split()[0] for line in text.split("\n")[1:21]] == names, "ls", text)

    def write(self, slot, chance):
        relative = f"load/own/written_{slot}.txt"
        content = f"{chance.getrandbits(200):x}\n" * chance.randrange(1, 400)
        text, kind, _ = self.call("write", "write", path=relative, content=content)
        self.must(kind is None and self.get(relative) == content.encode(), f"write {relative}", text)

    def edit(self, slot, chance):
        relative = f"load/own/edited_{slot}.txt"
        before = self.get(relative)
        number = int(re.search(rb"value (\d+) of", before).group(1))
        self.call("read own", "read", path=relative)
        text, kind, _ = self.call("edit", "edit", path=relative, old_string=f"value {number} of {slot}",
                                  new_string=f"value {number + 1} of {slot}")
        expected = before.replace(b"value %d of" % number, b"value %d of" % (number + 1))
        self.must(kind is None and self.get(relative) == expected, f"edit {relative}", text)

    def edit_shared(self, slot, chance):
        """All edit one file: a caller that is refused as stale reads again, and no edit is lost."""
        self.call("read own", "read", path="load/own/shared.txt")
        count = self.landed[slot]
        text, kind, _ = self.call("edit shared", "edit", path="load/own/shared.txt", old_string=f"slot {slot}: {count} times",
                                  new_string=f"slot {slot}: {count + 1} times")
        if kind is None:
            self.landed[slot] += 1
        self.must(kind in (None, "stale"), "edit shared", text)

    CALLS = [(read, 30), (grep_rare, 10), (grep_fresh, 10), (grep_common, 8), (grep_regex, 6), (grep_none, 4), (glob, 8),
             (ls, 8), (write, 6), (edit, 6), (edit_shared, 4)]

    def run(self, slot, until):
        chance = random.Random(slot)
        kinds, weights = zip(*self.CALLS)
        while time.time() < until:
            try:
                chance.choices(kinds, weights)[0](self, slot, chance)
            except Exception as error:  # a check that fails must not end its caller
                self.must(False, f"caller {slot}", repr(error))


def load(tree, seconds):
    with tempfile.TemporaryDirectory(prefix="load-") as top:
        copy = os.path.join(top, "tree")
        shutil.copytree(tree, copy, symlinks=True)
        files = sum(len(files) for _, _, files in os.walk(copy))
        server = Server([copy])
        work = Load(server, copy)
        print(f"{files} files, {os.cpu_count()} processors, {IN_FLIGHT} calls in flight, {seconds} s, "
              f"resident at first {server.memory():.0f} MiB", flush=True)
        changer = os.fork()
        if changer == 0:
            try:
                churn(os.path.join(copy, "load", "churn"), 7)
            finally:
                os._exit(0)
        started = time.time()
        callers = [threading.Thread(target=work.run, args=(n, started + seconds)) for n in range(IN_FLIGHT)]
        for caller in callers:
            caller.start()
        minute = 1
        while any(caller.is_alive() for caller in callers):
            time.sleep(0.5)
            if time.time() - started >= 60 * minute:
                calls = sum(map(len, work.took.values()))
                print(f"minute {minute}: resident {server.memory():.1f} MiB, {calls} calls, {len(work.wrong)} wrong", flush=True)
                minute += 1
        os.kill(changer, 9)
        os.waitpid(changer, 0)
        shared = work.get("load/own/shared.txt").decode().split("\n")
        for slot in range(IN_FLIGHT):
            work.must(shared[slot] == f"slot {slot}: {work.landed[slot]} times", "shared file at the end", shared[slot])
        left = [name for _, _, names in os.walk(copy) for name in names if name.startswith(".rootbound-tmp")]
        work.must(not left, "temporary files left", str(left))
        resident, most = server.memory(), server.memory("VmHWM")
        code = server.end()
        total = sum(map(len, work.took.values()))
        print(f"\n{total} calls ({total / seconds:.0f} a second), {len(work.wrong)} wrong, "
              f"{sum(work.landed.values())} edits of the shared file all there, exit code {code}")
        print(f"resident at the end {resident:.1f} MiB, at most {most:.1f} MiB")
        print("names had from: " + ", ".join(f"{source} {n}" for source, n in work.sources.most_common()))
        print("errors: " + (", ".join(f"{kind} {n}" for kind, n in sorted(work.errors.items())) or "none"))
        print("\n| call | calls | p50 ms | p99 ms |\n|---|---:|---:|---:|")
        for name, took in sorted(work.took.items()):
            took.sort()
            print(f"| {name} | {len(took)} | {took[len(took) // 2] * 1000:.1f} | {took[len(took) * 99 // 100] * 1000:.1f} |")
        for wrong in work.wrong[:20]:
            print("WRONG " + wrong)
        return 1 if work.wrong else 0


def starve(tree, rounds=300):
    server = Server(["--index", "off", "--read-only", "--time-limit", "600", tree])
    name, lines = next(iter(stable_files(tree, 1).items()))

    def reads():
        took = []
        for _ in range(rounds):
            started = time.perf_counter()
            waiting = server.begin("tools/call", {"name": "read", "arguments": {"path": name}})
            waiting[0].acquire()
            took.append((waiting[2] - started) * 1000)
            assert waiting[1]["result"]["content"][0]["text"] == numbered(lines), "the read is exact"
            time.sleep(0.01)
        took.sort()
        return [took[rounds // 2], took[rounds * 95 // 100], took[rounds * 99 // 100]]

    reads()
    idle = reads()
    at_rest = server.memory()
    searching = True
    done = collections.Counter()

    def search(number):
        while searching:
            text, kind, _ = server.call("grep", pattern=rf"(\w+)\s+zz{number}q[x]+\w+never", no_ignore=True)
            assert kind is None and text.startswith("No matches found"), text
            done[number] += 1

    callers = [threading.Thread(target=search, args=(n,), daemon=True) for n in range(IN_FLIGHT)]
    for caller in callers:
        caller.start()
    time.sleep(2)
    busy = reads()
    resident, most = server.memory(), server.memory("VmHWM")
    searching = False
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; {IN_FLIGHT} searches in flight, {sum(done.values())} ended")
    print("\n| read, ms | p50 | p95 | p99 |\n|---|---:|---:|---:|")
    for what, row in (("idle", idle), ("during searches", busy)):
        print(f"| {what} | " + " | ".join(f"{value:.2f}" for value in row) + " |")
    print("| ratio | " + " | ".join(f"{b / a:.1f}" for a, b in zip(idle, busy)) + " |")
    print(f"\nresident at rest {at_rest:.1f} MiB, during searches {resident:.1f} MiB, at most {most:.1f} MiB")
    server.process.kill()
    return 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--seconds", type=int, default=600)
    arguments.add_argument("--starve", action="store_true")
    arguments.add_argument("tree")
    given = arguments.parse_args()
    tree = os.path.realpath(given.tree)
    sys.exit(starve(tree) if given.starve else load(tree, given.seconds))


main()
