"""What the model sends: pydantic models whose descriptions it reads."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

Op: TypeAlias = Literal["replace", "append", "prepend"]


class Edit(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    op: Op = Field(
        description="replace the lines from pos to end; append after pos, prepend before it: without pos, at the file's end or start."
    )
    pos: str | None = Field(default=None, description="Anchor of the first line, as it was read: 12#VK.")
    end: str | None = Field(default=None, description="Anchor of the last line to replace; left out for one line.")
    lines: str | list[str] | None = Field(description="The new lines, with their indentation and without anchors; null deletes.")

    @property
    def anchored(self) -> bool:
        return bool((self.pos or self.end or "").strip())


class Arguments(BaseModel):
    filePath: str = Field(min_length=1, description="The file; relative to the project or absolute.")  # noqa: N815
    edits: list[Edit] = Field(default=[], description="All edits of this file. Every anchor means the file as it is before any of them.")
    delete: bool = Field(default=False, description="Delete the file; then edits is empty.")
    rename: str | None = Field(default=None, description="Path that the file gets after the edits; nothing may be there.")

    @model_validator(mode="before")
    @classmethod
    def _no_older_form(cls, given: object) -> object:
        if isinstance(given, Mapping) and ("oldString" in given or "newString" in given):
            raise ValueError("this tool takes edits with LINE#ID anchors, no oldString and newString")
        return given  # pyright: ignore[reportUnknownVariableType]  a mapping of what it is does not matter here
