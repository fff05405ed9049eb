"""Hubs are found where they really are, and a reference never leads out of its hub."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from matrixx_builtin.services.knowledge import Hubs, HubSettings, KnowledgeSettings, hubs_of, is_excluded, parsed, text_of, within


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "notes/deep").mkdir(parents=True)
    (tmp_path / "notes/_index.md").write_text("\ufeffindex", "utf-8")
    (tmp_path / "link").symlink_to("notes")
    return tmp_path


def found(folder: Path, *hubs: dict[str, Any]) -> Hubs:
    return hubs_of(KnowledgeSettings.model_validate({"hubs": hubs}), str(folder))


@pytest.mark.parametrize("path", ["notes", "./notes/", "deep/../notes", "link", "$KNOWLEDGE/notes", "${KNOWLEDGE}/notes", "~/notes"])
def test_a_hub_is_found_however_it_is_written(folder: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setenv("KNOWLEDGE", str(folder))
    monkeypatch.setenv("HOME", str(folder))
    [hub] = found(folder, {"name": "n", "path": path}).found
    assert (hub.root, within(hub, f"{folder}/notes/deep/x.md"), within(hub, f"{folder}/notes")) == (str(folder / "notes"), "deep/x.md", "")
    assert within(hub, f"{folder}/notes-of-mine/x.md") is None


@pytest.mark.parametrize(
    ("path", "why"),
    [("nowhere", "no folder"), ("notes/_index.md", "no folder"), ("$NOT_SET_ANYWHERE/x", "NOT_SET_ANYWHERE"), ("a\0b", "cannot be")],
)
def test_a_hub_that_is_not_there_says_why(folder: Path, path: str, why: str) -> None:
    hubs = found(folder, {"name": "n", "path": path})
    assert hubs.found == () and why in hubs.missing[0][1]


def test_two_of_one_name_are_told_apart(folder: Path) -> None:
    hubs = found(folder, {"name": "n", "path": "notes"}, {"name": "N", "path": "notes/deep"})
    assert [hub.name for hub in hubs.found] == ["n", "N-2"]


@pytest.mark.parametrize("name", ["", "a b", "../x", "x/y", "x" * 100])
def test_a_name_is_one_word(name: str) -> None:
    with pytest.raises(ValidationError):
        HubSettings(name=name, path="x")


@pytest.mark.parametrize(
    ("reference", "place"),
    [
        ("hub:n/deep/x.md", "deep/x.md"),
        ("@N/deep//./x.md", "deep/x.md"),
        ("@n", ""),
        ("@n/", ""),
        ("@n/../x", None),
        ("@n//etc/passwd", None),
        ("@n/a\\..\\..\\x", None),
        ("@other/x", None),
        ("n/x", None),
        ("", None),
        ("@n/\0", None),
        ("@n/" + "x" * 100_000, None),
    ],
)
def test_a_reference_names_a_place_within_its_hub_or_none(folder: Path, reference: str, place: str | None) -> None:
    hit = parsed(reference, found(folder, {"name": "n", "path": "notes"}).found)
    assert (hit[1] if hit else None) == place


@pytest.mark.parametrize(
    ("rest", "shut_out"),
    [
        ("page.md", False),
        (".env", True),
        (".git/config", True),
        ("deep/.obsidian/x", True),
        ("a.docx", True),
        ("node_modules/x.js", True),
        ("", False),
        ("deep/*.md", False),
        (".git/*", True),
    ],
)
def test_what_is_no_knowledge_is_told_apart(folder: Path, rest: str, shut_out: bool) -> None:
    [hub] = found(folder, {"name": "n", "path": "notes"}).found
    assert is_excluded(hub, rest) == shut_out


@pytest.mark.parametrize("rest", ["gone.md", "../x.md", "deep", "\0", "out.md", "bytes.md"])
def test_a_page_is_text_within_its_hub_or_nothing(folder: Path, rest: str) -> None:
    (folder / "x.md").write_text("outside")
    (folder / "notes/out.md").symlink_to(folder / "x.md")
    (folder / "notes/bytes.md").write_bytes(b"\0")
    [hub] = found(folder, {"name": "n", "path": "notes"}).found
    assert (text_of(hub, rest), text_of(hub, "_index.md"), text_of(hub, "_index.md", most=3)) == (None, "index", None)
