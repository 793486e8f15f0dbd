"""Agents below the main one, through the Python Agent SDK."""

import asyncio
import json
import os
import subprocess

import common
from claude_agent_sdk import (
    AgentDefinition,
    AssistantMessage,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    TaskNotificationMessage,
    TaskProgressMessage,
    TaskStartedMessage,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    create_sdk_mcp_server,
    get_subagent_messages,
    list_subagents,
    query,
)
from claude_agent_sdk import tool as sdk_tool
from common import CLI, blocks, client, collect, contains, equal, play, result, say, system, test, text, tool, until
from raw import ASKING, BASH, Host, answer, control, user

TEXTS = [{"say": "texts"}]
RESULTS = [{"say": "results"}]
BUILT_IN = ["Explore", "Plan", "general-purpose"]
USAGE = {"total_tokens", "tool_uses", "duration_ms"}


def looker(**more):
    return {"looker": AgentDefinition(**{"description": "Looks", "prompt": "You only look.", **more})}


def agent(*steps, kind="looker", **more):
    """A call that gives an agent a task: what its model says."""
    return tool("Agent", **{"description": "Look around", "prompt": play(*steps), "subagent_type": kind, **more})


def waiting(world, **more):
    """Options with which a call waits for its agent."""
    env = {**world.env, "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1"}
    return world.options(**{"agents": looker(), "env": env, **more})


def of(messages, kind):
    return [message for message in messages if isinstance(message, kind)]


def below(messages):
    """The messages of agents."""
    return [m for m in of(messages, (AssistantMessage, UserMessage)) if m.parent_tool_use_id]


def calls(messages, name):
    return [block for block in blocks(messages, ToolUseBlock) if block.name == name]


def waits_for(name):
    return f"until [ -e {name} ]; do sleep 0.02; done"


class Callbacks:
    """Hooks that write down what they are asked, and what they answer."""

    def __init__(self, **answers):
        self.asked = []
        self.answers = answers

    async def __call__(self, given, _id, _context):
        self.asked.append(given)
        said = self.answers.get(given["hook_event_name"], {})
        return said.pop(0) if isinstance(said, list) and said else ({} if isinstance(said, list) else said)

    def of(self, event):
        return [given for given in self.asked if given["hook_event_name"] == event]

    def hooks(self, *events, matcher=None):
        return {event: [HookMatcher(matcher=matcher, hooks=[self])] for event in events}


@test
async def what_a_call_waits_for_is_told_below_it(world):
    script = play(agent(tool("Bash", command="touch made"), text("It is there.")), RESULTS)
    options = waiting(world, allowed_tools=["Bash"], model="claude-sonnet-4-5")
    messages = await collect(query(prompt=script, options=options))
    (call,), (bash,) = calls(messages, "Agent"), calls(messages, "Bash")
    nested = below(messages)
    equal([type(m) for m in nested], [AssistantMessage, UserMessage])
    assert all(m.parent_tool_use_id == call.id for m in nested), nested
    equal([block.id for block in blocks(nested, ToolUseBlock)], [bash.id])
    equal([block.tool_use_id for block in blocks(nested, ToolResultBlock)], [bash.id])
    equal(world.files(), ["made"])
    # The session has one turn, and says what it offers as hosts know it.
    end = result(messages)
    contains(end.result, "It is there.")
    (init,) = system(messages, "init")
    assert "Task" in init.data["tools"] and "Agent" not in init.data["tools"], init.data["tools"]
    equal(sorted(init.data["agents"]), sorted([*BUILT_IN, "looker"]))
    (told,) = [m.tool_use_result for m in of(messages, UserMessage) if m.tool_use_result and not m.parent_tool_use_id]
    equal((told["status"], told["agentType"], told["content"][0]["text"]), ("completed", "looker", "It is there."))
    equal(told["totalToolUseCount"], 1)
    # What the agent used is in the bill of the session, and no part of the conversation.
    (used,) = end.model_usage.values()
    equal((used["inputTokens"], end.usage["input_tokens"]), (40, 20))
    assert end.total_cost_usd == used["costUSD"] > 0, end
    equal(end.num_turns, 2)


