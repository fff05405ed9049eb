"""Read code of other languages (JavaScript, Perl, Ruby, PHP, Lua ...) for the paths that its calls name: tokens only, no grammar."""

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote

from matrixx_builtin.services.effects.calls import EVALS, OPENERS, SHELLS, call_named, is_mode, mode_role, only_speaks
from matrixx_builtin.services.effects.filters import from_base64, from_hex
from matrixx_builtin.services.effects.operands import address, looks_like_path
from matrixx_builtin.services.effects.words import DYNAMIC, ansi, is_dynamic, names, shown

if TYPE_CHECKING:
    from matrixx_builtin.services.effects.shell import Shell

LARGEST = 65_536
"""How much code of one program is read."""
LONGEST = 4096
"""How long a text that the code puts together may grow."""
_TOKEN = re.compile(
    r"(?P<comment>//(?=[^\n]*(?:\n|$))(?<![:'\"])[^\n]*|/\*(?:[^*]|\*(?!/)){0,1000}\*/|(?<![\w$&'\"\\])#(?![{!])[^\n]*)"
    r"|(?P<string>'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`(?:\\.|[^`\\])*`|\bqq?[({\[/|][^)}\]/|\n]{0,400}[)}\]/|]|%[qQ]?[({\[][^)}\]\n]{0,400}[)}\]]|\bqx[({/][^)}/\n]{0,400}[)}/]|%x[({\[][^)}\]\n]{0,400}[)}\]])"
    r"|(?P<name>[$@%]?[A-Za-z_]\w*(?:(?:\?\.|\.|::|->|:(?=[a-z]))[A-Za-z_]\w*)*)"
    r"|(?P<number>0x[0-9A-Fa-f]+|\d+)"
    r"|(?P<mark>=>|==+|!=+|<=|>=|>>|&&|\|\||\.\.|[-+*/]=|\.=|[=(){}\[\],;+.<>|?:&!\n])",
    re.DOTALL,
)
_HASH_IS_NO_COMMENT = frozenset({"javascript"})
_SLASHES_ARE_NO_COMMENT = frozenset({"perl", "ruby", "lua"})
_PRINTERS = frozenset({"log", "print", "puts", "say", "printf"})
_LOOPS = frozenset({"map", "foreach", "flatmap", "each", "filter"})
_ARGUMENTS = re.compile(r"@ARGV[^=;\n]{0,20}=\s*\(?\s*['\"]([^'\"\n]+)")
_WRITES = re.compile(
    r"write|unlink|append|trunc|save|dump|output|rename|remove|rm(?:Sync)?\(|['\"][wa]b?\+?['\"]|>\s*\$|delete|put_contents", re.IGNORECASE
)
_INTERPOLATED = re.compile(r"[$#@]\{\s*([A-Za-z_$]\w*)\s*\}|(?<!\\)\$([A-Za-z_]\w*)")
_KEYWORDS = frozenset(
    names(
        "return if else while for do end then and or not new await my our local var let const def use from in of function print "
        "puts echo say die eq ne lt gt le ge cmp xor unless elsif"
    )
)


@dataclass(slots=True)
class Frame:
    """A call that is still open: its name, the arguments so far and the one being put together."""

    name: str
    closer: str
    args: list[str] = field(default_factory=list[str])
    pieces: list[str] = field(default_factory=list[str])
    numbers: list[int] = field(default_factory=list[int])
    array: list[str] = field(default_factory=list[str])
    target: str = ""

    def next(self) -> str:
        """End an argument and return it."""
        text = "".join(self.pieces)[:LONGEST]
        if self.pieces:
            self.args.append(text)
        self.args.extend(self.array)
        self.array.clear()
        self.pieces.clear()
        return text


