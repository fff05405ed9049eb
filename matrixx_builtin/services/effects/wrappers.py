"""Programs that run another command, and the shell's own words that do."""

# ruff: noqa: ARG001 - every program's function is called with the same four arguments

import re
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING

from matrixx_builtin.services.effects.operands import apply, use
from matrixx_builtin.services.effects.options import parsed, spec_of
from matrixx_builtin.services.effects.words import DYNAMIC, names

if TYPE_CHECKING:
    from matrixx_builtin.services.effects.shell import Shell

_WRAPPERS = """
sudo doas: 0 -u/-g/-C/-p/-h/-r/-t/-T/-U/-R/--user/--group/--prompt/--host/--chroot=- -D/--chdir=C
env: 0 -u/--unset=- -C/--chdir=C -S/--split-string=s
nohup setsid unbuffer caffeinate catchsegv fakeroot coproc exec builtin rtk winpty time noglob nocorrect then do else proxychains torsocks tsocks: 0 -a/-n=-
command: 0
nice ionice gnice: 0 -n/-c/-p/--adjustment/--class=-
timeout gtimeout: 1 -s/-k/--signal/--kill-after=-
stdbuf: 0 -i/-o/-e/--input/--output/--error=-
chrt taskset numactl: 1 -p/-c=-
strace ltrace: 0 -e/-p/-s/-u=- -o=w
valgrind perf: 0
watch: 0 -n/-d/--interval=-
flock: 1 -w/-E/--timeout=- -c/--command=s
chroot gosu su-exec: 1
unshare nsenter setpriv systemd-run run0 pkexec dbus-run-session xvfb-run: 0 -t/-S/-G/--reuid/--regid/--unit/-p=-
firejail bwrap proot: 0
parallel: 0 -j/-n/-N/-I/--jobs/--delay=- -a/--arg-file=r
busybox toybox: 0
uv poetry pipenv pdm hatch rye bundle mise asdf direnv pnpm yarn npm npx bunx conda micromamba rbenv pyenv nvm fnm volta: run
dotenv dotenvx env-cmd with-env godotenv dotenv-cli: 0 -f/-e/--file/--env-file=r -v=-
hyperfine: s -w/-r/-p/-c/--warmup/--runs=-
nix-shell nix: - --run/--command=s
su runuser: - -c/--command=s -s/--shell/-g/-u=-
script: w -c/--command=s
sg newgrp: - -c=s
entr: 0
wsl: 0 -d/-u/--cd=-
"""
_INPUT = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
"""Names of the standard input."""
_RUNS = frozenset(names("run exec x dlx tool shell which"))
_SHELLS = frozenset(names("sh bash zsh dash ksh mksh fish ash rbash yash pwsh-preview"))
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_MAPFILE = "-* -d/-n/-O/-s/-u/-c/-C=-"
_READ = "-* -a/-d/-i/-n/-N/-p/-t/-u=-"


