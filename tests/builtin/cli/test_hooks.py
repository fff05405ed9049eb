import json
from pathlib import Path
from typing import Any

import pytest
from builtin.cli.samples import GUARD, Install, Run, Write

BROKEN = {
    "syntax": ("def (:\n", "SyntaxError"),
    "raising": ("raise RuntimeError('no display')\n", "no display"),
    "leaving": ("raise SystemExit(3)\n", "SystemExit"),
    "missing": (None, "No module named 'acme_missing'"),
    "newer": ("from matrixx_core import something_new\n", "another matrixx-core"),
    "demanding": ("from pydantic import BaseModel\nclass Config(BaseModel):\n    word: str\n", "Field required"),
    "gateless": ("def off_because(config):\n    raise KeyError('gate')\n", "KeyError: 'gate'"),
    "unspecified": (
        "from matrixx_core import guard\n@guard\ndef tool_execute_befor(call) -> None: ...\n",
        "did you mean 'tool_execute_before'",
    ),
}


def listed(matrixx: Run) -> dict[str, dict[str, Any]]:
    result = matrixx("hooks", "--json")
    assert result.exit_code == 0, result.stderr
    return {row["name"]: row for row in json.loads(result.stdout)}


def test_a_row_has_exactly_the_keys_of_the_contract(matrixx: Run, install: Install) -> None:
    install("guard", GUARD, summary="Stop what is forbidden.")
    row = listed(matrixx)["guard"]
    assert list(row) == ["name", "dist", "version", "summary", "state", "events", "order"]
    assert (row["dist"], row["version"], row["summary"], row["state"]) == ("acme-guard", "1.2", "Stop what is forbidden.", "on")
    assert row["events"] == [{"event": "tool_execute_before", "wave": "guard", "tools": ["write"]}]


def test_tools_are_null_for_all_and_marked_for_all_but_some(matrixx: Run, install: Install) -> None:
    install(
        "wide",
        "from matrixx_core import ToolCall, ToolResult, observe, rewrite\n@observe(but={'read'})\ndef tool_execute_before(call: ToolCall) -> None: ...\n@rewrite\ndef tool_execute_after(result: ToolResult) -> None: ...\n",
    )
    assert listed(matrixx)["wide"]["events"] == [
        {"event": "tool_execute_before", "wave": "observe", "tools": ["!read"]},
        {"event": "tool_execute_after", "wave": "rewrite", "tools": None},
    ]


def test_order_is_the_run_position_and_follows_run_after(matrixx: Run, install: Install) -> None:
    install("aa", GUARD + "\nRUN_AFTER = ('zz',)\n")
    install("zz", GUARD)
    rows = listed(matrixx)
    assert rows["zz"]["order"] < rows["aa"]["order"]
    running = [row["order"] for row in rows.values() if row["order"] is not None]
    assert running == sorted(set(running)), "listed in run order"


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_plugin_is_failed_and_named_and_the_rest_works(matrixx: Run, install: Install, kind: str) -> None:
    code, reason = BROKEN[kind]
    install(kind, code)
    install("guard", GUARD)
    result = matrixx("hooks", "--json")
    rows = {row["name"]: row for row in json.loads(result.stdout)}
    assert (rows[kind]["state"], rows[kind]["events"], rows[kind]["order"]) == ("failed", [], None)
    assert rows["guard"]["state"] == "on"
    told = [line for line in result.stderr.splitlines() if f"acme-{kind}" in line]
    assert len(told) == 1 and reason in told[0]


def test_all_broken_ones_together_leave_the_rest_alone(matrixx: Run, install: Install) -> None:
    for kind, (code, _) in BROKEN.items():
        install(kind, code)
    install("guard", GUARD)
    rows = listed(matrixx)
    assert {name for name, row in rows.items() if row["state"] == "failed"} == set(BROKEN)
    assert rows["guard"]["state"] == "on"


def test_a_disabled_hook_is_listed_but_never_imported(matrixx: Run, install: Install, settings: Write, project: Path) -> None:
    name = install("tattle", f"open({str(project / 'imported')!r}, 'w').close()\n{GUARD}")
    settings("user", f'{{"disabled_hooks": ["{name}"]}}')
    assert listed(matrixx)[name] | {"events": []} == listed(matrixx)[name]
    assert (listed(matrixx)[name]["state"], listed(matrixx)[name]["order"]) == ("disabled", None)
    assert not (project / "imported").exists()


