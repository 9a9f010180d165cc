// A person's answers through the TypeScript SDKs: `confirm.mjs SDK PROGRAM [ARGUMENT...] DIRECTORY`,
// SDK `v1`, `v2-legacy` or `v2-auto`. PROGRAM is started so that it asks before each change.
// The only answer that may change a file is the last one.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ASKING = ["--confirm", "writes"];
const [sdk, command, ...args] = process.argv.slice(2);
const file = join(args.at(-1), "src", "config.py");
const read = () => readFileSync(file, "utf8");
let before = read();
const asked = [];
let answer;
let meanwhile;

const person = async (request) => {
  asked.push(request.params.message);
  if (meanwhile !== undefined) writeFileSync(file, meanwhile);
  return answer;
};

// A connected client, with a person behind it or without.
async function connect(withPerson) {
  const capabilities = withPerson ? { elicitation: {} } : {};
  const name = { name: "rootbound-tests", version: "1" };
  let client, transport;
  if (sdk === "v1") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    const { ElicitRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
    client = new Client(name, { capabilities });
    if (withPerson) client.setRequestHandler(ElicitRequestSchema, person);
    transport = new StdioClientTransport({ command, args: [...ASKING, ...args] });
  } else {
    const { Client } = await import("@modelcontextprotocol/client");
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    client = new Client(name, { capabilities, versionNegotiation: { mode: sdk.slice(3) } });
    if (withPerson) client.setRequestHandler("elicitation/create", person);
    transport = new StdioClientTransport({ command, args: [...ASKING, ...args] });
  }
  await client.connect(transport);
  await client.callTool({ name: "read", arguments: { path: "src/config.py" } });
  return client;
}

const edit = (client, old_string, new_string) =>
  client.callTool({ name: "edit", arguments: { path: "src/config.py", old_string, new_string } });

function refused(result, words, kind = "declined") {
  const { text } = result.content[0];
  console.log(`--- ${kind}\n${text}`);
  assert.equal(result.isError, true, text);
  assert.equal(result._meta["rootbound/error"], kind, text);
  assert.ok(text.includes(words), text);
  assert.equal(read(), before);
}

const client = await connect(true);
assert.deepEqual(asked, []);
for (const [said, words] of [
  [{ action: "decline" }, "the user declined"],
  [{ action: "cancel" }, "the user dismissed"],
  [{ action: "accept", content: { confirm: false } }, "without confirming"],
]) {
  answer = said;
  refused(await edit(client, "RETRIES = 3", "RETRIES = 4"), words);
  const message = asked.pop();
  assert.ok(message.includes("-RETRIES = 3\n+RETRIES = 4\n"), message);
}
answer = { action: "accept", content: { confirm: true } };

// Another program changes the file while the person looks at the diff.
const untouched = before;
before = meanwhile = before + "# new";
refused(
  await edit(client, "RETRIES = 3", "RETRIES = 4"),
  sdk === "v2-auto" ? "has changed since it was read" : "changed while a person was asked",
  "stale",
);
writeFileSync(file, untouched);
before = untouched;
meanwhile = undefined;
// What was refused has shown the change that is gone again.
await client.callTool({ name: "read", arguments: { path: "src/config.py" } });

if (sdk === "v2-auto") await tampered();
const made = await edit(client, "RETRIES = 3", "RETRIES = 5");
assert.ok(!made.isError, made.content[0].text);
assert.equal(read(), before.replace("RETRIES = 3", "RETRIES = 5"));
await client.close();

before = read();
const unable = await connect(false);
refused(await edit(unable, "RETRIES = 5", "RETRIES = 6"), "does not support elicitation");
await unable.close();

// The state that the client carries, changed or used for what was not shown.
async function tampered() {
  const ask = (args, more = {}) =>
    client.request({ method: "tools/call", params: { name: "edit", arguments: args, ...more } }, { allowInputRequired: true });
  const shown = { path: "src/config.py", old_string: "RETRIES = 3", new_string: "RETRIES = 4" };
  const reply = (args, requestState) =>
    ask(args, { inputResponses: { confirm: { action: "accept", content: { confirm: true } } }, requestState });
  const { resultType, requestState: state } = await ask(shown);
  assert.equal(resultType, "input_required");
  const words = "belongs to another call";
  refused(await reply({ ...shown, new_string: "RETRIES = 99" }, state), words);
  refused(await reply(shown, state.slice(0, -1) + (state.endsWith("A") ? "B" : "A")), words);
  refused(await reply(shown, undefined), words);
}
