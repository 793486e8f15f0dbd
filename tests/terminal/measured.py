"""A conversation on a pseudo-terminal, measured from outside: bytes, time, memory and CPU of the process."""

import fcntl
import http.server
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import struct
import tempfile
import termios
import threading
import time

PATIENCE = 120
TICKS = os.sysconf("SC_CLK_TCK")
FRAME = b"\x1b[?2026h"


class Place:
    """A home and a directory of their own."""

    def __init__(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="terminal-"))
        self.home, self.work = self.root / "home", self.root / "work"
        for folder in [self.home, self.work]:
            folder.mkdir()

    def environment(self, **more):
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8", "TERM": "xterm-256color",
                "SHELL": "/bin/sh", **more}

    def scripted(self, *turns):
        """The environment of a model that answers with these lists of blocks."""
        script = self.root / "script.json"
        script.write_text(json.dumps({"version": 1, "turns": [{"blocks": blocks} for blocks in turns]}))
        return self.environment(WINDLASS_SCRIPT=str(script))

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)


class Process:
    """Memory and time of a process, with all of its threads."""

    def __init__(self, pid):
        self.folder = pathlib.Path("/proc") / str(pid)

    def seconds(self):
        """CPU that was used."""
        fields = (self.folder / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def nanoseconds(self):
        """CPU that was used by the threads that are there, more exactly."""
        return sum(int((task / "schedstat").read_text().split()[0]) for task in (self.folder / "task").iterdir())

    def memory(self):
        """Resident memory in kB."""
        rows = (self.folder / "status").read_text().splitlines()
        return next(int(row.split()[1]) for row in rows if row.startswith("VmRSS:"))

    def wakes(self):
        """Times that a thread waited and was woken."""
        count = 0
        for task in (self.folder / "task").iterdir():
            rows = (task / "status").read_text().splitlines()
            count += next(int(row.split()[1]) for row in rows if row.startswith("voluntary_ctxt_switches:"))
        return count


class Terminal:
    """The command on a pseudo-terminal that answers what each terminal answers."""

    def __init__(self, command, place, environment, size=(80, 24)):
        self.began = time.monotonic()
        self.child, self.host = pty.fork()
        if self.child == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
            os.chdir(place.work)
            os.execve(command[0], command, environment)
        self.process = Process(self.child)
        self.written, self.frames, self.tail = 0, [], b""

    def resize(self, columns, rows):
        fcntl.ioctl(self.host, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def keys(self, text):
        os.write(self.host, text.encode())

    def line(self, text):
        self.keys(text)
        self.read(0.4)
        self.keys("\r")

    def read(self, seconds):
        """Reads for so long. Returns the number of bytes."""
        before, end = self.written, time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not self.take(left):
                break
        return self.written - before

    def take(self, limit):
        if not select.select([self.host], [], [], limit)[0]:
            return False
        try:
            data = os.read(self.host, 65536)
        except OSError:
            return False
        if b"\x1b[c" in data:
            os.write(self.host, b"\x1b[?62c")
        self.written += len(data)
        self.frames += [time.monotonic()] * data.count(FRAME)
        self.tail = (self.tail + data)[-65536:]
        return bool(data)

    def wait(self, text):
        """Reads until a text has come, which is forgotten."""
        end = time.monotonic() + PATIENCE
        while text.encode() not in self.tail:
            if time.monotonic() > end:
                raise SystemExit(f"{text!r} never came: {self.tail[-1000:]!r}")
            self.take(0.1)
        at = time.monotonic()
        self.tail = self.tail.partition(text.encode())[2]
        return at

    def close(self):
        """Ends the process, and returns the CPU seconds that it took."""
        os.kill(self.child, signal.SIGTERM)
        while self.take(10):
            pass
        _, _, used = os.wait4(self.child, 0)
        os.close(self.host)
        return used.ru_utime + used.ru_stime


class Model(http.server.ThreadingHTTPServer):
    """A server that speaks the Messages API. `answer` gets the request, and yields the deltas of a text, each with the
    seconds to wait before it, or returns the block of a call."""

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Answering)
        self.answer = answer
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def environment(self):
        return {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{self.server_port}", "ANTHROPIC_API_KEY": "none"}


class Answering(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        usage = {"input_tokens": 1000, "output_tokens": 1}
        self.event("message_start", message={"id": "m", "type": "message", "role": "assistant", "content": [],
                                             "model": request["model"], "stop_reason": None, "usage": usage})
        answer = self.server.answer(request)
        if isinstance(answer, dict):
            start = {"type": "tool_use", "id": f"toolu_{time.monotonic_ns()}", "name": answer["name"], "input": {}}
            self.event("content_block_start", index=0, content_block=start)
            delta = {"type": "input_json_delta", "partial_json": json.dumps(answer["input"])}
            self.event("content_block_delta", index=0, delta=delta)
            reason = "tool_use"
        else:
            self.event("content_block_start", index=0, content_block={"type": "text", "text": ""})
            for pause, text in answer:
                time.sleep(pause)
                self.event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})
            reason = "end_turn"
        self.event("content_block_stop", index=0)
        self.event("message_delta", delta={"stop_reason": reason}, usage={"output_tokens": 10})
        self.event("message_stop")
        self.close_connection = True

    def event(self, kind, **fields):
        self.wfile.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode())
