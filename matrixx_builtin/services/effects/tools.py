"""What a tool's own name and arguments say that it does to files."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from matrixx_builtin.services.effects import git, interpreters, patches
from matrixx_builtin.services.effects.operands import address, looks_like_path
from matrixx_builtin.services.effects.shell import Shell
from matrixx_builtin.services.effects.words import finished, names

DEEPEST = 12
"""How deep arguments may lie within arguments."""

_SHELL_TOOLS = frozenset(
    names(
        "bash shell sh zsh exec run terminal cmd powershell pwsh localshell runshellcommand runcommand executecommand "
        "runterminalcmd execcommand shellcommand bashcommand interactivebash tmux startprocess executebash runinterminal execbash"
    )
)
_CODE_TOOLS = frozenset(
    names("python ipython jupyter executepython runpython executecode runcode codeinterpreter runjs executejs notebookexecute")
)
_SILENT_TOOLS = frozenset(
    names(
        "task agent todowrite todoread question askuserquestion skill websearch invalid planexit planenter exitplanmode think "
        "sequentialthinking delegatetask calldelegate backgroundtask backgroundoutput slashcommand memory"
    )
)
_ALIASES = {
    "notebookedit": "edit",
    "multiedit": "edit",
    "strreplace": "edit",
    "strreplaceeditor": "edit",
    "searchreplace": "edit",
    "hashlineedit": "edit",
}
_VERBS = {
    "delete": "delete remove rm unlink trash rmdir erase destroy purge",
    "move": "move rename mv relocate",
    "copy": "copy cp duplicate clone",
    "edit": "edit update modify replace insert patch change alter append prepend rewrite format fix sed refactor strreplace substitute",
    "write": "write create save put overwrite store export touch mkdir generate set add new make download output dump upload_to truncate",
    "look": "list ls stat info exists tree glob find metadata listing directory dir watch size",
    "read": "read view cat open get load search grep head tail show fetch analyze analyse summarize summarise upload attach send diff compare hover definition "
    "references symbols diagnostics lint check inspect query rg count parse import look describe preview display scan",
}
_ROLE = {"delete": "d", "edit": "e", "write": "w", "look": "m", "read": "r", "": "b"}
_PATH_KEYS = frozenset(
    names(
        "filepath path file filename notebookpath target targetpath targetfile uri fileuri absolutepath relativepath "
        "relativeworkspacepath fullpath pathname paths files filepaths filenames uris targets targetfiles directory dir folder "
        "dirpath directorypath folderpath location document textdocument root"
    )
)
_SOURCE_KEYS = frozenset(
    names(
        "source src sourcepath sourcefile from frompath oldpath oldfile oldname original origin sources input inputpath inputfile srcpath"
    )
)
_TARGET_KEYS = frozenset(
    names(
        "destination dest dst destinationpath destpath dstpath to topath newpath newfile newname rename moveto movepath output "
        "outputpath outputfile outfile outpath savepath saveas saveto targetname"
    )
)
_GLOB_KEYS = frozenset(names("include includes includepattern filepattern glob globs fileglob filefilter"))
_URL_KEYS = frozenset(names("url urls href address endpoint link"))
_COMMAND_KEYS = ("command", "cmd", "script", "commands", "shell_command", "input")
_DIRECTORY_KEYS = ("workdir", "cwd", "working_directory", "workingDirectory", "directory", "dir_path")


def apply_tool(shell: Shell, tool: str, args: Mapping[str, Any], depth: int = 0) -> None:
    """Do what a tool does with its arguments."""
    words = _words(tool)
    flat = "".join(words)
    if depth > DEEPEST or not shell.ledger.spend():
        return
    if flat in _SILENT_TOOLS:
        return
    if (patch := _patch_text(args)) and flat.endswith("patch"):
        git.patched(shell, patches.changes(patch), "patch")
        return
    if _inner_calls(shell, args, depth):
        return
    code = _text(args, "code", "source_code", "program")
    if code and (flat in _CODE_TOOLS or words[-1:] == ["code"] or words[-1:] == ["python"]) and not _has_path(args):
        language = str(args.get("language") or ("javascript" if "js" in flat or "javascript" in flat else "python")).lower()
        interpreters.analyse(shell, {"js": "javascript", "node": "javascript", "py": "python"}.get(language, language), code, [])
        return
    command = _command(args)
    if command and (flat in _SHELL_TOOLS or words[-1] in _SHELL_TOOLS or (not _has_path(args) and not _verb(words))):
        _shell_tool(shell, args, command)
        return
    _file_tool(shell, tool, words, args)


def _shell_tool(shell: Shell, args: Mapping[str, Any], command: "str | list[str]") -> None:
    directory = _text(args, *_DIRECTORY_KEYS)
    if directory:
        shell.directories = (shell.place(directory),)
    if isinstance(command, str):
        shell.program(command)
    else:
        shell.run(command)


def _command(args: Mapping[str, Any]) -> "str | list[str]":
    for key in _COMMAND_KEYS:
        value = args.get(key)
        if isinstance(value, str) and value:
            return [value, *rest] if (rest := _strings(args.get("args"))) else value
        if isinstance(value, list) and (words := _strings(args.get(key))):
            return words
    return ""


def _patch_text(args: Mapping[str, Any]) -> str:
    return next(
        (text for value in args.values() for text in _items(value) or [value] if isinstance(text, str) and patches.is_patch(text)), ""
    )


def _inner_calls(shell: Shell, args: Mapping[str, Any], depth: int) -> bool:
    """Follow tools that carry calls of other tools (``batch``, ``multi_tool_use.parallel``)."""
    found = False
    for call in (group for value in args.values() for group in _groups(_items(value))):
        name = _text(call, "tool", "tool_name", "recipient_name", "name")
        inner = _groups([call.get(key) for key in ("parameters", "args", "arguments", "input", "tool_input")])
        if name and inner:
            found = True
            apply_tool(shell, name, inner[0], depth + 1)
    return found


def _file_tool(shell: Shell, tool: str, words: list[str], args: Mapping[str, Any]) -> None:
    verb = (
        _verb([str(args["command"]).lower().replace("_", "")])
        if isinstance(args.get("command"), str) and len(str(args["command"])) < 20
        else ""
    )
    verb = verb or _verb(words)
    if patch := _patch_text(args):
        git.patched(shell, patches.changes(patch), "patch")
    how = verb or tool[-40:] or "tool"
    for one in _operations(args, verb):
        _operation(shell, *one, how)
    if verb in {"read", "look"}:
        _globs(shell, args, verb, how)


class _Operation(dict[str, list[str]]):
    """The paths of one group of arguments, by the kind of their key."""


def _operations(
    args: Mapping[str, Any], verb: str, depth: int = 0, inherited: "list[str] | None" = None
) -> Iterator[tuple[str, _Operation]]:
    """Collect the paths of each nested group; a group without a path of its own speaks of the one around it."""
    paths = _Operation(path=[], source=[], target=[], url=[])
    nested: list[Mapping[str, Any]] = []
    own = _own_verb(args) or verb
    for key, value in args.items():
        kind = _kind(str(key), own)
        if kind and (texts := list(_texts(value, kind))):
            paths[kind.removeprefix("maybe_")].extend(texts)
        elif depth < DEEPEST:
            nested.extend(_groups(_items(value) or [value]))
    if not paths["path"] and not paths["source"] and (paths["target"] or (depth and own != verb)):
        paths["path"] = list(inherited or [])
    if args.get("delete") is True:
        own = "delete"
    elif (
        paths["target"]
        and own == "edit"
        and any(str(key).lower() in {"rename", "newpath", "new_path", "move_path", "movepath", "moveto"} for key in args)
    ):
        own = "move"
    yield own, paths
    for group in nested:
        yield from _operations(group, own, depth + 1, paths["path"] or paths["source"] or inherited)


def _own_verb(args: Mapping[str, Any]) -> str:
    for key in ("op", "operation", "action", "type", "kind", "mode", "method", "edit_mode"):
        value = args.get(key)
        if isinstance(value, str) and len(value) < 40 and (verb := _verb(_words(value))):
            return verb
    return ""


def _operation(shell: Shell, verb: str, paths: _Operation, how: str) -> None:
    for url in paths["url"]:
        address(shell, url, how)
    if verb in {"move", "copy"}:
        sources, targets = paths["source"] or paths["path"], paths["target"] or (paths["path"] if paths["source"] else [])
        for source in sources:
            _two_ended(shell, verb, source, targets[0] if targets else "", how)
        for target in targets if not sources else targets[1:]:
            shell.act("w", target, how)
        return
    role = _ROLE[verb]
    for path in paths["path"]:
        shell.act(role, path, how)
    for source in paths["source"]:
        shell.act(role if role in "dm" else "r", source, how)
    for target in paths["target"]:
        shell.act("w", target, how)


def _two_ended(shell: Shell, verb: str, source: str, target: str, how: str) -> None:
    if not target:
        shell.act("b" if verb == "move" else "r", source, how)
    elif verb == "move":
        shell.ledger.move(source, target, shell.directories, how)
    else:
        shell.act("r", source, how)
        shell.act("w", target, how)


def _globs(shell: Shell, args: Mapping[str, Any], verb: str, how: str) -> None:
    """A search that is narrowed to some names reads those."""
    folder = next((text for key, value in args.items() if _kind(str(key), verb) == "path" for text in _texts(value, "path")), ".")
    for key, value in args.items():
        if _flat(str(key)) in _GLOB_KEYS:
            for text in _texts(value, "glob"):
                for name in finished(text) if not text.startswith("!") else ():
                    shell.act("r" if verb == "read" else "m", f"{folder.rstrip('/')}/{name if '/' in name else '**/' + name}", how)


def _kind(key: str, verb: str) -> str:
    flat = _flat(key)
    if flat in _PATH_KEYS:
        return "path"
    if flat in _URL_KEYS:
        return "url"
    if flat in _SOURCE_KEYS and (verb in {"move", "copy"} or flat not in {"from", "input", "source", "origin", "original", "oldname"}):
        return "source"
    if flat in _SOURCE_KEYS:
        return "maybe_source"
    if flat in _TARGET_KEYS:
        return "target" if verb in {"move", "copy", "edit"} or flat not in {"to", "output", "newname", "rename"} else "maybe_target"
    return ""


def _texts(value: Any, kind: str) -> Iterator[str]:
    for one in _items(value) or [value]:
        if isinstance(one, str) and one and (not kind.startswith("maybe") or looks_like_path(one)):
            yield one


def _items(value: Any) -> list[Any]:
    return list(cast("list[Any]", value)) if isinstance(value, list | tuple) else []


def _groups(values: list[Any]) -> list[Mapping[str, Any]]:
    return [cast("Mapping[str, Any]", value) for value in values if isinstance(value, Mapping)]


def _strings(value: Any) -> list[str]:
    items = _items(value)
    return items if all(isinstance(item, str) for item in items) else []


def _has_path(args: Mapping[str, Any]) -> bool:
    return any(_flat(str(key)) in _PATH_KEYS - {"directory", "dir", "root", "location"} for key in args)


def _text(args: Mapping[str, Any], *keys: str) -> str:
    return next((value for key in keys if isinstance(value := args.get(key), str) and value), "")


def _flat(key: str) -> str:
    return re.sub(r"[^a-z]", "", key.lower())


def _words(tool: str) -> list[str]:
    """Return the words of a tool's name, without the server that it belongs to."""
    name = re.sub(r"^mcp__.*?__", "", tool[:200], flags=re.IGNORECASE)
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    if re.sub(r"[^a-z]", "", name) in _ALIASES:
        return [_ALIASES[re.sub(r"[^a-z]", "", name)]]
    return [word for word in re.split(r"[^a-z]+", name) if word] or [""]


def _verb(words: list[str]) -> str:
    return next((verb for verb, names in _VERB_SETS.items() if not names.isdisjoint(words)), "")


_VERB_SETS = {verb: frozenset(names.split()) for verb, names in _VERBS.items()}
