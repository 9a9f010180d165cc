"""Tasks that change text."""
import re

from . import workspace as files
from .reading import ENGINE, INVOICE, Project
from .task import Task, holds, relative

USERS = [f"shop/{caller}.py" for caller in (*files.CALLERS, "billing/rates")]


def peer_edit(call, path, *pairs, **more):
    return call("edit_file", path=path, edits=[{"oldText": old, "newText": new} for old, new in pairs], **more)


def tabs(text):
    return text.replace("    ", "\t")


def pairs(*changes):
    return [{"old_string": old, "new_string": new} for old, new in changes]


class OneEdit(Project):
    """one constant changed"""

    def rootbound(self, call):
        call("grep", pattern="^RETRIES", path="shop/config.py")
        call("edit", path="shop/config.py", old_string='"SHOP_RETRIES", "3"', new_string='"SHOP_RETRIES", "5"')

    def server_filesystem(self, call):
        call("read_text_file", path="shop/config.py")
        peer_edit(call, "shop/config.py", ('"SHOP_RETRIES", "3"', '"SHOP_RETRIES", "5"'))

    def rust_mcp_filesystem(self, call):
        call("search_files_content", path="shop", pattern="config.py", query="RETRIES")
        peer_edit(call, "shop/config.py", ('"SHOP_RETRIES", "3"', '"SHOP_RETRIES", "5"'))

    def check(self, top, said):
        holds(top, "shop/config.py", files.CONFIG.replace('"SHOP_RETRIES", "3"', '"SHOP_RETRIES", "5"'))


class ThreeEdits(Project):
    """three edits in one file"""

    PAIRS = (("BATCH = 500", "BATCH = 250"),
             ("problems = []", "problems: list[str] = []"),
             ('logger.debug("no invoice %s", invoice_id)', 'logger.info("no invoice with id %s", invoice_id)'))

    def rootbound(self, call):
        call("grep", pattern=r"BATCH =|problems =|logger\.debug", path="shop/billing/invoice.py")
        call("edit", path="shop/billing/invoice.py", edits=pairs(*self.PAIRS))

    def server_filesystem(self, call):
        call("read_text_file", path="shop/billing/invoice.py")
        peer_edit(call, "shop/billing/invoice.py", *self.PAIRS)

    def rust_mcp_filesystem(self, call):
        call("search_files_content", path="shop/billing", pattern="invoice.py", is_regex=True,
             query=r"BATCH =|problems =|logger\.debug")
        peer_edit(call, "shop/billing/invoice.py", *self.PAIRS)

    def check(self, top, said):
        wanted = INVOICE
        for old, new in self.PAIRS:
            wanted = wanted.replace(old, new)
        holds(top, "shop/billing/invoice.py", wanted)


class RenameInNineFiles(Project):
    """a function renamed in nine files, 19 places"""

    def rootbound(self, call):
        call("grep", pattern="convert_currency")
        call("edit", edits=[{"glob": "**/*.py", "old_string": "convert_currency", "new_string": "to_currency",
                             "replace_all": True}])

    def server_filesystem(self, call):
        # The files must be found by reading them; an edit replaces one place.
        found = call("search_files", path="shop", pattern="**/*.py")
        said = call("read_multiple_files", paths=relative(found))
        for part in said.split("\n---\n"):
            name, text = part.split(":\n", 1)
            changes = [(line, line.replace("convert_currency", "to_currency"))
                       for line in text.splitlines() if "convert_currency" in line]
            if changes:
                peer_edit(call, name, *changes)

    def rust_mcp_filesystem(self, call):
        found = call("search_files_content", path=".", pattern="*.py", query="convert_currency")
        for name in relative(found):
            peer_edit(call, name, ("convert_currency", "to_currency"), replaceAll=True)

    def check(self, top, said):
        for name in USERS:
            package, noun = name[5:-3].split("/")
            number = [noun for nouns in files.PACKAGES.values() for noun in nouns].index(noun)
            holds(top, name, files.module(package, noun, number).replace("convert_currency", "to_currency"))


class ReplaceAll(Project):
    """every occurrence of a word in one file"""

    def rootbound(self, call):
        call("grep", pattern="gift-card", path="shop/billing/engine.py", max_results=1)
        call("edit", path="shop/billing/engine.py", old_string='"gift-card"', new_string='"gift-voucher"',
             replace_all=True)

    def server_filesystem(self, call):
        # One edit replaces one place: sixty edits, each made unique by the number behind the word.
        call("read_text_file", path="shop/billing/engine.py")
        peer_edit(call, "shop/billing/engine.py", *[('"gift-card"', '"gift-voucher"')] * 60)

    def rust_mcp_filesystem(self, call):
        peer_edit(call, "shop/billing/engine.py", ('"gift-card"', '"gift-voucher"'), replaceAll=True)

    def check(self, top, said):
        holds(top, "shop/billing/engine.py", ENGINE.replace('"gift-card"', '"gift-voucher"'))


