import stat
import sys
from pathlib import Path
from typing import Any

import anyio
import matrixx_quality_gate as hook
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matrixx_quality_gate import findings, linters
from matrixx_quality_gate.findings import Finding, brought_in, changed_lines

from matrixx_core import Inject, Session, ToolCall, ToolFailure, ToolResult
from matrixx_core.settings import TRUSTED_ONLY, is_marked
from matrixx_core.testing import Rig, call, session

FAKE = """#!{python}
import pathlib, sys
log = pathlib.Path({log!r})
log.write_text((log.read_text() if log.exists() else "") + " ".join(sys.argv[1:]) + chr(10))
stdin = sys.argv[-1] == "-"
name = sys.argv[-2 if stdin else -1]
text = sys.stdin.read() if stdin else pathlib.Path(name).read_text()
{extra}
found = [(number, line) for number, line in enumerate(text.splitlines(), 1) if "bad" in line]
for number, line in found:
    print(f"{{name}}:{{number}}:1: X1 line {{number}} is bad")
sys.exit(1 if found else 0)
"""
"""A linter called as ruff is: it complains of each line with the word ``bad``."""


class Project:
    """A project that is linted by a stand-in for ruff on ``PATH``."""

    def __init__(self, root: Path, tools: Path) -> None:
        self.root, self.tools, self.log = root, tools, tools / "log"
        (root / "ruff.toml").touch()

    def program(self, name: str = "ruff", extra: str = "", folder: Path | None = None) -> Path:
        program = (folder or self.tools) / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(FAKE.format(python=sys.executable, log=str(self.log), extra=extra))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return program

    def file(self, name: str, text: str | bytes | None = None) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is not None:
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    @property
    def runs(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def write(self, name: str, text: str, call_id: str = "c1") -> ToolCall:
        return call("write", directory=str(self.root), filePath=str(self.root / name), content=text).model_copy(update={"call_id": call_id})


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    root, tools = tmp_path / "project", tmp_path / "tools"
    root.mkdir()
    tools.mkdir()
    monkeypatch.setenv("PATH", str(tools))
    return Project(root, tools)


def after(one: ToolCall, memory: Session, **options: Any) -> Inject | None:
    done = ToolResult(session_id=one.session_id, call=one, output="Wrote file successfully.")
    return anyio.run(hook.tool_execute_after, done, memory, hook.Config(**options))


def wrote(project: Project, name: str, text: str, memory: Session | None = None, *, then: str | None = None, **options: Any) -> str:
    """What the model is told about a write of this text (``then``: what another program makes of it)."""
    memory, one = memory or session(), project.write(name, text)
    anyio.run(hook.tool_execute_before, one, memory)
    project.file(name, text if then is None else then)
    answer = after(one, memory, **options)
    return answer.text if answer else ""


def test_a_finding_of_a_new_file_is_told_with_its_place(project: Project) -> None:
    project.program()
    told = wrote(project, "a.py", "fine = 1\nbad = 2\n")
    assert "ruff finds in `a.py`" in told
    assert "  2:1 X1 line 2 is bad" in told


def test_only_what_the_edit_brought_in_is_told(project: Project) -> None:
    project.program()
    project.file("a.py", "bad = 1\n")
    told = wrote(project, "a.py", "new = 0\nbad = 1\nbad = 2\n")
    assert "3:1 " in told
    assert "2:1 " not in told
    assert wrote(project, "a.py", "bad = 1\nbad = 2\n") == ""


def test_a_finding_on_an_unchanged_line_is_told_if_the_edit_caused_it(project: Project) -> None:
    project.program(extra='text = "bad import os" if "os." not in text and "import os" in text else text.replace("import os", "")')
    project.file("a.py", "import os\nos.sep\n")
    assert "1:1 X1" in wrote(project, "a.py", "import os\n")


def test_a_clean_file_costs_one_run_and_says_nothing(project: Project) -> None:
    project.program()
    project.file("a.py", "a = 1\n")
    assert wrote(project, "a.py", "a = 2\n") == ""
    assert len(project.runs) == 1
    assert project.runs[0].startswith("check --no-fix --no-cache")


def test_a_file_that_did_not_change_is_not_linted(project: Project) -> None:
    project.program()
    project.file("a.py", "bad = 1\n")
    assert wrote(project, "a.py", "bad = 1\n") == ""
    assert project.runs == []


def test_edits_side_by_side_are_linted_once_after_the_last_and_against_the_oldest_text(project: Project) -> None:
    project.program()
    memory = session()
    project.file("a.py", "old = 1\n")
    first, second = project.write("a.py", "bad = 1\n", "c1"), project.write("a.py", "bad = 1\nbad = 2\n", "c2")
    anyio.run(hook.tool_execute_before, first, memory)
    project.file("a.py", "bad = 1\n")
    anyio.run(hook.tool_execute_before, second, memory)
    project.file("a.py", "bad = 1\nbad = 2\n")
    assert after(first, memory) is None
    assert project.runs == []
    answer = after(second, memory)
    assert answer is not None
    assert "1:1 " in answer.text and "2:1 " in answer.text
    assert "differs from what you wrote" not in answer.text


def test_a_call_that_fails_answers_for_what_others_left_to_it(project: Project) -> None:
    project.program()
    memory = session()
    first, second = project.write("a.py", "bad = 1\n", "c1"), project.write("a.py", "other", "c2")
    for one in (first, second):
        anyio.run(hook.tool_execute_before, one, memory)
    project.file("a.py", "bad = 1\n")
    assert after(first, memory) is None
    failed = ToolFailure(session_id=second.session_id, call=second, error="no")
    answer = anyio.run(hook.tool_execute_failed, failed, memory, hook.Config())
    assert answer is not None
    assert "1:1 " in answer.text


def test_a_call_that_never_ends_is_not_waited_for_for_ever(project: Project) -> None:
    project.program()
    memory = session()
    anyio.run(hook.tool_execute_before, project.write("a.py", "x", "lost"), memory)
    memory.state(hook.Edits).running["lost"].since -= hook.STALE_S + 1
    assert "1:1 " in wrote(project, "a.py", "bad = 1\n", memory)


def test_calls_that_never_end_are_bounded(project: Project) -> None:
    memory = session()
    for number in range(hook.MOST_PENDING + 20):
        anyio.run(hook.tool_execute_before, project.write("a.py", "x", f"c{number}"), memory)
    assert len(memory.state(hook.Edits).running) == hook.MOST_PENDING


def test_the_text_is_limited(project: Project) -> None:
    project.program(extra="text = text")
    told = wrote(project, "a.py", "bad = 'x'\n" * 500, max_findings=3)
    assert told.count("X1 line") == 3
    assert "and 497 more" in told
    assert len(told) < 500


def test_long_and_odd_words_of_a_linter_are_cut_and_cleaned() -> None:
    told = hook._told([Finding("a.py", 1, 1, "\x1b[31m" + "w" * 5_000)], "ruff", "a.py", 10)
    assert "\x1b" not in told
    assert len(told) < 500


def test_a_formatter_that_changed_the_file_is_said(project: Project) -> None:
    project.program()
    assert "`a.py` differs from what you wrote" in wrote(project, "a.py", "x=1\n", then="x = 1\n")


@pytest.mark.parametrize("then", ["x = 1", "x = 1\r\n", "\ufeffx = 1\n", "x = 1\n\n"])
def test_line_ends_alone_make_no_other_text(project: Project, then: str) -> None:
    project.program()
    assert wrote(project, "a.py", "x = 1\n", then=then) == ""


def test_a_program_that_removed_the_file_is_said(project: Project) -> None:
    memory, one = session(), project.write("a.py", "x = 1\n")
    anyio.run(hook.tool_execute_before, one, memory)
    answer = after(one, memory)
    assert answer is not None
    assert "`a.py` is gone" in answer.text


@pytest.mark.parametrize("does", ["pathlib.Path(name).write_text('fixed = 1')", "pathlib.Path(name).unlink()"])
def test_a_linter_that_changes_or_removes_the_file_is_said_and_not_run_again(project: Project, does: str) -> None:
    project.program(extra=does)
    memory = session()
    assert "ruff changed or removed `a.py`" in wrote(project, "a.py", "x = 1\n", memory)
    assert wrote(project, "a.py", "x = 2\n", memory) == ""
    assert len(project.runs) == 1


def test_a_linter_that_hangs_is_ended_said_once_and_not_run_again(project: Project) -> None:
    project.program(extra="import time; time.sleep(600)")
    memory = session()
    assert "[ruff did not end in 0.5 s; its findings are not told.]" in wrote(project, "a.py", "bad = 1\n", memory, timeout_ms=500)
    assert wrote(project, "a.py", "bad = 2\n", memory) == ""
    assert len(project.runs) <= 1


def test_a_linter_that_is_only_too_slow_for_the_old_text_too_is_told_of_changed_lines_and_runs_again(project: Project) -> None:
    project.program(extra="import time; time.sleep(600 * stdin)")
    project.file("a.py", "bad = 0\n")
    memory = session()
    told = wrote(project, "a.py", "bad = 0\nbad = 1\n", memory, timeout_ms=1_500)
    assert "2:1 X1" in told
    assert "1:1 X1" not in told and "did not end" not in told
    assert not memory.state(hook.Edits).hanging


@pytest.mark.parametrize(
    ("given", "about"),
    [("src/lib.rs", False), ("./crates/a/src/lib.rs", True), ("a/src/lib.rs", True), ("other.rs", False), ("", False), ("\0", False)],
)
def test_a_linter_of_a_whole_package_is_heard_about_this_file_only(project: Project, given: str, about: bool) -> None:
    project.file("src/lib.rs", "x")
    path = project.file("crates/a/src/lib.rs", "x")
    assert hook._is_about(Finding(given, 1, 1, "x"), path, project.root) is about
    assert hook._is_about(Finding(str(path), 1, 1, "x"), path, project.root)


def test_a_linter_that_is_missing_is_said_once_in_one_line(project: Project) -> None:
    memory = session()
    told = wrote(project, "a.py", "bad = 1\n", memory)
    assert told.startswith("[ruff (ruff.toml) was not run: ruff was found neither in ")
    assert "\n" not in told
    assert wrote(project, "a.py", "bad = 2\n", memory) == ""
    assert wrote(project, "a.py", "bad = 3\n") != ""


def test_a_linter_that_cannot_check_says_why_in_one_line_once(project: Project) -> None:
    project.program(extra="print('ruff failed: unknown rule', file=sys.stderr); sys.exit(2)")
    memory = session()
    assert wrote(project, "a.py", "bad = 1\n", memory) == "[ruff could not check: ruff failed: unknown rule.]"
    assert wrote(project, "a.py", "bad = 2\n", memory) == ""


def test_without_a_configuration_nothing_runs(project: Project) -> None:
    project.program()
    (project.root / "ruff.toml").unlink()
    assert wrote(project, "a.py", "bad = 1\n") == ""
    assert project.runs == []


def test_a_configuration_above_the_workspace_does_not_count(project: Project) -> None:
    project.program()
    (project.root / "ruff.toml").rename(project.root.parent / "ruff.toml")
    assert wrote(project, "a.py", "bad = 1\n") == ""


@pytest.mark.parametrize(
    ("name", "text", "used"),
    [
        ("pyproject.toml", "[tool.ruff]\n", True),
        ("pyproject.toml", "[project]\nname='x'\n[tool.ruff.lint]\n", True),
        ("pyproject.toml", "[tool.black]\n# [tool.ruff]\n", False),
        (".ruff.toml", "", True),
    ],
)
def test_the_section_of_a_shared_file_says_whether_the_linter_is_used(project: Project, name: str, text: str, used: bool) -> None:
    project.program()
    (project.root / "ruff.toml").unlink()
    project.file(name, text)
    assert (wrote(project, "deep/er/a.py", "bad = 1\n") != "") is used


def test_a_program_of_the_project_runs_only_where_the_user_allows_it(project: Project) -> None:
    project.program(folder=project.root / ".venv" / "bin")
    told = wrote(project, "a.py", "bad = 1\n")
    assert "its program lies in the project" in told and "run_project_code" in told
    assert project.runs == []
    assert "1:1 X1" in wrote(project, "b.py", "bad = 1\n", run_project_code=True)


def test_a_program_of_the_project_stays_one_if_path_or_a_link_leads_to_it(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = project.program(folder=project.root / "bin")
    (project.tools / "ruff").symlink_to(inside)
    assert "its program lies in the project" in wrote(project, "a.py", "bad = 1\n")
    monkeypatch.setenv("PATH", str(inside.parent))
    assert "its program lies in the project" in wrote(project, "b.py", "bad = 1\n")
    assert project.runs == []


def test_without_that_permission_the_users_own_program_is_taken(project: Project) -> None:
    project.program(folder=project.root / ".venv" / "bin", extra="sys.exit(3)")
    project.program()
    assert "1:1 X1" in wrote(project, "a.py", "bad = 1\n")


@pytest.mark.parametrize("name", ["eslint", "flake8", "golangci-lint", "clippy", "rubocop", "oxlint"])
def test_linters_that_run_code_of_the_project_wait_for_permission(project: Project, name: str) -> None:
    linter = next(one for one in linters.LINTERS if one.name == name)
    project.program(linter.executable)
    config, needed = next(iter(linter.configs.items()))
    project.file(config, "")
    assert needed == ""
    path = project.root / f"a{linter.suffixes[0]}"
    [job] = [one for one in linters.jobs_for(path, project.root) if one.linter is linter]
    assert job.program == "" and "code of the project" in job.why_not
    [job] = [one for one in linters.jobs_for(path, project.root, project_code=True) if one.linter is linter]
    assert job.program


def test_the_permission_and_commands_count_only_where_the_user_vouches_for_them() -> None:
    assert is_marked(hook.Config, "run_project_code", TRUSTED_ONLY)
    assert is_marked(hook.Config, "commands", TRUSTED_ONLY)


def test_a_native_program_is_taken_before_its_wrapper(project: Project) -> None:
    biome = next(one for one in linters.LINTERS if one.name == "biome")
    native = project.program(folder=(project.root / biome.natives[0]).parent, name="biome")
    project.program(folder=project.root / "node_modules/.bin", name="biome")
    project.file("biome.json", "{}")
    [job] = linters.jobs_for(project.root / "src/a.ts", project.root, project_code=True)
    assert job.program == str(native)


def test_no_argv_fixes_or_fetches_anything() -> None:
    for linter in linters.LINTERS:
        words = {*linter.argv, *linter.stdin, linter.executable}
        assert words.isdisjoint({"--fix", "--write", "--apply", "-a", "-A", "--autocorrect", "npx", "bunx", "exec", "dlx"})
        assert "{file}" in linter.argv[-1] or linter.name in {"golangci-lint", "clippy"}


def test_the_users_own_command_replaces_the_projects_linter(project: Project) -> None:
    project.program()
    own = project.program("mylint")
    told = wrote(project, "a.py", "bad = 1\n", commands={".py": [str(own), "--{odd}"]})
    assert "mylint finds in `a.py`" in told
    assert project.runs[0].startswith("--{odd} ")
    assert "'nolint' was not found" in wrote(project, "b.py", "bad = 1\n", commands={".py": ["nolint"]})


def test_a_linter_can_be_left_out(project: Project) -> None:
    project.program()
    assert wrote(project, "a.py", "bad = 1\n", skip=["ruff"]) == ""


@pytest.mark.parametrize("name", ["-rf.py", "a b'c.py", "{file}.py", "ünïcode.py", "x;id.py"])
def test_hostile_names_are_one_argument(project: Project, name: str) -> None:
    project.program()
    assert "1:1 X1" in wrote(project, name, "bad = 1\n")


@pytest.mark.parametrize("text", [b"\xff\xfe\0bad", b"bad\0bad", b"bad = 1\n" * 200_000])
def test_what_is_no_text_or_too_large_is_left_alone(project: Project, text: bytes) -> None:
    project.program()
    memory, one = session(), project.write("a.py", "x")
    project.file("a.py", text)
    anyio.run(hook.tool_execute_before, one, memory)
    assert after(one, memory) is None
    assert project.runs == []


@pytest.mark.parametrize(
    "path", ["../out.py", "/etc/out.py", "node_modules/a.py", ".venv/a.py", "no\0name.py", "\ud800.py", "", "x" * 5_000, 5, None]
)
def test_odd_paths_and_those_outside_are_left_alone(project: Project, path: object) -> None:
    project.program()
    memory, one = session(), call("write", directory=str(project.root), filePath=path, content="bad")
    anyio.run(hook.tool_execute_before, one, memory)
    assert after(one, memory) is None


def test_a_link_that_leads_out_of_the_workspace_is_not_read(project: Project) -> None:
    project.program()
    outside = project.root.parent / "outside.py"
    outside.write_text("old\n")
    (project.root / "a.py").symlink_to(outside)
    memory, one = session(), project.write("a.py", "bad = 1\n")
    anyio.run(hook.tool_execute_before, one, memory)
    outside.write_text("bad = 1\n")
    assert after(one, memory) is None


def test_what_the_shell_and_patches_write_is_linted_too(project: Project) -> None:
    project.program()
    patch = "*** Begin Patch\n*** Add File: b.py\n+bad = 1\n*** End Patch"
    for tool, name, args in (
        ("bash", "a.py", {"command": "cat > a.py <<'EOF'\nbad = 1\nEOF"}),
        ("apply_patch", "b.py", {"patchText": patch}),
    ):
        memory, one = session(), call(tool, directory=str(project.root), **args)
        anyio.run(hook.tool_execute_before, one, memory)
        project.file(name, "bad = 1\n")
        answer = after(one, memory)
        assert answer is not None and f"`{name}`" in answer.text


def test_a_write_that_other_hooks_stop_is_not_waited_for(project: Project) -> None:
    import matrixx_write_existing_file_guard as other

    project.file("a.py", "there\n")
    rig = Rig(hook, other, directory=str(project.root))
    assert rig.before("write", filePath=str(project.root / "a.py"), content="x").block
    assert not rig.host.sessions["ses_test"].state(hook.Edits).running


@pytest.mark.parametrize(
    ("parse", "output", "expected"),
    [
        (findings.in_lines, "a.py:1:8: F401 [*] `os` imported but unused", [("a.py", 1, 8, "F401 [*] `os` imported but unused")]),
        (findings.in_lines, "/p/a.sh:3:1: warning: Use cd .. || exit [SC2164]", [("/p/a.sh", 3, 1, "warning: Use cd .. || exit [SC2164]")]),
        (findings.in_lines, "src/main.rs:2:9: warning: unused variable: `x`", [("src/main.rs", 2, 9, "warning: unused variable: `x`")]),
        (
            findings.in_lines,
            "pkg/a.go:7:2: ineffectual assignment (ineffassign)\n\tx = 1\n\t^",
            [("pkg/a.go", 7, 2, "ineffectual assignment (ineffassign)")],
        ),
        (
            findings.in_lines,
            "/p/a.yml:4:81: [error] line too long (line-length)",
            [("/p/a.yml", 4, 81, "[error] line too long (line-length)")],
        ),
        (findings.in_lines, "C:/p/a.py:1:2: E1 x", [("C:/p/a.py", 1, 2, "E1 x")]),
        (findings.in_lines, "no finding\n: :1\n\0", []),
        (
            findings.in_annotations,
            "::error title=lint/suspicious/noDebugger,file=/p/a.ts,line=2,endLine=2,col=15,endColumn=23::An unexpected%0Ause.",
            [("/p/a.ts", 2, 15, "lint/suspicious/noDebugger An unexpected use.")],
        ),
        (findings.in_annotations, "::error::\n::group::x", []),
        (
            findings.in_eslint_json,
            '[{"filePath":"/p/a.js","messages":[{"ruleId":"eqeqeq","message":"Expected","line":2,"column":7},{"ruleId":null,"message":"ignored"}]}]',
            [("/p/a.js", 2, 7, "eqeqeq Expected")],
        ),
        (
            findings.in_eslint_json,
            '[{"filePath":"a.js","messages":[{"ruleId":"x","message":"y","line":1}]}]\n(node:5) Warning: old',
            [("a.js", 1, 0, "x y")],
        ),
        (findings.in_eslint_json, "Oops! Something went wrong", []),
        (findings.in_eslint_json, '[5, {"messages": 5}, {"messages": [5, {"line": "x"}]}]', []),
        (findings.in_eslint_json, "[" * 100_000, []),
    ],
)
def test_what_linters_print_is_read(parse: findings.Parser, output: str, expected: list[tuple[str, int, int, str]]) -> None:
    assert [tuple(one) for one in parse(output)] == expected


@pytest.mark.parametrize(
    ("before", "now", "changed"),
    [
        ("", "a\nb\n", {1, 2}),
        ("a\nb\n", "a\nb\n", set()),
        ("a\nb\nc\n", "a\nx\nb\nc\n", {2}),
        ("a\nb\n", "b\na\n", set()),
        ("a\na\n", "a\na\na\n", {3}),
        ("a\nb\nc\n", "a\n", set()),
    ],
)
def test_changed_lines_are_those_that_were_not_there(before: str, now: str, changed: set[int]) -> None:
    assert changed_lines(before, now) == changed


def test_a_linter_without_standard_input_is_told_of_changed_lines_only() -> None:
    new = [Finding("a", 1, 1, "old"), Finding("a", 2, 1, "new")]
    assert brought_in(new, None, "one\n", "one\ntwo\n") == new[1:]


def test_numbers_in_a_message_do_not_make_an_old_finding_new() -> None:
    before, now = "x = 1\nx = 2\n", "\n\nx = 1\nx = 2\n"
    assert brought_in([Finding("a", 4, 1, "x of line 3 again")], [Finding("a", 2, 1, "x of line 1 again")], before, now) == []


@settings(deadline=None)
@given(st.text(st.characters(), max_size=300), st.text(st.characters(), max_size=300))
def test_no_text_and_no_output_is_too_odd(before: str, now: str) -> None:
    for parse in (findings.in_lines, findings.in_annotations, findings.in_eslint_json):
        brought_in(list(parse(now)), list(parse(before)), before, now)
    assert changed_lines(now, now) == set()


@pytest.mark.parametrize("edits", [5, [5], [], [{"newString": 5}], {"newString": "x"}, "x"])
def test_edits_of_another_shape_claim_nothing(edits: object) -> None:
    assert hook._holds("text", {"edits": edits})
