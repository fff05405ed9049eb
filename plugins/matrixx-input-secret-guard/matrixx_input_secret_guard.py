"""Hold back a prompt that holds a secret until the person has decided."""

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import anyio.lowlevel
from pydantic import BaseModel, Field

from matrixx_builtin.services import secrets
from matrixx_builtin.services.redaction import fingerprint, mask
from matrixx_core import Block, ChatMessage, HostClient, Session, guard, hookimpl
from matrixx_core.events import is_added

SETTINGS_KEY = "security.input_secret_guard"

MOST = 1024 * 1024
"""Characters of one message that are searched."""
OVERLAP = 4096
"""Characters that neighbouring windows share, so that no secret is cut in two; a private key's first lines are enough to find it."""
PREVIEWS = 3
"""Findings that are named; the rest is counted."""
TOAST_DEADLINE = 1.0
"""Seconds that a toast may take before the guard goes on without it."""

log = logging.getLogger("matrixx.input-secret-guard")


class Detection(BaseModel):
    """How prompts are searched."""

    entropy_threshold: float = Field(
        default=4.5, ge=0, le=8, description="Bits per character from which a random-looking word counts as a possible secret."
    )
    max_scan_bytes: int = Field(
        default=64 * 1024,
        ge=1024,
        le=256 * 1024,
        description="Size of one window of the search; windows overlap, so nothing up to 1 MiB goes unseen.",
    )


class Config(BaseModel):
    """What happens to which finding."""

    enabled: bool = Field(default=True, description="Whether prompts are searched at all.")
    mode: Literal["prompt", "block", "off"] = Field(
        default="prompt", description="`prompt`: the person may let a finding through; `block`: nobody may."
    )
    blocklist_mode: Literal["prompt", "block"] = Field(
        default="prompt", description="The same for findings that are secrets by their own shape."
    )
    warnlist_mode: Literal["prompt", "off"] = Field(
        default="prompt",
        description="What happens to findings that may be none: a short value given to a password's name, a random-looking word.",
    )
    allowlist_patterns: tuple[str, ...] = Field(
        default=(), description="Regular expressions; a value in which one of them is found is no secret."
    )
    detection: Detection = Field(default_factory=Detection, description="How prompts are searched: `entropy_threshold`, `max_scan_bytes`.")


@dataclass
class Decisions:
    """What this session's person has been asked and has answered; fingerprints, never values."""

    pending: set[str] = field(default_factory=set[str])
    once: set[str] = field(default_factory=set[str])
    always: set[str] = field(default_factory=set[str])


@hookimpl
def host_opened() -> None:
    """Load the scanner's rules beside the host's own start."""
    secrets.warm()


@guard
async def chat_message(message: ChatMessage, session: Session, client: HostClient, config: Config) -> Block | None:
    if not config.enabled or config.mode == "off":
        return None
    decisions = session.state(Decisions)
    if decided(message.text, decisions):
        return None
    texts = list(texts_of(message))
    cut = sum(map(len, texts)) > MOST
    found = [finding for finding in await search(texts, config) if not _is_allowed(finding, config)]
    marks = {fingerprint(finding.value): finding for finding in found}
    open_marks = {
        mark: finding for mark, finding in marks.items() if _is_hard(finding, config) or mark not in decisions.once | decisions.always
    }
    if not open_marks:
        decisions.once -= marks.keys()
        if cut:
            await _toast(client, f"Only the first {MOST:,} characters of this message were searched for secrets.")
        return None
    findings = list(open_marks.values())
    decisions.pending = {mark for mark, finding in open_marks.items() if not _is_hard(finding, config)}
    await _toast(client, f"Message held back: {_named(findings)}.")
    return refuse(findings, config, cut=cut)


def decided(text: str, decisions: Decisions) -> bool:
    """Take ``allow once`` or ``allow session`` as the answer to what is pending; whether the message was one."""
    answer = text.strip().strip("\"'`").strip().casefold()
    if not decisions.pending or answer not in {"allow once", "allow session"}:
        return False
    (decisions.once if answer == "allow once" else decisions.always).update(decisions.pending)
    decisions.pending = set()
    return True


def texts_of(message: ChatMessage) -> Iterator[str]:
    """Every text a person can have put in: typed, pasted, attached as text; not what Matrixx itself has added."""
    for part in message.parts:
        if is_added(part):
            continue
        if isinstance(text := part.get("text"), str):
            yield text
        if part.get("type") == "file" and str(url := part.get("url", "")).startswith(("data:text/", "data:application/json")):
            yield str(url)


async def search(texts: Sequence[str], config: Config) -> list[secrets.Finding]:
    """Search up to 1 MiB in overlapping windows, letting other events run in between."""
    found: list[secrets.Finding] = []
    left = MOST
    for text in texts:
        for window in windows(text[:left], config.detection.max_scan_bytes):
            named = await secrets.scan_all({"prompt": window})
            found += named
            if config.warnlist_mode == "prompt":
                words = secrets.random_words(window, config.detection.entropy_threshold, "prompt")
                found += [word for word in words if not any(one.start < word.end and word.start < one.end for one in named)]
            await anyio.lowlevel.checkpoint()
        left -= min(left, len(text))
    return [finding for finding in found if finding.severity == "block" or config.warnlist_mode == "prompt"]


def windows(text: str, size: int) -> Iterator[str]:
    """Cut a text into windows of at most this many characters that overlap."""
    step = max(size - OVERLAP, size // 2)
    for start in range(0, max(len(text) - size + step, 1), step):
        yield text[start : start + size]


def refuse(findings: Sequence[secrets.Finding], config: Config, *, cut: bool) -> Block:
    """Tell the person what was held back and what they can do; the value only masked."""
    hard = any(_is_hard(finding, config) for finding in findings)
    reason = f"the message was not sent, because it holds what looks like a secret: {_named(findings)}."
    if cut:
        reason += f" Only its first {MOST:,} characters were searched."
    if hard:
        return Block(reason, "remove the secret and send the message again.")
    return Block(
        reason, 'remove the secret and send it again, or answer "allow once" or "allow session" and then send the same message again.'
    )


def _named(findings: Sequence[secrets.Finding]) -> str:
    named = ", ".join(f"{finding.rule} ({mask(finding.value)})" for finding in findings[:PREVIEWS])
    return named + (f", +{len(findings) - PREVIEWS} more" if len(findings) > PREVIEWS else "")


def _is_hard(finding: secrets.Finding, config: Config) -> bool:
    return config.mode == "block" or (finding.severity == "block" and config.blocklist_mode == "block")


def _is_allowed(finding: secrets.Finding, config: Config) -> bool:
    return any(_matches(pattern, finding.value) for pattern in config.allowlist_patterns)


def _matches(pattern: str, value: str) -> bool:
    try:
        return re.search(pattern, value) is not None
    except re.error:
        log.warning("%s.allowlist_patterns holds %r, which is no regular expression and is ignored", SETTINGS_KEY, pattern)
        return False


async def _toast(client: HostClient, text: str) -> None:
    """Show it if the host can; a failure or a slow host changes nothing."""
    with anyio.move_on_after(TOAST_DEADLINE):
        try:
            await client.toast(text, tone="warning")
        except Exception:  # whatever a host's client raises, the guard's answer must not depend on it
            log.info("the host could not show a toast", exc_info=True)
