"""LangChain's MCP adapters, as DeerFlow uses them: `langchain_adapters.py HOW PROGRAM [ARGUMENT...]`.

HOW is `session` (one server for all calls) or `per-call` (a new server process for each call, with
the current directory and a bare environment, as DeerFlow's embedded client has it).
"""

import os
import re
import sys

import anyio
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools

from flow import ToolError, flow

INHERITED = ["HOME", "PATH", "LOGNAME", "SHELL", "TERM", "USER"]


async def main(how, program, *arguments):
    connection = {
        "transport": "stdio",
        "command": program,
        "args": list(arguments),
        "cwd": os.getcwd(),
        "env": {name: os.environ[name] for name in INHERITED if name in os.environ},
    }
    client = MultiServerMCPClient({"files": connection})
    if how == "session":
        async with client.session("files") as session:
            await drive(await load_mcp_tools(session))
    else:
        await drive(await client.get_tools())


async def drive(tools):
    by_name = {tool.name: tool for tool in tools}

    async def call(tool, arguments):
        request = {"type": "tool_call", "id": "1", "name": tool, "args": arguments}
        message = await by_name[tool].ainvoke(request)
        blocks = message.content if isinstance(message.content, list) else [message.content]
        text = "\n".join(block if isinstance(block, str) else block["text"] for block in blocks)
        if message.status == "error":
            raise ToolError(text)
        return text

    await flow(by_name.keys(), call)
    if "/mnt/user-data/workspace=." in sys.argv:
        await stays_in_the_conversation(call)


async def stays_in_the_conversation(call):
    """A large file arrives whole, in pages that DeerFlow leaves in the conversation once it has rewritten paths."""
    lines = [f"{number} src/config.py and src/nested/app.py, see README.md" for number in range(1, 2001)]
    with open("large.txt", "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    shown, offset = [], 0
    while offset < len(lines):
        page = await call("read", {"path": "large.txt", "offset": offset})
        rewritten = re.sub(r"(?<![\w./-])(src/[\w./]+\.py)", r"/mnt/user-data/workspace/\1", page)
        assert len(rewritten) <= 12_000, f"{len(rewritten)} characters"
        shown += re.findall(r"^\s*\d+\t(.*)$", page, re.MULTILINE)
        assert len(shown) > offset, page
        offset = len(shown)
    assert shown == lines, "the pages are not the file"
    os.remove("large.txt")


anyio.run(main, *sys.argv[1:])
