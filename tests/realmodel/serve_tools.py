"""Chat Completions over a small model that turns one request in words into calls of tools, and does not chat.

Behind a result the answer is that result. Usage: serve_tools.py PORT; prints "ready" when it listens.
"""

import os

os.environ.update(NEEDLE_TELEMETRY="0", DO_NOT_TRACK="1", HF_HUB_OFFLINE="1")

import json  # noqa: E402
import re  # noqa: E402
import sys  # noqa: E402
from http.server import BaseHTTPRequestHandler, HTTPServer  # noqa: E402

import needle  # noqa: E402

MODELS = {}


def text_of(content):
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [])


def asked(messages):
    """The words of the user, without the texts of the runtime around them."""
    said = text_of([message for message in messages if message["role"] == "user"][-1]["content"])
    said = re.sub(r"<(system-reminder|environment)[^>]*>.*?</\1>", "", said, flags=re.S)
    return said.strip().split("\n\n")[-1]


def simple(tool):
    """The definition as the model takes it: short, with the members that are required."""
    function, schema = tool["function"], tool["function"].get("parameters", {})
    required = schema.get("required", [])
    members = {
        name: {"type": member.get("type", "string"), "description": member.get("description", "")[:80]}
        for name, member in schema.get("properties", {}).items()
        if name in required
    }
    return {
        "name": function["name"],
        "description": function.get("description", "").split(". ")[0][:120],
        "parameters": {"type": "object", "properties": members, "required": sorted(required)},
    }


def answer(body):
    """The text of the answer and its calls."""
    results = []
    for message in reversed(body["messages"]):
        if message["role"] != "tool":
            break
        results.insert(0, text_of(message["content"]))
    if results:
        return "Result: " + " | ".join(results)[:2000], []
    tools = [simple(tool) for tool in body.get("tools", [])]
    key = json.dumps(tools)
    if key not in MODELS:
        MODELS[key] = needle.Needle(tools=tools, stateless=True, auto_date=False)
    calls = MODELS[key].complete(asked(body["messages"])).get("function_calls") or []
    return (None if calls else "nothing to call"), calls


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, kind, data):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.reply("application/json", json.dumps({"object": "list", "data": [{"id": "needle"}]}).encode())

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text, calls = answer(body)
        chunks = [({"role": "assistant"}, None)]
        if text:
            chunks += [({"content": word}, None) for word in re.findall(r"\S+\s*", text)]
        for index, call in enumerate(calls):
            function = {"name": call["name"], "arguments": json.dumps(call.get("arguments", {}))}
            call = {"index": index, "id": f"call_{index}", "type": "function", "function": function}
            chunks.append(({"tool_calls": [call]}, None))
        chunks.append(({}, "tool_calls" if calls else "stop"))
        frames = [
            {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": body.get("model"),
             "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
            for delta, finish in chunks
        ]
        frames[-1]["usage"] = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        data = "".join(f"data: {json.dumps(frame)}\n\n" for frame in frames) + "data: [DONE]\n\n"
        self.reply("text/event-stream", data.encode())


server = HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
print("ready", flush=True)
server.serve_forever()
