"""Know which agent runs a session, and which part the person gave to agents of their own.

``"agents": {"roles": {"my-planner": "planner", "boss": "orchestrator", "helper": "worker"}}`` makes the hooks that treat
planners, orchestrators and workers apart see yours as such. The seed's own agents keep their roles.
"""

from pydantic import BaseModel, ConfigDict, Field

from matrixx_core import ChatMessage, Session, observe
from matrixx_core.settings import TRUSTED_ONLY

from ..services.agents import Caller, Role, assign
from ..services.sensitive import FILELESS_TOOLS

SETTINGS_KEY = "agents"


class Config(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")  # the section also holds what the seed says of each agent

    roles: dict[str, Role] = Field(
        default={},
        description="Your own agents' roles, by name: planner, orchestrator, worker or other.",
        json_schema_extra=TRUSTED_ONLY,  # a project could make your planner write code
    )


@observe
def chat_message(message: ChatMessage, session: Session, config: Config) -> None:
    """The newest prompt says who acts on it."""
    session.state(Caller).roles = config.roles
    assign(session, message.agent)


@observe
def messages_transform(session: Session, config: Config) -> None:
    """A session whose prompt was sent before the engine ran."""
    session.state(Caller).roles = config.roles


@observe(but=(FILELESS_TOOLS - {"task"}) | {"read", "glob", "grep"})
def tool_execute_before(session: Session, config: Config) -> None:
    """A call without any prompt before it, as ``matrixx explain`` makes them."""
    session.state(Caller).roles = config.roles
