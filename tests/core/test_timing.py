"""Timings are counted late, and counted right."""

import random

import pytest

from matrixx_core.timing import Timing


@pytest.mark.parametrize("seconds", [[], [0.0], [1e-9], [1e-6] * 3, [2.0, 1e-3, 5e-7, 1e-3], [8e-9, 7.6e-9, 9.4e-9]])
def test_many_silent_calls_at_once_count_as_each_alone(seconds: list[float]) -> None:
    each, at_once = Timing(), Timing()
    for one in seconds:
        each.add(round(one * 1e9), "none")
    at_once.add_silent(seconds)
    assert at_once == each


def test_any_durations_count_alike_and_percentiles_hold_within_19_percent() -> None:
    source = random.Random(1)
    seconds = [source.lognormvariate(-9, 3) for _ in range(5_000)]
    each, at_once = Timing(), Timing()
    for one in seconds:
        each.add(round(one * 1e9), "none")
    at_once.add_silent(seconds)
    assert at_once == each
    median = sorted(seconds)[2_500] * 1e3
    assert median <= at_once.percentile(0.5) * 1.0001 <= median * 1.26
