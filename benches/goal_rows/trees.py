"""The trees that are searched, and what is looked for in them."""
import os
import re
import shutil

from .servers import RG_OPTIONS, names, output


class Tree:
    """A directory, its files by `rg`, and queries for it: the same for the same files."""

    def __init__(self, path, rg):
        self.path, self.program = path, rg
        self.files = sorted(names(output([rg, *RG_OPTIONS, "--files", "."], path)))
        if not self.files:
            raise SystemExit(f"{path}: its ignore files hide every file; search a copy without those rules")
        self.word = self.rare_word()
        self.queries = {
            "rare literal": self.word,
            "no hit": "zzqqxxyyvv",
            "regex with literals": r"fn\s+block_on_\w+|struct\s+usb_device_id\s+\w+\[\]",
            "factored alternation": "(foo|bar|baz)_init",
            "optional part": f"{self.word[:5]}({self.word[5:8]})?{self.word[8:]}",
            "word boundary": rf"\b{self.word}\b",
            "three-byte literal": self.rarest("qzx", "zqj", "xqz", "qjx", "jqz", "vqx", "zxq"),
            "beyond ASCII, any case": self.rarest("müller", "größe", "é", "ß"),
        }

    def rg(self, *arguments):
        return output([self.program, *RG_OPTIONS, *arguments, "."], self.path)

    def output(self, command):
        return output(command, self.path)

    def having(self, pattern):
        """The files with a match, by `rg`."""
        return names(self.rg("-l", "-i", "-e", pattern))

    def rarest(self, *patterns):
        """The one that the fewest files have, but one at least."""
        counts = {pattern: len(self.having(pattern)) for pattern in patterns}
        return min(patterns, key=lambda pattern: counts[pattern] or 1 << 30)

    def rare_word(self):
        """A long word of one to five files."""
        for at in range(1, 40):
            name = self.files[len(self.files) * at // 40]
            with open(os.path.join(self.path, name), "rb") as file:
                found = set(re.findall(rb"\b[a-z]+_[a-z_]{10,20}\b", file.read(1 << 20)))
            for word in sorted(found, key=lambda word: (-len(word), word))[:2]:
                if 1 <= len(self.having(word.decode())) <= 5:
                    return word.decode()
        raise SystemExit(f"{self.path}: no rare word in its files")


def part_of(tree, target, many):
    """Copies whole folders, taken evenly from the tree, until there are so many files."""
    folders = {}
    for name in tree.files:
        folders.setdefault(os.path.dirname(name), []).append(name)
    every = [names for _, names in sorted(folders.items()) if len(names) <= 200]
    step = max(1, len(every) * 15 // many)
    copied = 0
    for first in range(step):
        for chosen in every[first::step]:
            for name in chosen[:many - copied]:
                to = os.path.join(target, name)
                os.makedirs(os.path.dirname(to), exist_ok=True)
                shutil.copy2(os.path.join(tree.path, name), to)
                copied += 1
            if copied == many:
                return


def wide(target, many):
    """A folder of many small files."""
    os.mkdir(target)
    for number in range(many):
        with open(os.path.join(target, f"file{number:06}"), "w", encoding="ascii") as file:
            file.write(f"small file {number}\n" + "some words of a text\n" * (number % 4))
