// An unpacked MCPB bundle, started as Claude Desktop starts it: `bundle.mjs FOLDER DIRECTORY...`.
// The bundle library fills in the manifest's variables; only the directories were chosen, every other
// setting is left alone.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, sep } from "node:path";

import { getMcpConfigForManifest } from "@anthropic-ai/mcpb";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport, getDefaultEnvironment } from "@modelcontextprotocol/sdk/client/stdio.js";

import { flow } from "./flow.mjs";

const [folder, ...roots] = process.argv.slice(2);
const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
const config = await getMcpConfigForManifest({
  manifest,
  extensionPath: folder,
  systemDirs: { HOME: process.env.HOME },
  userConfig: { roots },
  pathSeparator: sep,
});
const client = new Client({ name: "rootbound-tests", version: "1" });
// Claude Desktop starts servers in /, where nothing may be offered unasked.
const env = { ...getDefaultEnvironment(), ...config.env };
await client.connect(new StdioClientTransport({ command: config.command, args: config.args, env, cwd: "/" }));
const { name, version } = client.getServerVersion();
console.log(`--- ${name} ${version}`);
assert.equal(version, manifest.version);
const listed = await client.listTools();
const told = (tools) => tools.map((tool) => tool.name).sort();
assert.deepEqual(told(listed.tools), told(manifest.tools));
await flow(client);
await client.close();