def wrapped(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Run the command that follows the wrapper's own options and operands."""
    description = DESCRIPTIONS[name]
    spec = spec_of(description)
    count = spec.operands[0]
    found = parsed(description, args, stop_at_operand=count.isdigit() or count == "run")
    for option, value in found.values:
        _wrapper_option(shell, spec.values.get(option, "-"), value, name, option)
    operands = [operand for operand in found.operands if operand != "--"]
    if count == "run":
        return _subcommand(shell, name, operands, args, stdin)
    if count in {"-", "w", "s"}:
        for operand in operands if count == "s" else operands[:1]:
            use(shell, count, operand, name)
        return shell.run(operands[1:], stdin) if count == "w" and len(operands) > 1 else DYNAMIC
    if name == "command" and found.has("-v", "-V"):
        return "".join(f"{operand}\n" for operand in operands)
    if name == "sudo" and found.has("-e", "--edit"):
        for operand in operands:
            shell.act("b", operand, "sudo -e")
        return ""
    if name.startswith(("dotenv", "env-cmd", "with-env", "godotenv")) and not found.has("-f", "-e", "--file", "--env-file"):
        shell.act("b" if operands[:1] in (["set"], ["unset"]) else "r", ".env", name)
    argv = operands[int(count) :]
    while len(argv) > 1 and argv[0] in spec.values:
        _wrapper_option(shell, spec.values[argv[0]], argv[1], name, argv[0])
        argv = argv[2:]
    return _inner(shell, name, argv, stdin)


def _inner(shell: "Shell", name: str, argv: list[str], stdin: str) -> str:
    with shell.scope():
        while argv and _ASSIGNMENT.fullmatch(argv[0]) and name in {"env", "sudo", "doas", "busybox"}:
            key, _, value = argv.pop(0).partition("=")
            shell.assign(key, [value])
        if argv[:1] in (["run"], ["exec"]) and name.startswith("dotenv"):
            argv = [arg for arg in argv[1:] if arg != "--"]
        if name == "parallel":
            at = argv.index(":::") if ":::" in argv else len(argv)
            items = [one for one in argv[at + 1 :] if not one.startswith(":::")] or stdin.split()[:64]
            template = " ".join(argv[:at])
            return "".join([shell.program(_filled(template, item), "", name) for item in items])
        if name in {"watch", "entr"} and len(argv) == 1:
            return shell.program(argv[0], stdin, name)
        return shell.run(argv, stdin) if argv else ""


def _wrapper_option(shell: "Shell", role: str, value: str, name: str, option: str) -> None:
    if role == "C":
        shell.enter(value)
    else:
        use(shell, role, value, f"{name} {option}")


def _subcommand(shell: "Shell", name: str, operands: list[str], args: list[str], stdin: str) -> str:
    """Run what ``uv run``, ``npx``, ``poetry run`` and their like run; other commands of theirs only install or print."""
    from matrixx_builtin.services.effects.programs import programs

    if name in programs():
        apply(shell, programs()[name], args, name)
    if name in {"npx", "bunx"}:
        return shell.run(operands, stdin) if operands else ""
    at = next((at for at, operand in enumerate(operands[:3]) if operand in _RUNS), None)
    if at is None or (name in {"npm", "pnpm", "yarn", "bun"} and operands[at] == "run"):
        return DYNAMIC
    rest = [operand for at_rest, operand in enumerate(operands[at + 1 :]) if at_rest or operand not in {"--", ".", "run"}]
    while rest and rest[0].startswith("-"):
        rest = rest[2 if "=" not in rest[0] and rest[0] in {"--with", "--env-file", "--python", "-p", "-n", "--group", "-c"} else 1 :]
    return shell.run(rest, stdin) if rest else DYNAMIC


def sh(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Run a shell: its ``-c`` text, its script, or the program on its input."""
    at, is_code, on_input = 0, False, False
    while at < len(args) and args[at][:1] in {"-", "+"} and args[at] != "-":
        arg = args[at]
        at += 1
        if arg == "--":
            break
        if arg in {"--rcfile", "--init-file"}:
            shell.act("r", args[at] if at < len(args) else "", name)
            at += 1
        elif arg in {"-o", "+o", "-O", "+O"}:
            at += 1
        elif (not arg.startswith("--") and "c" in arg) or arg in {"--command", "--commands"}:
            is_code = True
        elif not arg.startswith("--") and "s" in arg:
            on_input = True
    rest = args[at:]
    with shell.scope():
        if is_code:
            shell.zero, shell.arguments = "".join(rest[1:2]), tuple(rest[2:])
            return shell.program(rest[0] if rest else "", stdin, f"{name} -c")
        if rest and rest[0] != "-" and not on_input:
            return script(shell, name, rest, stdin)
        shell.arguments = tuple(rest)
        return shell.program(stdin, "", name)


def script(shell: "Shell", name: str, argv: list[str], stdin: str) -> str:
    """Run a shell script by its path; its text is known only if this very call has written it."""
    if argv[0] in _INPUT:
        return shell.program(stdin, "", name)
    shell.act("r", argv[0], f"{name} script")
    text = shell.written(argv[0])
    if text == DYNAMIC:
        if argv[0].startswith("/dev/"):
            shell.ledger.doubt("code", f"{name} runs what only the shell knows")
        return DYNAMIC
    shell.arguments = tuple(argv[1:])
    return shell.program(text, "", name)


def source(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Run a script in this very shell."""
    return script(shell, "source", args, stdin) if args else ""


def evaluate(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Run the arguments as shell text."""
    return shell.program(" ".join(args), stdin, "eval")


def trap(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Run what a signal would run."""
    words = [arg for arg in args if not arg.startswith("-")]
    return shell.program(words[0], "", "trap") if len(words) > 1 else ""


def alias(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Remember aliases."""
    for arg in args:
        key, equals, text = arg.partition("=")
        if equals:
            shell.aliases[key] = text
    return ""


def change_directory(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Follow ``cd`` and ``pushd``."""
    operands = [arg for arg in args if not re.fullmatch(r"-[LPe@]+|--|/d", arg)]
    shell.enter(operands[0] if operands else "-" if name == "popd" else "~")
    return ""


def shift(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Drop leading arguments."""
    count = int(args[0]) if args and args[0].isdecimal() and len(args[0]) < 4 else 1
    shell.arguments = shell.arguments[count:]
    return ""


def set_arguments(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Replace the arguments."""
    at = next((at for at, arg in enumerate(args) if not arg.startswith(("-", "+")) or arg == "--"), len(args))
    if args[at:]:
        shell.arguments = tuple(args[at + (args[at] == "--") :])
    return ""


def where(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Print the directory."""
    return f"{shell.directories[0]}\n"


def read(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Set variables to lines of the input: any of them, since loops read one after another."""
    found = parsed(_MAPFILE if name != "read" else _READ, args)
    lines = [line.strip() for line in stdin.splitlines()[:64]] or [DYNAMIC]
    if name != "read":
        shell.assign((found.operands or ["MAPFILE"])[-1], lines)
        return ""
    targets = found.operands or [value for option, value in found.values if option == "-a"] or ["REPLY"]
    for at, target in enumerate(targets):
        fields = [line.split(None, len(targets) - 1) for line in lines] if len(targets) > 1 else [[line] for line in lines]
        shell.assign(target, [field[at] for field in fields if at < len(field)] or [DYNAMIC])
    return ""


def xargs(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Run a command with the words of the input."""
    description = "-* -I/-i/-d/-n/-P/-L/-s/-E/--delimiter/--replace/--max-args/--max-procs/--max-lines=- -a/--arg-file=r"
    found = parsed(description, args, stop_at_operand=True)
    if (file := found.value("-a", "--arg-file")) is not None:
        shell.act("r", file, "xargs -a")
        stdin = shell.written(file)
    separated = found.has("-0", "--null") or found.has("-d", "--delimiter")
    items = re.split(r"[\0\n]" if separated else r"\n", stdin) if separated or found.has("-I", "--replace") else _split(stdin)
    items = [item for item in items if item.strip()][:256]
    return _with_items(shell, found.operands or ["echo"], items, found.value("-I", "--replace", "-i") or ("{}" if found.has("-i") else ""))


def _with_items(shell: "Shell", argv: list[str], items: list[str], mark: str) -> str:
    if mark and any(mark in word for word in argv):
        rounds = ([word.replace(mark, item) for word in argv] for item in items or [f"{DYNAMIC}$ITEM"])
        return "".join([shell.run(one) for one in rounds])
    return shell.run([*argv, *items])


def _filled(template: str, item: str) -> str:
    return template.replace("{}", item) if "{}" in template else f"{template} {item}"


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text) if len(text) < 65536 else text.split()
    except ValueError:
        return text.split()


def ssh(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Reach another machine; what runs there touches nothing here."""
    found = parsed("-* -i/-F=r -p/-l/-o/-L/-R/-D/-J/-b/-c/-m/-W=-", args, stop_at_operand=True)
    apply(shell, "-* -i/-F=r -p/-l/-o/-L/-R/-D/-J/-b/-c/-m/-W=-", args[: len(args) - len(found.operands)], name)
    shell.ledger.fetch(next(iter(found.operands), ""))
    for option, value in found.values:
        if option == "-o" and value.lower().startswith(("proxycommand", "localcommand")):
            shell.program(value.partition("=")[2] or value.partition(" ")[2], "", "ssh -o")
    return DYNAMIC


def windows_shell(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Run ``cmd /c``."""
    at = next((at for at, arg in enumerate(args) if arg.lower() in {"/c", "/k", "-c", "//c"}), len(args))
    return shell.program(" ".join(args[at + 1 :]).replace("\\", "/"), stdin, "cmd /c")


def later(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Run the input as ``at`` and ``batch`` will."""
    apply(shell, "-* -f=r", args, name)
    return shell.program(stdin, "", name)


def _described(text: str) -> dict[str, str]:
    lines = (line.partition(": ") for line in text.strip().splitlines())
    return {name: description for names, _, description in lines for name in names.split()}


DESCRIPTIONS = _described(_WRAPPERS)
HANDLERS: "dict[str, Callable[[Shell, str, list[str], str], str]]" = {
    **dict.fromkeys(DESCRIPTIONS, wrapped),
    **dict.fromkeys(_SHELLS, sh),
    "source": source,
    ".": source,
    "eval": evaluate,
    "trap": trap,
    "alias": alias,
    **dict.fromkeys(names("cd pushd popd chdir set-location sl"), change_directory),
    "shift": shift,
    "set": set_arguments,
    "pwd": where,
    **dict.fromkeys(["read", "mapfile", "readarray"], read),
    "xargs": xargs,
    "gxargs": xargs,
    "ssh": ssh,
    "mosh": ssh,
    "at": later,
    "batch": later,
    "cmd": windows_shell,
}
