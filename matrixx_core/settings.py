"""Read ``matrixx.jsonc`` from the user and the project, merge, and keep all that is right of it.

Nothing here ever rewrites a user's file, and no mistake in one place changes what another place says.
"""

import copy
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.config import JsonDict

from .entries import entries
from .trust import is_trusted

HOSTS = "matrixx.hosts"
NAMES = "matrixx.names"

TIGHTENS: JsonDict = {"tightens": True}
"""``Field(json_schema_extra=TIGHTENS)`` marks a setting of a guard that a project may add to without being trusted."""

TRUSTED_ONLY: JsonDict = {"trusted_only": True}
"""``Field(json_schema_extra=TRUSTED_ONLY)`` marks a setting of a plugin that is no guard, but that guards go by: a project's waits for trust."""

HELPFUL = frozenset({"note_budget", "experimental"})
"""Keys of the engine itself that any project may set."""

TIGHTENING = frozenset({"strict", "fail_closed"})
"""Keys of the engine itself that any project may switch on."""

Scope = Literal["user", "project"]
M = TypeVar("M", bound=BaseModel)


class Experimental(BaseModel):
    """Switches of the seeds that are not settled yet; hooks read others of this section through their own models."""

    model_config = ConfigDict(frozen=True, extra="allow")

    hook_timing: bool = Field(default=False, description="Write one log line for every hook call.")


class Core(BaseModel):
    """The settings of the engine itself."""

    model_config = ConfigDict(frozen=True, extra="allow")

    disabled_hooks: tuple[str, ...] = Field(default=(), description="Hooks that are not loaded, by name.")
    hooks: dict[str, dict[str, Any]] = Field(default={}, description="Each hook's own section, by name.")
    profile: Literal["minimal-write", "nuclear-debug"] | None = Field(default=None, description="A named list of hooks to switch off.")
    strict: bool = Field(default=False, description="Turn every failure of a hook into an error.")
    fail_closed: bool = Field(default=False, description="Refuse what guards would judge while the engine cannot be reached.")
    note_budget: int = Field(default=4_000, ge=0, le=100_000, description="Tokens that all notes of one event share.")
    experimental: Experimental = Experimental()


@dataclass(frozen=True, slots=True)
class Source:
    """One settings file as read; ``trusted`` is always true for the user's own."""

    path: Path
    scope: Scope
    text: str
    raw: Mapping[str, Any]
    trusted: bool = True

    def where(self, *keys: str) -> str:
        """``path:line`` of a key path, of a value in a list, or of the file's start."""
        return f"{self.path}:{_line(self.text, keys)}"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a settings file that was left out, where it stands, and what to do."""

    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


@dataclass(slots=True)
class Names:
    """Names that settings may hold although no installed plugin has them."""

    renamed: dict[str, str] = field(default_factory=dict[str, str])
    retired: dict[str, str] = field(default_factory=dict[str, str])
    sections: set[str] = field(default_factory=set[str])
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    profiles: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


@dataclass(slots=True)
class Settings:
    """All settings of one project, merged; what an untrusted project file says stays apart in ``wished``."""

    sources: tuple[Source, ...] = ()
    problems: list[Problem] = field(default_factory=list[Problem])
    names: Names = field(default_factory=Names)
    raw: dict[str, Any] = field(default_factory=dict[str, Any])
    wished: dict[str, Any] = field(default_factory=dict[str, Any])
    core: Core = field(default_factory=Core)

    @classmethod
    def of(cls, raw: Mapping[str, Any] | None) -> "Settings":
        """Settings from a mapping, as if the user's file said so."""
        settings = cls(raw=copy.deepcopy(dict(raw or {})))
        settings.core = rescued(Core, settings.raw, settings.report)
        return settings

    def disabled(self, known: Iterable[str]) -> dict[str, str]:
        """Hooks that trusted settings switch off, each with where that is said; unknown names are told, never fatal."""
        return self._named([source for source in self.sources if source.trusted], known) | dict.fromkeys(
            self.core.disabled_hooks if not self.sources else (), "settings"
        )

    def wished_off(self, known: Iterable[str]) -> dict[str, str]:
        """Hooks that an untrusted project file would switch off, each with where that is said."""
        return self._named([source for source in self.sources if not source.trusted], known)

    def section(self, name: str, alias: str = "", *, wished: bool = False) -> dict[str, Any]:
        """A hook's own settings: ``hooks.<name>`` over the seed's key ``alias`` (``"security.env_file_guard"``)."""
        raw = self.wished if wished else self.raw
        found: Any = raw
        for key in alias.split(".") if alias else ():
            found = found.get(key) if isinstance(found, Mapping) else None
        merged = copy.deepcopy(dict(found)) if alias and isinstance(found, Mapping) else {}
        hooks = raw.get("hooks")
        own = hooks.get(name) if isinstance(hooks, Mapping) else None
        return merge(merged, own) if isinstance(own, Mapping) else merged

    def report(self, keys: Sequence[str], message: str) -> None:
        """Remember a problem at this key path, at the last file that holds it."""
        holding = [source for source in self.sources if _holds(source.raw, keys)]
        self._tell(Problem(holding[-1].where(*keys) if holding else "settings", message))

    def _named(self, sources: Sequence[Source], known: Iterable[str]) -> dict[str, str]:
        known = set(known)
        named: dict[str, str] = {}
        for source in sources:
            listed = source.raw.get("disabled_hooks")
            for entry in listed if isinstance(listed, list) else ():
                if name := self._current(entry, source, known):
                    named.setdefault(name, source.where("disabled_hooks", str(entry)))
            for name in self.names.profiles.get(str(source.raw.get("profile")), ()):
                named.setdefault(name, source.where("profile"))
        return named

    def _current(self, entry: Any, source: Source, known: set[str]) -> str:
        """The present name for an entry of ``disabled_hooks``, or ``""`` after telling what is wrong with it."""
        where = source.where("disabled_hooks", str(entry))
        if not isinstance(entry, str):
            self._tell(Problem(where, f"disabled_hooks holds names, not {entry!r}; it is ignored"))
            return ""
        name = self.names.renamed.get(entry, entry)
        if name in known or name in self.names.retired:
            return name
        self._tell(Problem(where, f"disabled_hooks names {entry!r}, which is not installed{did_you_mean(entry, known)}"))
        return name

    def _tell(self, problem: Problem) -> None:
        if problem not in self.problems:
            self.problems.append(problem)


