"""Hostile documents, the same in each run. None may change what is found in others, or exceed a bound."""
import functools
import os
import random
import re
import struct
import zipfile
import zlib

from token_tasks.workspace import RELATED, archive, office, pdf_file, pdf_of, put, stream

# In documents that are to be found, and in places that no search may reach.
MARK = "vermilionite"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
CATALOG, PAGES, FONT = "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [3 0 R] >>", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
PAGE = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> /XObject << /X 6 0 R >> >> >>"
SHOWN = f"BT /F1 9 Tf ({MARK}) Tj ET".encode()
BLANKS = " " * (1 << 20)


@functools.cache
def zeros(mebibytes):
    packer, block = zlib.compressobj(9), BLANKS.encode()
    return b"".join(packer.compress(block) for _ in range(mebibytes)) + packer.flush()


def docx(*body, head="", more=None, part="word/document.xml"):
    """Of this text, or of its pieces."""
    return office({**(more or {}), "word/document.xml": (head, f'<w:document xmlns:w="{WORD}"><w:body>', *body, "</w:body></w:document>")},
                  {part: "wordprocessingml.document.main"}, {"_rels/.rels": [("officeDocument", part)]}, zipfile.ZIP_DEFLATED)


def line(text=MARK):
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def xlsx(data, head="", strings=(), dimension="A1"):
    book, sheet = f'<workbook xmlns="{SHEET}" xmlns:r="{RELATED}"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>', "spreadsheetml.sheet.main"
    return office({"xl/workbook.xml": book, "xl/strings.xml": (f'<sst xmlns="{SHEET}"><si><t>', *strings, "</t></si></sst>"),
                   "xl/s.xml": f'{head}<worksheet xmlns="{SHEET}"><dimension ref="{dimension}"/><sheetData>{data}</sheetData></worksheet>'},
                  {"xl/workbook.xml": sheet}, {"_rels/.rels": [("officeDocument", "xl/workbook.xml")],
                                               "xl/_rels/workbook.xml.rels": [("worksheet", "s.xml"), ("sharedStrings", "strings.xml")]}, zipfile.ZIP_DEFLATED)


def cell(where, text=MARK):
    return f'<row r="{re.sub("[A-Z]", "", where)}"><c r="{where}" t="inlineStr"><is><t>{text}</t></is></c></row>'


def opened(kind, *body, head=""):
    names = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "text", "table"))
    return archive({"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": (
        head, f"<office:document-content {names}><office:body><office:{kind}>", *body, f"</office:{kind}></office:body></office:document-content>")}, zipfile.ZIP_DEFLATED)


def pdf(*first, **more):
    """A PDF of one page; the objects given take the place of the first ones."""
    return pdf_file([*first, *[CATALOG, PAGES, PAGE, stream(SHOWN), FONT, stream(b"")][len(first):]], **more)


def contents(data, entries="", *more):
    return pdf(CATALOG, PAGES, PAGE, stream(data, entries), *more)


