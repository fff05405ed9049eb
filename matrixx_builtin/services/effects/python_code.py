"""Read Python code for the files, programs and addresses that its calls name, folding texts that it builds from literals."""

import ast
import base64
import codecs
import warnings
from collections.abc import Iterable
from itertools import product
from typing import TYPE_CHECKING

from matrixx_builtin.services.effects.calls import CODE_OWNERS, EVALS, OPENERS, SHELLS, call_named, is_mode, mode_role, only_speaks
from matrixx_builtin.services.effects.operands import address, looks_like_path
from matrixx_builtin.services.effects.words import DYNAMIC, names

if TYPE_CHECKING:
    from matrixx_builtin.services.effects.shell import Shell

LARGEST = 200_000
"""Longer code is read by its tokens only."""
LONGEST = 65_536
"""How long a text that the code puts together may grow."""
MOST = 16
_TEXT_METHODS = frozenset(names("strip lstrip rstrip lower upper casefold title swapcase removeprefix removesuffix replace"))
_METHODS = _TEXT_METHODS | {"joinpath", "with_name", "format", "glob", "rglob"}
_SAME = frozenset(
    names(
        "str path purepath purepath posixpath expanduser abspath realpath resolve absolute fspath decode encode as_posix "
        "expandvars bytes quote"
    )
)
_ROOTS = {"home": "~", "getcwd": ".", "cwd": ".", "gethomedir": "~"}


def analyse(shell: "Shell", code: str, arguments: list[str]) -> str | None:
    """Do what the code's calls say; returns the texts that it prints, ``None`` if the text is no Python that could be read."""
    if len(code) > LARGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code.replace("\0", ""))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    reader = Reader(shell, arguments)
    reader.read(tree)
    return "".join(reader.printed)


