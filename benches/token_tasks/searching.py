"""Tasks that find places in files, and files."""
import os
import re

from . import workspace as files
from .reading import ENGINE, Project
from .task import NotDone, Task, content, line_of, relative, says

MODULES = [f"shop/{package}/{noun}.py" for package, nouns in files.PACKAGES.items() for noun in nouns]


def every_file(call):
    """What a model does without a search of contents: it lists the files and reads all of them."""
    found = call("search_files", path="shop", pattern="**/*.py")
    call("read_multiple_files", paths=relative(found))


class EveryUse(Project):
    """every use of a function, as file and line"""

    def rootbound(self, call):
        call("grep", pattern="convert_currency")

    def server_filesystem(self, call):
        every_file(call)

    def rust_mcp_filesystem(self, call):
        call("search_files_content", path=".", pattern="*.py", query="convert_currency")

    def check(self, top, said):
        for name in [f"shop/{caller}.py" for caller in (*files.CALLERS, "billing/rates")]:
            says(said, name)
        if said.count("convert_currency(") < 10:
            raise NotDone("fewer than ten calls are shown")


class EnclosingFunctions(Project):
    """which functions publish an event"""

    def rootbound(self, call):
        call("grep", pattern=r"publish\(", path="shop/billing", glob="!engine.py", scope=True)

    def server_filesystem(self, call):
        call("read_multiple_files", paths=[f"shop/billing/{noun}.py" for noun in files.PACKAGES["billing"]])

    def rust_mcp_filesystem(self, call):
        call("search_files_content", path="shop/billing", pattern="*.py", query=r"publish\(|^def ", is_regex=True)

    def check(self, top, said):
        for noun in files.PACKAGES["billing"]:
            says(said, f"store_{noun}", f'publish("{noun}.created"')


class DefinitionsMatching(Project):
    """all functions whose name begins with archive_"""

    def rootbound(self, call):
        call("grep", pattern=r"archive_\w+", output_mode="definitions")

    def server_filesystem(self, call):
        every_file(call)

    def rust_mcp_filesystem(self, call):
        call("search_files_content", path=".", pattern="*.py", query=r"def archive_\w+", is_regex=True)

    def check(self, top, said):
        for package, nouns in files.PACKAGES.items():
            for noun in nouns:
                says(said, f"shop/{package}/{noun}.py", f"def archive_{noun}s(")


class CountMatches(Project):
    """how often each file logs"""

    def rootbound(self, call):
        call("grep", pattern=r"logger\.info", path="shop", output_mode="count")

    def server_filesystem(self, call):
        every_file(call)

    def rust_mcp_filesystem(self, call):
        call("search_files_content", path="shop", pattern="*.py", query="logger.info")

    def check(self, top, said):
        for name in (*MODULES, "shop/billing/engine.py"):
            says(said, name)


class WithoutLicence(Project):
    """which modules lack a licence header"""

    def rootbound(self, call):
        call("grep", pattern="SPDX-License-Identifier", path="shop", output_mode="files_without_match")

    def server_filesystem(self, call):
        found = call("search_files", path="shop", pattern="**/*.py")
        for name in relative(found):
            call("read_text_file", path=name, head=2)

    def rust_mcp_filesystem(self, call):
        # Those that have it, and all: the difference are those that lack it.
        call("search_files_content", path="shop", pattern="*.py", query="SPDX-License-Identifier")
        call("search_files", path="shop", pattern="*.py")

    def check(self, top, said):
        for name in files.UNLICENSED:
            if name not in said and f"The package {name.split('/')[0]}." not in said:
                says(said, name)


class EmptySearch(Project):
    """a search that finds nothing"""

    def rootbound(self, call):
        call("grep", pattern="DROP TABLE")

    def server_filesystem(self, call):
        every_file(call)

    def rust_mcp_filesystem(self, call):
        call("search_files_content", path=".", pattern="*", query="DROP TABLE")

    def check(self, top, said):
        if "DROP TABLE" in said.replace('"DROP TABLE"', ""):
            raise NotDone("something was found")


class MistypedFolder(Project):
    """a search in a folder whose name is mistyped, then repaired"""

    def rootbound(self, call):
        said = call("grep", pattern="class Refund", path="shop/biling")
        call("grep", pattern="class Refund", path=re.search(r"shop/billing", said).group())

    def server_filesystem(self, call):
        call("list_directory", path="shop/biling")
        call("list_directory", path="shop")
        call("list_directory", path="shop/billing")
        call("read_text_file", path="shop/billing/refund.py", head=40)

    def rust_mcp_filesystem(self, call):
        call("search_files_content", path="shop/biling", pattern="*.py", query="class Refund")
        call("list_directory", path="shop")
        call("search_files_content", path="shop/billing", pattern="*.py", query="class Refund")

    def check(self, top, said):
        says(said, "refund.py", "class Refund:")


class ContextInOneFile(Project):
    """a word in one file, with three lines around each match"""

    def rootbound(self, call):
        call("grep", pattern="floor", path="shop/billing/engine.py", context=3)

    def server_filesystem(self, call):
        call("read_text_file", path="shop/billing/engine.py")

    def rust_mcp_filesystem(self, call):
        found = call("search_files_content", path="shop/billing", pattern="engine.py", query="floor")
        numbers = [int(number) for number in re.findall(r"^  (\d+):\d+: ", found, re.M)]
        call("read_file_lines", path="shop/billing/engine.py", offset=min(numbers) - 4,
             limit=max(numbers) - min(numbers) + 7)

    def check(self, top, said):
        for number in (line_of(ENGINE, "floor ="), line_of(ENGINE, "total = floor")):
            for line in ENGINE.splitlines()[number - 4:number + 3]:
                says(said, line.strip())


