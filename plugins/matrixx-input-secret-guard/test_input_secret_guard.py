import base64
import logging
import random
import string
from collections.abc import Sequence
from typing import Any

import anyio
import matrixx_input_secret_guard as hook
import pytest

from matrixx_builtin.services.redaction import mask
from matrixx_core import Block, ChatMessage, Session
from matrixx_core.events import added_part
from matrixx_core.testing import RecordingClient, Rig, message


def body(size: int) -> str:
    return "".join(random.choices(string.ascii_letters + string.digits, k=size))


TOKEN = "gh" + "p_" + body(36)
"""Made afresh: no file of ours holds one."""


class Talk:
    """One session and what its person sends."""

    def __init__(self, **settings: Any) -> None:
        self.config = hook.Config(**settings)
        self.session = Session("ses_test")
        self.client = RecordingClient()

    def send(self, text: str | ChatMessage) -> Block | None:
        event = message(text) if isinstance(text, str) else text
        return anyio.run(hook.chat_message, event, self.session, self.client, self.config)

    @property
    def toasts(self) -> list[str]:
        return [arguments["message"] for method, arguments in self.client.requests if method == "toast"]


def test_a_prompt_with_a_secret_is_held_back_and_tells_it_masked() -> None:
    talk = Talk()
    block = talk.send(f"please use {TOKEN}")
    assert block is not None
    for text in (block.reason, block.instead, *talk.toasts):
        assert TOKEN not in text
    assert "not sent" in block.reason and f"github-pat ({mask(TOKEN)})" in block.reason and "allow once" in block.instead
    assert len(talk.toasts) == 1 and mask(TOKEN) in talk.toasts[0]


def test_allow_once_lets_it_through_once() -> None:
    talk = Talk()
    assert talk.send(TOKEN) is not None
    assert talk.send("allow once") is None
    assert talk.send(TOKEN) is None
    assert talk.send(TOKEN) is not None


@pytest.mark.parametrize("answer", ['"Allow Session"', "ALLOW SESSION", "  'allow session' \n"])
def test_allow_session_lets_it_through_from_then_on(answer: str) -> None:
    talk = Talk()
    assert talk.send(TOKEN) is not None
    assert talk.send(answer) is None
    assert [talk.send(TOKEN), talk.send(f"again {TOKEN}")] == [None, None]


def test_what_is_allowed_is_this_value_and_no_other_with_the_same_ends() -> None:
    talk = Talk()
    other = TOKEN[:8] + body(28) + TOKEN[-4:]
    assert talk.send(TOKEN) is not None
    assert talk.send("allow session") is None
    assert talk.send(f"{TOKEN} {other}") is not None


def test_a_permission_holds_in_its_own_session_only() -> None:
    talk = Talk()
    assert talk.send(TOKEN) is not None
    assert talk.send("allow session") is None
    talk.session = Session("another")
    assert talk.send(TOKEN) is not None


def test_an_answer_without_a_question_grants_nothing() -> None:
    talk = Talk()
    assert talk.send("allow session") is None
    assert talk.send(TOKEN) is not None


def test_our_own_words_are_not_the_persons() -> None:
    talk = Talk()
    assert talk.send(TOKEN) is not None
    ours = message("").model_copy(update={"parts": (added_part("allow session"),)})
    assert talk.send(ours) is None
    assert talk.send(TOKEN) is not None
    assert talk.send(message("hi").model_copy(update={"parts": (added_part(f"note {TOKEN}"),)})) is None


@pytest.mark.parametrize("settings", [{"mode": "block"}, {"blocklist_mode": "block"}])
def test_a_hard_block_offers_and_grants_no_way_around(settings: dict[str, Any]) -> None:
    talk = Talk(**settings)
    block = talk.send(TOKEN)
    assert block is not None and "allow" not in block.instead
    assert talk.send("allow session") is None
    assert talk.send(TOKEN) is not None


def test_a_permission_given_before_a_hard_block_ends_with_it() -> None:
    talk = Talk()
    assert talk.send(TOKEN) is not None
    assert talk.send("allow session") is None
    talk.config = hook.Config(blocklist_mode="block")
    assert talk.send(TOKEN) is not None


