"""What calls change in files, and hooks that nothing waits for, as the Python Agent SDK's host sees them."""

import json

import common
from claude_agent_sdk import HookMatcher, PermissionResultAllow, create_sdk_mcp_server, query
from claude_agent_sdk import tool as host_tool
from common import collect, contains, equal, play, result, system, test, text, tool


def told(messages, subtype):
    return [message.data for message in system(messages, subtype)]


@test
async def an_edit_is_shown_before_it_runs_and_behind(world):
    path = world.write("a.txt", "one\n")

    async def decide(*_):
        return PermissionResultAllow()

    script = play(
        tool("Read", file_path=path),
        tool("Edit", file_path=path, old_string="one", new_string="two"),
        text("ok"),
    )
    options = world.options(can_use_tool=decide, extra_args={"include-edit-events": None})
    messages = await collect(query(prompt=script, options=options))
    started, finished = told(messages, "windlass_edit_started"), told(messages, "windlass_edit_finished")
    equal([(edit["tool_name"], edit["paths"]) for edit in started + finished], [("Edit", [path]), ("Edit", [path])])
    contains(started[0]["diff"], "-one\n+two")
    equal(finished[0]["diff"], started[0]["diff"])
    equal(world.read("a.txt"), "two\n")


def linter(asked, fails=()):
    """A tool that finds an error in each line with `bad` in it. The questions of these numbers fail."""

    @host_tool("diagnostics", "What a linter says of files.", {"paths": list})
    async def diagnostics(given):
        asked.append(given["paths"])
        if len(asked) in fails:
            return {"content": [{"type": "text", "text": "the linter is broken"}], "is_error": True}
        found = []
        for path in given["paths"]:
            with open(path, encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    if "bad" in line:
                        found.append({"path": path, "line": number, "message": line.strip(), "source": "lint"})
        return {"content": [{"type": "text", "text": json.dumps({"diagnostics": found})}]}

    return {
        "mcp_servers": {"editor": create_sdk_mcp_server("editor", tools=[diagnostics])},
        "disallowed_tools": ["mcp__editor__diagnostics"],
        "extra_args": {"diagnostics-tool": "mcp__editor__diagnostics"},
    }


async def told_of_an_edit(world, asked, fails=()):
    path = world.write("a.txt", "bad old\none\n")
    script = play(
        tool("Read", file_path=path),
        tool("Edit", file_path=path, old_string="one", new_string="bad new"),
        [{"say": "texts"}],
    )
    options = world.options(permission_mode="acceptEdits", **linter(asked, fails))
    told = result(await collect(query(prompt=script, options=options))).result
    equal(world.read("a.txt"), "bad old\nbad new\n")
    return path, told


@test
async def a_tool_of_the_host_says_what_an_edit_has_brought(world):
    # An answer that is late is left out, and a busy machine may make it late.
    for _ in range(30):
        asked = []
        path, told = await told_of_an_edit(world, asked)
        assert f"{path}:1:" not in told, told
        if "diagnostics" in told:
            equal(asked, [[path], [path]])
            break
    contains(told, f"{path}:2: error [lint]: bad new")


@test
async def diagnostics_that_are_not_known_before_an_edit_are_not_blamed_on_it(world):
    asked = []
    _, told = await told_of_an_edit(world, asked, fails=[1])
    assert "diagnostics" not in told, told


@test
async def hooks_hear_of_denials_and_of_all_calls_of_a_message(world):
    heard = []

    async def hook(given, *_):
        heard.append(given)
        return {}

    names = ["PermissionDenied", "PostToolBatch"]
    hooks = {name: [HookMatcher(hooks=[hook])] for name in names}
    messages = await collect(
        query(
            prompt=play(tool("Bash", command="touch a"), text("ok")),
            options=world.options(hooks=hooks, disallowed_tools=["Bash(touch *)"]),
        )
    )
    assert not result(messages).is_error
    by_name = {given["hook_event_name"]: given for given in heard}
    equal(sorted(by_name), names)
    denied = by_name["PermissionDenied"]
    equal((denied["tool_name"], denied["tool_input"]), ("Bash", {"command": "touch a"}))
    equal([call["tool_name"] for call in by_name["PostToolBatch"]["tool_calls"]], ["Bash"])
    equal(world.files(), [])


@test
async def a_deferred_call_waits_and_is_taken_up(world):
    async def later(*_):
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "defer"}}

    options = world.options(
        hooks={"PreToolUse": [HookMatcher(hooks=[later])]}, extra_args={"wait-for-answers": None}
    )
    first = result(await collect(query(prompt=play(tool("Bash", command="touch a")), options=options)))
    equal(first.stop_reason, "tool_deferred")
    equal(world.files(), [])

    # Without that hook the host is asked about the call, as about any other.
    async def decide(*_):
        return PermissionResultAllow()

    options = world.options(
        resume=first.session_id, can_use_tool=decide, extra_args={"wait-for-answers": None}
    )
    messages = await collect(query(prompt="/continue-run", options=options))
    assert not result(messages).is_error, json.dumps(result(messages).errors)
    equal(world.files(), ["a"])


if __name__ == "__main__":
    common.main()
