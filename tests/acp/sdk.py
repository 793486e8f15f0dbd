"""The Python SDK drives the agent: `sdk.py WINDLASS LOG`."""

import asyncio
import json
import os
import sys
import traceback

from acp import spawn_agent_process
from acp.schema import (
    AcceptElicitationResponse,
    AllowedOutcome,
    ClientCapabilities,
    EmbeddedResourceContentBlock,
    Implementation,
    McpServerStdio,
    ReadTextFileResponse,
    RequestPermissionResponse,
    TextContentBlock,
    TextResourceContents,
)
from common import Place, equal, play, tapped, text, tool

WINDLASS, LOG = sys.argv[1:3]


class Editor:
    """A client that keeps all updates and answers questions by kind."""

    def __init__(self):
        self.updates, self.asked, self.kind = [], [], "allow_once"
        # Changes that are not saved, by path; paths that were read; forms that were shown, and the answer to them.
        self.buffers, self.read, self.forms, self.values = {}, [], [], {}

    async def session_update(self, session_id, update, **_):
        self.updates.append((session_id, update))

    async def request_permission(self, session_id, tool_call, options, **_):
        self.asked.append((tool_call, options))
        chosen = next(option for option in options if option.kind == self.kind)
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen.option_id))

    async def read_text_file(self, session_id, path, **_):
        self.read.append(path)
        if path in self.buffers:
            return ReadTextFileResponse(content=self.buffers[path])
        with open(path) as file:
            return ReadTextFileResponse(content=file.read())

    async def create_elicitation(self, message, mode, **_):
        self.forms.append((message, mode))
        return AcceptElicitationResponse(action="accept", content=self.values)

    def on_connect(self, conn):
        pass

    def take(self):
        taken, self.updates = self.updates, []
        return [update for _, update in taken]


def said(updates):
    return "".join(u.content.text for u in updates if u.session_update == "agent_message_chunk")


def kinds(updates):
    return [update.session_update for update in updates]


def prompt(words):
    return [TextContentBlock(type="text", text=words)]


