"""Tools of any host: what their names and arguments say that they do."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from matrixx_builtin.services.effects import Effects, Touch

PATCH = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** Add File: b.md\n+hi\n*** Delete File: c.txt\n*** Update File: .env\n@@\n+A=1\n*** End Patch"
CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("write", {"filePath": ".env", "content": "A=1"}, "w"),
    ("Write", {"file_path": ".env", "content": "A=1"}, "w"),
    ("WRITE", {"path": ".env"}, "w"),
    ("write", {"filePath": "./sub/../.env"}, "w"),
    ("write", {"filePath": "backend\\.env"}, "w"),
    ("write", {"filePath": "C:\\proj\\.env"}, "w"),
    ("write", {"filePath": ".ENV"}, "w"),
    ("write", {"filePath": ".env "}, "w"),
    ("write", {"filePath": " .env"}, "w"),
    ("write", {"filePath": ".env."}, "w"),
    ("write", {"filePath": ".env::$DATA"}, "w"),
    ("write", {"filePath": "certs/x.PEM"}, "w"),
    ("write", {"filePath": "~/.ssh/id_rsa"}, "w"),
    ("write", {"filePath": "notes.md", "content": "write to .env"}, ""),
    ("write", {"filePath": ".env.example", "content": "A="}, ""),
    ("edit", {"filePath": ".env", "oldString": "a", "newString": "b"}, "w"),
    ("edit", {"filePath": "a.py", "oldString": ".env", "newString": "cat .env"}, ""),
    ("Edit", {"file_path": ".env", "old_string": "a", "new_string": "b"}, "w"),
    ("MultiEdit", {"file_path": ".env", "edits": [{"old_string": "a", "new_string": "b"}]}, "w"),
    ("multiedit", {"edits": [{"filePath": "a"}, {"filePath": ".env"}]}, "w"),
    ("multiedit", {"filePath": "a", "edits": [{"oldString": ".env", "newString": "x"}]}, ""),
    ("NotebookEdit", {"notebook_path": ".env", "new_source": "x"}, "w"),
    ("notebook_edit", {"notebookPath": ".env"}, "w"),
    ("edit", {"filePath": "a", "rename": ".env"}, "w"),
    ("edit", {"filePath": ".env", "rename": "b"}, "d"),
    ("edit", {"filePath": ".env", "delete": True}, "d"),
    ("edit", {"filePath": "a", "edits": [{"op": "replace", "lines": ["cat .env"]}]}, ""),
    ("hashline_edit", {"path": ".env", "edits": []}, "w"),
    ("str_replace_based_edit_tool", {"command": "view", "path": ".env"}, "r"),
    ("str_replace_based_edit_tool", {"command": "create", "path": ".env"}, "w"),
    ("str_replace_editor", {"command": "str_replace", "path": ".env"}, "w"),
    ("read", {"filePath": ".env"}, "r"),
    ("Read", {"file_path": ".env"}, "r"),
    ("read_file", {"absolute_path": ".env"}, "r"),
    ("read_many_files", {"paths": ["a", ".env"]}, "r"),
    ("ReadFile", {"uri": "file:///x/.env"}, "r"),
    ("grep", {"pattern": "KEY", "path": ".env"}, "r"),
    ("grep", {"pattern": "KEY", "include": ".env*"}, "r"),
    ("grep", {"pattern": "KEY", "include": "*.{ts,pem}"}, "r"),
    ("Grep", {"pattern": "KEY", "glob": ".env"}, "r"),
    ("grep", {"pattern": ".env", "path": "src"}, ""),
    ("grep", {"pattern": "KEY", "include": "!.env"}, ""),
    ("grep", {"pattern": ".env", "include": "*.ts"}, ""),
    ("glob", {"pattern": "**/.env"}, ""),
    ("list", {"path": ".env"}, ""),
    ("ls", {"path": "."}, ""),
    ("lsp", {"operation": "hover", "filePath": ".env"}, "r"),
    ("webfetch", {"url": "https://x.example/.env"}, ""),
    ("webfetch", {"url": "file:///x/.env"}, "r"),
    ("task", {"prompt": "cat .env", "description": ".env", "subagent_type": "x"}, ""),
    ("Task", {"prompt": "rm .env", "path": ".env"}, ""),
    ("todowrite", {"todos": [{"content": ".env", "path": ".env"}]}, ""),
    ("question", {"questions": [{"question": ".env?"}]}, ""),
    ("invalid", {"tool": "write", "error": ".env"}, ""),
    ("bash", {"command": "cat .env"}, "r"),
    ("Bash", {"command": "cat .env", "description": "x"}, "r"),
    ("bash", {"command": "ls", "description": "cat .env"}, ""),
    ("shell", {"command": ["bash", "-lc", "cat .env"]}, "r"),
    ("shell", {"command": ["cat", ".env"]}, "r"),
    ("local_shell", {"command": ["rm", ".env"]}, "d"),
    ("exec_command", {"cmd": "cat .env"}, "r"),
    ("run_shell_command", {"command": "cat .env"}, "r"),
    ("run_terminal_cmd", {"command": "cat .env"}, "r"),
    ("interactive_bash", {"command": "cat .env"}, "r"),
    ("mcp__desktop__start_process", {"command": "cat .env"}, "r"),
    ("mcp__x__execute_command", {"command": "cat", "args": [".env"]}, "r"),
    ("bash", {"command": "cat x", "workdir": ".env"}, "r"),
    ("apply_patch", {"patchText": PATCH}, "w"),
    ("apply_patch", {"command": PATCH}, "w"),
    ("ApplyPatch", {"input": PATCH}, "w"),
    ("functions.apply_patch", {"patch": PATCH}, "w"),
    ("apply_patch", {"command": ["apply_patch", PATCH]}, "w"),
    ("apply_patch", {"patchText": PATCH.replace("*** Update File: .env\n@@\n+A=1\n", "")}, ""),
    ("apply_patch", {"patchText": "*** Begin Patch\n*** Update File: a\n*** Move to: .env\n@@\n*** End Patch"}, "w"),
    ("apply_patch", {"patchText": "*** Begin Patch\n*** Update File: .env\n*** Move to: a\n@@\n*** End Patch"}, "wd"),
    ("apply_patch", {"patchText": "*** Begin Patch\n*** Delete File: .env\n*** End Patch"}, "d"),
    ("apply_patch", {"patchText": "*** Begin Patch\n*** Add File: a\n+*** Update File: .env\n*** End Patch"}, ""),
    ("mcp__fs__write", {"path": ".env"}, "w"),
    ("mcp__fs__write_file", {"target": ".env"}, "w"),
    ("mcp__fs__write_file", {"uri": "file:///x/.env"}, "w"),
    ("fs_write", {"path": ".env"}, "w"),
    ("filesystem_write_file", {"path": ".env"}, "w"),
    ("filesystem_edit_file", {"path": ".env", "edits": []}, "w"),
    ("filesystem_read_text_file", {"path": ".env"}, "r"),
    ("filesystem_read_multiple_files", {"paths": [".env"]}, "r"),
    ("filesystem_move_file", {"source": ".env", "destination": "x"}, "d"),
    ("filesystem_move_file", {"source": "x", "destination": ".env"}, "w"),
    ("mcp__fs__copy_file", {"source": ".env", "destination": "x"}, "r"),
    ("mcp__fs__copy_file", {"from": "x", "to": ".env"}, "w"),
    ("mcp__fs__rename", {"oldPath": "x", "newPath": ".env"}, "w"),
    ("mcp__fs__delete_file", {"path": ".env"}, "d"),
    ("mcp__fs__removeFiles", {"files": ["a", ".env"]}, "d"),
    ("filesystem_list_directory", {"path": ".env"}, ""),
    ("filesystem_get_file_info", {"path": ".env"}, ""),
    ("filesystem_create_directory", {"path": ".env"}, "w"),
    ("mcp__thing__frobnicate", {"path": ".env"}, "rw"),
    ("mcp__thing__frobnicate", {"note": ".env"}, ""),
    ("mcp__thing__frobnicate", {"config": {"file": ".env"}}, "rw"),
    ("mcp__gh__create_issue", {"title": ".env", "body": "cat .env"}, ""),
    ("mcp__mail__send", {"attachments": [{"path": ".env"}]}, "r"),
    ("mcp__fs__batch", {"operations": [{"op": "write", "path": "a"}, {"op": "delete", "path": ".env"}]}, "d"),
    ("mcp__fs__apply", {"operations": [{"type": "rename", "from": "a", "to": ".env"}]}, "w"),
    ("batch", {"tool_calls": [{"tool": "read", "parameters": {"filePath": ".env"}}]}, "r"),
    ("batch", {"tool_calls": [{"tool": "bash", "parameters": {"command": "rm .env"}}]}, "d"),
    ("multi_tool_use.parallel", {"tool_uses": [{"recipient_name": "functions.write", "parameters": {"filePath": ".env"}}]}, "w"),
    ("mcp__py__execute_python", {"code": "open('.env','w')"}, "w"),
    ("mcp__ide__executeCode", {"code": "open('.env')"}, "r"),
    ("mcp__js__run_code", {"code": "fs.unlinkSync('.env')", "language": "javascript"}, "d"),
    ("download", {"url": "https://x.example", "destination": ".env"}, "w"),
    ("mcp__img__generate", {"prompt": "x", "output_path": ".env"}, "w"),
]


@pytest.mark.parametrize(("name", "args", "letters"), CALLS)
def test_a_tool_does_what_its_name_and_arguments_say(
    name: str, args: dict[str, Any], letters: str, tool: Callable[..., Effects], secrets: Callable[[Effects], str]
) -> None:
    assert secrets(tool(name, **{f"{key}": value for key, value in args.items()})) == letters


def test_a_patch_is_its_files_with_their_kinds(tool: Callable[..., Effects], names: Callable[[Iterable[Touch]], set[str]]) -> None:
    found = tool("apply_patch", command=PATCH)
    assert names(found.writes) == {"src/a.py", "b.md", ".env"}
    assert names(found.deletes) == {"c.txt"}
    assert {touch.given: touch.mode for touch in found.writes} == {"src/a.py": "edit", "b.md": "create", ".env": "edit"}
    assert found.unknown == ()


def test_a_url_is_a_fetch(tool: Callable[..., Effects]) -> None:
    assert tool("webfetch", url="https://x.example/a").fetches == ("https://x.example/a",)


def test_the_work_directory_is_where_a_command_starts(tool: Callable[..., Effects], names: Callable[[Iterable[Touch]], set[str]]) -> None:
    assert names(tool("bash", command="touch a", workdir="sub").writes) == {"sub/a"}


@pytest.mark.parametrize("directory", ["/proj", "/proj/sub/.."])
def test_a_settings_file_is_seen_whatever_writes_it(
    directory: str, tool: Callable[..., Effects], names: Callable[[Iterable[Touch]], set[str]]
) -> None:
    found = tool("bash", command="MATRIXX_OFF=1 jq . x > .matrixx/matrixx.jsonc")
    assert names(found.writes) == {".matrixx/matrixx.jsonc"}
    assert ("env", "MATRIXX_OFF=1", "jq", ".", "x") in [run.argv for run in found.runs]
