"""Hooks of settings files through the Python Agent SDK."""

import json
import os

import common
from claude_agent_sdk import query
from common import client, collect, contains, equal, play, result, say, test, text, tool


def put(world, name, content):
    """Writes JSON below the world's root."""
    path = os.path.join(world.root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        json.dump(content, file)


def command(line, **more):
    return {"hooks": [{"type": "command", "command": line, **more}]}


async def touches(world, **more):
    """Whether a run may touch a file, and its messages."""
    script = play(tool("Bash", command="touch made"), text("ok"))
    messages = await collect(query(prompt=script, options=world.options(allowed_tools=["Bash"], **more)))
    made = "made" in world.files()
    equal(bool(result(messages).permission_denials), not made)
    if made:
        os.remove(world.path("made"))
    return made, str(messages)


@test
async def a_hook_of_the_user_decides(world):
    for line, made, part in (
        ("exit 0", True, ""),
        ("echo never here >&2; exit 2", False, "never here"),
        ("exit 1", False, "failed"),
        ("no-such-program", False, "failed"),
        ("echo '{'", False, "failed"),
        ("cat | grep -q '\"tool_name\":\"Bash\"' || exit 2", True, ""),
    ):
        put(world, "home/settings.json", {"hooks": {"PreToolUse": [{"matcher": "Bash", **command(line)}]}})
        ran, messages = await touches(world)
        equal((line, ran), (line, made))
        contains(messages, part)


@test
async def a_project_brings_hooks_when_it_is_named(world):
    put(world, "work/.claude/settings.json", {"hooks": {"PreToolUse": [command("exit 2")]}})
    for sources, made in ((None, True), (["user"], True), (["project"], False)):
        ran, _ = await touches(world, setting_sources=sources)
        equal((sources, ran), (sources, made))


@test
async def hooks_add_context_and_keep_a_run_going(world):
    put(world, "home/settings.json", {"hooks": {
        "UserPromptSubmit": [command("echo the sky is green")],
        "Stop": [command("test -e again || { touch again; echo run the tests >&2; exit 2; }")],
    }})
    done = result(await collect(query(prompt=play(text("one"), text("two")), options=world.options())))
    equal((done.result, done.num_turns), ("two", 2))


@test
async def a_hook_that_cannot_be_used_stops_the_start(world):
    put(world, "home/settings.json", {"hooks": {"PreToolUse": [{"hooks": [{"type": "comand", "command": "x"}]}]}})
    try:
        await touches(world)
    except Exception:
        contains("".join(world.stderr), "did you mean `command`?")
    else:
        raise AssertionError("the session started")


if __name__ == "__main__":
    common.main()
