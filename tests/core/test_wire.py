"""Whatever arrives on the wire, the next line is served."""

import json
import os
from collections.abc import Awaitable, Callable

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixx_core import wire as wire_module
from matrixx_core.wire import Message, Wire, decode, encode


def spoken(
    sent: bytes, chunk: int = 1 << 16, handler: Callable[[Wire, Message], Awaitable[None]] | None = None
) -> tuple[list[Message], list[Message]]:
    """What a wire hands on, and what it answers, when a host sends these bytes and hangs up."""
    taken: list[Message] = []
    answered = bytearray()

    async def talk() -> None:
        wire = Wire()
        source, out = os.pipe()
        back, sink = os.pipe()
        await wire.connect(source, sink)

        async def take(message: Message) -> None:
            taken.append(message)
            if handler:
                await handler(wire, message)

        async def say() -> None:
            for at in range(0, len(sent), chunk):
                await anyio.to_thread.run_sync(os.write, out, sent[at : at + chunk])
            os.close(out)

        async with anyio.create_task_group() as group:
            group.start_soon(say)
            await wire.listen(take)
        wire.close()
        await anyio.sleep(0.01)
        while data := await anyio.to_thread.run_sync(os.read, back, 1 << 20):
            answered.extend(data)
        os.close(back)

    anyio.run(talk)
    return taken, [json.loads(line) for line in bytes(answered).splitlines()]


@pytest.mark.parametrize("chunk", [1, 7, 1 << 16])
def test_lines_arrive_whole_however_they_are_cut(chunk: int) -> None:
    taken, _ = spoken(b'{"id":1}\n\n  \n{"id":2,"text":"\xc3\xa9"}\n', chunk)
    assert taken == [{"id": 1}, {"id": 2, "text": "é"}]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (b"nonsense", {"op": "error"}),
        (b"[1]", {"op": "error"}),
        (b'{"id": 7, "hook": ', {"id": 7}),
        (b'{"id": 8, "x": "\x00\xff"}', {"id": 8}),
        (b"[" * 100_000, {"op": "error"}),
        (b'{"id": ' + b"9" * 5_000 + b', "x"', {"op": "error"}),
    ],
)
def test_a_line_that_is_no_object_is_answered_and_the_next_one_served(line: bytes, answer: Message) -> None:
    taken, [reply] = spoken(line + b'\n{"id":9}\n')
    assert taken == [{"id": 9}]
    assert answer.items() <= reply.items() and reply["error"]


def test_a_line_over_the_limit_is_dropped_answered_by_its_id_and_the_next_one_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_module, "LIMIT", 100_000)
    taken, [reply] = spoken(b'{"id":5,"x":"' + b"a" * 5_000_000 + b'"}\n{"id":6}\n')
    assert taken == [{"id": 6}]
    assert reply["id"] == 5 and "limit" in reply["error"]


def test_a_hundred_megabytes_in_one_line_do_not_end_the_conversation() -> None:
    taken, [reply] = spoken(b'{"id":5,"x":"' + b"a" * 100_000_000 + b'"}\n{"id":6}\n')
    assert (taken, reply["id"]) == ([{"id": 6}], 5)


def test_a_handler_that_raises_does_not_end_the_conversation() -> None:
    async def fails(wire: Wire, message: Message) -> None:
        raise RuntimeError("oops")

    taken, _ = spoken(b'{"id":1}\n{"id":2}\n', handler=fails)
    assert len(taken) == 2


def test_answers_go_out_as_lines() -> None:
    async def echo(wire: Wire, message: Message) -> None:
        wire.send(message)

    assert spoken(b'{"id":1,"x":"a\\nb"}\n', handler=echo)[1] == [{"id": 1, "x": "a\nb"}]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters()),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
    )
)
def test_any_json_value_survives_the_wire_even_lone_surrogates(value: object) -> None:
    assert decode(encode({"v": value})) == {"v": value}


def test_what_json_cannot_hold_is_written_as_text() -> None:
    assert json.loads(encode({"error": ValueError("x"), "bad": "\ud800"}))["error"]
