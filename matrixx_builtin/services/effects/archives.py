"""Programs that pack and unpack."""

# ruff: noqa: ARG001 - every program's function is called with the same four arguments

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from matrixx_builtin.services.effects.options import parsed
from matrixx_builtin.services.effects.words import DYNAMIC, names

if TYPE_CHECKING:
    from matrixx_builtin.services.effects.shell import Shell

_TAR = (
    "-* -f/--file/-C/--directory/--exclude/-X/--exclude-from/-T/--files-from/--transform/-s/-b/-I/--use-compress-program/--to-command"
    "/--checkpoint-action/--strip-components/--owner/--group/--mode=-"
)
_ENDINGS = re.compile(r"\.(?:gz|bz2|xz|zst|lz4|Z|lzma)$")


def tar(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Pack or unpack, by the letter that says which."""
    if args and re.fullmatch(r"[A-Za-z]*[cxtru][A-Za-z]*", args[0]):
        args = [f"-{args[0]}", *args[1:]]
    letters = "".join(arg[1:] for arg in args if re.fullmatch(r"-[A-Za-z]+", arg))
    long = {arg for arg in args if arg.startswith("--")}
    found = parsed(_TAR, [arg if not re.fullmatch(r"-[A-Za-z]*f[A-Za-z]+", arg) else arg.replace("f", "") + "f" for arg in args])
    packs = bool(set(letters) & set("cru")) or bool(long & {"--create", "--append", "--update"})
    archive = found.value("-f", "--file") or "-"
    shell.act("w" if packs else "r", archive, "tar")
    folder = found.value("-C", "--directory")
    with shell.scope():
        if folder:
            shell.enter(folder)
        _members(shell, found.operands, packs=packs, unpacks="x" in letters or "--extract" in long)
    for option, value in found.values:
        if option in {"-I", "--use-compress-program", "--to-command", "--checkpoint-action"}:
            shell.program(value.removeprefix("exec="), "", f"tar {option}")
        elif option in {"-T", "--files-from", "-X", "--exclude-from"}:
            shell.act("r", value, f"tar {option}")
            _members(shell, stdin.splitlines()[:256] if value == "-" else [], packs=packs, unpacks=False)
    return DYNAMIC


def _members(shell: "Shell", operands: list[str], *, packs: bool, unpacks: bool) -> None:
    if packs:
        for operand in operands:
            shell.act("r", operand, "tar")
    elif unpacks:
        for operand in operands or ["."]:
            shell.act("w", operand, "tar")


def listed_members(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Pack the files whose names are on the input."""
    found = parsed("-* -F/-O/-I/-f=-", args)
    if found.has("-o", "-p", "-w", "--create"):
        for line in (*stdin.splitlines()[:256], *found.operands):
            shell.act("r", line, name)
    return DYNAMIC


def zipped(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Read the members and write the archive; ``-m`` deletes them."""
    found = parsed("-* -i/-b/-n/-P/-t/-tt=-", args[: args.index("-x")] if "-x" in args else args)
    for operand in found.operands[:1]:
        shell.act("w", operand, name)
    for operand in found.operands[1:]:
        shell.act("r", operand, name)
        if found.has("-m", "--move"):
            shell.act("d", operand, name)
    return DYNAMIC


def unzipped(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Read the archive and write its members."""
    found = parsed("-* -d/-x/-P=-", args)
    for operand in found.operands[:1]:
        shell.act("r", operand, name)
    if not found.has("-l", "-p", "-t", "-v", "-z"):
        folder = found.value("-d") or "."
        for member in found.operands[1:] or [""]:
            shell.act("w", f"{folder}/{member}".rstrip("/"), name)
    return DYNAMIC


def seven_zip(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Pack or unpack with 7-Zip or rar."""
    operands = [arg for arg in args if not arg.startswith("-")]
    packs = operands[:1] in (["a"], ["u"])
    for at, operand in enumerate(operands[1:]):
        shell.act("w" if packs and at == 0 else "r", operand, name)
    if operands[:1] in (["x"], ["e"]):
        shell.act("w", next((arg[2:] for arg in args if arg.startswith("-o")), "."), name)
    return DYNAMIC


def squeezed(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Replace a file by its packed form, or the other way round."""
    found = parsed("-* -S/--suffix/-o=-", args)
    for operand in found.operands:
        shell.act("r", operand, name)
        if found.has("-c", "--stdout", "-t", "--test", "-l"):
            continue
        unpacks = name.startswith("un") or name in {"gunzip", "bunzip2"} or found.has("-d", "--decompress")
        shell.act("w", _ENDINGS.sub("", operand) if unpacks else f"{operand}.{name[:2]}", name)
        if not found.has("-k", "--keep") and name not in {"zstd", "unzstd", "lz4"}:
            shell.act("d", operand, name)
    return DYNAMIC


def split(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Read a file and write its pieces, named after a prefix."""
    found = parsed("r - -b/-l/-n/-C/-a/-f/--prefix/--suffix-length/--additional-suffix=-", args)
    for operand in found.operands[:1]:
        shell.act("r", operand, name)
    prefix = found.value("-f", "--prefix") if name == "csplit" else "".join(found.operands[1:2])
    ending = found.value("--additional-suffix") or ""
    shell.act("w", f"{prefix or 'x'}??{ending}", name)
    return ""


HANDLERS: "dict[str, Callable[[Shell, str, list[str], str], str]]" = {
    **dict.fromkeys(["tar", "gtar", "bsdtar"], tar),
    "split": split,
    "csplit": split,
    "cpio": listed_members,
    "pax": listed_members,
    "zip": zipped,
    "unzip": unzipped,
    **dict.fromkeys(names("7z 7za 7zz rar unrar"), seven_zip),
    **dict.fromkeys(names("gzip bzip2 xz zstd lz4 compress gunzip bunzip2 unxz uncompress unzstd lzma pigz"), squeezed),
}
