"""What the headers of a subscription say of its allowance, through the Python Agent SDK."""

import subprocess
import uuid

import common
from claude_agent_sdk import RateLimitEvent, query
from common import collect, equal, play, result, system, test, text, tool

RESET = 1795170000
PREFIX = "anthropic-ratelimit-unified-"


def unified(**values):
    return {PREFIX + name.replace("_", "-"): str(value) for name, value in values.items()}


def used(utilization, status="allowed_warning"):
    return unified(status=status, reset=RESET, representative_claim="five_hour") | {
        PREFIX + "5h-utilization": str(utilization), PREFIX + "5h-reset": str(RESET), PREFIX + "7d-utilization": "0.1"}


def headed(headers, step):
    return [{"headers": headers}, *step]


def attempts(*steps):
    return {"attempts": steps, "key": str(uuid.uuid4())}


def limits(messages):
    return [m.rate_limit_info for m in messages if isinstance(m, RateLimitEvent)]


def seen(messages):
    return [(limit.status, limit.rate_limit_type, limit.utilization, limit.resets_at) for limit in limits(messages)]


async def run(world, *steps, **more):
    return await collect(query(prompt=play(*steps), options=world.options(**more)))


@test
async def a_warning_comes_once(world):
    glob = tool("Glob", pattern="*")
    messages = await run(world, headed(used(0.82), glob), headed(used(0.82), glob), headed(used(0.824), text("end")))
    equal(seen(messages), [("allowed_warning", "five_hour", 0.82, RESET)])
    (event,) = [m for m in messages if isinstance(m, RateLimitEvent)]
    end = result(messages)
    equal((event.session_id, end.result, end.num_turns), (end.session_id, "end", 3))


@test
async def a_session_knows_what_it_said(world):
    async with common.client(world) as client:
        told = []
        for headers in (used(0.82), used(0.82), used(0.83), used(0.0, "allowed"), used(0.0, "allowed")):
            await client.query(play(headed(headers, text("end"))))
            told.append([limit.status for limit in limits([m async for m in client.receive_response()])])
        equal(told, [["allowed_warning"], [], ["allowed_warning"], ["allowed"], []])


@test
async def a_refusal_tells_that_the_allowance_is_used_up(world):
    refused = {"status": 429, "error": "rate_limit_error", "retry_after": 0,
               "headers": used(1, "rejected") | unified(overage_status="rejected", overage_disabled_reason="out_of_credits")}
    messages = await run(world, attempts(refused, refused, headed(used(0, "allowed"), text("end"))))
    equal([limit[0] for limit in seen(messages)], ["rejected", "allowed"])
    first = limits(messages)[0]
    equal((first.overage_status, first.overage_disabled_reason), ("rejected", "out_of_credits"))
    equal(first.raw["isUsingOverage"], False)
    # It comes before the wait that it is the reason for.
    kinds = [getattr(m, "subtype", type(m).__name__) for m in messages]
    assert kinds.index("RateLimitEvent") < kinds.index("api_retry"), kinds
    equal((len(system(messages, "api_retry")), result(messages).result), (2, "end"))


@test
async def limits_a_minute_and_odd_headers_tell_nothing(world):
    minute = {"anthropic-ratelimit-requests-remaining": "49", "anthropic-ratelimit-tokens-reset": "2026-11-21T00:00:00Z"}
    odd = used("a lot", "no status at all!") | unified(reset="soon")
    messages = await run(world, headed(minute, tool("Glob", pattern="*")), headed(odd, text("end")))
    equal((seen(messages), result(messages).result), ([], "end"))


@test
async def print_mode_warns_on_standard_error(world):
    prompt = play(headed(used(0.82), text("end")))
    done = subprocess.run([common.CLI, "-p", prompt], env=world.env, cwd=world.root, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=60)
    equal(done.stdout, "end\n")
    equal(done.stderr, "windlass: 82% of the five-hour limit is used; it begins anew at 2026-11-20 10:20 UTC\n")


if __name__ == "__main__":
    common.main()
