"""The built-in tools, called through the Python Agent SDK."""

import asyncio
import base64
import json
import os

import common
from claude_agent_sdk import AssistantMessage, HookMatcher, ToolResultBlock, ToolUseBlock, UserMessage, query
from common import blocks, collect, contains, equal, play, result, system, test, tool

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


async def call(world, *calls, **more):
    """Runs calls one after another: what the model is told last, the results and their structured forms."""
    script = play(*calls, [{"say": "results"}])
    messages = await collect(query(prompt=script, options=world.options(**more)))
    found = blocks(messages, ToolResultBlock)
    equal(len(found), sum(len(one) for one in calls))
    structured = [m.tool_use_result for m in messages if isinstance(m, UserMessage)]
    return result(messages).result, found, structured


@test
async def read(world):
    path = world.write("a.txt", "alpha\nbeta\n")
    told, (found,), (structured,) = await call(world, tool("Read", file_path=path))
    assert not found.is_error
    contains(told, "1\talpha\n")
    contains(told, "2\tbeta")
    equal((structured["type"], structured["file"]["filePath"]), ("text", path))

    told, _, _ = await call(world, tool("Read", file_path=path, offset=2, limit=1))
    contains(told, "2\tbeta")
    assert "alpha" not in told, told

    told, (found,), (structured,) = await call(world, tool("Read", file_path=world.path("missing")))
    assert found.is_error
    contains(told, "ERROR")
    assert structured.startswith("Error: "), structured


@test
async def read_an_image(world):
    path = world.path("a.png")
    with open(path, "wb") as file:
        file.write(base64.b64decode(PNG))
    script = play(tool("Read", file_path=path), [{"say": "images"}])
    messages = await collect(query(prompt=script, options=world.options()))
    assert result(messages).result.startswith("image/png:"), result(messages).result
    (found,) = blocks(messages, ToolResultBlock)
    contains([block["type"] for block in found.content], "image")


@test
async def write(world):
    path = world.path("new/a.txt")
    _, (found,), (structured,) = await call(
        world, tool("Write", file_path=path, content="new\n"), permission_mode="acceptEdits"
    )
    assert not found.is_error, found
    equal(world.read("new/a.txt"), "new\n")
    equal((structured["type"], structured["filePath"]), ("create", path))

    # A file that nobody has read is not written over.
    told, (found,), _ = await call(world, tool("Write", file_path=path, content="x"), permission_mode="acceptEdits")
    assert found.is_error, told
    equal(world.read("new/a.txt"), "new\n")


@test
async def edit(world):
    path = world.write("a.txt", "alpha alpha\n")
    told, found, structured = await call(
        world,
        tool("Read", file_path=path),
        tool("Edit", file_path=path, old_string="alpha", new_string="beta"),
        tool("Edit", file_path=path, old_string="alpha", new_string="beta", replace_all=True),
        permission_mode="acceptEdits",
    )
    equal([bool(block.is_error) for block in found], [False, True, False])
    equal(world.read("a.txt"), "beta beta\n")
    equal((structured[2]["filePath"], structured[2]["replaceAll"]), (path, True))


@test
async def multi_edit(world):
    path = world.write("a.txt", "alpha\nbeta\n")
    edits = [{"old_string": "alpha", "new_string": "one"}, {"old_string": "beta", "new_string": "two"}]
    wrong = [{"old_string": "one", "new_string": "x"}, {"old_string": "absent", "new_string": "y"}]
    _, found, _ = await call(
        world,
        tool("Read", file_path=path),
        tool("MultiEdit", file_path=path, edits=edits),
        tool("MultiEdit", file_path=path, edits=wrong),
        permission_mode="acceptEdits",
    )
    equal([bool(block.is_error) for block in found], [False, False, True])
    equal(world.read("a.txt"), "one\ntwo\n")


@test
async def glob(world):
    for name in ("a.rs", "b.py", "c.rs"):
        world.write(name, "")
    told, _, (structured,) = await call(world, tool("Glob", pattern="**/*.rs"))
    equal(sorted(os.path.basename(line) for line in told.split("\n") if line.endswith(".rs")), ["a.rs", "c.rs"])
    equal(len(structured["filenames"]), 2)


