"""Go on after a request was longer than the model's context, with less in it.

Where a host does not know its provider's words for that, or cannot summarise, the session is refused at every further turn. The
largest outputs of tools before the refusal are left out of all further requests, and the agent is asked to go on; where that would
not be enough, the conversation is summarised. There is one attempt: if the next request is refused too, the session waits for its
person. What is left out is read from the conversation alone, so it is the same in each request and after a restart; nothing stored
is changed. A host that summarises by itself is left to it once, and ended where that does not help: OpenCode would never stop.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

from matrixx_builtin.services import tokens, wake
from matrixx_builtin.services.provider_errors import ProviderError, parse
from matrixx_builtin.services.refusals import Failures, asked_in_vain
from matrixx_core import HostClient, Session, SessionEvent, Transcript, observe, rewrite
from matrixx_core.errors import ClientError
from matrixx_core.events import Message, Part

NAME = "context-window-limit-recovery"

TARGET = 0.5
"""Part of the context that the conversation should fill afterwards (spec session-hooks D5, as the numbers below)."""

MOST_CUT, LEAST_SIZE = 20, 2_000
"""Outputs that are left out at most, and characters that one must have."""

PER_TOKEN = 4
"""Characters of a token."""

DEADLINE = 120.0
"""Seconds that summarising may take in all; the host's client has deadlines of its own."""

HEAD = "[context recovery]"


@dataclass(slots=True)
class Memory:
    """What happened since the model last answered or the session fell idle."""

    refused: bool = False
    summarised: bool = False


Place: TypeAlias = tuple[int, int]
"""Where a part stands: its message's number, and its own."""


@observe(types={"session.error"}, spec="session_event")
async def note(event: SessionEvent, session: Session, client: HostClient) -> None:
    """Note a refusal; any other error, the person's abort too, ends what was noted. Refused after the host's own summary: end it."""
    memory, error = session.state(Memory), parse(event.properties.get("error"))
    memory.refused = error.kind == "token_limit"
    if memory.refused and memory.summarised:
        await give_up(session, client, f"{_why(error)} Summarising it has not helped")
        with suppress(ClientError):
            await client.abort(session.id)


@observe(types={"session.compacted"}, spec="session_event")
def note_summary(session: Session) -> None:
    memory = session.state(Memory)
    memory.summarised = memory.refused


@observe(types={"message.updated"}, spec="session_event")
def note_answer(event: SessionEvent, session: Session) -> None:
    info = event.properties.get("info")
    if isinstance(info, Mapping) and info.get("finish") and _is_answer(info):
        session.state(Memory).summarised = session.state(Memory).refused = False


@rewrite(types={"session.idle"})
async def session_event(event: SessionEvent, session: Session, client: HostClient) -> None:
    """Offer to go on, begin a summary, or tell the person why not."""
    memory = session.state(Memory)
    refused, memory.refused, memory.summarised = memory.refused, False, False
    if not refused or session.parent or wake.closed_gate(session):
        return
    try:
        messages = await client.messages(session.id)
    except ClientError:
        return
    kept = messages[_last_summary(messages) :]
    refusals = refusals_in(kept, session)
    if not refusals or any(message.role == "assistant" for message in kept[refusals[-1][0] + 1 :]):
        return
    (place, error), (cut, enough) = refusals[-1], left_out(kept, refusals)
    if asked_in_vain(messages[: place - len(kept)], HEAD):
        await give_up(session, client, f"{_why(error)} Leaving out what can be left out has not helped")
    elif enough:
        text = f"{HEAD} {_why(error)} Long outputs that are left out from now on: {len(cut)}. Go on with the task where it stopped."
        wake.offer(session, wake.Offer(NAME, "recovery", text, kept[place].id, session.agent))
        await client.toast(f"{_why(error)} Long outputs that are left out: {len(cut)}; the agent goes on.")
    else:
        session.beside(NAME, DEADLINE, summarize, session, client, kept[place].info, _why(error))


