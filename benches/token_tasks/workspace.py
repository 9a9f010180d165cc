"""The files that the tasks work on, the same on every machine and in every run."""
import io
import os
import struct
import zipfile
import zlib

# The parts of the project: a package and the nouns that its modules are about.
PACKAGES = {
    "billing": ("invoice", "payment", "refund", "discount", "ledger", "rates"),
    "orders": ("basket", "order", "returns", "delivery", "voucher", "checkout"),
    "catalog": ("product", "category", "price", "stock", "review", "supplier"),
    "accounts": ("customer", "address", "login", "consent", "wishlist", "segment"),
    "shipping": ("parcel", "carrier", "label", "tracking", "customs", "depot"),
}
FIELDS = ("amount", "currency", "status", "created_at", "reference", "owner_id", "quantity", "note", "weight", "region")

# What modules consist of, as ordinary application code does.
FUNCTIONS = (
    '''def load_{noun}({noun}_id: int, connection: Connection) -> {Noun} | None:
    """Returns the {noun} with this id, or None where there is none."""
    row = connection.execute(
        "select id, {a}, {b}, {c} from {noun}s where id = ?", ({noun}_id,)
    ).fetchone()
    if row is None:
        logger.debug("no {noun} %s", {noun}_id)
        return None
    return {Noun}(id=row[0], {a}=row[1], {b}=row[2], {c}=row[3])
''',
    '''def list_{noun}s(connection: Connection, *, {b}: str | None = None, limit: int = 50) -> list[{Noun}]:
    """The newest {noun}s first, optionally only those with this {b}."""
    query = "select id, {a}, {b}, {c} from {noun}s"
    values: list[object] = []
    if {b} is not None:
        query += " where {b} = ?"
        values.append({b})
    query += " order by id desc limit ?"
    values.append(min(limit, MAX_{NOUN}S))
    return [{Noun}(*row) for row in connection.execute(query, values)]
''',
    '''def validate_{noun}({noun}: {Noun}) -> list[str]:
    """Every reason why this {noun} cannot be stored; empty if there is none."""
    problems = []
    if not {noun}.{a}:
        problems.append("{noun}: {a} is missing")
    if {noun}.{b} is not None and len(str({noun}.{b})) > 80:
        problems.append(f"{noun}: {b} is longer than 80 characters: {{{noun}.{b}!r}}")
    for name in ("{a}", "{c}"):
        value = getattr({noun}, name)
        if isinstance(value, (int, float)) and value < 0:
            problems.append(f"{noun}: {{name}} is negative: {{value}}")
    return problems
''',
    '''def store_{noun}({noun}: {Noun}, connection: Connection) -> int:
    """Inserts or updates the {noun}; returns its id."""
    problems = validate_{noun}({noun})
    if problems:
        raise ValueError("; ".join(problems))
    if {noun}.id is None:
        cursor = connection.execute(
            "insert into {noun}s ({a}, {b}, {c}) values (?, ?, ?)",
            ({noun}.{a}, {noun}.{b}, {noun}.{c}),
        )
        publish("{noun}.created", {{"id": cursor.lastrowid}})
        return cursor.lastrowid
    connection.execute(
        "update {noun}s set {a} = ?, {b} = ?, {c} = ? where id = ?",
        ({noun}.{a}, {noun}.{b}, {noun}.{c}, {noun}.id),
    )
    publish("{noun}.updated", {{"id": {noun}.id}})
    return {noun}.id
''',
    '''def summarize_{noun}s({noun}s: Iterable[{Noun}]) -> dict[str, int]:
    """How many {noun}s there are for each {b}."""
    counts: dict[str, int] = defaultdict(int)
    for {noun} in {noun}s:
        key = str({noun}.{b} or "unknown").lower()
        counts[key] += 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
''',
    '''def archive_{noun}s(before: date, connection: Connection, *, dry_run: bool = False) -> int:
    """Moves {noun}s that are older than this day to the archive; returns how many."""
    rows = connection.execute(
        "select id from {noun}s where created_at < ? and archived = 0", (before.isoformat(),)
    ).fetchall()
    if dry_run or not rows:
        return len(rows)
    for start in range(0, len(rows), BATCH):
        batch = [row[0] for row in rows[start : start + BATCH]]
        marks = ", ".join("?" for _ in batch)
        connection.execute(f"update {noun}s set archived = 1 where id in ({{marks}})", batch)
        logger.info("archived %d {noun}s", len(batch))
    return len(rows)
''',
)