class Script:
    """Walks one program's tokens."""

    def __init__(self, shell: "Shell", language: str, arguments: list[str]) -> None:
        self.shell = shell
        self.language = language
        self.names: dict[str, str] = {f"process.argv.{at + 1}": argument for at, argument in enumerate(arguments)}
        self.frames = [Frame("", "")]
        self.writes = False
        self.printed: list[str] = []

    def read(self, code: str) -> None:
        """Follow the program from its first token to its last."""
        if len(code) > LARGEST:
            self.shell.ledger.doubt("limit", f"{self.language} code is too long to be read")
            code = code[:LARGEST]
        self.writes = _WRITES.search(code) is not None
        for file in _ARGUMENTS.findall(code) if self.language == "perl" else ():
            self.shell.act("r", file, "perl <>")
        if "dotenv" in code and re.search(r"dotenv['\")\]]*\s*(?:\)\s*)?\.(?:config|load)\b|dotenv/config", code):
            self.shell.act("r", ".env", "dotenv")
        previous = ""
        for token in _TOKEN.finditer(code):
            kind, text = str(token.lastgroup), token[0]
            if kind == "comment" and not self._is_code(text):
                continue
            if not self.shell.ledger.spend():
                break
            getattr(self, f"_{kind}", self._skip)(text, previous)
            previous = text if kind in {"name", "mark"} else kind
        while len(self.frames) > 1:
            self._close()
        self._end_statement()

    def _is_code(self, text: str) -> bool:
        """Whether what looks like a comment is none in this language."""
        return self.language in (_HASH_IS_NO_COMMENT if text[0] == "#" else _SLASHES_ARE_NO_COMMENT)

    def _skip(self, text: str, previous: str) -> None:
        """Take no notice."""

    def _string(self, text: str, previous: str) -> None:
        self._implicit(previous)
        top = self.frames[-1]
        if (text[0] == "`" and self.language in {"perl", "ruby", "php"}) or text.startswith(("qx", "%x")):
            self.shell.program(self._inside(text), "", self.language)
            return
        top.pieces.append(self._inside(text))

    def _inside(self, text: str) -> str:
        head = re.match(r"%[qQxw]?.|q[qx]?.|.", text)
        body = text[len(head[0]) if head else 1 : -1]
        if text[0] == "'" and self.language in {"perl", "ruby", "php", "awk"}:
            return body.replace("\\'", "'").replace("\\\\", "\\")
        body = _INTERPOLATED.sub(lambda found: self._value(found[1] or found[2]), body) if self.language != "awk" else body
        return ansi(re.sub(r"\\u\{([0-9A-Fa-f]{1,6})\}", lambda found: chr(min(int(found[1], 16), 0x10FFFF)), body))

    def _value(self, name: str) -> str:
        return self.names.get(name.lstrip("$@%"), DYNAMIC)

    def _name(self, text: str, previous: str) -> None:
        if previous in {"string", "number"} and self.frames[-1].pieces and text in {"if", "unless", "or", "and", "for", "x"}:
            self._end_statement()
            return
        bare = text.lstrip("$@%")
        self._implicit(previous)
        if bare in self.names:
            self.frames[-1].pieces.append(self.names[bare])

    def _number(self, text: str, previous: str) -> None:
        self.frames[-1].numbers.append(int(text, 0) if text[:2] == "0x" or not text.startswith("0") else int(text))

    def _implicit(self, previous: str) -> None:
        """Open a call without brackets: ``unlink '.env'``, ``File.write '.env', x``."""
        if re.match(r"[A-Za-z_]", previous) and previous not in _KEYWORDS | {"string", "number"} and self.frames[-1].closer != "\n":
            self.frames.append(Frame(_canonical(previous), "\n"))

    def _mark(self, text: str, previous: str) -> None:
        top = self.frames[-1]
        if text == "(" and previous == "]" and len(top.array) == 1:
            self.frames.append(Frame(_canonical(top.array.pop()), ")"))
        elif text in "([":
            called = re.match(r"[$@A-Za-z_]", previous) and previous not in _KEYWORDS | {"string", "number"}
            opened = Frame(_canonical(previous) if called and text == "(" else "", ")" if text == "(" else "]")
            if opened.name in _LOOPS:
                opened.args.extend(top.array)
                top.array.clear()
            self.frames.append(opened)
        elif text in ")]":
            self._close_until(text)
        elif text in "{}":
            self._end_implicit()
            self.frames[-1].next()
        elif text in ",:" or text == "=>":
            top.next()
        elif text in {"=", ".=", "+="} and re.match(r"[$@A-Za-z_]", previous):
            self._end_implicit()
            self.frames[-1].target = previous.lstrip("$@%")
            kept = self.names.get(self.frames[-1].target, "") if text != "=" else ""
            self.frames[-1].pieces[:] = [kept] if kept else []
        elif text in {";", "\n"}:
            self._end_statement(hard=text == ";")
        elif text in {"<", ">", ">>", "|"} and self.language in {"awk", "perl"}:
            top.next()

    def _end_implicit(self) -> None:
        while self.frames[-1].closer == "\n":
            self._close()

    def _end_statement(self, *, hard: bool = True) -> None:
        self._end_implicit()
        top = self.frames[-1]
        if not hard and (top.closer or not top.pieces):
            return
        text = top.next()
        if top.target and text:
            self.names[top.target] = text
            top.target = ""
        if len(self.frames) == 1:
            top.args.clear()

    def _close_until(self, closer: str) -> None:
        self._end_implicit()
        if len(self.frames) > 1 and self.frames[-1].closer == closer:
            self._close()

    def _close(self) -> None:
        done = self.frames.pop()
        done.next()
        text = self._called(done)
        if text:
            self.frames[-1].pieces.append(text)
        elif done.closer == "]":
            self.frames[-1].array[:] = done.args
            self.frames[-1].numbers.extend(done.numbers)

    # Calls

    def _called(self, call: Frame) -> str:
        """Do what a call says; returns the text that it makes."""
        last = call.name.rpartition(".")[2]
        if last == "reverse" and not call.args:
            self.frames[-1].pieces[:] = ["".join(self.frames[-1].pieces)[::-1]]
        made = _made(last, call, self.frames[-1].array)
        if made is not None:
            return made
        if call.closer == "]" or not last:
            return "".join(call.args) if call.closer == ")" and len(call.args) == 1 else ""
        if (
            last in EVALS
            and last not in SHELLS - EVALS
            and not (last == "exec" and self.language != "python")
            and (call.args or call.numbers)
        ):
            self._evaluate(call.args)
        elif last in SHELLS:
            self._run(call.args)
        elif last in OPENERS:
            self._open(call.args)
        elif (known := call_named(call.name)) is not None:
            self._touch(known.roles, call.args, last)
        elif last in _PRINTERS:
            self.printed.extend(f"{text}\n" for text in call.args)
        elif not only_speaks(call.name):
            self._guess(call.args, last)
        return call.args[0] if last in {"path", "pathname", "file", "string", "new", "url", "resolve"} and len(call.args) == 1 else ""

    def _evaluate(self, args: list[str]) -> None:
        with self.shell.deeper(self.language) as allowed:
            for text in args if allowed else ():
                if is_dynamic(text):
                    self.shell.ledger.doubt("code", f"{self.language} runs text that it makes while it runs")
                Script(self.shell, self.language, []).read(shown(text))

    def _run(self, args: list[str]) -> None:
        if len(args) > 1 and not re.search(r"\s", args[0]):
            self.shell.run([arg for arg in args if arg not in {"-|", "inherit", "utf8", "utf-8", "stdio", "encoding"}])
        elif args:
            self.shell.program(args[0], "", self.language)

    def _open(self, args: list[str]) -> None:
        modes = [arg for arg in args if is_mode(arg)]
        for arg in [arg for arg in args if not is_mode(arg)][:1]:
            led = re.match(r"\s*(\+?[<>]{1,2}|\|)\s*(.+)", arg)
            if any("|" in mode for mode in modes) or (led and led[1] == "|") or arg.rstrip().endswith("|"):
                self.shell.program(arg.strip("| "), "", self.language)
            elif led:
                self._act(mode_role(led[1]), led[2], "open")
            else:
                self._act(mode_role(modes[0]) if modes else "r", arg, "open")

    def _touch(self, roles: str, args: list[str], last: str) -> None:
        if roles == "d>" and len(args) > 1:
            self.shell.ledger.move(args[0], args[1], self.shell.directories, f"{self.language} {last}")
            return
        letters = roles.replace(">", "w") if len(roles) > 1 or roles != "d" else "d" * len(args)
        for role, arg in zip(letters, args, strict=False):
            self._act(role, arg, last)

    def _guess(self, args: list[str], last: str) -> None:
        for arg in args:
            if looks_like_path(arg) or re.match(r"https?://", arg):
                self._act("b" if self.writes else "r", arg, last)

    def _act(self, role: str, text: str, how: str) -> None:
        if re.match(r"(?:https?|file):", text):
            address(self.shell, text, f"{self.language} {how}")
        elif text.strip() and text != DYNAMIC and "\n" not in text:
            self.shell.act(role, text, f"{self.language} {how}")