@test
async def what_an_agent_says_is_told_if_the_host_wants_it(world):
    script = play(agent([{"thinking": "Hm."}, {"text": "I look."}, *tool("Bash", command="true")], text("Nothing.")), text("Done."))
    for wanted in (False, True):
        options = waiting(world, allowed_tools=["Bash"], forward_subagent_text=wanted, include_partial_messages=True)
        messages = await collect(query(prompt=script, options=options))
        nested = below(messages)
        said = [block.text for block in blocks(nested, TextBlock)], [block.thinking for block in blocks(nested, ThinkingBlock)]
        equal(said, (["I look.", "Nothing."], ["Hm."]) if wanted else ([], []))
        equal(result(messages).result, "Done.")
        streamed = [m for m in messages if type(m).__name__ == "StreamEvent"]
        assert streamed and not any(m.parent_tool_use_id for m in streamed), streamed


@test
async def hooks_know_the_agent(world):
    context = {"hookSpecificOutput": {"hookEventName": "SubagentStart", "additionalContext": "The wind is cold."}}
    again = [{"decision": "block", "reason": "Look once more."}]
    callbacks = Callbacks(SubagentStart=context, SubagentStop=again)
    events = ["PreToolUse", "PostToolUse", "SubagentStart", "SubagentStop", "Stop", "UserPromptSubmit"]
    script = play(agent(tool("Bash", command="true"), text("Nothing."), TEXTS), RESULTS)
    options = waiting(world, allowed_tools=["Bash"], hooks=callbacks.hooks(*events))
    end = result(await collect(query(prompt=script, options=options)))
    contains(end.result, "The wind is cold.")
    contains(end.result, "Look once more.")
    (start,), (first, last) = callbacks.of("SubagentStart"), callbacks.of("SubagentStop")
    identity = start["agent_id"], start["agent_type"]
    assert identity[0] and identity[1] == "looker", start
    for event in ("PreToolUse", "PostToolUse"):
        found = {given["tool_name"]: (given.get("agent_id"), given.get("agent_type")) for given in callbacks.of(event)}
        equal(found, {"Agent": (None, None), "Bash": identity})
    for stop, active, said in ((first, False, "Nothing."), (last, True, None)):
        equal((stop["agent_id"], stop["agent_type"], stop["stop_hook_active"]), (*identity, active))
        assert said in (None, stop["last_assistant_message"]), stop
    # The one conversation is written where hooks are told, the other beside it.
    log, own = start["transcript_path"], last["agent_transcript_path"]
    equal(own, os.path.join(log.removesuffix(".jsonl"), "subagents", f"agent-{identity[0]}.jsonl"))
    with open(own) as file:
        lines = [json.loads(line) for line in file]
    assert all(line["isSidechain"] for line in lines if line["type"] in ("user", "assistant")), lines
    # Only the prompt of the user and the end of the session's own run are such.
    equal((len(callbacks.of("UserPromptSubmit")), len(callbacks.of("Stop"))), (1, 1))


@test
async def hooks_of_one_type_of_agent_only(world):
    script = play(agent(text("One.")), agent(text("Two."), kind="Explore"), text("Done."))
    callbacks = Callbacks()
    hooks = callbacks.hooks("SubagentStart", "SubagentStop", matcher="Explore") | callbacks.hooks("PreToolUse", matcher="Task")
    await collect(query(prompt=script, options=waiting(world, hooks=hooks)))
    for event in ("SubagentStart", "SubagentStop"):
        equal([given["agent_type"] for given in callbacks.of(event)], ["Explore"])
    equal([given["tool_name"] for given in callbacks.of("PreToolUse")], ["Agent", "Agent"])


@test
async def questions_name_the_agent(world):
    asked = []

    async def decide(name, given, context):
        asked.append((name, given["command"], context.agent_id, context.tool_use_id))
        return PermissionResultDeny(message="not this") if "not" in given["command"] else PermissionResultAllow()

    callbacks = Callbacks()
    steps = [tool("Bash", command="touch a"), tool("Bash", command="touch not"), RESULTS]
    script = play(agent(*steps), tool("Bash", command="touch own"), text("Done."))
    options = waiting(world, can_use_tool=decide, hooks=callbacks.hooks("SubagentStart"))
    messages = await collect(query(prompt=script, options=options))
    (start,) = callbacks.of("SubagentStart")
    agent_id = start["agent_id"]
    equal([name for name, *_ in asked], ["Bash"] * 3)
    equal([who for *_, who, _ in asked], [agent_id, agent_id, None])
    equal([call for *_, call in asked], [block.id for block in calls(messages, "Bash")])
    equal(world.files(), ["a", "own"])
    contains(str(blocks(messages, ToolResultBlock)), "not this")
    # Whose denial it was, the session's result does not hide.
    options = waiting(world, disallowed_tools=["Bash(touch b)"], allowed_tools=["Bash"])
    messages = await collect(query(prompt=play(agent(tool("Bash", command="touch b"), RESULTS), text("Done.")), options=options))
    (denied,) = system(messages, "permission_denied")
    (nested,) = list_agents(world, result(messages).session_id)
    equal((denied.data["tool_name"], denied.data["agent_id"]), ("Bash", nested))


