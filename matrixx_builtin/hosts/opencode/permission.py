"""What OpenCode asks the person before a tool of a plugin runs: it asks for its own tools only, so the bridge asks for ours."""

import os
from pathlib import Path, PurePosixPath
from typing import Any, TypedDict

from matrixx_core.events import ToolCall

from ...services.effects import effects_of


class Question(TypedDict):
    """The arguments of a plugin tool's ``ask`` (1.18.33): ``patterns`` are judged now, ``always`` is what the person may allow for good."""

    permission: str
    patterns: list[str]
    always: list[str]
    metadata: dict[str, Any]


def questions(permission: str, call: ToolCall, worktree: str) -> list[Question]:
    """One for leaving the project, if the call does, and one for the permission itself, as OpenCode's own edit asks them."""
    found = effects_of(call)
    paths = list(dict.fromkeys(touch.path for touch in (*found.writes, *found.deletes)))
    roots = [Path(root).resolve() for root in {call.directory, worktree} if root and root != "/"]
    outside = [path for path in paths if not any(Path(path).is_relative_to(root) for root in roots)]
    leaving = [_leaving(path) for path in outside]
    shown = ", ".join(paths)
    base = Path(worktree or call.directory or "/").resolve()
    patterns = [os.path.relpath(path, base) for path in paths] or ["*"]
    return [*leaving, {"permission": permission, "patterns": patterns, "always": ["*"], "metadata": {"filepath": shown}}]


def _leaving(path: str) -> Question:
    folder = str(PurePosixPath(path).parent)
    pattern = str(PurePosixPath(folder) / "*")
    return {
        "permission": "external_directory",
        "patterns": [pattern],
        "always": [pattern],
        "metadata": {"filepath": path, "parentDir": folder},
    }
