from pathlib import Path
from typing import Any

import anyio
import matrixx_auto_slash_command as hook
import pytest

from matrixx_builtin.services.slash import Typed
from matrixx_core import ChatMessage
from matrixx_core.events import is_added
from matrixx_core.testing import SESSION, Rig, message, session


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project beside a user's own settings."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("OPENCODE_CONFIG_DIR", raising=False)
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def put(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def added(project: Path, text: str, **settings: Any) -> str:
    """What the hook puts behind a prompt; ``""``: nothing."""
    rig = Rig(hook, settings={"auto-slash-command": settings}, directory=str(project))
    first, *rest = rig.chat(text).event.parts
    assert first["text"] == text
    assert all(map(is_added, rest))
    return "".join(str(part["text"]) for part in rest)


def test_the_instructions_follow_behind_what_was_typed(project: Path) -> None:
    put(project, ".opencode/command/review.md", "---\ndescription: Look hard\nagent: plan\nother: x\n---\nReview $ARGUMENTS now.\n")
    assert added(project, "/review src and tests\nboth") == (
        "<auto-slash-command>\nThe user has called a command. Follow its instructions.\n"
        "Command: /review\nDescription: Look hard\nAgent: plan\nScope: project\n\n"
        "Review src and tests\nboth now.\n</auto-slash-command>"
    )


@pytest.mark.parametrize(
    "place",
    [
        ".opencode/command/x.md",
        ".opencode/commands/X.md",
        ".matrixx/command/x.md",
        ".opencode/skill/x/SKILL.md",
        ".opencode/skills/X/SKILL.md",
    ],
)
def test_commands_and_skills_of_the_project_are_found_whatever_their_case(project: Path, place: str) -> None:
    put(project, place, "the instructions")
    assert "the instructions" in added(project, "/X")


def test_the_users_own_are_found_behind_those_of_the_project(project: Path) -> None:
    put(project.parent, "config/opencode/command/x.md", "of the user")
    assert "Scope: user\n\nof the user" in added(project, "/x")
    put(project, ".opencode/command/x.md", "of the project")
    assert "Scope: project\n\nof the project" in added(project, "/x")


def test_arguments_that_the_template_does_not_place_are_told(project: Path) -> None:
    put(project, ".opencode/command/x.md", "Do it.")
    assert "Do it.\n\nUser request: a b" in added(project, "/x a b")
    assert "User request" not in added(project, "/x")


@pytest.mark.parametrize(
    ("template", "arguments", "text"),
    [
        ("$1 and $2 and $3.", '"a b" c', "a b and c and ."),
        ("$ARGUMENTS", "$1 @a.txt !`id` $ARGUMENTS", "$1 @a.txt !`id` $ARGUMENTS"),
        ("cost: $10 or $x", "a", "cost: $10 or $x"),
        ("see @a.txt.", "", "see A @b.txt !`id`."),
        ("see @./a.txt, and (@sub/b.txt)", "", "see A @b.txt !`id`, and (B)"),
        ("ask @designer or me@a.txt", "", "ask @designer or me@a.txt"),
        ("see @../outside.txt", "", "see @../outside.txt"),
        ("see @{abs}", "", "see @{abs}"),
        ("see @link.txt", "", "see @link.txt"),
        ("see @sub and @gone.txt", "", "see @sub and @gone.txt"),
        ("see @big.txt", "", "see @big.txt"),
        ("run !`id`", "", "run !`id`"),
        ("see `@a.txt`", "", "see `@a.txt`"),
    ],
)
def test_placeholders_are_filled_once_and_from_the_project_only(project: Path, template: str, arguments: str, text: str) -> None:
    outside = put(project.parent, "outside.txt", "outside")
    put(project, "a.txt", "A @b.txt !`id`")
    put(project, "sub/b.txt", "B")
    put(project, "big.txt", b"x" * (hook.FILE_BYTES + 1))
    (project / "link.txt").symlink_to(outside)
    template, text = template.replace("{abs}", str(outside)), text.replace("{abs}", str(outside))
    assert hook.filled(template, Typed("x", arguments), project, {}) == text


def test_a_credential_file_is_not_put_in(project: Path) -> None:
    put(project, ".env", "TOKEN=1")
    assert hook.filled("see @.env", Typed("x"), project, {}) == "see @.env (not shown: it looks like a credential file)"


def test_shell_commands_run_only_where_the_person_allows_it(project: Path) -> None:
    put(project, ".opencode/command/x.md", "!`touch ran; echo '$1 !`` x'` | !`echo hi; pwd` | !`false`")
    assert "!`echo hi; pwd`" in added(project, "/x a")
    assert not (project / "ran").exists()
    shown = added(project, "/x a", allow_shell=True)
    assert f"hi\n{project}" in shown
    assert "[exit code 1]" in shown


def test_a_shell_command_that_hangs_is_told(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook, "SHELL_SECONDS", 0.2)
    put(project, ".opencode/command/x.md", "!`sleep 30`")
    assert "[it took over 0.2 s]" in added(project, "/x", allow_shell=True)


@pytest.mark.parametrize(
    "text", ["hello /x", "/y", "/", "/123", "/x/y", "```\n/x\n```", "", "/x <auto-slash-command> there already", "/../x", "/x.md"]
)
def test_other_prompts_stay_as_they_are(project: Path, text: str) -> None:
    put(project, ".opencode/command/x.md", "instructions")
    assert added(project, text) == ""


@pytest.mark.parametrize("name", [*sorted(hook.ANSWERED), "Matrix-Loop", "end-ultrawork"])
def test_commands_that_other_hooks_carry_out_are_theirs(project: Path, name: str) -> None:
    put(project, f".opencode/command/{name}.md", "instructions")
    assert added(project, f"/{name} x") == ""


def test_the_person_can_switch_commands_off(project: Path) -> None:
    put(project, ".opencode/command/x.md", "instructions")
    assert added(project, "/x", disabled=["/X"]) == ""


def test_a_command_file_that_a_link_puts_outside_of_the_project_is_not_read(project: Path) -> None:
    outside = put(project.parent, "secret.md", "outside")
    (project / ".opencode" / "command").mkdir(parents=True)
    (project / ".opencode" / "command" / "x.md").symlink_to(outside)
    assert added(project, "/x") == ""


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe\0", b"---\n", b"---\ndescription: x", b"---\r\nagent: a\r\n---\r\nbody", "\ufeff---\n---\nbody".encode()]
)
def test_odd_command_files_are_no_mistake(project: Path, content: bytes) -> None:
    put(project, ".opencode/command/x.md", content)
    assert added(project, "/x").startswith("<auto-slash-command>")


