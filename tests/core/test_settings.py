"""Whatever is wrong in one place of a settings file, all that is right elsewhere holds (C39)."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from matrixx_core import trust
from matrixx_core.settings import Names, Settings, load_settings, merge, rescued

KNOWN = ("env-file-write-guard", "comment-checker", "quality-gate", "oracle-md-only")
NAMES = Names(
    renamed={"prometheus-md-only": "oracle-md-only"},
    retired={"failure-counter": "gone"},
    sections={"security", "rtk"},
    profiles={"minimal-write": ("quality-gate",)},
)


def user_file(home: Path, text: str) -> Path:
    path = home / ".config" / "matrixx" / "matrixx.jsonc"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def project_file(project: Path, text: str) -> Path:
    path = project / ".opencode" / "matrixx.jsonc"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "disabled", "told"),
    [
        ('{"disabled_hooks": ["comment-checker"]}', ["comment-checker"], []),
        ('{"disabled_hooks": ["coment-checker", "quality-gate"]}', ["coment-checker", "quality-gate"], ["did you mean 'comment-checker'?"]),
        ('{"disabled_hooks": ["quality-gate", "quality-gate"]}', ["quality-gate"], []),
        ('{"disabled_hooks": ["prometheus-md-only"]}', ["oracle-md-only"], []),
        ('{"disabled_hooks": ["failure-counter"]}', ["failure-counter"], []),
        ('{"disabled_hooks": [7, "quality-gate"]}', ["quality-gate"], ["not 7"]),
        ('{"disabled_hooks": "quality-gate"}', [], ["must be a list"]),
        ('{"disabled_hooks": ["quality-gate",], // note\n}', ["quality-gate"], []),
        ('{"disabled_hooks": ["quality-gate"], "rtk": {"path": "http://x//y"}}', ["quality-gate"], []),
        ('\ufeff{"disabled_hooks": ["quality-gate"]}', ["quality-gate"], []),
        ('{"profile": "minimal-write"}', ["quality-gate"], []),
        ('{"profile": "minimal-wrote", "disabled_hooks": ["quality-gate"]}', ["quality-gate"], ["profile"]),
        ('{"note_budget": "many", "disabled_hooks": ["quality-gate"]}', ["quality-gate"], ["note_budget"]),
        ('{"secruity": {}, "disabled_hooks": ["quality-gate"]}', ["quality-gate"], ["did you mean 'security'?"]),
        ('{"disabled_hooks": ["quality-gate"', [], ["ignored as a whole"]),
        ("[1, 2]", [], ["must hold one object"]),
        ("", [], []),
    ],
)
def test_a_mistake_costs_only_itself(home: Path, project: Path, text: str, disabled: list[str], told: list[str]) -> None:
    user_file(home, text)
    settings = load_settings(project, names=NAMES)
    assert list(settings.disabled(KNOWN)) == disabled
    problems = list(map(str, settings.problems))
    assert len(problems) == len(told)
    for problem, part in zip(problems, told, strict=True):
        assert part in problem


def test_a_problem_names_the_file_and_the_line(home: Path, project: Path) -> None:
    path = user_file(
        home, '{\n  // off for now\n  "disabled_hooks": [\n    "quality-gate",\n    "coment-checker"\n  ],\n  "note_budget": -1\n}\n'
    )
    settings = load_settings(project, names=NAMES)
    settings.disabled(KNOWN)
    assert sorted(problem.where for problem in settings.problems) == [f"{path}:5", f"{path}:7"]


def test_a_syntax_error_names_its_line(home: Path, project: Path) -> None:
    path = user_file(home, '{\n  "disabled_hooks": [}\n}\n')
    assert load_settings(project, names=NAMES).problems[0].where == f"{path}:2"


def test_user_and_project_are_merged_before_defaults_are_filled(home: Path, project: Path) -> None:
    user_file(home, '{"disabled_hooks": ["comment-checker"], "security": {"a": {"x": 1, "y": 2}}, "note_budget": 10}')
    path = project_file(project, '{"disabled_hooks": ["quality-gate"], "security": {"a": {"x": 3}}}')
    trust.trust(path)
    settings = load_settings(project, names=NAMES)
    assert set(settings.disabled(KNOWN)) == {"comment-checker", "quality-gate"}
    assert settings.section("", "security.a") == {"x": 3, "y": 2}
    assert settings.core.note_budget == 10


def test_the_later_of_two_folders_wins_and_jsonc_hides_json(project: Path) -> None:
    for folder, name, budget in [
        (".", "matrixx.json", 1),
        (".matrixx", "matrixx.json", 2),
        (".opencode", "matrixx.jsonc", 3),
        (".opencode", "matrixx.json", 4),
    ]:
        path = project / folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'{{"note_budget": {budget}}}')
        trust.trust(path)
    settings = load_settings(project, names=NAMES)
    assert settings.core.note_budget == 3
    assert [problem.message for problem in settings.problems] == ["ignored because matrixx.jsonc stands beside it"]


def test_what_a_project_says_stays_apart_until_it_is_trusted(project: Path) -> None:
    path = project_file(project, '{"disabled_hooks": ["quality-gate"], "fail_closed": true, "hooks": {"x": {"y": 1}}}')
    before = load_settings(project, names=NAMES)
    assert (list(before.disabled(KNOWN)), list(before.wished_off(KNOWN))) == ([], ["quality-gate"])
    assert before.section("x") == {} and before.section("x", wished=True) == {"y": 1}
    trust.trust(path)
    after = load_settings(project, names=NAMES)
    assert (list(after.disabled(KNOWN)), list(after.wished_off(KNOWN))) == (["quality-gate"], [])
    assert after.section("x") == {"y": 1}


def test_any_project_may_tighten_the_engine_but_not_loosen_it(home: Path, project: Path) -> None:
    user_file(home, '{"strict": true}')
    project_file(project, '{"fail_closed": true, "strict": false, "note_budget": 7}')
    core = load_settings(project, names=NAMES).core
    assert (core.fail_closed, core.strict, core.note_budget) == (True, True, 7)


def test_trust_ends_with_the_content_it_was_given_for(project: Path) -> None:
    path = project_file(project, "{}")
    trust.trust(path)
    path.write_text('{"disabled_hooks": ["quality-gate"]}')
    assert not load_settings(project, names=NAMES).sources[0].trusted
    assert trust.withdraw(path) and not trust.withdraw(path)


def test_a_hooks_own_section_wins_over_the_seeds_key() -> None:
    settings = Settings.of({"security": {"env_file_guard": {"enabled": False, "allowed_paths": ["a"]}}, "hooks": {"g": {"enabled": True}}})
    assert settings.section("g", "security.env_file_guard") == {"enabled": True, "allowed_paths": ["a"]}


def test_nothing_is_ever_written(home: Path, project: Path) -> None:
    path = user_file(home, '{"disabled_hooks": ["prometheus-md-only", "nonsense"], "profile": 3}')
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    load_settings(project, names=NAMES).disabled(KNOWN)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


class Odd(BaseModel):
    names: dict[Annotated[str, Field(pattern="^[a-z]+$")], int | bool | None] = {}
    number: int = 1


def test_a_refused_key_or_union_member_takes_only_itself_along() -> None:
    told: list[str] = []
    section = {"names": {"good": 1, "BAD": 2, "worse": "x"}, "number": 5}
    found = rescued(Odd, section, lambda keys, message: told.append(message))
    assert (found.names, found.number) == ({"good": 1}, 5)
    assert any("BAD" in message for message in told)
    assert any("worse" in message for message in told)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
SECTIONS = st.dictionaries(
    st.sampled_from(["disabled_hooks", "hooks", "profile", "strict", "experimental", "note_budget", "security", "x"]), JSON
)


@given(SECTIONS)
def test_no_value_of_any_section_is_an_error(raw: dict[str, object]) -> None:
    settings = Settings.of(raw)
    settings.section("x", "security.x")
    settings.disabled(KNOWN)


@given(SECTIONS, SECTIONS)
def test_a_merge_never_loses_a_disabled_name(base: dict[str, object], over: dict[str, object]) -> None:
    base["disabled_hooks"], over["disabled_hooks"] = ["a"], ["b"]
    assert merge(base, over)["disabled_hooks"] == ["a", "b"]


def as_folder(path: Path) -> None:
    path.mkdir()


def as_pipe(path: Path) -> None:
    os.mkfifo(path)


def as_loop(path: Path) -> None:
    path.symlink_to(path)


def as_endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def as_huge(path: Path) -> None:
    path.write_text("{\n" + "// a comment that takes its time\n" * 100_000 + "}")


def as_deep(path: Path) -> None:
    path.write_text('{"hooks":' * 50_000)


def as_binary(path: Path) -> None:
    path.write_bytes(b"\xff\x00{")


@pytest.mark.parametrize("make", [as_folder, as_pipe, as_loop, as_endless, as_huge, as_deep, as_binary])
def test_what_is_no_settings_file_is_told_and_holds_nothing_up(home: Path, project: Path, make: Callable[[Path], None]) -> None:
    user_file(home, '{"disabled_hooks": ["quality-gate"]}')
    odd = project / "matrixx.jsonc"
    make(odd)
    settings = load_settings(project, names=NAMES)
    assert list(settings.disabled(KNOWN)) == ["quality-gate"]
    assert [str(problem).startswith(f"{odd}:1: ") for problem in settings.problems] == [True]


@pytest.mark.parametrize("make", [as_folder, as_pipe, as_loop, as_deep, as_binary])
def test_a_trust_store_that_is_none_trusts_nothing(home: Path, project: Path, make: Callable[[Path], None]) -> None:
    state = trust.state_dir()
    state.mkdir(parents=True, exist_ok=True)
    make(state / "trust.json")
    assert not trust.is_trusted(project / "matrixx.jsonc", b"{}")
