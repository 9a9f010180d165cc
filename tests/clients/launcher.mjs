// The npm launcher where it is installed: `launcher.mjs FOLDER DIRECTORY`, FOLDER with node_modules in it. How it passes on
// arguments, streams, signals and the end, and what it says of an installation that is not whole.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { dirname, join } from "node:path";

const [folder, directory] = process.argv.slice(2);
const { signals } = constants;
const launcher = join("node_modules", "rootbound", "rootbound.js");
const platform = `${process.platform}-${process.arch}`;
const program = join("node_modules", "@rootbound", platform, "rootbound");
const hello = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "launcher", version: "1" } },
});

/** Starts the launcher of an installation. */
function start(at, args, { node = [], env = {} } = {}) {
  const child = spawn(process.execPath, [...node, join(at, launcher), ...args], {
    stdio: "pipe",
    env: { ...process.env, ROOTBOUND_STATE_DIR: "off", ...env },
  });
  const ended = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (ended[name] += text));
  // A launcher that was killed leaves its streams to the program: its own end, not theirs.
  const end = new Promise((resolve) => child.on("exit", (code, signal) => resolve(Object.assign(ended, { code, signal }))));
  const closed = new Promise((resolve) => child.on("close", () => resolve(ended)));
  return { child, end, closed };
}

/** Runs it to the end. */
async function run(at, args, options) {
  const { child, end, closed } = start(at, args, options);
  child.stdin.end();
  await end;
  return closed;
}

/** Starts the server and waits for its first answer; returns the id of the program's process, too. */
async function serving() {
  const started = start(folder, [directory]);
  started.child.stdin.write(`${hello}\n`);
  await new Promise((resolve, reject) => {
    started.child.stdout.once("data", resolve);
    started.child.once("exit", () => reject(new Error("it ended")));
  });
  const processes = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  const rows = processes.trim().split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  return { ...started, server: rows.find(([, parent]) => parent === started.child.pid)[0] };
}

/** Waits until a process is gone. */
async function gone(pid) {
  for (let tries = 0; tries < 400; tries += 1) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    // A zombie whose parent is gone is for init to collect.
    const state = process.platform === "linux" && readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").pop()[0];
    if (state === "Z") return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`process ${pid} still runs`);
}