HEAD = '''# Copyright 2026 The Shop Authors
# SPDX-License-Identifier: Apache-2.0
"""{Noun}s of the shop: loading, checking, storing and archiving."""
from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from sqlite3 import Connection

from shop.events import publish

logger = logging.getLogger(__name__)

BATCH = 500
MAX_{NOUN}S = {limit}


@dataclass
class {Noun}:
    """One {noun} as the database holds it."""

    id: int | None
    {a}: str | None
    {b}: str | None
    {c}: int
'''

# Where convert_currency is called: nine files, ten calls.
CALLERS = ("billing/invoice", "billing/payment", "billing/refund", "orders/basket", "orders/checkout",
           "catalog/price", "shipping/customs", "accounts/segment")
CALL = '''

def {noun}_total({noun}s: Iterable[{Noun}], currency: str) -> int:
    """The sum of all {noun}s, in the smallest unit of `currency`."""
    return sum(convert_currency({noun}.{c}, "EUR", currency) for {noun} in {noun}s)
'''
RATES = '''

def convert_currency(amount: int, source: str, target: str) -> int:
    """Converts an amount in the smallest unit of `source` into that of `target`."""
    if source == target:
        return amount
    rate = RATES[target] / RATES[source]
    converted = Decimal(amount) * Decimal(str(rate))
    return int(converted.quantize(Decimal("1"), rounding=ROUND_HALF_EVEN))


def convert_all(amounts: Iterable[tuple[int, str]], target: str) -> int:
    """The sum of amounts in several currencies."""
    return sum(convert_currency(amount, source, target) for amount, source in amounts)
'''
# Modules that lack the two lines with the licence.
UNLICENSED = ("orders/voucher", "catalog/review", "shipping/depot")


def put(top, name, content):
    """Writes a file with its folders; text as UTF-8."""
    path = os.path.join(top, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)


def names(noun, number):
    fields = [FIELDS[(number + step) % len(FIELDS)] for step in (0, 3, 6)]
    return {"noun": noun, "Noun": noun.capitalize(), "NOUN": noun.upper(), "limit": 100 + 25 * (number % 9),
            "a": fields[0], "b": fields[1], "c": fields[2]}


def module(package, noun, number):
    words = names(noun, number)
    text = HEAD.format(**words)
    if f"{package}/{noun}" in UNLICENSED:
        text = text.split("\n", 2)[2]
    for step in range(len(FUNCTIONS)):
        text += "\n\n" + FUNCTIONS[(number + step) % len(FUNCTIONS)].format(**words)
    if f"{package}/{noun}" in CALLERS:
        text = text.replace("from shop.events", "from shop.billing.rates import convert_currency\nfrom shop.events", 1)
        text += CALL.format(**words)
    if noun == "rates":
        text = text.replace("BATCH = 500\n", 'BATCH = 500\nRATES = {"EUR": 1.0, "USD": 1.09, "GBP": 0.85, "JPY": 163.2}\n')
        text = text.replace("from sqlite3", "from decimal import ROUND_HALF_EVEN, Decimal\nfrom sqlite3", 1) + RATES
    return text


def engine():
    """A long module: the rules of forty discounts, then the function that applies them."""
    text = '"""The rules of discounts, and how an order is settled by them."""\nfrom __future__ import annotations\n'
    for number in range(60):
        text += f'''

def rule_{number:02}(order: Order, today: date) -> Discount | None:
    """Rule {number}: {5 + number % 20} % for orders of more than {(number + 3) * 10} euros."""
    if order.total < {(number + 3) * 1000}:
        return None
    if order.customer.since > today - timedelta(days={30 * (number % 12 + 1)}):
        return None
    excluded = {{"gift-card", "deposit", "sku-{number * 7:04}"}}
    items = [item for item in order.items if item.kind not in excluded]
    amount = sum(item.price * item.quantity for item in items) * {5 + number % 20} // 100
    return Discount(rule={number}, amount=amount, reason="more than {(number + 3) * 10} euros")
'''
        if number == 40:
            text += SETTLE
    return text


