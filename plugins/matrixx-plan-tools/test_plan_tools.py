import json
from pathlib import Path
from typing import Any

import anyio
import matrixx_plan_tools as hook
import pytest

from matrixx_builtin.services.lines import parse_anchor, tagged
from matrixx_core import ToolError, ToolOutput
from matrixx_core.testing import Rig, call

PLAN = "# Login\n\n- [ ] form\n  - [x] fields\n1. [ ] test\n"


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(hook, directory=str(tmp_path))


@pytest.fixture
def login(rig: Rig) -> Rig:
    use(rig, "plan_create", name="login", content=PLAN)
    return rig


def use(rig: Rig, name: str, /, **args: Any) -> str:
    async def run() -> ToolOutput:
        return await rig.host.call_tool(call(name, **args))

    return anyio.run(run).output


def file(tmp_path: Path, name: str = "login") -> Path:
    return tmp_path / ".matrixx" / "plans" / f"{name}.md"


def anchors(shown: str) -> dict[str, str]:
    """The anchor of each line that was shown."""
    rows = (row.split("|", 1) for row in shown.splitlines() if "#" in row and "|" in row)
    return {text: str(parse_anchor(anchor)) for anchor, text in rows}


def test_a_plan_lives_from_creation_to_deletion(rig: Rig, tmp_path: Path) -> None:
    made = json.loads(use(rig, "plan_create", name="login", content=PLAN))
    assert made["path"] == str(file(tmp_path)) and made["plan"]["progress"] == "1/3"
    shown = use(rig, "plan_read", name="login")
    assert shown.splitlines()[0] == f"plan login: 1/3 done, 5 lines, revision {made['plan']['revision']}"
    told = use(rig, "plan_update", name="login", edits=[{"op": "tick", "pos": anchors(shown)["- [ ] form"]}])
    assert "2/3 done" in told and "|- [x] form" in told
    assert file(tmp_path).read_text() == PLAN.replace("- [ ] form", "- [x] form")
    [row] = json.loads(use(rig, "plan_list"))["plans"]
    assert (row["name"], row["progress"], row["complete"], row["bytes"]) == ("login", "2/3", False, len(PLAN))
    assert json.loads(use(rig, "plan_delete", name="login")) == {"deleted": "login"}
    assert json.loads(use(rig, "plan_list")) == {"plans": []}


def test_the_anchors_of_an_answer_are_good_for_the_next_call(login: Rig, tmp_path: Path) -> None:
    shown = use(login, "plan_read", name="login")
    told = use(login, "plan_update", name="login", edits=[{"op": "append", "pos": anchors(shown)["  - [x] fields"], "lines": "- [ ] new"}])
    assert "Lines below moved by +1" in told
    use(
        login,
        "plan_update",
        name="login",
        edits=[{"op": "tick", "pos": anchors(told)["- [ ] new"]}, {"op": "tick", "pos": anchors(told)["1. [ ] test"]}],
    )
    assert file(tmp_path).read_text() == "# Login\n\n- [ ] form\n  - [x] fields\n- [x] new\n1. [x] test\n"


def test_boxes_are_listed_with_anchors_that_tick_them(login: Rig) -> None:
    answer = json.loads(use(login, "plan_tasks", name="login", open=True))
    assert [(task["text"], task["done"], task["depth"], task["section"]) for task in answer["tasks"]] == [
        ("form", False, 0, "Login"),
        ("test", False, 0, "Login"),
    ]
    use(login, "plan_update", name="login", edits=[{"op": "tick", "pos": task["pos"]} for task in answer["tasks"]])
    assert [row["complete"] for row in json.loads(use(login, "plan_list"))["plans"]] == [True]
    assert json.loads(use(login, "plan_list", open=True)) == {"plans": []}


def test_a_part_of_a_long_plan_is_shown(login: Rig) -> None:
    assert use(login, "plan_read", name="login", offset=3, limit=1).splitlines()[2:] == [
        tagged(3, "- [ ] form"),
        "(lines 4 to 5 are left: offset 4)",
    ]
    assert use(login, "plan_read", name="login", offset=99).splitlines()[1:] == []


def test_a_session_that_has_not_read_the_plan_reads_it_first(login: Rig, tmp_path: Path) -> None:
    pos, stranger = anchors(use(login, "plan_read", name="login"))["- [ ] form"], Rig(hook, directory=str(tmp_path))
    with pytest.raises(ToolError, match="read the plan 'login' with plan_read first"):
        use(stranger, "plan_update", name="login", edits=[{"op": "tick", "pos": pos}])
    revision = json.loads(use(login, "plan_tasks", name="login"))["plan"]["revision"]
    assert "2/3" in use(stranger, "plan_update", name="login", edits=[{"op": "tick", "pos": pos}], revision=revision)


