"""Commands in the background, through the Python Agent SDK and over raw pipes."""

import json
import os
import signal
import subprocess
import time

import common
from claude_agent_sdk import (
    ResultMessage,
    TaskNotificationMessage,
    TaskStartedMessage,
    TextBlock,
    ToolResultBlock,
    UserMessage,
    query,
)
from common import CLI, blocks, client, collect, contains, equal, play, result, say, system, test, text, tool, until, within
from raw import BASH, Host, control, user

TEXTS = [{"say": "texts"}]


def background(command, **more):
    return tool("Bash", command=command, run_in_background=True, **more)


def waits_for(name):
    """A command that goes on until there is such a file."""
    return f"until [ -e {name} ]; do sleep 0.02; done"


def of(messages, kind):
    return [message for message in messages if isinstance(message, kind)]


def structured(messages):
    return [m.tool_use_result for m in of(messages, UserMessage) if m.tool_use_result]


def commands(world):
    """The processes of commands, without the program itself."""
    found = []
    for pid in within(world.root):
        try:
            with open(f"/proc/{pid}/comm") as file:
                name = file.read().strip()
        except OSError:
            continue
        if name in ("bash", "sleep"):
            found.append(pid)
    return found


def gone(world, seconds=10):
    end = time.monotonic() + seconds
    while within(world.root):
        assert time.monotonic() < end, f"left: {common.described(within(world.root))}"
        time.sleep(0.01)


@test
async def a_one_shot_query_waits_and_a_turn_wakes(world):
    script = play(background(f"echo out; {waits_for('go')}", description="Wait for it"), text("It runs."), TEXTS)
    messages, results = [], []
    async for message in query(prompt=script, options=world.options(allowed_tools=["Bash"])):
        messages.append(message)
        if isinstance(message, ResultMessage):
            results.append(message)
            world.write("go", "")
    first, second = results
    equal((first.result, first.origin), ("It runs.", None))
    equal(second.origin, {"kind": "task-notification"})
    (started,), (ended,) = of(messages, TaskStartedMessage), of(messages, TaskNotificationMessage)
    equal((started.description, started.task_type), ("Wait for it", "local_bash"))
    equal((ended.task_id, ended.tool_use_id, ended.status), (started.task_id, started.tool_use_id, "completed"))
    equal(ended.summary, 'Background command "Wait for it" completed (exit code 0)')
    contains(second.result, f"<task-id>{started.task_id}</task-id>")
    contains(second.result, f"<output-file>{ended.output_file}</output-file>")
    assert "\nout" not in second.result, "the output is not told"
    with open(ended.output_file) as file:
        equal(file.read(), "out\n")
    equal(os.stat(ended.output_file).st_mode & 0o777, 0o600)
    (told,) = structured(messages)
    equal((told["backgroundTaskId"], told["rawOutputPath"]), (started.task_id, ended.output_file))
    changes = [[task["task_id"] for task in m.data["tasks"]] for m in system(messages, "background_tasks_changed")]
    equal(changes, [[started.task_id], []])
    equal(len(system(messages, "init")), 2)


@test
async def work_that_ends_during_a_run_is_told_in_it(world):
    script = play(background("echo quick"), tool("Bash", command="sleep 0.8"), TEXTS)
    messages = await collect(query(prompt=script, options=world.options(allowed_tools=["Bash"])))
    contains(result(messages).result, "<status>completed</status>")
    equal(len(of(messages, TaskNotificationMessage)), 1)


@test
async def a_failure_is_told(world):
    script = play(background("echo bad; exit 3", description="Fail"), text("It runs."), TEXTS)
    messages = await collect(query(prompt=script, options=world.options(allowed_tools=["Bash"])))
    (ended,) = of(messages, TaskNotificationMessage)
    equal((ended.status, ended.summary), ("failed", 'Background command "Fail" failed with exit code 3'))
    contains(of(messages, ResultMessage)[-1].result, "<status>failed</status>")


