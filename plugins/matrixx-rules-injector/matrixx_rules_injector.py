"""Show the model the project's rules for a file when it reads or changes that file.

Rules are Markdown files in ``.matrixx/rules``, ``.morpheus/rules``, ``.claude/rules``, ``.cursor/rules`` (also ``.mdc``) and
``.github/instructions`` (``*.instructions.md``), from the file's directory up to the workspace root, and the root's
``.github/copilot-instructions.md``, which always applies. Their frontmatter says for which files they are: ``globs``, ``paths`` or
``applyTo``, or ``alwaysApply: true``. Each text is shown once, and once more after the conversation was summarised. Nothing outside of the
workspace is read, also not through a link.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped, unused-ignore]
from anyio.to_thread import run_sync
from pathspec import PathSpec
from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services import ledger
from matrixx_builtin.services.effects import effects_of
from matrixx_builtin.services.records import RecordError
from matrixx_builtin.services.sensitive import printable
from matrixx_builtin.services.text_files import read
from matrixx_core import Inject, Session, ToolResult, observe, rewrite

RUN_AFTER = ("directory-agents-injector",)  # the seed's order of what is said behind a call

TOOLS = {"read", "edit", "write", "multiedit", "apply_patch", "hashline_edit"}
FOLDERS = {
    ".matrixx/rules": (".md", ".mdc"),
    ".morpheus/rules": (".md", ".mdc"),
    ".claude/rules": (".md", ".mdc"),
    ".cursor/rules": (".md", ".mdc"),
    ".github/instructions": (".instructions.md",),
}
"""Folders of rules, and how the names of the rules in them end."""
ALWAYS = ".github/copilot-instructions.md"

MOST_BYTES = 64 << 10
"""Bytes of a rule; a longer file is none."""
MOST_NAMES = 2_000
"""Files and folders looked at in a folder of rules."""
MOST_DEPTH = 40
"""Directories between a file and the root that are looked into."""
MOST_GLOBS = 64
"""Globs of a rule, after braces were written out."""
LETTERS_PER_TOKEN = 4
"""As all estimates of notes count (spec section 0.6)."""

_FRONTMATTER = re.compile(r"\A---[ \t]*\n(?P<head>(?:.*?\n)??)---[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^(?P<name>globs|paths|applyTo|alwaysApply)[ \t]*:(?P<value>.*(?:\n[ \t]*-.*)*)", re.MULTILINE)
_BRACES = re.compile(r"\{([^{}]*)\}")
_COMMA = re.compile(r",(?![^{]*\})")


class Config(BaseModel):
    """Settings of ``rules-injector``."""

    model_config = ConfigDict(frozen=True)

    max_tokens: int = Field(
        default=2_000, ge=100, le=50_000, description="Tokens of rules added to one call; `note_budget` limits all notes."
    )


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: its text, the files that it is for, and its own file."""

    body: str
    globs: tuple[str, ...] = ()
    always: bool = False
    file: str = ""


@observe(types={"session.compacted"})
def session_event(session: Session) -> None:
    ledger.forget(session)


@rewrite(tools=TOOLS)
async def tool_execute_after(result: ToolResult, session: Session, config: Config) -> Inject | None:
    if not session.directory:
        return None
    effects = effects_of(result.call)
    paths = list(dict.fromkeys(touch.path for touch in (*effects.reads, *effects.writes)))
    found = await run_sync(rules_for, paths, session.directory)
    seen, left, texts = ledger.plain(result.output), config.max_tokens * LETTERS_PER_TOKEN, list[str]()
    for name, rule in found.items():
        if ledger.holds(session, rule.body):
            continue
        text = "" if rule.file in paths or ledger.plain(rule.body) in seen else _text(name, rule.body, left)
        if len(text) > left:
            continue
        ledger.hold(session, rule.body)
        left -= len(text)
        texts += [text] * bool(text)
    return Inject("\n\n".join(texts)) if texts else None


def _text(name: str, body: str, left: int) -> str:
    """The rule as the model reads it, cut where it is longer than what is left."""
    head = f"[rule for this file: {printable(name)}]\n"
    tail = "\n[cut here; read the file for the rest]"
    room = left - len(head)
    return head + (body if len(body) <= room else body[: max(0, room - len(tail))] + tail)


def rules_for(paths: Iterable[str], directory: str) -> dict[str, Rule]:
    """The rules for these files by their names in the project, the nearest first; never raises."""
    found: dict[str, Rule] = {}
    for path in paths:
        try:
            found |= {name: rule for name, rule in _rules_for(Path(path), Path(directory).resolve()) if name not in found}
        except (OSError, ValueError, RuntimeError):
            continue
    return found


def _rules_for(path: Path, root: Path) -> Iterator[tuple[str, Rule]]:
    if not path.is_relative_to(root):
        return
    places = [place for place in path.parents if place.is_relative_to(root)][-MOST_DEPTH:]
    for place in places:
        for file in (one for folder, ends in FOLDERS.items() for one in _scanned(place / folder, ends, root)):
            rule = _loaded(file)
            if rule and (rule.always or any(fits(str(path.relative_to(base)), rule.globs) for base in {place, root})):
                yield str(file.relative_to(root)), rule
    file = (root / ALWAYS).resolve()
    rule = _loaded(file) if file.is_relative_to(root) else None
    if rule:
        yield ALWAYS, rule


