"""The tool itself: what the arguments ask for, done on disk, and told."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

from anyio.to_thread import run_sync

from matrixx_builtin.services.lines import AnchorError, StaleAnchors, fits
from matrixx_core import HostClient, Session, Tool, ToolError, ToolOutput, tool

from .anchors import Change, placed
from .apply import Plan, planned
from .arguments import Arguments
from .diff import counts, unified
from .disk import Locks, create, entry, located, move, overwrite, read
from .memory import Known, Memory, changed_lines, shown, unproved
from .text import Document, Splice, parse

DESCRIPTION = """Change, create, move or delete one text file. Lines are named by anchors, as read shows them: in `12#VK|text` the anchor is `12#VK`.
Send all edits of a file in one call: every anchor means the file as it is before the call, whatever the other edits do.
replace: the lines from pos to end become lines. append: lines come after pos. prepend: lines come before pos. Without pos, append and prepend mean the file's end and start, and create a file that is missing.
lines is what the file shall hold, indentation included, without anchors. Do not repeat lines that stay.
After an error nothing was written: mend the call by what the error says. After an edit, read again before you use other anchors of lines behind it."""


@dataclass(frozen=True, slots=True)
class Job:
    """One call: its arguments, where its file is, and what the session knows."""

    args: Arguments
    directory: str
    memory: Memory

    @property
    def given(self) -> str:
        return self.args.filePath

    @property
    def path(self) -> Path:
        """The file itself, whatever links lead to it."""
        return located(self.given, self.directory)

    @property
    def entry(self) -> Path:
        """What was named, which may be a link."""
        return entry(self.given, self.directory)

    @property
    def target(self) -> Path | None:
        """Where the file goes, if that is another place."""
        found = entry(self.args.rename, self.directory) if self.args.rename else None
        return None if found == self.entry else found

    def title(self, path: Path) -> str:
        root = located(".", self.directory)
        return str(path.relative_to(root) if path.is_relative_to(root) else path)


@dataclass(frozen=True, slots=True)
class Done:
    """What a call has done: in words, where the file is now, its text before and after."""

    told: str
    path: Path
    old: Document
    plan: Plan
    after: str


def edit_tool(locks: Locks) -> Tool:
    """The tool ``edit``; calls that share the locks wait for each other at one file."""

    @tool("edit", DESCRIPTION, permission="edit")
    async def edit(args: Arguments, session: Session, client: HostClient) -> ToolOutput:
        return await run_sync(partial(_run, Job(args, session.directory, session.state(Memory)), locks))

    return edit


def _run(job: Job, locks: Locks) -> ToolOutput:
    _check(job)
    try:
        with locks.held(*filter(None, (job.entry, job.path, job.target))):
            act = _delete if job.args.delete else _edit if os.path.lexists(job.path) else _create
            return _output(job, act(job))
    except AnchorError as error:
        raise ToolError(f"{job.given}: {error}") from None
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise ToolError(f"{job.given}: {reason}. Nothing was written.") from None


def _check(job: Job) -> None:
    """What can be said without looking at the file."""
    args = job.args
    if any(map(_is_plan, filter(None, (job.given, args.rename, str(job.path), str(job.target or ""))))):
        raise ToolError("Plans are not edited as files: use plan_update; plan_read shows a plan's lines with anchors.")
    if args.delete and (args.edits or args.rename):
        raise ToolError("delete goes with neither edits nor rename; send it alone.")
    if not (args.delete or args.edits or args.rename):
        raise ToolError("There is nothing to do: send edits, rename or delete.")


def _is_plan(path: str) -> bool:
    """Whether a path leads into the folder of plans; a backslash counts as a slash, whatever the system."""
    names = [part for part in path.lower().replace("\\", "/").split("/") if part not in {"", "."}]
    return (".matrixx", "plans") in pairwise(names)


def _delete(job: Job) -> Done:
    text = "" if job.entry.is_symlink() else read(job.entry, job.given)
    known = job.memory.files.get(job.entry)
    if known and known.now != text:
        raise ToolError(f"{job.given} has changed since you read it, so it was not deleted. Read it again; delete it if that is right.")
    old = parse(text)
    job.entry.unlink()
    job.memory.learn(job.entry, None)
    gone = (Splice(0, len(old.lines), ()),) if old.lines else ()
    return Done(f"Deleted {job.title(job.entry)}.", job.entry, old, Plan((), gone, (), 0, 0), "")


def _create(job: Job) -> Done:
    args = job.args
    if args.rename or any(edit.op == "replace" or edit.anchored for edit in args.edits):
        raise ToolError(f"{job.given} not found. Only append and prepend without pos and end create a file.")
    old = parse("")
    plan = planned(args.edits, old)
    text = old.spliced(plan.splices).text
    create(job.path, text, job.given)
    job.memory.learn(job.path, text)
    return Done(_sentences(f"created {job.title(job.path)}", *plan.notes), job.path, old, plan, text)


def _edit(job: Job) -> Done:
    before = read(job.path, job.given)
    old, known = parse(before), job.memory.files.get(job.path)
    plan = _planned(job, old, known)
    if not plan.splices and job.target is None:
        raise ToolError(
            f"{job.given}: no changes to make: {plan.noops} of {len(job.args.edits)} edits would put back what is there. "
            "If the file is already as wanted, go on; otherwise send the lines you want."
        )
    after = old.spliced(plan.splices).text
    path = _written(job, before, after)
    title = job.title(path)
    done = f"updated {title}" if path == job.path else f"moved {job.title(job.path)} to {title}"
    return Done(_sentences(done, *plan.notes, *_elsewhere(known, old)), path, old, plan, after)


def _planned(job: Job, old: Document, known: Known | None) -> Plan:
    """The plan, if the lines are surely those that the model means; what the error shows, the session then knows."""
    try:
        plan = planned(job.args.edits, old)
    except StaleAnchors as error:
        fitting = [one for one in placed(job.args.edits, old) if all(fits(anchor, old.lines[anchor.line - 1]) for anchor in one.anchors)]
        doubtful = f"\nThese lines may be others than you mean, too:\n{rows}" if (rows := _doubtful(known, old, fitting)) else ""
        job.memory.learn(job.path, old.text)
        raise AnchorError(f"{error}{doubtful}") from None
    if rows := _doubtful(known, old, plan.changes):
        job.memory.learn(job.path, old.text)
        raise AnchorError(
            "the file has changed since you read it, perhaps by an edit of your own, and the anchors do not prove that these lines are "
            f"the ones you mean. Nothing was written. If they are, send the edit again; these anchors are fresh:\n{rows}"
        )
    return plan


def _doubtful(known: Known | None, old: Document, changes: Sequence[Change]) -> str:
    return shown(unproved(known, old, changes), old.lines) if known else ""


def _written(job: Job, before: str, after: str) -> Path:
    """Write the new text, perhaps at a new path, which is returned."""
    path, target = job.path, job.target
    if target is None:
        overwrite(path, after, job.given)
    elif job.entry != path:
        raise ToolError(f"{job.given} is a symbolic link to {path}; rename that file, or move the link with a shell command.")
    else:
        move(path, target, after, str(job.args.rename))
        job.memory.moved(path, target)
    job.memory.changed(target or path, before, after)
    return target or path


def _elsewhere(known: Known | None, old: Document) -> Sequence[str]:
    if known is None or (before := parse(known.now)).lines == old.lines:
        return ()
    first, last = changed_lines(before.lines, old.lines)
    return (f"besides, somebody else has changed lines {first} to {last} since you read the file: read them before you edit there",)


def _sentences(*texts: str) -> str:
    return " ".join(f"{text[0].upper()}{text[1:]}." for text in texts)


def _output(job: Job, done: Done) -> ToolOutput:
    path, plan = str(done.path), done.plan
    additions, deletions = counts(plan.splices)
    metadata = {
        "filePath": path,
        "diff": unified(path, done.old.lines, plan.splices),
        "filediff": {"file": path, "before": done.old.text, "after": done.after, "additions": additions, "deletions": deletions},
        "firstChangedLine": plan.splices[0].start + 1 if plan.splices else None,
        "noopEdits": plan.noops,
        "deduplicatedEdits": plan.duplicates,
    }
    return ToolOutput(done.told, job.title(done.path), metadata)
