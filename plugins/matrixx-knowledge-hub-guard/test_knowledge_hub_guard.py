import os
from pathlib import Path
from typing import Any

import anyio
import matrixx_knowledge_hub_guard as hook
import pytest

from matrixx_core import Command
from matrixx_core.events import added_part
from matrixx_core.testing import SESSION, Rig, message

PROJECT, NOTES = "project", "notes"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project, and beside it a hub with a page, an excluded file and a link to it."""
    for name in (f"{PROJECT}/src", f"{NOTES}/deep/er", f"{NOTES}/.obsidian"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("_index.md", "page.md", "deep/page.md", "letters.docx", ".obsidian/app.json"):
        (tmp_path / NOTES / name).write_text("known\n")
    (tmp_path / "link").symlink_to(NOTES)
    (tmp_path / PROJECT / "page.md").symlink_to(tmp_path / NOTES / "page.md")
    return tmp_path


def made(folder: Path, *hubs: dict[str, Any]) -> Rig:
    settings = {"hubs": list(hubs) or [{"name": "Notes", "path": "../notes"}]}
    return Rig(hook, settings={"knowledge-hub-guard": settings}, directory=str(folder / PROJECT))


def refusal(rig: Rig, tool: str, **args: Any) -> str:
    return rig.before(tool, **args).refusal


def shell(rig: Rig, command: str) -> str:
    return refusal(rig, "bash", command=command)


@pytest.mark.parametrize("hubs", [(), ({"name": "gone", "path": "../nowhere"},), ({"name": "x", "path": "$NOT_SET_ANYWHERE/x"},)])
def test_without_a_hub_nothing_is_guarded(folder: Path, hubs: Any) -> None:
    rig = Rig(hook, settings={"knowledge-hub-guard": {"hubs": list(hubs)}}, directory=str(folder / PROJECT))
    assert shell(rig, "rm -rf ../notes") == ""


def test_it_is_off_without_settings() -> None:
    assert hook.off_because(hook.Config()) and not hook.off_because(hook.Config.model_validate({"hubs": [{"name": "n", "path": "/n"}]}))


@pytest.mark.parametrize(
    "command",
    [
        "echo x > ../notes/page.md",
        "echo x >> ../notes/new.md",
        "cat page.md | tee ../notes/page.md",
        "sed -i s/a/b/ ../notes/page.md",
        "rm ../notes/page.md",
        "rm -rf ../notes",
        "rm -rf ../*",
        "mv ../notes ../gone",
        "mv ../notes/page.md .",
        "cp src ../notes/deep",
        "cp page.md ../notes/deep/",
        "touch ../notes/new.md",
        "dd if=/dev/zero of=../notes/page.md",
        "ln -sf x ../notes/page.md",
        "truncate -s0 ../notes/page.md",
        "echo x > ../link/page.md",
        "echo x > page.md",
        "cd ../notes && echo x > page.md",
        "sh -c 'echo x > ../notes/page.md'",
        "git -C ../notes checkout -- page.md",
        "install page.md ../notes/other.md",
        "unlink ../notes/page.md",
        "shred -u ../notes/page.md",
    ],
)
def test_no_shell_route_changes_a_hub(folder: Path, command: str) -> None:
    said = shell(made(folder), command)
    assert "belongs to the knowledge hub 'Notes'" in said
    assert "/knowledge allow Notes" in said


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("write", {"filePath": "../notes/page.md", "content": "x"}),
        ("edit", {"filePath": "../notes/page.md", "oldString": "a", "newString": "b"}),
        ("multiedit", {"filePath": "../notes/deep/page.md", "edits": []}),
        ("write", {"filePath": "../notes/deep/../page.md", "content": "x"}),
        ("write", {"filePath": "../link/page.md", "content": "x"}),
        ("write", {"filePath": "page.md", "content": "x"}),
        ("write", {"filePath": ["../notes/page.md"]}),
        ("apply_patch", {"patchText": "*** Begin Patch\n*** Delete File: ../notes/page.md\n*** End Patch"}),
    ],
)
def test_no_tool_changes_a_hub(folder: Path, tool: str, args: dict[str, Any]) -> None:
    assert "knowledge-hub-guard" in refusal(made(folder), tool, **args)


@pytest.mark.parametrize(
    "command",
    [
        "cat ../notes/page.md",
        "cat ../notes/page.md > copy.md",
        "grep -r known ../notes",
        "cp ../notes/page.md copy.md",
        "ls ../notes",
        "echo x > src/new.md",
        "rm -rf src",
        "rm ../notes/letters.docx",
        "echo {} > ../notes/.obsidian/app.json",
        "echo x > ../notes/secrets.env",
        "echo x > ../notes-of-mine.md",
    ],
)
def test_reading_and_what_is_no_knowledge_stay_free(folder: Path, command: str) -> None:
    assert shell(made(folder), command) == ""


def test_a_page_that_is_shut_out_by_settings_is_free(folder: Path) -> None:
    rig = made(folder, {"name": "Notes", "path": "../notes", "exclude": ["deep"]})
    assert shell(rig, "echo x > ../notes/deep/page.md") == ""
    assert shell(rig, "echo x > ../notes/page.md")


def test_a_hub_of_another_letter_case_and_one_that_is_a_link_are_the_same_place(folder: Path) -> None:
    rig = made(folder, {"name": "Notes", "path": "../link"})
    assert shell(rig, "echo x > ../notes/page.md") and shell(rig, "echo x > ../link/page.md")
    assert shell(made(folder), "echo x > ../NOTES/page.md")


def test_a_program_whose_doing_cannot_be_told_is_let_go_with_a_note(folder: Path) -> None:
    hub = os.fspath(folder / NOTES)
    outcome = made(folder).before("bash", command=f"python3 -c 'import sys; exec(sys.stdin.read())' {hub}/page.md")
    assert outcome.block is None
    assert [note.text for note in outcome.notes] == [
        "The knowledge hub 'Notes' is to be read only; what this call does to it cannot be told."
    ]


@pytest.mark.parametrize(
    ("typed", "command", "free"),
    [
        ("/knowledge allow Notes", "echo x > ../notes/page.md", True),
        ("/knowledge allow notes", "rm -rf ../notes", True),
        ("/knowledge allow hub:notes/deep", "echo x > ../notes/deep/page.md", True),
        ("/knowledge allow @notes/deep", "echo x > ../notes/page.md", False),
        ("/knowledge allow notes/page.md", "echo x > ../notes/page.md", True),
        ("/knowledge allow notes/page.md", "rm -rf ../notes", False),
        ("/knowledge allow notes/../notes", "echo x > ../notes/page.md", False),
        ("/knowledge allow other", "echo x > ../notes/page.md", False),
        ("/knowledge allow", "echo x > ../notes/page.md", False),
        ("/knowledge", "echo x > ../notes/page.md", False),
        ("/knowledge deny notes", "echo x > ../notes/page.md", False),
        ("please /knowledge allow notes", "echo x > ../notes/page.md", False),
        ("```\n/knowledge allow notes\n```", "echo x > ../notes/page.md", False),
    ],
)
def test_only_what_the_person_opens_is_open(folder: Path, typed: str, command: str, free: bool) -> None:
    rig = made(folder)
    rig.chat(typed)
    assert (shell(rig, command) == "") == free


def test_the_hosts_own_command_opens_too_and_says_so(folder: Path) -> None:
    rig = made(folder)
    outcome = anyio.run(rig.host.command_execute_before, Command(session_id=SESSION, name="knowledge", arguments="allow notes"))
    assert "The user lets you change 'Notes'" in str(outcome.event.parts)
    assert shell(rig, "touch ../notes/new.md") == ""


def test_after_ten_minutes_it_is_shut_again(folder: Path) -> None:
    rig = made(folder)
    rig.chat("/knowledge allow notes")
    rig.host.sessions[SESSION].state(hook.Allowed).until["Notes", ""] -= hook.ALLOWED
    assert shell(rig, "touch ../notes/new.md")


def test_neither_another_hooks_text_nor_a_parents_agent_opens_anything(folder: Path) -> None:
    rig = made(folder)
    ours = message("").model_copy(update={"parts": (added_part("/knowledge allow notes"),)})
    anyio.run(rig.host.chat_message, ours)
    rig.host.sessions[SESSION].parent = "ses_parent"
    rig.chat("/knowledge allow notes")
    assert shell(rig, "touch ../notes/new.md")


@pytest.mark.parametrize("args", [{}, {"filePath": 5}, {"filePath": "\0"}, {"filePath": "x" * 100_000}])
def test_odd_calls_pass(folder: Path, args: dict[str, Any]) -> None:
    assert refusal(made(folder), "write", **args) == ""
