import json
from typing import Any

import pytest
from builtin.cli.samples import GUARD, Install, Run, Write

TUNED = """
from pydantic import BaseModel, Field
from matrixx_core import ToolCall, observe

SETTINGS_KEY = "security.tuned"

class Deep(BaseModel):
    level: int = 1

class Config(BaseModel):
    words: tuple[str, ...] = Field(default=("a",), description="Some words.")
    deep: Deep = Field(default=Deep(), description="Further down.")

@observe
def tool_execute_before(call: ToolCall) -> None: ...
"""


def shown(matrixx: Run, *options: str) -> dict[str, Any]:
    result = matrixx("config", "show", "--json", *options)
    assert result.exit_code == 0 and result.stderr == ""
    record: dict[str, Any] = json.loads(result.stdout)
    return record


def test_what_holds_is_shown_with_the_file_and_line_it_comes_from(matrixx: Run, install: Install, settings: Write) -> None:
    name = install("tuned", TUNED)
    user = settings("user", '{\n  "note_budget": 100,\n  "security": {\n    "tuned": {"words": ["b"]}\n  }\n}')
    project = settings("project", f'{{\n  "hooks": {{"{name}": {{\n    "deep": {{"level": 3}} }} }}\n}}')
    record = shown(matrixx, "--origin")
    assert record["settings"]["note_budget"] == 100
    assert record["settings"]["hooks"][name]["words"] == ["b"] and record["settings"]["hooks"][name]["deep"] == {"level": 3}
    origin = record["origin"]
    assert origin["note_budget"] == f"{user}:2"
    assert origin[f"hooks.{name}.words"] == f"{user}:4"
    assert origin[f"hooks.{name}.deep.level"] == f"{project}:3"
    assert origin["fail_closed"] == origin[f"hooks.{name}.deadline_ms"] == "default"


def test_each_disabled_hook_has_its_own_origin(matrixx: Run, install: Install, settings: Write) -> None:
    for name in ("one", "two"):
        install(name, "from matrixx_core import ToolCall, observe\n@observe\ndef tool_execute_before(call: ToolCall) -> None: ...\n")
    user = settings("user", '{"disabled_hooks": [\n"one"]}')
    project = settings("project", '{"disabled_hooks": [\n\n"two", "one"]}')
    record = shown(matrixx, "--origin")
    assert record["settings"]["disabled_hooks"] == ["one", "two"]
    assert (record["origin"]["disabled_hooks.one"], record["origin"]["disabled_hooks.two"]) == (f"{user}:2", f"{project}:3")


def test_what_waits_for_trust_is_not_in_force_and_does_not_claim_to_be(matrixx: Run, install: Install, settings: Write) -> None:
    name = install("guard", GUARD)
    path = settings("project", f'{{"hooks": {{"{name}": {{"on_failure": "allow"}}}}}}')
    record = shown(matrixx, "--origin")
    assert record["settings"]["hooks"][name]["on_failure"] == "block" and record["origin"][f"hooks.{name}.on_failure"] == "default"
    assert any(name in line for line in record["waiting"])
    assert record["files"] == [{"path": str(path), "scope": "project", "trusted": False}]


def test_problems_are_listed_with_file_and_line(matrixx: Run, settings: Write) -> None:
    path = settings("user", '{\n"strict": "perhaps",\n"note_budget": 7}')
    record = shown(matrixx)
    assert [problem["where"] for problem in record["problems"]] == [f"{path}:2"]
    assert (record["settings"]["strict"], record["settings"]["note_budget"]) == (False, 7)


def test_a_person_reads_one_value_a_line(matrixx: Run, install: Install, settings: Write) -> None:
    install("tuned", TUNED)
    path = settings("user", '{"strict": 1.5, "note_budget": 7}')
    text = matrixx("config", "show", "--origin").stdout
    assert f"note_budget = 7  # {path}:1\n" in text and 'hooks.tuned.words = ["a"]  # default\n' in text and "! " in text
    assert "hooks.tuned.deadline_ms" not in matrixx("config", "show").stdout


def test_the_schema_describes_every_plugin_in_both_of_its_places(matrixx: Run, install: Install) -> None:
    install("tuned", TUNED, summary="Tune it.")
    schema = json.loads(matrixx("config", "schema").stdout)
    section = schema["properties"]["hooks"]["properties"]["tuned"]
    assert section["description"] == "Tune it." and section["properties"]["words"]["description"] == "Some words."
    assert {"deadline_ms", "on_failure"} <= section["properties"].keys()
    assert schema["properties"]["security"]["properties"]["tuned"]["properties"]["words"] == section["properties"]["words"]
    references = {line.split('"')[3] for line in json.dumps(schema, indent=1).splitlines() if '"$ref"' in line}
    assert "#/$defs/tuned.Deep" in references
    assert {reference.removeprefix("#/$defs/") for reference in references} <= schema["$defs"].keys()


def test_the_schema_is_the_same_every_time_and_names_no_place_of_this_machine(matrixx: Run, install: Install, project: Any) -> None:
    install("tuned", TUNED)
    first = matrixx("config", "schema").stdout
    assert matrixx("config", "schema").stdout == first and str(project) not in first


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"hooks": {"tuned": 5}}', '{"hooks": []}', '{"security": {"tuned": []}}', '{"disabled_hooks": {"a": 1}}']
)
def test_settings_of_any_shape_can_be_shown(matrixx: Run, install: Install, settings: Write, text: str) -> None:
    install("tuned", TUNED)
    settings("user", text)
    assert shown(matrixx, "--origin")["settings"]["hooks"]["tuned"]["words"] == ["a"]
