"""Coding agents with the entry that `rootbound setup` wrote, and a stand-in for their model on the loopback.

`agents.py ROOTBOUND CLIENT PROGRAM [ARGUMENT...]`, CLIENT as setup names it, PROGRAM as it is started, such as `qwen` or
`node cli.js`. HOME is empty but for what setup puts there. Asked are the agent's own list of servers, and what its first request to the
model carries: the schemas of the six tools. Then the model's recorded turns read a file and edit it. Run it by hand for the
programs that are too large for each run of CI:

    cd "$(mktemp -d)" && mkdir src && printf 'RETRIES = 3\\n' >src/config.py
    HOME=$PWD/../home python3 agents.py rootbound claude-code claude     # also: opencode, kilo, copilot-cli, qwen-code
"""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

TOOLS = {"edit", "glob", "grep", "ls", "read", "write"}
PATH = "src/config.py"
TURNS = [
    ("read", {"path": PATH}),
    ("edit", {"path": PATH, "old_string": "RETRIES = 3", "new_string": "RETRIES = 5"}),
]
HOME = Path(os.environ["HOME"])


class Model(BaseHTTPRequestHandler):
    """Answers as the Messages API or as chat completions do, always as a stream."""

    protocol_version = "HTTP/1.1"
    requests = []

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"] or 0)))
        if "count_tokens" in self.path:
            return self.answer("application/json", json.dumps({"input_tokens": 100}))
        is_chat = "completions" in self.path
        names = tools(request)
        # Requests without tools are for titles and the like.
        if names:
            self.requests.append(request)
        turn = len(results(request))
        call = TURNS[turn] if names and turn < len(TURNS) else None
        if call and call[0] not in names:
            call = None
        events = (chat if is_chat else messages)(f"call_{turn}", call and (names[call[0]], json.dumps(call[1])))
        self.answer("text/event-stream", "".join(events))

    def do_GET(self):
        self.send_response(404)
        self.send_header("content-length", "0")
        self.end_headers()

    def answer(self, kind, text):
        body = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def tools(request):
    """Our tools in a request: the name that the agent gives to each, which ends with ours."""
    named = {}
    for tool in request.get("tools") or []:
        tool = tool.get("function", tool)
        name, schema = tool.get("name") or "", tool.get("parameters") or tool.get("input_schema") or {}
        own = name.replace("-", "_").split("_")[-1]
        if own in TOOLS and "files" in name and schema.get("properties"):
            named[own] = name
    return named


def results(request):
    """The texts of the results of calls in a request."""
    texts = []
    for message in request["messages"]:
        parts = message.get("content")
        if message["role"] == "tool":
            texts.append(json.dumps(parts))
        elif isinstance(parts, list):
            texts += [json.dumps(part.get("content")) for part in parts if part.get("type") == "tool_result"]
    return texts


def messages(identity, call):
    if call:
        block = {"type": "tool_use", "id": identity, "name": call[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": call[1]}
    else:
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": "done"}
    usage = {"input_tokens": 1, "output_tokens": 1}
    start = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
    for event in [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use" if call else "end_turn"}, "usage": usage},
        {"type": "message_stop"},
    ]:
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"


def chat(identity, call):
    delta = {"role": "assistant", "content": "done"}
    if call:
        function = {"name": call[0], "arguments": call[1]}
        delta = {"role": "assistant", "tool_calls": [{"index": 0, "id": identity, "type": "function", "function": function}]}
    head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    for choice in [(delta, None), ({}, "tool_calls" if call else "stop")]:
        choices = [{"index": 0, "delta": choice[0], "finish_reason": choice[1]}]
        yield f"data: {json.dumps({**head, 'choices': choices, 'usage': usage})}\n\n"
    yield "data: [DONE]\n\n"


def write(path, update):
    """Adds members to a JSON file of the agent."""
    path = HOME / path
    path.parent.mkdir(parents=True, exist_ok=True)
    document = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**document, **update}))


def launch(client, url):
    """How an agent is asked for its servers and for one answer, and the variables that lead it to the stand-in."""
    if client == "claude-code":
        variables = {"ANTHROPIC_API_KEY": "x", "ANTHROPIC_BASE_URL": url, "DISABLE_AUTOUPDATER": "1"}
        variables |= {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "ENABLE_TOOL_SEARCH": "true"}
        return ["mcp", "list"], ["-p", "hello", "--allowedTools", "mcp__files"], variables
    if client == "qwen-code":
        variables = {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "m"}
        return ["mcp", "list"], ["-p", "hello", "--auth-type", "openai", "--approval-mode", "yolo"], variables
    if client == "copilot-cli":
        variables = {"COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": f"{url}/v1"}
        variables |= {"COPILOT_PROVIDER_API_KEY": "x", "COPILOT_MODEL": "gpt-5.4", "COPILOT_AUTO_UPDATE": "false"}
        return ["mcp", "list"], ["-p", "hello", "--allow-all-tools"], variables
    folder = {"opencode": ".config/opencode/opencode.json", "kilo": ".config/kilo/kilo.json"}[client]
    options = {"baseURL": f"{url}/v1", "apiKey": "x"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "l", "options": options, "models": {"m": {"name": "m"}}}
    write(folder, {"provider": {"l": provider}, "model": "l/m"})
    names = ["DISABLE_AUTOUPDATE", "DISABLE_MODELS_FETCH"]
    return ["mcp", "list"], ["run", "hello"], {f"{client.upper()}_{name}": "1" for name in names}


def main(rootbound, client, *program):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    # No token, no proxy and no setting of the machine.
    environment = {"HOME": str(HOME), "PATH": os.environ["PATH"], "TERM": "dumb", "NO_COLOR": "1"}
    run = lambda words: subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    written = run([rootbound, "setup", client, "--write", "--yes"])
    assert written.returncode == 0, written.stderr
    asked, prompt, variables = launch(client, f"http://127.0.0.1:{server.server_address[1]}")
    environment |= variables
    listed = run([*program, *asked])
    assert "files" in listed.stdout + listed.stderr, listed
    answered = run([*program, *prompt])
    assert Model.requests, answered
    first = tools(Model.requests[0])
    assert set(first) == TOOLS, (first, answered)
    seen = results(Model.requests[-1])
    assert len(seen) == 2 and "RETRIES = 3" in seen[0] and "RETRIES = 5" in seen[1], (seen, answered)
    print(f"{client}: the first of {len(Model.requests)} requests has {', '.join(sorted(first.values()))}")


main(*sys.argv[1:])
