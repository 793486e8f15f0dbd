"""MCP servers: those inside the host, and programs. Usage: servers.py WINDLASS [NAME ..]"""

import asyncio
import json
import os
import subprocess
import sys
from typing import Any

from claude_agent_sdk import (
    PermissionResultAllow,
    PermissionResultDeny,
    ToolResultBlock,
    create_sdk_mcp_server,
    query,
)
from claude_agent_sdk import tool as mcp_tool

import common
from common import blocks, client, collect, contains, equal, framed, play, raises, result, say, system, test, text, tool, until

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "server.py")


def program(*more):
    return {"type": "stdio", "command": sys.executable, "args": [PROGRAM, *more]}


class Calc:
    """A server inside this process."""

    def __init__(self):
        self.seen = []
        self.started = asyncio.Event()
        self.given_up = False
        calc = self

        @mcp_tool("add", "Adds two numbers.", {"a": float, "b": float})
        async def add(args: dict[str, Any]):
            calc.seen.append(args)
            return {"content": [{"type": "text", "text": str(args["a"] + args["b"])}]}

        @mcp_tool("fail", "Fails.", {})
        async def fail(args: dict[str, Any]):
            return {"content": [{"type": "text", "text": "it is broken"}], "is_error": True}

        @mcp_tool("crash", "Raises.", {})
        async def crash(args: dict[str, Any]):
            raise RuntimeError("out of cheese")

        @mcp_tool("draw", "Draws.", {})
        async def draw(args: dict[str, Any]):
            picture = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
            return {"content": [{"type": "text", "text": "a pixel"}, picture]}

        @mcp_tool("wait", "Waits for ever.", {})
        async def wait(args: dict[str, Any]):
            calc.started.set()
            try:
                await asyncio.sleep(600)
            except asyncio.CancelledError:
                calc.given_up = True
                raise

        self.server = create_sdk_mcp_server("calc", version="1.2.3", tools=[add, fail, crash, draw, wait])


NAMES = [f"mcp__calc__{name}" for name in ["add", "crash", "draw", "fail", "wait"]]


async def call(world, calls, **more):
    """Has the model make calls: the last text, the results and all messages."""
    script = play(calls, [{"say": "results"}])
    messages = await collect(query(prompt=script, options=world.options(**more)))
    return result(messages).result, blocks(messages, ToolResultBlock), messages


@test
async def in_process_tools(world):
    calc = Calc()
    more = {"mcp_servers": {"calc": calc.server}, "allowed_tools": ["mcp__calc__*"]}
    told, [block], messages = await call(world, tool("mcp__calc__add", a=1, b=2), **more)
    init = system(messages, "init")[0].data
    equal([name for name in init["tools"] if name.startswith("mcp__")], NAMES)
    # In the order in which the model has them, where `Task` is called `Agent`.
    own = ["Agent" if name == "Task" else name for name in init["tools"]]
    equal(own, sorted(own))
    equal(init["mcp_servers"], [{"name": "calc", "status": "connected", "source": "sdk"}])
    assert not block.is_error, block
    equal((told, calc.seen), ("3", [{"a": 1, "b": 2}]))


@test
async def results_of_all_kinds(world):
    more = {"mcp_servers": {"calc": Calc().server}, "allowed_tools": ["mcp__calc"]}
    calls = [*tool("mcp__calc__fail"), *tool("mcp__calc__crash"), *tool("mcp__calc__draw")]
    told, found, _ = await call(world, calls, **more)
    equal([bool(block.is_error) for block in found], [True, True, False])
    contains(told, "it is broken")
    contains(told, "out of cheese")
    [said, picture] = found[2].content
    equal(said, {"type": "text", "text": "a pixel"})
    equal(picture["source"], {"type": "base64", "media_type": "image/png", "data": PIXEL})
    messages = await collect(query(prompt=play(tool("mcp__calc__draw"), [{"say": "images"}]), options=world.options(**more)))
    contains(result(messages).result, "image/png")


@test
async def input_that_does_not_fit_reaches_no_tool(world):
    calc = Calc()
    more = {"mcp_servers": {"calc": calc.server}, "allowed_tools": ["mcp__calc__add"]}
    told, [block], _ = await call(world, tool("mcp__calc__add", a="one"), **more)
    assert block.is_error
    contains(told, "InputValidationError")
    equal(calc.seen, [])