def fits(path: str, globs: tuple[str, ...]) -> bool:
    """Whether gitignore-style globs name the path, which is relative."""
    return _spec(globs).match_file(path)


@lru_cache(maxsize=256)
def _spec(globs: tuple[str, ...]) -> PathSpec[Any]:
    good: list[str] = []
    for glob in (one for text in globs for one in unbraced(text)):
        try:
            PathSpec.from_lines("gitignore", [glob])
        except (ValueError, re.error):
            continue
        good += [glob] * (_is_cheap(glob) and len(good) < MOST_GLOBS)
    return PathSpec.from_lines("gitignore", good)


def _is_cheap(glob: str) -> bool:
    """Whether a regular expression made of it is fast on any path: each wildcard of a part multiplies the time by the path's length."""
    parts = glob.split("/")
    return len(glob) <= 500 and parts.count("**") <= 3 and all(part.count("*") <= 3 for part in parts)


def unbraced(glob: str) -> list[str]:
    """The globs that one with braces stands for: ``*.{ts,tsx}`` is ``*.ts`` and ``*.tsx``; at most ``MOST_GLOBS``."""
    done: list[str] = []
    waiting = [glob[:500]]
    while waiting and len(done) + len(waiting) <= MOST_GLOBS:
        one = waiting.pop(0)
        braces = _BRACES.search(one)
        if braces:
            waiting[:0] = [one[: braces.start()] + word.strip() + one[braces.end() :] for word in braces[1].split(",")]
        else:
            done.append(one)
    return done


_folders: dict[tuple[str, str], tuple[dict[str, int], list[Path]]] = {}
"""By folder and root: when its directories were last changed, and the rules in them."""


def _scanned(folder: Path, ends: tuple[str, ...], root: Path) -> list[Path]:
    """The rules in a folder, from memory while none of its directories has changed."""
    if not folder.is_dir() or not folder.resolve().is_relative_to(root):
        return []
    known = _folders.get((str(folder), str(root)))
    if known and known[0] == _times(known[0]):
        return known[1]
    if len(_folders) > MOST_NAMES:
        _folders.clear()
    visited: list[str] = []
    files: list[Path] = []
    for place, folders, names in os.walk(folder.resolve()):
        visited.append(place)
        folders.sort()
        files += [Path(place, name) for name in sorted(names) if name.endswith(ends) and name.isprintable()]
        if len(files) + len(visited) > MOST_NAMES:
            break
    real = list(dict.fromkeys(one for file in files if (one := file.resolve()).is_relative_to(root)))
    _folders[str(folder), str(root)] = _times(visited), real[:MOST_NAMES]
    return real[:MOST_NAMES]


def _times(places: Iterable[str]) -> dict[str, int]:
    return {place: Path(place).stat().st_mtime_ns if Path(place).is_dir() else 0 for place in places}


def _loaded(file: Path) -> Rule | None:
    """The rule in a file, or ``None`` where there is no text."""
    try:
        state = file.stat()
        return _parsed(file, state.st_mtime_ns, state.st_size) if state.st_size <= MOST_BYTES else None
    except (OSError, ValueError, RecordError):
        return None


@lru_cache(maxsize=512)
def _parsed(file: Path, changed: int, size: int) -> Rule | None:
    content = read(file, MOST_BYTES)
    if b"\0" in content:
        return None
    rule = parsed(content.decode("utf-8-sig", "replace"))
    always = rule.always or file.name == Path(ALWAYS).name
    return Rule(rule.body, rule.globs, always, str(file)) if rule.body else None


def parsed(text: str) -> Rule:
    """Read a rule; where the frontmatter is no YAML, its known fields are taken line by line."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    head = _FRONTMATTER.match(text)
    if not head:
        return Rule(text.strip())
    fields = _fields(head["head"])
    globs = tuple(glob for name in ("globs", "paths", "applyTo") for glob in _globs(fields.get(name)))
    return Rule(text[head.end() :].strip(), globs[:MOST_GLOBS], _is_true(fields.get("alwaysApply")))


def _fields(head: str) -> Mapping[str, Any]:
    """YAML without anchors, so that no small text stands for a huge one; ``*.ts`` unquoted is an alias to YAML, and read by line."""
    try:
        tokens = list(yaml.scan(head, Loader=yaml.SafeLoader))
        found: Any = None if any(isinstance(one, yaml.AnchorToken | yaml.AliasToken) for one in tokens) else yaml.safe_load(head)
    except (yaml.YAMLError, ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {one["name"]: _by_line(one["value"]) for one in _FIELD.finditer(head)}


def _by_line(value: str) -> list[str]:
    first, *rest = value.split("\n")
    first = re.sub(r"\s#.*", "", first).strip().removeprefix("[").removesuffix("]")
    items = (*_COMMA.split(first), *(one.strip().removeprefix("-") for one in rest))
    return [item.strip().strip("'\"") for item in items]


def _globs(value: Any) -> list[str]:
    """The globs in a field: a list, or one text with commas, which do not part what is in braces."""
    texts = [one for one in value if isinstance(one, str)] if isinstance(value, list) else [value] if isinstance(value, str) else []
    return [glob for text in texts for part in _COMMA.split(text[:2_000]) if (glob := part.strip().removeprefix("./"))]


def _is_true(value: Any) -> bool:
    return value is True or (isinstance(value, str) and value.casefold() == "true") or value == ["true"]
