from typing import Any

import matrixx_context_mode_enforcer as hook
import pytest

from matrixx_core import Block, Inject, Session, ToolDefinition
from matrixx_core.testing import RecordingClient, Rig, call, session


def client(*tools: str) -> RecordingClient:
    """A host that has described these tools to the model."""
    made = RecordingClient()
    for tool in tools:
        hook.tool_definition(ToolDefinition(session_id="", tool=tool, description=""), made)
    return made


def judged(tool: str, args: dict[str, Any], memory: Session | None = None, *tools: str, **settings: Any) -> Block | Inject | None:
    host = client(*(tools or ("ctx_search",)))
    return hook.tool_execute_before(call(tool, directory="/project", **args), memory or session(), host, hook.Config(**settings))


ENFORCED: dict[str, Any] = {"enforce": True, "blocked_tools": ("grep", "glob", "read", "webfetch", "bash")}


@pytest.mark.parametrize("tool", ["grep", "glob", "webfetch"])
def test_a_gated_tool_is_refused_when_enforced(tool: str) -> None:
    answer = judged(tool, {"pattern": "x"}, **ENFORCED)
    assert isinstance(answer, Block) and "ctx_" in answer.instead


def test_the_refusal_of_a_search_names_what_to_use() -> None:
    answer = judged("grep", {"pattern": "x"}, enforce=True)
    assert isinstance(answer, Block)
    assert all(word in answer.instead for word in ("ctx_batch_execute", "ctx_execute", "rg"))


@pytest.mark.parametrize(
    "command",
    ["curl https://a.example/x", "curl -s https://a.example | jq .", "wget -qO- http://a.example", "node x.js https://a.example",
     "cat src/a.py", "grep -rn foo src", "rg foo", "cat a.py | grep b", "cd src && head -5 a.py"],
)  # fmt: skip
def test_gated_commands_that_bring_raw_data_are_refused(command: str) -> None:
    assert isinstance(judged("bash", {"command": command}, **ENFORCED), Block)
    assert isinstance(judged("bash", {"command": command}, enforce=True), Inject)  # bash is not gated unless said


@pytest.mark.parametrize("command", ["bun run build", "npm install", "make test", "FOO=1 go test ./...", "docker build ."])
def test_a_build_is_never_refused(command: str) -> None:
    assert isinstance(judged("bash", {"command": command}, **ENFORCED), Inject)


@pytest.mark.parametrize(
    "command",
    ["git status", "pwd && whoami", "git log --grep=x", "git commit -m 'fix grep and curl'", "ls | grep b", "ls | head", "cat > f", "cat a > b",
     "curl -o f https://a.example", "git clone https://a.example/b", "echo https://a.example", "echo grep", ""],
)  # fmt: skip
def test_other_commands_pass_in_silence(command: str) -> None:
    assert judged("bash", {"command": command}, **ENFORCED) is None


def test_read_is_never_refused_and_not_spoken_of_unless_listed() -> None:
    assert judged("read", {"filePath": "a.py"}, enforce=True) is None
    assert isinstance(judged("read", {"filePath": "a.py"}, **ENFORCED), Inject)


def test_a_tool_that_is_not_listed_is_left_alone() -> None:
    assert judged("grep", {"pattern": "x"}, enforce=True, blocked_tools=("glob",)) is None
    assert isinstance(judged("grep", {"pattern": "x"}, enforce=True, blocked_tools=("GREP",)), Block)


@pytest.mark.parametrize("settings", [{}, ENFORCED])
@pytest.mark.parametrize("args", [("grep", {"pattern": "x"}), ("bash", {"command": "curl https://a.example"}), ("read", {"filePath": "a"})])
def test_without_a_substitute_nothing_is_said(args: tuple[str, dict[str, Any]], settings: dict[str, Any]) -> None:
    tool, given = args
    assert hook.tool_execute_before(call(tool, **given), session(), client(), hook.Config(**settings)) is None


def test_each_detour_is_pointed_out_once_in_a_session() -> None:
    memory = session()
    assert isinstance(judged("grep", {"pattern": "x"}, memory), Inject)
    assert judged("glob", {"pattern": "x"}, memory) is None
    assert isinstance(judged("bash", {"command": "curl https://a.example"}, memory), Inject)
    assert judged("bash", {"command": "curl https://b.example"}, memory) is None
    assert isinstance(judged("grep", {"pattern": "x"}, session()), Inject)


@pytest.mark.parametrize(
    "tool", ["ctx_execute", "context-mode_ctx_search", "mcp__context-mode__ctx_batch_execute", "mcp__tools__ctx_index"]
)
def test_a_substitute_is_known_from_its_first_call(tool: str) -> None:
    rig = Rig(hook, settings={"context-mode-enforcer": ENFORCED})
    assert rig.before("grep", pattern="x").block is None
    rig.before(tool, queries=["x"])
    assert rig.before("grep", pattern="x").blocked_by == "context-mode-enforcer"


def test_it_can_be_switched_off() -> None:
    assert hook.off_because(hook.Config(enabled=False))
    assert not hook.off_because(hook.Config())
    assert not Rig(hook, settings={"context-mode-enforcer": {"enabled": False, **ENFORCED}}).before("grep").ran


@pytest.mark.parametrize(
    "args", [{}, {"command": None}, {"command": 7}, {"command": "((((" * 500}, {"command": "\ud800\0"}, {"filePath": ["a"]}]
)
@pytest.mark.parametrize("tool", ["bash", "read", "webfetch"])
def test_odd_arguments_are_judged_without_an_error(tool: str, args: dict[str, Any]) -> None:
    answer = judged(tool, args)
    assert answer is None or isinstance(answer, Inject)


@pytest.mark.parametrize("tool", ["my_ctx_searcher", "ctx_searching", "ctx", "fctx_search", "\ud800"])
def test_what_only_looks_like_a_substitute_is_none(tool: str) -> None:
    rig = Rig(hook, settings={"context-mode-enforcer": ENFORCED})
    rig.before(tool, queries=["x"])
    assert rig.before("grep", pattern="x").block is None
