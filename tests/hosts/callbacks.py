"""Permissions and hooks that the Python Agent SDK's host decides."""

import asyncio
import json

import common
from claude_agent_sdk import (
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionUpdate,
    TextBlock,
    ToolResultBlock,
    query,
)
from claude_agent_sdk.types import PermissionRuleValue
from common import blocks, collect, contains, equal, play, result, say, system, test, text, tool


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
    equal(world.files(), ["changed-by-host", "plain"])
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
    equal(world.files(), ["a", "b"])


@test
async def a_callback_that_fails_denies(world):
    async def decide(*_):
        raise ValueError("broken callback")

    script = play(tool("Bash", command="touch a"), [{"say": "results"}])
    messages = await collect(query(prompt=script, options=world.options(can_use_tool=decide)))
    contains(result(messages).result, "broken callback")
    equal(world.files(), [])


@test
async def a_denial_may_stop_the_run(world):
    async def decide(*_):
        return PermissionResultDeny(message="stop it all", interrupt=True)

    async with common.client(world, can_use_tool=decide) as client:
        end = await say(client, play(tool("Bash", command="touch a"), text("never")))
        equal((end.subtype, end.is_error), ("error_during_execution", True))
        equal((await say(client, play(text("again")))).result, "again")


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
    equal(world.files(), ["a"])
    contains(result(messages).result, "ERROR")
    equal([m.data["tool_name"] for m in system(messages, "permission_denied")], ["Bash"])


@test
async def modes_that_do_not_ask(world):
    async def decide(*_):
        raise AssertionError("the host was asked")

    script = play(tool("Write", file_path=world.path("a"), content="x"), [{"say": "results"}])
    for mode, made in (("dontAsk", False), ("plan", False), ("acceptEdits", True)):
        messages = await collect(query(prompt=script, options=world.options(can_use_tool=decide, permission_mode=mode)))
        equal((mode, len(result(messages).permission_denials)), (mode, 0 if made else 1))
        equal((mode, world.files()), (mode, ["a"] if made else []))


@test
async def answers_come_in_any_order(world):
    """Two calls of one message that only look are asked about at the same time."""
    first = asyncio.Event()
    outside = world.root

    async def decide(name, given, _):
        if name == "Grep":
            await first.wait()
        first.set()
        return PermissionResultAllow()

    calls = [*tool("Grep", pattern="x", path=outside), *tool("Glob", pattern="*", path=outside)]
    messages = await collect(query(prompt=play(calls, text("ok")), options=world.options(can_use_tool=decide)))
    equal(len(blocks(messages, ToolResultBlock)), 2)
    equal(result(messages).permission_denials, [])


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
    equal(world.files(), [])
    equal(stops, [False, True])
    end = result(messages).result
    for part in ("context of the hook", "context of the prompt", "go on a little"):
        contains(end, part)
    contains(str(blocks(messages, ToolResultBlock)[0].content), "the hook says no")


@test
async def a_hook_may_ask_the_host(world):
    asked = []

    async def pre(*_):
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask",
                                       "permissionDecisionReason": "look at this"}}

    async def decide(name, given, _):
        asked.append(given["command"])
        return PermissionResultDeny(message="seen")

    options = world.options(hooks={"PreToolUse": [HookMatcher(hooks=[pre])]}, can_use_tool=decide, allowed_tools=["Bash(touch *)"])
    await collect(query(prompt=play(tool("Bash", command="touch a"), text("ok")), options=options))
    equal(asked, ["touch a"])
    equal(world.files(), [])


@test
async def hooks_after_a_failure(world):
    seen = []

    async def failed(given, tool_use_id, _):
        seen.append((given["hook_event_name"], given["tool_name"], bool(given["error"]), bool(tool_use_id)))
        return {"hookSpecificOutput": {"hookEventName": "PostToolUseFailure", "additionalContext": "a word after it"}}

    async def never(*_):
        raise AssertionError("the call did not succeed")

    hooks = {"PostToolUseFailure": [HookMatcher(hooks=[failed])], "PostToolUse": [HookMatcher(hooks=[never])]}
    script = play(tool("Read", file_path=world.path("missing")), [{"say": "texts"}])
    messages = await collect(query(prompt=script, options=world.options(hooks=hooks)))
    equal(seen, [("PostToolUseFailure", "Read", True, True)])
    contains(result(messages).result, "a word after it")


@test
async def a_hook_stops_the_run(world):
    async def post(*_):
        return {"continue_": False, "stopReason": "that is enough"}

    options = world.options(hooks={"PostToolUse": [HookMatcher(hooks=[post])]})
    messages = await collect(query(prompt=play(tool("Glob", pattern="*"), text("never")), options=options))
    equal(result(messages).terminal_reason, "hook_stopped")
    equal(blocks(messages, TextBlock), [])
    contains(system(messages, "informational")[0].data["content"], "that is enough")


@test
async def a_hook_tells_the_user(world):
    async def post(*_):
        return {"systemMessage": "for human eyes"}

    options = world.options(hooks={"PostToolUse": [HookMatcher(hooks=[post])]})
    messages = await collect(query(prompt=play(tool("Glob", pattern="*"), [{"say": "texts"}]), options=options))
    (told,) = system(messages, "informational")
    contains(told.data["content"], "for human eyes")
    assert "for human eyes" not in result(messages).result


@test
async def a_stop_hook_that_never_ends_is_ended(world):
    async def stop(*_):
        return {"decision": "block", "reason": "more"}

    options = world.options(hooks={"Stop": [HookMatcher(hooks=[stop])]})
    messages = await collect(query(prompt=play(text("x")), options=options))
    end = result(messages)
    assert 2 <= end.num_turns <= 20, end.num_turns


@test
async def a_prompt_hook_blocks(world):
    async def submit(*_):
        return {"decision": "block", "reason": "not today"}

    options = world.options(hooks={"UserPromptSubmit": [HookMatcher(hooks=[submit])]})
    messages = await collect(query(prompt=play(text("never")), options=options))
    equal((result(messages).subtype, result(messages).num_turns), ("success", 0))
    equal(blocks(messages, TextBlock), [])
    contains(system(messages, "informational")[0].data["content"], "not today")


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
        (broken, {"on_failure": "block"}, "The hook hook_0 failed"),
        (slow, {"timeout": 0.2}, "The hook hook_0"),
    ):
        options = world.options(hooks={"PreToolUse": [HookMatcher(hooks=[hook], **more)]})
        told = result(await collect(query(prompt=script, options=options))).result
        contains(told, part)
        # It may hold secrets.
        assert "broken hook" not in told, told


if __name__ == "__main__":
    common.main()
