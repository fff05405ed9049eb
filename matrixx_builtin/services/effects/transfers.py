"""Programs that put a file's content, or the file itself, in another place."""

# ruff: noqa: ARG001 - every program's function is called with the same four arguments

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from matrixx_builtin.services.effects.operands import apply, use
from matrixx_builtin.services.effects.options import Parsed, parsed
from matrixx_builtin.services.effects.paths import absolute, is_directory, is_link
from matrixx_builtin.services.effects.words import DYNAMIC, names

if TYPE_CHECKING:
    from matrixx_builtin.services.effects.shell import Shell

_COPY = "-* -t/--target-directory/-destination=- -S/--suffix/-Z/--context/--sparse/-m/--mode/-o/--owner/-g/--group/-i/-P/-p/-path/-literalpath=-"
_REMOTE = "-* -e/--rsh/--rsync-path/-P/-p/-l/-o/-F/-c/-J/-S/-f/--filter/--exclude/--include/--chmod/--bwlimit=- -i/--exclude-from/--include-from/--files-from=r"
_HOST = re.compile(r"(?:[\w.-]+@)?[\w.-]{2,}:(?!\\)(?!//).*|rsync://.*|\w+://.*", re.DOTALL)
_BATCH = re.compile(r"^[ \t]{0,40}(m?put|reput|m?get|reget)[ \t]+(?:-\w+[ \t]+)?(\S+)", re.MULTILINE)
_DOCKER = (
    "-* -v/--volume/--mount/--secret/--env-file/-f/--file/-e/--env/-w/--workdir/--name/-p/--publish/-u/--user/--network/--net/--build-arg/-t/--tag"
    "/--entrypoint/--platform/-l/--label/-h/--hostname/--cpus/-m/--memory/--gpus/--shm-size/--ulimit/--add-host/--dns/--cap-add/--cap-drop"
    "/--security-opt/--device/--restart/--pull/--tmpfs/--ipc/--pid/--group-add/--cidfile/--log-driver/--volumes-from=-"
)
_DOCKER_RUN = _DOCKER.replace("/-t/", "/")
"""``-t`` asks for a terminal here, and names an image elsewhere."""
_MOUNTS = frozenset({"-v", "--volume", "--mount", "--secret"})
_CURL = (
    "u* -o/--output=w -T/--upload-file=r -d/--data/--data-binary/--data-ascii/--json/--data-urlencode/-F/--form/-H/--header/-w/--write-out=@ "
    "-K/--config/--cacert/--cert/-E/--key/--netrc-file=r -b/--cookie=k -c/--cookie-jar/-D/--dump-header/--trace/--stderr/--hsts/--etag-save=w "
    "-X/--request/-A/--user-agent/-e/--referer/-u/--user/-x/--proxy/-m/--max-time/--connect-timeout/--retry/-C/-r/-z/-Y/-y/--resolve=- "
    "--output-dir/--form-string/--data-raw/-Q/-t/-U/--url-query/--retry-delay/--limit-rate/--max-redirs=- --url=u"
)
_WGET = (
    "u* -O/--output-document/-o/--output-file=w -a/--append-output=a -i/--input-file/--post-file/--body-file/--load-cookies/--ca-certificate/--private-key=r "
    "-P/--directory-prefix/-U/--user-agent/--header/-t/-T/-w/-Q/-e/-l/-A/-R/-D/--user/--password/--post-data/--tries/--timeout=- --save-cookies=w"
)