def test_a_plan_that_somebody_else_changed_is_shown_as_it_is_now(login: Rig, tmp_path: Path) -> None:
    pos = anchors(use(login, "plan_read", name="login"))["- [ ] form"]
    file(tmp_path).write_text(f"{PLAN}more\n")
    with pytest.raises(ToolError, match="has changed since you read it") as caught:
        use(login, "plan_update", name="login", edits=[{"op": "tick", "pos": pos}])
    assert f">>> {pos}|- [ ] form" in str(caught.value)
    assert file(tmp_path).read_text() == f"{PLAN}more\n"
    revision = str(caught.value).split("revision '")[1].split("'")[0]
    use(login, "plan_update", name="login", edits=[{"op": "tick", "pos": pos}], revision=revision)


def test_ticking_what_is_ticked_is_no_failure(login: Rig) -> None:
    pos = anchors(use(login, "plan_read", name="login"))["  - [x] fields"]
    assert "Nothing had to be changed" in use(login, "plan_update", name="login", edits=[{"op": "tick", "pos": pos}])


def test_the_plan_of_the_mission_is_marked(login: Rig, tmp_path: Path) -> None:
    (tmp_path / ".matrixx" / "mission.json").write_text('{"plan_name": "login"}')
    use(login, "plan_create", name="other", content="")
    assert {row["name"]: row.get("active") for row in json.loads(use(login, "plan_list"))["plans"]} == {"login": True, "other": None}


def test_the_size_is_a_setting(tmp_path: Path) -> None:
    rig = Rig(hook, directory=str(tmp_path), settings={"plan-tools": {"max_plan_file_bytes": 10_240}})
    with pytest.raises(ToolError, match="may have 10240"):
        use(rig, "plan_create", name="big", content="x" * 10_241)
    assert hook.Config().max_plan_file_bytes == 102_400


@pytest.mark.parametrize(
    ("name", "args", "told"),
    [
        ("plan_read", {"name": "none"}, "there is no plan 'none'; plan_list"),
        ("plan_read", {"name": "../../etc/passwd"}, "is no plan's name"),
        ("plan_read", {"name": "login", "offset": 0}, "offset: Input should be greater"),
        ("plan_create", {"name": "login", "content": ""}, "there is a plan 'login' already"),
        ("plan_create", {"name": "My Plan", "content": ""}, "such as 'my-plan'"),
        ("plan_create", {"name": "a"}, "content: Field required"),
        ("plan_create", {"name": "\ud800", "content": "\ud800"}, "is no plan's name"),
        ("plan_update", {"name": "login", "edits": []}, "edits: List should have at least 1 item"),
        ("plan_update", {"name": "login", "edits": [{"op": "burn"}]}, "edits.0.op: Input should be"),
        ("plan_update", {"name": "login", "edits": [{"op": "tick", "pos": "3"}]}, "'3' is no anchor"),
        ("plan_update", {"name": "login", "edits": [{"op": "tick", "pos": "3#ZZ"}]}, "has changed since it was read"),
        ("plan_update", {"name": "login", "edits": [{"op": "tick", "pos": "\ud800"}]}, "is no anchor"),
        ("plan_delete", {"name": "none"}, "there is no plan 'none'"),
        ("plan_delete", {"name": "x/../login"}, "is no plan's name"),
        ("plan_tasks", {"name": "a\0"}, "is no plan's name"),
    ],
)
def test_what_goes_wrong_is_told_and_nothing_is_lost(login: Rig, tmp_path: Path, name: str, args: dict[str, Any], told: str) -> None:
    with pytest.raises(ToolError) as caught:
        use(login, name, **args)
    assert told in str(caught.value)
    assert file(tmp_path).read_text() == PLAN


def test_a_file_of_any_bytes_is_shown(rig: Rig, tmp_path: Path) -> None:
    file(tmp_path, "odd").parent.mkdir(parents=True)
    file(tmp_path, "odd").write_bytes(b"\xef\xbb\xbf- [ ] \xff\x00\r\n\x80\x81")
    shown = use(rig, "plan_read", name="odd")
    pos = shown.splitlines()[2].split("|")[0]
    assert shown.encode() and json.loads(use(rig, "plan_tasks", name="odd"))["tasks"][0]["pos"] == pos
    use(rig, "plan_update", name="odd", edits=[{"op": "tick", "pos": pos}])
    assert file(tmp_path, "odd").read_bytes() == b"\xef\xbb\xbf- [x] \xff\x00\r\n\x80\x81"