@test
async def the_host_stops_a_task(world):
    async with client(world, allowed_tools=["Bash"]) as host:
        await host.query(play(background("sleep 60 & sleep 60"), text("It runs.")))
        messages = await collect(host.receive_response())
        (started,) = of(messages, TaskStartedMessage)
        await until(lambda: len(commands(world)) >= 2, what="the command")
        await host.stop_task("nobody")
        await host.stop_task(started.task_id)
        async for message in host.receive_messages():
            if isinstance(message, TaskNotificationMessage):
                break
        equal((message.task_id, message.status), (started.task_id, "stopped"))
        await until(lambda: not commands(world), what="the end of the command")
        # No turn wakes; the model hears of it with the next prompt.
        contains((await say(host, play(TEXTS))).result, "<status>stopped</status>")


@test
async def the_model_stops_a_task(world):
    # The id is in the file that the first call's result leads to: the model of these tests cannot read it,
    # so the task is named by hand.
    async with client(world, allowed_tools=["Bash"]) as host:
        await host.query(play(background("sleep 60"), text("It runs.")))
        (started,) = of(await collect(host.receive_response()), TaskStartedMessage)
        steps = play(tool("TaskStop", task_id=started.task_id), tool("TaskStop", task_id="nobody"), text("Stopped."))
        await host.query(steps)
        messages = await collect(host.receive_response())
        one, other = blocks(messages, ToolResultBlock)
        assert not one.is_error, one
        assert other.is_error, other
        equal(structured(messages)[0]["task_type"], "local_bash")
        await until(lambda: not commands(world), what="the end of the command")
        assert "<task-id>" not in (await say(host, play(TEXTS))).result


@test
async def stopping_a_run_leaves_it_alone(world):
    async with client(world, allowed_tools=["Bash"]) as host:
        await host.query(play(background(f"{waits_for('go')}; echo done"), tool("Bash", command="touch begun; sleep 60")))
        await until(lambda: "begun" in world.files(), what="the second command")
        await host.interrupt()
        equal(result(await collect(host.receive_response())).subtype, "error_during_execution")
        assert commands(world), "it was stopped"
        world.write("go", "")
        woken = result(await collect(host.receive_response()))
        equal(woken.origin, {"kind": "task-notification"})


@test
async def leaving_ends_it(world):
    async with client(world, allowed_tools=["Bash"]) as host:
        await say(host, play(background("sleep 60"), text("It runs.")))
        await until(lambda: commands(world), what="the command")
        began = time.monotonic()
    # The SDK waits five seconds before it ends the program.
    assert time.monotonic() - began < 12
    await until(lambda: not within(world.root), what="the end of all processes")


@test
async def the_ceiling_ends_it(world):
    env = {**world.env, "CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS": "300"}
    began = time.monotonic()
    script = play(background("sleep 60"), text("It runs."), text("never"))
    messages = await collect(query(prompt=script, options=world.options(allowed_tools=["Bash"], env=env)))
    equal(result(messages).result, "It runs.")
    assert time.monotonic() - began < 15
    equal([ended.status for ended in of(messages, TaskNotificationMessage)], ["stopped"])


@test
async def many_at_once_do_not_stand_in_the_way(world):
    calls = [{"tool": "Bash", "input": {"command": f"{waits_for('go')}; echo {n}", "run_in_background": True}} for n in range(20)]
    script = play(calls, tool("Bash", command="echo beside; touch go"), TEXTS)
    messages = await collect(query(prompt=script, options=world.options(allowed_tools=["Bash"])))
    equal(len(of(messages, TaskStartedMessage)), 20)
    equal([ended.status for ended in of(messages, TaskNotificationMessage)], ["completed"] * 20)
    contains("".join(block.text for block in blocks(messages, TextBlock)), "<status>completed</status>")


@test
async def a_rule_forbids_it(world):
    options = world.options(allowed_tools=["Bash"], disallowed_tools=["Bash(run_in_background:true)"])
    script = play(background("touch ran"), tool("Bash", command="touch foreground"), [{"say": "results"}])
    messages = await collect(query(prompt=script, options=options))
    refused, ran = blocks(messages, ToolResultBlock)
    assert refused.is_error and not ran.is_error, (refused, ran)
    equal(world.files(), ["foreground"])
    equal(of(messages, TaskStartedMessage), [])


