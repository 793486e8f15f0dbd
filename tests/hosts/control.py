"""What a host does to a running session through the Python Agent SDK: interrupts, changes, questions."""

import asyncio
import os
import signal
import subprocess
import sys
import time

import common
from claude_agent_sdk import AssistantMessage, PermissionResultAllow, ResultMessage, StreamEvent, ToolResultBlock
from common import CLI, blocks, client, collect, equal, play, processes, raises, result, say, system, test, text
from common import tool, until, within


@test
async def interrupt_a_long_command(world):
    async with client(world, allowed_tools=["Bash"]) as one:
        await one.query(play(tool("Bash", command="touch begun; sleep 60; touch ended"), text("never")))
        reading = asyncio.create_task(collect(one.receive_response()))
        await until(lambda: world.files() == ["begun"])
        began = time.monotonic()
        await one.interrupt()
        messages = await reading
        assert time.monotonic() - began < 5
        end = result(messages)
        equal((end.subtype, end.is_error, end.terminal_reason), ("error_during_execution", True, "aborted_tools"))
        equal(len(blocks(messages, ToolResultBlock)), 1)
        equal((await say(one, play([{"text": "after"}]))).result, "after")
        equal(world.files(), ["begun"])
        assert not processes("sleep 60", world.root), processes("sleep 60", world.root)


@test
async def interrupt_a_slow_stream(world):
    async with client(world, include_partial_messages=True) as one:
        await one.query(play([*text("begun"), {"wait": world.path("never")}, *text("never")]))
        messages = []
        async for message in one.receive_response():
            messages.append(message)
            if isinstance(message, AssistantMessage):
                await one.interrupt()
        equal(result(messages).terminal_reason, "aborted_streaming")
        events = [m.event["type"] for m in messages if isinstance(m, StreamEvent)]
        equal(events[-1], "message_stop")
        equal((await say(one, play(text("after")))).result, "after")


@test
async def interrupt_while_the_host_is_asked(world):
    cancelled = asyncio.Event()
    waiting = asyncio.Event()

    async def decide(*_):
        waiting.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return PermissionResultAllow()

    async with client(world, can_use_tool=decide) as one:
        await one.query(play(tool("Bash", command="touch a"), text("never")))
        reading = asyncio.create_task(collect(one.receive_response()))
        await waiting.wait()
        await one.interrupt()
        equal(result(await reading).terminal_reason, "aborted_tools")
        await asyncio.wait_for(cancelled.wait(), 5)
        equal(world.files(), [])
        equal((await say(one, play(text("after")))).result, "after")


@test
async def interrupt_without_a_run(world):
    async with client(world) as one:
        await one.interrupt()
        equal((await say(one, play(text("one")))).result, "one")
        await one.interrupt()
        equal((await say(one, play(text("two")))).result, "two")


@test
async def a_message_sent_while_a_command_runs(world):
    async with client(world, allowed_tools=["Bash"]) as one:
        await one.query(play(tool("Bash", command="touch begun; until [ -e go ]; do sleep 0.01; done"), text("one")))
        await until(lambda: world.files() == ["begun"])
        await one.query(play(text("two")))
        world.write("go", "")
        answers = []
        async for message in one.receive_messages():
            if isinstance(message, ResultMessage):
                answers.append(message.result)
                if len(answers) == 2:
                    break
        equal(answers, ["one", "two"])


@test
async def an_urgent_message_stops_the_run(world):
    async def urgent():
        message = {"role": "user", "content": play(text("two"))}
        yield {"type": "user", "message": message, "parent_tool_use_id": None, "priority": "now"}

    async with client(world, allowed_tools=["Bash"]) as one:
        await one.query(play(tool("Bash", command="touch begun; sleep 59"), text("never")))
        await until(lambda: world.files() == ["begun"])
        await one.query(urgent())
        ends = []
        async for message in one.receive_messages():
            if isinstance(message, ResultMessage):
                ends.append((message.subtype, message.result))
                if len(ends) == 2:
                    break
        equal(ends, [("error_during_execution", None), ("success", "two")])
        assert not processes("sleep 59", world.root)


