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
    "base": re.compile(rf"{_QUOTED}|\"|`|\$\(\(|\$\(|\$\{{|\(\(|[()]|<<<|<<-?|(?<![^\s;|&(])#[^\n]*|\bcase\s+[^\s;]+\s+in\b|\besac\b|\n", re.DOTALL),
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
    for state, token, start, end in walk(source, 0, ["base"]):
        if start < skip_to:
            continue
        if token == "<<<":
            out += [source[at:start], f"<{STRING}"]
            at = skip_to = _BLANKS.match(source, end).end()  # type: ignore[union-attr]  # no blanks fit as well
        elif token.startswith("<<") and (delimiter := _DELIMITER.match(source, end)):
            word = delimiter[1]
            out += [source[at:start], f"<{MARK}{len(known) + len(waiting)}"]
            at = delimiter.end()
            waiting.append((re.sub(r"\\(.)|['\"]", r"\1", word), token == "<<-", bool(re.search(r"['\"\\]", word))))
        elif token == "\n" and waiting and state in {"base", "tick"}:
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
        token, at = found[0], found.end()
        yield state, token, found.start(), at
        if (state, token) in _CLOSES and not (token == ")" and cases[-1]):
            stack.pop()
            cases.pop()
            cases = cases or [0]
        elif token in _OPENS:
            stack.append(_OPENS[token])
            cases.append(0)
        elif token.startswith("case"):
            cases[-1] += 1
        elif token == "esac" and cases[-1]:
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
    token = "$((" if body.startswith("$((", start) else body[start] if body[start] == "`" else body[start : start + 2]
    end = len(body)
    for _, _, _, end in walk(body, start + len(token), [_OPENS[token]]):
        pass
    return end
