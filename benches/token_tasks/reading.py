"""Tasks that read text."""
import re

from . import workspace as files
from .task import NotDone, Task, line_of, lines, relative, says, shows

ENGINE = files.engine()
INVOICE = files.module("billing", "invoice", 0)
SIX = [f"tests/{package}/test_{noun}.py" for package, noun in
       (("billing", "invoice"), ("billing", "payment"), ("orders", "basket"), ("orders", "order"),
        ("catalog", "product"), ("shipping", "parcel"))]


class Project(Task):
    # Base of the tasks on the project of workspace.py.

    def prepare(self, top):
        files.project(top)



class ShortRead(Project):
    """the first 10 lines of a file, and how long it is"""

    def rootbound(self, call):
        call("read", path="shop/billing/invoice.py", limit=10)

    def server_filesystem(self, call):
        call("read_text_file", path="shop/billing/invoice.py", head=10)
        call("get_file_info", path="shop/billing/invoice.py")

    def rust_mcp_filesystem(self, call):
        call("head_file", path="shop/billing/invoice.py", lines=10)
        call("get_file_info", path="shop/billing/invoice.py")

    def check(self, top, said):
        shows(said, lines(INVOICE, 1, 10))
        if f"of {len(INVOICE.splitlines())}" not in said:
            says(said, f"size: {len(INVOICE)}")


class LineRange(Project):
    """lines 300 to 350 of a long file, two of them to be cited by number"""

    def rootbound(self, call):
        call("read", path="shop/billing/engine.py", start_line=300, end_line=350)

    server_filesystem = "no line numbers"

    def rust_mcp_filesystem(self, call):
        call("read_file_lines", path="shop/billing/engine.py", offset=299, limit=51)
        # The numbers of lines come with a search only, or with the whole file.
        call("search_files_content", path="shop/billing", pattern="engine.py", is_regex=True,
             query=r"Discount\(rule=2[56]")

    def check(self, top, said):
        shows(said, lines(ENGINE, 300, 350))
        cited(said, ENGINE, "return Discount(rule=25,")
        cited(said, ENGINE, "return Discount(rule=26,")


class WholeSmallFile(Project):
    """a small file, whole"""

    def rootbound(self, call):
        call("read", path="shop/config.py")

    def server_filesystem(self, call):
        call("read_text_file", path="shop/config.py")

    def rust_mcp_filesystem(self, call):
        call("read_text_file", path="shop/config.py")

    def check(self, top, said):
        shows(said, files.CONFIG)


class SixFiles(Project):
    """six small files"""

    def rootbound(self, call):
        call("read", paths=SIX)

    def server_filesystem(self, call):
        call("read_multiple_files", paths=SIX)

    def rust_mcp_filesystem(self, call):
        call("read_multiple_text_files", paths=SIX)

    def check(self, top, said):
        for name in SIX:
            package, noun = re.fullmatch(r"tests/(\w+)/test_(\w+)\.py", name).groups()
            shows(said, files.test(package, noun))


class LongFileToItsEnd(Project):
    """a file of 744 lines read to its end, for a review that cites lines"""

    def rootbound(self, call):
        call("read", path="shop/billing/engine.py")

    server_filesystem = "no line numbers"

    def rust_mcp_filesystem(self, call):
        call("read_text_file", path="shop/billing/engine.py", with_line_numbers=True)

    def check(self, top, said):
        shows(said, ENGINE)
        for rule in (3, 25, 59):
            cited(said, ENGINE, f"return Discount(rule={rule},")


class FunctionByName(Project):
    """a function printed whole, its file known"""

    def rootbound(self, call):
        call("read", path="shop/billing/engine.py", part="def settle_order")

    def server_filesystem(self, call):
        call("read_text_file", path="shop/billing/engine.py")

    def rust_mcp_filesystem(self, call):
        found = call("search_files_content", path="shop/billing", pattern="engine.py", query="def settle_order")
        number = int(re.search(r"(\d+):\d+: def settle_order", found).group(1))
        call("read_file_lines", path="shop/billing/engine.py", offset=number - 1, limit=40)

    def check(self, top, said):
        shows(said, files.SETTLE)


class FindDefinition(Project):
    """a definition found and read, its file unknown"""

    def rootbound(self, call):
        found = call("grep", pattern="convert_currency", output_mode="definitions")
        path = re.search(r"shop/\S+\.py", found).group()
        call("read", path=path, part="def convert_currency")

    def server_filesystem(self, call):
        found = call("search_files", path=".", pattern="shop/billing/*.py", excludePatterns=["**/node_modules/**"])
        call("read_text_file", path=next(name for name in relative(found) if name.endswith("rates.py")))

    def rust_mcp_filesystem(self, call):
        found = call("search_files_content", path="shop", pattern="*.py", query="def convert_currency")
        number = int(re.search(r"(\d+):\d+: def convert_currency", found).group(1))
        call("read_file_lines", path=relative(found)[0], offset=number - 1, limit=20)

    def check(self, top, said):
        shows(said, files.RATES.split("\n\n\n")[0].strip("\n"))


