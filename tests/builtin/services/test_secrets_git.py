"""What a command would commit or push, in real repositories."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from matrixx_builtin.services.effects import Run
from matrixx_builtin.services.secrets import Change, Recorded, recorded_by
from matrixx_builtin.services.secrets.commands import parse_git, positional
from matrixx_builtin.services.secrets.git import parse_diff

Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    who = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"]

    def run(*words: str, cwd: Path = tmp_path) -> str:
        return subprocess.run(["git", *who, *words], cwd=cwd, check=True, capture_output=True, text=True).stdout

    run("init", "-q")
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    (tmp_path / "b.txt").write_text("one\n")
    run("add", ".")
    run("commit", "-qm", "first")
    return run


def recorded(folder: Path, *commands: str) -> Recorded:
    runs = [Run(words[0], tuple(words), str(folder)) for words in (command.split() for command in commands)]
    return anyio.run(recorded_by, runs)


def added(folder: Path, *commands: str) -> dict[str, list[tuple[int, str]]]:
    changes = recorded(folder, *commands).changes
    return {change.path: list(zip(change.numbers, change.lines, strict=True)) for change in changes if change.lines}


def test_a_commit_records_what_is_staged_and_nothing_else(git: Git, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\nNEW\ntwo\nthree\n")
    (tmp_path / "b.txt").write_text("one\nunstaged\n")
    git("add", "a.txt")
    for command in ("git commit -m x", "git commit --amend", "/usr/bin/git commit", "git rebase --continue"):
        assert added(tmp_path, command) == {"a.txt": [(2, "NEW")]}


@pytest.mark.parametrize(
    "command",
    ["git commit -a", "git commit -am x", "git commit --all -m x", "git commit -qam x", "git commit -m x b.txt", "git commit -o b.txt"],
)
def test_a_commit_of_everything_records_the_working_tree(git: Git, tmp_path: Path, command: str) -> None:
    (tmp_path / "b.txt").write_text("one\nunstaged\n")
    assert added(tmp_path, command) == {"b.txt": [(2, "unstaged")]}


@pytest.mark.parametrize("command", ["git commit -m -a", "git commit -m all", "git commit -mall"])
def test_a_message_is_no_flag(git: Git, tmp_path: Path, command: str) -> None:
    (tmp_path / "b.txt").write_text("one\nunstaged\n")
    assert added(tmp_path, command) == {}


@pytest.mark.parametrize(
    "add", ["git add .", "git add -A", "git add new.txt", "git stage new.txt", "git add $FILES", "git add -f ignored.txt new.txt"]
)
def test_an_add_before_the_commit_counts(git: Git, tmp_path: Path, add: str) -> None:
    (tmp_path / ".gitignore").write_text("ignored.txt\n")
    git("add", ".gitignore")
    git("commit", "-qm", "ignore")
    (tmp_path / "new.txt").write_text("NEW")
    (tmp_path / "ignored.txt").write_text("IGNORED")
    found = added(tmp_path, add, "git commit -m x")
    assert found["new.txt"] == [(1, "NEW")]
    assert ("ignored.txt" in found) == ("-f" in add)


def test_an_add_of_tracked_files_leaves_the_others(git: Git, tmp_path: Path) -> None:
    (tmp_path / "new.txt").write_text("NEW")
    (tmp_path / "b.txt").write_text("one\nmore\n")
    assert added(tmp_path, "git add -u", "git commit -m x") == {"b.txt": [(2, "more")]}


def test_where_git_is_told_to_work_counts(git: Git, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\nNEW\ntwo\nthree\n")
    git("add", "a.txt")
    (outside := tmp_path.parent / f"{tmp_path.name}-outside").mkdir()
    for command in (
        f"git -C {tmp_path} commit",
        f"git -c a=b -C {tmp_path} commit",
        f"git --git-dir={tmp_path}/.git --work-tree={tmp_path} commit",
    ):
        assert added(outside, command) == {"a.txt": [(2, "NEW")]}


@pytest.mark.parametrize(
    "command",
    ["git commit-tree x", "echo git push", "git status", "git log", "git commit --dry-run", "git push --dry-run", "git", "git -C"],
)
def test_other_commands_record_nothing(git: Git, tmp_path: Path, command: str) -> None:
    (tmp_path / "a.txt").write_text("NEW\n")
    git("add", "a.txt")
    assert recorded(tmp_path, command) == Recorded()


def test_outside_a_repository_nothing_is_recorded(tmp_path: Path) -> None:
    assert recorded(tmp_path, "git commit -am x", "git push").changes == []


def test_an_alias_is_followed(git: Git, tmp_path: Path) -> None:
    git("config", "alias.ci", "commit -a")
    git("config", "alias.yolo", "!git add -A && git commit -m x && git push")
    (tmp_path / "b.txt").write_text("one\nunstaged\n")
    assert added(tmp_path, "git ci -m x") == {"b.txt": [(2, "unstaged")]}
    assert recorded(tmp_path, "git yolo").changes[0].lines == ["unstaged"]


@pytest.fixture
def remote(git: Git, tmp_path: Path) -> Path:
    bare = tmp_path.parent / f"{tmp_path.name}.git"
    git("init", "-q", "--bare", str(bare))
    git("remote", "add", "origin", str(bare))
    git("push", "-q", "-u", "origin", "HEAD:main")
    for name in ("earlier", "later"):
        (tmp_path / "a.txt").write_text(f"{name}\n")
        git("commit", "-qam", name)
    git("branch", "side", "HEAD~1")
    return bare


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("git push", {"earlier", "later"}),
        ("git push origin", {"earlier", "later"}),
        ("git push -u origin HEAD", {"earlier", "later"}),
        ("git push --force-with-lease origin HEAD:refs/heads/x", {"earlier", "later"}),
        ("git push origin side", {"earlier"}),
        ("git push origin +side:main", {"earlier"}),
        ("git push origin $BRANCH", {"earlier", "later"}),
        ("git push origin no-such-branch", {"earlier", "later"}),
        ("git push --all", {"earlier", "later"}),
        ("git push --mirror", {"earlier", "later"}),
        ("git push origin :", {"earlier", "later"}),
        ("git push origin :gone", set()),
        ("git push origin --delete side", set()),
        ("gh pr create --fill", {"earlier", "later"}),
    ],
)
def test_a_push_sends_the_commits_that_the_remote_has_not(git: Git, remote: Path, tmp_path: Path, command: str, lines: set[str]) -> None:
    assert {line for change in recorded(tmp_path, command).changes for line in change.lines} == lines


def test_a_file_that_calls_itself_binary_is_read_all_the_same(git: Git, tmp_path: Path) -> None:
    (tmp_path / ".gitattributes").write_text("* binary -diff\n")
    (tmp_path / "a.txt").write_text("NEW\n")
    git("add", ".")
    assert added(tmp_path, "git commit")["a.txt"] == [(1, "NEW")]


@pytest.mark.parametrize("setting", ["diff.noprefix", "diff.mnemonicPrefix", "color.ui", "diff.external", "diff.interHunkContext"])
def test_a_configuration_cannot_change_what_is_read(git: Git, tmp_path: Path, setting: str) -> None:
    git("config", setting, {"color.ui": "always", "diff.external": "true", "diff.interHunkContext": "9"}.get(setting, "true"))
    (tmp_path / "a.txt").write_text("one\nNEW\ntwo\nthree\nEND\n")
    git("add", "a.txt")
    assert [line for _, line in added(tmp_path, "git commit")["a.txt"]][:1] == ["NEW"]


def test_lines_are_told_by_their_hunk_not_by_their_look() -> None:
    diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,3 @@\n--- gone\n++++ b/y\n+@@ -1 +1 @@\n+last\n@@ -9,0 +12 @@\n+far\n+++ b/z\n@@ -0,0 +1 @@\n+z\n"
    assert list(parse_diff(diff)) == [
        Change("x", ["+++ b/y", "@@ -1 +1 @@", "last", "far"], [1, 2, 3, 12], ["-- gone"]),
        Change("z", ["z"], [1], []),
    ]


def test_the_words_of_a_command_line() -> None:
    assert positional(["-am", "text", "a", "--author", "x", "--", "-b"], frozenset({"-m", "--author"})) == ["a", "-b"]
    command = parse_git(["--no-pager", "-c", "x=y", "-C", "d", "--git-dir=e", "commit", "-a"], "/w")
    assert command is not None and (command.name, command.rest, command.where) == ("commit", ("-a",), ("-C", "d", "--git-dir=e"))
