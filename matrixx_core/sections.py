"""What a plugin gets of the settings: its own section, and its part of an older one that it may share with others."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from pydantic import BaseModel

from .settings import Core, Settings, did_you_mean, merge


def alias_of(plugin: Any) -> str:
    """The older key of a plugin's settings (``"security.env_file_guard"``), or ``""``."""
    return str(getattr(plugin, "SETTINGS_KEY", "") or "")


def shared_by(modules: Mapping[str, Any]) -> frozenset[str]:
    """The older keys that several plugins read, or the engine itself: none of them may take the others' settings for its own."""
    counted = Counter(map(alias_of, modules.values()))
    engine = {name for name in Core.model_fields if _engine_keys(name)}
    return frozenset(alias for alias, readers in counted.items() if alias and (readers > 1 or alias in engine)) | engine


def section_of(settings: Settings, name: str, plugin: Any, shared: Collection[str], *, wished: bool = False) -> dict[str, Any]:
    """``hooks.<name>`` over the older section; of a shared one only the keys that the plugin's model has."""
    alias = alias_of(plugin)
    if alias not in shared:
        return settings.section(name, alias, wished=wished)
    known = _keys(plugin)
    part = {key: value for key, value in settings.section("", alias, wished=wished).items() if key in known}
    return merge(part, settings.section(name, wished=wished))


def home_of(settings: Settings, name: str, plugin: Any, key: str) -> list[str]:
    """The key path of the section that says this of a plugin: its own, or the older one."""
    alias = alias_of(plugin)
    own, older = (any(key in settings.section(*where, wished=wished) for wished in (False, True)) for where in ((name,), ("", alias)))
    return alias.split(".") if older and not own else ["hooks", name]


def tell_unknown_keys(settings: Settings, modules: Mapping[str, Any], shared: Collection[str]) -> None:
    """Report the keys of shared sections that nobody reads; one of the plugins' alone may hold any keys, if one of them takes any."""
    for alias in shared:
        readers = [plugin for plugin in modules.values() if alias_of(plugin) == alias]
        if not _engine_keys(alias) and any(map(_takes_any, readers)):
            continue
        known = {*_engine_keys(alias), *settings.names.keys.get(alias, ())}.union(*map(_keys, readers))
        for key in settings.section("", alias).keys() | settings.section("", alias, wished=True).keys():
            if key not in known and not key.startswith("//"):
                settings.report([*alias.split("."), key], f"no hook reads {alias}.{key}{did_you_mean(key, known)}; it is ignored")


def _keys(plugin: Any) -> Collection[str]:
    fields: Mapping[str, Any] = getattr(getattr(plugin, "Config", None), "model_fields", {})
    return fields.keys()


def _takes_any(plugin: Any) -> bool:
    return getattr(getattr(plugin, "Config", None), "model_config", {}).get("extra") == "allow"


def _engine_keys(alias: str) -> Collection[str]:
    """The keys that the engine itself reads in a section of its own."""
    kind = Core.model_fields[alias].annotation if alias in Core.model_fields else None
    return kind.model_fields.keys() if isinstance(kind, type) and issubclass(kind, BaseModel) else ()