class OneErrorInALog(Task):
    """the one ERROR in a log of 5 MB"""

    def prepare(self, top):
        files.put(top, "app.log", files.log()[0])

    def rootbound(self, call):
        call("grep", pattern="ERROR", path="app.log", case_sensitive=True)

    def server_filesystem(self, call):
        call("read_text_file", path="app.log")

    def rust_mcp_filesystem(self, call):
        call("search_files_content", path=".", pattern="app.log", query=" ERROR ")

    def check(self, top, said):
        says(said, "card 4242 declined by issuer (order 88231, attempt 3)")


class FindByName(Project):
    """files by name, their folder unknown"""

    def rootbound(self, call):
        call("glob", pattern="*checkout*")

    def server_filesystem(self, call):
        call("search_files", path=".", pattern="**/*checkout*", excludePatterns=["**/node_modules/**"])

    def rust_mcp_filesystem(self, call):
        call("search_files", path=".", pattern="checkout")

    def check(self, top, said):
        says(said, "shop/orders/checkout.py", "tests/orders/test_checkout.py", "web/src/checkout.ts")


class DeepTree(Task):
    """the one file at the end of twelve folders"""

    DEEP = "java/src/main/java/com/example/shop/web/internal/http/v2/Handlers.java"

    def prepare(self, top):
        files.put(top, self.DEEP, "class Handlers {}\n")
        files.put(top, "java/pom.xml", "<project/>\n")

    def rootbound(self, call):
        call("glob", pattern="java/src/**")

    def server_filesystem(self, call):
        call("search_files", path="java/src", pattern="**/*.*")

    def rust_mcp_filesystem(self, call):
        call("search_files", path="java/src", pattern="*.*")

    def check(self, top, said):
        says(said, self.DEEP)


class Overview(Project):
    """an overview of a project: its folders and modules"""

    def rootbound(self, call):
        call("ls", depth=3)

    def server_filesystem(self, call):
        call("directory_tree", path=".", excludePatterns=["**/node_modules", ".git"])

    def rust_mcp_filesystem(self, call):
        # The tree has no way to leave out .git and node_modules: folder by folder is cheaper.
        call("list_directory", path=".")
        for name in ("docs", "shop", "tests", "web", "web/src"):
            call("list_directory", path=name)
        for package in files.PACKAGES:
            call("list_directory", path=f"shop/{package}")
            call("list_directory", path=f"tests/{package}")

    def check(self, top, said):
        for package, nouns in files.PACKAGES.items():
            says(said, package, *(f"{noun}.py" for noun in nouns), *(f"test_{noun}.py" for noun in nouns))
        says(said, "pyproject.toml", "checkout.ts", "deployment.md")


class FiveThousandFiles(Task):
    """how many files a folder of 5,000 holds, and what they are called"""

    def prepare(self, top):
        for number in range(5000):
            files.put(top, f"parts/part-{number:05}.csv", "a;b\n")

    def rootbound(self, call):
        call("ls", path="parts", max_results=10)

    def server_filesystem(self, call):
        call("list_directory", path="parts")

    def rust_mcp_filesystem(self, call):
        call("list_directory", path="parts")

    def check(self, top, said):
        says(said, "part-00003.csv")
        if not re.search(r"5,?000|4,?990", said) and said.count("part-") < 5000:
            raise NotDone("the number of files is not said")


class LargestFiles(Task):
    """the largest file of a folder"""

    SIZES = {f"report-{n:02}.csv": 900 + n * 37 % 5000 for n in range(60)} | {"report-41b.csv": 48_211}

    def prepare(self, top):
        for name, size in self.SIZES.items():
            files.put(top, f"reports/{name}", "x" * size)

    def rootbound(self, call):
        call("ls", path="reports", sort="size", max_results=3)

    def server_filesystem(self, call):
        call("list_directory_with_sizes", path="reports", sortBy="size")

    def rust_mcp_filesystem(self, call):
        call("list_directory_with_sizes", path="reports")

    def check(self, top, said):
        says(said, "report-41b.csv")


class NewestFile(Task):
    """the newest file of a folder"""

    def prepare(self, top):
        for number in range(25):
            files.put(top, f"exports/export-{number:02}.csv", "a;b\n")
            stamp = 1_790_000_000 + number * 7 % 25 * 3600
            os.utime(os.path.join(top, f"exports/export-{number:02}.csv"), (stamp, stamp))

    def rootbound(self, call):
        call("glob", pattern="exports/*", max_results=1)

    def server_filesystem(self, call):
        for name in re.findall(r"\[FILE\] (\S+)", call("list_directory", path="exports")):
            call("get_file_info", path=f"exports/{name}")

    rust_mcp_filesystem = server_filesystem

    def check(self, top, said):
        says(said, next(f"export-{n:02}.csv" for n in range(25) if n * 7 % 25 == 24))


class FileFacts(Project):
    """size, time and permissions of a file"""

    def prepare(self, top):
        super().prepare(top)
        path = os.path.join(top, "shop/config.py")
        os.chmod(path, 0o640)
        os.utime(path, (1_790_000_000, 1_790_000_000))

    def rootbound(self, call):
        call("ls", path="shop/config.py", long=True)

    def server_filesystem(self, call):
        call("get_file_info", path="shop/config.py")

    rust_mcp_filesystem = server_filesystem

    def check(self, top, said):
        says(said, str(len(content(top, "shop/config.py"))))
        if not re.search(r"rw-r-----|0?640", said):
            raise NotDone("the permissions are not said")
        if not re.search(r"2026-09-21|Sep 21", said):
            raise NotDone("the time is not said")