@test
async def its_output_can_be_asked_for(world):
    host = Host(world, *BASH)
    host.send(user(play(background(f"seq 1 5000; {waits_for('go')}"), text("It runs."))))
    started = host.next(lambda line: line.get("subtype") == "task_started", "task_started")
    host.result()
    end, reply = time.monotonic() + 10, {}
    while not reply.get("output", "").endswith("5000\n"):
        assert time.monotonic() < end, reply
        host.send(control("get_task_output", "o", task_id=started["task_id"]))
        reply = host.answered("o")["response"]
    equal((reply["total_bytes"], reply["truncated"], len(reply["output"])), (23893, True, 8192))
    host.send(control("get_task_output", "p", task_id="nobody"))
    contains(host.answered("p")["error"], "nobody")
    host.send(control("background_tasks", "q"))
    equal(host.answered("q")["response"], {"backgrounded": False})
    host.send(control("initialize", "i"), control("initialize", "j"))
    host.answered("j")
    now = host.next(lambda line: line.get("subtype") == "background_tasks_changed", "the tasks")
    equal([task["task_id"] for task in now["tasks"]], [started["task_id"]])
    world.write("go", "")
    host.close_input()
    equal(host.result()["origin"], {"kind": "task-notification"})
    equal(host.exit(), 0)


@test
async def a_killed_program_leaves_nothing(world):
    host = Host(world, *BASH)
    host.send(user(play(background("setsid sleep 60 & sleep 60; touch ended"), text("It runs."))))
    host.result()
    await until(lambda: len(commands(world)) >= 2, what="the commands")
    os.kill(host.process.pid, signal.SIGKILL)
    host.process.wait()
    gone(world)
    assert "ended" not in world.files()
    # Whoever goes on with the session is told.
    host = Host(world, "--continue")
    host.send(user(play(TEXTS)))
    contains(host.result()["result"], "<status>stopped</status>")
    host.close_input()
    equal(host.exit(), 0)


@test
async def a_signal_ends_it(world):
    host = Host(world, *BASH)
    host.send(user(play(background("trap '' TERM; sleep 60 & wait; sleep 60"), text("It runs."))))
    host.result()
    host.close_input()
    await until(lambda: len(commands(world)) >= 2, what="the commands")
    os.kill(host.process.pid, signal.SIGTERM)
    host.exit()
    gone(world)


@test
async def a_session_without_files_keeps_nothing(world):
    temporary = os.path.join(world.root, "tmp")
    os.mkdir(temporary)
    world.env["TMPDIR"] = temporary
    host = Host(world, *BASH, "--no-session-persistence")
    host.send(user(play(background(f"echo out; {waits_for('go')}"), [{"say": "results"}])))
    file = host.result()["result"].partition("its output goes to ")[2].partition(": Read")[0]
    assert file.startswith(temporary), file
    equal(os.stat(os.path.dirname(file)).st_mode & 0o777, 0o700)
    host.send(user(play(tool("Read", file_path=file), [{"say": "results"}])))
    contains(host.result()["result"], "out")
    world.write("go", "")
    host.close_input()
    equal(host.exit(), 0)
    equal(os.listdir(temporary), [])


@test
async def print_mode_waits_and_says_the_last(world):
    script = play(background("sleep 0.3; echo hi"), text("It runs."), text("It is done."))
    env = {"PATH": os.environ["PATH"], **world.env}
    for format, read in [("text", lambda out: out.strip()), ("json", lambda out: json.loads(out)["result"])]:
        ran = subprocess.run(
            [CLI, "-p", script, "--output-format", format, "--allowedTools", "Bash"],
            cwd=world.cwd, env=env, capture_output=True, text=True, timeout=30,
        )
        equal((ran.returncode, read(ran.stdout)), (0, "It is done."))
    gone(world)


@test
async def an_interrupt_ends_the_wait_of_print_mode(world):
    env = {"PATH": os.environ["PATH"], **world.env}
    steps = [
        (background("sleep 60"), text("It runs.")),
        (background("sleep 60"), tool("Bash", command="touch begun; sleep 60")),
    ]
    for step in steps:
        program = subprocess.Popen(
            [CLI, "-p", play(*step), "--output-format", "stream-json", "--allowedTools", "Bash"],
            cwd=world.cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        )
        line = {}
        while line.get("type") != "result" and "begun" not in world.files():
            line = json.loads(program.stdout.readline())
            if line.get("subtype") == "task_started" and "tool" in step[1][0]:
                await until(lambda: "begun" in world.files(), what="the second command")
        program.send_signal(signal.SIGINT)
        program.communicate(timeout=15)
        gone(world)


if __name__ == "__main__":
    common.main()
