"""Take heredocs and here-strings out of a shell program before it is parsed.

The grammar loses its way where two heredocs share a line, something follows one on its line or a here-string follows a redirection, and it
needs time that grows with the square of the heredocs. So each ``<<EOF`` becomes a redirection from one odd word, and its body is kept aside
under that word's number; ``<<<word`` becomes a redirection from a word with an odd first letter.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

MARK = "\ue000"
"""Stands before the number of a heredoc's body; not a character of any alphabet."""
STRING = "\ue001"
"""Stands before the text of a here-string."""


class Heredoc(NamedTuple):
    """A body, and whether a quoted delimiter keeps ``$`` and backquotes in it plain."""

    body: str
    literal: bool


_QUOTED = r"\\.|\$'(?:\\.|[^'\\])*'|'[^']*'"
_TOKENS = {
    "base": re.compile(
        rf"{_QUOTED}|\"|`|\$\(\(|\$\(|\$\{{|\(\(|[()]|<<<|<<-?|(?<![^\s;|&(])#[^\n]*|\bcase\s+[^\s;]+\s+in\b|\besac\b|\n", re.DOTALL
    ),
    "dq": re.compile(r"\\.|\"|`|\$\(\(|\$\(|\$\{", re.DOTALL),
    "arith": re.compile(r"\$\(|\(|\)\)|\)"),
    "brace": re.compile(rf"{_QUOTED}|\"|`|\$\(|\$\{{|\}}", re.DOTALL),
}
_OPENS = {"$((": "arith", "((": "arith", "$(": "base", "(": "base", "${": "brace", '"': "dq", "`": "tick"}
_CLOSES = {("base", ")"), ("arith", "))"), ("brace", "}"), ("dq", '"'), ("tick", "`")}
_DELIMITER = re.compile(r"[ \t]*((?:'[^']*'|\"[^\"]*\"|\\.|[^\s;|&<>()'\"\\])+)", re.DOTALL)
_BLANKS = re.compile(r"[ \t]*")
_EXPANSION = re.compile(r"\\.|\$\w+|\$[({]|`", re.DOTALL)


def extract(source: str, known: list[Heredoc]) -> str:
    """Return the program with its heredocs replaced; their bodies are added to ``known``."""
    source = source.replace(MARK, "").replace(STRING, "")
    if "<<" not in source:
        return source
    out, at, waiting = list[str](), 0, list[tuple[str, bool, bool]]()
    skip_to = 0
    for state, sign, start, end in walk(source, 0, ["base"]):
        if start < skip_to:
            continue
        if sign == "<<<":
            out += [source[at:start], f"<{STRING}"]
            at = skip_to = _BLANKS.match(source, end).end()  # type: ignore[union-attr]  # no blanks fit as well
        elif sign.startswith("<<") and (delimiter := _DELIMITER.match(source, end)):
            word = delimiter[1]
            out += [source[at:start], f"<{MARK}{len(known) + len(waiting)}"]
            at = delimiter.end()
            waiting.append((re.sub(r"\\(.)|['\"]", r"\1", word), sign == "<<-", bool(re.search(r"['\"\\]", word))))
        elif sign == "\n" and waiting and state in {"base", "tick"}:
            out.append(source[at:end])
            at = skip_to = _bodies(source, end, waiting, known)
    known.extend(Heredoc("", literal) for _, _, literal in waiting)
    return "".join(out) + source[at:]


def _bodies(source: str, at: int, waiting: list[tuple[str, bool, bool]], known: list[Heredoc]) -> int:
    for word, tabs, literal in waiting:
        lead = "^\t*" if tabs else "^"
        ends = re.compile(rf"{lead}{re.escape(word)}(?:\n|\Z|(?=[ \t]*\)))", re.MULTILINE).search(source, at)
        body = source[at : ends.start() if ends else len(source)]
        known.append(Heredoc(re.sub(r"^\t+", "", body, flags=re.MULTILINE) if tabs else body, literal))
        at = ends.end() if ends else len(source)
    waiting.clear()
    return at


def walk(source: str, at: int, stack: list[str]) -> Iterator[tuple[str, str, int, int]]:
    """Yield the tokens that quoting and nesting hang on, with the state they stand in; ends where the first state does."""
    cases = [0]
    while stack:
        state = stack[-1]
        found = _TOKENS["base" if state == "tick" else state].search(source, at)
        if found is None:
            return
        sign, at = found[0], found.end()
        yield state, sign, found.start(), at
        if (state, sign) in _CLOSES and not (sign == ")" and cases[-1]):
            stack.pop()
            cases.pop()
            cases = cases or [0]
        elif sign in _OPENS:
            stack.append(_OPENS[sign])
            cases.append(0)
        elif sign.startswith("case"):
            cases[-1] += 1
        elif sign == "esac" and cases[-1]:
            cases[-1] -= 1
        if len(stack) > 200:
            return


def expansions(body: str) -> Iterator[tuple[bool, str]]:
    """Split a body into plain text and what the shell would replace; true marks the latter."""
    at = 0
    while found := _EXPANSION.search(body, at):
        yield False, body[at : found.start()]
        end = found.end()
        if found[0][0] == "\\":
            yield False, found[0][1:] if found[0][1] in "$`\\" else "" if found[0][1] == "\n" else found[0]
        elif found[0] in {"$(", "${", "`"}:
            end = _closed(body, found.start())
            yield True, body[found.start() : end]
        else:
            yield True, body[found.start() : end]
        at = end
    yield False, body[at:]


def _closed(body: str, start: int) -> int:
    """Return where the expansion that starts here ends."""
    sign = "$((" if body.startswith("$((", start) else body[start] if body[start] == "`" else body[start : start + 2]
    *_, end = (len(body), *(at for _, _, _, at in walk(body, start + len(sign), [_OPENS[sign]])))
    return end
