from pathlib import Path

import pytest

from matrixx_builtin.services.effects import Touch
from matrixx_builtin.services.sensitive import EXAMPLES, SECRET_FILES, SecretFileSettings, named, printable, secret_below, secret_files

SETTINGS = SecretFileSettings()


def touch(path: Path | str, link: str = "") -> Touch:
    return Touch(str(path), str(path), "write", "create", link)


@pytest.mark.parametrize("pattern", SECRET_FILES)
def test_each_pattern_of_the_table_protects_a_file(tmp_path: Path, pattern: str) -> None:
    name = pattern.replace("[-_~]", "-").replace("*", "x")
    assert secret_files([touch(tmp_path / "deep" / name)], SETTINGS, str(tmp_path))
    assert secret_files([touch(tmp_path / name.upper())], SETTINGS, str(tmp_path))


@pytest.mark.parametrize("pattern", EXAMPLES)
def test_each_example_is_free_beside_a_pattern_that_names_it(tmp_path: Path, pattern: str) -> None:
    one = touch(tmp_path / pattern.replace("[._-]", ".").replace("*", ".env.x"))
    everything = {"blocked_patterns": ["*"]}
    assert secret_files([one], SecretFileSettings.model_validate(everything), str(tmp_path)) == ()
    assert secret_files([one], SecretFileSettings.model_validate({**everything, "allow_examples": False}), str(tmp_path)) == (one,)


def test_looking_below_a_directory_ends_after_a_while(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"d{number}").mkdir()
        (tmp_path / f"d{number}/a.txt").touch()
    (tmp_path / "d2/.env").touch()
    assert secret_below(touch(tmp_path), SETTINGS, str(tmp_path)).endswith("d2/.env")
    assert secret_below(touch(tmp_path / "d0"), SETTINGS, str(tmp_path)) == ""
    assert secret_below(touch(tmp_path / "missing"), SETTINGS, str(tmp_path)) == ""
    assert secret_below(touch("a\0b"), SETTINGS, str(tmp_path)) == ""


def test_a_name_fits_on_one_line() -> None:
    assert printable("a\nb\x1b[0m\ud800") == "a?b?[0m?"
    assert len(printable("x" * 10_000)) == 161
    assert named(touch("a")) == "'a'"
