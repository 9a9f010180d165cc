// The TypeScript SDK's second line: `ts_v2.mjs MODE PROGRAM [ARGUMENT...]`, MODE `legacy` or `auto`.
// With `auto` it first starts a throw-away process to ask it for its era, and ends that with SIGTERM.

import assert from "node:assert/strict";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { flow } from "./flow.mjs";

const [mode, command, ...args] = process.argv.slice(2);
const client = new Client({ name: "rootbound-tests", version: "1" }, { versionNegotiation: { mode } });
await client.connect(new StdioClientTransport({ command, args }));
const version = client.getNegotiatedProtocolVersion();
console.log(`--- negotiated ${version}`);
assert.equal(version, mode === "auto" ? "2026-07-28" : "2025-11-25");
await flow(client);
await client.close();
