from typing import Any

import matrixx_context_window_monitor as hook
import pytest

from matrixx_core.testing import Rig


def used(rig: Rig, count: Any, **cache: Any) -> None:
    """The host tells what a request has cost."""
    info = {"role": "assistant", "time": {"completed": 1}, "tokens": {"input": count, "output": 0, "cache": cache}}
    rig.event("message.updated", info=info)


def told(rig: Rig) -> str:
    return rig.after("bash", "out", command="ls").event.output.removeprefix("out").strip()


@pytest.mark.parametrize(
    ("count", "cache", "settings", "text"),
    [
        (60_000, {}, {}, ""),
        (139_999, {}, {}, ""),
        (140_000, {}, {}, "140,000 of 200,000 tokens used (70 %), 60,000 left"),
        (10_000, {"read": 150_000, "write": 10_000}, {}, "170,000 of 200,000 tokens used (85 %), 30,000 left"),
        (90_000, {}, {"context_tokens": 100_000}, "90,000 of 100,000 tokens used (90 %)"),
        (60_000, {}, {"context_warning_threshold": 0.25}, "60,000 of 200,000"),
        (300_000, {}, {}, ""),
        (0, {}, {}, ""),
        ("many", {"read": None}, {}, ""),
    ],
)
def test_the_numbers_are_those_of_the_model(count: Any, cache: dict[str, Any], settings: dict[str, Any], text: str) -> None:
    rig = Rig(hook, settings={"context-window-monitor": settings})
    used(rig, count, **cache)
    said = told(rig)
    assert text in said
    assert bool(said) == bool(text)


def test_a_wide_window_is_known_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_1M_CONTEXT", "true")
    rig = Rig(hook)
    used(rig, 140_000)
    assert told(rig) == ""
    used(rig, 710_000)
    assert "710,000 of 1,000,000 tokens used (71 %)" in told(rig)


def test_it_is_told_once_and_once_more_after_a_summary() -> None:
    rig = Rig(hook)
    used(rig, 150_000)
    assert told(rig)
    used(rig, 160_000)
    assert told(rig) == ""
    rig.event("session.compacted")
    assert told(rig) == "", "what the window holds now is not known yet"
    used(rig, 20_000)
    assert told(rig) == ""
    used(rig, 150_000)
    assert "150,000" in told(rig)


def test_nothing_is_told_before_anything_is_known() -> None:
    assert told(Rig(hook)) == ""
