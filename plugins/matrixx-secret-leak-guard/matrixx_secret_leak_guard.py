"""Stop secrets from leaving in tool calls, commits and pushes."""

import json
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from matrixx_builtin.services import secrets
from matrixx_builtin.services.effects import effects_of
from matrixx_builtin.services.processes import run, which
from matrixx_core import Block, Inject, ToolCall, guard, hookimpl

SETTINGS_KEY = "security.secret_scanning"

READERS = frozenset({"read", "grep", "glob", "list", "todowrite", "todoread", "question", "skill", "lsp", "invalid"})
"""Tools that write nothing, run nothing, and send their arguments nowhere."""
OLD = frozenset({"oldString", "old_string", "old_str", "oldText"})
"""Arguments that quote what a file already holds."""
LISTED = 3
"""Findings that a refusal names; the rest is counted."""
GITLEAKS_TIMEOUT = 2.5
"""Seconds; one spawn takes 0.4, and this guard's own deadline is 5."""
GITLEAKS_FOUND = 7
"""Exit code that we ask gitleaks for, to tell findings from its own errors."""
INSTEAD = (
    "Read the value at run time from an environment variable or a secret manager, and write only the variable's name. "
    f"For a file that holds samples on purpose the user can add its path to {SETTINGS_KEY}.allowlist_paths."
)

log = logging.getLogger("matrixx.secret-leak-guard")


class Config(BaseModel):
    """What is looked at and what happens then."""

    enabled: bool = Field(default=True, description="Whether calls are searched at all.")
    block_on_detection: bool = Field(default=True, description="Whether a finding refuses the call; else it only adds a warning.")
    allowlist_paths: tuple[str, ...] = Field(
        default=(), description="Globs as in .gitignore, from the project's root: files whose content may hold secrets."
    )
    on_git: bool = Field(default=True, description="Whether commits and pushes are looked at.")
    gitleaks: Literal["auto", "off"] = Field(default="auto", description="Whether an installed gitleaks looks at staged changes as well.")
    tool: Literal["gitleaks"] = Field(default="gitleaks", description="Accepted for settings of older versions.")


class Leak(NamedTuple):
    """One secret, told without telling it."""

    rule: str
    where: str


@hookimpl
def host_opened() -> None:
    """Load the scanner's rules beside the host's own start."""
    secrets.warm()


@guard(but=READERS)
async def tool_execute_before(call: ToolCall, config: Config) -> Block | Inject | None:
    if not config.enabled:
        return None
    leaks, cut = await in_arguments(call, config), False
    if not leaks and call.tool == "bash" and config.on_git:
        leaks, cut = await in_git(call, config)
    if leaks:
        return verdict(leaks, config)
    return (
        Inject(f"{SETTINGS_KEY}: this commit or push is too large to be searched for secrets whole; only its beginning was.")
        if cut
        else None
    )


def verdict(leaks: Sequence[Leak], config: Config) -> Block | Inject:
    """Name rule and place of each secret, never the secret."""
    named = "; ".join(f"{leak.rule} in {leak.where}" for leak in leaks[:LISTED])
    more = f" and {len(leaks) - LISTED} more" if len(leaks) > LISTED else ""
    reason = f"it holds what looks like a secret: {named}{more}."
    return Block(reason, INSTEAD) if config.block_on_detection else Inject(f"Warning: {reason} {INSTEAD}", priority="high")


async def in_arguments(call: ToolCall, config: Config) -> list[Leak]:
    """Secrets that the call's own text would write, run or send; text that only moves within an edit is not new."""
    texts = secrets.strings_of(call.args)
    old = [text for path, text in texts.items() if path.rpartition(".")[2] in OLD]
    new = {path: text for path, text in texts.items() if path.rpartition(".")[2] not in OLD}
    if call.tool == "apply_patch":
        old += [_lines(text, "-") for text in new.values()]
        new = {path: _lines(text, "+") for path, text in new.items()}
    found = [finding for finding in await secrets.scan_all(new) if finding.severity == "block" and not _in(finding.value, old)]
    if not found or _writes_only_allowed(call, config):
        return []
    return [Leak(finding.rule, f"{finding.field or 'its arguments'}, line {finding.line}") for finding in found]


async def in_git(call: ToolCall, config: Config) -> tuple[list[Leak], bool]:
    """Secrets in what the command commits or pushes, and whether that was too much to read."""
    recorded = await secrets.recorded_by(effects_of(call).runs)
    changes = [change for change in recorded.changes if not _allowed(change.path, config)]
    gone = [change.gone for change in changes]
    found = await secrets.scan_all({str(place): change.text for place, change in enumerate(changes)})
    leaks = dict.fromkeys(
        Leak(finding.rule, f"{changes[int(finding.field)].path}:{changes[int(finding.field)].line(finding.line)}")
        for finding in found
        if finding.severity == "block" and not _in(finding.value, gone)
    )
    if not leaks and config.gitleaks == "auto" and recorded.commits and (program := which("gitleaks")):
        for where, cwd in recorded.commits:
            leaks |= dict.fromkeys(await by_gitleaks(program, _folder(where, cwd), config))
    return list(leaks), recorded.cut


async def by_gitleaks(program: str, folder: str, config: Config) -> list[Leak]:
    """What gitleaks finds in the index; its own failure is logged and counts as nothing, as our own scan was clean."""
    argv = [program, "git", "--staged", "--no-banner", "--redact", "--report-format", "json", "--report-path", "-"]
    finished = await run([*argv, "--exit-code", str(GITLEAKS_FOUND), "."], cwd=folder, timeout=GITLEAKS_TIMEOUT)
    if finished.code != GITLEAKS_FOUND:
        if not finished.ok:
            log.warning("gitleaks failed with code %d in %r; only Matrixx's own rules looked at this commit", finished.code, folder)
        return []
    try:
        report: list[Mapping[str, Any]] = json.loads(finished.stdout)
    except ValueError:
        return [Leak("gitleaks", "the staged changes")]
    hits = [entry for entry in report if not _allowed(str(entry.get("File", "")), config)]
    return [Leak(str(entry.get("RuleID", "gitleaks")), f"{entry.get('File', '?')}:{entry.get('StartLine', '?')}") for entry in hits]


def _folder(where: Sequence[str], cwd: str) -> str:
    """Where ``git -C`` leads to."""
    for flag, value in pairwise(where):
        cwd = str(Path(cwd, value)) if flag == "-C" else cwd
    return cwd


def _writes_only_allowed(call: ToolCall, config: Config) -> bool:
    if not config.allowlist_paths or call.tool == "bash":
        return False
    effects = effects_of(call)
    written = [touch.path for touch in effects.writes]
    return bool(written) and not effects.fetches and all(_allowed(os.path.relpath(path, call.directory or "/"), config) for path in written)


def _allowed(path: str, config: Config) -> bool:
    if not config.allowlist_paths:
        return False
    import pathspec  # slow to import, and few people list a path

    return pathspec.GitIgnoreSpec.from_lines(config.allowlist_paths).match_file(path)


def _in(value: str, texts: Iterable[str]) -> bool:
    return any(value in text for text in texts)


def _lines(text: str, sign: str) -> str:
    """A patch's lines of one sign, each in its place, without the sign."""
    return "\n".join(line[1:] if line.startswith(sign) else "" for line in text.split("\n"))
