import anyio
import matrixx_compaction_context_injector as hook
import pytest

from matrixx_core import Compaction
from matrixx_core.testing import SESSION, Rig


def compacted(**fields: object) -> Compaction:
    rig = Rig(hook)
    return anyio.run(rig.host.session_compacting, Compaction.model_validate({"session_id": SESSION, **fields})).event


@pytest.mark.parametrize("section", hook.SECTIONS)
def test_the_summary_is_asked_for_every_section(section: str) -> None:
    assert f"{section}: " in compacted().context[0]


def test_constraints_are_kept_word_for_word_and_never_made_up() -> None:
    assert "VERBATIM" in hook.DIRECTIVE
    assert "never infer" in hook.DIRECTIVE


def test_sessions_of_agents_are_resumed_not_started_anew() -> None:
    assert "session id" in hook.DIRECTIVE


def test_what_others_keep_stays() -> None:
    event = compacted(context=("the plan",), prompt="Sum up.")
    assert event.context == ("the plan", hook.DIRECTIVE)
    assert event.prompt == "Sum up."


def test_every_summary_is_asked_for_the_same_bytes() -> None:
    assert compacted() == compacted()
