"""File checkpoints through the Python Agent SDK: files go back to how they were before a message."""

import json
import os
import subprocess

import common
from claude_agent_sdk import UserMessage
from common import CLI, client, collect, contains, equal, play, raises, result, say, test, text, tool
from raw import Host, control, user

FREE = {"permission_mode": "bypassPermissions", "extra_args": {"replay-user-messages": None}}
ON = {"enable_file_checkpointing": True, **FREE}
FIRST = "11111111-aaaa-4111-8111-111111111111"
SECOND = "22222222-aaaa-4222-8222-222222222222"
THIRD = "33333333-aaaa-4333-8333-333333333333"


def write(world, name, content):
    return tool("Write", file_path=world.path(name), content=content)


def edit(world, name, old, new):
    return tool("Edit", file_path=world.path(name), old_string=old, new_string=new)


async def tell(one, prompt, uuid=None):
    """One turn: its result, and the id of the prompt as the host sees it."""

    async def messages():
        message = {"type": "user", "message": {"role": "user", "content": prompt}, "parent_tool_use_id": None}
        yield {**message, "uuid": uuid} if uuid else message

    await one.query(messages())
    heard = await collect(one.receive_response())
    shown = [m.uuid for m in heard if isinstance(m, UserMessage) and m.uuid and m.parent_tool_use_id is None
             and (isinstance(m.content, str) or not any(hasattr(b, "tool_use_id") for b in m.content))]
    return result(heard), shown[0]


async def two_prompts(world, one, ids=(FIRST, SECOND)):
    """Both change a file; the first also makes one, and the second a directory."""
    world.write("file", "one\ntwo\n")
    read = tool("Read", file_path=world.path("file"))
    steps = play(read, edit(world, "file", "two", "2"), write(world, "made", "made\n"), text("ok"))
    _, first = await tell(one, steps, ids[0])
    equal(world.read("file"), "one\n2\n")
    steps = play(edit(world, "file", "one", "1"), edit(world, "file", "2", "zwei"), write(world, "deep/er", "x"), text("ok"))
    _, second = await tell(one, steps, ids[1])
    equal(world.read("file"), "1\nzwei\n")
    return first, second


@test
async def files_go_back_to_the_first_prompt(world):
    async with client(world, **ON) as one:
        first, second = await two_prompts(world, one)
        equal([first, second], [FIRST, SECOND])
        world.write("mine", "not tracked")
        await one.rewind_files(first)
        equal(world.files(), ["file", "mine"])
        equal(world.read("file"), "one\ntwo\n")
        # The conversation goes on, and the model finds the files as they are.
        end, _ = await tell(one, play(tool("Read", file_path=world.path("file")), [{"say": "results"}]), THIRD)
        contains(end.result, "two")


@test
async def files_go_back_step_by_step_with_ids_that_the_host_did_not_give(world):
    async with client(world, **ON) as one:
        first, second = await two_prompts(world, one, (None, None))
        assert first != second
        await one.rewind_files(second)
        equal(world.read("file"), "one\n2\n")
        equal(world.files(), ["file", "made"])
        await one.rewind_files(first)
        equal(world.read("file"), "one\ntwo\n")
        # And again: it is what it is.
        await one.rewind_files(first)
        # A rewind does not forget what came after it was made.
        await one.rewind_files(second)
        equal(world.read("file"), "one\n2\n")


@test
async def a_session_that_is_resumed_still_knows_its_files(world):
    async with client(world, **ON) as one:
        first, _ = await two_prompts(world, one)
        end = await say(one, play(text("ok")))
    async with client(world, resume=end.session_id, **ON) as one:
        # Before anything was said.
        await one.rewind_files(first)
        equal(world.read("file"), "one\ntwo\n")
        equal((await say(one, play(text("goes on")))).result, "goes on")


@test
async def the_way_of_the_documentation_works(world):
    """A session is resumed with an empty prompt, and rewound at the first message."""
    async with client(world, **ON) as one:
        first, _ = await two_prompts(world, one)
        end = await say(one, play(text("ok")))
    async with client(world, resume=end.session_id, **ON) as one:
        await one.query("")
        async for _ in one.receive_response():
            await one.rewind_files(first)
            break
    equal(world.read("file"), "one\ntwo\n")


@test
async def rewinding_during_a_run_waits_for_its_end(world):
    async with client(world, **ON) as one:
        first, _ = await two_prompts(world, one)
        await one.query(play(write(world, "late", "x"), text("ok")))
        await one.rewind_files(first)
        equal(world.files(), ["file"])
        await collect(one.receive_response())


@test
async def what_cannot_be_is_an_error(world):
    async with client(world, **FREE) as one:
        first, _ = await two_prompts(world, one)
        await raises(one.rewind_files(first), "not enabled")
    async with client(world, **ON) as one:
        first, _ = await two_prompts(world, one, (None, None))
        await raises(one.rewind_files(THIRD), THIRD)
        equal(world.read("file"), "1\nzwei\n")


