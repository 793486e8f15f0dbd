"""One end of the pipes to windlass, without an SDK."""

import json
import os
import queue
import select
import subprocess
import threading
import time

from common import CLI

FLAGS = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"]
ASKING = ["--permission-prompt-tool", "stdio"]
BASH = ["--allowedTools", "Bash"]
MIB = 2**20


def user(prompt, **more):
    return {"type": "user", "message": {"role": "user", "content": prompt}, "parent_tool_use_id": None, **more}


def control(subtype, id="r", **more):
    return {"type": "control_request", "request_id": id, "request": {"subtype": subtype, **more}}


def answer(request, response):
    body = {"subtype": "success", "request_id": request["request_id"], "response": response}
    return {"type": "control_response", "response": body}


class Host:
    """One end of the pipes; windlass has the other."""

    def __init__(self, world, *flags, reads=True):
        self.stderr = open(os.path.join(world.root, "stderr"), "a+")
        self.process = subprocess.Popen(
            [CLI, *FLAGS, *flags],
            cwd=world.cwd, env={"PATH": os.environ["PATH"], **world.env},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.stderr, bufsize=0,
        )
        self.lines = queue.Queue()
        # What answers questions; without it a test does.
        self.replies = None
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.stopped, self.stop = os.pipe()
        if reads:
            self.reader.start()

    def read(self):
        output = self.process.stdout.fileno()
        parts = []
        while select.select([output, self.stopped], [], [])[0] == [output]:
            data = os.read(output, MIB)
            if not data:
                break
            head, *ends = data.split(b"\n")
            parts.append(head)
            for end in ends:
                self.take(b"".join(parts))
                parts = [end]
        self.lines.put(None)

    def take(self, line):
        self.heard(line)
        message = json.loads(line)
        if self.replies and message["type"] == "control_request":
            self.send(answer(message, self.replies(message["request"])))
        self.lines.put(message)

    def heard(self, line):
        """Is told every line as it was written."""

    def raw(self, data):
        view = memoryview(data)
        while view:
            view = view[os.write(self.process.stdin.fileno(), view):]

    def send(self, *messages):
        self.raw(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def next(self, holds, what, seconds=20):
        """The next line of which something holds; what comes before it is dropped."""
        end = time.monotonic() + seconds
        while True:
            try:
                line = self.lines.get(timeout=max(0, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no {what} within {seconds} s") from None
            assert line is not None, f"the output ended before {what}"
            if holds(line):
                return line

    def result(self):
        return self.next(lambda line: line["type"] == "result", "result")

    def asked(self, subtype="can_use_tool"):
        holds = lambda line: line["type"] == "control_request" and line["request"]["subtype"] == subtype
        return self.next(holds, subtype)

    def answered(self, id):
        holds = lambda line: line["type"] == "control_response" and line["response"]["request_id"] == id
        return self.next(holds, f"response to {id}")["response"]

    def close_input(self):
        self.process.stdin.close()

    def gone(self):
        """Both pipes are closed, as when the host dies."""
        os.write(self.stop, b"x")
        self.reader.join()
        self.process.stdin.close()
        self.process.stdout.close()

    def exit(self, seconds=15):
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"it had not ended after {seconds} s") from None

    def peak(self):
        """The most memory that the program had at once."""
        with open(f"/proc/{self.process.pid}/status") as file:
            (line,) = [line for line in file if line.startswith("VmHWM:")]
        return int(line.split()[1]) * 1024

    def said(self):
        self.stderr.seek(0)
        return self.stderr.read()
