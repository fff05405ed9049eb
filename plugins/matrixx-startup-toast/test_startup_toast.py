from typing import Any

import matrixx_startup_toast as hook
import pytest

from matrixx_core.testing import RecordingClient, Rig

ROOT: dict[str, Any] = {"info": {"id": "ses_1"}}
CHILD: dict[str, Any] = {"info": {"id": "ses_2", "parentID": "ses_1"}}


def toasts(*sessions: dict[str, Any], failed: int = 0) -> list[str]:
    client = RecordingClient()
    rig = Rig(hook, client=client)
    rig.host.plugins.failed.extend([object()] * failed)  # type: ignore[list-item]  # only their number is told
    rig.host.plugins.manager.hook.host_opened(host=rig.host)
    for properties in sessions:
        rig.event("session.created", **properties)
    return [arguments["message"] for name, arguments in client.requests if name == "toast"]


def test_the_first_session_is_greeted_once() -> None:
    [text] = toasts(ROOT, ROOT)
    assert text.endswith(": 1 hooks are on.")


def test_sub_agents_are_not_greeted() -> None:
    assert toasts(CHILD) == []
    assert len(toasts(CHILD, ROOT)) == 1


def test_plugins_that_could_not_be_loaded_are_told() -> None:
    [text] = toasts(ROOT, failed=2)
    assert "2 could not be loaded (run: matrixx doctor)" in text


@pytest.mark.parametrize("properties", [{}, {"info": None}, {"info": 5}, {"info": {"parentID": ""}}])
def test_an_odd_event_is_a_session_like_any_other(properties: dict[str, Any]) -> None:
    assert len(toasts(properties)) == 1


def test_a_host_that_was_never_opened_is_left_alone() -> None:
    client = RecordingClient()
    Rig(hook, client=client).event("session.created", **ROOT)
    assert client.requests == []
