"""Sessions through the Python Agent SDK: its helpers on our files, copies, earlier points, and its stores."""

import asyncio
import glob
import json
import os
import subprocess
import time

import common
from claude_agent_sdk._internal.message_parser import parse_message
from claude_agent_sdk import (
    AssistantMessage,
    InMemorySessionStore,
    ProcessError,
    ResultError,
    SystemMessage,
    delete_session,
    fork_session,
    fork_session_via_store,
    get_session_info,
    get_session_messages,
    get_session_messages_from_store,
    import_session_to_store,
    list_sessions,
    list_sessions_from_store,
    project_key_for_directory,
    query,
    rename_session,
    rename_session_via_store,
    tag_session,
)
from common import client, collect, contains, equal, play, result, say, system, test, text, tool, until

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


def error_result(error):
    """The result that an error of the SDK was made from."""
    return parse_message(error.data)


async def refused(world, prompt, **more):
    """The result and the error of a session that cannot be opened."""
    messages = []
    try:
        async for message in query(prompt=prompt, options=world.options(**more)):
            messages.append(message)
    except (ProcessError, ResultError) as error:
        # A session that is not there is refused at the start, where the error alone has the result.
        return result(messages) if messages else error_result(error), str(error)
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
    assert {copied["messageUuid"] for copied in copies} <= old and len(copies) == 7, copies
    equal({line["sessionId"] for line in chain}, {end.session_id})
    # And it goes on as a session of its own.
    again = await heard(world, resume=end.session_id)
    equal(again.session_id, end.session_id)
    equal(again.result, end.result)


def minimal(world, session="12345678-1234-4234-8234-123456789abc"):
    """The least that another program may have written."""
    folder = os.path.join(world.env["CLAUDE_CONFIG_DIR"], "projects", project_key_for_directory(world.cwd))
    os.makedirs(folder)
    common_fields = {"isSidechain": False, "cwd": world.cwd, "sessionId": session, "version": "2.1.328"}
    usage = {"input_tokens": 1, "output_tokens": 1}
    chain = [
        {"parentUuid": None, "type": "user", "message": {"role": "user", "content": "hi"},
         "uuid": "11111111-1111-4111-8111-111111111111", "timestamp": "2026-01-01T00:00:00.000Z", "gitBranch": "main"},
        {"parentUuid": "11111111-1111-4111-8111-111111111111", "type": "assistant",
         "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
                     "content": [{"type": "text", "text": "hello"}], "stop_sequence": None, "usage": usage},
         "uuid": "22222222-2222-4222-8222-222222222222", "timestamp": "2026-01-01T00:00:01.000Z"},
    ]
    with open(os.path.join(folder, f"{session}.jsonl"), "w") as file:
        file.writelines(json.dumps({**common_fields, **line}, separators=(",", ":")) + "\n" for line in chain)
    return session


@test
async def a_fork_has_the_id_that_the_host_gives(world):
    source = await three_turns(world)
    wanted = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
    more = {"fork_session": True, "session_id": wanted}
    equal((await heard(world, resume=source, **more)).session_id, wanted)
    end, _ = await refused(world, "again", resume=source, **more)
    contains(end.errors[0], "already")
    end, _ = await refused(world, "again", resume=source, session_id=UNKNOWN)
    contains(end.errors[0], "--fork-session")
    end = await heard(world, continue_conversation=True, fork_session=True)
    assert end.session_id not in (source, wanted)
    contains(end.result, "three")


@test
async def a_session_that_is_not_there(world):
    for unknown in (UNKNOWN, "nonsense"):
        for fork in (False, True):
            messages, error = await refused(world, "x", resume=unknown, fork_session=fork)
            equal((messages.subtype, messages.is_error, messages.num_turns), ("error_during_execution", True, 0))
            equal(messages.errors, [f"No conversation found with session ID: {unknown}"])
            contains(error, unknown)
            contains("".join(world.stderr), f"No conversation found with session ID: {unknown}")
    equal(glob.glob(os.path.join(world.env["CLAUDE_CONFIG_DIR"], "projects", "*", "*")), [])


