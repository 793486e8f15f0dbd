"""Sessions through the Python Agent SDK: its helpers on our files, copies, earlier points, and its stores."""

import asyncio
import glob
import json
import os
import shutil

import common
from claude_agent_sdk import (
    AssistantMessage,
    ProcessError,
    ResultError,
    ResultMessage,
    delete_session,
    fork_session,
    get_session_info,
    get_session_messages,
    list_sessions,
    query,
    rename_session,
    tag_session,
)
from common import collect, contains, equal, play, result, test, text, tool

UNKNOWN = "99999999-9999-4999-8999-999999999999"


async def run(world, prompt, **more):
    return await collect(query(prompt=prompt, options=world.options(**more)))


async def ask(world, prompt, **more):
    return result(await run(world, prompt, **more))


async def heard(world, **more):
    """What the model hears of what the user said."""
    return await ask(world, play([{"say": "texts"}]), **more)


def in_home(helper, world, *args, **more):
    """A helper looks for sessions where the environment of this process says."""
    before = os.environ.get("CLAUDE_CONFIG_DIR")
    os.environ["CLAUDE_CONFIG_DIR"] = world.env["CLAUDE_CONFIG_DIR"]
    try:
        return helper(*args, directory=world.cwd, **more)
    finally:
        if before is None:
            del os.environ["CLAUDE_CONFIG_DIR"]
        else:
            os.environ["CLAUDE_CONFIG_DIR"] = before


def log(world, session):
    [path] = glob.glob(os.path.join(world.env["CLAUDE_CONFIG_DIR"], "projects", "*", f"{session}.jsonl"))
    return path


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


def lines(path):
    return [json.loads(line) for line in bytes_of(path).splitlines()]


async def three_turns(world):
    """A session in which the user said one, two and three."""
    first = await ask(world, "one " + play(text("a")))
    for said in ("two", "three"):
        await ask(world, f"{said} " + play(text(said)), resume=first.session_id)
    return first.session_id


async def refused(world, prompt, **more):
    """The result and the error of a session that cannot be opened."""
    messages = []
    try:
        async for message in query(prompt=prompt, options=world.options(**more)):
            messages.append(message)
    except (ProcessError, ResultError) as error:
        return result(messages), str(error)
    raise AssertionError(f"nothing was raised after {messages!r}")


@test
async def a_fork_goes_its_own_way(world):
    source = await three_turns(world)
    before = bytes_of(log(world, source))
    end = await heard(world, resume=source, fork_session=True)
    for said in ("one", "two", "three"):
        contains(end.result, said)
    assert end.session_id != source
    equal(bytes_of(log(world, source)), before)
    path = log(world, end.session_id)
    equal(os.stat(path).st_mode & 0o777, 0o600)
    chain = [line for line in lines(path) if "message" in line]
    old = {line.get("uuid") for line in lines(log(world, source))}
    assert not old & {line["uuid"] for line in chain}
    copies = [line["forkedFrom"] for line in chain if "forkedFrom" in line]
    equal({copied["sessionId"] for copied in copies}, {source})
    assert {copied["messageUuid"] for copied in copies} <= old and len(copies) == 6, copies
    equal({line["sessionId"] for line in chain}, {end.session_id})
    # And it goes on as a session of its own.
    again = await heard(world, resume=end.session_id)
    equal(again.session_id, end.session_id)
    equal(again.result, end.result)


common.main()
