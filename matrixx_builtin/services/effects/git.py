"""What git's commands do to the working tree."""

# ruff: noqa: ARG001 - every program's function is called with the same four arguments

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from matrixx_builtin.services.effects import patches
from matrixx_builtin.services.effects.operands import apply, revision
from matrixx_builtin.services.effects.options import Parsed, parsed
from matrixx_builtin.services.effects.paths import absolute, exists, is_wild
from matrixx_builtin.services.effects.programs import git_commands
from matrixx_builtin.services.effects.words import DYNAMIC, names

if TYPE_CHECKING:
    from matrixx_builtin.services.effects.shell import Shell

_GLOBAL = "-* -C=- -c=- --git-dir/--work-tree/--namespace/--exec-path/--config-env=-"
_EXCEPTED = re.compile(r":[!^]|:\(exclude")
_CODE_KEYS = re.compile(
    r"(?:core\.(?:pager|editor|sshcommand|fsmonitor|hookspath)|sequence\.editor|diff\.external|pager\.\w+|.*\.(?:textconv|cmd|clean|smudge))$"
)


def git(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Run one of git's commands."""
    found = parsed(_GLOBAL, args, stop_at_operand=True)
    command, *rest = [operand for operand in found.operands if operand != "--"][:1] + found.operands[1:] or [""]
    rest = [arg for arg in rest if not _EXCEPTED.match(arg)]
    with shell.scope():
        for option, value in found.values:
            if option in {"-C", "--work-tree"}:
                shell.enter(value)
            elif option == "-c" and (inner := _configured(value, command)):
                return shell.program(" ".join([inner, *rest]), stdin, "git -c")
        handler = _COMMANDS.get(command)
        if handler is not None:
            handler(shell, f"git {command}", rest, stdin)
        elif command in git_commands():
            apply(shell, git_commands()[command], rest, f"git {command}")
        return "".join(f"{path}\n" for path in rest if not path.startswith("-")) or DYNAMIC if command == "ls-files" else DYNAMIC


def _configured(value: str, command: str) -> str:
    """Return the shell text that a ``-c`` setting makes git run."""
    key, _, text = value.partition("=")
    if key.lower() == f"alias.{command}" and text.startswith("!"):
        return text[1:]
    return text if _CODE_KEYS.match(key.lower()) and "/" not in text[:1] and " " in text else ""


def _paths(shell: "Shell", found: Parsed) -> list[str]:
    """Return the operands that are paths: those after ``--``, else those that could not be a revision."""
    if found.after_dashes is not None:
        return found.operands[found.after_dashes :]
    return [operand for operand in found.operands if _is_path(shell, operand)]


def _is_path(shell: "Shell", operand: str) -> bool:
    return (
        operand.startswith((".", "/", "~", ":/", ":(")) or is_wild(operand) or exists(absolute(operand, shell.directories[0]))
    ) and ".." not in operand.replace("../", "")


def _act_on(shell: "Shell", role: str, paths: list[str], how: str) -> None:
    for path in paths:
        shell.act(role, re.sub(r"^:(?:/|\([^)]*\))", "", path) or ".", how)


def checkout(shell: "Shell", how: str, args: list[str], stdin: str) -> None:
    """Overwrite the named paths; a branch's name is none."""
    found = parsed("-* -b/-B/--orphan/--conflict=- --pathspec-from-file=r", args)
    if not found.has("-b", "-B", "--orphan"):
        _act_on(shell, "w", _paths(shell, found) or (["."] if found.has("-f", "--force") else []), how)


def switch(shell: "Shell", how: str, args: list[str], stdin: str) -> None:
    """Overwrite everything if changes are to be thrown away."""
    if parsed("-* -c/-C=-", args).has("-f", "--force", "--discard-changes"):
        shell.act("w", ".", how)


def restore(shell: "Shell", how: str, args: list[str], stdin: str) -> None:
    """Overwrite the named paths, unless only the index is restored."""
    found = parsed("-* -s/--source/--conflict=- --pathspec-from-file=r", args)
    index_only = found.has("-S", "--staged") and not found.has("-W", "--worktree")
    _act_on(shell, "m" if index_only else "w", found.operands, how)


def reset(shell: "Shell", how: str, args: list[str], stdin: str) -> None:
    """Overwrite everything with ``--hard``; else only the index changes."""
    if parsed("-*", args).has("--hard", "--merge", "--keep"):
        shell.act("w", ".", how)


def clean(shell: "Shell", how: str, args: list[str], stdin: str) -> None:
    """Delete what is not tracked."""
    found = parsed("-* -e/--exclude=-", args)
    if not found.has("-n", "--dry-run"):
        _act_on(shell, "d", found.operands or ["."], how)


def stash(shell: "Shell", how: str, args: list[str], stdin: str) -> None:
    """Put changes away, or bring them back: both overwrite the working tree. What was put away can be shown."""
    found = parsed("-* -m/--message=p", args)
    verb, *named = found.operands if found.operands and found.after_dashes != 0 else ["push", *found.operands]
    if verb == "show" and found.has("-p", "-u", "--patch"):
        _act_on(shell, "r", named, how)
    elif verb in {"push", "save", "pop", "apply", "branch"}:
        _act_on(shell, "w", (named if verb == "push" else []) or ["."], how)


def remove(shell: "Shell", how: str, args: list[str], stdin: str) -> None:
    """Delete files, or only forget them with ``--cached``."""
    found = parsed("-* --pathspec-from-file=r", args)
    role = "m" if found.has("--cached", "-n", "--dry-run") else "d"
    _act_on(shell, role, found.operands, how)


def move(shell: "Shell", how: str, args: list[str], stdin: str) -> None:
    """Give files another name."""
    shell.run(["mv", *[arg for arg in args if arg not in {"-k", "-n"}]])


def show_log(shell: "Shell", how: str, args: list[str], stdin: str) -> None:
    """Read the content of the named paths only if patches are shown."""
    found = parsed("-* --grep/--author/--since/--until/--after/--before/--format/--pretty/-n/-S/-G/-L/--max-count/--date=p", args)
    shows = found.has("-p", "-u", "--patch", "-L", "-S", "-G", "--cc", "-c")
    for path in _paths(shell, found):
        shell.act("r" if shows else "m", path, how)
    for option, value in found.values:
        if option == "-L" and ":" in value:
            shell.act("r", value.rpartition(":")[2], how)


def compare(shell: "Shell", how: str, args: list[str], stdin: str) -> None:
    """Read the content of the named paths, unless only names or counts are shown."""
    found = parsed(git_commands()["diff"], args)
    if found.has("--name-only", "--name-status", "--stat", "--shortstat", "--quiet", "--numstat"):
        return
    apply(shell, git_commands()["diff"], [f"{option}={value}" for option, value in found.values if option == "--output"], how)
    for operand in _paths(shell, found):
        revision(shell, operand, how)
    for operand in found.operands[: found.after_dashes]:
        if ":" in operand:
            revision(shell, operand, how)


def apply_patch(shell: "Shell", how: str, args: list[str], stdin: str) -> None:
    """Do what a unified diff says, where its text is known."""
    found = parsed("-* -p/-C/--directory/--exclude/--include/--whitespace/-i/--input/-d/-o/-b=-", args)
    texts = [stdin] if not found.operands or found.operands == ["-"] else []
    for operand in [*(found.operands if how.startswith("git") else []), *filter(None, [found.value("-i", "--input")])]:
        shell.act("r", operand, how)
        texts.append(shell.written(operand))
    if found.has("--check", "--stat", "--dry-run"):
        return
    count = found.value("-p") or ("1" if how.startswith("git") else "0")
    folder = found.value("--directory", "-d")
    with shell.scope():
        if folder:
            shell.enter(folder)
        for text in texts:
            patched(shell, patches.diff_changes(text, int(count) if count.isdigit() and len(count) < 3 else 1), how)


def patched(shell: "Shell", changes: list[patches.Change], how: str) -> None:
    """Do what the files of a patch say."""
    roles = {"add": "w", "update": "e", "delete": "d"}
    for change in changes:
        if change.target:
            shell.act("e", change.path, how)
            shell.ledger.move(change.path, change.target, shell.directories, how)
        else:
            shell.act(roles[change.kind], change.path, how)


def clone(shell: "Shell", how: str, args: list[str], stdin: str) -> None:
    """Fetch into a new directory."""
    found = parsed("-* -b/--branch/--depth/-o/--origin/-j/-c/--config/--filter/-u=- --template/--reference=r", args)
    for operand in found.operands[:1]:
        shell.ledger.fetch(operand)
        target = found.operands[1] if len(found.operands) > 1 else re.sub(r"\.git$", "", operand.rstrip("/").rsplit("/", 1)[-1])
        shell.act("w", target, how)
        shell.put(target, "")


def reach(shell: "Shell", how: str, args: list[str], stdin: str) -> None:
    """Reach a remote if its address is given."""
    for operand in parsed("-* -o/--push-option=-", args).operands[:1]:
        if ":" in operand:
            shell.ledger.fetch(operand)


def inner_command(shell: "Shell", how: str, args: list[str], stdin: str) -> None:
    """Run the commands that git is told to run."""
    description = "-* -x/--exec/--tree-filter/--index-filter/--msg-filter/--env-filter/--parent-filter/--setup=s -m/--message=p"
    apply(shell, description, args, how)
    operands = parsed(description, args).operands
    verb = next((verb for verb in ("foreach", "run") if verb in operands[:2]), None)
    if verb:
        rest = [operand for operand in operands[operands.index(verb) + 1 :] if operand != "--recursive"]
        shell.program(" ".join(rest), "", how)


def worktree(shell: "Shell", how: str, args: list[str], stdin: str) -> None:
    """Make, move or delete a working tree."""
    operands = parsed("-* -b/-B/--reason=-", args).operands
    if operands[:1] == ["add"]:
        _act_on(shell, "w", operands[1:2], how)
    elif operands[:1] == ["remove"]:
        _act_on(shell, "d", operands[1:2], how)
    elif operands[:1] == ["move"] and len(operands) > 2:
        shell.ledger.move(operands[1], operands[2], shell.directories, how)


def diff_program(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Follow ``patch``, which takes its own file names from the diff."""
    operands = parsed("-* -p/-i/--input/-d/--directory/-o/--output/-r/-B/-D/-F/-V/-z=-", args).operands
    for operand in operands[:1]:
        shell.act("e", operand, "patch")
    source = [*(f"--input={operand}" for operand in operands[1:2])]
    apply_patch(shell, "patch", [*[arg for arg in args if arg not in operands], *source], stdin)
    return DYNAMIC


def codex_patch(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Do what an ``apply_patch`` text says, given as the argument or on the input."""
    for text in [*args, stdin]:
        if patches.is_patch(text):
            patched(shell, patches.changes(text), "patch")
    return DYNAMIC


def grep(shell: "Shell", how: str, args: list[str], stdin: str) -> None:
    """Read the named paths."""
    apply(shell, git_commands()["grep"], [arg for arg in args if not re.fullmatch(r"[0-9a-f]{40}|HEAD\S*", arg)], how)


_COMMANDS: "dict[str, Callable[[Shell, str, list[str], str], None]]" = {
    "checkout": checkout,
    "switch": switch,
    "restore": restore,
    "reset": reset,
    "clean": clean,
    "stash": stash,
    "rm": remove,
    "mv": move,
    "log": show_log,
    "whatchanged": show_log,
    "shortlog": show_log,
    "diff": compare,
    "diff-index": compare,
    "diff-tree": compare,
    "apply": apply_patch,
    "clone": clone,
    **dict.fromkeys(names("push pull fetch ls-remote"), reach),
    **dict.fromkeys(names("submodule bisect rebase filter-branch"), inner_command),
    "worktree": worktree,
    "grep": grep,
}
HANDLERS: "dict[str, Callable[[Shell, str, list[str], str], str]]" = {
    "git": git,
    "patch": diff_program,
    "apply_patch": codex_patch,
    "applypatch": codex_patch,
}
