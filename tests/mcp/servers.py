"""windlass with real servers from npm and PyPI.

Usage: servers.py WINDLASS PACKAGES [NAME ..]. PACKAGES holds the folders `servers` (npm) and `py` (a virtual environment).
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

from session import Session, play
from world import contains, none_left, run, text, within

WINDLASS, PACKAGES = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
MIB = 2**20
TESTS = []


def test(function):
    TESTS.append(function)
    return function


def npm(name, *args):
    script = os.path.join(PACKAGES, "servers/node_modules/@modelcontextprotocol", f"server-{name}", "dist/index.js")
    return {"command": "node", "args": [script, *args], "alwaysLoad": True}


def pypi(name, *args):
    return {"command": os.path.join(PACKAGES, "py/bin", f"mcp-server-{name}"), "args": list(args), "alwaysLoad": True}


def servers_of(session):
    """The processes of servers that run in Node."""
    def program(pid):
        with open(f"/proc/{pid}/cmdline", "rb") as words:
            return os.path.basename(words.read().split(b"\0")[0])

    return [pid for pid in within(session.root) if program(pid) == b"node"]


def is_connected(session):
    assert {server["name"]: server["status"] for server in session.servers()} == {"s": "connected"}, session.servers()


@test
def everything_that_a_server_has_can_be_used():
    session = Session(WINDLASS, {"s": npm("everything")})
    try:
        call = lambda name, given=None: session.call(f"mcp__s__{name}", given)
        contains(text(call("echo", {"message": "hello"})[0]), "hello")
        contains(text(call("get-sum", {"a": 2, "b": 40})[0]), "42")
        is_connected(session)
        content, failed = call("get-structured-content", {"location": "Chicago"})
        assert not failed and "temperature" in text(content), content
        content, _ = call("get-tiny-image")
        assert any(block["type"] == "image" for block in content), content
        contains(text(call("get-resource-reference", {"resourceType": "Text", "resourceId": 1})[0]), "demo://resource")
        contains(text(call("get-resource-links", {"count": 2})[0]), "demo://resource")
        contains(text(call("get-annotated-message", {"messageType": "success", "includeImage": True})[0]), "success")
        content, failed = call("get-sum", {"a": "two", "b": 1})
        assert failed, content
        # What a server asks for.
        contains(text(call("trigger-elicitation-request")[0]), "accept")
        assert [request for request in session.asked if request["subtype"] == "elicitation"], session.asked
        contains(text(call("get-roots-list")[0]), f"file://{session.work}")
        assert session.end() == 0
        none_left(session)
    finally:
        session.close()


@test
def calls_that_become_tasks_are_followed_to_their_result():
    session = Session(WINDLASS, {"s": npm("everything")})
    try:
        research = lambda given: session.call("mcp__s__simulate-research-query", {"topic": "python", **given})
        content, failed = research({})
        assert not failed, content
        contains(text(content), "Research Report: python")
        # It asks in the middle.
        content, failed = research({"ambiguous": True})
        assert not failed, content
        contains(text(content), "User accepted without selection")
        assert [request for request in session.asked if request["subtype"] == "elicitation"], session.asked
        is_connected(session)
    finally:
        session.close()


@test
def resources_and_prompts_can_be_read():
    session = Session(WINDLASS, {"s": npm("everything")})
    try:
        listed = text(session.call("ListMcpResourcesTool", {})[0])
        contains(listed, "demo://resource/static/document/features.md")
        contains(listed, "demo://resource/dynamic/text/{resourceId}")
        read = session.call("ReadMcpResourceTool", {"server": "s", "uri": "demo://resource/dynamic/text/7"})[0]
        contains(text(read), "Resource 7")
        read = session.call("ReadMcpResourceTool", {"server": "s", "uri": "demo://resource/dynamic/blob/7"})[0]
        contains(text(read), "left out")
        content, failed = session.call("ReadMcpResourceTool", {"server": "s", "uri": "demo://nothing"})
        assert failed, content
        content, failed = session.call("ReadMcpResourceTool", {"server": "nobody", "uri": "demo://nothing"})
        assert failed and "nobody" in text(content), content
        session.say("/mcp__s__args-prompt Paris")
        contains(session.say(play([{"say": "texts"}]))[-1]["result"], "weather in Paris")
    finally:
        session.close()


@test
def long_calls_report_progress_and_can_be_stopped():
    session = Session(WINDLASS, {"s": npm("everything")})
    try:
        session.say(play())
        is_connected(session)
        long = lambda seconds: play([{"tool": "mcp__s__trigger-long-running-operation", "input": {"duration": seconds, "steps": seconds}}])
        begun = time.monotonic()
        session.begin(long(120))
        session.until(lambda m: m["type"] == "assistant" and "trigger-long" in json.dumps(m))
        session.control("interrupt")
        session.until(lambda m: m["type"] == "result")
        assert time.monotonic() - begun < 60
        # The server is there for the next call.
        contains(text(session.call("mcp__s__get-sum", {"a": 1, "b": 1})[0]), "2")
        contains(text(session.call("mcp__s__trigger-long-running-operation", {"duration": 1, "steps": 2})[0]), "ompleted")
    finally:
        session.close()


@test
def a_server_that_is_killed_is_started_again():
    session = Session(WINDLASS, {"s": npm("everything")})
    try:
        add = lambda: session.call("mcp__s__get-sum", {"a": 1, "b": 1})
        add()
        for _ in range(2):
            (server,) = servers_of(session)
            os.kill(server, signal.SIGKILL)
            said = text(add()[0])
            if "was lost before it answered" in said:
                # The call was sent before the end was seen: it is not sent again, and the next one is answered.
                said = text(add()[0])
            contains(said, "2")
        # In a call: its outcome is unknown, and the model reads so.
        session.begin(play([{"tool": "mcp__s__trigger-long-running-operation", "input": {"duration": 60, "steps": 60}}], [{"say": "results"}]))
        session.until(lambda m: m["type"] == "assistant" and "trigger-long" in json.dumps(m))
        time.sleep(0.5)
        for server in servers_of(session):
            os.kill(server, signal.SIGKILL)
        said = session.until(lambda m: m["type"] == "result")[-1]["result"]
        contains(said, "was lost before it answered")
        contains(text(add()[0]), "2")
    finally:
        session.close()


def serve(mode, port):
    """The server everything on a port."""
    script = npm("everything")["args"][0]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen(["node", script, mode], env={**os.environ, "PORT": str(port)}, **quiet)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return server
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"no server listens on {port}")


@test
def endpoints_are_used_and_reached_again_after_a_restart():
    for mode, kind, path in (("streamableHttp", "http", "mcp"), ("sse", "sse", "sse")):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = serve(mode, port)
        session = Session(WINDLASS, {"s": {"type": kind, "url": f"http://127.0.0.1:{port}/{path}", "alwaysLoad": True}})
        add = lambda: session.call("mcp__s__get-sum", {"a": 1, "b": 1})
        try:
            contains(text(add()[0]), "2")
            contains(text(session.call("ListMcpResourcesTool", {})[0]), "demo://resource")
            contains(text(session.call("mcp__s__trigger-elicitation-request")[0]), "accept")
            server.kill()
            server.wait()
            content, failed = add()
            assert failed, content
            server = serve(mode, port)
            end = time.monotonic() + 30
            while add()[1]:
                assert time.monotonic() < end, "it is not reached again"
                time.sleep(0.2)
            assert session.end() == 0
        finally:
            session.close()
            server.kill()


@test
def files_of_60_megabytes_are_bounded():
    session = Session(WINDLASS, lambda work: {"s": npm("filesystem", work)})
    try:
        with open(os.path.join(session.work, "small.txt"), "w") as file:
            file.write("a few words")
        with open(os.path.join(session.work, "large.txt"), "w") as file:
            file.write("x" * 79 + "\n")
            for _ in range(60):
                file.write(("y" * 1023 + "\n") * 1024)
        contains(text(session.call("mcp__s__read_text_file", {"path": "small.txt"})[0]), "a few words")
        content, failed = session.call("mcp__s__read_text_file", {"path": "large.txt"})
        assert failed and len(text(content)) < 10_000, text(content)[:300]
        # The server is of use again.
        contains(text(session.call("mcp__s__read_text_file", {"path": "large.txt", "head": 1})[0]), "x" * 79)
        with open(f"/proc/{session.process.pid}/status") as status:
            peak = int(re.search(r"VmHWM:\s*(\d+)", status.read()).group(1)) * 1024
        assert peak < 400 * MIB, f"{peak // MIB} MiB"
        content, failed = session.call("mcp__s__read_text_file", {"path": "/etc/hostname"})
        assert failed, content
    finally:
        session.close()


@test
def memory_is_kept_from_call_to_call():
    session = Session(WINDLASS, lambda work: {"s": {**npm("memory"), "env": {"MEMORY_FILE_PATH": f"{work}/memory.jsonl"}}})
    try:
        entity = {"name": "Ada", "entityType": "person", "observations": ["likes engines"]}
        session.call("mcp__s__create_entities", {"entities": [entity]})
        contains(text(session.call("mcp__s__search_nodes", {"query": "engines"})[0]), "Ada")
        contains(text(session.call("mcp__s__read_graph")[0]), "likes engines")
        contains(text(session.call("ReadMcpResourceTool", {"server": "s", "uri": "memory://knowledge-graph"})[0]), "Ada")
    finally:
        session.close()


@test
def servers_of_python_are_used_side_by_side():
    session = Session(WINDLASS, lambda work: {"time": pypi("time", "--local-timezone", "UTC"), "git": pypi("git", "--repository", work)})
    try:
        subprocess.run(["git", "init", "-q", session.work], check=True)
        times = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
        contains(text(session.call("mcp__time__convert_time", times)[0]), "21:00")
        content, failed = session.call("mcp__time__get_current_time", {"timezone": "Moon/Base"})
        assert failed, content
        contains(text(session.call("mcp__git__git_status", {"repo_path": session.work})[0]), "commit")
        assert session.end() == 0
        none_left(session)
    finally:
        session.close()


@test
def no_process_is_left_whatever_ends_windlass():
    for end in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        session = Session(WINDLASS, lambda work: {"a": npm("everything"), "b": npm("memory"), "c": pypi("time")})
        try:
            session.call("mcp__a__get-sum", {"a": 1, "b": 1})
            assert len(within(session.root)) >= 4, within(session.root)
            session.process.send_signal(end)
            session.process.wait(20)
            none_left(session)
        finally:
            session.close()


run("servers", TESTS, sys.argv[3:])
