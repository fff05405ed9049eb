"""The promises that every plugin folder keeps: what ``matrixx check`` and a plugin's own tests hold it to.

A promise is a function that takes the folder and yields what is wrong, each as a sentence.
"""

import importlib
import inspect
import logging
import os
import re
import sys
import tempfile
import tomllib
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, TypeAlias, TypeGuard, cast, get_args, get_type_hints

import anyio
from pydantic import BaseModel

from .. import specs
from ..answers import Allow, Block, Inject
from ..events import Event
from ..host import Host
from ..loading import GROUP, load
from ..markers import PROJECT
from ..plan import Step
from ..session import Session
from .hostile import hostile_events
from .recording import RecordingClient

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
"""How plugins are named."""

ANSWERS = {"observe": (), "guard": (Block, Allow, Inject), "rewrite": (Event, Inject)}
"""What a hook of each wave may answer, besides nothing."""


@dataclass(slots=True)
class Folder:
    """A plugin's folder: what ``pyproject.toml`` says and, once it could be imported, its modules by plugin name."""

    path: Path
    project: Mapping[str, Any] = field(default_factory=dict[str, Any])
    entries: Mapping[str, str] = field(default_factory=dict[str, str])
    modules: dict[str, ModuleType] = field(default_factory=dict[str, ModuleType])

    def hooks(self) -> Iterator[tuple[str, str, Step]]:
        """Every hook as plugin name, event and step; a gate that the default settings shut does not hide any."""
        for name, module in self.modules.items():
            for event, plans in _host(name, module).plans.items():
                yield from ((name, event, step) for step in plans.steps)


Promise: TypeAlias = Callable[[Folder], Iterator[str]]


def problems(path: Path) -> Iterator[str]:
    """Everything that is wrong with a plugin folder, worst first; nothing for a good one."""
    folder = Folder(path)
    first: tuple[Promise, ...] = (describes_itself, imports)
    for promise in first:
        broken = list(promise(folder))
        yield from broken
        if broken:
            return
    for promise in PROMISES:
        yield from promise(folder)


def read(path: Path) -> Folder:
    """A folder ready for ``PROMISES``; raises ``ValueError`` for one whose ``pyproject.toml`` or module is broken."""
    folder = Folder(path)
    for broken in (*describes_itself(folder), *imports(folder)):
        raise ValueError(f"{path}: {broken}")
    return folder


def describes_itself(folder: Folder) -> Iterator[str]:
    """``pyproject.toml`` is there and declares plugins."""
    file = folder.path / "pyproject.toml"
    try:
        said = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        yield f"pyproject.toml cannot be read: {error}"
        return
    folder.project = cast(dict[str, Any], said.get("project", {}))
    folder.entries = folder.project.get("entry-points", {}).get(GROUP, {})
    if not folder.entries:
        yield f'pyproject.toml declares no plugin: it needs [project.entry-points."{GROUP}"]'
    for key in ("name", "version", "description", "license", "requires-python"):
        if not folder.project.get(key):
            yield f"pyproject.toml has no project.{key}"
    if not any(str(one).startswith("matrixx-core") for one in folder.project.get("dependencies", ())):
        yield "pyproject.toml does not depend on matrixx-core"


def imports(folder: Folder) -> Iterator[str]:
    """Every declared module is in the folder and can be imported."""
    with _on_path(folder.path):
        for name, target in folder.entries.items():
            module, _, attribute = target.partition(":")
            try:
                found = importlib.import_module(module)
                folder.modules[name] = getattr(found, attribute) if attribute else found
            except Exception as error:  # noqa: BLE001  importing a stranger's module may raise anything
                yield f"plugin {name!r}: {module!r} cannot be imported: {type(error).__name__}: {error}"
                continue
            file = Path(inspect.getsourcefile(found) or "").resolve()
            if not file.is_relative_to(folder.path.resolve()):
                yield f"plugin {name!r}: {module!r} is imported from {file}, not from this folder"


