import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixx_builtin.services import provider_errors
from matrixx_builtin.services.provider_errors import ProviderError, overflow, parse

LIMITS = [
    ("anthropic", 213_462, 200_000, "prompt is too long: 213462 tokens > 200000 maximum"),
    (
        "anthropic",
        209_573,
        200_000,
        "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
    ),
    (
        "openai",
        8_500,
        8_192,
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 8500 tokens. Please reduce the length of the messages.",
    ),
    (
        "openai",
        4_200,
        4_097,
        "This model's maximum context length is 4097 tokens, however you requested 4200 tokens (3200 in your prompt; 1000 for the completion).",
    ),
    (
        "openai",
        70_000,
        65_536,
        "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (66000 in the messages, 4000 in the completion).",
    ),
    ("openai", None, None, "Your input exceeds the context window of this model. Please adjust your input and try again."),
    (
        "openrouter",
        150_000,
        128_000,
        "This endpoint's maximum context length is 128000 tokens. However, you requested about 150000 tokens (148000 of text input, 2000 in the output).",
    ),
    ("google", 1_196_265, 1_048_575, "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."),
    ("google", None, 1_048_576, "The input token count exceeds the maximum number of tokens allowed 1048576."),
    ("xai", 537_812, 131_072, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
    ("moonshot", 300_000, 262_144, "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)"),
    ("moonshot", None, 262_144, "Your request exceeded model token limit: 262144"),
    ("mistral", 40_000, 32_768, "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"),
    ("github-copilot", 150_000, 128_000, "prompt token count of 150000 exceeds the limit of 128000"),
    ("groq", None, None, "Please reduce the length of the messages or completion."),
    (
        "cohere",
        5_000,
        4_081,
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000. Try using a shorter prompt.",
    ),
    ("fireworks", 150_000, 131_071, "The prompt is too long: 150000, model maximum context length: 131071"),
    ("watsonx", 5_000, 4_096, "the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model"),
    ("minimax", None, None, "invalid params, context window exceeds limit (2013)"),
    ("bedrock", None, None, "ValidationException: Input is too long for requested model."),
    ("alibaba", None, 129_024, "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]"),
    ("zai", None, None, "model_context_window_exceeded"),
    ("llama.cpp", 12_000, 8_192, "request (12000 tokens) exceeds the available context size (8192 tokens), try increasing it"),
    ("llama.cpp", None, None, "the request exceeds the available context size. try increasing the context size"),
    (
        "lmstudio",
        12_345,
        4_096,
        "Trying to keep the first 12345 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
    ),
    ("ollama", None, None, "prompt too long; exceeded max context length by 512 tokens"),
    (
        "vllm",
        10_096,
        8_192,
        "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 8192 tokens and your request has 6000 input tokens (4096 > 8192 - 6000).",
    ),
    ("vllm", 40_000, 32_768, "The decoder prompt (length 40000) is longer than the maximum model length of 32768."),
    (
        "sglang",
        40_000,
        32_768,
        "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 40000 tokens: 38000 tokens from the input messages and 2000 tokens for the completion.",
    ),
    ("sglang", 40_000, 32_768, "The input (40000 tokens) is longer than the model's context length (32768 tokens)."),
    (
        "tgi",
        6_024,
        4_096,
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 1024 `max_new_tokens`",
    ),
    ("tgi", 5_000, 4_096, "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000"),
    ("", 250_000, 200_000, "250000 tokens > 200000 maximum"),
    ("anthropic", 213_462, 200_000, "prompt is too long: 213,462 tokens > 200,000 maximum"),
]

WRAPPERS: dict[str, Any] = {
    "text": lambda text: text,
    "exception": ValueError,
    "message": lambda text: {"message": text},
    "nested": lambda text: {"error": {"error": {"type": "invalid_request_error", "message": text}}},
    "json text": lambda text: json.dumps({"error": {"message": text}}),
    "json twice": lambda text: json.dumps({"error": {"message": json.dumps({"type": "error", "error": {"message": text}})}}),
    "OpenCode": lambda text: {
        "name": "APIError",
        "data": {"message": "Bad Request", "statusCode": 400, "responseBody": json.dumps({"error": {"message": text}})},
    },
    "not JSON": lambda text: {"data": {"message": "Bad Request", "statusCode": 400, "responseBody": f"<html>{text}"}},
    "LiteLLM": lambda text: {"message": f"litellm.BadRequestError: Exception - b'{json.dumps({'error': {'message': text}})}'"},
    "server-sent event": lambda text: {"responseBody": f"event: error\ndata: {json.dumps({'error': {'message': text}})}\n\n"},
    "router": lambda text: {
        "error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": json.dumps({"message": text})}}
    },
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize(
    ("provider", "current", "maximum", "text"), LIMITS, ids=[f"{number}-{row[0]}" for number, row in enumerate(LIMITS)]
)
def test_a_full_context_is_told_with_its_numbers_however_it_is_wrapped(
    provider: str, current: int | None, maximum: int | None, text: str, wrapper: str
) -> None:
    error = parse(WRAPPERS[wrapper](text))
    assert (error.kind, error.current, error.maximum) == ("token_limit", current, maximum)
    assert not provider or error.provider == provider


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("rate_limit", "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 45000."),
        ("rate_limit", "ThrottlingException: Too many tokens, please wait before trying again."),
        ("rate_limit", "This request would exceed your organization's rate limit of 40,000 input tokens per minute"),
        ("rate_limit", "Rate limit exceeded"),
        ("rate_limit", "Too Many Requests"),
        ("request_size", "request_too_large: Request exceeds the maximum size"),
        ("request_size", "413 Request Entity Too Large"),
        ("output_limit", "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for claude-3-opus"),
        ("output_limit", "max_tokens is too large: 32000. This model supports at most 16384 completion tokens"),
        ("output_limit", "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"),
        ("output_limit", "max_tokens must be less than or equal to 8192"),
        ("image", "messages.3.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"),
        ("image", "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels"),
        ("image", "Could not process image"),
        ("tool_pair", "messages.5: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01A."),
        ("tool_pair", "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: call_1."),
        ("tool_pair", "`tool_use` ids must be unique"),
        ("tool_pair", "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."),
        ("tool_pair", "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."),
        ("tool_pair", "No tool output found for function call call_abc."),
        ("tool_pair", "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."),
        ("tool_pair", "Expected toolResult blocks at messages.4.content for the following Ids: tooluse_x"),
        ("thinking", "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block. Learn about tool_use and tool_result: https://docs.example"),
        ("thinking", "messages.3.content.0: Invalid `signature` in `thinking` block"),
        ("thinking", "messages.1.content.2: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were."),
        ("thinking", "The final block in an assistant message cannot be `thinking`."),
        ("thinking", "Function call is missing a thought_signature in functionCall parts."),
        ("thinking", "Item 'rs_1' of type 'reasoning' was provided without its required following item."),
        ("thinking_disabled", "When thinking is disabled, an assistant message in the final position cannot contain `thinking`."),
        ("prefill", "This model does not support assistant message prefill. The conversation must end with a user message."),
        ("empty_content", "messages.4: all messages must have non-empty content except for the optional final assistant message"),
        ("quota", "You exceeded your current quota, please check your plan and billing details."),
        ("quota", "Your credit balance is too low to access the Anthropic API."),
        ("quota", "Monthly usage limit reached"),
        ("overloaded", "Overloaded"),
        ("overloaded", "The service is temporarily unavailable"),
        ("model", "model 'x' is not supported by this API"),
        ("model", "model_not_supported"),
        ("auth", "Incorrect API key provided"),
        ("network", "fetch failed"),
        ("other", "Cannot connect to database"),
        ("other", "internal thoughts"),
        ("other", "the value is too long"),
    ],
)  # fmt: skip
def test_what_is_no_full_context_is_told_apart(kind: str, text: str, wrapper: str) -> None:
    error = parse(WRAPPERS[wrapper](text))
    assert (error.kind, error.current, error.maximum) == (kind, None, None)


