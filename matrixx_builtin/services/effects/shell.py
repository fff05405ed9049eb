"""Follow a shell program: what it expands to, where it is, and which commands it runs."""

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import lru_cache, partial
from os import environ
from typing import TYPE_CHECKING

from matrixx_builtin.services.effects.commands import run_command
from matrixx_builtin.services.effects.expansion import values_of
from matrixx_builtin.services.effects.heredocs import Heredoc, expansions, extract
from matrixx_builtin.services.effects.ledger import Ledger
from matrixx_builtin.services.effects.paths import absolute, is_directory, normalised
from matrixx_builtin.services.effects.redirects import Redirected
from matrixx_builtin.services.effects.words import (
    DYNAMIC,
    END,
    LONGEST_TEXT,
    ansi,
    bare,
    finished,
    in_double_quotes,
    is_dynamic,
    joined,
    limited,
    names,
    plain,
    quoted,
    sheltered,
    shown,
    split_values,
    unsheltered,
)

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

DEEPEST = 72
"""How many programs may stand within each other (``sh -c "sh -c ..."``, ``$(...)``) before the rest is called unknown."""
LARGEST = 16_384
"""Past this length a program with many heredocs or pipes is read in pieces: parsing those costs more than their length."""
LONGEST_PROGRAM = LONGEST_TEXT
"""How much of a program is read (Linux takes 128 KiB in one argument)."""
LONGEST_VALUE = 4096
"""How long a variable's value may be before its end is called unknown."""
ROUNDS = 24
"""How many rounds of a loop are followed."""

_KNOWN_VARIABLES = ("HOME", "TMPDIR", "USER", "LOGNAME")
_COMMANDS_BY_NAME = frozenset(
    names(
        "GIT_EDITOR GIT_PAGER GIT_SEQUENCE_EDITOR GIT_SSH_COMMAND GIT_EXTERNAL_DIFF PAGER MANPAGER EDITOR VISUAL LESSOPEN PROMPT_COMMAND BROWSER"
    )
)
"""Variables that hold a command which other programs run."""
_FILES_BY_NAME = frozenset({"BASH_ENV", "ENV"})
"""Variables that hold a script which a shell runs first."""
_UNSEEN = re.compile(rf"(?:^|[\n;|&(])[ \t'\"]*{DYNAMIC}")
_CAPTURES = re.compile(r"[|`]|[$<]\(")
_NEWLINE_ENDS = re.compile(r"\n+$")


@lru_cache(maxsize=1)
def _parser() -> "Parser":
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


