"""Settings files, trust, kept permission updates and custom commands through the Python Agent SDK."""

import json
import os
import subprocess

import common
from claude_agent_sdk import PermissionResultAllow, PermissionUpdate, query
from claude_agent_sdk.types import PermissionRuleValue
from common import client, collect, contains, equal, play, raises, result, say, test, text, tool

TOUCH = "Bash(touch *)"


def put(world, name, content):
    """Writes a file below the world's root; anything but text as JSON."""
    path = os.path.join(world.root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(content if isinstance(content, str) else json.dumps(content))


def get(world, name):
    with open(os.path.join(world.root, name)) as file:
        return json.load(file)


def get_text(world, name):
    with open(os.path.join(world.root, name)) as file:
        return file.read()


def rules(**lists):
    return {"permissions": lists}


async def touches(world, **more):
    """Whether a run may touch a file."""
    script = play(tool("Bash", command="touch made"), text("ok"))
    denied = result(await collect(query(prompt=script, options=world.options(**more)))).permission_denials
    made = "made" in world.files()
    equal(bool(denied), not made)
    if made:
        os.remove(world.path("made"))
    return made


@test
async def a_project_counts_when_its_source_is_named(world):
    put(world, "work/.claude/settings.json", rules(allow=[TOUCH]))
    for sources, allowed in ((None, False), ([], False), (["user", "local"], False), (["user", "project"], True)):
        equal((sources, await touches(world, setting_sources=sources)), (sources, allowed))
    contains("".join(world.stderr), "without trust in the project: " + TOUCH)
    # What it forbids counts in any case, unless it is not read at all.
    put(world, "work/.claude/settings.json", rules(deny=[TOUCH]))
    for sources, allowed in ((None, False), (["project"], False), ([], True), (["user"], True)):
        equal((sources, await touches(world, setting_sources=sources, allowed_tools=["Bash"])), (sources, allowed))


@test
async def what_a_host_gives_reaches_commands_but_for_secrets_and_loaders(world):
    given = {
        "CI": "yes", "KUBECONFIG": "/k", "PYTHONPATH": "/p", "DATABASE_URL": "postgres://db",
        "GITHUB_TOKEN": "hunter2", "MY_API_KEY": "hunter2", "GIT_DIR": "/elsewhere", "TAR_OPTIONS": "--to-command=x",
    }
    put(world, "home/settings.json", {"env": {"COLOR": "red", "PGPASSWORD": "hunter2"}})
    script = play(tool("Bash", command="env"), [{"say": "results"}])
    options = world.options(allowed_tools=["Bash"], env={**world.env, **given})
    told = result(await collect(query(prompt=script, options=options))).result
    for part in ("CI=yes", "KUBECONFIG=/k", "PYTHONPATH=/p", "DATABASE_URL=postgres://db", "COLOR=red"):
        contains(told, part)
    for part in ("hunter2", "GIT_DIR", "TAR_OPTIONS", "ANTHROPIC_API_KEY"):
        assert part not in told, part
    contains("".join(world.stderr), "PGPASSWORD")


@test
async def variables_say_how_sessions_run(world):
    put(world, "home/settings.json", {"env": {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "9000"}, "model": "opus"})
    given = {
        "ANTHROPIC_MODEL": "sonnet", "ANTHROPIC_DEFAULT_SONNET_MODEL": "claude-sonnet-4-5", "MAX_THINKING_TOKENS": "2048",
        "BASH_DEFAULT_TIMEOUT_MS": "300", "CLAUDE_CODE_MAX_RETRIES": "many",
    }
    options = world.options(env={**world.env, **given}, allowed_tools=["Bash"])
    said = json.loads(result(await collect(query(prompt=play([{"say": "request"}]), options=options))).result)
    equal((said["model"], said["max_tokens"], said["thinking"]["budget_tokens"]), ("claude-sonnet-4-5", 9000, 2048))
    equal(len(said["metadata"]["user_id"]), 32)
    script = play(tool("Bash", command="sleep 60"), [{"say": "results"}])
    contains(result(await collect(query(prompt=script, options=options))).result, "ERROR")
    contains("".join(world.stderr), 'CLAUDE_CODE_MAX_RETRIES is "many"')


@test
async def the_model_is_told_where_it_works_with_every_system_prompt(world):
    git = ["git", "-C", world.cwd]
    subprocess.run([*git, "init", "-q", "-b", "trunk"], check=True)
    world.write("new.txt", "")
    for prompt in (None, "Own.", {"type": "preset", "preset": "claude_code"}):
        for trusted in (False, True):
            more = {"system_prompt": prompt, "setting_sources": ["project"] if trusted else []}
            told = result(await collect(query(prompt=play([{"say": "environment"}]), options=world.options(**more)))).result
            contains(told, f"Working directory: {world.cwd}\n")
            contains(told, "Platform: linux\nDate: 20")
            equal("Git branch: trunk\nGit status when the session began:\n?? new.txt" in told, trusted)
    script = play([{"say": "environment"}])
    told = result(await collect(query(prompt=script, options=world.options(permission_mode="plan")))).result
    contains(told, "Plan mode is on")


@test
async def a_project_that_the_user_trusts_counts(world):
    put(world, "work/.claude/settings.json", rules(allow=[TOUCH]))
    put(world, "home/.claude.json", {"projects": {world.cwd: {"hasTrustDialogAccepted": True}}})
    assert await touches(world)
    put(world, "home/.claude.json", {"projects": {world.root: {"hasTrustDialogAccepted": True}}})
    assert not await touches(world), "trust in the folder around it is none in it"


@test
async def the_user_counts_by_default(world):
    put(world, "home/settings.json", {**rules(allow=[TOUCH]), "model": "haiku"})
    assert await touches(world)
    assert not await touches(world, setting_sources=[])
    assert not await touches(world, setting_sources=["project", "local"])
    for sources, part in ((None, "haiku"), ([], "opus")):
        answer = result(await collect(query(prompt=play([{"say": "model"}]), options=world.options(setting_sources=sources))))
        contains(answer.result, part)


@test
async def settings_of_the_option(world):
    inline = json.dumps({**rules(allow=[TOUCH]), "model": "haiku", "env": {"GREETING": "hello"}})
    path = world.write("mine.json", inline)
    for given in (inline, path, "mine.json"):
        for sources in (None, []):
            assert await touches(world, settings=given, setting_sources=sources), given
        script = play(tool("Bash", command="echo $GREETING"), [{"say": "results"}, {"say": "model"}])
        answer = result(await collect(query(prompt=script, options=world.options(settings=given, allowed_tools=["Bash"]))))
        contains(answer.result, "haiku")
    put(world, "home/settings.json", rules(deny=[TOUCH]))
    assert not await touches(world, settings=inline), "a deny of any file counts"


@test
async def variables_for_the_provider_come_from_the_user_alone(world):
    real = world.env.pop("ANTHROPIC_BASE_URL")
    address = {"env": {"ANTHROPIC_BASE_URL": real}}
    nowhere = {"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}}
    put(world, "home/settings.json", address)
    put(world, "work/.claude/settings.json", nowhere)
    sources = ["user", "project"]
    options = world.options(setting_sources=sources)
    equal(result(await collect(query(prompt=play(text("here")), options=options))).result, "here")
    contains("".join(world.stderr), "cannot set up the model provider: ANTHROPIC_BASE_URL")


@test
async def an_answer_for_the_local_file_holds_in_the_next_session(world):
    asked = []

    async def decide(name, given, context):
        asked.append(given["command"])
        rule = PermissionRuleValue(tool_name="Bash", rule_content="touch *")
        update = PermissionUpdate(type="addRules", rules=[rule], behavior="allow", destination="localSettings")
        return PermissionResultAllow(updated_permissions=[update])

    assert await touches(world, can_use_tool=decide)
    equal(get(world, "work/.claude/settings.local.json"), rules(allow=[TOUCH]))
    equal(sorted(os.listdir(os.path.join(world.cwd, ".claude"))), ["settings.local.json"])
    # Another session, nobody to ask, and nobody trusts the project as a whole.
    assert await touches(world)
    equal(asked, ["touch made"])
    put(world, "work/.claude/settings.local.json", rules(allow=["Bash(touch m*)"]))
    assert not await touches(world), "a rule that nobody approved"
    # Sources that are not read are not written.
    assert await touches(world, can_use_tool=decide, setting_sources=["user"])
    equal(get(world, "work/.claude/settings.local.json"), rules(allow=["Bash(touch m*)"]))


@test
async def a_kept_answer_holds_after_clear(world):
    asked = []

    async def decide(name, given, context):
        asked.append(given["command"])
        return PermissionResultAllow(updated_permissions=context.suggestions)

    script = play(tool("Bash", command="touch made"), text("ok"))
    async with client(world, can_use_tool=decide) as host:
        await say(host, script)
        await say(host, "/clear")
        equal((await say(host, script)).permission_denials, [])
    equal(asked, ["touch made"])


@test
async def suggestions_may_come_back_as_they_are(world):
    async def decide(name, given, context):
        assert context.suggestions, context
        return PermissionResultAllow(updated_permissions=context.suggestions)

    assert await touches(world, can_use_tool=decide)
    equal(get(world, "work/.claude/settings.local.json"), rules(allow=["Bash(touch made)"]))
    assert await touches(world)


@test
async def each_destination_has_its_file(world):
    put(world, "work/.claude/settings.json", '{\n "hooks": {},\n "permissions": {"deny": ["Bash(rm *)"]}}')
    destinations = ["projectSettings", "userSettings", "session"]

    async def decide(name, given, context):
        rules = [PermissionRuleValue(tool_name="Bash", rule_content=f"touch {at}") for at in destinations]
        updates = [
            PermissionUpdate(type="addRules", rules=[rule], behavior="allow", destination=at)
            for at, rule in zip(destinations, rules)
        ]
        return PermissionResultAllow(updated_permissions=updates)

    assert await touches(world, can_use_tool=decide)
    project = get(world, "work/.claude/settings.json")
    equal(project, {"hooks": {}, **rules(deny=["Bash(rm *)"], allow=["Bash(touch projectSettings)"])})
    equal(get(world, "home/settings.json"), rules(allow=["Bash(touch userSettings)"]))
    equal(world.files(), [".claude"])


@test
async def an_answer_to_a_protected_call_is_not_kept(world):
    async def decide(name, given, context):
        rule = PermissionRuleValue(tool_name="Write")
        update = PermissionUpdate(type="addRules", rules=[rule], behavior="allow", destination="localSettings")
        mode = PermissionUpdate(type="setMode", mode="bypassPermissions", destination="localSettings")
        return PermissionResultAllow(updated_permissions=[update, mode])

    script = play(tool("Write", file_path=world.path(".envrc"), content="x"), text("ok"))
    await collect(query(prompt=script, options=world.options(can_use_tool=decide)))
    equal(world.files(), [".envrc"])
    contains("".join(world.stderr), "needs an answer every time")


@test
async def a_broken_file_stops_the_session(world):
    for name, content in (
        ("work/.claude/settings.json", "{"),
        ("work/.claude/settings.local.json", rules(deny="Bash")),
        ("home/settings.json", rules(deny=["Bash("])),
    ):
        put(world, name, content)
        await raises(collect(query(prompt=play(text("ok")), options=world.options())))
        contains("".join(world.stderr), name)
        equal(result(await collect(query(prompt=play(text("ok")), options=world.options(setting_sources=[])))).result, "ok")
        os.remove(os.path.join(world.root, name))


@test
async def settings_that_change_count_from_the_next_prompt(world):
    script = play(tool("Bash", command="touch made"), text("ok"))
    put(world, "home/settings.json", rules(allow=[TOUCH]))
    async with client(world) as host:
        equal((await say(host, script)).permission_denials, [])
        for content, denied in (
            (rules(allow=[TOUCH], deny=[TOUCH]), 1), ("{", 1), (rules(deny="Bash"), 1), (rules(allow=[TOUCH]), 0), ({}, 1),
        ):
            put(world, "home/settings.json", content)
            equal((content, len((await say(host, script)).permission_denials)), (content, denied))
    contains("".join(world.stderr), "until it is mended")


@test
async def managed_settings_of_the_host_count_for_more_than_others(world):
    put(world, "home/settings.json", rules(allow=[TOUCH]))
    given = {"managed-settings": json.dumps(rules(deny=[TOUCH]))}
    assert not await touches(world, extra_args=given, allowed_tools=["Bash"])
    await raises(collect(query(prompt=play(text("ok")), options=world.options(extra_args={"managed-settings": "{"}))))


@test
async def a_program_prints_the_key(world):
    world.env.pop("ANTHROPIC_API_KEY")
    world.env.pop("ANTHROPIC_AUTH_TOKEN", None)
    helper = {"apiKeyHelper": f"echo x >> {world.root}/runs; echo test-key"}
    put(world, "home/settings.json", helper)
    answer = await collect(query(prompt=play(text("one"), text("two")), options=world.options()))
    equal(result(answer).result, "one")
    equal(get_text(world, "runs"), "x\n")
    # No project that others may have written chooses the program, also with trust.
    os.remove(os.path.join(world.root, "home/settings.json"))
    os.remove(os.path.join(world.root, "runs"))
    put(world, "work/.claude/settings.json", helper)
    call = collect(query(prompt=play(text("one")), options=world.options(setting_sources=["project"])))
    await raises(call, "no API key")
    assert not os.path.exists(os.path.join(world.root, "runs"))
    contains("".join(world.stderr), "`apiKeyHelper` does not count in a file that others may have written")


@test
async def styles_and_attribution_reach_the_model(world):
    put(world, "home/output-styles/short.md", "---\nname: Short\n---\nAs few words as possible.")
    said = {"outputStyle": "short", "language": "German", "attribution": {"commit": "By hand", "pr": ""}}
    put(world, "home/settings.json", said)

    async def system(**more):
        messages = await collect(query(prompt=play([{"say": "system"}]), options=world.options(**more)))
        return result(messages).result

    text_of_it = await system(system_prompt={"type": "preset", "preset": "claude_code"})
    for part in ("As few words as possible.", "A refused call is an answer", "German", "By hand", "Name no agent and no model"):
        contains(text_of_it, part)
    assert "Make the smallest change" not in text_of_it
    assert "As few words" not in await system(system_prompt="Own.")
    put(world, "home/settings.json", {"outputStyle": "none such"})
    await system(system_prompt={"type": "preset", "preset": "claude_code"})
    contains("".join(world.stderr), "there is no output style")


@test
async def custom_commands(world):
    put(world, "work/.claude/commands/front/say.md", "---\ndescription: Says it\nargument-hint: [what]\n---\nscript:$ARGUMENTS")
    put(world, "home/commands/mine.md", "Mine")
    async with client(world) as host:
        listed = {command["name"]: command for command in (await host.get_server_info())["commands"]}
        equal(listed["front:say"]["description"], "Says it (project)")
        equal(listed["front:say"]["argumentHint"], "[what]")
        contains(listed["mine"]["description"], "(user)")
        script = json.dumps([[{"text": "said"}]])
        equal((await say(host, f"/front:say {script}")).result, "said")
        equal((await say(host, "/unknown x")).result, "done")


@test
async def instruction_files_of_the_named_sources_reach_the_model(world):
    put(world, "work/CLAUDE.md", "Root words. @docs/more.md @../outside.md")
    put(world, "work/docs/more.md", "More words.")
    put(world, "outside.md", "Outside words.")
    put(world, "work/below/AGENTS.md", "Words below.")
    put(world, "work/below/x.txt", "x")
    put(world, "home/CLAUDE.md", "User words.")

    async def read(*turns, **more):
        messages = await collect(query(prompt=play(*turns, [{"say": "texts"}]), options=world.options(**more)))
        said = result(messages).result
        names = ("User words", "Root words", "More words", "Outside words", "Words below")
        return result(messages).session_id, [name for name in names if name in said]

    for sources, expected in (
        (None, ["User words", "Root words", "More words"]), ([], []), (["user"], ["User words"]),
        (["project"], ["Root words", "More words"]),
    ):
        equal((sources, (await read(setting_sources=sources))[1]), (sources, expected))
    contains("".join(world.stderr), "@../outside.md is left out: it leads out of the project")
    session, words = await read(tool("Read", file_path=world.path("below/x.txt")), setting_sources=["project"])
    equal(words, ["Root words", "More words", "Words below"])
    async with client(world, setting_sources=["project"], resume=session) as one:
        await say(one, play(text("one")))
        usage = await one.get_context_usage()
        files = [(os.path.relpath(file["path"], world.cwd), file["type"]) for file in usage["memoryFiles"]]
        equal(files, [("CLAUDE.md", "Project"), ("docs/more.md", "Project")])


if __name__ == "__main__":
    common.main()
