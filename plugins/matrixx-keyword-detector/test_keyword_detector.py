from typing import Any

import anyio
import matrixx_keyword_detector as hook
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matrixx_builtin.services.agents import Caller
from matrixx_core import Command
from matrixx_core.errors import ClientError
from matrixx_core.events import ChatMessage, added_part, is_added
from matrixx_core.testing import SESSION, RecordingClient, Rig, message, session

CONFIG = hook.Config()


def modes(text: str, config: hook.Config = CONFIG, *, agent: str = "", parent: str = "") -> list[str]:
    open_session = session()
    open_session.agent, open_session.parent = agent, parent
    return list(hook.wanted(message(text), open_session, config))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ultrawork do X", ["ultrawork"]),
        ("fix ulw now", ["ultrawork"]),
        ("Please, ULTRAWORK!", ["ultrawork"]),
        ("do it (ulw)", ["ultrawork"]),
        ("울트라 ulw 해줘", ["ultrawork"]),
        ("StatefulWidget", []),
        ("look into @StatefulWidget.tsx", []),
        ("rename src/ulw/main.py", []),
        ("open ulw.ts and ultrawork.md", []),
        ("the --ulw flag, the ulw-mode option", []),
        ("ultraworking is a bulwark", []),
        ("call `ulw` and ```\nultrawork\n```", []),
        ("", []),
        ("   \n", []),
    ],
)
def test_ultrawork_is_a_word_on_its_own(text: str, found: list[str]) -> None:
    assert modes(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("search for bugs", ["search"]),
        ("Where is the config read?", ["search"]),
        ("Show  me the callers", ["search"]),
        ("look up the flag", ["search"]),
        ("investigate the crash", ["analyze"]),
        ("How does the cache work?", ["analyze"]),
        ("take a deep dive into the scheduler", ["analyze"]),
        ("find and review the callers", ["search", "analyze"]),
        ("ulw find all callers", ["ultrawork", "search"]),
        ("버그를 찾아 줘", ["search"]),
        ("코드를 분석해줘", ["analyze"]),
        ("バグを探して", ["search"]),
        ("このエラーを分析して", ["analyze"]),
        ("搜索所有调用", ["search"]),
        ("分析这段代码", ["analyze"]),
        ("tìm kiếm lỗi này", ["search"]),
        ("hãy phân tích lỗi này", ["analyze"]),
        ("Finde alle Aufrufe", ["search"]),
        ("Untersuche den Absturz", ["analyze"]),
        ("¿Dónde está la función?", ["search"]),
        ("analiza este error", ["analyze"]),
        ("Où est la fonction ?", ["search"]),
        ("why is it slow", ["analyze"]),
        ("rename the class", []),
        ("왜", []),
        ("どう思う", []),
        ("researcher findings, a searchable queryset", []),
        ("run ./find.sh and scan-all", []),
        ("use the find.py script", []),
        ("Rename the class. Then find its callers and review them.", []),
        ("Rename the class\nfind its callers", []),
        ("把它改名。然后搜索", []),
    ],
)
def test_search_and_analyze_words_count_in_the_first_sentence(text: str, found: list[str]) -> None:
    assert modes(text) == found


def test_a_first_sentence_ends_somewhere() -> None:
    assert modes("word " * 100 + "find it") == []


@pytest.mark.parametrize(
    "text",
    ["Rename it. [search-mode]", "[SEARCH-MODE] rename it", "Rename it.\n\n[search-mode]"],
)
def test_a_tag_counts_anywhere(text: str) -> None:
    assert modes(text) == ["search"]
    assert modes(text, hook.Config(where="tag", modes=())) == ["search"]


@pytest.mark.parametrize(
    ("config", "found"),
    [
        (hook.Config(where="tag"), ["analyze"]),
        (hook.Config(where="anywhere"), ["search", "analyze"]),
        (hook.Config(modes=("analyze",), where="anywhere"), ["analyze"]),
    ],
)
def test_the_settings_say_where_words_count(config: hook.Config, found: list[str]) -> None:
    assert modes("Rename it. Then find it. [analyze-mode]", config) == found


@pytest.mark.parametrize(
    "text",
    [
        "<system-reminder>search for it</system-reminder>",
        "<SYSTEM-REMINDER>\nsearch\nulw\n</SYSTEM-REMINDER> ok",
        "<system-reminder>find</system-reminder> ok <system-reminder>review</system-reminder>",
        "<system-reminder>a <system-reminder> find </system-reminder> ok",
        "ok <system-reminder>find, and never closed",
        "ok </system-reminder>",
        "```\nfind\n``` ok",
        "ok ```find",
        "`find` it",
    ],
)
def test_reminders_and_code_are_not_the_users_words(text: str) -> None:
    assert modes(text) == []


