"""A call that no installed hook wants makes no round trip."""

import sys
from collections.abc import Iterator

from .. import echo
from ..javascript import driver
from ..measuring import Case, compared, scratch, times, turns
from .bridge import BRIDGE

WANTED, UNWANTED = "bash", "read"


def cases(scale: float) -> Iterator[Case]:
    repeat = times(scale, 200)
    with scratch() as folder:
        asked = folder / "asked"
        with driver() as js:
            js.ask(
                "open", name="echo", bridge=str(BRIDGE), folder=str(folder), argv=[sys.executable, str(echo.__file__), str(asked), WANTED]
            )

            def call(tool: str) -> float:
                return float(js.ask("call", name="echo", tool=tool, args={}, repeat=repeat))

            taken = turns({"a call nobody wants": lambda: call(UNWANTED), "a round trip": lambda: call(WANTED)}, rounds := times(scale, 15))
            js.ask("close")
        trips = int(asked.read_text("utf-8"))
    yield compared("unwanted", taken, "a call nobody wants", "a round trip")
    unwanted = trips - (rounds + 1) * repeat
    yield Case(
        "unwanted",
        f"round trips of {(rounds + 1) * repeat} such calls",
        unwanted,
        "wanted",
        trips - unwanted,
        unwanted / trips,
        "0",
        "calls",
    )
