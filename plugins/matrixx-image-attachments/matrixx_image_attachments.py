"""Save images that the user attaches, and let the agent that can see look at them.

Where the host has an agent ``observer``, an attached image becomes a file below ``.opencode/images/<session>/`` and the model reads
where it is, so that one that sees no images can hand it on. The same image has the same name and so the same words in every
request. Files that nobody has needed for an hour go. Without such an agent nothing happens.
"""

import base64
import binascii
import hashlib
import logging
import os
import re
import stat
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

import anyio
from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services import text_files
from matrixx_builtin.services.agents import canonical
from matrixx_builtin.services.records import RecordError
from matrixx_core import HostClient, Message, Session, Transcript, rewrite
from matrixx_core.errors import ClientError
from matrixx_core.events import Part, added_part

FOLDER = PurePosixPath(".opencode/images")
"""Below the project; the host's own folder, which projects do not commit."""

KEPT, BETWEEN = 60 * 60.0, 10 * 60.0
"""Seconds that a file stays after it was needed last, and seconds between two looks at that (spec slim-hooks 5)."""

MOST_BYTES, MOST_TRIES = 20 << 20, 1_000
"""The largest image that is saved, and the names that are tried for one."""

ASKING, AGAIN = 1.5, 60.0
"""Seconds that the host may take to name its agents, and seconds until it is asked again if it did not."""

TYPES = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
    "image/svg+xml": ".svg",
    "image/bmp": ".bmp",
}
NAMED = re.compile(r"\.(?:png|jpe?g|gif|bmp|webp|svg|ico|tiff?|heic)", re.IGNORECASE)

BEGINNINGS = re.compile(
    rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8[79]a|BM|RIFF....WEBP|\x00\x00\x01\x00|II\*\x00|MM\x00\*|....ftyp(?:hei|mif|msf|avif)|\s*<(?:\?xml|!--|svg|!DOCTYPE svg)",
    re.DOTALL,
)
"""How files of these kinds begin; anything else is no image, whatever it is called."""

OURS = re.compile(r".+-[0-9a-f]{8}(?:-\d{1,4})?\.[a-z]{3,4}", re.DOTALL)
"""Names that this hook gives: no other file is ever removed."""

TEXT = """\
[image-attachments] The user attached images; they are saved here, relative to the project:
{paths}
You may not be able to see images yourself: have the agent @{observer} look at them, give it these paths and what you want to know."""

_DATA = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w.=-]+)*;base64,", re.IGNORECASE)

log = logging.getLogger("matrixx")


class Config(BaseModel):
    """Settings of ``image-attachments``."""

    model_config = ConfigDict(frozen=True)

    routing: Literal["auto", "direct"] = Field(
        default="auto", description="auto: by the observer, where there is one. direct: the model always gets the images themselves."
    )
    observer: str = Field(default="observer", pattern=r"^[\w .()-]{1,80}$", description="The agent that looks at images.")


@dataclass(slots=True)
class Images:
    """What a session knows: whether there is an observer, where each image was saved, when old ones were looked for.

    ``left`` are the messages whose images the model has been sent: they stay as they are, so that no sent byte changes.
    """

    observer: bool | None = None
    ask_again: float = 0.0
    saved: dict[str, Path] = field(default_factory=dict[str, Path])
    look_again: float = 0.0
    left: set[str] = field(default_factory=set[str])


@rewrite
async def messages_transform(transcript: Transcript, session: Session, client: HostClient, config: Config) -> Transcript | None:
    """Put where they are saved in the place of the images that the user attached."""
    if config.routing == "direct" or session.parent or not session.directory:
        return None
    known = session.state(Images)
    shown = {message.id for message in transcript.messages if message.role == "user" and any(map(_is_image, message.parts))} - known.left
    if not await _observed(session, client, config):
        known.left |= shown
        return None
    if not shown and known.look_again > time.monotonic():
        return None
    messages = await run_sync(_all_saved, transcript.messages, session, config.observer)
    changed = {new.id for old, new in zip(transcript.messages, messages, strict=True) if new is not old}
    known.left |= shown - changed
    return transcript.model_copy(update={"messages": messages}) if changed else None


async def _observed(session: Session, client: HostClient, config: Config) -> bool:
    """Whether the host has the agent that looks at images, and it is another one than this session's."""
    known, now = session.state(Images), time.monotonic()
    if known.observer is None and now >= known.ask_again:
        known.ask_again = now + AGAIN
        try:
            with anyio.fail_after(ASKING):
                known.observer = canonical(config.observer) in {canonical(str(one.get("name") or "")) for one in await client.agents()}
        except (ClientError, TimeoutError):
            return False
    return known.observer is True and canonical(session.agent) != canonical(config.observer)


def _all_saved(messages: Sequence[Message], session: Session, observer: str) -> tuple[Message, ...]:
    """The messages with their images saved; as they were where the folder is not ours to write in."""
    root = Path(session.directory)
    folder = root / FOLDER
    if folder.is_symlink() or folder.parent.is_symlink():
        return tuple(messages)
    known = session.state(Images)
    if time.monotonic() >= known.look_again:
        known.look_again = time.monotonic() + BETWEEN
        _clean(folder)
    target = folder / re.sub(r"[^A-Za-z0-9._-]", "_", session.id)
    if session.id in {"", ".", ".."} or target.is_symlink():
        return tuple(messages)
    return tuple(
        _saved(message, target, root, known, observer) if message.role == "user" and message.id not in known.left else message
        for message in messages
    )


