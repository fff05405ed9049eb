import base64
import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any

import anyio
import matrixx_image_attachments as hook
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matrixx_core.errors import ClientError
from matrixx_core.events import Message, Part, Transcript, is_added
from matrixx_core.testing import SESSION, RecordingClient, Rig, plugin_name, session

PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"
DIGITS = hashlib.sha1(PNG, usedforsecurity=False).hexdigest()[:8]
HOUR = 3_600


def image(content: bytes = PNG, **fields: Any) -> dict[str, Any]:
    encoded = base64.b64encode(content).decode()
    return {"id": "prt_1", "type": "file", "mime": "image/png", "filename": "shot.png", "url": f"data:image/png;base64,{encoded}", **fields}


def user(number: int, *parts: Part) -> Message:
    return Message(info={"id": f"msg_{number}", "role": "user"}, parts=({"type": "text", "text": f"look {number}"}, *parts))


def seeing(*names: str) -> RecordingClient:
    return RecordingClient(answer_agents=tuple({"name": name} for name in ("build", *names)))


def rig(project: Path, client: RecordingClient | None = None, **config: Any) -> Rig:
    return Rig(hook, settings={plugin_name(hook): config}, directory=str(project), client=client or seeing("observer"))


def transformed(under_test: Rig, *messages: Message, session_id: str = SESSION) -> tuple[Message, ...]:
    return anyio.run(under_test.host.messages_transform, Transcript(session_id=session_id, messages=messages)).event.messages


def saved(project: Path, session_id: str = SESSION) -> list[str]:
    folder = project / ".opencode" / "images" / session_id
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def test_an_image_becomes_a_file_and_the_model_reads_where_it_is(tmp_path: Path) -> None:
    (message,) = transformed(rig(tmp_path), user(0, image()))
    text, added = message.parts
    assert text["text"] == "look 0"
    assert is_added(added)
    path = f".opencode/images/{SESSION}/shot-{DIGITS}.png"
    assert f"- {path}\n" in added["text"] and "@observer" in added["text"]
    assert str(tmp_path) not in added["text"]
    assert (tmp_path / path).read_bytes() == PNG


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"filename": None}, f"image-{DIGITS}.png"),
        ({"filename": "../../etc/passwd"}, f"passwd-{DIGITS}.png"),
        ({"filename": "C:\\pics\\a b.JPEG"}, f"a_b-{DIGITS}.jpeg"),
        ({"filename": "é\0\ud800.gif"}, f"image-{DIGITS}.gif"),
        ({"filename": "."}, f"image-{DIGITS}.png"),
        ({"filename": "x" * 300 + ".webp"}, f"{'x' * 80}-{DIGITS}.webp"),
        ({"filename": "shot", "mime": "image/jpeg"}, f"shot-{DIGITS}.jpg"),
        ({"filename": "shot", "mime": "image/odd"}, f"shot-{DIGITS}.png"),
        ({"type": "image", "mime": None}, f"shot-{DIGITS}.png"),
        ({"mime": "application/octet-stream"}, f"shot-{DIGITS}.png"),
    ],
)
def test_its_name_is_its_own_with_the_digits_of_its_bytes(tmp_path: Path, fields: Any, name: str) -> None:
    transformed(rig(tmp_path), user(0, image(**fields)))
    assert saved(tmp_path) == [name]


@pytest.mark.parametrize(
    "part",
    [
        image(url="https://example.org/a.png"),
        image(url="file:///etc/passwd"),
        image(url="data:image/png;base64,!!!"),
        image(url="data:image/png;base64,"),
        image(url="data:image/png,plain"),
        image(url=None),
        image(url=5),
        image(b"#!/bin/sh\nrm -rf x"),
        {"type": "file", "mime": "text/plain", "filename": "a.txt", "url": "data:text/plain;base64,aGk="},
        {"type": "image"},
    ],
)
def test_what_is_no_image_that_can_be_saved_stays_what_it_is(tmp_path: Path, part: dict[str, Any]) -> None:
    assert transformed(rig(tmp_path), user(0, part)) == (user(0, part),)
    assert saved(tmp_path) == []


def test_of_two_images_the_broken_one_stays(tmp_path: Path) -> None:
    broken = image(url="data:image/png;base64,???")
    (message,) = transformed(rig(tmp_path), user(0, broken, image()))
    assert message.parts[1] == broken
    assert len(message.parts) == 3


def test_an_image_that_is_too_large_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook, "MOST_BYTES", len(PNG) - 1)
    assert transformed(rig(tmp_path), user(0, image())) == (user(0, image()),)


@pytest.mark.parametrize("client", [seeing(), RecordingClient()])
def test_without_an_observer_nothing_happens_and_nobody_is_told(tmp_path: Path, client: RecordingClient) -> None:
    under_test = rig(tmp_path, client)
    for _ in range(3):
        assert transformed(under_test, user(0, image())) == (user(0, image()),)
    assert [method for method, _ in client.requests] == ["agents"]
    assert not (tmp_path / ".opencode").exists()


