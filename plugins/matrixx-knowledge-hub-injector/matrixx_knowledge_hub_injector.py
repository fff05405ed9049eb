"""Tell the model once what its person's knowledge hubs hold.

The hub's index stands behind the user message at which it was first there, the same bytes in each request; once more when that
message is gone. A hub that cannot be read is looked for again with the next message of the person.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from anyio.to_thread import run_sync

from matrixx_builtin.services.knowledge import OFF, Hub, KnowledgeSettings, hubs_of, text_of
from matrixx_builtin.services.redaction import redact
from matrixx_core import Inject, Session, Transcript, rewrite
from matrixx_core.events import last_user_message

SETTINGS_KEY = "knowledge"

MOST = 9_000
"""Characters of all indexes that are shown at once: 3,000 tokens, for all notes of a request share 4,000 (``note_budget``)."""

OVERLAP = 4_096
"""Characters behind the cut that are searched for secrets too: one that begins before it is masked as a whole."""


class Config(KnowledgeSettings):
    """Which folders are knowledge hubs."""


@dataclass(slots=True)
class Told:
    """The message that each hub stands behind, and the one at which they were last looked for."""

    behind: dict[str, str] = field(default_factory=dict[str, str])
    looked: str = ""


def off_because(config: Config) -> str:
    return "" if config.hubs else OFF


@rewrite
async def messages_transform(transcript: Transcript, session: Session, config: Config) -> Inject | None:
    last, told = last_user_message(transcript.messages), session.state(Told)
    if not config.hubs or last is None or not last.id or last.id == told.looked:
        return None
    there = {message.id for message in transcript.messages}
    told.behind = {name: behind for name, behind in told.behind.items() if behind in there}
    told.looked = last.id
    read = await run_sync(_read, config, session.directory, [*told.behind])
    told.behind |= dict.fromkeys((hub.name for hub, _ in read), last.id)
    return Inject("\n".join(_shown(hub, text, MOST // len(read)) for hub, text in read), priority="high") if read else None


def _read(config: Config, directory: str, known: Sequence[str]) -> list[tuple[Hub, str]]:
    """The index of each hub that can be read and is not known yet."""
    indexes = ((hub, text_of(hub, hub.settings.index)) for hub in hubs_of(config, directory).found if hub.name not in known)
    return [(hub, redact(text.strip()[: MOST + OVERLAP])) for hub, text in indexes if text is not None]


def _shown(hub: Hub, text: str, most: int) -> str:
    """A hub as the model is told of it."""
    scope = "about this project" if hub.settings.scope == "project" else "about everything"
    pinned = " Look here first, whatever you are asked." if hub.settings.mode == "pinned" else ""
    head = f"The user's own notes, {scope}; paths are below {hub.root}. Read what fits before you go to the web or guess.{pinned}"
    cut = f"{text[:most]}\n[the rest of this index is in {hub.root}/{hub.settings.index}]" if len(text) > most else text
    body = cut.replace("</knowledge-hub", "</ knowledge-hub")
    return f'<knowledge-hub name="{hub.name}">\n{head}\n\n{body}\n</knowledge-hub>'