@test
async def a_session_is_resumed_by_its_title(world):
    source = await three_turns(world)
    in_home(rename_session, world, source, "Three turns")
    other = (await ask(world, "other " + play(text("other")))).session_id
    in_home(rename_session, world, other, "Three others")
    for title in ("Three turns", " three TURNS", "three t"):
        end = await heard(world, resume=title)
        equal(end.session_id, source)
        contains(end.result, "three")
    fork = await heard(world, resume="three turns", fork_session=True)
    assert fork.session_id not in (source, other)
    contains(fork.result, "three")
    end, _ = await refused(world, "x", resume="three")
    contains(end.errors[0], source)
    contains(end.errors[0], other)
    end, _ = await refused(world, "x", resume="turns")
    equal(end.errors, ["No conversation found with session ID: turns"])


@test
async def going_on_with_nothing_is_a_beginning(world):
    for more in ({}, {"session_store": InMemorySessionStore()}, {"fork_session": True}):
        more.update(elsewhere(world, str(len(more))))
        end = await ask(world, play(text("x")), continue_conversation=True, **more)
        equal((end.result, end.subtype), ("x", "success"))


@test
async def the_helpers_on_our_sessions(world):
    source = await three_turns(world)
    equal([info.session_id for info in in_home(list_sessions, world)], [source])
    info = in_home(get_session_info, world, source)
    contains(info.first_prompt, "one")
    equal((info.cwd, info.tag, info.custom_title), (world.cwd, None, None))
    messages = in_home(get_session_messages, world, source)
    equal([message.type for message in messages], ["user", "assistant"] * 3)
    in_home(rename_session, world, source, " A title ")
    in_home(tag_session, world, source, "mine")
    info = in_home(get_session_info, world, source)
    equal((info.summary, info.custom_title, info.tag), ("A title", "A title", "mine"))
    in_home(tag_session, world, source, None)
    equal(in_home(get_session_info, world, source).tag, None)
    # What they wrote disturbs nothing.
    world.stderr.clear()
    contains((await heard(world, resume=source)).result, "three")
    fork = in_home(fork_session, world, source, up_to_message_id=messages[3].uuid).session_id
    equal(in_home(get_session_info, world, fork).custom_title, "A title (fork)")
    end = await heard(world, resume=fork)
    equal(end.session_id, fork)
    contains(end.result, "two")
    assert "three" not in end.result
    in_home(delete_session, world, fork)
    equal([info.session_id for info in in_home(list_sessions, world)], [source])


@test
async def the_helpers_on_our_forks_and_after_going_back(world):
    source = await three_turns(world)
    fork = (await heard(world, resume=source, fork_session=True)).session_id
    info = in_home(get_session_info, world, fork)
    contains(info.first_prompt, "one")
    contains(info.summary, "one")
    messages = in_home(get_session_messages, world, fork)
    equal([message.type for message in messages], ["user", "assistant"] * 4)
    back = messages[1].uuid
    await ask(world, "four " + play(text("four")), resume=fork, resume_session_at=back)
    texts = json.dumps([message.message for message in in_home(get_session_messages, world, fork)])
    assert "four" in texts and "one" in texts and "two" not in texts, texts


@test
async def going_back_to_a_message(world):
    source = await three_turns(world)
    size = len(bytes_of(log(world, source)))
    messages = in_home(get_session_messages, world, source)
    point = messages[1].uuid
    # In a copy: the session itself is left alone.
    end = await heard(world, resume=source, resume_session_at=point, fork_session=True)
    assert "one" in end.result and "two" not in end.result, end.result
    equal(len(bytes_of(log(world, source))), size)
    # In place: what follows stays in the file, off the conversation, for good.
    end = await ask(world, "four " + play([{"say": "texts"}]), resume=source, resume_session_at=point)
    equal(end.session_id, source)
    assert "one" in end.result and "two" not in end.result, end.result
    contains(bytes_of(log(world, source)).decode(), "three")
    again = (await heard(world, resume=source)).result
    assert "one" in again and "four" in again and "three" not in again, again
    # A live id is one as well.
    live = await run(world, "five " + play(text("five")), resume=source)
    [uuid] = [message.uuid for message in live if isinstance(message, AssistantMessage)]
    await ask(world, "six " + play(text("six")), resume=source)
    again = (await heard(world, resume=source, resume_session_at=uuid)).result
    assert "five" in again and "six" not in again, again


