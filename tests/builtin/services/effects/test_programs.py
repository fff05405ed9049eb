"""What programs do with their operands and options."""

from collections.abc import Callable

import pytest
from builtin.services.effects.tables import rows

from matrixx_builtin.services.effects import Effects
from matrixx_builtin.services.effects.options import spec_of
from matrixx_builtin.services.effects.programs import git_commands, program_name, programs, unversioned

TABLE = r"""
less .env => r
more .env => r
head .env => r
head -5 .env => r
head -n 5 .env => r
head -c100 .env => r
tail -f .env => r
tail -n +1 .env => r
bat .env => r
bat -p --style=plain .env => r
nl .env => r
tac .env => r
rev .env => r
cut -d= -f2 .env => r
cut -f 2 -d = .env => r
sort .env => r
sort README -o .env => w
sort --output=.env README => w
uniq .env => r
paste .env README => r
xxd .env => r
od -c .env => r
hexdump -C .env => r
strings .env => r
base64 .env => r
base64 -w0 .env => r
base64 < .env => r
base32 .env => r
openssl base64 -in .env => r
openssl enc -aes-256-cbc -in .env -out x => r
openssl rsa -in server.key => r
openssl genrsa -out server.key 2048 => w
md5sum .env => r
sha256sum .env => r
wc .env => r
wc -l .env => r
wc -l < .env => r
diff .env README => r
diff README .env => r
cmp .env x => r
comm .env x => r
split .env => r
fold .env => r
fmt .env => r
expand .env => r
column -t .env => r
pr .env => r
jq . .env => r
jq -r .KEY .env => r
jq -n --slurpfile x .env '$x' => r
yq . .env => r
yq -i '.a=1' .env => w
grep KEY .env => r
grep -r KEY .env => r
grep KEY .env* => r
grep -h "" .env => r
grep -e KEY .env => r
grep -f .env README => r
grep -f pats .env => r
grep -A 3 KEY .env => r
grep -rn KEY --include=.env . => r
grep -rn KEY --include='.env*' . => r
grep -rn KEY --exclude='.env*' . => -
egrep KEY .env => r
fgrep KEY .env => r
zgrep KEY .env => r
rg KEY .env => r
rg -uu KEY .env => r
rg -g .env KEY => r
rg -g '!.env' KEY => -
rg --pre 'cat .env' KEY => r
ag KEY .env => r
git grep KEY -- .env => r
findstr KEY .env => r
touch .env => w
touch -t 202001010000 .env => w
touch -r .env x => -
truncate -s 0 .env => w
truncate --size=0 .env => w
fallocate -l 10 .env => w
mkdir .env => w
rm .env => d
rm -f .env => d
rm -rf .env => d
rm -- .env => d
rm README .env => d
rm .env* => d
rm -i ./.env => d
unlink .env => d
shred .env => d
shred -u .env => d
shred -n 3 .env => d
trash .env => d
rmdir .env => d
chmod 600 .env => -
chmod +x run.sh => -
chown root .env => -
dos2unix .env => rw
gpg -c .env => r
gpg -d secrets.gpg => -
gpg -o .env -d x.gpg => w
gpg --output .env -d x.gpg => w
age -d -i key.txt -o .env x => w
sops -d .env => r
sops .env => r
sops -d -i .env => w
ssh-keygen -f id_rsa => rw
ssh-keygen -t ed25519 -f ./id_ed25519 -N '' => rw
ssh-add id_rsa => r
ssh-keygen -y -f id_rsa => rw
type .env => r
type backend\.env => r
copy .env x => r
copy x .env => w
copy /Y x .env => w
del .env => d
del /f .env => d
erase .env => d
move x .env => w
move .env x => d
ren .env x => d
xcopy .env x => r
more backend\.env => r
type "backend\.env" => r
cat backend\\.env => r
Get-Content .env => r
gc .env => r
Set-Content .env x => w
sc .env x => w
black .env => rw
prettier .env => r
prettier --write .env => w
eslint --fix src => -
eslint src --ext .env => -
make -f .env => r
make .env => -
npm --env-file=.env run x => r
pip install -r .env => r
kubectl create secret generic x --from-env-file=.env => r
kubectl create secret generic x --from-file=k=.env => r
kubectl apply -f .env => r
terraform apply -var-file=.env => r
ansible-playbook --vault-password-file .env x.yml => r
gh secret set -f .env => r
gh secret set --env-file .env => r
gh secret set X < .env => r
gh gist create .env => r
gh api --input .env x => r
gh api -F x=@.env x => r
gh pr create -F .env => r
gh pr create --body-file .env => r
docker run --env-file .env x => r
docker run --env-file=.env x => r
docker run -v "$PWD/.env:/x" x => rw
docker run -v ./.env:/x:ro x => r
docker run --mount type=bind,source=./.env,target=/x x => rw
docker compose --env-file .env up => r
docker cp .env c:/x => r
docker cp c:/x .env => w
docker-compose --env-file .env up => r
docker build -f .env . => r
nginx -c .env => r
unknown-tool .env => r
unknown-tool ./sub/.env => r
unknown-tool --file .env => r
unknown-tool --file=.env => r
unknown-tool --output=.env => w
unknown-tool --title .env => -
unknown-tool --message=.env => -
unknown-tool --exclude=.env => -
unknown-tool -x @.env => r
unknown-tool key=.env => r
./deploy.sh .env => r
pbcopy < .env => r
xclip .env => r
cat .env | pbcopy => r
open .env => r
strings -a server.pem => r
cat server.pem => r
cat certs/server.PEM => r
cat .ENV => r
cat ~/.ssh/id_rsa => r
cat id_ed25519 => r
cat credentials.json => r
cat /proc/self/cwd/.env => r
cat //etc/../.env => r
cat file:///x/.env => r
aws s3 cp x y => -
yes | head -3 => -
seq 1 10 | tail -2 => -
"""


@pytest.mark.parametrize(("command", "letters"), rows(TABLE))
def test_a_program_does_to_its_operands_what_it_is_known_for(
    command: str, letters: str, bash: Callable[[str], Effects], secrets: Callable[[Effects], str]
) -> None:
    assert secrets(bash(command)) == letters


@pytest.mark.parametrize("table", [programs(), git_commands()])
def test_every_description_is_made_of_known_letters(table: dict[str, str]) -> None:
    for name, description in table.items():
        spec = spec_of(description)
        letters = [role.rstrip("*").lstrip("2") for role in (*spec.operands, *spec.values.values())]
        assert set(letters) <= set("rwaebdm-pu@vgskft"), name


def test_a_program_is_known_by_its_bare_name() -> None:
    assert program_name("/usr/bin/Git.EXE") == "git"
    assert program_name(r"C:\Windows\System32\cmd.exe") == "cmd"
    assert unversioned("python3.12") == "python"
    assert unversioned("base64") == "base"
