#!/usr/bin/env python3
"""Runs a windlass under valgrind against a model that answers from a script.

Usage: layout.py WINDLASS WORK HOME OUT; OUT gets a file `calls.N` for each run.
"""

import http.server
import json
import os
import subprocess
import sys
import threading

PROGRAM, WORK, HOME, OUT = (os.path.abspath(word) for word in sys.argv[1:5])
FILES = [os.path.join(WORK, f"file-{at}.txt") for at in range(10)]
EDIT = {"file_path": FILES[0], "old_string": "line 3\n", "new_string": "line three\n"}
TURNS = [
    [("Read", {"file_path": path}) for path in FILES],
    [("Bash", {"command": "ls -la"}), ("Grep", {"pattern": "line"}), ("Glob", {"pattern": "*.txt"}), ("Edit", EDIT)],
]


def event(kind, **more):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n"


def answer(calls, turn):
    """One message as the Messages API streams it."""
    start = {"id": f"msg_{turn}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": [],
             "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 1}}
    out = event("message_start", message=start)
    blocks = [{"type": "tool_use", "id": f"toolu_{turn}_{at}", "name": name, "input": {}}
              for at, (name, _) in enumerate(calls)] or [{"type": "text", "text": ""}]
    for at, block in enumerate(blocks):
        out += event("content_block_start", index=at, content_block=block)
        if calls:
            part = {"type": "input_json_delta", "partial_json": json.dumps(calls[at][1])}
            out += event("content_block_delta", index=at, delta=part)
        for word in [] if calls else ["All ", "is ", "well."] * 20:
            out += event("content_block_delta", index=at, delta={"type": "text_delta", "text": word})
        out += event("content_block_stop", index=at)
    stop = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    return out + event("message_delta", delta=stop, usage={"output_tokens": 9}) + event("message_stop")


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        messages = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"]
        turn = sum(message["role"] == "assistant" for message in messages)
        wants_tools = "use the tools" in json.dumps(messages[0]["content"])
        body = answer(TURNS[turn] if wants_tools and turn < len(TURNS) else [], turn).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for path in FILES:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"line {line}\n" for line in range(40))
    env = {"PATH": os.environ["PATH"], "HOME": HOME, "WINDLASS_HOME": os.path.join(HOME, "windlass"),
           "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_address[1]}", "ANTHROPIC_API_KEY": "none"}
    lines = ["--output-format", "stream-json", "--verbose", "--include-partial-messages"]
    runs = [["-p", "hello"], ["-p", "use the tools", "--permission-mode", "acceptEdits"],
            ["-p", "use the tools", "--permission-mode", "acceptEdits", *lines]]
    for at, words in enumerate(runs):
        tool = ["valgrind", "--tool=callgrind", "--demangle=no", f"--callgrind-out-file={OUT}/calls.{at}"]
        done = subprocess.run([*tool, PROGRAM, *words], cwd=WORK, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600)
        if done.returncode != 0:
            sys.exit(f"windlass {' '.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


main()
