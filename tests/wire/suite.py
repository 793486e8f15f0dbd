"""The vendors' own SDKs read the streams of the wire servers, and are refused where they break a rule.

Usage: target/wire/py/bin/python tests/wire/suite.py PROGRAM
PROGRAM is the example wire_servers of windlass-testkit.
"""

import sys

import common
import sdk_anthropic  # noqa: F401
import sdk_boto  # noqa: F401
import sdk_google  # noqa: F401
import sdk_ollama  # noqa: F401
import sdk_openai_chat  # noqa: F401
import sdk_openai_responses  # noqa: F401

sys.exit(1 if common.run(sys.argv[1]) else 0)
