"""Slash commands as people type them: ``/matrix-loop "fix it" --max-iterations=3``, from a prompt and from a host's command event alike.

A host that knows a command reports it as a ``Command`` and sends its template as a prompt; one that does not sends what was
typed as a prompt. A hook answers both with one function::

    @rewrite
    def chat_message(message: ChatMessage, session: Session) -> Inject | None:
        return answer(typed(message, session), session)

    @rewrite
    def command_execute_before(command: Command, session: Session) -> Inject | None:
        return answer(typed(command, session), session)

``typed`` is ``None`` for the prompt that such a template becomes, so that nothing is done twice; ``expanded`` is what it came from.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from matrixx_core import ChatMessage, Command, Session
from matrixx_core.events import Part

Switch: TypeAlias = Literal["on", "off", "status"]

ALIASES: Mapping[str, tuple[str, str]] = {"end-ultrawork": ("ultrawork", "off")}
"""Commands that are short for another one with arguments."""

_COMMAND = re.compile(r"/([A-Za-z][A-Za-z0-9_-]{0,99})(?=\s|$)")

_QUOTES = {'"': '"', "'": "'", "`": "`", "\u201c": "\u201d", "\u2018": "\u2019", "\u00ab": "\u00bb"}
"""What opens a quoted text, straight or as keyboards of phones and Macs write it, and what closes it."""

_PIECE, _BLANKS = re.compile(r"\s+|\S+"), re.compile(r"[ \t]+")

_DASHES = "(?:--|\u2014|\u2013)"
"""Two hyphens, or the dash that an editor makes of them."""

_SWITCHES: Mapping[str, Switch] = {
    **dict.fromkeys(("on", "enable", "enabled", "true", "yes", "start", "1"), "on"),
    **dict.fromkeys(("off", "disable", "disabled", "false", "no", "stop", "0"), "off"),
    **dict.fromkeys(("", "status", "state"), "status"),
}


@dataclass(frozen=True, slots=True)
class Given:
    """Arguments taken apart: the options that were asked for, and the text around them, without quotes when it is one quotation."""

    text: str = ""
    options: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Typed:
    """A command: its name in lower case and without the slash, and all that was typed behind it."""

    name: str
    text: str = ""

    def given(self, *options: str) -> Given:
        """Take the named options (``max-iterations``) out of the text: ``--name=value``, ``--name value`` or ``--name "a value"``.

        In quotes nothing is an option, and what is no known option stays in the text. Of an option given twice the last counts;
        one without a value has ``""``.
        """
        names = "|".join(map(re.escape, options))
        option = re.compile(rf"{_DASHES}({names})(?:=|\s+(?!{_DASHES}\w)|(?=\s|$))", re.IGNORECASE) if options else None
        found: dict[str, str] = {}
        kept: list[str] = []
        open_ended: set[str] = set()
        at = 0
        while at < len(self.text):
            if option and (at == 0 or self.text[at - 1].isspace()) and (here := option.match(self.text, at)):
                found[here[1].lower()], at = _value(self.text, here.end(), open_ended, glued=here[0].endswith("="))
                if not kept or kept[-1].isspace():
                    at = _end(_BLANKS, self.text, at)
                continue
            end = _end_of_piece(self.text, at, open_ended)
            kept.append(self.text[at:end])
            at = end
        return Given(_unquoted("".join(kept).strip()), found)

    @property
    def switch(self) -> Switch | None:
        """What ``on``, ``off`` or nothing behind the name asks for; ``None`` for anything else."""
        return _SWITCHES.get(_unquoted(self.text).lower().lstrip("-"))


@dataclass(slots=True)
class Expanding:
    """The command that a session's host is making a prompt of, and the texts of that prompt."""

    command: Typed | None = None
    texts: tuple[str, ...] = ()
    message_id: str = ""
    """The prompt that it has become; a later one of the same text was typed."""


def parse(text: str) -> Typed | None:
    """The command that a text begins with; none in ``hello /x``, ``/123``, ``/usr/bin`` or a code block."""
    text = text.strip()
    found = _COMMAND.match(text)
    return _typed(found[1], text[found.end() :]) if found else None


def typed(event: ChatMessage | Command, session: Session) -> Typed | None:
    """The command that the person typed; ``None`` in a delegated session, where no person types."""
    if session.parent:
        return None
    if isinstance(event, Command):
        command = _typed(event.name.removeprefix("/"), event.arguments)
        expanding = session.state(Expanding)
        expanding.command, expanding.texts, expanding.message_id = command, _texts(event.parts), ""
        return command
    if expanded(event, session):
        return None
    return next((found for part in event.parts if (found := parse(_text(part)))), None)


def expanded(message: ChatMessage, session: Session) -> Typed | None:
    """The command whose template this prompt is; ``None`` for what was typed as it stands."""
    expanding = session.state(Expanding)
    if not expanding.texts or expanding.texts != _texts(message.parts):
        return None
    expanding.message_id = expanding.message_id or message.message_id
    return expanding.command if expanding.message_id == message.message_id else None


def _typed(name: str, text: str) -> Typed:
    name, text = name.lower(), text.strip()
    alias, arguments = ALIASES.get(name, (name, text))
    return Typed(alias, arguments)


def _texts(parts: tuple[Part, ...]) -> tuple[str, ...]:
    return tuple(text for part in parts if (text := _text(part).strip()))


def _text(part: Part) -> str:
    """What the person typed into this part."""
    text = part.get("text")
    return text if isinstance(text, str) and part.get("type") == "text" and not part.get("synthetic") else ""


def _end_of_piece(text: str, at: int, open_ended: set[str]) -> int:
    """Where the quotation, the word or the blanks that begin here end."""
    begins = at == 0 or text[at - 1].isspace()
    return (begins and _quoted(text, at, open_ended)) or _end(_PIECE, text, at)


def _quoted(text: str, at: int, open_ended: set[str]) -> int:
    """The end of a quotation that begins here, 0 where none does; what is never closed is looked for once."""
    if text[at] not in _QUOTES or text[at] in open_ended:
        return 0
    if not (close := _close(text, at)):
        open_ended.add(text[at])
    return close


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _close(text: str, at: int) -> int:
    """The end of a quotation that begins here, 0 where none does: an apostrophe within a word is none."""
    closer = _QUOTES.get(text[at : at + 1], "")
    end = text.find(closer, at + 1) if closer else -1
    while end != -1 and text[end + 1 : end + 2].strip() != "":
        end = text.find(closer, end + 1)
    return end + 1


def _value(text: str, at: int, open_ended: set[str], *, glued: bool) -> tuple[str, int]:
    """An option's value and where it ends; behind ``=`` it begins at once or is empty."""
    if at >= len(text) or (glued and text[at].isspace()):
        return "", at
    end = _quoted(text, at, open_ended) or _end_of_piece(text, at, open_ended)
    return ("", at) if text[at:end].isspace() else (_unquoted(text[at:end]), end)


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1].strip() if len(text) > 1 and _close(text, 0) == len(text) else text