@test
async def questions_come_after_what_they_are_about(world):
    """A host that is asked about a call of an agent has seen it, below the call that started the agent."""
    world.env["CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"] = "1"
    host = Host(world, *ASKING)
    events = ("PreToolUse", "SubagentStart")
    hooks = {event: [{"matcher": None, "hookCallbackIds": [event]}] for event in events}
    host.send(control("initialize", id="i", hooks=hooks))
    for _ in range(5):
        many = [block for n in range(8) for block in tool("Bash", command=f"true > made{n}")]
        given = [agent(many, text("Done."), kind="general-purpose")[0] for _ in range(2)]
        host.send(user(play(given, text("end"))))
        told, agents, asked = {}, {}, 0
        while True:
            frame = host.next(lambda _: True, "frame")
            if frame["type"] == "assistant":
                ids = {block["id"] for block in frame["message"]["content"] if block["type"] == "tool_use"}
                told.setdefault(frame["parent_tool_use_id"], set()).update(ids)
                if frame["parent_tool_use_id"]:
                    agents.setdefault(frame["agent_id"], frame["parent_tool_use_id"])
            elif frame["type"] == "control_request":
                request = frame["request"]
                given = request.get("input", {})
                if request["subtype"] == "hook_callback" and given["hook_event_name"] == "PreToolUse":
                    who = given.get("agent_id")
                    assert request["tool_use_id"] in told[agents[who] if who else None], f"a hook came before its call: {frame}"
                elif request["subtype"] == "can_use_tool":
                    assert request["tool_use_id"] in told[agents[request["agent_id"]]], f"asked before its call: {frame}"
                    asked += 1
                allow = {"behavior": "allow", "updatedInput": given}
                host.send(answer(frame, allow if request["subtype"] == "can_use_tool" else {}))
            elif frame["type"] == "result":
                break
        equal((asked, len(agents)), (16, 2))
    host.close_input()
    equal(host.exit(), 0)


def list_agents(world, session):
    """The agents of a session, as the SDK finds them."""
    os.environ["CLAUDE_CONFIG_DIR"] = world.env["CLAUDE_CONFIG_DIR"]
    try:
        return list_subagents(session, directory=world.cwd)
    finally:
        del os.environ["CLAUDE_CONFIG_DIR"]


def agent_messages(world, session, agent_id):
    os.environ["CLAUDE_CONFIG_DIR"] = world.env["CLAUDE_CONFIG_DIR"]
    try:
        return get_subagent_messages(session, agent_id, directory=world.cwd)
    finally:
        del os.environ["CLAUDE_CONFIG_DIR"]


@test
async def conversations_of_agents_are_found(world):
    inner = agent(text("Deep."), kind="Explore")
    script = play(agent(inner, text("It is deep."), kind="general-purpose"), text("Done."))
    messages = await collect(query(prompt=script, options=waiting(world)))
    outer_call, inner_call = calls(messages, "Agent")
    (nested,) = [m for m in below(messages) if isinstance(m, AssistantMessage)]
    equal((nested.parent_tool_use_id, nested.content[0].id), (outer_call.id, inner_call.id))
    session = result(messages).session_id
    found = {agent_id: agent_messages(world, session, agent_id) for agent_id in list_agents(world, session)}
    equal(len(found), 2)
    parents = sorted((m[0].parent_tool_use_id, m[0].parent_agent_id is None) for m in found.values())
    equal(parents, sorted([(outer_call.id, True), (inner_call.id, False)]))
    contains(str([m.message for m in next(m for m in found.values() if m[0].parent_agent_id)]), "Deep.")


