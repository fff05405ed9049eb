"""What sessions teach: traces of calls, what is learned from them, and what their person has approved (spec session-hooks G).

All of it lies in the project's ``.matrixx/evolution/``, for its user alone; secrets are masked before anything is cut or written. Nothing
is sent anywhere: lessons are distilled from counts, without a model. A lesson becomes a skill of the agent only after its person has
seen it, and as they have seen it.
"""

import hashlib
import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from matrixx_core.settings import TRUSTED_ONLY
from matrixx_core.trust import write_atomic

from . import records
from .redaction import redact

SETTINGS_KEY = "evolution"

OFF = "evolution.enabled is false"

KEPT, MOST_BYTES = 500, 8 * 1024 * 1024
"""Traces of a session that are kept of a file that has grown to so many bytes."""

LOOKED_AT = 100
"""Traces of a session that a lesson is distilled from."""

OVERLAP = 4_096
"""Characters behind a cut that are looked at too: a secret that begins before it is masked as a whole."""

CUT = "…[truncated]"

SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,47}")

SKILLS = (".opencode", ".claude")
"""Folders of a project in whose ``skills`` the hosts look."""

Count = Annotated[int, Field(ge=0)]


class Watcher(BaseModel):
    """What of a call is kept."""

    model_config = ConfigDict(frozen=True)

    maxArgChars: int = Field(default=4_000, ge=0, le=100_000, description="Characters of a call's arguments.")  # noqa: N815  the seed's names
    maxOutputChars: int = Field(default=8_000, ge=0, le=100_000, description="Characters of its output.")  # noqa: N815
    skipTools: tuple[str, ...] = Field(default=(), description="Tools that leave no trace.")  # noqa: N815


class Compressor(BaseModel):
    """When a lesson is distilled."""

    model_config = ConfigDict(frozen=True)

    minTraces: int = Field(default=5, ge=1, description="Traces of the session that there must be.")  # noqa: N815
    trigger: Literal["compacting", "idle", "both"] = Field(
        default="both", description="After a summary, when a session falls idle, or both."
    )


class Governance(BaseModel):
    """What a lesson must be."""

    model_config = ConfigDict(frozen=True)

    minConfidence: float = Field(default=0.7, ge=0, le=1, description="How sure it must be to be shown at all.")  # noqa: N815


class Retention(BaseModel):
    """What is kept, and how long."""

    model_config = ConfigDict(frozen=True)

    traceDays: int = Field(default=30, ge=1, description="Days for which traces are kept.")  # noqa: N815
    maxPending: int = Field(default=50, ge=1, le=1_000, description="Lessons that wait for the person at most.")  # noqa: N815


class Budget(BaseModel):
    """How much may be done."""

    model_config = ConfigDict(frozen=True)

    maxCompressionsPerHour: int = Field(default=10, ge=1, le=1_000, description="Attempts to distil.")  # noqa: N815


class EvolutionSettings(BaseModel):
    """Settings that all hooks of the evolution share; the names are the seed's."""

    model_config = ConfigDict(frozen=True)

    enabled: bool = Field(default=False, description="Keep traces of calls and learn from them.", json_schema_extra=TRUSTED_ONLY)
    watcher: Watcher = Field(default=Watcher(), description="`maxArgChars`, `maxOutputChars`, `skipTools`.")
    compressor: Compressor = Field(default=Compressor(), description="`minTraces`, `trigger`.")
    governance: Governance = Field(default=Governance(), description="`minConfidence`.")
    retention: Retention = Field(default=Retention(), description="`traceDays`, `maxPending`.")
    budget: Budget = Field(default=Budget(), description="`maxCompressionsPerHour`.")


class Trace(BaseModel):
    """One call: what it was and how it went."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    call_id: str
    at: float
    agent: str = ""
    tool: str
    args: str
    output: str
    ms: Count | None = None
    success: bool


class Lesson(BaseModel):
    """What was learned, as it waits for the person; ``text`` is the whole skill."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    slug: str = Field(pattern=f"^{SLUG.pattern}$")
    text: str
    confidence: float
    traces: int
    session_id: str
    at: float

    @property
    def revision(self) -> str:
        """What tells two versions apart."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


class State(BaseModel):
    """When something was last done (seconds since 1970)."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    last_compression_at: float = 0.0
    last_prompt_at: float = 0.0


def shortened(text: str, most: int) -> str:
    """The text without secrets and without what is no character, and then at most so much of it."""
    masked = redact(text[: most + OVERLAP].encode("utf-8", "replace").decode())
    return masked if len(masked) <= most and len(text) <= most else masked[:most] + CUT


