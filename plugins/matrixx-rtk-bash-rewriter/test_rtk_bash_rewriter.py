from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import matrixx_rtk_bash_rewriter as hook
import pytest

from matrixx_core import Block, ToolCall, guard
from matrixx_core.testing import Rig, call, session


@pytest.fixture
def rtk(tmp_path: Path) -> Path:
    """An rtk that answers each command as a file of that name says: exit code, then what it prints."""
    program = tmp_path / "rtk"
    program.write_text('#!/bin/sh\n[ "$1" = rewrite ] || exit 9\n. "$(dirname "$0")/answer"\n')
    program.chmod(0o755)
    return program


def asked(rtk: Path, answer: str, command: Any = "git status", **config: Any) -> ToolCall | None:
    (rtk.parent / "answer").write_text(answer)
    settings = hook.Config(enabled=True, binary_path=str(rtk), **config)
    return anyio.run(hook.tool_execute_before, call("bash", command=command, directory=str(rtk.parent)), session(), settings)


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ("echo rtk git status; exit 0", "rtk git status"),
        ("echo rtk git status; exit 3", "rtk git status"),
        ("printf '  rtk git status \\n\\n'", "rtk git status"),
        ("printf 'rtk git status &&\\nrtk git log\\n'", "rtk git status &&\nrtk git log"),
        ("echo rtk git status; exit 1", None),
        ("echo rtk git status; exit 2", None),
        ("echo rtk git status; exit 127", None),
        ("echo rtk git status; kill -9 $$", None),
        ("exit 0", None),
        ("echo '   '", None),
        ('echo "$2"', None),
        ("head -c 200000 /dev/zero | tr '\\0' x", None),
    ],
)
def test_a_command_is_replaced_by_what_rtk_prints_and_otherwise_left(rtk: Path, answer: str, wanted: str | None) -> None:
    changed = asked(rtk, answer)
    assert (changed.args["command"] if changed else None) == wanted


@pytest.mark.parametrize("command", ["", "  ", "--help", " -x", None, 5, ["ls"], "x" * 40_000, "ls \0 x", "echo \ud800"])
def test_what_is_no_command_for_rtk_never_reaches_it(rtk: Path, command: Any) -> None:
    (rtk.parent / "answer").write_text("touch asked; echo changed")
    changed = asked(rtk, "touch asked; echo changed", command)
    assert changed is None or command == "echo \ud800"


def test_an_rtk_that_hangs_costs_its_deadline_and_the_command_runs_as_it_is(rtk: Path) -> None:
    assert asked(rtk, "echo rtk git status; sleep 60 & sleep 60", timeout_ms=1_000) is None


def test_without_rtk_nothing_changes(tmp_path: Path) -> None:
    missing = hook.Config(enabled=True, binary_path=str(tmp_path / "nowhere"))
    assert anyio.run(hook.tool_execute_before, call("bash", command="ls"), session(), missing) is None


def test_it_is_off_until_somebody_asks_for_it() -> None:
    assert hook.off_because(hook.Config()) == "rtk.enabled is false"
    assert hook.off_because(hook.Config(enabled=True)) == ""


def test_what_rtk_answers_is_judged_again(rtk: Path) -> None:
    (rtk.parent / "answer").write_text("echo cat .env")

    @guard
    def tool_execute_before(call: ToolCall) -> Block | None:
        return Block("a secret") if ".env" in call.args["command"] else None

    cage = ModuleType("cage")
    vars(cage)["tool_execute_before"] = tool_execute_before
    rig = Rig(hook, cage, settings={"rtk-bash-rewriter": {"enabled": True, "binary_path": str(rtk)}})
    assert rig.before("bash", command="git status", directory=str(rtk.parent)).block is not None
