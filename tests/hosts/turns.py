"""Prompts, answers, sessions and limits through the Python Agent SDK."""

import asyncio
import json
import os

import common
from claude_agent_sdk import (
    AssistantMessage,
    HookMatcher,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    get_session_messages,
    list_sessions,
    query,
)
from common import blocks, client, collect, contains, equal, failing, play, raises, result, say, system, test, text, tool

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


async def ask(world, *steps, **more):
    """The result of one prompt."""
    return result(await collect(query(prompt=play(*steps), options=world.options(**more))))


async def messages_of(*contents):
    for content in contents:
        yield {"type": "user", "message": {"role": "user", "content": content}, "parent_tool_use_id": None}


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
    assert end.usage["input_tokens"] > 0 and len(end.model_usage) == 1, end
    equal([block.text for block in blocks(messages, TextBlock)], ["Hello."])


@test
async def partial_messages(world):
    script = play([{"thinking": "hm"}, *text("Hello there.")])
    messages = await collect(query(prompt=script, options=world.options(include_partial_messages=True)))
    events = [message.event for message in messages if isinstance(message, StreamEvent)]
    equal([events[0]["type"], events[-1]["type"]], ["message_start", "message_stop"])
    deltas = [e["delta"].get("text", "") for e in events if e["type"] == "content_block_delta"]
    equal("".join(deltas), "Hello there.")
    # A block is told as a whole just before the end of its stream.
    kinds = [type(m).__name__ if not isinstance(m, StreamEvent) else m.event["type"] for m in messages]
    last = len(kinds) - 1 - kinds[::-1].index("content_block_stop")
    equal(kinds[last - 1], "AssistantMessage")
    equal([(block.thinking, block.signature) for block in blocks(messages, ThinkingBlock)], [("hm", "c2ln")])


@test
async def partial_messages_of_a_tool_call(world):
    given = {"file_path": world.path("missing")}
    options = world.options(include_partial_messages=True)
    messages = await collect(query(prompt=play(tool("Read", **given), text("ok")), options=options))
    events = [message.event for message in messages if isinstance(message, StreamEvent)]
    deltas = [e["delta"].get("partial_json", "") for e in events if e["type"] == "content_block_delta"]
    equal(json.loads("".join(deltas)), given)
    equal([e["type"] for e in events].count("message_start"), 2)


@test
async def client_with_many_turns(world):
    async with client(world) as one:
        ends = [await say(one, "remember blue " + play(text(said))) for said in ("one", "two", "three")]
        equal([end.result for end in ends], ["one", "two", "three"])
        equal(len({end.session_id for end in ends}), 1)
        contains((await say(one, play([{"say": "texts"}]))).result, "remember blue")


@test
async def client_that_is_connected_with_a_prompt(world):
    one = client(world)
    await one.connect(play(text("first")))
    try:
        equal(result(await collect(one.receive_response())).result, "first")
        equal((await say(one, play(text("second")))).result, "second")
    finally:
        await one.disconnect()


@test
async def queued_messages_have_a_result_each(world):
    prompts = messages_of(*(play(text(said)) for said in ("one", "two", "three")))
    messages = await collect(query(prompt=prompts, options=world.options()))
    equal([m.result for m in messages if isinstance(m, ResultMessage)], ["one", "two", "three"])
    equal(len(system(messages, "init")), 3)


SLOW = tool("Bash", command="touch begun; until [ -e go ]; do sleep 0.02; done")


async def during_a_tool(world, one, said, *after):
    """Begins a turn whose call does not end before there is a file `go`, and sends a message that is to join it."""
    await one.query(play(SLOW, *after))
    await common.until(lambda: world.files() == ["begun"])

    async def messages():
        content = {"role": "user", "content": said}
        yield {"type": "user", "message": content, "parent_tool_use_id": None, "priority": "next"}

    await one.query(messages())
    # It is answered when all before it was read.
    await one.get_mcp_status()


