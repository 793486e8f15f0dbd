"""A client that means harm: no file outside, no program, and the agent lives on. `hostile.py WINDLASS LOG`."""

import json
import os
import random
import sys

from common import Place, equal, play, text, tool
from rpc_client import Client

WINDLASS, LOG = sys.argv[1:3]


def told(place):
    """A client that reads files is told no path that is denied, hidden or outside, and what it answers changes no file."""
    outside, denied, hidden, own = (os.path.join(place.root, name) for name in ["out.txt", "work/denied.txt", "work/.env", "work/own.txt"])
    for path in [outside, denied, hidden, own]:
        with open(path, "w") as file:
            file.write("disk")
    place.settings(permissions={"deny": ["Read(denied.txt)"], "allow": ["Read"]})
    client, paths = Client(place, WINDLASS, LOG), []

    def lie(message):
        paths.append(message["params"].get("path"))
        return {"content": "y" * 100_000}

    client.others = lie
    client.ask("initialize", protocolVersion=1, clientCapabilities={"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True})
    session = client.ask("session/new", cwd=place.cwd, mcpServers=[])["result"]["sessionId"]
    calls = [tool("Read", file_path=path)[0] for path in [outside, denied, hidden, own]]
    calls += [tool("Write", file_path=own, content="written")[0], tool("Bash", command=f"cat {denied}")[0]]
    reject = {"outcome": {"outcome": "selected", "optionId": "reject"}}
    client.ask("session/prompt", reject, sessionId=session, prompt=[{"type": "text", "text": play(calls, text("ok"))}])
    assert own in paths, paths
    assert not {outside, denied, hidden} & set(paths), paths
    assert all(message.startswith("fs/read_text_file") for message in client.asked), client.asked
    for path in [outside, denied, hidden, own]:
        with open(path) as file:
            equal(file.read(), "disk")
    # Answers that are none leave the disk as it is read.
    answers = iter([{"content": 7}, {}, None, [], "x", {"content": None}])
    client.others = lambda _: next(answers, None)
    for _ in range(6):
        script = play(tool("Read", file_path=own), [{"say": "messages"}])
        answer = client.ask("session/prompt", reject, sessionId=session, prompt=[{"type": "text", "text": script}])
        equal(answer["result"]["stopReason"], "end_turn")
    equal(client.end(), 0)


def strange(chance, value):
    """A value with parts that were replaced, taken out or added."""
    others = [None, True, -1, 2**63, 1.5, "", "x" * 5000, "\u0000", "../..", [], {}, [[]], {"type": "text"}, {"uri": "file:///etc/passwd"}]
    if chance.random() < 0.15:
        return chance.choice(others)
    if isinstance(value, dict):
        kept = {name: strange(chance, part) for name, part in value.items() if chance.random() > 0.05}
        return {**kept, "more": chance.choice(others)} if chance.random() < 0.1 else kept
    if isinstance(value, list):
        return [strange(chance, part) for part in value] * chance.choice([1, 1, 1, 2])
    return value


def fuzzed(place):
    """Requests, notifications and answers of each method with strange values: each request has one answer, and the agent lives."""
    client, chance = Client(place, WINDLASS, LOG), random.Random(43)
    abilities = {"fs": {"readTextFile": True}, "elicitation": {"form": {}, "url": {}}, "auth": {"terminal": True}}
    client.others = lambda _: strange(chance, {"content": "x", "action": "accept", "outcome": {"outcome": "selected", "optionId": "no"}})
    client.ask("initialize", protocolVersion=1, clientCapabilities=abilities)
    session = client.ask("session/new", cwd=place.cwd, mcpServers=[])["result"]["sessionId"]
    servers = [{"name": "s", "command": "/bin/false", "args": ["-c"], "env": [{"name": "a", "value": "b"}]}]
    known = {"sessionId": session, "cwd": place.cwd, "mcpServers": servers, "additionalDirectories": [place.root]}
    prompt = [{"type": "text", "text": "x"}, {"type": "image", "data": "AA==", "mimeType": "image/png"}, {"type": "resource_link", "name": "n", "uri": "file:///x"}]
    messages = {
        "initialize": {"protocolVersion": 1, "clientCapabilities": abilities},
        "authenticate": {"methodId": "api-key"},
        "session/load": known,
        "session/list": {"cwd": place.cwd, "cursor": "c"},
        "session/prompt": {"sessionId": session, "prompt": prompt},
        "session/set_mode": {"sessionId": session, "modeId": "plan"},
        "session/set_config_option": {"sessionId": session, "configId": "model", "value": "opus"},
        "session/delete": {"sessionId": "none"},
        "session/close": {"sessionId": "none"},
        "session/cancel": {"sessionId": session},
        "$/cancel_request": {"requestId": 1},
    }
    for number in range(1500):
        method = chance.choice(list(messages))
        params = strange(chance, messages[method])
        if method in ("session/cancel", "$/cancel_request"):
            client.line(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())
        elif chance.random() < 0.1:
            answer = {"jsonrpc": "2.0", "id": strange(chance, f"{chance.randrange(4)}-{chance.randrange(9)}"), "result": params}
            client.line(json.dumps(answer).encode())
        else:
            fields = params if isinstance(params, dict) else {}
            answer = client.ask(method, lambda given: strange(chance, {"outcome": {"outcome": "selected", "optionId": "no"}}), **{name: part for name, part in fields.items() if name != "method"})
            assert ("result" in answer) != ("error" in answer), answer
    session = client.ask("session/new", cwd=place.cwd, mcpServers=[])["result"]["sessionId"]
    client.ask("initialize", protocolVersion=1)
    answer = client.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": play(text("alive"))}])
    equal(answer["result"]["stopReason"], "end_turn")
    equal(client.end(), 0)


def main():
    place = Place()
    outside = os.path.join(place.root, "outside.txt")
    with open(outside, "w") as file:
        file.write("secret")
    mark = os.path.join(place.root, "started")
    client = Client(place, WINDLASS, LOG)
    client.ask("initialize", protocolVersion=1)
    # A program that the client names is not started.
    server = {"name": "evil", "command": "/bin/sh", "args": ["-c", f"touch {mark}"], "env": []}
    session = client.ask("session/new", cwd=place.cwd, mcpServers=[server])["result"]["sessionId"]
    # Answers that are no yes let nothing run.
    for outcome in [
        {"outcome": {"outcome": "selected", "optionId": "yes"}},
        {"outcome": {"outcome": "allow"}},
        {"outcome": "selected", "optionId": "allow"},
        {"behavior": "allow"},
        None,
        [],
        "allow",
    ]:
        script = play(tool("Bash", command=f"touch {mark}"), text("ok"))
        client.ask("session/prompt", outcome, sessionId=session, prompt=[{"type": "text", "text": script}])
        assert not os.path.exists(mark), outcome
    # Links and resources are names and texts: the agent opens nothing for them.
    blocks = [
        {"type": "text", "text": play([{"say": "messages"}])},
        {"type": "resource_link", "name": "x", "uri": f"file://{outside}"},
        {"type": "resource", "resource": {"uri": "file:///etc/passwd", "text": f"@{outside} /compact"}},
    ]
    client.ask("session/prompt", sessionId=session, prompt=blocks)
    log = open(LOG).read()
    assert "secret" not in log, "a file outside was read"
    # Methods of clients, and those that there are not.
    for method in ["fs/read_text_file", "terminal/create", "session/fork", "session/request_permission", "_x", "", "\u0000"]:
        equal(client.ask(method, path=outside, command="sh")["error"]["code"], -32601)
    # A session of another name leads to no other file.
    for name in ["../../etc/passwd", "..", "", "/", "a\u0000b", "x" * 10_000]:
        answer = client.ask("session/load", sessionId=name, cwd=place.cwd, mcpServers=[])
        assert answer["error"]["code"] in (-32002, -32603), answer
        client.ask("session/delete", sessionId=name)
    # Random bytes and mutated messages.
    chance = random.Random(7)
    for number in range(500):
        valid = {"jsonrpc": "2.0", "id": f"m{number}", "method": "session/set_mode", "params": {"sessionId": session, "modeId": "plan"}}
        broken = bytearray(json.dumps(valid).encode())
        for _ in range(chance.randrange(1, 6)):
            at = chance.randrange(len(broken))
            broken[at : at + chance.randrange(3)] = bytes(chance.randrange(32, 127) for _ in range(chance.randrange(3)))
        client.line(bytes(broken))
        client.line(bytes(byte for byte in chance.randbytes(40) if byte != 10))
    answer = client.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": play(text("alive"))}])
    equal(answer["result"]["stopReason"], "end_turn")
    assert not os.path.exists(mark)
    equal(client.end(), 0)
    told(place)
    fuzzed(place)
    place.close()
    print("hostile ok")


if __name__ == "__main__":
    main()
