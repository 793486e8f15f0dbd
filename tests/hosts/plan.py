"""Plan mode and questions to the user through the Python Agent SDK."""

import common
from claude_agent_sdk import PermissionResultAllow, PermissionResultDeny, query
from common import collect, contains, equal, play, result, say, system, test, text, tool

QUESTION = {
    "question": "Which database?",
    "header": "Database",
    "multiSelect": False,
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
}


@test
async def an_approved_plan_is_carried_out(world):
    asked = []

    async def decide(name, given, context):
        asked.append((name, given.get("plan")))
        return PermissionResultAllow()

    write = tool("Write", file_path=world.path("a"), content="x")
    script = play(write, tool("ExitPlanMode", plan="1. Write a"), write, [{"say": "results"}])
    async with common.client(world, can_use_tool=decide, permission_mode="plan") as client:
        await client.query(script)
        messages = await collect(client.receive_response())
    equal(asked[0], ("ExitPlanMode", "1. Write a"))
    equal(world.files(), ["a"])
    modes = [m.data.get("permissionMode") for m in system(messages, "status") if m.data.get("permissionMode")]
    equal(modes, ["default"])


@test
async def a_refused_plan_changes_nothing(world):
    async def decide(name, given, context):
        return PermissionResultDeny(message="think again")

    script = play(tool("ExitPlanMode", plan="p"), tool("Write", file_path=world.path("a"), content="x"), [{"say": "results"}])
    async with common.client(world, can_use_tool=decide, permission_mode="plan") as client:
        end = await say(client, script)
    contains(end.result, "ERROR")
    equal(world.files(), [])


@test
async def answers_of_the_user_reach_the_model(world):
    async def decide(name, given, context):
        equal((name, given["questions"]), ("AskUserQuestion", [QUESTION]))
        return PermissionResultAllow(updated_input={**given, "answers": {"Which database?": "SQLite"}})

    script = play(tool("AskUserQuestion", questions=[QUESTION]), [{"say": "results"}])
    async with common.client(world, can_use_tool=decide) as client:
        end = await say(client, script)
    contains(end.result, "Which database?: SQLite")


@test
async def without_anybody_to_ask_nothing_of_it_is_offered(world):
    messages = await collect(query(prompt=play(text("ok")), options=world.options()))
    tools = system(messages, "init")[0].data["tools"]
    equal([name for name in tools if "Plan" in name or "Ask" in name], [])
    equal(result(messages).result, "ok")


if __name__ == "__main__":
    common.main()
