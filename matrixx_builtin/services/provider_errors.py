"""What a model provider's error means, whatever wrapped it: one reading for recovery, fallback and compaction.

``parse`` takes an error as a host tells it (OpenCode's ``{"name", "data": {"message", "statusCode", "responseBody" ...}}``,
a provider's JSON, an exception's text, any of them inside strings of another) and never raises. Wordings were collected
from the providers' own answers up to 2026; where the status and the wording disagree, a broken transcript or a full
context is told by the wording, everything else by the status.
"""

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

Kind: TypeAlias = Literal[
    "aborted",
    "token_limit",
    "thinking",
    "thinking_disabled",
    "prefill",
    "tool_pair",
    "image",
    "empty_content",
    "request_size",
    "output_limit",
    "rate_limit",
    "quota",
    "overloaded",
    "auth",
    "model",
    "network",
    "other",
]
"""What is wrong.

``token_limit``: the request does not fit the model's context. ``thinking``: thinking blocks are misplaced, missing,
changed or wrongly signed; ``thinking_disabled``: there are some although thinking is off. ``prefill``: the last message
must be the user's. ``tool_pair``: calls and results do not belong together. ``request_size``: too many bytes.
``output_limit``: more output was asked for than the model gives. ``rate_limit`` passes by itself, ``quota`` (money, a
week's or month's allowance) does not. ``overloaded``: the provider fails (5xx). ``model``: it is not offered (any more).
"""

TRANSCRIPT: frozenset[Kind] = frozenset({"thinking", "thinking_disabled", "prefill", "tool_pair", "image", "empty_content"})
"""Kinds that the same transcript meets again, whatever model is asked: it must be repaired."""

ELSEWHERE: frozenset[Kind] = frozenset({"rate_limit", "quota", "overloaded", "auth", "model", "network"})
"""Kinds that another provider may not have."""


@dataclass(frozen=True, slots=True)
class ProviderError:
    """One error, understood.

    ``provider`` names whose wording it is (a router's error has that of the provider behind it; OpenAI's is spoken by
    many), ``""``: unknown. ``current`` and ``maximum`` are tokens, ``retry_after`` seconds, ``at`` the number of the
    message that the provider complains about, counted from 0 in the request. ``status`` is HTTP's.
    """

    kind: Kind
    message: str = ""
    provider: str = ""
    status: int | None = None
    current: int | None = None
    maximum: int | None = None
    retry_after: float | None = None
    at: int | None = None


def parse(error: object) -> ProviderError:
    """What the error says; its kind is ``other`` where that is not known."""
    found = _gathered(error)
    said = "\n".join(found.texts)
    limit = _limit(said)
    kind = _kind(found, said, limit)
    current, maximum = (limit.current, limit.maximum) if limit and kind == "token_limit" else (None, None)
    at = _AT.search(said)
    return ProviderError(
        kind=kind,
        message=next((text for text in found.messages if text.strip()), said)[:LONGEST],
        provider=limit.provider if limit and limit.provider and kind == "token_limit" else _provider(said, found.provider),
        status=found.status,
        current=current,
        maximum=maximum,
        retry_after=found.retry_after if found.retry_after is not None else _wait(said),
        at=int(at[1]) if at else None,
    )


def overflow(used: int, maximum: int) -> ProviderError | None:
    """The error that some providers keep silent about: a request used more input tokens (cached ones too) than there is room."""
    return (
        ProviderError("token_limit", "the request was longer than the model's context", current=used, maximum=maximum)
        if used > maximum > 0
        else None
    )


LONGEST = 2_000
"""Characters of the message that are kept."""

_READ = 65_536
"""Characters of all texts together that are looked at: an error that quotes a prompt says what is wrong before it."""

_NODES = 200
"""Objects and texts of an error that are looked at."""

_KEYS = frozenset({
    "message", "error", "errors", "detail", "details", "description", "reason", "title", "type", "name", "code", "status", "data",
    "response", "responsebody", "body", "metadata", "raw", "cause", "exception", "innererror", "provider_message",
})  # fmt: skip
"""Where errors keep what they say; a request's own body, which may hold the prompt, is none of these."""

_MESSAGES = frozenset({"message", "detail", "description", "reason"})


@dataclass(slots=True)
class _Found:
    texts: list[str]
    messages: list[str]
    status: int | None = None
    provider: str = ""
    retry_after: float | None = None


