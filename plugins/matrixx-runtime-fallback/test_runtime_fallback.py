from collections.abc import Mapping
from typing import Any

import anyio
import matrixx_runtime_fallback as hook
import pytest
from pydantic import ValidationError

from matrixx_builtin.essentials import wake_gates
from matrixx_builtin.services import wake
from matrixx_core import ChatParams
from matrixx_core.errors import ClientError
from matrixx_core.events import added_part
from matrixx_core.testing import SESSION, RecordingClient, Rig, message

ABORTED = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}
DOWN = {"name": "APIError", "data": {"message": "Service Unavailable", "statusCode": 503}}


def made(client: Any = None, **settings: Any) -> Rig:
    settings = {"models": ["p/second", "q/third"], **settings}
    rig = Rig(wake_gates, hook, settings={hook.NAME: settings}, client=client or RecordingClient())
    uses(rig, "p", "first")
    return rig


def uses(rig: Rig, provider: str, model: str) -> None:
    anyio.run(rig.host.chat_params, ChatParams(session_id=SESSION, provider=provider, model=model))


def fail(rig: Rig, error: Any = DOWN) -> str:
    """The model that is offered after a failure; it is used from then on."""
    rig.event("session.error", error=error)
    rig.event("session.idle")
    chosen = wake.decide(rig.host.sessions[SESSION])
    if not chosen:
        return ""
    wake.settle(rig.host.sessions[SESSION], sent=True)
    uses(rig, *chosen.model.split("/", 1))
    return chosen.model


def retrying(rig: Rig, text: Any = "Service Unavailable", attempt: Any = 1) -> None:
    rig.event("session.status", status={"type": "retry", "attempt": attempt, "message": text, "next": 0})


def asked(rig: Rig, method: str) -> list[Mapping[str, Any]]:
    return [arguments for name, arguments in rig.client.requests if name == method]  # type: ignore[attr-defined]


def test_it_is_off_until_models_are_named() -> None:
    assert hook.off_because(hook.Config())
    assert not hook.off_because(hook.Config(models=["p/m"])) and not hook.off_because(hook.Config(agents={"oracle": ["p/m"]}))


@pytest.mark.parametrize("name", ["", "m", "/m", "p/", "p m/x"])
def test_a_model_is_named_with_its_provider(name: str) -> None:
    with pytest.raises(ValidationError):
        hook.Config(models=[name])


@pytest.mark.parametrize(
    ("error", "goes_on"),
    [
        (DOWN, True),
        ({"data": {"statusCode": 429}}, True),
        ({"name": "APIError", "data": {"message": "Rate limit exceeded"}}, True),
        ({"data": {"responseBody": '{"error": {"message": "You exceeded your current quota"}}'}}, True),
        ({"status": "error", "error": {"statusCode": 429}}, True),
        ({"statusCode": "UNKNOWN", "cause": {"statusCode": 503}}, True),
        ("model 'x' is not supported by this API", True),
        ({"name": "ProviderModelNotFoundError", "data": {"message": "Model not found: p/first"}}, True),
        ({"data": {"statusCode": 400, "message": "bad request"}}, False),
        ({"data": {"statusCode": 400, "message": "prompt is too long: 250000 tokens > 200000 maximum"}}, False),
        ({"data": {"message": "Cannot connect to database"}}, False),
        (ABORTED, False),
        (None, False),
        (42, False),
        ([], False),
    ],
)
def test_what_another_provider_may_not_have_is_gone_on_from(error: Any, goes_on: bool) -> None:
    assert fail(made(), error) == ("p/second" if goes_on else "")


def test_the_chain_is_gone_through_once_and_then_the_session_waits() -> None:
    rig = made()
    assert [fail(rig), fail(rig), fail(rig)] == ["p/second", "q/third", ""]
    told = [one["message"] for one in asked(rig, "toast")]
    assert "p/first fails" in told[0] and "goes on with p/second" in told[0]
    assert "q/third fails. No other model is left" in told[-1]


def test_the_prompt_says_whose_place_is_taken_and_sends_nothing_again() -> None:
    rig = made()
    rig.event("session.error", error=DOWN)
    rig.event("session.idle")
    [offer] = rig.host.sessions[SESSION].state(wake.Wake).offers
    assert (offer.purpose, offer.model) == ("fallback", "p/second")
    assert offer.text.startswith("[runtime fallback] p/first fails.")


@pytest.mark.parametrize(("most", "tried"), [(0, []), (1, ["p/second"]), (3, ["p/second", "q/third"])])
def test_one_prompt_of_the_person_takes_so_many_other_models(most: int, tried: list[str]) -> None:
    rig = made(max_fallback_attempts=most)
    assert [*filter(None, [fail(rig) for _ in range(4)])] == tried


@pytest.mark.parametrize(
    ("agent", "model"),
    [("oracle", "q/deep"), ("Oracle (Planner)", "q/deep"), ("build", "p/second"), ("", "p/second"), ("silent", "")],
)
def test_each_agent_has_its_own_chain(agent: str, model: str) -> None:
    rig = made(agents={"oracle": ["q/deep"], "silent": []})
    rig.host.sessions[SESSION].agent = agent
    assert fail(rig) == model


def test_a_model_that_failed_is_back_after_its_time() -> None:
    rig = made(models=["p/first", "p/second"])
    assert fail(rig) == "p/second"
    assert fail(rig) == ""
    rig.host.sessions[SESSION].state(hook.Memory).failed["p/first"] -= 60
    rig.chat("go on")
    assert fail(rig) == "p/first"


