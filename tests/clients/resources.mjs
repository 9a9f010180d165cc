// A person mentions a file, through the TypeScript SDKs: `resources.mjs SDK PROGRAM [ARGUMENT...]`, SDK `v1`, `v2-legacy`
// or `v2-auto`. The template of the root is listed, a path is completed as it is typed, the file is read as a resource,
// and the model edits it without another read.

import assert from "node:assert/strict";

const [sdk, command, ...args] = process.argv.slice(2);

async function connect() {
  const name = { name: "rootbound-tests", version: "1" };
  let client, transport, expand;
  if (sdk === "v1") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    const { UriTemplate } = await import("@modelcontextprotocol/sdk/shared/uriTemplate.js");
    expand = (template, path) => new UriTemplate(template).expand({ path });
    client = new Client(name);
    transport = new StdioClientTransport({ command, args });
  } else {
    const { Client } = await import("@modelcontextprotocol/client");
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    expand = (template, path) => template.replace("{+path}", encodeURI(path));
    client = new Client(name, { versionNegotiation: { mode: sdk.slice(3) } });
    transport = new StdioClientTransport({ command, args });
  }
  await client.connect(transport);
  return { client, expand };
}

const { client, expand } = await connect();
const read = async (uri) => (await client.readResource({ uri })).contents[0].text;

const { resourceTemplates } = await client.listResourceTemplates();
assert.equal(resourceTemplates.length, 1);
const template = resourceTemplates[0].uriTemplate;
assert.ok(template.endsWith("/{+path}"), template);
let values;
for (const typed of ["con", "conf", "@config", "src/con"]) {
  const ref = { type: "ref/resource", uri: template };
  ({ values } = (await client.complete({ ref, argument: { name: "path", value: typed } })).completion);
  console.log(`--- ${typed}: ${values}`);
  assert.equal(values[0], "src/config.py");
}
const uri = expand(template, values[0]);
const text = await read(uri);
console.log(`--- ${uri}\n${text}`);
assert.equal(text, 'NAME = "café"\r\nRETRIES = 3\r\nOTHER = 1');
const { resources } = await client.listResources();
assert.ok(resources.some((resource) => resource.uri === uri), JSON.stringify(resources));
await assert.rejects(read(expand(template, "src/no_such_file.py")), /no such file/);
const change = { path: "src/config.py", old_string: "RETRIES = 3", new_string: "RETRIES = 5" };
const edited = await client.callTool({ name: "edit", arguments: change });
assert.ok(!edited.isError && edited.content[0].text.includes("+RETRIES = 5"), edited.content[0].text);
assert.ok((await read(uri)).includes("RETRIES = 5"));
await client.close();
