"""The Python SDK's client: `python_sdk.py MODE PROGRAM [ARGUMENT...]`, MODE as the SDK names it."""

import sys

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from flow import ToolError, flow


async def main(mode, program, *arguments):
    server = stdio_client(StdioServerParameters(command=program, args=list(arguments)))
    async with Client(server, mode=mode) as client:
        print(f"--- {client.server_info.name} {client.protocol_version}\n{client.instructions}")
        expected = "2025-11-25" if mode == "legacy" else "2026-07-28"
        assert client.protocol_version == expected, client.protocol_version
        assert client.instructions, "no instructions"
        listed = await client.list_tools()
        structured = "--structured-output" in arguments

        async def call(tool, arguments):
            result = await client.call_tool(tool, arguments)
            text = "\n".join(block.text for block in result.content if block.type == "text")
            if result.is_error:
                raise ToolError(text)
            # The SDK has checked it against the tool's output schema.
            assert (result.structured_content is not None) == structured, result.structured_content
            return text

        await flow([tool.name for tool in listed.tools], call)


anyio.run(main, *sys.argv[1:])