def test_the_users_words_beside_a_reminder_count() -> None:
    assert modes("<system-reminder>review</system-reminder>\nsearch for bugs") == ["search"]


@pytest.mark.parametrize(("agent", "found"), [
    ("oracle", []), ("Oracle (Planner)", []), ("planner-x", []), ("my_plan", []), ("plan", []), ("Prometheus", []),
    ("build", ["ultrawork"]), ("explanation", ["ultrawork"]), ("", ["ultrawork"]),
])  # fmt: skip
def test_planners_are_not_told_to_finish_everything(agent: str, found: list[str]) -> None:
    assert modes("ultrawork: find it", agent=agent) == [*found, "search"]


def test_an_agent_that_the_person_made_a_planner_is_one() -> None:
    open_session = session()
    open_session.agent = "visionary"
    assert hook.wanted(message("ulw"), open_session, CONFIG) == ["ultrawork"]
    open_session.state(Caller).roles = {"visionary": "planner"}
    assert hook.wanted(message("ulw"), open_session, CONFIG) == []


def test_the_agent_that_the_session_knows_wins_over_the_messages() -> None:
    open_session = session()
    open_session.agent = "morpheus"
    assert hook.wanted(message("ulw", agent="oracle"), open_session, CONFIG) == ["ultrawork"]
    open_session.agent = ""
    assert hook.wanted(message("ulw", agent="oracle"), open_session, CONFIG) == []


def test_delegated_sessions_get_nothing() -> None:
    assert modes("ulw: find and review it", parent="ses_parent") == []
    assert modes("ulw", hook.Config(ultrawork="always"), parent="ses_parent") == []


def test_the_text_stands_in_a_marked_part_behind_the_users_untouched_words() -> None:
    outcome = Rig(hook).chat("/fix ulw find it")
    first, added = outcome.event.parts
    assert first["text"] == "/fix ulw find it"
    assert is_added(added)
    assert added["text"] == f"{hook.TEXTS['ultrawork']}\n\n{hook.TEXTS['search']}"


@pytest.mark.parametrize(("before", "after"), [("", "max"), ("low", "low")])
def test_ultrawork_raises_the_variant_only_where_none_is_chosen(before: str, after: str) -> None:
    rig = Rig(hook)
    assert rig.chat("ulw", variant=before).event.variant == after
    assert [method for method, _ in rig.client.requests] == ["toast"]  # type: ignore[attr-defined]


def test_other_prompts_keep_their_variant_and_nobody_is_told() -> None:
    rig = Rig(hook)
    assert rig.chat("find it").event.variant == ""
    assert rig.client.requests == []  # type: ignore[attr-defined]


def test_the_variant_is_a_setting() -> None:
    assert Rig(hook, settings={"keyword-detector": {"variant": "high"}}).chat("ulw").event.variant == "high"
    assert Rig(hook, settings={"keyword-detector": {"variant": ""}}).chat("ulw").event.variant == ""


class Deaf(RecordingClient):
    async def toast(self, message: str, **_: Any) -> None:
        raise ClientError("nobody there")


def test_a_toast_that_cannot_be_shown_changes_nothing() -> None:
    outcome = Rig(hook, client=Deaf()).chat("ulw")
    assert outcome.event.variant == "max"
    assert len(outcome.notes) == 1


def test_never_switches_off_ultrawork_and_nothing_else() -> None:
    assert modes("ulw find it", hook.Config(ultrawork="never")) == ["search"]


def test_always_tells_once_in_a_session_and_raises_every_prompt() -> None:
    rig = Rig(hook, settings={"keyword-detector": {"ultrawork": "always"}})
    outcomes = [rig.chat(text) for text in ("do it", "and that", "ulw again")]
    assert [len(outcome.notes) for outcome in outcomes] == [1, 0, 1]
    assert {outcome.event.variant for outcome in outcomes} == {"max"}
    assert len(rig.client.requests) == 1  # type: ignore[attr-defined]


def test_text_that_nobody_typed_switches_nothing_on() -> None:
    ours = ChatMessage(session_id=SESSION, parts=(added_part("ulw: search everything"), {"type": "file", "url": "ulw"}, {"type": "text"}))
    for config in (CONFIG, hook.Config(ultrawork="always")):
        assert hook.chat_message(ours, session(), config) is None


