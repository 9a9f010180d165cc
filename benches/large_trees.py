#!/usr/bin/env python3
"""Memory and time by the size of a tree: benches/large_trees.py [--sizes 1000,10000,…] [--update] [--cold] FOLDER

Makes trees of 1,000, 10,000, 100,000 and 1,000,000 small files in FOLDER (directories of 10 to 100 files, in the
largest one also a directory of 100,000; the same names and content each time, 4 KB of disk a file) and removes each
when it is measured, unless --keep. A tree that is there is used. Starts the release binary on each and prints, and with
--update writes to docs/internals/search-index.md and .svg: resident memory, time and work of the background until the index is
built, the stored index, and searches beside rg (rg15 where that is installed). The result of each search is compared
with that of rg. --cold also drops the page cache of the whole machine before first searches (needs root).

PROGRAM names another binary than target/release/rootbound.
"""
import argparse
import datetime
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from goal_rows.servers import PROGRAM, TOP, Failed, Server

WORDS = ("account action adapter agent api archive asset audit auth backup badge balance batch billing buffer build "
         "cache calendar canvas cart catalog channel chart checkout client cluster codec command config console "
         "contact context cursor customer dashboard database delivery device dialog digest dispatch document domain "
         "draft editor email encoder engine entity error event export factory feature feed field filter folder form "
         "frame gateway graph group guard handler hash header history hook image import index inbox input invoice "
         "item job journal key label layout ledger lexer license link list loader locale lock logger login mailer "
         "manager map matrix member menu merge message meter metric migration mirror model module monitor network "
         "node notice number object offer option order outline output package page panel parser patch path payment "
         "permission picker pipeline plan player plugin policy pool portal preview price printer process product "
         "profile project prompt proxy queue quota range record region registry relay release report request reset "
         "resource result retry review role route rule runner sample scanner schedule schema scope screen search "
         "section security segment sensor server session setting shape shard sheet shipment signal snapshot socket "
         "source stack stage state storage store stream style subject summary support switch symbol sync table tag "
         "target task team template tenant theme thread ticket timer token tool topic trace track transfer transport "
         "tree trigger type update upload user validator value vault vector vendor version view visitor wallet "
         "warehouse watcher webhook widget window worker workflow zone").split()
ENDINGS = ("ts", "ts", "tsx", "rs", "py", "go", "java", "md", "json", "yaml", "css", "c", "h")
ONE_FOLDER = 100_000
NEEDLE = "the_rare_needle_of_this_tree"


def paragraphs(source, count):
    """Blocks of 3 to 12 lines that look like code."""
    blocks = []
    for _ in range(count):
        lines = []
        for _ in range(source.randrange(3, 12)):
            name = "_".join(source.choices(WORDS, k=source.randrange(1, 4)))
            other = "_".join(source.choices(WORDS, k=2))
            lines.append(source.choice((
                f"    let {name} = {other}({source.randrange(1000)});",
                f"    if {name}.is_empty() {{ return {other}; }}",
                f"// The {name.replace('_', ' ')} of each {other.replace('_', ' ')}.",
                f"    {name}.{other}(&{source.choice(WORDS)}, {source.randrange(100)})?;",
                f"def {name}({other}): return {other} + {source.randrange(50)}",
                "",
            )))
        blocks.append("\n".join(lines))
    return blocks


def make_tree(folder, files, seed=15):
    """Fills `folder`: directories of 10 to 100 files, and in the largest tree one of 100,000."""
    source = random.Random(seed)
    blocks = paragraphs(source, 3000)
    made = 0

    def fill(directory, count):
        nonlocal made
        os.makedirs(directory, exist_ok=True)
        handle = os.open(directory, os.O_RDONLY)
        for number in range(count):
            name = f"{source.choice(WORDS)}_{source.choice(WORDS)}_{number}.{source.choice(ENDINGS)}"
            text = "\n".join(source.choices(blocks, k=source.randrange(1, 6)))
            text = f"{text}\nunique_{made:07d}_marker\n"
            if made == files // 2:
                text += f"{NEEDLE}\n"
            target = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644, dir_fd=handle)
            os.write(target, text.encode())
            os.close(target)
            made += 1
        os.close(handle)

    if files >= 10 * ONE_FOLDER:
        fill(os.path.join(folder, "data", "records"), ONE_FOLDER)
    number = 0
    while made < files:
        package = f"{WORDS[number // 40 % len(WORDS)]}-{number // 40:03d}"
        below = os.path.join(folder, "packages", package, source.choice(("src", "lib", "tests")),
                             f"{source.choice(WORDS)}{number % 40:02d}")
        fill(below, min(source.randrange(10, 101), files - made))
        number += 1



RG = shutil.which("rg15") or "rg"
ABSENT = "no_file_has_this_text"
MARK = "<!-- benches/large_trees.py -->"
SIZES = (1_000, 10_000, 100_000, 1_000_000)
# Free on the disk of FOLDER at least, after the largest tree.
SPARE = 12 << 30
BUILT = "the index is up to date"