@test
async def calls_are_asked_about(world):
    asked = []

    async def decide(name, given, context):
        asked.append((name, given))
        if given["a"] == 13:
            return PermissionResultDeny(message="not thirteen")
        return PermissionResultAllow(updated_input={**given, "b": 40})

    async def prompts(text):
        yield {"type": "user", "message": {"role": "user", "content": text}}

    calc = Calc()
    script = play([*tool("mcp__calc__add", a=13, b=1), *tool("mcp__calc__add", a=2, b=1)], [{"say": "results"}])
    options = world.options(mcp_servers={"calc": calc.server}, can_use_tool=decide)
    messages = await collect(query(prompt=prompts(script), options=options))
    equal([name for name, _ in asked], ["mcp__calc__add"] * 2)
    told = result(messages).result
    contains(told, "not thirteen")
    contains(told, "42")
    equal(calc.seen, [{"a": 2, "b": 40}])
    # Nobody to ask is a no, whatever a server claims of its tools.
    told, [block], _ = await call(world, tool("mcp__calc__add", a=1, b=2), mcp_servers={"calc": calc.server})
    assert block.is_error, block


@test
async def rules_deny_and_hide(world):
    more = {"mcp_servers": {"calc": Calc().server}, "allowed_tools": ["mcp__calc"], "disallowed_tools": ["mcp__calc__add"]}
    _, [block], messages = await call(world, tool("mcp__calc__add", a=1, b=2), **more)
    assert block.is_error
    assert "mcp__calc__add" not in system(messages, "init")[0].data["tools"]
    _, _, messages = await call(world, text("hello"), **{**more, "disallowed_tools": ["mcp__calc"]})
    equal([name for name in system(messages, "init")[0].data["tools"] if name.startswith("mcp__")], [])


@test
async def a_call_is_interrupted(world):
    calc = Calc()
    async with client(world, mcp_servers={"calc": calc.server}, allowed_tools=["mcp__calc"]) as host:
        await host.query(play(tool("mcp__calc__wait"), text("never")))
        messages = asyncio.ensure_future(collect(host.receive_response()))
        await asyncio.wait_for(calc.started.wait(), 20)
        await host.interrupt()
        end = result(await messages)
        equal(end.subtype, "error_during_execution")
        await until(lambda: calc.given_up, 10, "the end of the tool")
        # The server is still of use.
        equal((await say(host, play(tool("mcp__calc__add", a=2, b=2), [{"say": "results"}]))).result, "4")


@test
async def status_and_switches(world):
    calc = Calc()
    servers = {"calc": calc.server, "files": program()}
    async with client(world, mcp_servers=servers, allowed_tools=["mcp__calc", "mcp__files"]) as host:
        async def status():
            found = (await host.get_mcp_status())["mcpServers"]
            return {server["name"]: server for server in found}

        equal(sorted(await status()), ["calc", "files"])
        await say(host, play(text("hello")))
        known = await status()
        equal({name: server["status"] for name, server in known.items()}, {"calc": "connected", "files": "connected"})
        equal(known["calc"]["serverInfo"], {"name": "calc", "version": "1.2.3"})
        contains([found["name"] for found in known["files"]["tools"]], "env")
        await host.toggle_mcp_server("calc", False)
        equal((await status())["calc"]["status"], "disabled")
        contains((await say(host, play(tool("mcp__calc__add", a=1, b=1), [{"say": "results"}]))).result, "no tool named")
        await host.toggle_mcp_server("calc", True)
        equal((await say(host, play(tool("mcp__calc__add", a=1, b=1), [{"say": "results"}]))).result, "2")
        await host.reconnect_mcp_server("calc")
        await host.reconnect_mcp_server("files")
        equal({server["status"] for server in (await status()).values()}, {"connected"})
        await raises(host.reconnect_mcp_server("nope"), "Server not found: nope")
        await raises(host.toggle_mcp_server("nope", True), "Server not found: nope")


@test
async def a_program_as_a_server(world):
    servers = {"files": {**program(), "env": {"GIVEN": "yes"}}}
    more = {"mcp_servers": servers, "allowed_tools": ["mcp__files__*"]}
    told, _, messages = await call(world, tool("mcp__files__env"), **more)
    equal(system(messages, "init")[0].data["mcp_servers"], [{"name": "files", "status": "connected", "source": "dynamic"}])
    environment = json.loads(framed(told))
    equal(environment["GIVEN"], "yes")
    assert "ANTHROPIC_API_KEY" not in environment, sorted(environment)


