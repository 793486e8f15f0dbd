"""windlass as the client of a conformance scenario, with a model that plays what the scenario asks for.

Run as `client.py URL` with the name of the scenario in MCP_CONFORMANCE_SCENARIO, its
data in MCP_CONFORMANCE_CONTEXT and the program in WINDLASS. Fails if the server is not connected in the end.
"""

import json
import os
import sys

import logins
import session
import wire

SERVER = "conformance"
SCENARIO = os.environ["MCP_CONFORMANCE_SCENARIO"]
AUTH = SCENARIO.startswith("auth/")
CONTEXT = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
# In place of an input: the schema of this tool, as the model reads it.
SCHEMA_OF = "schema of"

CALLS = {
    "tools_call": [("add_numbers", {"a": 5, "b": 3})],
    "elicitation-sep1034-client-defaults": [("test_client_elicitation_defaults", {})],
    "sse-retry": [("test_reconnection", {})],
    "sep-2322-client-request-state": [
        ("test_mrtr_echo_state", {}), ("test_mrtr_no_state", {}),
        ("test_mrtr_unrelated", {}), ("test_mrtr_no_result_type", {}),
    ],
    "http-standard-headers": [("test_headers", {}), ("my-hyphenated-tool", {})],
    "http-custom-headers": [(call["name"], call["arguments"]) for call in CONTEXT.get("toolCalls", [])],
    "http-invalid-tool-headers": [("valid_tool", {"region": "us-west1"})],
    "json-schema-2020-12-preservation": [("json_schema_echo", {"schema": {SCHEMA_OF: "json_schema_2020_12_tool"}})],
}
RESOURCES = {"http-standard-headers": "file:///path/to/file%20name.txt"}
PROMPTS = {"http-standard-headers": "test_prompt"}


class Model(wire.Handler):
    def answer(self, request, step, number):
        schemas = {tool["name"]: tool.get("input_schema") for tool in request.get("tools", [])}
        for block in step:
            for name, value in block.get("input", {}).items():
                if isinstance(value, dict) and SCHEMA_OF in value:
                    block["input"][name] = schemas.get(whole(value[SCHEMA_OF])) or {}
        super().answer(request, step, number)


def whole(tool):
    return f"mcp__{SERVER}__{tool}"


def steps():
    calls = CALLS.get(SCENARIO, [("test-tool", {})] if AUTH else [])
    played = [[{"tool": whole(name), "input": given}] for name, given in calls]
    if SCENARIO in RESOURCES:
        played.append([{"tool": "ListMcpResourcesTool", "input": {"server": SERVER}}])
        played.append([{"tool": "ReadMcpResourceTool", "input": {"server": SERVER, "uri": RESOURCES[SCENARIO]}}])
    return played


def run(url):
    servers = {SERVER: {"type": "http", "url": url, "alwaysLoad": True}}
    if AUTH:
        servers[SERVER]["oauth"] = logins.oauth(SCENARIO, CONTEXT)
    talk = session.Session(os.environ["WINDLASS"], servers, Model, {"RUST_LOG": os.environ.get("RUST_LOG", "")})
    try:
        act = lambda: [print(json.dumps(message)) for message in talk.say(session.play(*steps()))]
        logins.behind_logins(talk, SERVER, act) if AUTH else act()
        if SCENARIO in PROMPTS:
            print(json.dumps(talk.say(f"/{whole(PROMPTS[SCENARIO])}")[-1]))
        (server,) = talk.servers()
        talk.end()
        print(talk.said(), file=sys.stderr)
    finally:
        talk.close()
    if server["status"] != "connected":
        sys.exit(f"the server is {server['status']}: {server.get('error')}")


run(sys.argv[1])
