"""The servers and programs that are measured: how each is started, called and ended."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PROGRAM", os.path.join(TOP, "target", "release", "rootbound"))
ECHO = os.path.join(os.path.dirname(PROGRAM), "examples", "echo")
RG_OPTIONS = ["--no-config", "--hidden", "--no-require-git", "--no-ignore-parent", "--no-ignore-global",
              "--glob", "!.git", "--max-filesize", "16M"]
# How a peer is started; WS is the directory that it serves.
COMMANDS = {
    "fff-mcp": ["fff-mcp", "--no-update-check", "WS"],
    "rust-mcp-filesystem": ["rust-mcp-filesystem", "-w", "WS"],
    "server-filesystem": ["mcp-server-filesystem", "WS"],
}
# A peer that gives no answer for so many seconds has failed.
PATIENCE = 120


class Failed(Exception):
    """A call that gave no answer, an error (of a kind, if it is ours), or a wrong answer."""

    def __init__(self, text, kind=None):
        super().__init__(text)
        self.kind = kind


def encoded(message):
    return (json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode()


class Server:
    """A server process, called with JSON lines. Spawned without the slow preparations of `subprocess`."""

    def __init__(self, command, log=None, environment=None):
        program = shutil.which(command[0])
        if not program:
            raise Failed(f"{command[0]} is not installed")
        child_in, self.stdin = os.pipe()
        self.stdout, child_out = os.pipe()
        self.log = log or open(os.devnull, "w", encoding="ascii")
        actions = [(os.POSIX_SPAWN_DUP2, fd, at) for at, fd in enumerate((child_in, child_out, self.log.fileno()))]
        environment = {**os.environ, **(environment or {})}
        self.rest, self.last = b"", 0
        self.started = time.perf_counter()
        self.pid = os.posix_spawn(program, command, environment, file_actions=actions)
        os.close(child_in)
        os.close(child_out)
        self.introduced = self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                                  "clientInfo": {"name": "bench", "version": "1"}})
        self.ready = time.perf_counter()
        self.send({"method": "notifications/initialized"})

    def version(self):
        return self.introduced["serverInfo"]["version"].split()[0]

    def write(self, data):
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self.stdin, rest):]

    def send(self, message):
        self.write(encoded(message))

    def request(self, method, params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        return self.last

    def line(self):
        parts = [self.rest]
        while b"\n" not in parts[-1]:
            part = os.read(self.stdout, 1 << 20)
            if not part:
                raise Failed("the server ended")
            parts.append(part)
        line, self.rest = b"".join(parts).split(b"\n", 1)
        return line

    def answer(self, wanted):
        while True:
            answer = json.loads(self.line())
            if answer.get("id") == wanted and "method" not in answer:
                if "error" in answer:
                    raise Failed(answer["error"]["message"])
                return answer["result"]
            if "method" in answer and "id" in answer:
                # A request of the server to the client, such as for its roots.
                self.send({"id": answer["id"], "error": {"code": -32601, "message": "not here"}})

    def ask(self, method, params):
        return self.answer(self.request(method, params))

    def flood(self, method, params, many=32):
        """`many` concurrent requests; the answers may come in any order."""
        waiting = {self.request(method, params) for _ in range(many)}
        while waiting:
            waiting.discard(json.loads(self.line()).get("id"))

    def timed_call(self, tool, **arguments):
        """The seconds from its first byte to the answer: the client's JSON, 2 ms for 1 MB, is made before."""
        self.last += 1
        data = encoded({"id": self.last, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        started = time.perf_counter()
        self.write(data)
        result = self.answer(self.last)
        took = time.perf_counter() - started
        self.checked(result)
        return took

    def call(self, tool, **arguments):
        return self.checked(self.ask("tools/call", {"name": tool, "arguments": arguments}))

    @staticmethod
    def checked(result):
        """The text and the facts of an answer that is no error."""
        text = "".join(block.get("text", "") for block in result["content"])
        if result.get("isError"):
            raise Failed(text.split("\n")[0], result.get("_meta", {}).get("rootbound/error"))
        return text, result.get("_meta", {}).get("rootbound/result", {})

    def finds(self, wanted, tool, **arguments):
        """A call whose answer must name one of these files, if there are any."""
        text, _ = self.call(tool, **arguments)
        if wanted and not any(name in text for name in wanted):
            raise Failed(f"finds none of {len(wanted)} files: {text[:60]!r}")

    def memory(self, what):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
            return int(re.search(rf"{what}:\s+(\d+)", status.read()).group(1)) / 1024

    def cpu(self):
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def settle(self, most=PATIENCE):
        """Waits until the background work ends; returns its seconds of work."""
        first = before = self.cpu()
        for _ in range(int(most / 1.5)):
            time.sleep(1.5)
            now = self.cpu()
            if now - before < 0.03:
                break
            before = now
        return self.cpu() - first

    def end(self, kill=False):
        """Closes its input and waits, or kills it."""
        os.close(self.stdin)
        if kill:
            os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        os.close(self.stdout)
        self.log.close()


def ours(directory, *options, **others):
    return Server([PROGRAM, "--state-dir", "off", "--max-output", "10485760", *options, directory], **others)


def ours_with_state(directory, state, *options):
    """A server that finds and leaves a stored index in the folder `state`."""
    return Server([PROGRAM, "--state-dir", state, "--max-output", "10485760", *options, directory])


def stores_an_index():
    """Whether this release of the program does."""
    done = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True)
    return "--index-size" in done.stdout


class Peers:
    """The other programs: those that are not installed are named once, and their rows skipped."""

    def __init__(self, given):
        self.home = tempfile.mkdtemp(prefix="goals-home-")
        self.commands = {**COMMANDS, **given}
        self.rg = shutil.which("rg15") or shutil.which("rg")
        self.fd = shutil.which("fd10") or shutil.which("fdfind") or shutil.which("fd")
        self.versions = {}
        for name, program in (("rg", self.rg), ("fd", self.fd)):
            if program:
                said = subprocess.check_output([program, "--version"], text=True)
                self.versions[name] = said.split("\n")[0].split()[1]
            else:
                print(f"SKIPPED: {name} is not installed")
        if not self.rg:
            raise SystemExit("rg is needed: the answers are compared with it")
        for name in list(self.commands):
            try:
                with tempfile.TemporaryDirectory() as directory:
                    server = self.start(name, directory)
                    self.versions[name] = server.version()
                    server.end(kill=True)
            except (Failed, OSError) as error:
                print(f"SKIPPED: {name}: {error}")
                del self.commands[name]

    def start(self, name, directory):
        """A server of this name; its files are in a folder that is removed at the end."""
        words = [directory if word == "WS" else word for word in self.commands[name]]
        return Server(words, environment={"HOME": self.home})

    def has(self, name):
        return name in self.versions

    def close(self):
        shutil.rmtree(self.home, ignore_errors=True)


def output(command, directory):
    """What a command prints, read from a pipe as another program would."""
    return subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False).stdout


def names(printed):
    """Its lines, as a set of paths."""
    return {line.removeprefix("./") for line in printed.decode(errors="replace").splitlines()}
