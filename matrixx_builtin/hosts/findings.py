"""What an examination found, for ``matrixx doctor``."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Level: TypeAlias = Literal["ok", "warn", "error"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: ``what`` was found, ``why`` it matters, and the ``way_out`` where there is one."""

    level: Level
    what: str
    why: str = ""
    way_out: str = ""
