#!/usr/bin/env python3
"""Time and memory of a search with bounded repeats: benches/repeats.py [--program PROGRAM] [--claude PROGRAM]

Such patterns are what models write to see the text around a word. Each is searched for in one file of 65 KB with long lines,
where nothing matches, by this server (`rootbound call grep`, its start included), by `grep -E` and by `grep -P`; with
--claude also by the `grep` of Claude Code's shell, which is its program under the name `ugrep`. Printed are seconds
and the peak of resident memory in MiB; under 15 it is that of the script. A search ends after 60 seconds or at 8 GiB. Linux only.
"""

import argparse
import os
import random
import subprocess
import tempfile
import time

PATTERNS = [r".{0,80}world.{0,80}", r".{0,1000}world.{0,1000}", r"(alpha .{0,40}beta|gamma).{50}", r"(a|b){0,1000}c"]
SECONDS, MEBIBYTES = 60, 8192
# As the function `grep` in the snapshot of its shell.
SHELL = ["-G", "--ignore-files", "--hidden", "-I", "-o", "-E"]


def measure(words, program=None):
    """Seconds and MiB, or why there are none."""
    started = time.monotonic()
    process = subprocess.Popen(words, executable=program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        seconds = time.monotonic() - started
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            # 1 is no match, for each grep.
            refused = " (refused)" if process.returncode not in (0, 1) else ""
            return f"{seconds:.2f} s, {usage.ru_maxrss >> 10} MiB{refused}"
        with open(f"/proc/{process.pid}/statm") as file:
            resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
        if seconds > SECONDS or resident > MEBIBYTES:
            process.kill()
            process.wait()
            return f"ended after {seconds:.0f} s, {resident} MiB"
        time.sleep(0.005)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="target/release/rootbound")
    parser.add_argument("--claude")
    given = parser.parse_args()
    words = "delta epsilon zeta eta theta iota kappa lambda mu".split()
    choose = random.Random(7).choice
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "notes.md")
        with open(path, "w") as file:
            while file.tell() < 65_000:
                file.write(" ".join(choose(words) for _ in range(250)) + "\n")
        print("| pattern | rootbound | `grep -E -o` | `grep -P -o` |" + (" `grep` of Claude Code |" if given.claude else ""))
        print("|---|---|---|---|" + ("---|" if given.claude else ""))
        for pattern in PATTERNS:
            program = os.path.abspath(given.program)
            row = [measure([program, "--state-dir", "off", folder, "call", "grep", f"pattern={pattern}", "path=notes.md"])]
            row += [measure(["grep", kind, "-o", pattern, path]) for kind in ("-E", "-P")]
            if given.claude:
                row.append(measure(["ugrep", *SHELL, pattern, path], given.claude))
            shown = pattern.replace("|", "\\|")
            print(f"| `{shown}` | " + " | ".join(row) + " |", flush=True)


main()
