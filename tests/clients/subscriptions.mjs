// Subscriptions with the TypeScript SDKs: `subscriptions.mjs LINE PROGRAM DIR`, LINE `v1`, `v2-legacy` or `v2-auto`.
// A file is changed from outside and by `edit`; exactly the updates arrive.

import assert from "node:assert/strict";
import { readFileSync, renameSync, writeFileSync } from "node:fs";

const [line, command, directory] = process.argv.slice(2);
const FILE = "file:///src/config.py";
const path = `${directory}/src/config.py`;
const before = readFileSync(path, "utf8");
const updates = [];
const heard = (notification) => void updates.push(notification.params.uri);
const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

let client;
if (line === "v1") {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { ResourceUpdatedNotificationSchema } = await import("@modelcontextprotocol/sdk/types.js");
  client = new Client({ name: "rootbound-tests", version: "1" });
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, heard);
  await client.connect(new StdioClientTransport({ command, args: [directory] }));
} else {
  const { Client } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  client = new Client({ name: "rootbound-tests", version: "1" }, { versionNegotiation: { mode: line.slice(3) } });
  client.setNotificationHandler("notifications/resources/updated", heard);
  await client.connect(new StdioClientTransport({ command, args: [directory] }));
}
assert.equal(client.getServerCapabilities().resources.subscribe, true);
let listening;
if (line === "v2-auto") {
  listening = await client.listen({ resourceSubscriptions: [FILE] });
} else {
  await client.subscribeResource({ uri: FILE });
}

const settled = async (expected) => {
  for (let waited = 0; updates.length < expected.length && waited < 20_000; waited += 10) await sleep(10);
  await sleep(1200);
  assert.deepEqual(updates.splice(0), expected);
};

// In one step: a file that is emptied and then written may be two updates on a busy machine.
const write = (text) => {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
};

await settled([]);
write(`${before}# outside`);
await settled([FILE]);
write(`${before}# outside`);
await client.readResource({ uri: FILE });
await settled([]);
await client.callTool({ name: "read", arguments: { path: "src/config.py" } });
const edit = { path: "src/config.py", old_string: "# outside", new_string: "# edited" };
const result = await client.callTool({ name: "edit", arguments: edit });
assert.ok(!result.isError, JSON.stringify(result));
await settled([FILE]);
if (listening) {
  await listening.close();
} else {
  await client.unsubscribeResource({ uri: FILE });
}
await sleep(200);
// As the other clients leave it.
writeFileSync(path, before.replace("RETRIES = 3", "RETRIES = 5"));
await settled([]);
console.log(`--- ${line}: exactly the updates`);
await client.close();
