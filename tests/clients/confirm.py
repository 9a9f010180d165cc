"""A person's answers through the Python SDK: `confirm.py MODE PROGRAM [ARGUMENT...] DIRECTORY`.

PROGRAM is started so that it asks before each change. The only answer that may change a file is the last one.
"""

import sys
from pathlib import Path

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import ElicitResult

ASKING = ["--confirm", "writes"]
YES = {"action": "accept", "content": {"confirm": True}}


async def main(mode, program, *arguments):
    file = Path(arguments[-1], "src", "config.py")
    before = file.read_bytes()
    asked = []
    answer = {}
    meanwhile = None

    async def person(context, params):
        asked.append(params)
        if meanwhile is not None:
            file.write_bytes(meanwhile)
        return ElicitResult(**answer)

    def client(**more):
        server = StdioServerParameters(command=program, args=[*ASKING, *arguments])
        return Client(stdio_client(server), mode=mode, **more)

    def edit(new):
        return {"path": "src/config.py", "old_string": "RETRIES = 3", "new_string": new}

    def refused(result, kind, words):
        text = result.content[0].text
        print(f"--- {kind}\n{text}")
        assert result.is_error and result.meta["rootbound/error"] == kind, result
        assert words in text, text
        assert file.read_bytes() == before, "the file was changed"

    async with client(elicitation_callback=person) as session:
        modern = session.protocol_version >= "2026-07-28"
        assert modern == (mode == "auto"), session.protocol_version
        await session.call_tool("read", {"path": "src/config.py"})
        assert asked == []
        for answer, words in [
            ({"action": "decline"}, "the user declined"),
            ({"action": "cancel"}, "the user dismissed"),
            ({"action": "accept", "content": {"confirm": False}}, "without confirming"),
            ({"action": "accept", "content": {"confirm": "true"}}, "without confirming"),
        ]:
            refused(await session.call_tool("edit", edit("RETRIES = 4")), "declined", words)
            message = asked.pop().message
            assert "-RETRIES = 3\n+RETRIES = 4\n" in message, message
        print(f"--- asked\n{message}")

        answer = YES
        # Another program changes the file while the person looks at the diff.
        untouched, before, meanwhile = before, before + b"# new", before + b"# new"
        words = "has changed since it was read" if modern else "changed while a person was asked"
        refused(await session.call_tool("edit", edit("RETRIES = 4")), "stale", words)
        file.write_bytes(untouched)
        before, meanwhile = untouched, None
        # What was refused has shown the change that is gone again.
        await session.call_tool("read", {"path": "src/config.py"})

        if modern:
            await tampered(session.session, edit, refused)

        result = await session.call_tool("edit", edit("RETRIES = 5"))
        assert not result.is_error, result
    assert file.read_bytes() == before.replace(b"RETRIES = 3", b"RETRIES = 5")
    before = file.read_bytes()

    async with client() as session:
        unable = edit("RETRIES = 6") | {"old_string": "RETRIES = 5"}
        await session.call_tool("read", {"path": "src/config.py"})
        refused(await session.call_tool("edit", unable), "declined", "does not support elicitation")


async def tampered(session, edit, refused):
    """The state that the client carries, changed or used for what was not shown."""

    async def ask(arguments):
        return await session.call_tool("edit", arguments, allow_input_required=True)

    async def reply(arguments, state):
        answers = {"confirm": ElicitResult(**YES)}
        return await session.call_tool("edit", arguments, input_responses=answers, request_state=state)

    shown = edit("RETRIES = 4")
    state = (await ask(shown)).request_state
    words = "belongs to another call"
    refused(await reply(edit("RETRIES = 99"), state), "declined", words)
    refused(await reply(shown, state[:-1] + ("A" if state[-1] != "A" else "B")), "declined", words)
    refused(await reply(shown, None), "declined", words)
    # The state of one file's change does not serve another file's.
    await session.call_tool("read", {"path": "README.md"})
    refused(await reply({**shown, "path": "README.md", "old_string": "Sample"}, state), "declined", words)


anyio.run(main, *sys.argv[1:])
