#!/usr/bin/env python3
"""What a rename in nine files costs a model: benches/rename_tokens.py

The task of benches/token_tasks ("a function renamed in nine files, 19 places"), reached with this server in three ways:
one call of `edit` for each file, one call whose entries name the files, and one call with a glob. Each starts with the
grep that finds the places, and each is checked on the disk. Counted as by benches/tokens.py: tokens (o200k) of what the
model sends and of the answers, apart and together, and calls. PROGRAM is the program; the default is the release one.
"""
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import tokens
from token_tasks.editing import RenameInNineFiles

OLD, NEW = "convert_currency", "to_currency"


def found(call):
    return list(dict.fromkeys(re.findall(r"shop/\S+?\.py", call("grep", pattern=OLD))))


def entry(**file):
    return {**file, "old_string": OLD, "new_string": NEW, "replace_all": True}


class OneCallEach(RenameInNineFiles):
    def rootbound(self, call):
        for name in found(call):
            call("edit", **entry(path=name))


class OneCallWithPaths(RenameInNineFiles):
    def rootbound(self, call):
        edits = [{"path": name, "old_string": OLD, "new_string": NEW} for name in found(call)]
        call("edit", replace_all=True, edits=edits)


class OneCallWithGlob(RenameInNineFiles):
    def rootbound(self, call):
        found(call)
        call("edit", edits=[entry(glob="**/*.py")])


class Asked(tokens.Count):
    """Keeps what was sent apart: `Session.call` counts the call first, then its answer."""

    def __init__(self):
        super().__init__()
        self.asked = 0

    def text(self, text):
        before = self.tokens
        super().text(text)
        if text.startswith('{"name":'):
            self.asked += self.tokens - before


def main():
    python = tokens.os.path.join(tokens.CACHE, "python")
    if not tokens.os.path.isdir(python):
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", python, tokens.TOKENIZER], check=True)
    sys.path.insert(0, python)
    Asked.tokens_of = staticmethod(tokens.tokenizer())
    tokens.Count = Asked
    print("| a function renamed in nine files, 19 places | calls | tokens sent | tokens of answers | together |\n|---|---:|---:|---:|---:|")
    for name, task in [("grep and one call for each file", OneCallEach), ("grep and one call with nine paths", OneCallWithPaths),
                       ("grep and one call with a glob", OneCallWithGlob)]:
        count = tokens.run(task(), "rootbound", "--answers" in sys.argv)
        if isinstance(count, str):
            sys.exit(f"{name}: {count}")
        print(f"| {name} | {count.calls} | {count.asked:,} | {count.tokens - count.asked:,} | {count.tokens:,} |")


if __name__ == "__main__":
    main()
