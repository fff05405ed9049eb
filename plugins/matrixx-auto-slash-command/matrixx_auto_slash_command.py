"""Carry out a slash command from a command file when it arrives as plain text.

Hosts expand the commands of their own prompt line; what comes another way (``run "/review src"``, an API, an editor) reaches
the model as typed. For such a prompt the instructions of ``.opencode/command/review.md`` and its like follow behind it: those of
the project first, then the user's own, then skills of that name. ``$ARGUMENTS`` and ``$1`` are what was typed; ``@path``
becomes that file of the project. What is put in is never read for more placeholders.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services import text_files
from matrixx_builtin.services.effects.paths import entries
from matrixx_builtin.services.processes import run
from matrixx_builtin.services.records import RecordError
from matrixx_builtin.services.sensitive import SecretFileSettings, place_of, secret_files
from matrixx_builtin.services.slash import Typed, typed
from matrixx_core import ChatMessage, Session, rewrite
from matrixx_core.settings import TRUSTED_ONLY, project_dirs, user_dirs

SETTINGS_KEY = "commands"

TAG = "<auto-slash-command>"

ANSWERED = frozenset({
    "matrix-loop", "ulw-loop", "cancel-loop", "stop-continuation", "start-work", "ultrawork", "evolution", "knowledge",
})  # fmt: skip
"""Commands that other hooks carry out themselves."""

PLACES = ("command/{}.md", "commands/{}.md", "skill/{}/SKILL.md", "skills/{}/SKILL.md")
"""Where in a settings folder commands and skills are, by name."""

MOST_BYTES, FILE_BYTES, ALL_CHARACTERS = 64 << 10, 64 << 10, 200_000
"""What is read of a command file and of each file it names, and what of them all goes into the prompt."""

MOST_FILES, MOST_PROGRAMS = 50, 10
"""Files and shell commands of one template; further ones stay as they are written."""

SHELL_SECONDS = 4.0
"""The longest that a template's shell commands may take together: less than the 5 s that a hook has."""

_PLACEHOLDER = re.compile(
    r"!`(?P<shell>[^`\n]{1,2000})`|\$(?P<argument>ARGUMENTS\b|[1-9]\b)|(?<![\w`@])@(?P<file>[\w~./][^\s`'\"<>]{0,500})"
)
_HEADER = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"^(description|agent|model):[ \t]*(.+?)[ \t]*$", re.MULTILINE)


class Config(BaseModel):
    """Settings of ``auto-slash-command``."""

    model_config = ConfigDict(frozen=True, extra="allow")  # the seed's section may hold more

    disabled: tuple[str, ...] = Field(default=(), description="Commands that are left as they were typed, by name.")
    allow_shell: bool = Field(
        default=False,
        description="Run what stands in !`...` of a command file and put its output there.",
        json_schema_extra=TRUSTED_ONLY,  # a project's files would run programs at a word
    )


@dataclass(frozen=True, slots=True)
class Template:
    """A command file: where it was found, what its header says, and its text."""

    scope: str
    text: str
    header: Mapping[str, str] = field(default_factory=dict[str, str])


@rewrite
async def chat_message(message: ChatMessage, session: Session, config: Config) -> ChatMessage | None:
    """Put the instructions behind the user's own words."""
    command = typed(message, session)
    if command is None or command.name in ANSWERED or command.name in {name.lower().lstrip("/") for name in config.disabled}:
        return None
    if not session.directory or TAG in message.text:
        return None
    template = await run_sync(found, command.name, Path(session.directory))
    if template is None:
        return None
    outputs = await _outputs(template.text, session.directory) if config.allow_shell else {}
    return message.with_text(await run_sync(block, command, template, Path(session.directory), outputs))


def found(name: str, directory: Path) -> Template | None:
    """The first command file of this name, whatever its case."""
    for scope, folders in (("project", project_dirs(directory)[1:]), ("user", user_dirs()[::-1])):
        for place in PLACES:
            for path in (one for folder in folders[::-1] for one in _named(folder, place, name)):
                if template := _read(path, scope, directory):
                    return template
    return None


