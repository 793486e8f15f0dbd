"""Runs an agent and writes each line in both directions to a file: `tap.py LOG PROGRAM ARGS ..`."""

import json
import subprocess
import sys
import threading

log, *command = sys.argv[1:]
lock = threading.Lock()


def note(sender, line):
    with lock, open(log, "a") as file:
        file.write(json.dumps({"from": sender, "line": line.decode("utf-8", "replace").rstrip("\n")}) + "\n")


agent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def forward():
    for line in sys.stdin.buffer:
        note("client", line)
        try:
            agent.stdin.write(line)
            agent.stdin.flush()
        except BrokenPipeError:
            return
    agent.stdin.close()


note("start", b"")
threading.Thread(target=forward, daemon=True).start()
for line in agent.stdout:
    note("agent", line)
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
sys.exit(agent.wait())
