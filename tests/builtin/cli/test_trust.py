import json

import pytest
from builtin.cli.samples import GUARD, Install, Run, Write


def state(matrixx: Run, name: str) -> str:
    return str(next(row["state"] for row in json.loads(matrixx("hooks", "--json").stdout) if row["name"] == name))


def test_what_waits_is_shown_pinned_and_waits_again_after_a_change(matrixx: Run, install: Install, settings: Write) -> None:
    guard = install("guard", GUARD)
    path = settings("project", f'{{"disabled_hooks": ["{guard}"]}}')
    assert state(matrixx, guard) == "on"
    result = matrixx("trust", "--yes")
    assert result.exit_code == 0 and f"{path}:1: would switch off the guard 'guard'" in result.stdout
    assert state(matrixx, guard) == "disabled"
    path.write_text(path.read_text() + " ")
    assert state(matrixx, guard) == "on"


def test_trust_can_be_taken_back(matrixx: Run, install: Install, settings: Write) -> None:
    guard = install("guard", GUARD)
    settings("project", f'{{"disabled_hooks": ["{guard}"]}}')
    matrixx("trust", "--yes")
    assert "no longer trusted" in matrixx("trust", "--withdraw").stdout
    assert state(matrixx, guard) == "on"
    assert "was not trusted" in matrixx("trust", "--withdraw").stdout


def test_nobody_at_the_terminal_means_no(matrixx: Run, install: Install, settings: Write) -> None:
    guard = install("guard", GUARD)
    settings("project", f'{{"disabled_hooks": ["{guard}"]}}')
    result = matrixx("trust", stdin="y\n")
    assert result.exit_code == 2 and "--yes" in result.stderr and result.stderr.count("\n") == 1
    assert state(matrixx, guard) == "on"


@pytest.mark.parametrize(("scope", "text"), [("project", '{"disabled_hooks": []}'), ("user", '{"disabled_hooks": ["guard"]}')])
def test_settings_that_loosen_nothing_need_no_trust(matrixx: Run, install: Install, settings: Write, scope: str, text: str) -> None:
    install("guard", GUARD)
    settings("project", "{}")
    settings(scope, text)
    result = matrixx("trust")
    assert result.exit_code == 0 and "Nothing waits" in result.stdout


def test_a_project_without_settings_is_told_where_they_would_be(matrixx: Run) -> None:
    result = matrixx("trust", "--yes")
    assert result.exit_code == 2 and "matrixx.jsonc" in result.stderr
