"""What the providers take of an image, by provider or model."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Sides in pixels and sizes in characters of base64; 0: there is no such limit."""

    edge: int
    """Longest side that the model makes use of: a larger image only costs time and tokens."""
    hard_edge: int
    """Longest side that a request with one image may hold."""
    many_edge: int
    """Longest side that a request with many images may hold."""
    characters: int
    """Length of the base64 text, which is what the providers count."""
    pixels_per_token: int = 0
    known: bool = True
    """Whether the provider is known to refuse what is over these limits; only then an image may be left out."""


CLAUDE = Limits(1_568, 8_000, 2_000, 5_242_880, 750)
"""From Anthropic's page on vision (and spec 2.17); Bedrock's 3.75 MB of bytes are the same in base64."""
OPENAI = Limits(2_048, 0, 0, 20_971_520)
"""From OpenAI's page on vision: larger ones are first fitted into a square of 2,048 pixels."""
GEMINI = Limits(3_072, 0, 0, 9_437_184)
"""From Google's page on images: fitted into a square of 3,072 pixels; Vertex takes 7 MB of bytes inline."""
OTHERS = Limits(2_000, 8_000, 2_000, 5_242_880, known=False)
"""The narrowest of those above, and what OpenCode 1.18 itself makes of images."""

TABLE = (("claude", CLAUDE), ("anthropic", CLAUDE), ("gemini", GEMINI), ("gpt", OPENAI), ("openai", OPENAI), ("google", GEMINI))
"""The first word that the model's name holds decides, else the first that the provider's does: gateways offer models of many."""


def limits_of(provider: str, model: str) -> Limits:
    """The limits for a model, however it is reached."""
    return next((limits for name in (model.lower(), provider.lower()) for word, limits in TABLE if word in name), OTHERS)