@test
async def going_back_to_nowhere(world):
    source = await three_turns(world)
    before = bytes_of(log(world, source))
    for fork in (False, True):
        end, error = await refused(world, "x", resume=source, resume_session_at=UNKNOWN, fork_session=fork)
        equal(end.errors, [f"No message found with message.uuid of: {UNKNOWN}"])
        contains(error, UNKNOWN)
    equal(bytes_of(log(world, source)), before)
    equal([info.session_id for info in in_home(list_sessions, world)], [source])
    end, _ = await refused(world, "x", resume_session_at=UNKNOWN)
    contains(end.errors[0], "resume")


@test
async def only_the_turn_that_is_named_is_dropped(world):
    source = await three_turns(world)
    one, a, two, b, three, c = [message.uuid for message in in_home(get_session_messages, world, source)]
    before = bytes_of(log(world, source))
    for at, drops in ((a, two), (b, two), (one, three), (b, ""), (b, UNKNOWN)):
        end, error = await refused(world, "x", resume=source, resume_session_at=at, resume_drops_turn=drops, fork_session=True)
        assert end.errors[0].startswith("Resume rejected by --resume-drops-turn:"), end
        contains(error, "Resume rejected by --resume-drops-turn:")
    equal(bytes_of(log(world, source)), before)
    end = await heard(world, resume=source, resume_session_at=b, resume_drops_turn=three)
    assert "two" in end.result and "three" not in end.result, end.result


@test
async def going_back_into_a_batch_of_tools(world):
    world.write("a.txt", "alpha")
    world.write("b.txt", "beta")
    batch = [*text("Looking."), *tool("Read", file_path=world.path("a.txt")), *tool("Read", file_path=world.path("b.txt"))]
    live = await run(world, "look " + play(batch, text("seen")))
    source = result(live).session_id
    blocks = [message.uuid for message in live if isinstance(message, AssistantMessage)][:3]
    results = [line["uuid"] for line in lines(log(world, source)) if "sourceToolAssistantUUID" in line]
    for at in blocks + results:
        # Whatever the point in it, the batch is whole and each call has its own answer.
        end = await ask(world, play([{"say": "results"}]), resume=source, resume_session_at=at, fork_session=True)
        assert "alpha" in end.result and "beta" in end.result and "ERROR" not in end.result, (at, end)
    await ask(world, "then " + play(text("then")), resume=source, resume_session_at=blocks[1])
    texts = (await heard(world, resume=source)).result
    assert "look" in texts and "then" in texts, texts
    kinds = [message.type for message in in_home(get_session_messages, world, source)]
    equal(kinds.count("assistant"), 5)


@test
async def a_fork_of_a_session_in_use(world):
    async with client(world) as talk:
        first = await say(talk, "one " + play(text("one")))
        go = world.path("go")
        await talk.query("two " + play([{"text": "t"}, {"wait": go}, {"text": "wo"}]))
        path = log(world, first.session_id)
        await until(lambda: b"two " in bytes_of(path), what="the second prompt")
        forked = await asyncio.gather(*(heard(world, resume=first.session_id, fork_session=True) for _ in range(4)))
        for end in forked:
            contains(end.result, "one")
        equal(len({end.session_id for end in forked}), 4)
        end, _ = await refused(world, "x", resume=first.session_id)
        contains(end.errors[0], "in use")
        world.write("go", "")
        equal(result(await collect(talk.receive_response())).result, "t\nwo")
        contains((await say(talk, play([{"say": "texts"}]))).result, "two")


@test
async def a_fork_of_a_compacted_session(world):
    store = InMemorySessionStore()
    async with client(world, session_store=store) as talk:
        source = (await say(talk, "one " + play(text("a")))).session_id
        await say(talk, "two " + play(text("b")))
        await talk.query("/compact")
        await collect(talk.receive_response())
        # A command leaves its lines before its result as well.
        equal(await stored(store, world, source), entries_of(world, log(world, source)))
        await say(talk, "three " + play(text("c")))
    plain = await heard(world, resume=source)
    fork = await heard(world, resume=source, fork_session=True)
    equal(fork.result, plain.result)
    kinds = [line.get("subtype", line["type"]) for line in lines(log(world, fork.session_id)) if "uuid" in line]
    equal(kinds[0], "compact_boundary")
    [messages, copied] = [in_home(get_session_messages, world, one) for one in (source, fork.session_id)]
    equal([message.message for message in copied[:3]], [message.message for message in messages[:3]])
    moved = await heard(world, resume=source, session_store=store, **elsewhere(world))
    contains(moved.result, "three")


