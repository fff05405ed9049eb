"""The demo in the real OpenCode; the parts that need none of it besides."""

import json
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from matrixx_builtin.cli import cli
from matrixx_builtin.demo import host
from matrixx_builtin.demo.model import Agent, serving
from matrixx_builtin.demo.report import StepTold
from matrixx_builtin.demo.script import Step
from matrixx_core.answers import Block, refusal
from matrixx_core.errors import MatrixxError

WRITE = Step(title="write", tool="write", args={"filePath": "a"}, expect="block", by="g")
AGAIN = Step(title="again", tool="write", args={"filePath": "b"}, after_block=True)
REFUSAL = refusal(Block("a holds a key", "leave it out."), "g")


class Kept:
    """A stage that keeps its steps."""

    def __init__(self) -> None:
        self.steps: list[StepTold] = []

    def opened(self, hooks: Sequence[str]) -> None: ...

    def step(self, step: StepTold) -> None:
        self.steps.append(step)

    @contextmanager
    def busy(self, what: str) -> Generator[None]:
        yield


def program_file(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(("there", "message"), [((), "OpenCode is not installed"), (("opencode",), "ripgrep")])
def test_what_is_missing_is_one_line_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...], message: str
) -> None:
    monkeypatch.delenv("OPENCODE_BIN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in there:
        program_file(tmp_path, name)
    result = CliRunner().invoke(cli, ["demo", "--host", "opencode"])
    assert result.exit_code == 2
    assert message in result.stderr and result.stderr.count("\n") == 1


def test_opencode_is_the_program_that_the_environment_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program_file(tmp_path, "rg")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("OPENCODE_BIN", str(program_file(tmp_path, "mine")))
    assert host.find() == tmp_path / "mine"


@pytest.mark.parametrize(("result", "then"), [(REFUSAL, AGAIN), ("Wrote file successfully.", None)])
def test_the_scripted_model_tries_again_only_when_it_was_refused(result: str, then: Step | None) -> None:
    heard: list[tuple[Step | None, str]] = []
    agent = Agent(lambda step, read: heard.append((step, read)))
    agent.brief([WRITE, AGAIN])
    prompt = {"role": "user", "content": [{"type": "text", "text": "do it"}]}
    assert agent.answer([prompt]) is WRITE
    assert agent.answer([prompt, {"role": "assistant", "content": "own words"}, {"role": "tool", "content": result}]) is then
    assert heard == [(None, ""), (WRITE, result)]
    assert agent.read == f"do it\n{result}"


def test_the_model_speaks_the_protocol_and_knows_only_its_agents() -> None:
    agent = Agent(lambda _step, _read: None)
    agent.brief([WRITE])
    with serving({"one": agent}) as url:
        body = {"messages": [], "tools": [{}], "model": "scripted"}
        chunks = [json.loads(line[6:]) for line in post(f"{url}/one/v1/chat/completions", body).splitlines() if line.startswith("data: {")]
        (call,) = chunks[0]["choices"][0]["delta"]["tool_calls"]
        assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == ("write", {"filePath": "a"})
        assert chunks[1]["choices"][0]["finish_reason"] == "tool_calls"
        assert '"content": "Done."' in post(f"{url}/one/v1/chat/completions", {"messages": []})
        with pytest.raises(OSError, match="404"):
            post(f"{url}/two/v1/chat/completions", body)


def post(url: str, body: Any) -> str:
    import urllib.request

    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(urllib.request.Request(url, json.dumps(body).encode()), timeout=10) as response:
        return str(response.read().decode())


def test_a_step_is_told_from_the_engines_log_and_from_what_the_model_read(tmp_path: Path) -> None:
    stage, log = Kept(), tmp_path / "matrixx.log"
    watch = host.Watch(stage, log, lambda text: text.replace("SECRET", "…"), {("tool_execute_before", "g"): "guard"})
    watch.prompted = Step(title="prompt", prompt="do it")
    with log.open("a") as file:
        file.write("2026 INFO hook_timing messages_transform  env none 1.000 ms\n")
    watch.heard(None, "")
    with log.open("a") as file:
        file.write("2026 INFO hook_timing tool_execute_before write g block 0.250 ms\nhook_timing messages_transform  env none 1.5 ms\n")
    watch.heard(WRITE, REFUSAL.replace("a key", "a SECRET"))
    step = stage.steps[-1]
    assert [one.title for one in stage.steps] == ["prompt", host.FIRST.title, "write"]
    assert (step.verdict, step.blocked_by, step.ms, step.missing) == ("blocked", "g", 0.25, "")
    assert (step.calls[0].reason, step.calls[0].instead) == ("a holds a …", "leave it out.")
    assert [call.routine for call in step.calls] == [False, True]


def test_the_real_opencode_is_guarded_in_every_step(tmp_path: Path) -> None:
    try:
        host.find()
    except MatrixxError as error:
        if os.environ.get("MATRIXX_REQUIRE_HOSTS") == "1":
            raise
        pytest.skip(str(error))
    from .conftest import demonstrate

    run = demonstrate(tmp_path, "--json", "--host", "opencode")
    facts = {one["name"]: one for one in run.report["comparison"]}
    better = {"keys_read", "keys_on_disk", "keys_in_git", "env_file", "lines_lost", "tests", "waited", "jobs", "switched_off", "hints"}
    assert {name for name, fact in facts.items() if fact["better"]} >= better
    assert sum(step["verdict"] == "blocked" for step in run.report["steps"]) == 7
    assert not [step["title"] for step in run.report["steps"] if step["missing"]]
    assert run.left == [] and run.touched == ["config/matrixx/matrixx.jsonc"]
    assert not any(key[8:-4] in text for key in run.keys.values() for text in (run.output, run.page))
