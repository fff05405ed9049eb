"""What the functions of programming languages do with a path, by their bare names."""

from typing import NamedTuple

from matrixx_builtin.services.effects.words import names


class Call(NamedTuple):
    """A function's roles, one letter an argument (``ledger.ROLES``; ``>`` ends a move); ``owners`` must stand before the dot if given."""

    roles: str
    owners: frozenset[str] = frozenset()


_FILE_OWNERS = "file io bun path pathname dir fs fsp promises fileutils files deno fse iofile spath"
_TABLE = """
w: writefile writefilesync outputfile outputfilesync createwritestream writejson writejsonsync outputjson writetextfile writetextfilesync
w: file_put_contents binwrite truncate truncatesync ftruncate savetxt imwrite write_text write_bytes write_file writealltext writealllines writeallbytes
w: spurt setcontent mkdir mkdirs makedirs mkdirsync mkdir_p touch touchsync ensurefile ensurefilesync mkfifo mknod urlretrieve extractall to_csv to_json to_excel
w: to_parquet to_pickle savefig dump_to_file write_csv writelines_to
a: appendfile appendfilesync appendalltext appendtext
d: unlink unlinksync rm rmsync rmdir rmdirsync removesync remove removedirs rmtree rm_f rm_r rm_rf remove_tree remove_file unlink_file deletefile trash
d>: rename renamesync renames move movesync mv
rw: copyfile copyfilesync copy copysync cp cpsync cp_r copy2 copytree copy_file copy_entry
rl: symlink symlinksync link linksync ln_s ln_sf ln symlink_file
r: readfile readfilesync readtextfile readtextfilesync createreadstream file_get_contents slurp readlines readjson readjsonsync read_json require include
r: require_once include_once dofile loadfile parse_ini_file readalltext readalllines readallbytes readstring read_text read_bytes read_file read_csv read_table
r: read_excel read_parquet read_pickle loadtxt genfromtxt getlines run_path load_dotenv dotenv_values dotenv highlight_file show_source fpassthru readlink_content
r: load_file fromfile include_str import_file get_content load_source spec_from_file_location binread each_line
m: exists existssync stat statsync lstat lstatsync access accesssync is_file is_dir isfile isdir file_exists islink getsize getmtime filesize is_readable
m: realpath realpathsync abspath resolve relative dirname basename extname readdir readdirsync listdir scandir glob globsync opendir chmod chmodsync chown chownsync
m: utimes utime walk iglob rglob iterdir samefile splitext normpath exist
"""
_OWNED = """
w: write save create
a: append
d: delete
r: read foreach lines file text load open_text
"""
_TEXTS = frozenset(
    names(
        "log print puts printf println echo say warn error info debug die p pp exit throw test match replace split includes "
        "startswith endswith indexof equals assert string len length format sprintf tostring isinstance getattr setattr hasattr "
        "get set getenv putenv add push appendleft join concat strip trim re compile search findall sub fullmatch table dir trace "
        "fatal critical exception raise runtimeerror valueerror strlen strpos str_replace preg_match explode implode lower upper "
        "tolowercase touppercase replaceall substring slice write writeln wait sleep describe it"
    )
)
OPENERS = frozenset(names("open opensync fopen openfile openfilesync open_file sysopen popen_file gzopen"))
"""Functions whose mode is another argument."""
SHELLS = frozenset(
    names(
        "system exec execsync execfile execfilesync spawn spawnsync popen popen2 popen3 shell_exec passthru proc_open execute "
        "check_output check_call call run getoutput getstatusoutput execl execlp execle execv execvp execve spawnl spawnlp spawnv "
        "spawnvp qx capture capture2 capture3 doshellscript createsubprocess create_subprocess_shell create_subprocess_exec "
        "startprocess command sh execa pipeline backtick posix_spawn"
    )
)
"""Functions that run a program or a shell text."""
EVALS = frozenset(
    names(
        "eval exec function runinnewcontext runinthiscontext runincontext instance_eval class_eval loadstring load assert_eval execscript"
    )
)
"""Functions that run text as code of their own language."""
CODE_OWNERS = frozenset(names("subprocess os child_process cp proc pty asyncio kernel open3 io process bun deno"))


def _calls() -> dict[str, Call]:
    found: dict[str, Call] = {}
    for text, owners in ((_TABLE, frozenset[str]()), (_OWNED, frozenset(_FILE_OWNERS.split()))):
        for line in text.strip().splitlines():
            roles, _, names = line.partition(": ")
            found.update(dict.fromkeys(names.split(), Call(roles, owners)))
    return found


CALLS = _calls()


def call_named(name: str) -> Call | None:
    """Return what a function does, by its dotted name in lower case; ``None`` where that is not known."""
    owner, _, last = name.rpartition(".")
    call = CALLS.get(last)
    if call is None or (call.owners and owner.rpartition(".")[2] not in call.owners):
        return None
    return call


def only_speaks(name: str) -> bool:
    """Whether a function prints, compares or builds text, so that a path in it is a mention."""
    return name.rpartition(".")[2] in _TEXTS


def mode_role(mode: str) -> str:
    """Return the role of an open mode: ``r``, ``w+``, ``ab``, ``>``, ``>>``, ``O_WRONLY`` ..."""
    mode = mode.strip().lower()
    if mode.startswith((">>", "+>>", "a")) or "append" in mode:
        return "a"
    if mode.startswith(("r+", "rb+", "r+b", "+<", "rt+")) or "rdwr" in mode:
        return "b"
    return "w" if mode[:1] in {"w", "x"} or ">" in mode[:2] or any(word in mode for word in ("wronly", "creat", "trunc")) else "r"


def is_mode(text: str) -> bool:
    """Whether a text is an open mode rather than a path."""
    head = text.strip().partition(":")[0].strip()
    return (0 < len(head) <= 4 and set(head) <= set("rwaxbtU+")) or head in {"<", ">", ">>", "+<", "+>", "-|", "|-", "|"}
