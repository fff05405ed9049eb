"""A text file in lines; what no edit touches comes out byte for byte."""

from collections.abc import Sequence
from dataclasses import dataclass

BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Splice:
    """The lines from ``start`` up to ``stop``, counted from 0, become ``lines``."""

    start: int
    stop: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """Lines without their ends, the ends beside them; ``newline`` is the first one of the file, which new lines get."""

    bom: str
    lines: tuple[str, ...]
    ends: tuple[str, ...]
    newline: str

    @property
    def text(self) -> str:
        return self.bom + "".join(line + end for line, end in zip(self.lines, self.ends, strict=True))

    @property
    def ended(self) -> bool:
        """Whether the last line is ended, or there is none."""
        return not self.ends or self.ends[-1].endswith("\n")

    def spliced(self, splices: Sequence[Splice]) -> "Document":
        """This text with some lines replaced; the splices are in order and do not overlap. Its last line stays ended or not."""
        rows: list[tuple[str, str]] = []
        at = 0
        for one in splices:
            rows += zip(self.lines[at : one.start], self.ends[at : one.start], strict=True)
            rows += [(line, self.newline) for line in one.lines]
            at = one.stop
        rows += zip(self.lines[at:], self.ends[at:], strict=True)
        rows[:-1] = [(line, end if end.endswith("\n") else self.newline) for line, end in rows[:-1]]
        if rows and not self.ended:
            rows[-1] = rows[-1][0], "" if rows[-1][1].endswith("\n") else rows[-1][1]
        return Document(self.bom, tuple(line for line, _ in rows), tuple(end for _, end in rows), self.newline)


def parse(text: str) -> Document:
    """Only a line feed ends a line, perhaps with a carriage return before it, as hosts count them."""
    bom = BOM if text.startswith(BOM) else ""
    rows = text.removeprefix(bom).split("\n")
    last = rows.pop()
    pairs = [(row[:-1], "\r\n") if row.endswith("\r") else (row, "\n") for row in rows]
    newline = pairs[0][1] if pairs else "\n"
    if last:
        pairs.append((last[:-1], "\r") if last.endswith("\r") else (last, ""))
    return Document(bom, tuple(line for line, _ in pairs), tuple(end for _, end in pairs), newline)
