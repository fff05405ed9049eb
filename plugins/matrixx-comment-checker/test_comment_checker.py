from pathlib import Path
from typing import Any

import anyio
import matrixx_comment_checker as hook
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matrixx_comment_checker import judgement, languages
from matrixx_comment_checker.languages import Comment, comments_of, language_of

from matrixx_core import Inject, Session, ToolCall, ToolFailure, ToolResult
from matrixx_core.testing import Rig, call, session

NEW = "counts the words"
"""What the comments of these tests say that somebody should ask about."""


def before(one: ToolCall, memory: Session) -> None:
    anyio.run(hook.tool_execute_before, one, memory)


def after(one: ToolCall, memory: Session, **options: Any) -> Inject | None:
    done = ToolResult(session_id=one.session_id, call=one, output="Done.")
    return anyio.run(hook.tool_execute_after, done, memory, hook.Config(**options))


def put(path: Path, text: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def told(root: Path, files: dict[str, tuple[str | None, str | None]], tool: str = "", /, **args: Any) -> str:
    """What the model is told of a call that takes each file from one text to another (``None``: not there)."""
    memory = session()
    for name, (old, _) in files.items():
        if old is not None:
            put(root / name, old)
    one = call(tool or "write", directory=str(root), **(args or {"filePath": str(root / next(iter(files))), "content": "x"}))
    before(one, memory)
    for name, (_, new) in files.items():
        if new is None:
            (root / name).unlink()
        else:
            put(root / name, new)
    answer = after(one, memory)
    return answer.text if answer else ""


def asked(name: str, text: str) -> list[str]:
    """The comments of a new file that the model would be asked about."""
    language = language_of(Path(name).suffix)
    assert language is not None
    found = comments_of(text, language)
    assert found is not None
    return [one.text for one in judgement.worth_asking(found, text, language)]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.py", f"x = 1  # {NEW}\n", [f"# {NEW}"]),
        ("a.py", f"x = '# {NEW}'\n", []),
        ("a.py", f'def f():\n    """{NEW} # here."""\n', []),
        ("a.pyi", f"# {NEW}\nx: int\n", [f"# {NEW}"]),
        ("a.sh", f"echo \"# no\" '# no' a#b # {NEW}\n", [f"# {NEW}"]),
        ("a.js", f"let a = '// no'; // {NEW}\n/* {NEW} */\nlet b = `/* no */`, c = /\\/\\//\n", [f"// {NEW}", f"/* {NEW} */"]),
        ("a.jsx", f"let a = <p>// no {{/* {NEW} */}}</p>\n", [f"/* {NEW} */"]),
        ("a.ts", f"let a: string = 'https://no' // {NEW}\n", [f"// {NEW}"]),
        ("a.tsx", f"let a = <p>{{1 /* {NEW} */}}</p>\n", [f"/* {NEW} */"]),
        ("a.go", f"package a\n\nfunc f() {{\n\tx := `// no` // {NEW}\n}}\n", [f"// {NEW}"]),
        ("a.rs", f'fn f() {{ let a = "// no"; /* {NEW} */ }} // {NEW}\n', [f"/* {NEW} */", f"// {NEW}"]),
        ("A.java", f'class A {{ String a = "// no"; // {NEW}\n}}\n', [f"// {NEW}"]),
        ("a.kt", f'val a = "// no" // {NEW}\n', [f"// {NEW}"]),
        ("a.swift", f'let a = "// no" // {NEW}\n/* {NEW} */\n', [f"// {NEW}", f"/* {NEW} */"]),
        ("a.c", f'char *a = "// no"; /* {NEW} */ // {NEW}\n', [f"/* {NEW} */", f"// {NEW}"]),
        ("a.cpp", f'auto a = R"(// no)"; // {NEW}\n', [f"// {NEW}"]),
        ("a.cs", f'var a = @"// no"; // {NEW}\n', [f"// {NEW}"]),
        ("a.rb", f"a = '# no' # {NEW}\n", [f"# {NEW}"]),
        ("a.php", f"<?php\n$a = '// no'; // {NEW}\n# {NEW}\n", [f"// {NEW}", f"# {NEW}"]),
        ("A.PY", f"x = 1  # {NEW}\n", [f"# {NEW}"]),
    ],
)
def test_comments_are_told_from_what_only_looks_like_them(name: str, text: str, expected: list[str]) -> None:
    assert asked(name, text) == expected