SETTLE = '''

def settle_order(order: Order, today: date, *, limit: int = 3) -> Settlement:
    """Applies the best discounts of all rules, at most `limit`, and never below the floor price.

    The rules are asked in the order of their numbers; of two equal discounts the first counts.
    """
    found: list[Discount] = []
    for rule in RULES:
        discount = rule(order, today)
        if discount is not None and discount.amount > 0:
            found.append(discount)
    found.sort(key=lambda discount: -discount.amount)
    chosen = found[:limit]
    total = order.total - sum(discount.amount for discount in chosen)
    floor = sum(item.floor_price * item.quantity for item in order.items)
    if total < floor:
        logger.info("order %s: %d is below the floor price %d", order.id, total, floor)
        total = floor
    for discount in chosen:
        audit("discount.applied", order=order.id, rule=discount.rule, amount=discount.amount)
    return Settlement(order=order.id, total=total, discounts=chosen)
'''


def project(top):
    """A web shop: 31 Python modules with tests, a frontend, documents, and what git and npm leave there."""
    number = 0
    for package, nouns in PACKAGES.items():
        put(top, f"shop/{package}/__init__.py", f'"""The package {package}."""\n')
        for noun in nouns:
            put(top, f"shop/{package}/{noun}.py", module(package, noun, number))
            put(top, f"tests/{package}/test_{noun}.py", test(package, noun))
            number += 1
    put(top, "shop/__init__.py", '"""The shop."""\n__version__ = "4.2.0"\n')
    put(top, "shop/events.py", '"""Events."""\n\n\ndef publish(name: str, data: dict) -> None:\n    QUEUE.put((name, data))\n')
    put(top, "shop/billing/engine.py", engine())
    put(top, "shop/config.py", CONFIG)
    for name in ("architecture", "deployment", "payments", "testing"):
        put(top, f"docs/{name}.md", f"# {name.capitalize()}\n\n" + f"How the shop handles {name}.\n" * 20)
    for name in ("basket", "checkout", "login", "product", "search", "wishlist"):
        put(top, f"web/src/{name}.ts", TYPESCRIPT.replace("NAME", name))
    put(top, "web/package.json", '{"name": "shop-web", "version": "4.2.0", "private": true}\n')
    put(top, "pyproject.toml", '[project]\nname = "shop"\nversion = "4.2.0"\nrequires-python = ">=3.12"\n')
    put(top, "README.md", "# Shop\n\nA web shop.\n")
    put(top, "LICENSE", "Apache License\nVersion 2.0, January 2004\n")
    put(top, ".gitignore", "node_modules/\n*.log\n.venv/\n")
    for number in range(120):
        put(top, f"web/node_modules/lib-{number:03}/index.js", f"module.exports = {number};\n")
    put(top, ".git/HEAD", "ref: refs/heads/main\n")
    for number in range(60):
        put(top, f".git/objects/{number:02x}/{zlib.crc32(bytes([number])):08x}{number * 7919:030x}", b"\x00object")


def test(package, noun):
    return f'''# Copyright 2026 The Shop Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of {noun}."""
from shop.{package}.{noun} import list_{noun}s, load_{noun}


def test_missing_{noun}_is_none(connection):
    assert load_{noun}(999, connection) is None


def test_{noun}s_are_listed_newest_first(connection):
    found = list_{noun}s(connection, limit=2)
    assert [each.id for each in found] == [3, 2]
'''


CONFIG = '''# Copyright 2026 The Shop Authors
# SPDX-License-Identifier: Apache-2.0
"""Settings, each with its variable in the environment."""
import os

DATABASE = os.environ.get("SHOP_DATABASE", "shop.sqlite3")
RETRIES = int(os.environ.get("SHOP_RETRIES", "3"))
TIMEOUT = float(os.environ.get("SHOP_TIMEOUT", "2.5"))
PAGE_SIZE = 50
CURRENCY = "EUR"
FEATURES = {
    "wishlist": True,
    "reviews": True,
    "vouchers": False,
}
'''

TYPESCRIPT = '''import { api } from "./api";
import { render, type View } from "./view";

export interface NAMEState {
  loading: boolean;
  items: string[];
  error?: string;
}

export async function loadNAME(id: number): Promise<NAMEState> {
  const state: NAMEState = { loading: true, items: [] };
  try {
    const answer = await api.get(`/NAME/${id}`);
    state.items = answer.items.map((item: { name: string }) => item.name);
  } catch (error) {
    state.error = String(error);
  }
  state.loading = false;
  return state;
}

export function showNAME(view: View, state: NAMEState): void {
  render(view, state.error ? `<p class="error">${state.error}</p>` : state.items.join(", "));
}
'''