class Shell:
    """One shell: its directories (more than one where a ``cd`` may have failed), variables, functions and input."""

    def __init__(self, ledger: Ledger, directory: str, *, arguments: tuple[str, ...] = ()) -> None:
        self.ledger = ledger
        self.directories: tuple[str, ...] = (directory,)
        self.before: tuple[str, ...] = (directory,)
        self.variables: dict[str, list[str]] = {}
        self.functions: dict[str, Callable[[], str]] = {}
        self.aliases: dict[str, str] = {}
        self.arguments = arguments
        self.zero = ""
        self.captures = False
        """Whether anything might look at what a command prints."""
        self.heredocs: list[Heredoc] = []
        self.trailing: dict[int, list[Node]] = {}
        """Redirections that the grammar hangs on a whole list or pipeline, by the last command in it: the one they belong to."""
        self.stdin: str = ""
        self.depth = 0
        self._unsure = 0

    # What commands ask of the shell

    def run(self, argv: list[str], stdin: str = "") -> str:
        """Run one command line that is already in words."""
        if not argv or not self.ledger.spend(1 + len(stdin) // LONGEST_VALUE):
            return DYNAMIC
        with self.deeper(argv[0]) as allowed:
            if not allowed:
                return DYNAMIC
            function = self.functions.get(argv[0])
            if function is None:
                return run_command(self, argv, stdin)
            kept, self.arguments = self.arguments, tuple(argv[1:])
            try:
                return self.fed(stdin, function)
            finally:
                self.arguments = kept

    def program(self, text: str, stdin: str = "", how: str = "sh") -> str:
        """Run a shell program given as text."""
        if _UNSEEN.search(text):
            self.ledger.doubt("code", f"{how} runs what only the shell knows")
        with self.deeper(how) as allowed:
            if not allowed:
                return DYNAMIC
            if len(text) > LONGEST_PROGRAM:
                self.ledger.doubt("limit", f"{how} runs more than is read")
                text = text[:LONGEST_PROGRAM]
            self.captures = self.captures or _CAPTURES.search(text) is not None
            pieces = _pieces(extract(shown(text), self.heredocs), self.ledger)
            return self.fed(stdin, lambda: "".join([self._parsed(piece) for piece in pieces]))

    def act(self, role: str, given: str, how: str) -> None:
        """Do to a path what a letter of ``ledger.ROLES`` says."""
        self.ledger.touch(role, given, self.directories, how)

    def written(self, given: str) -> str:
        """Return the text that this very call has put in a file, as far as it is known."""
        return self.ledger.texts.get(self.place(given), DYNAMIC)

    def put(self, given: str, text: str, *, append: bool = False) -> None:
        """Remember the text of a file, for the case that it is run or read later in the call."""
        place = self.place(given)
        before = self.ledger.texts.get(place, DYNAMIC) if append else ""
        self.ledger.spend(len(before) // LONGEST_VALUE)
        self.ledger.texts[place] = limited(before + text, LONGEST_TEXT)

    def place(self, given: str) -> str:
        """Return the absolute path of what was given, symlinks not followed."""
        return given if given.startswith("/dev/fd/") else normalised(absolute(shown(given), self.directories[0]))

    def enter(self, given: str) -> None:
        """Change the directory; if it may not exist, the old one stays possible."""
        target = self.before if given == "-" else tuple(normalised(absolute(shown(given), one)) for one in self.directories)
        sure = all(is_directory(one) or one in self.ledger.texts for one in target) or is_dynamic(given)
        self.before, self.directories = self.directories, target if sure else tuple(dict.fromkeys(target + self.directories))[:4]

    def assign(self, name: str, values: list[str], *, append: bool = False) -> None:
        """Set a variable; where it is not sure that this is reached, the old values stay possible."""
        old = self.variables.get(name, [])
        new = joined([old or [""], values]) if append else values
        kept = dict.fromkeys(limited(value, LONGEST_VALUE) for value in ([*old, *new] if self._unsure else new))
        self.variables[name] = list(kept)[:ROUNDS]
        self.ledger.spend(sum(map(len, self.variables[name])) // LONGEST_VALUE)
        for value in self.variables[name] if name in _COMMANDS_BY_NAME | _FILES_BY_NAME else ():
            if name in _FILES_BY_NAME:
                self.act("r", value, name)
            elif " " in value:
                self.program(value, "", name)

    @contextmanager
    def deeper(self, what: str) -> Generator[bool, None, None]:
        """Go one level down, or note that it is too deep."""
        self.depth += 1
        if self.depth > DEEPEST:
            self.ledger.doubt("limit", f"{what} is nested too deep")
        try:
            yield self.depth <= DEEPEST
        finally:
            self.depth -= 1

    @contextmanager
    def scope(self) -> Generator[None, None, None]:
        """Do something in a subshell or a program of its own: directory, variables and arguments are as before afterwards."""
        kept = self.directories, self.before, dict(self.variables), self.arguments, self.zero
        try:
            yield
        finally:
            self.directories, self.before, self.variables, self.arguments, self.zero = kept

    @contextmanager
    def maybe(self) -> Generator[None, None, None]:
        """Do something that may not be reached."""
        self._unsure += 1
        try:
            yield
        finally:
            self._unsure -= 1

    def fed(self, stdin: str, action: Callable[[], str]) -> str:
        """Do something with another standard input."""
        kept, self.stdin = self.stdin, stdin
        try:
            return action()
        finally:
            self.stdin = kept

    # The tree

    def _parsed(self, text: str) -> str:
        tree = _parser().parse(sheltered(text))
        if tree.root_node.has_error:
            self.ledger.doubt("syntax", "a part of the command could not be read")
        return self.visit(tree.root_node)

    def visit(self, node: "Node") -> str:
        """Follow one node of the syntax tree; returns what it prints."""
        if self.ledger.left < 0:
            return DYNAMIC
        visitor = _VISITORS.get(node.type, Shell.sequence)
        redirects = self.trailing.pop(node.id, None) if self.trailing else None
        with self.deeper("the command") as allowed:
            if not allowed or not self.ledger.spend():
                return DYNAMIC
            return visitor(self, node) if redirects is None else self._redirected(node, redirects)

    def sequence(self, node: "Node") -> str:
        """Follow the statements one after another."""
        return "".join([self.visit(child) for child in node.named_children if child.type != "comment"])

    def conditional(self, node: "Node") -> str:
        """Follow every branch, none of them surely taken."""
        with self.maybe():
            return self.sequence(node)

    def repeated(self, node: "Node") -> str:
        """Follow a loop twice, so that what one round sets is seen by the next."""
        printed = self.conditional(node)
        self.conditional(node)
        return printed

    def either(self, node: "Node") -> str:
        """Follow ``a && b`` and ``a || b``; long chains are flat here, not nested."""
        chain: list[Node] = []
        while node.type == "list" and node.named_child_count > 1:
            chain.extend(reversed(node.named_children[1:]))
            node = node.named_children[0]
        printed = [self.visit(node)]
        with self.maybe():
            printed.extend(self.visit(one) for one in reversed(chain))
        return "".join(printed)

    def pipeline(self, node: "Node") -> str:
        """Feed each stage with what the stage before prints."""
        passed = self.stdin
        for stage in node.named_children:
            if stage.type != "comment":
                directories = self.directories
                passed = self.fed(passed, partial(self.visit, stage))
                self.directories = directories
        return passed

    def subshell(self, node: "Node") -> str:
        """Follow ``( ... )``."""
        with self.scope():
            return self.sequence(node)

    def define(self, node: "Node") -> str:
        """Remember a function; it does nothing before it is called."""
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        redirects = node.children_by_field_name("redirect")
        if name is not None and body is not None:
            self.functions[_text(name)] = lambda: self._redirected(body, redirects)
        return ""

    def loop(self, node: "Node") -> str:
        """Follow a ``for`` or ``select`` loop, once for every value."""
        name, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        if name is None or body is None:
            return self.conditional(node)
        values = [word for child in node.children_by_field_name("value") for word in self.words(child)]
        found = [*(values if any(not child.is_named and child.type == "in" for child in node.children) else self.arguments)]
        printed: list[str] = []
        for value in found[:ROUNDS] or [f"{DYNAMIC}${_text(name)}"]:
            self.variables[_text(name)] = [value]
            printed.append(self.visit(body))
        self.variables[_text(name)] = found[: ROUNDS * 4]
        if len(found) > ROUNDS:
            printed.append(self.visit(body))
        return "".join(printed)

    def assignment(self, node: "Node") -> str:
        """Follow ``NAME=value``."""
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None:
            values = [""] if value is None else self.values(value)
            append = any(child.type == "+=" for child in node.children)
            self.assign(_text(name).partition("[")[0], values, append=append)
        return ""

    def declaration(self, node: "Node") -> str:
        """Follow ``export``, ``local``, ``declare`` and their like."""
        argv = [_text(node.children[0])]
        for child in node.named_children:
            if child.type == "variable_assignment":
                self.assignment(child)
                name = child.child_by_field_name("name")
                argv.append(f"{_text(name)}={self.variables[_text(name).partition('[')[0]][-1]}" if name else "")
            else:
                argv.extend(self.words(child))
        self.ledger.run(tuple(argv), self.directories[0])
        return ""

    def command(self, node: "Node") -> str:
        """Follow one simple command."""
        return self._redirected(node, [])

    def redirection(self, node: "Node") -> str:
        """Follow a statement with redirections."""
        body = node.child_by_field_name("body")
        redirects = [child for child in node.named_children if body is None or child.id != body.id]
        if body is None or body.type not in _CHAINS:
            return self._redirected(body, redirects)
        last = body
        while last.type in _CHAINS and last.named_child_count:
            last = last.named_children[-1]
        self.trailing[last.id] = redirects
        return self.visit(body)

    def _redirected(self, body: "Node | None", redirects: "list[Node]") -> str:
        words = body.named_children if body is not None and body.type == "command" else []
        return Redirected(self, body).follow([*words, *redirects])

    def lone_redirection(self, node: "Node") -> str:
        """Follow ``$(<file)``."""
        return Redirected(self, None).follow([node])

    def heredoc(self, heredoc: Heredoc) -> str:
        """Return a heredoc's text, expanded where its delimiter was not quoted."""
        if heredoc.literal or not re.search(r"[$`\\]", heredoc.body):
            return heredoc.body
        known: dict[str, str] = {}
        parts: list[str] = []
        for expanded, part in expansions(heredoc.body):
            if expanded and part not in known:
                known[part] = self.values_in(f'"{part}"')[0]
            parts.append(known[part] if expanded else part)
        return limited("".join(parts), LONGEST_TEXT)

    def substitution(self, node: "Node") -> str:
        """Follow ``$(...)`` in a place where its text does not matter."""
        self.substituted(node)
        return ""

    def broken(self, node: "Node") -> str:
        """Follow what is left of a text that is no shell."""
        printed = self.sequence(node)
        if not any(child.type in _STATEMENTS for child in node.named_children):
            for line in re.split(r"[\n;|&]+", _text(node)[:LARGEST]):
                self.run([plain(word).strip("'\"`()<>") for given in line.split()[:64] for word in finished(given)])
        return printed

    # Words

    def words(self, node: "Node") -> list[str]:
        """Return the words that one word becomes."""
        return list(dict.fromkeys(word for marked in self.marked(node) for word in finished(marked)))

    def values(self, node: "Node") -> list[str]:
        """Return what a variable may hold after the assignment of this word."""
        if node.type == "array":
            return [word for child in node.named_children for word in self.words(child)] or [""]
        return [plain(marked) for marked in self.marked(node)]

    def marked(self, node: "Node") -> list[str]:
        """Return the alternatives of a word, quoting marked as ``words.py`` says."""
        reader = _WORDS.get(node.type)
        if reader is not None:
            return reader(self, node) if self.ledger.left >= 0 else [DYNAMIC]
        self.visit(node)
        return [f"{DYNAMIC}{quoted(_text(node))}"]

    def nothing(self, node: "Node") -> str:
        """Pass over what does nothing where it stands."""
        return ""

    def literal(self, node: "Node") -> list[str]:
        """Return the text as it is written."""
        return [_text(node)]

    def bare_word(self, node: "Node") -> list[str]:
        """Return the alternatives of a word without quotes."""
        return bare(_text(node))

    def raw_string(self, node: "Node") -> list[str]:
        """Return the inside of single quotes."""
        return [quoted(_text(node)[1:-1])]

    def ansi_string(self, node: "Node") -> list[str]:
        """Return the inside of ``$'...'``."""
        return [quoted(ansi(_text(node)[2:-1]))]

    def concatenation(self, node: "Node") -> list[str]:
        """Return the alternatives of adjoining pieces."""
        return joined([self.marked(child) for child in node.children])

    def string(self, node: "Node") -> list[str]:
        """Return the alternatives of a double-quoted text."""
        text, at, parts = node.text or b"", node.start_byte + 1, list[list[str]]()
        for child in node.named_children:
            if child.type != "string_content":
                parts += [[_decoded(text[at - node.start_byte : child.start_byte - node.start_byte])], self.inside(child)]
                at = child.end_byte
        end = len(text) - 1 if text.endswith(b'"') else len(text)
        return [quoted(choice) for choice in joined([*parts, [_decoded(text[at - node.start_byte : end]).removeprefix('"')]])]

    def inside(self, node: "Node") -> list[str]:
        """Return the values of an expansion between double quotes."""
        if node.type in {"simple_expansion", "expansion"}:
            return values_of(self, _text(node))
        if node.type == "command_substitution":
            return [self.substituted(node)]
        self.visit(node)
        return [f"{DYNAMIC}{_text(node)}{END}"]

    def unquoted_inside(self, node: "Node") -> list[str]:
        """Return the values of an expansion in the open, where they are split and globbed."""
        return [split_values(value) for value in self.inside(node)]

    def substituted(self, node: "Node") -> str:
        """Return what ``$(...)`` prints, its last line ends dropped."""
        text = _text(node)
        with self.scope(), self.deeper("$(") as allowed:
            printed = DYNAMIC
            if allowed:
                printed = self.program(text[1:-1].replace("\\`", "`"), self.stdin) if text.startswith("`") else self.sequence(node)
        return f"{DYNAMIC}$SUBSTITUTED{END}" if printed == DYNAMIC else _NEWLINE_ENDS.sub("", printed)

    def process(self, node: "Node") -> list[str]:
        """Return the name of the pipe that ``<(...)`` becomes; what flows through it is remembered."""
        with self.scope():
            printed = self.sequence(node)
        name = f"/dev/fd/{63 + len(self.ledger.texts)}"
        if _text(node).startswith("<"):
            self.ledger.texts[name] = printed
        return [name]

    def values_in(self, text: str) -> list[str]:
        """Return the values of a word that stands inside an expansion."""
        if not re.search(r"[$`'\"\\]", text):
            return [text]
        with self.deeper("${") as allowed:
            found = _parser().parse(sheltered(f": {text}")).root_node.named_children if allowed else []
            words = [child for command in found[:1] for child in command.named_children[1:2]]
            return [plain(marked) for word in words for marked in self.marked(word)] or [DYNAMIC + text]

    def known(self, name: str) -> list[str] | None:
        """Return the values of a variable, or ``None``."""
        if name in self.variables:
            return self.variables[name]
        if name == "PWD":
            return list(self.directories)
        if name == "OLDPWD":
            return list(self.before)
        return [environ[name]] if name in _KNOWN_VARIABLES and environ.get(name) else None


def _text(node: "Node") -> str:
    return unsheltered(node.text or b"")


def _decoded(text: bytes) -> str:
    return in_double_quotes(unsheltered(text))


def _pieces(text: str, ledger: Ledger) -> list[str]:
    """Keep parsing linear: only few heredocs and pipes in one piece, unless it is short."""
    if len(text) <= LARGEST or text.count("|") <= 256:
        return [text]
    ledger.doubt("limit", "the command is too long to be read as one")
    lines = [line[at : at + LARGEST // 4] for line in text.split("\n")[:4096] for at in range(0, max(len(line), 1), LARGEST // 4)]
    pieces = [""]
    for line in lines:
        if len(pieces[-1]) + len(line) > LARGEST // 4:
            pieces.append("")
        pieces[-1] += line + "\n"
    return pieces[:64]


_STATEMENTS = frozenset(
    names(
        "command redirected_statement pipeline list subshell compound_statement if_statement for_statement while_statement "
        "case_statement declaration_command"
    )
)
_CHAINS = frozenset({"list", "pipeline", "negated_command"})
_VISITORS: "dict[str, Callable[[Shell, Node], str]]" = {
    "command": Shell.command,
    "redirected_statement": Shell.redirection,
    "pipeline": Shell.pipeline,
    "list": Shell.either,
    "subshell": Shell.subshell,
    "function_definition": Shell.define,
    "for_statement": Shell.loop,
    "while_statement": Shell.repeated,
    "if_statement": Shell.conditional,
    "case_statement": Shell.conditional,
    "variable_assignment": Shell.assignment,
    "declaration_command": Shell.declaration,
    "command_substitution": Shell.substitution,
    "ERROR": Shell.broken,
    "program": Shell.sequence,
    "file_redirect": Shell.lone_redirection,
    **dict.fromkeys(("comment", "raw_string", "word"), Shell.nothing),
}
_WORDS: "dict[str, Callable[[Shell, Node], list[str]]]" = {
    "word": Shell.bare_word,
    "raw_string": Shell.raw_string,
    "ansi_c_string": Shell.ansi_string,
    "string": Shell.string,
    **dict.fromkeys(("concatenation", "command_name", "translated_string"), Shell.concatenation),
    **dict.fromkeys(("simple_expansion", "expansion", "command_substitution"), Shell.unquoted_inside),
    "process_substitution": Shell.process,
    **dict.fromkeys(("brace_expression", "number", "extglob_pattern", "regex", "test_operator", "variable_name"), Shell.literal),
}