async def turns(place, editor, agent):
    session = await agent.new_session(cwd=place.cwd, mcp_servers=[])
    place.write("a.txt", "one\ntwo\n")
    script = play(
        [{"thinking": "hm"}, *text("Looking."), *tool("Read", file_path=place.path("a.txt"))],
        tool("Edit", file_path=place.path("a.txt"), old_string="two", new_string="three"),
        tool("TodoWrite", todos=[{"content": "x", "status": "in_progress", "activeForm": "xing"}]),
        tool("Bash", command="touch made"),
        text("Done."),
    )
    answer = await agent.prompt(session_id=session.session_id, prompt=prompt(script))
    equal(answer.stop_reason, "end_turn")
    updates = editor.take()
    for kind in ["available_commands_update", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"]:
        assert kind in kinds(updates), (kind, kinds(updates))
    assert said(updates).endswith("Done."), said(updates)
    equal(place.read("a.txt"), "one\nthree\n")
    edits = [u for u in updates if u.session_update == "tool_call_update" and u.content and u.content[0].type == "diff"]
    equal((edits[-1].content[0].old_text, edits[-1].content[0].new_text), ("one\ntwo\n", "one\nthree\n"))
    equal([call.kind for call, _ in editor.asked], ["edit", "execute"])
    equal(sorted({option.kind for option in editor.asked[0][1]}), ["allow_always", "allow_once", "reject_always", "reject_once"])
    return session.session_id


async def lasting(place, editor, agent):
    session = (await agent.new_session(cwd=place.cwd, mcp_servers=[])).session_id
    editor.asked, editor.kind = [], "allow_always"
    script = play(tool("Bash", command="touch b"), tool("Bash", command="touch b"), text("ok"))
    await agent.prompt(session_id=session, prompt=prompt(script))
    equal(len(editor.asked), 1)
    editor.asked, editor.kind = [], "reject_once"
    script = play(tool("Bash", command="touch c"), text("ok"))
    await agent.prompt(session_id=session, prompt=prompt(script))
    equal(len(editor.asked), 1)
    editor.kind = "allow_once"
    editor.take()


async def cancelled(place, editor, agent):
    session = (await agent.new_session(cwd=place.cwd, mcp_servers=[])).session_id
    running = asyncio.ensure_future(agent.prompt(session_id=session, prompt=prompt(play(tool("Bash", command="sleep 60")))))
    while not any(u.session_update == "tool_call_update" and u.status == "in_progress" for _, u in editor.updates):
        await asyncio.sleep(0.01)
    await agent.cancel(session_id=session)
    equal((await asyncio.wait_for(running, 10)).stop_reason, "cancelled")
    editor.take()
    answer = await agent.prompt(session_id=session, prompt=prompt(play(text("again"))))
    equal((answer.stop_reason, said(editor.take())), ("end_turn", "again"))


async def stored(place, editor, agent, session):
    listed = await agent.list_sessions(cwd=place.cwd)
    assert session in [entry.session_id for entry in listed.sessions], listed
    await agent.close_session(session_id=session)
    editor.take()
    loaded = await agent.load_session(cwd=place.cwd, session_id=session, mcp_servers=[])
    updates = editor.take()
    equal(kinds(updates)[0], "user_message_chunk")
    assert said(updates).endswith("Done."), said(updates)
    assert loaded.modes.current_mode_id == "default", loaded
    answer = await agent.prompt(session_id=session, prompt=prompt(play([{"say": "texts"}])))
    equal(answer.stop_reason, "end_turn")
    await agent.close_session(session_id=session)
    editor.take()
    await agent.resume_session(cwd=place.cwd, session_id=session, mcp_servers=[])
    assert "user_message_chunk" not in kinds(editor.take()), "no history"
    await agent.close_session(session_id=session)
    try:
        await asyncio.wait_for(agent.load_session(cwd=place.cwd, session_id="0" * 8 + "-0000-4000-8000-" + "0" * 12, mcp_servers=[]), 5)
    except Exception as error:
        assert "-32002" in repr(getattr(error, "code", error)), error
    else:
        raise AssertionError("an unknown session was loaded")


async def settings(place, editor, agent):
    session = (await agent.new_session(cwd=place.cwd, mcp_servers=[])).session_id
    await agent.set_session_mode(session_id=session, mode_id="plan")
    answer = await agent.set_config_option(config_id="model", session_id=session, value="opus")
    options = {option.id: option.current_value for option in answer.config_options}
    equal((options["mode"], options["model"]), ("plan", "opus"))
    await agent.set_session_mode(session_id=session, mode_id="default")
    answer = await agent.prompt(session_id=session, prompt=prompt(play([{"say": "model"}])))
    assert "opus" in said(editor.take()), "the model is another one"


async def resources(place, editor, agent):
    session = (await agent.new_session(cwd=place.cwd, mcp_servers=[])).session_id
    resource = TextResourceContents(uri="file:///x/notes.md", text="the secret word is plum")
    blocks = [*prompt(play([{"say": "messages"}])), EmbeddedResourceContentBlock(type="resource", resource=resource)]
    await agent.prompt(session_id=session, prompt=blocks)
    assert "plum" in said(editor.take()), "the model does not read the resource"


async def buffers(place, editor, agent):
    """Changes that are not saved are read, never overwritten, and no denied path reaches the editor."""
    for name in ["open.txt", ".env", "denied.txt"]:
        place.write(name, "disk\n")
    os.makedirs(place.path(".windlass"), exist_ok=True)
    place.write(".windlass/settings.json", json.dumps({"permissions": {"deny": ["Read(denied.txt)"]}}))
    session = (await agent.new_session(cwd=place.cwd, mcp_servers=[])).session_id
    opened = place.path("open.txt")
    editor.buffers, editor.read = {opened: "unsaved\n"}, []
    reads = [tool("Read", file_path=place.path(name))[0] for name in ["open.txt", ".env", "denied.txt"]]
    edit = tool("Edit", file_path=opened, old_string="unsaved", new_string="edited")
    write = tool("Write", file_path=opened, content="written")
    script = play(reads, edit, write, [{"say": "messages"}])
    await agent.prompt(session_id=session, prompt=prompt(script))
    seen = said(editor.take())
    assert "unsaved" in seen, seen
    assert "has changes in the editor that are not saved" in seen, seen
    equal(place.read("open.txt"), "disk\n")
    equal({os.path.basename(path) for path in editor.read} - {"settings.json"}, {"open.txt"})
    # Once it is saved, it can be edited.
    editor.buffers = {}
    place.write("open.txt", "unsaved\n")
    await agent.prompt(session_id=session, prompt=prompt(play(tool("Read", file_path=opened), edit, text("ok"))))
    equal(place.read("open.txt"), "edited\n")
    editor.take()


async def questions(place, editor, agent):
    """Questions of the model and of an MCP server are forms of the editor."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hosts", "programs", "server.py")
    server = McpServerStdio(name="colours", command=sys.executable, args=[program, "colours"], env=[])
    session = (await agent.new_session(cwd=place.cwd, mcp_servers=[server])).session_id
    options = [{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}]
    asked = {"question": "Which colour?", "header": "Colour", "options": options, "multiSelect": False}
    editor.forms, editor.values = [], {"question1": "Blue", "colour": "green"}
    script = play(tool("AskUserQuestion", questions=[asked]), tool("mcp__colours__ask"), [{"say": "messages"}])
    await agent.prompt(session_id=session, prompt=prompt(script))
    seen = said(editor.take())
    equal(len(editor.forms), 2)
    assert "Which colour?: Blue" in seen and "green" in seen, seen
    assert "colours" in editor.forms[1][0], editor.forms


async def main():
    place, editor = Place(), Editor()
    place.settings(enabledMcpjsonServers=["colours"])
    command, *args = tapped(WINDLASS, LOG)
    failed = 0
    capabilities = ClientCapabilities.model_validate(
        {
            "session": {"notices": {}, "compaction": {}},
            "fs": {"readTextFile": True},
            "elicitation": {"form": {}},
            "auth": {"terminal": True},
        }
    )
    # The SDK counts forms as unstable.
    spawned = spawn_agent_process(editor, command, *args, env=place.env, cwd=place.root, use_unstable_protocol=True)
    async with spawned as (agent, process):
        started = await agent.initialize(
            protocol_version=1, client_capabilities=capabilities, client_info=Implementation(name="suite", version="1")
        )
        methods = [method.id for method in started.auth_methods]
        equal(methods, ["api-key", "login"])
        equal((started.protocol_version, started.agent_info.name), (1, "windlass"))
        session = None
        for name in ["turns", "lasting", "cancelled", "stored", "settings", "resources", "buffers", "questions"]:
            try:
                more = [session] if name == "stored" else []
                made = await asyncio.wait_for(globals()[name](place, editor, agent, *more), 30)
                session = made or session
                print(f"python {name} ok")
            except Exception:
                failed += 1
                print(f"python {name} FAILED")
                traceback.print_exc()
    place.close()
    return failed


if __name__ == "__main__":
    sys.exit(bool(asyncio.run(main())))
