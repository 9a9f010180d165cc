"""Searches of a tree: by a process started for one call, with and without a stored index, and repeated."""
import os
import re
import tempfile
import time

from .servers import Failed, names, ours, ours_with_state, stores_an_index

FILES = {"output_mode": "files_with_matches", "max_results": 500}
GLOB = "**/*.c"
# The rows of which the first search, too, is measured.
FIRST = ("rare literal", "no hit", "regex with literals")


def found(text):
    """The paths of an answer that lists files."""
    if not text.startswith("Found "):
        return set()
    return {re.sub(r"^\d+\. ", "", line) for line in text.split("\n\n")[0].split("\n")[1:]}


def same(server, tree, pattern):
    """Compares the files that have the pattern with those that rg finds."""
    text, facts = server.call("grep", pattern=pattern, **FILES)
    wanted = tree.having(pattern)
    differ = found(text) - wanted if facts["truncated"] else found(text) ^ wanted
    # rg knows nothing of secrets.
    differ = [path for path in sorted(differ) if not is_denied(server, path)]
    if differ:
        raise Failed(f"differs from rg for {pattern}: {differ[:3]}")


def is_denied(server, path):
    try:
        server.call("read", path=path, limit=1)
    except Failed as error:
        return error.kind == "denied"
    return False


def alone(start, tool, kill=True, **arguments):
    """A server started for one call: until its answer, without waiting for its end."""
    def work():
        server = start()
        server.call(tool, **arguments)
        took = time.perf_counter() - server.started
        server.end(kill=kill)
        return took
    return work


def call(server, tool, **arguments):
    return lambda: server.call(tool, **arguments) and None


def complete(peers, tree, pattern):
    """fff-mcp, which answers before it has listed the tree: asked until it finds what is there."""
    def work():
        server = peers.start("fff-mcp", tree.path)
        while server.call("grep", query=pattern, output_mode="files_with_matches")[0].startswith("0 "):
            time.sleep(0.002)
            if time.perf_counter() - server.started > 60:
                raise Failed("no hit within 60 s")
        took = time.perf_counter() - server.started
        server.end(kill=True)
        return took
    return work


