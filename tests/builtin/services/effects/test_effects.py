"""The promises of ``effects_of``: it never raises, it costs in proportion, it answers the same call once."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matrixx_builtin.services import effects
from matrixx_builtin.services.effects import Effects, Touch, effects_of
from matrixx_builtin.services.effects.ledger import Ledger
from matrixx_builtin.services.effects.shell import Shell
from matrixx_core import ToolCall

WORDS = st.sampled_from(
    [
        *[
            "cat",
            "rm",
            "echo",
            "sh",
            "-c",
            "eval",
            ".",
            "bash",
            "<<EOF",
            "EOF",
            "<<<",
            "<",
            ">",
            ">>",
            "|",
            "||",
            "&",
            "&&",
            ";",
            "(",
            ")",
            "{",
            "}",
            "[",
            "]",
            "[[",
            "]]",
            "$(",
            "`",
            "'",
            '"',
            "\\",
            "$X",
            "${X",
            "${X:-",
            "}",
            "${X/a/b}",
            "$((1<<2))",
            "#",
            "!",
            "=",
            "*",
            "?",
            "~",
            "\n",
        ],
        *[
            ".env",
            "{a,b}",
            "{1..9}",
            "[!a]",
            "$'\\x2e'",
            "\x00",
            "�",
            "\ue000",
            "\ue001",
            "\x01",
            "if",
            "then",
            "fi",
            "for",
            "in",
            "do",
            "done",
            "case",
            "esac",
            "while",
            "function",
            "f()",
            "git",
            "find",
            "-exec",
            "{}",
            "\\;",
            "xargs",
        ],
        *[
            "python3",
            "-c",
            "open('.env')",
            "node",
            "-e",
            "perl",
            "awk",
            "sed",
            "-i",
            "s/a/b/",
            "tar",
            "czf",
            "curl",
            "-d",
            "@x",
            "git",
            "show",
            "HEAD:.env",
            "***",
            "Begin",
            "Patch",
        ],
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | WORDS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8) | st.sampled_from(["path", "command", "edits", "source", "to", "op"]), inner, max_size=4)
    ),
    max_leaves=12,
)
NAMES = st.sampled_from(["bash", "write", "edit", "apply_patch", "batch", "mcp__fs__move", "grep", "read", ""]) | st.text(max_size=12)
RELAXED = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


def told(name: str, args: dict[str, Any], directory: str = "/nowhere") -> Effects:
    return effects_of(ToolCall(session_id="s", call_id="c", tool=name, args=args, directory=directory))


@RELAXED
@given(
    NAMES,
    st.dictionaries(st.text(max_size=8) | st.sampled_from(["filePath", "command", "patchText", "path", "tool_calls"]), JSON, max_size=4),
)
def test_no_arguments_make_it_raise(name: str, args: dict[str, Any]) -> None:
    assert isinstance(told(name, args), Effects)


@RELAXED
@given(st.lists(WORDS, max_size=25).map(" ".join) | st.lists(WORDS, max_size=25).map("".join) | st.text())
def test_no_command_makes_it_fail(command: str) -> None:
    assert not any("stopped with" in reason for reason in told("bash", {"command": command}).unknown)


@RELAXED
@given(
    st.sampled_from(["python3", "node", "perl", "ruby", "php", "awk", "pwsh", "lua"]),
    st.text() | st.lists(WORDS, max_size=20).map(" ".join),
)
def test_no_code_makes_it_fail(program: str, code: str) -> None:
    found = told("shell", {"command": [program, "-e" if program not in {"python3", "pwsh"} else "-c", code]})
    assert not any("stopped with" in reason for reason in found.unknown)


class Counting(Ledger):
    """Counts the steps that an analysis takes."""

    steps = 0

    def spend(self, steps: int = 1) -> bool:
        self.steps += steps
        return Ledger.spend(self, steps)


MANY = [
    "a\n",
    "echo hi; ",
    "cat a | ",
    "$(",
    "`",
    "'",
    '"',
    "(",
    "((",
    "{a,b}",
    "{a,",
    "<<EOF\n",
    "<<<",
    "a && ",
    "[[ ",
    "${x",
    "${x:-",
    "x=$x$x; ",
    "cat .env\n",
    "*/",
    "a\\\n",
    "\\",
    "if x; then ",
    "for i in a b; do ",
    "f() { f; f; }; f; ",
    "case x in a) ",
    "> x ",
    "# x\n",
    "é",
    "eval ",
    "sh -c '",
    "python3 -c 'open(1)' ",
    "find . -exec a {} \\; ",
]


@pytest.mark.parametrize("piece", MANY)
def test_work_has_a_bound_whatever_is_repeated(piece: str) -> None:
    ledger = Counting()
    Shell(ledger, "/nowhere").program(piece * (40_000 // len(piece)))
    assert ledger.steps < 60_000


@pytest.mark.parametrize(
    "make",
    [
        lambda size: {"command": "cat > x <<'EOF'\n" + "a line of prose with .env, 'quotes and $x\n" * (size // 42) + "EOF\ncat .env"},
        lambda size: {"command": "cat > x <<EOF\n" + "a line of prose with $x and $(date)\n" * (size // 36) + "EOF\ncat .env"},
        lambda size: {"command": "echo '" + "x" * size + "'; cat .env"},
        lambda size: {"command": "echo " + "word " * (size // 5) + "; cat .env"},
        lambda size: {"command": "cat .env; " + "echo hi\n" * (size // 8)},
    ],
)
def test_a_megabyte_is_no_reason_to_miss_anything(make: Callable[[int], dict[str, Any]]) -> None:
    assert any(touch.given == ".env" for touch in told("bash", make(1_000_000)).reads)


def test_a_megabyte_of_content_is_not_looked_at() -> None:
    found = told("write", {"filePath": "a", "content": "cat .env\n" * 120_000})
    assert [touch.given for touch in found.writes] == ["a"]


def test_the_same_call_is_answered_from_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    call = ToolCall(session_id="s", call_id="c", tool="bash", args={"command": "cat x"})
    first = effects_of(call)
    assert effects_of(call) is first
    assert effects_of(call.model_copy(update={"message": "note"})) is first
    assert effects_of(call.with_args(command="cat y")) is not first


def test_the_same_words_in_a_later_call_are_looked_at_again(tmp_path: Path) -> None:
    before = told("write", {"filePath": "a"}, str(tmp_path))
    (tmp_path / "a").touch()
    after = told("write", {"filePath": "a"}, str(tmp_path))
    assert (before.writes[0].mode, after.writes[0].mode) == ("create", "overwrite")


def test_memory_is_small() -> None:
    for number in range(50):
        told("bash", {"command": f"cat {number}"})
    assert len(effects._recent) <= 8


def test_an_unknown_directory_is_the_one_of_the_process(names: Callable[[Iterable[Touch]], set[str]]) -> None:
    call = ToolCall(session_id="s", call_id="c", tool="read", args={"filePath": "a"})
    assert effects_of(call).reads[0].path == str(Path.cwd() / "a")


def test_modes_tell_how(bash: Callable[[str], Effects], tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    found = bash("echo > new; echo > old; echo >> log; sed -i s/a/b/ old; rm gone; cat a; chmod 600 b")
    modes = {(touch.given, touch.mode) for touch in (*found.writes, *found.deletes, *found.reads, *found.metadata)}
    assert modes == {
        ("new", "create"),
        ("old", "overwrite"),
        ("log", "append"),
        ("old", "edit"),
        ("gone", "delete"),
        ("a", "read"),
        ("b", "metadata"),
    }
