"""Start, memory and many sessions at once, through the official Agent SDK: windlass, and the reference where it is there.

Usage: side_by_side.py WINDLASS [--reference CLAUDE] [--sessions 40]; run by the interpreter that tests/hosts/run has set
up, such as `target/hosts/py/bin/python tests/hosts/side_by_side.py target/release/windlass`. Both programs talk to the
model server of wire.py. Memory is that of the programs and all that they have started: proportional sets (PSS), which count a
shared page once, and resident sets (RSS).
"""

import argparse
import asyncio
import os
import pathlib
import statistics
import sys
import tempfile
import threading
import time

import wire
from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, ResultMessage

STARTS = 5
PROMPT = wire.PREFIX + '[[{"text": "Hello."}]]'


def options(program, url, root):
    # A home for each session: one of the programs writes its state into it.
    home = tempfile.mkdtemp(dir=root)
    env = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "dummy", "CLAUDE_CONFIG_DIR": home, "HOME": home}
    return ClaudeAgentOptions(cli_path=program, cwd=root, env=env, model="claude-sonnet-4-5", setting_sources=[])


async def turn(client):
    await client.query(PROMPT)
    async for message in client.receive_response():
        if isinstance(message, ResultMessage):
            assert message.result == "Hello.", message
            return


def below(pid):
    """The processes that a process has started, and theirs."""
    children = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int(entry.joinpath("stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        more = children.get(waiting.pop(), [])
        found += more
        waiting += more
    return found


def memory_kb(pids):
    """The proportional and the resident sets."""
    total = {"Pss:": 0, "Rss:": 0}
    for pid in pids:
        try:
            lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        for name, size, *_ in map(str.split, lines):
            if name in total:
                total[name] += int(size)
    return total["Pss:"], total["Rss:"]


def processor_seconds(pids):
    total = 0
    for pid in pids:
        try:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


async def start(program, url, root):
    began = time.perf_counter()
    async with ClaudeSDKClient(options(program, url, root)) as client:
        connected = time.perf_counter() - began
        await turn(client)
        return connected, time.perf_counter() - began


async def together(program, url, root, count):
    """Opens sessions at once, gives each a prompt, and looks at them while all are open."""
    began = time.perf_counter()
    clients = [ClaudeSDKClient(options(program, url, root)) for _ in range(count)]
    try:
        await asyncio.gather(*(client.connect() for client in clients))
        connected = time.perf_counter() - began
        await asyncio.gather(*(turn(client) for client in clients))
        answered = time.perf_counter() - began
        pids = below(os.getpid())
        return connected, answered, memory_kb(pids), processor_seconds(pids)
    finally:
        await asyncio.gather(*(client.disconnect() for client in clients), return_exceptions=True)


async def measure(name, program, url, count):
    with tempfile.TemporaryDirectory(prefix="windlass-side-", ignore_cleanup_errors=True) as root:
        starts = [await start(program, url, root) for _ in range(STARTS)]
        connected, answered, memory, seconds = await together(program, url, root, count)
    size = os.path.getsize(os.path.realpath(program)) / 1e6
    first, whole = (statistics.median(column) * 1000 for column in zip(*starts))
    shared, resident = (kilobytes / count / 1024 for kilobytes in memory)
    print(
        f"| {name} | {size:.0f} MB | {first:.0f} ms | {whole:.0f} ms | {shared:.1f} MB | {resident:.1f} MB "
        f"| {connected:.2f} s | {answered:.2f} s | {seconds:.2f} s |"
    )


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("windlass")
    parser.add_argument("--reference")
    parser.add_argument("--sessions", type=int, default=40)
    given = parser.parse_args()
    programs = {"windlass": os.path.abspath(given.windlass)}
    if given.reference:
        programs["reference"] = os.path.abspath(given.reference)
    server, url = wire.start()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    count = given.sessions
    print(f"| program | size | SDK connected | first answer | PSS a session | RSS a session | {count} connected | {count} answered | processor |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, program in programs.items():
        await measure(name, program, url, count)
    if "reference" not in programs:
        print("the reference was not measured: give it with --reference", file=sys.stderr)


asyncio.run(main())