@test
async def grep(world):
    world.write("a.txt", "one\nneedle\n")
    world.write("b.txt", "two\n")
    told, _, (structured,) = await call(world, tool("Grep", pattern="need.e"))
    contains(told, "a.txt")
    assert "b.txt" not in told, told
    equal(structured["mode"], "files_with_matches")
    told, _, _ = await call(world, tool("Grep", pattern="need.e", output_mode="content"))
    contains(told, "2:needle")


@test
async def bash(world):
    told, found, structured = await call(
        world,
        tool("Bash", command="echo out; echo err >&2"),
        tool("Bash", command="exit 3"),
        tool("Bash", command="sleep 60", timeout=200),
        allowed_tools=["Bash"],
    )
    equal([bool(block.is_error) for block in found], [False, True, True])
    contains(json.dumps(structured[0]), "out")
    contains(str(found[0].content), "err")
    contains(str(found[1].content), "3")
    assert not common.processes("sleep 60", world.root)


@test
async def bash_keeps_its_directory(world):
    os.mkdir(world.path("inner"))
    told, _, _ = await call(world, tool("Bash", command="cd inner"), tool("Bash", command="pwd"), allowed_tools=["Bash"])
    contains(told, world.path("inner"))


@test
async def todo_write(world):
    todos = [
        {"content": "Look", "status": "completed", "activeForm": "Looking"},
        {"content": "Mend", "status": "in_progress", "activeForm": "Mending"},
    ]
    _, (found,), (structured,) = await call(world, tool("TodoWrite", todos=todos))
    assert not found.is_error, found
    equal([todo["content"] for todo in structured["newTodos"]], ["Look", "Mend"])


@test
async def a_tool_that_there_is_not(world):
    told, (found,), _ = await call(world, tool("Teleport", to="there"))
    assert found.is_error
    contains(told, "Teleport")


@test
async def the_set_of_tools(world):
    async def names(**more):
        script = play([{"say": "tools"}])
        messages = await collect(query(prompt=script, options=world.options(**more)))
        (init,) = system(messages, "init")
        # Hosts know the tool for agents by its old name.
        offered = ["Task" if name == "Agent" else name for name in result(messages).result.split(",")]
        equal(sorted(filter(None, offered)), sorted(init.data["tools"]))
        return set(init.data["tools"])

    everything = {"Bash", "Edit", "Glob", "Grep", "MultiEdit", "Read", "Task", "TodoWrite", "Write"}
    assert everything <= await names(), await names()
    equal(await names(tools=["Read", "Grep"]), {"Read", "Grep"})
    equal(await names(tools=["Task", "Read"]), {"Read", "Task"})
    equal(await names(tools=[]), set())
    equal(await names(disallowed_tools=["Task"]) & {"Task", "Read"}, {"Read"})
    equal(await names(disallowed_tools=["Bash", "Write"]) & {"Bash", "Write", "Read"}, {"Read"})


@test
async def parallel_calls(world):
    path = world.write("a.txt", "alpha\n")
    calls = [*tool("Read", file_path=path), *tool("Grep", pattern="alph"), *tool("Glob", pattern="*.txt")]
    asked = []
    everybody = asyncio.Event()

    async def pre(given, *_):
        asked.append(given["tool_name"])
        if len(asked) == len(calls):
            everybody.set()
        await everybody.wait()
        return {}

    options = world.options(hooks={"PreToolUse": [HookMatcher(hooks=[pre])]})
    messages = await collect(query(prompt=play(calls, [{"say": "results"}]), options=options))
    equal(sorted(asked), ["Glob", "Grep", "Read"])
    called = [block.id for block in blocks(messages, ToolUseBlock)]
    answered = [block.tool_use_id for block in blocks(messages, ToolResultBlock)]
    equal(sorted(answered), sorted(called))
    # One frame a block, one message: the frames share its id.
    equal(len({m.message_id for m in messages if isinstance(m, AssistantMessage) and isinstance(m.content[0], ToolUseBlock)}), 1)
    # The model has the results in the order of its calls.
    told = result(messages).result
    assert told.index("1\talpha") < told.rindex("a.txt"), told
    equal(result(messages).num_turns, 2)


@test
async def parallel_calls_with_one_that_fails(world):
    path = world.write("a.txt", "alpha\n")
    calls = [*tool("Read", file_path=world.path("missing")), *tool("Read", file_path=path)]
    told, found, _ = await call(world, calls)
    equal(sorted(bool(block.is_error) for block in found), [False, True])
    contains(told, "1\talpha")


if __name__ == "__main__":
    common.main()