@pytest.mark.parametrize("settings", [{"enabled": False}, {"mode": "off"}])
def test_it_can_be_switched_off(settings: dict[str, Any]) -> None:
    assert Talk(**settings).send(TOKEN) is None


@pytest.mark.parametrize(("mode", "held"), [("prompt", True), ("off", False)])
def test_a_doubtful_finding_is_asked_about_unless_that_is_off(mode: str, held: bool) -> None:
    for text in ("password = hunter2xyz", f"what about {body(30)}1aB{body(9)}"):
        assert (Talk(warnlist_mode=mode).send(text) is not None) is held
        assert (Talk(warnlist_mode=mode, mode="block").send(text) is not None) is held


@pytest.mark.parametrize(
    "text",
    ["", "hi", "rename password to passphrase, please", "see commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "allow once more of these"],
)
def test_an_ordinary_prompt_passes_without_a_word(text: str) -> None:
    talk = Talk()
    assert talk.send(text) is None and talk.toasts == []


@pytest.mark.parametrize("place", [0, 65_530, 70_000, 600_000, hook.MOST - 60])
def test_a_secret_is_found_up_to_a_megabyte_on_seams_too(place: int) -> None:
    assert Talk().send("lorem ip " * (place // 9) + " " * (place % 9) + TOKEN + " end") is not None


def test_a_longer_message_is_said_to_be_searched_in_part() -> None:
    talk = Talk()
    long = "lorem ip " * (hook.MOST // 9 + 10)
    assert talk.send(long + TOKEN) is None
    assert "Only the first 1,048,576 characters" in talk.toasts[0]
    block = talk.send(TOKEN + " " + long)
    assert block is not None and "Only its first" in block.reason


def test_pasted_and_attached_text_is_searched_but_pictures_are_not() -> None:
    def parts(*added: dict[str, Any]) -> ChatMessage:
        return message("look").model_copy(update={"parts": (*message("look").parts, *added)})

    packed = base64.b64encode(f"first line\n{TOKEN}\n".encode()).decode()
    assert Talk().send(parts({"type": "text", "text": TOKEN, "synthetic": True})) is not None
    assert Talk().send(parts({"type": "file", "mime": "text/plain", "url": f"data:text/plain;base64,{packed}"})) is not None
    assert Talk().send(parts({"type": "file", "mime": "image/png", "url": f"data:image/png;base64,{packed}"})) is None


def test_an_allowed_pattern_is_no_secret_and_a_broken_one_is_named(caplog: pytest.LogCaptureFixture) -> None:
    assert Talk(allowlist_patterns=["^ghp_"]).send(TOKEN) is None
    with caplog.at_level(logging.WARNING):
        assert Talk(allowlist_patterns=["["]).send(TOKEN) is not None
    assert "'['" in caplog.text


def test_many_findings_are_counted() -> None:
    block = Talk().send(" ".join(f"gh{'p'}_{body(36)}" for _ in range(5)))
    assert block is not None and block.reason.count("github-pat") == hook.PREVIEWS and "+2 more" in block.reason


@pytest.mark.parametrize("fails", ["raises", "hangs"])
def test_a_toast_that_fails_or_hangs_changes_nothing(fails: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Client(RecordingClient):
        async def toast(self, message: str, *, tone: Any = "info", title: str = "Matrixx") -> None:
            if fails == "raises":
                raise RuntimeError("no place for it")
            await anyio.sleep(60)

    monkeypatch.setattr(hook, "TOAST_DEADLINE", 0.05)
    talk = Talk()
    talk.client = Client()
    assert talk.send(TOKEN) is not None


@pytest.mark.parametrize("size", [1, 1000, 1024, 1025, 5000, 70_000])
def test_windows_cover_the_text_and_overlap(size: int) -> None:
    text = "".join(chr(97 + place % 26) for place in range(size))
    cut: Sequence[str] = list(hook.windows(text, 1024))
    assert cut[0] == text[:1024] and all(len(window) <= 1024 for window in cut)
    assert text.endswith(cut[-1]) and sum(map(len, cut)) >= size


def test_the_shipped_hook_holds_back_in_a_host() -> None:
    rig = Rig(hook)
    assert rig.chat(f"use {TOKEN}").blocked_by == "input-secret-guard"
    assert rig.chat("allow once").block is None
    assert rig.chat(f"use {TOKEN}").block is None
