"""The Python Agent SDK drives windlass. Usage: suite.py WINDLASS [NAME ..]"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import wire
from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionUpdate,
    ResultError,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    query,
)
from claude_agent_sdk.types import PermissionRuleValue

CLI = os.path.abspath(sys.argv[1])
TESTS = []


def test(function):
    TESTS.append(function)
    return function


def play(*messages):
    return wire.PREFIX + json.dumps(messages)


def text(said):
    return [{"text": said}]


def tool(name, **given):
    return [{"tool": name, "input": given}]


class World:
    """A directory, a home and the server."""

    def __init__(self, url):
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="windlass-hosts-"))
        self.cwd = os.path.join(self.root, "work")
        os.mkdir(self.cwd)
        self.env = {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CONFIG_DIR": os.path.join(self.root, "home"),
            "HOME": self.root,
        }
        self.stderr = []

    def options(self, **more):
        return ClaudeAgentOptions(cli_path=CLI, cwd=self.cwd, env=self.env, stderr=self.stderr.append, **more)

    def path(self, name):
        return os.path.join(self.cwd, name)


async def collect(stream):
    return [message async for message in stream]


def result(messages):
    results = [message for message in messages if isinstance(message, ResultMessage)]
    assert len(results) == 1, f"{len(results)} results"
    return results[0]


def blocks(messages, kind):
    holders = (AssistantMessage, UserMessage)
    lists = [m.content for m in messages if isinstance(m, holders) and isinstance(m.content, list)]
    return [block for content in lists for block in content if isinstance(block, kind)]


def equal(found, expected):
    assert found == expected, f"{found!r} is not {expected!r}"


def contains(found, part):
    assert part in found, f"{part!r} is not in {found!r}"


@test
async def one_shot(world):
    messages = await collect(query(prompt=play(text("Hello.")), options=world.options()))
    init = messages[0]
    assert isinstance(init, SystemMessage) and init.subtype == "init", init
    equal(init.data["cwd"], world.cwd)
    equal(init.data["claude_code_version"], "2.1.328")
    contains(init.data["tools"], "Bash")
    end = result(messages)
    equal((end.subtype, end.is_error, end.result, end.num_turns), ("success", False, "Hello.", 1))
    equal(end.session_id, init.data["session_id"])
    equal([block.text for block in blocks(messages, TextBlock)], ["Hello."])


@test
async def built_in_tools(world):
    open(world.path("a.txt"), "w").write("alpha\n")
    script = play(
        [*tool("Read", file_path=world.path("a.txt")), *tool("Glob", pattern="*.txt"), *tool("Grep", pattern="alph")],
        tool("Edit", file_path=world.path("a.txt"), old_string="alpha", new_string="beta"),
        tool("Write", file_path=world.path("b.txt"), content="new"),
        tool("Bash", command="cat a.txt b.txt"),
        [{"say": "results"}],
    )
    options = world.options(permission_mode="acceptEdits", allowed_tools=["Bash(cat *)"])
    messages = await collect(query(prompt=script, options=options))
    results = blocks(messages, ToolResultBlock)
    equal(len(results), 6)
    assert not any(block.is_error for block in results), results
    equal([m.parent_tool_use_id for m in messages if isinstance(m, UserMessage)], [None] * 6)
    structured = [m.tool_use_result for m in messages if isinstance(m, UserMessage)]
    contains(json.dumps(structured[-1]), "beta")
    equal(result(messages).num_turns, 5)
    contains(result(messages).result, "beta\nnew")


@test
async def partial_messages(world):
    script = play([{"thinking": "hm"}, *text("Hello there.")])
    messages = await collect(query(prompt=script, options=world.options(include_partial_messages=True)))
    events = [message.event for message in messages if isinstance(message, StreamEvent)]
    equal([events[0]["type"], events[-1]["type"]], ["message_start", "message_stop"])
    deltas = [e["delta"].get("text", "") for e in events if e["type"] == "content_block_delta"]
    equal("".join(deltas), "Hello there.")
    kinds = [type(m).__name__ if not isinstance(m, StreamEvent) else m.event["type"] for m in messages]
    last = len(kinds) - 1 - kinds[::-1].index("content_block_stop")
    equal(kinds[last - 1], "AssistantMessage")


@test
async def client_two_turns(world):
    async with ClaudeSDKClient(world.options()) as client:
        info = await client.get_server_info()
        equal(info["claude_code_version"], "2.1.328")
        ids = set()
        for said in ("one", "two"):
            await client.query(play(text(said)))
            end = result(await collect(client.receive_response()))
            equal(end.result, said)
            ids.add(end.session_id)
        equal(len(ids), 1)
        await client.query(play([{"say": "texts"}]))
        await collect(client.receive_response())


@test
async def queued_messages_have_a_result_each(world):
    async def prompts():
        for said in ("one", "two", "three"):
            yield {"type": "user", "message": {"role": "user", "content": play(text(said))}, "parent_tool_use_id": None}

    messages = await collect(query(prompt=prompts(), options=world.options()))
    equal([m.result for m in messages if isinstance(m, ResultMessage)], ["one", "two", "three"])
    equal(len([m for m in messages if isinstance(m, SystemMessage) and m.subtype == "init"]), 3)


@test
async def images_in_prompts(world):
    png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    content = [
        {"type": "text", "text": play(text("seen"))},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png}},
    ]

    async def prompts():
        yield {"type": "user", "message": {"role": "user", "content": content}, "parent_tool_use_id": None}

    equal(result(await collect(query(prompt=prompts(), options=world.options()))).result, "seen")


@test
async def can_use_tool(world):
    asked = []

    async def decide(name, given, context):
        asked.append((name, given, context))
        if "deny" in given["command"]:
            return PermissionResultDeny(message="not this one")
        if "change" in given["command"]:
            return PermissionResultAllow(updated_input={**given, "command": "touch changed-by-host"})
        return PermissionResultAllow()

    script = play(
        tool("Bash", command="touch plain"),
        tool("Bash", command="touch deny-me"),
        tool("Bash", command="touch change-me"),
        [{"say": "results"}],
    )
    messages = await collect(query(prompt=script, options=world.options(can_use_tool=decide)))
    equal([given["command"] for _, given, _ in asked], ["touch plain", "touch deny-me", "touch change-me"])
    context = asked[0][2]
    assert context.tool_use_id and context.suggestions and context.title, context
    equal(sorted(os.listdir(world.cwd)), ["changed-by-host", "plain"])
    denied = blocks(messages, ToolResultBlock)[1]
    assert denied.is_error
    contains(str(denied.content), "not this one")
    equal([d["tool_name"] for d in result(messages).permission_denials], ["Bash"])


@test
async def an_answer_may_change_permissions(world):
    asked = []

    async def decide(name, given, _):
        asked.append(given["command"])
        rule = PermissionRuleValue(tool_name="Bash", rule_content="touch *")
        update = PermissionUpdate(type="addRules", rules=[rule], behavior="allow", destination="session")
        return PermissionResultAllow(updated_permissions=[update])

    script = play(tool("Bash", command="touch a"), tool("Bash", command="touch b"), text("ok"))
    await collect(query(prompt=script, options=world.options(can_use_tool=decide)))
    equal(asked, ["touch a"])
    equal(sorted(os.listdir(world.cwd)), ["a", "b"])


@test
async def a_callback_that_fails_denies(world):
    async def decide(*_):
        raise ValueError("broken callback")

    script = play(tool("Bash", command="touch a"), [{"say": "results"}])
    messages = await collect(query(prompt=script, options=world.options(can_use_tool=decide)))
    contains(result(messages).result, "broken callback")
    equal(os.listdir(world.cwd), [])


@test
async def a_denial_may_stop_the_run(world):
    async def decide(*_):
        return PermissionResultDeny(message="stop it all", interrupt=True)

    async with ClaudeSDKClient(world.options(can_use_tool=decide)) as client:
        await client.query(play(tool("Bash", command="touch a"), text("never")))
        end = result(await collect(client.receive_response()))
        equal((end.subtype, end.is_error), ("error_during_execution", True))
        await client.query(play(text("again")))
        equal(result(await collect(client.receive_response())).result, "again")


@test
async def rules_decide_before_the_callback(world):
    asked = []

    async def decide(name, given, _):
        asked.append(given)
        return PermissionResultAllow()

    script = play(tool("Bash", command="touch a"), tool("Bash", command="rm a"), [{"say": "results"}])
    options = world.options(can_use_tool=decide, allowed_tools=["Bash(touch *)"], disallowed_tools=["Bash(rm *)"])
    messages = await collect(query(prompt=script, options=options))
    equal(asked, [])
    equal(os.listdir(world.cwd), ["a"])
    contains(result(messages).result, "ERROR")
    assert any(isinstance(m, SystemMessage) and m.subtype == "permission_denied" for m in messages)


@test
async def hooks(world):
    seen = []

    async def pre(given, tool_use_id, _):
        seen.append((given["hook_event_name"], given["tool_input"].get("command"), tool_use_id))
        equal(given["cwd"], world.cwd)
        if "forbidden" in given["tool_input"]["command"]:
            return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
                                           "permissionDecisionReason": "the hook says no"}}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
                                       "updatedInput": {"command": "echo rewritten"}}}

    async def post(given, *_):
        seen.append((given["hook_event_name"], json.dumps(given["tool_response"]), given["tool_name"]))
        return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "context of the hook"}}

    async def submit(given, *_):
        seen.append((given["hook_event_name"], bool(given["prompt"]), given["session_id"]))
        return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "context of the prompt"}}

    stops = []

    async def stop(given, *_):
        stops.append(given["stop_hook_active"])
        return {} if given["stop_hook_active"] else {"decision": "block", "reason": "go on a little"}

    options = world.options(hooks={
        "PreToolUse": [HookMatcher(matcher="Bash", hooks=[pre])],
        "PostToolUse": [HookMatcher(matcher="Ba.h", hooks=[post])],
        "UserPromptSubmit": [HookMatcher(hooks=[submit])],
        "Stop": [HookMatcher(hooks=[stop])],
    })
    script = play(
        tool("Bash", command="touch forbidden"), tool("Bash", command="touch made"), text("first end"),
        [{"say": "texts"}],
    )
    messages = await collect(query(prompt=script, options=options))
    equal([name for name, *_ in seen], ["UserPromptSubmit", "PreToolUse", "PreToolUse", "PostToolUse"])
    contains(seen[3][1], "rewritten")
    equal(os.listdir(world.cwd), [])
    equal(stops, [False, True])
    end = result(messages).result
    for part in ("context of the hook", "context of the prompt", "go on a little"):
        contains(end, part)
    contains(str(blocks(messages, ToolResultBlock)[0].content), "the hook says no")


@test
async def a_prompt_hook_blocks(world):
    async def submit(*_):
        return {"decision": "block", "reason": "not today"}

    options = world.options(hooks={"UserPromptSubmit": [HookMatcher(hooks=[submit])]})
    messages = await collect(query(prompt=play(text("never")), options=options))
    equal((result(messages).subtype, result(messages).num_turns), ("success", 0))
    equal(blocks(messages, TextBlock), [])
    assert any(isinstance(m, SystemMessage) and m.subtype == "informational" for m in messages)


@test
async def hooks_that_fail(world):
    async def broken(*_):
        raise ValueError("broken hook")

    async def slow(*_):
        await asyncio.sleep(30)
        return {}

    script = play(tool("Bash", command="pwd"), [{"say": "results"}])
    for hook, more, part in (
        (broken, {}, world.cwd),
        (broken, {"on_failure": "block"}, "broken hook"),
        (slow, {"timeout": 0.2}, "did not answer"),
    ):
        options = world.options(hooks={"PreToolUse": [HookMatcher(hooks=[hook], **more)]})
        contains(result(await collect(query(prompt=script, options=options))).result, part)


@test
async def interrupt_a_long_command(world):
    async with ClaudeSDKClient(world.options(allowed_tools=["Bash"])) as client:
        await client.query(play(tool("Bash", command="touch begun; sleep 60; touch ended"), text("never")))
        reading = asyncio.create_task(collect(client.receive_response()))
        await until(lambda: os.path.exists(world.path("begun")))
        began = time.monotonic()
        await client.interrupt()
        messages = await reading
        assert time.monotonic() - began < 5
        end = result(messages)
        equal((end.subtype, end.is_error, end.terminal_reason), ("error_during_execution", True, "aborted_tools"))
        await client.query(play([{"text": "after"}]))
        equal(result(await collect(client.receive_response())).result, "after")
        equal(os.listdir(world.cwd), ["begun"])
        assert not processes("sleep 60"), processes("sleep 60")


@test
async def interrupt_a_slow_stream(world):
    async with ClaudeSDKClient(world.options(include_partial_messages=True)) as client:
        await client.query(play([*text("begun"), {"sleep": 60}, *text("never")]))
        began = False
        messages = []
        async for message in client.receive_response():
            messages.append(message)
            if isinstance(message, StreamEvent) and not began:
                began = True
                await client.interrupt()
        equal(result(messages).terminal_reason, "aborted_streaming")
        await client.query(play(text("after")))
        equal(result(await collect(client.receive_response())).result, "after")


@test
async def interrupt_while_the_host_is_asked(world):
    cancelled = asyncio.Event()
    waiting = asyncio.Event()

    async def decide(*_):
        waiting.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return PermissionResultAllow()

    async with ClaudeSDKClient(world.options(can_use_tool=decide)) as client:
        await client.query(play(tool("Bash", command="touch a"), text("never")))
        reading = asyncio.create_task(collect(client.receive_response()))
        await waiting.wait()
        await client.interrupt()
        equal(result(await reading).terminal_reason, "aborted_tools")
        await asyncio.wait_for(cancelled.wait(), 5)
        equal(os.listdir(world.cwd), [])


@test
async def model_and_mode_change(world):
    async with ClaudeSDKClient(world.options(model="claude-sonnet-4-5")) as client:
        await client.query(play([{"say": "model"}]))
        equal(result(await collect(client.receive_response())).result, "claude-sonnet-4-5")
        await client.set_model("claude-haiku-4-5")
        await client.query(play([{"say": "model"}]))
        equal(result(await collect(client.receive_response())).result, "claude-haiku-4-5")
        await client.set_model(None)
        await client.query(play([{"say": "model"}]))
        equal(result(await collect(client.receive_response())).result, "claude-sonnet-4-5")

        await client.query(play(tool("Write", file_path=world.path("a"), content="x"), text("ok")))
        equal(len(result(await collect(client.receive_response())).permission_denials), 1)
        await client.set_permission_mode("acceptEdits")
        await client.query(play(tool("Write", file_path=world.path("a"), content="x"), text("ok")))
        messages = await collect(client.receive_response())
        equal(result(messages).permission_denials, [])
        init = next(m for m in messages if isinstance(m, SystemMessage) and m.subtype == "init")
        equal(init.data["permissionMode"], "acceptEdits")
        for mode in ("nonsense", "bypassPermissions"):
            try:
                await client.set_permission_mode(mode)
            except Exception as error:
                contains(str(error), mode)
            else:
                raise AssertionError(f"{mode} was accepted")


@test
async def questions_of_the_client(world):
    async with ClaudeSDKClient(world.options()) as client:
        equal(await client.get_mcp_status(), {"mcpServers": []})
        await client.query(play(text("ok")))
        await collect(client.receive_response())
        usage = await client.get_context_usage()
        assert usage["totalTokens"] > 0 and usage["maxTokens"] > 0, usage
        for call in (client.rewind_files("x"), client.reconnect_mcp_server("nope")):
            try:
                await call
            except Exception as error:
                assert str(error), error
            else:
                raise AssertionError("it was accepted")


@test
async def resume_and_continue(world):
    first = result(await collect(query(prompt="remember blue " + play(text("x")), options=world.options())))
    for more in ({"resume": first.session_id}, {"continue_conversation": True}):
        messages = await collect(query(prompt=play([{"say": "texts"}]), options=world.options(**more)))
        end = result(messages)
        equal(end.session_id, first.session_id)
        contains(end.result, "remember blue")
    chosen = "12345678-1234-4234-8234-123456789abc"
    end = result(await collect(query(prompt=play(text("x")), options=world.options(session_id=chosen))))
    equal(end.session_id, chosen)
    try:
        await collect(query(prompt="x", options=world.options(resume="aaaaaaaa-1111-4111-8111-111111111111")))
    except Exception as error:
        contains(str(error), "No conversation found with session ID")
    else:
        raise AssertionError("a session that is not there was resumed")


@test
async def the_helpers_find_our_sessions(world):
    from claude_agent_sdk import get_session_messages, list_sessions

    end = result(await collect(query(prompt=play(text("stored")), options=world.options())))
    os.environ["CLAUDE_CONFIG_DIR"] = world.env["CLAUDE_CONFIG_DIR"]
    try:
        equal([info.session_id for info in list_sessions(directory=world.cwd)], [end.session_id])
        messages = get_session_messages(end.session_id, directory=world.cwd)
        equal([message.type for message in messages], ["user", "assistant"])
    finally:
        del os.environ["CLAUDE_CONFIG_DIR"]


@test
async def limits_and_failures(world):
    loop = play(*[tool("Bash", command="pwd")] * 3, text("never"))
    messages = []
    try:
        async for message in query(prompt=loop, options=world.options(max_turns=2)):
            messages.append(message)
    except ResultError as error:
        contains(str(error), "maximum number of turns (2)")
    equal(result(messages).subtype, "error_max_turns")

    messages = []
    try:
        async for message in query(prompt=play({"status": 400, "error": "invalid_request_error"}), options=world.options()):
            messages.append(message)
    except ResultError as error:
        contains(str(error), "as scripted")
    end = result(messages)
    equal((end.subtype, end.is_error, end.api_error_status), ("success", True, 400))
    equal([m.error for m in messages if isinstance(m, AssistantMessage)], ["invalid_request"])


@test
async def system_prompts(world):
    async def system(**more):
        return result(await collect(query(prompt=play([{"say": "system"}]), options=world.options(**more)))).result

    contains(await system(system_prompt="You are a test."), "You are a test.")
    equal(await system(), '""')
    preset = await system(system_prompt={"type": "preset", "preset": "claude_code", "append": "And a test."})
    contains(preset, "And a test.")
    contains(preset, "coding agent")


@test
async def thinking(world):
    budget = {"type": "enabled", "budget_tokens": 2048}
    options = world.options(thinking=budget, model="claude-sonnet-4-5")
    end = result(await collect(query(prompt=play([{"say": "thinking"}]), options=options)))
    equal(json.loads(end.result), budget)


@test
async def unknown_flags_do_not_matter(world):
    options = world.options(extra_args={"from-the-future": None, "and-beyond": "x"}, setting_sources=[])
    equal(result(await collect(query(prompt=play(text("ok")), options=options))).result, "ok")
    contains("".join(world.stderr), "from-the-future")


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
    await until(lambda: os.path.exists(world.path("begun")))
    host.send_signal(signal.SIGKILL)
    host.wait()
    # Standard input was closed with the prompt, so only the next sign of life shows that nobody reads.
    await until(lambda: not processes("sleep 61"), 15)
    await until(lambda: not running(CLI, world.cwd), 10)


@test
async def many_clients(world):
    async def one(number):
        script = play(tool("Bash", command=f"echo {number}"), [{"say": "results"}])
        return result(await collect(query(prompt=script, options=world.options(allowed_tools=["Bash"])))).result

    answers = await asyncio.gather(*(one(number) for number in range(50)))
    equal([answer.strip() for answer in answers], [str(number) for number in range(50)])


def processes(part):
    """The processes that were started with such a command."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = open(f"/proc/{pid}/cmdline").read().replace("\0", " ").strip()
        except OSError:
            continue
        if words == part:
            found.append(int(pid))
    return found


def running(program, cwd):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/exe") == program and os.readlink(f"/proc/{pid}/cwd") == cwd:
                return True
        except OSError:
            continue
    return False


async def until(holds, seconds=20):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        await asyncio.sleep(0.01)


async def main():
    server, url = wire.start()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    wanted = sys.argv[2:]
    failed = 0
    for one in TESTS:
        if wanted and one.__name__ not in wanted:
            continue
        world = World(url)
        began = time.monotonic()
        try:
            await asyncio.wait_for(one(world), 90)
            verdict = "ok"
        except BaseException:
            failed += 1
            verdict = "FAILED\n" + traceback.format_exc() + "".join(world.stderr)
        print(f"{one.__name__} {time.monotonic() - began:.2f} s {verdict}", flush=True)
    print(f"python: {failed} failed")
    return 1 if failed else 0


sys.exit(asyncio.run(main()))
