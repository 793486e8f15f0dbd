"""The programs of docs/hosts.md run, and say what their readers expect."""

import os
import re
import subprocess
import sys

import common
import wire
from common import CLI, contains, equal, test, text, tool

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
MODULES = os.path.abspath(os.environ.get("WINDLASS_NODE_MODULES", "target/hosts/node/node_modules"))
ANSWER = "They do."
# The names of the tools' inputs differ by nothing: one model plays both languages.
wire.KNOWN = {
    "Do the tests pass?": [tool("Bash", command="cargo test --version"), text(ANSWER)],
    "Write down what the weather is like in Porto": [
        tool("mcp__home__weather", city="Porto"), tool("Write", file_path="weather.txt", content="Sunny.\n"), text("It is written."),
    ],
    "Begin notes.txt": [tool("Write", file_path="notes.txt", content="One\nTODO\n"), [{"say": "texts"}]],
    "And tidy up": [tool("Bash", command="rm weather.txt"), text("That was not allowed.")],
}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def programs(language):
    """The code blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", read("docs/hosts.md"), re.MULTILINE | re.DOTALL)


def run(world, command, name, code):
    contains(code, "/usr/local/bin/windlass")
    path = world.write(name, code.replace("/usr/local/bin/windlass", CLI))
    done = subprocess.run(
        [*command, path], cwd=world.cwd, env={**os.environ, **world.env}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=50,
    )
    equal((done.returncode, done.stderr), (0, ""))
    return done.stdout


def one_shot(world, command, name, code):
    said = run(world, command, name, code)
    assert re.fullmatch(re.escape(ANSWER) + r" \$0\.\d{4}\n", said), said


def session(world, command, name, code):
    lines = run(world, command, name, code).splitlines()
    equal([line for line in lines if line.startswith(">")], ["> mcp__home__weather", "> Write"])
    equal(len([line for line in lines if line.startswith("?")]), 3)
    equal([line for line in lines if line[0] not in ">?"], ["It is written.", "That was not allowed."])
    equal(world.read("weather.txt"), "Sunny.\n")


@test
async def python(world):
    first, second, third = programs("python")
    one_shot(world, [sys.executable], "first.py", first)
    session(world, [sys.executable], "second.py", second)
    # An answer that is late is left out, and a busy machine may make it late.
    for _ in range(20):
        said = run(world, [sys.executable], "third.py", third)
        if "diagnostics" in said:
            break
        os.remove(world.path("notes.txt"))
    contains(said, "notes.txt:2: warning [notes]: this is not done")


@test
async def typescript(world):
    os.symlink(MODULES, os.path.join(world.cwd, "node_modules"))
    first, second = programs("js")
    one_shot(world, ["node"], "first.mjs", first)
    session(world, ["node"], "second.mjs", second)


@test
async def rust(_):
    """The lines are those of an example, in its order; the example is run by itself."""
    (code,) = programs("rust")
    rest = [line.strip() for line in read("examples/out_of_process.rs").splitlines()]
    for line in filter(None, map(str.strip, code.splitlines())):
        assert line in rest, f"{line!r} is not in examples/out_of_process.rs, or not there"
        rest = rest[rest.index(line) + 1:]


@test
async def every_program_is_run(_):
    languages = set(re.findall(r"^```(\w+)$", read("docs/hosts.md"), re.MULTILINE))
    # Others are commands and excerpts of data.
    assert not languages & {"ts", "typescript", "javascript", "mjs", "py"}, languages


if __name__ == "__main__":
    common.main()
