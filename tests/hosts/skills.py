"""Skills and commands of files: what they may do, run and list, through the Python Agent SDK."""

import os

import common
from claude_agent_sdk import PermissionResultAllow, PermissionResultDeny, ResultMessage, query
from common import client, collect, contains, equal, play, result, say, system, test, text, tool


def put(world, name, content):
    path = os.path.join(world.root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(content)
    return path


TEXTS = play([{"say": "texts"}])


@test
async def what_a_command_allows_ends_with_its_run(world):
    put(world, "home/commands/touch.md", "---\nallowed-tools: Bash(touch *)\n---\n" + play(tool("Bash", command="touch made"), text("ok")))
    plain = play(tool("Bash", command="touch made"), text("ok"))
    made = world.path("made")
    async with client(world) as one:
        await say(one, "/touch")
        assert os.path.exists(made)
        os.remove(made)
        end = await say(one, plain)
        equal((os.path.exists(made), len(end.permission_denials)), (False, 1))


@test
async def programs_of_a_command_pass_the_gate(world):
    put(world, "home/commands/look.md", "Branch !`echo $1 there` and @notes.md. " + TEXTS)
    put(world, "home/commands/touch.md", "Now !`touch made`. " + TEXTS)
    put(world, "home/commands/gone.md", "Now !`cat absent`. " + TEXTS)
    put(world, "work/notes.md", "Remember the milk.")
    put(world, "work/.claude/commands/theirs.md", "Now !`echo theirs`. " + TEXTS)
    asked = []

    async def decide(name, given, _):
        asked.append((name, given))
        return PermissionResultAllow() if len(asked) == 1 else PermissionResultDeny(message="Not now.")

    async with client(world, can_use_tool=decide) as one:
        said = (await say(one, "/look hello")).result
        contains(said, "Branch hello there and @notes.md.")
        contains(said, "Remember the milk.")
        equal(asked, [])
        contains((await say(one, "/touch")).result, "Now")
        equal((asked, os.path.exists(world.path("made"))), ([("Bash", {"command": "touch made"})], True))
        for command, reason in (("/touch", "Not now"), ("/gone", "absent"), ("/theirs", "trust in this project does not cover")):
            await one.query(command)
            end = [each for each in await collect(one.receive_response()) if isinstance(each, ResultMessage)][-1]
            equal((command, end.is_error, end.num_turns), (command, True, 0))
            contains(" ".join(end.errors or []), reason)
        equal((await say(one, play(text("two")))).result, "two")


@test
async def a_setting_keeps_programs_from_running(world):
    put(world, "home/settings.json", '{"disableSkillShellExecution": true}')
    put(world, "home/commands/touch.md", "---\nallowed-tools: Bash\n---\nNow !`touch made`. " + TEXTS)
    async with client(world) as one:
        contains((await say(one, "/touch")).result, "Now [a setting keeps commands from running programs].")
        assert not os.path.exists(world.path("made"))


@test
async def skills_that_come_count_from_the_next_prompt_on(world):
    put(world, "home/skills/old/SKILL.md", "---\ndescription: An old one.\n---\nOld.")
    async with client(world) as one:
        contains((await say(one, TEXTS)).result, "- old: An old one.")
        put(world, "work/.claude/skills/fresh/SKILL.md", "---\ndescription: A new one.\n---\nNew $1. " + TEXTS)
        said = (await say(one, TEXTS)).result
        contains(said, "- fresh: A new one.")
        equal(said.count("- old: An old one."), 1)
        # Called by its name at once, and listed from then on.
        put(world, "work/.claude/skills/later/SKILL.md", "---\ndescription: A later one.\n---\nLater $1. " + TEXTS)
        await one.query("/later x")
        messages = await collect(one.receive_response())
        contains(result(messages).result, "Later x.")
        contains([each["name"] for each in system(messages, "commands_changed")[0].data["commands"]], "later")
        contains(system(messages, "init")[0].data["slash_commands"], "later")


@test
async def skills_of_plugins_are_listed_and_called(world):
    put(world, "kit/.claude-plugin/plugin.json", '{"name": "kit"}')
    put(world, "kit/skills/look/SKILL.md", "---\ndescription: Looks.\n---\nIn ${CLAUDE_SKILL_DIR}: $1. " + TEXTS)
    plugins = [{"type": "local", "path": os.path.join(world.root, "kit")}]
    async with client(world, plugins=plugins) as one:
        await one.query("/kit:look here")
        messages = await collect(one.receive_response())
        contains(result(messages).result, f"In {os.path.join(world.root, 'kit/skills/look')}: here.")
        contains(result(messages).result, "- kit:look: Looks.")
        init = system(messages, "init")[0].data
        contains(init["slash_commands"], "kit:look")
        contains(init["skills"], "kit:look")


@test
async def bundled_skills_are_called_by_users(world):
    messages = await collect(query(prompt="/review " + TEXTS, options=world.options()))
    contains(result(messages).result, "bundled-skills")
    contains(result(messages).result, "Go through")


if __name__ == "__main__":
    common.main()
