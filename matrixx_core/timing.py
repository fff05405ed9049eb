"""What every hook did and how long it took: always on, and cheap enough for that."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

AnswerKind: TypeAlias = Literal["none", "block", "allow", "change", "inject", "error"]


class Ran(NamedTuple):
    """One call of one hook; ``ns`` is wall time in nanoseconds, ``error`` is empty unless the answer is ``"error"``."""

    plugin: str
    wave: str
    ns: int
    answer: AnswerKind
    error: str = ""


def ran(plugin: str, wave: str, ns: int, answer: AnswerKind, error: str = "") -> Ran:
    """A ``Ran``, made in half the time that its own constructor takes: one is made for every call of every hook."""
    return tuple.__new__(Ran, (plugin, wave, ns, answer, error))


@dataclass(slots=True)
class Timing:
    """The calls of one hook at one event. Durations are kept in buckets of a quarter of a power of two (within 19 %)."""

    calls: int = 0
    answers: dict[str, int] = field(default_factory=dict[str, int])
    max_ns: int = 0
    buckets: dict[int, int] = field(default_factory=dict[int, int])

    def add(self, ran: Ran) -> None:
        self.calls += 1
        if ran.answer != "none":
            self.answers[ran.answer] = self.answers.get(ran.answer, 0) + 1
        self.max_ns = max(self.max_ns, ran.ns)
        bucket = _bucket(ran.ns)
        self.buckets[bucket] = self.buckets.get(bucket, 0) + 1

    def merge(self, other: "Timing") -> None:
        """Add what another process counted."""
        self.calls += other.calls
        self.max_ns = max(self.max_ns, other.max_ns)
        for kind, count in other.answers.items():
            self.answers[kind] = self.answers.get(kind, 0) + count
        for bucket, count in other.buckets.items():
            self.buckets[bucket] = self.buckets.get(bucket, 0) + count

    def percentile(self, share: float) -> float:
        """The duration, in ms, that this share (0 to 1) of the calls did not exceed; 0 without calls."""
        wanted = share * self.calls
        for bucket in sorted(self.buckets):
            wanted -= self.buckets[bucket]
            if wanted <= 0:
                return min(_upper(bucket), self.max_ns) / 1e6
        return 0.0


class Timings:
    """All timings of one host, by plugin and event."""

    def __init__(self) -> None:
        self._table: dict[tuple[str, str], Timing] = {}

    def record(self, event: str, ran: Iterable[Ran]) -> None:
        for one in ran:
            timing = self._table.get((one.plugin, event))
            if timing is None:
                timing = self._table[one.plugin, event] = Timing()
            timing.add(one)

    def __iter__(self) -> Iterator[tuple[str, str, Timing]]:
        return ((plugin, event, timing) for (plugin, event), timing in sorted(self._table.items()))

    def take(self) -> list[tuple[str, str, Timing]]:
        """All rows, and start again from nothing: for writing them down."""
        rows = list(self)
        self._table = {}
        return rows


def _bucket(ns: int) -> int:
    if ns < 4:
        return max(ns, 0)
    shift = ns.bit_length() - 3
    return (shift << 2) + (ns >> shift)


def _upper(bucket: int) -> int:
    if bucket < 4:
        return bucket
    shift, rest = divmod(bucket - 4, 4)
    return (rest + 5) << shift
