"""Tell the model how to go on after a tool call whose arguments were no JSON."""

import re

from matrixx_core import Inject, ToolFailure, ToolResult, rewrite

RUN_AFTER = ("task-resume-info",)  # the seed's order of what is said behind a call

QUOTING = frozenset({
    "bash", "read", "glob", "grep", "webfetch", "look_at", "grep_app_searchgithub", "websearch_web_search_exa", "gh_grep_searchgithub",
})  # fmt: skip
"""Tools whose output quotes JSON errors as data (both seeds' lists)."""

INVALID = "invalid"
"""The tool under which OpenCode reports a call that it could not read; its arguments are ``{tool, error}``."""

LOOKED_AT = 400
"""Characters at the start of a text that tell its error (spec slim-hooks 8)."""

MARK = "[malformed JSON arguments]"
"""How the note begins; a text that holds it gets no second one."""

SHAPES = (
    # any language
    r"json[ _-]?pars(?:e|ing)[ _-]?(?:error|failed|failure)",
    r"(?:failed|unable|could not|cannot) (?:to )?(?:parse|decode)(?: \w+){0,3} json",
    r"(?:invalid|malformed) json",
    r"not valid json",
    r"could not be parsed as json",
    r"json\b[^\n]{0,200}expected '[}\]]'",
    r"json\b[^\n]{0,200}unexpected eof",
    # JavaScript: V8, JavaScriptCore
    r"unexpected end of json input",
    (
        r"(?:unexpected token|expected|unterminated string|bad control character|bad escaped character|unexpected non-whitespace|no number|"
        r"unterminated fractional number|exponent part)[^\n]{0,200}\bjson\b"
    ),
    # Python
    r"json(?:\.decoder\.)?decodeerror",
    (
        r"(?:expecting (?:value|property name enclosed in double quotes|'[,:]' delimiter|',' or '\S')|unterminated string starting at|extra data|"
        r"invalid control character at|invalid \\(?:escape|uxxxx escape)|illegal trailing comma before end of \w+): line \d+ column \d+"
    ),
    # Rust's serde_json, Go's encoding/json
    r"(?:eof while parsing|expected (?:value|ident|`[^`\n]{1,3}`)|trailing (?:characters|comma)|key must be a string|control character)[^\n]{0,80} at line \d+ column \d+",
    r"invalid character '[^\n]{1,8}' (?:looking for|after|in)",
)
_SHAPE = re.compile("|".join(SHAPES), re.IGNORECASE)

UNREADABLE = re.compile(r"<tool_use_error>InputValidationError: \S{1,80} was called with input that could not be parsed as JSON")
"""How Claude Code (2.1) begins what it says of a call that it could not read."""

CUT_OFF = re.compile(r"unterminated|unexpected (?:end|eof)|eof while parsing", re.IGNORECASE)

_STARTS = re.compile(
    r"\W{0,3}(?:(?:[\w.]{0,60}error|fatal|[\w.]{0,60}exception|traceback|mcp error)\b(?! (?:handling|was|is)\b|\"\s*:\s*(?:null|false|0|\"\"))|"
    r"json parse error|json parsing failed|(?:failed|unable|could not|cannot) (?:to )?(?:parse|decode)|unexpected (?:token|end)|"
    r"(?:invalid|malformed) (?:json|(?:tool )?(?:arguments|input|parameters|call))\s*[:(]|(?:invalid|malformed) json (?:arguments|input)|"
    r"the arguments provided|the \S{1,60} tool was called with)",
    re.IGNORECASE,
)
_ECHO = re.compile(r"\b(?:Text|Value): ")
_AFTER_ECHO = "\nError message:"


@rewrite(but=QUOTING)
def tool_execute_after(result: ToolResult) -> Inject | None:
    if result.call.tool.lower() == INVALID:
        reason = result.call.args.get("error")
        return _certain(reason if isinstance(reason, str) else result.output, result.call.args.get("tool"), result.output)
    return _likely(result.output, result.call.tool) if _STARTS.match(result.output) else None


@rewrite
def tool_execute_failed(failure: ToolFailure) -> Inject | None:
    if UNREADABLE.match(failure.error):
        return _certain(failure.error, failure.call.tool, failure.error)
    return _likely(failure.error, failure.call.tool)


def _certain(reason: str, tool: object, output: str) -> Inject | None:
    """The host says that it could not read the call."""
    said = _without_echo(reason)
    if MARK in output or not _SHAPE.search(said):
        return None
    named = f" for `{tool}`" if isinstance(tool, str) and re.fullmatch(r"[\w.:-]{1,80}", tool) else ""
    return Inject(f"{MARK} The arguments you sent{named} were not valid JSON, so nothing ran. {_repair(said)}", priority="high")


def _likely(text: str, tool: str) -> Inject | None:
    """Something in the call, or in the tool itself, was no JSON: the text does not tell which."""
    said = _without_echo(text[:LOOKED_AT])
    if tool.lower() in QUOTING or MARK in text or not _SHAPE.search(said):
        return None
    return Inject(f"{MARK} If this error is about the arguments that you sent: {_repair(said)}")


def _repair(said: str) -> str:
    if CUT_OFF.search(said):
        return "They ended too early: do not send them again as they were; send less in one call (write long content in several steps)."
    return 'Do not send them again as they were: check quotes, commas, braces and the escapes inside strings (\\n, \\", \\\\), then call once more.'


def _without_echo(said: str) -> str:
    """What the host says, without the arguments that it repeats: those may hold anything."""
    echo = _ECHO.search(said)
    if echo is None:
        return said[:LOOKED_AT]
    end = said.rfind(_AFTER_ECHO)
    return said[: echo.start()][:LOOKED_AT] + (said[end:][:LOOKED_AT] if end > echo.start() else "")
