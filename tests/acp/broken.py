"""Breaks one message of a valid log at a time: the validation has to notice each. `broken.py SCHEMA LOG`."""

import copy
import json
import sys

from validate import Schema, problems, read


def of(message, *path):
    for name in path:
        message = message.get(name) if isinstance(message, dict) else None
    return message


def update(kind):
    return lambda message: of(message, "params", "update", "sessionUpdate") == kind


def result(name):
    return lambda message: of(message, "result", name) is not None


def put(value, *path):
    def change(message):
        *way, last = path
        for name in way:
            message = message[name]
        message[last] = value

    return change


def drop(*path):
    def change(message):
        *way, last = path
        for name in way:
            message = message[name]
        del message[last]

    return change


# Name, the message to break, and how.
BROKEN = [
    ("an unknown stop reason", result("stopReason"), put("done", "result", "stopReason")),
    ("no stop reason", result("stopReason"), drop("result", "stopReason")),
    ("an unknown update", update("plan"), put("todo", "params", "update", "sessionUpdate")),
    ("a chunk without content", update("agent_message_chunk"), drop("params", "update", "content")),
    ("a call without an id", update("tool_call"), drop("params", "update", "toolCallId")),
    ("an unknown status", update("tool_call_update"), put("running", "params", "update", "status")),
    ("an unknown kind", update("tool_call"), put("shell", "params", "update", "kind")),
    ("an update without a session", update("tool_call"), drop("params", "sessionId")),
    ("no session id", result("sessionId"), drop("result", "sessionId")),
    ("a mode without a name", result("modes"), put([{"id": "x"}], "result", "modes", "availableModes")),
    ("a version that is text", result("protocolVersion"), put("1", "result", "protocolVersion")),
    ("a list that is none", result("sessions"), put({}, "result", "sessions")),
    (
        "an unknown kind of option",
        lambda message: message.get("method") == "session/request_permission",
        put([{"optionId": "a", "name": "a", "kind": "maybe"}], "params", "options"),
    ),
    ("a field of its own", result("stopReason"), put(1, "windlass")),
    ("a made-up method", update("plan"), put("session/news", "method")),
    ("an answer to nobody", result("stopReason"), put("nobody", "id")),
]


def main():
    schema, lines = Schema(sys.argv[1]), read(sys.argv[2])
    missed = []
    for name, wanted, change in BROKEN:
        for at, entry in enumerate(lines):
            if entry["from"] != "agent":
                continue
            message = json.loads(entry["line"])
            if wanted(message):
                change(message)
                broken = copy.copy(lines)
                broken[at] = {"from": "agent", "line": json.dumps(message)}
                if not problems(schema, broken)[0]:
                    missed.append(name)
                break
        else:
            missed.append(f"{name} (the log has no such message)")
    answers = [at for at, entry in enumerate(lines) if entry["from"] == "agent" and result("stopReason")(json.loads(entry["line"]))]
    for name, broken in [
        ("a second answer", lines[: answers[0] + 1] + lines[answers[0] :]),
        ("no answer", lines[: answers[-1]] + lines[answers[-1] + 1 :]),
        ("a line that is no JSON", [*lines, {"from": "agent", "line": "hello"}]),
    ]:
        if not problems(schema, broken)[0]:
            missed.append(name)
    print(f"broken agents: {len(BROKEN) + 3 - len(missed)} noticed, {len(missed)} missed {missed or ''}")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
