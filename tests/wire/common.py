"""What the suites share: the servers, and checks that are counted."""

import json
import subprocess
import sys
import traceback

SERVERS = {}
FAILURES = ["invalid", "authentication", "overflow", "rate-limited", "quota", "overloaded", "server"]
CHECKS = []
TEXT = "Grüße, Welt 🌍"
READ = {"name": "Read", "description": "Reads a file.", "schema": {
    "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"], "additionalProperties": False}}


def check(function):
    """Marks a function as a check."""
    CHECKS.append(function)
    return function


def equal(found, expected):
    assert found == expected, f"{found!r} is not {expected!r}"


def raises(kind, act):
    """What `act` raises, which must be of this kind."""
    try:
        act()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def run(program):
    """Runs all checks against servers that `program` starts, and returns how many failed."""
    server = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    SERVERS.update(json.loads(server.stdout.readline()))
    failed = 0
    try:
        for function in CHECKS:
            name = f"{function.__module__}: {function.__name__.replace('_', ' ')}"
            try:
                function()
                print(f"ok {name}")
            except Exception:
                failed += 1
                print(f"FAILED {name}")
                traceback.print_exc(file=sys.stdout)
    finally:
        server.stdin.close()
        server.wait(10)
    print(f"wire: {len(CHECKS) - failed} passed, {failed} failed")
    return failed
