"""Programs that run code of another language: given as an option, on the input, or in a file that the call has written."""

# ruff: noqa: ARG001 - every program's function is called with the same four arguments

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from matrixx_builtin.services.effects import python_code, script_code
from matrixx_builtin.services.effects.filters import from_base64
from matrixx_builtin.services.effects.operands import apply, guess
from matrixx_builtin.services.effects.options import parsed
from matrixx_builtin.services.effects.words import DYNAMIC, ansi, is_dynamic, joined, names, shown

if TYPE_CHECKING:
    from matrixx_builtin.services.effects.shell import Shell


class Language(NamedTuple):
    """How an interpreter takes its code: the letters before code, those before another value, and those before a script's path."""

    name: str
    code: str
    valued: str = ""
    script: str = ""
    long: frozenset[str] = frozenset({"--eval", "--print", "--execute", "--command"})


_LANGUAGES = {
    "python pypy ipython pythonw py jython micropython": Language("python", "c", "mWX"),
    "node nodejs bun deno tsx ts-node qjs": Language("javascript", "ep", "rCI"),
    "perl": Language("perl", "eE", "IMmFxCdDV"),
    "ruby jruby irb": Language("ruby", "e", "rIEKFCx"),
    "php": Language("php", "rBRE", "dcStzD", "fF"),
    "lua luajit texlua": Language("lua", "e", "l"),
    "rscript r": Language("r", "e", "g", "f"),
    "julia": Language("julia", "eE", "JLpt"),
    "osascript": Language("applescript", "e", "l"),
    "groovy elixir scala jshell iex clojure bb": Language("other", "e", "cp"),
    "swift tclsh guile racket ghc runghc ocaml kotlin": Language("other", "e"),
}
_FIRST_LINE = re.compile(r"#!\s*(?:/usr/bin/env\s+(?:-S\s+)?)?(?:\S*/)?([\w.+-]+)")
_MODULES = {
    "json.tool": "r w",
    "base64": "r -",
    "venv": "w",
    "py_compile": "r*",
    "compileall": "r*",
    "zipfile": "-* -c=w -e=r -l=r",
    "tarfile": "-* -c=w -e=r -l=r",
    "dotenv": "-* -f/--file=r",
    "http.server": "-* -d/--directory=r",
}
_MODULE_PROGRAMS = frozenset(names("pip pytest black isort ruff mypy flake8 pylint dotenv"))
_SQL_FILE = re.compile(
    r"^[ \t]{0,40}(?:\\(i|ir|include|o|g|copy|e|!)|\.(read|import|output|once|save|backup|open|dump|shell|system|log)|(source))\s*([^\n;]*)",
    re.MULTILINE,
)


_SQL_CALL = re.compile(
    r"\b(readfile|load_file|infile|read_csv|read_csv_auto|read_text|writefile|outfile)\s{0,9}\(?\s{0,9}'([^']+)'", re.IGNORECASE
)


@dataclass(slots=True)
class Line:
    """An interpreter's command line, sorted."""

    codes: list[str] = field(default_factory=list[str])
    rest: list[str] = field(default_factory=list[str])
    module: str = ""
    flags: str = ""
    preloaded: list[str] = field(default_factory=list[str])
    scripts: list[str] = field(default_factory=list[str])


