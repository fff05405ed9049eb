"""The thin client: hands one event of a command hook to the warm engine of the project, and its answer back.

``python -I -S -E client.py HOST EVENT open|closed [PROJECT [SECONDS]]`` with the payload on standard input. It imports
nothing but what an interpreter has in any case, and one module in C: any other (pathlib, contextlib) costs more than all of
its work. ``client.c`` does the same.
"""

import _signal  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]  signal's C, without its enums
import _socket
import os
import sys
import time

TYPE_CHECKING = False  # of typing, which costs as much as all of this
if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 100
"""Bytes of a socket's path; a system takes 104 or 108, the final NUL included."""

SECONDS = 30.0
"""For everything together, from the start of this process to the answer, unless the command says otherwise."""

MOST_SECONDS = 86_400.0

POLL = 0.01
"""Seconds between two looks for the socket of an engine that starts."""

PAUSES = (0, 0.02, 0.2)
"""Seconds before each time of asking: what is being killed may still take a connection, and lose it."""

BLOCKABLE = ("PreToolUse", "UserPromptSubmit", "PermissionRequest")
"""Events that exit code 2 refuses; refusing any other would undo nothing."""

REFUSED = (
    "Refused by Matrixx: its engine gave no answer, and this is installed to refuse what no guard has looked at. "
    "Ask the user to run: matrixx doctor (or to take Matrixx out: matrixx uninstall)\n"
)
UNGUARDED = '{"systemMessage": "Matrixx has not looked at this: its engine gave no answer. Run: matrixx doctor"}\n'


def key(project: str) -> str:
    """The name of a project's files: FNV-1a, 64 bits in hexadecimal, of its resolved path."""
    value = 0xCBF29CE484222325
    for byte in os.fsencode(project):
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def socket_path(project: str) -> str:
    """Where the engine of a project, a resolved path, listens; nothing is made."""
    name = key(project)
    for folder in (_runtime_folder(), f"/tmp/matrixx-{os.geteuid()}"):  # noqa: S108  owner and rights are looked at
        path = f"{folder}/{name}.sock"
        if len(os.fsencode(path)) <= LONGEST:
            break
    return path


def is_private(folder: str) -> bool:
    """Whether a folder is ours alone; raises ``FileNotFoundError`` where there is none."""
    found = os.lstat(folder)
    return found.st_mode & 0o170077 == 0o040000 and found.st_uid == os.geteuid()


def _runtime_folder() -> str:
    base = os.environ.get("XDG_RUNTIME_DIR", "")
    try:
        found = os.stat(base)  # noqa: PTH116
        if base.startswith("/") and found.st_mode & 0o170000 == 0o040000 and found.st_uid == os.geteuid():
            return f"{base}/matrixx"
    except OSError:
        pass
    base = os.environ.get("TMPDIR", "")
    return f"{base if base.startswith('/') else '/tmp'}/matrixx-{os.geteuid()}"  # noqa: S108  owner and rights are looked at


def main(arguments: list[str]) -> int:
    """Do it all; never raises, and the exit code is 0 or 2."""
    host, event, policy, project, seconds = (*arguments, *("", "", "", "", "")[len(arguments) :])[:5]

    def give_up(*_: object) -> None:
        os._exit(_fail(event, policy))

    try:
        _keep_standard_files()
        _set_deadline(float(seconds or SECONDS), give_up)
        payload = _all_of(lambda size: os.read(0, size))
        project = os.path.realpath(project or os.environ.get("CLAUDE_PROJECT_DIR") or ".", strict=True)
        header = os.fsencode(f"matrixx 1 {host} {event} {os.getppid()} {sys.executable}\n")
        answer = _asked(socket_path(project), project, header + payload)
        _signal.setitimer(_signal.ITIMER_REAL, 0)
        first, _, body = answer.partition(b"\n")
        code, _, size = first.partition(b" ")
        if code in {b"0", b"2"} and size.isdigit() and int(size) == len(body):
            _write(1 if code == b"0" else 2, body)
            return int(code)
    except BaseException:  # noqa: BLE001, S110  whatever it is, the host is told in its own words
        pass
    return _fail(event, policy)


def _fail(event: str, policy: str) -> int:
    refuses = policy == "closed" and event in BLOCKABLE
    try:  # noqa: SIM105  contextlib costs as much as all of this
        _write(2 if refuses else 1, (REFUSED if refuses else UNGUARDED).encode())
    except OSError:
        pass
    return 2 if refuses else 0


def _keep_standard_files() -> None:
    """No socket may get the number of a closed standard file: what is written there fails instead."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)


def _set_deadline(seconds: float, give_up: "Callable[..., None]") -> None:
    """An alarm: it reaches whatever is waited for."""
    if not 0 < seconds <= MOST_SECONDS:
        raise ValueError
    _signal.signal(_signal.SIGALRM, give_up)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())
    _signal.setitimer(_signal.ITIMER_REAL, seconds)


def _all_of(read: "Callable[[int], bytes]") -> bytes:
    parts: list[bytes] = []
    try:
        while part := read(1 << 16):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def _asked(path: str, project: str, request: bytes) -> bytes:
    """The whole answer; an engine that goes away without a word is about to be replaced, and the next one is asked."""
    for pause in PAUSES:
        time.sleep(pause)
        connection = _connected(path) or _started(path, project)
        try:
            connection.sendall(request)
            connection.shutdown(_socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it may have answered before it went
        answer = _all_of(connection.recv)
        connection.close()
        if answer:
            return answer
    return b""


def _connected(path: str) -> _socket.socket | None:
    """A connection, or ``None`` where nobody listens; raises ``PermissionError`` for a folder that others may write to."""
    try:
        if not is_private(os.path.dirname(path)):  # noqa: PTH120
            raise PermissionError
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        connection.connect(path)
    except (FileNotFoundError, ConnectionRefusedError):
        return None
    return connection


def _started(path: str, project: str) -> _socket.socket:
    """Start the engine and wait for its socket; another client's engine is as good."""
    child = os.fork()
    if child == 0:
        try:
            _become_engine(project)
        finally:
            os._exit(127)
    while True:
        time.sleep(POLL)
        connection = _connected(path)
        if connection is not None:
            return connection
        if child and _has_ended(child):
            child = 0  # another client's engine was first


def _has_ended(child: int) -> bool:
    try:
        ended, status = os.waitpid(child, os.WNOHANG)
    except ChildProcessError:  # whoever started us ignores its children, and so do we
        return True
    if ended and status:
        raise RuntimeError
    return ended != 0


def _become_engine(project: str) -> None:
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    os.closerange(3, 256)
    os.execv(sys.executable, [sys.executable, "-P", "-m", "matrixx_builtin", "serve", "daemon", "--project", project])  # noqa: S606


def _write(number: int, data: bytes) -> None:
    while data:
        data = data[os.write(number, data) :]


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))
