"""Tell the model which lint findings its edit has brought in, by the linter that the project itself uses.

The linter is found by its configuration, from the edited file's folder up to the workspace root: ruff, flake8, Biome, ESLint, oxlint,
golangci-lint, clippy, shellcheck, rubocop, yamllint. It only checks; nothing is fixed, installed or downloaded. What was wrong before the
edit is not told: the old text is checked too where the linter reads one from standard input, otherwise only changed lines count. Edits
of one file that run side by side are checked once, after the last.

What runs: a program on ``PATH`` whose configuration is mere data (ruff, Biome, shellcheck, yamllint), without being asked. A program that
lies in the project (``node_modules/.bin``, ``.venv/bin``), and a linter that runs code of the project while it checks (ESLint's
configuration, clippy's build scripts, plugins of the others), could be anybody's program in a fresh clone. They run only with
``run_project_code``, which counts in the user's own settings and in a project's settings that the user has trusted (``matrixx trust``).
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services.effects import Touch, effects_of
from matrixx_builtin.services.processes import Finished, run
from matrixx_builtin.services.records import RecordError
from matrixx_builtin.services.sensitive import FILELESS_TOOLS, GENERATED, printable
from matrixx_builtin.services.text_files import read
from matrixx_core import Inject, Session, ToolCall, ToolFailure, ToolResult, rewrite
from matrixx_core.settings import TRUSTED_ONLY

from .findings import MOST_READ, Finding, brought_in
from .linters import ENV, Job, is_file, jobs_for

UNCONCERNED = FILELESS_TOOLS | {"read", "glob", "grep", "list", "lsp", "webfetch"}
WRITERS = frozenset({"write", "edit", "multiedit"})
"""Tools whose arguments say what the file must hold afterwards."""
MOST_BYTES = 1 << 20
"""Bytes of a file that is looked at; larger ones are made by programs."""
MOST_FILES = 8
"""Files of one call that are checked."""
MOST_PENDING = 100
"""Calls of a session whose end is waited for; a host that never reports an end loses the oldest."""
STALE_S = 60.0
"""Seconds after which a call that has not ended is not waited for any more (spec section 2.3); its own check is not lost."""


class Config(BaseModel):
    """Which linters run, and how much is said."""

    model_config = ConfigDict(frozen=True)

    run_project_code: bool = Field(
        default=False,
        description="Also run linters that lie in the project (node_modules/.bin, .venv/bin) or run its code (eslint, clippy, ...).",
        json_schema_extra=TRUSTED_ONLY,
    )
    commands: dict[str, tuple[str, ...]] = Field(
        default={},
        description='Your own linter by suffix, the file is added: {".py": ["pylint", "-f", "parseable"]}; it prints FILE:LINE:COLUMN: TEXT.',
        json_schema_extra=TRUSTED_ONLY,
    )
    skip: tuple[str, ...] = Field(default=(), description="Linters not to run, by name.")
    timeout_ms: int = Field(
        default=4_000,
        ge=100,
        le=60_000,
        description="For all checks of a call, in ms; above 4,000 raise hooks.quality-gate.deadline_ms too.",
    )
    max_findings: int = Field(default=10, ge=1, le=100, description="Findings told for each file; the rest is told as a number.")


@dataclass(slots=True)
class Edit:
    """A call that is running: the files that it will write, with their texts before (``""``: not there), and whether others joined in."""

    before: dict[str, str]
    since: float = field(default_factory=time.monotonic)
    alone: bool = True


@dataclass(slots=True)
class Edits:
    """A session's running calls, what it has been told once, and the linters that hang."""

    running: dict[str, Edit] = field(default_factory=dict[str, Edit])
    told: set[str] = field(default_factory=set[str])
    hanging: set[str] = field(default_factory=set[str])

    def left_to_others(self, path: str, edit: Edit) -> bool:
        """Whether a call that still runs writes the same file; it then answers for both, from the older text on."""
        now = time.monotonic()
        others = [one for one in self.running.values() if path in one.before and now - one.since < STALE_S]
        for other in others:
            other.alone = False
            if edit.since < other.since:
                other.before[path] = edit.before[path]
        return bool(others)


