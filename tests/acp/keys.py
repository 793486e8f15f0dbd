"""Login methods name stored keys, and a terminal stores one: `keys.py WINDLASS LOG`."""

import subprocess
import sys

from common import Place, equal, play, text
from rpc_client import Client

WINDLASS, LOG = sys.argv[1:3]


def main():
    place = Place()
    del place.env["ANTHROPIC_API_KEY"]

    def command(*words, typed=None):
        subprocess.run([WINDLASS, *words], input=typed, env=place.env, check=True, capture_output=True, text=True, timeout=30)

    def methods(client, **abilities):
        answer = client.ask("initialize", protocolVersion=1, clientCapabilities={"auth": abilities})
        return {method["id"]: method for method in answer["result"]["authMethods"]}

    client = Client(place, WINDLASS, LOG)
    equal(list(methods(client)), ["api-key"])
    equal(client.ask("authenticate", methodId="stored-key-anthropic")["error"]["code"], -32602)
    equal(client.end(), 0)
    # What an editor starts in a terminal: its command, with the arguments of the method.
    client = Client(place, WINDLASS, LOG)
    login = methods(client, terminal=True)["login"]
    equal((login["type"], login["args"]), ("terminal", ["--login"]))
    equal(client.end(), 0)
    command("acp", *login["args"], typed="sk-kept-from-the-client\n")
    client = Client(place, WINDLASS, LOG)
    equal(list(methods(client, terminal=True)), ["stored-key-anthropic", "api-key", "login"])
    equal(client.ask("authenticate", methodId="stored-key-anthropic")["result"], {})
    session = client.ask("session/new", cwd=place.cwd, mcpServers=[])["result"]["sessionId"]
    answer = client.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": play(text("hi"))}])
    equal(answer["result"]["stopReason"], "end_turn")
    # A key that is gone since is no login.
    command("logout", "anthropic")
    equal(client.ask("authenticate", methodId="stored-key-anthropic")["error"]["code"], -32000)
    equal(client.end(), 0)
    with open(LOG) as log:
        assert "sk-kept" not in log.read(), "the key reached the client"
    place.close()
    print("keys ok")


main()
