"""The provider's prompt cache: with every hook on, a request begins with the bytes of the one before it (C37, spec slim-hooks 4.4)."""

import json
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matrixx_builtin.hosts.opencode.adapter import OpenCode
from matrixx_builtin.services.tasks import TaskStore
from matrixx_core.host import Host
from matrixx_core.loading import Plugins, load_installed
from matrixx_core.testing import RecordingClient

from .conversation import EVERYTHING, SESSION, Conversation, Raw, Turn, Use, changed_early

TURNS = 30

PROMPTS = [
    "Fix the greeting.", "ultrawork on the parser", "think hard about the cache", "analyze the log", "search for every caller",
    "plan the release", "/start-work release", "Thanks, go on.", "What is left?", "Read AGENTS.md and follow it.",
]  # fmt: skip

USES = [
    Use("bash", {"command": "ls -la", "description": "Look"}, "a.py\nb.py"),
    Use("bash", {"command": "cat notes.txt", "description": "Show"}, "a note\n"),
    Use("read", {"filePath": "src/deep/a.py"}, "<content>\n00001| import os\n</content>"),
    Use("grep", {"pattern": "needle"}, "needle\n" * 1_000),
    Use("edit", {"filePath": "src/a.py", "oldString": "x", "newString": "y"}, error="oldString not found in content"),
    Use("write", {"filePath": ".env", "content": "A=1\n"}),
    Use("write", {"filePath": "src/new.py", "content": "# increment i\ni += 1\n"}, "Wrote file successfully."),
    Use("task", {"description": "d", "prompt": "p", "subagent_type": "general"}, ""),
    Use("task", {"description": "d", "prompt": "p", "subagent_type": "general"}, '<task id="ses_2" state="completed">\nseen\n</task>'),
    Use("todowrite", {"todos": [{"content": "x", "status": "pending"}]}, "[]"),
    Use("invalid", {"tool": "read", "error": "JSON Parse error: Expected '}'"}, "invalid"),
]


def job(name: str) -> list[tuple[str, Raw]]:
    """What is told of a sub-agent that begins, works, has ended, and is gone."""
    born = {"info": {"id": name, "parentID": SESSION, "title": f"Look at {name} (@general subagent)"}}
    return [
        ("session.created", born),
        ("session.status", {"sessionID": name, "status": {"type": "busy"}}),
        ("session.idle", {"sessionID": name}),
        ("session.deleted", born),
    ]


