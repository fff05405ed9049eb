"""The thin client in C, where it can be compiled."""

import shutil
import subprocess
import tempfile
from pathlib import Path

COMPILERS = ("cc", "gcc", "clang")
DEADLINE = 20.0
"""Seconds for the compiler; it takes a tenth of one."""


def compile_client(folder: Path) -> Path | None:
    """Compile ``client.c`` into a folder, which is made; ``None`` where no compiler can do it.

    It is run as ``matrixx-client PYTHON HOST EVENT open|closed [PROJECT [SECONDS]]``. A client that is there already is
    kept if it is newer than its source and runs, else replaced as a whole or not at all.
    """
    target, source = folder / "matrixx-client", Path(__file__).with_name("client.c")
    if _is_current(target, source):
        return target
    compiler = next((path for name in COMPILERS if (path := shutil.which(name))), None)
    if compiler is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".client-") as name:
            draft = Path(name, "client")
            _run(compiler, "-std=c99", "-O2", "-s", "-o", str(draft), str(source))
            draft.chmod(0o755)
            _try(draft)
            draft.replace(target)
    except (OSError, subprocess.SubprocessError):
        return None
    return target


def _is_current(client: Path, source: Path) -> bool:
    try:
        if client.stat().st_mtime_ns <= source.stat().st_mtime_ns:
            return False
        _try(client)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def _try(client: Path) -> None:
    """Run it without time for anything: it says so in vain, but it runs here."""
    _run(str(client), "", "", "", "open", "", "0")


def _run(*command: str) -> None:
    nothing = subprocess.DEVNULL
    subprocess.run(command, check=True, timeout=DEADLINE, stdin=nothing, stdout=nothing, stderr=nothing)
