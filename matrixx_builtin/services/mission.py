"""The mission of a project: which plan is carried out, since when, and by which sessions (``.matrixx/mission.json``)."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict

from .records import RecordError, locked, read, write


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _names(value: Any) -> tuple[str, ...]:
    given = cast(Iterable[Any], value) if isinstance(value, list | tuple) else ()
    return tuple(dict.fromkeys(one for one in given if isinstance(one, str)))


class Mission(BaseModel):
    """The file as it stands; a field that is missing or odd is empty, what others wrote besides is kept.

    ``active_plan`` is the plan's absolute path, ``started_at`` ISO time, ``agent`` who carries it out (``""``: not said).
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    active_plan: Annotated[str, BeforeValidator(_text)] = ""
    started_at: Annotated[str, BeforeValidator(_text)] = ""
    session_ids: Annotated[tuple[str, ...], BeforeValidator(_names)] = ()
    plan_name: Annotated[str, BeforeValidator(_text)] = ""
    agent: Annotated[str, BeforeValidator(_text)] = ""


class MissionFile:
    """The one mission of a project; safe for several processes."""

    def __init__(self, directory: Path | str) -> None:
        self.path = Path(directory) / ".matrixx" / "mission.json"

    def read(self) -> Mission | None:
        """The mission, or ``None`` when there is none; a file that holds no object is set aside."""
        return read(self.path, Mission)

    def start(self, plan: Path, session_id: str, agent: str = "") -> Mission:
        """Begin the plan; if it is the active one already, it goes on, with one more session."""
        with locked(self.path.parent):
            there = self.read()
            if there is None or there.active_plan != str(plan):
                now = datetime.now(UTC).isoformat(timespec="milliseconds")
                there = Mission(active_plan=str(plan), started_at=now, plan_name=plan.stem)
            mission = there.model_copy(update={"agent": agent or there.agent, "session_ids": _names([*there.session_ids, session_id])})
            write(self.path, mission)
            return mission

    def append(self, session_id: str) -> Mission | None:
        """Add a session, once; ``None`` when there is no mission."""
        with locked(self.path.parent):
            there = self.read()
            if there is None or session_id in there.session_ids:
                return there
            mission = there.model_copy(update={"session_ids": (*there.session_ids, session_id)})
            write(self.path, mission)
            return mission

    def clear(self) -> bool:
        """End the mission; false when there was none."""
        try:
            self.path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise RecordError(f"{self.path} cannot be deleted: {error.strerror or error}") from None
        return True
