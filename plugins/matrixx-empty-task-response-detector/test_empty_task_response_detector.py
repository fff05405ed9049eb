import matrixx_empty_task_response_detector as hook
import pytest

from matrixx_core.testing import Rig, result


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("", True),
        (" \n\t", True),
        ('<task id="ses_1" state="completed">\n<task_result>\n\n</task_result>\n</task>', True),
        ("(no text output)\n<task_metadata>\nsession_id: ses_1\n</task_metadata>", True),
        ("<task_metadata>\nsession_id: ses_1\n</task_metadata>", True),
        ('<task id="ses_1" state="completed">\n<task_result>\ndone\n</task_result>\n</task>', False),
        ("There is no text output in the log.", False),
        ("0", False),
        ("<task", False),
        ("<task_result>" * 10_000, False),
    ],
)
def test_an_answer_without_a_word_is_told(output: str, told: bool) -> None:
    assert (hook.tool_execute_after(result("task", output)) is not None) == told


@pytest.mark.parametrize("tool", sorted(hook.DELEGATING))
def test_every_way_of_delegating_is_meant(tool: str) -> None:
    assert hook.TEXT in Rig(hook).after(tool, "").event.output


def test_the_wrapper_stays_because_it_names_the_session() -> None:
    output = '<task id="ses_1" state="completed">\n<task_result>\n</task_result>\n</task>'
    assert Rig(hook).after("task", output).event.output.startswith(output)


def test_other_tools_may_say_nothing() -> None:
    assert Rig(hook).after("bash", "").event.output == ""
