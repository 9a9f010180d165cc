#!/usr/bin/env python3
"""Records docs/session.svg, the picture in the README: docs/session.py [PROGRAM]

Runs the commands on a small sample project and draws what they print. Needs the package rich (pip install rich).
"""

import os
import re
import subprocess
import sys
import tempfile

from rich.console import Console
from rich.text import Text

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
APP = """import os


def load(path):
    with open(path) as f:
        return f.read()


def main():
    print(load(os.environ['CONFIG']))
"""
COMMANDS = [
    ("grep pattern='load\\('", ["grep", r"pattern=load\("]),
    ("edit path=app.py old_string='f.read()' new_string='f.read().strip()'",
     ["edit", "path=app.py", "old_string=f.read()", "new_string=f.read().strip()"]),
    ("read path=../../etc/passwd", ["read", "path=../../etc/passwd"]),
    ("read path=ap.py", ["read", "path=ap.py"]),
]


def main():
    program = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(TOP, "target/release/rootbound"))
    console = Console(record=True, width=92, file=open(os.devnull, "w"), color_system="truecolor", force_terminal=True)
    with tempfile.TemporaryDirectory() as folder:
        project = os.path.join(folder, "app")
        os.mkdir(project)
        with open(os.path.join(project, "app.py"), "w") as file:
            file.write(APP)
        for shown, words in COMMANDS:
            console.print(Text.assemble(("$ ", "bold green"), ("rootbound call " + shown, "bold")))
            done = subprocess.run([program, "call", *words], cwd=project, capture_output=True, text=True,
                                  env={"HOME": folder, "PATH": os.environ["PATH"], "ROOTBOUND_LOG": "off"})
            for line in (done.stdout + done.stderr).rstrip().split("\n"):
                style = "red" if line.startswith("-") and not line.startswith("---") else \
                    "green" if line.startswith("+") and not line.startswith("+++") else \
                    "yellow" if line.startswith("hint:") else ""
                console.print(Text(line, style))
            console.print()
    svg = console.export_svg(title="rootbound")
    # A picture in a README must not fetch a font.
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL).replace("Fira Code", "monospace")
    with open(os.path.join(TOP, "docs", "session.svg"), "w", encoding="utf-8") as file:
        file.write(re.sub(r"[ \t]+$", "", svg, flags=re.MULTILINE))


if __name__ == "__main__":
    main()