@test
async def links_are_not_followed(world):
    world.write("outside", "secret")
    outside = os.path.join(world.root, "outside")
    os.rename(world.path("outside"), outside)
    async with client(world, **ON) as one:
        first, _ = await two_prompts(world, one)
        os.remove(world.path("file"))
        os.symlink(outside, world.path("file"))
        await one.rewind_files(first)
        with open(outside) as file:
            equal(file.read(), "secret")
        equal(world.files(), ["file"])
        assert os.path.islink(world.path("file"))


@test
async def the_command_line_rewinds_too(world):
    async with client(world, **ON) as one:
        first, _ = await two_prompts(world, one)
        end = await say(one, play(text("ok")))

    def rewind(*args, code=0):
        env = {**os.environ, **world.env}
        done = subprocess.run([CLI, "sessions", "rewind", end.session_id, *args], env=env, capture_output=True, text=True)
        equal((done.returncode, done.stderr), (code, ""))
        return [json.loads(line) for line in done.stdout.splitlines()]

    listed = rewind()
    equal([one["files"] for one in listed], [2, 2, 0])
    equal(listed[0]["id"], first)
    contains(listed[0]["prompt"], "script:")
    would = rewind(first, "--dry-run")
    equal(world.read("file"), "1\nzwei\n")
    *files, undo = rewind(first)
    equal(files, would)
    equal([(os.path.basename(f["file"]), f["change"]) for f in files],
          [("er", "deleted"), ("file", "modified"), ("made", "deleted")])
    equal(world.files(), ["file"])
    rewind(undo["undo"])
    equal(world.read("file"), "1\nzwei\n")
    equal(world.files(), ["deep", "file", "made"])


def turn(host, prompt, uuid=None):
    """One turn without an SDK: its result."""
    host.send(user(prompt, **({"uuid": uuid} if uuid else {})))
    return host.result()["result"]


def rewind(host, to, **more):
    host.send(control("windlass_rewind_conversation", id=f"r{to}{len(more)}", user_message_id=to, **more))
    answer = host.answered(f"r{to}{len(more)}")
    return answer["response"] if answer["subtype"] == "success" else answer["error"]


@test
async def the_conversation_ends_before_a_message_and_continues_again(world):
    host = Host(world, "--permission-mode", "bypassPermissions")
    turn(host, play(text("one")), FIRST)
    turn(host, play(text("two")), SECOND)
    equal(rewind(host, SECOND, dry_run=True), {"canRewind": True, "messagesDropped": 2})
    done = rewind(host, SECOND)
    undo = done.pop("undoMessageId")
    equal(done, {"canRewind": True, "messagesDropped": 2})
    back = rewind(host, undo)
    equal((back["messagesDropped"], back["takesBack"]), (0, True))
    done = rewind(host, FIRST)
    # With what the first prompt has brought of the surroundings.
    equal(done["messagesDropped"], 5)
    # A prompt that is sent right behind the request comes after it.
    host.send(control("windlass_rewind_conversation", id="last", user_message_id=done["undoMessageId"]),
              control("windlass_rewind_conversation", id="again", user_message_id=SECOND), user(play(text("three"))))
    equal(host.answered("again")["response"]["messagesDropped"], 2)
    equal(host.result()["result"], "three")
    contains(rewind(host, SECOND), SECOND)
    contains(rewind(host, "nonsense"), "nonsense")
    # A prompt that waits for it has its turn, also where the input ends.
    host.send(control("windlass_rewind_conversation", id="end", user_message_id=FIRST), user(play(text("four"))))
    host.close_input()
    equal(host.result()["result"], "four")
    equal(host.exit(), 0)


@test
async def files_and_conversation_are_rewound_together(world):
    world.write("file", "one\ntwo\n")
    world.env["CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"] = "true"
    host = Host(world, "--permission-mode", "bypassPermissions")
    read = tool("Read", file_path=world.path("file"))
    turn(host, play(read, edit(world, "file", "two", "2"), text("ok")), FIRST)
    would = rewind(host, FIRST, files=True, dry_run=True)
    equal([os.path.basename(path) for path in would["filesChanged"]], ["file"])
    equal(world.read("file"), "one\n2\n")
    done = rewind(host, FIRST, files=True)
    equal((done["canRewind"], len(done["filesChanged"])), (True, 1))
    assert done["messagesDropped"] > 2, done
    equal(world.read("file"), "one\ntwo\n")
    # During a run it waits for the end.
    host.send(user(play(write(world, "late", "x"), text("ok")), uuid=SECOND))
    again = rewind(host, SECOND, files=True)
    equal(len(again["filesChanged"]), 1)
    equal(world.files(), ["file"])
    equal(rewind(host, again["undoMessageId"], files=True)["takesBack"], True)
    equal(world.files(), ["file", "late"])
    host.close_input()
    equal(host.exit(), 0)


@test
async def a_session_without_checkpoints_rewinds_its_conversation_alone(world):
    host = Host(world, "--permission-mode", "bypassPermissions")
    turn(host, play(text("one")), FIRST)
    contains(rewind(host, FIRST, files=True), "not enabled")
    equal(rewind(host, FIRST)["messagesDropped"], 3)
    host.close_input()
    equal(host.exit(), 0)


if __name__ == "__main__":
    common.main()
