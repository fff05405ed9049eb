"""What programs do with their operands and option values.

Each line: names, a colon, a description as ``options.py`` reads it. Letters: ``r`` read, ``w`` write, ``a`` append, ``e`` edit in place, ``b`` read and
write, ``d`` delete, ``m`` looked at from outside, ``-`` of no concern, ``p`` a pattern or message (of no concern), ``u`` a URL, ``@`` a text that may
name a file after ``@``, ``v`` git's ``REV:path``, ``g`` a glob of names that are read, ``k`` ``key=file`` or a file, ``f`` ``key=@file`` or a file, ``s`` shell code, ``t`` the same if it has a blank, ``2`` before a letter: the option takes two values, ``x`` a command from here on.
"""

import re
from functools import lru_cache

from matrixx_builtin.services.effects.words import names

_PROGRAMS = """
cat tac nl more most rev column fold fmt pr paste join comm expand unexpand uniq od xxd hexdump hd strings wc view glow mdcat zcat: r*
md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum b3sum cksum sum shasum md5 bzcat xzcat zstdcat lzcat look shuf tsort ptx zless zmore: r*
sdiff colordiff vimdiff icdiff delta diffstat gron csvlook csvcut csvgrep mlr xsv enscript lp lpr open xdg-open start pv vis ul tailspin multitail: r*
hexyl lolcat ccat highlight pygmentize dotenv-linter gitleaks trufflehog detect-secrets shellcheck hadolint yamllint aspell dos-type type mcat nkf: r*
head tail: r* -n/-c/--lines/--bytes=-
less: r* -p/-P/-t/-o=-
bat batcat: r* -l/--language/-r/--line-range/-H/--theme/--style=-
cut: r* -d/-f/-c/-b/--delimiter/--fields/--output-delimiter=-
sort: r* -o/--output=w -k/-t/-S/-T/--key=- --files0-from=r
base64 base32 base58 basenc: r* -w/-b/--wrap=- -i/--input=r -o/--output=w
diff cmp: r* -x/--exclude/-I/-U/-F/-L/--label=- --from-file/--to-file=r --output=w
pandoc: r* -o/--output=w -f/-t/--from/--to=-
tr: - -
envsubst: -*
iconv: r* -f/-t/--from-code/--to-code=- -o/--output=w
jq gojq jaq dasel: p r* -f/--from-file=r! --slurpfile/--rawfile=2r --arg/--argjson=2-
yq: p r* -i^ --inplace^ -f/--from-file=r!
xmllint tidy xsltproc: r* --xpath/--schema=- --output/-o=w
grep egrep fgrep zgrep pcregrep bzgrep xzgrep ugrep ggrep: p r* {grep}
rg ag ack pt ripgrep: p r* -e/--regexp=p! -f/--file=r! -m/-A/-B/-C/-t/-T/-j/-M/-r/-E/-d/--max-count/--type/--type-not/--replace/--sort=- {globs}
findstr find-string select-string sls: p r* -path/-literalpath=r -pattern=p!
sd: p p b*
gpg gpg2 age rage minisign signify: r* -o/--output/-O=w -r/--recipient/-u/--passphrase/--homedir=- -i/--identity/--passphrase-file=r
sops ansible-vault eyaml: r* -i^ --in-place^ --output=w
openssl: -* -in/-inkey/-key/-cert/-CAfile/-certfile/-signkey/-CA/-CAkey/-kfile/-config/-sigfile/-verify/-sign=r -out/-keyout/-writerand=w -passin/-pass=@
ssh-keygen: -* -f=b -s/-i/-e=r -t/-b/-C/-N/-n=-
ssh-add: r*
ssh-copy-id: -* -i=r
sponge mkfifo: w*
touch: w* -r/--reference=m -d/-t/--date=-
truncate fallocate: w* -s/--size/-l/-o=- -r/--reference=m
mkdir md: w* -m/--mode/-Z/--context=-
rm unlink trash trash-put trash-rm rmdir del erase rd remove-item ri srm: d* -path/-literalpath=d -include/-exclude/-filter=-
shred wipe: d* -n/-s/--iterations/--size/--random-source=-
dos2unix unix2dos ed ex vi vim nvim nano pico emacs micro code subl gedit notepad joe mcedit kate: b*
ls ll dir stat file du basename dirname realpath readlink test [ tree exa eza lsd df mountpoint get-childitem gci test-path namei lsattr getfacl: m*
which whereis hash get-item gi resolve-path lsof fuser: m*
chown chgrp chattr setfacl chcon icacls attrib: - m* --reference=m
gc get-content import-csv: r* -path/-literalpath=r -encoding/-totalcount/-tail=-
sc set-content out-file export-csv export-clixml clear-content clc new-item ni: w - -path/-filepath/-literalpath=w! -value/-itemtype/-encoding=-
ac add-content tee-object: a - -path/-literalpath/-filepath=a! -value/-encoding=-
echo printf true false : sleep kill killall pkill seq yes date whoami id uname hostname ps top free uptime tty clear history help man info tldr: -*
shopt ulimit umask jobs fg bg wait disown local return exit break continue shift let bind complete compgen getopts times write-host write-output: -*
brew apt apt-get apt-cache dpkg yum dnf apk pacman snap systemctl service journalctl cargo go rustup gem composer mvn gradle dotnet tput: -*
stty logger hatch twine whatis unset dirs: -*
aws gcloud az heroku doctl: -* --data-file/--file/-f/--template-file/--from-file/--env-file=r --zip-file/--body/--payload/--secret-string/--policy-document/--template-body=@
make gmake just task ninja cmake rake ant: -* -f/--file=r -C/--directory=-
npm pnpm yarn vite next jest vitest turbo nx wrangler serverless netlify vercel: -* --env-file/--dotenv-key=r
pip pip3 pipx conda mamba poetry pdm rye: -* -r/--requirement/-c/--constraint=r --prefix/--root/-t/--target=w
gh glab hub tea jira: -* --body-file/--notes-file/--input/--env-file=r -F/-f/--field/--raw-field=f -b/-t/--body/--title/-m/--message/--notes/--desc=p
kubectl oc helm k9s: -* -f/--filename/--from-env-file/--kubeconfig/-k/--values=r --from-file/--set-file=k
terraform tofu terragrunt packer: -* -var-file/--var-file=r
ansible ansible-playbook: -* -i/--inventory/--private-key/--vault-password-file=r -e=@

http https xh httpie: @* --data/-d/--form=@ -o/--output=w
lynx links w3m elinks: r* -i/--identity=r -cfg/-T/-o=-
nc ncat netcat: u - -c/-e/--sh-exec/--exec=s
tmux screen expect: t* -c=s -S/-L/-t/-n/-s/-x/-y=-
fzf sk: r* --preview/--bind=s -q/--query=-
telnet ping dig nslookup host traceroute whois: u -*
black isort autopep8 autoflake pyupgrade goimports rustfmt standard docformatter yapf: b* --config/-l/--line-length=-
gofmt shfmt: r* -w^
prettier eslint stylelint biome clang-format: r* -w/--write^ --write^ --fix^ -i^ -c/--config/--ignore-path/--ignore-pattern/--rulesdir/--rule/--ext=-
ruff mypy pyright flake8 pylint pytest markdownlint markdownlint-cli2 codespell: r* --fix^ -w^ --config/--select/--ignore/-k/-m/--exclude=-
nginx redis-server caddy supervisord: -* -c/--config=r
xclip xsel pbcopy clip wl-copy crontab: r* -s/-selection/-f=r
visudo vipw: -*
mount: r w -t/-o/-O/-L/-U=-
umount: d*
uuencode: r -
patch: b - -i/--input=- -o/--output=w -d=-
"""

