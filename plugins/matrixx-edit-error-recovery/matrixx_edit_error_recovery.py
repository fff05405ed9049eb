"""Tell the model what to do after an edit that failed."""

import re

from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services.lines import ID
from matrixx_core import Inject, ToolCall, ToolFailure, ToolResult, rewrite

RUN_AFTER = ("interactive-bash-session",)  # the seed's order of what is said behind a call

EDITORS = ("edit", "multiedit", "write", "apply_patch", "patch", "hashline", "hashline_edit", "notebookedit", "notebook_edit")

LOOKED_AT = 600
"""Characters of an error that say what went wrong; further on, hosts quote the file or the arguments."""

KINDS: dict[str, tuple[str, str]] = {
    "hash": (
        r"hash (?:mismatch|does(?: not|n't) match)|(?:stale|unknown|invalid) (?:hash|anchor)|hashes? (?:is|are) stale|line hash|hashline mismatch",
        "The line anchors are from an older state of the file. Read {file} again and edit with the anchors it shows now.",
    ),
    "stale": (
        r"modified since|unexpectedly modified|changed (?:on disk )?since|file (?:was|has been) (?:modified|changed)|mtime",
        "{File} has changed since you read it. Read it again, keep the changes that are not yours, and redo the edit on what is there now.",
    ),
    "unread": (
        r"(?:has not|hasn't) been read|(?:must|need to|should) (?:first )?(?:use the )?read\b|read (?:it|the file) (?:first|before)|before (?:over)?writing to it",
        "Read {file} first, then make this edit again with what you see there.",
    ),
    "identical": (
        r"no changes to (?:make|apply)|(?:are|is) (?:identical|exactly the same|the same)\b|identical (?:strings|content)|no[- ]op edit",
        "Old and new text are the same, so there is nothing to change. Read {file}: if it is already as wanted, go on; otherwise send the text you want.",
    ),
    "several": (
        (
            r"multiple (?:matches|occurrences|times)|more than one (?:match|occurrence|place)|found \d+ (?:matches|occurrences|times)|"
            r"expected (?:1|one|exactly one) (?:match|occurrence)s? but found (?!0\b)\d+|(?:is|must be|are) (?:not |un)?unique|replace_?all is false"
        ),
        (
            "The old text stands in more than one place. Read {file} and add the lines around the place you mean until the text is unique, "
            "or set replaceAll if every place shall change."
        ),
    ),
    "context": (
        (
            r"failed to find (?:expected lines|context)|(?:patch|hunk|context)[^\n]{0,40}(?:not found|does(?: not|n't) (?:apply|match)|failed to apply)|"
            r"invalid context|could not (?:apply|find)[^\n]{0,30}hunk"
        ),
        (
            "The patch's context lines are not in the file. Read {file} around that place and write the hunk again from the lines you see, "
            "character for character; hunks that are right can stay."
        ),
    ),
    "empty": (
        r"old_?string (?:can ?not|must not) be empty|empty old_?string",
        "The old text is empty although the file has content. Read {file} and give the exact text to replace, or use write if all of it shall be replaced.",
    ),
    "missing": (
        r"file not found|no such file|(?:file|path) does not exist|failed to read file|enoent",
        "There is no such file. Look for its real path with glob before you try again; use write if it shall be a new file.",
    ),
    "not_found": (
        (
            r"(?:could|can) ?not find (?:an? |the )?(?:exact|old|match|text|string)|(?:old_?string|string to replace|text|match) (?:was )?not found|not found in (?:the )?(?:file|content)|"
            r"no (?:exact )?match(?:es)?\b|\b0 (?:occurrences|matches)"
        ),
        (
            "The old text is not in the file as you wrote it. Read {file} around that place and copy the text from it character for character "
            "(indentation, line ends, no line numbers); do not repeat the same call."
        ),
    ),
    "exists": (
        r"file already exists|already exists",
        "The file is there already. Read {file} and edit it instead of creating it.",
    ),
    "patch": (
        r"invalid (?:patch|hunk)|no hunks found|empty patch|patch rejected|begin patch|verification failed(?!: (?:error: )?failed to)",
        "The patch could not be read as one. Send it again in the tool's exact format, and check its first and last line and each hunk's header.",
    ),
}
"""What went wrong: how hosts word it (OpenCode 1.18, Claude Code, Gemini, Qwen, Copilot, Codex, hashline tools), and what to do now.

Where two wordings begin at one place, the earlier kind in this table is meant.
"""

_WORDINGS = re.compile("|".join(f"(?P<{kind}>{wording})" for kind, (wording, _) in KINDS.items()), re.IGNORECASE)
_ANCHORED = re.compile(rf"^>>> [0-9]{{1,9}}#{ID}\|", re.MULTILINE)
"""A line as hashline tools show it in their errors: with the anchor that it has now, so that there is nothing left to read."""
_STARTS = re.compile(r"\s*(?:<tool_use_error>|\W{0,3}(?:error|failed|failure|cannot|could not|no match)\b)", re.IGNORECASE)


class Config(BaseModel):
    """Settings of ``edit-error-recovery``."""

    model_config = ConfigDict(frozen=True)

    skip: tuple[str, ...] = Field(default=(), description=f"Kinds of failure to say nothing about: {', '.join(KINDS)}.")


@rewrite(tools=EDITORS)
def tool_execute_failed(failure: ToolFailure, config: Config) -> Inject | None:
    return _advice(failure.call, failure.error, config)


@rewrite(tools=EDITORS)
def tool_execute_after(result: ToolResult, config: Config) -> Inject | None:
    """Some tools, and some hosts, tell a failure as their output: it then starts with the error."""
    return _advice(result.call, result.output, config) if _STARTS.match(result.output) else None


def kind_of(error: str) -> str:
    """What went wrong, a key of ``KINDS``; ``""``: none of them."""
    found = _WORDINGS.search(error[:LOOKED_AT])
    return found.lastgroup or "" if found else ""


def _advice(call: ToolCall, error: str, config: Config) -> Inject | None:
    kind = kind_of(error)
    if not kind or kind in config.skip or _ANCHORED.search(error):
        return None
    path = call.args.get("filePath")
    named = isinstance(path, str) and 0 < len(path) <= 300 and path.isprintable()
    file, start = (f"`{path}`", f"`{path}`") if named else ("the file", "The file")
    return Inject(f"What to do now: {KINDS[kind][1].format(file=file, File=start)}", priority="high")
