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
    replaced as a whole or not at all.
    """
    compiler = next((path for name in COMPILERS if (path := shutil.which(name))), None)
    if compiler is None:
        return None
    target = folder / "matrixx-client"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".client-") as name:
            draft = Path(name, "client")
            _run(compiler, "-std=c99", "-O2", "-s", "-o", str(draft), str(Path(__file__).with_name("client.c")))
            draft.chmod(0o755)
            _run(str(draft), "", "", "", "open", "", "0")  # has no time for anything, and says so in vain: but it runs here
            draft.replace(target)
    except (OSError, subprocess.SubprocessError):
        return None
    return target


def _run(*command: str) -> None:
    nothing = subprocess.DEVNULL
    subprocess.run(command, check=True, timeout=DEADLINE, stdin=nothing, stdout=nothing, stderr=nothing)
