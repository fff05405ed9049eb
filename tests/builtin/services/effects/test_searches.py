"""Programs that look for files and do something with what they find."""

from collections.abc import Callable

import pytest
from builtin.services.effects.tables import rows

from matrixx_builtin.services.effects import Effects

TABLE = r"""
find . -name .env => -
find . -name .env -delete => d
find . -name '.env*' -delete => d
find . -name '*.pem' -exec cat {} \; => r
find . -name .env -exec cat {} + => r
find . -name .env -execdir cat {} \; => r
find . -name .env -ok rm {} \; => d
find . -type f -name .env -exec rm -f {} + => d
find . -iname .ENV -exec cat {} \; => r
find . -path './sub/.env' -exec cat {} \; => r
find . -regex '.*/\.env' -exec cat {} \; => r
find . \( -name x -o -name .env \) -exec cat {} \; => r
find . -exec cat .env \; => r
find . -name '*.py' -exec cat {} \; => -
find . -name '*.py' -delete => -
find . -not -name .env -exec cat {} \; => -
find . ! -name '.env' -type f -exec cat {} \; => -
find .env -exec cat {} \; => r
find .env -delete => d
find . -name x -fprint .env => w
find . -name .env -exec sh -c 'cat "$1"' _ {} \; => r
find . -name .env -exec cp {} /tmp/x \; => r
find . -name .env -exec grep KEY {} + => r
find . -type f -exec grep -l .env {} + => -
find / -name id_rsa -exec cat {} \; 2>/dev/null => r
find . -name .env -print0 | xargs -0 rm => d
find . -name .env -printf '%p\n' => -
for f in $(find . -name '.env*'); do cat $f; done => r
cat `find . -name .env` => r
fd .env -x cat => r
fd '\.env$' -x cat {} => r
fd -H .env => -
fd -e pem -x cat => r
fd . -x echo => -
locate .env => -
"""


@pytest.mark.parametrize(("command", "letters"), rows(TABLE))
def test_what_is_found_is_touched(command: str, letters: str, bash: Callable[[str], Effects], secrets: Callable[[Effects], str]) -> None:
    assert secrets(bash(command)) == letters