def _gathered(error: object) -> _Found:
    """All that the error says, the outermost first; what is JSON inside a text is looked into like the rest."""
    found, length = _Found([], []), 0
    waiting: deque[tuple[str, Any]] = deque([("message", error)])
    for _ in range(_NODES):
        if not waiting or length > _READ:
            break
        key, value = waiting.popleft()
        if isinstance(value, Mapping):
            waiting.extend(_entries(found, cast("Mapping[object, Any]", value)))
        elif isinstance(value, BaseException):
            waiting.extend(((key, str(value)), ("name", type(value).__name__), ("cause", value.__cause__)))
        elif isinstance(value, str):
            text = value[: _READ - length]
            length += len(text) + 1
            found.texts.append(text)
            inner = list(_json_in(text))
            waiting.extend((key, one) for one in inner)
            if key in _MESSAGES and not inner:
                found.messages.append(text)
        elif isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
            waiting.extend((key, one) for one in value[:_NODES])
    return found


def _entries(found: _Found, table: Mapping[object, Any]) -> Iterator[tuple[str, Any]]:
    """The entries worth looking into; what is no text is noted, the outermost first."""
    for name, value in sorted(((str(name).lower(), value) for name, value in table.items()), key=lambda entry: entry[0] != "message"):
        if name in ("statuscode", "status_code", "status", "code", "httpstatus") and found.status is None:
            found.status = _status(value)
        if name in ("providerid", "provider_name", "provider") and isinstance(value, str) and not found.provider:
            found.provider = value.lower()
        if name in ("responseheaders", "headers") and isinstance(value, Mapping) and found.retry_after is None:
            found.retry_after = _header(cast("Mapping[object, Any]", value))
        if name == "retrydelay" and isinstance(value, str) and found.retry_after is None:
            found.retry_after = _seconds(value)
        if name in _KEYS and not isinstance(value, int | float):
            yield name, value


