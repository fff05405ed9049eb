"""How each system shows a notice: one program, started without a shell, or the bell of the terminal."""

import contextlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence

from matrixx_builtin.services.processes import run, which

DEADLINE = 3.0
"""Seconds for showing one notice."""

LONGEST = 200
"""Characters of a notice."""

Argv = Sequence[str]

POWERSHELL = (
    "[Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType=WindowsRuntime] | Out-Null; "
    "$t = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent(1); "
    "$n = $t.GetElementsByTagName('text'); $n[0].InnerText = $args[0]; $n[1].InnerText = $args[1]; "
    "[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier('Matrixx').Show($t)"
)

PROGRAMS: Mapping[str, Callable[[str, str], Argv]] = {
    "osascript": lambda title, text: [
        "-e", "on run a", "-e", "display notification (item 2 of a) with title (item 1 of a)", "-e", "end run", "--", title, text,
    ],
    "notify-send": lambda title, text: ["--app-name=Matrixx", "--", title, text],
    "powershell.exe": lambda title, text: ["-NoProfile", "-NonInteractive", "-Command", f"& {{ {POWERSHELL} }}", title, text],
}  # fmt: skip
"""By program, its arguments; title and text are arguments of their own, never part of a script."""

SOUNDS: Sequence[Argv] = (
    ("afplay", "/System/Library/Sounds/Glass.aiff"),
    ("paplay", "/usr/share/sounds/freedesktop/stereo/complete.oga"),
    ("aplay", "-q", "/usr/share/sounds/alsa/Front_Center.wav"),
)


async def show(title: str, text: str, *, command: Argv = (), sound: bool = False) -> bool:
    """Show a notice by the person's own command, the system's program, or the bell; false where there is none of them."""
    title, text = _plain(title), _plain(text)
    argv = [*command, title, text] if command else _of_system(title, text)
    shown = (await run(argv, cwd="/", timeout=DEADLINE)).ok if argv else _ring()
    if sound and (player := next((one for one in SOUNDS if which(one[0])), None)):
        await run(player, cwd="/", timeout=DEADLINE)
    return shown


def _of_system(title: str, text: str) -> Argv:
    """The first program that is there; a desktop's only where there is a desktop."""
    for name, arguments in PROGRAMS.items():
        desktop = name != "notify-send" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
        if desktop and (program := which(name)):
            return [program, *arguments(title, text)]
    return ()


def _ring() -> bool:
    with contextlib.suppress(OSError):
        if sys.platform != "win32":
            terminal = os.open("/dev/tty", os.O_WRONLY | os.O_NOCTTY)
            try:
                return os.write(terminal, b"\a") == 1
            finally:
                os.close(terminal)
    return False


def _plain(text: str) -> str:
    """One line that any program takes: no control characters, no NUL, not endless."""
    return "".join(one if one.isprintable() else " " for one in text[:LONGEST]).strip() or "Matrixx"
