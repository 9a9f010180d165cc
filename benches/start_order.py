#!/usr/bin/env python3
"""Which functions run at a start, for the linker: benches/start_order.py PROGRAM

PROGRAM is a release program with symbols, linked statically (`cargo rustc --release --bin rootbound -- -C strip=none`). It is
run one instruction at a time until it has answered `initialize`, in a few configurations, and the names of the functions that
ran are written to start-order.txt, in the order of their first call. build.rs has the linker put them next to each other.
Names have `*` in place of hashes, so that they outlive changes; one that no longer exists does nothing. Linux, x86-64.
"""

import bisect
import collections
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INITIALIZE = json.dumps({
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "start", "version": "1"}},
}).encode() + b"\n"
PTRACE_TRACEME, PTRACE_PEEKUSER, PTRACE_SINGLESTEP = 0, 3, 9
RIP = 16 * 8  # offset of `rip` in `struct user`
# Matched by other functions of the same name (a generic one has one name for all its types): more than this many bytes
# for each byte that ran are not worth a place.
MOST_OTHERS, ALWAYS = 4, 4096

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def addresses(command):
    """Every address at which an instruction ran, in the order of the first time."""
    (child_in, stdin), (stdout, child_out) = os.pipe(), os.pipe()
    os.write(stdin, INITIALIZE)
    os.set_blocking(stdout, False)
    pid = os.fork()
    if pid == 0:
        os.dup2(child_in, 0)
        os.dup2(child_out, 1)
        libc.ptrace(PTRACE_TRACEME, 0, None, None)
        os.execv(command[0], command)
    os.waitpid(pid, 0)
    seen = {}
    for step in range(1 << 24):
        seen.setdefault(libc.ptrace(PTRACE_PEEKUSER, pid, RIP, None))
        libc.ptrace(PTRACE_SINGLESTEP, pid, None, None)
        _, status = os.waitpid(pid, 0)
        if os.WIFEXITED(status):
            sys.exit(f"{command} ended before it answered")
        if step % 1000 == 0:
            try:
                os.read(stdout, 1)
                break
            except BlockingIOError:
                continue
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return seen


def pattern(symbol):
    """The name without the hashes of the compiler (v0 and legacy mangling) and the suffix of LTO."""
    symbol = re.sub(r"\.llvm\.\d+$", "", symbol)
    symbol = re.sub(r"17h[0-9a-f]{16}E$", "17h*", symbol)
    return re.sub(r"Cs[0-9a-zA-Z]+_", "Cs*_", symbol) if symbol.startswith("_R") else symbol


def main(program):
    rows = (row.split() for row in subprocess.check_output(["nm", "-S", program], text=True).splitlines())
    symbols = sorted((int(row[0], 16), int(row[1], 16), row[3]) for row in rows if len(row) == 4 and row[2] in "tTwW")
    if not symbols:
        sys.exit(f"{program} has no symbols: cargo rustc --release --bin rootbound -- -C strip=none")
    starts = [symbol[0] for symbol in symbols]
    matched, ran = collections.Counter(), {}
    for _, size, name in symbols:
        matched[pattern(name)] += size
    with tempfile.TemporaryDirectory() as folder:
        root, state = os.path.join(folder, "root"), os.path.join(folder, "state")
        os.mkdir(root)
        for options in ([], ["--read-only"], [f"--state-dir={state}"], [f"--state-dir={state}"]):
            options = options if "--state-dir" in "".join(options) else ["--state-dir=off", *options]
            for address in addresses([program, *options, root]):
                at, size, name = symbols[max(bisect.bisect_right(starts, address) - 1, 0)]
                if at <= address < at + size and name.startswith(("_ZN", "_R")):
                    ran.setdefault(name, size)
    wanted = collections.Counter()
    for name, size in ran.items():
        wanted[pattern(name)] += size
    kept = [name for name in wanted if matched[name] <= MOST_OTHERS * wanted[name] + ALWAYS]
    with open(os.path.join(TOP, "start-order.txt"), "w", encoding="ascii") as file:
        file.writelines(f"{name}\n" for name in kept)
    print(f"{len(ran)} functions of {sum(ran.values())} bytes ran; {len(kept)} names, which match "
          f"{sum(matched[name] for name in kept)} bytes")


main(*sys.argv[1:])
