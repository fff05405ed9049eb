"""``matrixx config show`` and ``matrixx config schema``."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, cast

import click

from . import _options, _output

if TYPE_CHECKING:
    from matrixx_core.settings import Settings

    from ._engine import Project

_NOTHING = object()


@click.group()
def command() -> None:
    """Show the settings, or their JSON Schema."""


@command.command()
@_options.project
@click.option("--origin", is_flag=True, help="Tell where each value comes from.")
@_options.as_json
def show(project: Path, origin: bool, as_json: bool) -> None:
    """Show the settings as they are in force."""
    from ._engine import log_lines, open_project

    with log_lines(logging.CRITICAL), _output.own_stdout():
        opened = open_project(project)
    settings = effective(opened)
    origins = {".".join(keys): _origin(opened, keys, value) for keys, value in _leaves(settings)}
    problems = [{"where": one.where, "message": one.message} for one in opened.settings.problems]
    if as_json:
        record = {"settings": settings, "problems": problems, "waiting": opened.plugins.waiting, "files": _files(opened.settings)}
        _output.print_json({**record, "origin": origins} if origin else record)
        return
    for keys, value in _leaves(settings):
        if origin or not _is_common_default(keys, value):
            _line(keys, value, origins[".".join(keys)] if origin else "")
    for line in (*map(str, opened.settings.problems), *opened.plugins.waiting):
        click.secho(f"! {line}", fg="yellow")


@command.command()
@_options.project
def schema(project: Path) -> None:
    """Write the JSON Schema of the settings file."""
    from ._engine import log_lines, open_project
    from ._schema import settings_schema

    with log_lines(), _output.own_stdout() as out:
        _output.print_json(settings_schema(open_project(project)), out=out)


def effective(opened: Project) -> dict[str, Any]:
    """What holds now: the engine's own settings, each loaded hook's section, and the sections that nobody claims."""
    settings = opened.settings
    core = settings.core.model_dump(mode="json")
    hooks = {
        name: opened.plugins.configs[name].model_dump(mode="json") | opened.plugins.options[name].model_dump(mode="json")
        for name in sorted(opened.plugins.configs)
    }
    others = {key: value for key, value in settings.raw.items() if key in settings.names.sections}
    core["disabled_hooks"] = sorted(opened.plugins.disabled)
    return {**core, **others, "hooks": hooks}


def _origin(opened: Project, keys: tuple[str, ...], value: Any) -> str:
    """``file:line`` of the last word on a value, or where else it comes from."""
    if len(keys) > 1 and keys[0] == "disabled_hooks":
        return opened.plugins.disabled.get(keys[1], "default")
    places = [keys]
    if len(keys) > 2 and keys[0] == "hooks" and keys[1] in opened.plugins.order:
        alias = str(getattr(opened.found[keys[1]].entry.load(), "SETTINGS_KEY", ""))
        places += [(*alias.split("."), *keys[2:])] if alias else []
    for source in reversed(opened.settings.sources):
        for place in places:
            said = _said(source.raw, place)
            if said is not _NOTHING and (source.trusted or _is_in(said, value)):
                return source.where(*place)
    return "default"


def _said(raw: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        if not isinstance(raw, Mapping) or key not in raw:
            return _NOTHING
        raw = cast(Mapping[str, Any], raw)[key]
    return raw


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _is_in(said: Any, value: Any) -> bool:
    """Whether what an untrusted file says is in force: as it is, or as an addition to a list."""
    if _is_list(said) and _is_list(value):
        return all(one in value for one in said)
    return bool(said == value)


def _leaves(value: Any, keys: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value that is no object, with its key path; each name of ``disabled_hooks`` by itself."""
    if isinstance(value, Mapping) and value:
        for key, inner in cast(Mapping[str, Any], value).items():
            yield from _leaves(inner, (*keys, key))
    elif keys == ("disabled_hooks",):
        for name in cast(list[str], value):
            yield (*keys, name), True
    else:
        yield keys, value


def _is_common_default(keys: tuple[str, ...], value: Any) -> bool:
    """What every hook has, and nobody has set, is not worth sixty lines."""
    from matrixx_core.plan import DEFAULT_OPTIONS

    return len(keys) == 3 and keys[0] == "hooks" and DEFAULT_OPTIONS.model_dump().get(keys[2], _NOTHING) == value


def _line(keys: tuple[str, ...], value: Any, origin: str) -> None:
    from matrixx_core.wire import encode

    click.echo(f"{'.'.join(keys)} = {encode(value).decode()}{click.style(f'  # {origin}', dim=True) if origin else ''}")


def _files(settings: Settings) -> list[dict[str, Any]]:
    return [{"path": str(one.path), "scope": one.scope, "trusted": one.trusted} for one in settings.sources]