DOCUMENTED = [
    ("a.js", f"/** {NEW} */\nfunction f() {{}}\n"),
    ("a.rs", f"//! {NEW}\n\n/// {NEW}\nfn f() {{}}\n\n/** {NEW} */\nfn g() {{}}\n"),
    ("A.java", f"/**\n * {NEW}\n */\nclass A {{}}\n"),
    ("a.cs", f"/// <summary>{NEW}</summary>\nclass A {{}}\n"),
    ("a.swift", f"/// {NEW}\nfunc f() {{}}\n"),
    ("a.cpp", f"/*! {NEW} */\n//! {NEW}\nint f();\n"),
    ("a.go", f"// Package a {NEW}.\npackage a\n\n// F {NEW}\n// and more.\nfunc F() {{}}\n\nconst (\n)\n"),
    ("a.rb", f"# {NEW}\nclass A\n  # {NEW}\n  def f; end\nend\n"),
    ("a.php", f"<?php\n/** {NEW} */\nfunction f() {{}}\n"),
]


@pytest.mark.parametrize(("name", "text"), DOCUMENTED)
def test_documentation_is_fine(name: str, text: str) -> None:
    assert asked(name, text) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.go", f"package a\n\nfunc F() {{\n\t// {NEW}\n\tx()\n}}\n"),
        ("a.go", f"package a\n\n// {NEW}\n\nfunc F() {{}}\n"),
        ("a.rb", f"def f\n  # {NEW}\n  x\nend\n"),
        ("a.rs", f"//// {NEW}\nfn f() {{}}\n"),
        ("a.js", f"/* {NEW} */\nfunction f() {{}}\n"),
    ],
)
def test_what_stands_elsewhere_or_is_marked_otherwise_is_no_documentation(name: str, text: str) -> None:
    assert len(asked(name, text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "# noqa", "# noqa: F401", "#noqa", "# NOQA", "# type: ignore[x]", "# mypy: strict", "# pyright: basic", "# pylint: disable=x", "# ruff: noqa",
        "# isort: skip", "# fmt: off", "# pragma: no cover", "# nosec B101", "# -*- coding: utf-8 -*-", "# coding=utf-8", "# vim: ts=4", "# %%",
        "# region a", "# endregion", "# given", "# when it rains", "# Then: wet", "# arrange", "# Act & Assert", "# act", "# -----", "#", "#####",
        "# spell-checker: disable", "# gitleaks:allow", "# SPDX-License-Identifier: MIT", "# doctest: +SKIP", "# cython: language_level=3",
        "# noinspection PyUnresolvedReferences", "# Generated by protoc. DO NOT EDIT!",
    ],
)  # fmt: skip
def test_words_to_programs_steps_of_tests_and_mere_lines_are_fine(text: str) -> None:
    assert asked("a.py", f"x = 1\ny = 2  {text}\n") == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.js", "let a; // eslint-disable-line no-unused-vars"), ("a.js", "let a;\n/* eslint-disable */"), ("a.ts", "let a;\n// @ts-expect-error x"),
        ("a.ts", "let a;\n// prettier-ignore"), ("a.ts", "let a;\n// biome-ignore lint: x"), ("a.js", "let a;\n/* istanbul ignore next */"),
        ("a.ts", '/// <reference types="x" />\nlet a'), ("a.js", "let a = /* @__PURE__ */ f()"), ("a.js", "#!/usr/bin/env node\nlet a"),
        ("a.go", "//go:build linux\n\npackage a"), ("a.go", "package a\nvar x = 1 //nolint:errcheck"), ("a.go", "// +build linux\n\npackage a"),
        ("a.go", "// Code generated by x. DO NOT EDIT.\n\npackage a"), ("a.rs", "fn f() {\n// SAFETY: checked above\n}"),
        ("a.c", "int a; // NOLINT(x)"), ("a.cpp", "int a;\n// clang-format off"), ("a.sh", "#!/bin/sh\n# shellcheck disable=SC2086\necho $a"),
        ("a.rb", "# frozen_string_literal: true\nx"), ("a.rb", "x # rubocop:disable Style/X"), ("a.php", "<?php\n$a; // phpcs:ignore"),
        ("a.swift", "let a = 1 // swiftlint:disable:this x"), ("a.swift", "let a = 1\n// MARK: - Views"), ("a.cs", "int a;\n// ReSharper disable once X"),
        ("a.java", "int a; // NOSONAR"),
    ],
)  # fmt: skip
def test_words_to_programs_are_fine_in_every_language(name: str, text: str) -> None:
    assert asked(name, f"{text}\n") == []


