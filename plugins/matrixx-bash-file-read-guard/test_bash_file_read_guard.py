from pathlib import Path

import matrixx_bash_file_read_guard as hook
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matrixx_core.testing import Rig, call, session

CONFIG = hook.Config()


@pytest.mark.parametrize(
    "command",
    [
        "cat foo",
        'cat "foo"',
        "cat 'a file with blanks'",
        "  cat foo\n",
        "cat *.md",
        "cat $F",
        "cat <foo",
        "cat<foo",
        "cat -n foo",
        "cat a b",
        "cat ../foo ~/bar",
        "/bin/cat foo",
        "head foo",
        "head -n 5 foo",
        "head -5 foo",
        "head -n5 foo",
        "tail -n 20 foo",
        "less foo",
        "more foo",
        "bat foo",
        "nl foo",
        "sed -n 1,5p foo",
        "sed -n '10,20p' src/a.py",
        "cat foo | head -50",
        "cat foo | sed -n '5,9p'",
        "head -100 foo | tail -20",
        "cat foo 2>/dev/null",
    ],
)
def test_printing_a_file_is_answered_with_a_hint(command: str) -> None:
    assert hook.tool_execute_before(call("bash", command=command), session(), CONFIG) is not None


@pytest.mark.parametrize(
    "command",
    [
        "cat foo>bar",
        "cat foo > bar",
        "cat foo >> bar",
        "cat foo | tee bar",
        "cat > foo <<'EOF'\ntext\nEOF",
        "cat <<'EOF'\ntext\nEOF",
        "cat",
        "cat foo | grep x",
        "cat foo | wc -l",
        "cat foo | python",
        "cd x && cat foo",
        "test -f foo && cat foo",
        "sudo cat foo",
        "bash -c 'cat foo'",
        "echo $(cat foo)",
        "X=$(cat foo)",
        "for f in a b; do cat $f; done",
        "tail -f foo",
        "tail -F foo",
        "tail --follow foo",
        "sed s/a/b/ foo",
        "sed -i s/a/b/ foo",
        "sed -n 's/a/b/w out' foo",
        "cat /proc/cpuinfo",
        "cat /dev/stdin",
        "cat /sys/class/net/lo/mtu",
        "CAT foo",
        "echo cat foo",
        "git show HEAD:foo",
        "ls foo",
        "",
    ],
)
def test_other_commands_pass_without_a_word(command: str) -> None:
    assert hook.tool_execute_before(call("bash", command=command), session(), CONFIG) is None


def test_the_hint_names_the_program_and_says_what_the_read_tool_does_better() -> None:
    answer = hook.tool_execute_before(call("bash", command="/usr/bin/head -5 foo"), session(), CONFIG)
    assert answer is not None
    assert "prefer the read tool over `head`" in answer.text
    assert "`offset` and `limit`" in answer.text


def test_a_session_is_reminded_a_few_times_only() -> None:
    rig = Rig(hook)
    assert [len(rig.before("bash", command=f"cat {name}").notes) for name in "abcde"] == [1, 1, 1, 0, 0]
    rig = Rig(hook, settings={"bash-file-read-guard": {"most": 1}})
    assert [len(rig.before("bash", command=f"cat {name}").notes) for name in "ab"] == [1, 0]


def test_the_call_is_never_changed_or_stopped() -> None:
    outcome = Rig(hook).before("bash", command="cat foo", timeout=5)
    assert outcome.block is None
    assert outcome.event.args == {"command": "cat foo", "timeout": 5}


def test_a_warning_of_another_hook_is_not_lost() -> None:
    warning = pytest.importorskip("matrixx_non_interactive_env")
    notes = Rig(hook, warning).before("bash", command="less foo").notes
    assert [note.plugin for note in notes] == ["non-interactive-env", "bash-file-read-guard"]


@pytest.mark.parametrize(
    ("command", "hinted"),
    [
        ("cat a.txt", 1),
        ("cat ./x/../a.txt", 1),
        ("cat link.txt", 1),
        ("cat ../other.txt", 0),
        ("cat /etc/hostname", 0),
        ("cat a.txt ../other.txt", 0),
    ],
)
def test_files_outside_the_project_are_not_the_read_tools(command: str, hinted: int, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "alias").symlink_to(project)
    (tmp_path / "other.txt").touch()
    (project / "link.txt").symlink_to(tmp_path / "other.txt")
    for directory in (project, tmp_path / "alias"):
        assert len(Rig(hook, directory=str(directory)).before("bash", command=command).notes) == hinted


@pytest.mark.parametrize("tool", ["read", "write", "Bash2"])
def test_other_tools_are_not_asked_about(tool: str) -> None:
    assert not Rig(hook).before(tool, command="cat foo").ran


@pytest.mark.parametrize("command", [None, 5, ["cat", "foo"], {"cat": 1}, "\0", "\ud800", "cat " + "a " * 50_000])
def test_odd_commands_are_no_mistake(command: object) -> None:
    assert not [one for one in Rig(hook).before("bash", command=command).ran if one.answer == "error"]


@settings(deadline=None)
@given(st.text(st.sampled_from("cathedls -nfo;|&<>()$'\"\n{} ") | st.characters(max_codepoint=0xFF), max_size=120))
def test_no_command_is_too_odd(command: str) -> None:
    hook.tool_execute_before(call("bash", command=f"cat {command}"), session(), CONFIG)
