"""What the Python suites share. Each is run as `SUITE.py WINDLASS [NAME ..]`."""

import asyncio
import json
import os
import re
import shutil
import sys
import tempfile
import threading
import time
import traceback

import wire
from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ResultError,
    ResultMessage,
    SystemMessage,
    UserMessage,
)

CLI = os.path.abspath(sys.argv[1])
TESTS = []


def test(function):
    """Registers a test: an async function that is given a World."""
    TESTS.append(function)
    return function


def play(*messages):
    """A prompt that tells the server of wire.py what the model says."""
    return wire.PREFIX + json.dumps(messages)


def text(said):
    return [{"text": said}]


def tool(name, **given):
    return [{"tool": name, "input": given}]


class World:
    """A directory, a home and the address of the server."""

    def __init__(self, url):
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="windlass-hosts-"))
        self.cwd = os.path.join(self.root, "work")
        os.mkdir(self.cwd)
        self.url = url
        self.env = {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CONFIG_DIR": os.path.join(self.root, "home"),
            "HOME": self.root,
        }
        self.stderr = []

    def options(self, **more):
        return ClaudeAgentOptions(**{"cli_path": CLI, "cwd": self.cwd, "env": self.env, "stderr": self.stderr.append, **more})

    def path(self, name):
        return os.path.join(self.cwd, name)

    def write(self, name, content):
        with open(self.path(name), "w") as file:
            file.write(content)
        return self.path(name)

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def files(self):
        return sorted(os.listdir(self.cwd))


async def collect(stream):
    return [message async for message in stream]


def client(world, **more):
    return ClaudeSDKClient(world.options(**more))


async def say(client, prompt):
    """One turn of a client: its result."""
    await client.query(prompt)
    return result(await collect(client.receive_response()))


async def failing(stream):
    """The messages of a run whose result is an error, and what the SDK raises after it."""
    messages = []
    try:
        async for message in stream:
            messages.append(message)
    except ResultError as error:
        return messages, str(error)
    raise AssertionError(f"nothing was raised after {messages[-1:]}")


def result(messages):
    results = [message for message in messages if isinstance(message, ResultMessage)]
    assert len(results) == 1, f"{len(results)} results"
    return results[0]


def system(messages, subtype):
    return [m for m in messages if isinstance(m, SystemMessage) and m.subtype == subtype]


def blocks(messages, kind):
    holders = (AssistantMessage, UserMessage)
    lists = [m.content for m in messages if isinstance(m, holders) and isinstance(m.content, list)]
    return [block for content in lists for block in content if isinstance(block, kind)]


def framed(said):
    """What others wrote, from between the lines of its mark."""
    pattern = r"Between the two lines with ([0-9a-f]{16}) [^\n]*\n--- begin \1\n(.*)\n--- end \1"
    found = re.fullmatch(pattern, said.strip(), re.DOTALL)
    assert found, said
    return found[2]


def equal(found, expected):
    assert found == expected, f"{found!r} is not {expected!r}"


def contains(found, part):
    assert part in found, f"{part!r} is not in {found!r}"


async def raises(call, part=""):
    """Waits for a call that must fail with such a text."""
    try:
        answer = await call
    except Exception as error:
        assert str(error), repr(error)
        contains(str(error), part)
    else:
        raise AssertionError(f"it was accepted: {answer!r}")


async def until(holds, seconds=20, what="it"):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"{what} did not happen within {seconds} s"
        await asyncio.sleep(0.01)


def processes(command, folder):
    """The processes in a folder that were started with a command."""
    found = []
    for pid in within(folder):
        try:
            with open(f"/proc/{pid}/cmdline") as file:
                words = file.read().replace("\0", " ").strip()
        except OSError:
            continue
        if words == command:
            found.append(pid)
    return found


def within(folder):
    """The processes, beside this one, whose directory is in a folder."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            inside = os.readlink(f"/proc/{pid}/cwd").startswith(folder)
        except OSError:
            continue
        if inside and int(pid) != os.getpid():
            found.append(int(pid))
    return found


def described(pids):
    words = []
    for pid in pids:
        try:
            with open(f"/proc/{pid}/cmdline") as file:
                words.append(f"{pid}: {file.read()!r}")
        except OSError:
            pass
    return ", ".join(words)


async def run_tests(wanted):
    server, url = wire.start()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    failed = 0
    for one in TESTS:
        if wanted and one.__name__ not in wanted:
            continue
        world = World(url)
        began = time.monotonic()
        try:
            await asyncio.wait_for(one(world), 60)
            # Whatever a test does, nothing of it goes on after it.
            await until(lambda: not within(world.root), 10, "the end of all processes")
            verdict = "ok"
            shutil.rmtree(world.root, ignore_errors=True)
        except BaseException as error:
            failed += 1
            verdict = f"FAILED in {world.root}\n{traceback.format_exc()}{''.join(world.stderr)}{described(within(world.root))}"
            if isinstance(error, KeyboardInterrupt):
                raise
        print(f"{one.__name__} {time.monotonic() - began:.2f} s {verdict}", flush=True)
    print(f"{os.path.basename(sys.argv[0])}: {failed} failed", flush=True)
    return 1 if failed else 0


def main():
    sys.exit(asyncio.run(run_tests(sys.argv[2:])))
