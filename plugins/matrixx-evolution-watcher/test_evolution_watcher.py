import json
import secrets
import stat
from pathlib import Path
from typing import Any

import anyio
import matrixx_evolution_watcher as hook
import pytest

from matrixx_builtin.services import evolution
from matrixx_builtin.services.evolution import Trace
from matrixx_core.testing import SESSION, Rig, result


def made(tmp_path: Path, **settings: Any) -> Rig:
    return Rig(hook, settings={"evolution-watcher": {"enabled": True, **settings}}, directory=str(tmp_path))


def traces(tmp_path: Path) -> list[Trace]:
    return evolution.kept(str(tmp_path), SESSION)


def test_it_is_off_until_asked_for(tmp_path: Path) -> None:
    assert hook.off_because(hook.Config()) and not hook.off_because(hook.Config(enabled=True))
    made(tmp_path, enabled=False).after("bash", "out")
    assert not (tmp_path / ".matrixx").exists()


def test_a_call_leaves_one_trace_for_its_user_alone(tmp_path: Path) -> None:
    rig = made(tmp_path)
    rig.before("bash", command="ls")
    rig.after("bash", "a file", command="ls")
    [trace] = traces(tmp_path)
    assert (trace.tool, json.loads(trace.args), trace.output, trace.success) == ("bash", {"command": "ls"}, "a file", True)
    assert trace.ms is not None
    [path] = (tmp_path / ".matrixx/evolution/traces").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (tmp_path / ".matrixx/evolution/.gitignore").read_text() == "*\n"


@pytest.mark.parametrize(
    ("output", "metadata", "success"),
    [
        ("done", {}, True),
        ("def f(): raise Exception('error: failed to')", {}, True),
        ("done", {"exit": 0}, True),
        ("no such file", {"exit": 1}, False),
        ("waits", {"exit": None}, True),
        ("odd", {"exit": "1"}, True),
    ],
)
def test_failure_is_the_hosts_word(tmp_path: Path, output: str, metadata: dict[str, Any], success: bool) -> None:
    rig = made(tmp_path)
    anyio.run(rig.host.tool_execute_after, result("bash", output).model_copy(update={"metadata": metadata}))
    assert [one.success for one in traces(tmp_path)] == [success]


def test_a_failed_call_is_a_failure_and_its_time_is_unknown_without_a_beginning(tmp_path: Path) -> None:
    made(tmp_path).failed("bash", "no")
    [trace] = traces(tmp_path)
    assert (trace.success, trace.ms, trace.output) == (False, None, "no")


@pytest.mark.parametrize("tool", ["evolution_list", "skipped"])
def test_some_tools_leave_no_trace(tmp_path: Path, tool: str) -> None:
    made(tmp_path, watcher={"skipTools": ["skipped"]}).after(tool, "out")
    assert traces(tmp_path) == []


def test_secrets_are_masked_before_the_cut(tmp_path: Path) -> None:
    token = f"ghp_{secrets.token_hex(18)}"
    rig = made(tmp_path, watcher={"maxArgChars": 30, "maxOutputChars": 20})
    rig.after("bash", f"0123456789 {token}", command=f"echo {token}")
    text = "".join(path.read_text() for path in (tmp_path / ".matrixx/evolution/traces").iterdir())
    assert not any(token[start : start + 12] in text for start in range(4, len(token) - 12))


def test_what_is_long_is_cut_and_says_so(tmp_path: Path) -> None:
    made(tmp_path).after("bash", "x" * 5_000_000, command="y" * 100_000)
    [trace] = traces(tmp_path)
    assert len(trace.output) == 8_000 + len(evolution.CUT) and trace.output.endswith(evolution.CUT)
    assert len(trace.args) == 4_000 + len(evolution.CUT)


def test_calls_that_never_end_are_forgotten(tmp_path: Path) -> None:
    rig = made(tmp_path)
    begun = rig.host.sessions[SESSION].state(hook.Begun).at
    begun |= {str(number): 0.0 for number in range(hook.MOST)}
    rig.before("bash", command="ls")
    assert len(begun) == hook.MOST and "0" not in begun


@pytest.mark.parametrize("args", [{}, {"a": object()}, {"a": "\ud800"}, {"a": b"\0"}])
def test_odd_calls_are_kept_or_left_out_without_a_word(tmp_path: Path, args: dict[str, Any]) -> None:
    made(tmp_path).after("bash", "\ud800\0", **args)
    assert len(traces(tmp_path)) == 1


def test_where_nothing_can_be_written_it_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / ".matrixx").write_text("in the way")
    rig = made(tmp_path)
    for _ in range(3):
        rig.after("bash", "out")
    assert caplog.text.count("keeps no traces") == 1


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / ".matrixx/evolution/traces").mkdir(parents=True)
    (tmp_path / "elsewhere").write_text("")
    (tmp_path / f".matrixx/evolution/traces/{SESSION}.jsonl").symlink_to(tmp_path / "elsewhere")
    made(tmp_path).after("bash", "out")
    assert (tmp_path / "elsewhere").read_text() == ""