/** A copy of the installation that a function then damages. */
async function damaged(damage, check) {
  const copy = mkdtempSync(join(tmpdir(), "rootbound launcher "));
  try {
    cpSync(join(folder, "node_modules"), join(copy, "node_modules"), { recursive: true });
    const options = damage(copy);
    check(await run(copy, ["--version"], options), copy);
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** A refusal is a sentence and the next step, and nothing of Node.js. */
const refused = (...words) => ({ code, stdout, stderr }) => {
  assert.equal(code, 2, stderr);
  assert.equal(stdout, "");
  for (const word of ["rootbound: ", "\n\nhint: ", ...words]) assert.ok(stderr.includes(word), `${word} is not in ${stderr}`);
  assert.ok(!/\n\s+at |node:internal|Error:/.test(stderr), stderr);
};

/** Node.js believes to run on another platform. */
const pretend = (key, value) => (copy) => {
  const file = join(copy, "pretend.cjs");
  writeFileSync(file, `Object.defineProperty(process, ${JSON.stringify(key)}, { value: ${JSON.stringify(value)} });`);
  return { node: ["--require", file] };
};

const tests = {
  async "arguments and the exit code pass unchanged"() {
    const odd = "a b 'c' \"d\" $HOME `e` *.txt";
    const good = await run(folder, [directory, "call", "glob", "pattern=*.md"]);
    assert.equal(good.code, 0, good.stderr);
    assert.ok(good.stdout.includes("README.md"), good.stdout);
    const bad = await run(folder, [directory, "call", "read", `path=${odd}`]);
    assert.equal(bad.code, 1, bad.stderr);
    assert.ok((bad.stdout + bad.stderr).includes(odd), bad.stderr);
    assert.equal((await run(folder, ["--no-such-option"])).code, 2);
  },
  async "the program knows that npx started it"() {
    const { child, end, server } = await serving();
    if (process.platform === "linux") {
      assert.ok(readFileSync(`/proc/${server}/environ`, "utf8").split("\0").includes("ROOTBOUND_LAUNCHER=npx"));
    }
    child.stdin.end();
    assert.equal((await end).code, 0);
    await gone(server);
  },
  async "the end of standard input ends the server"() {
    const { child, end, server } = await serving();
    child.stdin.end();
    const { code, signal } = await end;
    assert.deepEqual([code, signal], [0, null]);
    await gone(server);
  },
  async "signals are passed on, and the server ends in its own way"() {
    for (const name of ["SIGTERM", "SIGINT", "SIGHUP"]) {
      const { child, end, server } = await serving();
      child.kill(name);
      const { code, signal } = await end;
      assert.deepEqual([code, signal], [0, null], name);
      await gone(server);
    }
  },
  async "the launcher dies of the signal that the program died of"() {
    for (const name of ["SIGKILL", "SIGABRT", "SIGUSR1"]) {
      const { end, server } = await serving();
      process.kill(server, name);
      const { code, signal } = await end;
      if (name === "SIGUSR1") assert.equal(code, 128 + signals.SIGUSR1);
      else assert.deepEqual([code, signal], [null, name]);
    }
  },
  async "no program is left if the launcher is killed and the client closes its side"() {
    const { child, end, server } = await serving();
    child.kill("SIGKILL");
    assert.equal((await end).signal, "SIGKILL");
    child.stdin.destroy();
    await gone(server);
  },
  async "a platform without a package is named"() {
    await damaged(pretend("arch", "riscv64"), refused(`no program for ${process.platform}-riscv64`, "cargo install"));
    await damaged(pretend("platform", "freebsd"), refused(`no program for freebsd-${process.arch}`));
  },
  async "a missing platform package is named"() {
    const remove = (copy) => rmSync(join(copy, dirname(program)), { recursive: true });
    await damaged(remove, refused(`@rootbound/${platform} is not installed`, `npm install @rootbound/${platform}@`, "npx -y rootbound"));
  },
  async "the package of another platform is named"() {
    await damaged(pretend("arch", process.arch === "x64" ? "arm64" : "x64"), refused(`@rootbound/${platform} is installed`, "npx -y"));
  },
  async "the permission to execute is restored"() {
    await damaged(
      (copy) => chmodSync(join(copy, program), 0o644),
      ({ code, stdout, stderr }, copy) => {
        assert.equal(code, 0, stderr);
        assert.ok(stdout.startsWith("rootbound "), stdout);
        assert.equal(statSync(join(copy, program)).mode & 0o111, 0o111);
      },
    );
  },
  async "a permission to execute that cannot be restored is named"() {
    const forbid = (copy) => {
      chmodSync(join(copy, program), 0o644);
      const file = join(copy, "forbid.cjs");
      writeFileSync(file, 'require("node:fs").chmodSync = () => { throw Object.assign(new Error(), { code: "EROFS" }); };');
      return { node: ["--require", file] };
    };
    await damaged(forbid, refused("may not be executed (EROFS)", "chmod +x"));
  },
  async "a program that is none is named"() {
    const into = (content) => (copy) => writeFileSync(join(copy, program), content, { mode: 0o755 });
    await damaged(into(""), refused("not a program for this system", "npm install rootbound@"));
    await damaged(into("#!/bin/sh\necho no\n"), refused("not a program for this system"));
    if (process.platform === "linux") {
      await damaged(into("\x7fELF"), refused("not a program for this system"));
      await damaged((copy) => truncateSync(join(copy, program), 5000), ({ stderr }) => assert.ok(!stderr.includes("node:internal"), stderr));
      const elsewhere = (copy) => {
        const content = readFileSync(join(copy, program));
        content.writeUInt16LE(0xf3, 18); // e_machine: RISC-V
        into(content)(copy);
      };
      await damaged(elsewhere, refused("not a program for this system"));
    }
  },
  async "a folder in place of the program is named"() {
    const replace = (copy) => {
      rmSync(join(copy, program));
      mkdirSync(join(copy, program));
    };
    await damaged(replace, refused("hint"));
  },
};

for (const [name, test] of Object.entries(tests)) {
  await test();
  console.log(`ok ${name}`);
}
