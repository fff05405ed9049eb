"""Which linter a project uses for a file, where its program lies, and how it is asked to check and nothing else."""

import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from matrixx_builtin.services.processes import which

from .findings import Parser, in_annotations, in_eslint_json, in_lines

MOST_CONFIG = 262_144
"""Bytes of a shared configuration file (``pyproject.toml`` ...) that are searched for a linter's own section."""

FOLDERS = ("node_modules/.bin", ".venv/bin", "venv/bin")
"""Where projects keep the programs that they bring or install."""

_OURS = {"darwin": "darwin", "win32": "win32"}.get(sys.platform, "linux")
_MACHINE = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine().lower(), "x64")

_SCRIPTS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")


@dataclass(frozen=True, slots=True)
class Linter:
    """One linter.

    ``configs`` are file names that say a project uses it, each with what must stand in the file (``""``: nothing special).
    ``argv`` follows the program's name; ``{file}`` and ``{folder}`` are filled in. ``stdin`` checks a text on standard input as
    if it were the file; without it only findings on changed lines can be told from older ones. ``code``: its configuration, or
    what it checks, is code of the project that runs with it. ``natives`` are places of its program better than a wrapper's.
    """

    name: str
    suffixes: tuple[str, ...]
    configs: Mapping[str, str]
    argv: tuple[str, ...]
    parse: Parser = in_lines
    stdin: tuple[str, ...] = ()
    program: str = ""
    natives: tuple[str, ...] = ()
    code: bool = False

    @property
    def executable(self) -> str:
        return self.program or self.name


_RUFF = ("check", "--no-fix", "--no-cache", "--quiet", "--force-exclude", "--output-format", "concise")

LINTERS = (
    Linter(
        "ruff",
        (".py", ".pyi"),
        {"ruff.toml": "", ".ruff.toml": "", "pyproject.toml": r"^[ \t]*\[tool\.ruff[.\]]"},
        (*_RUFF, "{file}"),
        stdin=(*_RUFF, "--stdin-filename", "{file}", "-"),
    ),
    Linter(
        "flake8",
        (".py",),
        {".flake8": "", "setup.cfg": r"^\[flake8\]", "tox.ini": r"^\[flake8\]"},
        ("--color=never", "--", "{file}"),
        stdin=("--color=never", "--stdin-display-name", "{file}", "-"),
        code=True,  # [flake8:local-plugins]
    ),
    Linter(
        "biome",
        (*_SCRIPTS, ".json", ".jsonc", ".css", ".graphql"),
        {"biome.json": "", "biome.jsonc": ""},
        ("check", "--no-errors-on-unmatched", "--files-ignore-unknown=true", "--colors=off", "--reporter=github", "{file}"),
        parse=in_annotations,
        natives=(f"node_modules/@biomejs/cli-{_OURS}-{_MACHINE}/biome", f"node_modules/@biomejs/cli-{_OURS}-{_MACHINE}-musl/biome"),
    ),
    Linter(
        "eslint",
        (*_SCRIPTS, ".vue", ".svelte"),
        {
            **dict.fromkeys((f"eslint.config.{end}" for end in ("js", "mjs", "cjs", "ts", "mts", "cts")), ""),
            **dict.fromkeys((f".eslintrc{end}" for end in ("", ".js", ".cjs", ".json", ".yml", ".yaml")), ""),
            "package.json": r'"eslintConfig"\s*:',
        },
        ("--format", "json", "--no-error-on-unmatched-pattern", "{file}"),
        parse=in_eslint_json,
        stdin=("--format", "json", "--stdin", "--stdin-filename", "{file}"),
        code=True,
    ),
    Linter(
        "oxlint",
        _SCRIPTS,
        {".oxlintrc.json": ""},
        ("--format=unix", "{file}"),
        code=True,  # "jsPlugins"
    ),
    Linter(
        "golangci-lint",
        (".go",),
        dict.fromkeys((f".golangci.{end}" for end in ("yml", "yaml", "toml", "json")), ""),
        ("run", "--color=never", "--allow-parallel-runners", "{folder}"),
        code=True,  # module plugins, cgo
    ),
    Linter(
        "clippy",
        (".rs",),
        {"clippy.toml": "", ".clippy.toml": "", "Cargo.toml": r"^[ \t]*\[(?:workspace\.)?lints\.clippy\]"},
        ("clippy", "--quiet", "--offline", "--message-format=short"),
        program="cargo",
        code=True,  # build.rs, macros
    ),
    Linter(
        "shellcheck",
        (".sh", ".bash", ".ksh", ".dash"),
        {".shellcheckrc": "", "shellcheckrc": ""},
        ("--color=never", "--format=gcc", "--", "{file}"),
    ),
    Linter(
        "rubocop",
        (".rb", ".rake", ".gemspec"),
        {".rubocop.yml": ""},
        ("--format", "emacs", "--no-color", "--cache", "false", "--force-exclusion", "--", "{file}"),
        code=True,  # require:
    ),
    Linter(
        "yamllint",
        (".yml", ".yaml"),
        {".yamllint": "", ".yamllint.yml": "", ".yamllint.yaml": ""},
        ("--format", "parsable", "--", "{file}"),
    ),
)
"""The linters that are known; a project that is configured for several is checked by each."""