@pytest.mark.parametrize(
    "said",
    [
        "ultrawork mode is on",
        "certain",
        "in the background",
        "a plan first",
        "Delegate",
        "three acceptance criteria",
        "command that proves",
        "evidence",
        "not reduce the scope",
        "partial work",
    ],
)
def test_the_ultrawork_text_says_what_it_must(said: str) -> None:
    assert said in hook.TEXTS["ultrawork"]


def test_the_mode_texts_are_short() -> None:
    assert {mode: len(text) < limit for (mode, text), limit in zip(hook.TEXTS.items(), (1_200, 400, 400), strict=True)} == dict.fromkeys(
        hook.TEXTS, True
    )
    assert "first hit" in hook.TEXTS["search"]
    assert "in parallel" in hook.TEXTS["analyze"]


@settings(deadline=None)
@given(st.text(st.sampled_from("`<>/ ulwfind.\n") | st.characters(), max_size=400), st.sampled_from(["tag", "first-sentence", "anywhere"]))
def test_no_prompt_is_too_odd(text: str, where: Any) -> None:
    modes(text, hook.Config(where=where))


@pytest.mark.parametrize("piece", ["<system-reminder>", "```", "`", "find ", "<system-reminder", "\n", "찾", "ulw/"])
def test_huge_prompts_are_no_burden(piece: str) -> None:
    modes(piece * (2_000_000 // len(piece)), hook.Config(where="anywhere"))


def test_odd_parts_are_no_mistake() -> None:
    odd = ChatMessage(session_id=SESSION, parts=({"type": "text", "text": 5}, {"type": "text", "text": None}, {}, {"type": ["x"]}))
    assert hook.chat_message(odd, session(), CONFIG) is None
    anyio.run(hook.raise_variant, odd, session(), RecordingClient(), CONFIG)


def command(rig: Rig, arguments: str, template: str = "Switch it.") -> Any:
    event = Command(session_id=SESSION, name="ultrawork", arguments=arguments, parts=({"type": "text", "text": template},))
    return anyio.run(rig.host.command_execute_before, event)


def test_switched_on_it_is_told_once_and_raises_every_prompt_of_the_session() -> None:
    rig = Rig(hook)
    switch = rig.chat("/ultrawork on")
    assert "now on for every prompt" in switch.notes[0].text
    assert switch.event.variant == ""
    outcomes = [rig.chat(text) for text in ("do it", "and that")]
    assert [[note.text for note in outcome.notes] for outcome in outcomes] == [[hook.TEXTS["ultrawork"]], []]
    assert {outcome.event.variant for outcome in outcomes} == {"max"}
    assert len(rig.client.requests) == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", ["/ultrawork off", "/Ultrawork disable", "/end-ultrawork"])
def test_switched_off_only_ultrawork_is_off(text: str) -> None:
    rig = Rig(hook, settings={"keyword-detector": {"ultrawork": "always"}})
    assert "is now off" in rig.chat(text).notes[0].text
    outcome = rig.chat("ulw find it")
    assert [note.text for note in outcome.notes] == [hook.TEXTS["search"]]
    assert outcome.event.variant == ""


@pytest.mark.parametrize(
    ("setting", "told"), [("word", "for prompts with the word"), ("always", "for every prompt"), ("never", "is now off")]
)
def test_asked_for_its_state_nothing_changes(setting: str, told: str) -> None:
    rig = Rig(hook, settings={"keyword-detector": {"ultrawork": setting}})
    assert told in rig.chat("/ultrawork").notes[0].text
    assert rig.host.sessions[SESSION].state(hook.Switched).when is None


def test_as_a_command_of_the_host_it_switches_too_and_its_template_is_no_task() -> None:
    rig = Rig(hook)
    assert "now on for every prompt" in command(rig, "on").notes[0].text
    assert rig.chat("Switch it.").notes == ()
    assert rig.chat("do it").notes[0].text == hook.TEXTS["ultrawork"]


@pytest.mark.parametrize("by_host", [False, True])
def test_with_a_task_behind_it_the_command_is_the_word(by_host: bool) -> None:
    rig = Rig(hook)
    if by_host:
        assert command(rig, "rename it", "Rename it.").notes == ()
    outcome = rig.chat("Rename it." if by_host else "/ultrawork rename it")
    assert outcome.notes[0].text == hook.TEXTS["ultrawork"]
    assert outcome.event.variant == "max"


def test_other_commands_and_delegated_sessions_switch_nothing() -> None:
    delegated = session()
    delegated.parent = "ses_parent"
    assert hook.chat_message(message("/ultrawork on"), delegated, CONFIG) is None
    assert hook.command_execute_before(Command(session_id=SESSION, name="review"), session(), CONFIG) is None
