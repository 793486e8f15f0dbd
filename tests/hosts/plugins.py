"""Plugins and the MCP servers that files define, through the Python Agent SDK. Usage: plugins.py WINDLASS [NAME ..]"""

import json
import os
import sys

import common
from claude_agent_sdk import ToolResultBlock, create_sdk_mcp_server, query
from claude_agent_sdk import tool as mcp_tool
from common import blocks, client, collect, contains, equal, framed, play, result, system, test, text, tool
from raw import Host, control, user

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "server.py")


def server(*args, **more):
    return {"command": sys.executable, "args": [PROGRAM, *args], **more}


def put(world, name, content):
    """Writes a file beside the working directory."""
    path = os.path.join(world.root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(content if isinstance(content, str) else json.dumps(content))
    return path


def kit(world, **manifest):
    """A plugin with one of each component that is supported."""
    put(world, "kit/.claude-plugin/plugin.json", {"name": "kit", "version": "1.2.0", **manifest})
    put(world, "kit/commands/hello.md", "---\ndescription: Says hello\n---\nHello $1 at ${CLAUDE_PLUGIN_ROOT}. " + play([{"say": "texts"}]))
    put(world, "kit/agents/reader.md", "---\nname: reader\ndescription: Reads\ntools: Read\npermissionMode: bypassPermissions\n---\nYou only read.\n")
    put(world, "kit/.mcp.json", {"mcpServers": {"files": server("${KIT_NAME:-kits}", env={"AT": "${CLAUDE_PLUGIN_ROOT}/data"})}})
    return {"type": "local", "path": os.path.join(world.root, "kit")}


def first(messages):
    return system(messages, "init")[0].data


def servers(messages):
    return {one["name"]: (one["status"], one["source"]) for one in first(messages)["mcp_servers"]}


async def ask(world, prompt, **more):
    return await collect(query(prompt=prompt, options=world.options(**more)))


@test
async def a_plugin_joins_the_session(world):
    plugin = kit(world)
    async with client(world, plugins=[plugin]) as one:
        info = await one.get_server_info()
        contains(info["agents"], {"name": "kit:reader", "description": "Reads"})
        hello = next(each for each in info["commands"] if each["name"] == "kit:hello")
        equal(hello["description"], "Says hello (plugin)")
        await one.query("/kit:hello Ada")
        messages = await collect(one.receive_response())
        equal(result(messages).result.strip(), f"Hello Ada at {plugin['path']}.")
        init = first(messages)
        row = {"name": "kit", "path": plugin["path"], "source": "kit@inline", "version": "1.2.0"}
        equal(init["plugins"], [row])
        contains(init["slash_commands"], "kit:hello")
        equal(servers(messages), {"plugin:kit:files": ("connected", "plugin")})
        # What an agent of a plugin cannot have is said, and nothing else.
        equal([error["type"] for error in init["plugin_errors"]], ["component-load-failed"])
        contains(init["plugin_errors"][0]["message"], "permissionMode")


@test
async def a_server_of_a_plugin_runs_in_its_environment(world):
    more = {"plugins": [kit(world)], "allowed_tools": ["mcp__plugin_kit_files__env"]}
    messages = await ask(world, play(tool("mcp__plugin_kit_files__env"), [{"say": "results"}]), **more)
    env = json.loads(framed(result(messages).result))
    root = os.path.join(world.root, "kit")
    equal((env["CLAUDE_PLUGIN_ROOT"], env["AT"]), (root, root + "/data"))
    assert "ANTHROPIC_API_KEY" not in env, env
    # Without a rule it is asked about, and nobody answers.
    del more["allowed_tools"]
    messages = await ask(world, play(tool("mcp__plugin_kit_files__env"), text("x")), **more)
    assert blocks(messages, ToolResultBlock)[0].is_error, messages


@test
async def an_agent_of_a_plugin_can_be_the_session(world):
    more = {"plugins": [kit(world)], "extra_args": {"agent": "kit:reader"}}
    messages = await ask(world, play([{"say": "tools"}, {"text": " "}, {"say": "system"}]), **more)
    contains(result(messages).result, "Read")
    contains(result(messages).result, "You only read.")
    assert "Bash" not in result(messages).result, messages
    equal(first(messages)["permissionMode"], "default")


@test
async def the_model_can_give_a_task_to_an_agent_of_a_plugin(world):
    given = {"description": "Read", "subagent_type": "kit:reader", "run_in_background": False}
    given["prompt"] = play([{"say": "tools"}, {"say": "system"}])
    messages = await ask(world, play(tool("Agent", **given), [{"say": "results"}]), plugins=[kit(world)])
    contains(first(messages)["agents"], "kit:reader")
    # It has the one tool of its definition.
    equal(result(messages).result.split("\n")[0], "Read")
    contains(result(messages).result, "You only read.")


@test
async def what_is_wrong_with_plugins_is_said_and_nothing_of_it_runs(world):
    put(world, "kit/hooks/hooks.json", {"hooks": {"SessionStart": "touch hooked"}})
    put(world, "kit/skills/x/SKILL.md", "---\nname: x\n---\nx")
    put(world, "broken/.claude-plugin/plugin.json", "{")
    put(world, "twin/.claude-plugin/plugin.json", {"name": "kit"})
    paths = [os.path.join(world.root, name) for name in ("broken", "none", "twin")]
    plugins = [kit(world), *({"type": "local", "path": path} for path in paths)]
    messages = await ask(world, play(text("one")), plugins=plugins)
    equal(result(messages).result, "one")
    init = first(messages)
    equal([each["name"] for each in init["plugins"]], ["kit"])
    errors = {(error["plugin"], error["type"], error.get("path")) for error in init["plugin_errors"]}
    for expected in [
        ("kit", "component-load-failed", None),
        ("inline[1]", "manifest-validation-error", paths[0]),
        ("inline[2]", "path-not-found", paths[1]),
        ("inline[3]", "plugin-not-loaded", paths[2]),
    ]:
        contains(errors, expected)
    said = "".join(world.stderr)
    for part in ("SessionStart", paths[0]):
        contains(said, part)
    equal(world.files(), [])


@test
async def without_the_flag_nothing_of_a_plugin_is_there(world):
    kit(world)
    os.makedirs(world.path(".claude"))
    world.write(".claude/settings.json", json.dumps({"enabledPlugins": {"kit@x": True}}))
    messages = await ask(world, play([{"say": "tools"}]), setting_sources=["project"])
    init = first(messages)
    equal((init["plugins"], init["mcp_servers"], "plugin_errors" in init), ([], [], False))
    contains("".join(world.stderr), "enabledPlugins")


def project(world, name="tools", *, folder=""):
    """The project brings a server that leaves a mark when it is started."""
    mark = world.path("started")
    start = ["-c", f"open({mark!r}, 'w'); import runpy, sys; sys.argv = ['s']; runpy.run_path({PROGRAM!r}, run_name='x')"]
    entry = {"command": sys.executable, "args": start}
    path = os.path.join("work", folder, ".mcp.json")
    put(world, path, {"mcpServers": {name: entry}})
    return lambda: os.path.exists(mark)


@test
async def a_server_of_a_project_waits_for_trust(world):
    started = project(world)
    async with client(world) as one:
        await one.query(play(text("one")))
        messages = await collect(one.receive_response())
        equal(servers(messages), {"tools": ("disabled", "project")})
        [status] = (await one.get_mcp_status())["mcpServers"]
        equal((status["status"], status["scope"]), ("disabled", "project"))
        contains(status["error"], "windlass trust")
        await common.raises(one.toggle_mcp_server("tools", True), "windlass trust")
        await common.raises(one.reconnect_mcp_server("tools"), "windlass trust")
    assert not started(), "it was started"
    contains("".join(world.stderr), '"tools"')
    # Naming the source is trust for this run; so is wanting the server.
    messages = await ask(world, play(text("one")), setting_sources=["project"])
    equal(servers(messages), {"tools": ("connected", "project")})
    assert started()
    messages = await ask(world, play(text("one")), settings='{"enabledMcpjsonServers":["tools"]}')
    equal(servers(messages), {"tools": ("connected", "project")})
    # No other servers than those of the command line, and no other files than are wanted.
    more = {"setting_sources": ["project"], "strict_mcp_config": True}
    equal(servers(await ask(world, play(text("one")), **more)), {})
    equal(servers(await ask(world, play(text("one")), setting_sources=["user"])), {})


@test
async def a_repository_cannot_start_its_own_servers(world):
    wants = {"enabledMcpjsonServers": ["tools"], "enableAllProjectMcpServers": True}
    for folder in (".claude", ".windlass"):
        for name in ("settings.json", "settings.local.json"):
            put(world, f"work/{folder}/{name}", wants)
    started = project(world)
    # What it ships elsewhere does not count either.
    put(world, "work/.claude.json", {"projects": {world.cwd: {"hasTrustDialogAccepted": True}}})
    os.makedirs(world.path(".git"))
    messages = await ask(world, play(text("one")))
    equal(servers(messages), {"tools": ("disabled", "project")})
    assert not started(), "it was started"


@test
async def the_users_own_servers_and_those_of_the_host_count_for_more(world):
    @mcp_tool("mine", "Mine.", {})
    async def mine(_):
        return {"content": [{"type": "text", "text": "the host's"}]}

    sdk = create_sdk_mcp_server("tools", tools=[mine])
    started = project(world)
    home = os.path.join(world.env["CLAUDE_CONFIG_DIR"], ".claude.json")
    local = {"mcpServers": {"other": server("local")}, "hasTrustDialogAccepted": True}
    put(world, home, {"mcpServers": {"other": server("user"), "own": server()}, "projects": {world.cwd: local}})
    messages = await ask(world, play(text("one")), mcp_servers={"tools": sdk})
    expected = {"tools": ("connected", "sdk"), "other": ("connected", "local"), "own": ("connected", "user")}
    equal(servers(messages), expected)
    assert not started(), "it was started"
    messages = await ask(world, play(text("one")), mcp_servers={"own": {"type": "stdio", **server()}})
    equal(servers(messages), {**expected, "tools": ("connected", "project"), "own": ("connected", "dynamic")})


def answered(host, id, **more):
    host.send(control(id=id, **more))
    while True:
        message = host.lines.get(timeout=30)
        if message["type"] == "control_response" and message["response"]["request_id"] == id:
            return message["response"]


def init_of(host, prompt):
    """The `system/init` of a turn."""
    host.send(user(prompt))
    found = None
    while True:
        message = host.lines.get(timeout=30)
        if message.get("subtype") == "init":
            found = message
        if message["type"] == "result":
            return found


@test
async def plugins_are_loaded_again(world):
    plugin = kit(world)
    extra = put(world, "extra/commands/more.md", "More.")[: -len("/commands/more.md")]
    host = Host(world, "--plugin-dir", plugin["path"])
    answered(host, "i", subtype="initialize", hooks=None)
    init = init_of(host, play(text("one")))
    equal([each["name"] for each in init["plugins"]], ["kit"])
    put(world, "kit/commands/new.md", "New $1. " + play([{"say": "texts"}]))
    put(world, "kit/agents/writer.md", "---\nname: writer\ndescription: Writes\n---\nYou write.\n")
    reloaded = answered(host, "r", subtype="reload_plugins")["response"]
    names = [command["name"] for command in reloaded["commands"]]
    assert {"clear", "kit:hello", "kit:new"} <= set(names), names
    contains(reloaded["agents"], {"name": "kit:writer", "description": "Writes"})
    contains([agent["name"] for agent in reloaded["agents"]], "general-purpose")
    equal([(each["name"], each["source"]) for each in reloaded["plugins"]], [("kit", "kit@inline")])
    equal([(each["name"], each["status"]) for each in reloaded["mcpServers"]], [("plugin:kit:files", "connected")])
    equal(reloaded["error_count"], 1)
    contains(init_of(host, "/kit:new x")["slash_commands"], "kit:new")
    # The next session has the new agent.
    init_of(host, "/clear")
    given = {"description": "Write", "subagent_type": "kit:writer", "run_in_background": False, "prompt": play([{"say": "system"}])}
    host.send(user(play(tool("Agent", **given), [{"say": "results"}])))
    while (message := host.lines.get(timeout=30))["type"] != "result":
        pass
    contains(message["result"], "You write.")
    # A change of servers can be held.
    put(world, "kit/.mcp.json", {"mcpServers": {"others": server()}})
    held = answered(host, "h", subtype="reload_plugins", hold_on_cache_impact=True)["response"]
    impact = {"mcp_servers_added": ["plugin:kit:others"], "mcp_servers_removed": ["plugin:kit:files"], "lsp_tool_change": None}
    equal((held["held"], held["cache_impact"]), (True, impact))
    equal([each["name"] for each in held["mcpServers"]], ["plugin:kit:files"])
    add = [{"type": "local", "path": extra}]
    applied = answered(host, "a", subtype="reload_plugins", add_plugins=add)["response"]
    equal([each["name"] for each in applied["plugins"]], ["kit", "extra"])
    equal([each["name"] for each in applied["mcpServers"]], ["plugin:kit:others"])
    init = init_of(host, play([{"say": "tools"}]))
    equal([each["name"] for each in init["mcp_servers"]], ["plugin:kit:others"])
    contains(init["slash_commands"], "extra:more")
    for bad in ([{"type": "local", "path": "relative"}], [{"type": "remote", "path": "/x"}], [{"type": "local"}], 7):
        equal(answered(host, "b", subtype="reload_plugins", add_plugins=bad)["subtype"], "error")
    # What is broken later leaves the session as it is, without the plugin.
    put(world, "kit/.claude-plugin/plugin.json", "{")
    broken = answered(host, "x", subtype="reload_plugins")["response"]
    equal([each["name"] for each in broken["plugins"]], ["extra"])
    assert not any(agent["name"].startswith("kit:") for agent in broken["agents"]), broken["agents"]
    assert broken["error_count"] == 1 and broken["mcpServers"] == [], broken
    host.send(user(play(tool("Bash", command="sleep 0.3"), text("x"))))
    busy = answered(host, "y", subtype="reload_plugins", refuse_if_busy=True)
    equal((busy["subtype"], busy["error_code"]), ("error", "reload_plugins_busy"))
    host.process.stdin.close()
    equal(host.process.wait(30), 0)


common.main()
