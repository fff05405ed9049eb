"""Tables of commands: one a line, what a guard of secret files must see after ``=>`` (some of ``rwd``, or ``-``)."""

import re

import pytest


def rows(text: str) -> list["object"]:
    """Return a table's rows; ``|`` leads the further lines of a command that has them."""
    lines = re.split(r"\n(?!\|)", text.strip("\n"))
    cells = [line.rpartition(" => ") for line in lines if line.strip()]
    return [
        pytest.param(command.rstrip().replace("\n|", "\n"), letters.strip().strip("-"), id=command.strip()[:70])
        for command, _, letters in cells
    ]
