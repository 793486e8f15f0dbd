"""Plays a file of frames to an SDK, in place of windlass. Usage: player.py FILE [SDK'S FLAGS ..]"""

import json
import sys

for line in sys.stdin.buffer:
    message = json.loads(line)
    if message["type"] == "control_request":
        body = {"subtype": "success", "request_id": message["request_id"], "response": {}}
        print(json.dumps({"type": "control_response", "response": body}), flush=True)
    elif message["type"] == "user":
        with open(sys.argv[1], "rb") as frames:
            # Questions would be answered, but there is nobody to answer.
            sys.stdout.buffer.writelines(line for line in frames if not line.startswith(b'{"type":"control_'))
        sys.stdout.buffer.flush()
        break
