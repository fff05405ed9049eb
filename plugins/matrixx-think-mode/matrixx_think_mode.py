"""Let the model think longer when a prompt asks it to.

"Think hard", "ultrathink" and their like in some thirty languages raise the prompt's variant to ``high`` where none is chosen. A
host that knows no such variant of the model sends the provider's own option for it instead. What is chosen already stays.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services.agents import INTERNAL
from matrixx_builtin.services.spoken import END, START, spoken
from matrixx_core import ChatMessage, ChatParams, Session, rewrite

RUN_AFTER = ("keyword-detector",)  # ultrawork asks for more than this does

_PHRASES = r"""
ultra[ -]?think
think\ (?:about\ (?:this|it)\ )?(?:very\ |really\ )?(?:deeply|hard(?:er)?|carefully|thoroughly|step\ by\ step)
think\ (?:this|it)\ through
think\ through\ (?:this|it)
(?:deep|extended|careful)\ think(?:ing)?
denk(?:e|en\ sie)?\ (?:bitte\ )?(?:gründlich|genau|gut|scharf|intensiv|tief)\ (?:darüber\ )?nach
(?:überlege?|überlegen\ sie)\ (?:dir\ )?(?:gründlich|genau|gut)
réfléchi(?:s|ssez)\ (?:bien|profondément|attentivement|soigneusement|étape\ par\ étape)
piens[ae](?:lo)?\ (?:bien|profundamente|detenidamente|con\ cuidado|a\ fondo|paso\ a\ paso)
pens[ae]\ (?:bem|profundamente|com\ cuidado|com\ calma|passo\ a\ passo)
pens(?:a|aci|i)\ (?:bene|a\ fondo|attentamente|passo\ dopo\ passo)
denk\ (?:er\ )?(?:goed|diep|grondig|zorgvuldig)\ (?:over\ )?na
tänk\ (?:noga|djupt|noggrant|steg\ för\ steg)
tenk\ (?:nøye|grundig|dypt)
tænk\ (?:grundigt|dybt|nøje)
mieti\ (?:tarkkaan|tarkasti|huolellisesti|syvällisesti)
pomyśl\ (?:dobrze|dokładnie|głęboko|uważnie)
zastanów\ się\ (?:dobrze|dokładnie|głęboko)
(?:přemýšlej|zamysli\ se)\ (?:důkladně|hluboce|pečlivě)
(?:rozmýšľaj|zamysli\ sa)\ (?:dôkladne|hlboko)
gondolkodj\ (?:el\ )?(?:alaposan|mélyen)
gondold\ (?:alaposan\ )?(?:át|végig)
gândește-te\ (?:bine|profund|atent)
(?:razmisli)\ (?:dobro|pažljivo|duboko)
(?:iyice|derin(?:lemesine)?|dikkatlice)\ düşün
(?:хорошо|хорошенько|внимательно|глубоко|тщательно)\ подумай(?:те)?
подумай(?:те)?\ (?:хорошо|хорошенько|внимательно|глубоко|тщательно)
подумай(?:те)?\ (?:добре|уважно|глибоко|ретельно)
помисли\ (?:добре|внимателно|задълбочено)
σκέψου\ (?:καλά|βαθιά|προσεκτικά)
suy\ nghĩ\ (?:thật\ )?(?:kỹ|sâu|cẩn\ thận)
pikirkan\ (?:baik-baik|dengan\ (?:saksama|matang|cermat|hati-hati))
fikir(?:kan)?\ (?:baik-baik|dengan\ teliti)
"""
"""Phrases, one a line; a blank stands for any white space. Words that ordinary prose is full of ("denk", "pense", "fikir") are not enough."""

_UNSPACED = """
(?:깊이|깊게|신중히|신중하게|곰곰이|차근차근)\\s*생각
(?:よく|深く|じっくり|慎重に|しっかり)考え(?:て|ろ|よ|なさい|直)
(?:深入|仔细|仔細|认真|認真|好好)(?:地)?(?:思考|想一想|想想)
深思熟[虑慮]
คิดให้(?:ดี|รอบคอบ|ลึก)
(?:गहराई|ध्यान)\\s+से\\s+सोच
(?:فكر|فكّر)\\s+(?:جيدا|جيدًا|بعمق|بعناية)
(?:תחשוב|חשוב)\\s+(?:היטב|לעומק)
"""
"""The same in languages whose words do not stand apart, or whose letters know no word boundary here."""

MODELS = ("claude-sonnet-4", "claude-opus-4", "claude-haiku-4", "claude-3-7", "gemini-3", "gpt-5")
"""What the names of models hold that can think longer; spec session-hooks D1, and their successors."""

OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "anthropic": {"thinking": {"type": "enabled", "budgetTokens": 32_000}},
    "google-vertex-anthropic": {"thinking": {"type": "enabled", "budgetTokens": 32_000}},
    "amazon-bedrock": {"reasoningConfig": {"type": "enabled", "budgetTokens": 16_000}},
    "google": {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "high"}},
    "google-vertex": {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "high"}},
    "openai": {"reasoningEffort": "high"},
    "azure": {"reasoningEffort": "high"},
}
"""What each provider is asked for; the budgets are the spec's, in tokens."""

