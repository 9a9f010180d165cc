"""Subscriptions with the Python SDKs: `subscriptions.py SDK PROGRAM DIR`.

SDK is `v1` (mcp 1.x), or `auto` or `legacy` (mcp 2.x, as the SDK names its modes).

A file is changed from outside and by `edit`; exactly the updates arrive. Then 10,000 changes coalesce.
"""

import os
import sys
import warnings

import anyio
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from pydantic import AnyUrl

FILE = "file:///src/config.py"


def resident(program):
    """Bytes of the server's resident memory, where the system says them."""
    for process in filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc") else []):
        try:
            if os.readlink(f"/proc/{process}/exe") == os.path.realpath(program):
                with open(f"/proc/{process}/statm") as file:
                    return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:
            pass
    return 0


async def main(mode, program, directory):
    updates = []
    path = f"{directory}/src/config.py"
    with open(path, newline="") as file:
        before = file.read()

    def write(text):
        # In one step: a file that is emptied and then written may be two updates on a busy machine.
        with open(f"{path}.new", "w", newline="") as file:
            file.write(text)
        os.replace(f"{path}.new", path)

    async def settled(expected):
        with anyio.move_on_after(20):
            while len(updates) < len(expected):
                await anyio.sleep(0.01)
        await anyio.sleep(1.2)
        assert updates == expected, (updates, expected)
        updates.clear()

    async def flow(client, root):
        await settled([])
        write(before + "# outside")
        await settled([FILE])
        write(before + "# outside")
        await client.read_resource(uri(FILE))
        await settled([])
        await client.call_tool("read", {"path": "src/config.py"})
        result = await client.call_tool("edit", {"path": "src/config.py", "old_string": "# outside", "new_string": "# edited"})
        assert not (result.isError if mode == "v1" else result.is_error), result
        await settled([FILE])
        await root()
        start = resident(program)
        for number in range(10_000):
            write(before + f"# {number}")
        write(before)
        with anyio.move_on_after(20):
            while not updates:
                await anyio.sleep(0.01)
        await anyio.sleep(1.2)
        counts = {uri: updates.count(uri) for uri in set(updates)}
        print(f"--- 10,000 changes were {counts} updates; {(resident(program) - start) / 1024:.0f} KiB more memory")
        assert set(counts) == {FILE, "file:///"} and len(updates) < 1000, counts
        # As the other clients leave it.
        write(before.replace("RETRIES = 3", "RETRIES = 5"))

    def uri(text):
        return AnyUrl(text) if mode == "v1" else text

    def heard(message):
        method = getattr(message, "method", None) or getattr(getattr(message, "root", None), "method", None)
        if method == "notifications/resources/updated":
            updates.append(str(getattr(message, "root", message).params.uri))

    async def on_message(message):
        heard(message)

    warnings.simplefilter("ignore")
    server = stdio_client(StdioServerParameters(command=program, args=[directory]))

    async def subscribed(client):
        await client.subscribe_resource(uri(FILE))

        async def root():
            await client.subscribe_resource(uri("file:///"))

        await flow(client, root)
        await client.unsubscribe_resource(uri(FILE))

    if mode == "v1":
        from mcp import ClientSession

        async with server as streams, ClientSession(*streams, message_handler=on_message) as session:
            await session.initialize()
            await subscribed(session)
        return
    from mcp import Client

    if mode == "legacy":
        async with Client(server, mode=mode, message_handler=on_message) as client:
            await subscribed(client)
        return
    async with Client(server, mode=mode) as client, anyio.create_task_group() as group:

        async def follow(uris, *, task_status):
            async with client.listen(resource_subscriptions=uris) as subscription:
                task_status.started()
                async for event in subscription:
                    updates.append(str(event.uri))

        await group.start(follow, [FILE])

        async def root():
            await group.start(follow, ["file:///"])

        await flow(client, root)
        group.cancel_scope.cancel()


anyio.run(main, *sys.argv[1:])