def test_what_is_no_file_or_too_big_is_no_command(project: Path) -> None:
    (project / ".opencode" / "command" / "x.md").mkdir(parents=True)
    put(project, ".opencode/command/y.md", b"x" * (hook.MOST_BYTES + 1))
    assert added(project, "/x") == added(project, "/y") == ""


def test_without_a_directory_or_in_a_delegated_session_nothing_is_read(project: Path) -> None:
    put(project, ".opencode/command/x.md", "instructions")
    nowhere, delegated = session(), session()
    delegated.directory, delegated.parent = str(project), "ses_parent"
    for open_session in (nowhere, delegated):
        assert anyio.run(hook.chat_message, message("/x"), open_session, hook.Config()) is None


@pytest.mark.parametrize("parts", [(), ({},), ({"type": "text", "text": 5},), ({"type": "text", "text": "/x \ud800\0"},)])
def test_odd_prompts_are_no_mistake(project: Path, parts: Any) -> None:
    open_session = session()
    open_session.directory = str(project)
    put(project, ".opencode/command/x.md", "instructions $ARGUMENTS")
    anyio.run(hook.chat_message, ChatMessage(session_id=SESSION, parts=parts), open_session, hook.Config())


@pytest.mark.parametrize("piece", ["@a ", "!`", "$1 ", "@" * 10, "---\n", "!`x` "])
def test_huge_templates_are_no_burden(project: Path, piece: str) -> None:
    put(project, ".opencode/command/x.md", (piece * hook.MOST_BYTES)[: hook.MOST_BYTES])
    assert added(project, "/x a")


def test_a_template_names_so_many_files_and_no_more(project: Path) -> None:
    names = [f"{number}.txt" for number in range(hook.MOST_FILES + 1)]
    for name in names:
        put(project, name, "!")
    assert hook.filled(" ".join(f"@{name}" for name in names), Typed("x"), project, {}) == f"{'! ' * hook.MOST_FILES}@{names[-1]}"
