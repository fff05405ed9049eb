"""Remind a main agent that searches by itself, a few times at most, that agents can search for it.

Sub-agents, which do the searching, hear nothing; nor does an agent that has delegated once.
"""

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from matrixx_core import Inject, Session, ToolResult, observe, rewrite

RUN_AFTER = ("empty-task-response-detector",)  # the seed's order of what is said behind a call

SEARCHING = {
    "grep", "safe_grep", "glob", "safe_glob", "webfetch", "websearch", "codesearch", "context7_resolve-library-id", "context7_query-docs",
    "context7_get-library-docs", "websearch_web_search_exa", "grep_app_searchgithub",
}  # fmt: skip
"""The seeds' list (spec tool-hooks 2.9), with the hosts' own names of today."""

DELEGATING = {"task", "delegate_agent", "agent"}

TEXT = (
    "[agents can search for you] Several searches that do not depend on each other are quicker side by side, and their output stays out of this "
    "conversation: give each to an agent of its own with the task tool, and go on with what they report."
)


class Config(BaseModel):
    """Settings of ``agent-usage-reminder``."""

    model_config = ConfigDict(frozen=True)

    after: int = Field(default=3, ge=1, description="Searches before the first reminder; each further one takes twice as many.")
    most: int = Field(default=3, ge=0, le=20, description="Reminders in one session.")


@dataclass(slots=True)
class Searches:
    """How often a session has searched, and when it is reminded next."""

    count: int = 0
    reminded: int = 0
    delegated: bool = False


@observe(tools=DELEGATING)
def tool_execute_before(session: Session) -> None:
    session.state(Searches).delegated = True


@observe(types={"session.compacted"})
def session_event(session: Session) -> None:
    """What it was told is gone from its context; that it was told so often is not."""
    session.state(Searches).count = 0


@rewrite(tools=SEARCHING)
def tool_execute_after(result: ToolResult, session: Session, config: Config) -> Inject | None:
    searches = session.state(Searches)
    if session.parent or searches.delegated or searches.reminded >= config.most:
        return None
    searches.count += 1
    if searches.count < config.after * 2**searches.reminded:
        return None
    searches.count, searches.reminded = 0, searches.reminded + 1
    return Inject(TEXT, priority="low")
