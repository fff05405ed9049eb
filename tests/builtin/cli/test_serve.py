import json
import os
import subprocess
import sys
from pathlib import Path

from builtin.cli.samples import Install, write_call

LOUD = """
import os, sys
from matrixx_core import ToolCall, observe

print("imported")

@observe
def tool_execute_before(call: ToolCall) -> None:
    print("called")
    print("complained", file=sys.stderr)
    os.system("echo spawned")
"""


def test_nothing_but_the_conversation_is_on_standard_output_and_the_rest_is_in_the_log(install: Install, project: Path, home: Path) -> None:
    install("loud", LOUD)
    call = write_call("x")
    asked = [{"op": "hello", "protocol": 1, "directory": str(project)}, {"id": 1, **call}]
    done = subprocess.run(
        [sys.executable, "-m", "matrixx_builtin", "serve", "opencode"],
        input="".join(json.dumps(one) + "\n" for one in asked[:1]),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=project,
        capture_output=True,
        text=True,
        check=True,
    )
    assert [json.loads(line)["op"] for line in done.stdout.splitlines()] in ([], ["ready"]), "the end of the stream ends it"
    engine = subprocess.Popen(
        [sys.executable, "-m", "matrixx_builtin", "serve", "opencode"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=project,
        text=True,
    )
    with engine:
        assert engine.stdin and engine.stdout and engine.stderr
        for one in asked:
            engine.stdin.write(json.dumps(one) + "\n")
            engine.stdin.flush()
            answer = json.loads(engine.stdout.readline())
        assert answer["id"] == 1
        engine.stdin.close()
        assert (engine.stdout.read(), engine.stderr.read(), engine.wait(timeout=30)) == ("", "", 0)
    log = (home / "state" / "matrixx.log").read_text()
    assert all(word in log for word in ("imported", "called", "complained", "spawned"))


STUBBORN = """
import asyncio, threading, time
from matrixx_core import ToolCall, observe

@observe
async def tool_execute_before(call: ToolCall) -> None:
    threading.Thread(target=time.sleep, args=(600,)).start()
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            pass
"""


def test_what_a_plugin_leaves_running_does_not_keep_the_engine(install: Install, project: Path) -> None:
    install("stubborn", STUBBORN)
    engine = subprocess.Popen(
        [sys.executable, "-m", "matrixx_builtin", "serve", "opencode"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=project,
        text=True,
    )
    with engine:
        assert engine.stdin and engine.stdout
        print(json.dumps({"op": "hello", "protocol": 1, "directory": str(project)}), file=engine.stdin, flush=True)
        assert json.loads(engine.stdout.readline())["op"] == "ready"
        print(json.dumps({"id": 1, **write_call("x")}), file=engine.stdin, flush=True)
        while (said := json.loads(engine.stdout.readline())).get("op") == "rpc":  # a hook wants to know whose session it is
            print(json.dumps({"op": "rpc-result", "id": said["id"], "status": 200, "body": []}), file=engine.stdin, flush=True)
        assert said == {"id": 1}
        engine.stdin.close()
        assert engine.wait(timeout=30) == 0
