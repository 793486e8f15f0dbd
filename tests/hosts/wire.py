"""A local server that speaks the Messages API and plays what the prompt says.

The last user text with `script:` in it holds, from there on, a JSON list, one item
a model message. An item is a list of blocks:
  {"text": .., "times": 1 unless given}, {"thinking": ..}, {"tool": name, "input": {..}}: what the model says;
  {"say": what}: a text with what was in the request, see `say`;
  {"usage": {..}}: the tokens that the message is said to have used;
  {"headers": {name: value, ..}}: headers of the answer;
  {"wait": path}: in mid-stream, until there is such a file;
  {"cut": true}: the connection is reset in mid-stream;
or an object:
  {"status": code, "error": type, "retry_after": seconds or absent, "headers": {..} or absent}: a failure;
  {"close": true}: the connection is closed without an answer;
  {"attempts": [item, ..], "key": unique}: the items in turn, one a request.
After the last item, the model says "done".
"""

import json
import os
import signal
import socket
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# A shell that runs the suites in the background ignores interrupts, and so would all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

PREFIX = "script:"
# What is played for prompts that hold no script, by their text.
KNOWN = {}


def texts(message):
    content = message["content"]
    if isinstance(content, str):
        return [content]
    return [block["text"] for block in content if block.get("type") == "text"]


def is_environment(text):
    return text.startswith("<system-reminder>\nWorking directory: ")


def parted(text):
    """A text without the script in it, and the script."""
    before, found, behind = text.partition(PREFIX)
    if not found:
        return text, None
    played, end = json.JSONDecoder().raw_decode(behind)
    return before + behind[end:], played


def script(messages):
    for at in range(len(messages) - 1, -1, -1):
        if messages[at]["role"] != "user":
            continue
        for text in reversed(texts(messages[at])):
            if PREFIX in text or text in KNOWN:
                played = sum(m["role"] == "assistant" for m in messages[at:])
                return KNOWN[text] if text in KNOWN else parted(text)[1], played
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


def images(value):
    """The images in a part of a request, as media type and number of characters."""
    if isinstance(value, list):
        return [found for item in value for found in images(item)]
    if not isinstance(value, dict):
        return []
    if value.get("type") == "image":
        return [f"{value['source']['media_type']}:{len(value['source']['data'])}"]
    return images(value.get("content", []))


def bare(value):
    """The same without marks of what is to be cached."""
    if isinstance(value, list):
        return [bare(item) for item in value]
    if isinstance(value, dict):
        return {key: bare(item) for key, item in value.items() if key != "cache_control"}
    return value


def say(what, request):
    messages = request["messages"]
    if what == "model":
        return request["model"]
    if what == "results":
        return "\n".join(text for m in messages[-2:] for text in results(m))
    if what == "last":
        blocks = [block for block in messages[-1]["content"] if not is_environment(block.get("text", ""))]
        return ",".join("result" if block["type"] == "tool_result" else block["text"] for block in blocks)
    if what == "texts":
        said = [t for m in messages if m["role"] == "user" for t in texts(m) if not is_environment(t)]
        said = [parted(text)[0] for text in said]
        return "\n".join(filter(None, said))
    if what == "environment":
        return "\n".join(text for m in messages for text in texts(m) if is_environment(text))
    if what == "messages":
        return json.dumps(bare(messages))
    if what == "request":
        return json.dumps({key: request.get(key) for key in ("model", "max_tokens", "thinking", "metadata")})
    if what == "tools":
        return ",".join(tool["name"] for tool in request.get("tools", []))
    if what == "question":
        asks = next(tool for tool in request.get("tools", []) if tool["name"] == "AskUserQuestion")
        return json.dumps(asks)
    if what == "system":
        return json.dumps(request.get("system", ""))
    if what == "thinking":
        return json.dumps(request.get("thinking"))
    if what == "images":
        return ",".join(found for m in messages for found in images(m))
    raise ValueError(what)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    count = 0
    attempts = {}
    lock = threading.Lock()

    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        steps, played = script(request["messages"])
        step = steps[played] if played < len(steps) else [{"text": "done"}]
        with Handler.lock:
            Handler.count += 1
            number = Handler.count
            if isinstance(step, dict) and "attempts" in step:
                number = Handler.attempts.get(step["key"], 0)
                Handler.attempts[step["key"]] = number + 1
                step = step["attempts"][min(number, len(step["attempts"]) - 1)]
        if isinstance(step, list):
            self.answer(request, step, number)
        elif "close" in step:
            self.reset()
        else:
            self.fail(step)

    def fail(self, step):
        body = json.dumps({"type": "error", "error": {"type": step["error"], "message": "as scripted"}}).encode()
        self.send_response(step["status"])
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        if "retry_after" in step:
            self.send_header("retry-after", str(step["retry_after"]))
        for name, value in step.get("headers", {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def answer(self, request, step, number):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        for block in step:
            for name, value in block.get("headers", {}).items():
                self.send_header(name, value)
        self.end_headers()
        self.close_connection = True
        try:
            self.stream(request, step, number)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def reset(self):
        # Without lingering, a close is a reset.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.rfile.close()
        self.connection.close()

    def event(self, kind, **data):
        self.wfile.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode())
        self.wfile.flush()

    def stream(self, request, step, number):
        message = {
            "id": f"msg_{number}", "type": "message", "role": "assistant", "model": request["model"],
            "content": [], "stop_reason": None, "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 1},
        }
        for block in step:
            message["usage"].update(block.get("usage", {}))
        self.event("message_start", message=message)
        index, tools = 0, 0
        for block in step:
            if "wait" in block:
                self.wait(block["wait"])
                continue
            if "cut" in block:
                self.reset()
                return
            if "usage" in block or "headers" in block:
                continue
            if "tool" in block:
                start = {"type": "tool_use", "id": f"toolu_{number}_{index}", "name": block["tool"], "input": {}}
                deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
                tools += 1
            elif "thinking" in block:
                start = {"type": "thinking", "thinking": "", "signature": ""}
                deltas = [{"type": "thinking_delta", "thinking": block["thinking"]},
                          {"type": "signature_delta", "signature": "c2ln"}]
            else:
                text = block["text"] * block.get("times", 1) if "text" in block else say(block["say"], request)
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


    def wait(self, path):
        end = time.monotonic() + 60
        while not os.path.exists(path) and time.monotonic() < end:
            # A client that has gone ends the wait.
            self.connection.settimeout(0.01)
            try:
                if self.connection.recv(1, socket.MSG_PEEK) == b"":
                    raise BrokenPipeError
            except TimeoutError:
                pass
        self.connection.settimeout(None)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_):
        """Clients that have gone are no news."""


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
