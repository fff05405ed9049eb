"""Make images that the agent reads small enough for its model, instead of losing them or the session.

A model that is sent an image over its provider's limits refuses the whole request, and every later one of the session, since the
image stays in it. Sizes are counted as the providers count them: in characters of base64. What fits is not touched; neither are
animations, unless they are over the limits. An image is only ever left out if the provider would refuse it and it cannot be made smaller.
"""

import logging
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field

from matrixx_core import ChatMessage, HostClient, Session, ToolResult, observe, rewrite
from matrixx_core.errors import ClientError
from matrixx_core.events import Part

from .images import Picture, TooLargeError, UnreadableError, fitted, looked_at
from .limits import Limits, limits_of

log = logging.getLogger("matrixx")

NO_PILLOW = "Images that the agent reads are not made smaller: Pillow cannot be imported. Reinstall matrixx-read-image-resizer."

_DATA = re.compile(r"data:(image/[a-z0-9.+-]{1,40})(?:;[^,;]{1,80})*;base64,", re.IGNORECASE)
_WHITE = re.compile(r"\s+")


class Config(BaseModel):
    """Settings of ``read-image-resizer``."""

    model_config = ConfigDict(frozen=True)

    max_edge: int = Field(
        default=0, ge=0, le=100_000, description="Longest side in pixels that an image may keep; 0: what the model makes use of, at most."
    )
    max_pixels: int = Field(
        default=64_000_000, ge=1, description="Images with more pixels are not decoded: they would take too much memory."
    )


@dataclass(slots=True)
class Seen:
    """The session's model, how many images it has read, and whether the person has been told that none can be resized."""

    provider: str = ""
    model: str = ""
    images: int = 0
    told: bool = False


class Fate(NamedTuple):
    """What becomes of one attachment (``None``: it is left out), and what the model is told, if anything."""

    part: Part | None
    note: str = ""


@observe
def chat_message(message: ChatMessage, session: Session) -> None:
    """Know the session's model, and count the images that the person adds."""
    seen = session.state(Seen)
    seen.images += sum(map(_is_image, message.parts))
    if message.provider or message.model:
        seen.provider, seen.model = message.provider, message.model


@rewrite(tools={"read", "webfetch"})
async def tool_execute_after(result: ToolResult, session: Session, client: HostClient, config: Config) -> ToolResult | None:
    images = sum(map(_is_image, result.attachments))
    if not images:
        return None
    seen = session.state(Seen)
    seen.images += images
    try:
        fates = await run_sync(_fates, result, seen, config, abandon_on_cancel=True)
    except ImportError:
        if not seen.told:
            seen.told = True
            log.warning(NO_PILLOW)
            with suppress(ClientError):
                await client.toast(NO_PILLOW, tone="warning")
        return None
    parts = tuple(fate.part for fate in fates if fate.part is not None)
    notes = "\n".join(f"[{fate.note}]" for fate in fates if fate.note)
    changed = result.model_copy(update={"attachments": parts}) if parts != result.attachments else result
    return changed.with_text(notes) if notes else None if changed is result else changed


def _fates(result: ToolResult, seen: Seen, config: Config) -> list[Fate]:
    limits = limits_of(seen.provider, seen.model)
    return [
        _fate(part, _name(part, result, number), limits, config, many=seen.images > 1) if _is_image(part) else Fate(part)
        for number, part in enumerate(result.attachments, 1)
    ]


def _is_image(part: Part) -> bool:
    url = part.get("url")
    return isinstance(url, str) and _DATA.match(url) is not None


def _name(part: Part, result: ToolResult, number: int) -> str:
    """What to call the image: hosts do not always say."""
    path = result.call.args.get("filePath")
    given = next((one for one in (part.get("filename"), path) if isinstance(one, str) and one), f"image {number}")
    return repr(given.replace("\\", "/").rstrip("/").rpartition("/")[2][-60:])


def _fate(part: Part, name: str, limits: Limits, config: Config, *, many: bool) -> Fate:
    data = str(part["url"]).partition(",")[2]
    data = _WHITE.sub("", data) if _WHITE.search(data) else data
    hard = (limits.many_edge if many else 0) or limits.hard_edge
    try:
        there = looked_at(data)
    except UnreadableError as error:
        return Fate(part, f"{name} cannot be read as an image ({error}); it was left as it is")
    except TooLargeError as error:
        return _refused(part, name, error, left_out=limits.known and (hard > 0 or _over(len(data), limits.characters)))
    edge = min(filter(None, (config.max_edge or limits.edge, hard)))
    too_large = _over(there.edge, hard) or _over(len(data), limits.characters)
    if not too_large and there.mime and (there.edge <= edge or there.animated):
        return Fate(part if _mime(part) == there.mime else _with(part, there))
    try:
        small = fitted(data, edge, limits.characters, config.max_pixels)
    except (UnreadableError, TooLargeError) as error:
        return _refused(part, name, error, left_out=limits.known and too_large)
    return Fate(_with(part, small), _told(name, there, small, limits))


def _refused(part: Part, name: str, error: Exception, *, left_out: bool) -> Fate:
    """Below the provider's limits an image that cannot be made smaller stays; above them it would end the session."""
    if left_out:
        return Fate(None, f"{name} was left out: the model's provider would refuse it, and it could not be made smaller ({error})")
    return Fate(part, f"{name} could not be made smaller ({error}); it was left as it is")


def _over(size: int, limit: int) -> bool:
    return 0 < limit < size


def _mime(part: Part) -> str:
    found = _DATA.match(str(part["url"]))
    return str(part.get("mime")) if found and found[1] == part.get("mime") else ""


def _with(part: Part, picture: Picture) -> dict[str, Any]:
    return {**part, "mime": picture.mime, "url": f"data:{picture.mime};base64,{picture.base64}"}


def _told(name: str, old: Picture, new: Picture, limits: Limits) -> str:
    done = "was made smaller" if (new.edge, len(new.base64)) < (old.edge, len(old.base64)) else f"was converted to {new.mime}"
    first = " (only the first picture of the animation)" if old.animated else ""
    sizes = f"from {old.width}x{old.height} to {new.width}x{new.height} pixels, {len(old.base64):,} to {len(new.base64):,} characters"
    tokens = f", about {-(-new.width * new.height // limits.pixels_per_token):,} tokens" if limits.pixels_per_token else ""
    factor = old.edge / new.edge
    places = f". Multiply coordinates by {factor:.2f} to get those of the original" if factor > 1 else ""
    return f"{name} {done}{first}: {sizes}{tokens}{places}"