class Deaf(RecordingClient):
    async def agents(self) -> Any:
        raise ClientError("nobody there")


def test_a_host_that_does_not_tell_its_agents_is_asked_again_later(tmp_path: Path) -> None:
    under_test = rig(tmp_path, Deaf())
    assert transformed(under_test, user(0, image())) == (user(0, image()),)
    under_test.host.rules.client = seeing("observer")
    assert transformed(under_test, user(0, image())) == (user(0, image()),)
    under_test.host.sessions[SESSION].state(hook.Images).ask_again = 0.0
    first, second = transformed(under_test, user(0, image()), user(1, image()))
    assert first == user(0, image()), "the model has been sent this one"
    assert second != user(1, image())


def test_what_could_not_be_saved_at_first_stays_for_good(tmp_path: Path) -> None:
    under_test = rig(tmp_path)
    (tmp_path / ".opencode").write_text("in the way")
    assert transformed(under_test, user(0, image())) == (user(0, image()),)
    (tmp_path / ".opencode").unlink()
    first, second = transformed(under_test, user(0, image()), user(1, image()))
    assert first == user(0, image())
    assert second != user(1, image())


def test_the_observer_itself_sub_agents_and_direct_routing_get_the_images(tmp_path: Path) -> None:
    assert transformed(rig(tmp_path, routing="direct"), user(0, image())) == (user(0, image()),)
    own, delegated = rig(tmp_path), rig(tmp_path)
    own.host.sessions[SESSION].agent = "Observer"
    delegated.host.sessions[SESSION].parent = "ses_parent"
    for under_test in (own, delegated):
        assert transformed(under_test, user(0, image())) == (user(0, image()),)


def test_the_observers_name_is_a_setting(tmp_path: Path) -> None:
    (message,) = transformed(rig(tmp_path, seeing("construct"), observer="construct"), user(0, image()))
    assert "@construct" in message.parts[-1]["text"]


def test_images_of_other_messages_are_not_the_users(tmp_path: Path) -> None:
    answer = Message(info={"role": "assistant"}, parts=(image(),))
    assert transformed(rig(tmp_path), user(0), answer) == (user(0), answer)


def test_a_file_that_holds_the_same_is_used_and_another_one_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / ".opencode" / "images" / SESSION
    folder.mkdir(parents=True)
    (tmp_path / "elsewhere").write_bytes(b"mine")
    (folder / f"shot-{DIGITS}.png").symlink_to(tmp_path / "elsewhere")
    (folder / f"shot-{DIGITS}-1.png").write_bytes(b"other bytes")
    (folder / f"shot-{DIGITS}-2.png").write_bytes(PNG)
    (message,) = transformed(rig(tmp_path), user(0, image()))
    assert f"shot-{DIGITS}-2.png" in message.parts[-1]["text"]
    assert len(saved(tmp_path)) == 3
    assert (tmp_path / "elsewhere").read_bytes() == b"mine"


def test_when_no_name_is_left_the_image_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook, "MOST_TRIES", 1)
    folder = tmp_path / ".opencode" / "images" / SESSION
    folder.mkdir(parents=True)
    (folder / f"shot-{DIGITS}.png").write_bytes(b"other bytes")
    assert transformed(rig(tmp_path), user(0, image())) == (user(0, image()),)


@pytest.mark.parametrize("link", [".opencode", ".opencode/images", f".opencode/images/{SESSION}"])
def test_through_a_link_nothing_is_written(tmp_path: Path, link: str) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    (project / link).parent.mkdir(parents=True)
    outside.mkdir()
    (project / link).symlink_to(outside)
    assert transformed(rig(project), user(0, image())) == (user(0, image()),)
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("session_id", ["..", ".", "", "../../x", "a/b\0c"])
def test_no_session_leads_out_of_the_folder(tmp_path: Path, session_id: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    transformed(rig(project), user(0, image()), session_id=session_id)
    assert {path.name for path in tmp_path.iterdir()} <= {"project", "home"}
    assert {path.name for path in project.iterdir()} <= {".opencode"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"node_modules\n", b"node_modules\nimages/\n"),
        (b"# mine\nnode_modules", b"# mine\nnode_modules\nimages/\n"),
        (b"\xff\xfe bytes\r\n", b"\xff\xfe bytes\r\nimages/\n"),
        (b"images/\r\n", b"images/\r\n"),
        (b"*\n", b"*\n"),
        (b"", b"images/\n"),
    ],
)
def test_the_ignore_file_of_the_folder_gets_one_line_once(tmp_path: Path, before: bytes, after: bytes) -> None:
    (tmp_path / ".opencode").mkdir()
    (tmp_path / ".opencode" / ".gitignore").write_bytes(before)
    for number in range(2):
        transformed(rig(tmp_path), user(number, image(PNG + bytes([number]))))
    assert (tmp_path / ".opencode" / ".gitignore").read_bytes() == after
    assert not (tmp_path / ".opencode" / "images" / ".gitignore").exists()


