"""The nine properties that keep a provider's prompt cache (spec slim-hooks 4.4), of the whole fleet and not of one hook.

P1 and P6 are in ``test_prompt_cache.py``, over random histories. Of the two strategies of the original, ours is the one that binds a text
to a message and repeats it there (P5 is about the other one; here it says that no hook ever adds or takes a message).
"""

import ast
import itertools
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from matrixx_builtin.hosts.opencode.adapter import OpenCode
from matrixx_core.host import Host
from matrixx_core.loading import installed, load
from matrixx_core.testing import RecordingClient

from .conversation import EVERYTHING, SESSION, Conversation, Raw, Turn, Use

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests/data/golden/conversation.json"

SCRIPT = [
    Turn("Fix the greeting.", [Use("read", {"filePath": "src/a.py"}, "<content>\n00001| x = 1\n</content>")]),
    Turn(
        "ultrawork on the parser", [Use("edit", {"filePath": "src/a.py", "oldString": "x", "newString": "y"}, error="oldString not found")]
    ),
    Turn("think hard about the cache", [Use("grep", {"pattern": "needle"}, "needle\n" * 40_000)]),
    Turn(
        "Have it looked at.",
        [
            Use(
                "task",
                {"description": "Look", "prompt": "Look around.", "subagent_type": "general"},
                '<task id="ses_child1" state="completed">\n<task_result>\nseen\n</task_result>\n</task>',
            )
        ],
    ),
    Turn("Thanks, go on.", agent="orchestrator"),
    Turn("And now?", agent="orchestrator"),
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    for name, text in {
        "AGENTS.md": "Be kind.\n",
        "src/AGENTS.md": "Tabs.\n",
        "src/a.py": "x = 1\n",
        "lore/_index.md": "- page.md: what is known\n",
        ".matrixx/rules/all.md": "---\nalwaysApply: true\n---\nNo globals.\n",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The person's own settings, with what is off by default."""
    path = tmp_path_factory.mktemp("config") / "matrixx.jsonc"
    path.write_text(json.dumps(EVERYTHING))
    return path


def converse(project: Path, config: Path, disabled: Sequence[str] = (), script: Sequence[Turn] = SCRIPT) -> Conversation:
    async def play() -> Conversation:
        client = RecordingClient(answer_agents=[{"name": "general"}])
        async with Host.open(project, client=client, config=[config], disabled=disabled) as host:
            conversation = Conversation(OpenCode(host))
            for turn in script:
                await conversation.say(turn)
        return conversation

    return anyio.run(play)


def is_ours(part: Raw) -> bool:
    return bool(part.get("metadata", {}).get("matrixx"))


def added(request: Sequence[Raw]) -> dict[str, list[str]]:
    """What hooks have put into each message, by its id."""
    found = {message["info"]["id"]: [part["text"] for part in message["parts"] if is_ours(part)] for message in request}
    return {name: texts for name, texts in found.items() if texts}


def own(request: Sequence[Raw]) -> list[tuple[str, list[str]]]:
    """What host, person and model have put into the messages."""
    return [
        (message["info"]["role"], [json.dumps(part, sort_keys=True) for part in message["parts"] if not is_ours(part)])
        for message in request
    ]


def test_p2_what_was_said_once_is_said_again_byte_for_byte(project: Path, config: Path) -> None:
    sent = converse(project, config).sent
    assert len(added(sent[-1])) >= 4
    for earlier, later in itertools.pairwise(sent):
        assert added(later).items() >= added(earlier).items()


def test_p3_a_sub_agent_is_told_nothing_that_is_for_its_parent(project: Path, config: Path) -> None:
    async def play() -> Conversation:
        async with Host.open(project, client=RecordingClient(), config=[config]) as host:
            conversation = Conversation(OpenCode(host))
            await conversation.host.event({"type": "session.created", "properties": {"info": {"id": SESSION, "parentID": "ses_above"}}})
            for turn in SCRIPT:
                await conversation.say(turn)
        return conversation

    conversation = anyio.run(play)
    spoke = {note.plugin for answer in conversation.answers for outcome in answer.outcomes for note in outcome.notes}
    assert spoke & {"phase-reminder", "task-session-manager", "keyword-detector", "agent-usage-reminder", "matrix-loop"} == set()


@pytest.mark.parametrize(
    "plugin", ["env-context-injector", "phase-reminder", "knowledge-hub-injector", "task-session-manager", "keyword-detector"]
)
def test_p4_a_hook_on_or_off_changes_nothing_but_its_own_marked_parts(project: Path, config: Path, plugin: str) -> None:
    on, off = converse(project, config).sent[-1], converse(project, config, [plugin]).sent[-1]
    assert own(on) == own(off)
    assert added(on) != added(off)


def test_p5_no_message_is_ever_added_or_taken(project: Path, config: Path) -> None:
    conversation = converse(project, config)
    for request in conversation.sent:
        assert [message["info"]["id"] for message in request] == [one["info"]["id"] for one in conversation.messages[: len(request)]]


TRANSFORMS = [
    "agent-roles", "context-injector", "context-window-limit-recovery", "env-context-injector", "image-attachments", "knowledge-hub-injector",
    "phase-reminder", "session-recovery", "task-session-manager", "thinking-block-validator", "tool-pair-validator",
]  # fmt: skip
"""All that see a request's messages; who adds one here thinks of the cache first."""


def test_p7_these_hooks_and_no_others_see_the_messages_and_in_this_order() -> None:
    plugins = load({name: _without_gate(found.entry.load()) for name, found in installed().items()})
    steps = Host(plugins).plans["messages_transform"].steps
    assert sorted({step.plugin for step in steps}) == TRANSFORMS
    rewriting = [step.plugin for step in steps if step.wave == "rewrite"]
    assert rewriting.index("session-recovery") < rewriting.index("tool-pair-validator")


CLOCKS = re.compile(
    r"^(?:time\.(?:time|time_ns|strftime|localtime|gmtime|ctime|monotonic|monotonic_ns|perf_counter)|(?:datetime\.)*(?:now|utcnow|today)|random\..*|uuid\..*|secrets\.token_.*)$"
)

ALLOWED = {
    "image-attachments": "an image's file is named for its content; the clock only says when old ones are removed",
    "matrix-loop": "a loop's record says when it began, for its person; no request has it",
    "start-work": "the mission file says when it began, and an idle one is old after a while",
    "background-tools": "how long a tool waits for an answer",
    "knowledge-hub-guard": "how long a place stays open",
    "runtime-fallback": "how long a model is left alone",
}
"""Hooks that speak to the model before its answer and read a clock or chance, and why no request shows it."""


def test_p8_no_clock_and_no_chance_where_texts_for_requests_are_made() -> None:
    hits = {name for name, found in speaking() if any(CLOCKS.match(call) for call in calls_in(found))}
    assert hits - ALLOWED.keys() == set(), "say here why no request shows it"
    assert ALLOWED.keys() - hits == set(), "this entry is no longer needed"


def test_p9_what_models_read_of_us_changes_only_on_purpose(project: Path, config: Path) -> None:
    """A change costs every user one filled cache. To accept one, remove the file and run this twice."""
    request = converse(project, config, ["env-context-injector"]).sent[-1]
    told = json.dumps([{"role": message["info"]["role"], "parts": _plain(message, project)} for message in request], indent=1) + "\n"
    if not GOLDEN.exists():
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(told)
        pytest.fail(f"{GOLDEN.relative_to(ROOT)} was missing and is made anew: look at it")
    assert told == GOLDEN.read_text()


def _plain(message: Raw, project: Path) -> list[Any]:
    """What a part says, without what is different in each run; of a long text both ends."""
    texts = [
        json.dumps(part.get("text") or part.get("state", {}).get("output") or part.get("state", {}).get("error"))
        for part in message["parts"]
    ]
    return [
        text if len(text) < 2_000 else f"{text[:1_000]} ... {text[-900:]}"
        for text in (re.sub(r"/\S*?/tool-output\S*", "<FILE>", one.replace(str(project), "<PROJECT>")) for one in texts)
    ]


def speaking() -> Iterator[tuple[str, Path]]:
    """The plugins that answer events from which a request is made, with their folder."""
    events = ("messages_transform", "system_transform", "chat_message", "tool_definition")
    plans = Host(load({name: _without_gate(found.entry.load()) for name, found in installed().items()})).plans
    names = {step.plugin for event in events for step in plans[event].steps if step.wave == "rewrite"}
    return ((name, folder) for name in sorted(names) if (folder := ROOT / "plugins" / f"matrixx-{name}").is_dir())


def calls_in(folder: Path) -> Iterator[str]:
    for path in folder.rglob("matrixx_*.py"):
        yield from (ast.unparse(node.func) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))


def _without_gate(module: Any) -> Any:
    """The plugin as it is when its person has switched it on."""
    return SimpleNamespace(**{name: value for name, value in vars(module).items() if name != "off_because"})