@rewrite(but=UNCONCERNED)
async def tool_execute_before(call: ToolCall, session: Session) -> None:
    """Keep the texts that the call is about to change; last, so that no blocked call is waited for."""
    root = call.directory or session.directory
    writes = effects_of(call).writes
    if root and writes:
        before = await run_sync(_texts, writes, root)
        edits = session.state(Edits)
        if before:
            edits.running[call.call_id] = Edit(before)
        if len(edits.running) > MOST_PENDING:
            edits.running.pop(next(iter(edits.running)))


@rewrite(but=UNCONCERNED)
async def tool_execute_after(result: ToolResult, session: Session, config: Config) -> Inject | None:
    return await _checked(result.call, session, config, done=True)


@rewrite(but=UNCONCERNED)
async def tool_execute_failed(failure: ToolFailure, session: Session, config: Config) -> Inject | None:
    """A failed call may have changed a file, and others may have left theirs to it."""
    return await _checked(failure.call, session, config, done=False)


async def _checked(call: ToolCall, session: Session, config: Config, *, done: bool) -> Inject | None:
    edits = session.state(Edits)
    edit = edits.running.pop(call.call_id, None)
    if edit is None:
        return None
    root = await run_sync(Path(call.directory or session.directory).resolve)
    check = _Check(call, root, edits, config, time.monotonic() + config.timeout_ms / 1_000)
    for path, before in edit.before.items():
        if not edits.left_to_others(path, edit):
            await check.file(Path(path), before, sure=done and edit.alone and len(edit.before) == 1)
    return Inject("\n\n".join(check.notes)) if check.notes else None


@dataclass(slots=True)
class _Check:
    """One call's files being checked; ``until`` is when all of it must have ended (monotonic)."""

    call: ToolCall
    root: Path
    edits: Edits
    config: Config
    until: float
    notes: list[str] = field(default_factory=list[str])

    async def file(self, path: Path, before: str, *, sure: bool) -> None:
        """Check one file; ``sure``: nobody else was writing it, so that it must hold what the call said."""
        now = await run_sync(_text, path)
        name = printable(path.relative_to(self.root).as_posix())
        if sure and self.call.tool in WRITERS and not await run_sync(is_file, path):
            self.notes.append(f"`{name}` is gone: another program, perhaps a formatter, removed it after it was written.")
        if not now or now == before:
            return
        if sure and self.call.tool in WRITERS and not _holds(now, self.call.args):
            self.notes.append(
                f"`{name}` differs from what you wrote: a formatter or another program changed it. Read it before you edit it again."
            )
        options = {"skip": self.config.skip, "project_code": self.config.run_project_code, "commands": self.config.commands}
        for job in await run_sync(lambda: jobs_for(path, self.root, **options)):  # type: ignore[arg-type]  # mypy joins the values' types
            await self.lint(job, path, name, before, now)

    async def lint(self, job: Job, path: Path, name: str, before: str, now: str) -> None:
        """Run one linter on the file as it is, and where it finds something, on the text before."""
        linter = job.linter
        if not job.program:
            self.once(f"{linter.name} ({job.config}) was not run: {job.why_not}.")
        if not job.program or linter.name in self.edits.hanging:
            return
        found = await self.run(job, linter.argv, path)
        if found is None:
            return
        if await run_sync(_text, path) != now:
            self.edits.hanging.add(linter.name)
            self.notes.append(f"{linter.name} changed or removed `{name}` although it was asked to check only; read the file again.")
            return
        old = await self.run(job, linter.stdin, path, before) if found and before and linter.stdin else None if before else []
        fresh = brought_in(found, old, before, now)
        if fresh:
            self.notes.append(_told(fresh, linter.name, name, self.config.max_findings))

    async def run(self, job: Job, options: tuple[str, ...], path: Path, text: str | None = None) -> list[Finding] | None:
        """The findings about the file, or about an older ``text`` of it; ``None`` where the linter could not tell."""
        argv = [job.program, *(one.replace("{file}", str(path)).replace("{folder}", str(path.parent)) for one in options)]
        left = self.until - time.monotonic()
        done = await run(argv, cwd=job.folder, timeout=left, input=text, env=ENV) if left > 0 else Finished(0, "", "", timed_out=True)
        found = [one for _, one in zip(range(MOST_READ), job.linter.parse(f"{done.stdout}\n{done.stderr}"), strict=False)]
        if done.timed_out or (not found and done.code not in {0, 1}):
            if text is None:
                self.failed(job, done, had_its_time=left > self.config.timeout_ms / 2_000)
            return None
        return found if text is not None else await run_sync(lambda: [one for one in found if _is_about(one, path, job.folder)])

    def failed(self, job: Job, done: Finished, *, had_its_time: bool) -> None:
        """Say why there are no findings; a linter that had at least half the time will not do better with the next edit."""
        if done.timed_out and had_its_time:
            self.edits.hanging.add(job.linter.name)
        if done.timed_out:
            self.once(f"{job.linter.name} did not end in {self.config.timeout_ms / 1_000:g} s; its findings are not told.")
        else:
            why = next((line for line in done.stderr.splitlines() if line.strip()), f"exit code {done.code}")
            self.once(f"{job.linter.name} could not check: {printable(why.strip())}.")

    def once(self, note: str) -> None:
        """Say it if this session has not been told yet."""
        subject = note.partition(":")[0]
        if subject not in self.edits.told:
            self.edits.told.add(subject)
            self.notes.append(f"[{note}]")


