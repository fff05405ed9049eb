from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import matrixx_task_agent_routing as hook
import pytest

from matrixx_core import Message, ToolCall, ToolDefinition
from matrixx_core.client import NoClient
from matrixx_core.testing import RecordingClient, Rig, call, session

AGENTS = ({"name": "build"}, {"name": "explore"}, {"name": "Mouse (Worker)"}, {"name": "oracle"})


def said(*agents: str | None) -> Sequence[Message]:
    return [Message(info={"role": "user", **({"agent": agent} if agent is not None else {})}) for agent in agents]


def routed(args: dict[str, Any], client: RecordingClient | NoClient | None = None) -> ToolCall | None:
    return anyio.run(hook.tool_execute_before, call("task", **args), client or NoClient())


def agent_of(args: dict[str, Any], client: RecordingClient | NoClient | None = None) -> Any:
    answer = routed(args, client)
    return (answer.args if answer else args).get("subagent_type")


@pytest.mark.parametrize("args", [{"category": "quick"}, {"category": "visual", "subagent_type": "oracle"}])
def test_a_category_of_work_goes_to_the_worker(args: dict[str, Any]) -> None:
    assert agent_of({"prompt": "Do it.", **args}) == "mouse"
    assert agent_of({"prompt": "Do it.", **args}, RecordingClient(answer_agents=AGENTS)) == "Mouse (Worker)"


def test_a_host_without_the_worker_chooses_itself() -> None:
    client = RecordingClient(answer_agents=[{"name": "build"}, {"name": None}, {}])
    assert routed({"category": "quick", "subagent_type": "build"}, client) is None


@pytest.mark.parametrize(
    "agents", [(None, "explore", "oracle"), ("", "explore"), ("compaction", "explore", "mouse"), ("title", None, "explore")]
)
def test_a_resumed_session_keeps_its_agent(agents: tuple[str | None, ...]) -> None:
    client = RecordingClient(answer_messages=said(*agents))
    assert agent_of({"prompt": "Go on.", "session_id": "ses_a"}, client) == "explore"
    assert client.requests == [("messages", {"session_id": "ses_a"})]


@pytest.mark.parametrize("client", [RecordingClient(), RecordingClient(answer_messages=said(None, "")), NoClient()])
def test_where_nobody_knows_the_agent_none_is_named(client: RecordingClient | NoClient) -> None:
    assert agent_of({"prompt": "Go on.", "session_id": "ses_a"}, client) is None


def test_the_seeds_argument_resumes_the_session_under_the_hosts_own_name() -> None:
    answer = routed({"prompt": "Go on.", "session_id": "ses_a", "subagent_type": "explore"})
    assert answer is not None
    assert answer.args["task_id"] == "ses_a" and answer.args["subagent_type"] == "explore"


@pytest.mark.parametrize(
    "args",
    [
        {"subagent_type": "explore", "prompt": "Look."},
        {"subagent_type": "explore", "task_id": "ses_a"},
        {"prompt": "Look."},
        {"category": "", "subagent_type": "explore"},
        {"category": None},
        {"category": 7, "subagent_type": ["x"]},
        {"session_id": "../../etc"},
        {"session_id": "ses_a/abort"},
        {"session_id": 3},
        {"session_id": "\ud800\0"},
        {},
    ],
)
def test_other_calls_stay_as_they_are(args: dict[str, Any]) -> None:
    client = RecordingClient(answer_messages=said("oracle"), answer_agents=AGENTS)
    assert routed(args, client) is None
    assert client.requests == []


def test_a_host_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(NoClient):
        async def agents(self) -> Sequence[Mapping[str, Any]]:
            await anyio.sleep_forever()
            raise AssertionError

    monkeypatch.setattr(hook, "LOOKUP_SECONDS", 0.01)
    assert agent_of({"category": "quick"}, Slow()) == "mouse"


PARAMETERS = {"type": "object", "properties": {"prompt": {"type": "string"}}, "required": ["prompt"]}


def told(parameters: Mapping[str, Any], *agents: Mapping[str, Any]) -> Mapping[str, Any] | None:
    definition = ToolDefinition(session_id="", tool="task", description="Delegate.", parameters=parameters)
    answer = anyio.run(hook.tool_definition, definition, session(), RecordingClient(answer_agents=agents))
    return answer.parameters if answer else None


def test_the_model_is_told_of_the_category_where_the_worker_is_there() -> None:
    parameters = told(PARAMETERS, *AGENTS)
    assert parameters is not None
    assert parameters["required"] == ["prompt"] and parameters["properties"]["prompt"] == {"type": "string"}
    assert "Mouse (Worker)" in parameters["properties"]["category"]["description"]


@pytest.mark.parametrize("parameters", [{}, {"properties": None}, {"properties": ["x"]}, {"properties": {"category": {"type": "number"}}}])
def test_a_tool_whose_arguments_are_odd_or_have_it_is_left_alone(parameters: Mapping[str, Any]) -> None:
    assert told(parameters, *AGENTS) is None


def test_without_the_worker_nothing_is_told() -> None:
    assert told(PARAMETERS, {"name": "build"}) is None
    assert told(PARAMETERS) is None


def test_the_host_is_asked_once_and_the_definition_stays_the_same() -> None:
    client, memory = RecordingClient(answer_agents=AGENTS), session()
    definition = ToolDefinition(session_id="", tool="task", description="Delegate.", parameters=PARAMETERS)
    first, second = (anyio.run(hook.tool_definition, definition, memory, client) for _ in range(2))
    assert first == second and len(client.requests) == 1


def test_only_tasks_are_looked_at() -> None:
    rig = Rig(hook)
    assert not rig.before("bash", category="quick", command="true").ran
    assert rig.before("task", category="quick", prompt="x").event.args["subagent_type"] == "mouse"