def rg(tree, *arguments):
    """The seconds that it took, and its lines."""
    started = time.perf_counter()
    done = subprocess.run([RG, "--no-config", "--hidden", *arguments, tree], stdout=subprocess.PIPE, check=False)
    return time.perf_counter() - started, done.stdout.count(b"\n")


def drop_caches():
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("3")


class Run:
    """Measures one tree."""

    def __init__(self, tree, files, rounds, work):
        self.tree, self.files, self.rounds, self.work = tree, files, rounds, work
        self.state = os.path.join(work, f"state-{files}")

    def server(self, *options):
        log = open(os.path.join(self.work, "log"), "w", encoding="utf-8")
        return Server([PROGRAM, *options, "--log", "debug", self.tree], log=log)

    def grep(self, server, pattern, wanted):
        started = time.perf_counter()
        text, _ = server.call("grep", pattern=pattern, output_mode="files_with_matches", head_limit=1)
        took = time.perf_counter() - started
        if wanted != ("packages/" in text or "data/" in text):
            raise Failed(f"wrong answer for {pattern}: {text[:80]!r}")
        return took

    def until_built(self, server, most=3600):
        """Seconds, processor seconds, and the bytes of paths and filter that the log says."""
        started, before = time.perf_counter(), server.cpu()
        while time.perf_counter() - started < most:
            with open(os.path.join(self.work, "log"), encoding="utf-8", errors="replace") as log:
                lines = [line for line in log if BUILT in line]
            if lines:
                sizes = dict(re.findall(r"(paths|filter)=(\d+)", re.sub(r"\x1b\[[0-9;]*m", "", lines[-1])))
                return time.perf_counter() - started, server.cpu() - before, sizes
            time.sleep(0.05)
        return None, server.cpu() - before, {}

    def median(self, measure):
        return statistics.median(measure() for _ in range(self.rounds))

    def one(self, cold):
        values = {"files": self.files}
        options = ("--state-dir", self.state)
        if rg(self.tree, "-l", NEEDLE)[1] != 1:
            raise Failed(f"{self.tree} is not the tree that this makes")
        if cold:
            drop_caches()
            values["rg cold"] = rg(self.tree, "-l", ABSENT)[0]
            drop_caches()
            server = self.server("--state-dir", "off", "--index", "off")
            values["first cold"] = self.grep(server, ABSENT, False)
            server.end()
        values["first"] = self.median(lambda: self.first("--state-dir", "off", "--index", "off"))
        server = self.server(*options)
        values["start"] = server.memory("VmRSS")
        self.grep(server, NEEDLE, True)
        values["after first"] = server.memory("VmRSS")
        if self.files >= 2000:
            values["built"], values["work"], sizes = self.until_built(server)
            values["paths"], values["filter"] = (int(sizes.get(name, 0)) for name in ("paths", "filter"))
        values["repeat"] = self.median(lambda: self.grep(server, NEEDLE, True))
        values["repeat none"] = self.median(lambda: self.grep(server, ABSENT, False))
        values["glob"] = self.median(lambda: self.timed(server, "glob", pattern="**/*.rs"))
        values["after repeat"] = server.memory("VmRSS")
        values["one new file"] = self.median(lambda: self.after_change(server, "packages"))
        if self.files >= 10 * ONE_FOLDER:
            values["one new file in 100,000"] = self.median(lambda: self.after_change(server, "data/records"))
        values["peak"] = server.memory("VmHWM")
        server.end()
        values["stored"] = sum(os.path.getsize(os.path.join(folder, name))
                               for folder, _, names in os.walk(os.path.join(self.state, "index")) for name in names)
        if values["stored"]:
            values["first stored"] = self.median(lambda: self.first(*options))
        values["rg"] = self.median(lambda: rg(self.tree, "-l", NEEDLE)[0])
        values["rg files"] = self.median(lambda: rg(self.tree, "--files", "-g", "*.rs")[0])
        return values

    def first(self, *options):
        """The first search of a new server."""
        server = self.server(*options)
        took = self.grep(server, NEEDLE, True)
        server.end(kill=True)
        return took

    def timed(self, server, tool, **arguments):
        started = time.perf_counter()
        server.call(tool, **arguments)
        return time.perf_counter() - started

    def after_change(self, server, folder):
        """A search right after a file came into being."""
        path = os.path.join(self.tree, folder, "added_by_the_bench.txt")
        with open(path, "w", encoding="ascii") as file:
            file.write("nothing\n")
        took = self.grep(server, ABSENT, False)
        os.remove(path)
        self.grep(server, ABSENT, False)
        return took


ROWS = (
    ("resident after the start", "start", "MiB"),
    ("resident after the first search", "after first", "MiB"),
    ("resident after repeat searches", "after repeat", "MiB"),
    ("peak", "peak", "MiB"),
    ("index: time until built", "built", "s"),
    ("index: processor time", "work", "s"),
    ("index: memory of paths, per file", "paths", "each"),
    ("index: memory of the filter, per file", "filter", "each"),
    ("stored index, per file", "stored", "each"),
    ("first grep, nothing stored", "first", "ms"),
    ("first grep, stored index", "first stored", "ms"),
    ("`rg`, rare literal", "rg", "ms"),
    ("repeat grep, rare literal", "repeat", "ms"),
    ("repeat grep, no hit", "repeat none", "ms"),
    ("the same after a new file", "one new file", "ms"),
    ("the same after a new file in a folder of 100,000", "one new file in 100,000", "ms"),
    ("repeat glob `**/*.rs`, newest first", "glob", "ms"),
    ("`rg --files -g '*.rs'`", "rg files", "ms"),
    ("cold page cache: first grep, no hit", "first cold", "ms"),
    ("cold page cache: `rg`", "rg cold", "ms"),
)


