from typing import Any

import anyio
import matrixx_think_mode as hook
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matrixx_core import ChatMessage, ChatParams, SessionEvent
from matrixx_core.events import added_part
from matrixx_core.testing import SESSION, Rig, message, plugin_name, session

CONFIG = hook.Config()
CLAUDE = {"provider": "anthropic", "model": "claude-opus-4.6"}


@pytest.mark.parametrize(
    "text",
    [
        "ultrathink",
        "Ultra-think about it",
        "Think hard, then fix it",
        "think  really\nhard",
        "think about this carefully",
        "Please think step by step.",
        "think this through",
        "use deep thinking",
        "Denk gründlich nach",
        "Überlege gut",
        "Réfléchis bien",
        "Piénsalo bien? piensa bien",
        "pense com cuidado",
        "pensa bene",
        "denk goed na",
        "tänk noga",
        "mieti tarkkaan",
        "pomyśl dobrze",
        "iyice düşün",
        "Подумай хорошо",
        "σκέψου καλά",
        "hãy suy nghĩ kỹ",
        "깊이 생각해 줘",
        "よく考えて",
        "请仔细思考",
        "คิดให้รอบคอบ",
        "ध्यान से सोचो",
        "فكر جيدا",
    ],
)
def test_it_is_asked_for_in_many_languages(text: str) -> None:
    assert hook.asks(text, CONFIG)


@pytest.mark.parametrize(
    "text",
    [
        "I think so",
        "think about the hard part",
        "a hard think-tank",
        "rethink hard limits",
        "denk an den Test",
        "je pense que oui",
        "fikir ver",
        "思考",
        "the file ultrathink.py",
        "run --ultrathink",
        "say `think hard`",
        "```\nthink hard\n```",
        "<system-reminder>think hard</system-reminder>",
        "",
    ],
)
def test_ordinary_words_do_not_ask_for_it(text: str) -> None:
    assert not hook.asks(text, CONFIG)


def test_the_person_has_phrases_of_their_own() -> None:
    config = hook.Config(phrases=("use your (whole) head", " "))
    assert hook.asks("Use your (whole) head!", config)
    assert not hook.asks("Use your whole head and what is in it", config)


def variant(text: str = "think hard", **fields: Any) -> str:
    return Rig(hook).chat(text, **{**CLAUDE, **fields}).event.variant


@pytest.mark.parametrize(
    ("fields", "becomes"),
    [
        ({}, "high"),
        ({"provider": "github-copilot", "model": "claude-opus-4.6"}, "high"),
        ({"model": "vertex_ai/claude-sonnet-4-5"}, "high"),
        ({"provider": "openai", "model": "gpt-5.2"}, "high"),
        ({"provider": "google", "model": "gemini-3-pro-low"}, "high"),
        ({"model": "gpt-5-2-high"}, ""),
        ({"model": "claude-opus-4-6-highlander"}, "high"),
        ({"model": "some-other-model"}, ""),
        ({"model": ""}, ""),
        ({"variant": "low"}, "low"),
        ({"variant": "max"}, "max"),
    ],
)
def test_the_variant_is_raised_where_none_is_chosen(fields: dict[str, str], becomes: str) -> None:
    assert variant(**fields) == becomes


def test_without_the_words_nothing_changes() -> None:
    assert variant("fix it") == ""


def test_the_variant_is_a_setting() -> None:
    rig = Rig(hook, settings={plugin_name(hook): {"variant": "", "models": ["x-1"]}})
    assert rig.chat("think hard", model="x.1").event.variant == ""


def options(rig: Rig, **fields: Any) -> Any:
    event = ChatParams(**{"session_id": SESSION, **CLAUDE, "options": {"a": 1}, **fields})
    return dict(anyio.run(rig.host.chat_params, event).event.options)


@pytest.mark.parametrize(
    ("provider", "model", "added"),
    [
        ("anthropic", "claude-opus-4-6", {"thinking": {"type": "enabled", "budgetTokens": 32_000}}),
        ("google-vertex-anthropic", "claude-sonnet-4-5", {"thinking": {"type": "enabled", "budgetTokens": 32_000}}),
        ("amazon-bedrock", "anthropic.claude-sonnet-4-5", {"reasoningConfig": {"type": "enabled", "budgetTokens": 16_000}}),
        ("google", "gemini-3-pro", {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "high"}}),
        ("openai", "gpt-5.2", {"reasoningEffort": "high"}),
        ("zai", "glm-4.6", {}),
        ("openai", "gpt-4o", {}),
        ("github-copilot", "claude-opus-4.6", {}),
    ],
)
def test_the_provider_is_asked_where_the_host_asks_nothing(provider: str, model: str, added: dict[str, Any]) -> None:
    rig = Rig(hook)
    rig.chat("think hard", provider=provider, model=model)
    assert options(rig, provider=provider, model=model) == {"a": 1, **added}


@pytest.mark.parametrize("key", sorted(hook.CHOSEN))
def test_what_is_chosen_stays(key: str) -> None:
    rig = Rig(hook)
    rig.chat("think hard", **CLAUDE)
    assert options(rig, options={key: "disabled"}) == {key: "disabled"}


def test_it_holds_for_the_whole_answer_and_ends_with_the_persons_next_prompt() -> None:
    rig = Rig(hook)
    rig.chat("think hard", **CLAUDE)
    assert [len(options(rig)) for _ in range(2)] == [2, 2]
    anyio.run(rig.host.chat_message, ChatMessage(session_id=SESSION, parts=(added_part("go on"),), **CLAUDE))
    assert len(options(rig)) == 2
    rig.chat("and now fix it", **CLAUDE)
    assert len(options(rig)) == 1


def test_the_hosts_own_requests_and_other_sessions_are_left_alone() -> None:
    rig = Rig(hook)
    rig.chat("think hard", **CLAUDE)
    assert len(options(rig, agent="title")) == 1
    assert len(options(rig, session_id="ses_other")) == 1


def test_a_session_that_is_deleted_is_forgotten() -> None:
    rig = Rig(hook)
    rig.chat("think hard", **CLAUDE)
    anyio.run(rig.host.session_event, SessionEvent(session_id=SESSION, type="session.deleted"))
    assert len(options(rig)) == 1


def test_what_one_agent_writes_to_another_asks_for_nothing() -> None:
    delegated = session()
    delegated.parent = "ses_parent"
    assert hook.chat_message(message("think hard", **CLAUDE), delegated, CONFIG) is None
    assert not delegated.state(hook.Thinking).asked


@settings(deadline=None)
@given(st.text(max_size=200), st.text(max_size=20))
def test_no_prompt_is_too_odd(text: str, model: str) -> None:
    hook.chat_message(message(text, model=model), session(), hook.Config(phrases=(text[:20],)))


@pytest.mark.parametrize("parts", [(), ({},), ({"type": "text", "text": 5},), ({"type": "text", "text": "think hard\0\ud800"},)])
def test_odd_parts_are_no_mistake(parts: Any) -> None:
    hook.chat_message(ChatMessage(session_id=SESSION, parts=parts), session(), CONFIG)


@pytest.mark.parametrize("piece", ["think ", "think\n", "denk ", "`", "<system-reminder>", "深"])
def test_huge_prompts_are_no_burden(piece: str) -> None:
    hook.asks(piece * (1_000_000 // len(piece)), CONFIG)