def test_without_one_the_images_have_their_own(tmp_path: Path) -> None:
    transformed(rig(tmp_path), user(0, image()))
    assert (tmp_path / ".opencode" / "images" / ".gitignore").read_bytes() == b"*\n"
    assert not (tmp_path / ".opencode" / ".gitignore").exists()


def aged(path: Path, seconds: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"old")
    os.utime(path, (time.time() - seconds,) * 2)
    return path


def test_after_an_hour_an_image_goes_and_its_emptied_folder_with_it(tmp_path: Path) -> None:
    images = tmp_path / ".opencode" / "images"
    old = aged(images / "ses_old" / "a-0123abcd.png", HOUR + 60)
    young = aged(images / "ses_mixed" / "b-0123abcd-1.png", HOUR - 60)
    aged(images / "ses_mixed" / "c-0123abcd.png", HOUR + 60)
    empty = images / "ses_empty"
    empty.mkdir()
    transformed(rig(tmp_path), user(0))
    assert not old.parent.exists()
    assert [path.name for path in (images / "ses_mixed").iterdir()] == [young.name]
    assert empty.exists()


def test_files_of_the_person_and_links_stay_however_old(tmp_path: Path) -> None:
    images = tmp_path / ".opencode" / "images"
    outside = aged(tmp_path / "outside" / "a-0123abcd.png", 9 * HOUR)
    kept = [
        aged(images / "logo-0123abcd.png", 9 * HOUR),
        aged(images / "ses" / "logo.png", 9 * HOUR),
        aged(images / "ses" / "x-0123abcd.txt.exe1", 9 * HOUR),
    ]
    (images / "ses" / "l-0123abcd.png").symlink_to(outside)
    (images / "linked").symlink_to(outside.parent)
    transformed(rig(tmp_path), user(0))
    assert all(path.exists() for path in [*kept, outside, images / "linked", images / "ses" / "l-0123abcd.png"])


def test_old_ones_are_looked_for_every_ten_minutes(tmp_path: Path) -> None:
    under_test = rig(tmp_path)
    transformed(under_test, user(0))
    old = aged(tmp_path / ".opencode" / "images" / "ses_old" / "a-0123abcd.png", HOUR + 60)
    transformed(under_test, user(0))
    assert old.exists()
    under_test.host.sessions[SESSION].state(hook.Images).look_again = 0.0
    transformed(under_test, user(0))
    assert not old.exists()


def test_an_image_that_is_still_in_the_conversation_stays_young_and_comes_back_if_it_is_gone(tmp_path: Path) -> None:
    under_test = rig(tmp_path)
    first = transformed(under_test, user(0, image()))
    path = tmp_path / ".opencode" / "images" / SESSION / f"shot-{DIGITS}.png"
    os.utime(path, (0, 0))
    assert transformed(under_test, user(0, image())) == first
    assert time.time() - path.stat().st_mtime < HOUR
    path.unlink()
    assert transformed(under_test, user(0, image())) == first
    assert path.read_bytes() == PNG
    assert transformed(rig(tmp_path), user(0, image())) == first


def test_a_folder_that_cannot_be_written_leaves_the_image(tmp_path: Path) -> None:
    (tmp_path / ".opencode").write_text("in the way")
    assert transformed(rig(tmp_path), user(0, image())) == (user(0, image()),)


@pytest.mark.parametrize(
    "begin", [b"\xff\xd8\xff", b"GIF89a", b"RIFF0000WEBP", b"BM", b"<svg", b"<?xml", b"\x00\x00\x00\x18ftypheic", b"II*\0"]
)
def test_images_are_known_by_their_first_bytes(begin: bytes) -> None:
    assert hook.BEGINNINGS.match(begin)


PART = st.dictionaries(
    st.sampled_from(["type", "mime", "filename", "url", "image", "text"]),
    st.sampled_from(["file", "image", "image/png", "a.png", "data:image/png;base64,iVBORw0KGgo=", ""])
    | st.none()
    | st.integers()
    | st.text(max_size=9),
)


@settings(deadline=None, max_examples=60)
@given(st.lists(PART, max_size=4))
def test_no_part_is_too_odd_and_twice_is_the_same(tmp_path_factory: pytest.TempPathFactory, parts: list[dict[str, Any]]) -> None:
    project = tmp_path_factory.mktemp("project")
    once = transformed(rig(project), user(0, *parts))
    assert transformed(rig(project), user(0, *parts)) == once
    assert transformed(rig(project), *once) == once
    rest = [part for part in once[0].parts if not is_added(part)]
    assert [json.dumps(part) for part in rest] == [json.dumps(part) for part in user(0, *parts).parts if part in rest]


def test_without_a_directory_nothing_is_asked() -> None:
    client = seeing("observer")
    conversation = Transcript(session_id=SESSION, messages=(user(0, image()),))
    assert anyio.run(hook.messages_transform, conversation, session(), client, hook.Config()) is None
    assert client.requests == []
