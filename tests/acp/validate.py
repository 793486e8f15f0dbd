"""Validates what an agent has written against the published schema: `validate.py SCHEMA LOG`."""

import json
import sys

from jsonschema import Draft202012Validator

RESULTS = {
    "initialize": "InitializeResponse",
    "authenticate": "AuthenticateResponse",
    "session/new": "NewSessionResponse",
    "session/load": "LoadSessionResponse",
    "session/resume": "ResumeSessionResponse",
    "session/list": "ListSessionsResponse",
    "session/delete": "DeleteSessionResponse",
    "session/close": "CloseSessionResponse",
    "session/set_mode": "SetSessionModeResponse",
    "session/set_config_option": "SetSessionConfigOptionResponse",
    "session/prompt": "PromptResponse",
}
PARAMS = {
    "session/update": "SessionNotification",
    "session/request_permission": "RequestPermissionRequest",
    "$/cancel_request": "CancelRequestNotification",
    "elicitation/create": "CreateElicitationRequest",
    "fs/read_text_file": "ReadTextFileRequest",
}


class Schema:
    def __init__(self, path):
        with open(path) as file:
            self.whole = json.load(file)
        self.known = {}

    def problems(self, name, value):
        if name not in self.known:
            schema = {"$ref": f"#/$defs/{name}", "$defs": self.whole["$defs"]}
            self.known[name] = Draft202012Validator(schema)
        return [f"{name}: {error.json_path}: {error.message[:300]}" for error in self.known[name].iter_errors(value)]


def problems(schema, lines):
    """All problems of a log, and the number of messages of the agent."""
    found, count, open_requests, asked = [], 0, {}, set()
    for number, entry in enumerate(lines, 1):
        say = lambda text: found.append(f"line {number}: {text}")
        if entry["from"] == "start":
            open_requests, asked = {}, set()
            continue
        try:
            message = json.loads(entry["line"])
        except ValueError:
            if entry["from"] == "agent":
                say("the agent wrote a line that is no JSON")
            continue
        if entry["from"] == "client":
            if isinstance(message, dict) and "id" in message and not {"result", "error"} & set(message):
                open_requests.setdefault(json.dumps(message["id"]), []).append(message.get("method"))
            continue
        count += 1
        if message.get("jsonrpc") != "2.0":
            say("no jsonrpc 2.0")
        if unknown := set(message) - {"jsonrpc", "id", "method", "params", "result", "error"}:
            say(f"fields of its own at the root: {unknown}")
        if "method" in message:
            name = PARAMS.get(message["method"])
            if name is None:
                say(f"the agent made up the method {message['method']}")
            else:
                for problem in schema.problems(name, message["params"]):
                    say(problem)
            if "id" in message:
                if json.dumps(message["id"]) in asked:
                    say("the agent used an id twice")
                asked.add(json.dumps(message["id"]))
            continue
        id = json.dumps(message.get("id"))
        methods = open_requests.get(id) or []
        is_open, method = bool(methods), methods.pop(0) if methods else None
        if not is_open and message.get("id") is not None:
            say(f"an answer that nobody waits for: {message}")
        if "error" in message:
            for problem in schema.problems("Error", message["error"]):
                say(problem)
        elif method in RESULTS:
            for problem in schema.problems(RESULTS[method], message["result"]):
                say(problem)
    for request, methods in open_requests.items():
        found.extend(f"no answer to {method} {request}" for method in methods)
    return found, count


def read(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


if __name__ == "__main__":
    found, count = problems(Schema(sys.argv[1]), read(sys.argv[2]))
    for problem in found[:20]:
        print(problem)
    print(f"{sys.argv[2].rsplit('/', 1)[-1]}: {count} messages, {len(found)} problems")
    sys.exit(bool(found) or count == 0)