@pytest.mark.parametrize(
    "text", ["# and this returns the sum", "# act like a server", "# noqualms here", "# typed by hand", "# Assertions follow"]
)
def test_what_only_begins_like_one_is_asked_about(text: str) -> None:
    assert asked("a.py", f"x = 1\n{text}\n") == [text]


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("a.py", "#!/usr/bin/env python\n# Copyright 2026 A.\n# All rights reserved.\n#\n# Some more of it.\n"),
        ("a.ts", "/*\n * Licensed under the MIT License.\n */\n"),
        ("a.go", "// (c) 2026 A\n// Words of it.\n\n"),
        ("a.php", "<?php\n// Copyright A\n"),
    ],
)
def test_a_licence_at_the_top_is_fine_and_what_follows_is_not(name: str, header: str) -> None:
    sign = "#" if name == "a.py" else "//"
    assert asked(name, f"{header}\nx()\n{sign} {NEW}\ny()\n") == [f"{sign} {NEW}"]
    assert asked(name, f"{header}\n{sign} {NEW}\n\nx()\n") == [f"{sign} {NEW}"]


def test_a_licence_is_one_at_the_top_only() -> None:
    assert asked("a.py", "x = 1\n# copyright of this is unclear\n") == ["# copyright of this is unclear"]


def test_a_new_comment_is_told_with_its_place(tmp_path: Path) -> None:
    text = told(tmp_path, {"src/a.py": ("x = 1\n", f"x = 1\n# {NEW}\n")})
    assert f"  src/a.py:2: # {NEW}" in text
    assert "Keep one only if it says what the code cannot" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f"# {NEW}\nx = 1\n", f"y = 0\n# {NEW}\nx = 2\n"),
        (f"# {NEW}\nx = 1\n", f"def f():\n    #   {NEW}\n    x = 1\n"),
        (f"# {NEW}\nx = 1\n", f"# {NEW} of a line\nx = 1\n"),
        (f"# {NEW}\nx = 1\n", "x = 1\n"),
        (f"# {NEW}\r\nx = 1\r\n", f"# {NEW}\nx = 1\n"),
    ],
)
def test_comments_that_were_there_moved_or_were_reworded_are_not_new(tmp_path: Path, old: str, new: str) -> None:
    assert told(tmp_path, {"a.py": (old, new)}) == ""


def test_the_same_comment_once_more_is_new(tmp_path: Path) -> None:
    assert told(tmp_path, {"a.py": (f"# {NEW}\n", f"# {NEW}\nx = 1\n# {NEW}\n")}).count(NEW) == 1


def test_a_documentation_that_lost_what_it_documents_is_not_new(tmp_path: Path) -> None:
    old = f"package a\n\n// F {NEW}\nfunc F() {{}}\n"
    assert told(tmp_path, {"a.go": (old, old.replace("func F() {}\n", ""))}) == ""


