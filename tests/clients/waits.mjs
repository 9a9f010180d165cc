// `wait` with the TypeScript SDKs: `waits.mjs LINE PROGRAM DIR`, LINE `v1`, `v2-legacy` or `v2-auto`.
// A matching line ends a wait; one at its deadline and those that are cancelled leave the session as it was.

import assert from "node:assert/strict";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";

const [line, command, directory] = process.argv.slice(2);
const path = `${directory}/src/config.py`;
const before = readFileSync(path, "utf8");
const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
const v1 = line === "v1";

const { Client } = v1
  ? await import("@modelcontextprotocol/sdk/client/index.js")
  : await import("@modelcontextprotocol/client");
const { StdioClientTransport } = v1
  ? await import("@modelcontextprotocol/sdk/client/stdio.js")
  : await import("@modelcontextprotocol/client/stdio");
const info = { name: "rootbound-tests", version: "1" };
const client = v1 ? new Client(info) : new Client(info, { versionNegotiation: { mode: line.slice(3) } });
await client.connect(new StdioClientTransport({ command, args: ["--allow", "watch", directory] }));

const wait = async (more, options) => {
  const params = { name: "wait", arguments: { path: "src/config.py", ...more } };
  const result = v1 ? await client.callTool(params, undefined, options) : await client.callTool(params, options);
  assert.ok(!result.isError, JSON.stringify(result));
  return result.content[0].text;
};
const cancelledAfter = async (milliseconds) => {
  const controller = new AbortController();
  const waiting = wait({ pattern: "never", timeout: 30 }, { signal: controller.signal });
  setTimeout(() => controller.abort(), milliseconds);
  await assert.rejects(waiting);
};

// With `offset` it does not matter whether the lines are written before the call has begun.
const known = before.split("\n").length - 1;
const first = wait({ pattern: "# done", offset: known, timeout: 30 });
await sleep(500);
appendFileSync(path, "\n# not yet\n# done\n# later\n");
const text = await first;
assert.match(text, /\t# not yet\n\d+\t# done\n\(line \d+ matched after /);
assert.ok(!text.includes("# later"), text);
assert.match(await wait({ timeout: 0 }), /^nothing new after /);
await cancelledAfter(500);
for (let number = 0; number < 70; number += 1) await cancelledAfter(10);
await sleep(1000);
assert.match(await wait({ timeout: 0 }), /^nothing new after /);
// As the other clients leave it.
writeFileSync(path, before.replace("RETRIES = 3", "RETRIES = 5"));
console.log(`--- ${line}: one line, one deadline, 71 cancelled waits`);
await client.close();
