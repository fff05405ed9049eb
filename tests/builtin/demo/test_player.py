"""The player with hooks of a stranger, broken ones among them."""

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from rich.console import Console

from matrixx_builtin.demo.page import page
from matrixx_builtin.demo.player import Player
from matrixx_builtin.demo.report import Report, StepTold, hook_rows
from matrixx_builtin.demo.script import Script, Step
from matrixx_builtin.demo.terminal import Terminal
from matrixx_builtin.demo.workshop import Workshop
from matrixx_builtin.hosts.opencode.adapter import OpenCode
from matrixx_core import Block, ChatMessage, Inject, ToolCall, ToolResult, guard, observe, rewrite
from matrixx_core.host import Host
from matrixx_core.loading import load

WRITE = Step(
    title="It writes", tool="write", args={"filePath": "a.txt", "content": "new\n"}, expect="block", by="shipped-guard", harm="it is gone"
)
AGAIN = Step(title="Another way", tool="read", args={"filePath": "a.txt"}, after_block=True)
SCRIPT = Script(files={"a.txt": "old\n"}, steps=(Step(title="You ask", prompt="do it"), WRITE, AGAIN))


class Watching:
    @observe
    def tool_execute_before(self, call: ToolCall) -> None:
        """Look only."""


class Refusing:
    @guard(tools={"write"})
    def tool_execute_before(self, call: ToolCall) -> Block:
        return Block("not here", "look first")


class BrokenGuard:
    @guard(tools={"write"})
    def tool_execute_before(self, call: ToolCall) -> Block | None:
        raise RuntimeError(call.tool)


class BrokenHelper:
    @rewrite
    def tool_execute_before(self, call: ToolCall) -> ToolCall:
        raise RuntimeError(call.tool)


class Elsewhere:
    """Changes where a write goes."""

    @rewrite(tools={"write"})
    def tool_execute_before(self, call: ToolCall) -> ToolCall:
        return call.with_args(filePath="b.txt")


class Talking:
    @rewrite
    def chat_message(self, message: ChatMessage) -> Inject:
        return Inject("think first")

    @guard
    def tool_execute_after(self, result: ToolResult) -> Inject:
        return Inject("well done")


@pytest.fixture
def play(tmp_path: Path) -> Callable[..., tuple[list[StepTold], Player]]:
    def played(**plugins: Any) -> tuple[list[StepTold], Player]:
        project = tmp_path / "project"
        project.mkdir()
        workshop = Workshop(project, tmp_path / "home", SCRIPT)
        workshop.furnish()
        player = Player(OpenCode(Host(load(plugins), directory=str(project))), workshop, lambda text: text)

        async def all_steps() -> list[StepTold]:
            return [step async for step in player.play()]

        return anyio.run(all_steps), player

    return played


def on_a_terminal(steps: list[StepTold], hooks: tuple[str, ...] = ()) -> str:
    stage = Terminal(Console(file=io.StringIO(), width=80, record=True))
    stage.opened(hooks)
    for step in steps:
        stage.step(step)
    return " ".join(stage.console.export_text().split())


@pytest.mark.parametrize(
    ("plugins", "verdicts", "files"),
    [
        ({}, ["passed", "passed"], {"a.txt": "new\n"}),
        ({"w": Watching()}, ["passed", "passed"], {"a.txt": "new\n"}),
        ({"r": Refusing()}, ["passed", "blocked", "passed"], {"a.txt": "old\n"}),
        ({"g": BrokenGuard()}, ["passed", "blocked", "passed"], {"a.txt": "old\n"}),
        ({"h": BrokenHelper()}, ["passed", "passed"], {"a.txt": "new\n"}),
        ({"e": Elsewhere()}, ["passed", "changed"], {"a.txt": "old\n", "b.txt": "new\n"}),
        ({"t": Talking()}, ["noted", "noted"], {"a.txt": "new\n"}),
    ],
    ids=["nobody", "an observer", "a guard", "a broken guard", "a broken helper", "a rewriter", "a talker"],
)
def test_the_verdict_and_the_disk_agree(
    play: Callable[..., tuple[list[StepTold], Player]], plugins: Mapping[str, Any], verdicts: list[str], files: Mapping[str, str]
) -> None:
    steps, player = play(**plugins)
    assert [step.verdict for step in steps] == verdicts
    for name, text in files.items():
        assert (player.workshop.project / name).read_text() == text


def test_a_step_that_nobody_guarded_says_who_would_have_and_what_it_did(play: Callable[..., tuple[list[StepTold], Player]]) -> None:
    steps, _ = play(w=Watching())
    assert (steps[1].missing, steps[1].harm) == ("shipped-guard", "it is gone")
    assert "shipped-guard is not installed, or off: it is gone" in on_a_terminal(steps)
    assert "shipped-guard had nothing to say: it is gone" in on_a_terminal(steps, ("shipped-guard",))


def test_any_guard_will_do(play: Callable[..., tuple[list[StepTold], Player]]) -> None:
    steps, _ = play(r=Refusing())
    assert (steps[1].missing, steps[1].blocked_by) == ("", "r")
    assert "r blocked" in on_a_terminal(steps) and "Instead: look first" in on_a_terminal(steps)


def test_a_broken_hook_is_shown_and_counted_as_failed(play: Callable[..., tuple[list[StepTold], Player]]) -> None:
    steps, _ = play(g=BrokenGuard(), w=Watching())
    assert "g failed" in on_a_terminal(steps)
    rows = {row.hook: row for row in hook_rows(steps)}
    assert (rows["g"].errors, rows["g"].blocks, rows["w"].errors) == (1, 0, 0)
    assert "g failed" in page(Report(host="scripted", seconds=1, installed=("g", "w"), steps=tuple(steps)))


def test_the_model_reads_refusals_results_and_notes_but_not_its_own_words(play: Callable[..., tuple[list[StepTold], Player]]) -> None:
    _, player = play(r=Refusing(), t=Talking())
    assert "do it" in player.read and "think first" in player.read
    assert "Blocked by Matrixx hook 'r': not here" in player.read
    assert "new\n" not in player.read
    assert player.notes == 2