def test_a_comment_that_moved_to_another_file_of_the_patch_is_not_new(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b.py\n+x\n*** End Patch"
    text = f"x = 1  # {NEW}\n"
    assert told(tmp_path, {"a.py": (text, "y = 1\n"), "b.py": (None, text)}, "apply_patch", patchText=patch) == ""
    assert NEW in told(tmp_path, {"a.py": ("", "y = 1\n"), "b.py": ("", text)}, "apply_patch", patchText=patch)


def test_a_file_that_gets_another_name_has_no_new_comments(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n-x\n+y\n*** End Patch"
    text = f"x = 1  # {NEW}\n"
    assert told(tmp_path, {"a.py": (text, None), "b.py": (None, text)}, "apply_patch", patchText=patch) == ""
    assert told(tmp_path, {"c.py": (text, None), "d.py": (None, text)}, "bash", command="mv c.py d.py") == ""


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("write", {"filePath": "a.py", "content": "x"}),
        ("edit", {"filePath": "a.py", "oldString": "x", "newString": "y"}),
        ("multiedit", {"filePath": "a.py", "edits": [{"oldString": "x", "newString": "y"}]}),
        ("edit", {"filePath": "a.py", "edits": [{"op": "append", "lines": ["x"]}]}),
        ("hashline_edit", {"filePath": "a.py", "edits": [{"op": "append", "lines": ["x"]}]}),
        ("apply_patch", {"patchText": "*** Begin Patch\n*** Add File: a.py\n+x\n*** End Patch"}),
        ("bash", {"command": "cat > a.py <<'EOF'\nx = 1\nEOF"}),
        ("bash", {"command": "sed -i s/x/y/ a.py"}),
        ("mcp__files__write_file", {"path": "a.py", "content": "x"}),
    ],
)
def test_every_way_to_write_a_file_is_seen(tmp_path: Path, tool: str, args: dict[str, Any]) -> None:
    assert NEW in told(tmp_path, {"a.py": ("x = 1\n", f"x = 1  # {NEW}\n")}, tool, **args)


def test_two_edits_side_by_side_tell_each_comment_once(tmp_path: Path) -> None:
    memory = session()
    put(tmp_path / "a.py", "x = 1\n")
    first, second = (
        call("edit", directory=str(tmp_path), filePath="a.py", newString=str(number)).model_copy(update={"call_id": f"c{number}"})
        for number in (1, 2)
    )
    before(first, memory)
    before(second, memory)
    put(tmp_path / "a.py", f"x = 1  # {NEW}\n")
    assert after(first, memory) is not None
    put(tmp_path / "a.py", f"x = 1  # {NEW}\ny = 2  # keeps the total of all lines\n")
    answer = after(second, memory)
    assert answer is not None
    assert "keeps the total" in answer.text and NEW not in answer.text


def test_a_failed_call_is_forgotten_and_lost_ones_are_bounded(tmp_path: Path) -> None:
    memory = session()
    for number in range(hook.MOST_PENDING + 20):
        one = call("write", directory=str(tmp_path), filePath="a.py").model_copy(update={"call_id": f"c{number}"})
        before(one, memory)
    assert len(memory.state(hook.Pending).texts) == hook.MOST_PENDING
    hook.tool_execute_failed(ToolFailure(session_id=one.session_id, call=one, error="no"), memory)
    assert one.call_id not in memory.state(hook.Pending).texts


def test_the_list_is_limited(tmp_path: Path) -> None:
    text = "".join(f"x{number} = 1  # {NEW} {'long ' * 200}\n" for number in range(50))
    shown = told(tmp_path, {"a.py": ("", text)})
    assert shown.count(NEW) == 10
    assert "and 40 more" in shown
    assert len(shown) < 3_000


@pytest.mark.parametrize(("prompt", "shown"), [("Why {{comments}}?", "Why   a.py:1: # {}?"), ("Why?", "Why?\n  a.py:1: # {}")])
def test_the_user_may_say_it_in_other_words(tmp_path: Path, prompt: str, shown: str) -> None:
    rig = Rig(hook, settings={"comment-checker": {"custom_prompt": prompt}}, directory=str(tmp_path))
    rig.before("write", filePath="a.py")
    put(tmp_path / "a.py", f"# {NEW}\n")
    assert rig.after("write", "Done.", filePath="a.py").event.output == f"Done.\n\n{shown.format(NEW)}"


