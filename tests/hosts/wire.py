"""A local server that speaks the Messages API and plays what the prompt says.

The last user text that begins with `script:` holds a JSON list, one item a model
message: a list of blocks, each `{"text": ..}`, `{"thinking": ..}`, `{"tool": name,
"input": {..}}`, `{"sleep": seconds}` (in mid-stream) or `{"say": what}`, which
answers with what was in the request: "model", "results", "texts" or "tools"; or
an object `{"status": code, "error": type}`. A further message says "done".
"""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PREFIX = "script:"


def texts(message):
    content = message["content"]
    if isinstance(content, str):
        return [content]
    return [block["text"] for block in content if block.get("type") == "text"]


def script(messages):
    for at in range(len(messages) - 1, -1, -1):
        if messages[at]["role"] != "user":
            continue
        for text in reversed(texts(messages[at])):
            if text.startswith(PREFIX):
                played = sum(m["role"] == "assistant" for m in messages[at:])
                return json.loads(text[len(PREFIX):]), played
    return [], 0


def results(message):
    content = message["content"] if isinstance(message["content"], list) else []
    found = []
    for block in content:
        if block.get("type") == "tool_result":
            inner = block["content"]
            text = inner if isinstance(inner, str) else "".join(b.get("text", "") for b in inner)
            found.append(("ERROR " if block.get("is_error") else "") + text)
    return found


def say(what, request):
    messages = request["messages"]
    if what == "model":
        return request["model"]
    if what == "results":
        return "\n".join(text for m in messages[-2:] for text in results(m))
    if what == "texts":
        return "\n".join(t for m in messages if m["role"] == "user" for t in texts(m) if not t.startswith(PREFIX))
    if what == "tools":
        return ",".join(tool["name"] for tool in request.get("tools", []))
    if what == "system":
        return json.dumps(request.get("system", ""))
    if what == "thinking":
        return json.dumps(request.get("thinking"))
    raise ValueError(what)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    count = 0

    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        steps, played = script(request["messages"])
        step = steps[played] if played < len(steps) else [{"text": "done"}]
        Handler.count += 1
        if isinstance(step, dict):
            body = json.dumps({"type": "error", "error": {"type": step["error"], "message": "as scripted"}}).encode()
            self.send_response(step["status"])
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            self.stream(request, step)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def event(self, kind, **data):
        self.wfile.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode())
        self.wfile.flush()

    def stream(self, request, step):
        message = {
            "id": f"msg_{Handler.count}", "type": "message", "role": "assistant", "model": request["model"],
            "content": [], "stop_reason": None, "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 1},
        }
        self.event("message_start", message=message)
        index, tools = 0, 0
        for block in step:
            if "sleep" in block:
                time.sleep(block["sleep"])
                continue
            if "tool" in block:
                start = {"type": "tool_use", "id": f"toolu_{Handler.count}_{index}", "name": block["tool"], "input": {}}
                deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
                tools += 1
            elif "thinking" in block:
                start = {"type": "thinking", "thinking": "", "signature": ""}
                deltas = [{"type": "thinking_delta", "thinking": block["thinking"]},
                          {"type": "signature_delta", "signature": "c2ln"}]
            else:
                text = block["text"] if "text" in block else say(block["say"], request)
                start = {"type": "text", "text": ""}
                deltas = [{"type": "text_delta", "text": part} for part in (text[:3], text[3:]) if part]
            self.event("content_block_start", index=index, content_block=start)
            for delta in deltas:
                self.event("content_block_delta", index=index, delta=delta)
            self.event("content_block_stop", index=index)
            index += 1
        stop = "tool_use" if tools else "end_turn"
        self.event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage={"output_tokens": 7})
        self.event("message_stop")


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


def start():
    server = Server(("127.0.0.1", 0), Handler)
    return server, f"http://127.0.0.1:{server.server_address[1]}"


if __name__ == "__main__":
    server, url = start()
    print(url, flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)
