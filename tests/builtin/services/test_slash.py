from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matrixx_builtin.services.slash import Given, Typed, expanded, parse, typed
from matrixx_core import ChatMessage, Command
from matrixx_core.events import added_part
from matrixx_core.testing import SESSION, message, session

LOOP = ("max-iterations", "completion-promise")


def command(name: str, arguments: str = "", *texts: str) -> Command:
    parts = tuple({"type": "text", "text": text} for text in texts)
    return Command(session_id=SESSION, name=name, arguments=arguments, parts=parts)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("/commit", Typed("commit")),
        ("  /commit ", Typed("commit")),
        ('/plan "x y" --z', Typed("plan", '"x y" --z')),
        ("/my-cmd", Typed("my-cmd")),
        ("/my_cmd2 x", Typed("my_cmd2", "x")),
        ("/Matrix-Loop Fix It", Typed("matrix-loop", "Fix It")),
        ("/x\nfoo\nbar", Typed("x", "foo\nbar")),
        ("/x\r\nfoo", Typed("x", "foo")),
        ("/x and\n```\n/y\n```", Typed("x", "and\n```\n/y\n```")),
        ("/end-ultrawork", Typed("ultrawork", "off")),
        ("hello /x", None),
        ("/", None),
        ("/123", None),
        ("/usr/bin is full", None),
        ("/ns:name", None),
        ("/a.b", None),
        ("// comment", None),
        ("```\n/x\n```", None),
        ("", None),
        ("/\ud800", None),
        ("/x\0", None),
        (f"/{'x' * 101}", None),
    ],
)
def test_a_command_is_what_a_text_begins_with(text: str, found: Typed | None) -> None:
    assert parse(text) == found
    assert typed(message(text), session()) == found


@pytest.mark.parametrize(
    ("text", "task", "options"),
    [
        ('"x" --max-iterations=3 --completion-promise=DONE', "x", {"max-iterations": "3", "completion-promise": "DONE"}),
        ("--max-iterations 3 fix it", "fix it", {"max-iterations": "3"}),
        ("fix it --MAX-iterations=3", "fix it", {"max-iterations": "3"}),
        ("fix --max-iterations=3 it", "fix it", {"max-iterations": "3"}),
        ("fix \u2014max-iterations=3", "fix", {"max-iterations": "3"}),
        ("\u201cfix it\u201d \u2014max-iterations 3", "fix it", {"max-iterations": "3"}),
        ('fix --completion-promise="ALL DONE"', "fix", {"completion-promise": "ALL DONE"}),
        ("fix --completion-promise 'ALL DONE' now", "fix now", {"completion-promise": "ALL DONE"}),
        ("fix --max-iterations", "fix", {"max-iterations": ""}),
        ("fix --max-iterations= it", "fix it", {"max-iterations": ""}),
        ("--max-iterations --completion-promise=X fix", "fix", {"max-iterations": "", "completion-promise": "X"}),
        ("fix --max-iterations=1 --max-iterations=2", "fix", {"max-iterations": "2"}),
        ('"add --max-iterations=3 to the help"', "add --max-iterations=3 to the help", {}),
        ("add a --verbose flag", "add a --verbose flag", {}),
        ("fix x--max-iterations=3", "fix x--max-iterations=3", {}),
        ("fix --max-iterations-of-it=3", "fix --max-iterations-of-it=3", {}),
        ("don't stop --max-iterations=3", "don't stop", {"max-iterations": "3"}),
        ('"a" and "b"', '"a" and "b"', {}),
        ("'it's done' --max-iterations=3", "it's done", {"max-iterations": "3"}),
        ('"never closed --max-iterations=3', '"never closed', {"max-iterations": "3"}),
        ("first\n  second\n--max-iterations=3", "first\n  second", {"max-iterations": "3"}),
        ('say $& and \\1 "x"', 'say $& and \\1 "x"', {}),
        ("", "", {}),
        ('""', "", {}),
    ],
)
def test_options_are_taken_out_and_the_task_stays_as_it_was_typed(text: str, task: str, options: dict[str, str]) -> None:
    for found in (parse(f"/matrix-loop {text}"), typed(command("matrix-loop", text), session())):
        assert found is not None
        assert found.given(*LOOP) == Given(task, options)


def test_without_named_options_all_is_text() -> None:
    assert Typed("x", "a --b=c").given() == Given("a --b=c")


