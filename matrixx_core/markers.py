"""The markers: pluggy's own, and a word for each place pluggy's ordering flags give."""

from collections.abc import Awaitable, Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, TypedDict, TypeVar, Unpack, overload

import pluggy

from .answers import Allow, Answer, Block, Inject

PROJECT = "matrixx"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@dataclass(frozen=True, slots=True)
class Subjects:
    """A set of tool names or event types: those named, or (``others``) all but those named."""

    names: frozenset[str] = frozenset()
    others: bool = False

    def __contains__(self, name: str) -> bool:
        return (name in self.names) is not self.others

    def __or__(self, more: "Subjects") -> "Subjects":
        if self.others and more.others:
            return Subjects(self.names & more.names, others=True)
        if self.others:
            return Subjects(self.names - more.names, others=True)
        return Subjects(more.names - self.names, others=True) if more.others else Subjects(self.names | more.names)


EVERY = Subjects(others=True)


class Narrowing(TypedDict, total=False):
    """When a hook is called, and for which event.

    ``tools`` or ``types`` name the only tools or event types it is called for; ``but`` names those it is not called
    for. ``spec`` is the event's name where the function has another one, so that a module may answer one event twice.
    """

    tools: Iterable[str]
    types: Iterable[str]
    but: Iterable[str]
    spec: str


_Observer = TypeVar("_Observer", bound=Callable[..., Awaitable[None] | None])
_Guard = TypeVar("_Guard", bound=Callable[..., Block | Allow | Inject | Awaitable[Block | Allow | Inject | None] | None])
_Rewriter = TypeVar("_Rewriter", bound=Callable[..., Answer | Awaitable[Answer]])
_Wrapper = TypeVar("_Wrapper", bound=Callable[..., Generator[None, Any, Any]])


@overload
def observe(hook: _Observer, /) -> _Observer: ...
@overload
def observe(**narrowing: Unpack[Narrowing]) -> Callable[[_Observer], _Observer]: ...
def observe(hook: Any = None, /, **narrowing: Unpack[Narrowing]) -> Any:
    """Mark a hook that only looks: first wave, runs beside its siblings, answers nothing."""
    return _mark(hook, narrowing, tryfirst=True)


@overload
def guard(hook: _Guard, /) -> _Guard: ...
@overload
def guard(**narrowing: Unpack[Narrowing]) -> Callable[[_Guard], _Guard]: ...
def guard(hook: Any = None, /, **narrowing: Unpack[Narrowing]) -> Any:
    """Mark a hook that may stop the event: second wave, runs beside its siblings."""
    return _mark(hook, narrowing)


@overload
def rewrite(hook: _Rewriter, /) -> _Rewriter: ...
@overload
def rewrite(**narrowing: Unpack[Narrowing]) -> Callable[[_Rewriter], _Rewriter]: ...
def rewrite(hook: Any = None, /, **narrowing: Unpack[Narrowing]) -> Any:
    """Mark a hook that may change the event: third wave, one after another, in order."""
    return _mark(hook, narrowing, trylast=True)


@overload
def around(hook: _Wrapper, /) -> _Wrapper: ...
@overload
def around(**narrowing: Unpack[Narrowing]) -> Callable[[_Wrapper], _Wrapper]: ...
def around(hook: Any = None, /, **narrowing: Unpack[Narrowing]) -> Any:
    """Mark a generator that sees the event before the waves and the outcome after them."""
    return _mark(hook, narrowing, wrapper=True)


def subjects_of(hook: Callable[..., Any]) -> Subjects:
    """The tools or event types that a marked hook is called for."""
    found: Subjects = getattr(hook, _SUBJECTS, EVERY)
    return found


_SUBJECTS = f"{PROJECT}_subjects"


def _mark(hook: Any, narrowing: Narrowing, **flags: bool) -> Any:
    if hook is None:
        return lambda late: _mark(late, narrowing, **flags)
    named = narrowing.get("tools", narrowing.get("types"))
    subjects = Subjects(frozenset(narrowing.get("but", ())), others=True) if named is None else Subjects(frozenset(named))
    setattr(hook, _SUBJECTS, subjects)
    return hookimpl(hook, specname=narrowing.get("spec"), **flags)
