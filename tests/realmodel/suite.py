"""The command `windlass` against real inference servers on this machine.

Usage: target/realmodel/py/bin/python tests/realmodel/suite.py PROGRAM [CHECK…]
A check is named by a part of its name.
"""

import base64
import json
import os
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import zlib

HERE = pathlib.Path(__file__).parent
PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
# Tokens of the window that llama.cpp's server gives the model.
WINDOW = 8192
CHECKS = []


def check(function):
    """Marks a function as a check."""
    CHECKS.append(function)
    return function


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server in a process of its own."""

    def __init__(self, script, *arguments):
        self.port = free_port()
        command = [sys.executable, str(HERE / script), str(self.port), *map(str, arguments)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.process.stdout:
            if line.strip() == "ready":
                return
        raise RuntimeError(f"{script} did not start")

    def url(self, path=""):
        return f"http://127.0.0.1:{self.port}{path}"

    def stop(self):
        self.process.terminate()
        self.process.wait(20)


class Place:
    """A home and a project of a check, and the variables of its runs."""

    def __init__(self, **variables):
        self.folder = tempfile.TemporaryDirectory()
        self.home = pathlib.Path(self.folder.name, "home")
        self.project = pathlib.Path(self.folder.name, "project")
        self.home.mkdir()
        self.project.mkdir()
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "NO_PROXY": "127.0.0.1", **variables}

    def run(self, *arguments, stdin="", timeout=300):
        started = time.monotonic()
        ran = subprocess.run(
            [PROGRAM, *arguments], input=stdin, env=self.env, cwd=self.project, capture_output=True, text=True, timeout=timeout
        )
        ran.seconds = time.monotonic() - started
        return ran

    def result(self, prompt, *arguments, **more):
        """The result of one run, as JSON."""
        ran = self.run("-p", prompt, "--output-format", "json", *arguments, **more)
        assert ran.stdout.strip(), ran.stderr
        found = json.loads(ran.stdout)
        found["seconds"], found["stderr"] = ran.seconds, ran.stderr
        return found


PLAIN = ("--tools", "", "--system-prompt", "You are brief.")


def dialects(limit):
    """The dialects of llama.cpp's server: a place for each, and the model to ask for. Responses have a limit of 16 at least."""
    key, limited = "no-key-is-needed", {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(limit)}
    yield "chat completions", "llama.cpp/gemma", Place(LLAMA_CPP_BASE_URL=LLAMA.url("/v1"), **limited)
    responses = {"OPENAI_BASE_URL": LLAMA.url("/v1"), "OPENAI_API_KEY": key}
    yield "responses", "openai/gemma", Place(**responses, **limited)
    messages = {"ANTHROPIC_BASE_URL": LLAMA.url(), "ANTHROPIC_API_KEY": key}
    yield "messages", "gemma", Place(**messages, **limited)