def test_a_gate_that_is_shut_is_told_with_its_reason(matrixx: Run, install: Install) -> None:
    install("gated", GUARD + "\ndef off_because(config: object) -> str:\n    return 'no key is set'\n")
    row = listed(matrixx)["gated"]
    assert row["state"] == "off: no key is set" and row["events"], "what it would answer is told too"


def test_everything_but_the_essentials_is_off_with_the_variable(matrixx: Run, install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install("guard", GUARD)
    monkeypatch.setenv("MATRIXX_DISABLED", "1")
    rows = listed(matrixx)
    assert rows["guard"]["state"] == "disabled" and rows["context-injector"]["state"] == "on"


def test_a_person_sees_names_states_and_reasons(matrixx: Run, install: Install, settings: Write) -> None:
    install("syntax", "def (:\n")
    install("guard", GUARD)
    path = settings("user", '{\n"disabled_hooks": ["guard"]}')
    shown = " ".join(matrixx("hooks").stdout.split())
    assert "syntax" in shown and "failed" in shown and "disabled" in shown and "matrixx.jsonc:2" in "".join(shown.split()), path


MISTAKES = [
    ('{"disabled_hooks": ["gaurd", "helper"]}', "did you mean 'guard'", {"helper"}),
    ('{"disabled_hooks": ["helper", "helper"]}', "", {"helper"}),
    ('{"disabled_hooks": ["empty-message-sanitizer", "helper"]}', "", {"helper"}),
    ('{"disabled_hooks": ["helper", 5]}', "5", {"helper"}),
    ('{"disabled_hooks": "helper"}', "must be a list", set[str]()),
    ('{"disabled_hooks": ["helper"], "strict": "perhaps"}', "strict", {"helper"}),
    ('{"disabled_hooks": ["helper",],}', "", {"helper"}),
    ('{"$schema": "https://example.invalid/x", /* c */ "disabled_hooks": ["helper"]} // end', "", {"helper"}),
    ('\ufeff{"disabled_hooks": ["helper"]}', "", {"helper"}),
    ('{"disabled_hooks": ["helper"], "securty": {}}', "did you mean 'security'", {"helper"}),
    ('{"disabled_hooks": ["helper"', "ignored as a whole", set[str]()),
    ("[]", "must hold one object", set[str]()),
    ("", "", set[str]()),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake[0])
def test_a_mistake_in_the_settings_is_told_and_nothing_else_is_lost(
    matrixx: Run, install: Install, settings: Write, mistake: tuple[str, str, set[str]]
) -> None:
    text, warning, disabled = mistake
    install("guard", GUARD)
    install("helper", "from matrixx_core import ToolCall, observe\n@observe\ndef tool_execute_before(call: ToolCall) -> None: ...\n")
    path = settings("user", text)
    result = matrixx("hooks", "--json")
    rows = {row["name"]: row for row in json.loads(result.stdout)}
    assert {name for name, row in rows.items() if row["state"] == "disabled"} == disabled
    assert rows["guard"]["state"] == "on", "no guard is dropped because of an unrelated error"
    told = [line for line in result.stderr.splitlines() if f"{path}:1" in line]
    assert [warning in line for line in told] == ([True] if warning else [])


def test_lists_of_user_and_project_are_joined(matrixx: Run, install: Install, settings: Write) -> None:
    for name in ("one", "two"):
        install(name, "from matrixx_core import ToolCall, observe\n@observe\ndef tool_execute_before(call: ToolCall) -> None: ...\n")
    settings("user", '{"disabled_hooks": ["one"]}')
    settings("project", '{"disabled_hooks": ["two"]}')
    rows = listed(matrixx)
    assert rows["one"]["state"] == rows["two"]["state"] == "disabled"


def test_on_eighty_columns_no_name_is_broken_and_each_answer_has_its_wave(
    matrixx: Run, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    install("a-name-as-long-as-they-get", GUARD)
    lines = matrixx("hooks").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    [line] = (line for line in lines if "a-name-as-long-as-they-get" in line)
    assert line.split()[-4:] == ["on", "guard", "tool_execute_before", "(write)"]
