"""Stand between bridge and engine: write down what the engine is sent, and at a hook of our choice kill or stop it, once.

``python middleman.py FOLDER [ACTION HOOK] -- ENGINE...``; ACTION is a signal's name. In FOLDER appear ``sent.jsonl``, every
line for every engine, and one file for each engine that was started, named by its process id.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

own, engine_command = sys.argv[1 : sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1 :]
folder = Path(own[0])
action, hook = own[1:] or ("", "")
engine = subprocess.Popen(engine_command, stdin=subprocess.PIPE)
(folder / str(engine.pid)).touch()
assert engine.stdin is not None


def follow() -> None:
    """End when the engine does, as if we were it."""
    os._exit(abs(engine.wait()))


threading.Thread(target=follow, daemon=True).start()
for line in sys.stdin.buffer:
    with (folder / "sent.jsonl").open("ab") as sent:
        sent.write(line)
    if hook and json.loads(line).get("hook") == hook and not (folder / "acted").exists():
        (folder / "acted").touch()
        engine.send_signal(signal.Signals[action])
    try:
        engine.stdin.write(line)
        engine.stdin.flush()
    except OSError:
        break
engine.stdin.close()
engine.wait()
