"""Tasks on files that are not plain text."""
from . import workspace as files
from .task import NotDone, Task, content, says


class SmallImage(Task):
    """a screenshot of 1200 x 800"""

    SIZE, NOISE = (1200, 800), False

    def prepare(self, top):
        files.put(top, "screenshot.png", files.png(*self.SIZE, self.NOISE))

    def rootbound(self, call):
        call("read", path="screenshot.png")

    def server_filesystem(self, call):
        call("read_media_file", path="screenshot.png")

    rust_mcp_filesystem = server_filesystem

    def check(self, top, said):
        says(said, "[image ")


class LargeImage(SmallImage):
    """a photograph of 3840 x 2400 in 28 MB"""

    SIZE, NOISE = (3840, 2400), True


class NotebookCell(Task):
    """what one cell of a notebook does, and what it printed"""

    def prepare(self, top):
        files.put(top, "sales.ipynb", files.notebook())

    def rootbound(self, call):
        call("read", path="sales.ipynb", part="cells 8-9")

    def server_filesystem(self, call):
        call("read_text_file", path="sales.ipynb")

    def rust_mcp_filesystem(self, call):
        found = call("search_files_content", path=".", pattern="sales.ipynb", query="def step_8")
        number = int(found.split("\n")[1].split(":")[0])
        call("read_file_lines", path="sales.ipynb", offset=number - 7, limit=45)

    def check(self, top, said):
        says(said, "def step_8(frame):", "kept = frame[frame.amount > 800]", "north-7    952")


class NotebookEdit(Task):
    """one number changed in a cell of a notebook"""

    def prepare(self, top):
        files.put(top, "sales.ipynb", files.notebook())

    def rootbound(self, call):
        call("grep", pattern="frame.amount > 800", path="sales.ipynb")
        call("edit", path="sales.ipynb", old_string="frame.amount > 800", new_string="frame.amount > 850")

    def server_filesystem(self, call):
        call("read_text_file", path="sales.ipynb")
        call("edit_file", path="sales.ipynb", edits=[{"oldText": "frame.amount > 800", "newText": "frame.amount > 850"}])

    def rust_mcp_filesystem(self, call):
        call("search_files_content", path=".", pattern="sales.ipynb", query="frame.amount > 800")
        call("edit_file", path="sales.ipynb", edits=[{"oldText": "frame.amount > 800", "newText": "frame.amount > 850"}])

    def check(self, top, said):
        if content(top, "sales.ipynb").decode() != files.notebook().replace("frame.amount > 800", "frame.amount > 850"):
            raise NotDone("the notebook differs")


class PdfPage(Task):
    """page 3 of a PDF"""

    def prepare(self, top):
        files.put(top, "manual.pdf", files.pdf())

    def rootbound(self, call):
        call("read", path="manual.pdf", part="pages 3")

    def server_filesystem(self, call):
        call("read_text_file", path="manual.pdf")

    def rust_mcp_filesystem(self, call):
        call("read_text_file", path="manual.pdf")

    def check(self, top, said):
        says(said, "Valve 113 opens at 96 bar and closes below 23 bar")


class Document(Task):
    def server_filesystem(self, call):
        call("read_text_file", path=self.NAME)

    rust_mcp_filesystem = server_filesystem

    def prepare(self, top):
        files.put(top, self.NAME, self.content())

    def check(self, top, said):
        says(said, self.SAYS)


class WordSection(Document):
    """one section of a Word document of 30"""

    NAME, SAYS = "contract.docx", "21.9 The supplier delivers part 366 within 30 days after the order."
    content = staticmethod(files.docx)

    def rootbound(self, call):
        call("read", path=self.NAME, part="section Article 21")


class WordChange(Document):
    """what a reviewer changed in a section of a Word document"""

    NAME, SAYS = "contract.docx", "A delay costs 2 percent a week."
    content = staticmethod(files.docx)

    def rootbound(self, call):
        call("read", path=self.NAME, part="section Article 7")

    def check(self, top, said):
        says(said, self.SAYS, "Delays are free.", "Ada")


class SheetRows(Document):
    """ten rows of a sheet of 2,000"""

    NAME, SAYS = "orders.xlsx", "customer 637\tpart-011\t8\t613.5"
    content = staticmethod(files.xlsx)

    def rootbound(self, call):
        call("read", path=self.NAME, part="sheet Orders rows 1500-1509")


class SheetFormula(Document):
    """the formula of a total in a workbook"""

    NAME, SAYS = "orders.xlsx", "SUMPRODUCT(Orders!D2:D2000,Orders!E2:E2000)"
    content = staticmethod(files.xlsx)

    def rootbound(self, call):
        call("read", path=self.NAME, part="sheet Total formulas")


class SlideNotes(Document):
    """what a speaker says on slide 17 of 24"""

    NAME, SAYS = "review.pptx", "Say that the stock of region 17 lasts 51 days."
    content = staticmethod(files.pptx)

    def rootbound(self, call):
        call("read", path=self.NAME, part="slides 17")