def interpret(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Run an interpreter."""
    language = _BY_NAME[name]
    if language.name == "javascript" and args[:1] in (["eval"], ["run"]):
        args = ["-e", *args[1:]] if args[0] == "eval" else args[1:]
    line = _sorted(language, args)
    _options(shell, name, args, line)
    if line.module:
        return _module(shell, line)
    printed = ""
    for path in line.scripts:
        run_script(shell, path, line.rest, name)
    if line.codes:
        printed = "".join([analyse(shell, language.name, code, line.rest) for code in line.codes])
        _operands(shell, name, language, line)
    elif line.rest and line.rest[0] != "-":
        return run_script(shell, line.rest[0], line.rest[1:], name)
    elif stdin:
        printed = analyse(shell, language.name, stdin, line.rest[1:])
    return printed or DYNAMIC


def _sorted(language: Language, args: list[str]) -> Line:
    line, at = Line(), 0
    while at < len(args) and args[at].startswith("-") and args[at] != "-":
        arg = args[at]
        following = args[at + 1] if at + 1 < len(args) else ""
        at += 1
        if arg == "--":
            break
        if arg.startswith("--"):
            option, equals, value = arg.partition("=")
            if option in language.long:
                line.codes.append(value if equals else following)
                at += not equals
            elif option in {"--require", "--import", "--loader"}:
                line.preloaded.append(value if equals else following)
                at += not equals
            continue
        at += _cluster(language, arg, following, line)
        if line.module:
            break
    line.rest = args[at:]
    return line


def _cluster(language: Language, arg: str, following: str, line: Line) -> int:
    """Sort letters such as ``-lane CODE``; returns how many of the following arguments they take."""
    for at, letter in enumerate(arg[1:], 2):
        rest = arg[at:]
        if letter in language.code:
            line.flags += letter
            if rest and not (language.name in {"javascript", "perl"} and set(rest) <= set(language.code)):
                line.codes.append(rest)
                return 0
            line.codes.append(following)
            return 1
        if letter == "i" and language.name in {"perl", "ruby"}:
            line.flags += "i"
            return 0
        if letter in language.script:
            line.scripts.append(rest or following)
            return int(not rest)
        if letter in language.valued:
            if letter == "m" and language.name == "python":
                line.module = rest or following
                return int(not rest)
            if letter == "r":
                line.preloaded.append(rest or following)
            return int(not rest and language.name != "perl")
        line.flags += letter
    return 0


def _options(shell: "Shell", name: str, args: list[str], line: Line) -> None:
    """Note environment files and preloaded modules."""
    for at, arg in enumerate(args):
        if arg.startswith("--env-file"):
            shell.act("r", arg.partition("=")[2] or (args[at + 1] if at + 1 < len(args) else ""), f"{name} --env-file")
    for module in line.preloaded:
        if module.startswith("dotenv"):
            shell.act("r", ".env", "dotenv")


def _operands(shell: "Shell", name: str, language: Language, line: Line) -> None:
    """Touch what stands after the code: what it loops over with ``-n``, ``-p`` or ``-i``, or is given as arguments."""
    loops = language.name in {"perl", "ruby"} and set(line.flags) & set("npi")
    for operand in line.rest:
        if loops:
            shell.act("e" if "i" in line.flags else "r", operand, f"{name} -i" if "i" in line.flags else name)
    if not loops:
        writes = any(re.search(r"write|unlink|remove|rename|trunc|['\"][wax]b?\+?['\"]", code) for code in line.codes)
        guess(shell, name, line.rest, "b" if writes else "r")


def _module(shell: "Shell", line: Line) -> str:
    name = line.module
    if name in _MODULE_PROGRAMS:
        return shell.run([name, *line.rest])
    apply(shell, _MODULES.get(name, "r*"), line.rest, f"python -m {name}")
    return DYNAMIC


def run_script(shell: "Shell", path: str, args: list[str], name: str = "") -> str:
    """Run a script by its path; its text is known only if this very call has written it."""
    shell.act("r", path, f"{name or 'run'} script")
    text = shell.written(path)
    if text == DYNAMIC:
        guess(shell, name, args, "r")
        return DYNAMIC
    first = _FIRST_LINE.match(text)
    return shell.run([name or (first[1] if first else "sh"), *(["-s"] if not name and not first else ["-"]), *args], text)


def analyse(shell: "Shell", language: str, code: str, arguments: list[str]) -> str:
    """Do what a program's text says; returns the texts that it surely prints."""
    if is_dynamic(code[:1]) and len(code) < 40:
        shell.ledger.doubt("code", f"{language} runs what only the shell knows")
        return ""
    with shell.deeper(language) as allowed:
        code = code.replace("do shell script", "system") if language == "applescript" else code
        if not allowed:
            return ""
        printed = python_code.analyse(shell, shown(code), arguments) if language == "python" else None
        return script_code.analyse(shell, language, code, arguments) if printed is None else printed


# Interpreters with ways of their own

_AWK_READ = re.compile(r"getline[^<;\n{}]{0,80}<\s*((?:\(?\s*(?:\"(?:\\.|[^\"\\])*\"|[A-Za-z_]\w*)\s*)+)")
_AWK_WRITE = re.compile(r"print[^;}\n]{0,400}?[^>](>>?|\|&?)\s*((?:\(?\s*(?:\"(?:\\.|[^\"\\])*\"|[A-Za-z_]\w*)\s*)+)")
_AWK_RUN = re.compile(r"(?:system\s*\(|(?=(?:\"(?:\\.|[^\"\\])*\")\s*\|\s*getline))\s*((?:(?:\"(?:\\.|[^\"\\])*\"|[A-Za-z_]\w*)\s*)+)")
_AWK_ARGUMENT = re.compile(r"ARGV\[\w+\]\s*=\s*\"((?:\\.|[^\"\\])*)\"")
_AWK_PRINT = re.compile(r"print\s*\(?\s*\"((?:\\.|[^\"\\])*)\"\s*[)};]*\s*(?:$|\}|;)")
_AWK_PART = re.compile(r"\"((?:\\.|[^\"\\])*)\"|([A-Za-z_]\w*)")


def awk(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Read the operands, and follow what the program reads, writes and runs itself."""
    found = parsed("p r* -f/--file=r! -v/-F/-i/-e/--assign/--field-separator/--include/--source=-", args)
    named = dict(value.split("=", 1) for option, value in found.values if option in {"-v", "--assign"} and "=" in value)
    files, codes = list(found.operands), [value for option, value in found.values if option in {"-e", "--source"}]
    for option, value in found.values:
        if option in {"-f", "--file"}:
            shell.act("r", value, "awk -f")
            codes.append(shell.written(value))
    if not codes and files:
        codes.append(files.pop(0))
    edits = ("-i", "inplace") in found.values
    for file in files:
        key, equals, value = file.partition("=")
        if equals and key.isidentifier():
            named[key] = value
        else:
            shell.act("e" if edits else "r", file, "awk -i inplace" if edits else "awk")
    for code in codes:
        _awk_code(shell, code[: script_code.LARGEST], named)
    printed = "".join(f"{ansi(text)}\n" for code in codes for text in _AWK_PRINT.findall(code[: script_code.LARGEST]))
    return printed or (stdin if stdin and not files else DYNAMIC)


def _awk_code(shell: "Shell", code: str, named: dict[str, str]) -> None:
    named = {**dict(re.findall(r"([A-Za-z_]\w*)\s*=\s*\"((?:\\.|[^\"\\])*)\"", code)), **named}

    def text(expression: str) -> str:
        return joined([[part or named.get(name, DYNAMIC)] for part, name in _AWK_PART.findall(expression)])[0]

    for file in _AWK_ARGUMENT.findall(code):
        shell.act("r", file, "awk ARGV")
    for expression in _AWK_READ.findall(code):
        shell.act("r", text(expression), "awk getline")
    for operator, expression in _AWK_WRITE.findall(code):
        if operator.startswith("|"):
            shell.program(text(expression), "", "awk")
        elif '"' in expression or expression.strip() in named:
            shell.act("a" if operator == ">>" else "w", text(expression), "awk print")
    for expression in _AWK_RUN.findall(code):
        shell.program(text(expression), "", "awk")


def powershell(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Run PowerShell: its command, its encoded command, or a file."""
    for at, arg in enumerate(args):
        option, rest = arg.lower(), args[at + 1 :]
        if option.startswith(("-e", "/e")) and "encodedcommand".startswith(option[1:]) and option not in {"-ep", "-ex"}:
            text = from_base64(rest[0] if rest else "").replace("\0", "")
            return _powershell_code(shell, text)
        if option in {"-c", "-command", "/c"}:
            return _powershell_code(shell, " ".join(rest))
        if option in {"-f", "-file"} and rest:
            return run_script(shell, rest[0], rest[1:], name)
    words = [arg for arg in args if not arg.startswith("-")]
    return _powershell_code(shell, " ".join(words) or stdin)


def _powershell_code(shell: "Shell", code: str) -> str:
    script_code.analyse(shell, "powershell", code, [])
    return shell.program(code.replace("\\", "/"), "", "powershell")


def database(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Run a database's client; its input is noted as an argument of the run, since it is what is executed."""
    description = "-* -f/--file/--defaults-file/--defaults-extra-file=r -o/--output/-L=w -c/-e/--command/--execute/--eval/-h/-U/-d/-p/-u/-P/-D=- -cmd/-init=-"
    apply(shell, description, args, name)
    found = parsed(description, args)
    texts = [value for option, value in found.values if option in {"-c", "-e", "--command", "--execute", "--eval", "-cmd"}]
    if name.startswith("sqlite"):
        for operand in found.operands[:1]:
            shell.act("b", operand, name)
        texts += found.operands[1:]
    if stdin:
        shell.ledger.run((name, *args, "<<<", stdin), shell.directories[0])
        texts.append(stdin)
    for text in texts:
        for verb, file in _SQL_CALL.findall(text[:65536]):
            shell.act("w" if verb.lower() in {"writefile", "outfile"} else "r", file, f"{name} {verb}")
        for one, two, three, operand in _SQL_FILE.findall(text[:65536]):
            _sql_command(shell, one or two or three, operand.strip().strip("'\""), name)
    return DYNAMIC


def _sql_command(shell: "Shell", verb: str, operand: str, name: str) -> None:
    if verb in {"!", "shell", "system"}:
        shell.program(operand, "", name)
    elif verb == "copy":
        found = re.search(r"\b(from|to)\s+'?([^'\s]+)", operand, re.IGNORECASE)
        if found:
            shell.act("r" if found[1].lower() == "from" else "w", found[2], name)
    elif operand:
        role = "w" if verb in {"o", "g", "output", "once", "save", "backup", "log"} else "r"
        shell.act(role, operand.split(maxsplit=1)[0], f"{name} {verb}")


_BY_NAME = {name: language for names, language in _LANGUAGES.items() for name in names.split()}
HANDLERS: "dict[str, Callable[[Shell, str, list[str], str], str]]" = {
    **dict.fromkeys(_BY_NAME, interpret),
    **dict.fromkeys(names("awk gawk mawk nawk"), awk),
    **dict.fromkeys(["powershell", "pwsh"], powershell),
    **dict.fromkeys(
        names("psql mysql mariadb sqlite sqlite3 duckdb mongosh mongo redis-cli cqlsh clickhouse-client sqlcmd"),
        database,
    ),
}
