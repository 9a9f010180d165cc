#!/usr/bin/env python3
"""Files on another machine, over stdio: tests/clients/remote.py PROGRAM SUITE SDK

PROGRAM, which is static, is copied to a real sshd on the loopback, and put as the only file into a real container without
privileges (crun, as an ordinary user). The whole flow of a client goes over both, by hand and by the Python SDK (SDK is the
Python that has it), then the line breaks in each way that it can, and containers have seccomp profiles that refuse calls.
SUITE is the test program with the attacks (`cargo test --test it`): it calls the server through ssh, and runs in containers.
Linux only; a part that cannot run here fails, and says why.

No file of the system is changed. root starts the containers as another user, and a `sshd` that wants /run/sshd sees one of its
own.
"""

import contextlib
import hashlib
import json
import os
import pwd
import re
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

PROGRAM, SUITE, SDK = map(os.path.abspath, sys.argv[1:4])  # of a virtual environment its link, not the target
LIMIT = 120  # seconds, for what hangs; a busy machine needs far less
FILES = 200  # of the change that a line breaks in
NOBODY = 65534  # the user of containers, where this one is root
LANDLOCK = ["landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"]
# What a profile of 2019 does not know.
NEWER = [*LANDLOCK, "openat2", "clone3", "close_range", "faccessat2", "pidfd_open", "epoll_pwait2", "process_madvise"]
PATCHES = ["--allow", "patch", "--read-before-write", "off"]
passed = 0


def check(name, condition, shown=""):
    global passed
    assert condition, f"{name}: {shown}"
    passed += 1


def until(what, condition):
    """Waits for the condition, and returns its value."""
    begun = time.monotonic()
    while not (value := condition()):
        assert time.monotonic() - begun < LIMIT, f"waited for {what}"
        time.sleep(0.02)
    return value


def run(*command, code=0, limit=LIMIT, **options):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit, **options)
    assert code is None or done.returncode == code, (command, done.returncode, done.stdout, done.stderr)
    return done


def needed(program, package):
    found = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if not found:
        raise SystemExit(f"SKIPPED files on another machine: {program} is missing (.ci/install {package})")
    return found


def put(path, content):
    """Writes a file, which belongs to the owner of the folder that is there already, as its new folders do."""
    missing, folder = [path], os.path.dirname(path)
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)
    owner = os.stat(folder)
    for made in missing if os.getuid() == 0 else []:
        os.chown(made, owner.st_uid, owner.st_gid)


def content(path):
    with open(path, "rb") as file:
        return file.read()


class Client:
    """A client of a server that a command starts, which leads to it somewhere else."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.errors = []
        self.reader = threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True)
        self.reader.start()
        self.watch = threading.Timer(LIMIT, self.process.kill)
        self.watch.daemon = True
        self.watch.start()
        self.last = 0
        self.request("initialize", {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "remote", "version": "1"},
        })
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), f"the server ended: {self.log()}"
        return json.loads(line.decode("utf-8", "strict"))

    def request(self, method, params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        answer = self.receive()
        assert answer["id"] == self.last, answer
        return answer["result"]

    def call(self, tool, error=False, **arguments):
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        text = "".join(block.get("text", "") for block in result["content"])
        assert bool(result.get("isError")) == error, f"{tool} {arguments}: {text}"
        return text

    def log(self):
        self.reader.join(LIMIT)
        return b"".join(self.errors).decode(errors="replace")

    def end(self, code=0):
        """Closes the input, as a client does that ends."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.stdout.read()
        ended = self.process.wait(LIMIT)
        self.watch.cancel()
        assert code is None or ended == code, (ended, self.log())
        return ended