class Reader:
    """Walks one module; a name holds every text that was assigned to it."""

    def __init__(self, shell: "Shell", arguments: list[str]) -> None:
        self.shell = shell
        self.names: dict[str, list[str]] = {}
        self.modules: dict[str, str] = {}
        self.arguments = ["-c", *arguments]
        self.writes = False
        self.printed: list[str] = []

    def read(self, tree: ast.AST) -> None:
        """Collect names first, so that order and functions do not matter, then judge the calls."""
        nodes = list(ast.walk(tree))
        for node in nodes:
            self._bind(node)
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        self.writes = any(self._may_write(call) for call in calls)
        for call in calls:
            if not self.shell.ledger.spend():
                break
            self._judge(call)

    def _bind(self, node: ast.AST) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind_name(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                self._bind_name(target, value)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                self.names[name] = _limited(old + new for old, new in product(self.names.get(name, [""]), self.fold(value)))
            case ast.For(target=target, iter=items) | ast.comprehension(target=target, iter=items):
                self._bind_name(target, items)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                self.modules.update({alias.asname: alias.name for alias in names if alias.asname})
            case _:
                pass

    def _bind_name(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            texts = self.items(value)
            self.names[target.id] = _limited([*self.names.get(target.id, []), *texts])
            if not texts and isinstance(value, ast.Attribute | ast.Name):
                self.modules[target.id] = self.dotted(value)

    def items(self, node: ast.expr) -> list[str]:
        """Return the texts in a literal list, or those that an expression may be."""
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return _limited(text for element in node.elts for text in self.fold(element))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split":
            return _limited(word for text in self.fold(node.func.value) for word in text.split())
        return self.fold(node)

    def dotted(self, node: ast.expr) -> str:
        """Return a called name in lower case, imports under another name undone."""
        match node:
            case ast.Name(id=name):
                return self.modules.get(name, name).lower()
            case ast.Attribute(value=value, attr=attr):
                return f"{self.dotted(value)}.{attr.lower()}"
            case ast.Call(func=func, args=[owner, name, *_]) if self.dotted(func).endswith("getattr"):
                return f"{self.dotted(owner)}.{(self.fold(name) or ['?'])[0].lower()}"
            case ast.Call(func=func, args=[name, *_]) if self.dotted(func).rpartition(".")[2] in {"__import__", "import_module"}:
                return (self.fold(name) or ["?"])[0].lower()
            case ast.Call(func=func):
                return self.dotted(func)
            case _:
                return ""

    # Texts

    def fold(self, node: ast.expr) -> list[str]:
        """Return the texts that an expression may be; none where that is not known."""
        try:
            return _limited(self._fold(node))
        except (ValueError, TypeError, IndexError, KeyError, OverflowError, LookupError, RecursionError):
            return []

    def _fold(self, node: ast.expr) -> Iterable[str]:
        match node:
            case ast.Constant(value=str() as text):
                return [text]
            case ast.Constant(value=bytes() as raw):
                return [raw.decode("utf-8", "replace")]
            case ast.Name(id=name):
                return self.names.get(name, [])
            case ast.BinOp(left=left, op=ast.Add() | ast.Div() as op, right=right):
                glue = "/" if isinstance(op, ast.Div) else ""
                return [one + glue + two for one, two in product(self.fold(left), self.fold(right))]
            case ast.BinOp(left=left, op=ast.Mod(), right=right):
                values = [self.fold(value) or [DYNAMIC] for value in (right.elts if isinstance(right, ast.Tuple) else [right])]
                return [form % choice for form in self.fold(left) for choice in product(*values)]
            case ast.JoinedStr(values=values):
                return ["".join(choice) for choice in product(*[self._piece(value) for value in values])]
            case ast.Subscript(value=value, slice=index):
                return self._subscript(value, index)
            case ast.IfExp(body=body, orelse=other) | ast.BoolOp(values=[body, other]):
                return [*self.fold(body), *self.fold(other)]
            case ast.Call():
                return self._called(node)
            case _:
                return []

    def _piece(self, node: ast.expr) -> list[str]:
        inner = node.value if isinstance(node, ast.FormattedValue) else node
        return self.fold(inner) or [DYNAMIC]

    def _subscript(self, value: ast.expr, index: ast.expr) -> Iterable[str]:
        if self.dotted(value) == "sys.argv" and isinstance(index, ast.Constant) and isinstance(index.value, int):
            return self.arguments[index.value :][:1]
        if self.dotted(value) == "os.environ":
            return ["~"] if self.fold(index) == ["HOME"] else []
        if isinstance(index, ast.Slice):
            edges = [ast.literal_eval(edge) if edge else None for edge in (index.lower, index.upper, index.step)]
            return [text[slice(*edges)] for text in self.fold(value)]
        return self.items(value)

    def _called(self, node: ast.Call) -> Iterable[str]:
        name = self.dotted(node.func).rpartition(".")[2]
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name in _ROOTS:
            return [_ROOTS[name]]
        if receiver is not None and (made := self._method(name, receiver, node.args)) is not None:
            return made
        return self._function(name, node.args)

    def _method(self, name: str, receiver: ast.expr, args: list[ast.expr]) -> Iterable[str] | None:
        """Return what a method makes of its own text; ``None`` where it has none."""
        if name == "join":
            return self._joined(receiver, args)
        own = self.fold(receiver)
        if not own:
            return None
        choices = list(product(*[self.fold(arg) for arg in args])) if name in _METHODS else []
        if name in {"glob", "rglob"}:
            return [f"{text}/{pattern}" for text in own for (pattern,) in choices]
        if name == "joinpath":
            return ["/".join([text, *choice]) for text in own for choice in choices]
        if name == "with_name":
            return [f"{text.rpartition('/')[0] or '.'}/{new}" for text in own for (new,) in choices]
        if name == "format":
            return [text.format(*choice) for text in own for choice in choices]
        if name in _TEXT_METHODS and not (name == "replace" and len(args) != 2):
            return [str(getattr(text, name)(*choice)) for text in own for choice in choices]
        return own if name in _SAME else None

    def _function(self, name: str, args: list[ast.expr]) -> Iterable[str]:
        """Return what a function makes of its arguments."""
        if not args:
            return []
        numbers = self._numbers(args[0])
        if name == "chr":
            return map(chr, numbers)
        if name in {"bytes", "bytearray"} and numbers:
            return [bytes(numbers).decode("utf-8", "replace")]
        if name in {"path", "purepath"} and len(args) > 1:
            return ["/".join(choice) for choice in product(*map(self.fold, args))]
        if name in {"b64decode", "fromhex", "unhexlify", "urlsafe_b64decode"}:
            return [_decoded(text, name) for text in self.fold(args[0])]
        if name in {"decode", "encode"} and len(args) > 1:
            return [codecs.decode(text, "rot13") for text in self.fold(args[0]) if any("rot" in codec for codec in self.fold(args[1]))]
        if name == "reversed":
            return [text[::-1] for text in self.fold(args[0])]
        if name in {"glob", "iglob", "rglob"}:
            return self.fold(args[0])
        return self.fold(args[0]) if name in _SAME - {"decode", "encode"} else []

    def _joined(self, receiver: ast.expr, args: list[ast.expr]) -> Iterable[str]:
        if "path" in self.dotted(receiver):
            return ["/".join(choice) for choice in product(*[self.fold(arg) for arg in args])]
        numbers = self._generated(args[0])
        parts = (
            [numbers] if numbers else [self.fold(element) for element in args[0].elts] if isinstance(args[0], ast.List | ast.Tuple) else []
        )
        if numbers:
            return [glue.join(numbers) for glue in self.fold(receiver)]
        if not parts:
            return [glue.join(text) for glue in self.fold(receiver) for text in self.fold(args[0])]
        return [glue.join(choice) for glue in self.fold(receiver) for choice in product(*parts)]

    def _generated(self, node: ast.expr) -> list[str]:
        """Return the characters of ``chr(x) for x in [...]`` and of ``map(chr, [...])``."""
        match node:
            case ast.GeneratorExp(elt=ast.Call(func=ast.Name(id="chr")), generators=[ast.comprehension(iter=items), *_]):
                return [chr(number) for number in self._numbers(items)]
            case ast.ListComp(elt=ast.Call(func=ast.Name(id="chr")), generators=[ast.comprehension(iter=items), *_]):
                return [chr(number) for number in self._numbers(items)]
            case ast.Call(func=ast.Name(id="map"), args=[ast.Name(id="chr"), items, *_]):
                return [chr(number) for number in self._numbers(items)]
            case _:
                return []

    def _numbers(self, node: ast.expr) -> list[int]:
        elements = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
        return [one.value for one in elements if isinstance(one, ast.Constant) and isinstance(one.value, int) and 0 <= one.value < 0x110000]

    # Calls

    def _may_write(self, call: ast.Call) -> bool:
        name = self.dotted(call.func)
        known = call_named(name)
        if known is not None:
            return known.roles[-1] in "wadl>"
        last = name.rpartition(".")[2]
        return last in {"write", "dump", "save", "writelines"} or (last in OPENERS and self._mode(call) != "r")

    def _judge(self, call: ast.Call) -> None:
        name = self.dotted(call.func)
        last = name.rpartition(".")[2]
        owner = name.rpartition(".")[0].rpartition(".")[2]
        if last in EVALS - {"load"} and owner in {"", "builtins"}:
            self._evaluate(call)
        elif last in SHELLS and (
            owner in CODE_OWNERS or last in {"system", "popen", "check_output", "getoutput"} or name in {"run", "call"}
        ):
            self._run(call)
        elif last in OPENERS:
            self._open(call, owner)
        elif (known := call_named(name)) is not None or (last == "replace" and (len(call.args) == 1 or owner == "os")):
            self._touch(call, known.roles if known else "d>", last)
        elif last == "input" and owner == "fileinput":
            edits = any(keyword.arg == "inplace" for keyword in call.keywords)
            self._act("e" if edits else "r", self._texts(call.args[:1]), "fileinput")
        elif name == "print":
            self.printed.extend(f"{text}\n" for text in self._texts(call.args))
        elif last not in _SAME and not only_speaks(name):
            self._guess(call, last)

    def _evaluate(self, call: ast.Call) -> None:
        texts = self._texts(call.args[:1])
        inner = call.args[0] if call.args else None
        if isinstance(inner, ast.Call) and self.dotted(inner.func).endswith("compile"):
            texts = self._texts(inner.args[:1])
        if not texts and inner is not None and not isinstance(inner, ast.Call | ast.Constant):
            self.shell.ledger.doubt("code", "python runs text that only the running code knows")
        elif not texts and isinstance(inner, ast.Call):
            self.shell.ledger.doubt("code", "python runs text that it makes while it runs")
        with self.shell.deeper("python") as allowed:
            for text in texts if allowed else ():
                analyse(self.shell, text, self.arguments[1:])

    def _run(self, call: ast.Call) -> None:
        first = call.args[0] if call.args else next((keyword.value for keyword in call.keywords if keyword.arg in {"args", "cmd"}), None)
        lists = [argument for argument in (first, *call.args) if isinstance(argument, ast.List | ast.Tuple)]
        if lists:
            self.shell.run([(self.fold(element) or [f"{DYNAMIC}$PY"])[0] for element in lists[0].elts])
        elif isinstance(first, ast.Call) and self.dotted(first.func).endswith("split"):
            self.shell.run(self.items(first))
        elif len(call.args) > 1 and self.dotted(call.func).rpartition(".")[2].startswith(("exec", "spawn", "create_subprocess_exec")):
            self.shell.run([(self.fold(argument) or [f"{DYNAMIC}$PY"])[0] for argument in call.args])
        elif first is not None:
            for text in self.fold(first) or [f"{DYNAMIC}$PY"]:
                self.shell.program(text, "", "python")

    def _mode(self, call: ast.Call) -> str:
        given = [
            *call.args[int(bool(self._own_path(call))) ^ 1 :],
            *[keyword.value for keyword in call.keywords if keyword.arg in {"mode", "flags"}],
        ]
        for argument in given:
            texts = self.fold(argument)
            if isinstance(argument, ast.Constant) and isinstance(argument.value, int):
                return "w" if argument.value & 3 else "r"
            if not texts and isinstance(argument, ast.Attribute | ast.BinOp):
                return mode_role(ast.unparse(argument))
            if any(is_mode(text) for text in texts):
                return mode_role(texts[0])
        return "r"

    def _own_path(self, call: ast.Call) -> list[str]:
        """Return the path that a method like ``Path('x').open`` belongs to."""
        receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
        return self.fold(receiver) if receiver is not None else []

    def _open(self, call: ast.Call, owner: str) -> None:
        paths = self._own_path(call) or self._texts(call.args[:1]) or self._keyword(call, "file", "path", "filename")
        self._act(self._mode(call), paths, "python open")

    def _touch(self, call: ast.Call, roles: str, last: str) -> None:
        own = self._own_path(call)
        groups = [own, *[self.items(argument) for argument in call.args]] if own else [self.items(argument) for argument in call.args]
        if not groups:
            groups = [
                self._keyword(call, "dotenv_path", "path", "src", "file", "filename", "url") or ([".env"] if "dotenv" in last else [])
            ]
        if last in {"symlink_to", "hardlink_to", "link_to"}:
            groups.reverse()
        if roles == "d>" and len(groups) > 1:
            for old, new in product(groups[0], groups[1]):
                self.shell.ledger.move(old, new, self.shell.directories, f"python {last}")
            groups = [groups[0] if not groups[1] else [], [] if groups[0] else groups[1]]
        for role, texts in zip(roles.replace(">", "w"), groups, strict=False):
            self._act(role, texts, f"python {last}")

    def _guess(self, call: ast.Call, last: str) -> None:
        for argument in [*call.args, *[keyword.value for keyword in call.keywords]]:
            for text in self.items(argument):
                if text.startswith(("http://", "https://", "file:")):
                    address(self.shell, text, f"python {last}")
                elif looks_like_path(text) and not isinstance(argument, ast.Call):
                    self._act("b" if self.writes else "r", [text], f"python {last}")

    def _keyword(self, call: ast.Call, *names: str) -> list[str]:
        return [text for keyword in call.keywords if keyword.arg in names for text in self.fold(keyword.value)]

    def _texts(self, nodes: Iterable[ast.expr]) -> list[str]:
        return [text for node in nodes for text in self.items(node)]

    def _act(self, role: str, texts: Iterable[str], how: str) -> None:
        for text in texts:
            if text.startswith(("http://", "https://", "file:")):
                address(self.shell, text, how)
            elif text:
                self.shell.act(role, text, how)


def _decoded(text: str, name: str) -> str:
    raw = base64.b64decode(text + "==", altchars=b"-_" if "urlsafe" in name else None) if "b64" in name else bytes.fromhex(text)
    return raw.decode("utf-8", "replace")


def _limited(texts: Iterable[str]) -> list[str]:
    found = list(dict.fromkeys(text for text, _ in zip(texts, range(MOST), strict=False)))
    return [text[: LONGEST if len(found) == 1 else LONGEST // 64] for text in found]