def _saved(message: Message, target: Path, root: Path, known: Images, observer: str) -> Message:
    """The message with a line for each image that could be saved; the others stay what they are."""
    paths: list[str] = []
    rest: list[Part] = []
    for part in message.parts:
        path = _file(part, target, root, known) if _is_image(part) else None
        if path is None:
            rest.append(part)
        else:
            paths.append(f"- {path.relative_to(root).as_posix()}")
    if not paths:
        return message
    told = added_part(TEXT.format(paths="\n".join(dict.fromkeys(paths)), observer=observer))
    return message.model_copy(update={"parts": (*rest, told)})


def _is_image(part: Part) -> bool:
    if part.get("type") == "image":
        return True
    mime, name = part.get("mime"), part.get("filename")
    by_type = isinstance(mime, str) and mime.startswith("image/")
    return part.get("type") == "file" and (by_type or (isinstance(name, str) and NAMED.fullmatch(PurePosixPath(name).suffix) is not None))


def _file(part: Part, target: Path, root: Path, known: Images) -> Path | None:
    """Where the part's image is saved, now or already; ``None`` for what is no image of ours to save."""
    url = part.get("url") or part.get("image")
    head = _DATA.match(url) if isinstance(url, str) and len(url) < MOST_BYTES * 3 // 2 else None
    if not isinstance(url, str) or head is None:
        return None
    key = hashlib.sha256(f"{part.get('filename')}\0{url}".encode("utf-8", "replace")).hexdigest()
    if (there := known.saved.get(key)) and _touched(there):
        return there
    try:
        content = base64.b64decode(url[head.end() :], validate=True)
        if not content or len(content) > MOST_BYTES or not BEGINNINGS.match(content):
            return None
        _prepare(root)
        path = known.saved[key] = _put(target, _name(part, content), content)
    except (binascii.Error, ValueError, OSError, RecordError) as error:
        log.warning("an attached image is left as it is: %s", type(error).__name__)
        return None
    return path


def _name(part: Part, content: bytes) -> tuple[str, str]:
    """A file's name up to a counter, and its extension: from the part's own name and the first 8 digits of its bytes' SHA-1."""
    given = part.get("filename")
    own = PurePosixPath(given.replace("\\", "/")) if isinstance(given, str) else PurePosixPath()
    base = re.sub(r"[^A-Za-z0-9._-]+", "_", own.stem)[:80].strip("._-") or "image"
    suffix = own.suffix.lower() if NAMED.fullmatch(own.suffix) else TYPES.get(str(part.get("mime")).lower(), ".png")
    return f"{base}-{hashlib.sha1(content, usedforsecurity=False).hexdigest()[:8]}", suffix


def _put(target: Path, name: tuple[str, str], content: bytes) -> Path:
    """The image under the first name that is free or holds the same bytes already."""
    for number in range(MOST_TRIES):
        path = target / f"{name[0]}{f'-{number}' if number else ''}{name[1]}"
        try:
            text_files.create(path, content)
        except FileExistsError:
            if not _holds(path, content):
                continue
            _touched(path)
        return path
    raise RecordError(f"no name is left for {name[0]}")


def _holds(path: Path, content: bytes) -> bool:
    try:
        return text_files.read(path, len(content)) == content
    except (OSError, RecordError):
        return False


def _touched(path: Path) -> bool:
    """Whether the file is there still; if so it counts as needed now."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return False
        os.utime(path)
    except OSError:
        return False
    return True


def _prepare(root: Path) -> None:
    """Keep the images out of commits: by one more line in the folder's ignore file, all other bytes of which stay.

    Where there is none, the images' own folder gets one: OpenCode writes its own only where none is (1.18).
    """
    path, line = root / FOLDER.parent / ".gitignore", f"{FOLDER.name}/".encode()
    try:
        before = text_files.read(path)
    except FileNotFoundError:
        with suppress(FileExistsError):
            text_files.create(root / FOLDER / ".gitignore", b"*\n")
        return
    if not {line, b"*"} & {one.strip() for one in before.split(b"\n")}:
        text_files.overwrite(path, before + (b"" if before.endswith(b"\n") or not before else b"\n") + line + b"\n")


def _clean(folder: Path) -> None:
    """Remove what nobody has needed for an hour, and session folders that became empty by that; links are left alone."""
    oldest = time.time() - KEPT
    for below in _entries(folder):
        if below.is_symlink() or not below.is_dir():
            continue
        removed = [one for one in _entries(below) if OURS.fullmatch(one.name) and _removed(one, oldest)]
        if removed:
            with suppress(OSError):
                below.rmdir()


def _removed(path: Path, oldest: float) -> bool:
    """Whether the file was too old and is gone now."""
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_mtime >= oldest:
            return False
        path.unlink()
    except OSError as error:
        log.info("an old image stays: %s", error.strerror)
        return False
    return True


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