def sent(rig: Rig, model: str, text: str = "go on") -> str:
    """The model that the person's prompt goes to."""
    provider, name = model.split("/")
    event = rig.chat(text, provider=provider, model=name).event
    return f"{event.provider}/{event.model}"


@pytest.mark.parametrize(
    ("failures", "named", "model"),
    [
        (1, "p/first", "p/second"),
        (1, "p/second", "p/second"),
        (2, "p/first", "q/third"),
        (2, "p/second", "q/third"),
        (2, "q/third", "q/third"),
        (3, "p/first", "p/first"),
        (2, "x/other", "x/other"),
    ],
)
def test_the_persons_next_prompt_spares_models_that_have_just_failed(failures: int, named: str, model: str) -> None:
    rig = made()
    for _ in range(failures):
        fail(rig)
    assert sent(rig, named) == model


@pytest.mark.parametrize("named", ["p/second", "p/first"])
def test_the_sessions_own_model_is_back_once_it_has_recovered(named: str) -> None:
    rig = made()
    fail(rig)
    assert sent(rig, named) == "p/second"
    rig.host.sessions[SESSION].state(hook.Memory).failed["p/first"] -= 60
    assert sent(rig, named) == "p/first"
    assert sent(rig, "p/second") == "p/second", "from then on it is the person's choice"


def test_another_model_that_the_person_has_chosen_stays() -> None:
    rig = made()
    fail(rig)
    assert sent(rig, "x/other") == "x/other"
    rig.host.sessions[SESSION].state(hook.Memory).failed["p/first"] -= 60
    assert sent(rig, "p/second") == "p/second"


def test_a_prompt_of_another_hook_goes_back_too_and_is_no_new_beginning() -> None:
    rig = made()
    fail(rig)
    memory = rig.host.sessions[SESSION].state(hook.Memory)
    memory.failed["p/first"] -= 60
    woken = message("").model_copy(update={"parts": (added_part("go on"),), "provider": "p", "model": "second"})
    assert anyio.run(rig.host.chat_message, woken).event.model == "first"
    assert memory.attempts == 1


def test_the_model_of_a_title_is_not_the_sessions() -> None:
    rig = made()
    anyio.run(rig.host.chat_params, ChatParams(session_id=SESSION, agent="title", provider="p", model="small"))
    assert fail(rig) == "p/second"
    assert "p/first fails" in asked(rig, "toast")[0]["message"]


def test_a_prompt_of_ours_keeps_its_model() -> None:
    rig = made()
    fail(rig)
    ours = message("").model_copy(update={"parts": (added_part(f"{hook.MARK} Go on."),), "provider": "p", "model": "first"})
    assert anyio.run(rig.host.chat_message, ours).event == ours


def test_where_the_host_tries_again_by_itself_that_is_ended_and_is_not_the_persons_abort() -> None:
    rig = made()
    retrying(rig)
    retrying(rig, attempt=2)
    assert asked(rig, "abort") == [{"session_id": SESSION}]
    assert wake.was_interrupted(rig.host.sessions[SESSION], ABORTED), "so no hook is told of it"
    rig.event("session.idle")
    assert wake.decide(rig.host.sessions[SESSION]).model == "p/second"  # type: ignore[union-attr]


def test_the_persons_abort_ends_it() -> None:
    rig = made()
    rig.event("session.error", error=DOWN)
    assert fail(rig, ABORTED) == ""
    assert rig.host.sessions[SESSION].state(wake.Wake).stopped


@pytest.mark.parametrize(("retries", "attempt", "ended"), [(0, 1, True), (2, 2, False), (2, 3, True), (0, None, True), (0, "x", True)])
def test_the_host_may_try_again_so_often(retries: int, attempt: Any, ended: bool) -> None:
    rig = made(retries=retries)
    retrying(rig, attempt=attempt)
    assert bool(asked(rig, "abort")) == ended


@pytest.mark.parametrize(
    "status", [None, 5, [], {}, {"type": "retry"}, {"type": "retry", "message": 5}, {"type": "retry", "message": "hm"}]
)
def test_odd_reports_end_nothing(status: Any) -> None:
    rig = made()
    rig.event("session.status", status=status)
    assert asked(rig, "abort") == []


def test_without_another_model_the_host_goes_on_trying() -> None:
    rig = made(models=["p/first"])
    retrying(rig)
    assert asked(rig, "abort") == []
    rig.event("session.idle")
    assert asked(rig, "toast") == [], "it was answered in the end"


def test_a_host_that_does_not_end_its_attempts_is_told_of_and_nothing_is_sent() -> None:
    class Refusing(RecordingClient):
        async def abort(self, session_id: str) -> None:
            raise ClientError("no")

    rig = made(Refusing())
    retrying(rig)
    assert "could not be ended: no" in asked(rig, "toast")[0]["message"]
    assert not wake.was_interrupted(rig.host.sessions[SESSION], ABORTED)
    rig.event("session.idle")
    assert wake.decide(rig.host.sessions[SESSION]) is None


def test_sub_agents_are_left_to_their_parents() -> None:
    rig = made()
    rig.host.sessions[SESSION].parent = "ses_parent"
    retrying(rig)
    assert fail(rig) == ""
    assert asked(rig, "abort") == []


def test_the_person_is_told_unless_they_do_not_want_it() -> None:
    rig = made(notify_on_fallback=False)
    assert fail(rig) == "p/second"
    assert asked(rig, "toast") == []
