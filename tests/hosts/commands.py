"""Slash commands, notes and replays through the Python Agent SDK."""

import glob
import json
import os
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import common
from claude_agent_sdk import UserMessage, query
from common import client, collect, contains, equal, play, result, say, system, test, text, tool
from raw import Host, control, user


OWN = ["clear", "compact", "context", "cost", "continue-run", "memory"]
BUNDLED = ["commit", "explain-test", "review", "write-skill"]


def message(content, **more):
    return {"type": "user", "message": {"role": "user", "content": content}, "parent_tool_use_id": None, **more}


async def one_by_one(*messages):
    for each in messages:
        yield each


async def turn(one, *messages):
    """Gives raw messages and reads up to the first result."""
    await one.query(one_by_one(*messages))
    return await collect(one.receive_response())


@test
async def local_commands_answer_without_the_model(world):
    async with client(world) as one:
        await say(one, play(text("one")))
        for command, said in [("/cost", "Total cost: $"), ("/context", "System prompt: ")]:
            await one.query(command)
            messages = await collect(one.receive_response())
            end = result(messages)
            equal((end.subtype, end.is_error, end.num_turns), ("success", False, 0))
            contains(end.result, said)
            shown = [each.content for each in messages if isinstance(each, UserMessage)]
            equal(shown, [f"<local-command-stdout>{end.result}</local-command-stdout>"])
        equal((await say(one, play(text("two")))).result, "two")


@test
async def compact_replaces_the_conversation_by_a_summary(world):
    async with client(world) as one:
        await say(one, "FIRST " + play(text("one"), text("<summary>It began with one.</summary>")))
        await one.query("/compact")
        messages = await collect(one.receive_response())
        equal((result(messages).is_error, result(messages).num_turns), (False, 0))
        equal(system(messages, "compact_boundary")[0].data["compact_metadata"]["trigger"], "manual")
        contains([each.content for each in messages if isinstance(each, UserMessage)][0], "It began with one.")
        said = (await say(one, "SECOND " + play([{"say": "texts"}]))).result
        contains(said, "It began with one.")
        contains(said, "SECOND")
        # The summary quotes what the user has asked for.
        equal(said.count("FIRST"), 1)


@test
async def a_command_may_be_all_there_is(world):
    messages = await collect(query(prompt="/cost", options=world.options()))
    contains(result(messages).result, "Total cost: $")


@test
async def clear_begins_a_new_session_and_keeps_the_old_one(world):
    async with client(world) as one:
        first = await say(one, play(text("one")))
        cleared = await say(one, "/clear")
        equal((cleared.num_turns, cleared.is_error), (0, False))
        assert cleared.session_id != first.session_id, first
        await one.query(play(text("two")))
        messages = await collect(one.receive_response())
        equal(system(messages, "init")[0].data["session_id"], cleared.session_id)
        equal((result(messages).result, result(messages).session_id), ("two", cleared.session_id))
        equal((await say(one, play(text("three")))).session_id, cleared.session_id)
    # Both can be gone on with.
    for session_id in (first.session_id, cleared.session_id):
        messages = await collect(query(prompt=play(text("more")), options=world.options(resume=session_id)))
        equal((result(messages).result, result(messages).session_id), ("more", session_id))


@test
async def clear_in_a_resumed_session(world):
    messages = await collect(query(prompt=play(text("one")), options=world.options()))
    session_id = result(messages).session_id
    async with client(world, resume=session_id) as one:
        cleared = await say(one, "/clear")
        assert cleared.session_id != session_id, session_id
        equal((await say(one, play(text("two")))).session_id, cleared.session_id)


@test
async def commands_are_listed(world):
    async with client(world) as one:
        info = await one.get_server_info()
        equal([command["name"] for command in info["commands"]], OWN + BUNDLED)
        await one.query(play(text("one")))
        messages = await collect(one.receive_response())
        init = system(messages, "init")[0].data
        equal((init["slash_commands"], init["skills"]), (OWN + BUNDLED, BUNDLED))
    # Where no files are read, there are no others than those of the program itself.
    async with client(world, setting_sources=[]) as one:
        equal([command["name"] for command in (await one.get_server_info())["commands"]], OWN)


