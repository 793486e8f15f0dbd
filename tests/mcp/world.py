"""What tests of servers look at: processes, and the results of calls. Runs them, too."""

import os
import sys
import time
import traceback


def within(folder):
    """The processes whose directory is in a folder."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/cwd").startswith(folder):
                found.append(int(pid))
        except OSError:
            pass
    return found


def none_left(session, seconds=60):
    end = time.monotonic() + seconds
    while left := within(session.root):
        assert time.monotonic() < end, f"{len(left)} processes are left"
        time.sleep(0.02)


def text(content):
    return content if isinstance(content, str) else "\n".join(block.get("text", block["type"]) for block in content)


def contains(found, part):
    assert part in found, f"{part!r} is not in {found[:2000]!r}"


def run(what, tests, wanted):
    """Runs these tests, or those of them that are wanted, and ends the program."""
    failed = 0
    for one in tests:
        if wanted and one.__name__ not in wanted:
            continue
        began = time.monotonic()
        try:
            one()
            verdict = "ok"
        except Exception:
            failed += 1
            verdict = "FAILED\n" + traceback.format_exc()
        print(f"{one.__name__} {time.monotonic() - began:.1f} s {verdict}", flush=True)
    print(f"{what}: {failed} failed")
    sys.exit(bool(failed))
