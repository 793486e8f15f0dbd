"""A session of windlass over its standard streams, with a model that plays what prompts say (tests/hosts/wire.py)."""

import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hosts"))
import wire

FLAGS = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json", "--strict-mcp-config"]
# No tool asks for permission: what is tried here is what servers do.
OPEN = ["--permission-mode", "bypassPermissions", "--allow-dangerously-skip-permissions"]


def play(*messages):
    """A prompt that says what the model does, a list of blocks for each message."""
    return wire.PREFIX + json.dumps(messages)


class Session:
    """windlass with these servers, in a directory of its own. Questions of servers are agreed to."""

    def __init__(self, windlass, servers, handler=wire.Handler, env=None):
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="windlass-mcp-"))
        self.work = os.path.join(self.root, "work")
        os.mkdir(self.work)
        self.model = wire.Server(("127.0.0.1", 0), handler)
        threading.Thread(target=self.model.serve_forever, daemon=True).start()
        env = {
            "PATH": os.environ["PATH"], "HOME": self.root, "CLAUDE_CONFIG_DIR": os.path.join(self.root, "home"),
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{self.model.server_address[1]}", "ANTHROPIC_API_KEY": "dummy",
            **(env or {}),
        }
        servers = servers(self.work) if callable(servers) else servers
        config = json.dumps({"mcpServers": servers})
        self.log = open(os.path.join(self.root, "stderr"), "w+")
        self.process = subprocess.Popen(
            [windlass, *FLAGS, *OPEN, "--mcp-config", config], cwd=self.work, env=env, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
        )
        self.asked, self.lines, self.requests = [], queue.Queue(), 0
        threading.Thread(target=self.read, daemon=True).start()
        self.control("initialize")

    def read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            if message["type"] == "control_request":
                self.answer(message)
            self.lines.put(message)
        self.lines.put(None)

    def answer(self, message):
        self.asked.append(message["request"])
        elicited = {"action": "accept", "content": {}}
        allowed = {"behavior": "allow", "updatedInput": message["request"].get("input", {})}
        response = elicited if message["request"]["subtype"] == "elicitation" else allowed
        body = {"subtype": "success", "request_id": message["request_id"], "response": response}
        self.send({"type": "control_response", "response": body})

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def until(self, holds, seconds=60):
        """The messages up to one of which something holds, and that one."""
        messages = []
        while not messages or not holds(messages[-1]):
            message = self.lines.get(timeout=seconds)
            assert message is not None, f"windlass has ended: {self.said()}"
            messages.append(message)
        return messages

    def control(self, subtype, **more):
        self.requests += 1
        id = f"r{self.requests}"
        self.send({"type": "control_request", "request_id": id, "request": {"subtype": subtype, **more}})
        found = self.until(lambda m: m["type"] == "control_response" and m["response"]["request_id"] == id)
        return found[-1]["response"]

    def begin(self, prompt):
        self.send({"type": "user", "message": {"role": "user", "content": prompt}, "parent_tool_use_id": None})

    def say(self, prompt, seconds=60):
        """The messages of a turn; the last one is its result."""
        self.begin(prompt)
        return self.until(lambda message: message["type"] == "result", seconds)

    def call(self, tool, given=None):
        """The result of a tool as the model reads it: its content and whether it is an error."""
        messages = self.say(play([{"tool": tool, "input": given or {}}]))
        found = [
            block for message in messages if message["type"] == "user" and isinstance(message["message"]["content"], list)
            for block in message["message"]["content"] if block["type"] == "tool_result"
        ]
        assert found, f"no result of {tool}: {messages[-1]}"
        return found[-1]["content"], found[-1].get("is_error", False)

    def servers(self):
        return self.control("mcp_status")["response"]["mcpServers"]

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def end(self):
        """Closes the input and waits for the end: the exit status."""
        self.process.stdin.close()
        return self.process.wait(20)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.model.shutdown()
        shutil.rmtree(self.root, ignore_errors=True)
