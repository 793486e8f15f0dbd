"""What tests of servers look at: processes, and the results of calls."""

import os
import time


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