class CrlfEdit(Task):
    """one edit in a file with CRLF, which stays as it is"""

    TEXT = "".join(f"[section-{n}]\r\nname = item {n}\r\nlimit = {n * 10}\r\n\r\n" for n in range(20))

    def prepare(self, top):
        files.put(top, "settings.ini", self.TEXT)

    def rootbound(self, call):
        call("grep", pattern="item 7", path="settings.ini", after=1)
        call("edit", path="settings.ini", old_string="name = item 7\nlimit = 70\n", new_string="name = item 7\nlimit = 75\n")

    def server_filesystem(self, call):
        call("read_text_file", path="settings.ini")
        peer_edit(call, "settings.ini", ("name = item 7\nlimit = 70\n", "name = item 7\nlimit = 75\n"))

    def rust_mcp_filesystem(self, call):
        found = call("search_files_content", path=".", pattern="settings.ini", query="item 7")
        number = int(re.search(r"(\d+):\d+: name", found).group(1))
        call("read_file_lines", path="settings.ini", offset=number - 1, limit=2)
        peer_edit(call, "settings.ini", ("name = item 7\nlimit = 70\n", "name = item 7\nlimit = 75\n"))

    def check(self, top, said):
        holds(top, "settings.ini", self.TEXT.replace("limit = 70\r", "limit = 75\r"))


class Latin1Edit(Task):
    """one edit in a Latin-1 file, which stays as it is"""

    TEXT = "".join(f"Artikel {n};Käse für {n} Gäste;{n * 7}\n" for n in range(25))

    def prepare(self, top):
        files.put(top, "liste.csv", self.TEXT.encode("latin-1"))

    def rootbound(self, call):
        call("read", path="liste.csv")
        call("edit", path="liste.csv", old_string="Käse für 9 Gäste;63", new_string="Käse für 9 Gäste;65")

    def server_filesystem(self, call):
        call("read_text_file", path="liste.csv")
        peer_edit(call, "liste.csv", ("für 9 Gäste;63", "für 9 Gäste;65"))
        peer_edit(call, "liste.csv", (";63", ";65"))

    rust_mcp_filesystem = server_filesystem

    def check(self, top, said):
        holds(top, "liste.csv", self.TEXT.replace("9 Gäste;63", "9 Gäste;65").encode("latin-1"))


class StaleEdit(Project):
    """an edit of a line that another program changed after it was read"""

    def prepare(self, top):
        super().prepare(top)
        self.top = top

    def between(self):
        files.put(self.top, "shop/billing/invoice.py", INVOICE.replace("BATCH = 500\n", "BATCH = 400  # see #812\n"))

    def rootbound(self, call):
        call("grep", pattern="BATCH =", path="shop/billing/invoice.py")
        self.between()
        call("edit", path="shop/billing/invoice.py", old_string="BATCH = 500", new_string="BATCH = 250")
        call("edit", path="shop/billing/invoice.py", old_string="BATCH = 400  # see #812",
             new_string="BATCH = 250  # see #812")

    def server_filesystem(self, call):
        call("read_text_file", path="shop/billing/invoice.py")
        self.between()
        peer_edit(call, "shop/billing/invoice.py", ("BATCH = 500", "BATCH = 250"))
        call("read_text_file", path="shop/billing/invoice.py")
        peer_edit(call, "shop/billing/invoice.py", ("BATCH = 400  # see #812", "BATCH = 250  # see #812"))

    def rust_mcp_filesystem(self, call):
        call("search_files_content", path="shop/billing", pattern="invoice.py", query="BATCH =")
        self.between()
        peer_edit(call, "shop/billing/invoice.py", ("BATCH = 500", "BATCH = 250"))
        call("search_files_content", path="shop/billing", pattern="invoice.py", query="BATCH =")
        peer_edit(call, "shop/billing/invoice.py", ("BATCH = 400  # see #812", "BATCH = 250  # see #812"))

    def check(self, top, said):
        holds(top, "shop/billing/invoice.py", INVOICE.replace("BATCH = 500\n", "BATCH = 250  # see #812\n"))


# One service of a deployment.
SECTION = """{name}:
  image: registry.example.com/shop/{name}:4.2.0
  strategy: rolling
  replicas: 2
  port: {port}
  environment:
    SHOP_REGION: eu-central-1
    SHOP_LOG: info
  resources:
    memory: {memory}Mi
    cpu: 500m

"""


