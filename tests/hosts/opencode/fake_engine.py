"""An engine that says what a test wants it to: ``python fake_engine.py FOLDER``, with the plan in FOLDER/plan.json.

The plan: ``first`` (raw text to say before anything else), ``ready`` (the announcement), ``answers`` (by hook or tool, for
a tool whose question was put by "NAME asked": fields of the reply), ``dies`` (end at once). In FOLDER appear ``started``, a letter for each start, and ``received``, every line.
"""

import json
import sys
from pathlib import Path

folder = Path(sys.argv[1])
plan = json.loads((folder / "plan.json").read_text())
with (folder / "started").open("a") as started:
    started.write("x")
if plan.get("dies"):
    sys.exit(3)


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


for line in sys.stdin:
    with (folder / "received").open("a") as received:
        received.write(line)
    message = json.loads(line)
    if message.get("op") == "hello":
        say(plan.get("first", ""))
        say(json.dumps({"op": "ready", "protocol": 1, "failClosed": False, "tools": {}, "timeoutMs": 5_000, **plan["ready"]}) + "\n")
    elif "id" in message and message.get("op") != "rpc-result":
        name = message.get("hook") or message.get("tool")
        answer = plan["answers"].get(f"{name} asked" if message.get("asked") else name, {})
        half, rest = (text := json.dumps({"id": message["id"], **answer}) + "\n")[:7], text[7:]
        say(half)
        say(rest)
