from typing import Any

import matrixx_agent_usage_reminder as hook
import pytest

from matrixx_core.testing import SESSION, Rig


def reminders(rig: Rig, *tools: str) -> list[int]:
    """The places, from 1, of the calls at which the model was reminded."""
    return [place for place, tool in enumerate(tools, 1) if hook.TEXT in rig.after(tool, "out").event.output]


def rig(**settings: Any) -> Rig:
    return Rig(hook, settings={"agent-usage-reminder": settings})


@pytest.mark.parametrize(
    ("settings", "count", "places"),
    [
        ({}, 2, []),
        ({}, 30, [3, 9, 21]),
        ({}, 200, [3, 9, 21]),
        ({"most": 1}, 30, [3]),
        ({"most": 0}, 30, []),
        ({"after": 1, "most": 2}, 10, [1, 3]),
    ],
)
def test_it_is_reminded_a_few_times_at_growing_distances(settings: dict[str, Any], count: int, places: list[int]) -> None:
    assert reminders(rig(**settings), *["grep"] * count) == places


@pytest.mark.parametrize("tool", sorted(hook.SEARCHING))
def test_every_search_counts(tool: str) -> None:
    assert reminders(rig(), tool, tool, tool) == [3]


@pytest.mark.parametrize("tool", ["read", "bash", "edit", "skill"])
def test_other_tools_do_not(tool: str) -> None:
    assert reminders(rig(), *[tool] * 20) == []


@pytest.mark.parametrize("tool", sorted(hook.DELEGATING))
def test_who_has_delegated_needs_no_reminder(tool: str) -> None:
    one = rig()
    one.before(tool)
    assert reminders(one, *["grep"] * 20) == []


def test_sub_agents_are_left_alone() -> None:
    one = rig()
    one.host.sessions[SESSION].parent = "ses_main"
    assert reminders(one, *["grep"] * 20) == []


def test_a_summary_starts_the_count_anew_but_not_the_reminders() -> None:
    one = rig(most=2)
    assert reminders(one, "grep", "grep") == []
    one.event("session.compacted")
    assert reminders(one, *["grep"] * 40) == [3, 9]
