"""Kingfisher's 488 rules, loaded beside the work and used once they are there."""

import importlib
import logging
import os
import re
import threading
from collections.abc import Iterator
from typing import Any, Protocol

import platformdirs

from .judgement import token_severity
from .quick import Span
from .rules import OVERRULED

log = logging.getLogger("matrixx.secrets")

RULE_CACHE = "KF_RULE_CACHE_DIR"
"""Environment variable that moves the cache of compiled rules (2.4 MB; it turns 3 s of set-up into 0.3 s)."""

WINDOW, OVERLAP = 64 * 1024, 4 * 1024
"""Bytes given to kingfisher at once, and how far a window reaches into the next one: some of its rules take quadratic time on near
misses (1 MB of repeated key headers: 4.4 s at once, 0.3 s in windows)."""


class _Scanner(Protocol):
    def scan(self, data: bytes) -> list[Any]: ...


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
        """What kingfisher finds in a text, without the placeholders."""
        if self._scanner is None:
            return
        places = _Places(data := text.encode("utf-8", "replace").replace(b"\0", b" "), plain=text.isascii())
        for start in range(0, max(len(data), 1), WINDOW):
            for finding in self._found(self._scanner, data[start : start + WINDOW + OVERLAP]):
                rule, where = finding.rule_id.rpartition(".")[2], finding.location
                if rule not in OVERRULED and (severity := token_severity(finding.secret)):
                    first, last = places.of(start + where["start_offset"]), places.of(start + where["end_offset"])
                    yield Span(first, last, 2, rule, _short(finding.rule_name), severity, finding.secret)

    def _found(self, scanner: _Scanner, data: bytes) -> list[Any]:
        """What is visible in one window, in order of place."""
        try:
            findings = [finding for finding in scanner.scan(data) if finding.visible]
        except Exception:  # a native scanner's failure must not take our own rules along
            log.exception("kingfisher failed on a text of %d bytes; only our own rules looked at it", len(data))
            return []
        return sorted(findings, key=lambda finding: int(finding.location["start_offset"]))

    def _load(self) -> None:
        try:
            sdk = importlib.import_module("kingfisher_sdk")
            scanner: _Scanner = sdk.Scanner(sdk.Rules(cache_dir=_rule_cache()))
            scanner.scan(b"warm = up")
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


def _short(sentence: str) -> str:
    """Kingfisher's rule names are sentences; the first clause is enough."""
    return re.split(r", |\. ", sentence, maxsplit=1)[0][:100]


def _rule_cache() -> str | None:
    if os.environ.get(RULE_CACHE):
        return None
    folder = platformdirs.user_cache_path("matrixx") / "kingfisher"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    return str(folder)


KINGFISHER = Kingfisher()
