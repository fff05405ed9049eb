"""What a hook may answer where it runs: whatever else it gives back is its failure, not the host's."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast, get_args

from pydantic import TypeAdapter, ValidationError

from .answers import Allow, Block, Inject, Priority
from .events import Event, Message, Place, Transcript
from .plan import Wave
from .timing import AnswerKind


def kind_of(answer: object, wave: Wave, event: Event) -> AnswerKind:
    """What the answer is; raises ``TypeError`` for one that the wave, or the event, does not take."""
    match answer:
        case None:
            return "none"
        case Inject(text=str()) if wave in {"guard", "rewrite"} and _takes_text(event) and _is_placed(answer):
            return "inject"
        case Block(reason=str(), instead=str(), person=str()) if wave == "guard" and event.blockable:
            return "block"
        case Allow() if wave == "guard":
            return "allow"
        case Event() if wave == "rewrite" and isinstance(answer, type(event)):
            return "none" if answer is event else _changed(answer, event)
        case _:
            raise TypeError(f"answered {answer!r:.200} in the {wave} wave of {type(event).__name__}, which does not take it")


def _takes_text(event: Event) -> bool:
    return type(event).with_text is not Event.with_text


def _is_placed(answer: Inject) -> bool:
    return answer.at in get_args(Place) and answer.priority in get_args(Priority)


def _changed(answer: Event, event: Event) -> AnswerKind:
    """``model_copy`` checks nothing, so what it has replaced is looked at here."""
    for name in type(event).model_fields:
        value = getattr(answer, name)
        if value is not getattr(event, name):
            try:
                _field(type(event), name).validate_python(value, strict=True)
            except ValidationError:  # its text would hold the value
                raise TypeError(f"changed {name!r} to a {type(value).__name__} that {type(event).__name__} does not take") from None
    if isinstance(answer, Transcript) and isinstance(event, Transcript):
        known = set(map(id, event.messages))
        for message in answer.messages:
            if id(message) not in known and not _is_whole(message):
                raise TypeError("changed a message to one whose info is no mapping, or whose parts are no tuple of mappings")
    return "change"


def _is_whole(message: Message) -> bool:
    info, parts = cast(object, message.info), cast(object, message.parts)
    return (
        isinstance(info, Mapping)
        and isinstance(parts, tuple)
        and all(isinstance(part, Mapping) for part in cast("tuple[object, ...]", parts))
    )


@lru_cache(maxsize=256)
def _field(kind: type[Event], name: str) -> TypeAdapter[Any]:
    annotation: Any = kind.model_fields[name].annotation
    return TypeAdapter(annotation)
