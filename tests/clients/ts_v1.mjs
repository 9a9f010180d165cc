// The TypeScript SDK's first line: `ts_v1.mjs PROGRAM [ARGUMENT...]`.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

import { flow } from "./flow.mjs";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "rootbound-tests", version: "1" });
await client.connect(new StdioClientTransport({ command, args }));
await flow(client);
await client.close();
