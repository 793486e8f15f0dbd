"""A client that writes messages by hand."""

import json
import os
import subprocess

from common import tapped


class Client:
    def __init__(self, place, windlass, log):
        self.notes = os.path.join(place.root, "notes.txt")
        errors = open(self.notes, "a")
        self.agent = subprocess.Popen(
            tapped(windlass, log), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=place.env, cwd=place.root
        )
        self.next = 0
        # Other requests of the agent than permissions, and the answer to them.
        self.asked, self.others = [], lambda _: None

    def line(self, line):
        self.agent.stdin.write(line + b"\n")
        self.agent.stdin.flush()

    def ask(self, method, answer_with=None, **params):
        """The answer to a request. Questions are answered with an option of this kind, or with something else."""
        self.next += 1
        self.line(json.dumps({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}).encode())
        while True:
            read = self.agent.stdout.readline()
            assert read, "the agent is gone"
            message = json.loads(read)
            if message.get("method") == "session/request_permission":
                outcome = answer_with(message["params"]) if callable(answer_with) else answer_with
                self.line(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": outcome}).encode())
            elif "method" in message and "id" in message:
                self.asked.append(message["method"])
                self.line(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": self.others(message)}).encode())
            elif message.get("id") == self.next and "method" not in message:
                return message

    def end(self):
        self.agent.stdin.close()
        code = self.agent.wait(20)
        with open(self.notes) as notes:
            assert "panicked" not in notes.read(), "a task of the agent failed"
        return code