@test
async def a_program_that_dies(world):
    more = {"mcp_servers": {"files": program()}, "allowed_tools": ["mcp__files__*"]}
    told, [block], _ = await call(world, tool("mcp__files__die"), **more)
    assert block.is_error
    contains(told, "it ended with exit status: 7")
    # What it wrote is for the host.
    assert "told to die" not in told, told


@test
async def servers_that_cannot_be_reached(world):
    servers = {
        "none": {"type": "stdio", "command": "/no/such/program"},
        "web": {"type": "http", "url": "http://127.0.0.1:9/mcp"},
        "old": {"type": "sse", "url": "http://127.0.0.1:9/sse"},
        "calc": Calc().server,
    }
    told, _, messages = await call(
        world, tool("mcp__calc__add", a=1, b=1), mcp_servers=servers, allowed_tools=["mcp__calc"]
    )
    equal(told, "2")
    known = {server["name"]: server["status"] for server in system(messages, "init")[0].data["mcp_servers"]}
    equal(known, {"none": "failed", "web": "failed", "old": "failed", "calc": "connected"})


@test
async def a_tool_answers_permission_questions(world):
    servers = {"files": program()}
    more = {"mcp_servers": servers, "permission_prompt_tool_name": "mcp__files__judge"}
    calls = [*tool("Write", file_path=world.path("good"), content="x"), *tool("Write", file_path=world.path("bad"), content="x")]
    told, found, _ = await call(world, calls, **more)
    equal(sorted(bool(block.is_error) for block in found), [False, True])
    contains(told, "Write is not good")
    equal(world.files(), ["good"])
    more["permission_prompt_tool_name"] = "mcp__files__missing"
    told, [block], _ = await call(world, tool("Write", file_path=world.path("good2"), content="x"), **more)
    assert block.is_error
    contains(told, "not there")


@test
async def many_calls_at_once(world):
    calc = Calc()
    more = {"mcp_servers": {"calc": calc.server}, "allowed_tools": ["mcp__calc"]}
    calls = [one for n in range(20) for one in tool("mcp__calc__add", a=n, b=1)]
    _, found, _ = await call(world, calls, **more)
    equal(len(found), 20)
    equal(sorted(given["a"] for given in calc.seen), list(range(20)))


def servers_within(folder):
    """The programs that serve, whose directory is in a folder."""
    return [pid for pid in common.within(folder) if f"\\x00{PROGRAM}\\x00" in common.described([pid])[:300]]


def print_mode(world, calls, *flags):
    """The command for a run of `-p` with the program as a server."""
    servers = json.dumps({"mcpServers": {"files": {**program("${NAME:-files}"), "env": {"GIVEN": "${GIVEN}"}}}})
    prompt = play(*calls, [{"say": "results"}])
    return [common.CLI, "-p", prompt, "--mcp-config", servers, "--allowedTools", "mcp__files__*", *flags]


@test
async def servers_in_print_mode(world):
    environment = {**os.environ, **world.env, "GIVEN": "expanded"}
    command = print_mode(world, [tool("mcp__files__env")], "--output-format", "stream-json", "--verbose")
    ran = await asyncio.to_thread(
        subprocess.run, command, cwd=world.cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    init = [line for line in lines if line.get("subtype") == "init"][0]
    equal([server["status"] for server in init["mcp_servers"]], ["connected"])
    equal(json.loads(framed(lines[-1]["result"]))["GIVEN"], "expanded")
    command[command.index("--mcp-config") + 1] = world.path("missing.json")
    ran = await asyncio.to_thread(
        subprocess.run, command, cwd=world.cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert ran.returncode not in (0, 101), ran
    contains(ran.stderr, "missing.json")


@test
async def a_killed_windlass_leaves_no_server(world):
    environment = {**os.environ, **world.env, "GIVEN": ""}
    command = print_mode(world, [tool("Bash", command="sleep 30")], "--allowedTools", "Bash")
    running = subprocess.Popen(
        command, cwd=world.cwd, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    await until(lambda: servers_within(world.root), 20, "the server")
    running.kill()
    running.wait()
    # The end of its input ends it; what else was started is looked at when the test is over.
    await until(lambda: not servers_within(world.root), 10, "its end")


if __name__ == "__main__":
    common.main()
