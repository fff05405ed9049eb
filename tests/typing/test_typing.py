"""The markers hold a hook to what its wave may answer, before it ever runs."""

import re
import subprocess
import sys
from pathlib import Path

SAMPLE = Path(__file__).with_name("wrong_answers.py")


def test_a_type_checker_names_every_wrong_answer_and_no_right_one() -> None:
    checked = subprocess.run([sys.executable, "-m", "mypy", "--strict", str(SAMPLE)], capture_output=True, text=True, check=False)
    named = {int(found) for found in re.findall(rf"{SAMPLE.name}:(\d+): error", checked.stdout)}
    wrong = {number for number, line in enumerate(SAMPLE.read_text().splitlines(), 1) if line.endswith("# wrong")}
    assert named == wrong, checked.stdout + checked.stderr
