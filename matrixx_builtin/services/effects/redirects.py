"""Follow one statement with all its words and redirections."""

import re
from functools import partial
from typing import TYPE_CHECKING

from matrixx_builtin.services.effects.words import finished, joined, plain, shown

if TYPE_CHECKING:
    from tree_sitter import Node

    from matrixx_builtin.services.effects.shell import Shell

_OPERATOR = re.compile(rb"\s*(\d*|\{\w+\})\s*(&>>|&>|>>|>\||>&|<>|<&|<|>)")
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
        self.then: list[Node] = []
        self.piped: list[Node] = []
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
        for stage in self.piped:
            printed = self.shell.fed(printed, partial(self.shell.visit, stage))
        for statement in self.then:
            self.shell.visit(statement)
        return printed

    def _take(self, part: "Node") -> None:
        match part.type:
            case "variable_assignment":
                self.assignments.append(part)
            case "file_redirect":
                self._file(part)
            case "heredoc_redirect":
                self._heredoc(part)
            case "herestring_redirect":
                self.stdin = joined([self.shell.marked(child) for child in part.named_children[-1:]])[0]
                self.stdin = plain(self.stdin) + "\n"
            case "comment" | "file_descriptor":
                pass
            case _:
                self._word(part)

    def _word(self, part: "Node") -> None:
        """Take a word; a backslash at a line's end joins it with the one before."""
        marked = self.shell.marked(part)
        between = part.start_byte - self._end
        if self.words and between == 2 and self._joins(part):
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
        first, *more = part.children_by_field_name("destination") or [None]
        for word in more:
            self._word(word)
        if first is not None:
            for target in self.shell.words(first):
                self._open(target, operator, to_stdout=not found or found[1] in {b"", b"1"})

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

    def _heredoc(self, part: "Node") -> None:
        delimiter, text = b"", ""
        for child in part.named_children:
            match child.type:
                case "heredoc_start":
                    delimiter = child.text or b""
                case "heredoc_body":
                    text = self._heredoc_text(child, literal=delimiter[:1] in {b"'", b'"', b"\\"} or b"'" in delimiter)
                case "file_redirect" | "herestring_redirect" | "heredoc_redirect":
                    self._take(child)
                case "pipeline":
                    self.piped.append(child)
                case "heredoc_end":
                    pass
                case "ERROR":
                    self.shell.visit(child)
                case _ if child in part.children_by_field_name("right"):
                    self.then.append(child)
                case _:
                    self._word(child)
        tabs = (part.text or b"").lstrip(b"0123456789").startswith(b"<<-")
        self.stdin = re.sub(r"^\t+", "", text, flags=re.MULTILINE) if tabs else text

    def _heredoc_text(self, body: "Node", *, literal: bool) -> str:
        raw = body.text or b""
        parts, at = list[str](), 0
        for child in () if literal else body.named_children:
            if child.type != "heredoc_content":
                parts += [raw[at : child.start_byte - body.start_byte].decode("utf-8", "replace"), self.shell.inside(child)[0]]
                at = child.end_byte - body.start_byte
        return "".join(parts) + raw[at:].decode("utf-8", "replace")

    def _run(self) -> str:
        argv = [word for marked in self.words[:1] for word in finished(marked[0])]
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
        kept = dict(self.shell.variables)
        named: list[str] = []
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
            self.shell.variables = kept
