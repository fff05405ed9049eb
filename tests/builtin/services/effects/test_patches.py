"""Which files a patch text touches."""

import pytest

from matrixx_builtin.services.effects.patches import Change, changes, diff_changes, is_patch


def test_each_header_is_a_change() -> None:
    text = "*** Begin Patch\n*** Add File: a b.md\n+x\n*** Update File: c\n*** Move to: d\n@@\n*** Delete File: e\n*** End Patch"
    assert changes(text) == [Change("add", "a b.md"), Change("update", "c", "d"), Change("delete", "e")]


def test_case_blanks_and_line_ends_do_not_hide_a_header() -> None:
    assert changes("*** begin patch\r\n  *** update file:   x  \r\n***Delete File: y\r\n") == [Change("update", "x"), Change("delete", "y")]


def test_content_is_no_header() -> None:
    assert changes("*** Begin Patch\n*** Add File: a\n+*** Delete File: b\n-*** Add File: c\n*** End Patch") == [Change("add", "a")]


def test_a_second_target_is_not_lost() -> None:
    assert changes("*** Update File: a\n*** Move to: b\n*** Move to: c") == [Change("update", "a", "b"), Change("add", "c")]


@pytest.mark.parametrize(
    ("text", "answer"),
    [("*** Begin Patch\n", True), ("\n  *** Begin Patch", True), ("*** Add File: x\n", True), ("say *** Begin Patch", False), ("", False)],
)
def test_a_patch_begins_like_one(text: str, *, answer: bool) -> None:
    assert is_patch(text) is answer


def test_a_diff_names_its_files() -> None:
    text = "--- a/x\n+++ b/x\n@@\n--- /dev/null\n+++ b/new\n--- a/gone\n+++ /dev/null\n"
    assert diff_changes(text) == [Change("update", "x"), Change("add", "new"), Change("delete", "gone")]


def test_a_diff_without_hunks_still_names_its_files() -> None:
    assert diff_changes("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n") == [Change("update", "x")]
    assert Change("update", "x", "y") in diff_changes("rename from x\nrename to y\n")


def test_leading_folders_are_dropped_as_asked() -> None:
    assert diff_changes("--- p/q/x\n+++ p/q/x\n", 0) == [Change("update", "p/q/x")]
    assert diff_changes("--- p/q/x\n+++ p/q/x\n", 2) == [Change("update", "x")]
