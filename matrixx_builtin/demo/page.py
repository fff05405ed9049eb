"""The demo as one page that needs nothing but itself."""

import math
from collections.abc import Iterable, Mapping
from html import escape
from importlib.resources import files

from .report import Call, HookRow, HookRun, Report, StepTold, Verdict
from .telling import clip
from .terminal import ANSWERS, STAND_INS, WAVES, absence, shown

LANES = ("observe", "guard", "rewrite")
"""Wave of each lane; what wraps around all waves is drawn in the first."""

DECADES = 6
"""Powers of ten that a lane spans: from 1 µs to 1 s."""

TONES = {"block": "blocked", "change": "changed", "inject": "noted", "error": "failed"}


def page(report: Report) -> str:
    """The whole page."""
    css = files("matrixx_builtin.demo").joinpath("page.css").read_text("utf-8")
    title = f"Matrixx demo: {len(report.steps)} steps, {len(report.installed)} hooks"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{css}</style>
</head>
<body>
{_header(report)}
<main>
{_comparison(report)}
{_timeline(report)}
{_hooks(report)}
</main>
<footer>{_footer(report)}</footer>
</body>
</html>
"""


def _header(report: Report) -> str:
    spent = sum(one.ms for step in report.steps for call in step.calls for one in call.ran)
    tiles = [
        *((verdict, str(report.count(verdict)), words) for verdict, words in VERDICTS.items()),
        ("", f"{spent:.0f} ms", f"in all hooks, of {report.seconds:.1f} s"),
    ]
    rows = "".join(f'<li class="{tone}"><strong>{escape(value)}</strong><span>{escape(words)}</span></li>' for tone, value, words in tiles)
    return f"""<header>
<h1>A coding agent's session, through {len(report.installed)} hooks</h1>
<p class="soft">{escape(HOSTS[report.host])} Calls that the hooks let go were really carried out, in a scratch project; keys were made up for the run.</p>
<ul class="tiles">{rows}</ul>
</header>"""


VERDICTS: Mapping[Verdict, str] = {
    "blocked": "steps blocked",
    "changed": "steps changed",
    "noted": "steps with a hint for the model",
    "passed": "steps passed as they were",
}
HOSTS = {
    "scripted": "A scripted session in OpenCode's payloads was played twice: with every installed hook, and without any. "
    f"{STAND_INS}: matrixx demo --host opencode.",
    "opencode": "The real OpenCode ran twice with a scripted model: with every installed hook, and without any.",
}


def _comparison(report: Report) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(fact.label)}</th><td class="num{" bad" if fact.better else ""}">{escape(shown(fact.without_hooks))}</td>'
        f'<td class="num{" good" if fact.better else ""}">{escape(shown(fact.with_hooks))}</td></tr>'
        for fact in report.comparison
    )
    return f"""<h2>The same session, measured afterwards</h2>
<div class="frame"><table>
<thead><tr><th scope="col">on disk, and in what the model has read</th><th scope="col" class="num">without hooks</th><th scope="col" class="num">with hooks</th></tr></thead>
<tbody>{rows}</tbody></table></div>"""


def _timeline(report: Report) -> str:
    ticks = '<span class="ticks"><span>1 µs</span><span>1 ms</span><span>1 s</span></span>'
    heads = "".join(f"<span><b>{WAVES[wave]}</b> · {words}{ticks}</span>" for wave, words in zip(LANES, LANE_WORDS, strict=True))
    keys = "".join(f'<li class="{TONES[answer]}"><i></i>{word}</li>' for answer, (word, _style) in ANSWERS.items())
    steps = "\n".join(_step(step, report) for step in report.steps)
    return f"""<h2>Step by step</h2>
<p class="soft">Each call of the host goes through three waves, from left to right. A bar is one hook and its time, on a logarithmic scale:
one grid line more is ten times longer. A block ends the call, so the waves behind it stay empty.</p>
<ul class="key"><li><i></i>called, had nothing to say</li>{keys}</ul>
<div class="scale lanes" aria-hidden="true"><span>the host calls</span>{heads}</div>
<ol class="steps">
{steps}
</ol>"""


LANE_WORDS = ("side by side", "side by side, the first block ends it", "one after another")


def _step(step: StepTold, report: Report) -> str:
    calls = [call for call in step.calls if call.ran and not call.routine]
    result = f" → {escape(step.result)}" if step.result else ""
    action = f"<code>{escape(clip(step.action))}</code>" if step.action else ""
    ms = f'<span class="ms">{step.ms:.2f} ms</span>' if calls else ""
    nobody = (
        f'<div class="words nobody"><p><strong>Nobody acted:</strong> {escape(absence(step, report.installed))}</p></div>'
        if step.missing
        else ""
    )
    return f"""<li class="step {step.verdict}"><span class="dot" aria-hidden="true">{step.number}</span><article class="card">