def _canonical(name: str) -> str:
    return re.sub(r"\?\.|::|->|:", ".", name.lstrip("$@%")).lower()


def _made(last: str, call: Frame, array: list[str]) -> str | None:
    """Return the text that a building function makes of literals."""
    if last in {"fromcharcode", "fromcodepoint", "chr", "char"} and call.numbers:
        return "".join(chr(min(number, 0x10FFFF)) for number in call.numbers)
    if last in {"atob", "base64_decode", "decode_base64", "decode64", "b64decode", "strict_decode64"} and call.args:
        return from_base64(call.args[0])
    if last == "from" and len(call.args) == 2 and call.args[1] in {"base64", "hex"}:
        return from_base64(call.args[0]) if call.args[1] == "base64" else from_hex(call.args[0])
    if last in {"decodeuricomponent", "decodeuri", "unescape", "urldecode", "rawurldecode"} and call.args:
        return unquote(call.args[0])
    if last in {"hex2bin", "unhexlify"} and call.args:
        return from_hex(call.args[0])
    if last in {"strrev", "reverse"} and len(call.args) == 1:
        return call.args[0][::-1]
    if last == "join" and array and len(call.args) == 1:
        made = call.args[0].join(array)
        array.clear()
        return made
    if last in {"join", "catfile", "expand_path", "resolve"} and len(call.args) > 1:
        return "/".join(call.args)
    return None


def analyse(shell: "Shell", language: str, code: str, arguments: list[str]) -> str:
    """Do what the calls of a program say; returns the texts that it prints."""
    script = Script(shell, language, arguments)
    script.read(code)
    return "".join(script.printed)
