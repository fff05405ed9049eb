"""Shell programs: what is read, written and deleted, wherever and however it is said."""

import re
from collections.abc import Callable

import pytest

from matrixx_builtin.services.effects import Effects

READS = r"""
cat .env
cat ./.env
cat -- .env
cat "$PWD/.env"
cat ${PWD}/.env
cat sub/../.env
cat ./././/.env
/bin/cat .env
\cat .env
'cat' .env
c"a"t .env
ca''t .env
"cat" '.env'
cat .e"n"v
cat .e'n'v
cat .\env
cat $'\x2eenv'
cat $'\056env'
cat $'.e\u006ev'
cat .e{n,}v
cat .{env,txt}
cat {.env,README}
cat .e{m..o}v
cat .env*
cat .e*
cat .en?
cat .e?v
cat .[e]nv
cat < .env
cat<.env
< .env cat
0< .env cat
cat <.env | head
while read l; do echo $l; done < .env
mapfile -t x < .env
read -r x < .env
exec 3< .env
exec 3<> .env
x=$(<.env)
x=$(< .env); echo $x
x=`cat .env`
echo "$(cat .env)"
echo "a $(cat '.env') b"
echo $(echo $(cat .env))
echo `cat \`echo .env\``
P=.env; cat $P
P=.env; cat "$P"
P=.env; cat "${P}"
P=.env && cat $P
P=.e; cat ${P}nv
P=.e; P+=nv; cat $P
A=.e B=nv; cat $A$B
A=.env; B=$A; cat $B
A=(.env README); cat "${A[0]}"
A=(README .env); cat "${A[@]}"
A=(README .env); for f in "${A[@]}"; do cat "$f"; done
N=P; P=.env; cat ${!N}
cat ${X:-.env}
cat ${X:=.env}
P=.environment; cat ${P%ironment}
P=.env.bak; cat ${P%.bak}
P=x/.env; cat ${P##*/}
P=.xnv; cat ${P/x/e}
P=.ENV; cat ${P,,}
P=foo.env; cat ${P:3}
P=.envy; cat ${P:0:4}
export P=.env; cat $P
declare P=.env; cat $P
readonly P=.env; cat $P
cd sub && cat ../.env
cd sub; cat .env
(cd sub && cat ../.env)
pushd sub; cat ../.env
cd sub; cd -; cat .env
true && cat .env
false || cat .env
! cat .env
cat .env &
{ cat .env; }
( cat .env )
if true; then cat .env; fi
if false; then :; else cat .env; fi
if cat .env; then :; fi
if false; then :; elif true; then cat .env; fi
case x in x) cat .env;; esac
case x in y|x) cat .env;; *) :;; esac
for f in .env; do cat $f; done
for f in README .env; do cat "$f"; done
for f in .e*; do cat $f; done
for i in 1 2; do cat .env; done
for ((i=0;i<1;i++)); do cat .env; done
select f in .env; do cat $f; done
while true; do cat .env; break; done
until cat .env; do :; done
f() { cat .env; }; f
function f { cat .env; }; f
f() { cat "$1"; }; f .env
f() { cat "$@"; }; f README .env
f() { cat $*; }; f .env
f() { g; }; g() { cat .env; }; f
alias c='cat .env'; c
alias c=cat; c .env
trap 'cat .env' EXIT
cat README .env
cat README; cat .env
cat README && cat .env
cat README | cat .env
cat .env | grep KEY
cat .env 2>/dev/null
cat .env 2>&1
cat .env > /dev/null
cat <(cat .env)
diff <(sort .env) README
source <(cat .env)
grep x <<< "$(cat .env)"
cat <<EOF
|$(cat .env)
|EOF
cat <<EOF > out
|`cat .env`
|EOF
cat \
|  .env
cat .e\
|nv
cat .env # the secret
[ -f .env ] && cat .env
[[ -f .env ]] && source .env
[[ $(cat .env) == x ]]
test -n "$(cat .env)"
echo ${X:-$(cat .env)}
echo $(( $(cat .env) ))
time cat .env
coproc cat .env
FOO=bar cat .env
FOO=$(cat .env) true
FOO="$(cat .env)"
P=README; [ -n "$x" ] && P=.env; cat $P
if x; then P=.env; else P=README; fi; cat $P
ln -s .env x; cat x
cp README y; ln -s .env y2 && cat ./y2
while :; do cat $f; f=.env; done
printf -v P '%s' .env; cat $P
read P <<< .env; cat $P
read -r P <<EOF; cat $P
|.env
|EOF
echo .env | while read f; do cat $f; done
IFS= read -r f <<< ".env" && cat "$f"
mapfile -t F <<< ".env"; cat "${F[@]}"
cat $(echo .env)
cat $(printf '%s' .env)
cat `echo .env`
cat "$(printf .%s env)"
cat $(echo vne. | rev)
cat $(echo LmVudg== | base64 -d)
cat $(echo 2e656e76 | xxd -r -p)
cat $(echo .fow | tr fow env)
cat $(echo .ENV | tr A-Z a-z)
cat $(echo .xnv | sed s/x/e/)
cat $(find . -name .env)
cat $(find . -name '.env*' | head -1)
cat "$(git ls-files .env)"
cat $(basename x/.env)
cat .env .env.example
cat -n .env && true
cat .env;
;cat .env
cat .env )
cat .env 'unterminated
if then cat .env
echo "$(cat .env
cat .env && (
"""
WRITES = r"""
echo A=1 > .env
echo A=1 >.env
echo A=1>.env
echo A=1 >> .env
echo A=1 >| .env
echo A=1 &> .env
echo A=1 &>> .env
echo A=1 >& .env
echo A=1 1> .env
echo A=1 2> .env
> .env
: > .env
>.env echo A=1
> .env < README cat
cat > .env <<'EOF'
|A=1
|EOF
cat <<EOF > .env
|A=1
|EOF
cat <<'EOF' >> .env
|A=1
|EOF
cat <<-EOF >.env
|	A=1
|	EOF
cat <<EOF | tee .env
|A=1
|EOF
cat <<EOF | sed s/a/b/ > .env
|A=1
|EOF
{ echo A=1; } > .env
( echo A=1 ) > .env
{ echo A; echo B; } >> .env
for i in 1; do echo $i; done > .env
while read x; do echo $x; done < README > .env
if true; then echo A; fi > .env
f() { echo A=1; } > .env; f
f() { echo A=1 > "$1"; }; f .env
P=.env; echo A=1 > $P
P=.env; echo A=1 > "$P"
P=.env; echo A=1 >> "$PWD/$P"
echo A=1 > .e"nv"
echo A=1 > $'\x2eenv'
echo A=1 > $(echo .env)
cd sub && echo A=1 > ../.env
echo A=1 > ~/../.env
echo x | cat > .env
echo x > README > .env
exec > .env
exec 3> .env
exec 3<>.env
echo x > >(tee .env)
echo x | tee >(cat > .env)
printf 'A=1\n' >> .env
echo "echo A=1 > .env" | sh
echo "echo A=1 > .env" | bash -s
bash <<< "echo A=1 > .env"
bash <<'EOF'
|echo A=1 > .env
|EOF
sh <<EOF
|echo A=1 > .env
|EOF
cat <<'EOF' | sh
|echo A=1 > .env
|EOF
cat > x.sh <<'EOF'
|echo A=1 > .env
|EOF
|bash x.sh
printf 'echo A > .env\n' > x.sh; chmod +x x.sh; ./x.sh
printf 'echo A > .env\n' > x.sh && . ./x.sh
printf 'echo A > .env\n' > x.sh && sh < x.sh
echo 'echo A > .env' | tee x.sh && sh x.sh
{ echo 'echo A'; echo '> .env'; } | sh
(date; echo 'echo A > .env') | sh
eval "echo A=1 > .env"
eval echo A=1 '>' .env
X='echo A > .env'; eval "$X"
X='echo A > .env'; sh -c "$X"
bash -c 'echo A=1 > .env'
bash -c "bash -c 'echo A=1 > .env'"
sh -c "sh -c \"sh -c 'echo A > .env'\""
echo ZWNobyBBPTEgPiAuZW52 | base64 -d | sh
sh -c "$(echo ZWNobyBBPTEgPiAuZW52 | base64 -d)"
eval "$(printf 'echo A > .env')"
"""
NEITHER = r"""
ls
ls -la src
ls .env
ls -la .env
ls .env 2>/dev/null
ls .env* 2>/dev/null
stat .env
file .env
du -h .env
wc -l README
test -f .env
test -f .env && echo yes
[ -f .env ]
[ -f .env ] || echo missing
[[ -f .env ]]
[[ -f .env && -r .env ]] && echo ok
if [ ! -f .env ]; then echo "no .env"; fi
basename .env
dirname .env
realpath .env
readlink -f .env
find . -name .env
find . -name '*.pem' -print
find . -name ".env*" -not -path "./node_modules/*"
git status .env
git check-ignore .env
git check-ignore -v .env
cat .env.example
cat .env.template
cp .env.example README
cat README
echo .env
echo "do not commit .env"
echo 'cat .env'
echo "cat .env > x"
echo see .env for more
printf 'read .env\n'
printf "%s\n" .env
echo ".env" >> .gitignore
echo .env > .gitignore
printf '.env\n*.pem\n' >> .gitignore
echo "*.pem" >> .gitignore
echo "source .env" >> README.md
echo x > /dev/null
echo x > /dev/stderr
echo x >&2
echo x 2>&1
ls 2>&1 | tee /dev/null
cat README 2>/dev/null
make build > /dev/null 2>&1
# cat .env
true # cat .env
ls # rm .env
: 'cat .env'
true <<'EOF'
|cat .env
|EOF
cat <<'EOF'
|cat .env
|rm -rf .env
|EOF
cat > notes.md <<'EOF'
|Run `cat .env` and echo A=1 > .env, then rm .env.
|EOF
cat > notes.md <<EOF
|Put it in .env; $(date)
|EOF
tee notes.md <<'EOF'
|cat .env
|EOF
git commit -m "explain .env"
git commit -m "explain rm -rf .env and git restore .env"
git commit -am 'cat .env > x'
git commit --message="remove .env"
git commit -m "$(cat <<'EOF'
|Do not read .env; rm .env
|EOF
|)"
git commit -F - <<EOF
|explain rm .env
|cat .env
|EOF
git commit -F- <<'EOF'
|explain $(cat .env)
|EOF
git log --grep .env
git log --grep=.env
git log --oneline -- .env
git add .gitignore
git add -A
git rm --cached README
git branch -d fix/.env
gh pr create --title ".env" --body "rotate .env and id_rsa"
gh pr create --body "$(cat <<'EOF'
|touches .env
|EOF
|)"
gh issue create -t x -b 'cat .env'
grep -rn "rm -rf .env" docs
grep .env README
grep -n '.env' .gitignore
grep -q '^.env$' .gitignore
grep -e .env README
grep -r TODO --exclude=.env .
grep -r TODO --exclude .env .
grep -m 1 .env README
rg '\.env' src
rg -g '!.env' TODO
rg --glob '!.env' TODO src
rg -n "cat .env" README
sed -n '/.env/p' README
sed 's/.env/x/' README
sed -i 's/.env/x/' README
awk '/.env/ {print}' README
awk '{print ".env"}' README
jq '.env' package.json
jq -r .env.KEY config.json
yq .env config.yml
tr .env xxxx
cut -d. -f1 README
python3 -c "print('.env')"
python3 -c "print('cat .env > .env')"
node -e "console.log('.env')"
node -e 'console.log(process.env.HOME)'
perl -e 'print ".env"'
ruby -e 'puts ".env"'
export ENV_FILE=.env
ENV_FILE=.env true
P=.env; echo $P
f() { cat .env; }
alias c='cat .env'
which cat
type cat
man .env
aws ec2 run-instances --instance-initiated-shutdown-behavior terminate
npm run env
npm install dotenv
pip install python-dotenv
touch .gitignore
mkdir env
cat env
cat environment.ts
cat src/env.ts
cat config/env.d.ts
cat my.environment
rm -rf node_modules
rm README
cat $FILE
cat "$1"
for f in *.py; do cat $f; done
cat *.json
cat *
cat src/*
rm -rf build/*
ls *.pem
curl https://example.com/.env
diff README notes.md
docker build -t x .
docker run --rm -v "$PWD":/app node ls
kubectl get pods
make env
xargs echo < README
watch ls
time ls .env
sudo ls .env
env | grep FOO
env
printenv HOME
set | grep env
history | grep .env
ps aux | grep .env
kill -9 1
read -p ".env? " x
case .env in *.env) echo x;; esac
if [ "$f" = ".env" ]; then echo x; fi
[[ $f == *.pem ]]
test "$x" = .env
for f in .env; do echo $f; done
for f in .env .env.local; do [ -f $f ] && echo "$f exists"; done
select x in .env; do echo $x; done
git ls-files .env
git ls-files | grep .env
git diff --stat .env
git diff --name-only -- .env
git config core.excludesfile .gitignore
echo a \
|  .env
cat .envrc
cat .env.example .env.template
diff .env.example .env.template
"""