_LONG = """
gh gist create, gh release create, gh release upload, docker secret create, docker config create, podman secret create, glab snippet create: - - r*
aws s3 cp, aws s3 mv, aws s3 sync, gcloud storage cp, gcloud compute scp, az storage copy: remote 2
vercel env pull, vc env pull: - - w --environment/--git-branch/-t/--token/-S/--scope=-
kubectl cp, oc cp, docker compose cp, mc cp, ibmcloud cos upload: remote 1
"""

_GIT = """
add stage am annotate blame hash-object: r* --chmod/-L=- --contents/--pathspec-from-file=r
archive: - r* -o/--output=w --format/--prefix/--remote=-
cat-file: v*
checkout-index: w*
commit: r* -m/--message/--author/--date/-c/-C/--reuse-message/--fixup/--squash/--trailer/--cleanup=p -F/--file/-t/--template=r
diff: v* -U/--unified/-S/-G/-O/--inter-hunk-context/--format/--pretty=- --output=w
difftool: v* -x/--extcmd=s
show: v* --format/--pretty/-U/-S/-G=- --output=w
format-patch: -* -o/--output-directory=w
grep: p r* {grep}
notes tag: -* -F/--file=r -m=p
bundle: - w -*
config: -* -f/--file=b
check-ignore ls-tree status ls-files update-index: m* -x/--exclude=- -X/--exclude-from=r
merge-file: e r r
"""

_PARTS = {
    "grep": "-e/--regexp=p! -f/--file=r! -m/-A/-B/-C/-d/-D=- --include=g --exclude/--exclude-dir/--color/--colour/--label=- --exclude-from=r",
    "globs": "-g/--glob/--iglob=g --ignore-file=r --pre=s",
}

MERE_WORDS = frozenset(
    names(
        "exclude ignore pattern include glob message title body name filter grep match key text description comment reason label "
        "search query subject format user role tag branch note summary prompt skip not"
    )
)
"""Words in an unknown program's option that make its value something other than a file."""
WRITE_WORDS = frozenset(names("out output outfile dest destination save write export log to target"))
"""Words in an unknown program's option that make its value a file it writes."""

_VERSION = re.compile(r"(?<=[a-z])[-.]?\d+(?:\.\d+)*$")
_ENDING = re.compile(r"\.(?:exe|cmd|bat|com)$")


@lru_cache(maxsize=1)
def programs() -> dict[str, str]:
    """Return each program's description."""
    return _table(_PROGRAMS)


@lru_cache(maxsize=1)
def long_commands() -> dict[tuple[str, ...], str]:
    """Return the descriptions of commands of a program that differ from the program's own."""
    lines = (line.rpartition(": ") for line in _LONG.strip().splitlines())
    return {tuple(name.split()): description for names, _, description in lines for name in names.split(", ")}


@lru_cache(maxsize=1)
def git_commands() -> dict[str, str]:
    """Return the descriptions of git's commands; those with ways of their own are in ``git.py``."""
    return _table(_GIT)


def _table(text: str) -> dict[str, str]:
    lines = (line.rpartition(": ") for line in text.format_map(_PARTS).strip().splitlines())
    return {name: description for names, _, description in lines for name in names.split()}


@lru_cache(maxsize=512)
def program_name(word: str) -> str:
    """Return a program's bare name: no folders, no ``.exe``, lower case."""
    return _ENDING.sub("", word.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1].lower())


def unversioned(name: str) -> str:
    """Return ``python`` for ``python3.12``."""
    return _VERSION.sub("", name)