def servers(mark):
    """The processes of PROGRAM's copies with `mark` in an argument, in whichever namespace."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            words = content(f"/proc/{number}/cmdline").split(b"\0")
            state = content(f"/proc/{number}/stat").rsplit(b")", 1)[1].split()[0]
            if words[0].endswith(b"/rootbound") and any(mark.encode() in word for word in words) and state != b"Z":
                found.append(int(number))
    return found


def parent(number):
    return int(content(f"/proc/{number}/stat").rsplit(b")", 1)[1].split()[1])


def flow(start, root, mark, large=False):
    """What a model does first, then large answers and many requests. `start(*options)` is the command, `root` the folder here,
    `mark` the folder as the server has it."""
    config = b'NAME = "caf\xc3\xa9"\r\nRETRIES = 3\r\nOTHER = 1'
    put(f"{root}/src/config.py", config)
    client = Client(start("--max-output", "1MB", "--allow", "manage"))
    listed = [tool["name"] for tool in client.request("tools/list", {})["tools"]]
    check("the tools", {"edit", "glob", "grep", "ls", "read", "undo", "write"} <= set(listed), listed)
    found = client.call("glob", pattern="**/*.py")
    check("glob", "src/config.py" in found, found)
    found = client.call("grep", pattern="^RETRIES", path="src")
    check("grep", "src/config.py:2: RETRIES = 3" in found, found)
    check("read", "\n2\tRETRIES = 3" in client.call("read", path="src/config.py"))
    client.call("edit", path="src/config.py", old_string="RETRIES = 3", new_string="RETRIES = 5")
    check("edit", content(f"{root}/src/config.py") == config.replace(b"3", b"5", 1), content(f"{root}/src/config.py"))
    client.call("write", path="new/deep/file.txt", content="new\n")
    check("write", content(f"{root}/new/deep/file.txt") == b"new\n")
    client.call("undo", path="new/deep/file.txt")
    client.call("undo", path="src/config.py")
    check("undo", content(f"{root}/src/config.py") == config and not os.path.exists(f"{root}/new/deep/file.txt"))
    check("a missing file", "no such file" in client.call("read", error=True, path="no/such.py"))
    check("a file outside", "CANARY" not in client.call("read", error=True, path="../outside.txt"))
    if large:
        put(f"{root}/long.txt", "".join(f"{n} ünïcode line of many\r\n" for n in range(40_000)).encode())
        text = client.call("read", path="long.txt", limit=30_000)
        check("an answer of 900 KB", len(text.encode()) > 900_000 and "\n29999\t29998 ünïcode line" in text, len(text))
        for number in range(1_000):
            text = client.call("read", path="long.txt", offset=number, limit=1)
            assert f"{number} ünïcode line" in text, (number, text)
        check("1,000 requests", True)
        client.call("write", path="large.txt", content="x" * 900_000)
        check("a call of 900 KB", content(f"{root}/large.txt") == b"x" * 900_000)
        for mode in ["auto", "legacy"]:
            put(f"{root}/src/config.py", config)
            run(SDK, os.path.join(os.path.dirname(os.path.abspath(__file__)), "python_sdk.py"), mode, *start())
            check(f"the SDK's edit, {mode}", content(f"{root}/src/config.py") == config.replace(b"3", b"5", 1))
    client.end()
    check("the end of the input ends the server", not servers(mark), servers(mark))


def old_files(root):
    for number in range(FILES):
        put(f"{root}/many/{number}.txt", f"old {number}\n".encode())


def one_change():
    patch = "".join(f"--- a/many/{n}.txt\n+++ b/many/{n}.txt\n@@ -1 +1 @@\n-old {n}\n+new {n}\n" for n in range(FILES))
    return {"method": "tools/call", "params": {"name": "apply_patch", "arguments": {"patch": patch}}}


def broken(name, start, root, mark, cut, ended=None):
    """The line breaks, between calls and in the middle of a change: the server ends, the change is whole, and a client that
    starts it again goes on. `cut(client)` breaks the line; `ended` is the code of the client's command, if it is known."""
    states, slowest = [], 0.0
    for delay in [None, 0, 0.02, 0.1]:
        old_files(root)
        client = Client(start(*PATCHES))
        check(f"{name}: one server", len(servers(mark)) == 1, servers(mark))
        if delay is not None:
            client.send({"id": "change", **one_change()})
            time.sleep(delay)  # any moment is as good as another
        begun = time.monotonic()
        cut(client)
        until(f"{name}: the end of the server", lambda: not servers(mark))
        slowest = max(slowest, time.monotonic() - begun)
        code = client.end(None)
        check(f"{name}: the code", ended is None or code == ended, (code, client.log()))
        again = Client(start(*PATCHES))
        check(f"{name}: a new server goes on", "\told 0" in (text := again.call("read", path="many/0.txt")) or "\tnew 0" in text, text)
        again.end()
        words = {content(f"{root}/many/{number}.txt").split()[0] for number in range(FILES)}
        check(f"{name}: the change is whole", len(words) == 1 and len(os.listdir(f"{root}/many")) == FILES, words)
        states.append(words.pop().decode())
    shown = " ".join(client.log().split())
    print(f"    {name}: the server ended within {slowest:.1f} s; exit {code}, stderr {shown!r}; "
          f"the change is {states.count('new')} times made and {states.count('old') - 1} times not, never half")


