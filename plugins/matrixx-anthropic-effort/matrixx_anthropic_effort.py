"""Ask Claude for its greatest effort when a prompt's variant is max.

Some hosts know no variant ``max`` of a model that takes the option ``effort``; then the variant alone would change nothing. An
effort that is already chosen stays.
"""

import re

from pydantic import BaseModel, ConfigDict, Field

from matrixx_core import ChatParams, Session, rewrite

VARIANT = EFFORT = "max"


class Rule(BaseModel):
    """Models that take the option, of which providers."""

    model_config = ConfigDict(frozen=True)

    providers: tuple[str, ...] = Field(default=(), description="Providers by id; none named: every one.")
    models: tuple[str, ...] = Field(default=(), description="What the model's name holds, dots written as dashes.")


DEFAULTS = (Rule(providers=("anthropic", "google-vertex-anthropic", "opencode", "github-copilot"), models=("claude-opus-4-6",)),)
"""Spec session-hooks B1."""


class Config(BaseModel):
    """Settings of ``anthropic-effort``."""

    model_config = ConfigDict(frozen=True)

    rules: tuple[Rule, ...] = Field(default=DEFAULTS, description="Which models are asked, each with `providers` and `models`.")


@rewrite
def chat_params(params: ChatParams, session: Session, config: Config) -> ChatParams | None:
    """Add the option where it is not chosen."""
    if params.variant.lower() != VARIANT or params.options.get("effort") is not None or not takes_effort(params, config):
        return None
    return params.model_copy(update={"options": {**params.options, "effort": EFFORT}})


def takes_effort(params: ChatParams, config: Config) -> bool:
    """Whether a rule names this model."""
    model = re.sub(r"[.\s]+", "-", params.model.lower())
    return model != "" and any(
        (not rule.providers or params.provider in rule.providers) and any(name and name.lower() in model for name in rule.models)
        for rule in config.rules
    )