class AmbiguousEdit(Task):
    """an edit of a line that occurs in four sections, where the third is meant"""

    TEXT = "".join(SECTION.format(name=name, port=8000 + n, memory=256 * (n + 1))
                   for n, name in enumerate(("web", "api", "worker", "search")))

    def prepare(self, top):
        files.put(top, "deploy.yaml", self.TEXT)

    LINE, CHANGED = "replicas: 2", "replicas: 4"
    UNIQUE = ("  replicas: 2\n  port: 8002", "  replicas: 4\n  port: 8002")

    def rootbound(self, call):
        call("grep", pattern="worker:$|replicas", path="deploy.yaml")
        call("edit", path="deploy.yaml", old_string=self.LINE, new_string=self.CHANGED)
        call("edit", path="deploy.yaml", old_string=self.UNIQUE[0], new_string=self.UNIQUE[1])

    def server_filesystem(self, call):
        call("read_text_file", path="deploy.yaml")
        # It changes the first place without a word; the diff shows it, and both are put right.
        peer_edit(call, "deploy.yaml", (self.LINE, self.CHANGED))
        peer_edit(call, "deploy.yaml", (self.CHANGED, self.LINE), self.UNIQUE)

    def rust_mcp_filesystem(self, call):
        found = call("search_files_content", path=".", pattern="deploy.yaml", query="^worker|replicas", is_regex=True)
        peer_edit(call, "deploy.yaml", (self.LINE, self.CHANGED))
        number = int(re.search(r"(\d+):\d+: worker:", found).group(1))
        call("read_file_lines", path="deploy.yaml", offset=number - 1, limit=6)
        peer_edit(call, "deploy.yaml", self.UNIQUE)

    def check(self, top, said):
        holds(top, "deploy.yaml", self.TEXT.replace(*self.UNIQUE))


class WrongWhiteSpace(Task):
    """an edit whose text has spaces where the file has tabs"""

    TEXT = "package shop\n\n" + "".join(
        f"func Load{n}(id int) (*Item, error) {{\n\trow := db.Query(id)\n\tif row == nil {{\n\t\treturn nil, ErrNone{n}\n\t}}\n"
        f"\treturn scan(row, {n})\n}}\n\n" for n in range(12))

    def prepare(self, top):
        files.put(top, "load.go", self.TEXT)

    OLD = "    if row == nil {\n        return nil, ErrNone7\n    }\n"
    NEW = "    if row == nil {\n        log.Print(id)\n        return nil, ErrNone7\n    }\n"

    def rootbound(self, call):
        call("read", path="load.go", part="def Load7")
        call("edit", path="load.go", old_string=self.OLD, new_string=self.NEW)

    def server_filesystem(self, call):
        call("read_text_file", path="load.go")
        peer_edit(call, "load.go", (self.OLD, self.NEW))
        peer_edit(call, "load.go", (tabs(self.OLD), tabs(self.NEW)))

    def rust_mcp_filesystem(self, call):
        call("search_files_content", path=".", pattern="load.go", query="ErrNone7")
        call("read_file_lines", path="load.go", offset=58, limit=6)
        # It shifts the new lines and drops the last line break: the diff shows both, and both are repaired.
        said = peer_edit(call, "load.go", (self.OLD, self.NEW))
        added = [line[1:] for line in said.splitlines() if line.startswith("+") and not line.startswith("+++")]
        peer_edit(call, "load.go", ("\n".join(added[:4]) + "\n", tabs(self.NEW).split("\n", 1)[1]),
                  ("\treturn scan(row, 11)\n}", "\treturn scan(row, 11)\n}\n\n"))

    def check(self, top, said):
        holds(top, "load.go", self.TEXT.replace(tabs(self.OLD), tabs(self.NEW)))


class FailedEditRepaired(Project):
    """an edit with a wrong word in its text, then repaired"""

    WRONG = '    logger.info("order %s: %d is under the floor price %d", order.id, total, floor)\n        total = floor'
    RIGHT = '        logger.info("order %s: %d is below the floor price %d", order.id, total, floor)\n        total = floor'

    def rootbound(self, call):
        call("grep", pattern="floor price", path="shop/billing/engine.py")
        call("edit", path="shop/billing/engine.py", old_string=self.WRONG,
             new_string=self.WRONG.replace("info", "warning"))
        call("edit", path="shop/billing/engine.py", old_string=self.RIGHT,
             new_string=self.RIGHT.replace("info", "warning"))

    def server_filesystem(self, call):
        call("read_text_file", path="shop/billing/engine.py")
        peer_edit(call, "shop/billing/engine.py", (self.WRONG, self.WRONG.replace("info", "warning")))
        peer_edit(call, "shop/billing/engine.py", (self.RIGHT, self.RIGHT.replace("info", "warning")))

    def rust_mcp_filesystem(self, call):
        found = call("search_files_content", path="shop/billing", pattern="engine.py", query="floor price")
        peer_edit(call, "shop/billing/engine.py", (self.WRONG, self.WRONG.replace("info", "warning")))
        number = int(re.findall(r"(\d+):\d+: ", found)[-1])
        call("read_file_lines", path="shop/billing/engine.py", offset=number - 2, limit=4)
        peer_edit(call, "shop/billing/engine.py", (self.RIGHT, self.RIGHT.replace("info", "warning")))

    def check(self, top, said):
        holds(top, "shop/billing/engine.py", ENGINE.replace(self.RIGHT, self.RIGHT.replace("info", "warning")))