# --- ssh ------------------------------------------------------------------------------------------


class Relay:
    """Passes bytes on to a port, until it is a hole: no end, no error, no answer, as when a network goes away."""

    def __init__(self, port):
        self.target, self.hole = port, False
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.socket.accept()
            far = socket.create_connection(("127.0.0.1", self.target))
            threading.Thread(target=self.passed_on, args=(near, far), daemon=True).start()

    def passed_on(self, near, far):
        with near, far:
            while not self.hole:
                for ready in select.select([near, far], [], [], 0.05)[0]:
                    data = ready.recv(1 << 16)
                    if not data:
                        return
                    (far if ready is near else near).sendall(data)
            time.sleep(LIMIT)


class Sshd:
    """A real sshd with keys and a configuration of its own, and the client's `ssh_config` with the host `host`."""

    def __init__(self, base):
        sshd, keygen = needed("sshd", "sshd"), needed("ssh-keygen", "sshd")
        os.makedirs(base)
        for name in ["host_key", "user_key"]:
            run(keygen, "-q", "-t", "ed25519", "-N", "", "-f", f"{base}/{name}")
        shutil.copy(f"{base}/user_key.pub", f"{base}/authorized")
        user = pwd.getpwuid(os.getuid())
        put(f"{base}/sshd_config", "\n".join([
            "ListenAddress 127.0.0.1", f"HostKey {base}/host_key", f"AuthorizedKeysFile {base}/authorized", "PidFile none",
            "StrictModes no", "UsePAM no", "PasswordAuthentication no", "KbdInteractiveAuthentication no", "PrintMotd no",
            "PermitRootLogin prohibit-password", "Subsystem sftp internal-sftp", "MaxSessions 100", "MaxStartups 100",
            "LogLevel ERROR", "",
        ]).encode())
        key = " ".join(content(f"{base}/host_key.pub").decode().split()[:2])
        put(f"{base}/known", f"host {key}\n".encode())
        put(f"{base}/ssh_config", "\n".join([
            "Host host", "HostName 127.0.0.1", f"User {user.pw_name}", "HostKeyAlias host", f"UserKnownHostsFile {base}/known",
            "GlobalKnownHostsFile /dev/null", f"IdentityFile {base}/user_key", "IdentitiesOnly yes", "IdentityAgent none", "",
        ]).encode())
        needs_folder = os.getuid() == 0 and not os.path.isdir("/run/sshd")
        own_run = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd && exec "$@"', "sh"]
        self.command = [*(own_run if needs_folder else []), sshd, "-D", "-e", "-f", f"{base}/sshd_config"]
        self.started = []

    def start(self, *options):
        """Starts one, and returns its port."""
        for _ in range(5):
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            process = subprocess.Popen([*self.command, "-p", str(port), *options], stderr=subprocess.PIPE, text=True)
            self.started.append(process)
            if until("sshd", lambda: process.poll() is not None or self.answers(port)) and process.poll() is None:
                return port
            why = process.stderr.read()
        raise AssertionError(f"sshd does not start: {why}")

    @staticmethod
    def answers(port):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5) as tried:
            return tried.recv(4) == b"SSH-"
        return False

    def stop(self):
        for process in self.started:
            process.kill()
            process.wait()


