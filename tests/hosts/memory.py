"""What sessions remember of earlier ones, through the Python Agent SDK."""

import glob
import json
import os

import common
from claude_agent_sdk import ResultMessage, query
from common import client, collect, contains, equal, play, result, say, system, test, text

NOTE = {"action": "write", "name": "tests", "type": "feedback", "description": "How tests run", "content": "No mocks."}
WRITES = [{"tool": "Memory", "input": NOTE}]


def notes(world):
    return sorted(os.path.basename(path) for path in glob.glob(os.path.join(world.root, "home/projects/*/memory-*/*")))


async def texts(world, **more):
    messages = await collect(query(prompt=play([{"say": "texts"}]), options=world.options(**more)))
    return result(messages).result


@test
async def a_note_of_one_session_is_in_the_next_one(world):
    messages = await collect(query(prompt=play(WRITES, text("noted")), options=world.options()))
    contains(",".join(system(messages, "init")[0].data["tools"]), "Memory")
    equal((result(messages).result, result(messages).permission_denials or []), ("noted", []))
    equal(notes(world), ["MEMORY.md", "tests.md"])
    contains(await texts(world), "How tests run")
    async with client(world) as one:
        await say(one, play(text("one")))
        usage = await one.get_context_usage()
        equal([os.path.basename(file["path"]).split("-")[0] for file in usage["memoryFiles"]], ["memory"])


@test
async def settings_and_variables_switch_it_off(world):
    await collect(query(prompt=play(WRITES, text("noted")), options=world.options()))
    off = [{"settings": json.dumps({"autoMemoryEnabled": False})}, {"env": {**world.env, "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}}]
    for more in off:
        messages = await collect(query(prompt=play([{"say": "tools"}]), options=world.options(**more)))
        assert "Memory" not in result(messages).result.split(","), result(messages).result
        assert "How tests run" not in await texts(world, **more)


@test
async def plan_mode_refuses_a_note(world):
    options = world.options(permission_mode="plan")
    messages = await collect(query(prompt=play(WRITES, text("so")), options=options))
    equal([denial["tool_name"] for denial in result(messages).permission_denials], ["Memory"])
    equal(notes(world), [])


@test
async def a_host_asks_what_is_kept_without_a_request(world):
    await collect(query(prompt=play(WRITES, text("noted")), options=world.options()))
    async with client(world) as one:
        for asked, said in [("/memory", "- tests (feedback, "), ("/memory show tests", "No mocks."), ("/memory forget tests", "is removed")]:
            await one.query(asked)
            messages = await collect(one.receive_response())
            contains(result(messages).result, said)
            equal((result(messages).num_turns, result(messages).is_error), (0, False))
        equal(notes(world), ["MEMORY.md"])
        await say(one, play(text("one")))
        contains((await one.get_server_info())["commands"][5]["name"], "memory")
    async with client(world, env={**world.env, "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}) as one:
        await one.query("/memory")
        end = [each for each in await collect(one.receive_response()) if isinstance(each, ResultMessage)][-1]
        equal((end.is_error, end.num_turns), (True, 0))
        contains(" ".join(end.errors or []), "there is no memory here")


if __name__ == "__main__":
    common.main()