@test
async def nothing_is_kept(world):
    end = await ask(world, play(text("x")), extra_args={"no-session-persistence": None})
    equal(end.result, "x")
    equal(in_home(list_sessions, world), [])
    assert not os.path.exists(os.path.join(world.env["CLAUDE_CONFIG_DIR"], "projects"))


@test
async def the_least_of_another_program(world):
    session = minimal(world)
    equal((await heard(world, continue_conversation=True)).session_id, session)
    for more in ({}, {"fork_session": True}):
        contains((await heard(world, resume=session, **more)).result, "hi")
    end = await heard(world, resume=session, resume_session_at="22222222-2222-4222-8222-222222222222")
    equal(end.result, "hi")
    equal(len(in_home(get_session_messages, world, session)), 4)


def entries_of(world, path):
    """What a store should hold of a log."""
    return [line for line in lines(path) if line["type"] != "windlass-checksum"]


async def stored(store, world, session):
    return await store.load({"project_key": project_key_for_directory(world.cwd), "session_id": session})


def elsewhere(world, name="other"):
    """The options of a machine that has only the store."""
    root = os.path.join(world.root, name)
    return {"env": {**world.env, "CLAUDE_CONFIG_DIR": os.path.join(root, "home"), "HOME": root}}


@test
async def a_store_has_every_line_before_the_result(world):
    store = InMemorySessionStore()
    world.write("a.txt", "alpha")
    async for message in query(
        prompt="one " + play(tool("Read", file_path=world.path("a.txt")), text("ok")),
        options=world.options(session_store=store),
    ):
        if hasattr(message, "num_turns"):
            session = message.session_id
            at_result = await stored(store, world, session)
    assert "ok" in json.dumps(at_result), at_result
    equal(await stored(store, world, session), entries_of(world, log(world, session)))
    async with client(world, session_store=store, resume=session) as talk:
        for said in ("two", "three"):
            await say(talk, f"{said} " + play(text(said)))
            contains(json.dumps(await stored(store, world, session)), said)


@test
async def a_session_goes_on_from_a_store_alone(world):
    store = InMemorySessionStore()
    first = await ask(world, "one " + play(text("a")), session_store=store)
    for at, more in enumerate(({"resume": first.session_id}, {"continue_conversation": True})):
        world.stderr.clear()
        end = await ask(world, f"more{at} " + play([{"say": "texts"}]), session_store=store, **more, **elsewhere(world, f"m{at}"))
        equal(end.session_id, first.session_id)
        contains(end.result, "one")
        equal([line for line in world.stderr if "damaged" in line or "checksum" in line], [])
    contains(end.result, "more0")
    entries = await stored(store, world, first.session_id)
    ids = [entry["uuid"] for entry in entries if "uuid" in entry]
    equal(len(ids), len(set(ids)))
    # A copy, too, is in the store as a whole.
    end = await heard(world, resume=first.session_id, fork_session=True, session_store=store, **elsewhere(world, "f"))
    contains(end.result, "more1")
    assert end.session_id != first.session_id
    again = await heard(world, resume=end.session_id, session_store=store, **elsewhere(world, "g"))
    contains(again.result, "more1")
    entries = await stored(store, world, first.session_id)
    equal([entry["uuid"] for entry in entries if "uuid" in entry], ids)


@test
async def a_long_path_has_the_same_key_for_everybody(world):
    world.cwd = os.path.join(world.cwd, *["d\u00e9 _" * 12] * 6)
    os.makedirs(world.cwd)
    store = InMemorySessionStore()
    first = await ask(world, "one " + play(text("a")), session_store=store)
    contains((await heard(world, resume=first.session_id, session_store=store, **elsewhere(world))).result, "one")
    equal([info.session_id for info in in_home(list_sessions, world)], [first.session_id])


