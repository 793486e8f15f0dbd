"""A session that is an agent, through the Python Agent SDK."""

import json
import os

import common
from claude_agent_sdk import AgentDefinition, HookMatcher, query
from common import client, collect, contains, equal, play, result, say, system, test, text, tool

SAYS = [{"say": "tools"}]


def reviewer(**more):
    return AgentDefinition(**{"description": "Reviews", "prompt": "You only review.", **more})


async def ask(world, prompt, agent="reviewer", args=None, **more):
    """One run of an agent."""
    more.setdefault("agents", {"reviewer": reviewer()})
    options = world.options(extra_args={"agent": agent, **(args or {})}, **more)
    return await collect(query(prompt=prompt, options=options))


def offered(messages):
    return result(messages).result.split(",")


@test
async def an_agent_has_its_tools_only(world):
    more = {"agents": {"reviewer": reviewer(tools=["Read", "Grep"])}}
    messages = await ask(world, play(SAYS), **more)
    equal(sorted(offered(messages)), ["Grep", "Read"])
    init = system(messages, "init")[0].data
    equal((sorted(init["tools"]), init["agents"]), (["Grep", "Read"], []))
    # Nothing else runs, whatever the mode.
    bash = play(tool("Bash", command="touch made"), [{"say": "results"}])
    await ask(world, bash, permission_mode="bypassPermissions", **more)
    equal(world.files(), [])
    # The options can only take away.
    equal(offered(await ask(world, play(SAYS), tools=["Read", "Bash"], **more)), ["Read"])
    messages = await ask(world, play(SAYS), disallowed_tools=["Grep"], **more)
    equal(offered(messages), ["Read"])


@test
async def what_an_agent_may_not_do(world):
    more = {"agents": {"reviewer": reviewer(disallowedTools=["Bash", "mcp__calc"])}}
    names = offered(await ask(world, play(SAYS), **more))
    assert "Bash" not in names and "Read" in names, names


@test
async def the_prompt_of_an_agent_is_the_system_prompt(world):
    said = play([{"say": "system"}])
    messages = await ask(world, said)
    contains(result(messages).result, "You only review.")
    assert "coding agent" not in result(messages).result, result(messages).result
    # What the host appends goes behind it; a prompt of its own counts for more.
    preset = {"type": "preset", "preset": "claude_code", "append": "And be brief."}
    system_prompt = result(await ask(world, said, system_prompt=preset)).result
    contains(system_prompt, "You only review.")
    contains(system_prompt, "And be brief.")
    system_prompt = result(await ask(world, said, system_prompt="The host's own.")).result
    contains(system_prompt, "The host's own.")
    assert "You only review." not in system_prompt, system_prompt


@test
async def the_model_of_an_agent_yields_to_the_options(world):
    more = {"agents": {"reviewer": reviewer(model="claude-agents-own")}}
    said = play([{"say": "model"}])
    equal(result(await ask(world, said, **more)).result, "claude-agents-own")
    equal(result(await ask(world, said, model="claude-the-options", **more)).result, "claude-the-options")


@test
async def limits_and_mode_of_an_agent(world):
    more = {"agents": {"reviewer": reviewer(maxTurns=1, permissionMode="plan")}}
    options = world.options(extra_args={"agent": "reviewer"}, max_turns=5, **more)
    try:
        messages = await collect(query(prompt=play(tool("Glob", pattern="*"), text("done")), options=options))
    except Exception as error:
        contains(str(error), "turns")
    else:
        equal(result(messages).subtype, "error_max_turns")
    messages = await ask(world, play(text("one")), **more)
    equal(system(messages, "init")[0].data["permissionMode"], "plan")
    messages = await ask(world, play(text("one")), permission_mode="acceptEdits", **more)
    equal(system(messages, "init")[0].data["permissionMode"], "acceptEdits")


