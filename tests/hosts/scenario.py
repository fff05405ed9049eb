"""Scenarios: what a hook must bring about in any host, told without naming one (the format is in README.md)."""

import base64
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import Field, model_validator

from matrixx_builtin.rehearsal.turns import Call, Told, Turn, filled

FOLDER = Path(__file__).parent / "scenarios"

Ability: TypeAlias = Literal[
    "block",
    "unread_write",
    "odd_write",
    "rewrite_input",
    "rewrite_output",
    "rewrite_attachments",
    "note",
    "failure_note",
    "prompt_block",
    "prompt_note",
    "prompt_rewrite",
    "attachments",
    "commands",
    "message_transform",
    "answer_rewrite",
    "shell_env",
    "shell_folder",
    "definitions",
    "toast",
    "usage",
    "compaction",
    "summarize",
    "todo",
    "wake",
    "tools",
    "named_tools",
    "models",
    "apply_patch",
]
"""What a host must let a hook do for the scenario to be possible on it.

``unread_write``: it asks the hooks before it looks itself whether a file was read,
``odd_write``: or is a link, or no text. ``rewrite_attachments``: of the
images of a result, the model gets what the hooks make of them. ``note`` is text beside a call,
``prompt_note`` beside the person's prompt. ``attachments``: the person attaches files to prompts. ``commands``: a file
``.opencode/command/NAME.md`` makes a prompt ``/NAME ...`` a command of the host. ``answer_rewrite``: of
the model's words, what hooks make of them is kept and sent on. ``shell_folder``: its shell tool is told where to run. ``definitions``: hooks change what the model
is told of tools, so that it may give arguments that the host does not know. ``toast``: a hook can show the person something. ``usage``: it tells what a
request has cost. ``compaction``: the person can have the session summarised, ``summarize``: a hook can. ``todo``: hooks can see its todo list. ``wake``: a hook's offer makes an idle agent go on. ``models``: there is the model ``scripted/spare`` besides, and a hook's prompt can choose it. ``named_tools``: it can be given tools under any name.
"""

Where: TypeAlias = Literal["main", "subagent"]


class File(Told):
    """A file of the project: text, perhaps repeated, or bytes as base64, or a symbolic link."""

    text: str = ""
    repeat: int = 1
    base64: str = ""
    link: str = ""
    executable: bool = False

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if self.link:
            path.symlink_to(self.link)
            return
        path.write_bytes(base64.b64decode(self.base64) if self.base64 else (self.text * self.repeat).encode())
        if self.executable:
            path.chmod(0o755)


class Expectation(Told):
    """One thing that must hold afterwards: one subject, and what is true of it.

    With the hook switched off it must no longer hold, unless it holds ``always``: then it shows what the hook leaves alone.
    """

    file: str | None = Field(default=None, description="A file of the project.")
    result: int | None = Field(default=None, description="The result of the n-th call, as the model reads it.")
    user: int | None = Field(default=None, description="The n-th user message, as the model reads it.")
    model: bool = Field(default=False, description="All that was sent to the model, titles and summaries too.")
    log: bool = Field(default=False, description="The host's log and all that Matrixx wrote down.")
    told: bool = Field(default=False, description="What the person was shown.")

    equals: str | None = None
    contains: str | None = None
    lacks: str | None = None
    ends_with: str | None = None
    at_most: int | None = Field(default=None, description="Length in characters.")
    unchanged: bool = Field(default=False, description="Of a file: as before the run, or still not there.")
    gone: bool = Field(default=False, description="Of a file: it is not there any more.")
    stable: bool = Field(default=False, description="The same bytes in every request that holds it, and there are at least two.")
    always: bool = False

    @model_validator(mode="after")
    def _says_something(self) -> "Expectation":
        subjects = [name for name in ("file", "result", "user", "model", "log", "told") if name in self.model_fields_set]
        checks = self.model_fields_set - {*subjects, "always"}
        if len(subjects) != 1 or not checks:
            raise ValueError(f"an expectation has one subject and at least one check, not {sorted(self.model_fields_set)}")
        return self


class Scenario(Told):
    """A hook, a project, what the person and the model say, and what must hold afterwards."""

    hook: str
    needs: tuple[Ability, ...]
    where: tuple[Where, ...] = ("main",)
    settings: dict[str, Any] = Field(default={})
    tools: tuple[str, ...] = Field(default=(), description="Tools the host must offer besides its own; each answers 'NAME was run'.")
    files: dict[str, File] = Field(default={})
    staged: dict[str, File] = Field(default={}, description="Files added to the repository's index after the first commit.")
    attached: tuple[str, ...] = Field(default=(), description="Files of the project that the person attaches to each prompt.")
    prompts: tuple[str, ...]
    turns: tuple[Turn, ...]
    delegated: tuple[Turn, ...] = Field(
        default=(), description="What agents say that the turns give work to, as far as they are asked; left out: 'done'."
    )
    expect: tuple[Expectation, ...]

    @model_validator(mode="before")
    @classmethod
    def _plain_texts(cls, raw: Any) -> Any:
        """A file may be given as just its text."""
        if not isinstance(raw, Mapping):
            return raw
        return {**raw, **{key: {name: _file(one) for name, one in raw.get(key, {}).items()} for key in ("files", "staged")}}

    def with_values(self, values: dict[str, str]) -> "Scenario":
        """The scenario of one run: every ``{{NAME}}`` filled in, but for those that the run itself will tell and has not yet."""
        told_later = {name: f"{{{{{name}}}}}" for turn in self.turns for name in turn.save}
        return Scenario.model_validate(filled(self.model_dump(exclude_unset=True), told_later | values))

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls in the order in which expectations count them, from 1."""
        return tuple(call for turn in self.turns for call in turn.made_calls)

    @property
    def abilities(self) -> frozenset[Ability]:
        """What a host must be able to do: what the scenario says, and what the tools that it calls tell."""
        patches: set[Ability] = {"apply_patch"} if any(call.tool == "apply_patch" for call in self.calls) else set()
        named: set[Ability] = {"named_tools"} if self.tools else set()
        attached: set[Ability] = {"attachments"} if self.attached else set()
        commands: set[Ability] = {"commands"} if any(name.startswith(".opencode/command/") for name in self.files) else set()
        return frozenset({*self.needs, *patches, *named, *attached, *commands})


def _file(raw: Any) -> Any:
    return {"text": raw} if isinstance(raw, str) else raw


def load(path: Path) -> Scenario:
    return Scenario.model_validate(tomllib.loads(path.read_text("utf-8")))


def scenario_files() -> list[Path]:
    return sorted(FOLDER.glob("*.toml"))