def over_ssh(base):
    sshd = Sshd(f"{base}/ssh")
    ssh, port = needed("ssh", "sshd"), sshd.start()
    entry = [ssh, "-F", f"{base}/ssh/ssh_config", "-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=15", "-p", str(port)]
    try:
        # As docs/clients.md says: the archive of the release, checked there by the release's checksums.
        there, name = f"{base}/there", "rootbound-x86_64-unknown-linux-musl"
        os.makedirs(there)
        with tarfile.open(f"{base}/{name}.tar.gz", "w:gz", compresslevel=1) as archive:
            archive.add(PROGRAM, f"{name}/rootbound")
        put(f"{base}/SHA256SUMS", "".join(
            f"{hashlib.sha256(data).hexdigest()}  {file}\n"
            for file, data in [(f"{name}.tar.gz", content(f"{base}/{name}.tar.gz")), ("rootbound.mcpb", b"not copied")]).encode())
        run(needed("scp", "sshd"), "-q", "-F", f"{base}/ssh/ssh_config", "-P", str(port),
            f"{base}/{name}.tar.gz", f"{base}/SHA256SUMS", f"host:{there}/")
        unpack = f"cd {there} && sha256sum -c --ignore-missing SHA256SUMS && tar -xzf {name}.tar.gz --strip-components=1 {name}/rootbound"
        check("the checksum", run(*entry, "host", unpack).stdout == f"{name}.tar.gz: OK\n")
        check("the program's bytes", content(f"{there}/rootbound") == content(PROGRAM))
        run(*entry, "host", f"printf x >> {there}/{name}.tar.gz")
        check("a damaged archive", "FAILED" in run(*entry, "host", unpack, code=1).stdout)
        installed = f"{there}/rootbound"

        root = f"{base}/ssh root/app"  # ssh joins its words for a shell, so a blank is quoted for that one
        os.makedirs(root)
        put(f"{base}/ssh root/outside.txt", b"CANARY\n")
        state = f"{base}/ssh-state"

        def start(*options, ssh=entry, at=root):
            return [*ssh, "host", f"{installed} --state-dir {state} {' '.join(options)} {shlex.quote(at)}"]

        flow(start, root, root, large=True)
        # What goes wrong before there is a server: nothing on stdout, nobody is asked, and the code says which side it was.
        for what, command, code, word in [
            ("no program", [*entry, "host", "/no/such/rootbound /srv/app"], 127, "rootbound"),
            ("a wrong option", [*entry, "host", f"{installed} --confine wide {there}"], 2, "--confine"),
            ("an unknown host", [ssh, "-o", "UserKnownHostsFile=/dev/null", *entry[1:], "host", "true"], 255, "verification failed"),
            ("no key", [ssh, "-o", "PubkeyAuthentication=no", *entry[1:], "host", "true"], 255, "Permission denied"),
            ("no sshd", [*entry[:-1], "1", "host", "true"], 255, "refused"),
        ]:
            done = run(*command, code=None)
            check(what, (done.returncode, done.stdout) == (code, "") and word in done.stderr, done)

        # A network that falls silent in a change is found out by ServerAliveInterval and by the other side's ClientAliveInterval;
        # meanwhile the line breaks in other ways.
        lost = f"{base}/ssh root/lost"
        old_files(lost)
        relay = Relay(sshd.start("-o", "ClientAliveInterval=2", "-o", "ClientAliveCountMax=3"))
        probing = ["-o", "ServerAliveInterval=2", "-o", "ServerAliveCountMax=3"]
        silent = Client(start(*PATCHES, ssh=[*entry[:4], *probing, *entry[4:-1], str(relay.port)], at=lost))
        silent.send({"id": "change", **one_change()})
        relay.hole = True
        again = Client(start(at=lost))
        check("a silent network: a new server answers meanwhile", "many" in again.call("ls"))
        again.end()
        broken("ssh, the client's ssh is killed", start, root, root, lambda client: client.process.kill(), -signal.SIGKILL)

        def kill_session(_):
            number = servers(root)[0]
            while not content(f"/proc/{number}/comm").startswith(b"sshd"):
                number = parent(number)
            os.kill(number, signal.SIGKILL)

        broken("ssh, the session's sshd is killed", start, root, root, kill_session, 255)

        check("a silent network: ssh ends", silent.process.wait(LIMIT) == 255 and "not responding" in silent.log(), silent.log())
        until("a silent network: the end of the server", lambda: not servers(lost))
        words = {content(f"{lost}/many/{number}.txt").split()[0] for number in range(FILES)}
        check("a silent network: the change is whole", len(words) == 1, words)
        # One connection for all of them: each is a session of its own in it.
        shared = ["-o", "ControlMaster=auto", "-o", f"ControlPath={base}/ssh/%C", "-o", "ControlPersist=yes"]
        launcher = f"{base}/launcher"
        put(launcher, f"""#!{sys.executable}
import os, shlex, sys
words = {[*entry, *shared]!r} + ["host", shlex.join(["cd", os.getcwd()]) + " && exec " + shlex.join([{installed!r}, *sys.argv[1:]])]
os.execv(words[0], words)
""".encode())
        os.chmod(launcher, 0o755)
        try:
            attacks("ssh", [SUITE, *ATTACKS], dict(os.environ, TESTS_PROGRAM=launcher))
        finally:
            run(*entry, *shared, "-O", "exit", "host", code=None)
    finally:
        sshd.stop()