@test
async def rules_forbid_agents(world):
    for rule, expected in (("Agent(looker)", [True, False]), ("Task(looker)", [True, False]), ("Agent(Explore)", [False, True])):
        script = play(agent(text("One.")), agent(text("Two."), kind="Explore"), RESULTS)
        messages = await collect(query(prompt=script, options=waiting(world, disallowed_tools=[rule])))
        equal((rule, [bool(block.is_error) for block in blocks(messages, ToolResultBlock)]), (rule, expected))
    # Without the tool there are no agents.
    for more in ({"disallowed_tools": ["Task"]}, {"disallowed_tools": ["Agent"]}, {"tools": ["Read", "Bash"]}):
        messages = await collect(query(prompt=play([{"say": "tools"}]), options=waiting(world, **more)))
        (init,) = system(messages, "init")
        equal((more, "Task" in init.data["tools"], init.data["agents"]), (more, False, []))
        assert "Agent" not in result(messages).result.split(","), more


@test
async def the_host_is_told_which_agents_there_are(world):
    agents = looker(model="haiku") | {"Explore": AgentDefinition(description="Mine", prompt="x")}
    async with client(world, agents=agents) as host:
        listed = {one["name"]: one for one in (await host.get_server_info())["agents"]}
        equal(sorted(listed), sorted([*BUILT_IN, "looker"]))
        equal((listed["looker"]["description"], listed["looker"]["model"]), ("Looks", "haiku"))
        equal(listed["Explore"]["description"], "Mine")
        assert all(one["description"] for one in listed.values()), listed
    async with client(world, agents=agents, tools=["Read"]) as host:
        equal((await host.get_server_info())["agents"], [])


@test
async def an_agent_works_in_the_background(world):
    steps = [tool("Bash", command=waits_for("go")), tool("Read", file_path=world.path("go")), text("It went.")]
    script = play(agent(*steps), text("It looks."), TEXTS)
    messages, results = [], []
    async for message in query(prompt=script, options=world.options(agents=looker(), allowed_tools=["Bash"])):
        messages.append(message)
        if isinstance(message, ResultMessage):
            results.append(message)
            world.write("go", "now")
    first, second = results
    equal((first.result, first.origin), ("It looks.", None))
    equal(second.origin, {"kind": "task-notification"})
    contains(second.result, "It went.")
    (call,) = calls(messages, "Agent")
    (started,), (ended,) = of(messages, TaskStartedMessage), of(messages, TaskNotificationMessage)
    equal((started.description, started.task_type, started.tool_use_id), ("Look around", "local_agent", call.id))
    equal((started.data["subagent_type"], started.data["is_backgrounded"]), ("looker", True))
    equal((ended.task_id, ended.tool_use_id, ended.status), (started.task_id, call.id, "completed"))
    equal(set(ended.usage), USAGE)
    equal((ended.usage["tool_uses"], ended.usage["total_tokens"]), (2, 51))
    with open(ended.output_file) as file:
        contains(file.read(), "It went.")
    progress = of(messages, TaskProgressMessage)
    assert progress and set(progress[-1].usage) == USAGE, progress
    equal((progress[-1].last_tool_name, progress[-1].task_id), ("Read", started.task_id))
    equal(progress[-1].data["subagent_type"], "looker")
    # It has the id of its task, and its messages are below the call that began it.
    equal(list_agents(world, second.session_id), [started.task_id])
    assert below(messages) and all(m.parent_tool_use_id == call.id for m in below(messages))
    changes = [[task["task_id"] for task in m.data["tasks"]] for m in system(messages, "background_tasks_changed")]
    equal(changes, [[started.task_id], []])
    equal(len(system(messages, "init")), 2)
    # The second bill holds what the agent used: three messages of the session, three of the agent.
    (used,) = second.model_usage.values()
    equal((used["inputTokens"], second.usage["input_tokens"]), (60, 10))


@test
async def callbacks_are_asked_while_it_works_in_the_background(world):
    asked = []

    async def decide(name, given, context):
        asked.append((given["command"], context.agent_id))
        return PermissionResultAllow()

    callbacks = Callbacks()
    steps = [tool("Bash", command=waits_for("go")), tool("Bash", command="touch made"), text("It is made.")]
    script = play(agent(*steps), text("It looks."), text("Thanks."))
    options = world.options(agents=looker(), can_use_tool=decide, hooks=callbacks.hooks("PostToolUse", "SubagentStop"))
    results, agents = [], set()
    async for message in query(prompt=script, options=options):
        if isinstance(message, TaskStartedMessage):
            agents.add(message.task_id)
        if isinstance(message, ResultMessage):
            results.append(message.result)
            world.write("go", "")
    equal(results, ["It looks.", "Thanks."])
    equal([command for command, _ in asked], [waits_for("go"), "touch made"])
    equal({who for _, who in asked}, agents)
    equal([given["agent_id"] for given in callbacks.of("SubagentStop")], list(agents))
    equal([given["tool_name"] for given in callbacks.of("PostToolUse")], ["Agent", "Bash", "Bash"])


