"""DeerFlow's five paths, with its own libraries: `deerflow.py PROGRAM`.

The arguments are those of the first JSON block of docs/clients.md under "DeerFlow". As DeerFlow does it, the tools are listed
by a server in the gateway's directory, and calls go to a server in the workspace of the thread, here a new one for each call
(its embedded client) or one for all (its gateway). Directories appear late; every text is what its model would see. The
interceptor of the page is loaded as DeerFlow loads it and called with the request that DeerFlow makes.
"""

import json
import os
import re
import shutil
import sys
import tempfile
import types
from pathlib import Path

import anyio
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.interceptors import MCPToolCallRequest
from langchain_mcp_adapters.tools import load_mcp_tools

from flow import TOOLS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "clients.md"
INHERITED = ["HOME", "PATH", "LOGNAME", "SHELL", "TERM", "USER"]
WORK, UP, OUT = (f"/mnt/user-data/{name}" for name in ("workspace", "uploads", "outputs"))
SKILLS, AGENT = "/mnt/skills", "/mnt/acp-workspace"


def blocks(language):
    section = PAGE.read_text(encoding="utf-8").split("\n## DeerFlow\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


class Thread:
    """The directories of a checkout of DeerFlow, and of one thread below it."""

    def __init__(self, program, arguments, *more):
        self.top = Path(tempfile.mkdtemp(prefix="deerflow-"))
        self.gateway = self.top / "backend"
        self.thread = self.gateway / ".deer-flow" / "users" / "default" / "threads" / "t1"
        self.workspace = self.thread / "user-data" / "workspace"
        self.workspace.mkdir(parents=True)
        env = {name: os.environ[name] for name in INHERITED if name in os.environ}
        self.server = {"transport": "stdio", "command": program, "args": [*arguments, *more], "env": env}

    def client(self, cwd):
        return MultiServerMCPClient({"files": {**self.server, "cwd": str(cwd)}})

    def host(self, path):
        for name, place in (
            (WORK, self.workspace),
            (UP, self.workspace.parent / "uploads"),
            (OUT, self.workspace.parent / "outputs"),
            (SKILLS, self.top / "skills"),
            (AGENT, self.thread / "acp-workspace"),
        ):
            if path.startswith(name):
                return place / path[len(name) + 1 :]
        raise ValueError(path)

    def put(self, path, text):
        self.host(path).parent.mkdir(parents=True, exist_ok=True)
        self.host(path).write_text(text, encoding="utf-8")

    async def call(self, tools, tool, **arguments):
        request = {"type": "tool_call", "id": "1", "name": tool, "args": arguments}
        message = await {tool.name: tool for tool in tools}[tool].ainvoke(request)
        content = message.content if isinstance(message.content, list) else [message.content]
        text = "\n".join(block if isinstance(block, str) else block["text"] for block in content)
        print(f"--- {tool} {arguments}\n{text}")
        assert str(self.top) not in text, "a text holds a path of the host"
        return text


async def five_paths(thread, tools):
    """Each directory is used from the moment it exists, with its right."""

    async def call(tool, **arguments):
        return await thread.call(tools, tool, **arguments)

    thread.put(f"{WORK}/src/config.py", "RETRIES = 3\n")
    roots = await call("ls")
    for path, right in ((UP, "read-write"), (OUT, "read-write"), (SKILLS, "read-only"), (AGENT, "read-only")):
        assert f"{path}/ ({right}, not there yet)" in roots, roots
        missing = await call("read", path=f"{path}/a.py")
        assert f"the directory {path} does not exist yet" in missing and len(missing) < 480, missing
    found = await call("grep", pattern="RETRIES")
    assert f"{WORK}/src/config.py:1: RETRIES = 3" in found and "not searched" in found, found

    files = [f"{UP}/data.py", f"{OUT}/out.py", f"{SKILLS}/public/demo/SKILL.md", f"{AGENT}/report.md"]
    for path in files:
        thread.put(path, "RETRIES = 3\n")
    files.append(f"{WORK}/src/config.py")
    listed = await call("glob", pattern="**/*")
    found = await call("grep", pattern="^RETRIES")
    assert "not searched" not in found, found
    for path in files:
        assert f". {path}\n" in f"{listed}\n" and f"{path}:1: RETRIES = 3" in found, path
        assert "1\tRETRIES = 3" in await call("read", path=path)
        # The form of the host, which DeerFlow's own messages may hold, means the same file.
        assert "1\tRETRIES = 3" in await call("read", path=str(thread.host(path)))
        edited = await call("edit", path=path, old_string="RETRIES = 3", new_string="RETRIES = 5")
        if path.startswith((SKILLS, AGENT)):
            assert "read-only" in edited and thread.host(path).read_text() == "RETRIES = 3\n", edited
        else:
            assert "+RETRIES = 5" in edited and thread.host(path).read_text() == "RETRIES = 5\n", edited
    shutil.rmtree(thread.host(AGENT))
    assert "does not exist yet" in await call("read", path=f"{AGENT}/report.md")
    thread.put(f"{AGENT}/report.md", "again\n")
    assert "1\tagain" in await call("read", path=f"{AGENT}/report.md")


async def main(program):
    entry = next(iter(json.loads(blocks("json")[0])["mcpServers"].values()))
    # What is before the first option starts the program: uvx or npx, and its package.
    arguments = entry["args"][entry["args"].index("--root") :]

    for how in ("per call", "session"):
        thread = Thread(program, arguments)
        for gateway in (thread.gateway, Path("/"), Path(os.environ["HOME"])):
            tools = await thread.client(gateway).get_tools()
            assert sorted(tool.name for tool in tools) == TOOLS, f"{gateway}: {tools}"
        client = thread.client(thread.workspace)
        if how == "per call":
            await five_paths(thread, await client.get_tools())
        else:
            async with client.session("files") as session:
                await five_paths(thread, await load_mcp_tools(session))
        shutil.rmtree(thread.top)

    await split(program, arguments)
    await interceptor(program, arguments)
    await presented(program, arguments)


async def split(program, arguments):
    """One entry reads, another writes: what the first has read the second may change."""
    reader = Thread(program, arguments, "--read-only")
    writer = Thread(program, arguments, "--tools", "write,edit")
    writer.workspace = reader.workspace
    reader.put(f"{WORK}/a.py", "RETRIES = 3\n")
    reading = await reader.client(reader.workspace).get_tools()
    writing = await writer.client(reader.workspace).get_tools()
    assert sorted(tool.name for tool in reading) == ["glob", "grep", "ls", "read"], reading
    assert sorted(tool.name for tool in writing) == ["edit", "write"], writing
    change = {"path": f"{WORK}/a.py", "old_string": "RETRIES = 3", "new_string": "RETRIES = 5"}
    # A new file of the same content is not one that was read.
    assert "+RETRIES = 5" not in await reader.call(writing, "edit", **change)
    await reader.call(reading, "read", path=f"{WORK}/a.py")
    assert "+RETRIES = 5" in await reader.call(writing, "edit", **change)
    for thread in (reader, writer):
        shutil.rmtree(thread.top)


async def interceptor(program, arguments):
    """The audit file names the thread and the user that DeerFlow's interceptor puts into each call."""
    module = {}
    exec(blocks("python")[0], module)
    folder = Path(tempfile.mkdtemp(prefix="deerflow-audit-"))
    thread = Thread(program, arguments, "--audit", str(folder / "calls.jsonl"))
    thread.put(f"{WORK}/a.py", "1\n")
    runtime = types.SimpleNamespace(context={"thread_id": "t1", "user_id": "default"}, config={}, state={})
    async with thread.client(thread.workspace).session("files") as session:

        async def handler(request):
            # `base_handler` of deerflow/mcp/tools.py: headers become `_meta.headers` of the call.
            return await session.call_tool(request.name, request.args, meta={"headers": dict(request.headers)})

        request = MCPToolCallRequest(name="read", args={"path": "a.py"}, server_name="files", runtime=runtime)
        await module["build"]()(request, handler)
    line = json.loads((folder / "calls.jsonl").read_text().splitlines()[-1])
    assert (line["thread"], line["user"]) == ("t1", "default"), line
    for place in (thread.top, folder):
        shutil.rmtree(place)


async def presented(program, arguments):
    """Files of `present` become DeerFlow's artifacts, as the Command of its own `present_files` does."""
    module = {}
    exec(blocks("python")[0], module)
    thread = Thread(program, arguments, "--allow", "present")
    for path in (f"{OUT}/my report.md", f"{WORK}/a.py"):
        thread.put(path, "1\n")
    runtime = types.SimpleNamespace(context={"thread_id": "t1"}, config={}, state={}, tool_call_id="call-1")
    async with thread.client(thread.workspace).session("files") as session:

        async def handler(request):
            return await session.call_tool(request.name, request.args)

        async def present(*paths):
            request = MCPToolCallRequest("present", {"paths": list(paths)}, "files", runtime=runtime)
            return await module["build"]()(request, handler)

        update = (await present(f"{OUT}/my report.md", f"{WORK}/a.py")).update
        assert update["artifacts"] == [f"{OUT}/my report.md"], update
        (message,) = update["messages"]
        assert message.tool_call_id == "call-1" and f"Presented 2 files: {OUT}/my report.md" in message.content, message
        assert f"not shown to the person: {WORK}/a.py" in message.content, message
        assert (await present(f"{OUT}/gone.md")).isError
    shutil.rmtree(thread.top)


anyio.run(main, sys.argv[1])
