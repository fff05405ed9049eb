"""Files that hold secrets, known by their names: one table for every guard that protects them."""

import os
import re
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from fnmatch import translate
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services.effects import Effects, Touch, covers, matching
from matrixx_builtin.services.effects.paths import LONGEST, resolved
from matrixx_core import Block
from matrixx_core.settings import TIGHTENS

SECRET_FILES = (
    ".env", ".env.*", ".env[-_~]*", "*.env",
    "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.ppk", "*.kdbx",
    "id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk",
    "credentials.json", "service-account*.json", "service_account*.json", "*-firebase-adminsdk-*.json", "client_secret*.json",
    "application_default_credentials.json", ".aws/credentials", ".config/gh/hosts.yml", ".kube/config", ".docker/config.json",
    ".npmrc", ".pypirc", ".netrc", "_netrc", ".git-credentials", ".pgpass", ".htpasswd", ".vault-token",
)  # fmt: skip
"""Names that hold secrets by convention. ``.envrc`` is not among them: it is a script that direnv runs, kept in repositories; a user who
keeps secrets in it adds it to ``blocked_patterns``."""

EXAMPLES = (
    "*[._-]example", "*[._-]sample", "*[._-]template", "*[._-]dist", "example.env", "sample.env", "template.env", "*.pub",
)  # fmt: skip
"""Names that tell what belongs into a secret file without holding it (``.env.example``, ``id_rsa.pub``)."""

FILELESS_TOOLS = frozenset({
    "todowrite", "todoread", "question", "skill", "task", "plan_exit", "plan_enter", "invalid", "websearch", "codesearch",
})  # fmt: skip
"""Tools of OpenCode that touch no file, so no file guard needs to see them."""

GENERATED = frozenset({
    "node_modules", ".git", ".venv", "venv", "site-packages", "__pycache__", ".tox", ".nox", ".cache", ".next", ".nuxt", "dist", "build",
    "target", "out", "coverage", "vendor", "tmp",
})  # fmt: skip
"""Directories that tools fill and people throw away whole; what lies in them is nobody's only copy of a secret."""

MOST_LOOKED_AT = 5_000
"""Names looked at below a directory before it counts as holding no secret (about 20 ms)."""

Pattern = Annotated[str, Field(pattern=r"^[^!]")]


class SecretFileSettings(BaseModel):
    """Which files a guard of secret files protects."""

    model_config = ConfigDict(frozen=True)

    enabled: bool = Field(default=True, description="Whether the guard is on.")
    blocked_patterns: tuple[Pattern, ...] = Field(
        default=SECRET_FILES,
        description="Files that are protected: a name (`.env`, `*.pem`) anywhere, or a path (`.aws/credentials`). Letter case does not matter. "
        "A list here replaces the default one.",
        json_schema_extra=TIGHTENS,
    )
    allowed_paths: tuple[Pattern, ...] = Field(
        default=(),
        description="Files that are not protected although a pattern names them; relative ones start at the project, `**/` means anywhere.",
    )
    allow_examples: bool = Field(
        default=True, description="Whether `.env.example`, `.env.sample`, `.env.template`, `.env.dist` and `*.pub` are never protected."
    )


def secret_files(touches: Iterable[Touch], settings: SecretFileSettings, directory: str) -> tuple[Touch, ...]:
    """Return the touches that reach a protected file; ``directory`` is the project's.

    A virtual environment that happens to be called ``.env`` is a directory of programs and holds no secret.
    """
    patterns = _patterns(settings)
    touches = (touch for touch in touches if len(touch.path) <= LONGEST)  # no file has a longer name
    return tuple(
        touch for touch in touches if matching([_straightened(touch)], patterns, base=directory) and not _in_virtualenv(touch.path)
    )


def secret_below(touch: Touch, settings: SecretFileSettings, directory: str) -> str:
    """Return a protected file that goes away with the directory that is touched, or ``""``.

    Directories in ``GENERATED``, and those of the machine's temporary files, are not looked into.
    """
    if not Path(touch.path).is_dir() or Path(touch.path).name in GENERATED or _is_scratch(touch, directory):
        return ""
    suspicious = _names(settings.blocked_patterns)
    for path in _below(touch.path):
        if suspicious.fullmatch(path.rpartition("/")[2]) and secret_files([Touch(path, path, touch.how, touch.mode)], settings, directory):
            return path
    return ""


def too_much(effects: Effects) -> Block | None:
    """Refuse a call of which a part was not looked at, because it is too long or nested too deep: anything may hide there."""
    if any(reason.startswith("limit:") for reason in effects.unknown):
        return Block("the call is too long or nested too deep to tell what it does to files", "split it into simpler calls.")
    return None


def place_of(path: str | Path) -> Touch:
    """Return a path as if it were touched, to ask with ``covers`` whether something is in it."""
    return Touch(str(Path(path).resolve()), str(path), "", "metadata")


def named(touch: Touch) -> str:
    """Return the touched path as the call gave it, fit for a message; where a link led elsewhere, that as well."""
    given = printable(touch.given or touch.path)
    return f"'{given}' (a link to '{printable(touch.path)}')" if touch.link and Path(touch.link).is_symlink() else f"'{given}'"


def printable(text: str, most: int = 160) -> str:
    """Return the text on one line, without control characters and lone surrogates, the middle of a long one left out."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in text[: most * 50])
    return plain if len(plain) <= most else f"{plain[: most // 2]}…{plain[-most // 2 :]}"


def _patterns(settings: SecretFileSettings) -> tuple[str, ...]:
    examples = tuple(f"!{pattern}" for pattern in EXAMPLES) if settings.allow_examples else ()
    return (*settings.blocked_patterns, *examples, *(f"!{_anchored(path)}" for path in settings.allowed_paths))


def _straightened(touch: Touch) -> Touch:
    """Leave only full paths from the root, so that an allowed path is compared from one place: the project."""
    return replace(touch, given=touch.path, link=touch.link and resolved(touch.link, follow=False))


def _anchored(path: str) -> str:
    """A path that is allowed is one path, not a name anywhere."""
    return path if path.startswith(("/", "~", "**/")) or path[1:2] == ":" else f"/{path.removeprefix('./')}"


def _in_virtualenv(path: str) -> bool:
    return any((place / "pyvenv.cfg").is_file() for place in (Path(path), *Path(path).parents))


def _is_scratch(touch: Touch, directory: str) -> bool:
    scratch = place_of(tempfile.gettempdir())
    project = place_of(directory or ".")
    return covers(scratch, touch.path) and not covers(project, touch.path) and not covers(touch, project.path)


def _below(directory: str) -> Iterable[str]:
    left = MOST_LOOKED_AT
    for place, folders, files in os.walk(directory):
        folders[:] = [name for name in folders if name not in GENERATED]
        for name in files:
            left -= 1
            yield f"{place}/{name}"
        if left < 0:
            return


@lru_cache(maxsize=8)
def _names(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """One expression for the last names of all patterns, to rule out most files cheaply."""
    return re.compile("|".join(translate(pattern.rstrip("/").rpartition("/")[2]) for pattern in patterns) or "$.", re.IGNORECASE)
