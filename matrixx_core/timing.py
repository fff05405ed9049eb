"""What every hook did and how long it took: always on, and cheap enough for that."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Literal, NamedTuple, TypeAlias

from .plan import Step

MOST_EVENTS = 1_000
"""Events whose silent calls wait to be counted; then the next one pays for all (a millisecond)."""

AnswerKind: TypeAlias = Literal["none", "block", "allow", "change", "inject", "error"]


class Ran(NamedTuple):
    """One call of one hook; ``ns`` is wall time in nanoseconds, ``error`` is empty unless the answer is ``"error"``."""

    plugin: str
    wave: str
    ns: int
    answer: AnswerKind
    error: str = ""


Row: TypeAlias = tuple[Step, float, AnswerKind, str]
"""Step, seconds, answer, error: what becomes a ``Ran`` when somebody looks. One is made for every call of every hook."""


@dataclass(slots=True)
class Timing:
    """The calls of one hook at one event. Durations are kept in buckets of a quarter of a power of two (within 19 %)."""

    calls: int = 0
    answers: dict[str, int] = field(default_factory=dict[str, int])
    max_ns: int = 0
    buckets: dict[int, int] = field(default_factory=dict[int, int])

    def add(self, ns: int, answer: AnswerKind) -> None:
        self.calls += 1
        if answer != "none":
            self.answers[answer] = self.answers.get(answer, 0) + 1
        self.max_ns = max(self.max_ns, ns)
        bucket = _bucket(ns)
        self.buckets[bucket] = self.buckets.get(bucket, 0) + 1

    def add_silent(self, seconds: Iterable[float]) -> None:
        """Count calls that answered nothing, many at once: sorted, a bucket is two places."""
        ordered = sorted(seconds)
        self.calls += len(ordered)
        self.max_ns = max(self.max_ns, round(ordered[-1] * 1e9)) if ordered else self.max_ns
        place = 0
        while place < len(ordered):
            bucket = _bucket(round(ordered[place] * 1e9))
            end = max(place + 1, bisect_left(ordered, (_upper(bucket) - 0.5) / 1e9, place))
            self.buckets[bucket] = self.buckets.get(bucket, 0) + end - place
            place = end

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
    """All timings of one host, by plugin and event. Calls that answered nothing are kept as numbers until somebody looks."""

    def __init__(self) -> None:
        self._table: dict[tuple[str, str], Timing] = {}
        self._silent: dict[Step, tuple[str, array[float]]] = {}
        self._events = 0

    def record(self, event: str, rows: Sequence[Row]) -> None:
        """Take the calls of one event; cheap, for it stands between a host's question and its answer."""
        for step, seconds, answer, _ in rows:
            if step not in self._silent:
                self._silent[step] = event, array("d")
            if answer == "none":
                self._silent[step][1].append(seconds)
            else:
                self._timing(step.plugin, event).add(round(seconds * 1e9), answer)
        self._events += 1
        if self._events >= MOST_EVENTS:
            self._count()

    def _timing(self, plugin: str, event: str) -> Timing:
        return self._table.setdefault((plugin, event), Timing())

    def _count(self) -> None:
        for step, (event, seconds) in self._silent.items():
            if seconds:
                self._timing(step.plugin, event).add_silent(seconds)
        self._silent, self._events = {}, 0

    def __iter__(self) -> Iterator[tuple[str, str, Timing]]:
        self._count()
        return ((plugin, event, timing) for (plugin, event), timing in sorted(self._table.items(), key=itemgetter(0)))

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
