"""An MCP server as a program, with the standard library alone. Usage: server.py [NAME]"""

import json
import os
import sys
import time

NAME = sys.argv[1] if len(sys.argv) > 1 else "files"
ANSWERS = {}


def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def tool(name, **properties):
    return {"name": name, "description": f"{name} of {NAME}", "inputSchema": {"type": "object", "properties": properties}}


TOOLS = [tool("env"), tool("ask"), tool("die"), tool("slow"), tool("judge")]


def text(said):
    return {"content": [{"type": "text", "text": said}]}


def judge(given):
    """A permission prompt: allows what is marked as good."""
    if "good" in json.dumps(given.get("input")):
        return {"behavior": "allow", "updatedInput": given["input"]}
    return {"behavior": "deny", "message": f"{given['tool_name']} is not good"}


def call(name, given, answer_to):
    if name == "env":
        return text(json.dumps(dict(os.environ)))
    if name == "die":
        print("told to die", file=sys.stderr, flush=True)
        os._exit(7)
    if name == "slow":
        time.sleep(60)
    if name == "judge":
        return text(json.dumps(judge(given)))
    if name == "ask":
        schema = {"type": "object", "properties": {"colour": {"type": "string"}}}
        say(id="q", method="elicitation/create", params={"message": "Which colour?", "requestedSchema": schema})
        return text(json.dumps(answer_to("q")))
    return {**text(f"no tool {name}"), "isError": True}


def main():
    lines = iter(sys.stdin)

    def answer_to(wanted):
        for line in lines:
            message = json.loads(line)
            if message.get("id") == wanted:
                return message.get("result")

    for line in lines:
        message = json.loads(line)
        method, id, params = message.get("method"), message.get("id"), message.get("params", {})
        if method == "initialize":
            info = {"name": NAME, "version": "0.1"}
            say(id=id, result={"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info})
        elif method == "tools/list":
            say(id=id, result={"tools": TOOLS})
        elif method == "tools/call":
            say(id=id, result=call(params["name"], params.get("arguments", {}), answer_to))
        elif method == "resources/read":
            say(id=id, result={"contents": [{"uri": params["uri"], "text": "a resource"}]})
        elif id is not None:
            say(id=id, error={"code": -32601, "message": "no such method"})


main()
