"""Write down what a call does, each thing once, with paths as they are on the disk."""

from collections.abc import Callable
from dataclasses import dataclass, field

from matrixx_builtin.services.effects.model import Effects, Mode, Move, Run, Touch
from matrixx_builtin.services.effects.paths import Tree, absolute, exists, is_nowhere, is_wild, named, normalised, resolved
from matrixx_builtin.services.effects.words import shown

MOST = 10_000
"""How many things one call may do before the rest is called unknown."""


@dataclass(slots=True)
class Ledger:
    """What has been found so far; every kind keeps its order and drops repetitions."""

    found: dict[str, dict[Touch, None]] = field(default_factory=dict[str, dict[Touch, None]])
    moves: dict[Move, None] = field(default_factory=dict[Move, None])
    runs: dict[Run, None] = field(default_factory=dict[Run, None])
    fetches: dict[str, None] = field(default_factory=dict[str, None])
    unknown: dict[str, None] = field(default_factory=dict[str, None])
    links: dict[str, str] = field(default_factory=dict[str, str])
    """Links that the call itself makes: their absolute path and what they lead to."""
    texts: dict[str, str] = field(default_factory=dict[str, str])
    """Files that the call itself writes, as far as the text is known."""
    trees: dict[str, Tree] = field(default_factory=dict[str, Tree])
    """Directories that were looked through for a pattern with ``**``."""
    left: int = MOST

    def touch(self, role: str, given: str, directories: tuple[str, ...], how: str) -> list[Touch]:
        """Note that a path is touched in a role of ``ROLES``; a pattern is every name on the disk that it fits."""
        given = shown(given)
        if role not in ROLES or is_nowhere(given):
            return []
        found = [(name, directory) for directory in directories for name in named(given, directory, self.trees)] if self.left >= 0 else []
        if is_wild(given):  # the disk was looked at, which costs more than a step
            self.spend(4 + sum(len(names) for names, _ in self.trees.values()) // 64 * ("**/" in given))
        touches = [self._touch(role, name, directory, how) for name, directory in found]
        for kind in ROLES[role].kinds:
            self.found.setdefault(kind, {}).update(dict.fromkeys(touches))
        return touches

    def move(self, source: str, target: str, directories: tuple[str, ...], how: str) -> None:
        """Note that a path is given another name."""
        gone = self.touch("d", source, directories, how)
        came = self.touch("w", target, directories, how)
        self.moves.update(dict.fromkeys(Move(old, new) for old, new in zip(gone, came, strict=False)))

    def run(self, argv: tuple[str, ...], cwd: str) -> None:
        """Note that a program is started."""
        self.runs[Run(shown(argv[0]), tuple(map(shown, argv)), cwd)] = None

    def fetch(self, address: str) -> None:
        """Note that a URL or a host is reached."""
        if address:
            self.fetches[shown(address)] = None

    def doubt(self, kind: str, what: str) -> None:
        """Note what could not be analysed."""
        self.unknown[f"{kind}: {shown(what)[:120]}"] = None

    def spend(self, steps: int = 1) -> bool:
        """Take steps of the work that a call may cost; false when none is left."""
        self.left -= steps
        if self.left < 0:
            self.doubt("limit", "the call does more than is looked at")
        return self.left >= 0

    def effects(self) -> Effects:
        """Return what was found."""
        reads, writes, deletes, metadata = (tuple(self.found.get(kind, ())) for kind in ("reads", "writes", "deletes", "metadata"))
        return Effects(reads, writes, deletes, tuple(self.moves), tuple(self.runs), tuple(self.fetches), tuple(self.unknown), metadata)

    def _touch(self, role: str, given: str, directory: str, how: str) -> Touch:
        self.spend()
        action = ROLES[role]
        straight = normalised(absolute(given, directory))
        path = resolved(absolute(given, directory), follow=action.follows)
        if action.follows:
            path = self._through(path)
        elif self.links:
            head, _, name = path.rpartition("/")
            path = f"{self._through(head)}/{name}"
        return Touch(path, given, how, action.mode(path), "" if path == straight else straight)

    def _through(self, path: str) -> str:
        """Follow the links that this very call has made."""
        for _ in range(8 if self.links else 0):
            head = path
            while head not in self.links and len(head) > 1:
                head = head.rpartition("/")[0]
            if head not in self.links:
                break
            path = self.links[head] + path[len(head) :]
        return path


@dataclass(frozen=True, slots=True)
class Role:
    """What an operand's letter means: the lists that it is noted in, its mode, and whether a symlink is followed."""

    kinds: tuple[str, ...]
    mode: Callable[[str], Mode]
    follows: bool = True


def _always(mode: Mode) -> Callable[[str], Mode]:
    return lambda _: mode


def _written(path: str) -> Mode:
    return "overwrite" if exists(path) else "create"


ROLES = {
    "r": Role(("reads",), _always("read")),
    "w": Role(("writes",), _written),
    "a": Role(("writes",), _always("append")),
    "e": Role(("writes",), _always("edit")),
    "b": Role(("reads", "writes"), _always("edit")),
    "d": Role(("deletes",), _always("delete"), follows=False),
    "l": Role(("writes",), _written, follows=False),
    "m": Role(("metadata",), _always("metadata")),
}
"""r read, w write, a append, e edit in place, b both read and written, d delete, l a link's own name, m looked at from outside."""
