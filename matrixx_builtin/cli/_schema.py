"""The JSON Schema of a settings file, with a section for every plugin that is installed and not disabled."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from matrixx_core.loading import Nothing
from matrixx_core.plan import Options
from matrixx_core.settings import Core

from ._engine import Project


def settings_schema(project: Project) -> dict[str, Any]:
    """Deterministic for one set of plugins: sorted by name, and no value of this machine in it."""
    definitions: dict[str, Any] = {}
    schema = _schema_of(Core, "core", definitions)
    sections = schema["properties"]
    hooks: dict[str, Any] = {}
    for name in sorted(project.plugins.configs):
        module = project.found[name].entry.load()
        section = _schema_of(getattr(module, "Config", Nothing), name, definitions)
        section["description"] = project.found[name].summary
        if alias := str(getattr(module, "SETTINGS_KEY", "")):
            _put(sections, alias.split("."), section)
        options = _schema_of(Options, "options", definitions)["properties"]
        hooks[name] = {**section, "properties": {**options, **section.get("properties", {})}}
    sections["hooks"] = {"type": "object", "description": "Each hook's own section, by name.", "properties": hooks}
    sections["$schema"] = {"type": "string"}
    for name in sorted(project.settings.names.sections - sections.keys()):
        sections[name] = {}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Matrixx settings (matrixx.jsonc)",
        "type": "object",
        "properties": dict(sorted(sections.items())),
        **({"$defs": dict(sorted(definitions.items()))} if definitions else {}),
    }


def _schema_of(kind: type[BaseModel], name: str, definitions: dict[str, Any]) -> dict[str, Any]:
    """One model's schema; the models inside it move to the top under names of their own."""
    schema = kind.model_json_schema(ref_template=f"#/$defs/{name}.{{model}}")
    for inner, definition in schema.pop("$defs", {}).items():
        definitions[f"{name}.{inner}"] = definition
    schema.pop("title", None)
    if not kind.__doc__:
        schema.pop("description", None)
    return schema


def _put(sections: dict[str, Any], keys: list[str], section: Mapping[str, Any]) -> None:
    """Describe a seed's key, making the objects above it; two plugins may share one."""
    target = sections.setdefault(keys[0], {"type": "object", "properties": {}})
    for key in keys[1:]:
        target = target.setdefault("properties", {}).setdefault(key, {"type": "object", "properties": {}})
    target.setdefault("properties", {}).update(section.get("properties", {}))
    target.setdefault("description", section.get("description", ""))
