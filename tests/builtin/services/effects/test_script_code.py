"""Code of other languages: calls, and texts that are built from literals."""

from collections.abc import Callable

import pytest
from builtin.services.effects.tables import rows

from matrixx_builtin.services.effects import Effects

TABLE = r"""
node -e "eval(\"require('fs').readFileSync('.env')\")" => r
node -e "new Function(\"require('fs').readFileSync('.env')\")()" => r
node -e "eval(atob('cmVxdWlyZSgnZnMnKS5yZWFkRmlsZVN5bmMoJy5lbnYnKQ=='))" => r
node -e "const {readFileSync:r}=require('fs'); console.log(r('.env','utf8'))" => r
node -e "const fs=require('fs'),p='.env'; console.log(fs.readFileSync(p,'utf8'))" => r
node -e "import('node:fs/promises').then(async f=>console.log(await f.readFile('.env','utf8')))" => r
node -e "require('fs')['readFileSync']('.env')" => r
node -e "require('fs').readFile('.env',(e,d)=>console.log(d+''))" => r
node -e "process.stdout.write(require('fs').readFileSync('.env'))" => r
node -e "['.env'].map(f=>require('fs').readFileSync(f))" => r
node -e "for (const f of ['.env']) console.log(fs.readFileSync(f))" => r
node -e "require('child_process').exec(\`cat .env\`)" => r
node -e "require('child_process').execFileSync('sh',['-c','cat .env'])" => r
node -e "require(process.cwd()+'/.env')" => r
node -e "fs.readFileSync('vne.'.split('').reverse().join(''))" => r
node -e "fs.readFileSync(decodeURIComponent('%2eenv'))" => r
node --input-type=module -e "import {readFileSync} from 'fs'; readFileSync('.env')" => r
perl -e '$f=".env"; open(F,$f); print <F>' => r
perl -e 'open F, ".env"; print while <F>' => r
perl -e '@ARGV=(".env"); print while <>' => r
perl -e 'print do { local (@ARGV,$/)=".env"; <> }' => r
perl -ne 'print' < .env => r
perl -MIO::File -e 'IO::File->new(".env","w")' => w
perl -e 'use File::Copy; copy(".env","x")' => r
perl -e 'open(F,">",".e"."nv")' => w
perl -le 'print for `cat .env`' => r
perl -e 'print qx(cat .env)' => r
perl -e 'print qx{cat .env}' => r
ruby -e 'puts IO.read(".e"+"nv")' => r
ruby -e 'puts %x(cat .env)' => r
ruby -e 'exec "cat", ".env"' => r
ruby -e 'File.foreach(".env") { |l| puts l }' => r
ruby -e 'File.rename("x",".env")' => w
ruby -ne 'puts $_' .env => r
ruby -rdotenv -e 'Dotenv.load' => r
php -r '$f=".env"; echo file_get_contents($f);' => r
php -r 'print_r(file(".env"));' => r
php -r 'copy(".env","x");' => r
php -r 'rename("x",".env");' => w
php -r 'echo `cat .env`;' => r
php -r '$h=fopen(".env","a"); fwrite($h,"x");' => w
lua -e 'local f=io.open(".env","r"); print(f:read("*a"))' => r
lua -e 'dofile(".env")' => r
node -r ./x .env => r
perl -ne 'print if /\.env/' README.md => -
perl -pe 's/\.env/x/' README.md => -
node -e "console.log(require('./package.json').scripts['.env'])" => -
node -e "const fs=require('fs'); const s=fs.readFileSync('README.md','utf8'); fs.writeFileSync('README.md', s.replace('x', '.env'))" => -
node -e "if (!require('fs').existsSync('.env')) console.log('missing .env')" => -
node -e "console.log(process.env.API_KEY)" => -
ruby -e 'puts File.exist?(".env")' => -
php -r 'var_dump(file_exists(".env"));' => -
"""


@pytest.mark.parametrize(("command", "letters"), rows(TABLE))
def test_a_script_does_what_its_calls_say(
    command: str, letters: str, bash: Callable[[str], Effects], secrets: Callable[[Effects], str]
) -> None:
    found = secrets(bash(command))
    assert set(letters) <= set(found) and bool(letters) == bool(found)
