"""Hosts that misbehave, over raw pipes: nothing hangs, nothing is lost, nothing is left behind."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import common
from common import CLI, contains, equal, play, test, text, tool, until, within
from raw import ASKING, BASH, FLAGS, MIB, Host, answer, control, user

# The program itself, the runtime and what one conversation of these tests holds.
FEW = 100 * MIB
ALLOW = {"behavior": "allow", "updatedInput": {"command": "touch allowed"}}
DENY = {"behavior": "deny", "message": "no"}


def resumes(world, session=None):
    """Whether the session, or the last one of the directory, goes on."""
    host = Host(world, "--continue" if session is None else f"--resume={session}")
    host.send(user(play(text("still here"))))
    host.close_input()
    equal(host.result()["result"], "still here")
    equal(host.exit(), 0)


def begun(world, *flags, seconds=60):
    """A host whose session runs a long command."""
    host = Host(world, *flags, *BASH)
    host.send(user(play(tool("Bash", command=f"touch begun; sleep {seconds}; touch ended"), text("never"))))
    deadline = time.monotonic() + 20
    while "begun" not in world.files():
        assert time.monotonic() < deadline, "the command did not begin"
        time.sleep(0.01)
    return host


def nothing_left(world):
    deadline = time.monotonic() + 10
    while within(world.root):
        assert time.monotonic() < deadline, f"left: {common.described(within(world.root))}"
        time.sleep(0.01)
    assert "ended" not in world.files(), world.files()


@test
async def is_gone_while_a_command_runs(world):
    host = begun(world)
    host.gone()
    equal(host.exit(), 1)
    nothing_left(world)
    resumes(world)


@test
async def is_killed_while_a_command_runs(world):
    code = "import subprocess, sys; subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE).wait()"
    prompt = json.dumps(user(play(tool("Bash", command="touch begun; sleep 60; touch ended")))) + "\n"
    code = code.replace(".wait()", f".communicate({prompt.encode()!r})")
    # Its own pipes to windlass end with it.
    host = subprocess.Popen([sys.executable, "-c", code, CLI, *FLAGS, *BASH], cwd=world.cwd, env=world.env,
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    await until(lambda: world.files() == ["begun"])
    host.kill()
    host.wait()
    nothing_left(world)
    resumes(world)


@test
async def is_gone_while_it_is_asked(world):
    for subtype, flags, hooks in (
        ("can_use_tool", ASKING, None),
        ("hook_callback", [], {"PreToolUse": [{"matcher": None, "hookCallbackIds": ["hook_0"]}]}),
    ):
        host = Host(world, *flags)
        host.send(control("initialize", hooks=hooks), user(play(tool("Bash", command="touch made"), text("ok"))))
        host.asked(subtype)
        host.gone()
        equal((subtype, host.exit()), (subtype, 1))
        nothing_left(world)
        equal(world.files(), [])
        resumes(world)


@test
async def closes_its_input_at_once(world):
    host = Host(world)
    host.close_input()
    equal(host.exit(), 0)


@test
async def closes_its_input_while_a_command_runs(world):
    """A host that still listens gets everything that it asked for."""
    host = Host(world, *BASH)
    command = "touch begun; until [ -e go ]; do sleep 0.01; done"
    host.send(user(play(tool("Bash", command=command), text("one"))), user(play(text("two"))))
    await until(lambda: world.files() == ["begun"])
    host.close_input()
    world.write("go", "")
    equal([host.result()["result"], host.result()["result"]], ["one", "two"])
    equal(host.exit(), 0)


@test
async def closes_its_input_while_it_is_asked(world):
    """Nobody can answer any more: the call is denied, the run goes on."""
    host = Host(world, *ASKING)
    host.send(user(play(tool("Bash", command="touch made"), text("the end"))))
    host.asked()
    host.close_input()
    end = host.result()
    equal((end["result"], len(end["permission_denials"])), ("the end", 1))
    equal((host.exit(), world.files()), (0, []))


@test
async def closes_its_input_in_mid_line(world):
    host = Host(world)
    host.send(user(play(text("one"))))
    equal(host.result()["result"], "one")
    host.raw(b'{"type":"user","message":{"role":"us')
    host.close_input()
    equal(host.exit(), 1)
    contains(host.said(), "not a message")
    resumes(world)


@test
async def stalls_when_asked_and_interrupts(world):
    host = Host(world, *ASKING)
    host.send(user(play(tool("Bash", command="touch made"), text("never"))))
    question = host.asked()
    host.send(control("interrupt", id="stop"))
    equal(host.next(lambda line: line["type"] == "control_cancel_request", "cancel")["request_id"], question["request_id"])
    equal(host.answered("stop")["subtype"], "success")
    equal(host.result()["terminal_reason"], "aborted_tools")
    # The answer that comes too late changes nothing.
    host.send(answer(question, ALLOW), user(play(text("after"))))
    equal(host.result()["result"], "after")
    host.close_input()
    equal((host.exit(), world.files()), (0, []))


@test
async def answers_twice(world):
    host = Host(world, *ASKING)
    host.send(user(play(tool("Bash", command="touch made"), tool("Bash", command="touch other"), text("ok"))))
    first = host.asked()
    host.send(answer(first, DENY), answer(first, ALLOW))
    second = host.asked()
    host.send(answer(first, ALLOW), answer(second, DENY))
    equal(len(host.result()["permission_denials"]), 2)
    host.close_input()
    equal((host.exit(), world.files()), (0, []))


@test
async def answers_with_nonsense(world):
    host = Host(world, *ASKING)
    nonsense = [
        None, 3, "allow", [], {}, {"behavior": "perhaps"}, {"behavior": ["allow"]}, {"behavior": "allow", "updatedInput": 3},
        {"behavior": "allow", "updatedInput": {"command": 3}}, {"behavior": "deny"}, {"behavior": "deny", "message": 3},
    ]
    for responses in (nonsense[:6], nonsense[6:]):
        script = [tool("Bash", command=f"touch made-{number}") for number in range(len(responses))]
        host.send(user(play(*script, text("ok"))))
        for response in responses:
            host.send(answer(host.asked(), response))
        equal(host.result()["result"], "ok")
    equal(world.files(), [])
    host.close_input()
    equal(host.exit(), 0)


@test
async def answers_with_nonsense_as_a_hook(world):
    """A hook that makes no sense has no opinion, or denies; it never allows, and never holds anything up."""
    nonsense = [None, 3, "allow", [], {"decision": 3}, {"decision": "perhaps"}, {"hookSpecificOutput": 3},
                {"hookSpecificOutput": {"permissionDecision": "perhaps"}}, {"continue": "no"}, {"async": 3}]
    host = Host(world)
    host.send(control("initialize", id="i", hooks={"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["pre"]}]}))
    for number, response in enumerate(nonsense):
        host.send(user(play(tool("Bash", command=f"touch made-{number}"), text("ok"))))
        host.send(answer(host.asked("hook_callback"), response))
        assert host.result()["subtype"] in ("success", "error_during_execution"), response
    equal(world.files(), [])
    host.close_input()
    equal(host.exit(), 0)


@test
async def stalls_as_an_mcp_server(world):
    """A host whose own server never answers can stop the run, and go on."""
    host = Host(world, "--allowedTools", "mcp__calc")
    tools = {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}
    known = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "calc", "version": "1"}}
    host.send(control("initialize", id="i", sdkMcpServers=["calc"]))
    host.send(user(play(tool("mcp__calc__add"), text("never"))))
    while True:
        request = host.asked("mcp_message")
        message = request["request"]["message"]
        if message["method"] == "tools/call":
            break
        reply = {"initialize": known, "tools/list": tools}.get(message["method"], {})
        body = {"jsonrpc": "2.0", "id": message.get("id"), "result": reply}
        host.send(answer(request, {"mcp_response": body}))
    host.send(control("interrupt", id="stop"))
    equal(host.result()["terminal_reason"], "aborted_tools")
    host.send(answer(request, {"mcp_response": "too late, and nonsense"}), user(play(text("after"))))
    equal(host.result()["result"], "after")
    host.close_input()
    equal(host.exit(), 0)


@test
async def sends_what_nobody_asked_for(world):
    host = Host(world)
    host.send(
        {}, {"type": None}, {"type": "from_the_future", "x": [1]}, {"type": "keep_alive"},
        answer({"request_id": "unknown"}, ALLOW), {"type": "control_cancel_request", "request_id": "unknown"},
        control("from_the_future", id="future"), control("interrupt", id="stop"),
        control("initialize", id="one"), control("initialize", id="two"),
        control("set_permission_mode", id="mode", mode=3), control("set_model", id="model", model=[]),
    )
    host.raw(b"\n  \n\r\n")
    equal(host.answered("future")["error_code"], "unsupported_request")
    equal(host.answered("stop")["subtype"], "success")
    equal([host.answered(id)["subtype"] for id in ("one", "two", "mode", "model")], ["success", "success", "error", "error"])
    host.send(user(play(text("one"))))
    equal(host.result()["result"], "one")
    host.close_input()
    equal(host.exit(), 0)


@test
async def sends_messages_that_are_none(world):
    host = Host(world)
    strange = [None, 3, [], [3], [{}], [{"type": "text"}], [{"type": "image"}], [{"type": "tool_use"}], {}]
    for content in strange:
        host.send(user(content))
        end = host.result()
        equal((content, end["subtype"]), (content, "error_during_execution"))
    host.send(user(play(text("one"))))
    equal(host.result()["result"], "one")
    host.close_input()
    equal(host.exit(), 0)


@test
async def sends_what_is_no_message(world):
    for line in (
        b"hello", b"[1]", b"3", b'{"type":"user"', b"\xff\xfe", b"\0", b"[" * 100_000, b'{"a":' * 100_000,
        b'{"type":"control_request"}', b'{"type":"control_response","response":3}', b'{"type":"control_cancel_request"}',
    ):
        line += b"\n"
        host = Host(world)
        host.send(user(play(text("one"))))
        session = host.result()["session_id"]
        # One write: the program may have ended before another one.
        host.raw(line + json.dumps(user(play(text("never")))).encode() + b"\n")
        equal((line[:9], host.exit()), (line[:9], 1))
        assert host.said(), line[:9]
        resumes(world, session)


@test
async def sends_what_is_not_json_while_a_command_runs(world):
    host = begun(world)
    host.raw(b"nonsense\n")
    equal(host.exit(), 1)
    nothing_left(world)
    resumes(world)


@test
async def a_signal_ends_the_run(world):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        host = begun(world)
        host.process.send_signal(number)
        equal((number, host.exit()), (number, 143))
        nothing_left(world)
        os.unlink(world.path("begun"))
        resumes(world)


@test
async def the_program_is_killed(world):
    host = begun(world)
    host.process.kill()
    host.exit()
    nothing_left(world)
    resumes(world)


@test
async def a_line_without_an_end(world):
    host = Host(world)
    host.send(user(play(text("one"))))
    host.result()
    part = b'{"type":"user","message":"' + b"x" * MIB
    peak = 0
    try:
        for _ in range(200):
            host.raw(part)
            peak = host.peak()
    except (BrokenPipeError, FileNotFoundError, ValueError):
        pass
    equal(host.exit(), 1)
    assert 0 < peak < FEW + 2 * 64 * MIB, f"{peak // MIB} MiB"
    contains(host.said(), "longer than")
    resumes(world)


@test
async def floods_with_lines_that_say_nothing(world):
    host = Host(world)
    host.send(control("initialize", id="one"))
    host.answered("one")
    for line in ({"type": "keep_alive"}, {"type": "from_the_future", "x": "y" * 1000}, answer({"request_id": "x"}, {})):
        line = json.dumps(line).encode() + b"\n"
        many = line * (MIB // len(line))
        for _ in range(66):
            host.raw(many)
    host.send(user(play(text("one"))))
    equal(host.result()["result"], "one")
    assert host.peak() < FEW, f"{host.peak() // MIB} MiB"
    host.close_input()
    equal(host.exit(), 0)


@test
async def floods_with_prompts(world):
    """Some wait for the run before them, the others are refused; each has its result."""
    host = Host(world, *BASH)
    host.send(user(play(tool("Bash", command="touch begun; until [ -e go ]; do sleep 0.01; done"), text("first"))))
    await until(lambda: world.files() == ["begun"])
    filler = {"type": "text", "text": "x" * MIB}
    ask = {"type": "text", "text": play(text("asked"))}
    for _ in range(200):
        # The answer that the model gives says which prompt is meant, so the filler may be anything.
        host.send(user([filler, ask]))
    refused = 0
    while refused < 200 - 64:
        end = host.result()
        equal(end["is_error"], True)
        refused += 1
    # A waiting prompt may be held as it came and as it is read.
    assert host.peak() < FEW + 4 * 64 * MIB, f"{host.peak() // MIB} MiB"
    host.send(control("interrupt", id="stop", cancel_queued=True))
    host.answered("stop")
    host.send(user(play(text("last"))))
    while host.result().get("result") != "last":
        pass
    host.close_input()
    equal(host.exit(), 0)


@test
async def asks_and_never_listens(world):
    """Questions are not taken in faster than their answers go out."""
    host = Host(world, reads=False)
    line = json.dumps(control("from_the_future")).encode() + b"\n"
    many = line * (200 * MIB // len(line))
    os.set_blocking(host.process.stdin.fileno(), False)
    written, quiet = 0, time.monotonic()
    # Until the pipe has been full for a second: then nobody takes anything out of it.
    while written < len(many) and time.monotonic() - quiet < 1:
        try:
            written += os.write(host.process.stdin.fileno(), memoryview(many)[written:written + MIB])
            quiet = time.monotonic()
        except BlockingIOError:
            time.sleep(0.01)
    assert written < 100 * MIB, f"{written // MIB} MiB were taken"
    assert host.peak() < FEW + 64 * MIB, f"{host.peak() // MIB} MiB"
    host.process.terminate()
    equal((host.exit(), host.said()), (143, ""))


@test
async def never_reads(world):
    """A run whose frames nobody takes waits, keeps no more than it must, and ends when it is told to."""
    host = Host(world, "--include-partial-messages", reads=False)
    long = [{"text": "x", "times": 400_000}, *tool("Glob", pattern="*")]
    host.send(user(play(*[long] * 300, text("never"))))
    still, last = time.monotonic(), -1
    # Until it has used no processor for a second.
    while time.monotonic() - still < 1:
        with open(f"/proc/{host.process.pid}/stat") as file:
            used = sum(map(int, file.read().rpartition(")")[2].split()[11:13]))
        if used != last:
            still, last = time.monotonic(), used
        time.sleep(0.01)
    assert host.peak() < FEW + 64 * MIB, f"{host.peak() // MIB} MiB"
    host.process.terminate()
    # The SDKs kill a program that has not ended five seconds after it was told to.
    equal(host.exit(5), 143)
    nothing_left(world)
    resumes(world)


@test
async def never_reads_and_closes_its_input(world):
    host = Host(world, reads=False)
    host.send(user(play([{"text": "x", "times": 400_000}])))
    host.close_input()
    # Nothing is thrown away while the host may still read.
    try:
        host.process.wait(0.5)
        raise AssertionError("it ended with frames that nobody had read")
    except subprocess.TimeoutExpired:
        pass
    threading.Thread(target=host.read, daemon=True).start()
    equal(host.result()["is_error"], False)
    equal(host.exit(), 0)


@test
async def leaves_after_the_first_frame(world):
    host = Host(world, "--include-partial-messages", *BASH)
    host.send(user(play([{"text": "x", "times": 400_000}, *tool("Bash", command="touch made")], tool("Bash", command="sleep 60"))))
    host.next(lambda line: line["type"] == "system", "init")
    host.gone()
    equal(host.exit(), 1)
    nothing_left(world)
    resumes(world)


if __name__ == "__main__":
    common.main()