def log(lines=58_400):
    """A log of 5 MB with one line of level ERROR, and the number of that line."""
    text, at = [], lines * 5 // 8
    for number in range(lines):
        stamp = f"2026-11-22T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.{number * 37 % 1000:03}Z"
        if number == at:
            text.append(f"{stamp} ERROR worker-3 charge failed: card 4242 declined by issuer (order 88231, attempt 3)")
        else:
            text.append(f"{stamp} {('INFO ', 'DEBUG')[number % 3 == 0]} worker-{number % 7} handled request "
                        f"{zlib.crc32(str(number).encode()):08x} in {number * 13 % 97} ms, status {(200, 204, 304)[number % 3]}")
    return "\n".join(text) + "\n", at + 1


def minified():
    """A bundle of 300 KB on one line."""
    parts = [f'function f{n}(a,b){{var c=a.k{n % 91}||{{}};return c.v?g({n},b):h(c,"x{n:x}")}}' for n in range(4300)]
    parts.insert(3000, 'var settings={apiVersion:"2026-03-14",retryLimit:4};')
    return "".join(parts)


def one_line_json():
    """A JSON document of 2 MB on one line."""
    return "[" + ",".join(f'{{"id":{n},"name":"item {n}","tags":["t{n % 7}","t{n % 11}"],"price":{n * 13 % 997}}}'
                          for n in range(30_000)) + ',{"id":"last","checksum":"9f3c77d1"}]'