def _status(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599 else None


def _json_in(text: str) -> Iterator[Any]:
    """What stands in the text as JSON: all of it, or behind a prefix (``litellm.BadRequestError: ... b'{...}'``, ``data: {...}``)."""
    decoder, place = json.JSONDecoder(), 0
    for _ in range(3):
        place = text.find("{", place)
        if place < 0:
            return
        try:
            value, place = decoder.raw_decode(text, place)
            yield value
        except (ValueError, RecursionError):
            place += 1


_N = r"([0-9][0-9,_]{0,14})"
_MORE = r"[^.\n]{0,80}?"


@dataclass(frozen=True, slots=True)
class _Limit:
    provider: str
    current: int | None = None
    maximum: int | None = None


_LIMITS: tuple[tuple[str, str, str], ...] = (
    ("anthropic", "c>m", rf"prompt is too long: {_N} tokens > {_N} maximum"),
    ("anthropic", "c+o>m", rf"input length and `?max_tokens`? exceed context limit: {_N} \+ {_N} > {_N}"),
    (
        "vllm",
        "omc",
        rf"max_(?:completion_)?tokens'? is too large: {_N}\. This model's maximum context length is {_N} tokens and your request has {_N} input tokens",
    ),
    ("vllm", "cm", rf"(?:prompt|decoder prompt|input) \(length {_N}\) is longer than the maximum model length of {_N}"),
    ("vllm", "cm", rf"input length \({_N}\) exceeds (?:the )?model'?s? maximum (?:context )?length \({_N}\)"),
    (
        "sglang",
        "mc",
        rf"requested token count exceeds the model's maximum context length of {_N} tokens\. You requested a total of {_N} tokens",
    ),
    ("sglang", "cm", rf"the input \({_N} tokens\) is longer than the model's context length \({_N} tokens\)"),
    ("openrouter", "mc", rf"this endpoint's maximum context length is {_N} tokens\. However, you requested about {_N} tokens"),
    (
        "openai",
        "mc",
        rf"maximum context length is {_N}(?: tokens)?[.,;]? (?:however|but),? (?:you requested|your messages resulted in|your prompt contains|your request has)(?: about| at least)? {_N}",
    ),
    ("mistral", "cm", rf"prompt contains {_N} tokens{_MORE} too large for model with {_N} maximum context length"),
    ("google", "cm", rf"input token count \(?{_N}\)? exceeds the maximum number of tokens allowed \(?{_N}\)?"),
    ("google", "m", rf"input token count exceeds the maximum number of tokens allowed \(?{_N}\)?"),
    ("xai", "mc", rf"maximum prompt length is {_N} but the request contains {_N} tokens"),
    ("moonshot", "mc", rf"exceeded model token limit:? {_N} \(requested:? {_N}\)"),
    ("moonshot", "m", rf"exceeded model token limit:? {_N}"),
    ("github-copilot", "cm", rf"prompt token count of {_N} exceeds the limit of {_N}"),
    ("llama.cpp", "cm", rf"request \({_N} tokens\) exceeds the available context size \({_N} tokens\)"),
    ("cohere", "mc", rf"total number of tokens{_MORE} cannot exceed {_N} - received {_N}"),
    ("fireworks", "cm", rf"prompt is too long: {_N}, model maximum context length: {_N}"),
    ("watsonx", "cm", rf"number of input tokens {_N} cannot exceed the total tokens limit {_N}"),
    (
        "lmstudio",
        "cm",
        rf"trying to keep the first {_N} tokens{_MORE}overflows\. However, the model is loaded with context length of only {_N} tokens",
    ),
    ("tgi", "mc+o", rf"`?inputs`? tokens \+ `?max_new_tokens`? must be <= {_N}\. Given: {_N} `?inputs`? tokens and {_N}"),
    ("tgi", "mc", rf"`?inputs`? must have less than {_N} tokens\. Given: {_N}"),
    ("alibaba", "m", rf"range of input length should be \[[0-9]+, ?{_N}\]"),
    (
        "",
        "c>m",
        rf"{_N} tokens? ?(?:>|exceeds?|is greater than|is more than) (?:the )?(?:maximum |max |limit |context window )?(?:of )?{_N}(?: tokens?)?(?: maximum| max|(?= (?:context|token)))",
    ),
    ("openai", "m", rf"maximum context length (?:is|of) {_N}"),
    ("openai", "", r"exceeds the context window of this model|maximum context length"),
    ("groq", "", r"reduce the length of the messages or completion"),
    ("minimax", "", r"context window exceeds limit"),
    ("bedrock", "", r"input is too long for requested model|input tokens exceeded|number of input tokens exceeds maximum length"),
    ("llama.cpp", "", r"exceeds the available context size|exceed_context_size_error"),
    ("lmstudio", "", r"greater than the context length|context the overflows"),
    ("ollama", "", r"prompt too long; exceeded (?:max )?context length|input length exceeds the context length"),
    ("github-copilot", "", r"model_max_prompt_tokens_exceeded"),
    ("zai", "", r"model_context_window_exceeded"),
    ("anthropic", "", r"prompt is too long|exceed(?:s|ed)? context limit"),
    (
        "",
        "",
        r"context_length_exceeded|ContextOverflowError|ContextWindowExceeded|exceed(?:s|ed)? (?:the |this |your )?(?:model'?s? )?(?:maximum )?context (?:window|length|size)|context (?:window|length) (?:was |is |has been )?exceeded",
    ),
)
"""Whose wording, the order of its numbers (c: current, m: maximum, o: output that comes on top of current), the wording.

The first that fits counts, so those with numbers stand before those without. "Too many tokens" alone is a rate limit at Bedrock.
"""

_LIMIT_WORDINGS = [(provider, order, re.compile(wording, re.IGNORECASE)) for provider, order, wording in _LIMITS]


def _limit(said: str) -> _Limit | None:
    for provider, order, wording in _LIMIT_WORDINGS:
        if found := wording.search(said):
            numbers = dict(zip((sign for sign in order if sign.isalpha()), map(_number, found.groups()), strict=True))
            current = numbers["c"] + numbers.get("o", 0) if "c" in numbers else None
            return _Limit(provider, current, numbers.get("m"))
    return None


def _number(text: str) -> int:
    return int(re.sub(r"[,_]", "", text))


_TRANSCRIPTS: tuple[tuple[Kind, str], ...] = (
    ("aborted", r"\bMessageAbortedError\b|\bAbortError\b|\bthe operation was aborted\b"),
    ("thinking_disabled", r"thinking is disabled[^\n]{0,80}cannot contain|thinking is (?:disabled|not enabled)[^\n]{0,120}thinking"),
    (
        "thinking",
        (
            r"(?:thinking|redacted_thinking)[^\n]{0,200}(?:first block|must start with|prece+ding|final block|cannot be (?:thinking|modified))|"
            r"must start with a thinking block|expected `?(?:thinking|redacted_thinking)`?[^\n]{0,60}found|cannot be `?thinking`?|"
            r"invalid `?signature`? in `?thinking|thinking[^\n]{0,40}signature(?: field)?[^\n]{0,20}(?:required|invalid|missing)|thinking blocks?[^\n]{0,80}cannot be modified|"
            r"thought_?signature[^\n]{0,60}(?:missing|not valid|invalid|required)|(?:missing|invalid)[^\n]{0,20}thought_?signature|"
            r"reasoning_content[^\n]{0,60}(?:is missing|must be passed|required)|reasoning'? (?:was )?provided without its required following item|"
            r"without its required '?reasoning'? item"
        ),
    ),
    ("prefill", r"assistant message prefill|conversation must end with a user message|expected last role user"),
    (
        "tool_pair",
        (
            r"tool_use`?[^\n]{0,80}without `?tool_result|unexpected `?tool_use_id|tool_result`?[^\n]{0,120}(?:corresponding|previous) [^\n]{0,60}tool_use|`?tool_use`? ids must be unique|"
            r"each `?tool_use`? (?:block )?must have|multiple `?tool_result`? blocks with|tool_calls'?[^\n]{0,40}must be followed by|must be a response to a prece+ding message|"
            r"did not have response messages|no tool (?:call|output) found for|function response parts[^\n]{0,40}(?:equal|number)|function call turn comes immediately|"
            r"expected `?toolResult`? blocks|number of `?tool(?:Result|Use)`? blocks|not the same number of function calls and responses|tool_call_id[^\n]{0,40}not found"
        ),
    ),
    (
        "image",
        (
            r"image (?:exceeds|was too large|is too large)|image dimensions? exceed|could not process image|(?:invalid|unsupported|unprocessable) image|image[^\n]{0,60}exceed[^\n]{0,40}(?:pixels|MB|bytes|size)|"
            r"invalid_image|image_too_large|image (?:url|data)[^\n]{0,30}(?:invalid|not valid)|does not represent a valid image|too many images"
        ),
    ),
    (
        "empty_content",
        r"non-empty content|content blocks must be non-empty|must have non-empty|content (?:cannot|must not) be empty|contents? is not specified",
    ),
)
"""What is wrong with the messages; the first that fits counts, so a link to the tool pages does not make a tool error of a thinking error."""

_RATES = (
    r"tokens?[- ]per[- ]min|per[- ](?:minute|second|hour|day)\b|\b[TR]P[MD]\b|rate[ _-]?limit|too many requests|throttl|please wait before trying|quota will reset|"
    r"exhausted your capacity|cool(?:ing)?[ -]?down|concurrency|all credentials for model"
)
_QUOTAS = (
    r"(?:insufficient|exceeded)[^\n]{0,30}(?:quota|balance|credit)|(?:quota|usage|credit|balance|budget)[^\n]{0,30}(?:exceeded|exhausted|threshold|too low|insufficient|used up)|"
    r"(?:usage|monthly|weekly|5-hour|daily) limit|billing|payment required|insufficient_quota|extra usage is required|out of credits"
)
_OUTPUTS = (
    r"max_(?:completion_|output_|new_)?tokens`?'?:? [0-9,]+ > [0-9,]+|max_(?:completion_|output_)?tokens`?'? is too large|max_(?:completion_|output_)?tokens`?'?(?: value)?[^\n]{0,20} must be|"
    r"valid range of max_tokens|supports at most [0-9,]+ (?:completion|output) tokens|MessageOutputLengthError"
)

_SERVICES: tuple[tuple[Kind, str], ...] = (
    ("rate_limit", r"tokens?[- ]per[- ]min|\b[TR]PM\b|throttl|too many tokens, please wait|resource[_ ]exhausted(?![^\n]{0,80}billing)"),
    ("quota", _QUOTAS),
    ("rate_limit", _RATES + r"|\b429\b"),
    (
        "model",
        (
            r"model_not_(?:found|supported)|ProviderModelNotFound|model[^\n]{0,60}(?:not available|is unavailable|(?:is )?not supported|unsupported|unknown|not found|does not exist|no longer available)|"
            r"(?:unknown|unsupported|no such) model|end of life|no longer available|no available channel|^gone$|\b410\b"
        ),
    ),
    (
        "overloaded",
        r"overloaded|service[_ ]unavailable|temporarily unavailable|internal (?:server )?error|bad gateway|gateway time-?out|(?:upstream|provider) (?:outage|error)|api_error|\b50[0234]\b|\b529\b",
    ),
    (
        "auth",
        (
            r"(?:invalid|incorrect|missing|no)[ _](?:x-)?api[ _-]?key|api[ _-]key[^\n]{0,30}(?:missing|invalid|not valid|required|not set)|unauthori[sz]ed|authentication_error|permission_error|"
            r"forbidden|blocked by (?:the )?gateway|no auth available|auth_unavailable|ProviderAuthError|credentials?[^\n]{0,30}(?:expired|invalid)|\b40[13]\b"
        ),
    ),
    (
        "network",
        (
            r"\bECONN(?:REFUSED|RESET|ABORTED)\b|\bENOTFOUND\b|\bETIMEDOUT\b|\bEAI_AGAIN\b|\bEPIPE\b|fetch failed|socket hang up|request timed? ?out|connection (?:error|refused|reset)|network error|"
            r"cannot connect to (?:the )?api|unable to connect|other side closed"
        ),
    ),
)
"""What is wrong with the service, by its words, for errors without a status and for those that a router gave another one."""

_STATUSES: Mapping[int, Kind] = {
    401: "auth",
    402: "quota",
    403: "auth",
    408: "network",
    410: "model",
    413: "request_size",
    429: "rate_limit",
}
_SIZES = (
    r"request_too_large|(?:payload|request(?: entity| body)?) (?:is )?too large|exceeds the maximum (?:allowed )?(?:size|number of bytes)"
)


def _compiled(table: Sequence[tuple[Kind, str]]) -> list[tuple[Kind, re.Pattern[str]]]:
    return [(kind, re.compile(wording, re.IGNORECASE | re.MULTILINE)) for kind, wording in table]


_TRANSCRIPT_WORDINGS, _SERVICE_WORDINGS = _compiled(_TRANSCRIPTS), _compiled(_SERVICES)
_ASKED = _compiled([("rate_limit", _SERVICES[0][1]), ("output_limit", _OUTPUTS), ("request_size", _SIZES)])
_QUOTA = re.compile(_QUOTAS, re.IGNORECASE)
_TOLD_STATUS = re.compile(r"\b(?:status(?: code)?|HTTP(?:/[0-9.]+)?)[ :=]{1,3}([1-5][0-9]{2})\b", re.IGNORECASE)
_AT = re.compile(r"\bmessages[.\[]([0-9]{1,6})\b", re.IGNORECASE)


def _kind(found: _Found, said: str, limit: _Limit | None) -> Kind:
    told = _TOLD_STATUS.search(said)
    if found.status is None and told:
        found.status = int(told[1])
    if broken := _first(_TRANSCRIPT_WORDINGS, said):
        return broken
    if found.status == 429:
        return "quota" if _QUOTA.search(said) and not _ASKED[0][1].search(said) else "rate_limit"
    asked = _first(_ASKED, said)
    if asked == "rate_limit" or (asked and not limit):
        return asked
    return "token_limit" if limit else _service(found.status, said)


def _service(status: int | None, said: str) -> Kind:
    if status is not None and status in _STATUSES:
        return _STATUSES[status]
    worded = _first(_SERVICE_WORDINGS, said)
    if worded:
        return worded
    return "overloaded" if status and status >= 500 else "other"


def _first(wordings: Sequence[tuple[Kind, re.Pattern[str]]], said: str) -> Kind | None:
    return next((kind for kind, wording in wordings if wording.search(said)), None)


_PROVIDERS = (
    ("bedrock", r"bedrock"),
    ("vertex", r"vertex_?ai"),
    ("anthropic", r"anthropic|request_id\W+req_01|\btool_use\b"),
    ("google", r"gemini|google|generativelanguage"),
    ("openai", r"openai|\btool_calls\b"),
    ("mistral", r"mistral"),
    ("deepseek", r"deepseek"),
    ("groq", r"\bgroq\b"),
    ("xai", r"\bx\.?ai\b|grok"),
)
_PROVIDER_WORDINGS = [(name, re.compile(wording, re.IGNORECASE)) for name, wording in _PROVIDERS]


def _provider(said: str, named: str) -> str:
    return named or next((name for name, wording in _PROVIDER_WORDINGS if wording.search(said)), "")


_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3_600, "d": 86_400}
_AMOUNT = r"([0-9]+(?:\.[0-9]+)?) ?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])"
_WAIT = re.compile(
    rf"(?:try again|retry(?:ing)?|reset|available)s? (?:again )?(?:in|after)[ :~]{{1,3}}((?:{_AMOUNT}[ ,]{{0,2}}){{1,4}})", re.IGNORECASE
)
_AMOUNTS = re.compile(_AMOUNT, re.IGNORECASE)


def _wait(said: str) -> float | None:
    """Seconds after which the error itself says to come again."""
    found = _WAIT.search(said)
    return _seconds(found[1]) if found else None


def _seconds(text: str) -> float | None:
    amounts = _AMOUNTS.findall(text[:100])
    return round(sum(float(amount) * _UNITS[_unit(unit.lower())] for amount, unit in amounts), 3) if amounts else None


def _unit(word: str) -> str:
    return "ms" if word.startswith(("ms", "milli")) else word[0]


def _header(headers: Mapping[object, Any]) -> float | None:
    """Seconds by the ``retry-after`` headers; one that gives a date is left out, for nobody's clock is known."""
    named = {str(name).lower(): str(value) for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        if re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,6})?", value := named.get(name, "")):
            return float(value) * unit
    return None
