// A registry for npm on this machine: `registry.mjs FOLDER LOG` serves the packed packages of FOLDER, prints its address,
// and writes the name of each package whose content was fetched into LOG. Of a platform without a package it knows only
// the name and the platform, as npm would before it fetches anything.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const [folder, log] = process.argv.slice(2);
const packages = new Map();
for (const file of readdirSync(folder)) {
  const path = join(folder, file);
  const manifest = JSON.parse(execFileSync("tar", ["-xzOf", path, "package/package.json"], { encoding: "utf8" }));
  packages.set(manifest.name, { manifest, content: readFileSync(path) });
}
for (const [name, version] of Object.entries(packages.get("rootbound").manifest.optionalDependencies)) {
  const [os, cpu] = name.split("/")[1].split("-");
  if (!packages.has(name)) packages.set(name, { manifest: { name, version, os: [os], cpu: [cpu] }, content: Buffer.alloc(0) });
}

const server = createServer((request, response) => {
  const name = decodeURIComponent(request.url.slice(1)).replace(/\.tgz$/, "");
  const found = packages.get(name);
  if (found === undefined) return response.writeHead(404).end("{}");
  if (request.url.endsWith(".tgz")) {
    appendFileSync(log, `${name}\n`);
    return response.end(found.content);
  }
  const { version } = found.manifest;
  const dist = {
    tarball: `http://${request.headers.host}/${encodeURIComponent(name)}.tgz`,
    integrity: `sha512-${createHash("sha512").update(found.content).digest("base64")}`,
  };
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions: { [version]: { ...found.manifest, dist } } }));
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
