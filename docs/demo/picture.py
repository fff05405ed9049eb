"""Draw the demo as it looks on a terminal: ``python docs/demo/picture.py`` writes ``docs/demo/demo.svg`` for the README."""

import io
from pathlib import Path

import anyio
from rich.console import Console
from rich.terminal_theme import TerminalTheme

from matrixx_builtin.demo.report import StepTold
from matrixx_builtin.demo.run import run
from matrixx_builtin.demo.terminal import Terminal, comparison, summary

PICTURE = Path(__file__).with_name("demo.svg")
COLUMNS = 88
SHOWN = {1, 5, 7, 8, 9, 10, 12, 16, 18}
"""Numbers of the steps in the picture."""

THEME = TerminalTheme(
    (22, 27, 34),
    (214, 220, 226),
    [(22, 27, 34), (218, 54, 51), (63, 185, 80), (224, 175, 72), (88, 166, 255), (209, 112, 199), (86, 194, 222), (214, 220, 226)],
    [(110, 118, 129), (255, 123, 114), (86, 211, 100), (227, 179, 65), (121, 192, 255), (210, 168, 255), (118, 227, 234), (255, 255, 255)],
)

FRAME = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>matrixx demo on a terminal</title>
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: {char_height}px;
line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>{lines}</defs>
<rect width="{width}" height="{height}" rx="8" fill="#161b22" />
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g></g></svg>
"""
"""rich's own frame fetches a font from elsewhere; this one takes what the reader's machine has."""


class Excerpt(Terminal):
    """A terminal that shows some of the steps, since the picture of all of them would fill a page."""

    def step(self, step: StepTold) -> None:
        if step.missing:
            raise SystemExit(f"{step.missing} did not act in step {step.number}; install every hook (uv sync) and draw again")
        if step.number in SHOWN:
            if step.number - 1 not in SHOWN | {0}:
                self.console.print("  ⋮", style="dim")
            super().step(step)


def main() -> None:
    """Play the demo and write the picture."""
    console = Console(file=io.StringIO(), record=True, width=COLUMNS, highlight=False, color_system="truecolor")
    console.print("$ matrixx demo\n", style="bold")
    report = anyio.run(run, Excerpt(console))
    console.print("  ⋮\n", style="dim")
    console.print(comparison(report), summary(report))
    PICTURE.write_text(console.export_svg(theme=THEME, code_format=FRAME, unique_id="demo"), "utf-8")


if __name__ == "__main__":
    main()
