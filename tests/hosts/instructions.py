"""Instructions, imports, rules and mentions through the Python Agent SDK: each source in each layout, and a beginning of
the conversation that no resume and no fork changes."""

import base64
import json
import os

import common
from claude_agent_sdk import query
from common import collect, contains, equal, play, result, test, text, tool

# A project's files in the order in which the model reads them.
PROJECT = (
    "AGENTS.md", "CLAUDE.md", ".claude/AGENTS.md", ".claude/CLAUDE.md", ".windlass/AGENTS.md", ".windlass/CLAUDE.md",
    ".claude/rules/a.md", ".claude/rules/deep/b.md", ".windlass/rules/c.md",
)
LOCAL = ("CLAUDE.local.md",)
# Those of the user; CLAUDE_CONFIG_DIR is `home`.
USER = ("AGENTS.md", "CLAUDE.md", "rules/u.md")
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def put(world, name, content):
    """Writes a file below the world's root."""
    path = os.path.join(world.root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())


async def ask(world, prompt, **more):
    return result(await collect(query(prompt=prompt, options=world.options(**more))))


async def read(world, prompt="", **more):
    """What the model reads with a prompt."""
    return (await ask(world, prompt + play([{"say": "texts"}]), **more)).result


async def sent(world, prompt, **more):
    """The messages of a request, and the session."""
    done = await ask(world, prompt + play([{"say": "messages"}]), **more)
    return json.loads(done.result), done.session_id


def marks(said):
    """The marks of files, in their order."""
    return [word[1:-1] for word in said.split() if word.startswith("<") and word.endswith(">") and "=" in word]


def plant(world):
    for source, folder, names in (("project", "work", PROJECT), ("local", "work", LOCAL), ("user", "home", USER)):
        for name in names:
            put(world, f"{folder}/{name}", f"<{source}={name}>\n")


@test
async def each_source_is_read_in_each_layout(world):
    os.mkdir(world.path(".git"))
    plant(world)
    user, project, local = ([f"{source}={name}" for name in names]
                            for source, names in (("user", USER), ("project", PROJECT), ("local", LOCAL)))
    for sources, expected in (
        (None, user + project + local), ([], []), (["user"], user), (["project"], project), (["local"], local),
        (["user", "project", "local"], user + project + local),
    ):
        equal((sources, marks(await read(world, setting_sources=sources))), (sources, expected))


@test
async def parents_up_to_the_repository_and_folders_that_are_used(world):
    put(world, "CLAUDE.md", "<above=it>\n")
    put(world, "work/.git/HEAD", "ref: refs/heads/main\n")
    put(world, "work/CLAUDE.md", "<root=it>\n")
    put(world, "work/app/CLAUDE.md", "<app=it>\n")
    put(world, "work/app/below/AGENTS.md", "<below=it>\n")
    put(world, "work/app/below/x.rs", "fn x() {}\n")
    put(world, "work/.claude/rules/rust.md", "---\npaths: ['**/*.rs']\n---\n<rust=it>\n")
    app = world.path("app")
    equal(marks(await read(world, cwd=app)), ["root=it", "app=it"])
    script = play(tool("Read", file_path=os.path.join(app, "below/x.rs")), [{"say": "texts"}])
    equal(marks((await ask(world, script, cwd=app)).result), ["root=it", "app=it", "below=it", "rust=it"])


@test
async def imports_stay_in_the_project_and_settings_leave_files_out(world):
    put(world, "work/.git/HEAD", "ref: refs/heads/main\n")
    put(world, "work/CLAUDE.md", "<root=it>\n@docs/a.md @../outside.md @~/home.md @.env\n```\n@docs/code.md\n```\n")
    put(world, "work/docs/a.md", "<a=it>\n@b.md")
    put(world, "work/docs/b.md", "<b=it>\n@a.md")
    put(world, "work/docs/code.md", "<code=it>\n")
    put(world, "outside.md", "<outside=it>\n")
    put(world, "home.md", "<home=it>\n")
    put(world, "work/.env", "<env=it>\n")
    equal(marks(await read(world)), ["root=it", "a=it", "b=it"])
    excludes = json.dumps({"claudeMdExcludes": ["**/docs/b.md"]})
    equal(marks(await read(world, settings=excludes)), ["root=it", "a=it"])


@test
async def added_directories_are_read_when_a_variable_says_so(world):
    put(world, "work/CLAUDE.md", "<root=it>\n")
    put(world, "more/CLAUDE.md", "<more=it>\n")
    more = os.path.join(world.root, "more")
    equal(marks(await read(world, add_dirs=[more])), ["root=it"])
    world.env["CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD"] = "1"
    equal(marks(await read(world, add_dirs=[more])), ["root=it", "more=it"])


@test
async def what_a_prompt_mentions_stands_behind_it(world):
    put(world, "work/a.txt", "one\ntwo\nthree\n")
    put(world, "work/two words.txt", "blank\n")
    put(world, "work/docs/x.md", "x\n")
    put(world, "work/dot.png", base64.b64decode(PIXEL))
    put(world, "outside.txt", "SECRET\n")
    said = await read(world, 'See @a.txt:2-2 @"two words.txt" @docs/ @dot.png @../outside.txt and me@a.txt, @Test. ')
    for part in ("2\ttwo", "1\tblank", "<attached>\nx.md\n</attached>", "@../outside.txt: it is not attached"):
        contains(said, part)
    for part in ("1\tone", "SECRET", "@Test:", "me@a.txt:"):
        assert part not in said, part
    images = (await ask(world, "@dot.png " + play([{"say": "images"}]))).result
    contains(images, "image/png")


@test
async def resumes_and_forks_begin_with_the_same_bytes(world):
    os.mkdir(world.path(".git"))
    plant(world)
    put(world, "work/a.txt", "one\n")
    first, session = await sent(world, "See @a.txt ")
    put(world, "work/a.txt", "changed\n")
    put(world, "work/CLAUDE.md", "<project=changed>\n")
    for more in ({"fork_session": True}, {}):
        later, _ = await sent(world, "Again @a.txt ", resume=session, **more)
        equal(later[: len(first)], first)
        contains(json.dumps(later[len(first):]), "changed")


if __name__ == "__main__":
    common.main()
