"""Follow one statement with all its words and redirections."""

import re
from functools import partial
from typing import TYPE_CHECKING

from matrixx_builtin.services.effects.heredocs import MARK, STRING
from matrixx_builtin.services.effects.words import finished, joined, plain, shown

if TYPE_CHECKING:
    from tree_sitter import Node

    from matrixx_builtin.services.effects.shell import Shell

_OPERATOR = re.compile(rb"\s*(\d*|\{\w+\})\s*(&>>|&>|>>|>\||>&|<>|<&|<|>)")
_SPREAD = re.compile(rb"\$(?:[@*]|\{(?:[@*]|\w+\[[@*]\])\})")
_ROLES = {"<": "r", "<>": "b", ">>": "a", "&>>": "a", "<&": "r"}
_SOCKET = re.compile(r"/dev/(?:tcp|udp)/([^/]+)/(\w+)")


class Redirected:
    """A command or another statement, with what is redirected into and out of it."""

    def __init__(self, shell: "Shell", body: "Node | None") -> None:
        self.shell = shell
        self.body = body
        self.words: list[list[str]] = []
        self.assignments: list[Node] = []
        self.stdin: str = shell.stdin
        self.targets: list[tuple[str, str]] = []
        self.spread = False
        """Whether the first word is ``"${command[@]}"``, so that it is the whole command."""
        self._end = -1

    def follow(self, parts: "list[Node]") -> str:
        """Take in the parts, then run the body and what hangs on it."""
        for part in parts:
            self._take(part)
        printed = self._run()
        for target, role in self.targets:
            self.shell.put(target, printed, append=role == "a")
        if self.targets:
            printed = ""
        return printed

    def _take(self, part: "Node") -> None:
        match part.type:
            case "variable_assignment":
                self.assignments.append(part)
            case "file_redirect":
                self._file(part)
            case "comment" | "file_descriptor":
                pass
            case _:
                self._word(part)

    def _word(self, part: "Node") -> None:
        """Take a word; a backslash at a line's end joins it with the one before."""
        marked = self.shell.marked(part)
        between = part.start_byte - self._end
        self.spread = self.spread or (not self.words and _SPREAD.search(part.text or b"") is not None)
        if self.words and (between == 0 or (between == 2 and self._joins(part))):
            marked = joined([self.words.pop(), marked])
        self.words.append(marked)
        self._end = part.end_byte

    def _joins(self, part: "Node") -> bool:
        parent = part.parent
        start = parent.start_byte if parent else 0
        return bool(parent and parent.text and parent.text[self._end - start : part.start_byte - start] == b"\\\n")

    def _file(self, part: "Node") -> None:
        found = _OPERATOR.match(part.text or b"")
        operator = found[2].decode() if found else ">"
        destinations = part.children_by_field_name("destination")
        for word in destinations[1:]:
            self._word(word)
        if destinations and not (operator == "<" and self._text_from(destinations[0])):
            for target in self.shell.words(destinations[0]):
                self._open(target, operator, to_stdout=not found or found[1] in {b"", b"1"})

    def _text_from(self, word: "Node") -> bool:
        """Take a heredoc or here-string for the input, if the word stands for one."""
        marked = self.shell.marked(word)[0]
        number = marked[1:]
        if marked.startswith(MARK) and number.isdecimal() and int(number) < len(self.shell.heredocs):
            self.stdin = self.shell.heredoc(self.shell.heredocs[int(number)])
        elif marked.startswith(STRING):
            self.stdin = f"{plain(marked[1:])}\n"
        return marked.startswith((MARK, STRING))

    def _open(self, target: str, operator: str, *, to_stdout: bool) -> None:
        role = _ROLES.get(operator, "w")
        if socket := _SOCKET.fullmatch(shown(target)):
            self.shell.ledger.fetch(f"{socket[1]}:{socket[2]}")
        elif operator in {">&", "<&"} and re.fullmatch(r"\d+-?|-", target):
            return
        elif role == "r":
            self.stdin = self.shell.written(target)
            self.shell.act("r", target, "redirect")
        else:
            self.shell.act(role, target, "redirect")
            if to_stdout or operator.startswith("&"):
                self.targets.append((target, role))

    def _run(self) -> str:
        argv = [word for marked in self.words[:1] for one in (marked if self.spread else marked[:1]) for word in finished(one)]
        argv += [word for marked in self.words[1:] for word in dict.fromkeys(word for one in marked for word in finished(one))]
        if argv:
            return self._with_environment(argv)
        for assignment in self.assignments:
            self.shell.assignment(assignment)
        if self.body is None or self.body.type == "command":
            return self.stdin if not self.assignments else ""
        return self.shell.fed(self.stdin, partial(self.shell.visit, self.body))

    def _with_environment(self, argv: list[str]) -> str:
        if not self.assignments:
            return self.shell.run(argv, self.stdin)
        kept, named = dict(self.shell.variables), list[str]()
        for assignment in self.assignments:
            self.shell.assignment(assignment)
            name = assignment.child_by_field_name("name")
            if name is not None:
                key = (name.text or b"").decode("utf-8", "replace")
                named.append(f"{key}={self.shell.variables.get(key, [''])[-1]}")
        self.shell.ledger.run(("env", *named, *argv), self.shell.directories[0])
        try:
            return self.shell.run(argv, self.stdin)
        finally:
            for key in (one.partition("=")[0] for one in named):
                self.shell.variables.pop(key, None)
                if key in kept:
                    self.shell.variables[key] = kept[key]