@test
async def the_helpers_of_stores_on_our_sessions(world):
    source = await three_turns(world)
    store = InMemorySessionStore()
    before = os.environ.get("CLAUDE_CONFIG_DIR")
    os.environ["CLAUDE_CONFIG_DIR"] = world.env["CLAUDE_CONFIG_DIR"]
    try:
        await import_session_to_store(source, store, directory=world.cwd)
    finally:
        os.environ.pop("CLAUDE_CONFIG_DIR") if before is None else os.environ.update(CLAUDE_CONFIG_DIR=before)
    at = {"directory": world.cwd}
    await rename_session_via_store(store, source, "A title", **at)
    [info] = await list_sessions_from_store(store, **at)
    equal((info.session_id, info.custom_title), (source, "A title"))
    messages = await get_session_messages_from_store(store, source, **at)
    equal([message.type for message in messages], ["user", "assistant"] * 3)
    fork = (await fork_session_via_store(store, source, up_to_message_id=messages[3].uuid, **at)).session_id
    end = await heard(world, resume=fork, session_store=store, **elsewhere(world))
    equal(end.session_id, fork)
    assert "two" in end.result and "three" not in end.result, end
    contains((await heard(world, resume=source, session_store=store, **elsewhere(world, "more"))).result, "three")


@test
async def a_store_gets_long_entries_and_hears_of_those_that_are_too_long(world):
    store = InMemorySessionStore()

    def image(size):
        return [{"type": "text", "text": play(text("seen"))},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * size}}]

    async def prompts(size):
        yield {"type": "user", "message": {"role": "user", "content": image(size)}, "parent_tool_use_id": None}

    end = await ask(world, prompts(900_000), session_store=store)
    equal(await stored(store, world, end.session_id), entries_of(world, log(world, end.session_id)))
    messages = await collect(query(prompt=prompts(1_200_000), options=world.options(session_store=store)))
    [lost] = system(messages, "session_writes_lost")
    end = result(messages)
    equal((lost.data["session_id"], lost.data["lost"], end.result), (end.session_id, ["transcript"], "seen"))
    kept = await stored(store, world, end.session_id)
    equal(kept, [entry for entry in entries_of(world, log(world, end.session_id)) if len(json.dumps(entry)) < 1_100_000])
    contains((await ask(world, play(text("on")), resume=end.session_id)).result, "on")


@test
async def a_host_that_does_not_read_the_mirror_costs_neither_memory_nor_the_session(world):
    world.write("big.txt", ("x" * 99 + "\n") * 1_900)
    reads = [[{"tool": "Read", "input": {"file_path": world.path("big.txt")}}] * 10 for _ in range(20)]
    flags = ["--output-format", "stream-json", "--input-format", "stream-json", "--verbose", "--session-mirror"]
    host = subprocess.Popen(
        [common.CLI, *flags], cwd=world.cwd, env={**os.environ, **world.env}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    message = {"type": "user", "message": {"role": "user", "content": play(*reads)}}
    host.stdin.write(json.dumps(message).encode() + b"\n")
    host.stdin.flush()
    projects = os.path.join(world.env["CLAUDE_CONFIG_DIR"], "projects")

    def written():
        return sum(os.path.getsize(path) for path in glob.glob(os.path.join(projects, "*", "*.jsonl")))

    before, size = -1, 0
    while before != size:
        # Until it waits for us.
        before = size
        await asyncio.sleep(1)
        size = written()
    assert size > 5_000_000, size
    with open(f"/proc/{host.pid}/status") as file:
        [resident] = [int(line.split()[1]) for line in file if line.startswith("VmRSS")]
    # Twice the log in memory would be more: the mirror reads from the file.
    assert resident < 200_000, resident
    host.terminate()
    began = time.monotonic()
    equal(await asyncio.to_thread(host.wait, 15), 143)
    assert time.monotonic() - began < 10
    [path] = glob.glob(os.path.join(projects, "*", "*.jsonl"))
    contains((await ask(world, play(text("on")), resume=os.path.basename(path)[:-6])).result, "on")


@test
async def a_store_that_fails_stops_nothing(world):
    class Broken(InMemorySessionStore):
        async def append(self, key, entries):
            raise RuntimeError("no room")

    messages = await collect(query(prompt=play(text("x")), options=world.options(session_store=Broken())))
    equal(result(messages).result, "x")
    assert any(isinstance(m, SystemMessage) and m.subtype == "mirror_error" for m in messages), messages


common.main()
