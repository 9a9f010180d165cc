"""A person mentions a file, through the Python SDK: `resources.py SDK PROGRAM [ARGUMENT...]`.

SDK is `v1` (mcp 1.x), or `auto` or `legacy` (mcp 2.x, as the SDK names its modes). The template of the root is listed, a
path is completed as it is typed, the file is read as a resource, and the model edits it without another read.
"""

import sys

import anyio
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client


class Version1:
    """A session of mcp 1.x under the names of mcp 2.x."""

    def __init__(self, session):
        self.session = session

    async def templates(self):
        return [template.uriTemplate for template in (await self.session.list_resource_templates()).resourceTemplates]

    async def resources(self):
        return [str(resource.uri) for resource in (await self.session.list_resources()).resources]

    async def complete(self, template, value):
        from mcp.types import ResourceTemplateReference

        reference = ResourceTemplateReference(type="ref/resource", uri=template)
        return (await self.session.complete(reference, {"name": "path", "value": value})).completion.values

    async def read(self, uri):
        from pydantic import AnyUrl

        return (await self.session.read_resource(AnyUrl(uri))).contents[0].text

    async def call(self, tool, arguments):
        result = await self.session.call_tool(tool, arguments)
        assert not result.isError, result
        return result.content[0].text


class Version2(Version1):
    async def templates(self):
        return [template.uri_template for template in (await self.session.list_resource_templates()).resource_templates]

    async def read(self, uri):
        return (await self.session.read_resource(uri)).contents[0].text

    async def resources(self):
        # What was listed before may be kept by the client: the server says for how long (ttlMs 0).
        return [str(resource.uri) for resource in (await self.session.list_resources()).resources]

    async def call(self, tool, arguments):
        result = await self.session.call_tool(tool, arguments)
        assert not result.is_error, result
        return result.content[0].text


async def mention(client):
    [template] = await client.templates()
    assert template.endswith("/{+path}"), template
    for typed in ("con", "conf", "@config", "src/con"):
        values = await client.complete(template, typed)
        print(f"--- {typed}: {values}")
        assert values[0] == "src/config.py", values
    uri = template.replace("{+path}", values[0])
    text = await client.read(uri)
    print(f"--- {uri}\n{text}")
    assert text == 'NAME = "café"\r\nRETRIES = 3\r\nOTHER = 1', text
    listed = await client.resources()
    assert uri in listed, listed
    try:
        await client.read(template.replace("{+path}", "src/no_such_file.py"))
    except Exception as error:
        print(f"--- refused: {error}")
        assert "no such file" in str(error), error
    else:
        raise AssertionError("a missing file was read")
    change = {"path": "src/config.py", "old_string": "RETRIES = 3", "new_string": "RETRIES = 5"}
    assert "+RETRIES = 5" in await client.call("edit", change)
    assert "RETRIES = 5" in await client.read(uri)


async def main(sdk, program, *arguments):
    parameters = StdioServerParameters(command=program, args=list(arguments))
    if sdk == "v1":
        from mcp import ClientSession

        async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            await mention(Version1(session))
    else:
        from mcp import Client

        async with Client(stdio_client(parameters), mode=sdk) as client:
            await mention(Version2(client))


anyio.run(main, *sys.argv[1:])