def copy(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Read the sources and write the target."""
    return _transfer(shell, name, parsed(_COPY, _windows(args)), _copied)


def install(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Copy, or make directories with ``-d``."""
    found = parsed(_COPY, args)
    if found.has("-d", "--directory"):
        for operand in found.operands:
            shell.act("w", operand, "install -d")
        return ""
    return _transfer(shell, name, found, _copied)


def move(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Give the sources the target's name."""
    return _transfer(shell, name, parsed(_COPY, _windows(args)), _moved)


def link(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Make a name that leads to the source: the source can be read through it from now on."""
    found = parsed(_COPY, [arg for arg in _windows(args) if arg not in {"/D", "/H", "/J"}])
    if name == "mklink":
        found.operands.reverse()
    if len(found.operands) == 1:
        found.operands.append(".")
    return _transfer(shell, name, found, _linked)


def remote(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Copy between this machine and another one; only this side is a file here."""
    apply(shell, _REMOTE.replace("-* ", "- ", 1), args, name)
    found = parsed(_REMOTE, args)
    for host in filter(_is_remote, found.operands):
        shell.ledger.fetch(host)
    *sources, target = found.operands or [""]
    local = [source for source in sources if not _is_remote(source)]
    removes = found.has("--remove-source-files")
    for source in local:
        shell.act("r", source, name)
        if removes:
            shell.act("d", source, name)
    if target and not _is_remote(target):
        if any(flag.startswith("--del") for flag in found.flags):
            shell.act("d", target, f"{name} --delete")
        for source in sources:
            whole = name == "rsync" and source.endswith("/")  # then the target gets what is in the source
            place = target if whole else _landing(shell, source.rpartition(":")[2] or source, target, many=len(sources) > 1)
            shell.act("w", place, name)
    return DYNAMIC


def file_transfer(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Follow the commands that ``sftp`` and ``ftp`` get on their input or in a batch file."""
    found = parsed("-* -b=- -i/-F=r -P/-o/-J=-", args)
    batch = found.value("-b")
    if batch:
        shell.act("r", batch, f"{name} -b")
    for verb, file in _BATCH.findall(shell.written(batch) if batch and batch != "-" else stdin):
        shell.act("r" if "put" in verb else "w", file, f"{name} {verb}")
    return remote(shell, name, args, stdin)


def socket(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Join the two ends that ``socat`` is given: files, programs, addresses."""
    for operand in parsed("-* -T/-t/-b=-", args).operands:
        kind, _, value = operand.partition(":")
        if kind.upper() in {"EXEC", "SYSTEM"}:
            shell.program(value.split(",")[0], stdin, name)
        elif kind.upper() in {"FILE", "OPEN", "GOPEN", "CREATE", "CREAT"}:
            shell.act("w" if kind.upper().startswith("CREAT") else "b", value.split(",")[0], name)
        elif value:
            shell.ledger.fetch(value.split(",")[0])
    return DYNAMIC


def renamed(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Rename by a pattern: the new names are not known, the old ones go."""
    for operand in parsed("p r* -e=p!", args).operands[1:]:
        shell.act("b", operand, name)
        shell.act("d", operand, name)
    return ""


def ren(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Rename in place, as Windows' ``ren`` and PowerShell's ``Rename-Item`` do."""
    operands = parsed(_COPY + " -newname=-", _windows(args)).operands
    if len(operands) > 1:
        old, new = operands[:2]
        folder = re.split(r"[/\\]", old)[:-1]
        shell.ledger.move(old, "/".join([*folder, new]), shell.directories, name)
    return ""


def dd(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Read ``if=`` and write ``of=``."""
    values = dict(arg.split("=", 1) for arg in args if "=" in arg)
    if "if" in values:
        shell.act("r", values["if"], "dd")
        stdin = shell.written(values["if"])
    if "of" in values:
        shell.act("w", values["of"], "dd")
        shell.put(values["of"], stdin)
        return ""
    return stdin


def curl(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Fetch; send what is named after ``@``, save where it is told."""
    folder = (parsed(_CURL, args).value("--output-dir") or ".") + "/"
    apply(shell, _CURL, args, name)
    found = parsed(_CURL, args)
    if found.has("-O", "--remote-name", "--remote-name-all", "-OJ", "-LO"):
        for operand in found.operands:
            shell.act("w", folder + (operand.split("?")[0].rstrip("/").rsplit("/", 1)[-1] or "index.html"), f"{name} -O")
    return DYNAMIC


def wget(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Fetch into a file, named after the URL where nothing else is said."""
    apply(shell, _WGET, args, name)
    found = parsed(_WGET, args)
    if not found.has("-O", "--output-document", "--spider"):
        folder = (found.value("-P", "--directory-prefix") or ".") + "/"
        for operand in found.operands:
            shell.act("w", folder + (operand.split("?")[0].rstrip("/").rsplit("/", 1)[-1] or "index.html"), name)
    return DYNAMIC


def web_request(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Fetch as PowerShell does."""
    apply(
        shell,
        "u -uri=u -outfile=w -infile=r -method/-headers/-body/-contenttype=-",
        [arg.lower() if arg.startswith("-") else arg for arg in args],
        name,
    )
    return DYNAMIC


def docker(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Follow what a container gets from this machine: mounts, environment files, copies, and what it runs on a mount."""
    at = next((at for at, arg in enumerate(args) if arg in {"run", "create"}), len(args))
    values = parsed(_DOCKER if at == len(args) else _DOCKER_RUN, args)
    mounts = [mount for option, value in values.values if option in _MOUNTS and (mount := _mounted(shell, value, name))]
    for option, value in values.values:
        if option in {"--env-file", "-f", "--file"}:
            shell.act("r", value, f"{name} {option}")
    if values.operands[:1] == ["cp"]:
        remote(shell, f"{name} cp", values.operands[1:], stdin)
    inner = parsed(_DOCKER_RUN, args[at + 1 :], stop_at_operand=True)
    if mounts and inner.operands:
        _in_container(shell, inner, mounts, stdin)
    return DYNAMIC


def _in_container(shell: "Shell", inner: Parsed, mounts: list[tuple[str, str]], stdin: str) -> None:
    """Run a container's command where its mounts lead to this machine."""
    here = _outside(inner.value("-w", "--workdir") or mounts[0][1], mounts)
    argv = [*filter(None, [inner.value("--entrypoint")]), *inner.operands[1:]]
    with shell.scope():
        shell.enter(here)
        shell.run([_outside(word, mounts) for word in argv], stdin)


def _outside(text: str, mounts: list[tuple[str, str]]) -> str:
    for source, target in mounts:
        text = re.sub(rf"(?<![\w./-]){re.escape(target)}(?![^/\s'\";|&)])", source.replace("\\", r"\\"), text)
    return text


def _mounted(shell: "Shell", value: str, name: str) -> tuple[str, str] | None:
    """Note a mount; returns the directory here and its path in the container."""
    parts = dict(part.split("=", 1) for part in value.split(",") if "=" in part)
    plain = re.match(r"((?:[A-Za-z]:)?[^:]+):([^:]*)", value)
    source = parts.get("source") or parts.get("src") or (plain[1] if plain else "")
    target = parts.get("target") or parts.get("dst") or parts.get("destination") or (plain[2] if plain else "")
    named = not parts and not source.startswith(("/", ".", "~")) and ":" not in source and "\\" not in source
    if not source or named:  # a volume of the container engine
        return None
    writable = not re.search(r":ro\b|readonly|,ro\b", value) and not is_directory(shell.place(source))
    shell.act("b" if writable else "r", source, f"{name} -v")
    return (shell.place(source), target.rstrip("/")) if target.rstrip("/") else None


def _transfer(shell: "Shell", name: str, found: Parsed, act: "Callable[[Shell, str, str, str], None]") -> str:
    folder = found.value("-t", "--target-directory")
    target = folder or found.value("-destination")
    named = found.value("-path", "-literalpath")
    operands = [named, *found.operands] if named else found.operands
    sources = operands if target else operands[:-1]
    target = target or (operands[-1] if operands else "")
    for source in sources:
        exact = found.has("-T", "--no-target-directory") or (found.has("-n", "--no-dereference", "-h") and is_link(shell.place(target)))
        act(shell, source, target if exact else _landing(shell, source, target, many=len(sources) > 1 or bool(folder)), name)
    if not sources and target:
        use(shell, "r", target, name)
    return ""


def _landing(shell: "Shell", source: str, target: str, *, many: bool) -> str:
    """Return where a source ends up: in the target if that is a directory."""
    leaf = re.split(r"[/\\]", source.rstrip("/\\"))[-1]
    if target.endswith(("/", "\\", "/.")) or target in {".", "..", "~"} or many or is_directory(absolute(target, shell.directories[0])):
        return f"{target.rstrip('/')}/{leaf}" if leaf not in {"", ".", ".."} else target
    return target


def _copied(shell: "Shell", source: str, target: str, name: str) -> None:
    text = shell.written(source)
    shell.act("r", source, name)
    shell.act("w", target, name)
    shell.put(target, text)


def _moved(shell: "Shell", source: str, target: str, name: str) -> None:
    shell.ledger.move(source, target, shell.directories, name)
    shell.put(target, shell.written(source))


def _linked(shell: "Shell", source: str, target: str, name: str) -> None:
    folder = target.rpartition("/")[0]
    real = source if source.startswith(("/", "~")) or not folder else f"{folder}/{source}"
    shell.act("r", real if source.startswith("..") else source, name)
    shell.act("l", target, name)
    shell.ledger.links[shell.place(target)] = shell.place(source)


def _is_remote(operand: str) -> bool:
    return _HOST.fullmatch(operand) is not None


def _windows(args: list[str]) -> list[str]:
    """Drop Windows' ``/Y`` and the like, and lower PowerShell's option names."""
    return [arg.lower() if re.fullmatch(r"-[A-Z]\w{3,}", arg) else arg for arg in args if not re.fullmatch(r"/[A-Za-z]", arg)]


HANDLERS: "dict[str, Callable[[Shell, str, list[str], str], str]]" = {
    **dict.fromkeys(names("cp gcp copy copy-item cpi xcopy robocopy ditto"), copy),
    "install": install,
    "ginstall": install,
    **dict.fromkeys(names("mv gmv move move-item mi"), move),
    **dict.fromkeys(["ln", "gln", "mklink"], link),
    **dict.fromkeys(names("scp rsync rclone s3cmd gsutil"), remote),
    **dict.fromkeys(["ren", "rename-item", "rni"], ren),
    **dict.fromkeys(["rename", "prename", "mmv"], renamed),
    **dict.fromkeys(("sftp", "ftp", "lftp"), file_transfer),
    "socat": socket,
    "dd": dd,
    "curl": curl,
    "wget": wget,
    "aria2c": wget,
    **dict.fromkeys(names("invoke-webrequest iwr invoke-restmethod irm"), web_request),
    **dict.fromkeys(names("docker podman nerdctl docker-compose"), docker),
}