@test
async def change_of_model(world):
    async with client(world, model="claude-sonnet-4-5") as one:
        async def model():
            return (await say(one, play([{"say": "model"}]))).result

        equal(await model(), "claude-sonnet-4-5")
        await one.set_model("claude-haiku-4-5")
        equal(await model(), "claude-haiku-4-5")
        await one.set_model(None)
        equal(await model(), "claude-sonnet-4-5")


@test
async def change_of_permission_mode(world):
    async with client(world) as one:
        write = play(tool("Write", file_path=world.path("a"), content="x"), text("ok"))
        equal(len((await say(one, write)).permission_denials), 1)
        await one.set_permission_mode("acceptEdits")
        await one.query(write)
        messages = await collect(one.receive_response())
        equal(result(messages).permission_denials, [])
        equal(system(messages, "init")[0].data["permissionMode"], "acceptEdits")
        for mode in ("nonsense", "bypassPermissions"):
            await raises(one.set_permission_mode(mode), mode)
        await one.set_permission_mode("plan")
        equal(len((await say(one, play(tool("Write", file_path=world.path("b"), content="x"), text("ok")))).permission_denials), 1)
        equal(world.files(), ["a"])


@test
async def change_of_permission_mode_while_the_host_is_asked(world):
    """A change of mode in mid-run holds for the next call."""
    asked = []

    async with client(world, can_use_tool=lambda *given: decide(*given)) as one:
        async def decide(name, given, _):
            asked.append(os.path.basename(given["file_path"]))
            await one.set_permission_mode("acceptEdits")
            return PermissionResultAllow()

        calls = [tool("Write", file_path=world.path(name), content="x") for name in "ab"]
        end = await say(one, play(*calls, text("ok")))
        equal(end.permission_denials, [])
        equal((asked, world.files()), (["a"], ["a", "b"]))


@test
async def questions_of_the_client(world):
    async with client(world) as one:
        info = await one.get_server_info()
        equal(info["claude_code_version"], "2.1.328")
        equal(await one.get_mcp_status(), {"mcpServers": []})
        await say(one, play(text("ok")))
        usage = await one.get_context_usage()
        assert usage["totalTokens"] > 0 and usage["maxTokens"] > 0, usage
        await raises(one.rewind_files("x"))
        await raises(one.reconnect_mcp_server("nope"), "nope")
        await raises(one.toggle_mcp_server("nope", False), "nope")


@test
async def a_client_that_leaves_in_mid_run(world):
    async with client(world, allowed_tools=["Bash"]) as one:
        await one.query(play(tool("Bash", command="touch begun; sleep 58"), text("never")))
        await until(lambda: world.files() == ["begun"])
    # The SDK ends the program by a signal, after it has waited a while for it.
    await until(lambda: not within(world.root), 10, "the end of the program")
    assert not processes("sleep 58", world.root)


@test
async def a_host_that_is_killed_leaves_nothing(world):
    code = f"""
import asyncio, sys
sys.path[:0] = {sys.path!r}
from claude_agent_sdk import ClaudeAgentOptions, query
async def main():
    options = ClaudeAgentOptions(cli_path={CLI!r}, cwd={world.cwd!r}, env={world.env!r}, allowed_tools=["Bash"])
    async for message in query(prompt={play(tool("Bash", command="touch begun; sleep 61"))!r}, options=options):
        pass
asyncio.run(main())
"""
    host = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    await until(lambda: world.files() == ["begun"])
    host.send_signal(signal.SIGKILL)
    host.wait()
    # Standard input was closed with the prompt, so only the next sign of life shows that nobody reads.
    await until(lambda: not within(world.root), 15, "the end of the program")
    assert not processes("sleep 61", world.root)


if __name__ == "__main__":
    common.main()