@test
async def commands_can_be_off(world):
    async with client(world, extra_args={"disable-slash-commands": None}) as one:
        info = await one.get_server_info()
        equal(info["commands"], [])


@test
async def a_note_is_read_with_the_next_prompt(world):
    async with client(world) as one:
        messages = await turn(one, message("a note", shouldQuery=False))
        end = result(messages)
        equal((end.subtype, end.num_turns, end.result), ("success", 0, ""))
        equal((await say(one, play(text("one")))).result, "one")


@test
async def messages_come_back_when_the_host_wants_it(world):
    own = str(uuid.uuid4())
    async with client(world, extra_args={"replay-user-messages": None}) as one:
        prompt = play(text("one"))
        messages = await turn(one, message(prompt, uuid=own))
        replayed = [each for each in messages if isinstance(each, UserMessage)]
        equal([(each.content, each.uuid) for each in replayed], [(prompt, own)])


@test
async def variables_reach_programs_and_the_provider(world):
    keys = []

    class Refusing(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_POST(self):
            keys.append(self.headers["x-api-key"])
            said = {"type": "invalid_request_error", "message": "refused here"}
            body = json.dumps({"type": "error", "error": said}).encode()
            self.send_response(400)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def variables(**more):
        return {"type": "update_environment_variables", "variables": more}

    async with client(world, allowed_tools=["Bash"]) as one:
        for color in ("", "red", "blue"):
            # The first one comes when no session is open.
            prompt = message(play(tool("Bash", command="echo color=$COLOR"), [{"say": "results"}]))
            end = result(await turn(one, *([variables(COLOR=color)] if color else []), prompt))
            contains(end.result, f"color={color}")
        server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        renewed = variables(ANTHROPIC_BASE_URL=url, ANTHROPIC_API_KEY="renewed")
        end = result(await turn(one, renewed, message("go")))
        contains(end.result, "refused here")
        equal(keys, ["renewed"])
        # Programs never see keys.
        back = variables(ANTHROPIC_BASE_URL=world.url)
        prompt = message(play(tool("Bash", command="echo key=$ANTHROPIC_API_KEY."), [{"say": "results"}]))
        contains(result(await turn(one, back, prompt)).result, "key=.")
        server.shutdown()


@test
async def a_session_is_named_asked_and_ended_by_orders(world):
    host = Host(world)
    try:
        host.send(control("initialize", "i"), user(play(text("one"))))
        contains(host.answered("i")["response"]["capabilities"], "interrupt_cancel_queued_v1")
        session_id = host.result()["session_id"]
        # The title is written beside everything else: what is ordered behind it does not wait for the disk.
        host.send(control("rename_session", "n", title="A name"))
        changed = host.next(lambda line: line.get("subtype") == "session_title_changed", "title")
        equal((changed["title"], changed["session_id"]), ("A name", session_id))
        equal(host.answered("n")["response"], {})
        host.send(control("get_usage", "u"), control("get_session_cost", "c"))
        assert host.answered("u")["response"]["session"]["model_usage"]
        contains(host.answered("c")["response"]["text"], "Total cost")
        # The session goes on behind its new title.
        host.send(user(play(text("two"))))
        equal(host.result()["result"], "two")
        host.send(control("end_session", "e"))
        equal(host.answered("e")["response"], {})
        equal(host.process.wait(20), 0)
    finally:
        host.process.kill()
    [log] = glob.glob(os.path.join(world.env["CLAUDE_CONFIG_DIR"], "projects", "*", f"{session_id}.jsonl"))
    with open(log) as file:
        titles = [line["customTitle"] for line in map(json.loads, file) if line["type"] == "custom-title"]
    equal(titles, ["A name"])
    messages = await collect(query(prompt=play([{"say": "texts"}]), options=world.options(resume=session_id)))
    equal(result(messages).session_id, session_id)


@test
async def context_usage_has_its_parts(world):
    async with client(world) as one:
        await say(one, play(text("one")))
        usage = await one.get_context_usage()
        equal([row["id"] for row in usage["categories"]], ["system_prompt", "system_tools", "messages", "free_space"])
        equal(sum(row["tokens"] for row in usage["categories"]), usage["maxTokens"])


if __name__ == "__main__":
    common.main()
