"""Mask secrets in what the model answers before it is kept.

The transcript that is stored, shared, summarised and sent with every further request then holds ``ghp_…cdef[REDACTED]``.
What a host shows while the answer is still being written it has shown (OpenCode streams it to the screen and shows the
masked text once the answer is complete); an answer that is broken off is kept as far as it got. Answers travel back through
the hooks in reverse order: a hook that may bring a secret in names this one in its ``RUN_AFTER``.
"""

from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services import secrets
from matrixx_builtin.services.redaction import mask
from matrixx_core import TextComplete, hookimpl, rewrite


class Config(BaseModel):
    """Which findings are masked."""

    model_config = ConfigDict(frozen=True)

    warnings: bool = Field(default=False, description="Mask also what only may be a secret, as a short value after `password =`.")


@hookimpl
def host_opened() -> None:
    """Load the scanner's rules beside the host's own start."""
    secrets.warm()


@rewrite
async def text_complete(text: TextComplete, config: Config) -> TextComplete | None:
    found = await secrets.scan_all({"": text.text})
    sure = [finding for finding in found if finding.severity == "block" or config.warnings]
    values = {one.value if one.value in text.text else text.text[one.start : one.end] for one in sure} - {""}  # or encoded there
    masked = text.text
    for value in sorted(values, key=len, reverse=True):
        masked = masked.replace(value, mask(value))
    return None if masked == text.text else text.model_copy(update={"text": masked})