def _texts(writes: tuple[Touch, ...], root: str) -> dict[str, str]:
    """The texts of the plain files in the workspace that are about to be written."""
    found: dict[str, str] = {}
    for path in _inside(writes, Path(root).resolve()):
        text = _text(path)
        if text is not None:
            found[str(path)] = text
        if len(found) == MOST_FILES:
            break
    return found


def _inside(writes: tuple[Touch, ...], root: Path) -> Iterator[Path]:
    for touch in writes:
        path = Path(touch.path)
        if path.is_relative_to(root) and GENERATED.isdisjoint(path.relative_to(root).parts):
            yield path


def _text(path: Path) -> str | None:
    """The file's text; ``""`` where there is none, ``None`` for what is no text, too large or cannot be read."""
    try:
        text = read(path, MOST_BYTES).decode("utf-8")
    except FileNotFoundError:
        return ""
    except (RecordError, OSError, ValueError):
        return None
    return None if "\0" in text else text


def _holds(text: str, args: Any) -> bool:
    """Whether the text is what the arguments of a write or an edit say, line ends apart; true where they do not say."""
    content, edits = args.get("content"), args.get("edits")
    if isinstance(content, str):
        return _same(text) == _same(content)
    last = edits[-1] if isinstance(edits, list | tuple) and edits else args
    put = last.get("newString") if hasattr(last, "get") else None
    return not isinstance(put, str) or _same(put) in _same(text)


def _same(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").rstrip("\n")


def _is_about(finding: Finding, path: Path, folder: Path) -> bool:
    """Linters of whole packages tell of other files too, and name files from where they run or from a folder above."""
    given = finding.file.replace("\\", "/").removeprefix("./")
    there = folder / given
    return there == path if is_file(there) else path.as_posix().endswith(f"/{given}")


def _told(findings: list[Finding], linter: str, name: str, most: int) -> str:
    lines = [f"  {one.line}:{one.column} {printable(one.text.strip(), 200)}" for one in findings[:most]]
    rest = f"\n  and {len(findings) - most} more" if len(findings) > most else ""
    return (
        f"{linter} finds in `{name}` what was not there before this edit (line:column):\n"
        + "\n".join(lines)
        + rest
        + "\nFix what the edit has caused."
    )
