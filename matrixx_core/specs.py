"""Every event a host reports, as a hookspec in the order of a session's life; the docstrings become docs/events.md.

A hook takes any subset of the parameters, by name. ``session`` is the session's memory, ``client`` the host's offers,
``config`` the plugin's own settings.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from .answers import Answer
from .client import HostClient
from .events import (
    ChatHeaders,
    ChatMessage,
    ChatParams,
    Command,
    Compaction,
    PermissionAsked,
    SessionEvent,
    ShellEnv,
    SystemPrompt,
    TextComplete,
    ToolCall,
    ToolDefinition,
    ToolFailure,
    ToolResult,
    Transcript,
)
from .markers import hookspec
from .session import Session
from .tools import Tool


@hookspec
def host_opened(host: Any) -> None:
    """The engine is ready and no event has arrived yet.

    A plain pluggy call on the caller's thread: return at once.
    """


@hookspec
def tools(config: BaseModel) -> Sequence[Tool]:
    """The plugin's own tools for the model, asked for once when the plugin is loaded.

    They reach the model through the host where it takes tools of plugins, and through ``matrixx mcp`` everywhere. Their
    calls pass the same guards as any other call.
    """
    return ()


@hookspec
def session_event(event: SessionEvent, session: Session, client: HostClient, config: BaseModel) -> Answer:
    """Something happened in a session that no other event tells (``session.idle``, ``session.error`` ...).

    Guards may block it, so that nobody acts on it. Rewriters act, one after another, in order; text they inject is in
    the session's next prompt.
    """


@hookspec
def chat_message(message: ChatMessage, session: Session, client: HostClient, config: BaseModel) -> Answer:
    """A prompt is about to be sent.

    Guards may stop it, so that no model reads it. Rewriters may change its parts; injected text becomes a marked part.
    """


@hookspec
def command_execute_before(command: Command, session: Session, client: HostClient, config: BaseModel) -> Answer:
    """A slash command is about to become a prompt.

    Guards may stop it. Rewriters may change its parts; injected text becomes a part of the prompt.
    """


@hookspec
def tool_definition(definition: ToolDefinition, session: Session, client: HostClient, config: BaseModel) -> Answer:
    """A tool is about to be described to the model.

    Rewriters may change the description and the JSON Schema of its parameters.
    """


@hookspec
def messages_transform(transcript: Transcript, session: Session, client: HostClient, config: BaseModel) -> Answer:
    """The messages of a model request are ready.

    Injected text lands at the end of the last user message and stays there, byte for byte, in every later request: the
    provider's prompt cache holds. Rewriters may change messages and should touch no earlier one.
    """


@hookspec
def system_transform(system: SystemPrompt, session: Session, client: HostClient, config: BaseModel) -> Answer:
    """The system prompt of a model request is ready.

    Injected text lands at its end; it should be the same in every request of a session.
    """


@hookspec
def chat_params(params: ChatParams, session: Session, client: HostClient, config: BaseModel) -> Answer:
    """The sampling parameters of a model request are ready.

    Rewriters may change them.
    """


@hookspec
def chat_headers(headers: ChatHeaders, session: Session, client: HostClient, config: BaseModel) -> Answer:
    """The HTTP headers of a model request are ready.

    Rewriters may change them.
    """


@hookspec
def tool_execute_before(call: ToolCall, session: Session, client: HostClient, config: BaseModel) -> Answer:
    """A tool is about to run.

    Guards may stop it; the model then reads the reason in place of a result. Rewriters may change its arguments, and
    the guards judge the changed call once more. Injected text reaches the model beside the call's result.
    """


@hookspec
def permission_asked(permission: PermissionAsked, session: Session, client: HostClient, config: BaseModel) -> Answer:
    """The host asks the person whether something may happen.

    Guards may reject it (``Block``) or grant what the person configured to be granted (``Allow``); silence leaves the
    question to the person.
    """


@hookspec
def shell_env(env: ShellEnv, session: Session, client: HostClient, config: BaseModel) -> Answer:
    """A shell command is about to get its environment.

    Rewriters may add variables to it.
    """


@hookspec
def tool_execute_after(result: ToolResult, session: Session, client: HostClient, config: BaseModel) -> Answer:
    """A tool has run.

    Guards read the whole output and may add text to it. Rewriters may change the output and the files beside it;
    added text always follows their work.
    """


@hookspec
def tool_execute_failed(failure: ToolFailure, session: Session, client: HostClient, config: BaseModel) -> Answer:
    """A tool call ended in an error, so ``tool_execute_after`` is not called for it.

    Injected text is added to the error that the model reads next.
    """


@hookspec
def text_complete(text: TextComplete, session: Session, client: HostClient, config: BaseModel) -> Answer:
    """The model has finished a piece of text.

    Rewriters may change what is kept of it. They run in reverse order, as responses travel back through the hooks.
    """


@hookspec
def session_compacting(compaction: Compaction, session: Session, client: HostClient, config: BaseModel) -> Answer:
    """The session is about to be summarised.

    Injected text is part of what survives. Rewriters may replace the instruction.
    """


@hookspec
def host_closed(host: Any) -> None:
    """The engine is about to end; no event arrives any more.

    A plain pluggy call on the caller's thread: save what must survive and return.
    """
