"""``git commit`` with a secret staged is refused."""

import secrets as chance
import shutil
import string
import subprocess
import time
from collections.abc import Iterator

import anyio

from matrixx_core.events import ToolCall
from matrixx_core.host import Host

from ...services import secrets
from ..measuring import PYTHON, Case, Contender, Skipped, bare_python, compared, scratch, spawned, times

REFUSED = "git commit, refused"


def cases(scale: float) -> Iterator[Case]:
    git = shutil.which("git")
    if git is None:
        raise Skipped("commit", "git is not installed")
    secrets.wait_ready()
    with scratch() as folder:
        project = folder / "project"
        token = "ghp_" + "".join(chance.choice(string.ascii_letters + string.digits) for _ in range(36))
        (project / "settings.py").write_text(f'TOKEN = "{token}"\n', "utf-8")
        for arguments in (("init", "--quiet"), ("add", "settings.py")):
            subprocess.run([git, "-C", project, *arguments], check=True)
        others: dict[str, Contender] = {"git diff --cached": spawned(git, "-C", str(project), "diff", "--cached"), PYTHON: bare_python}
        if gitleaks := shutil.which("gitleaks"):
            others["gitleaks git --staged"] = spawned(gitleaks, "git", "--staged", "--no-banner", str(project))
        taken = anyio.run(_judged, str(project), others, times(scale, 15))
    for other, goal in {"gitleaks git --staged": "1/30", "git diff --cached": "", PYTHON: ""}.items():
        if other in others:
            yield compared("commit", taken, REFUSED, other, goal)


async def _judged(project: str, others: dict[str, Contender], rounds: int) -> dict[str, list[float]]:
    call = ToolCall(session_id="s", tool="bash", args={"command": "git commit -m 'Settings'"}, call_id="c", directory=project)
    async with Host.open(project) as host:
        if not (await host.tool_execute_before(call)).block:
            raise Skipped("commit", "no installed hook refuses it: pip install matrixx-secret-leak-guard")

        async def judged() -> float:
            started = time.perf_counter()
            await host.tool_execute_before(call)
            return time.perf_counter() - started

        taken: dict[str, list[float]] = {REFUSED: [], **{name: [] for name in others}}
        for turn in range(rounds + 1):
            for name, other in others.items():
                taken[name].append(other())
            taken[REFUSED].append(await judged())
            if not turn:  # the first is the warm-up
                taken = {name: [] for name in taken}
        return taken