@test
async def a_message_that_is_next_joins_the_turn(world):
    async with client(world, allowed_tools=["Bash"]) as one:
        await during_a_tool(world, one, "mind this", [{"say": "last"}])
        world.write("go", "")
        end = result(await collect(one.receive_response()))
        equal((end.result, end.num_turns), ("result,mind this", 2))
        # It has no result of its own.
        equal((await say(one, play(text("after")))).result, "after")


@test
async def hooks_keep_a_message_out_of_the_turn(world):
    seen = []

    async def gate(given, *_):
        seen.append(given["prompt"])
        return {"decision": "block", "reason": "not that"} if given["prompt"] == "mind this" else {}

    hooks = {"UserPromptSubmit": [HookMatcher(hooks=[gate])]}
    async with client(world, allowed_tools=["Bash"], hooks=hooks) as one:
        await during_a_tool(world, one, "mind this", [{"say": "last"}])
        # The hook is asked while the call runs.
        await common.until(lambda: seen[1:] == ["mind this"])
        world.write("go", "")
        messages = await collect(one.receive_response())
        equal((result(messages).result, result(messages).is_error), ("result", False))
        contains("".join(told.data["content"] for told in system(messages, "informational")), "not that")


@test
async def an_interrupt_gives_a_message_that_is_next_a_turn_of_its_own(world):
    async with client(world, allowed_tools=["Bash"]) as one:
        await during_a_tool(world, one, play(text("own")), text("never"))
        await one.interrupt()
        equal(result(await collect(one.receive_response())).subtype, "error_during_execution")
        equal(result(await collect(one.receive_response())).result, "own")


@test
async def images_in_prompts(world):
    content = [
        {"type": "text", "text": play([{"say": "images"}])},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
    ]
    messages = await collect(query(prompt=messages_of(content), options=world.options()))
    equal(result(messages).result, f"image/png:{len(PNG)}")


@test
async def prompts_that_the_model_should_have_said(world):
    content = [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}]
    messages, _ = await failing(query(prompt=messages_of(content), options=world.options()))
    equal((result(messages).subtype, result(messages).num_turns), ("error_during_execution", 0))


@test
async def prompts_in_every_script(world):
    prompt = "Grüße, 世界 🌍 \u2028 \u0000 \" \\ \n"
    content = [{"type": "text", "text": prompt}, {"type": "text", "text": play([{"say": "texts"}])}]
    messages = await collect(query(prompt=messages_of(content), options=world.options()))
    equal(result(messages).result, prompt)


@test
async def a_long_answer(world):
    long = "x" * 3_000_000
    messages = await collect(query(prompt=play(text(long)), options=world.options(max_buffer_size=2**20)))
    # No line is longer than what the SDK takes by default, so a host hears of it all the same.
    equal(result(messages).is_error, False)
    contains(result(messages).result, "too long for one frame")


@test
async def system_prompts(world):
    async def prompt(**more):
        return (await ask(world, [{"say": "system"}], **more)).result

    contains(await prompt(system_prompt="You are a test."), "You are a test.")
    equal(await prompt(), '""')
    preset = await prompt(system_prompt={"type": "preset", "preset": "claude_code", "append": "And a test."})
    contains(preset, "And a test.")
    contains(preset, "coding agent")
    path = world.write("system.txt", "You are a file.")
    contains(await prompt(system_prompt={"type": "file", "path": path}), "You are a file.")


@test
async def thinking(world):
    budget = {"type": "enabled", "budget_tokens": 2048}
    end = await ask(world, [{"say": "thinking"}], thinking=budget, model="claude-sonnet-4-5")
    equal(json.loads(end.result), budget)
    equal((await ask(world, [{"say": "thinking"}], thinking={"type": "disabled"}, model="claude-sonnet-4-5")).result, "null")


@test
async def further_directories(world):
    other = os.path.join(world.root, "other")
    os.mkdir(other)
    target = os.path.join(other, "a")
    script = [tool("Write", file_path=target, content="x"), text("ok")]
    equal(len((await ask(world, *script, permission_mode="acceptEdits")).permission_denials), 1)
    equal((await ask(world, *script, permission_mode="acceptEdits", add_dirs=[other])).permission_denials, [])
    equal(os.listdir(other), ["a"])


