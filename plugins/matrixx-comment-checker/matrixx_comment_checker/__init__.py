"""Ask the model whether the comments that it has just added are needed.

The files that a call writes are compared before and after, whichever tool it was (the shell too, as far as its command tells), so that
only new comments count; one that moved or was reworded is not new. Fine are documentation, licence headers, ``#!`` lines, words to other
programs (``noqa``, ``eslint-disable``, ``go:build`` ...) and the steps of a test (given, when, then). Python and shell scripts are always read;
other languages where their grammar is installed, which extras bring: ``matrixx-comment-checker[typescript]``, or ``[all]``. No program is
run and nothing is downloaded.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services.effects import Effects, effects_of
from matrixx_builtin.services.records import RecordError
from matrixx_builtin.services.sensitive import FILELESS_TOOLS, GENERATED, printable
from matrixx_builtin.services.text_files import read
from matrixx_core import Inject, Session, ToolCall, ToolFailure, ToolResult, observe, rewrite

from .judgement import brought_in, worth_asking
from .languages import Comment, comments_of, language_of, may_have_new

RUN_AFTER = ("context-window-monitor",)  # the seed's order of what is said behind a call

SETTINGS_KEY = "comment_checker"

UNCONCERNED = FILELESS_TOOLS | {"read", "glob", "grep", "list", "lsp", "webfetch"}
MOST_BYTES = 1 << 19
"""Bytes of a file that is looked at; larger ones are made by programs."""
MOST_FILES = 20
"""Files of one call that are compared."""
MOST_PENDING = 100
"""Calls of a session whose end is waited for; a host that never reports an end loses the oldest."""
PLACEHOLDER = "{{comments}}"

PROMPT = f"""New comments:
{PLACEHOLDER}
Keep one only if it says what the code cannot: why something is done, where a number is from, what would go wrong otherwise, or because
the user asked for it. Remove one that repeats the code, tells of this change ("now uses", "moved here") or keeps old code; where the code
is unclear without it, give things better names instead. If all of them are needed, go on without a word about this."""


class Config(BaseModel):
    """What the model is told, and how much."""

    model_config = ConfigDict(frozen=True)

    custom_prompt: str = Field(
        default="", max_length=4_000, description=f"Said instead of our own words; {PLACEHOLDER} stands for the list of comments."
    )
    max_comments: int = Field(default=10, ge=1, le=100, description="Comments listed for a call; the rest is told as a number.")


@dataclass(slots=True)
class Pending:
    """The calls that are running, each with the texts of its files before (``""``: not there)."""

    texts: dict[str, dict[Path, str]] = field(default_factory=dict[str, dict[Path, str]])

    def add(self, call_id: str, before: dict[Path, str]) -> None:
        self.texts[call_id] = before
        if len(self.texts) > MOST_PENDING:
            self.texts.pop(next(iter(self.texts)))

    def seen(self, now: dict[Path, str]) -> None:
        """Let the calls that still run start from here, so that no comment is told twice."""
        for before in self.texts.values():
            before.update({path: text for path, text in now.items() if path in before})


@rewrite(but=UNCONCERNED)
async def tool_execute_before(call: ToolCall, session: Session) -> None:
    """Keep the texts that the call is about to change; last, so that no blocked call is waited for."""
    root = call.directory or session.directory
    effects = effects_of(call)
    if root and (effects.writes or effects.deletes):
        before = await run_sync(_before, effects, root)
        if before:
            session.state(Pending).add(call.call_id, before)


@rewrite(but=UNCONCERNED)
async def tool_execute_after(result: ToolResult, session: Session, config: Config) -> Inject | None:
    pending = session.state(Pending)
    before = pending.texts.pop(result.call.call_id, None)
    if before is None:
        return None
    now = await run_sync(_texts, before)
    pending.seen(now)
    before = {path: before[path] for path in now if now[path] != before[path]}
    if not before:
        return None
    found = await run_sync(_new_comments, before, now, abandon_on_cancel=True)
    root = await run_sync(Path(result.call.directory or session.directory).resolve)
    rows = [f"  {_name(path, root)}:{one.line}: {printable(one.text)}" for path, comments in found.items() for one in comments]
    return Inject(_told(rows, config)) if rows else None


@observe(but=UNCONCERNED)
def tool_execute_failed(failure: ToolFailure, session: Session) -> None:
    session.state(Pending).texts.pop(failure.call.call_id, None)


def _before(effects: Effects, root: str) -> dict[Path, str]:
    """The texts of the files in the workspace that the call changes and whose language is known."""
    top = Path(root).resolve()
    paths = dict.fromkeys(Path(touch.path) for touch in (*effects.writes, *effects.deletes))
    known = [path for path in paths if language_of(path.suffix) and path.is_relative_to(top)]
    return _texts([path for path in known if GENERATED.isdisjoint(path.relative_to(top).parts)][:MOST_FILES])


def _texts(paths: Iterable[Path]) -> dict[Path, str]:
    return {path: text for path in paths if (text := _text(path)) is not None}


def _text(path: Path) -> str | None:
    """The file's text; ``""`` where there is none, ``None`` for what is no text, too large or cannot be read."""
    try:
        text = read(path, MOST_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except (RecordError, OSError, ValueError):
        return None
    return None if "\0" in text else text


def _new_comments(before: dict[Path, str], now: dict[Path, str]) -> dict[Path, list[Comment]]:
    """The new comments worth asking about, by file; a text that is not well-formed is no reason to ask."""
    if not any(may_have_new(text, now[path], language) for path, text in before.items() if (language := language_of(path.suffix))):
        return {}
    old, new = {path: _comments(path, text) for path, text in before.items()}, {path: _comments(path, now[path]) for path in before}
    paths = [path for path in before if old[path] is not None and new[path] is not None]
    fresh = brought_in([old[path] or [] for path in paths], [new[path] or [] for path in paths])
    found = {path: _asked(path, now[path], new[path] or [], comments) for path, comments in zip(paths, fresh, strict=True)}
    return {path: comments for path, comments in found.items() if comments}


def _comments(path: Path, text: str) -> list[Comment] | None:
    language = language_of(path.suffix)
    return comments_of(text, language) if language else None


def _asked(path: Path, text: str, every: list[Comment], fresh: list[Comment]) -> list[Comment]:
    language = language_of(path.suffix)
    asked = set(worth_asking(every, text, language)) if language and fresh else set[Comment]()
    return [comment for comment in fresh if comment in asked]


def _name(path: Path, root: Path) -> str:
    return printable(path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name)


def _told(rows: list[str], config: Config) -> str:
    more = [f"  and {len(rows) - config.max_comments} more"] if len(rows) > config.max_comments else []
    listed = "\n".join(rows[: config.max_comments] + more)
    prompt = config.custom_prompt or PROMPT
    return prompt.replace(PLACEHOLDER, listed) if PLACEHOLDER in prompt else f"{prompt}\n{listed}"
