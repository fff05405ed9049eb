"""Switch on ultrawork, search or analyze mode when a prompt asks for it.

``/ultrawork on`` and ``off`` (``/end-ultrawork``) say for the rest of the session what the setting says for all of them.
"""

import contextlib
import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services.agents import role_named
from matrixx_builtin.services.slash import Switch, Typed, expanded, typed
from matrixx_builtin.services.spoken import END, START, spoken
from matrixx_core import ChatMessage, Command, HostClient, Inject, Session, rewrite
from matrixx_core.errors import ClientError

RUN_AFTER = ("auto-slash-command",)  # it decides on the prompt's first character, so nothing may come before it

COMMAND = "ultrawork"

STATES: dict[Switch, str] = {
    "on": "The user has switched it on.",
    "off": "The user has switched it off.",
    "status": "The user asks how it is.",
}

FIRST_SENTENCE = 400
"""Characters after which a first sentence ends at the latest."""

Mode = Literal["ultrawork", "search", "analyze"]

TEXTS: dict[Mode, str] = {
    "ultrawork": """\
[ultrawork-mode] The user has asked for ultrawork: the whole task, proven, nothing left out.
- Say in your first sentence that ultrawork mode is on.
- Be certain before you write code: explore with several agents in the background at once, and read what they find.
- For anything that is not trivial, get a plan first (from a planning agent where there is one) and keep a task list.
- Delegate what can be done apart, in parallel; check the results yourself.
- Before you start, write down at least three acceptance criteria that can only be met or not met, each with the command that proves it.
- At the end report the evidence: each criterion, its command, what it printed.
- Do not reduce the scope, leave stubs or hand over partial work. If something cannot be done, say what and why.""",
    "search": """\
[search-mode] Search widely before you answer: start several exploring agents (for this code base, and for outside sources if they matter) \
and direct grep, glob and syntax-tree searches in parallel. Be exhaustive: do not stop at the first hit, try other names and spellings, and say where you looked.""",
    "analyze": """\
[analyze-mode] Understand before you act: gather the context in parallel (code, tests, history, documentation; exploring agents for the wide \
parts), ask a specialist agent where the question is hard, put what you found together, and only then conclude or change anything.""",
}
"""What each mode tells the model; spec session-hooks A3 says what must be in it."""

ULTRAWORK = re.compile(rf"{START}(?:ultrawork|ulw){END}", re.IGNORECASE)
TAGS: dict[str, Mode] = {"[search-mode]": "search", "[analyze-mode]": "analyze"}

_LATIN: dict[Mode, str] = {
    "search": "browse detect discover explore find grep hunt locate pinpoint query scan search seek trace track look\\s+up list\\s+all show\\s+me where\\s+is "
    "suche? finde durchsuche? wo\\s+ist busca encuentra localiza d[oó]nde\\s+est[aá] cherche trouve localise o[uù]\\s+est",
    "analyze": "analy[sz]e assess audit breakdown comprehend debug diagnose dissect evaluate examine inspect interpret investigate research review scrutinize "
    "study understand deep[\\s-]dive how\\s+does how\\s+to why\\s+is "
    "analysiere? untersuche? pr[uü]fe warum\\s+ist analiza investiga examina por\\s+qu[eé]\\s+est?[aá]? examine enqu[eê]te pourquoi\\s+est",
}
_OTHERS: dict[Mode, str] = {
    "search": "검색 찾아 찾기 찾는 탐색 조회 스캔 뒤져 추적 어디에 어디서 어디야 목록 훑어 발견해 "
    "検索 探して 探す 見つけて 調べて探 一覧 どこに どこで スキャン 探索 走査 "
    "搜索 搜尋 查找 寻找 尋找 检索 檢索 找出 在哪里 在哪裡 列出 扫描 "
    "tìm\\s+kiếm tra\\s+cứu liệt\\s+kê ở\\s+đâu dò\\s+tìm truy\\s+vết khám\\s+phá định\\s+vị rà\\s+soát",
    "analyze": "분석 조사 검토 진단 평가 감사해 파악 이해하 살펴 점검 디버그 디버깅 원인 해석 연구 비교해 검증 어째서 왜\\s*안 왜\\s*이 "
    "分析 調査 解析 検討 診断 評価 監査 検証 原因 理解し 研究 デバッグ なぜ 精査 考察 "
    "调查 調查 诊断 診斷 评估 評估 审查 審查 检查 檢查 研究 调试 為什麼 为什么 剖析 "
    "phân\\s+tích điều\\s+tra đánh\\s+giá kiểm\\s+tra chẩn\\s+đoán nghiên\\s+cứu xem\\s+xét gỡ\\s+lỗi tại\\s+sao vì\\s+sao",
}
"""Korean, Japanese, Chinese and Vietnamese, without word boundaries; single syllables that ordinary prose is full of are left out."""

_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[\u3002\uff01\uff1f]|\n")


