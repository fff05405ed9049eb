"""Find secrets in text and in what git is about to record or send.

``scan`` looks through one text, ``scan_all`` through the named texts of an event, ``warm`` loads kingfisher's rules beside the work.
"""

from .commands import Recorded, recorded_by
from .engine import KINGFISHER, RULE_CACHE, rule_cache
from .git import Change, pushed_changes, staged_changes, unstaged_changes
from .scanner import INLINE, Finding, random_words, scan, scan_all, scan_fields, strings_of

__all__ = [
    "INLINE",
    "RULE_CACHE",
    "Change",
    "Finding",
    "Recorded",
    "pushed_changes",
    "random_words",
    "recorded_by",
    "rule_cache",
    "scan",
    "scan_all",
    "scan_fields",
    "staged_changes",
    "strings_of",
    "unstaged_changes",
    "wait_ready",
    "warm",
]


def warm() -> None:
    """Begin to load kingfisher's rules, if they are installed; returns at once and may be called again."""
    KINGFISHER.warm()


def wait_ready(seconds: float = 10.0) -> bool:
    """Wait for kingfisher's rules (blocking, for command lines and tests); whether they are there."""
    return KINGFISHER.wait(seconds)
