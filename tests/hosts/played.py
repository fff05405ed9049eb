"""What came of a run, in terms that every host shares, and whether it is what a scenario expects."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from matrixx_builtin.rehearsal.turns import Request

from .scenario import Expectation, Scenario


@dataclass(slots=True, repr=False)
class Played:
    """A scenario (filled in), the project as it is now, and all that was said and written."""

    scenario: Scenario
    project: Path
    where: str = "main"
    before: Mapping[str, bytes | str | None] = field(default_factory=dict[str, bytes | str | None])
    requests: list[Request] = field(default_factory=list[Request])
    unplayed: int = 0
    log: str = ""
    told: str = ""

    @property
    def own(self) -> list[Request]:
        """The requests of the agent whose turns the scenario tells."""
        return [request for request in self.requests if request.kind == self.where]


def state(path: Path) -> bytes | str | None:
    """What a path holds: bytes, a link's target, or nothing."""
    if path.is_symlink():
        return str(path.readlink())
    return path.read_bytes() if path.is_file() else None


def problems(played: Played) -> Iterator[tuple[Expectation, str]]:
    """Every expectation that does not hold, and why."""
    for one in played.scenario.expect:
        if why := "; ".join(_of_file(one, played) if one.file is not None else _of_text(one, played)):
            yield one, why


def _of_file(one: Expectation, played: Played) -> Iterator[str]:
    path = played.project / str(one.file)
    now = state(path)
    if one.unchanged and now != played.before.get(str(one.file)):
        yield f"{one.file} was {played.before.get(str(one.file))!r:.100} and is {now!r:.100}"
    if one.gone and now is not None:
        yield f"{one.file} is still there"
    if CHECKED & one.model_fields_set:
        if not isinstance(now, bytes):
            yield f"{one.file} is not there"
        else:
            yield from _differences(one, now.decode("utf-8", "surrogateescape"))


def _of_text(one: Expectation, played: Played) -> Iterator[str]:
    seen = list(SUBJECTS[next(name for name in SUBJECTS if name in one.model_fields_set)](one, played))
    if not seen:
        yield "the model has never read it"
        return
    if one.stable and (len(seen) < 2 or len(set(seen)) > 1):
        yield f"the model read {len(seen)} times {len(set(seen))} different texts"
    yield from _differences(one, seen[0])


def _result(one: Expectation, played: Played) -> Iterator[str]:
    return (message.text for request in played.own for message in request.messages if message.call == one.result)


def _user(one: Expectation, played: Played) -> Iterator[str]:
    assert one.user is not None
    for request in played.own:
        said = [message.text for message in request.messages if message.role == "user"]
        if len(said) >= one.user:
            yield said[one.user - 1]


SUBJECTS: Mapping[str, Callable[[Expectation, Played], Iterator[str]]] = {
    "result": _result,
    "user": _user,
    "model": lambda _one, played: iter(["\n".join(request.body for request in played.requests)]),
    "log": lambda _one, played: iter([played.log]),
    "told": lambda _one, played: iter([played.told]),
}

CHECKS: Mapping[str, tuple[Callable[[str, str], bool], str]] = {
    "equals": (lambda text, wanted: text == wanted, "is not"),
    "contains": (lambda text, wanted: wanted in text, "does not contain"),
    "lacks": (lambda text, wanted: wanted not in text, "contains"),
    "ends_with": (lambda text, wanted: text.endswith(wanted), "does not end with"),
}

CHECKED = {*CHECKS, "at_most"}


def _differences(one: Expectation, text: str) -> Iterator[str]:
    for name, (holds, otherwise) in CHECKS.items():
        wanted = getattr(one, name)
        if wanted is not None and not holds(text, wanted):
            yield f"{text[:200]!r}{'...' if len(text) > 200 else ''} {otherwise} {wanted!r}"
    if one.at_most is not None and len(text) > one.at_most:
        yield f"it has {len(text)} characters, more than {one.at_most}"
