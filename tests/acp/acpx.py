"""acpx, a client for the command line, drives the agent: `acpx.py WINDLASS ACPX LOG`."""

import shlex
import subprocess
import sys

from common import Place, equal, play, tapped, text, tool

WINDLASS, ACPX, LOG = sys.argv[1:4]


def turn(place, answers, script):
    """One turn in a new session. Returns the exit code and the output."""
    agent = shlex.join(tapped(WINDLASS, LOG))
    command = ["node", ACPX, "--agent", agent, answers, "--cwd", place.cwd, "--timeout", "60", "exec", script]
    ran = subprocess.run(command, env=place.env, cwd=place.root, capture_output=True, text=True, timeout=90)
    return ran.returncode, ran.stdout + ran.stderr


def main():
    place = Place()
    place.write("a.txt", "one\ntwo\n")
    script = play(
        tool("Read", file_path=place.path("a.txt")),
        tool("Edit", file_path=place.path("a.txt"), old_string="two", new_string="three"),
        tool("Bash", command="touch made"),
        text("All done."),
    )
    # What is denied is not done, and the turn goes on to its end.
    code, output = turn(place, "--deny-all", script)
    assert "All done." in output or code != 0, (code, output)
    equal(place.read("a.txt"), "one\ntwo\n")
    code, output = turn(place, "--approve-all", script)
    equal(code, 0)
    assert "All done." in output, output
    equal(place.read("a.txt"), "one\nthree\n")
    place.close()
    print("acpx ok")


main()
