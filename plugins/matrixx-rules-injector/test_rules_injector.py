from pathlib import Path

import matrixx_rules_injector as hook
import pytest
from matrixx_rules_injector import Rule

from matrixx_core.testing import Rig

TEXT = "---\nglobs: '*.py'\n---\nuse snake case\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    put(root / "src/a.py", "x = 1")
    return root


def put(file: Path, text: str = TEXT) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def made(root: Path, **settings: object) -> Rig:
    return Rig(hook, settings={"rules-injector": settings}, directory=str(root))


def told(rig: Rig, path: Path, output: str = "out", tool: str = "read") -> str:
    return rig.after(tool, output, filePath=str(path)).event.output.removeprefix(output).strip()


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (".matrixx/rules/a.md", True),
        (".morpheus/rules/a.md", True),
        (".claude/rules/deep/a.md", True),
        (".cursor/rules/a.mdc", True),
        ("src/.cursor/rules/a.mdc", True),
        (".github/instructions/deep/a.instructions.md", True),
        (".github/instructions/a.md", False),
        (".github/copilot-instructions.md", True),
        (".matrixx/rules/a.txt", False),
        ("other/.matrixx/rules/a.md", False),
        ("../.matrixx/rules/a.md", False),
    ],
)
def test_rules_are_found_from_the_file_up_to_the_root(project: Path, name: str, found: bool) -> None:
    put(project / name)
    assert ("use snake case" in told(made(project), project / "src/a.py")) is found


@pytest.mark.parametrize("tool", ["read", "edit", "write", "multiedit"])
def test_a_rule_is_shown_once_and_once_more_after_a_summary(project: Path, tool: str) -> None:
    put(project / ".matrixx/rules/a.md")
    put(project / ".cursor/rules/same.mdc")
    rig, file = made(project), project / "src/a.py"
    assert told(rig, file, tool=tool).count("use snake case") == 1
    assert told(rig, file, tool=tool) == ""
    rig.event("session.compacted")
    assert told(rig, file, tool=tool).count("use snake case") == 1


def test_a_patch_is_a_change_too(project: Path) -> None:
    put(project / ".matrixx/rules/a.md")
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x = 1\n+x = 2\n*** End Patch"
    assert "use snake case" in made(project).after("apply_patch", "out", patchText=patch).event.output


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("body", Rule("body")),
        ("---\nalwaysApply: true\n---\nbody", Rule("body", (), always=True)),
        ("---\nalwaysApply: True # yes\n---\nbody", Rule("body", (), always=True)),
        ("\ufeff---\r\nglobs: 'a'\r\n---\r\nbody\r\n", Rule("body", ("a",))),
        ("---\nglobs: [a, b]\npaths: c\napplyTo:\n- d\n---\nbody", Rule("body", ("a", "b", "c", "d"))),
        ("---\napplyTo: 'a, **/*.{ts,tsx}'\n---\nbody", Rule("body", ("a", "**/*.{ts,tsx}"))),
        ("---\nglobs: *.ts, *.js\n---\nbody", Rule("body", ("*.ts", "*.js"))),
        ("---\ndescription: a: b\nglobs: *.ts\nalwaysApply: true\n---\nbody", Rule("body", ("*.ts",), always=True)),
        ("---\n---\nbody", Rule("body")),
        ("---\n- a\n---\nbody", Rule("body")),
        ("---\nglobs: [1, {a: b}, null]\n---\nbody", Rule("body")),
        ("---\na: &a [x]\nglobs: *a\n---\nbody", Rule("body", ("*a",))),
        ("---\nnever closed", Rule("---\nnever closed")),
        ("---\nglobs: " + "[" * 5_000 + "\n---\nbody", Rule("body", ("[" * 1,))),
    ],
)
def test_frontmatter_is_read_whatever_its_shape(text: str, rule: Rule) -> None:
    found = hook.parsed(text)
    assert (found.body, found.always) == (rule.body, rule.always)
    assert found.globs == rule.globs or "[[" in text


@pytest.mark.parametrize(
    ("glob", "path", "named"),
    [
        ("*.ts", "src/a.ts", True),
        ("src/*", "src/deep/a.ts", False),
        ("**/*.{ts,tsx}", "a.tsx", True),
        ("**/*.{ts,tsx}", "a.js", False),
        ("/a.ts", "src/a.ts", False),
        (".*", "src/.env.py", True),
        ("!", "a", False),
        ("**" * 500, "a", False),
        ("*a*a*a*a*a*a*a*a*b", "a" * 200, False),
        ("{" * 100, "a", False),
    ],
)
def test_globs_are_those_of_gitignore_with_braces(glob: str, path: str, named: bool) -> None:
    assert hook.fits(path, (glob,)) is named


def test_links_lead_neither_out_nor_round_in_circles(project: Path, tmp_path: Path) -> None:
    outside = put(tmp_path / "outside/a.md")
    rules = project / ".matrixx/rules"
    rules.mkdir(parents=True)
    (rules / "out.md").symlink_to(outside)
    (rules / "loop").symlink_to(rules)
    (rules / "self.md").symlink_to(rules / "self.md")
    (project / ".claude").mkdir()
    (project / ".claude/rules").symlink_to(outside.parent)
    assert told(made(project), project / "src/a.py") == ""


@pytest.mark.parametrize("content", [b"", b"\0\1", b"x" * (hook.MOST_BYTES + 1), b"---\nglobs: \xff\n---\n"])
def test_what_is_no_rule_is_left_out(project: Path, content: bytes) -> None:
    put(project / ".github/copilot-instructions.md").write_bytes(content)
    assert told(made(project), project / "src/a.py") == ""


def test_a_changed_rule_and_a_new_one_are_noticed(project: Path) -> None:
    put(project / ".matrixx/rules/a.md")
    rig, file = made(project), project / "src/a.py"
    told(rig, file)
    put(project / ".matrixx/rules/a.md", TEXT + "and type hints\n")
    put(project / ".matrixx/rules/deep/b.md", TEXT + "and docstrings\n")
    assert "and type hints" in (text := told(rig, file))
    assert "and docstrings" in text


def test_a_long_rule_is_cut_and_says_so(project: Path) -> None:
    put(project / ".matrixx/rules/a.md", TEXT + "word " * 2_000)
    text = told(made(project, max_tokens=100), project / "src/a.py")
    assert len(text) <= 400
    assert "read the file for the rest" in text


@pytest.mark.parametrize("path", [None, 3, [], "", "\0", "\ud800", "a" * 10_000, "../" * 100])
def test_hostile_arguments_change_nothing(project: Path, path: object) -> None:
    assert made(project).after("read", "out", filePath=path).event.output == "out"
