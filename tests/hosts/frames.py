"""Every frame that windlass can write is accepted by the Python Agent SDK.

Two files are looked at: what the mapper writes for events of every kind, made by
`cargo test -p windlass-protocol --test it corpus::` (WINDLASS_FRAMES), and what the
program writes in the runs of this file, which is kept for frames.mjs (WINDLASS_LIVE).
"""

import collections
import json
import os
import sys
from typing import get_args

import common
from claude_agent_sdk import query
from claude_agent_sdk._internal.message_parser import parse_message
from claude_agent_sdk.types import RateLimitStatus, RateLimitType
from common import collect, contains, equal, play, test, text, tool
from raw import ASKING, BASH, Host, answer, control, user

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.environ.get("WINDLASS_FRAMES", "target/hosts/frames.jsonl")
LIVE = os.environ.get("WINDLASS_LIVE", "target/hosts/live.jsonl")
CONTROL = {"control_request", "control_response", "control_cancel_request", "keep_alive"}
# Consumed by the SDKs.
CONSUMED = CONTROL | {"transcript_mirror"}
# The longest line that the Python SDK reads, in characters.
LONGEST = 2**20

COMMON = {"uuid": str, "session_id": str}
OPTIONAL_TEXT = (str, type(None))
NUMBER = (int, float)
# What the frames of a kind must hold, beside what all have; hosts rely on it.
REQUIRED = {
    "system/init": {"cwd": str, "tools": list, "mcp_servers": list, "model": str, "permissionMode": str,
                    "slash_commands": list, "apiKeySource": str, "claude_code_version": str, "output_style": str,
                    "agents": list, "skills": list, "plugins": list},
    "system/status": {"status": OPTIONAL_TEXT},
    "system/api_retry": {"attempt": int, "max_retries": int, "retry_delay_ms": int, "error": str,
                         "error_status": (int, type(None))},
    "system/informational": {"content": str, "level": str},
    "system/local_command_output": {"content": str},
    "system/permission_denied": {"tool_name": str, "tool_use_id": str, "message": str},
    "system/session_state_changed": {"state": str},
    "system/message_withdrawn": {"message_id": OPTIONAL_TEXT, "reason": str},
    "system/model_fallback": {"original_model": str, "fallback_model": str},
    "system/compact_boundary": {"compact_metadata": dict},
    "system/commands_changed": {"commands": list},
    "system/mcp_server_status": {"mcp_server": dict},
    "system/task_started": {"task_id": str, "description": str},
    "system/task_progress": {"task_id": str, "description": str, "usage": dict},
    "system/task_updated": {"task_id": str, "patch": dict},
    "system/task_notification": {"task_id": str, "status": str, "output_file": str, "summary": str},
    "system/background_tasks_changed": {"tasks": list},
    "system/hook_started": {"hook_id": str, "hook_name": str, "hook_event": str},
    "system/hook_response": {"hook_id": str, "hook_name": str, "hook_event": str, "output": str, "stdout": str,
                             "stderr": str, "outcome": str},
    "system/session_title_changed": {},
    "system/hook_started": {"hook_id": str, "hook_name": str, "hook_event": str},
    "system/hook_response": {"hook_id": str, "hook_name": str, "hook_event": str, "output": str, "stdout": str,
                             "stderr": str, "outcome": str},
    "system/task_started": {"task_id": str, "description": str},
    "system/task_notification": {"task_id": str, "status": str, "output_file": str, "summary": str},
    "system/session_title_changed": {"title": str},
    "assistant": {"message": dict, "parent_tool_use_id": OPTIONAL_TEXT},
    "user": {"message": dict, "parent_tool_use_id": OPTIONAL_TEXT},
    "stream_event": {"event": dict, "parent_tool_use_id": OPTIONAL_TEXT},
    "tool_progress": {"tool_use_id": str, "tool_name": str, "parent_tool_use_id": OPTIONAL_TEXT,
                      "elapsed_time_seconds": NUMBER},
    "rate_limit_event": {"rate_limit_info": dict},
    "conversation_reset": {"new_conversation_id": str},
    "command_lifecycle": {"command_uuid": str, "state": str},
}
RESULT = {"is_error": bool, "duration_ms": int, "duration_api_ms": int, "num_turns": int, "total_cost_usd": NUMBER,
          "usage": dict, "modelUsage": dict, "permission_denials": list, "stop_reason": OPTIONAL_TEXT}
SUBTYPES = {"success", "error_during_execution", "error_max_turns", "error_max_budget_usd",
            "error_max_structured_output_retries"}
# The values that the SDKs declare; one of the windows is declared by the TypeScript SDK alone.
LIMIT = {
    "status": get_args(RateLimitStatus),
    "rateLimitType": (*get_args(RateLimitType), "seven_day_overage_included"),
    "overageStatus": get_args(RateLimitStatus),
}
ASSISTANT = {"id": str, "type": str, "role": str, "model": str, "content": list, "usage": dict}


