"""Programs that change files by a little script of their own."""

from collections.abc import Callable

import pytest
from builtin.services.effects.tables import rows

from matrixx_builtin.services.effects import Effects

TABLE = r"""
sed -n p .env => r
sed 's/a/b/' .env => r
sed -e 's/a/b/' .env => r
sed -n '1,5p' .env => r
sed -i 's/a/b/' .env => w
sed -i.bak 's/a/b/' .env => w
sed -i '' 's/a/b/' .env => w
sed -i -e 's/a/b/' .env => w
sed -Ei 's/a/b/' .env => w
sed -E -i 's/a/b/' .env => w
sed -i -E 's/a/b/' README .env => w
sed --in-place 's/a/b/' .env => w
sed --in-place=.bak 's/a/b/' .env => w
sed -ni p .env => w
sed -ibak 's/a/b/' .env => w
sed -n 'w .env' README => w
sed 's/a/b/w .env' README => w
sed 'r .env' README => r
sed '1e cat .env' README => r
sed -f .env README => r
sed 's/.env/x/' README => -
sed -i 's#.env#x#' README => -
tee .env < README => w
tee -a .env < README => w
echo x | tee .env => w
echo x | tee -a README .env => w
echo x | tee /dev/null => -
echo x | sponge .env => w
ed .env => rw
printf 'a\nx\n.\nw\nq\n' | ed .env => rw
ed -s README <<'EOF'
|r .env
|w
|EOF => r
ex -sc 'wq' .env => rw
vim -c 'wq' .env => rw
vim -es -c 'w .env' README => w
vim -c '!cat .env' README => r
vim -c 'r .env' README => r
nvim +wq .env => rw
nano .env => rw
emacs --batch .env => rw
code .env => rw
"""


@pytest.mark.parametrize(("command", "letters"), rows(TABLE))
def test_a_little_script_is_followed(command: str, letters: str, bash: Callable[[str], Effects], secrets: Callable[[Effects], str]) -> None:
    assert secrets(bash(command)) == letters
