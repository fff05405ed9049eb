"""Code of other languages, wherever an interpreter takes it from."""

from collections.abc import Callable

import pytest
from builtin.services.effects.tables import rows

from matrixx_builtin.services.effects import Effects

TABLE = r"""
python3 -c "open('.env','w').write('x')" => w
python3 -c "open('.env').read()" => r
python -c 'open(".env")' => r
python3.12 -c "open('.env')" => r
/usr/bin/python3 -c "open('.env')" => r
python3 -Ic "open('.env')" => r
python3 -u -c "open('.env')" => r
python3 -W ignore -c "open('.env')" => r
python3 -X dev -c "open('.env')" => r
pypy3 -c "open('.env')" => r
ipython -c "open('.env')" => r
python3 -c "import sys; open(sys.argv[1])" .env => r
python3 -c "import sys; open(sys.argv[1],'w')" .env => rw
python3 -c "import pathlib; pathlib.Path('.env').write_text('x')" => w
python3 - <<'PY'
|from pathlib import Path
|Path('.env').write_text('x')
|PY => w
python3 <<PY
|open(".env").read()
|PY => r
python3 <<< "open('.env')" => r
echo "open('.env')" | python3 => r
echo "open('.env')" | python3 - => r
cat <<'EOF' | python3 -
|open('.env', 'a')
|EOF => w
cat > x.py <<'EOF'
|open('.env','w')
|EOF
|python3 x.py => w
printf '#!/usr/bin/env python3\nopen(".env")\n' > x; chmod +x x; ./x => r
printf '#!/bin/sh\ncat .env\n' > x; ./x => r
python3 .env => r
python3 script.py => -
python3 script.py .env => r
python3 script.py --env-file=.env => r
python3 script.py --exclude .env => -
python3 -m json.tool .env => r
python3 -m json.tool README .env => w
python3 -m base64 .env => r
python3 -m venv env => -
python3 -m pytest tests => -
python3 -m http.server => -
python3 -m dotenv -f .env list => r
node -e "require('fs').writeFileSync('.env','x')" => w
node -e "require('fs').readFileSync('.env')" => r
node -e 'fs.readFileSync(".env","utf8")' => r
node -p "require('fs').readFileSync('.env','utf8')" => r
node -pe "require('fs').readFileSync('.env','utf8')" => r
node --eval "require('fs').unlinkSync('.env')" => d
node --eval="require('fs').unlinkSync('.env')" => d
node -e "require('fs').appendFileSync('.env','x')" => w
node -e "require('fs').promises.writeFile('.env','x')" => w
node -e "require('fs').renameSync('.env','x')" => d
node -e "require('fs').renameSync('x','.env')" => w
node -e "require('fs').copyFileSync('.env','x')" => r
node -e "require('fs').copyFileSync('x','.env')" => w
node -e "require('child_process').execSync('cat .env')" => r
node -e "require('child_process').spawnSync('cat',['.env'])" => r
node -e "const f='.env'; require('fs').readFileSync(f)" => r
node -e "const f='.e'+'nv'; require('fs').readFileSync(f)" => r
node -e "require('fs').readFileSync('.e'+'nv')" => r
node -e 'require("fs").readFileSync(["", "env"].join("."))' => r
node -e "require('fs').readFileSync(require('path').join('.', '.env'))" => r
node -e "require('fs').readFileSync(String.fromCharCode(46,101,110,118))" => r
node -e "require('fs').readFileSync(atob('LmVudg=='))" => r
node -e "require('fs').readFileSync(Buffer.from('LmVudg==','base64').toString())" => r
node -e "require('fs').readFileSync('\x2eenv')" => r
node -e 'const x="nv"; fs.readFileSync(`.e${x}`)' => r
node -e "fs.createReadStream('.env').pipe(process.stdout)" => r
node -e "fs.createWriteStream('.env')" => w
node -e "fs.openSync('.env','w')" => w
node -e "fs.openSync('.env','r')" => r
node -e "fs.rmSync('.env')" => d
node -e "import('fs').then(f=>f.writeFileSync('.env','x'))" => w
node -e "console.log(require('fs').readFileSync('.env').toString())" => r
node -e "fs.existsSync('.env')" => -
node -e "console.log('.env')" => -
node -e "if (name === '.env') process.exit()" => -
node -e "require('dotenv').config()" => r
node -r dotenv/config app.js => r
node --env-file=.env app.js => r
node --env-file .env app.js => r
node app.js => -
node .env => r
node <<'JS'
|require('fs').writeFileSync('.env','x')
|JS => w
deno eval "Deno.writeTextFileSync('.env','x')" => w
deno eval "Deno.readTextFileSync('.env')" => r
bun -e "Bun.write('.env','x')" => w
bun -e "await Bun.file('.env').text()" => r
perl -ne 'print' .env => r
perl -pe 's/a/b/' .env => r
perl -i -pe 's/a/b/' .env => w
perl -pi -e 's/a/b/' .env => w
perl -pi.bak -e 's/a/b/' .env => w
perl -i.bak -ne 'print' .env => w
perl -e 'open(F,">.env"); print F "x"' => w
perl -e 'open(F,"<.env"); print <F>' => r
perl -e 'open(my $f, ">", ".env")' => w
perl -e 'open(my $f, "<", ".env")' => r
perl -e 'open my $f, ">>", ".env"' => w
perl -e 'unlink ".env"' => d
perl -e 'unlink(".env")' => d
perl -e 'rename "x", ".env"' => w
perl -e 'system("cat .env")' => r
perl -e 'system "cat", ".env"' => r
perl -e 'print `cat .env`' => r
perl -e 'exec "cat .env"' => r
perl -e 'print ".env"' => -
perl -e 'print "a" if $x eq ".env"' => -
perl -MFile::Slurp -e 'write_file(".env","x")' => w
perl -0777 -ne 'print' .env => r
ruby -e 'File.write(".env","x")' => w
ruby -e 'File.write ".env", "x"' => w
ruby -e 'puts File.read(".env")' => r
ruby -e 'IO.readlines(".env")' => r
ruby -e 'File.open(".env","w") { |f| f << 1 }' => w
ruby -e 'File.open(".env") { |f| f.read }' => r
ruby -e 'File.delete(".env")' => d
ruby -e 'FileUtils.rm ".env"' => d
ruby -e 'FileUtils.cp ".env", "x"' => r
ruby -e 'system("cat .env")' => r
ruby -e 'puts `cat .env`' => r
ruby -e 'puts ".env"' => -
ruby -i -pe '$_.upcase!' .env => w
php -r 'file_put_contents(".env","x");' => w
php -r 'echo file_get_contents(".env");' => r
php -r 'unlink(".env");' => d
php -r 'include ".env";' => r
php -r 'readfile(".env");' => r
php -r 'fopen(".env","w");' => w
php -r 'system("cat .env");' => r
php -r 'echo ".env";' => -
lua -e 'io.open(".env","w")' => w
lua -e 'io.open(".env")' => r
lua -e 'for l in io.lines(".env") do print(l) end' => r
lua -e 'os.remove(".env")' => d
lua -e 'os.execute("cat .env")' => r
lua -e 'io.open".env"' => r
Rscript -e 'readLines(".env")' => r
osascript -e 'do shell script "cat .env"' => r
awk 1 .env => r
awk '{print}' .env => r
awk -F= '{print $2}' .env => r
awk -f prog.awk .env => r
awk 'BEGIN{while((getline l < ".env")>0) print l}' => r
awk 'BEGIN{getline x < ".env"; print x}' => r
awk 'BEGIN{print "A=1" > ".env"}' => w
awk 'BEGIN{print "A=1" >> ".env"}' => w
awk 'BEGIN{printf "A=1" > ".env"}' => w
awk 'BEGIN{f=".env"; while((getline l < f)>0) print l}' => r
awk -v f=.env 'BEGIN{while((getline l < f)>0) print l}' => r
awk 'BEGIN{system("cat .env")}' => r
awk 'BEGIN{"cat .env" | getline x; print x}' => r
awk 'BEGIN{print "x" | "tee .env"}' => w
awk 'BEGIN{while((getline l < (".e" "nv"))>0) print l}' => r
awk -i inplace '{print}' .env => w
awk '/.env/' README => -
awk '$1 == ".env"' README => -
awk '{print ".env"}' README => -
gawk '{print}' .env => r
powershell -Command "Get-Content .env" => r
powershell -c "gc .env" => r
pwsh -c 'Set-Content .env x' => w
pwsh -c 'Set-Content -Path .env -Value x' => w
pwsh -c 'Get-Content -Path .env' => r
pwsh -c '"A=1" | Out-File .env' => w
pwsh -c '"A=1" | Out-File -FilePath .env' => w
pwsh -c 'Add-Content .env x' => w
pwsh -c 'Remove-Item .env' => d
pwsh -c 'Copy-Item .env x' => r
pwsh -c 'Move-Item x .env' => w
pwsh -c "[IO.File]::ReadAllText('.env')" => r
pwsh -c "[System.IO.File]::WriteAllText('.env','x')" => w
powershell -NoProfile -EncodedCommand RwBlAHQALQBDAG8AbgB0AGUAbgB0ACAALgBlAG4AdgA= => r
pwsh -c 'Test-Path .env' => -
pwsh -c 'Write-Host .env' => -
psql -f .env => r
psql -c 'select 1' => -
psql <<'EOF'
|\i .env
|EOF => r
psql -c '\! cat .env' => r
psql -c "\copy t from '.env'" => r
sqlite3 .env .dump => rw
sqlite3 x.db '.read .env' => r
sqlite3 x.db '.output .env' => w
sqlite3 x.db ".shell cat .env" => r
mysql -e 'source .env' => r
"""


@pytest.mark.parametrize(("command", "letters"), rows(TABLE))
def test_code_does_what_its_calls_say(
    command: str, letters: str, bash: Callable[[str], Effects], secrets: Callable[[Effects], str]
) -> None:
    assert secrets(bash(command)) == letters


def test_what_a_database_is_fed_is_an_argument_of_its_run(bash: Callable[[str], Effects]) -> None:
    assert bash("psql app <<EOF\nDROP TABLE users;\nEOF").runs[-1].argv == ("psql", "app", "<<<", "DROP TABLE users;\n")
