// What every TypeScript client does with a fresh workspace: glob, grep, read, edit, and a bad call.
// The file's bytes, and that no text holds the workspace's own path, are checked by `run`; each text
// is printed for that.

import assert from "node:assert/strict";

const TOOLS = ["edit", "glob", "grep", "ls", "read", "write"];

// `client` is a connected client of either SDK line.
export async function flow(client) {
  const listed = await client.listTools();
  assert.deepEqual(listed.tools.map((tool) => tool.name).sort(), TOOLS);

  const call = async (name, args) => {
    const result = await client.callTool({ name, arguments: args });
    const text = result.content.map((block) => block.text).join("\n");
    console.log(`--- ${name} ${JSON.stringify(args)}\n${text}`);
    return { text, isError: result.isError === true };
  };
  const good = async (name, args) => {
    const { text, isError } = await call(name, args);
    assert.ok(!isError, text);
    return text;
  };

  const found = await good("glob", { pattern: "**/*.py" });
  const path = [...found.matchAll(/^\d+\. (.+)$/gm)].map((match) => match[1]).find((it) => it.endsWith("config.py"));
  const hits = await good("grep", { pattern: "^RETRIES", path: path.slice(0, path.lastIndexOf("/")) });
  assert.ok(hits.includes(`${path}:2: RETRIES = 3`), hits);
  const text = await good("read", { path });
  assert.ok(text.includes("\n2\tRETRIES = 3"), text);
  const diff = await good("edit", { path, old_string: "RETRIES = 3", new_string: "RETRIES = 5" });
  assert.ok(diff.includes("-RETRIES = 3") && diff.includes("+RETRIES = 5"), diff);
  const refused = await call("read", { path: "no/such/file.py" });
  assert.ok(refused.isError && refused.text.includes("no such file"), refused.text);
}
