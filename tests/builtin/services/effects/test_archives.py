"""Programs that pack and unpack."""

from collections.abc import Callable

import pytest
from builtin.services.effects.tables import rows

from matrixx_builtin.services.effects import Effects

TABLE = r"""
zip x.zip .env => r
zip -r x.zip . => -
zip .env x => w
zip -m x.zip .env => rd
unzip x.zip .env => w
unzip -p x.zip .env => -
unzip .env => r
tar czf x.tgz .env => r
tar -czf x.tgz .env => r
tar cf - .env | ssh host 'cat > x' => r
tar -cf .env x => w
tar xzf x.tgz .env => w
tar xf x.tar => -
tar tf x.tar .env => -
tar --create --file=x.tar .env => r
tar -C sub -cf x.tar .env => r
tar czf x.tgz --exclude=.env . => -
tar czf x.tgz --exclude .env . => -
tar xf x.tar --to-command='cat .env' => r
tar cf x.tar x --checkpoint=1 --checkpoint-action=exec='cat .env' => r
7z a x.7z .env => r
gzip .env => rwd
gzip -k .env => rw
gzip -c .env > x.gz => r
gunzip .env.gz => rwd
bzip2 -k .env => rw
"""


@pytest.mark.parametrize(("command", "letters"), rows(TABLE))
def test_packing_reads_and_unpacking_writes(
    command: str, letters: str, bash: Callable[[str], Effects], secrets: Callable[[Effects], str]
) -> None:
    assert secrets(bash(command)) == letters