ATTACKS = ["with_all_barriers", "--nocapture", "--test-threads=4"]


def attacks(name, command, environment=None):
    """Runs the attacks with all barriers that there are, and counts them."""
    begun = time.monotonic()
    done = run(*command, code=None, limit=LIMIT * 4, env=environment)
    assert done.returncode == 0, f"{name}: {done.stdout[-8000:]}{done.stderr[-8000:]}"
    counted = sum(map(int, re.findall(r"(\d+) attacks", done.stdout)))
    families = int(re.search(r"(\d+) passed; 0 failed", done.stdout)[1])
    check(f"{name}: attacks", counted > 4_000 and families > 30, done.stdout[-2000:])
    print(f"    {name}: {counted} attacks in {families} families, 0 escapes ({time.monotonic() - begun:.0f} s)", flush=True)


# --- containers -----------------------------------------------------------------------------------


class Containers:
    """Containers of an ordinary user: other namespaces of every kind, one user, no capability, a root without anything but
    PROGRAM (`FROM scratch`)."""

    def __init__(self, base):
        self.base, self.count = base, 0
        self.user = NOBODY if os.getuid() == 0 else os.getuid()
        self.group = NOBODY if os.getuid() == 0 else os.getgid()
        crun = needed("crun", "crun")
        os.makedirs(f"{base}/run")
        as_user = ["env", f"XDG_RUNTIME_DIR={base}/run", "HOME=/nonexistent", crun, "--cgroup-manager=disabled", "--root", f"{base}/run"]
        if os.getuid() == 0:
            as_user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--bounding-set=-all", *as_user]
            # crun does not start where cgroups of both versions are mounted: here its user sees those of the first alone.
            hidden = 'umount /sys/fs/cgroup/unified 2>/dev/null; exec "$@"'
            as_user = ["unshare", "-m", "sh", "-c", hidden, "sh", *as_user]
        self.crun = as_user
        self.own(f"{base}/run")

    def own(self, path):
        if os.getuid() == 0:
            for folder, _, names in os.walk(path):
                for entry in [folder, *(os.path.join(folder, name) for name in names)]:
                    os.chown(entry, self.user, self.group, follow_symlinks=False)

    def bundle(self, root, words, refused=(), errno=1, mounts=(), environment=()):
        """Writes a bundle that runs `words` with `root` as /srv; returns its folder and name."""
        self.count += 1
        name, folder = f"c{self.count}", f"{self.base}/bundle{self.count}"
        for path in ["srv", "proc", "dev", "tmp", *(mount["destination"][1:] for mount in mounts if os.path.isdir(mount["source"]))]:
            os.makedirs(f"{folder}/rootfs/{path}", exist_ok=True)
        shutil.copy(PROGRAM, f"{folder}/rootfs/rootbound")
        os.chmod(f"{folder}/rootfs/rootbound", 0o755)
        bound = [{"destination": "/srv", "type": "bind", "source": root, "options": ["rbind", "rw", "nosuid", "nodev"]}] if root else []
        usual = [{"destination": "/proc", "type": "proc", "source": "proc"},
                 {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
                 {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev", "mode=1777"]}]
        seccomp = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
            {"names": list(refused), "action": "SCMP_ACT_ERRNO", "errnoRet": errno}]}
        config = {
            "ociVersion": "1.0.2", "root": {"path": "rootfs", "readonly": True}, "mounts": [*usual, *bound, *mounts],
            "process": {"terminal": False, "user": {"uid": 1000, "gid": 1000}, "args": words, "cwd": "/", "noNewPrivileges": True,
                        "env": ["PATH=/usr/bin:/bin", "HOME=/tmp", *environment],
                        "capabilities": {kind: [] for kind in ["bounding", "effective", "permitted", "inheritable", "ambient"]}},
            "linux": {"namespaces": [{"type": kind} for kind in ["user", "mount", "pid", "ipc", "uts", "network"]],
                      "uidMappings": [{"containerID": 1000, "hostID": self.user, "size": 1}],
                      "gidMappings": [{"containerID": 1000, "hostID": self.group, "size": 1}],
                      **({"seccomp": seccomp} if refused else {})},
        }
        put(f"{folder}/config.json", json.dumps(config).encode())
        self.own(folder)
        return folder, name

    def started(self, root, words, *profile, **more):
        """The command that starts a container of its own for the words."""
        folder, name = self.bundle(root, words, *profile, **more)
        return [*self.crun, "run", "--bundle", folder, name]


def in_containers(base):
    containers = Containers(f"{base}/containers")
    outer = f"{base}/srv"
    put(f"{outer}/app/empty", b"")
    put(f"{outer}/outside.txt", b"CANARY\n")
    os.makedirs(f"{outer}/state")
    containers.own(outer)
    root = f"{outer}/app"
    can = run(*containers.started(outer, ["/rootbound", "--version"]), code=None)
    if can.returncode != 0:
        raise SystemExit(f"SKIPPED containers: this machine gives an ordinary user none: {can.stderr}")

    def start(*options, name="app"):
        return containers.started(outer, ["/rootbound", "--state-dir", "/srv/state", *options, f"/srv/{name}"])

    flow(start, root, "/srv/app", large=True)

    # As `docker exec -i`: the container runs, and each client starts a server in it. What keeps it is a server, too.
    folder, name = containers.bundle(outer, ["/rootbound", "--state-dir", "off", "/srv/state"])
    keeper = subprocess.Popen([*containers.crun, "run", "--bundle", folder, name], stdin=subprocess.PIPE)
    listed = [*containers.crun, "list", "--format", "json"]
    until("the container", lambda: any(one["status"] == "running" for one in json.loads(run(*listed).stdout or "[]") or []))

    def execute(*options):
        return [*containers.crun, "exec", "--user", "1000:1000", name, "/rootbound", "--state-dir", "/srv/state", *options, "/srv/app"]

    flow(execute, root, "/srv/app")

    def kill_command(client):
        # The server has the client's pipes themselves, which a client closes once its command ends.
        client.process.kill()
        client.process.stdin.close()

    broken("container, the client's command is killed", execute, root, "/srv/app", kill_command, -signal.SIGKILL)
    check("the container goes on", keeper.poll() is None)
    keeper.stdin.close()
    check("and ends with its own input", keeper.wait(LIMIT) == 0)

    def kill_container(_):
        os.kill(servers("/srv/app")[0], signal.SIGKILL)

    broken("container, all of it is killed", start, root, "/srv/app", kill_container, 128 + signal.SIGKILL)
    profiles(containers, outer, root)
    # The test program needs its libraries.
    mounts = [{"destination": path, "type": "bind", "source": path, "options": ["rbind", "ro"]}
              for path in ["/usr", "/bin", "/lib", "/lib64", "/etc"] if os.path.exists(path)]
    shutil.copy(SUITE, f"{base}/suite")
    mounts.append({"destination": "/suite", "type": "bind", "source": f"{base}/suite", "options": ["bind", "ro"]})
    # glibc of today makes no threads without clone3, which its own program has to have.
    for name, refused in [("container", ()), ("container with a profile of 2019", [call for call in NEWER if call != "clone3"])]:
        words = ["/suite", *ATTACKS]
        attacks(name, containers.started(None, words, refused, mounts=mounts, environment=["TESTS_PROGRAM=/rootbound"]))


def profiles(containers, outer, root):
    """Profiles that refuse calls: the server works by the walls that are left, and `doctor` names them."""
    def server(refused, errno, *words):
        return containers.started(outer, ["/rootbound", *words], refused, errno)

    usual = run(*server((), 1, "doctor", "/srv/app"), code=None).stdout
    check("doctor without a profile", "confines (openat2)" in usual and "profile" not in usual, usual)
    has_landlock = "not confined" not in usual
    shown = set()
    for number, error in [(38, "ENOSYS"), (1, "EPERM")]:
        for what, refused in [("openat2", ["openat2"]), ("Landlock", LANDLOCK), ("landlock_add_rule", LANDLOCK[1:2]),
                              ("landlock_restrict_self", LANDLOCK[2:]), ("seccomp", ["seccomp"]), ("prctl", ["prctl"]),
                              ("what is newer than 2019", NEWER), ("all of them", [*NEWER, "seccomp", "prctl"])]:
            name = f"{error} for {what}"
            report = run(*server(refused, number, "doctor", "/srv/app"), code=None).stdout
            paths = "openat2" not in refused
            files = has_landlock and not {"prctl", *LANDLOCK} & {*refused}
            calls = not {"prctl", "seccomp"} & {*refused}
            check(name, ("confines (openat2)" if paths else "name by name") in report, report)
            check(name, ("files are not confined" in report) != files, report)
            check(name, ("are refused (seccomp)" if calls else "not filtered: ") in report, report)
            missing = [call for call in ["openat2", *LANDLOCK, "seccomp", "prctl"] if call in refused]
            if {*LANDLOCK} & {*refused}:  # one of them takes the wall, so all are named
                missing = [call for call in ["openat2", *LANDLOCK, "seccomp", "prctl"] if call in {*refused, *LANDLOCK}]
            if refused == ["prctl"]:  # both walls begin with it
                missing = [*LANDLOCK, "seccomp", "prctl"]
            check(name, f"seccomp profile of this container, or take the current one of its engine: {', '.join(missing)}\n" in report, report)
            check(name, ("verdict      everything" in report) == (files and calls), report)
            flow(lambda *options: server(refused, number, "--state-dir", "/srv/state", *options, "/srv/app"), root, "/srv/app")
            refusal = run(*server(refused, number, "--confine", "required", "/srv/app"), code=None)
            starts = files and calls and "partially" not in usual
            check(name, (refusal.returncode == 2) != starts, (refusal.returncode, refusal.stderr))
            if not starts:
                check(name, "confinement is required, but " in refusal.stderr, refusal.stderr)
            shown.add(f"{what}: paths {'in one step' if paths else 'name by name'}, files {'' if files else 'not '}confined, "
                      f"calls {'' if calls else 'not '}refused")
    print("    refused by a profile → " + "; ".join(sorted(shown)))


def main():
    base = tempfile.mkdtemp(prefix="rootbound-remote-")
    os.chmod(base, 0o755)
    try:
        for name, part in [("ssh", over_ssh), ("containers", in_containers)]:
            begun = time.monotonic()
            part(base)
            print(f"ok {name} ({time.monotonic() - begun:.0f} s)", flush=True)
    finally:
        shutil.rmtree(base, ignore_errors=True)
    print(f"{passed} checks passed")


main()