def cell(values, name, unit):
    value = values.get(name)
    if not value:
        return ""
    if unit == "each":
        return f"{value / values['files']:.0f} B"
    return {"MiB": f"{value:.1f} MiB", "s": f"{value:.1f} s"}.get(unit) or f"{value * 1000:,.1f} ms"


def table(runs):
    lines = ["| files | " + " | ".join(f"{run['files']:,}" for run in runs) + " |", "|---|" + "---:|" * len(runs)]
    for title, name, unit in ROWS:
        cells = [cell(run, name, unit) for run in runs]
        if any(cells):
            lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return lines


def plot(runs):
    """Two diagrams with logarithmic axes, in colours that can be read on white and on black."""
    charts = (("resident memory, MiB", (("after repeat", "after searches", "#3b82d6"), ("peak", "peak", "#d9772b"))),
              ("seconds", (("rg", "rg", "#888888"), ("first", "first grep", "#d9772b"),
                           ("first stored", "first grep, stored", "#9b59d0"), ("repeat", "repeat grep", "#3b82d6"),
                           ("built", "index built", "#2f9e5f"))))
    width, height, left, top = 400, 300, 62, 34
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * width + 2 * left} {height + 110}" '
           'font-family="sans-serif" font-size="12" fill="#808080">']

    for index, (title, series) in enumerate(charts):
        x0 = left + index * (width + left)
        values = [run[name] for name, *_ in series for run in runs if run.get(name)]
        low, high = (int(math.log10(min(values)) // 1), int(-(-math.log10(max(values)) // 1)))
        first, last = math.log10(runs[0]["files"]), math.log10(max(runs[-1]["files"], runs[0]["files"] * 10))

        def place(files, value):
            across = (math.log10(files) - first) / (last - first) * (width - 60)
            return x0 + across, top + height - (math.log10(value) - low) / max(high - low, 1) * height

        out.append(f'<text x="{x0}" y="20" font-weight="bold">{title}</text>')
        for power in range(low, high + 1):
            y = place(runs[0]["files"], 10.0 ** power)[1]
            out.append(f'<path d="M{x0} {y:.1f}h{width - 60}" stroke="#808080" stroke-opacity=".3"/>')
            out.append(f'<text x="{x0 - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0 ** power:g}</text>')
        for run in runs:
            x = place(run["files"], 10.0 ** low)[0]
            out.append(f'<text x="{x:.1f}" y="{top + height + 18}" text-anchor="middle">{run["files"]:,}</text>')
        for line, (name, label, colour) in enumerate(series):
            points = [place(run["files"], run[name]) for run in runs if run.get(name)]
            if not points:
                continue
            out.append(f'<path d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in points)}" fill="none" stroke="{colour}" '
                       'stroke-width="2"/>')
            out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in points]
            x, y = x0 + line % 3 * 130, top + height + 40 + line // 3 * 18
            out.append(f'<circle cx="{x}" cy="{y - 4}" r="4" fill="{colour}"/><text x="{x + 9}" y="{y}">{label}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("--sizes", type=lambda text: sorted(map(int, text.split(","))), default=SIZES)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--update", action="store_true")
    given = parser.parse_args()
    runs, begun = [], f"{os.getloadavg()[0]:.1f}"
    for files in given.sizes:
        tree = os.path.join(given.folder, f"t{files}")
        is_made = not os.path.exists(tree)
        if is_made:
            if shutil.disk_usage(given.folder).free < files * 4096 + SPARE:
                sys.exit(f"{given.folder} has no room for {files:,} files")
            make_tree(tree, files)
            # What was changed a moment ago is not taken into an index.
            os.sync()
            time.sleep(5)
        with tempfile.TemporaryDirectory() as work:
            runs.append(Run(tree, files, given.rounds, work).one(given.cold))
        print(runs[-1], flush=True)
        if is_made and not given.keep:
            shutil.rmtree(tree)
    lines = [f"{datetime.date.today()}, {os.cpu_count()} processors, load {begun} before, medians of {given.rounds} rounds, warm"
             " cache where nothing else is said:", "", *table(runs)]
    print("\n".join(lines))
    if given.update:
        docs = os.path.join(TOP, "docs")
        path = os.path.join(docs, "internals/search-index.md")
        with open(path, encoding="utf-8") as file:
            before, _, after = file.read().split(MARK)
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([before + MARK, "", *lines, "", MARK]) + after)
        with open(os.path.join(docs, "large-trees.svg"), "w", encoding="utf-8") as file:
            file.write(plot(runs))


if __name__ == "__main__":
    main()
