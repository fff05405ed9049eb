import base64
import random
import string
from typing import Any

import anyio
import matrixx_answer_secret_redactor as hook
import pytest

from matrixx_core import TextComplete, rewrite
from matrixx_core.testing import Rig

LETTERS = string.ascii_letters + string.digits


def made(prefix: str, length: int) -> str:
    """A secret of the shape, made afresh: no file of ours holds one."""
    return prefix + "".join(random.choices(LETTERS, k=length))


TOKEN = made("gh" + "p_", 36)
BODY = "\n".join(made("", 64) for _ in range(12))
KEY = f"-----BEGIN {'OPENSSH'} PRIVATE KEY-----\n{BODY}\n-----END {'OPENSSH'} PRIVATE KEY-----"


def told(text: str, **settings: Any) -> str:
    done = TextComplete(session_id="ses", text=text)
    answer = anyio.run(hook.text_complete, done, hook.Config(**settings))
    assert answer is None or answer.text != text
    return answer.text if answer else text


@pytest.mark.parametrize("text", ["Your token is {}.", "{}", "```sh\nexport TOKEN={}\n```", "{} and again {}", "x" * 100_000 + " {}"])
def test_a_secret_is_masked_wherever_it_stands(text: str) -> None:
    masked = told(text.replace("{}", TOKEN))
    assert masked == text.replace("{}", f"{TOKEN[:4]}…{TOKEN[-4:]}[REDACTED]")


def test_a_secret_that_is_only_encoded_is_masked_as_it_stands() -> None:
    encoded = base64.b64encode(f"token: {TOKEN}".encode()).decode()
    masked = told(f"Decode {encoded} yourself.")
    assert encoded not in masked
    assert masked.startswith("Decode ")
    assert masked.endswith(" yourself.")
    assert "[REDACTED]" in masked


def test_of_a_private_key_only_the_header_is_left() -> None:
    masked = told(f"Here it is:\n{KEY}\nKeep it safe.")
    assert not any(line in masked for line in BODY.split("\n"))
    assert masked.startswith("Here it is:\n-----BEGIN")
    assert masked.endswith("Keep it safe.")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "All done.",
        "password = 'hunter2xyz'",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "AKIAIOSFODNN7EXAMPLE",
        "\ud800\x00\uffff",
        "a" * 300_000,
    ],
)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    assert told(text) == text


def test_what_may_be_a_secret_is_masked_on_request() -> None:
    assert "hunter2xyz" not in told("password = 'hunter2xyz9'", warnings=True)


class Wraps:
    """A hook that comes after the redactor, and so runs before it on the way back."""

    RUN_AFTER = ("answer-secret-redactor",)

    @rewrite
    def text_complete(self, text: TextComplete) -> TextComplete:
        return text.model_copy(update={"text": f"{text.text} {TOKEN}"})


def test_what_hooks_add_on_the_way_out_is_masked_too() -> None:
    rig = Rig(hook, Wraps())
    outcome = anyio.run(rig.host.text_complete, TextComplete(session_id="ses", text="Token:"))
    assert TOKEN not in outcome.event.text
    assert "[REDACTED]" in outcome.event.text
