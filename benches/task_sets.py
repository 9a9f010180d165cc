#!/usr/bin/env python3
"""Two sets of tasks for a model: benches/task_sets.py SET FOLDER [ANSWERS]

SET is c_repository (eleven tasks on the sources of GNU bc with files of other kinds beside them) or office (ten tasks in a
folder with invoices, contracts, decks, notes and scans). Without ANSWERS the folder is written and the questions are printed; a model
gets one after the other. With ANSWERS, a JSON list of texts, they are checked, and the folder is compared with what all tasks together
make of it, to the byte but for texts that are free. A task of benches/task_sets/SET.json has `answer` (patterns of what is said),
`exactly` (all matches of a pattern, in any case), `replace`, `move`, `moved` (by prefix) and `free` (patterns of what a file holds).
"""
import json
import os
import re
import sys
import tarfile
import tempfile

from documents import corpus
from token_tasks import workspace as files

TOP = os.path.dirname(os.path.abspath(__file__))
CACHE = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(TOP, "..", "target")), "task_sets")
LIMITS = {
    "eu.json": '{\n    "region": "eu",\n    "retries": 3,\n    "timeout": 2.50,\n    "hosts": ["eu1", "eu2"]\n}\n',
    "us.json": '{\n\t"region": "us",\n\t"hosts": [\n\t\t"us1"\n\t],\n\t"retries": 3,\n\t"timeout": 1e1\n}',
    "jp.json": '{\r\n  "region" : "jp",\r\n  "note" : "\\u6771\\u4eac",\r\n  "retries" : 3\r\n}\r\n',
    "br.json": '{"region":"br","hosts":["br1","br2"],"retries":3,"label":"S\u00e3o Paulo"}\n',
}
THANKS = """Danksagung

Für Geduld und Prüfung danken wir Jürgen Müller (München) und Zoë Günther.
Die Übersetzung ist von Änne Weiß, Tel. 089 / 23 17-0.
Schlußbemerkung: größere Änderungen bitte an Jürgen Müller.
"""


def c_repository(top):
    """The sources of GNU bc, and beside them files of other kinds."""
    kept = os.path.join(CACHE, "bc.tar")
    if not os.path.exists(kept):
        os.makedirs(CACHE, exist_ok=True)
        with tempfile.TemporaryDirectory() as work:
            os.replace(corpus.archive("deb-src", "bc", "1.07.1-3", work), kept)
    with tarfile.open(kept) as archive:
        for member in archive:
            if member.isfile():
                files.put(top, member.name.split("/", 1)[1], archive.extractfile(member).read())
    for name, text in LIMITS.items():
        files.put(top, f"service/limits/{name}", text)
    files.put(top, "doc/thanks-de.txt", THANKS.encode("latin-1"))
    files.put(top, "service/server.log", files.log(47_000)[0])
    files.put(top, "doc/valves.pdf", files.pdf())
    files.put(top, "service/sales.ipynb", files.notebook())


CUSTOMERS = ("Kessler GmbH", "Nordlys AS", "Brandt Logistics", "Atelier Roux", "Quinta Verde", "Holm & Sons")
# In cents; the total after the discount decides: two are 1,500.00 and 1,499.99.
AMOUNTS = (89900, 173450, 42000, 150000, 221005, 118040, 149999, 61250, 305575, 97600, 133310, 150001,
           20825, 144400, 188888, 76000, 162000, 50950, 121212, 99000, 410000, 139000, 88000, 147725)
DISCOUNTS = {17: 15000, 21: 264000}


def money(cents):
    return f"{cents // 100:,}.{cents % 100:02}"


def invoice(at):
    discount = DISCOUNTS.get(at + 1, 0)
    lines = [f"Invoice R-2026{101 + at}", f"Customer: {CUSTOMERS[at % len(CUSTOMERS)]}", f"Date: 2026-{at // 3 + 1:02}-{at * 5 % 27 + 1:02}", "",
             f"Consulting, {at % 7 + 2} days {money(AMOUNTS[at])}", f"Subtotal {money(AMOUNTS[at])} EUR"]
    lines += [f"Discount -{money(discount)} EUR"] if discount else []
    return files.pdf_of([[*lines, f"Total due {money(AMOUNTS[at] - discount)} EUR", "Payable within 30 days."]], pack=at % 3 > 0)


def contract(party, notice, end, number):
    texts = ["Services agreement", f"This agreement is between Lindgren Studio and {party}.", "Term",
             f"The agreement ends on {end}.", "Termination", f"Either party may end it with a notice period of {notice}.",
             "Liability", *[f"{number}.{line} Neither party is liable for item {line * number} of annex {line}." for line in range(1, 30)]]
    heads = {"Services agreement", "Term", "Termination", "Liability"}
    return files.docx_of([f'<w:p>{"<w:pPr><w:pStyle w:val=%sHeading1%s/></w:pPr>" % (chr(34), chr(34)) if text in heads else ""}'
                          f"<w:r><w:t>{text}</w:t></w:r></w:p>" for text in texts])


