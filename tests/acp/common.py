"""What the Python suites share."""

import json
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "hosts"))

import wire  # noqa: E402


def play(*messages):
    """A prompt that tells the model server what the model says."""
    return wire.PREFIX + json.dumps(messages)


def text(said):
    return [{"text": said}]


def tool(name, **given):
    return [{"tool": name, "input": given}]


class Place:
    """A directory, a home and a model server."""

    def __init__(self):
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="windlass-acp-"))
        self.cwd = os.path.join(self.root, "work")
        os.mkdir(self.cwd)
        self.server, url = wire.start()
        import threading

        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.env = {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "dummy",
            "HOME": self.root,
            "WINDLASS_HOME": os.path.join(self.root, "home"),
            "PATH": os.environ["PATH"],
        }

    def settings(self, **settings):
        """Settings of the user."""
        os.makedirs(self.env["WINDLASS_HOME"], exist_ok=True)
        with open(os.path.join(self.env["WINDLASS_HOME"], "settings.json"), "w") as file:
            json.dump(settings, file)

    def path(self, name):
        return os.path.join(self.cwd, name)

    def write(self, name, content):
        with open(self.path(name), "w") as file:
            file.write(content)

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def close(self):
        self.server.shutdown()
        shutil.rmtree(self.root, ignore_errors=True)


def tapped(windlass, log):
    """The command of an agent whose lines are written down."""
    return [sys.executable, os.path.join(HERE, "tap.py"), log, windlass, "acp"]


def equal(actual, expected):
    assert actual == expected, f"{actual!r} is not {expected!r}"
