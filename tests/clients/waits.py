"""`wait` with the Python SDK 2: `waits.py MODE PROGRAM DIR`, MODE as the SDK names it.

A matching line ends a wait; one at its deadline and one that is cancelled leave the session as it was.
"""

import sys
import warnings

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


async def main(mode, program, directory):
    path = f"{directory}/src/config.py"
    with open(path, newline="") as file:
        before = file.read()

    def append(text):
        with open(path, "a", newline="") as file:
            file.write(text)

    async def wait(client, **arguments):
        result = await client.call_tool("wait", {"path": "src/config.py", **arguments})
        assert not result.is_error, result
        return result.content[0].text

    warnings.simplefilter("ignore")
    server = stdio_client(StdioServerParameters(command=program, args=["--allow", "watch", directory]))
    async with Client(server, mode=mode) as client:
        assert "wait" in [tool.name for tool in (await client.list_tools()).tools]
        texts = []

        async def first():
            # With `offset` it does not matter whether the lines are written before the call has begun.
            texts.append(await wait(client, pattern="# done", offset=before.count("\n"), timeout=30))

        async with anyio.create_task_group() as group:
            group.start_soon(first)
            await anyio.sleep(0.5)
            append("\n# not yet\n# done\n# later\n")
        assert "\t# not yet\n" in texts[0] and "\t# done\n(line " in texts[0] and "# later" not in texts[0], texts
        text = await wait(client, timeout=0)
        assert text.startswith("nothing new after "), text
        # The SDK sends the cancellation as the scope ends.
        with anyio.move_on_after(0.5) as scope:
            await wait(client, pattern="never", timeout=30)
        assert scope.cancelled_caught
        for _ in range(70):
            with anyio.move_on_after(0.01):
                await client.call_tool("wait", {"path": "src/config.py", "pattern": "never", "timeout": 30})
        await anyio.sleep(1)
        text = await wait(client, timeout=0)
        assert text.startswith("nothing new after "), text
    # As the other clients leave it.
    with open(path, "w", newline="") as file:
        file.write(before.replace("RETRIES = 3", "RETRIES = 5"))
    print(f"--- {mode}: one line, one deadline, 71 cancelled waits")


anyio.run(main, *sys.argv[1:])