def kind(frame):
    return f"{frame['type']}/{frame['subtype']}" if frame["type"] == "system" else frame["type"]


def holds(frame, fields):
    for name, types in fields.items():
        assert name in frame, f"no {name} in {str(frame)[:500]}"
        assert isinstance(frame[name], types), f"{name} of {str(frame)[:500]} is a {type(frame[name]).__name__}"


def check(line):
    """Looks at one line; the kind of its frame."""
    assert len(line) < LONGEST, f"{len(line)} characters"
    frame = json.loads(line)
    if frame["type"] in CONSUMED:
        return frame["type"]
    holds(frame, COMMON)
    if frame["type"] == "result":
        holds(frame, RESULT)
        contains(SUBTYPES, frame["subtype"])
        holds(frame, {"result": str} if frame["subtype"] == "success" else {"errors": list})
    else:
        assert kind(frame) in REQUIRED, f"nobody has said what {kind(frame)} must hold: {str(frame)[:500]}"
        holds(frame, REQUIRED[kind(frame)])
    if frame["type"] == "assistant":
        holds(frame["message"], ASSISTANT)
    if frame["type"] in ("assistant", "user"):
        content = frame["message"]["content"]
        assert isinstance(content, str) or all(isinstance(block["type"], str) for block in content), frame
    if frame["type"] == "rate_limit_event":
        info = frame["rate_limit_info"]
        holds(info, {"status": str})
        for name, values in LIMIT.items():
            assert info.get(name, values[0]) in values, frame
    parse_message(frame)
    return kind(frame)


def checked(path):
    """Looks at every line of a file; how many frames of each kind it holds."""
    kinds = collections.Counter()
    with open(path, encoding="utf-8", newline="\n") as lines:
        for line in lines:
            try:
                kinds[check(line)] += 1
            except Exception as error:
                raise AssertionError(f"{error!r} at {line[:500]}") from error
    return kinds


async def played(world, path):
    """What the SDK yields when it is given a file instead of windlass."""
    program = world.write("player", f"#!/bin/sh\nexec '{sys.executable}' '{HERE}/player.py' '{os.path.abspath(path)}'\n")
    os.chmod(program, 0o755)
    return await collect(query(prompt="x", options=world.options(cli_path=program)))


@test
async def the_corpus_is_complete_and_accepted(world):
    kinds = checked(CORPUS)
    for kind in ("system/init", "assistant", "user", "stream_event", "result", "tool_progress", "system/api_retry",
                 "rate_limit_event"):
        assert kinds[kind], f"no {kind} in {kinds}"


@test
async def the_sdk_yields_the_corpus(world):
    with open(CORPUS) as lines:
        expected = sum(parse_message(json.loads(line)) is not None for line in lines)
    equal(len(await played(world, CORPUS)), expected)


class Recorder(Host):
    """Keeps every line as it was written."""

    def __init__(self, world, file, *flags):
        self.file = file
        super().__init__(world, *flags)

    def heard(self, line):
        self.file.write(line + b"\n")


def ask(host, prompt, **more):
    host.send(user(prompt, **more))
    return host.result()