@test
async def an_agent_begins_with_its_own_words(world):
    more = {"agents": {"reviewer": reviewer(initialPrompt="First of all.")}}
    messages = await ask(world, "HOST " + play([{"say": "texts"}]), **more)
    equal(result(messages).result.split("\n"), ["First of all.", "HOST "])
    # A session that goes on has begun already.
    more["resume"] = result(messages).session_id
    said = result(await ask(world, "AGAIN " + play([{"say": "texts"}]), **more)).result
    equal(said.count("First of all."), 1)


def home(world, name, content):
    path = os.path.join(world.env["CLAUDE_CONFIG_DIR"], name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(content)


@test
async def the_first_words_go_with_the_first_prompt_for_the_model(world):
    home(world, "commands/begin.md", "Begin with $1.")
    more = {"agents": {"reviewer": reviewer(initialPrompt="/begin care")}}
    async with client(world, extra_args={"agent": "reviewer"}, **more) as one:
        contains((await say(one, "/cost")).result, "Total cost")
        for _ in range(2):
            said = (await say(one, "HOST " + play([{"say": "texts"}]))).result
            equal(said.split("\n")[:2], ["Begin with care.", "HOST "])
            equal(said.count("Begin"), 1)


@test
async def hooks_hear_the_mode_of_the_agent(world):
    heard = []

    async def hook(given, *_):
        heard.append(given["permission_mode"])
        return {}

    hooks = {"UserPromptSubmit": [HookMatcher(hooks=[hook])], "PreToolUse": [HookMatcher(hooks=[hook])]}
    more = {"agents": {"reviewer": reviewer(permissionMode="acceptEdits")}, "hooks": hooks}
    await ask(world, play(tool("Write", file_path=world.path("made"), content="x")), **more)
    equal((world.files(), heard), (["made"], ["acceptEdits", "acceptEdits"]))


@test
async def the_user_has_agents_in_files(world):
    home(world, "agents/mine.md", "---\nname: mine\ndescription: d\ntools: Read, Grep\nmodel: claude-of-a-file\n---\nYou are mine.\n")
    said = [{"say": "tools"}, {"text": " "}, {"say": "model"}, {"text": " "}, {"say": "system"}]
    told = result(await ask(world, play(said), agent="mine")).result
    for part in ("Grep", "Read", "claude-of-a-file", "You are mine."):
        contains(told, part)
    assert "Bash" not in told, told
    # What the host defines counts for more, and leaving out the files leaves out the agent.
    agents = {"mine": reviewer(tools=["Glob"])}
    equal(offered(await ask(world, play(SAYS), agent="mine", agents=agents)), ["Glob"])
    try:
        said = result(await ask(world, play(SAYS), agent="mine", setting_sources=[])).result
    except Exception as error:
        said = str(error) + "".join(world.stderr)
    contains(said, "there is no agent")


@test
async def an_unknown_agent_is_an_error_that_names_the_others(world):
    try:
        messages = await ask(world, play(text("one")), agent="other")
        said = result(messages).result + json.dumps(result(messages).errors)
    except Exception as error:
        said = str(error) + "".join(world.stderr)
    contains(said, "reviewer")
    contains(said, "other")


@test
async def agents_without_a_choice_are_only_there_to_be_called(world):
    options = world.options(agents={"reviewer": reviewer(tools=["Read"])})
    messages = await collect(query(prompt=play(SAYS), options=options))
    names = offered(messages)
    assert "Bash" in names and "Agent" in names, names
    contains(system(messages, "init")[0].data["agents"], "reviewer")
    equal("".join(world.stderr), "")


@test
async def an_agent_of_the_project_needs_trust(world):
    folder = world.path(".claude/agents")
    os.makedirs(folder)
    with open(os.path.join(folder, "local.md"), "w") as file:
        file.write("---\nname: local\ndescription: d\ntools: Read\n---\nYou are local.\n")
    # Naming the source is trust for this run.
    messages = await ask(world, play(SAYS), agent="local", setting_sources=["project"])
    equal(offered(messages), ["Read"])
    try:
        said = result(await ask(world, play(SAYS), agent="local", setting_sources=None)).result
    except Exception as error:
        said = str(error) + "".join(world.stderr)
    contains(said, "without trust in the project")


common.main()
