"""A turn of the Agent SDK with the program of an installed package, against the model server of tests/hosts.

Usage: sdk_turn.py, with the wheel and the SDK for Python; sdk_turn.py MODULES, a folder with both packages for Node.js.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "hosts"))

import wire  # noqa: E402

PROMPT = wire.PREFIX + '[[{"text": "Hello."}]]'


async def python_turn(url, home):
    import windlass
    from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query

    env = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "dummy", "HOME": home}
    options = ClaudeAgentOptions(cli_path=windlass.binary_path(), cwd=home, env=env, setting_sources=[])
    async for message in query(prompt=PROMPT, options=options):
        if isinstance(message, ResultMessage):
            print(message.result)


def main():
    server, url = wire.start()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as home:
        if len(sys.argv) > 1:
            subprocess.run(["node", os.path.join(HERE, "sdk_turn.mjs"), sys.argv[1], url, PROMPT, home], check=True, timeout=60)
        else:
            asyncio.run(python_turn(url, home))


main()