turns = st.builds(
    Turn,
    prompt=st.sampled_from(PROMPTS),
    uses=st.lists(st.sampled_from(USES), max_size=2),
    agent=st.sampled_from(["build", "plan", "oracle", "morpheus"]),
    events=st.lists(st.sampled_from([*job("ses_2"), *job("ses_3")]), max_size=2),
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    for name, text in {
        "AGENTS.md": "Be kind.\n",
        "src/AGENTS.md": "Tabs.\n",
        ".matrixx/rules/all.md": "No globals.\n",
        "src/a.py": "x = 1\n",
        "lore/_index.md": "- page.md: what is known\n",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    cutting = {"tool-output-truncator": {"limits": {"grep": 500}}}
    person_of(root).write_text(json.dumps({**EVERYTHING, "hooks": {**EVERYTHING["hooks"], **cutting}}))
    return root


def person_of(project: Path) -> Path:
    """The settings of the project's person."""
    return project.with_name(f"{project.name}.jsonc")


async def converse(project: Path, script: list[Turn], between: Callable[[int], None] = lambda _: None, **options: Any) -> Conversation:
    client = RecordingClient(answer_agents=[{"name": "general"}])
    async with Host.open(project, client=client, config=[person_of(project)], **options) as host:
        conversation = Conversation(OpenCode(host))
        for number, turn in enumerate(script):
            between(number)
            await conversation.say(turn)
    return conversation


def errors(conversation: Conversation) -> set[tuple[str, str]]:
    return {
        (ran.plugin, ran.error)
        for answer in conversation.answers
        for outcome in answer.outcomes
        for ran in outcome.ran
        if ran.answer == "error"
    }


def in_another_order(seed: int) -> Callable[..., Plugins]:
    """The fleet, its hooks in any order inside their waves: not even ``RUN_AFTER`` holds."""

    def load(*args: Any) -> Plugins:
        plugins = load_installed(*args)
        names = random.Random(seed).sample(sorted(plugins.order), len(plugins.order))
        plugins.order = {name: place for place, name in enumerate(names)}
        return plugins

    return load


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    script=st.lists(turns, min_size=TURNS, max_size=TURNS),
    jumps=st.lists(st.integers(-1_000_000, 1_000_000), min_size=TURNS, max_size=TURNS),
    order=st.integers(0, 1_000),
)
def test_no_byte_before_the_newest_message_ever_changes(
    project: Path, monkeypatch: pytest.MonkeyPatch, script: list[Turn], jumps: list[int], order: int
) -> None:
    now, tasks = time.time, TaskStore(project)
    shutil.rmtree(project / ".matrixx/tasks", ignore_errors=True)

    with monkeypatch.context() as patch:

        def between(number: int) -> None:
            """Clock, chance and tasks change between the turns, beside the jobs of the script."""
            patch.setattr(time, "time", lambda: now() + jumps[number])
            random.seed(jumps[number])
            tasks.create(f"task {jumps[number]}", SESSION)

        patch.setattr("matrixx_core.host.load_installed", in_another_order(order))
        conversation = anyio.run(converse, project, script, between)
    assert errors(conversation) == set()
    assert changed_early(conversation.sent) == []
    assert len(conversation.sent) >= TURNS


def test_two_engines_send_the_same_bytes_whatever_clock_and_chance_say(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = [Turn(prompt, USES[:3], events=job(f"ses_{place}")[:3]) for place, prompt in enumerate(PROMPTS, 2)]
    first = anyio.run(converse, project, script)
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 11 * 24 * 3_600)
    random.seed(11)
    second = anyio.run(converse, project, script)
    assert [len(request) for request in first.sent] == [len(request) for request in second.sent]
    assert json.dumps(first.sent[-1]) == json.dumps(second.sent[-1])


def test_something_is_added_to_this_conversation(project: Path) -> None:
    """Without additions the tests above prove nothing."""
    script = [Turn(prompt, USES if place < 4 else (), events=job(f"ses_{place}")[:3]) for place, prompt in enumerate(PROMPTS, 2)]
    conversation = anyio.run(converse, project, script)
    acted = {ran.plugin for answer in conversation.answers for outcome in answer.outcomes for ran in outcome.ran if ran.answer == "inject"}
    assert {"env-context-injector", "keyword-detector", "knowledge-hub-injector", "task-session-manager"} <= acted
    assert len(acted) >= 6


def test_the_number_of_messages_is_the_hosts_and_what_the_person_wrote_stays(project: Path) -> None:
    conversation = anyio.run(converse, project, [Turn(prompt, USES[:2]) for prompt in PROMPTS])
    request = conversation.sent[-1]
    assert [message["info"]["id"] for message in request] == [message["info"]["id"] for message in conversation.messages[: len(request)]]
    said = [
        part["text"] for message in request if message["info"]["role"] == "user" for part in message["parts"] if not part.get("synthetic")
    ]
    assert said == PROMPTS


def test_what_hooks_add_to_a_user_message_is_marked(project: Path) -> None:
    conversation = anyio.run(converse, project, [Turn(prompt) for prompt in PROMPTS])
    parts = [part for message in conversation.sent[-1] if message["info"]["role"] == "user" for part in message["parts"]]
    assert any(part.get("synthetic") for part in parts)
    assert all(part["metadata"]["matrixx"] is True for part in parts if part.get("synthetic"))


def test_after_a_compaction_the_new_beginning_holds(project: Path) -> None:
    async def play() -> Conversation:
        async with Host.open(project, client=RecordingClient(), config=[person_of(project)]) as host:
            conversation = Conversation(OpenCode(host))
            for prompt in PROMPTS[:3]:
                await conversation.say(Turn(prompt, USES[:2]))
            await conversation.compact()
            for prompt in PROMPTS[3:]:
                await conversation.say(Turn(prompt, USES[:2]))
        return conversation

    assert changed_early(anyio.run(play).sent) == []


@pytest.mark.parametrize(
    ("later", "changed"),
    [
        (["a", "b", "c"], 0),
        (["a", "b"], 0),
        (["a", "x", "c"], 1),
        (["a"], 1),
        (["x", "a", "b"], 2),
    ],
)
def test_a_request_that_begins_otherwise_is_seen(later: list[str], changed: int) -> None:
    requests = [[{"info": {"role": "user"}, "parts": [{"text": text}]} for text in texts] for texts in (["a", "b"], later)]
    assert len(changed_early(requests)) == changed