class SeveralRanges(Project):
    """four ranges of three files, a line of each file to be cited by its number"""

    CITED = (("billing/invoice", "return [Invoice(*row)"), ("orders/basket", 'publish("basket.updated"'),
             ("billing/engine", "return Discount(rule=34,"))

    def rootbound(self, call):
        call("read", paths=["shop/billing/invoice.py:30-60", "shop/orders/basket.py:20-40,80-100",
                            "shop/billing/engine.py:400-450"])

    server_filesystem = "no line numbers"

    def rust_mcp_filesystem(self, call):
        call("read_file_lines", path="shop/billing/invoice.py", offset=29, limit=31)
        call("read_file_lines", path="shop/orders/basket.py", offset=19, limit=21)
        call("read_file_lines", path="shop/orders/basket.py", offset=79, limit=21)
        call("read_file_lines", path="shop/billing/engine.py", offset=399, limit=51)
        for name, fragment in self.CITED:
            folder, name = name.split("/")
            call("search_files_content", path=f"shop/{folder}", pattern=f"{name}.py", query=fragment)

    def check(self, top, said):
        basket = files.module("orders", "basket", 6)
        shows(said, lines(INVOICE, 30, 60) + lines(basket, 20, 40) + lines(basket, 80, 100) + lines(ENGINE, 400, 450))
        for text, (_, fragment) in zip((INVOICE, basket, ENGINE), self.CITED):
            cited(said, text, fragment)


class ReadAgainUnchanged(Project):
    """a file that was read before, read again: it is unchanged"""

    def rootbound(self, call):
        first = call("read", _earlier=True, path="shop/billing/invoice.py")
        call("read", path="shop/billing/invoice.py", since=rev(first))

    def server_filesystem(self, call):
        call("read_text_file", path="shop/billing/invoice.py")

    rust_mcp_filesystem = server_filesystem

    def check(self, top, said):
        if "unchanged since" not in said:
            shows(said, INVOICE)


class ReadAgainChanged(Project):
    """a file that was read before, read again: another program changed two lines"""

    def prepare(self, top):
        super().prepare(top)
        self.top = top

    def between(self):
        new = INVOICE.replace("BATCH = 500", "BATCH = 750").replace('"invoice.updated"', '"invoice.changed"')
        files.put(self.top, "shop/billing/invoice.py", new)

    def rootbound(self, call):
        first = call("read", _earlier=True, path="shop/billing/invoice.py")
        self.between()
        call("read", path="shop/billing/invoice.py", since=rev(first))

    def server_filesystem(self, call):
        self.between()
        call("read_text_file", path="shop/billing/invoice.py")

    rust_mcp_filesystem = server_filesystem

    def check(self, top, said):
        says(said, "BATCH = 750", '"invoice.changed"')


class LogTail(Task):
    """the last 20 lines of a log of 5 MB"""

    def prepare(self, top):
        files.put(top, "app.log", files.log()[0])

    def rootbound(self, call):
        call("read", path="app.log", offset=-20)

    def server_filesystem(self, call):
        call("read_text_file", path="app.log", tail=20)

    def rust_mcp_filesystem(self, call):
        call("tail_file", path="app.log", lines=20)

    def check(self, top, said):
        # server-filesystem counts the end of the last line as one more line.
        shows(said, "\n".join(files.log()[0].splitlines()[-19:]))


class EndOfOneLineJson(Task):
    """the last record of a JSON file of 2 MB on one line"""

    def prepare(self, top):
        files.put(top, "items.json", files.one_line_json())

    def rootbound(self, call):
        found = call("read", path="items.json", part="columns 1-200")
        size = int(re.search(r"of ([\d,]+)", found).group(1).replace(",", ""))
        call("read", path="items.json", part=f"columns {size - 200}-{size}")

    def server_filesystem(self, call):
        call("read_text_file", path="items.json", tail=1)

    def rust_mcp_filesystem(self, call):
        call("tail_file", path="items.json", lines=1)

    def check(self, top, said):
        says(said, '"checksum":"9f3c77d1"')


class MinifiedSetting(Task):
    """one setting in a minified file of 300 KB, with 300 characters around it"""

    def prepare(self, top):
        files.put(top, "dist/app.min.js", files.minified())

    def rootbound(self, call):
        found = call("grep", pattern="apiVersion", path="dist/app.min.js")
        first = int(re.search(r"columns (\d+)-", found).group(1))
        at = files.minified().index("apiVersion") - first
        assert 0 <= at < 2000
        call("read", path="dist/app.min.js", part=f"columns {first + at - 300}-{first + at + 310}")

    def server_filesystem(self, call):
        call("read_text_file", path="dist/app.min.js")

    def rust_mcp_filesystem(self, call):
        # A search shows 30 characters before a match and 200 in all: three more show the rest.
        call("search_files_content", path="dist", pattern="app.min.js", query="apiVersion")
        call("search_files_content", path="dist", pattern="app.min.js", query=".{300}apiVersion", is_regex=True)
        call("search_files_content", path="dist", pattern="app.min.js", query=".{130}apiVersion", is_regex=True)
        call("search_files_content", path="dist", pattern="app.min.js", query="function f3001(")

    def check(self, top, said):
        text = files.minified()
        at = text.index("apiVersion")
        for start in (at - 300, at - 150, at, at + 150):
            says(said, text[start:start + 60])


class Latin1Read(Task):
    """a Latin-1 file read as the text it is"""

    TEXT = "".join(f"straße {n};Käse für {n} Gäste;{n * 7} Stück;Größe {n % 4}\n" for n in range(25))

    def prepare(self, top):
        files.put(top, "liste.csv", self.TEXT.encode("latin-1"))

    def rootbound(self, call):
        call("read", path="liste.csv")

    def server_filesystem(self, call):
        call("read_text_file", path="liste.csv")

    def rust_mcp_filesystem(self, call):
        call("read_text_file", path="liste.csv")
        call("head_file", path="liste.csv", lines=30)

    def check(self, top, said):
        shows(said, self.TEXT)


def cited(said, text, fragment):
    """Checks that the answers hold a line with its number."""
    number = line_of(text, fragment)
    if not re.search(rf"^ *{number}[\t |:].*{re.escape(fragment)}", said, re.M):
        raise NotDone(f"line {number} is not shown with its number")


def rev(said):
    """The revision that a footer of our server names."""
    return re.findall(r"rev (\w+)", said)[-1]
