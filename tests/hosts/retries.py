"""Model calls that fail, through the Python Agent SDK."""

import time
import uuid

import common
from claude_agent_sdk import AssistantMessage, StreamEvent, ToolResultBlock, query
from common import blocks, collect, contains, equal, failing, play, result, system, test, text, tool


def attempts(*steps):
    """A model message that is asked for several times."""
    return {"attempts": steps, "key": str(uuid.uuid4())}


def failure(status, kind, **more):
    return {"status": status, "error": kind, **more}


LIMITED = failure(429, "rate_limit_error", retry_after=0)
OVERLOADED = failure(529, "overloaded_error", retry_after=0)


def retries(messages):
    return [(m.data["attempt"], m.data["error_status"], m.data["error"]) for m in system(messages, "api_retry")]


async def run(world, *steps, **more):
    return await collect(query(prompt=play(*steps), options=world.options(**more)))


@test
async def rate_limit(world):
    messages = await run(world, attempts(LIMITED, LIMITED, text("at last")))
    equal(retries(messages), [(1, 429, "rate_limit"), (2, 429, "rate_limit")])
    end = result(messages)
    equal((end.subtype, end.is_error, end.result, end.num_turns), ("success", False, "at last", 1))


@test
async def rate_limit_with_a_time_to_wait(world):
    began = time.monotonic()
    messages = await run(world, attempts(failure(429, "rate_limit_error", retry_after=1), text("at last")))
    assert time.monotonic() - began >= 1
    equal([m.data["retry_delay_ms"] for m in system(messages, "api_retry")], [1000])
    equal(result(messages).result, "at last")


@test
async def overloaded(world):
    messages = await run(world, attempts(OVERLOADED, text("at last")))
    equal(retries(messages), [(1, 529, "overloaded")])
    equal(result(messages).result, "at last")


@test
async def overloaded_with_a_fallback(world):
    limited = attempts(OVERLOADED, OVERLOADED, OVERLOADED, [{"say": "model"}])
    messages = await run(world, limited, model="claude-sonnet-4-5", fallback_model="claude-haiku-4-5")
    equal(retries(messages), [(1, 529, "overloaded"), (2, 529, "overloaded")])
    (fallback,) = system(messages, "model_fallback")
    equal((fallback.data["original_model"], fallback.data["fallback_model"]), ("claude-sonnet-4-5", "claude-haiku-4-5"))
    equal(result(messages).result, "claude-haiku-4-5")


@test
async def a_connection_that_is_closed_before_the_answer(world):
    messages = await run(world, attempts({"close": True}, text("at last")))
    equal([(attempt, status) for attempt, status, _ in retries(messages)], [(1, None)])
    equal(result(messages).result, "at last")


@test
async def a_connection_that_is_cut_in_mid_stream(world):
    cut = attempts([*text("half an ans"), {"cut": True}], text("whole"))
    messages = await run(world, cut, include_partial_messages=True)
    equal(len(retries(messages)), 1)
    (withdrawn,) = system(messages, "message_withdrawn")
    end = result(messages)
    equal((end.result, end.is_error), ("whole", False))
    # What was shown and then taken back can be told apart by the id of the message.
    kept = [m for m in messages if isinstance(m, AssistantMessage) and m.message_id != withdrawn.data["message_id"]]
    equal([m.content[0].text for m in kept], ["whole"])
    # Every message that began has an end, also the one that was cut.
    kinds = [m.event["type"] for m in messages if isinstance(m, StreamEvent)]
    equal((kinds.count("message_start"), kinds.count("message_stop")), (2, 2))
    equal(kinds.count("content_block_start"), kinds.count("content_block_stop"))


@test
async def a_call_before_the_cut_is_not_run(world):
    cut = attempts([*tool("Bash", command="echo x >> twice"), {"cut": True}], tool("Bash", command="echo x >> twice"))
    messages = await run(world, cut, [{"say": "results"}], allowed_tools=["Bash"])
    equal(world.read("twice"), "x\n")
    equal(len(blocks(messages, ToolResultBlock)), 1)
    equal(result(messages).num_turns, 2)


@test
async def failures_that_are_not_repeated(world):
    for status, kind, said in (
        (400, "invalid_request_error", "invalid_request"),
        (401, "authentication_error", "authentication_failed"),
        (403, "permission_error", "authentication_failed"),
        (404, "not_found_error", "model_not_found"),
    ):
        messages, raised = await failing(query(prompt=play(failure(status, kind)), options=world.options()))
        contains(raised, "as scripted")
        equal(retries(messages), [])
        end = result(messages)
        equal((end.subtype, end.is_error, end.api_error_status), ("success", True, status))
        equal([m.error for m in messages if isinstance(m, AssistantMessage)], [said])
        equal([m.model for m in messages if isinstance(m, AssistantMessage)], ["<synthetic>"])


@test
async def a_limit_that_does_not_end(world):
    # Ten repeats would wait for a minute and more: the server asks for no wait, and gets ours.
    env = {**world.env, "CLAUDE_CODE_MAX_RETRIES": "2"}
    messages, _ = await failing(query(prompt=play(LIMITED), options=world.options(env=env)))
    equal([attempt for attempt, _, _ in retries(messages)], [1, 2])
    end = result(messages)
    equal((end.subtype, end.is_error, end.api_error_status), ("success", True, 429))
    equal([m.error for m in messages if isinstance(m, AssistantMessage)], ["rate_limit"])


@test
async def a_wait_can_be_interrupted(world):
    async with common.client(world) as client:
        await client.query(play(attempts(failure(429, "rate_limit_error", retry_after=200), text("never"))))
        messages = []
        async for message in client.receive_response():
            messages.append(message)
            if system([message], "api_retry"):
                await client.interrupt()
        equal(result(messages).subtype, "error_during_execution")
        equal((await common.say(client, play(text("after")))).result, "after")


if __name__ == "__main__":
    common.main()