@pytest.mark.parametrize(
    ("error", "kind", "status"),
    [
        ({"statusCode": 429}, "rate_limit", 429),
        ({"statusCode": 400}, "other", 400),
        ({"status": "error", "error": {"statusCode": 429}}, "rate_limit", 429),
        ({"statusCode": "UNKNOWN", "cause": {"statusCode": 503}}, "overloaded", 503),
        ({"statusCode": 400, "error": {"statusCode": 429}}, "other", 400),
        ({"message": "status code 429"}, "rate_limit", 429),
        ({"statusCode": 429, "message": "insufficient_quota"}, "quota", 429),
        ({"statusCode": 429, "message": "prompt is too long: 9 tokens > 8 maximum, tokens per minute"}, "rate_limit", 429),
        ({"data": {"statusCode": 401, "message": "no"}}, "auth", 401),
        ({"statusCode": 402}, "quota", 402),
        ({"statusCode": 413, "responseBody": "x"}, "request_size", 413),
        ({"statusCode": 529}, "overloaded", 529),
        ({"statusCode": 500, "message": "prompt is too long: 9 tokens > 8 maximum"}, "token_limit", 500),
        ({"statusCode": 404, "message": "The model `gpt-9` does not exist"}, "model", 404),
        ({"name": "MessageAbortedError", "data": {"message": "The operation was aborted."}}, "aborted", None),
        ({"name": "ContextOverflowError", "data": {"message": "too much"}}, "token_limit", None),
        ({"name": "ProviderAuthError", "data": {"providerID": "anthropic", "message": "x"}}, "auth", None),
        ({"name": "MessageOutputLengthError", "data": {}}, "output_limit", None),
        ({"cause": {"code": "ECONNREFUSED"}}, "network", None),
        ({"message": "usage limit", "statusCode": True}, "quota", None),
    ],
)
def test_the_status_counts_where_the_wording_does_not_say_more(error: object, kind: str, status: int | None) -> None:
    assert (parse(error).kind, parse(error).status) == (kind, status)


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        ("Please try again in 20s.", 20),
        ("try again in 1m30.5s", 90.5),
        ("Please retry in 43.2s.", 43.2),
        ("Please retry after 30 seconds.", 30),
        ("try again in 6ms", 0.006),
        ("cooling down [retrying in ~5 days attempt #1]", 432_000),
        ({"data": {"statusCode": 429, "responseHeaders": {"Retry-After": "7"}}}, 7),
        ({"data": {"responseHeaders": {"retry-after-ms": "1500", "retry-after": "2"}}}, 1.5),
        ({"data": {"responseHeaders": {"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}}}, None),
        ({"error": {"code": 429, "details": [{"@type": "RetryInfo", "retryDelay": "34s"}]}}, 34),
        ("Rate limit exceeded", None),
    ],
)
def test_when_to_come_again_is_told_in_seconds(error: object, seconds: float | None) -> None:
    assert parse(error).retry_after == seconds


def test_the_message_that_is_complained_about_is_told() -> None:
    assert parse("messages.5.content.0: unexpected `tool_use_id` found").at == 5
    assert parse("messages[12].content: bad").at == 12
    assert parse("bad").at is None


def test_the_innermost_words_are_the_message() -> None:
    error = parse({"message": json.dumps({"error": {"message": "prompt is too long: 9 tokens > 8 maximum"}})})
    assert error.message == "prompt is too long: 9 tokens > 8 maximum"


def test_a_prompt_that_an_error_carries_is_not_taken_for_the_error() -> None:
    carried = {"message": "Overloaded", "requestBodyValues": {"messages": [{"content": "prompt is too long: 9 tokens > 8 maximum"}]}}
    assert parse(carried).kind == "overloaded"


@pytest.mark.parametrize(("used", "maximum", "full"), [(200_001, 200_000, True), (200_000, 200_000, False), (5, 0, False), (-1, -2, False)])
def test_a_silent_overflow_is_told_by_the_usage(used: int, maximum: int, full: bool) -> None:
    error = overflow(used, maximum)
    assert (error is not None) == full
    assert error is None or error.kind == "token_limit"


def circle() -> dict[str, object]:
    error: dict[str, object] = {"message": "prompt is too long"}
    error["cause"] = error["errors"] = error
    return error


@pytest.mark.parametrize(
    "error",
    [
        None,
        42,
        True,
        "",
        b"\xff",
        [],
        {},
        object(),
        {"data": "x"},
        {"data": 5},
        "\ud800\x00",
        {"error": None},
        {"message": {"a": 1}},
        {1: 2},
        "{" * 5000,
    ],
)
def test_what_says_nothing_is_other(error: object) -> None:
    assert parse(error).kind == "other"


def test_circles_and_floods_end() -> None:
    assert parse(circle()).kind == "token_limit"
    deep: object = "prompt is too long"
    for _ in range(5_000):
        deep = {"error": deep}
    assert parse(deep).kind == "other"
    start = time.process_time()
    for flood in (
        "thinking " * 50_000,
        "{" * 300_000,
        "max_tokens " * 40_000,
        "1" * 500_000,
        "retry in 1s" * 50_000,
        "tokens 5 > " * 50_000,
    ):
        assert len(parse({"message": flood}).message) <= provider_errors.LONGEST
    assert time.process_time() - start < 20


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=40) | st.sampled_from([row[3] for row in LIMITS]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["message", "error", "data", "status", "code", "headers", "x"]), inner, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_no_error_is_too_odd(error: object) -> None:
    assert isinstance(parse(error), ProviderError)