@test
async def the_program_writes_what_is_accepted(world):
    """Runs in which the program says all that it can say by itself."""
    world.env["CLAUDE_CODE_SDK_READS_SESSION_STATE"] = "1"
    hooks = {
        event: [{"matcher": None, "hookCallbackIds": [event]}]
        for event in ("PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop")
    }
    talkative = {"systemMessage": "said by a hook"}
    with open(LIVE, "wb") as file:
        # Everything that can be switched on, tools that work and that fail, a question with each answer.
        host = Recorder(world, file, *ASKING, "--include-partial-messages", "--session-mirror", "--replay-user-messages",
                        "--include-hook-events", "--model", "claude-sonnet-4-5", "--fallback-model", "claude-haiku-4-5")
        host.replies = lambda request: talkative if request["subtype"] == "hook_callback" else {
            "behavior": "deny" if "no" in request["input"].get("command", "") else "allow",
            "message": "no", "updatedInput": request["input"],
        }
        host.send(control("initialize", id="i", hooks=hooks))
        host.answered("i")
        script = play(
            [{"thinking": "hm"}, *text("one"), *tool("Read", file_path=world.path("missing")), *tool("Glob", pattern="*")],
            tool("Bash", command="touch yes"), tool("Bash", command="touch no"),
            tool("TodoWrite", todos=[{"content": "a", "status": "pending", "activeForm": "b"}]),
            text("end"),
        )
        ask(host, script, uuid="11111111-1111-4111-8111-111111111111")
        ask(host, [{"type": "tool_result", "tool_use_id": "x", "content": "x"}])
        host.send(control("set_permission_mode", id="m", mode="plan"))
        host.answered("m")
        ask(host, play(tool("Write", file_path=world.path("x"), content="x"), text("end")))
        for command in ("/cost", "/context", "/nothing-of-this-name"):
            ask(host, command)
        again = {"attempts": [{"status": 529, "error": "overloaded_error", "retry_after": 0}] * 3 + [text("end")], "key": world.root}
        ask(host, play(again))
        cut = {"attempts": [[*text("a"), {"cut": True}], text("end")], "key": world.root + "cut"}
        ask(host, play(cut))
        ask(host, play({"status": 400, "error": "invalid_request_error"}))
        # An agent that a call waits for, and one in the background.
        looks = [{"attempts": [[*tool("Glob", pattern="*"), {"cut": True}], tool("Glob", pattern="*")], "key": world.root + "agent"}]
        below = play(*looks, tool("Bash", command="touch no"), text("end"))
        given = {"description": "Look", "prompt": below, "subagent_type": "Explore"}
        ask(host, play(tool("Agent", **given, run_in_background=False), text("end")))
        below = play(tool("Glob", pattern="*"), [*text("a"), {"wait": world.path("go")}])
        host.send(user(play(tool("Agent", **{**given, "prompt": below}, run_in_background=True), text("end"), text("end"))))
        host.result()
        world.write("go", "")
        host.result()
        host.send(user(play([*text("begun"), {"wait": world.path("never")}])))
        host.next(lambda line: line["type"] == "assistant", "answer")
        host.send(control("interrupt", id="stop"))
        host.answered("stop")
        host.result()
        host.send(control("set_permission_mode", id="wrong", mode="nonsense"), control("from_the_future", id="future"))
        host.answered("future")
        ask(host, "/clear")
        ask(host, play(text("end")))
        host.close_input()
        equal(host.exit(), 0)

        # A question that is taken back.
        host = Recorder(world, file, *ASKING)
        host.send(user(play(tool("Bash", command="touch a"))))
        host.asked()
        host.send(control("interrupt", id="stop"))
        host.result()
        host.close_input()
        equal(host.exit(), 1)

        # Limits and refusals.
        for flags, prompt in (
            (["--max-turns", "1"], play(*[tool("Glob", pattern="*")] * 3)),
            (["--max-budget-usd", "0.00001", "--model", "claude-sonnet-4-5"], play(*[tool("Glob", pattern="*")] * 3)),
            (["--resume=aaaaaaaa-1111-4111-8111-111111111111"], "x"),
            (["--permission-mode", "dontAsk"], play(tool("Bash", command="touch a"), text("end"))),
            (["--disallowedTools", "Bash"], play(tool("Bash", command="touch a"), text("end"))),
            (["--json-schema", '{"type":"object","required":["a"]}'], play(tool("StructuredOutput", a=1))),
            (["--json-schema", '{"type":"object","required":["a"]}'], play(*[text("no")] * 20)),
            (BASH, play(tool("Bash", command="i=0; while [ $i -lt 30 ]; do echo $i; sleep 0.1; i=$((i+1)); done"), text("end"))),
        ):
            host = Recorder(world, file, *flags)
            ask(host, prompt)
            host.close_input()
            host.exit()
    kinds = checked(LIVE)
    for kind in (
        "system/init", "system/status", "system/api_retry", "system/informational", "system/permission_denied",
        "system/session_state_changed", "system/message_withdrawn", "assistant", "user", "stream_event", "result",
        "command_lifecycle", "control_request", "control_response", "control_cancel_request", "transcript_mirror",
        "system/task_started", "system/task_progress", "system/task_notification", "system/background_tasks_changed",
    ):
        assert kinds[kind], f"no {kind} in {kinds}"
    with open(LIVE) as lines:
        frames = [json.loads(line) for line in lines]
    expected = [f for f in frames if f["type"] not in CONSUMED and not f.get("sdk_host_only") and parse_message(f)]
    equal(len(await played(world, LIVE)), len(expected))


@test
async def questions_come_after_what_they_are_about(world):
    """A host that is asked about a call has seen the call."""
    host = Host(world, *ASKING)
    host.send(control("initialize", id="i", hooks={"PreToolUse": [{"matcher": None, "hookCallbackIds": ["pre"]}]}))
    for _ in range(5):
        host.send(user(play(*[tool("Bash", command="true > made")] * 8, text("end"))))
        told, asked = set(), 0
        while True:
            frame = host.next(lambda _: True, "frame")
            if frame["type"] == "assistant":
                told |= {block["id"] for block in frame["message"]["content"] if block["type"] == "tool_use"}
            elif frame["type"] == "control_request":
                request = frame["request"]
                assert request["tool_use_id"] in told, f"{request['subtype']} came before its call"
                asked += 1
                allow = {"behavior": "allow", "updatedInput": request["input"]}
                host.send(answer(frame, allow if request["subtype"] == "can_use_tool" else {}))
            elif frame["type"] == "result":
                break
        equal(asked, 16)
    host.close_input()
    equal(host.exit(), 0)


if __name__ == "__main__":
    common.main()
