"""Stop agents from reading .env and other credential files.

What a model reads is sent to its provider. Any tool and any shell route counts (``cat``, ``source``, ``git show HEAD:.env``, ``cp``, a
script's ``open``); looking from outside (``ls``, ``test -f``, ``git check-ignore``) passes. ``.env.example`` and its like pass, and so
does ``.envrc``, which is a script: who keeps secrets in it adds it to ``blocked_patterns``.

Not refused: what reads a whole directory (``grep -r TODO .``, ``tar c .``), and programs or scripts already on the disk that read the file
themselves. A call that is too long or nested too deep to be understood is refused.
"""

from matrixx_builtin.services.effects import effects_of
from matrixx_builtin.services.sensitive import FILELESS_TOOLS, SecretFileSettings, named, secret_files, too_much
from matrixx_core import Block, ToolCall, guard


class Config(SecretFileSettings):
    """Which files may not be read."""


def off_because(config: Config) -> str:
    """Why the hook is off, or ``""``."""
    return "" if config.enabled else "hooks.env-file-read-guard.enabled is false"


@guard(but=FILELESS_TOOLS | {"write", "glob"})
def tool_execute_before(call: ToolCall, config: Config) -> Block | None:
    effects = effects_of(call)
    for touch in secret_files(effects.reads, config, call.directory)[:1]:
        return Block(
            f"{named(touch)} looks like a credential file, and what you read is sent to the model's provider",
            "read .env.example for the names, ask the user for what you need to know, or let the program read the file when it runs; "
            "`ls`, `test -f` and `git check-ignore` are allowed.",
        )
    return too_much(effects)