def commands(table: str) -> list[str]:
    """Split a table at its lines; ``|`` leads the further lines of a command that has them."""
    return [command.replace("\n|", "\n") for command in re.split(r"\n(?!\|)", table.strip("\n"))]


@pytest.mark.parametrize("command", commands(READS))
def test_reading_a_secret_is_seen(command: str, bash: Callable[[str], Effects], secrets: Callable[[Effects], str]) -> None:
    assert "r" in secrets(bash(command))


@pytest.mark.parametrize("command", commands(WRITES))
def test_writing_a_secret_is_seen(command: str, bash: Callable[[str], Effects], secrets: Callable[[Effects], str]) -> None:
    assert "w" in secrets(bash(command))


@pytest.mark.parametrize("command", commands(NEITHER))
def test_a_mention_is_no_use(command: str, bash: Callable[[str], Effects], secrets: Callable[[Effects], str]) -> None:
    assert secrets(bash(command)) == ""


def test_a_command_without_anything_special_is_fully_known(bash: Callable[[str], Effects]) -> None:
    assert bash("ls -la src").unknown == ()


@pytest.mark.parametrize("padding", ["echo a;", "a", "(", "'", "|", "$(("])
def test_what_is_longer_than_any_shell_takes_is_known_to_be_cut(padding: str, bash: Callable[[str], Effects]) -> None:
    found = bash(padding * (2_000_000 // len(padding)) + "\ncat .env")
    assert any(reason.startswith("limit:") for reason in found.unknown)