ENV = {
    "NO_COLOR": "1",
    "FORCE_COLOR": "0",
    "PYTHONSAFEPATH": "1",
    "GOTOOLCHAIN": "local",
    "GOPROXY": "off",
    "CARGO_NET_OFFLINE": "true",
    "CARGO_TERM_COLOR": "never",
}
"""No colours, no module of the project in place of a linter's own, and no download on a check's account."""


@dataclass(frozen=True, slots=True)
class Job:
    """A linter to be run on a file: in ``folder``, that of its configuration ``config``; ``program`` is ``""`` where ``why_not`` says why."""

    linter: Linter
    folder: Path
    config: str
    program: str = ""
    why_not: str = ""


def jobs_for(
    path: Path, root: Path, *, skip: Sequence[str] = (), project_code: bool = False, commands: Mapping[str, tuple[str, ...]] | None = None
) -> list[Job]:
    """What checks this file in the workspace ``root``: the person's own command for its suffix, or the project's linters."""
    if argv := (commands or {}).get(path.suffix):
        return [_own(argv, root)]
    return [
        _job(linter, config, path, root, project_code=project_code)
        for linter in LINTERS
        if linter.name not in skip and path.suffix in linter.suffixes and (config := _config(linter, path, root))
    ]


def _own(argv: tuple[str, ...], root: Path) -> Job:
    linter = Linter(Path(argv[0]).name, (), {}, (*argv[1:], "{file}"))
    program = argv[0] if Path(argv[0]).is_absolute() else which(argv[0])
    return Job(linter, root, "your settings", program or "", "" if program else f"{argv[0]!r} was not found")


def _config(linter: Linter, path: Path, root: Path) -> Path | None:
    """The nearest configuration of the linter, from the file's folder up to the workspace root."""
    return next(
        (folder / name for folder in upwards(path.parent, root) for name, needed in linter.configs.items() if _says(folder / name, needed)),
        None,
    )


def upwards(folder: Path, root: Path) -> Iterator[Path]:
    """The folder and those above it, up to and with ``root``; none where it is not in there."""
    if folder.is_relative_to(root):
        yield folder
        yield from folder.parents[: len(folder.parts) - len(root.parts)]


def is_file(path: Path) -> bool:
    """Whether there is a file; no reason why that cannot be told is an error."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _says(file: Path, needed: str) -> bool:
    if not is_file(file):
        return False
    if not needed:
        return True
    try:
        with file.open("rb") as opened:
            text = opened.read(MOST_CONFIG).decode("utf-8", "replace")
    except OSError:
        return False
    return re.search(needed, text, re.MULTILINE) is not None


def _job(linter: Linter, config: Path, path: Path, root: Path, *, project_code: bool) -> Job:
    brought = next((str(one) for one in _brought(linter, path, root) if is_file(one) and os.access(one, os.X_OK)), "")
    installed = which(linter.executable) or ""
    if installed and _is_inside(installed, root):
        brought, installed = brought or installed, ""
    where = Job(linter, config.parent, config.name)
    if not brought and not installed:
        return _cannot(where, f"{linter.executable} was found neither in {', '.join(FOLDERS)} nor on PATH")
    if not project_code and (linter.code or not installed):
        what = "its configuration is code of the project" if linter.code else "its program lies in the project"
        return _cannot(where, f"{what}, which runs only where the user's settings have hooks.quality-gate.run_project_code = true")
    return Job(linter, config.parent, config.name, (brought if project_code else "") or installed)


def _cannot(job: Job, why: str) -> Job:
    return Job(job.linter, job.folder, job.config, "", why)


def _brought(linter: Linter, path: Path, root: Path) -> Iterator[Path]:
    for folder in upwards(path.parent, root):
        yield from (folder / native for native in linter.natives)
        yield from (folder / one / linter.executable for one in FOLDERS)


def _is_inside(program: str, root: Path) -> bool:
    return Path(program).is_relative_to(root) or Path(program).resolve().is_relative_to(root)
