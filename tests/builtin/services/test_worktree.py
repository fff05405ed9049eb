import subprocess
from pathlib import Path

import anyio
import pytest

from matrixx_builtin.services import worktree
from matrixx_builtin.services.worktree import Changed, changes_since, look


def git(project: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *words], cwd=project, check=True, timeout=10, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    for name in ("a.txt", "b.txt", "c.txt", "dirty.txt"):
        (tmp_path / name).write_text("one\ntwo\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "begin")
    (tmp_path / "dirty.txt").write_text("one\ntwo\nthree\n")
    (tmp_path / "stray.txt").write_text("one\n")
    return tmp_path


async def told(project: Path, *steps: tuple[str, str | None], commit: bool = False) -> list[str] | None:
    """What is told of these changes; ``None`` as a text deletes the file."""
    before = await look(str(project))
    assert before is not None
    for name, text in steps:
        if text is None:
            (project / name).unlink()
        else:
            (project / name).write_text(text)
    if commit:
        git(project, "add", "-A")
        git(project, "commit", "-q", "-m", "work")
    found = await changes_since(before)
    return None if found is None else list(map(str, found))


@pytest.mark.parametrize("commit", [False, True])
def test_only_what_was_changed_in_between_is_told(project: Path, commit: bool) -> None:
    async def tell() -> list[str] | None:
        return await told(project, ("a.txt", "one\n2\nthree\n"), ("new.txt", "x\ny"), ("b.txt", None), commit=commit)

    found = anyio.run(tell)
    assert found is not None
    assert [one.split("'")[1] for one in found] == ["a.txt", "b.txt", "new.txt"]
    assert found[0] == "modified 'a.txt' +2/-1"
    assert found[1] == "deleted 'b.txt' -2"
    assert found[2].endswith("+2" if not commit else "+2/-0")


def test_nothing_is_told_of_a_tree_that_was_dirty_before(project: Path) -> None:
    assert anyio.run(told, project) == []


def test_a_dirty_file_that_is_changed_further_or_back_is_told(project: Path) -> None:
    assert anyio.run(told, project, ("dirty.txt", "one\ntwo\nthree\nfour\n")) == ["modified 'dirty.txt' +2/-0"]
    assert anyio.run(told, project, ("dirty.txt", "one\ntwo\n")) == ["modified 'dirty.txt' +0/-0"]
    assert anyio.run(told, project, ("stray.txt", None)) == ["deleted 'stray.txt' -1"]


def test_odd_names_and_contents_are_told_whole(project: Path) -> None:
    (project / "a\tb\nc.txt").write_bytes(b"\0\xff")
    git(project, "add", "-A")

    async def tell() -> list[str] | None:
        return await told(project, ("a\tb\nc.txt", "text\n"), ("é.txt", "x"))

    found = anyio.run(tell)
    assert found is not None and "modified 'a\\tb\\nc.txt' +1/-0" in found and "created '\\xe9.txt' +1" in found


@pytest.mark.parametrize("directory", ["", "/nowhere", "\0"])
def test_where_git_cannot_tell_nothing_is_said(directory: str) -> None:
    assert anyio.run(look, directory) is None


def test_a_repository_without_a_commit_and_a_folder_that_is_none(tmp_path: Path) -> None:
    assert anyio.run(look, str(tmp_path)) is None
    git(tmp_path, "init", "-q")
    assert anyio.run(look, str(tmp_path)) is None


def test_a_tree_with_very_many_strays_is_not_told_apart(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worktree, "MOST_FILES", 0)
    assert anyio.run(look, str(project)) is None


def test_a_changed_file_is_readable_in_one_line() -> None:
    assert str(Changed("a b\n", "created", 3, 0)) == "created 'a b\\n' +3"
