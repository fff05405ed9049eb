"""Arguments of a call as people type them."""

from typing import Any, cast

EXAMPLE = """'{"filePath": "a.py"}'"""


def read_object(text: str) -> dict[str, Any]:
    """A JSON object, or JSON5; raises ``MatrixxError`` with an example."""
    import json5

    from matrixx_core.errors import MatrixxError
    from matrixx_core.wire import decode

    try:
        found = decode(text)
    except ValueError:
        try:
            found = json5.loads(text)
        except (ValueError, RecursionError) as error:
            raise MatrixxError(f"ARGS {text:.60} is not JSON ({error}); write for example {EXAMPLE}") from None
    if not isinstance(found, dict):
        raise MatrixxError(f"ARGS {text:.60} is not a JSON object; write for example {EXAMPLE}")
    return cast(dict[str, Any], found)