def office(top):
    """Invoices, contracts, decks, notes, a budget and scans."""
    for at in range(24):
        files.put(top, f"invoices/R-2026{101 + at}.pdf", invoice(at))
    for number, (party, notice, end) in enumerate((("Nordlys AS", "three months", "2027-06-30"), ("Brandt Logistics", "six months", "2028-12-31"),
                                                   ("Atelier Roux", "30 days", "2025-09-30"), ("Quinta Verde", "three months", "2025-12-31"),
                                                   ("Holm and Sons", "one month", "2026-12-31")), 1):
        files.put(top, f"contracts/{party.lower().replace(' ', '-')}.docx", contract(party, notice, end, number))
    for name, places in (("spring", ("Oslo", "Porto")), ("autumn", ("Graz", "Lisbon")), ("review", ("Turin", "Ghent"))):
        files.put(top, f"decks/{name}.pptx", files.pptx_of([
            (f"{name.capitalize()} {number}", [f"Topic {number * 3 + line} of the {name} plan" for line in range(4)]
             + ([f"{places[number // 9]} fair: stand {number * 7}, 4 to 6 {('May', 'October')[number // 9]}"] if number in (4, 9) else []),
             "Ask Mr Brandt for the prices." if (name, number) == ("review", 6) else f"Two minutes for slide {number}.") for number in range(1, 15)]))
    rows = [("item", "Q1", "Q2", "Q3", "Q4"), ("travel", 4100, 3900, 5250, 2800), ("rent", 9000, 9000, 9000, 9300), ("software", 1200, 1250, 1250, 1400)]
    rows.append(("total", *((f"SUM({letter}2:{letter}4)", sum(row[at] for row in rows[1:])) for at, letter in enumerate("BCDE", 1))))
    files.put(top, "budget.xlsx", files.xlsx_of({"2026": rows, "Notes": [("Travel includes fairs.",)]}))
    for month in range(1, 7):
        text = f"# Notes of 2026-{month:02}\n\n" + "".join(f"- point {month * 10 + line}: discussed with {CUSTOMERS[(month + line) % 6]}\n" for line in range(12))
        files.put(top, f"notes/2026-{month:02}.md", text + ("- switchboard of the bank: 030 555 0177\n" if month in (1, 3, 4, 6) else ""))
    for number in range(1, 31):
        files.put(top, f"scans/scan_2026-{10 if number <= 18 else 11}-{number:02}.pdf", files.pdf_of([[]]) + f"% {number}\n".encode())


SETS = {"c_repository": c_repository, "office": office}


def tree(top):
    """Each file with its bytes."""
    found = {}
    for at, _, names in os.walk(top):
        for name in names:
            with open(os.path.join(at, name), "rb") as file:
                found[os.path.relpath(os.path.join(at, name), top)] = file.read()
    return found


def expected(name, listed):
    """Each file as all tasks leave it, but for texts that are free."""
    with tempfile.TemporaryDirectory() as work:
        SETS[name](work)
        wanted = tree(work)
    for task in listed:
        for path, old, new in task.get("replace", ()):
            old, new = (text.encode(task.get("encoding", "utf-8")) for text in (old, new))
            assert old in wanted[path], (path, old)
            wanted[path] = wanted[path].replace(old, new)
        moves = task.get("move", []) + [[path, path.replace(*task["moved"])] for path in wanted if "moved" in task and path.startswith(task["moved"][0])]
        for source, to in moves:
            wanted[to] = wanted.pop(source)
    return wanted


def wrong_in(name, listed, top, answers):
    """What is wrong, a line each."""
    found, free = tree(top), {}
    wanted = expected(name, listed)
    for number, task in enumerate(listed, 1):
        said = answers[number - 1] if number <= len(answers) else ""
        yield from (f"{number}: the answer lacks {each}" for each in task.get("answer", ()) if not re.search(each, said))
        if "exactly" in task:
            pattern, named = task["exactly"]
            matches = {match.lower() for match in re.findall(pattern, said)}
            if matches != {each.lower() for each in named}:
                yield f"{number}: the answer names {sorted(matches)}"
        free.update(task.get("free", {}))
        for path, patterns in task.get("free", {}).items():
            yield from (f"{number}: {path} lacks {each}" for each in patterns if not re.search(each, found.get(path, b"").decode("latin-1")))
    for path in sorted((wanted.keys() | found.keys()) - free.keys()):
        if wanted.get(path) != found.get(path):
            yield f"{path} " + ("is not there" if path not in found else "should not be there" if path not in wanted else "has other bytes")


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    name, top = sys.argv[1:3]
    with open(os.path.join(TOP, "task_sets", f"{name}.json"), encoding="utf-8") as file:
        listed = json.load(file)
    if len(sys.argv) == 3:
        SETS[name](top)
        print(*(f"{number}. {task['question']}" for number, task in enumerate(listed, 1)), sep="\n")
        return
    with open(sys.argv[3], encoding="utf-8") as file:
        wrong = list(wrong_in(name, listed, top, json.load(file)))
    print("\n".join(wrong) or "all tasks are done")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
