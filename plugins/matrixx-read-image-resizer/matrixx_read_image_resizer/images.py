"""One image made to fit, in memory: looked at by its content, not by what it is said to be."""

import binascii
import io
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

MIMES = {"PNG": "image/png", "JPEG": "image/jpeg", "MPO": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}
"""By Pillow's name, what the models take; a JPEG with a second picture in it (MPO) is a JPEG to them."""

DECODED = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
"""Formats that are decoded at all: the fewer decoders, the fewer surprises."""

QUALITIES = (80, 60, 40)
"""Of WebP and JPEG, one after the other until the image fits (spec 2.17)."""

ROUNDS = 6
"""Times that an image which still does not fit is made smaller, to three quarters of its sides."""

_ONE = threading.Lock()
"""A decoded image may take hundreds of megabytes: one at a time."""


class UnreadableError(ValueError):
    """It is no image, or a broken one."""


class TooLargeError(ValueError):
    """It has more pixels than may be decoded, or cannot be made to fit."""


@dataclass(frozen=True, slots=True)
class Picture:
    """An image as base64, with its sides in pixels as they are shown."""

    mime: str
    base64: str
    width: int
    height: int
    animated: bool = False

    @property
    def edge(self) -> int:
        return max(self.width, self.height)


def looked_at(base64: str) -> Picture:
    """What the image really is, by its header; raises ``UnreadableError``, and ``TooLargeError`` for what Pillow calls a bomb."""
    with _ONE:
        image = _opened(_bytes(base64))
        try:
            width, height = _shown_size(image)
            animated = image.format in {"PNG", "GIF", "WEBP"} and bool(getattr(image, "is_animated", False))
        except Exception as error:  # noqa: BLE001  decoders raise whatever they like for a broken file
            raise UnreadableError(_short(error)) from None
        return Picture(MIMES.get(str(image.format), ""), base64, width, height, animated)


def fitted(base64: str, edge: int, characters: int, pixels: int) -> Picture:
    """The image with no side over ``edge`` and no more base64 than ``characters``, its aspect kept; of an animation the first picture.

    Raises ``TooLargeError`` without decoding if it has more than ``pixels``, and ``UnreadableError``.
    """
    with _ONE:
        image = _opened(_bytes(base64))
        if image.width * image.height > pixels:
            raise TooLargeError(f"it has {image.width * image.height:,} pixels, and {pixels:,} are decoded at most")
        opaque = image.format in {"JPEG", "MPO"}
        try:
            small = _scaled(_decoded(image, edge), edge)
        except Exception as error:  # noqa: BLE001  see above
            raise UnreadableError(_short(error)) from None
        for _ in range(ROUNDS):
            if (found := _encoded(small, characters, opaque=opaque)) is not None:
                return found
            small = _scaled(small, max(max(small.size) * 3 // 4, 1))
    raise TooLargeError(f"it does not get below {characters:,} characters of base64")


def scaled_size(width: int, height: int, edge: int) -> tuple[int, int]:
    """The sides after the longer one is brought down to ``edge``; the other is rounded down, and at least 1."""
    longest = max(width, height)
    return (width, height) if longest <= edge else (max(width * edge // longest, 1), max(height * edge // longest, 1))


def _bytes(base64: str) -> bytes:
    try:
        return binascii.a2b_base64(base64)
    except (binascii.Error, ValueError) as error:
        raise UnreadableError(_short(error)) from None


def _opened(content: bytes) -> "Image":
    from PIL import Image, UnidentifiedImageError

    try:
        return Image.open(io.BytesIO(content), formats=DECODED)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise TooLargeError(_short(error)) from None
    except Exception as error:  # noqa: BLE001  decoders raise whatever they like for a broken file
        raise UnreadableError("no image of a known kind" if isinstance(error, UnidentifiedImageError) else _short(error)) from None


def _shown_size(image: "Image") -> tuple[int, int]:
    """Cameras store pictures lying on their side, and say so; of a PNG the same question would decode all of it."""
    from PIL import ExifTags

    lying = image.format in {"JPEG", "MPO", "WEBP"} and image.getexif().get(ExifTags.Base.Orientation) in {5, 6, 7, 8}
    return (image.height, image.width) if lying else image.size


def _decoded(image: "Image", edge: int) -> "Image":
    """The image upright and in a form that every encoder takes, without a copy where it is so already: copies cost hundreds of megabytes."""
    from PIL import ImageOps

    image.draft("RGB", (edge, edge))  # a JPEG need not be decoded larger than it is wanted
    ImageOps.exif_transpose(image, in_place=True)
    if image.mode.startswith("I;16"):
        return image.convert("I").point(lambda value: value / 256).convert("L")
    transparent = "transparency" in image.info or image.mode in {"RGBA", "LA", "PA", "RGBa", "La"}
    if image.mode == "CMYK":
        image.info.pop("icc_profile", None)  # it is about inks
    wanted = "RGBA" if transparent else "L" if image.mode in {"1", "L"} else "RGB"
    return image if image.mode == wanted else image.convert(wanted)


def _scaled(image: "Image", edge: int) -> "Image":
    from PIL.Image import Resampling

    size = scaled_size(*image.size, edge)
    return image if size == image.size else image.resize(size, Resampling.LANCZOS, reducing_gap=3.0)


def _encoded(image: "Image", characters: int, *, opaque: bool) -> Picture | None:
    """The image in the first form that is small enough; photographs stay JPEG, drawings PNG as long as they can."""
    lossy: list[tuple[str, dict[str, int]]] = [("JPEG" if opaque else "WEBP", {"quality": quality}) for quality in QUALITIES]
    forms = lossy if opaque else [("PNG", {}), *lossy]
    for name, options in forms:
        buffer = io.BytesIO()
        image.save(buffer, name, icc_profile=image.info.get("icc_profile"), **options)
        text = binascii.b2a_base64(buffer.getbuffer(), newline=False).decode("ascii")
        if not characters or len(text) <= characters:
            return Picture(MIMES[name], text, *image.size)
    return None


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:200]
