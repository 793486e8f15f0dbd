"""How much windlass adds to what the Python Agent SDK takes by itself.

Usage: speed.py WINDLASS STANDIN MODEL. The SDK drives windlass and the stand-in of
standin.rs in turn, so that both share every disturbance; the figures are medians.
What the model server (model.rs) takes by itself is left out.
"""

import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ResultMessage,
    SystemMessage,
    ToolUseBlock,
    create_sdk_mcp_server,
    query,
    tool,
)

WINDLASS, STANDIN, MODEL = map(os.path.abspath, sys.argv[1:4])
SESSIONS, TURNS, WARM, STARTS = 10, 25, 5, 60
# Calls of the tool in one prompt: one figure is what each of them adds.
CALLS = 5


@tool("add", "Adds.", {"a": int, "b": int})
async def add(given):
    return {"content": [{"type": "text", "text": str(given["a"] + given["b"])}]}


def options(program, url, root):
    return ClaudeAgentOptions(
        cli_path=program, cwd=root, model="claude-sonnet-4-5", allowed_tools=["mcp__calc__add"], setting_sources=[],
        mcp_servers={"calc": create_sdk_mcp_server("calc", tools=[add])},
        env={"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "dummy", "CLAUDE_CONFIG_DIR": root, "HOME": root},
    )


def model_time(url):
    """Milliseconds that the model server has taken by itself since it was last asked, and for how many calls."""
    with urllib.request.urlopen(url) as answer:
        spent = json.load(answer)
    return spent["nanoseconds"] / 1e6, spent["calls"]


async def turn(client, prompt, tools):
    began = time.perf_counter()
    await client.query(prompt)
    called = 0
    async for message in client.receive_response():
        called += sum(isinstance(block, ToolUseBlock) for block in getattr(message, "content", []))
        if isinstance(message, ResultMessage):
            spent = time.perf_counter() - began
            assert message.result == "Hello." and called == tools, message
    return spent * 1e3


async def start(program, url, root):
    """One prompt in a program of its own: until its first message, and until the end."""
    given = options(program, url, root)
    given.mcp_servers = {}
    began = time.perf_counter()
    first = None
    async for message in query(prompt="hello", options=given):
        if first is None:
            first = time.perf_counter() - began
            assert isinstance(message, SystemMessage), message
        if isinstance(message, ResultMessage):
            result = time.perf_counter() - began
    return first * 1e3, result * 1e3, (time.perf_counter() - began) * 1e3


def report(row, target, ours, theirs, model):
    more = ours - theirs - model
    met = "" if target is None else "met" if more <= target else "MISSED"
    limit = "" if target is None else f"{target:.1f}"
    print(f"{row:42} {limit:>6} {theirs:9.2f} {ours:9.2f} {model:8.3f} {more:8.2f}  {met}", flush=True)


async def turns(url, root, prompt, tools):
    """Medians of windlass and the stand-in, and what the model took of the former."""
    spent = [], []
    model = 0
    # Sessions stay short: long ones measure the size of their requests.
    for _ in range(SESSIONS):
        async with ClaudeSDKClient(options(WINDLASS, url, root)) as ours, ClaudeSDKClient(options(STANDIN, url, root)) as theirs:
            for number in range(WARM + TURNS):
                if number == WARM:
                    model_time(url)
                pair = await turn(ours, prompt, tools), await turn(theirs, prompt, tools)
                if number >= WARM:
                    for all, one in zip(spent, pair):
                        all.append(one)
            model += model_time(url)[0]
    return *map(statistics.median, spent), model / (SESSIONS * TURNS)


async def main():
    model = subprocess.Popen([MODEL], stdout=subprocess.PIPE, text=True)
    url = model.stdout.readline().strip()
    print(f"{'milliseconds, Python SDK':42} {'limit':>6} {'stand-in':>9} {'windlass':>9} {'model':>8} {'more':>8}")
    try:
        with tempfile.TemporaryDirectory(prefix="windlass-speed-") as root:
            none = await turns(url, root, "hello", 0)
            report("next prompt in a live client", 1, *none)
            some = await turns(url, root, f"add up {CALLS}", CALLS)
            report("a call of an SDK tool, to the next answer", 1, *((more - less) / CALLS for more, less in zip(some, none)))
            spent = [], []
            model_time(url)
            for number in range(STARTS + 5):
                for at, program in enumerate((WINDLASS, STANDIN)):
                    times = await start(program, url, root)
                    if number >= 5:
                        spent[at].append(times)
            each, calls = model_time(url)
            for at, row in enumerate(("start of a session, to the first message", "– to the result", "– to the end of the program")):
                ours, theirs = (statistics.median(times[at] for times in one) for one in spent)
                report(row, None, ours, theirs, each / calls if at else 0)
        processor = resource.getrusage(resource.RUSAGE_SELF)
        print(f"the SDK itself used {processor.ru_utime + processor.ru_stime:.1f} s of processor time")
    finally:
        model.kill()
        model.wait()


asyncio.run(main())
