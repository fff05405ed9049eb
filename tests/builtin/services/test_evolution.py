"""Traces stay small, private and without secrets; lessons are counts, and written once."""

import os
import secrets
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from matrixx_builtin.services import evolution
from matrixx_builtin.services.evolution import Lesson, Trace, distilled, forget_old, is_due, keep, kept, pending, settle, shortened, stage


def trace(tool: str = "read", args: str = "{}", *, success: bool = True, output: str = "") -> Trace:
    return Trace(call_id="c", at=1.0, tool=tool, args=args, output=output, success=success)


@pytest.mark.parametrize("name", ["ses_1", "../../etc/passwd", "a/b", "", "\0", "x" * 1_000, "\ud800"])
def test_a_sessions_traces_lie_in_their_folder_whatever_its_name(tmp_path: Path, name: str) -> None:
    keep(str(tmp_path), name, trace())
    assert kept(str(tmp_path), name) == [trace()]
    [path] = list(tmp_path.rglob("*.jsonl"))
    assert path.parent == tmp_path / ".matrixx/evolution/traces"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_file_that_has_grown_keeps_its_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evolution, "MOST_BYTES", 20_000)
    for number in range(300):
        keep(str(tmp_path), "s", trace(output=str(number)))
    [path] = tmp_path.rglob("*.jsonl")
    assert path.stat().st_size <= 20_200
    assert kept(str(tmp_path), "s")[-1].output == "299"


def test_broken_lines_are_left_out(tmp_path: Path) -> None:
    keep(str(tmp_path), "s", trace())
    [path] = tmp_path.rglob("*.jsonl")
    path.write_bytes(b"{\n\xff\xfe\n[]\n" + path.read_bytes() + b'{"call_id": 5}\n')
    assert kept(str(tmp_path), "s") == [trace()]


@pytest.mark.parametrize("at", [0, 10, 90, 100, 150])
def test_a_secret_is_masked_wherever_the_cut_is(at: int) -> None:
    token = f"ghp_{secrets.token_hex(18)}"
    text = shortened("x" * at + " " + token + " " + "y" * 500, 100)
    assert token[4:20] not in text and len(text) <= 100 + len(evolution.CUT)


@pytest.mark.parametrize("link", [".matrixx", ".matrixx/evolution"])
def test_a_link_out_of_the_project_is_not_followed(tmp_path: Path, link: str) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    outside.mkdir()
    (project / link).parent.mkdir(parents=True)
    (project / link).symlink_to(outside)
    for attempt in (lambda: keep(str(project), "s", trace()), lambda: pending(str(project)), lambda: stage(str(project), lesson(), 50)):
        with pytest.raises(OSError, match="leads out of the project"):
            attempt()
    assert kept(str(project), "s") == []
    assert list(outside.iterdir()) == []


def test_old_traces_go(tmp_path: Path) -> None:
    keep(str(tmp_path), "old", trace())
    keep(str(tmp_path), "new", trace())
    then = time.time() - 31 * 24 * 3_600
    os.utime(tmp_path / ".matrixx/evolution/traces/old.jsonl", (then, then))
    forget_old(str(tmp_path), 30)
    assert [path.stem for path in tmp_path.rglob("*.jsonl")] == ["new"]


def test_a_time_counts_once(tmp_path: Path) -> None:
    assert [is_due(str(tmp_path), "last_prompt_at", 60) for _ in range(2)] == [True, False]
    assert is_due(str(tmp_path), "last_compression_at", 60)
    assert is_due(str(tmp_path), "last_prompt_at", 0)


@pytest.mark.parametrize(
    ("traces", "slug", "confidence"),
    [
        ([trace()] * 5, "workflow-read", 0.9),
        ([trace("bash", '{"command": "make -j test"}')] * 5, "workflow-bash-make", 0.9),
        ([trace("bash", '{"command": "$(evil) x"}')] * 5, "workflow-bash", 0.9),
        ([trace("bash", "not json…[truncated]")] * 5, "workflow-bash", 0.9),
        ([trace("a/../b\nname: evil")] * 5, "workflow-a-b-name-evil", 0.9),
        ([trace("ü")] * 5, "workflow", 0.9),
        ([trace(success=False)] * 5, "workflow-read", 0.3),
        ([trace()] * 3 + [trace(success=False)] * 2, "workflow-read", 0.6),
        ([trace()] * 6 + [trace(success=False)] * 6, "workflow-read", 0.6),
        ([trace()] * 11 + [trace(success=False)] * 11, "workflow-read", 0.65),
    ],
)
def test_a_lesson_is_made_of_counts(traces: list[Trace], slug: str, confidence: float) -> None:
    lesson = distilled(traces, "s")
    assert lesson is not None and (lesson.slug, lesson.confidence) == (slug, confidence)
    assert "\nname: evil" not in lesson.text


def test_of_nothing_nothing_is_learned() -> None:
    assert distilled([], "s") is None


def lesson(text: str = "x", slug: str = "workflow") -> Lesson:
    return Lesson(slug=slug, text=text, confidence=0.9, traces=5, session_id="s", at=1.0)


def test_what_the_person_has_already_does_not_wait_again(tmp_path: Path) -> None:
    assert stage(str(tmp_path), lesson(), 50)
    settle(str(tmp_path), lesson(), approved=True)
    assert not stage(str(tmp_path), lesson(), 50)
    assert stage(str(tmp_path), lesson("another"), 50)


def test_no_more_wait_than_settings_say(tmp_path: Path) -> None:
    assert [stage(str(tmp_path), lesson(slug=f"w-{number}"), 2) for number in range(3)] == [True, True, False]
    assert stage(str(tmp_path), lesson("newer", "w-0"), 2)
    assert {one.text for one in pending(str(tmp_path))} == {"x", "newer"}


@pytest.mark.parametrize("slug", ["", "../x", "a/b", "A", "-x", "x" * 100])
def test_a_name_is_one_short_word(slug: Any) -> None:
    with pytest.raises(ValueError, match="slug"):
        lesson(slug=slug)
