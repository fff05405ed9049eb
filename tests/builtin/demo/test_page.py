import re
from html.parser import HTMLParser

import pytest

from matrixx_builtin.demo.page import page
from matrixx_builtin.demo.report import Call, HookRun, NoteTold, Report, StepTold

from .conftest import Shown

VOID = {"meta", "wbr", "br"}
LOADS = {"src", "href", "srcset", "action", "data", "poster", "background"}


class Checked(HTMLParser):
    """Holds every opened element against its end, and every attribute that would load something."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.loads: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.loads += [f"{tag} {name}={value}" for name, value in attrs if name in LOADS]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def hostile() -> Report:
    """A report in which every text tries to be markup."""
    evil = "</style><script src=//evil>alert('\"&')</script>"
    ran = (HookRun(plugin=evil, wave="guard", ms=0.0, answer="block"), HookRun(plugin=evil, wave="around", ms=1e9, answer="inject"))
    call = Call(
        hook=evil,
        ms=1,
        ran=ran,
        notes=(NoteTold(plugin=evil, text=evil * 20),),
        changes=(evil,),
        blocked_by=evil,
        reason=evil,
        instead=evil,
    )
    step = StepTold(number=1, title=evil, what=evil, action=evil, verdict="blocked", result=evil, missing=evil, harm=evil, calls=(call,))
    return Report(host="scripted", seconds=1, installed=(evil,), off={evil: evil}, steps=(step,), problems=(evil,))


def test_the_page_is_whole_and_loads_nothing(shown: Shown) -> None:
    checked = Checked(shown.page)
    assert checked.open == []
    assert checked.loads == [] and "script" not in checked.seen and "link" not in checked.seen
    assert not re.search(r"url\(|@import|https?://", shown.page)


def test_the_page_has_a_heading_for_each_step_and_a_row_for_each_hook(shown: Shown) -> None:
    seen = Checked(shown.page).seen
    assert seen.count("h1") == 1 and seen.count("h3") == seen.count("article") >= 19
    assert "prefers-color-scheme: dark" in shown.page and "@media print" in shown.page
    assert 'lang="en"' in shown.page and 'name="viewport"' in shown.page


def test_no_text_of_a_report_becomes_markup() -> None:
    checked = Checked(page(hostile()))
    assert checked.open == [] and checked.loads == [] and "script" not in checked.seen


@pytest.mark.parametrize("ms", [0.0, 0.001, 1e12])
def test_a_bar_stays_in_its_lane_however_long_it_took(ms: float) -> None:
    call = Call(hook="chat.message", ms=ms, ran=(HookRun(plugin="x", wave="observe", ms=ms, answer="none"),))
    step = StepTold(number=1, title="t", what="prompt", action="a", verdict="passed", calls=(call,))
    text = page(Report(host="scripted", seconds=1, installed=("x",), steps=(step,)))
    assert all(0 < float(width) <= 100 for width in re.findall(r"--w:([\d.]+)%", text))
