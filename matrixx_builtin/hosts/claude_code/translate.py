"""Claude Code's tools (2.1.332) in the canonical words and back, and where the text of each tool's result stands."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from matrixx_core.events import Part, ToolCall

Raw: TypeAlias = Mapping[str, Any]

OURS = "mcp__matrixx__"
"""How Claude Code names the tools of ``matrixx mcp``."""

EDIT = {"file_path": "filePath", "old_string": "oldString", "new_string": "newString", "replace_all": "replaceAll"}

TOOLS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "Agent": ("task", {}),
    "AskUserQuestion": ("question", {}),
    "Bash": ("bash", {}),
    "Edit": ("edit", EDIT),
    "Glob": ("glob", {}),
    "Grep": ("grep", {"glob": "include"}),
    "MultiEdit": ("multiedit", EDIT),
    "NotebookEdit": ("notebookedit", {}),
    "Read": ("read", {"file_path": "filePath"}),
    "Skill": ("skill", {"skill": "name"}),
    "Task": ("task", {}),
    "TodoWrite": ("todowrite", {}),
    "WebFetch": ("webfetch", {}),
    "WebSearch": ("websearch", {}),
    "Write": ("write", {"file_path": "filePath"}),
}
"""By Claude Code's name of a tool: the canonical one, and the arguments that are called otherwise there."""


def text(value: Any) -> str:
    """The value where it is a text, else ``""``."""
    return value if isinstance(value, str) else ""


def table(value: Any) -> dict[str, Any]:
    """A copy of the value where it is an object, else an empty one."""
    return dict(value) if isinstance(value, Mapping) else {}


def objects(value: Any) -> list[Raw]:
    """The objects in a list; of anything else none."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def canonical(tool: str) -> str:
    """The canonical name of a tool; one that Claude Code does not bring keeps its own."""
    return TOOLS[tool][0] if tool in TOOLS else tool.removeprefix(OURS)


def canonical_args(tool: str, args: Raw) -> dict[str, Any]:
    """Arguments as the hooks know them; nothing is left out."""
    return _renamed(args, TOOLS[tool][1]) if tool in TOOLS else dict(args)


def own_args(tool: str, args: Raw) -> dict[str, Any]:
    """Arguments as Claude Code knows them: the way back from ``canonical_args``."""
    names = TOOLS[tool][1] if tool in TOOLS else {}
    return _renamed(args, {canonical: own for own, canonical in names.items()})


def _renamed(args: Raw, names: Mapping[str, str]) -> dict[str, Any]:
    renamed = {names.get(name, name): value for name, value in args.items()}
    if names and isinstance(edits := renamed.get("edits"), list):
        renamed["edits"] = [_renamed(one, names) if isinstance(one, Mapping) else one for one in edits]
    return renamed


def read_call(payload: Raw, session_id: str) -> ToolCall:
    """The call of a payload; it starts where the agent stands, which may be below the project."""
    tool = text(payload.get("tool_name"))
    return ToolCall(
        session_id=session_id,
        tool=canonical(tool),
        args=canonical_args(tool, table(payload.get("tool_input"))),
        call_id=text(payload.get("tool_use_id")),
        directory=text(payload.get("cwd")),
    )


@dataclass(frozen=True, slots=True)
class Shape:
    """Where the text of a tool's result stands; ``write`` gives the whole result with another text."""

    read: Callable[[Any], str]
    write: Callable[[Any, str], Any]


def _field(*path: str) -> Shape:
    def read(response: Any) -> str:
        for name in path:
            response = table(response).get(name)
        return text(response)

    def write(response: Any, new: str, path: tuple[str, ...] = path) -> Any:
        name, *rest = path
        inner = write(table(response).get(name), new, tuple(rest)) if rest else new
        return {**table(response), name: inner}

    return Shape(read, write)


def _blocks(name: str) -> Shape:
    """A list of text blocks and others; a new text takes the place of all text blocks."""

    def read(response: Any) -> str:
        found = table(response).get(name) if name else response
        return "\n".join(text(block.get("text")) for block in objects(found)) or text(found)

    def write(response: Any, new: str) -> Any:
        found = table(response).get(name) if name else response
        if isinstance(found, str):
            return new
        blocks = [{"type": "text", "text": new}, *(block for block in objects(found) if block.get("type") != "text")]
        return {**table(response), name: blocks} if name else blocks

    return Shape(read, write)


SHAPES: Mapping[str, Shape] = {
    "Agent": _blocks("content"),
    "Bash": _field("stdout"),
    "Grep": _field("content"),
    "Read": _field("file", "content"),
    "Task": _blocks("content"),
    "WebFetch": _field("result"),
}
"""By tool, as ``sdk-tools.d.ts`` of 2.1.332 has it; Claude Code ignores a result of any other shape without a word."""


def read_image(response: Any) -> tuple[Part, ...]:
    """The image that ``Read`` gives the model, as a file beside the text."""
    file = table(table(response).get("file"))
    if table(response).get("type") != "image" or not file.get("base64"):
        return ()
    mime = text(file.get("type"))
    return ({"type": "file", "mime": mime, "url": f"data:{mime};base64,{file['base64']}"},)


def with_image(response: Any, attachments: Sequence[Part]) -> Any:
    """The result of ``Read`` with another image, or without one as the text that takes its place."""
    if not attachments:
        return None
    head, _, content = text(attachments[0].get("url")).partition(";base64,")
    size = {"originalSize": len(content) * 3 // 4}
    return {"type": "image", "file": {**table(table(response).get("file")), **size, "base64": content, "type": head.removeprefix("data:")}}


MCP = _blocks("")


def shape_of(tool: str, response: Any) -> Shape | None:
    """Where the text of this result stands, or ``None``: it has none that may be changed."""
    shape = SHAPES.get(tool, MCP if tool.startswith("mcp__") else None)
    return shape if shape and shape.read(response) else None
