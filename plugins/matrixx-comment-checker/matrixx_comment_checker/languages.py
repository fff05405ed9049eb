"""Find the comments of a text: Python's by the standard library, other languages' by a tree-sitter grammar where one is installed."""

import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node


class Comment(NamedTuple):
    """One comment as it stands in the text; ``line`` is its first and ``end`` its last (from 1), ``alone`` if no code stands before it."""

    text: str
    line: int
    end: int
    alone: bool


@dataclass(frozen=True, slots=True)
class Language:
    """A language: its grammar's module and function (``""``: Python), and how comments begin (bytes, a regular expression).

    ``documents`` fits the line under a comment that documents what is declared there, in languages that have no other form for it.
    """

    module: str
    function: str = "language"
    marks: bytes = rb"//|/\*"
    documents: str = ""


_GO = r"(?:func|type|var|const|package)\b|[A-Z]\w*[\s,=]"
_RUBY = r"\s*(?:class|module|def|attr_\w+|private_class_method|[A-Z]\w*\s*=)\b"

LANGUAGES = {
    **dict.fromkeys((".py", ".pyi", ".pyw"), Language("", marks=rb"#")),
    **dict.fromkeys((".sh", ".bash", ".ksh"), Language("tree_sitter_bash", marks=rb"#")),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs"), Language("tree_sitter_javascript")),
    **dict.fromkeys((".ts", ".mts", ".cts"), Language("tree_sitter_typescript", "language_typescript")),
    ".tsx": Language("tree_sitter_typescript", "language_tsx"),
    ".go": Language("tree_sitter_go", documents=_GO),
    ".rs": Language("tree_sitter_rust"),
    ".java": Language("tree_sitter_java"),
    **dict.fromkeys((".kt", ".kts"), Language("tree_sitter_kotlin")),
    ".swift": Language("tree_sitter_swift"),
    ".c": Language("tree_sitter_c"),
    **dict.fromkeys((".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx"), Language("tree_sitter_cpp")),
    ".cs": Language("tree_sitter_c_sharp"),
    **dict.fromkeys((".rb", ".rake", ".gemspec"), Language("tree_sitter_ruby", marks=rb"#|^=begin", documents=_RUBY)),
    ".php": Language("tree_sitter_php", "language_php", marks=rb"//|/\*|#"),
}
"""The languages by a file's suffix, in lower case."""


def language_of(suffix: str) -> Language | None:
    """The language of files with this suffix, or ``None`` for one that is not known or whose grammar is not installed."""
    language = LANGUAGES.get(suffix.lower())
    return language if language and (not language.module or _grammar(language) is not None) else None


def comments_of(text: str, language: Language) -> list[Comment] | None:
    """The text's comments in order; ``None`` where it cannot be read as this language."""
    if not language.module:
        return _in_python(text)
    return list(_in_tree(text.encode(), language))


def may_have_new(before: str, now: str, language: Language) -> bool:
    """Whether a line of ``now`` looks as if a comment began there and was not in ``before``: most edits have none, and need no parser."""
    return bool(_marked(now, language) - _marked(before, language))


def _marked(text: str, language: Language) -> Counter[bytes]:
    mark = re.compile(language.marks)
    return Counter(line.strip() for line in text.encode().splitlines() if mark.search(line))


def _in_python(text: str) -> list[Comment] | None:
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text, newline="").readline))
    except (tokenize.TokenError, SyntaxError, ValueError, RecursionError):
        return None
    return [
        Comment(token.string, token.start[0], token.start[0], not token.line[: token.start[1]].strip())
        for token in tokens
        if token.type == tokenize.COMMENT
    ]


def _in_tree(text: bytes, language: Language) -> Iterator[Comment]:
    """Ask the tree about every place that looks like the beginning of a comment: far fewer than it has nodes."""
    from tree_sitter import Parser  # a session without such files does without it

    root = Parser(_grammar(language)).parse(text).root_node
    done = 0
    for found in re.finditer(language.marks, text, re.MULTILINE):
        if found.start() < done:
            continue
        node = _comment_at(root, found.start())
        if node is not None and node.start_byte == found.start():
            done = node.end_byte
            yield _comment(node, text)


def _comment_at(root: "Node", at: int) -> "Node | None":
    node = root.descendant_for_byte_range(at, at + 1)
    for _ in range(4):  # the parts of Rust's documentation comments lie this deep
        if node is None or node.type.endswith("comment"):
            return node
        node = node.parent
    return None


def _comment(node: "Node", text: bytes) -> Comment:
    said = text[node.start_byte : node.end_byte].decode("utf-8", "replace").rstrip()
    line = node.start_point[0] + 1
    start = text.rfind(b"\n", 0, node.start_byte) + 1
    return Comment(said, line, line + said.count("\n"), not text[start : node.start_byte].strip())


@cache
def _grammar(language: Language) -> "Grammar | None":
    from tree_sitter import Language as Grammar

    try:
        capsule: object = getattr(import_module(language.module), language.function)()
        return Grammar(capsule)
    except (ImportError, AttributeError, ValueError, TypeError):  # not installed, or of another ABI
        return None