def keep(directory: str, session_id: str, trace: Trace) -> None:
    """Add a trace to its session's file; raises ``OSError``. Waits for the disk."""
    path = _traces(directory, session_id)
    if not path.parent.is_dir():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        (_folder(directory) / ".gitignore").write_text("*\n")
    line = json.dumps(trace.model_dump(mode="json")) + "\n"
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "a", encoding="utf-8") as file:
        file.write(line)
        size = file.tell()
    if size > MOST_BYTES:
        lines = path.read_text("utf-8", "replace").splitlines(keepends=True)
        write_atomic(path, "".join(lines[-KEPT:])[-MOST_BYTES // 2 :])


def kept(directory: str, session_id: str) -> list[Trace]:
    """The newest traces of a session; broken lines are left out."""
    try:
        lines = _traces(directory, session_id).read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    return list(_valid(lines[-LOOKED_AT:]))


def forget_old(directory: str, days: int) -> None:
    """Remove the traces of sessions that nothing was heard of for so many days."""
    for path in (_folder(directory) / "traces").glob("*.jsonl"):
        if time.time() - path.stat().st_mtime > days * 24 * 3_600:
            path.unlink(missing_ok=True)


def is_due(directory: str, name: Literal["last_compression_at", "last_prompt_at"], seconds: float) -> bool:
    """Whether the last time is so long ago; then this time counts. Raises ``RecordError``."""
    path, now = _folder(directory) / "state.json", time.time()
    if now - getattr(records.read(path, State) or State(), name) < seconds:
        return False
    records.update(path, State, lambda state: (state or State()).model_copy(update={name: now}))
    return True


def distilled(traces: Sequence[Trace], session_id: str) -> Lesson | None:
    """What the traces teach, from counts alone; ``None`` for nothing."""
    if not traces:
        return None
    used = Counter(map(_named, traces))
    failed = Counter(_named(trace) for trace in traces if not trace.success)
    main = next(iter(used.most_common(1)))[0]
    confidence = (len(traces) - failed.total()) / len(traces) + (0.05 if len(traces) > 20 else 0) + (0.1 if len(traces) > 10 else 0)
    confidence = min(max(confidence, 0.3 if failed else 0.6), 0.9)
    slug = _slug(f"workflow-{main}")
    steps = " -> ".join(_in_turn(traces))
    lines = [f"- {name}: {count} calls, {failed[name]} failed" for name, count in used.most_common(12)]
    text = "\n".join(
        [
            "---",
            f"name: {slug}",
            f"description: How work with {main} has gone in this project, from {len(traces)} recorded calls.",
            "---",
            "",
            "## What was used",
            *lines,
            "",
            "## In this order",
            steps,
            "",
        ]
    )
    return Lesson(slug=slug, text=text, confidence=round(confidence, 2), traces=len(traces), session_id=session_id, at=time.time())


def stage(directory: str, lesson: Lesson, most: int) -> bool:
    """Let a lesson wait for the person; false if nothing is new, or too many wait. Raises ``RecordError``."""
    path = _pending(directory, lesson.slug)
    if _skill_is(directory, lesson) or (not path.exists() and len(pending(directory)) >= most):
        return False
    with records.locked(path.parent):
        records.write(path, lesson)
        path.chmod(0o600)
    return True


def pending(directory: str) -> list[Lesson]:
    """What waits for the person, oldest first."""
    found = (records.read(path, Lesson) for path in sorted((_folder(directory) / "pending").glob("*.json")) if SLUG.fullmatch(path.stem))
    return sorted((one for one in found if one), key=lambda one: one.at)


def settle(directory: str, lesson: Lesson, *, approved: bool) -> list[Path]:
    """Make a skill of the lesson, or drop it; returns the files written. Raises ``OSError`` and ``RecordError``."""
    written = list[Path]()
    if approved:
        there = [name for name in SKILLS if (Path(directory) / name).is_dir()]
        for name in there or SKILLS[:1]:
            path = Path(directory) / name / "skills" / lesson.slug / "SKILL.md"
            write_atomic(path, lesson.text, mode=0o644)
            written.append(path)
    _pending(directory, lesson.slug).unlink(missing_ok=True)
    said = {"at": time.time(), "slug": lesson.slug, "revision": lesson.revision, "action": "approved" if approved else "rejected"}
    _append(_folder(directory) / "audit.log", said)
    return written


def _append(path: Path, said: dict[str, Any]) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "a", encoding="utf-8") as file:
        file.write(json.dumps(said) + "\n")


def _folder(directory: str) -> Path:
    """The project's own folder; raises ``OSError`` where a link leads out of the project."""
    path = Path(directory) / ".matrixx" / "evolution"
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(directory)):  # Path.resolve raises at a circle of links
        raise OSError(f"{path} leads out of the project")
    return path


def _traces(directory: str, session_id: str) -> Path:
    name = (
        session_id
        if re.fullmatch(r"[A-Za-z0-9_-]{1,100}", session_id)
        else hashlib.sha256(session_id.encode("utf-8", "replace")).hexdigest()
    )
    return _folder(directory) / "traces" / f"{name}.jsonl"


def _pending(directory: str, slug: str) -> Path:
    return _folder(directory) / "pending" / f"{slug}.json"


def _skill_is(directory: str, lesson: Lesson) -> bool:
    """Whether the person has this very text already."""
    paths = (Path(directory) / name / "skills" / lesson.slug / "SKILL.md" for name in SKILLS)
    return any(path.is_file() and path.read_bytes() == lesson.text.encode("utf-8", "surrogatepass") for path in paths)


def _valid(lines: Sequence[str]) -> Iterator[Trace]:
    for line in lines:
        try:
            yield Trace.model_validate_json(line)
        except ValidationError:
            continue


def _named(trace: Trace) -> str:
    """The tool, and for a shell the program that it ran first."""
    tool = re.sub(r"[^A-Za-z0-9_.-]+", "-", trace.tool)[:40]
    try:
        command = str(json.loads(trace.args).get("command", "")) if tool == "bash" else ""
    except (ValueError, AttributeError, RecursionError):
        return tool
    program = re.match(r"[A-Za-z0-9_.-]{1,30}(?=\s|$)", command.strip())
    return f"{tool} {program[0]}" if program else tool


def _in_turn(traces: Sequence[Trace], most: int = 30) -> Iterator[str]:
    last = ""
    for trace in traces[-most:]:
        if (name := _named(trace)) != last:
            yield name
        last = name


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:48].rstrip("-") or "workflow"
