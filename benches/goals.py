#!/usr/bin/env python3
"""Every performance goal and its reference: benches/goals.py [--update] [--rounds N] [TREE]

Runs the release binary and its references in turn (A B C A B C …) and prints medians, the lowest and the highest, and
ratios; nothing is asserted, and only the ratios within one run are meaningful. The result of each search is compared
with that of rg, as a set, before its time counts. TREE is by default the Rust toolchain; the goals are for the sources
of Linux. The searches run again in a tree of 3,000 of its files.

References that are not installed are skipped and named: fd, fff-mcp, rust-mcp-filesystem, server-filesystem
(mcp-server-filesystem), the bare server (cargo build --release --example echo). rg15 and fd10 are preferred to rg and
fd. --peer 'NAME=COMMAND' starts one of the servers otherwise, with WS for its directory. --only NAME,… runs some of the
parts. --update replaces the table and the reasons in docs/internals/performance.md. Exits with 1 if an answer was wrong.
"""
import argparse
import datetime
import os
import subprocess
import sys
import tempfile

from goal_rows import small_calls, trees
from goal_rows.searching import Searches
from goal_rows.servers import ECHO, TOP, Failed, Peers
from goal_rows.table import Table, load

MARK = "<!-- benches/goals.py -->"
PARTS = ("start", "reads", "changes", "wide", "tree", "small")


def write_rows(lines):
    path = os.path.join(TOP, "docs", "internals", "performance.md")
    with open(path, encoding="utf-8") as file:
        before, _, after = file.read().split(MARK)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([before + MARK, "", *lines, "", MARK]) + after)


def peer(text):
    name, command = text.split("=", 1)
    return name, command.split()


def run(given, peers, table, tree, only):
    """Runs each part; one that fails does not end the others."""
    with tempfile.TemporaryDirectory() as work:
        os.mkdir(os.path.join(work, "calls"))
        os.mkdir(os.path.join(work, "small"))

        def small():
            folder = os.path.join(work, "small")
            trees.part_of(tree, folder, 3000)
            part = trees.Tree(folder, peers.rg)
            table.heading(f"a tree of {len(part.files):,} files")
            Searches(table, peers, part, True).run()

        def large():
            table.heading(f"a tree of {len(tree.files):,} files")
            Searches(table, peers, tree, False).run()

        calls = os.path.join(work, "calls")
        parts = {"start": lambda: small_calls.start(table, peers, calls),
                 "reads": lambda: small_calls.reads(table, peers, calls),
                 "changes": lambda: small_calls.changes(table, peers, calls),
                 "wide": lambda: small_calls.wide(table, peers, calls),
                 "tree": large, "small": small}
        for name in PARTS:
            if name in only:
                try:
                    parts[name]()
                except Failed as error:
                    table.wrong.append(f"{name}: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", nargs="?", metavar="TREE")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--peer", type=peer, metavar="NAME=COMMAND", action="append", default=[])
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="NAME,…", default=PARTS, help=", ".join(PARTS))
    given = parser.parse_args()
    if given.update and given.only != PARTS:
        parser.error("--update writes the whole table: leave out --only")
    path = given.tree or subprocess.check_output(["rustc", "--print", "sysroot"], text=True).strip()
    peers = Peers(dict(given.peer))
    if not os.path.exists(ECHO):
        print("SKIPPED: the bare rmcp server: cargo build --release --example echo")
    tree = trees.Tree(os.path.realpath(path), peers.rg)
    begun = load()
    versions = ", ".join(f"{name} {version}" for name, version in peers.versions.items())
    queries = "; ".join(f"{name}: `{pattern}`".replace("|", "\\|") for name, pattern in tree.queries.items())
    print(f"{len(tree.files):,} files, {os.cpu_count()} processors, load {begun}, at most {given.rounds} rounds\n{versions}\n"
          f"{queries}\n")
    table = Table(given.rounds)
    table.begin()
    run(given, peers, table, tree, given.only)
    peers.close()
    reasons = table.reasons()
    lines = [f"{datetime.date.today()}, {os.cpu_count()} processors, load {begun} before and {load()} after, warm cache, medians"
             f" of at most {given.rounds} interleaved rounds; {versions}.", "", *table.rows]
    if reasons:
        lines += ["", "Rows that miss their goal, and why:", "", *reasons]
    lines += ["", f"Patterns, in the large tree (in the small one, those of its own rare words): {queries}."]
    print("\n".join(lines[lines.index(table.rows[-1]) + 1:]))
    if table.wrong:
        print("WRONG:", *table.wrong, sep="\n", file=sys.stderr)
        sys.exit(1)
    if given.update:
        write_rows(lines)


if __name__ == "__main__":
    main()