def load_settings(directory: Path | str, extra: Iterable[Path] = (), names: Names | None = None) -> Settings:
    """Read the user's and the project's files; ``extra`` files count as the user's own and win over all.

    A file that cannot be parsed is told with its line and left out as a whole: then nothing is switched off by it.
    """
    settings = Settings(names=installed_names() if names is None else names)
    sources = [
        source
        for scope, folder in ((*(("user", one) for one in user_dirs()), *(("project", one) for one in project_dirs(directory))))
        if (source := _read(settings, _file_in(settings, folder), scope))  # type: ignore[arg-type]  # literals lost in the tuple
    ]
    sources += [source for path in extra if (source := _read(settings, path, "user"))]
    settings.sources = tuple(sources)
    for source in sources:
        merge(settings.raw if source.trusted else settings.wished, source.raw)
    merge(settings.raw, {key: value for key, value in settings.wished.items() if key in HELPFUL or (key in TIGHTENING and value is True)})
    _drop_unsafe(settings)
    settings.core = rescued(Core, copy.deepcopy(settings.raw), settings.report)
    _tell_unknown_sections(settings)
    return settings


def user_dirs() -> list[Path]:
    """The user's settings folders, weakest first: one for each installed host, then Matrixx's own."""
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    hosts = [Path(os.environ.get(f"{_shout(host)}_CONFIG_DIR", "").strip() or config / host) for host in _hosts()]
    return [*hosts, config / "matrixx"]


def project_dirs(directory: Path | str) -> list[Path]:
    """The project's settings folders, weakest first: its root, ``.matrixx/``, then one for each installed host."""
    root = Path(directory)
    return [root, root / ".matrixx", *(root / f".{host}" for host in _hosts())]


def settings_files(directory: Path | str) -> list[Path]:
    """Every path that a settings file of this project may have, whether it exists or not."""
    return [folder / name for folder in (*user_dirs(), *project_dirs(directory)) for name in FILES]


FILES = ("matrixx.jsonc", "matrixx.json")

LARGEST = 65_536
"""Bytes in a settings file; the parser for comments takes two seconds for as many, and a clone may bring any file."""


def installed_names() -> Names:
    """Old, retired and seed names, from every module of the entry-point group ``matrixx.names``."""
    names = Names()
    for entry in entries(NAMES):
        module: ModuleType = entry.load()
        names.renamed |= getattr(module, "RENAMED", {})
        names.retired |= getattr(module, "RETIRED", {})
        names.sections |= set(getattr(module, "SECTIONS", ()))
        names.keys |= getattr(module, "KEYS", {})
        names.profiles |= getattr(module, "PROFILES", {})
    return names


