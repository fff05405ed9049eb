"""A sidecar that speaks the bridge's lines and does nothing: ``python echo.py FILE TOOL...`` wants these tools only, or all.

It is what the way costs alone: a blocking loop over standard input. At its end it writes into FILE how many calls it was asked.
"""

import json
import sys
from pathlib import Path


def main(counted: str, *tools: str) -> None:
    interest = {"tool.execute.before": {"names": list(tools), "others": not tools}}
    asked = 0
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" in message:
            asked += 1
            answer = {"id": message["id"]}
        else:
            answer = {"op": "ready", "protocol": 1, "interest": interest, "tools": {}, "failClosed": False, "timeoutMs": 30_000}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    Path(counted).write_text(str(asked), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
