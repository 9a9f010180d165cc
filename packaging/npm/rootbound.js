#!/usr/bin/env node
// Starts the program of this machine's platform package with the same arguments, streams and signals, and ends as it
// ends. A client needs nothing else: standard input is the child's own, so its end reaches the server even if this
// process was killed.
"use strict";

const { spawn } = require("node:child_process");
const { accessSync, chmodSync, closeSync, constants, existsSync, openSync, readSync, statSync, writeSync } = require("node:fs");
const { signals } = require("node:os").constants;
const { version, optionalDependencies } = require("./package.json");

const FORWARDED = ["SIGTERM", "SIGINT", "SIGHUP"];
const SOURCE = "https://github.com/rootbound/rootbound";
const platform = `${process.platform}-${process.arch}`;

/** Prints a problem and the next step, as the program does, and ends with its code for a start that failed. */
function fail(problem, hint) {
  writeSync(2, `rootbound: ${problem}\n\nhint: ${hint}\n`);
  process.exit(2);
}

/** The program in a platform's package, or null if that is not installed. */
function located(name) {
  const file = name.includes("/win32-") ? "rootbound.exe" : "rootbound";
  try {
    return require.resolve(`${name}/${file}`);
  } catch {
    return null;
  }
}

function findProgram() {
  const names = Object.keys(optionalDependencies);
  const name = `@rootbound/${platform}`;
  if (!names.includes(name)) {
    const known = names.map((one) => one.slice("@rootbound/".length)).join(", ");
    fail(
      `there is no program for ${platform}: the npm packages are for ${known}`,
      `build it with Rust: cargo install --locked rootbound (or from ${SOURCE})`,
    );
  }
  const program = located(name);
  if (program !== null) return program;
  const other = names.find((one) => located(one) !== null);
  const reinstall = `remove node_modules and the lock file and install again on this machine, or run npx -y rootbound@${version}`;
  if (other !== undefined) {
    fail(
      `${other} is installed, but this Node.js is for ${platform}: node_modules was copied from another system, or installed by a Node.js for another processor`,
      reinstall,
    );
  }
  fail(
    `the package ${name} is not installed; npm leaves it out with --omit=optional or --no-optional, or when a lock file was made on another system`,
    `npm install ${name}@${version}, or ${reinstall}`,
  );
}

/**
 * Whether the file begins as a program of this system and processor does. An interrupted installation leaves an empty or
 * cut one, and execvp(3), which starts programs for Node.js, runs a file that the kernel does not know as a shell script.
 */
function isProgram(program) {
  // To open a FIFO would wait for a writer.
  if (!statSync(program).isFile()) return false;
  const head = Buffer.alloc(64);
  const file = openSync(program, "r");
  try {
    if (readSync(file, head, 0, head.length, 0) < head.length) return false;
  } finally {
    closeSync(file);
  }
  const arm = process.arch === "arm64";
  if (process.platform === "win32") return head.toString("latin1", 0, 2) === "MZ";
  // The magic number and the processor of Mach-O, and of ELF: https://man7.org/linux/man-pages/man5/elf.5.html
  if (process.platform === "darwin") {
    return head.readUInt32LE(0) === 0xfeedfacf && head.readUInt32LE(4) === (arm ? 0x0100000c : 0x01000007);
  }
  return head.readUInt32BE(0) === 0x7f454c46 && head.readUInt16LE(18) === (arm ? 183 : 62);
}

/** `npm install --no-bin-links` and some archives lose the permission to execute. */
function makeExecutable(program) {
  if (process.platform === "win32") return;
  try {
    accessSync(program, constants.X_OK);
    return;
  } catch {}
  try {
    chmodSync(program, 0o755);
    accessSync(program, constants.X_OK);
  } catch (error) {
    fail(
      `${program} may not be executed (${error.code})`,
      `chmod +x '${program}' as the owner of that file; if its file system is mounted noexec, install into another folder`,
    );
  }
}

/** Why a program that is there did not start. */
function explain(program, error) {
  const reinstall = `install again: npm install rootbound@${version}`;
  const reasons = {
    EACCES: ["it may not be executed", `check the permissions of that file, and that its file system is not mounted noexec`],
    EPERM: ["the system does not permit it", "check the rules of this system about which programs may run"],
    ENOENT: existsSync(program)
      ? ["it needs a loader or library that this system lacks", reinstall]
      : ["it is no longer there", reinstall],
    ENOEXEC: ["it is not a program for this system", reinstall],
    EAGAIN: ["this system allows no more processes", "end some, or raise the limit (ulimit -u)"],
    ENOMEM: ["memory is exhausted", "end other programs"],
  };
  const [reason, hint] = reasons[error.code] ?? ["it is not a program for this system", reinstall];
  fail(`${program} could not be started: ${reason} (${error.code})`, hint);
}

/** Ends this process as the child ended. */
function finish(code, signal) {
  if (signal === null) process.exit(code);
  for (const one of FORWARDED) process.removeAllListeners(one);
  // The first process of a container is not ended by its own signal: then the code that a shell would report.
  setTimeout(() => process.exit(128 + (signals[signal] ?? 0)), 100);
  // Node.js answers SIGUSR1 with its debugger.
  if (signal !== "SIGUSR1") process.kill(process.pid, signal);
}

const program = findProgram();
let child;
// On Windows the console sends Ctrl-C to the child as well, and any other signal would end the child at once.
for (const signal of FORWARDED) process.on(signal, () => process.platform === "win32" || child.kill(signal));
try {
  if (!isProgram(program)) explain(program, { code: "ENOEXEC" });
  makeExecutable(program);
  child = spawn(program, process.argv.slice(2), {
    stdio: "inherit",
    windowsHide: true,
    env: { ...process.env, ROOTBOUND_LAUNCHER: "npx" },
  });
  child.on("error", (error) => explain(program, error));
  child.on("exit", finish);
} catch (error) {
  explain(program, error);
}
