"""Tasks that create, move and delete files."""
from . import workspace as files
from .reading import Project
from .task import Task, content, holds

NEW = {
    "stats/pyproject.toml": '[project]\nname = "stats"\nversion = "0.1.0"\nrequires-python = ">=3.12"\n',
    "stats/README.md": "# Stats\n\nRun `python -m stats` for the numbers of today.\n",
    "stats/src/stats/collect.py": '''"""Collects the numbers of a day."""
from collections import Counter


def collect(events):
    """How often each kind of event occurs."""
    return Counter(event["kind"] for event in events)
''',
    "stats/src/stats/report.py": '''"""Prints the numbers of a day."""


def report(counts):
    """One line for each kind, the most frequent first."""
    return "\\n".join(f"{kind}: {count}" for kind, count in counts.most_common())
''',
    "stats/tests/test_stats.py": '''from stats.collect import collect
from stats.report import report


def test_most_frequent_first():
    assert report(collect([{"kind": "a"}, {"kind": "b"}, {"kind": "b"}])) == "b: 2\\na: 1"
''',
}


class NewProject(Task):
    """a new project of five files"""

    def prepare(self, top):
        files.put(top, "README.md", "# Tools\n")

    def rootbound(self, call):
        for name, text in NEW.items():
            call("write", path=name, content=text)

    def server_filesystem(self, call):
        call("create_directory", path="stats/src/stats")
        call("create_directory", path="stats/tests")
        for name, text in NEW.items():
            call("write_file", path=name, content=text)

    rust_mcp_filesystem = server_filesystem

    def check(self, top, said):
        for name, text in NEW.items():
            holds(top, name, text)


class AppendToFile(Task):
    """three lines added to the end of a change log of 600 lines"""

    TEXT = "# Changes\n" + "".join(
        f"\n## 1.{n}.0\n\n- Change {n} of the shop\n- Another change\n- A third one\n" for n in range(100))
    MORE = "\n## 2.0.0\n\n- The new shop\n"

    def prepare(self, top):
        files.put(top, "CHANGES.md", self.TEXT)

    def rootbound(self, call):
        call("read", path="CHANGES.md", offset=-3)
        call("write", path="CHANGES.md", content=self.MORE, mode="append")

    def server_filesystem(self, call):
        end = "\n## 1.99.0\n\n- Change 99 of the shop\n- Another change\n- A third one\n"
        call("read_text_file", path="CHANGES.md", tail=7)
        call("edit_file", path="CHANGES.md", edits=[{"oldText": end, "newText": end + self.MORE}])

    def rust_mcp_filesystem(self, call):
        end = "\n## 1.99.0\n\n- Change 99 of the shop\n- Another change\n- A third one\n"
        call("tail_file", path="CHANGES.md", lines=7)
        call("edit_file", path="CHANGES.md", edits=[{"oldText": end, "newText": end + self.MORE}])

    def check(self, top, said):
        holds(top, "CHANGES.md", self.TEXT + self.MORE)


class ReplaceFile(Project):
    """a small file replaced whole"""

    NEW = files.CONFIG.replace("PAGE_SIZE = 50", "PAGE_SIZE = 20").replace("False", "True")

    def rootbound(self, call):
        call("read", path="shop/config.py")
        call("write", path="shop/config.py", content=self.NEW)

    def server_filesystem(self, call):
        call("read_text_file", path="shop/config.py")
        call("write_file", path="shop/config.py", content=self.NEW)

    rust_mcp_filesystem = server_filesystem

    def check(self, top, said):
        holds(top, "shop/config.py", self.NEW)


class MoveFile(Project):
    """a file moved to a new folder"""

    options = ("--allow", "manage")

    def rootbound(self, call):
        call("move", source="docs/payments.md", destination="handbook/payments/overview.md")

    def server_filesystem(self, call):
        call("create_directory", path="handbook/payments")
        call("move_file", source="docs/payments.md", destination="handbook/payments/overview.md")

    rust_mcp_filesystem = server_filesystem

    def prepare(self, top):
        super().prepare(top)
        self.text = content(top, "docs/payments.md")

    def check(self, top, said):
        holds(top, "handbook/payments/overview.md", self.text)
        holds(top, "docs/payments.md", None)


class DeleteFile(Project):
    """a file deleted"""

    options = ("--allow", "manage")

    def rootbound(self, call):
        call("delete", path="docs/payments.md")

    server_filesystem = rust_mcp_filesystem = "no tool that deletes"

    def check(self, top, said):
        holds(top, "docs/payments.md", None)
