from typing import Any

import anyio
import matrixx_anthropic_effort as hook
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixx_core import ChatParams
from matrixx_core.testing import SESSION, Rig, plugin_name, session

CONFIG = hook.Config()
OPUS = {"provider": "anthropic", "model": "claude-opus-4-6", "variant": "max"}


def effort(config: hook.Config = CONFIG, **fields: Any) -> Any:
    changed = hook.chat_params(ChatParams(session_id=SESSION, **fields), session(), config)
    return changed.options.get("effort") if changed else None


@pytest.mark.parametrize(
    ("fields", "set_to"),
    [
        ({}, "max"),
        ({"model": "claude-opus-4.6"}, "max"),
        ({"model": "Claude-Opus-4.6-20260101"}, "max"),
        ({"model": "anthropic/claude-opus-4.6"}, "max"),
        ({"provider": "google-vertex-anthropic"}, "max"),
        ({"provider": "opencode"}, "max"),
        ({"provider": "github-copilot", "model": "claude-opus-4.6"}, "max"),
        ({"provider": "github-copilot", "model": "gpt-5.2"}, None),
        ({"provider": "openai"}, None),
        ({"variant": "MAX"}, "max"),
        ({"variant": "high"}, None),
        ({"variant": "none"}, None),
        ({"variant": ""}, None),
        ({"model": "claude-sonnet-4-6"}, None),
        ({"model": ""}, None),
        ({"options": {"effort": "low"}}, None),
        ({"options": {"effort": None}}, "max"),
    ],
)
def test_the_effort_is_raised_for_the_variant_max_of_models_that_take_it(fields: dict[str, Any], set_to: str | None) -> None:
    assert effort(**{**OPUS, **fields}) == set_to


def test_other_options_stay() -> None:
    params = ChatParams(session_id=SESSION, options={"thinking": {"type": "adaptive"}, "effort": None}, **OPUS)  # type: ignore[arg-type]
    outcome = anyio.run(Rig(hook).host.chat_params, params)
    assert outcome.event == params.model_copy(update={"options": {"thinking": {"type": "adaptive"}, "effort": "max"}})


def test_the_models_are_a_setting() -> None:
    rules = [{"models": ["my-opus"]}, {"providers": ["p"], "models": ["x", ""]}]
    rig = Rig(hook, settings={plugin_name(hook): {"rules": rules}})
    (config,) = rig.host.plugins.configs.values()
    assert isinstance(config, hook.Config)
    assert effort(config, provider="any", model="my.opus-2", variant="max") == "max"
    assert effort(config, provider="p", model="y", variant="max") is None
    assert effort(config, **OPUS) is None


@given(st.text(max_size=40), st.text(max_size=40), st.dictionaries(st.text(max_size=6), st.none() | st.integers() | st.text(), max_size=3))
def test_no_request_is_too_odd(provider: str, model: str, options: dict[str, Any]) -> None:
    effort(provider=provider, model=model, options=options, variant="max")