def block(command: Typed, template: Template, directory: Path, outputs: Mapping[str, str]) -> str:
    """What the model is told: which command this is, and its instructions with everything filled in."""
    rows = {"Command": f"/{command.name}", **{key.capitalize(): value for key, value in template.header.items()}, "Scope": template.scope}
    head = "\n".join(f"{name}: {value}" for name, value in rows.items())
    instructions = filled(template.text, command, directory, outputs)[:ALL_CHARACTERS]
    asked = "" if "$ARGUMENTS" in template.text or not command.text else f"\n\nUser request: {command.text}"
    return f"{TAG}\nThe user has called a command. Follow its instructions.\n{head}\n\n{instructions.strip()}{asked}\n</auto-slash-command>"


def filled(text: str, command: Typed, directory: Path, outputs: Mapping[str, str]) -> str:
    """The template with its placeholders replaced, in one go: what is put in is text and nothing else."""
    words = [word.strip("\"'") for word in re.findall(r"\"[^\"]*\"|'[^']*'|\S+", command.text)]
    files: dict[str, str] = {}

    def put(place: re.Match[str]) -> str:
        if shell := place["shell"]:
            return outputs.get(shell, place[0])
        if argument := place["argument"]:
            return command.text if argument == "ARGUMENTS" else "".join(words[int(argument) - 1 : int(argument)])
        named = place["file"]
        if named not in files and len(files) < MOST_FILES:
            files[named] = _file(named, directory)
        return files.get(named) or place[0]

    return _PLACEHOLDER.sub(put, text)


async def _outputs(text: str, directory: str) -> dict[str, str]:
    """What the template's shell commands print, all run side by side."""
    commands = dict.fromkeys(place["shell"] for place in _PLACEHOLDER.finditer(text) if place["shell"])
    outputs: dict[str, str] = {}

    async def ask(command: str) -> None:
        done = await run(["sh", "-c", command], cwd=directory, timeout=SHELL_SECONDS, limit_bytes=FILE_BYTES)
        end = "" if done.ok else f"\n[it took over {SHELL_SECONDS:g} s]" if done.timed_out else f"\n[exit code {done.code}]"
        outputs[command] = f"{done.stdout or done.stderr}{end}".strip()

    async with anyio.create_task_group() as group:
        for command in list(commands)[:MOST_PROGRAMS]:
            group.start_soon(ask, command)
    return outputs


def _named(folder: Path, place: str, name: str) -> Iterator[Path]:
    """The file of this name in one place of a settings folder."""
    kind, _, rest = place.partition("/{}")
    wanted = f"{name}.md" if rest == ".md" else name
    for entry in entries(str(folder / kind)):
        if entry.lower() == wanted:
            yield folder / kind / entry / rest.lstrip("/") if rest != ".md" else folder / kind / entry


def _read(path: Path, scope: str, directory: Path) -> Template | None:
    """The command file; ``None`` for one that cannot be read, or that a link of the project puts outside of it."""
    try:
        real = path.resolve()
        if scope == "project" and not real.is_relative_to(directory.resolve()):
            return None
        text = text_files.read(real, MOST_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError, RecordError):
        return None
    header = _HEADER.match(text)
    said = {key: value.strip("\"'")[:500] for key, value in _FIELD.findall(header[1])} if header else {}
    return Template(scope, text[header.end() :] if header else text, said)


def _file(given: str, directory: Path) -> str:
    """A file of the project as text; ``""`` for what is none, lies outside, or looks like a credential file."""
    for name in dict.fromkeys((given, given.rstrip(".,;:!?)]}"))):
        try:
            real = (directory / name).resolve()
            if not real.is_relative_to(directory.resolve()) or not real.is_file():
                continue
            if secret_files([place_of(real)], SecretFileSettings(), str(directory)):
                return f"@{name} (not shown: it looks like a credential file){given[len(name) :]}"
            content = text_files.read(real, FILE_BYTES)
        except (OSError, ValueError, RecordError):
            continue
        return f"{content.decode('utf-8', 'replace')}{given[len(name) :]}"
    return ""
