"""The newest prompt says who acts, and the person's own agents have the roles that the settings give them."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from matrixx_builtin.essentials import agent_roles
from matrixx_builtin.services.agents import agent_of, assign, role_of
from matrixx_core import ChatMessage, Session, rewrite
from matrixx_core.loading import ESSENTIALS, installed, load
from matrixx_core.settings import load_settings
from matrixx_core.testing import Rig, plugin_name

ROLES = {plugin_name(agent_roles): {"roles": {"boss": "orchestrator", "helper": "worker", "odd": "king"}}}


class StartWork:
    """A hook that hands the session over in the middle of its prompt."""

    @rewrite
    def chat_message(self, message: ChatMessage, session: Session) -> None:
        if "start-work" in message.text:
            assign(session, "architect")


def rig(**fields: Any) -> Rig:
    return Rig(agent_roles, StartWork(), **fields)


def role(rig: Rig) -> str:
    return anyio.run(role_of, rig.host.sessions["ses_test"], rig.client)


def test_it_is_installed_as_an_essential() -> None:
    assert installed()["agent-roles"].group == ESSENTIALS


def test_the_newest_prompt_says_who_acts() -> None:
    one = rig()
    for agent, expected in (("oracle", "planner"), ("build", "other"), ("", "other"), ("architect", "orchestrator")):
        one.chat("go on", agent=agent)
        assert role(one) == expected


def test_a_handover_holds_until_the_next_prompt_names_somebody() -> None:
    one = rig()
    one.chat("start-work", agent="oracle")
    assert role(one) == "orchestrator"
    one.transform("start-work")
    one.event("session.compacted")
    assert role(one) == "orchestrator"
    one.chat("and plan again", agent="oracle")
    assert role(one) == "planner"


def test_a_deleted_session_is_forgotten() -> None:
    one = rig()
    one.chat("plan", agent="oracle")
    one.event("session.deleted")
    assert anyio.run(agent_of, one.host.sessions["ses_test"], one.client) == ""


@pytest.mark.parametrize("reach", ["chat", "transform", "bash", "task"])
def test_own_agents_have_their_roles_whatever_comes_first(reach: str) -> None:
    one = rig(settings=ROLES)
    one.host.sessions["ses_test"].agent = "boss"
    if reach == "chat":
        one.chat("x")
    elif reach == "transform":
        one.transform("x")
    else:
        one.before(reach, command="ls")
    assert role(one) == "orchestrator"


def test_the_setting_stands_beside_what_the_seed_says_of_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "matrixx").mkdir()
    (tmp_path / "matrixx" / "matrixx.json").write_text(
        json.dumps({"agents": {"oracle": {"temperature": 1}, "roles": {"boss": "orchestrator", "x": "king"}}})
    )
    settings = load_settings(tmp_path)
    config = load({"agent-roles": agent_roles}, settings).configs["agent-roles"]
    assert isinstance(config, agent_roles.Config) and config.roles == {"boss": "orchestrator"}
    assert [problem.message for problem in settings.problems] == [
        "agents.roles.x: Input should be 'planner', 'orchestrator', 'worker' or 'other'; it is ignored"
    ]


def test_a_clone_hands_out_no_roles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "matrixx").mkdir(parents=True)
    (tmp_path / "home" / "matrixx" / "matrixx.json").write_text(json.dumps({"agents": {"roles": {"mine": "planner"}}}))
    (tmp_path / "matrixx.json").write_text(json.dumps({"agents": {"roles": {"mine": "other"}}}))
    plugins = load({"agent-roles": agent_roles}, load_settings(tmp_path))
    config = plugins.configs["agent-roles"]
    assert isinstance(config, agent_roles.Config) and config.roles == {"mine": "planner"}
    assert "`matrixx trust`" in plugins.waiting[0]
