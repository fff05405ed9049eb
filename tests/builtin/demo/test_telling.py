import pytest

from matrixx_builtin.demo import telling
from matrixx_builtin.demo.report import HookRun, StepTold, hook_rows
from matrixx_builtin.demo.script import Step

KEYS = {"STRIPE_KEY": "abcd1234efgh5678", "OTHER_KEY": "wxyz0000"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("use abcd1234efgh5678!", "use abcd…[stripe key]!"),
        ("/tmp/shop/src/a.py in /tmp/shop", "src/a.py in ."),
        ("abcd1234efgh5678wxyz0000", "abcd…[stripe key]wxyz…[other key]"),
        ("nothing", "nothing"),
    ],
)
def test_keys_and_the_projects_path_are_taken_out_of_texts(text: str, shown: str) -> None:
    assert telling.hider(KEYS, "/tmp/shop")(text) == shown


def test_hiding_reaches_every_text_of_a_report() -> None:
    value = {"a": ["abcd1234efgh5678", {"b": ("wxyz0000", 1, None)}]}
    assert telling.hidden(value, telling.hider(KEYS, "/tmp/shop")) == {"a": ("abcd…[stripe key]", {"b": ("wxyz…[other key]", 1, None)})}


def test_a_key_is_hidden_before_the_text_is_cut() -> None:
    step = Step(title="t", prompt="x" * (telling.SHOWN - 10) + " abcd1234efgh5678")
    assert "abcd1234" not in telling.action(step, telling.hider(KEYS, "/tmp/shop"))


@pytest.mark.parametrize(
    ("text", "shown"), [("a\n b\tc", "a b c"), ("x" * 10, "x" * 10), ("x" * 11, "x" * 9 + "…"), ("one two three", "one two…")]
)
def test_a_clipped_text_is_one_line_of_at_most_its_length(text: str, shown: str) -> None:
    assert telling.clip(text, 10) == shown


def test_percentiles_are_times_that_really_occurred() -> None:
    times = [float(n) for n in range(1, 21)]
    ran = tuple(HookRun(plugin="x", wave="guard", ms=ms, answer="none") for ms in times)
    call = {"hook": "h", "ms": 1, "ran": ran}
    (row,) = hook_rows(
        [StepTold.model_validate({"number": 1, "title": "t", "what": "w", "action": "", "verdict": "passed", "calls": (call,)})]
    )
    assert (row.calls, row.p50_ms, row.p95_ms) == (20, 10.0, 19.0)