def image():
    """A PNG of one red pixel."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    data = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + data).decode()


@check
def each_dialect_answers_and_an_answer_cut_by_the_limit_is_cut():
    for name, model, place in dialects(16):
        found = place.result("Tell me a story", "--model", model, *PLAIN)
        assert found["usage"]["output_tokens"] == 4 * 16, (name, found)
        assert found["usage"]["input_tokens"] + found["usage"]["cache_read_input_tokens"] > 0, (name, found)
        assert found["is_error"] and "cut by the output limit 4 times" in json.dumps(found), (name, found)


@check
def the_second_request_reads_the_first_from_the_cache():
    for name, model, place in dialects(16):
        found = place.result("Tell me of the sea. " * 40, "--model", model, *PLAIN)
        assert found["usage"]["cache_read_input_tokens"] > 200, (name, found["usage"])


@check
def the_window_is_that_of_the_server():
    place = Place(LLAMA_CPP_BASE_URL=LLAMA.url("/v1"))
    listed = place.run("models", "--provider", "llama.cpp", "--json")
    models = [json.loads(line) for line in listed.stdout.splitlines()]
    assert [model["contextWindow"] for model in models] == [WINDOW], (listed.stdout, listed.stderr)
    # Nothing that cannot fit is sent, and the session is of use afterwards.
    found = place.result("word " * (WINDOW * 2), "--model", "llama.cpp/gemma", *PLAIN)
    assert found["is_error"] and f"{WINDOW} fit" in json.dumps(found), found


@check
def a_prompt_beyond_the_window_is_not_sent_and_the_session_goes_on():
    for name, model, place in dialects(16):
        place.result("Tell me of a cat", "--model", model, *PLAIN)
        found = place.result("word " * (WINDOW * 2), "--model", model, "--continue", *PLAIN)
        assert found["is_error"] and f"{WINDOW} fit" in json.dumps(found), (name, found)
        found = place.result("Tell me a story", "--model", model, "--continue", *PLAIN)
        assert found["usage"]["output_tokens"] > 0, (name, found)


@check
def a_refused_image_is_left_out():
    for name, model, place in dialects(8):
        source = {"type": "base64", "media_type": "image/png", "data": image()}
        content = [{"type": "text", "text": "Tell me a story"}, {"type": "image", "source": source}]
        line = json.dumps({"type": "user", "message": {"role": "user", "content": content}}) + "\n"
        streams = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
        ran = place.run("-p", *streams, "--model", model, *PLAIN, stdin=line)
        frames = [json.loads(line) for line in ran.stdout.splitlines()]
        assert frames[-1]["type"] == "result" and frames[-1]["usage"]["output_tokens"] > 0, (name, ran.stdout, ran.stderr)
        assert "api_retry" not in ran.stdout, (name, ran.stdout)


@check
def the_form_of_an_answer_is_demanded_where_the_server_takes_one():
    # What is shorter than its schema allows ends before the limit.
    schema = {
        "type": "object",
        "properties": {"colour": {"enum": ["red", "green"]}, "size": {"enum": [1, 2]}},
        "required": ["colour", "size"],
        "additionalProperties": False,
    }
    place = Place(LLAMA_CPP_BASE_URL=LLAMA.url("/v1"), CLAUDE_CODE_MAX_OUTPUT_TOKENS="60")
    found = place.result("A green ball of size 2", "--model", "llama.cpp/gemma", "--json-schema", json.dumps(schema), *PLAIN)
    assert not found["is_error"], found
    assert found["structured_output"]["colour"] in ["red", "green"], found
    assert found["structured_output"]["size"] in [1, 2], found


@check
def many_requests_of_a_session_need_no_retry():
    name, model, place = next(dialects(4))
    lines = [{"type": "user", "message": {"role": "user", "content": f"Story {number}"}} for number in range(4)]
    stdin = "".join(json.dumps(line) + "\n" for line in lines)
    streams = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
    ran = place.run("-p", *streams, "--model", model, *PLAIN, stdin=stdin)
    results = [line for line in ran.stdout.splitlines() if json.loads(line)["type"] == "result"]
    assert len(results) == 4 and "api_retry" not in ran.stdout, (name, ran.stdout, ran.stderr)


def tool_place():
    place = Place(LLAMA_CPP_BASE_URL=TOOLS.url("/v1"))
    (place.project / "note.txt").write_text("The password is swordfish.\n")
    return place


@check
def a_model_reads_a_file():
    found = tool_place().result("Read the file note.txt", "--model", "llama.cpp/needle", "--tools", "Read,Glob")
    assert not found["is_error"] and "swordfish" in found["result"], found


@check
def a_model_runs_a_command_that_is_allowed_and_no_other():
    asked = ("Run the command: wc -c note.txt", "--model", "llama.cpp/needle", "--tools", "Bash")
    found = tool_place().result(*asked, "--allowedTools", "Bash(wc *)")
    assert not found["is_error"] and "27" in found["result"], found
    found = tool_place().result(*asked, "--disallowedTools", "Bash(wc *)")
    assert "27" not in found["result"] and found["permission_denials"], found


def main():
    failed, wanted = 0, sys.argv[2:]
    chosen = [one for one in CHECKS if not wanted or any(part in one.__name__ for part in wanted)]
    for function in chosen:
        name, started = function.__name__.replace("_", " "), time.monotonic()
        try:
            function()
            print(f"ok {name} ({time.monotonic() - started:.1f} s)", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED {name}", flush=True)
            traceback.print_exc(file=sys.stdout)
    print(f"realmodel: {len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


LLAMA = Server("serve_llama.py", WINDOW)
try:
    TOOLS = Server("serve_tools.py")
    try:
        code = main()
    finally:
        TOOLS.stop()
finally:
    LLAMA.stop()
sys.exit(code)