CHOSEN = frozenset({
    "thinking", "thinkingConfig", "thinkingLevel", "thinking_budget", "enable_thinking", "reasoning", "reasoningConfig", "reasoningEffort",
    "reasoning_effort", "effort",
})  # fmt: skip
"""Options that say already how long to think, or not to."""


class Config(BaseModel):
    """Settings of ``think-mode``."""

    model_config = ConfigDict(frozen=True)

    phrases: tuple[str, ...] = Field(default=(), max_length=50, description="Phrases of your own that ask for it.")
    variant: str = Field(default="high", description="The variant that such a prompt gets; empty: leave it.")
    models: tuple[str, ...] = Field(default=MODELS, description="What the names of models hold that can think longer, dots as dashes.")
    options: dict[str, dict[str, Any]] = Field(
        default={name: dict(options) for name, options in OPTIONS.items()},
        description="By provider, the options of a request for which the host has set none.",
    )


@dataclass(slots=True)
class Thinking:
    """Whether the person's newest prompt in this session asks for it."""

    asked: bool = False


@rewrite
def chat_message(message: ChatMessage, session: Session, config: Config) -> ChatMessage | None:
    """Hear whether it is asked for, and raise the variant."""
    if session.parent or not message.text.strip():
        return None
    asked = session.state(Thinking).asked = asks(message.text, config)
    if not asked or message.variant or not config.variant or not can_think(message.model, config):
        return None
    return message.model_copy(update={"variant": config.variant})


@rewrite
def chat_params(params: ChatParams, session: Session, config: Config) -> ChatParams | None:
    """Give the provider's own option where the host has set none; what the host asks for itself (titles) is left alone."""
    options = config.options.get(params.provider)
    if not session.state(Thinking).asked or not options or params.agent in INTERNAL or not can_think(params.model, config):
        return None
    return None if CHOSEN & params.options.keys() else params.model_copy(update={"options": {**params.options, **options}})


def asks(text: str, config: Config) -> bool:
    """Whether the person asks to think longer, outside of pasted code."""
    said = spoken(text)
    own = "|".join(re.escape(phrase) for phrase in config.phrases if phrase.strip())
    return phrases().search(said) is not None or (own != "" and re.search(f"{START}(?:{own}){END}", said, re.IGNORECASE) is not None)


@cache
def phrases() -> re.Pattern[str]:
    """All phrases as one expression; compiled at the first prompt."""
    spaced = "|".join(_PHRASES.replace("\\ ", r"\s{1,5}").split("\n")[1:-1])
    return re.compile(rf"{START}(?:{spaced}){END}|{'|'.join(_UNSPACED.split(chr(10))[1:-1])}", re.IGNORECASE)


def can_think(model: str, config: Config) -> bool:
    """Whether a model is named as one that can think longer and does not do so by its name."""
    name = model.lower().replace(".", "-")
    return not name.endswith("-high") and any(held and held.lower() in name for held in config.models)