@pytest.mark.parametrize(
    ("text", "switch"),
    [
        ("on", "on"),
        ("Enable", "on"),
        ("OFF", "off"),
        ("disable", "off"),
        ("disabled", "off"),
        ('"off"', "off"),
        ("--off", "off"),
        ("", "status"),
        ("status", "status"),
        ("on now", None),
        ("onwards", None),
    ],
)
@pytest.mark.parametrize("name", ["assembly", "ultrawork"])
def test_a_switch_is_on_off_or_a_question(name: str, text: str, switch: str | None) -> None:
    for found in (parse(f"/{name} {text}"), typed(command(name, text), session())):
        assert found is not None
        assert (found.name, found.switch) == (name, switch)


def test_the_alias_of_a_switched_command_is_known_from_a_command_event_too() -> None:
    found = typed(command("end-ultrawork"), session())
    assert found == Typed("ultrawork", "off")


def test_only_what_the_person_typed_is_a_command() -> None:
    ours = ChatMessage(session_id=SESSION, parts=(added_part("/stop-continuation"), {"type": "text", "text": "/x", "synthetic": True}))
    assert typed(ours, session()) is None
    behind = ours.model_copy(update={"parts": (*ours.parts, {"type": "file", "url": "/y"}, {"type": "text", "text": "/z now"})})
    assert typed(behind, session()) == Typed("z", "now")


def test_in_a_delegated_session_nobody_types() -> None:
    delegated = session()
    delegated.parent = "ses_parent"
    assert typed(message("/matrix-loop x"), delegated) is None
    assert typed(command("matrix-loop", "x"), delegated) is None


def test_the_prompt_that_a_template_becomes_is_no_second_command() -> None:
    open_session = session()
    assert typed(command("ulw-loop", "x", "/ulw-loop x"), open_session) == Typed("ulw-loop", "x")
    prompt = message("/ulw-loop x")
    assert typed(prompt, open_session) is None
    assert typed(prompt, open_session) is None
    assert expanded(prompt, open_session) == Typed("ulw-loop", "x")


def test_what_other_hooks_add_to_a_template_hides_nothing() -> None:
    open_session = session()
    typed(command("stop-continuation", "", "Stop."), open_session)
    prompt = message("Stop.").with_text("a note of ours")
    assert expanded(prompt, open_session) == Typed("stop-continuation")


def test_another_prompt_is_not_taken_for_the_template() -> None:
    open_session = session()
    typed(command("review", "", "Review it."), open_session)
    assert expanded(message("Review that."), open_session) is None
    assert typed(message("/matrix-loop x"), open_session) == Typed("matrix-loop", "x")


def test_the_same_words_typed_later_are_a_command_of_their_own() -> None:
    open_session = session()
    typed(command("ulw-loop", "x", "/ulw-loop x"), open_session)
    assert typed(message("/ulw-loop x"), open_session) is None
    later = message("/ulw-loop x").model_copy(update={"message_id": "msg_later"})
    assert typed(later, open_session) == Typed("ulw-loop", "x")
    assert expanded(later, open_session) is None


def test_a_template_without_text_is_the_template_of_nothing() -> None:
    open_session = session()
    typed(command("review"), open_session)
    assert expanded(ChatMessage(session_id=SESSION), open_session) is None


@pytest.mark.parametrize("text", [None, 5, ["/x"], {"a": 1}, b"/x"])
def test_odd_parts_are_no_mistake(text: Any) -> None:
    odd = ChatMessage(session_id=SESSION, parts=({"type": "text", "text": text}, {}, {"type": ["x"], "text": "/x"}))
    assert typed(odd, session()) is None


@settings(deadline=None)
@given(st.text(st.sampled_from("/-=\"'` x\n\u201c\u201d\u2014") | st.characters(), max_size=200))
def test_no_text_is_too_odd_and_no_word_is_lost(text: str) -> None:
    found = Typed("x", text.strip())
    parse(text)
    assert found.switch in {"on", "off", "status", None}
    given_text = found.given("name").text
    assert "".join(given_text.split()) in "".join(text.split())


@pytest.mark.parametrize(
    "piece", ["/x ", '"', '" ', "'a ", "x 'a ", "--name x ", "--name 'x ", "--name='x ", "'a", "--name ", "\u2014", "/" * 5, "a\n"]
)
def test_huge_prompts_are_no_burden(piece: str) -> None:
    text = piece * (300_000 // len(piece))
    parse(text)
    Typed("x", text).given("name")
