"""windlass with servers that want a login, of three kinds (`authority.py`).

Usage: guarded.py WINDLASS [NAME ..].
"""

import os
import shutil
import signal
import sys
import tempfile

import authority
import logins
from session import Session
from world import contains, none_left, run, text

WINDLASS = os.path.abspath(sys.argv[1])
TESTS = []


def test(function):
    TESTS.append(function)
    return function


class Home:
    """A user with a server, over several sessions."""

    def __init__(self, kind, oauth=None):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="windlass-guarded-"))
        self.server = authority.Server(kind)
        self.entry = {"type": "http", "url": self.server.url, "alwaysLoad": True, **({"oauth": oauth} if oauth else {})}

    def session(self):
        env = {"HOME": self.folder, "CLAUDE_CONFIG_DIR": os.path.join(self.folder, "home")}
        return Session(WINDLASS, {"s": self.entry}, env=env)

    def close(self):
        self.server.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def state(session):
    return logins.settled(session, "s")


def call(session, tool):
    return text(session.call(f"mcp__s__{tool}")[0])


def kill(session):
    """Ends windlass so that it can do nothing more, and looks for what is left."""
    session.process.send_signal(signal.SIGKILL)
    session.process.wait(60)
    none_left(session)


@test
def a_client_registers_once_and_stays_logged_in():
    home = Home(authority.Kind(registers=True))
    try:
        for number in range(3):
            session = home.session()
            try:
                if number == 0:
                    assert state(session) == "needs-auth", session.servers()
                    assert logins.log_in(session, "s")
                assert state(session) == "connected", session.servers()
                contains(call(session, "read"), "done: read")
                contains(call(session, "write"), "done: write")
                kill(session)
            finally:
                session.close()
        said = home.server.count
        assert (said("registered"), said("page"), said("logged in"), said("called read")) == (1, 1, 1, 3), home.server.said
        assert not home.server.faults, home.server.faults
    finally:
        home.close()


@test
def tokens_that_end_are_renewed_and_each_is_used_once():
    # The tokens of this server are said to end as soon as a client has them.
    home = Home(authority.Kind(secret="s3cret", lifetime=1), {"clientId": "known", "clientSecret": "s3cret"})
    try:
        for number in range(2):
            session = home.session()
            try:
                if number == 0:
                    assert state(session) == "needs-auth", session.servers()
                    assert logins.log_in(session, "s")
                assert state(session) == "connected", session.servers()
                contains(call(session, "read"), "done: read")
                before = home.server.count("refreshed")
                with home.server.lock:
                    home.server.tokens.clear()
                contains(call(session, "read"), "done: read")
                assert home.server.count("refreshed") > before, home.server.said
                assert "s3cret" not in session.said(), "the secret is in a log"
                kill(session)
            finally:
                session.close()
        assert home.server.count("page") == 1, home.server.said
        assert not home.server.faults, home.server.faults
    finally:
        home.close()


@test
def another_issuer_gives_more_rights_when_they_are_needed():
    kind = authority.Kind(registers=True, separate=True, needed={"write": "more"})
    home = Home(kind)
    try:
        session = home.session()
        try:
            assert state(session) == "needs-auth", session.servers()
            assert logins.log_in(session, "s")
            assert state(session) == "connected", session.servers()
            contains(call(session, "read"), "done: read")
            content, failed = session.call("mcp__s__write")
            assert failed, content
            assert home.server.count("too little") >= 1 and home.server.count("called write") == 0, home.server.said
            assert state(session) == "needs-auth", session.servers()
            assert logins.log_in(session, "s")
            assert state(session) == "connected", session.servers()
            contains(call(session, "write"), "done: write")
            contains(call(session, "read"), "done: read")
            kill(session)
        finally:
            session.close()
        assert home.server.count("page") == 2, home.server.said
        assert not home.server.faults, home.server.faults
    finally:
        home.close()


run("guarded servers", TESTS, sys.argv[2:])