@rewrite
def messages_transform(transcript: Transcript, session: Session) -> Transcript | None:
    """Leave out the largest outputs before each refusal: the same bytes in every further request."""
    messages = transcript.messages
    if not (refusals := refusals_in(messages, session)) or not (cut := left_out(messages, refusals)[0]):
        return None
    shorter = list(messages)
    for (place, number), size in cut.items():
        parts = list(shorter[place].parts)
        parts[number] = _shortened(parts[number], size)
        shorter[place] = shorter[place].model_copy(update={"parts": tuple(parts)})
    return transcript.model_copy(update={"messages": tuple(shorter)})


async def summarize(session: Session, client: HostClient, info: Mapping[str, Any], why: str) -> None:
    """Have the conversation summarised by its own model, which is then asked to go on; the prompt before it says that this was tried."""
    await client.toast(f"{why} The conversation is summarised, and the agent goes on.")
    try:
        await client.prompt(session.id, f"{HEAD} {why} The conversation up to here is summarised.", reply=False, agent=session.agent)
        await client.summarize(session.id, str(info.get("providerID") or ""), str(info.get("modelID") or ""), go_on=True)
    except ClientError as error:
        await give_up(session, client, f"{why} It could not be summarised ({error})")


async def give_up(session: Session, client: HostClient, why: str) -> None:
    """Leave the session to its person."""
    wake.stop(session)
    await client.toast(f"{why}: begin a new session.", tone="error")


def refusals_in(messages: Sequence[Message], session: Session) -> list[tuple[int, ProviderError]]:
    """Each answer that failed because the context was too long, oldest first."""
    failed = ((place, session.state(Failures).of(message)) for place, message in enumerate(messages))
    return [(place, error) for place, error in failed if error and error.kind == "token_limit"]


def left_out(messages: Sequence[Message], refusals: Sequence[tuple[int, ProviderError]]) -> tuple[dict[Place, int], bool]:
    """The largest outputs before each refusal, as many as it takes, each with its size; whether that was enough at the last one."""
    cut, enough = dict[Place, int](), True
    for place, error in refusals:
        excess = _excess(messages[:place], error)
        sizes = ((where, size) for where, size in _outputs(messages[:place]) if where not in cut)
        for where, size in sorted(sizes, key=lambda one: -one[1])[:MOST_CUT]:
            if excess > 0:
                cut[where] = size
                excess -= size
        enough = excess <= 0
    return cut, enough


def _excess(messages: Sequence[Message], error: ProviderError) -> int:
    """Characters over the target: by the provider's own numbers, else by an estimate of our own."""
    maximum = error.maximum or tokens.usual_window()
    current = error.current or max(maximum, sum(len(str(part)) for message in messages for part in message.parts) // PER_TOKEN)
    return int((current - maximum * TARGET) * PER_TOKEN)


def _outputs(messages: Sequence[Message]) -> Iterator[tuple[Place, int]]:
    """The outputs of finished calls that are long enough to be worth it."""
    for place, message in enumerate(messages):
        for number, part in enumerate(message.parts):
            state = part.get("state")
            output = state.get("output") if part.get("type") == "tool" and isinstance(state, Mapping) else None
            if isinstance(output, str) and len(output) >= LEAST_SIZE:
                yield (place, number), len(output)


def _shortened(part: Part, size: int) -> Part:
    said = f"[{size:,} characters are left out here by Matrixx: the conversation was longer than the model's context. Make the call again if you need them.]"
    return {**part, "state": {**part["state"], "output": said}}


def _is_answer(info: Mapping[str, Any]) -> bool:
    return info.get("role") == "assistant" and not info.get("error") and not info.get("summary")


def _last_summary(messages: Sequence[Message]) -> int:
    """Where the newest summary stands: hosts send nothing of what was before it."""
    return max((place for place, message in enumerate(messages) if _is_summary(message.info)), default=0)


def _is_summary(info: Mapping[str, Any]) -> bool:
    return info.get("role") == "assistant" and bool(info.get("summary")) and not info.get("error")


def _why(error: ProviderError) -> str:
    known = error.current and error.maximum
    count = f"{error.current:,} tokens, and the model takes {error.maximum:,}" if known else "longer than the model's context"
    return f"The conversation is {count}."
