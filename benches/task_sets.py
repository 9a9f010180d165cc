#!/usr/bin/env python3
"""Two sets of tasks for a model: benches/task_sets.py make SET FOLDER · check SET FOLDER ANSWERS

SET is c_repository (eleven tasks on the sources of GNU bc with files of other kinds beside them) or office (ten tasks in a
folder with invoices, contracts, decks, notes and scans). `make` writes the folder and prints the questions; a model gets one after the other.
`check` compares the folder with what all tasks together make of it, to the byte but for texts that are free, and the
answers, a JSON list of texts, with what they must hold. A task of benches/task_sets/SET.json has `answer` (patterns of what
is said), `exactly` (all matches of a pattern, in lower case), `replace`, `move`, `moved` (by prefix) and `free` (patterns of what a file holds).
"""
import json
import os
import re
import sys
import tempfile

from task_sets.folders import SETS, tasks

CACHE = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "target")), "task_sets")


def tree(top):
    """Each file with its bytes."""
    found = {}
    for at, _, names in os.walk(top):
        for name in names:
            with open(os.path.join(at, name), "rb") as file:
                found[os.path.relpath(os.path.join(at, name), top)] = file.read()
    return found


def expected(name, listed):
    with tempfile.TemporaryDirectory() as work:
        SETS[name](work, CACHE)
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


def wrong_in(name, top, answers):
    """What is wrong, a line each."""
    listed, found, free = tasks(name), tree(top), {}
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
    if sys.argv[1:2] == ["make"] and len(sys.argv) == 4:
        SETS[sys.argv[2]](sys.argv[3], CACHE)
        for number, task in enumerate(tasks(sys.argv[2]), 1):
            print(f"{number}. {task['question']}")
        return
    if sys.argv[1:2] != ["check"] or len(sys.argv) != 5:
        sys.exit(__doc__)
    with open(sys.argv[4], encoding="utf-8") as file:
        wrong = list(wrong_in(sys.argv[2], sys.argv[3], json.load(file)))
    print("\n".join(wrong) or "all tasks are done")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
