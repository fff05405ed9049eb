"""One absolute path of whatever a call says."""

from pathlib import Path

import pytest

from matrixx_builtin.services.effects.paths import (
    LOOKED_AT,
    absolute,
    entries,
    exists,
    globbed,
    is_directory,
    is_nowhere,
    is_wild,
    named,
    normalised,
    resolved,
)


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("a", "/base/a"),
        ("./a", "/base/./a"),
        ("/a", "/a"),
        ("a\\b", "/base/a/b"),
        ("file:///x/a%20b", "/x/a b"),
        ("file:///C:/x", "C:/x"),
        ("C:\\x\\.env", "C:/x/.env"),
        ("/proc/self/cwd/.env", "/base/./.env"),
        ("/proc/self/root/etc/x", "//etc/x"),
    ],
)
def test_a_path_starts_at_the_root(given: str, path: str) -> None:
    assert absolute(given, "/base") == path


def test_the_home_directory_has_a_short_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert absolute("~/x", "/base") == "/home/me/x"
    assert absolute("~", "/base") == "/home/me"
    assert absolute("x~", "/base") == "/base/x~"


def test_dots_and_doubled_slashes_go() -> None:
    assert normalised("/a/./b//c/../d/") == "/a/b/d"
    assert normalised("//a/b") == "/a/b"


def test_links_on_the_existing_part_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "dangling").symlink_to("nowhere")
    assert resolved(f"{tmp_path}/link/missing/x") == f"{tmp_path.resolve()}/real/missing/x"
    assert resolved(f"{tmp_path}/dangling") == f"{tmp_path.resolve()}/nowhere"
    assert resolved(f"{tmp_path}/link", follow=False) == f"{tmp_path.resolve()}/link"


def test_a_parent_of_a_link_is_the_parent_of_its_target(tmp_path: Path) -> None:
    (tmp_path / "deep" / "real").mkdir(parents=True)
    (tmp_path / "link").symlink_to("deep/real")
    assert resolved(f"{tmp_path}/link/../.env") == f"{tmp_path.resolve()}/deep/.env"


@pytest.mark.parametrize("path", ["/dev/null", "/dev/stdout", "/dev/fd/3", "/dev/tty", "NUL", "-", "", "&1"])
def test_some_places_are_no_files(path: str) -> None:
    assert is_nowhere(path)


@pytest.mark.parametrize("path", ["/dev/sda", "/dev/shm/x", ".env", "nul.txt", "/dev/nullx", "console"])
def test_other_places_are(path: str) -> None:
    assert not is_nowhere(path)


@pytest.mark.parametrize("path", ["a\0b", "\ud800", "x" * 5000, "/" + "a/" * 5000])
def test_no_path_is_too_odd(path: str) -> None:
    assert not exists(path)
    assert not is_directory(path)
    assert resolved(absolute(path, "/base"))
    assert entries(path) == []
    assert globbed(path + "*", "/base") == []


def test_patterns_become_the_names_that_they_fit(tmp_path: Path) -> None:
    for name in (".env", ".env.local", "a.pem", "b.txt", "sub/c.pem"):
        (tmp_path / "here" / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / "here" / name).touch()
    base = str(tmp_path / "here")
    assert globbed("*", base) == ["a.pem", "b.txt", "sub"]
    assert globbed(".e*", base) == [".env", ".env.local"]
    assert globbed("./*.pem", base) == ["./a.pem"]
    assert globbed("*/*.pem", base) == ["sub/c.pem"]
    assert globbed(f"{base}/*.pem", "/") == [f"{base}/a.pem"]
    assert globbed("[!a].txt", base) == globbed("[^a].txt", base) == ["b.txt"]
    assert globbed("none*", base) == globbed("b.txt", base) == []


def test_a_pattern_of_any_depth_finds_every_name_hidden_folders_too(tmp_path: Path) -> None:
    for name in ("x.md", ".a/x.md", "b/c/d/x.md", "b/x.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).touch()
    assert named("./**/x.md", str(tmp_path), {}) == ["./x.md", "./.a/x.md", "./b/c/d/x.md"]
    assert named("**/c/*/x.md", str(tmp_path), {}) == ["b/c/d/x.md"]
    assert named("**/none", str(tmp_path), {}) == ["**/none"]


def test_where_there_is_too_much_to_look_at_the_pattern_stays(tmp_path: Path) -> None:
    (tmp_path / "many").mkdir()
    for number in range(LOOKED_AT + 1):
        (tmp_path / "many" / f"{number}.md").touch()
    (tmp_path / "x.md").touch()
    (tmp_path / "many" / "more").mkdir()
    assert named("**/x.md", str(tmp_path), {}) == ["x.md", "**/x.md"]


def test_a_name_that_only_looks_like_a_pattern_is_a_name(tmp_path: Path) -> None:
    (tmp_path / "[id].tsx").touch()
    (tmp_path / "i.tsx").touch()
    assert globbed("[id].tsx", str(tmp_path)) == []


def test_wild_is_what_a_shell_would_replace() -> None:
    assert is_wild("*.py")
    assert is_wild("a?")
    assert is_wild("[ab]")
    assert not is_wild("a[]b")
    assert not is_wild("plain")