<div class="head"><h3><span class="hidden">Step {step.number}: </span>{escape(step.title)}</h3><span class="chip">{step.verdict}</span>{ms}</div>
<p class="do"><code class="tool">{escape(step.what)}</code> {action}{result}</p>
{"".join(map(_call, calls))}{"".join(map(_words, calls))}{nobody}
</article></li>"""


def _call(call: Call) -> str:
    lanes = "".join(_lane(wave, [one for one in call.ran if _lane_of(one) == wave]) for wave in LANES)
    return f'<div class="call lanes"><span class="mono">{escape(call.hook).replace(".", ".<wbr>")}</span>{lanes}</div>'


def _lane(wave: str, ran: list[HookRun]) -> str:
    name = WAVES[wave]
    if not ran:
        return f'<div class="lane empty" data-wave="{name}"><span class="hidden">{name}: nobody</span></div>'
    bars = "".join(map(_bar, sorted(ran, key=lambda one: (one.answer in ANSWERS, -one.ms))))
    return f'<div class="lane" data-wave="{name}"><span class="hidden">{name}: {_spoken(ran)}</span>{bars}</div>'


def _bar(one: HookRun) -> str:
    label = escape(f"{one.plugin} {one.ms:.3f} ms")
    width = f"--w:{_place(one.ms):.1f}%"
    if one.answer not in ANSWERS:
        return f'<i class="bar" style="{width}" title="{label}"></i>'
    word = ANSWERS[one.answer][0]
    return (
        f'<i class="bar acts {TONES[one.answer]}" style="{width}" title="{label}"></i>'
        f'<span class="acted {TONES[one.answer]}">{escape(one.plugin)} {word} · {one.ms:.2f}&nbsp;ms</span>'
    )


def _spoken(ran: Iterable[HookRun]) -> str:
    """The lane for those who cannot see its bars; those who acted are named beside them."""
    silent = [one.plugin for one in ran if one.answer not in ANSWERS]
    return escape(f"nothing to say from {', '.join(silent)}. ") if silent else ""


def _words(call: Call) -> str:
    said: list[str] = []
    if call.reason:
        instead = f"<p><strong>Instead:</strong> {escape(call.instead)}</p>" if call.instead else ""
        said.append(f'<div class="words blocked"><p><strong>{escape(call.blocked_by)}:</strong> {escape(call.reason)}</p>{instead}</div>')
    said += [f'<div class="words changed"><p><strong>Changed:</strong> <code>{escape(change)}</code></p></div>' for change in call.changes]
    said += [_note(note.plugin, note.text) for note in call.notes]
    return "".join(said)


def _note(plugin: str, text: str) -> str:
    who = f"<strong>{escape(plugin)}</strong> tells the model:"
    if len(text) <= 200:
        return f'<div class="words noted"><p>{who} {escape(text)}</p></div>'
    return f'<details class="words noted"><summary>{who} {escape(clip(text, 140))}</summary><pre>{escape(text)}</pre></details>'


def _hooks(report: Report) -> str:
    rows = "".join(map(_hook_row, report.hooks))
    heads = "".join(
        f'<th scope="col" class="num">{name}</th>' for name in ("calls", "blocks", "changes", "notes", "errors", "p50 ms", "p95 ms")
    )
    return f"""<h2>What each hook did, and what it cost</h2>
<div class="frame"><table>
<thead><tr><th scope="col">hook</th>{heads}<th scope="col">p50 to p95, 1 µs to 1 s</th></tr></thead>
<tbody>{rows}</tbody></table></div>"""


def _hook_row(row: HookRow) -> str:
    counts = "".join(
        f'<td class="num{"" if count else " zero"}">{count}</td>' for count in (row.calls, row.blocks, row.changes, row.notes, row.errors)
    )
    left = _place(row.p50_ms)
    span = f'<div class="span"><i style="--l:{left:.1f}%;--w:{_place(row.p95_ms) - left:.1f}%"></i></div>'
    times = f'<td class="num">{row.p50_ms:.3f}</td><td class="num">{row.p95_ms:.3f}</td>'
    return f'<tr><th scope="row"><code>{escape(row.hook)}</code></th>{counts}{times}<td>{span}</td></tr>'


def _footer(report: Report) -> str:
    lines = [f"<p>{escape(problem)}</p>" for problem in report.problems]
    lines += [f"<p>Off: <code>{escape(name)}</code> ({escape(why)})</p>" for name, why in report.off.items()]
    lines.append(
        "<p>The requests to the model between the steps went through the hooks as well; they are in the table, not in the steps.</p>"
    )
    lines.append("<p>Written by <code>matrixx demo --html</code>. Nothing on this page comes from elsewhere.</p>")
    return "".join(lines)


def _lane_of(one: HookRun) -> str:
    return "observe" if one.wave == "around" else one.wave


def _place(ms: float) -> float:
    """Where a time lies in a lane, in percent."""
    return min(100.0, max(0.5, math.log10(max(ms, 1e-6) * 1e3) / DECADES * 100))