@test
async def the_host_stops_an_agent(world):
    async with client(world, agents=looker(), allowed_tools=["Bash"]) as host:
        await host.query(play(agent(tool("Bash", command="touch begun; sleep 60")), text("It looks.")))
        messages = await collect(host.receive_response())
        (started,) = of(messages, TaskStartedMessage)
        await until(lambda: "begun" in world.files(), what="the command")
        await host.stop_task(started.task_id)
        async for message in host.receive_messages():
            if isinstance(message, TaskNotificationMessage):
                break
        equal((message.task_id, message.status), (started.task_id, "stopped"))
        await until(lambda: not common.processes("sleep 60", world.root), what="the end of the command")
        contains((await say(host, play(TEXTS))).result, "<status>stopped</status>")


@test
async def stopping_an_agent_takes_its_question_back(world):
    asked, given_up = asyncio.Event(), asyncio.Event()

    async def decide(*_):
        asked.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            given_up.set()
            raise

    async with client(world, agents=looker(), can_use_tool=decide) as host:
        await host.query(play(agent(tool("Bash", command="touch a")), text("It looks.")))
        (started,) = of(await collect(host.receive_response()), TaskStartedMessage)
        await asyncio.wait_for(asked.wait(), 20)
        await host.stop_task(started.task_id)
        await asyncio.wait_for(given_up.wait(), 10)
        equal(world.files(), [])


@test
async def an_interrupt_stops_what_a_call_waits_for(world):
    options = waiting(world, allowed_tools=["Bash"])
    async with common.ClaudeSDKClient(options) as host:
        await host.query(play(agent(tool("Bash", command="touch begun; sleep 60"), text("never")), text("never")))
        await until(lambda: "begun" in world.files(), what="the command")
        await host.interrupt()
        messages = await collect(host.receive_response())
        end = result(messages)
        equal((end.subtype, end.is_error), ("error_during_execution", True))
        await until(lambda: not common.processes("sleep 60", world.root), what="the end of the command")
        equal((await say(host, play(text("And on.")))).result, "And on.")


@test
async def an_interrupt_leaves_agents_in_the_background_and_their_questions_alone(world):
    host = Host(world, *ASKING, *BASH)
    host.send(control("initialize", "i", agents={"looker": {"description": "Looks", "prompt": "x"}}))
    host.answered("i")
    write = tool("Write", file_path=world.path("made"), content="x")
    host.send(user(play(agent(write, text("It is made.")), tool("Bash", command="touch begun; sleep 60"))))
    question = host.asked()
    equal(question["request"]["tool_name"], "Write")
    assert question["request"]["agent_id"], question
    await until(lambda: "begun" in world.files(), what="the command")
    host.send(control("interrupt", "stop"))
    cancelled = []
    holds = lambda line: cancelled.append(line["type"]) or line["type"] == "result"
    equal(host.next(holds, "result")["subtype"], "error_during_execution")
    assert "control_cancel_request" not in cancelled, cancelled
    host.send(answer(question, {"behavior": "allow"}))
    ended = host.next(lambda line: line.get("subtype") == "task_notification", "the end of the agent")
    equal((ended["status"], world.read("made")), ("completed", "x"))
    equal(host.result()["origin"], {"kind": "task-notification"})
    host.close_input()
    host.exit()


@test
async def an_interrupt_leaves_tools_of_the_host_that_an_agent_calls(world):
    entered, let_go = asyncio.Event(), asyncio.Event()

    @sdk_tool("wait", "Waits.", {})
    async def wait(_):
        entered.set()
        await let_go.wait()
        return {"content": [{"type": "text", "text": "It came."}]}

    servers = {"host": create_sdk_mcp_server(name="host", tools=[wait])}
    more = {"agents": looker(), "mcp_servers": servers, "allowed_tools": ["mcp__host__wait", "Bash"]}
    async with client(world, **more) as host:
        steps = [tool("mcp__host__wait"), RESULTS]
        await host.query(play(agent(*steps), tool("Bash", command="touch begun; sleep 60")))
        await asyncio.wait_for(entered.wait(), 20)
        await until(lambda: "begun" in world.files(), what="the command")
        await host.interrupt()
        equal(result(await collect(host.receive_response())).subtype, "error_during_execution")
        let_go.set()
        messages = await collect(host.receive_response())
        (ended,) = of(messages, TaskNotificationMessage)
        equal((ended.status, result(messages).origin), ("completed", {"kind": "task-notification"}))
        (answered,) = [block for block in blocks(messages, ToolResultBlock)]
        contains(str(answered.content), "It came.")


