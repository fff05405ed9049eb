import matrixx_delegate_task_retry as hook
import pytest

from matrixx_core.testing import Rig, failure, result


def advised(error: str) -> str:
    note = hook.tool_execute_failed(failure("task", error))
    return note.text if note else ""


@pytest.mark.parametrize(
    ("error", "fix"),
    [
        ("[ERROR] Invalid arguments: 'run_in_background' parameter is REQUIRED", "Give run_in_background"),
        ("[ERROR] Invalid arguments: 'load_skills' parameter is REQUIRED", "Give load_skills as a list"),
        ("[ERROR] Invalid arguments: provide EITHER category OR subagent_type, not both.", "not both"),
        ("Must provide either category or subagent_type.", "Name the agent"),
        ('Unknown category: "fast". Available: quick, deep', "no such category"),
        ("[ERROR] Agent name cannot be empty", "name is empty"),
        ('Unknown agent: "x". Available agents: general, explore', "no such agent"),
        ("Unknown agent type: x is not a valid agent type", "no such agent"),
        ("Agent type 'x' not found. Available agents: claude, Explore", "no such agent"),
        ("[ERROR] Cannot call primary agent 'build' via task", "cannot be called from here"),
        ("Agent 'oracle' is not allowed. Allowed agents: explorer, fixer", "cannot be called from here"),
        ("Skills not found: a. Available: b", "no such skill"),
        ("InputValidationError: Agent failed: The required parameter `prompt` is missing", "Say description"),
    ],
)
def test_each_error_gets_its_own_advice(error: str, fix: str) -> None:
    said = advised(error)
    assert fix in said
    assert hook.EXAMPLE in said


@pytest.mark.parametrize(
    ("error", "listed"),
    [
        ('Unknown agent: "x". Available agents: general, explore', "There are: general, explore"),
        ("Agent 'oracle' is not allowed. Allowed agents: explorer, fixer", "There are: explorer, fixer"),
        ("Unknown agent type: x is not a valid agent type", ""),
    ],
)
def test_what_there_is_instead_is_repeated(error: str, listed: str) -> None:
    assert listed in advised(error)


@pytest.mark.parametrize(
    "error",
    ["", "The agent was stopped", "ECONNRESET", "x" * 100_000, f"{hook.MARK} Unknown agent", "\ud800", "the quota is exhausted"],
)
def test_other_errors_get_none(error: str) -> None:
    assert advised(error) == ""


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("[ERROR] Invalid arguments: load_skills is required", True),
        ('Unknown agent: "x". Available: y', True),
        ("Background task launched. run_in_background was true.", False),
        ("I found `[ERROR] run_in_background` in the log, and Unknown agent as well.", False),
        ('<task id="ses_1"><task_result>Unknown category in the code</task_result></task>', False),
    ],
)
def test_a_report_that_quotes_an_error_is_a_report(output: str, told: bool) -> None:
    assert (hook.tool_execute_after(result("task", output)) is not None) == told


def test_other_tools_are_left_alone() -> None:
    assert Rig(hook).failed("bash", "Unknown agent: x").event.error == "Unknown agent: x"
