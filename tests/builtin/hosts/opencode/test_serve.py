"""What the engine asks of OpenCode through the bridge."""

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from matrixx_builtin.hosts.opencode.serve import Engine
from matrixx_core.errors import ClientError
from matrixx_core.wire import Message, Wire


class Said(Wire):
    """A wire that keeps what is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[Message] = []

    def send(self, message: Message) -> None:
        self.sent.append(message)


async def answered(engine: Engine, wire: Said, status: int = 200) -> Any:
    """Give up a request, then make another; the first one's answer comes while the second waits."""
    with anyio.move_on_after(0.01):
        await engine.request("GET", "/slow", None)
    result: list[Any] = []

    async def ask() -> None:
        result.append(await engine.request("GET", "/quick", None))

    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            while len(wire.sent) < 2:
                await anyio.lowlevel.checkpoint()
            for number, body, code in ((wire.sent[0]["id"], "late", 200), (wire.sent[1]["id"], "right", status)):
                await engine._take({"op": "rpc-result", "id": number, "status": code, "body": body})
                await anyio.sleep(0.01)  # whoever was answered goes on
    return result[0]


def test_a_late_answer_does_not_pass_for_the_answer_to_another_request() -> None:
    wire = Said()
    assert anyio.run(answered, Engine(wire), wire) == "right"


def test_a_refused_request_is_told_as_the_hosts_refusal() -> None:
    wire = Said()
    with pytest.raises(ExceptionGroup) as caught:
        anyio.run(answered, Engine(wire), wire, 500)
    assert caught.group_contains(ClientError, match="status 500")