def names_agree(folder: Folder) -> Iterator[str]:
    """Plugin, distribution, module and test bear one name, so that each is found from any other."""
    dist = str(folder.project["name"])
    for name, target in folder.entries.items():
        if not NAME.fullmatch(name):
            yield f"plugin {name!r}: names are lower-case words with '-' between"
        module = target.partition(":")[0]
        if len(folder.entries) == 1 and dist.startswith(f"{PROJECT}-"):
            expected = dist.removeprefix(f"{PROJECT}-")
            if name != expected:
                yield f"plugin {name!r} comes in distribution {dist!r}; name it {expected!r}"
            if module != f"{PROJECT}_{name.replace('-', '_')}":
                yield f"plugin {name!r} is in module {module!r}; name it '{PROJECT}_{name.replace('-', '_')}'"
            if folder.path.resolve().name != dist:
                yield f"the folder of {dist!r} is named {folder.path.resolve().name!r}"


def says_what_it_does(folder: Folder) -> Iterator[str]:
    """The first sentence of the module's docstring is the description, a sentence in the imperative mood."""
    description = str(folder.project["description"])
    if not description.endswith(".") or not description[:1].isupper():
        yield f"the description {description!r} is not a sentence: capital letter, full stop"
    if len(folder.modules) != 1:
        return
    for name, module in folder.modules.items():
        first = " ".join((inspect.getdoc(module) or "").partition("\n\n")[0].split())
        if first != description:
            yield f"plugin {name!r}: the module's docstring begins with {first!r}, the description is {description!r}"


def has_tests(folder: Folder) -> Iterator[str]:
    """There is at least one test."""
    texts = [path.read_text("utf-8", "replace") for path in folder.path.rglob("test_*.py")]
    if not any(re.search(r"^(async )?def test_", text, re.MULTILINE) for text in texts):
        yield "there is no test: add test_<name>.py with a table of calls and answers"


def is_accepted(folder: Folder) -> Iterator[str]:
    """The loader takes it, and it answers at least one event that a host reports."""
    with _quiet():
        loaded = load({name: _ungated(module) for name, module in folder.modules.items()})
    for failed in loaded.failed:
        yield f"plugin {failed.name!r}: {failed.reason}"
    refused = {failed.name for failed in loaded.failed}
    answering = {name for name, _, _ in folder.hooks()}
    for name in folder.modules.keys() - answering - refused:
        if name not in {owner for owner, _ in loaded.tools.values()}:
            yield f"plugin {name!r} answers no event"


def is_typed(folder: Folder) -> Iterator[str]:
    """Every parameter and answer of a hook is annotated with what its hookspec and its wave say."""
    for name, event, step in folder.hooks():
        spec = get_type_hints(getattr(specs, event))
        where = f"plugin {name!r}, {getattr(step.hook, '__name__', event)}"
        try:
            hints = get_type_hints(step.hook)
        except (NameError, TypeError) as error:
            yield f"{where}: its annotations cannot be read: {error}"
            continue
        for parameter in inspect.signature(step.hook).parameters:
            if parameter == "self":
                continue
            if parameter not in hints:
                yield f"{where}: parameter {parameter!r} has no annotation"
            elif not _fits(hints[parameter], spec.get(parameter), folder.modules[name], parameter):
                yield f"{where}: parameter {parameter!r} is {_shown(spec.get(parameter))} there, not {_shown(hints[parameter])}"
        if "return" not in hints:
            yield f"{where}: its answer has no annotation"
            continue
        for kind in _kinds(hints["return"]):
            if step.wave in ANSWERS and not issubclass(kind, ANSWERS[step.wave]) and event in _EVENTS:
                yield f"{where}: {step.wave} does not answer {_shown(kind)}"


def documents_its_settings(folder: Folder) -> Iterator[str]:
    """Every setting has a description, and the defaults are valid."""
    for name, module in folder.modules.items():
        kind = getattr(module, "Config", None)
        if kind is None:
            continue
        if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
            yield f"plugin {name!r}: Config is no pydantic model"
            continue
        for key, info in kind.model_fields.items():
            if not info.description:
                yield f"plugin {name!r}: setting {key!r} has no Field(description=...)"
            if info.is_required():
                yield f"plugin {name!r}: setting {key!r} has no default"


