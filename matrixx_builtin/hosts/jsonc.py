"""Edit JSON that people write, which may have comments: every byte outside of an edit stays as it is.

``remove`` undoes ``insert`` byte for byte, also where containers were made: what is put into an empty container that was there
follows its bracket at once and has line breaks itself, while one that was made along with its content begins with a line break.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import tree_sitter_json
from tree_sitter import Language, Node, Parser

Kind: TypeAlias = Literal["object", "array", "scalar"]

_LANGUAGE = Language(tree_sitter_json.language())  # positions of all tokens and comments, from the parser family that reads shells here


class JsonError(ValueError):
    """Text that is no JSON, or has a key twice where it matters; says the line."""


@dataclass(frozen=True, slots=True)
class Item:
    """An element of an array, or a member of an object with its ``key``, from its first byte to its end."""

    key: str
    start: int
    end: int
    value: Value


@dataclass(frozen=True, slots=True)
class Value:
    """A value and where it stands in the bytes."""

    node: Node

    @property
    def kind(self) -> Kind:
        return "object" if self.node.type == "object" else "array" if self.node.type == "array" else "scalar"

    @property
    def items(self) -> list[Item]:
        """What is in it, in order; raises ``JsonError`` for an object with a key twice."""
        found = list(_items(self.node))
        keys = [item.key for item in found]
        if self.kind == "object" and len(set(keys)) < len(keys):
            twice = next(item for item in reversed(found) if keys.count(item.key) > 1)
            raise JsonError(f"line {_line(self.node, twice.start)}: {twice.key!r} is there twice")
        return found

    def get(self, key: str) -> Value | None:
        """The value of an object's key."""
        return next((item.value for item in self.items if self.kind == "object" and item.key == key), None)

    @property
    def plain(self) -> Any:
        """As Python has it."""
        if self.kind == "object":
            return {item.key: item.value.plain for item in self.items}
        return [item.value.plain for item in self.items] if self.kind == "array" else _scalar(self.node)


def parse(data: bytes) -> Value:
    """The one value of a text; raises ``JsonError``, also for a number like ``1e+21``, which the grammar (0.24) does not know."""
    root = Parser(_LANGUAGE).parse(data).root_node
    if root.has_error:
        raise JsonError(f"line {_error_line(root)}: it is no valid JSON")
    values = [child for child in root.children if child.type != "comment"]
    if len(values) != 1:
        raise JsonError("it is empty" if not values else f"line {values[1].start_point.row + 1}: it goes on after its end")
    return Value(values[0])


def has_comments(data: bytes) -> bool:
    """Whether a text has comments, which JSON proper has not."""
    waiting = [Parser(_LANGUAGE).parse(data).root_node]
    while waiting:
        node = waiting.pop()
        if node.type == "comment":
            return True
        waiting += [child for child in node.children if child.child_count or child.type == "comment"]
    return False


def insert(data: bytes, container: Value, value: Any, *, key: str = "") -> bytes:
    """Add a value at the end of an array, or under a key at the end of an object."""
    depth = _depth(container.node) + 1
    item = (json.dumps(key) + ": " if container.kind == "object" else "").encode() + render(data, value, depth)
    items = container.items
    if not items:
        at = container.node.start_byte + 1
        return data[:at] + item + data[at:]
    comma = items[-1].end
    at = _end(container.node.children[-2])  # a comment may follow the last item
    return data[:comma] + b"," + data[comma:at] + newline(data) + indent(data) * depth + item + data[at:]


def replace(data: bytes, old: Value, new: Any) -> bytes:
    """Put a value in the place of another one."""
    return data[: old.node.start_byte] + render(data, new, _depth(old.node)) + data[old.node.end_byte :]


def remove(data: bytes, container: Value, item: Item) -> bytes:
    """Take an item out with the comma and the line break that came with it."""
    items, number = container.items, container.items.index(item)
    commas = [child.start_byte for child in container.node.children if child.type == ","]
    start, end = _with_break(data, item, container)
    if number < len(items) - 1:
        after = commas[number]
        return data[:start] + data[item.end : after] + data[after + 1 :]
    if number == 0:
        return data[:start] + data[end:]
    before = commas[number - 1]
    return data[:before] + data[before + 1 : start] + data[end:]


def was_made(data: bytes, container: Value) -> bool:
    """Whether a container with one item was made along with it, or was written anew by a program, and holds nothing else."""
    (item,) = container.items
    direct = item.start == container.node.start_byte + 1 and b"\n" in data[item.start : item.end]
    return not direct and all(child.type != "comment" for child in container.node.children)


def newline(data: bytes) -> bytes:
    """How the lines of a text end."""
    return b"\r\n" if b"\r\n" in data else b"\n"


def indent(data: bytes) -> bytes:
    """One step of the text's indentation: that of the first member that begins a line, else two spaces."""
    for item in parse(data).items:
        line = data[: item.start].rpartition(b"\n")[2]
        if line and not line.strip():
            return line
    return b"  "


def render(data: bytes, value: Any, depth: int) -> bytes:
    """A value as it is written at this depth of the text."""
    step = indent(data)
    lines = json.dumps(value, indent=step.decode()).encode().split(b"\n")
    return (newline(data) + step * depth).join(lines)


def _with_break(data: bytes, item: Item, container: Value) -> tuple[int, int]:
    """The item with the white space before it, unless a comment that lasts to the line's end stands there and needs its line break."""
    before = data[: item.start]
    start = len(before.rstrip(b" \t\r\n"))
    above = [child for child in container.node.children if child.type == "comment" and child.end_byte <= item.start]
    open_comment = bool(above) and _end(above[-1]) == start and data[above[-1].start_byte :].startswith(b"//")
    if open_comment and not data[item.end :].lstrip(b" \t,").startswith((b"\n", b"\r")):
        return item.start, item.end
    return start, item.end


def _end(node: Node) -> int:
    """Where a token or a comment ends; the grammar counts a carriage return to a comment before it."""
    return node.end_byte - (node.type == "comment" and (node.text or b"").endswith(b"\r"))


def _items(node: Node) -> Iterator[Item]:
    for child in node.named_children:
        if child.type == "pair":
            key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
            if key is not None and value is not None:
                yield Item(str(_scalar(key)), child.start_byte, child.end_byte, Value(value))
        elif node.type == "array" and child.type != "comment":
            yield Item("", child.start_byte, child.end_byte, Value(child))


def _scalar(node: Node) -> Any:
    try:
        return json.loads(node.text or b"")
    except ValueError:
        raise JsonError(f"line {node.start_point.row + 1}: it is no valid JSON") from None


def _depth(node: Node) -> int:
    """How many containers are around a value."""
    depth, above = 0, node.parent
    while above is not None:
        depth += above.type in {"object", "array"}
        above = above.parent
    return depth


def _line(node: Node, at: int) -> int:
    return node.start_point.row + 1 + (node.text or b"")[: at - node.start_byte].count(b"\n")


def _error_line(root: Node) -> int:
    waiting: Sequence[Node] = [root]
    while waiting:
        node, *waiting = waiting
        if node.is_error or node.is_missing:
            return int(node.start_point.row) + 1
        waiting = [*(child for child in node.children if child.has_error or child.is_missing), *waiting]
    return 1