def png(width, height, noise):
    """A PNG: a window with coloured fields, or noise, which does not compress."""
    rows, state = [], 12345
    block = bytearray()
    if noise:
        while len(block) < width * 3 * 16:
            state = (state * 1103515245 + 12345) & 0x7FFFFFFF
            block += state.to_bytes(4, "little")[:3]
    for y in range(height):
        if noise:
            start = (y * 7919) % (len(block) - width * 3)
            row = bytes(value ^ (y * 31 + y // 16 * 7 & 255) for value in block[start:start + width * 3])
        else:
            row = b"".join(bytes((40 * (x // 64) % 256, 60 * (y // 48) % 256, 90)) * 64 for x in range(0, width, 64))[:width * 3]
        rows.append(b"\x00" + row)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(b"".join(rows), 1)) + chunk(b"IEND", b""))


def notebook():
    """Twelve cells with outputs, one of them a chart of 20 KB in base64."""
    import base64
    import json
    cells = []
    for n in range(12):
        if n % 3 == 0:
            cells.append({"cell_type": "markdown", "id": f"md{n:06}", "metadata": {},
                          "source": [f"## Step {n}\n", "\n", "What this step does with the sales of a month."]})
            continue
        source = [f"def step_{n}(frame):\n", f'    """Step {n}."""\n', f"    kept = frame[frame.amount > {n * 100}]\n",
                  "    return kept.groupby('region').amount.sum()\n", "\n", f"result_{n} = step_{n}(sales)\n", f"result_{n}"]
        outputs = [{"output_type": "execute_result", "execution_count": n, "metadata": {},
                    "data": {"text/plain": [f"region\n", *(f"north-{k}    {k * n * 17}\n" for k in range(8))],
                             "text/html": ["<table border=\"1\" class=\"dataframe\">\n",
                                           *(f"  <tr><td>north-{k}</td><td>{k * n * 17}</td></tr>\n" for k in range(8)),
                                           "</table>"]}}]
        if n == 7:
            noise = b"".join(struct.pack("<I", zlib.crc32(struct.pack("<I", k))) for k in range(3800))
            outputs.append({"output_type": "display_data", "metadata": {},
                            "data": {"image/png": base64.b64encode(noise).decode(), "text/plain": ["<Figure size 640x480>"]}})
        cells.append({"cell_type": "code", "id": f"code{n:04}", "metadata": {}, "execution_count": n,
                      "source": source, "outputs": outputs})
    document = {"cells": cells, "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                                             "language_info": {"name": "python", "version": "3.12.4"}},
                "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, indent=1) + "\n"


def pdf(pages=12):
    """A PDF with a paragraph of text on each page, its streams compressed."""
    return pdf_of([[f"Page {number} of the manual"] + [
        f"{number}.{line} Valve {number * 31 + line} opens at {number * 12 + line * 3} bar and closes below {number + line} bar."
        for line in range(1, 21)] for number in range(1, pages + 1)])


def pdf_of(pages, pack=True):
    """A PDF with these lines on its pages; without `pack` it is pure ASCII."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", None, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for lines in pages:
        shown = " ".join("(" + line.replace("(", r"\(").replace(")", r"\)") + ") Tj T*" for line in lines)
        content = f"BT /F1 11 Tf 14 TL 56 780 Td {shown} ET".encode("latin-1")
        kids.append(f"{len(objects) + 1} 0 R")
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
                       f"/Contents {len(objects) + 2} 0 R >>")
        objects.append(stream(zlib.compress(content), "/Filter /FlateDecode") if pack else stream(content))
    objects[1] = f"<< /Type /Pages /Count {len(pages)} /Kids [{' '.join(kids)}] >>"
    return pdf_file(objects, b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n" if pack else b"%PDF-1.5\n")


def stream(data, entries=""):
    return f"<< /Length {len(data)} {entries} >>\nstream\n".encode() + data + b"\nendstream"


def pdf_file(objects, out=b"%PDF-1.5\n", trailer=""):
    """The objects, numbered from 1, the first of them the catalog, with their table."""
    out, offsets = bytearray(out), []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n".encode() + (body if isinstance(body, bytes) else body.encode()) + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    for offset in offsets:
        out += f"{offset:010} 00000 n \n".encode()
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R {trailer}>>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)


RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def archive(parts, method=zipfile.ZIP_STORED):
    """A ZIP archive; a part is a text or its pieces."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for name, pieces in parts.items():
            info = zipfile.ZipInfo(name, (2026, 1, 2, 3, 4, 6))
            info.compress_type = method
            with made.open(info, "w") as part:
                for piece in (pieces,) if isinstance(pieces, str) else pieces:
                    part.write(piece.encode())
    return out.getvalue()


def office(parts, kinds, relations, method=zipfile.ZIP_STORED):
    """A ZIP archive with the parts of an Office document, their content types and their relations."""
    overrides = "".join(f'<Override PartName="/{name}" ContentType="application/vnd.openxmlformats-officedocument.{kind}+xml"/>'
                        for name, kind in kinds.items())
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType='
                               '"application/vnd.openxmlformats-package.relationships+xml"/>'
                               f'<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>',
        **{name: f'<Relationships xmlns="{PACKAGE}/relationships">' + "".join(
            f'<Relationship Id="rId{number}" Type="{RELATED}/{kind}" Target="{target}"/>'
            for number, (kind, target) in enumerate(targets, 1)) + "</Relationships>"
           for name, targets in relations.items()},
        **parts,
    }
    declared = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return archive({name: (declared, *((pieces,) if isinstance(pieces, str) else pieces)) for name, pieces in parts.items()}, method)


def docx(sections=30):
    """A contract in Word: sections of ten paragraphs, a reviewer's change in the seventh."""
    body = []
    for number in range(1, sections + 1):
        body.append(f'<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Article {number}</w:t></w:r></w:p>')
        for line in range(1, 11):
            text = f"{number}.{line} The supplier delivers part {number * 17 + line} within {number + line} days after the order."
            change = ""
            if (number, line) == (7, 4):
                change = ('<w:del w:id="1" w:author="Ada" w:date="2026-03-01T10:00:00Z"><w:r><w:delText xml:space="preserve"> '
                          'Delays are free.</w:delText></w:r></w:del><w:ins w:id="2" w:author="Ada" w:date="2026-03-01T10:00:00Z">'
                          '<w:r><w:t xml:space="preserve"> A delay costs 2 percent a week.</w:t></w:r></w:ins>')
            body.append(f'<w:p><w:r><w:t xml:space="preserve">{text}</w:t></w:r>{change}</w:p>')
    return docx_of(body)


def docx_of(body):
    """A Word document with these paragraphs, each as XML."""
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    return office(
        {"word/document.xml": f'<w:document xmlns:w="{word}"><w:body>{"".join(body)}</w:body></w:document>',
         "word/styles.xml": f'<w:styles xmlns:w="{word}"><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/>'
                            '<w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style></w:styles>'},
        {"word/document.xml": "wordprocessingml.document.main", "word/styles.xml": "wordprocessingml.styles"},
        {"_rels/.rels": [("officeDocument", "word/document.xml")],
         "word/_rels/document.xml.rels": [("styles", "styles.xml")]})


def xlsx(rows=2000):
    """Orders in Excel, 2,000 rows of five columns, and a sheet with their total."""
    def order(number):
        return (number, f"customer {number * 37 % 900}", f"part-{number * 11 % 500:03}", number % 9 + 1, number * 13 % 700 + 0.5)
    titles = ("order", "customer", "part", "pieces", "price")
    sum_of = (f"SUMPRODUCT(Orders!D2:D{rows},Orders!E2:E{rows})", 3512345.5)
    return xlsx_of({"Orders": [titles, *map(order, range(1, rows))], "Total": [("turnover", sum_of)]})


def xlsx_of(sheets):
    """A workbook; a cell is a text, a number, or a formula with its value."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"

    def cell(place, value):
        if isinstance(value, tuple):
            return f'<c r="{place}"><f>{value[0]}</f><v>{value[1]}</v></c>'
        if isinstance(value, str):
            return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
        return f'<c r="{place}"><v>{value}</v></c>'

    def sheet(rows):
        data = "".join(f'<row r="{row}">' + "".join(cell(f"{letter}{row}", value) for letter, value in zip("ABCDEFGH", values)) + "</row>"
                       for row, values in enumerate(rows, 1))
        return f'<worksheet xmlns="{main}"><sheetData>{data}</sheetData></worksheet>'
    numbers = list(enumerate(sheets, 1))
    listed = "".join(f'<sheet name="{name}" sheetId="{number}" r:id="rId{number}"/>' for number, name in numbers)
    return office(
        {"xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{RELATED}"><sheets>{listed}</sheets></workbook>',
         **{f"xl/worksheets/sheet{number}.xml": sheet(sheets[name]) for number, name in numbers}},
        {"xl/workbook.xml": "spreadsheetml.sheet.main",
         **{f"xl/worksheets/sheet{number}.xml": "spreadsheetml.worksheet" for number, _ in numbers}},
        {"_rels/.rels": [("officeDocument", "xl/workbook.xml")],
         "xl/_rels/workbook.xml.rels": [("worksheet", f"worksheets/sheet{number}.xml") for number, _ in numbers]})


def pptx(slides=24):
    """A presentation of 24 slides, each with a title, five lines and notes."""
    return pptx_of([(f"Region {number}", [f"Region {number} sold {number * 41 + line} units of product {line} in week {number + line}"
                                          for line in range(1, 6)], f"Say that the stock of region {number} lasts {number * 3} days.")
                    for number in range(1, slides + 1)])


def pptx_of(given):
    """A presentation; a slide is its title, its lines and what its notes say."""
    slides = len(given)
    names = ('xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
             f'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="{RELATED}"')

    def shape(kind, lines):
        paragraphs = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in lines)
        return (f'<p:sp><p:nvSpPr><p:cNvPr id="2" name="{kind}"/><p:cNvSpPr/><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>'
                f"<p:spPr/><p:txBody><a:bodyPr/>{paragraphs}</p:txBody></p:sp>")
    parts, kinds, relations = {}, {"ppt/presentation.xml": "presentationml.presentation.main"}, {
        "_rels/.rels": [("officeDocument", "ppt/presentation.xml")],
        "ppt/_rels/presentation.xml.rels": [("slide", f"slides/slide{number}.xml") for number in range(1, slides + 1)]}
    ids = "".join(f'<p:sldId id="{255 + number}" r:id="rId{number}"/>' for number in range(1, slides + 1))
    parts["ppt/presentation.xml"] = f"<p:presentation {names}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"
    for number, (title, text, notes) in enumerate(given, 1):
        for folder, name, root, shapes in (
                ("slides", f"slide{number}", "sld", shape("title", [title]) + shape("body", text)),
                ("notesSlides", f"notesSlide{number}", "notes", shape("body", [notes]))):
            parts[f"ppt/{folder}/{name}.xml"] = f"<p:{root} {names}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:{root}>"
            kinds[f"ppt/{folder}/{name}.xml"] = f"presentationml.{folder[:-1]}"
        relations[f"ppt/slides/_rels/slide{number}.xml.rels"] = [("notesSlide", f"../notesSlides/notesSlide{number}.xml")]
    return office(parts, kinds, relations)
