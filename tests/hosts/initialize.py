"""What `initialize` and the first frames say, and what each option of a host does, through the Python Agent SDK."""

import json
import os

import common
from claude_agent_sdk import ClaudeSDKClient, ResultError, get_session_info, query
from common import client, collect, contains, equal, play, raises, result, say, system, test, text, tool

UNKNOWN = "99999999-9999-4999-8999-999999999999"
SYSTEM = play([{"say": "system"}])


def put(world, name, content):
    """Writes a file below the world's root; anything but text as JSON."""
    path = os.path.join(world.root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(content if isinstance(content, str) else json.dumps(content))


async def run(world, prompt, **more):
    return await collect(query(prompt=prompt, options=world.options(**more)))


@test
async def an_output_style_counts_without_the_preset_and_is_named(world):
    put(world, "home/output-styles/short.md", "---\nname: Short\n---\nAnswer in three words.")
    for style, prompt, expected in (
        (None, None, "default"), ("Short", None, "Short"), ("Short", "Own prompt.", "default"), ("short", None, "Short"), ("nosuch", None, "default"),
        ("Short", {"type": "preset", "preset": "claude_code"}, "Short"),
    ):
        put(world, "home/settings.json", {"outputStyle": style} if style else {})
        async with client(world, system_prompt=prompt) as one:
            info = await one.get_server_info()
            equal((style, info["output_style"]), (style, expected))
            equal(info["available_output_styles"], ["default", "Explanatory", "Learning", "Short"])
            await one.query(SYSTEM)
            messages = await collect(one.receive_response())
        equal((style, system(messages, "init")[0].data["output_style"]), (style, expected))
        said = result(messages).result
        equal((style, "three words" in said), (style, expected == "Short"))
        if isinstance(prompt, str):
            contains(said, "Own prompt.")


@test
async def the_source_of_the_key_is_named(world):
    for settings, env, source, account in (
        ({}, {}, "ANTHROPIC_API_KEY", {"apiKeySource": "ANTHROPIC_API_KEY"}),
        ({"apiKeyHelper": "echo key"}, {"ANTHROPIC_API_KEY": ""}, "apiKeyHelper",
         {"apiKeySource": "apiKeyHelper", "tokenSource": "apiKeyHelper"}),
        ({}, {"ANTHROPIC_API_KEY": ""}, "none", {}),
    ):
        put(world, "home/settings.json", settings)
        async with client(world, env={**world.env, **env}) as one:
            equal((await one.get_server_info())["account"], account)
            await one.query(play(text("ok")))
            if source != "none":
                messages = await collect(one.receive_response())
                equal(system(messages, "init")[0].data["apiKeySource"], source)


@test
async def models_say_their_efforts_and_modes(world):
    async with client(world) as one:
        models = {model["value"]: model for model in (await one.get_server_info())["models"]}
    equal(list(models), ["default", "opus", "sonnet", "haiku"])
    opus = models["opus"]
    equal((opus["resolvedModel"], opus["supportsEffort"], opus["supportsAutoMode"]), ("claude-opus-5-5", True, True))
    assert {"low", "medium", "high"} <= set(opus["supportedEffortLevels"]), opus
    put(world, "home/settings.json", {"model": "claude-sonnet-4-5", "permissions": {"disableAutoMode": "disable"}})
    async with client(world) as one:
        default = (await one.get_server_info())["models"][0]
    equal((default["resolvedModel"], "supportsAutoMode" in default, "supportsEffort" in default), ("claude-sonnet-4-5", False, False))


@test
async def skills_of_the_host_are_the_only_ones(world):
    for name in ("one", "two"):
        put(world, f"home/skills/{name}/SKILL.md", f"---\ndescription: The skill {name}.\n---\nText of {name}.")
    use = lambda name: play(tool("Skill", skill=name), [{"say": "results"}])
    for skills, listed in ((None, "one two"), ("all", "one two"), (["two"], "two"), (["kit:two"], ""), ([], "")):
        end = result(await run(world, play([{"say": "messages"}]), skills=skills, setting_sources=["user"]))
        for name in ("one", "two"):
            equal((skills, name, f"The skill {name}." in end.result), (skills, name, name in listed.split()))
    contains(result(await run(world, use("two"), skills=["two"])).result, "Text of two.")
    said = result(await run(world, use("one"), skills=["two"], allowed_tools=["Skill"])).result
    assert "Text of one." not in said, said
    contains(said, "ERROR")


@test
async def verbatim_prompts_mention_nothing(world):
    world.write("notes.md", "Remember the milk.")
    prompt = "see @notes.md " + play([{"say": "messages"}])
    for verbatim in (False, True):
        said = result(await run(world, prompt, verbatim_prompts=verbatim)).result
        equal((verbatim, "the milk" in said), (verbatim, not verbatim))
        contains(said, "see @notes.md")


@test
async def commands_know_that_an_agent_runs_them(world):
    end = result(await run(world, play(tool("Bash", command="echo mark $CLAUDECODE"), [{"say": "results"}]), allowed_tools=["Bash"]))
    contains(end.result, "mark 1")


@test
async def what_a_session_cannot_do_is_refused_by_its_name(world):
    for option, value in (("promptSuggestions", True), ("agentProgressSummaries", True), ("toolAliases", {"A": "B"}),
                          ("planModeInstructions", "Draw."), ("systemPromptSnapshot", True)):
        async with client(world) as one:
            order = one._query._send_control_request({"subtype": "initialize", "hooks": None, option: value})
            await raises(order, option)
            equal((await say(one, play(text("ok")))).result, "ok")


@test
async def a_title_of_the_host_is_that_of_the_session(world):
    async with client(world) as one:
        await one._query._send_control_request({"subtype": "initialize", "hooks": None, "title": "Milk and eggs"})
        session = (await say(one, play(text("ok")))).session_id
    os.environ["CLAUDE_CONFIG_DIR"] = world.env["CLAUDE_CONFIG_DIR"]
    try:
        equal(get_session_info(session, directory=world.cwd).custom_title, "Milk and eggs")
    finally:
        del os.environ["CLAUDE_CONFIG_DIR"]


@test
async def the_answer_to_a_mode_is_the_mode_in_effect(world):
    async with client(world) as one:
        for _ in range(2):
            for mode in ("acceptEdits", "plan", "default"):
                answer = await one._query._send_control_request({"subtype": "set_permission_mode", "mode": mode})
                equal(answer, {"mode": mode})
            await say(one, play(text("ok")))


@test
async def a_session_that_is_not_there_fails_at_the_start(world):
    for more in ({}, {"fork_session": True}):
        one = ClaudeSDKClient(world.options(resume=UNKNOWN, **more))
        try:
            await one.connect()
        except ResultError as error:
            contains(str(error), f"No conversation found with session ID: {UNKNOWN}")
        else:
            raise AssertionError("it was opened")
        finally:
            await one.disconnect()


@test
async def the_answer_of_a_local_command_is_a_message(world):
    async with client(world) as one:
        await say(one, play(text("ok")))
        for command, part in (("/cost", "Total cost: $"), ("/context", "tokens")):
            await one.query(command)
            messages = await collect(one.receive_response())
            [shown] = system(messages, "local_command_output")
            contains(shown.data["content"], part)
            equal(result(messages).result, shown.data["content"])


@test
async def half_a_character_in_a_prompt_is_replaced(world):
    end = result(await run(world, "before \ud83d after " + play([{"say": "texts"}])))
    contains(end.result, "before \ufffd after")


@test
async def nobody_is_asked_where_the_host_wants_that(world):
    async def decide(*_):
        raise AssertionError("the host was asked")

    async with client(world, can_use_tool=decide, extra_args={"permission-prompts": "none"}) as one:
        end = await say(one, play(tool("Bash", command="touch made"), text("ok")))
    equal((len(end.permission_denials), world.files()), (1, []))


common.main()
