"""Words for what hooks did: short, in one line, and without the keys of the run."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from matrixx_core.timing import Ran

from ..hosts.opencode.adapter import Answer
from .report import Call, HookRun, NoteTold
from .script import Step

Hide: TypeAlias = Callable[[str], str]
"""Takes the run's keys and the scratch project's path out of a text."""

LONGEST_WORD = 20
"""Characters of a cut word that are rather left out."""

SHOWN = 160
"""Characters of an action or a result that are shown."""


def hider(keys: Mapping[str, str], project: str) -> Hide:
    """Replaces each key by its first letters and its name, and the project's path by nothing."""
    names = {key: f"{key[:4]}…[{name.lower().replace('_', ' ')}]" for name, key in keys.items()}
    replaced = {f"{project}/": "", project: ".", **names}
    pattern = re.compile("|".join(map(re.escape, replaced)))
    return lambda text: pattern.sub(lambda found: replaced[found[0]], text)


def hidden(value: Any, hide: Hide) -> Any:
    """A report's value, with every text in it hidden."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, Mapping):
        return {key: hidden(one, hide) for key, one in cast(Mapping[str, Any], value).items()}
    if isinstance(value, list | tuple):
        return tuple(hidden(one, hide) for one in cast(Sequence[Any], value))
    return value


def clip(text: str, length: int = SHOWN) -> str:
    """The text in one line of at most this length, cut between two words where one ends near."""
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    head, near, _ = line[:length].rpartition(" ")
    return f"{head if near and len(head) >= length - LONGEST_WORD else line[: length - 1]}…"


def action(step: Step, hide: Hide) -> str:
    """What the agent, or the person, wants."""
    if step.kind != "tool":
        return clip(hide(step.prompt or step.say))
    shown = {key: str(value) for key, value in step.args.items()}
    if step.raw:
        return clip(hide(step.raw))
    if step.tool == "bash":
        return clip(hide(shown["command"].replace("\n", "⏎ ")))
    if step.tool == "grep":
        return clip(hide(f"{shown['pattern']} in {shown['path']}"))
    return clip(hide(shown.get("filePath", "") or shown.get("prompt", "")))


def call_told(hook: str, ms: float, answer: Answer, output: Mapping[str, Any], *, routine: bool) -> Call:
    """One answered call of the host; ``output`` is the payload before it was edited."""
    ran = [one for outcome in answer.outcomes for one in outcome.ran]
    changed = any(one.answer == "change" for one in ran)
    stopped = next((outcome for outcome in answer.outcomes if outcome.block), None)
    return Call(
        hook=hook,
        ms=round(ms, 4),
        ran=tuple(map(_run_told, ran)),
        notes=tuple(NoteTold(plugin=note.plugin, text=note.text) for outcome in answer.outcomes for note in outcome.notes),
        changes=tuple(_change(path, value, output) for path, value in answer.edits) if changed else (),
        blocked_by=stopped.blocked_by if stopped else "",
        reason=stopped.block.reason if stopped and stopped.block else "",
        instead=stopped.block.instead if stopped and stopped.block else "",
        refusal=answer.refusal,
        routine=routine,
    )


def _run_told(ran: Ran) -> HookRun:
    return HookRun.model_validate({"plugin": ran.plugin, "wave": ran.wave, "ms": round(ran.ns / 1e6, 4), "answer": ran.answer})


def _change(path: Sequence[str | int], value: Any, output: Mapping[str, Any]) -> str:
    old = _at(output, path)
    name = ".".join(str(key) for key in path if not isinstance(key, int))
    if isinstance(old, Mapping) and isinstance(value, Mapping):
        added = [key for key in cast(Mapping[str, Any], value) if key not in old]
        return f"{name}: + {', '.join(added[:4])}{f' and {len(added) - 4} more' if len(added) > 4 else ''}" if added else f"{name} changed"
    if isinstance(old, str) and isinstance(value, str):
        if max(len(old), len(value)) > SHOWN:
            return f"{name}: {len(old):,} → {len(value):,} characters"
        return f"{name}: {clip(old, 60)} → {clip(value, 60)}"
    return f"{name} changed"


def _at(output: Any, path: Sequence[str | int]) -> Any:
    for key in path:
        try:
            output = output[key]
        except (KeyError, IndexError, TypeError):
            return None
    return output
