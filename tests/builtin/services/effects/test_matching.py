"""Name and path patterns against what is touched."""

from collections.abc import Callable
from pathlib import Path

import pytest

from matrixx_builtin.services.effects import Effects, Touch, covers, matching


def touch(path: str, given: str = "", mode: str = "read", link: str = "") -> Touch:
    return Touch(path, given or path, "test", mode, link)  # type: ignore[arg-type]  # a table's word


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (".env", "/p/.env"),
        (".env", "/p/a/b/.env"),
        (".env", "/p/.ENV"),
        (".env", "/p/.env "),
        (".env", "/p/ .env"),
        (".env", "/p/.env."),
        (".env", "/p/.env::$DATA"),
        (".env", "/p/.env:stream:$DATA"),
        (".env", "/p/.env/inner"),
        (".env", "/p/.e\u200bnv"),
        (".env.*", "/p/.env.local"),
        ("*.pem", "/p/x.PEM"),
        ("*.PEM", "/p/x.pem"),
        ("*.pem", "/p/.pem"),
        ("service-account*.json", "/p/service-account-prod.json"),
        ("[.]env", "/p/.env"),
        ("id_?sa", "/p/id_rsa"),
        (".aws/credentials", "/home/me/.aws/credentials"),
        ("a/*/c", "/p/a/b/c"),
        ("a/**/d", "/p/a/b/c/d"),
        ("a/**", "/p/a/b/c"),
        ("**/x", "/p/a/x"),
        ("secrets/", "/p/secrets/a/b"),
        ("/build", "/p/build/x"),
        ("/etc/passwd", "/etc/passwd"),
        ("./x", "/p/x"),
        ("straße", "/p/STRASSE"),
        ("caf\u00e9", "/p/cafe\u0301"),
    ],
)
def test_a_pattern_fits(pattern: str, path: str) -> None:
    assert matching([touch(path)], [pattern], base="/p")


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (".env", "/p/.env.example"),
        (".env", "/p/x.env"),
        (".env", "/p/.envrc"),
        (".env", "/p/env"),
        ("*.pem", "/p/pem"),
        ("*.pem", "/p/x.pem.txt"),
        ("id_rsa", "/p/id_rsa.pub"),
        ("a/*/c", "/p/a/b/b/c"),
        ("/build", "/p/sub/build"),
        ("?", "/p/ab"),
        ("", "/p/x"),
        ("!x", "/p/y"),
        ("[", "/p/x"),
    ],
)
def test_a_pattern_does_not_fit(pattern: str, path: str) -> None:
    assert not matching([touch(path)], [pattern], base="/p")


@pytest.mark.parametrize(
    ("pattern", "given", "fits"),
    [
        (".env", ".env*", True),
        (".env", ".e*", True),
        (".env", ".e?v", True),
        (".env", ".en[v]", True),
        (".env", "sub/.e*", True),
        (".env.*", ".env*", True),
        ("*.pem", "*.pem", True),
        ("*.pem", "server.*", True),
        ("id_rsa", "id_*", True),
        (".env", "*", False),
        (".env", "*.py", False),
        (".env", "src/*", False),
        ("credentials.json", "*.json", False),
        ("*.pem", "*.py", False),
        ("id_rsa", "*", False),
        (".env", ".*", False),
    ],
)
def test_a_name_that_is_a_pattern_itself_fits_if_both_can_mean_the_same(pattern: str, given: str, *, fits: bool) -> None:
    assert bool(matching([touch(f"/p/{given}", given)], [pattern], base="/p")) is fits


def test_the_last_pattern_that_fits_decides() -> None:
    patterns = [".env", ".env.*", "!.env.example", "/prod/.env.example"]
    fit = {
        found.path
        for found in matching(
            [touch(f"/p/{name}") for name in (".env", ".env.x", ".env.example", "prod/.env.example")], patterns, base="/p"
        )
    }
    assert fit == {"/p/.env", "/p/.env.x", "/p/prod/.env.example"}


def test_the_home_directory_may_be_named_in_a_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert matching([touch("/home/me/.ssh/config")], ["~/.ssh/*"])


def test_a_link_is_known_by_both_its_names(tmp_path: Path, bash: Callable[[str], Effects], secrets: Callable[[Effects], str]) -> None:
    (tmp_path / "x").symlink_to(".env")
    (tmp_path / ".env").write_text("A=1")
    (tmp_path / ".npmrc").symlink_to("shared")
    assert secrets(bash("cat x")) == secrets(bash("cat .npmrc")) == "r"


def test_deleting_a_link_does_not_delete_what_it_leads_to(
    tmp_path: Path, bash: Callable[[str], Effects], secrets: Callable[[Effects], str]
) -> None:
    (tmp_path / ".env").write_text("A=1")
    (tmp_path / "x").symlink_to(".env")
    assert secrets(bash("rm x")) == ""


def test_a_directory_covers_what_is_in_it() -> None:
    assert covers(touch("/p/a", mode="delete"), "/p/a/b/c")
    assert covers(touch("/p/a", mode="delete"), "/p/A/x")
    assert covers(touch("/p/a"), "/p/a")
    assert covers(touch("/"), "/p/a")
    assert covers(touch("/p/*", mode="delete"), "/p/a/b")
    assert not covers(touch("/p/a"), "/p/ab")
    assert not covers(touch("/p/a/b"), "/p/a")


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf sub",
        "rm -rf sub/",
        "rm -r ./sub/../sub",
        "mv sub x",
        "rm -rf .",
        "rm -rf *",
        "cd sub && rm -rf .",
        "cd /nowhere; rm -rf sub",
    ],
)
def test_deleting_a_directory_covers_its_files(command: str, tmp_path: Path, bash: Callable[[str], Effects]) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / ".env").touch()
    assert any(covers(deleted, f"{tmp_path}/sub/.env") for deleted in bash(command).deletes)
