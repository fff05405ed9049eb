"""Files that people edit too: read as they are, written as a whole, never through a link."""

import errno
import os
from pathlib import Path

import pytest

from matrixx_builtin.services.records import RecordError
from matrixx_builtin.services.text_files import Document, Line, append, create, overwrite, read, revision


@pytest.mark.parametrize(
    ("content", "lines", "bom"),
    [
        (b"", [], ""),
        (b"a", [Line("a", "")], ""),
        (b"a\r\nb\n\xff", [Line("a", "\r\n"), Line("b"), Line("\udcff", "")], ""),
        (b"\xef\xbb\xbf\r\r\n", [Line("\r", "\r\n")], "\ufeff"),
        (b"a\rb\x0b\x1c\xe2\x80\xa8\n", [Line("a\rb\x0b\x1c\u2028")], ""),
    ],
)
def test_a_file_is_its_lines_and_back(content: bytes, lines: list[Line], bom: str) -> None:
    assert Document.of(content) == Document(tuple(lines), bom)
    assert Document.of(content).content == content


@pytest.mark.parametrize(
    ("content", "start", "stop", "texts", "expected"),
    [
        (b"a\r\nb\n", 1, 2, ["x", "y"], b"a\r\nx\r\ny\n"),
        (b"a\nb", 1, 2, ["x", "y"], b"a\nx\ny"),
        (b"a\nb", 2, 2, ["c"], b"a\nb\nc"),
        (b"a\nb", 0, 1, [], b"b"),
        (b"", 0, 0, ["a"], b"a\n"),
        (b"\xef\xbb\xbfa\r\n", 0, 0, ["x"], b"\xef\xbb\xbfx\r\na\r\n"),
    ],
)
def test_lines_are_put_in_with_the_files_own_ends(content: bytes, start: int, stop: int, texts: list[str], expected: bytes) -> None:
    assert Document.of(content).spliced(start, stop, texts).content == expected


def test_a_revision_is_of_all_bytes() -> None:
    assert revision(b"a\n") == revision(b"a\n") != revision(b"a\r\n")


def test_nothing_but_a_plain_file_of_the_size_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    assert read(tmp_path / "file", 5) == b"12345"
    for name, most in (("file", 4), ("link", 5), ("pipe", 5), ("", 5)):
        with pytest.raises(RecordError):
            read(tmp_path / name, most)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none")


def test_what_is_there_is_not_made_again(tmp_path: Path) -> None:
    create(tmp_path / "new" / "file", b"1")
    with pytest.raises(FileExistsError):
        create(tmp_path / "new" / "file", b"2")
    assert [path.read_bytes() for path in (tmp_path / "new").iterdir()] == [b"1"]


def test_a_disk_without_links_takes_new_files_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unable(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", unable)
    create(tmp_path / "new" / "file", b"1")
    with pytest.raises(FileExistsError):
        create(tmp_path / "new" / "file", b"2")
    assert [path.read_bytes() for path in (tmp_path / "new").iterdir()] == [b"1"]


def test_an_append_goes_to_the_end_and_not_through_a_link(tmp_path: Path) -> None:
    append(tmp_path / "notes" / "a.md", "one\n")
    append(tmp_path / "notes" / "a.md", "two\ud800\n")
    assert (tmp_path / "notes" / "a.md").read_bytes() == b"one\ntwo?\n"
    (tmp_path / "link").symlink_to(tmp_path / "notes" / "a.md")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe"):
        with pytest.raises(RecordError):
            append(tmp_path / name, "three")
    assert (tmp_path / "notes" / "a.md").read_bytes() == b"one\ntwo?\n"


def test_a_failed_write_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create(tmp_path / "folder" / "file", b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(RecordError, match="No space left"):
        overwrite(tmp_path / "folder" / "file", b"new")
    assert [(path.name, path.read_bytes()) for path in (tmp_path / "folder").iterdir()] == [("file", b"old")]