@pytest.mark.parametrize("name", ["a.md", "a.txt", "Makefile", "a", "a.vue", "a.lua"])
def test_languages_that_are_not_known_are_left_alone(tmp_path: Path, name: str) -> None:
    assert told(tmp_path, {name: ("", f"# {NEW}\n// {NEW}\n-- {NEW}\n")}) == ""


def test_a_grammar_that_is_not_installed_means_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    for number, module in enumerate(("no_such_grammar", "json")):
        monkeypatch.setitem(languages.LANGUAGES, f".x{number}", languages.Language(module))
        assert language_of(f".x{number}") is None


@pytest.mark.parametrize(
    "text",
    [
        f"x = (  # {NEW}\n",
        f"  x = 1  # {NEW}\n y\n",
        f"'''# {NEW}\n",
        f"\0# {NEW}\n",
        b"\xff# " + NEW.encode(),
        f"# {NEW}\n".encode() * 60_000,
    ],
)
def test_what_cannot_be_read_as_its_language_is_left_alone(tmp_path: Path, text: str | bytes) -> None:
    memory, one = session(), call("write", directory=str(tmp_path), filePath="a.py")
    before(one, memory)
    put(tmp_path / "a.py", text)
    assert after(one, memory) is None


@pytest.mark.parametrize(
    "path", ["../a.py", "/etc/a.py", "node_modules/a.py", ".venv/a.py", "\0.py", "\ud800.py", "", "x" * 5_000 + ".py", 5, None]
)
def test_odd_paths_and_those_outside_are_left_alone(tmp_path: Path, path: object) -> None:
    memory, one = session(), call("write", directory=str(tmp_path / "project"), filePath=path)
    (tmp_path / "project").mkdir()
    before(one, memory)
    (tmp_path / "a.py").write_text(f"# {NEW}\n")
    assert after(one, memory) is None


def test_a_link_that_leads_out_of_the_workspace_is_not_read(tmp_path: Path) -> None:
    root, outside = tmp_path / "project", tmp_path / "a.py"
    root.mkdir()
    outside.write_text("x\n")
    (root / "a.py").symlink_to(outside)
    memory, one = session(), call("write", directory=str(root), filePath="a.py")
    before(one, memory)
    outside.write_text(f"# {NEW}\n")
    assert after(one, memory) is None


SUFFIXES = sorted(languages.LANGUAGES)


@settings(deadline=None, max_examples=150)
@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=300) | st.text("#/*'\"`{}<>=begin \n\\", max_size=100),
    st.sampled_from(SUFFIXES),
)
def test_no_text_is_too_odd_for_any_language(text: str, suffix: str) -> None:
    language = language_of(suffix)
    assert language is not None
    found = comments_of(text, language)
    assert found is None or set(judgement.worth_asking(found, text, language)) <= set(found)
    if found:
        assert judgement.brought_in([found], [found]) == [[]]
        assert all(one.line <= one.end for one in found)


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [
        ("a.py", "x = 1  # a\n", "y = 2\n\n    x = 1  # a\n", False),
        ("a.py", "x = 1  # a\n", "x = 1  # b\n", True),
        ("a.py", "# a\n", "# a\n# a\n", True),
        ("a.js", "a()\n", "a() /* b */\n", True),
        ("a.js", "a()\n", "a() # b\n", False),
        ("a.rb", "a\n", "a\n=begin\nb\n=end\n", True),
    ],
)
def test_an_edit_whose_lines_begin_no_comment_needs_no_parser(name: str, old: str, new: str, expected: bool) -> None:
    assert languages.may_have_new(old, new, languages.LANGUAGES[Path(name).suffix]) is expected


def test_many_vanished_comments_cost_little() -> None:
    old = [Comment(f"# {number} {NEW}" * 20, number, number, alone=True) for number in range(3_000)]
    new = [Comment(f"# {number} something else" * 20, number, number, alone=True) for number in range(3_000)]
    assert judgement.brought_in([old], [new]) == [new]
