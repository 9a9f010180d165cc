"""A language server that misbehaves on request: python3 server.py MODE.

A line with the word BROKEN is an error, one with WARN a warning. `fine` also shows what a server sees of its host.
"""

import json
import os
import sys
import threading
import time

MODE = sys.argv[1] if len(sys.argv) > 1 else "fine"
OUT = sys.stdout.buffer
WRITING = threading.Lock()


def send(message):
    with WRITING:
        put(message)


def put(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    OUT.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    OUT.flush()


def receive():
    length = 0
    while True:
        line = sys.stdin.buffer.readline()
        if not line:
            sys.exit(0)
        if line == b"\r\n":
            return json.loads(sys.stdin.buffer.read(length))
        name, value = line.split(b":")
        if name.lower() == b"content-length":
            length = int(value)


def found(text):
    for number, line in enumerate(text.split("\n")):
        for word, severity in (("BROKEN", 1), ("WARN", 2)):
            at = line.find(word)
            if at >= 0:
                units = len(line[:at].encode("utf-16-le")) // 2
                place = {"line": number, "character": units}
                yield {
                    "range": {"start": place, "end": place},
                    "severity": severity,
                    "source": "fake",
                    "code": "F1",
                    "message": "%s in %s, see %s and /opt/secret/name.h" % (word.lower(), os.getcwd(), URI),
                }


def publish(uri, text, version):
    diagnostics = list(found(text))
    if MODE == "flood":
        diagnostics = diagnostics * 20
    params = {"uri": uri, "diagnostics": diagnostics, "version": version}
    if MODE == "no-version":
        del params["version"]
        if not diagnostics and uri not in PUBLISHED:
            return
    PUBLISHED.add(uri)
    send({"method": "textDocument/publishDiagnostics", "params": params})
    if MODE == "outside":
        for other in ("file:///etc/passwd", "file:///etc/../etc/shadow", "nonsense", "file://" + ROOT + "/.env"):
            place = {"line": 0, "character": 0}
            one = {"range": {"start": place, "end": place}, "severity": 1, "message": "ELSEWHERE " + str(version)}
            send({"method": "textDocument/publishDiagnostics", "params": {"uri": other, "diagnostics": [one]}})


def probe():
    """What this process can reach, as a diagnostic would show it."""
    seen = []
    for path in ("/etc/shadow", os.environ.get("PROBE_OUTSIDE", "/nonexistent")):
        try:
            open(path).read()
            seen.append("reads " + os.path.basename(path))
        except OSError:
            pass
    try:
        with open("written-by-server", "w") as out:
            out.write("x")
        seen.append("writes")
    except OSError:
        pass
    seen.extend(name for name in os.environ if "SECRET" in name)
    try:
        import socket

        socket.create_connection(("127.0.0.1", int(os.environ.get("PROBE_PORT", "9"))), 1).close()
        seen.append("connects")
    except OSError:
        pass
    return ", ".join(seen) or "nothing"


if MODE == "crash-at-start":
    sys.stderr.write("no \x1b[31mlicence\n")
    sys.exit(3)
if MODE == "denied":
    open(os.path.expanduser("~/.tools/lib/settings"))
if MODE == "daemon" and os.fork() == 0:
    # As a daemon does: a session of its own, and no parent.
    os.setsid()
    if os.fork() == 0:
        null = os.open("/dev/null", os.O_RDWR)
        for number in range(3):
            os.dup2(null, number)
        script = "import time; time.sleep(600)"
        os.execv(sys.executable, [sys.executable, "-c", script, "daemon-of-" + os.path.expanduser("~") + "/"])
    os._exit(0)
PUBLISHED, URI, ROOT = set(), "", ""
LATE = []


def gate():
    """Whether the test lets it answer; what it kept is sent then."""
    return os.path.exists(os.path.join(ROOT, "gate"))


def answer_late():
    """Once the gate is open, sends what was kept, and says that it is loaded."""
    while not gate():
        time.sleep(0.01)
    with LOCK:
        for uri, text, version in LATE:
            publish(uri, text, version)
        LATE.clear()
        loaded(True)
        OPEN.set()


def loaded(is_loaded):
    if MODE == "gated-status":
        status = {"health": "ok", "quiescent": is_loaded}
        send({"method": "experimental/serverStatus", "params": status})
    if MODE == "gated-progress":
        value = {"kind": "end"} if is_loaded else {"kind": "begin", "title": "loading"}
        send({"method": "$/progress", "params": {"token": 1, "value": value}})


LOCK, OPEN = threading.Lock(), threading.Event()
while True:
    message = receive()
    method, params = message.get("method"), message.get("params") or {}
    if MODE == "silent":
        continue
    if method == "initialize":
        URI = params["rootUri"]
        ROOT = URI[len("file://") :]
        if MODE == "slow":
            time.sleep(3600)
        if MODE == "garbage":
            OUT.write(b"hello\r\n\r\nworld" * 1000)
            OUT.flush()
        if MODE == "giant":
            OUT.write(b"Content-Length: 99999999999\r\n\r\n" + b"x" * 100000)
            OUT.flush()
        if MODE == "endless":
            while True:
                send({"method": "window/logMessage", "params": {"message": "x" * 1000000}})
        provider = {"diagnosticProvider": {"interFileDependencies": True}} if MODE == "pull" else {}
        info = {"serverInfo": {"name": "rust-analyzer"}} if MODE == "gated-status" else {}
        send({"id": message["id"], "result": {"capabilities": {"textDocumentSync": 1, **provider}, **info}})
        if MODE == "warning":
            status = {"health": "warning", "quiescent": True, "message": "some sources are missing"}
            send({"method": "experimental/serverStatus", "params": status})
        if MODE.startswith("gated"):
            threading.Thread(target=answer_late, daemon=True).start()
    elif method in ("textDocument/didOpen", "textDocument/didChange"):
        if MODE == "crash-at-change" and method == "textDocument/didChange":
            os._exit(1)
        document = params["textDocument"]
        text = document.get("text") or params["contentChanges"][0]["text"]
        TEXT = text
        if MODE == "asks":
            edit = {"changes": {document["uri"]: []}}
            send({"id": "e1", "method": "workspace/applyEdit", "params": {"edit": edit}})
            send({"id": "e2", "method": "workspace/executeCommand", "params": {"command": "sh"}})
            send({"id": 3, "method": "window/showDocument", "params": {"uri": "http://127.0.0.1/"}})
            send({"id": 4, "method": "workspace/configuration", "params": {"items": [{"section": "fake.key"}]}})
        if MODE == "stuck-progress":
            send({"method": "$/progress", "params": {"token": 1, "value": {"kind": "begin", "title": "x"}}})
        if MODE == "probe" and "BROKEN" in text:
            text = text.replace("BROKEN", "")
            place = {"line": 0, "character": 0}
            one = {"range": {"start": place, "end": place}, "severity": 1, "message": "PROBE " + probe()}
            params = {"uri": document["uri"], "version": document["version"], "diagnostics": [one]}
            send({"method": "textDocument/publishDiagnostics", "params": params})
        elif MODE.startswith("gated") and not OPEN.is_set():
            with LOCK:
                if OPEN.is_set():
                    publish(document["uri"], text, document["version"])
                else:
                    LATE.append((document["uri"], text, document["version"]))
                    loaded(False)
                    if MODE != "gated":
                        publish(document["uri"], "", document["version"])
        elif MODE != "pull":
            publish(document["uri"], text, document["version"])
    elif method == "textDocument/diagnostic":
        items = list(found(TEXT))
        send({"id": message["id"], "result": {"kind": "full", "items": items}})
    elif method == "exit":
        sys.exit(0)
    elif "id" in message and method:
        with LOCK:
            send({"id": message["id"], "result": None})
    elif "id" in message and MODE == "asks":
        with open("/dev/null", "w") as log:
            log.write(json.dumps(message))
