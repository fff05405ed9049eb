"""Show the model the AGENTS.md and README.md of the directories that it works in.

Directories between a touched file and the workspace root count, the shallowest first: AGENTS.md below the root (hosts load the root's
own), README.md of the root too. A text that stands in the result already, because the host itself has loaded it or the model has read the
file, is not added again. Each text is shown once, and once more after the conversation was summarised. Nothing outside of the workspace
is read, also not through a link.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services import ledger
from matrixx_builtin.services.effects import effects_of
from matrixx_builtin.services.records import RecordError
from matrixx_builtin.services.sensitive import printable
from matrixx_builtin.services.text_files import read
from matrixx_core import Inject, Session, ToolResult, observe, rewrite

RUN_AFTER = ("comment-checker",)  # the seed's order of what is said behind a call

TOOLS = {"read", "edit", "write", "multiedit", "apply_patch", "hashline_edit"}

MOST_BYTES = 256 << 10
"""Bytes of a file that is shown; a longer one is not written for this."""
MOST_DEPTH = 40
"""Directories between a file and the root that are looked into."""
LETTERS_PER_TOKEN = 4
"""As all estimates of notes count (spec section 0.6)."""


class Config(BaseModel):
    """Settings of ``directory-agents-injector``."""

    model_config = ConfigDict(frozen=True)

    names: tuple[Literal["AGENTS.md", "README.md"], ...] = Field(
        default=("AGENTS.md", "README.md"), description="The files that are shown."
    )
    host_loads: Literal["auto", "always", "never"] = Field(
        default="auto",
        description="Whether the host shows AGENTS.md itself: `always` leaves them to it, `never` adds each once, `auto` looks into the result.",
    )
    max_tokens: int = Field(default=1_500, ge=100, le=50_000, description="Tokens added to one call; `note_budget` limits all notes.")


@observe(types={"session.compacted"})
def session_event(session: Session) -> None:
    ledger.forget(session)


@rewrite(tools=TOOLS)
async def tool_execute_after(result: ToolResult, session: Session, config: Config) -> Inject | None:
    if not session.directory:
        return None
    effects = effects_of(result.call)
    paths = list(dict.fromkeys(touch.path for touch in (*effects.reads, *effects.writes)))
    found = await run_sync(texts_for, paths, session.directory, _wanted(config))
    seen = ledger.plain(result.output)
    left, texts = config.max_tokens * LETTERS_PER_TOKEN, list[str]()
    for file, content in found.items():
        if ledger.holds(session, content):
            continue
        shown = str(file) in paths or (config.host_loads == "auto" and ledger.plain(content) in seen)
        text = "" if shown else _text(file, content, session.directory, left)
        if len(text) > left:
            continue
        ledger.hold(session, content)
        left -= len(text)
        texts += [text] * bool(text)
    return Inject("\n\n".join(texts)) if texts else None


def _wanted(config: Config) -> tuple[str, ...]:
    return tuple(name for name in config.names if name != "AGENTS.md" or config.host_loads != "always")


def _text(file: Path, content: str, directory: str, left: int) -> str:
    """The file as the model reads it, cut where it is longer than what is left."""
    head = f"[directory notes: {printable(str(file.relative_to(Path(directory).resolve())))}]\n"
    tail = "\n[cut here; read the file for the rest]"
    room = left - len(head)
    return head + (content if len(content) <= room else content[: max(0, room - len(tail))] + tail)


def texts_for(paths: Iterable[str], directory: str, names: tuple[str, ...] = ("AGENTS.md", "README.md")) -> dict[Path, str]:
    """The texts for these files, AGENTS.md before README.md and the shallowest first; never raises."""
    found: dict[Path, str] = {}
    for path in paths:
        try:
            found |= dict(_texts_for(Path(path), Path(directory).resolve(), names))
        except (OSError, ValueError, RuntimeError):
            continue
    return found


def _texts_for(path: Path, root: Path, names: tuple[str, ...]) -> Iterator[tuple[Path, str]]:
    if not path.is_relative_to(root):
        return
    start = path if path.is_dir() else path.parent
    places = [place for place in (start, *start.parents) if place.is_relative_to(root)][:MOST_DEPTH]
    for name in names:
        for place in reversed(places):
            file = (place / name).resolve()
            if (place != root or name != "AGENTS.md") and file.is_relative_to(root) and (content := _content(file)):
                yield file, content


def _content(file: Path) -> str:
    """The text of the file; ``""`` where there is none, or where it is too long or no text."""
    try:
        content = read(file, MOST_BYTES)
    except (OSError, ValueError, RecordError):
        return ""
    return "" if b"\0" in content else content.decode("utf-8-sig", "replace").strip()