@test
async def unknown_flags_do_not_matter(world):
    end = await ask(world, text("ok"), extra_args={"from-the-future": None, "and-beyond": "x"}, setting_sources=[])
    equal(end.result, "ok")
    contains("".join(world.stderr), "from-the-future")


@test
async def max_turns(world):
    loop = play(*[tool("Bash", command="pwd")] * 3, text("never"))
    messages, raised = await failing(query(prompt=loop, options=world.options(max_turns=2)))
    contains(raised, "maximum number of turns (2)")
    end = result(messages)
    equal((end.subtype, end.is_error, end.terminal_reason, end.result), ("error_max_turns", True, "max_turns", None))


@test
async def budget(world):
    dear = [{"usage": {"input_tokens": 100_000}}, *tool("Bash", command="pwd")]
    options = world.options(max_budget_usd=0.5, model="claude-sonnet-4-5")
    messages, raised = await failing(query(prompt=play(dear, dear, dear, text("never")), options=options))
    contains(raised, "maximum budget ($0.5)")
    end = result(messages)
    equal((end.subtype, end.is_error, end.terminal_reason), ("error_max_budget_usd", True, "budget_exhausted"))
    assert 0.5 <= end.total_cost_usd < 1, end.total_cost_usd
    equal(end.model_usage["claude-sonnet-4-5"]["inputTokens"], 200_000)


@test
async def a_client_goes_on_after_a_limit(world):
    async with client(world, max_turns=1) as one:
        equal((await say(one, play(tool("Bash", command="pwd"), text("never")))).subtype, "error_max_turns")
        equal((await say(one, play(text("after")))).result, "after")


@test
async def resume_and_continue(world):
    first = result(await collect(query(prompt="remember blue " + play(text("x")), options=world.options())))
    for more in ({"resume": first.session_id}, {"continue_conversation": True}):
        end = await ask(world, [{"say": "texts"}], **more)
        equal(end.session_id, first.session_id)
        contains(end.result, "remember blue")
    async with client(world, resume=first.session_id) as one:
        contains((await say(one, play([{"say": "texts"}]))).result, "remember blue")
    chosen = "12345678-1234-4234-8234-123456789abc"
    equal((await ask(world, text("x"), session_id=chosen)).session_id, chosen)
    gone = query(prompt="x", options=world.options(resume="aaaaaaaa-1111-4111-8111-111111111111"))
    await raises(collect(gone), "No conversation found with session ID")


@test
async def resume_after_an_interrupt(world):
    async with client(world, allowed_tools=["Bash"]) as one:
        await one.query(play(tool("Bash", command="touch begun; sleep 57"), text("never")))
        await common.until(lambda: world.files() == ["begun"])
        await one.interrupt()
        id = result(await collect(one.receive_response())).session_id
    equal((await ask(world, text("again"), resume=id)).result, "again")


@test
async def the_helpers_find_our_sessions(world):
    end = await ask(world, text("stored"))
    os.environ["CLAUDE_CONFIG_DIR"] = world.env["CLAUDE_CONFIG_DIR"]
    try:
        equal([info.session_id for info in list_sessions(directory=world.cwd)], [end.session_id])
        messages = get_session_messages(end.session_id, directory=world.cwd)
        equal([message.type for message in messages], ["user", "assistant"])
    finally:
        del os.environ["CLAUDE_CONFIG_DIR"]


@test
async def many_clients(world):
    async def one(number):
        async with client(world, allowed_tools=["Bash"]) as mine:
            first = await say(mine, play(tool("Bash", command=f"echo {number}"), [{"say": "results"}]))
            second = await say(mine, play(text(f"again {number}")))
            return first.result.strip(), second.result

    answers = await asyncio.gather(*(one(number) for number in range(50)))
    equal(answers, [(str(number), f"again {number}") for number in range(50)])


if __name__ == "__main__":
    common.main()
