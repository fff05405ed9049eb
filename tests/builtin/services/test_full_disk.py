"""A disk that takes no more: the tool says so, what was there stays byte for byte, and nothing half-written is left.

The disk is really full for these processes: the system refuses what would make a file longer than ``RLIMIT_FSIZE``.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

resource = pytest.importorskip("resource")

FULL_AFTER = 4_096
BIG = "x" * 2 * FULL_AFTER
TASK, PLAN, NOTE = ".matrixx/tasks/T-1.json", ".matrixx/plans/login.md", ".matrixx/notepads/adhoc/learnings.md"
THERE = {
    TASK: '{"id": "T-1", "subject": "s", "threadID": "ses_1"}',
    PLAN: "- [ ] one\n",
    NOTE: "## before\n\nkept\n\n",
    ".matrixx/mission.json": '{"plan_name": "login", "session_ids": ["ses_1"]}',
    ".matrixx/matrixx.json": '{"experimental": {"hashline_edit": true}}',
    "a.py": "a = 1\n",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "XDG_CONFIG_HOME", "MATRIXX_STATE_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    for name, text in THERE.items():
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path / "project"


def on_a_full_disk(*argv: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (FULL_AFTER, resource.RLIM_INFINITY))

    # Python 3.11 keeps what it could write of a module's bytecode, and fails on it for ever after
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *argv], capture_output=True, text=True, check=False, timeout=120, preexec_fn=fill, env=env, **options
    )


def files(project: Path) -> dict[str, str]:
    return {
        str(path.relative_to(project)): path.read_text("utf-8") for path in project.rglob("*") if path.is_file() and path.name != ".lock"
    }


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("task_create", {"subject": "big", "description": BIG}),
        ("task_update", {"id": "T-1", "description": BIG}),
        ("plan_create", {"name": "big", "content": BIG}),
        ("plan_update", {"name": "login", "edits": [{"op": "append", "lines": BIG}], "revision": "REVISION"}),
        ("edit", {"filePath": "a.py", "edits": [{"op": "append", "lines": BIG}]}),
        ("edit", {"filePath": "new.py", "edits": [{"op": "append", "lines": BIG}]}),
        ("edit", {"filePath": "a.py", "edits": [{"op": "append", "lines": BIG}], "rename": "b.py"}),
    ],
)
def test_a_tool_says_that_the_disk_is_full_and_changes_nothing(project: Path, tool: str, args: dict[str, Any]) -> None:
    from matrixx_builtin.services.text_files import revision

    args = {**args, **({"revision": revision(THERE[PLAN].encode())} if "revision" in args else {})}
    done = on_a_full_disk("-m", "matrixx_builtin", "tool", tool, json.dumps(args), "--project", str(project), "--json")
    answer = json.loads(done.stdout)
    assert not answer["ok"], done.stderr
    assert "File too large" in answer["error"]
    assert files(project) == THERE


WRITES = {
    "note": "Notepads(project).note('learnings', 'x' * {size})",
    "task": "Notepads(project).start('T-1', 's', priority='x' * {size})",
    "mission": "MissionFile(project).start(Path('/p/' + 'x' * {size} + '.md'), 'ses_2')",
    "session": "MissionFile(project).append('x' * {size})",
}

SCRIPT = """
import sys
from pathlib import Path
from matrixx_builtin.services.mission import MissionFile
from matrixx_builtin.services.notepads import Notepads
from matrixx_builtin.services.records import RecordError
project = Path(sys.argv[1])
try:
    {write}
except RecordError as error:
    print(error)
"""


@pytest.mark.parametrize("write", WRITES)
def test_the_stores_behind_the_tools_do_so_too(project: Path, write: str) -> None:
    done = on_a_full_disk("-c", SCRIPT.format(write=WRITES[write].format(size=len(BIG))), str(project))
    assert "File too large" in done.stdout, done.stderr
    assert files(project) == THERE