def orders_by_name(folder: Folder) -> Iterator[str]:
    """``RUN_AFTER`` is a tuple of plugin names."""
    for name, module in folder.modules.items():
        after: Any = getattr(module, "RUN_AFTER", ())
        if not _is_tuple(after) or not all(isinstance(one, str) and NAME.fullmatch(one) for one in after):
            yield f"plugin {name!r}: RUN_AFTER is a tuple of plugin names, not {after!r}"


def survives_bad_input(folder: Folder) -> Iterator[str]:
    """No hook raises, whatever a host sends."""
    for name, module in folder.modules.items():
        wanted = {(event, step.subjects) for plugin, event, step in folder.hooks() if plugin == name and event in _EVENTS}
        with _scratch() as directory, _quiet():
            failed = anyio.run(_meet, _host(name, module, directory), sorted(wanted, key=str))
        yield from (f"plugin {name!r} fails at {event}: {why}" for event, why in failed)


PROMISES: tuple[Promise, ...] = (
    names_agree,
    says_what_it_does,
    has_tests,
    is_accepted,
    is_typed,
    documents_its_settings,
    orders_by_name,
    survives_bad_input,
)
"""Every promise but the two that must hold before there is anything to look at."""

_EVENTS = {
    name: next(hint for hint in get_type_hints(spec).values() if isinstance(hint, type) and issubclass(hint, Event))
    for name, spec in vars(specs).items()
    if hasattr(spec, f"{PROJECT}_spec") and any(isinstance(one, type) and issubclass(one, Event) for one in get_type_hints(spec).values())
}


async def _meet(host: Host, wanted: list[tuple[str, Any]]) -> list[tuple[str, str]]:
    failed: dict[str, str] = {}
    for event, subjects in wanted:
        for sent in hostile_events(_EVENTS[event], subjects, host.directory):
            outcome = await host.dispatch(event, sent)
            for one in outcome.ran:
                if one.error:
                    failed.setdefault(event, f"{one.error}; it was sent {sent!a:.200}")
    await host.sessions.close()
    return list(failed.items())


def _host(name: str, module: Any, directory: str = "") -> Host:
    with _quiet():
        return Host(load({name: _ungated(module)}), directory=directory, client=RecordingClient())


def _ungated(module: Any) -> Any:
    """The plugin without its gate: a promise holds whether the default settings switch it on or not."""
    if not hasattr(module, "off_because"):
        return module
    names = dict(cast(dict[str, Any], module.__dict__))
    del names["off_because"]
    return SimpleNamespace(**names)


def _fits(given: Any, wanted: Any, module: Any, parameter: str) -> bool:
    if parameter == "config":
        return given is getattr(module, "Config", BaseModel) or given is BaseModel
    return given is wanted or wanted in {None, Any} or (parameter == "session" and given is Session)


def _kinds(answer: Any) -> list[type]:
    """The classes in an annotation, ``None`` apart; an alias with more in it stands for the hookspec's own ``Answer``."""
    found = [one for one in get_args(answer) or (answer,) if isinstance(one, type) and one is not type(None)]
    return [] if Event in found else [one for one in found if issubclass(one, Block | Allow | Inject | Event)]


def _is_tuple(value: Any) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def _shown(kind: Any) -> str:
    return getattr(kind, "__name__", str(kind))


@contextmanager
def _on_path(folder: Path) -> Generator[None]:
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


@contextmanager
def _scratch() -> Generator[str]:
    """A project that is gone afterwards, and with it all that a plugin keeps elsewhere."""
    before = os.environ.get("MATRIXX_STATE_DIR")
    with tempfile.TemporaryDirectory(prefix=f"{PROJECT}-check-") as folder:
        os.environ["MATRIXX_STATE_DIR"] = str(Path(folder, "state"))
        try:
            yield folder
        finally:
            os.environ.pop("MATRIXX_STATE_DIR")
            if before is not None:
                os.environ["MATRIXX_STATE_DIR"] = before


@contextmanager
def _quiet() -> Generator[None]:
    """What a plugin logs about bad input is not what is looked for here."""
    log = logging.getLogger(PROJECT)
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before
