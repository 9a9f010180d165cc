"""What every Python client does with a fresh workspace: glob, grep, read, edit, and a bad call.

The file's bytes, and that no text holds the workspace's own path, are checked by `run`; here only
the answers are. Each text is printed, so that `run` can look at what a model would have seen.
"""

import re

TOOLS = ["edit", "glob", "grep", "ls", "read", "write"]


class ToolError(Exception):
    """The tool answered with an error; holds its text."""


async def flow(names, call):
    """`names` are the offered tools; `await call(tool, arguments)` returns text or raises ToolError."""
    assert sorted(names) == TOOLS, names

    async def shown(tool, **arguments):
        text = await call(tool, arguments)
        print(f"--- {tool} {arguments}\n{text}")
        return text

    found = await shown("glob", pattern="**/*.py")
    paths = re.findall(r"^\d+\. (.+)$", found, re.M)
    path = next(path for path in paths if path.endswith("config.py"))

    hits = await shown("grep", pattern="^RETRIES", path=path.rsplit("/", 1)[0])
    assert f"{path}:2: RETRIES = 3" in hits, hits

    text = await shown("read", path=path)
    assert "\n2\tRETRIES = 3" in text, text

    diff = await shown("edit", path=path, old_string="RETRIES = 3", new_string="RETRIES = 5")
    assert "-RETRIES = 3" in diff and "+RETRIES = 5" in diff, diff

    try:
        text = await call("read", {"path": "no/such/file.py"})
    except ToolError as error:
        print(f"--- refused\n{error}")
        assert "no such file" in str(error), error
    else:
        raise AssertionError(f"reading a missing file was no error: {text}")