class Config(BaseModel):
    """Settings of ``keyword-detector``."""

    model_config = ConfigDict(frozen=True)

    ultrawork: Literal["word", "always", "never"] = Field(
        default="word", description="When ultrawork mode is on: when its word is typed, besides that once in every session, or never."
    )
    modes: tuple[Literal["search", "analyze"], ...] = Field(
        default=("search", "analyze"), description="The other modes that words switch on."
    )
    where: Literal["tag", "first-sentence", "anywhere"] = Field(
        default="first-sentence",
        description="Where a search or analyze word counts; the tags [search-mode] and [analyze-mode] count everywhere.",
    )
    variant: str = Field(default="max", description="The model variant for ultrawork where none is chosen; empty: leave it.")


@dataclass(slots=True)
class Announced:
    """Whether this session has been told of an ultrawork mode that is always on."""

    done: bool = False


@dataclass(slots=True)
class Switched:
    """When ultrawork is on in this session, if its person has said so; ``None``: as the settings say."""

    when: Literal["word", "always", "never"] | None = None


@rewrite
def chat_message(message: ChatMessage, session: Session, config: Config) -> Inject | None:
    """Add the texts of the modes behind the user's own words."""
    if answer := switched(typed(message, session), session, config):
        return answer
    modes = wanted(message, session, config)
    if (
        "ultrawork" not in modes
        and when(session, config) == "always"
        and may_ultrawork(message, session)
        and not session.state(Announced).done
    ):
        modes.insert(0, "ultrawork")
    if "ultrawork" in modes:
        session.state(Announced).done = True
    return Inject("\n\n".join(TEXTS[mode] for mode in modes), priority="high") if modes else None


@rewrite(spec="chat_message")
async def raise_variant(message: ChatMessage, session: Session, client: HostClient, config: Config) -> ChatMessage | None:
    """Give an ultrawork prompt the strongest variant of its model, and tell the person who typed the word."""
    typed = "ultrawork" in wanted(message, session, config)
    if typed:
        with contextlib.suppress(ClientError):
            await client.toast("Ultrawork mode is on for this prompt.", tone="success", title="Ultrawork")
    always = when(session, config) == "always" and may_ultrawork(message, session)
    return message.model_copy(update={"variant": config.variant}) if (typed or always) and config.variant and not message.variant else None


@rewrite
def command_execute_before(command: Command, session: Session, config: Config) -> Inject | None:
    """Switch ultrawork where the host knows the command."""
    return switched(typed(command, session), session, config)


def switched(command: Typed | None, session: Session, config: Config) -> Inject | None:
    """Switch ultrawork on or off for the rest of the session, or tell how it is; of any other command nothing."""
    if command is None or command.name != COMMAND or (switch := command.switch) is None:
        return None
    if switch != "status":
        session.state(Switched).when = "always" if switch == "on" else "never"
        session.state(Announced).done = False
    now = {"always": "on for every prompt", "never": "off", "word": "on for prompts with the word ultrawork"}[when(session, config)]
    how = STATES[switch]
    return Inject(f"[ultrawork] {how} Ultrawork mode is now {now} in this session. Say so in one sentence; there is nothing else to do.")


def when(session: Session, config: Config) -> Literal["word", "always", "never"]:
    """When ultrawork is on in this session."""
    return session.state(Switched).when or config.ultrawork


def wanted(message: ChatMessage, session: Session, config: Config) -> list[Mode]:
    """The modes that a prompt's words switch on; none in a delegated session or in text that nobody typed."""
    if session.parent:
        return []
    text = spoken(message.text)
    asked = (typed(message, session) or expanded(message, session) or Typed("")).name == COMMAND or ULTRAWORK.search(text)
    modes: list[Mode] = ["ultrawork"] if asked and when(session, config) != "never" and may_ultrawork(message, session) else []
    tagged = {mode for tag, mode in TAGS.items() if tag in text.lower()}
    heard = {"tag": "", "first-sentence": first_sentence(text), "anywhere": text}[config.where]
    return modes + [mode for mode in ("search", "analyze") if mode in tagged or (mode in config.modes and words(mode).search(heard))]


@cache
def words(mode: Mode) -> re.Pattern[str]:
    """The words that switch a mode on; compiled at the first prompt."""
    return re.compile(rf"{START}(?:{'|'.join(_LATIN[mode].split())}){END}|{'|'.join(_OTHERS[mode].split())}", re.IGNORECASE)


def may_ultrawork(message: ChatMessage, session: Session) -> bool:
    """Whether a person speaks here to an agent that acts, and does not just switch the mode."""
    command = typed(message, session) or expanded(message, session)
    if command and command.name == COMMAND and command.switch:
        return False
    return not session.parent and message.text.strip() != "" and not _plans(session.agent or message.agent, session)


def _plans(agent: str, session: Session) -> bool:
    """Whether an agent only plans, so that being told to finish everything would mislead it: by its role, or by its name alone."""
    name = agent.lower()
    by_name = "oracle" in name or "planner" in name or "plan" in re.split(r"[^a-z0-9]+", name)
    return by_name or role_named(agent, session) == "planner"


def first_sentence(text: str) -> str:
    """What stands before the first end of a sentence or line, in 400 characters at most."""
    text = text.strip()[:FIRST_SENTENCE]
    end = _SENTENCE_END.search(text)
    return text[: end.start()] if end else text
