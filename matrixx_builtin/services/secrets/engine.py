"""Kingfisher's 488 rules and ours in one engine, loaded beside the work and used once they are there."""

import importlib
import json
import logging
import os
import re
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import platformdirs

from .judgement import POOREST, token_severity
from .quick import Span, quick_spans, structural_spans, token_spans
from .rules import CLUES, OVERRULED, TOKEN_RULES

log = logging.getLogger("matrixx.secrets")

RULE_CACHE = "KF_RULE_CACHE_DIR"
"""Environment variable that moves the cache of compiled rules (2.4 MB; it turns 3 s of set-up into 0.3 s)."""

WINDOW, OVERLAP = 64 * 1024, 4 * 1024
"""Bytes given to kingfisher at once, and how far a window reaches into the next one."""
PATIENCE = 0.025
"""Seconds that kingfisher may take over one window, thirty times what ordinary text needs; near misses of its own rules can take far more."""
REACH = 320
"""Characters from a clue to the end of what it can be a clue to; the longest separator is about 150, a password's start 100 more."""


class _Scanner(Protocol):
    def scan(self, data: bytes, *, timeout: float) -> list[Any]: ...


class Kingfisher:
    """The scanner of the optional extra ``secrets``; until it is loaded, or where it is not installed, it finds nothing."""

    def __init__(self) -> None:
        self._scanner: _Scanner | None = None
        self._begin = threading.Lock()
        self._begun = False
        self._done = threading.Event()

    @property
    def ready(self) -> bool:
        """Whether the rules are loaded."""
        return self._scanner is not None

    def warm(self) -> None:
        """Begin to load the rules in a thread of their own, once; returns at once."""
        with self._begin:
            if self._begun:
                return
            self._begun = True
        threading.Thread(target=self._load, name="matrixx-secret-rules", daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """Wait until the rules are loaded or known to be missing; blocks the thread, for command lines and tests."""
        self.warm()
        self._done.wait(seconds)
        return self.ready

    def spans(self, text: str) -> Iterator[Span]:
        """What kingfisher finds in a text with its rules and with ours, without the placeholders.

        Where it fails, or takes too long over text made for that, our own rules answer alone.
        """
        if self._scanner is None:
            return
        try:
            found = list(_read(self._scanner, text))
        except TimeoutError:
            found = list(quick_spans(text))
        except Exception:  # a native scanner's failure must not take our own rules along
            log.exception("kingfisher failed on a text of %d characters; our own rules looked at it", len(text))
            found = list(quick_spans(text))
        yield from found

    def _load(self) -> None:
        try:
            sdk = importlib.import_module("kingfisher_sdk")
            with tempfile.TemporaryDirectory(prefix="matrixx-") as folder:
                own = Path(folder, "matrixx.yml")
                own.write_text(_own_rules(), encoding="utf-8")
                scanner: _Scanner = sdk.Scanner(sdk.Rules([own], cache_dir=rule_cache()))
            scanner.scan(b"warm = up", timeout=60)
            self._scanner = scanner
        except ImportError:
            log.info("kingfisher is not installed; secrets are found by our own rules alone (pip install 'matrixx-core[secrets]')")
        except Exception:
            log.exception("kingfisher's rules cannot be loaded; secrets are found by our own rules alone")
        finally:
            self._done.set()


class _Places:
    """Byte offsets to character offsets; asked in rising order it reads the text once."""

    def __init__(self, data: bytes, *, plain: bool) -> None:
        self._data, self._plain = data, plain
        self._byte = self._character = 0

    def of(self, byte: int) -> int:
        if self._plain:
            return byte
        if byte < self._byte:
            return self._character - len(self._data[byte : self._byte].decode("utf-8", "ignore"))
        self._character += len(self._data[self._byte : byte].decode("utf-8", "ignore"))
        self._byte = byte
        return self._character


def _read(scanner: _Scanner, text: str) -> Iterator[Span]:
    clues: dict[str, list[range]] = {}
    places = _Places(data := text.encode("utf-8", "replace").replace(b"\0", b" "), plain=text.isascii())
    for start in range(0, max(len(data), 1), WINDOW):
        findings = [finding for finding in scanner.scan(data[start : start + WINDOW + OVERLAP], timeout=PATIENCE) if finding.visible]
        for finding in sorted(findings, key=lambda finding: int(finding.location["start_offset"])):
            rule, place = finding.rule_id, places.of(start + finding.location["start_offset"])
            if rule in _TOKENS:
                yield from token_spans(_TOKENS[rule], _TOKENS[rule].pattern.match(text, place))
            elif rule in _CLUES:
                _note(clues.setdefault(_CLUES[rule], []), place)
            else:
                yield from _judged(finding, place, places.of(start + finding.location["end_offset"]))
    yield from structural_spans(text, clues)


def _judged(finding: Any, start: int, end: int) -> Iterator[Span]:
    """A finding of kingfisher's own rules, unless it is a placeholder or a matter of ours."""
    rule = finding.rule_id.rpartition(".")[2]
    if rule not in OVERRULED and (severity := token_severity(finding.secret)):
        yield Span(start, end, 2, rule, _short(finding.rule_name), severity, finding.secret)


def _note(ranges: list[range], place: int) -> None:
    """Add the surroundings of a clue, joined to those of the last one."""
    start, stop = place, place + REACH
    if ranges and start <= ranges[-1].stop:
        last = ranges.pop()
        start, stop = min(start, last.start), max(stop, last.stop)
    ranges.append(range(start, stop))


def _short(sentence: str) -> str:
    """Kingfisher's rule names are sentences; the first clause is enough."""
    return re.split(r", |\. ", sentence, maxsplit=1)[0][:100]


def _own_rules() -> str:
    """Our rules in kingfisher's format, so that one pass of its engine answers for both."""
    tokens = [_entry(name, rule.shape, POOREST) for name, rule in _TOKENS.items()]
    clues = [_entry(name, f"({pattern})", 0.0) for name, (_, pattern) in zip(_CLUES, CLUES, strict=True)]
    return json.dumps({"rules": tokens + clues})


def _entry(name: str, pattern: str, entropy: float) -> dict[str, Any]:
    return {"name": name, "id": name, "pattern": pattern, "min_entropy": entropy, "confidence": "medium", "examples": []}


def rule_cache() -> Path | None:
    """The folder of compiled rules, private to this user; ``None`` where it cannot be made."""
    folder = Path(os.environ.get(RULE_CACHE) or platformdirs.user_cache_path("matrixx") / "kingfisher")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    return folder


_TOKENS = {f"matrixx.{rule.id}": rule for rule in TOKEN_RULES}
_CLUES = {f"matrixx.clue.{place}": clue for place, (clue, _) in enumerate(CLUES)}
KINGFISHER = Kingfisher()
