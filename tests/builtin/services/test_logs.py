import base64
import os
import secrets
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from matrixx_builtin.services import logs


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code in an engine's process; its log goes below ``folder``."""
    environment = {**os.environ, "MATRIXX_STATE_DIR": str(folder)}
    script = "import logging, os, sys\nfrom matrixx_builtin.services import logs\nlog = logging.getLogger('matrixx')\n" + textwrap.dedent(
        code
    )
    return subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60, check=False)


def read(folder: Path) -> str:
    return "".join(path.read_text("utf-8") for path in sorted(folder.glob("matrixx.log*"), reverse=True))


def test_the_log_and_everything_on_standard_error_lands_in_the_file_and_nowhere_else(tmp_path: Path) -> None:
    done = run(
        "logs.start(); log.warning('told'); print('printed', file=sys.stderr); os.system('echo spawned >&2'); os.write(2, b'raw \\xff')",
        tmp_path,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    text = read(tmp_path)
    assert all(word in text for word in ("WARNING told", "stderr: printed", "spawned", "raw"))


def test_the_traceback_that_ends_the_engine_is_in_the_log(tmp_path: Path) -> None:
    assert run("logs.start()\nraise RuntimeError('the end')", tmp_path).returncode == 1
    assert "RuntimeError: the end" in read(tmp_path)


def test_no_secret_reaches_the_file_by_any_way(tmp_path: Path) -> None:
    secret = "ghp_" + secrets.token_hex(18)
    key = (
        "-----BEGIN PRIVATE KEY-----\n"
        + "\n".join(base64.b64encode(secrets.token_bytes(48)).decode() for _ in range(8))
        + "\n-----END PRIVATE KEY-----"
    )
    code = f"""
        logs.start()
        secret, key = {secret!r}, {key!r}
        log.warning('found %s', secret)
        print('printed', secret, file=sys.stderr)
        print(key, file=sys.stderr)
        try:
            raise ValueError(secret)
        except ValueError:
            log.exception('with a traceback')
    """
    run(code, tmp_path)
    text = read(tmp_path)
    assert text.count("REDACTED") >= 4 and secret not in text
    assert not any(line in text for line in key.splitlines()[1:-1])


def test_the_file_is_the_persons_own(tmp_path: Path) -> None:
    run("logs.start(); log.warning('x')", tmp_path / "state")
    assert (tmp_path / "state" / "matrixx.log").stat().st_mode & 0o777 == 0o600


def test_files_stay_small_few_and_whole_while_several_engines_write(tmp_path: Path) -> None:
    code = "logs.MOST_BYTES = 20_000\nlogs.start()\nfor n in range(400): log.warning('%s %03d %s', os.getpid(), n, 'x' * 80)"
    environment = {**os.environ, "MATRIXX_STATE_DIR": str(tmp_path)}
    script = "import logging, os\nfrom matrixx_builtin.services import logs\nlog = logging.getLogger('matrixx')\n" + code
    engines = [subprocess.Popen([sys.executable, "-c", script], env=environment) for _ in range(3)]
    assert [engine.wait(timeout=60) for engine in engines] == [0, 0, 0]
    files = sorted(path.name for path in tmp_path.glob("matrixx.log*"))
    assert files == ["matrixx.lock", "matrixx.log", "matrixx.log.1", "matrixx.log.2", "matrixx.log.3"][1:]
    assert all(path.stat().st_size < 25_000 for path in tmp_path.glob("matrixx.log*"))
    lines = read(tmp_path).splitlines()
    assert all(line.endswith("x" * 80) for line in lines), "no line is torn"


def test_a_very_long_record_is_cut(tmp_path: Path) -> None:
    run("logs.start(); log.warning('a' * 5_000_000)", tmp_path)
    assert len(read(tmp_path)) < 2 * logs.LONGEST and "characters)" in read(tmp_path)


@pytest.mark.parametrize("text", ["'\\ud800'", "'\\x00'", "'\\x1b[31m'", "b'\\xff'"])
def test_any_text_can_be_logged(tmp_path: Path, text: str) -> None:
    assert run(f"logs.start(); log.warning('before'); log.warning('%s', {text}); log.warning('after')", tmp_path).returncode == 0
    assert "before" in read(tmp_path) and "after" in read(tmp_path)


def test_without_a_place_for_the_log_the_engine_works(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run("logs.start(); log.warning('x'); print('still here')", tmp_path / "file")
    assert (done.returncode, done.stdout) == (0, "still here\n")


def test_a_flood_on_standard_error_does_not_stop_the_engine(tmp_path: Path) -> None:
    done = run("logs.start()\nfor _ in range(2_000): os.write(2, b'y' * 4_000)\nprint('done')", tmp_path)
    assert done.stdout == "done\n"


def test_stopping_gives_standard_error_back(tmp_path: Path) -> None:
    done = run("stop = logs.start(); stop(); print('visible', file=sys.stderr)", tmp_path)
    assert done.stderr == "visible\n"
