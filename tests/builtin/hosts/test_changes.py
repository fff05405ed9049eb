from pathlib import Path

import pytest

from matrixx_builtin.hosts.changes import Change
from matrixx_core.errors import MatrixxError


@pytest.mark.parametrize(("before", "after"), [(None, "a\n"), ("a\n", "b"), ("a", "a\nb\n"), ("x\n", ""), ("", "x")])
def test_a_change_is_made_and_undone(tmp_path: Path, before: str | None, after: str) -> None:
    path = tmp_path / "project" / "deep" / "er" / "file"
    (tmp_path / "project").mkdir()
    if before is not None:
        path.parent.mkdir(parents=True)
        path.write_text(before)
    Change(path, before, after).make()
    assert path.read_text() == after and path.stat().st_mode & 0o777 == 0o644
    Change(path, after, None, folders=2).make()
    assert list((tmp_path / "project").iterdir()) == []


def test_only_empty_folders_go_and_only_as_many_as_were_made(tmp_path: Path) -> None:
    path = tmp_path / "kept" / "made" / "file"
    path.parent.mkdir(parents=True)
    path.write_text("")
    Change(path, "", None, folders=1).make()
    assert (tmp_path / "kept").is_dir() and not (tmp_path / "kept" / "made").exists()


def test_the_diff_tells_a_missing_last_newline() -> None:
    assert Change(Path("/f"), "a", "b\n").diff == "--- /f\n+++ /f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"


def test_a_new_and_a_removed_file_are_named_as_patch_wants_it() -> None:
    assert Change(Path("/f"), None, "a\n").diff.startswith("--- /dev/null\n+++ /f\n")
    assert Change(Path("/f"), "a\n", None).diff.startswith("--- /f\n+++ /dev/null\n")


@pytest.mark.parametrize("before", [None, "a\n", "a\r\nb", "\ufeffa"])
@pytest.mark.parametrize("after", ["c", None])
def test_what_somebody_has_written_in_the_meantime_is_not_lost(tmp_path: Path, before: str | None, after: str | None) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"theirs")
    with pytest.raises(MatrixxError, match="has changed"):
        Change(path, before, after).make()
    assert path.read_bytes() == b"theirs"
    if before is not None:
        path.write_bytes(before.encode())
        Change(path, before, after).make()
        assert (path.read_text() if path.exists() else None) == after


def test_a_file_is_written_with_its_rights(tmp_path: Path) -> None:
    Change(tmp_path / "file", None, "x", mode=0o600).make()
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600