def pdfs():
    """Names, contents, and whether the mark is to be found; None: either is right."""
    good, lead = pdf_of([[MARK], ["second"]]), "<< /Type /Catalog /Pages 2 0 R /X "
    secret = "/Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <{0}> /U <{0}> >> /ID [<{0}> <{0}>] ".format("ab" * 32)
    form = "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X {} 0 R >> >>"
    table, mapped = good.rindex(b"startxref"), FONT[:-2] + "/ToUnicode 6 0 R >>"
    wide = b"1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfrange <0000> <FFFFFFFF> <0041> endbfrange"
    yield "ascii", pdf_of([[MARK]], pack=False), True
    yield "two_pages", good, True
    yield "plain_text", f"not a PDF, but {MARK}\n".encode(), True
    yield "junk_before", b"mail header\r\n" * 20 + pdf_of([[MARK]], pack=False), None
    yield "no_table", good[:good.rindex(b"xref\n0")] + b"trailer << /Root 1 0 R >>\n", None
    yield "circular", pdf(CATALOG, "<< /Type /Pages /Count 9 /Kids [2 0 R 2 0 R] >>"), None
    yield "circular_two", pdf(CATALOG, PAGES, "<< /Type /Pages /Count 9 /Kids [2 0 R 3 0 R] >>"), None
    yield "parents", pdf(CATALOG, PAGES, PAGE.replace("/MediaBox [0 0 9 9]", "").replace("2 0 R", "3 0 R")), None
    yield "huge_count", pdf(CATALOG, PAGES.replace("Count 1", "Count 2147483647")), None
    yield "huge_table", good.replace(b"xref\n0 ", b"xref\n0 99999999"), None
    yield "table_of_itself", good[:table] + b"startxref\n%d\n%%%%EOF\n" % table, None
    yield "previous_itself", pdf(trailer="/Prev 9 /XRefStm 9 "), None
    yield "table_stream", b"%PDF-1.5\n1 0 obj\n" + stream(b"x" * 99, "/Type /XRef /W [8 8 8] /Size 2147483647 /Root 1 0 R") + b"\nendobj\nstartxref\n9\n", False
    yield "inflates", contents(zeros(2048), "/Filter /FlateDecode"), None
    yield "inflates_twice", contents(zlib.compress(zeros(2048)), "/Filter [/FlateDecode /FlateDecode]"), None
    yield "filters", contents(b"x" * 999, f"/Filter [{'/ASCII85Decode /RunLengthDecode ' * 5000}]"), None
    yield "repeats", contents(b"\x81A" * 1_000_000 + b"\x80", "/Filter /RunLengthDecode"), None
    yield "arrays", pdf(lead + "[" * 1_000_000 + "]" * 1_000_000 + " >>"), None
    yield "dictionaries", pdf(lead + "<< /X " * 300_000 + ">>" * 300_000 + " >>"), None
    yield "nested_states", contents(b"q " * 2_000_000 + SHOWN), None
    yield "many_texts", contents(b"BT /F1 9 Tf " + b"(ab) Tj T* " * 1_000_000 + b"ET"), None
    yield "form_of_itself", contents(b"/X Do", "", FONT, stream(b"/X Do", form.format(6))), None
    yield "forms_of_forms", contents(b"/X Do", "", FONT, *(stream(b"/X Do " * 10, form.format(at)) for at in range(7, 21)), stream(SHOWN)), None
    yield "length_of_itself", pdf(CATALOG, PAGES, PAGE, re.sub(rb"/Length \d+", b"/Length 4 0 R", stream(SHOWN), 1)), None
    yield "length_negative", pdf(CATALOG, PAGES, PAGE, stream(SHOWN).replace(b"/Length ", b"/Length -", 1)), None
    yield "wide_map", contents(SHOWN, "", mapped, stream(wide)), None
    yield "map_grows", contents(b"BT /F1 9 Tf (" + b"a" * 60_000 + b") Tj ET", "", mapped, stream(b"1 beginbfchar <61> <" + b"0041" * 10_000 + b"> endbfchar")), None
    yield "many_pages", pdf_of([[]] * 30_000), False
    yield "encrypted", pdf(trailer=secret), False
    yield "random", b"%PDF-1.7\n" + random.Random(39).randbytes(300_000), False
    yield "cut", good[:len(good) // 2], None
    yield "head", b"%PDF-1.4", False
    yield "empty", b"", False


def offices():
    plain, deep, call = docx(line()), 300_000, "&a11;"
    laughs = '<!DOCTYPE x [<!ENTITY a0 "haha">' + "".join(f'<!ENTITY a{at} "{f"&a{at - 1};" * 10}">' for at in range(1, 12)) + "]>"
    start, end, size = plain.index(b"PK\x01\x02"), plain.index(b"PK\x05\x06"), plain.rindex(b"PK\x01\x02") + 24
    yield "plain.docx", plain, True
    yield "inflates.docx", docx(line(), *[BLANKS] * 1024), None
    yield "inflates.xlsx", xlsx(cell("A1"), strings=[BLANKS] * 1024), None
    yield "inflates.odt", opened("text", *[BLANKS] * 1024), None
    yield "entities.docx", docx(line(call), head=laughs), None
    yield "entities.xlsx", xlsx(cell("A1", call), laughs), None
    yield "entities.odt", opened("text", f"<text:p>{call}</text:p>", head=laughs), None
    yield "long_entity.docx", docx(line("&a;" * 50_000), head=f'<!DOCTYPE x [<!ENTITY a "{"x" * 50_000}">]>'), None
    yield "outer_entity.docx", docx(line("&a;"), head='<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'), None
    yield "deep.docx", docx("<w:sdt><w:sdtContent>" * deep, line(), "</w:sdtContent></w:sdt>" * deep), None
    yield "deep.odt", opened("text", "<text:span>" * deep, "</text:span>" * deep), None
    yield "paragraphs.docx", docx("<w:p/>" * 1_000_000, line()), None
    yield "long_run.docx", docx(line("word " * 6_000_000)), None
    yield "dimension.xlsx", xlsx(cell("A1") + cell("XFD1048576"), dimension="A1:XFD1048576"), True
    yield "no_string.xlsx", xlsx('<row r="1"><c r="A1" t="s"><v>4294967295</v></c></row>'), False
    yield "repeated.ods", opened("spreadsheet", '<table:table table:name="S"><table:table-row table:number-rows-repeated="1048576"><table:table-cell '
                                 f'table:number-columns-repeated="16384"><text:p>{MARK}</text:p></table:table-cell></table:table-row></table:table>'), None
    yield "spaces.odt", opened("text", f'<text:p>{MARK}<text:s text:c="2147483647"/></text:p>'), None
    yield "unused_parts.docx", docx(line(), more={f"word/embeddings/{at}.xml": [BLANKS] * 64 for at in range(16)}), None
    yield "many_entries.docx", docx(line(), more={f"word/media/{number}": "" for number in range(60_000)}), None
    yield "leaves.docx", docx(line(), part="../../../../etc/passwd", more={"../../x": MARK}), False
    yield "size_lies.docx", plain[:size] + struct.pack("<I", 1) + plain[size + 4:], None
    yield "overlapping.docx", plain[:end] + plain[start:end] * 20_000 + b"PK\x05\x06" + struct.pack("<4H2IH", 0, 0, 60_003, 60_003, (end - start) * 20_001, start, 0), None
    yield "cut.docx", plain[:len(plain) * 2 // 3], False
    yield "no_document.docx", archive({"readme.txt": MARK}), None
    yield "encrypted.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + random.Random(93).randbytes(8000) + "EncryptedPackage".encode("utf-16-le"), False


def make(folder, places):
    """Writes them beside the documents of the corpus, spread over its folders `places`; names and what is expected."""
    outside, good, made = os.path.join(os.path.dirname(folder), "outside.pdf"), pdf_of([[MARK]]), {}
    put("/", outside, good)
    given = [(f"{name}.pdf", content, expected) for name, content, expected in pdfs()] + [*offices()] + [
        ("x.pdf", os.mkdir, False), ("y.pdf", os.mkfifo, False), ("z.pdf", lambda at: os.symlink(outside, at), False),
        ("nowhere.pdf", lambda at: os.symlink("missing.pdf", at), False), ("sparse.pdf", lambda at: (put("/", at, b"%PDF-1.7\n"), os.truncate(at, 3 << 30)), False),
        # Root reads it all the same.
        ("mode.pdf", lambda at: (put("/", at, good), os.chmod(at, 0)), None)]
    for number, (name, content, expected) in enumerate(given):
        name = os.path.join(places[number % len(places)], f"{number * 37 % 256:02x}-{name}")
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        content(os.path.join(folder, name)) if callable(content) else put(folder, name, content)
        made[name] = expected
    return made
