"""Structured output through the Python Agent SDK."""

import common
from claude_agent_sdk import HookMatcher, ToolResultBlock, query
from common import blocks, client, collect, contains, equal, failing, play, result, say, test, text, tool

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
FORMAT = {"type": "json_schema", "schema": SCHEMA}


def give(**output):
    return tool("StructuredOutput", **output)


@test
async def the_output_is_data_and_text(world):
    messages = await collect(query(prompt=play(give(n=7)), options=world.options(output_format=FORMAT)))
    end = result(messages)
    equal((end.structured_output, end.result, end.subtype, end.num_turns), ({"n": 7}, '{"n": 7}', "success", 1))


@test
async def what_does_not_fit_is_tried_again(world):
    script = play(text("It is seven."), give(n="seven"), give(n=7, m=1), give(n=7))
    messages = await collect(query(prompt=script, options=world.options(output_format=FORMAT)))
    equal((result(messages).structured_output, result(messages).num_turns), ({"n": 7}, 4))
    errors = [str(block.content) for block in blocks(messages, ToolResultBlock) if block.is_error]
    equal(len(errors), 2)
    contains(errors[0], "/n")


@test
async def attempts_end(world):
    messages, raised = await failing(query(prompt=play(*[text("no")] * 9), options=world.options(output_format=FORMAT)))
    end = result(messages)
    equal((end.subtype, end.is_error, end.num_turns), ("error_max_structured_output_retries", True, 6))
    equal(end.structured_output, None)
    contains(raised, "6 attempts")


@test
async def each_turn_of_a_client_has_its_own(world):
    async with client(world, output_format=FORMAT) as one:
        equal((await say(one, play(give(n=1)))).structured_output, {"n": 1})
        equal((await say(one, play(tool("Glob", pattern="*"), give(n=2)))).structured_output, {"n": 2})


@test
async def a_schema_of_no_object_fails_the_start(world):
    options = world.options(output_format={"type": "json_schema", "schema": {"type": "array"}})
    messages, _ = await failing(query(prompt=play(text("x")), options=options))
    contains(str(result(messages).errors), "must describe an object")


@test
async def hooks_answer_questions(world):
    asked = []

    async def allow(given, tool_use_id, _):
        asked.append((given["hook_event_name"], given["tool_name"], given["tool_input"], bool(tool_use_id)))
        decision = {"behavior": "allow", "updatedInput": {"command": "touch allowed"}}
        return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}

    async def deny(given, *_):
        assert given["permission_suggestions"], given
        decision = {"behavior": "deny", "message": "not now"}
        return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}

    script = play(tool("Bash", command="touch a"), [{"say": "results"}])
    options = world.options(hooks={"PermissionRequest": [HookMatcher(matcher="Bash", hooks=[allow])]})
    await collect(query(prompt=script, options=options))
    equal(asked, [("PermissionRequest", "Bash", {"command": "touch a"}, True)])
    equal(world.files(), ["allowed"])

    options = world.options(hooks={"PermissionRequest": [HookMatcher(hooks=[deny])]})
    messages = await collect(query(prompt=script, options=options))
    contains(result(messages).result, "not now")
    equal(world.files(), ["allowed"])


if __name__ == "__main__":
    common.main()