class Searches:
    """The rows of one tree."""

    def __init__(self, table, peers, tree, is_small):
        self.table, self.peers, self.tree, self.is_small = table, peers, tree, is_small

    def rg(self, *arguments):
        return ("`rg`", lambda: self.tree.rg(*arguments) and None)

    def start(self):
        return ours(self.tree.path)

    def run(self):
        tree = self.tree
        self.first()
        if stores_an_index():
            with tempfile.TemporaryDirectory() as state:
                self.stored(state)
        else:
            self.table.unmeasured("first grep with a stored index, and a process per call", "not built yet")
        self.containment()
        bare = ours(tree.path, "--index", "off")
        bare.call("grep", pattern="zzqqxxyyvv", **FILES)
        bare.call("glob", pattern=GLOB)
        self.table.bound("resident", "resident without index, after grep and glob (peak)", bare.memory("VmHWM"), "MiB", 30)
        bare.end()
        self.repeated()

    def first(self):
        """New processes without a stored index."""
        tree = self.tree
        bare = ours(tree.path, "--index", "off")
        for name in FIRST:
            pattern = tree.queries[name]
            others = [(*self.rg("-l", "-i", "-e", pattern), 0.75)]
            if name == FIRST[0]:
                others += self.first_of_peers(pattern)
            self.table.compare("first grep", f"first grep, {name}, server started for it",
                               alone(self.start, "grep", pattern=pattern, **FILES), others,
                               check=lambda: same(bare, tree, pattern))
        bare.end()
        self.table.compare("first glob", f"first glob `{GLOB}`, server started for it",
                           alone(self.start, "glob", pattern=GLOB), self.listings(None))

    def first_of_peers(self, pattern):
        others = []
        if self.peers.has("fff-mcp"):
            others.append(("fff-mcp, until it finds it", complete(self.peers, self.tree, pattern), None))
        # It takes many seconds for a large tree.
        if self.is_small and self.peers.has("rust-mcp-filesystem"):
            start = lambda: self.peers.start("rust-mcp-filesystem", self.tree.path)
            others.append(("rust-mcp-filesystem", alone(start, "search_files_content", path=self.tree.path,
                                                        pattern="**/*", query=pattern, is_regex=False), None))
        return others

    def listings(self, goal):
        """rg and fd, which list the tree for a glob."""
        others = [("`rg --files`", lambda: self.tree.rg("--files", "-g", "*.c") and None, goal)]
        if self.peers.fd:
            command = [self.peers.fd, "--hidden", "--no-require-git", "--no-ignore-parent", "--glob", "*.c"]
            others.append(("`fd`", lambda: self.tree.output(command) and None, goal))
        return others

    def stored(self, state):
        """New processes that find a stored index."""
        tree = self.tree
        start = lambda: ours_with_state(tree.path, state)
        builder = ours_with_state(tree.path, state)
        builder.call("grep", pattern="zzqqxxyyvv", **FILES)
        builder.settle()
        builder.end()
        # What the first process left for later comes with the next.
        for _ in range(2):
            alone(start, "grep", kill=False, pattern="zzqqxxyyvv", **FILES)()
        live = self.start()
        live.call("grep", pattern="zzqqxxyyvv", **FILES)
        live.settle()

        def check(pattern):
            server = start()
            same(server, tree, pattern)
            server.end()

        for name in FIRST[:2]:
            pattern = tree.queries[name]
            self.table.compare("stored", f"first grep with a stored index, {name}, server started for it",
                               alone(start, "grep", kill=False, pattern=pattern, **FILES),
                               [(*self.rg("-l", "-i", "-e", pattern), 0.35)], check=lambda: check(pattern))
        word = tree.word
        self.table.compare("per call", "a process per call, grep of a rare literal",
                           alone(start, "grep", kill=False, pattern=word, **FILES),
                           [("a running server", call(live, "grep", pattern=word, **FILES), 1.5)])
        self.table.compare("per call", f"a process per call, glob `{GLOB}`",
                           alone(start, "glob", kill=False, pattern=GLOB),
                           [("a running server", call(live, "glob", pattern=GLOB), 1.5), *self.listings(None)])
        live.end()
        server = start()
        server.call("grep", pattern=word, **FILES)
        self.table.bound("resident", "resident with a stored index, after a grep (peak)", server.memory("VmHWM"), "MiB", 30)
        server.end()
        size = sum(os.path.getsize(os.path.join(at, name)) for at, _, files in os.walk(state) for name in files)
        self.table.bound("size of the stored index", "size of the stored index", size / 2 ** 20, "MiB", 256)

    def containment(self):
        query = {"pattern": "zzqqxxyyvv", **FILES}
        without = lambda: ours(self.tree.path, "--index", "off", "--confine", "off")
        self.table.compare("containment", "containment: first grep, no hit",
                           alone(lambda: ours(self.tree.path, "--index", "off"), "grep", **query),
                           [("`--confine off`", alone(without, "grep", **query), 1.05)])

    def built(self):
        """A server with its index, after rows about that; the debug log says the sizes."""
        with tempfile.TemporaryFile("w+") as log:
            server = ours(self.tree.path, "--log", "debug", log=os.fdopen(os.dup(log.fileno()), "w"))
            server.call("grep", pattern="zzqqxxyyvv", **FILES)
            took = server.settle()
            log.seek(0)
            sizes = re.findall(r"paths=(\d+) filter=(\d+)", re.sub(r"\x1b\[\d*m", "", log.read()))
        server.end()
        # No row for a tree that is too small for an index.
        if sizes:
            self.table.bound("build", "index: background work to build it", took, "s", 6)
            paths, size = (int(count) / 2 ** 20 for count in sizes[-1])
            self.table.bound("index size", f"index: filter, in addition to {paths:.0f} MiB of paths", size, "MiB", 100)
        server = self.start()
        server.call("grep", pattern="zzqqxxyyvv", **FILES)
        server.settle()
        return server

    def repeated(self):
        """Later searches of running servers."""
        tree, server, fff = self.tree, self.built(), None
        others = []
        if self.peers.has("fff-mcp"):
            fff = self.peers.start("fff-mcp", tree.path)
            complete_at = time.perf_counter() + 60
            while fff.call("grep", query=tree.word)[0].startswith("0 ") and time.perf_counter() < complete_at:
                time.sleep(0.1)
            fff.settle()
            others.append(("fff-mcp", fff.memory("VmHWM")))
        self.table.bound("resident with index", "resident with index (peak)", server.memory("VmHWM"), "MiB", 150, others)
        for name, pattern in tree.queries.items():
            others = [(*self.rg("-l", "-i", "-e", pattern), 0.1)]
            if fff:
                wanted = tree.having(pattern)
                others.append(("fff-mcp", lambda: fff.finds(wanted, "grep", query=pattern, maxResults=500,
                                                            output_mode="files_with_matches"), 1))
            self.table.compare(f"repeat grep, {name}", f"repeat grep, {name}", call(server, "grep", pattern=pattern, **FILES),
                               others, check=lambda: same(server, tree, pattern))
        self.table.compare("factored", "`(foo|bar|baz)_init`", call(server, "grep", pattern="(foo|bar|baz)_init", **FILES),
                           [("`foo_init|bar_init|baz_init`",
                             call(server, "grep", pattern="foo_init|bar_init|baz_init", **FILES), 2)], 21)
        self.common(server, fff)
        self.table.compare("repeat glob", f"repeat glob `{GLOB}`, newest first", call(server, "glob", pattern=GLOB),
                           [*self.listings(0.125), *self.globs_of_peers(fff)], check=lambda: self.same_names(server))
        for one in filter(None, (server, fff)):
            one.end(kill=True)

    def common(self, server, fff):
        """A word that most files have."""
        self.table.compare("repeat grep, common word", "repeat grep, common word, counts of 500 files",
                           call(server, "grep", pattern="return", output_mode="count", max_results=500),
                           [(*self.rg("-c", "-i", "return"), 0.1)], check=lambda: same(server, self.tree, "return"))
        others = [("`rg --sort path`", lambda: self.tree.rg("-n", "-i", "--sort", "path", "return") and None, 0.01)]
        if fff:
            others.append(("fff-mcp, any 50", call(fff, "grep", query="return", maxResults=50), None))
        self.table.compare("first of a common word", "first 50 of a common word, in path order",
                           call(server, "grep", pattern="return", max_results=50), others)

    def globs_of_peers(self, fff):
        others = []
        if fff:
            others.append(("fff-mcp", call(fff, "find_files", query="*.c", maxResults=200), 1))
        # It takes seconds for a large tree.
        if self.is_small and self.peers.has("server-filesystem"):
            other = self.peers.start("server-filesystem", self.tree.path)
            others.append(("server-filesystem", call(other, "search_files", path=self.tree.path, pattern=GLOB), None))
        return others

    def same_names(self, server):
        text, facts = server.call("glob", pattern=GLOB, max_results=500)
        wanted = names(self.tree.rg("--files", "-g", "*.c"))
        differ = found(text) - wanted if facts["truncated"] else found(text) ^ wanted
        if differ:
            raise Failed(f"differs from rg: {sorted(differ)[:3]}")
