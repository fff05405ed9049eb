"""What hooks ask of OpenCode becomes calls of its API, and never more than its person allows."""

from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from matrixx_builtin.hosts.opencode.client import OpenCodeClient
from matrixx_core.errors import ClientError

ALLOW = {"permission": "*", "pattern": "*", "action": "allow"}
PARENT = "/session/ses_1"


def rule(permission: str, pattern: str, action: str) -> dict[str, str]:
    return {"permission": permission, "pattern": pattern, "action": action}


class Api:
    """OpenCode's API: answers what it is given, and keeps what was posted."""

    def __init__(self, answers: Mapping[str, Any] | None = None) -> None:
        self.answers = answers or {}
        self.posted: list[tuple[str, Any]] = []

    async def request(self, method: str, path: str, body: Any) -> Any:
        if method == "POST":
            self.posted.append((path, body))
            return {"id": "ses_2"} if path == "/session" else None
        return self.answers.get(path)


def delegating(agent_rules: Any, session_rules: Any = None) -> Api:
    return Api({PARENT: {"agent": "build", "permission": session_rules}, "/agent": [{"name": "build", "permission": agent_rules}]})


def create(api: Api, agent: str = "general") -> str:
    async def run() -> str:
        return await OpenCodeClient(api.request).create_session("ses_1", "Look", agent=agent)

    return anyio.run(run)


def test_a_child_is_denied_what_its_parent_is_denied_and_what_sub_agents_are() -> None:
    given = [rule("bash", "rm *", "deny"), rule("external_directory", "/data", "allow"), rule("edit", "*", "allow")]
    api = delegating([ALLOW], given)
    assert create(api) == "ses_2"
    [(path, body)] = api.posted
    assert (path, body["parentID"], body["title"], body["agent"]) == ("/session", "ses_1", "Look", "general")
    assert body["permission"] == [*given[:2], rule("todowrite", "*", "deny"), rule("task", "*", "deny")]


@pytest.mark.parametrize(
    ("agent_rules", "session_rules", "said"),
    [
        ([ALLOW, rule("task", "*", "deny")], None, "deny"),
        ([ALLOW, rule("task", "gen*", "ask")], None, "ask"),
        ([ALLOW], [rule("task", "general", "deny")], "deny"),
        ([rule("bash", "*", "allow")], None, "ask"),
        ([], [], "ask"),
        ("broken", ["broken", None], "ask"),
    ],
)
def test_without_a_plain_yes_nothing_is_delegated(agent_rules: Any, session_rules: Any, said: str) -> None:
    api = delegating(agent_rules, session_rules)
    with pytest.raises(ClientError, match=f"say '{said}' to handing work to agent 'general'"):
        create(api)
    assert api.posted == []


def test_the_last_rule_that_fits_decides() -> None:
    assert create(delegating([ALLOW, rule("task", "*", "deny"), rule("task", "general", "allow")])) == "ses_2"


@pytest.mark.parametrize("answer", [None, [], "no", 1])
def test_an_unknown_parent_is_an_error(answer: Any) -> None:
    with pytest.raises(ClientError, match="knows no session 'ses_1'"):
        create(Api({PARENT: answer}))


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("", None),
        ("nonsense", None),
        ("openrouter/vendor/model", {"providerID": "openrouter", "modelID": "vendor/model"}),
    ],
)
def test_a_prompt_names_its_model(model: str, told: Any) -> None:
    api = Api()

    async def run() -> None:
        await OpenCodeClient(api.request).prompt("ses_1", "go on", model=model)

    anyio.run(run)
    [(path, body)] = api.posted
    assert (path, body.get("model")) == ("/session/ses_1/prompt_async", told)