@test
async def a_cleared_session_takes_its_agents_along(world):
    host = Host(world, *ASKING)
    host.send(user(play(agent(tool("Bash", command="touch a"), kind="general-purpose"), text("It looks."))))
    question = host.asked()
    host.send(user("/clear"))
    holds = lambda line: line["type"] == "control_cancel_request" and line["request_id"] == question["request_id"]
    host.next(holds, "the end of the question")
    host.send(user(play([{"say": "texts"}])))
    seen = []
    host.next(lambda line: seen.append(line) or line["type"] == "result" and line["num_turns"] == 1 and "It" not in line["result"], "the last result")
    # What an agent of the old session was asked is no matter of the new one.
    host.send(answer(question, {"behavior": "allow"}), user(play(text("Next."))))
    equal(host.result()["result"], "Next.")
    host.close_input()
    equal((host.exit(), world.files()), (0, []))


@test
async def the_session_is_not_idle_while_an_agent_works(world):
    world.env["CLAUDE_CODE_SDK_READS_SESSION_STATE"] = "1"
    for stopped in (False, True):
        host = Host(world, *ASKING)
        states = []

        def heard(line, states=states):
            message = json.loads(line)
            if message.get("subtype") == "session_state_changed":
                states.append(message["state"])
            if message["type"] == "result":
                states.append("result")

        host.heard = heard
        host.send(user(play(agent(tool("Bash", command="touch a"), text("Made."), kind="general-purpose"), text("It looks."), text("Ok."))))
        started = host.next(lambda line: line.get("subtype") == "task_started", "the start of the agent")
        question = host.asked()
        if "result" not in states:
            host.result()
        if stopped:
            host.send(control("stop_task", "s", task_id=started["task_id"]))
        else:
            host.send(answer(question, {"behavior": "allow"}))
            host.result()
        host.next(lambda line: line.get("state") == "idle", "idle")
        results = 1 if stopped else 2
        equal((states.count("result"), states.count("idle")), (results, 1))
        assert "requires_action" in states and states[-1] == "idle", states
        host.close_input()
        equal(host.exit(), 0)


@test
async def the_end_of_the_input_waits_for_an_agent(world):
    host = Host(world, *BASH)
    host.send(user(play(agent(tool("Bash", command="sleep 0.4"), text("Slept."), kind="general-purpose"), text("It sleeps."), TEXTS)))
    host.close_input()
    equal(host.result()["result"], "It sleeps.")
    contains(host.result()["result"], "Slept.")
    equal(host.exit(), 0)


@test
async def a_limit_of_money_counts_agents(world):
    # A model that has a price; each of its messages is said to use a million tokens.
    dear = [{"usage": {"input_tokens": 1_000_000}}, {"text": "I looked."}]
    more = {"model": "claude-sonnet-4-5", "max_budget_usd": 2.0}
    script = play(agent(dear), text("never"))
    _, error = await common.failing(query(prompt=script, options=waiting(world, **more)))
    contains(error, "budget")


@test
async def print_mode_shows_what_agents_do(world):
    env = {"PATH": os.environ["PATH"], **world.env}
    script = play(agent(tool("Bash", command="echo hi"), text("I am the agent."), kind="general-purpose"), text("I am the session."))

    def run(*flags):
        return subprocess.run(
            [CLI, "-p", script, "--allowedTools", "Bash", *flags],
            cwd=world.cwd, env=env, capture_output=True, text=True, timeout=30,
        )

    ran = run("--verbose")
    equal((ran.returncode, ran.stdout), (0, "I am the session.\n"))
    contains(ran.stderr, "  general-purpose: ● $ echo hi\n")
    equal(json.loads(run("--output-format", "json").stdout)["result"], "I am the session.")
    lines = [json.loads(line) for line in run("--output-format", "stream-json").stdout.splitlines()]
    equal([line["type"] for line in lines].count("result"), 1)
    nested = [line for line in lines if line.get("parent_tool_use_id")]
    equal([line["message"]["content"][0]["type"] for line in nested], ["tool_use", "tool_result"])
    assert all(line["agent_id"] and line["subagent_type"] == "general-purpose" for line in nested), nested


if __name__ == "__main__":
    common.main()
