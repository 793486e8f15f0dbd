"""The conversations of agents on disk and in stores, through the Python Agent SDK."""

import glob
import json
import os

import common
import wire
from claude_agent_sdk import (
    AgentDefinition,
    ClaudeSDKClient,
    InMemorySessionStore,
    delete_session,
    fork_session,
    get_subagent_messages,
    get_subagent_messages_from_store,
    import_session_to_store,
    list_sessions,
    list_subagents,
    list_subagents_from_store,
    project_key_for_directory,
    query,
)
from common import client, collect, contains, equal, play, result, say, test, text, tool, until

# Lines that are about the bytes of a log.
OF_THE_FILE = {"windlass-checksum", "windlass-torn"}


def agent(*steps, kind="looker", **more):
    """A call that gives an agent a task: what its model says."""
    return tool("Agent", **{"description": "Look around", "prompt": play(*steps), "subagent_type": kind, **more})


def waiting(world, **more):
    """Options with which a call waits for its agent."""
    agents = {"looker": AgentDefinition(description="Looks", prompt="You only look.")}
    env = {**world.env, "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1", **more.pop("env", {})}
    return world.options(**{"agents": agents, "env": env, **more})


async def run(world, *steps, **more):
    return result(await collect(query(prompt=play(*steps), options=waiting(world, **more))))


def here(world, call, *given, **more):
    """A call of the SDK that looks for sessions in the home of a world."""
    os.environ["CLAUDE_CONFIG_DIR"] = world.env["CLAUDE_CONFIG_DIR"]
    try:
        return call(*given, directory=world.cwd, **more)
    finally:
        del os.environ["CLAUDE_CONFIG_DIR"]


def logs(world, session):
    """The lines of a session's agents, by their path below the session's folder."""
    folder = os.path.join(world.env["CLAUDE_CONFIG_DIR"], "projects", project_key_for_directory(world.cwd), session)
    found = {}
    for path in glob.glob(os.path.join(folder, "**", "*.jsonl"), recursive=True):
        with open(path) as file:
            lines = [json.loads(line) for line in file]
        found[os.path.relpath(path, folder)[: -len(".jsonl")]] = [one for one in lines if one["type"] not in OF_THE_FILE]
    return found


async def entries(store, world, session):
    """What a store has of a session's agents, by subpath."""
    key = {"project_key": project_key_for_directory(world.cwd), "session_id": session}
    return {path: await store.load({**key, "subpath": path}) for path in await store.list_subkeys(key)}


NESTED = [agent(agent(text("Deep."), kind="Explore"), text("It is deep."), kind="general-purpose"), text("Done.")]


def without_environment(messages):
    """The messages of an agent but the one that says where it works."""
    told = [message.message["content"] for message in messages]
    return [m for m, text in zip(messages, told) if not (isinstance(text, str) and wire.is_environment(text))]


@test
async def a_store_has_every_line_of_agents_before_the_result(world):
    store = InMemorySessionStore()
    async for message in query(prompt=play(*NESTED), options=waiting(world, session_store=store)):
        if hasattr(message, "num_turns"):
            session = message.session_id
            at_result = await entries(store, world, session)
    on_disk = logs(world, session)
    equal((len(on_disk), sorted(at_result)), (2, sorted(on_disk)))
    for path, lines in on_disk.items():
        assert path.startswith("subagents/agent-"), path
        named, *rest = at_result[path]
        equal((named["type"], named["description"]), ("agent_metadata", "Look around"))
        equal((path, rest), (path, lines))
    found = here(world, list_subagents, session)
    directory = {"directory": world.cwd}
    equal(sorted(await list_subagents_from_store(store, session, **directory)), sorted(found))
    for one in found:
        messages = here(world, get_subagent_messages, session, one)
        assert len(messages) >= 2 and messages[0].parent_tool_use_id, messages
        equal(await get_subagent_messages_from_store(store, session, one, **directory), messages)
    equal([one.session_id for one in here(world, list_sessions)], [session])


@test
async def agents_move_with_their_session(world):
    store = InMemorySessionStore()
    session = (await run(world, *NESTED, session_store=store)).session_id
    before = await entries(store, world, session)
    # Another machine has only the store.
    root = os.path.join(world.root, "other")
    env = {"CLAUDE_CONFIG_DIR": os.path.join(root, "home"), "HOME": root}
    again = await run(world, agent(text("More.")), text("On."), session_store=store, resume=session, env=env)
    equal((again.session_id, again.result), (session, "On."))
    after = await entries(store, world, session)
    equal({path: after[path] for path in before}, before)
    (new,) = set(after) - set(before)
    contains(json.dumps(after[new]), "More.")
    # What is on disk goes into a store later, too.
    late = InMemorySessionStore()
    os.environ["CLAUDE_CONFIG_DIR"] = world.env["CLAUDE_CONFIG_DIR"]
    try:
        await import_session_to_store(session, late, directory=world.cwd)
    finally:
        del os.environ["CLAUDE_CONFIG_DIR"]
    equal(sorted(await entries(late, world, session)), sorted(before))


@test
async def forks_have_no_agents_and_what_is_deleted_leaves_none(world):
    session = (await run(world, *NESTED)).session_id
    forks = [here(world, fork_session, session).session_id]
    forks.append((await run(world, text("Forked."), resume=session, fork_session=True)).session_id)
    for fork in forks:
        equal((here(world, list_subagents, fork), logs(world, fork)), ([], {}))
    # Their own are theirs.
    await run(world, agent(text("Own.")), text("On."), resume=forks[0])
    equal([len(here(world, list_subagents, one)) for one in (session, *forks)], [2, 1, 0])
    here(world, delete_session, session)
    equal((logs(world, session), len(logs(world, forks[0]))), ({}, 1))


@test
async def lines_of_agents_survive_a_kill(world):
    steps = [tool("Bash", command="touch began; until [ -e go ]; do sleep 0.02; done"), text("It went.")]
    talk = ClaudeSDKClient(waiting(world, allowed_tools=["Bash"]))
    await talk.connect()
    await talk.query(play(agent(*steps), text("Done.")))
    await until(lambda: "began" in world.files(), what="the command")
    (path,) = glob.glob(os.path.join(world.env["CLAUDE_CONFIG_DIR"], "projects", "*", "*.jsonl"))
    session = os.path.basename(path)[: -len(".jsonl")]
    talk._transport._process.kill()
    world.write("go", "")
    try:
        await talk.disconnect()
    except Exception:
        pass  # It says that the program was killed.
    (one,) = here(world, list_subagents, session)
    messages = here(world, get_subagent_messages, session, one)
    equal([message.type for message in without_environment(messages)], ["user", "assistant"])
    async with client(world, resume=session) as talk:
        contains((await say(talk, play([{"say": "results"}]))).result, "outcome of this call is unknown")
    equal(here(world, list_subagents, session), [one])


@test
async def results_of_parallel_calls_are_all_there(world):
    files = [world.write(name, f"{name} is read") for name in ("one", "two", "three")]
    reads = [call for path in files for call in tool("Read", file_path=path)]
    session = (await run(world, agent(reads, reads[:2], text("All.")), text("Done."))).session_id
    (one,) = here(world, list_subagents, session)
    messages = here(world, get_subagent_messages, session, one)
    blocks = [block for m in without_environment(messages)[1:] for block in m.message["content"]]
    called = [block["id"] for block in blocks if block["type"] == "tool_use"]
    answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    equal((len(called), sorted(answered)), (5, sorted(called)))
    equal(blocks[-1]["text"], "All.")


if __name__ == "__main__":
    common.main()
