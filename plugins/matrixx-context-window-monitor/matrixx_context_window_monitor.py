"""Tell the model once when its context window is nearly full, with true numbers.

Whatever the provider; told again only after the conversation was summarised and has filled up once more.
"""

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services import tokens
from matrixx_core import ChatParams, Inject, Session, SessionEvent, ToolResult, observe, rewrite

SETTINGS_KEY = "experimental"


class Config(BaseModel):
    """Settings of ``context-window-monitor``."""

    model_config = ConfigDict(frozen=True)

    context_warning_threshold: float = Field(
        default=0.7, gt=0, le=1, description="Part of the context window that must be used (spec tool-hooks 2.5)."
    )
    context_tokens: int = Field(default=0, ge=0, description="The model's context window in tokens; 0: as the host says, else 200,000.")


@dataclass(slots=True)
class Told:
    """Whether this session's model has been told since its last summary."""

    done: bool = False


@observe(types={"message.updated"}, spec="session_event")
def learn(event: SessionEvent, session: Session) -> None:
    tokens.learn(session, event)


@observe
def chat_params(params: ChatParams, session: Session) -> None:
    tokens.learn_window(session, params)


@observe(types={"session.compacted"}, spec="session_event")
def start_again(session: Session) -> None:
    session.state(Told).done = False
    session.state(tokens.Usage).tokens = 0


@rewrite
def tool_execute_after(result: ToolResult, session: Session, config: Config) -> Inject | None:
    told = session.state(Told)
    window = tokens.window_of(session, config.context_tokens)
    left = tokens.remaining(session, window)
    if told.done or left is None or window - left < window * config.context_warning_threshold:
        return None
    told.done = True
    used = window - left
    return Inject(
        f"[context window: {used:,} of {window:,} tokens used ({used * 100 // window} %), {left:,} left] Finish what you are at, read no more than "
        "you need, and keep results short; what must not be lost belongs into files or tasks.",
        priority="low",
    )