def merge(base: dict[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Merge ``over`` into ``base`` in place: objects deeply, ``disabled_*`` lists by union, all else replaced."""
    for key, value in over.items():
        there = base.get(key)
        if isinstance(value, Mapping):
            base[key] = merge(dict(there) if isinstance(there, Mapping) else {}, value)
        elif isinstance(value, list) and isinstance(there, list) and key.startswith("disabled_"):
            base[key] = there + [one for one in value if one not in there]
        else:
            base[key] = copy.deepcopy(value)
    return base


def rescued(kind: type[M], section: dict[str, Any], report: Any) -> M:
    """The section as its model; a value that the model refuses is reported and left out, nothing else is lost."""
    for _ in range(1_000):
        try:
            return kind.model_validate(section)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = first["loc"]
            report([str(key) for key in where], f"{'.'.join(map(str, where))}: {first['msg']}; it is ignored")
            if not _dropped(section, where):
                break
    return kind()


def tightened(kind: type[BaseModel], section: dict[str, Any], wished: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Add what an untrusted file may add to a guard's section; returns the section and the keys that must wait."""
    held: list[str] = []
    for key, value in wished.items():
        if not is_marked(kind, key, TIGHTENS):
            held.append(key)
            continue
        there = section.get(key, kind.model_fields[key].get_default(call_default_factory=True))
        if isinstance(value, bool):
            section[key] = bool(there) or value
        elif isinstance(value, list):
            section[key] = [*there, *(one for one in value if one not in there)]
        else:
            held.append(key)
    return section, held


def is_marked(kind: type[BaseModel], key: str, mark: JsonDict) -> bool:
    """Whether the model's field of this name was declared with the mark (``TIGHTENS`` ...)."""
    extra = kind.model_fields[key].json_schema_extra if key in kind.model_fields else None
    return isinstance(extra, dict) and extra.items() >= mark.items()


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` for the closest known name, else ``""``."""
    from difflib import get_close_matches  # needed only where something is wrong

    close = get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _file_in(settings: Settings, folder: Path) -> Path | None:
    present = [folder / name for name in FILES if (folder / name).is_file()]
    for odd in (path for path in (folder / name for name in FILES) if path not in present and os.path.lexists(path)):
        settings.problems.append(Problem(f"{odd}:1", "ignored because it is no file, or a link that leads to none"))
    for ignored in present[1:]:
        settings.problems.append(Problem(f"{ignored}:1", f"ignored because {present[0].name} stands beside it"))
    return present[0] if present else None


def _read(settings: Settings, path: Path | None, scope: Scope) -> Source | None:
    if path is None:
        return None
    try:
        content = _content(path)
        text = content.decode("utf-8-sig")
        raw = _parsed(text) if text.strip() else {}
    except (OSError, ValueError, RecursionError) as error:
        settings.problems.append(Problem(f"{path}:{_error_line(error)}", f"this file is ignored as a whole: {_first_line(error)}"))
        return None
    if not isinstance(raw, dict):
        settings.problems.append(Problem(f"{path}:1", "this file is ignored as a whole: it must hold one object"))
        return None
    return Source(path, scope, text, raw, trusted=scope == "user" or is_trusted(path, content))


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"it is larger than {LARGEST} bytes")
    return content


def _parsed(text: str) -> Any:
    """Most files are plain JSON, which the C parser reads in a thousandth of the time; it need not explain what is wrong."""
    try:
        return json.loads(text)
    except ValueError:
        import json5

        return json5.loads(text)


def _drop_unsafe(settings: Settings) -> None:
    """``disabled_hooks`` must stay a list whatever else a file says: never lose the ones that are right."""
    listed = settings.raw.get("disabled_hooks")
    if listed is not None:
        settings.raw["disabled_hooks"] = [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
        if not isinstance(listed, list):
            settings.report(["disabled_hooks"], f"disabled_hooks must be a list of names, not {listed!r:.80}")


def _tell_unknown_sections(settings: Settings) -> None:
    known = Core.model_fields.keys() | settings.names.sections | {"$schema"}
    for source in settings.sources:
        for key in source.raw:
            if key not in known and not key.startswith("//"):
                settings.problems.append(Problem(source.where(key), f"unknown section {key!r} is ignored{did_you_mean(key, known)}"))


@cache
def _hosts() -> list[str]:
    return sorted(entries(HOSTS).names)


def _shout(name: str) -> str:
    return name.upper().replace("-", "_")


def _holds(raw: Any, keys: Sequence[str]) -> bool:
    for key in keys:
        if isinstance(raw, Mapping) and key in raw:
            raw = raw[key]
        else:
            return isinstance(raw, list)
    return True


def _line(text: str, keys: Sequence[str]) -> int:
    """The line where a key path, or a value in a list, stands: each key is looked for behind the one before."""
    at = 0
    for key in keys:
        quoted = re.escape(key)
        found = re.compile(rf"""["']{quoted}["']|\b{quoted}\s*:""").search(text, at)
        if found is None:
            break
        at = found.start()
    return text.count("\n", 0, at) + 1


def _error_line(error: Exception) -> int:
    found = re.search(r"^<string>:(\d+)", str(error))
    return int(found.group(1)) if found else 1


def _first_line(error: Exception) -> str:
    return re.sub(r"^<string>:\d+\s*", "", str(error).splitlines()[0] if str(error) else type(error).__name__)


def _dropped(section: Any, where: tuple[int | str, ...]) -> bool:
    """Delete the value that was refused, as near to it as the section goes: an error also names ``[key]`` or a union's member."""
    nearest: tuple[Any, int | str] | None = None
    for key in where:
        if not isinstance(section, dict | list):
            break
        try:
            nearest, section = (section, key), section[key]  # type: ignore[index]
        except (LookupError, TypeError):
            break
    if nearest is None:
        return False
    del nearest[0][nearest[1]]
    return True
