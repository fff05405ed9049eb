"""The order of the seeds, in which hooks change a call and speak behind it (DESIGN 3, spec tool-hooks 0.4)."""

from collections.abc import Iterator
from itertools import pairwise

import pytest

from matrixx_core.host import Host
from matrixx_core.loading import installed, load

BEFORE = ["rtk-bash-rewriter", "non-interactive-env", "bash-file-read-guard", "oracle-md-only", "mouse-notepad", "architect"]
AFTER = [
    "context-window-monitor", "comment-checker", "directory-agents-injector", "rules-injector", "empty-task-response-detector",
    "agent-usage-reminder", "category-skill-reminder", "interactive-bash-session", "edit-error-recovery", "delegate-task-retry", "architect",
    "task-resume-info", "json-error-recovery",
]  # fmt: skip
PROMPT = ["auto-slash-command", "keyword-detector", "think-mode"]

CHAINS = {"tool_execute_before": BEFORE, "tool_execute_after": AFTER, "chat_message": PROMPT}


def pairs() -> Iterator[tuple[str, str, str]]:
    yield from ((event, first, second) for event, chain in CHAINS.items() for first, second in pairwise(chain))


@pytest.fixture(scope="module")
def order() -> list[str]:
    """All shipped hooks in run order, those that are off by default as well."""
    modules = {name: found.entry.load() for name, found in installed().items()}
    return list(load(modules).order)


@pytest.mark.parametrize(("event", "first", "second"), list(pairs()))
def test_one_comes_before_the_other(order: list[str], event: str, first: str, second: str) -> None:
    assert order.index(first) < order.index(second), event


@pytest.mark.parametrize("event", CHAINS)
def test_every_hook_of_a_chain_answers_its_event(event: str) -> None:
    modules = {name: found.entry.load() for name, found in installed().items()}
    manager = Host(load(modules)).plugins.manager
    answering = {implementation.plugin_name for implementation in getattr(manager.hook, event).get_hookimpls()}
    assert [name for name in CHAINS[event] if name in manager.list_name_plugin() and name not in answering] == []
