"""What is found, what is left alone, and that the work stays in proportion to the text."""

import base64
import json
import random
import re
import re._constants as code
import re._parser as parser
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import anyio
import pytest
from builtin.services.secret_samples import HEX, PLACEHOLDERS, SECRETS, Maker, containers
from hypothesis import given, settings
from hypothesis import strategies as st

from matrixx_builtin.services import secrets
from matrixx_builtin.services.secrets import rules
from matrixx_builtin.services.secrets.engine import Kingfisher
from matrixx_builtin.services.secrets.judgement import is_credential_name, looks_random
from matrixx_builtin.services.secrets.scanner import scan_with

ENGINES = [pytest.param(False, id="own rules"), pytest.param(True, id="with kingfisher")]


@pytest.fixture(scope="module", autouse=True)
def _ready() -> None:
    if not secrets.wait_ready(60):
        pytest.skip("kingfisher is not installed")


def blocks(text: str, *, kingfisher: bool) -> list[secrets.Finding]:
    return [finding for finding in scan_with(text, kingfisher=kingfisher) if finding.severity == "block"]


@pytest.mark.parametrize("kingfisher", ENGINES)
@pytest.mark.parametrize("name", SECRETS)
def test_a_key_is_found_in_any_container(name: str, kingfisher: bool) -> None:
    missed = [
        (seed, where)
        for seed in range(4)
        for where, text in containers(SECRETS[name](Maker(seed))).items()
        if not blocks(text, kingfisher=kingfisher)
    ]
    assert missed == []


@pytest.mark.parametrize("kingfisher", ENGINES)
@pytest.mark.parametrize("text", PLACEHOLDERS)
def test_a_placeholder_is_never_refused(text: str, kingfisher: bool) -> None:
    flagged = {where: finding.rule for where, whole in containers(text).items() for finding in blocks(whole, kingfisher=kingfisher)}
    assert flagged == {}


def test_accuracy_on_twenty_of_each_is_at_least_that_of_gitleaks() -> None:
    """Gitleaks 8.30.1 finds 18 of 20 such keys and flags 1 of 20 such look-alikes."""
    maker = Maker(20)
    hits = [name for name in list(SECRETS)[:20] if blocks(f"x = '''{SECRETS[name](maker)}'''", kingfisher=True)]
    false = [text[:40] for text in PLACEHOLDERS[:20] if blocks(text, kingfisher=True)]
    assert (len(hits), len(false)) == (20, 0), f"found {len(hits)}/20 keys ({set(list(SECRETS)[:20]) - set(hits)} missed), flagged {false}"


def test_a_finding_tells_rule_field_and_line_but_not_the_value() -> None:
    secret = SECRETS["github classic"](Maker(1))
    (finding,) = scan_with(f"one\ntwo\nthree {secret}", "content", kingfisher=False)
    assert (finding.rule, finding.field, finding.line, finding.value) == ("github-pat", "content", 3, secret)
    assert finding.where == "github-pat in content, line 3"
    assert secret not in repr(finding)


def test_places_are_characters_also_behind_letters_of_several_bytes() -> None:
    secret = SECRETS["gitlab"](Maker(1))
    for finding in scan_with(f"é🔑\0\ud800 {secret}\n", kingfisher=True):
        assert (finding.start, finding.value) == (5, secret)


@pytest.mark.parametrize("kingfisher", ENGINES)
def test_two_secrets_on_one_line_are_two_findings(kingfisher: bool) -> None:
    maker = Maker(7)
    one, two = SECRETS["github classic"](maker), SECRETS["stripe live"](maker)
    assert [finding.value for finding in blocks(f"{one} {two}", kingfisher=kingfisher)] == [one, two]


@pytest.mark.parametrize("value", ["hunter2xyz", "s3cr3t!", "test-value-1234", "Summer2024!"])
def test_a_weak_value_of_a_password_is_a_warning(value: str) -> None:
    assert [finding.severity for finding in scan_with(f'password = "{value}"', kingfisher=False)] == ["warn"]


FORMS = (
    'api_key = "{}"', "apiKey: '{}',", '"API_KEY": "{}"', "export API_KEY={}", "--api-key {}", "--api-key={}", "x-api-key: {}", '\\"api_key\\": \\"{}\\"',
    'const apiKey: string = "{}"', 'api_key: str = "{}"', 'apiKey := "{}"', "'api_key' => '{}'", "<apiKey>{}</apiKey>", 'settings["api_key"] = "{}"',
    "https://x.y/?api_key={}&b=c", "Authorization: Bearer {}", '-H "Authorization: token {}"', 'set_api_key("{}")', "- name: API_KEY\n  value: {}",
    '{{"name": "API_KEY", "value": "{}"}}', 'const apiKey =\n  "{}";', "ENV API_KEY={}", "api_key = `{}`", "setx API_KEY {}", "ENV API_KEY {}", '#define API_KEY "{}"', "ALTER USER a WITH PASSWORD '{}'", 'getenv("API_KEY", "{}")',
    'process.env.API_KEY || "{}"', '<add key="ApiSecret" value="{}"/>', "machine x login y password {}", '"Authorization": "Bearer {}"',
    "curl -u admin:{} https://x.y",
)  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_an_assignment_is_seen_in_any_language(form: str) -> None:
    missed = [
        (seed, engine) for seed in range(20) for engine in (False, True) if not blocks(form.format(Maker(seed).body(32)), kingfisher=engine)
    ]
    assert missed == []


@pytest.mark.parametrize(
    "name", ["DB_PASSWORD", "apiKey", "client_secret", "AWS_SECRET_ACCESS_KEY", "mypassword", "X-Auth-Token", "githubToken"]
)
def test_names_of_credentials(name: str) -> None:
    assert is_credential_name(name)


@pytest.mark.parametrize(
    "name",
    ["key", "primary_key", "keyboard", "tokenizer", "password_hash", "token_type", "publicKeyToken", "author", "secretary", "API_KEY_NAME"],
)
def test_names_of_other_things(name: str) -> None:
    assert not is_credential_name(name)


def test_random_values_are_told_from_names() -> None:
    names = [
        "getUserPassword2Factor",
        "my-application-secret-name-2",
        "user_access_token_v2_production",
        "arn-aws-secretsmanager-eu-west-1",
        "INTERNAL_SERVER_ERROR_500",
    ]
    assert [name for name in names if looks_random(name)] == []
    missed = [seed for seed in range(200) if not looks_random(Maker(seed).body(32)) or not looks_random(Maker(seed).body(32, HEX))]
    assert len(missed) <= 2


def test_a_public_key_of_supabase_is_only_a_warning() -> None:
    payload = base64.urlsafe_b64encode(json.dumps({"iss": "supabase", "role": "anon"}, separators=(",", ":")).encode()).decode().rstrip("=")
    token = f"eyJ{Maker(1).body(33)}.{payload}.{Maker(2).body(43)}"
    assert [finding.severity for finding in scan_with(token, kingfisher=True)] == ["warn"]


def test_line_wrapped_base64_is_read_as_one() -> None:
    wrapped = base64.encodebytes(("first line of some text\n" + SECRETS["github classic"](Maker(3))).encode()).decode()
    assert blocks(f"cat <<E\n{wrapped}E\n", kingfisher=False)


def test_base64_behind_a_path_is_read_too() -> None:
    packed = base64.b64encode(SECRETS["github classic"](Maker(3)).encode()).decode()
    for lead in ("", "a/", "ab/", "abc/", "abcd/"):
        assert blocks(f"https://x.y/{lead}{packed}", kingfisher=False)


def test_only_what_is_not_taken_up_by_the_placeholder_beside_it_counts() -> None:
    secret = SECRETS["anthropic"](Maker(5))
    assert [finding.value for finding in blocks(f"AK{'IA'}IOSFODNN7EXAMPLE {secret} ${{API_KEY}}", kingfisher=True)] == [secret]


def test_arguments_are_searched_as_decoded_text_with_their_paths() -> None:
    args = {"edits": [{"newString": "a"}, {"newString": "b"}], "n": 3, "flag": True, "none": None, "bytes": b"x", "headers": {"X": "c"}}
    assert secrets.strings_of(args) == {"edits[0].newString": "a", "edits[1].newString": "b", "headers.X": "c"}


def test_a_key_that_is_a_secret_is_searched_and_stays_out_of_the_path() -> None:
    secret = SECRETS["github classic"](Maker(1))
    found = secrets.scan_fields(secrets.strings_of({"env": {secret: {"deep": secret}}}))
    assert len(found) == 2 and all(secret not in finding.field for finding in found)


def test_the_name_of_an_argument_makes_its_value_a_credential() -> None:
    (finding,) = secrets.scan_fields(secrets.strings_of({"env": {"DB_PASSWORD": Maker(1).body(24)}}))
    assert (finding.rule, finding.field, finding.severity) == ("assigned-credential", "env.DB_PASSWORD", "block")
    assert secrets.scan_fields({"env.DB_PASSWORD": "${DB_PASSWORD}"}) == ()


def test_arguments_nested_without_end_are_searched_all_the_same() -> None:
    secret = SECRETS["github classic"](Maker(1))
    nested: Any = secret
    for _ in range(200):
        nested = [nested]
    assert secrets.scan_fields(secrets.strings_of({"a": nested}))


def test_a_large_text_is_searched_to_its_end() -> None:
    secret = SECRETS["github classic"](Maker(1))
    text = "x = call(1, 2)\n" * 70_000 + secret
    (finding,) = anyio.run(secrets.scan_all, {"content": text})
    assert (finding.line, finding.value) == (70_001, secret)


@pytest.mark.parametrize("shift", [-60, -41, -40, -20, -1, 0, 1])
def test_a_secret_on_the_seam_of_two_windows_is_found_once(shift: int) -> None:
    secret = SECRETS["sendgrid"](Maker(1))
    text = (" " * (65_536 + shift)) + secret + " " * 70_000
    assert [finding.value for finding in blocks(text, kingfisher=True)] == [secret]


def test_where_kingfisher_is_missing_our_own_rules_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kingfisher_sdk", None)
    engine = Kingfisher()
    assert not engine.wait(10) and not engine.ready
    assert list(engine.spans("x")) == []


@pytest.mark.parametrize(("failure", "told"), [(RuntimeError("no"), True), (TimeoutError("slow"), False)])
def test_a_failing_or_slow_kingfisher_leaves_the_text_to_our_own_rules(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, failure: Exception, told: bool
) -> None:
    class Broken:
        def scan(self, data: bytes, *, timeout: float) -> list[Any]:
            raise failure

    engine = Kingfisher()
    monkeypatch.setattr(engine, "_scanner", Broken())
    secret = SECRETS["github classic"](Maker(1))
    assert [span.value for span in engine.spans(f"x {secret}")] == [secret]
    assert ("kingfisher failed" in caplog.text) is told


def test_kingfisher_sees_whatever_our_own_rules_see() -> None:
    chance = random.Random(5)
    maker, glue = (
        Maker(5),
        [
            "x = call(1)\n",
            "é ",
            "password=",
            "token: ",
            '"',
            "\n",
            "api_key = ",
            "--token ",
            "://u:",
            "@h.io/",
            "\\n",
            "%3D",
            "key: str = ",
            "= ",
        ],
    )
    for _ in range(300):
        text = "".join(
            chance.choice(glue) if chance.random() < 0.7 else f" {SECRETS[chance.choice(list(SECRETS))](maker)} " for _ in range(12)
        )
        seen = blocks(text, kingfisher=True)
        lost = [own for own in blocks(text, kingfisher=False) if not any(one.start < own.end and own.start < one.end for one in seen)]
        assert lost == [], text


def test_random_words_are_found_for_prompts_but_not_hashes_paths_and_ids() -> None:
    word = Maker(4).body(40)
    text = f"see {word} and sha512-{Maker(1).body(86)}== and src/components/Button2/indexFile3.tsx and {Maker(2).body(40, HEX)}"
    assert [finding.value for finding in secrets.random_words(text, 4.5)] == [word]


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200), st.booleans())
def test_no_text_makes_a_scan_raise(text: str, kingfisher: bool) -> None:
    scan_with(text, "field", kingfisher=kingfisher)
    secrets.random_words(text, 4.5)


# The work of a scan, counted: no clock.

PATTERNS = {
    **{rule.id: rule.pattern for rule in rules.TOKEN_RULES},
    "login": rules.URL_LOGIN,
    "flag": rules.FLAG_LOGIN,
    "header": rules.PEM_HEADER,
    **{word: rules.assignment(word) for word in rules.KEYWORDS},
}


def backtracking(items: Any) -> Iterator[tuple[int, Any]]:
    """The repeats of a pattern that may give back what they took: how often at most, and what."""
    for kind, argument in items:
        if kind in (code.MAX_REPEAT, code.MIN_REPEAT):
            yield argument[1], argument[2]
        for part in argument if isinstance(argument, tuple | list) else [argument]:
            for inner in part if isinstance(part, list) else [part]:
                if isinstance(inner, parser.SubPattern):
                    yield from backtracking(inner)


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_begins_with_a_literal_and_never_tries_one_text_many_ways(name: str) -> None:
    items = list(parser.parse(PATTERNS[name].pattern, PATTERNS[name].flags & re.ASCII))
    assert [kind for kind, _ in items[:2]] == [code.LITERAL, code.LITERAL]
    assert [most for most, _ in backtracking(items) if most > 80] == []
    assert [inner for most, inner in backtracking(items) if most > 1 and any(True for _ in backtracking(inner))] == []


def steps(text: str) -> int:
    """Lines of our own code that a scan runs."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        if "services/secrets" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        scan_with(text, kingfisher=False)
    finally:
        sys.settrace(before)
    return count


NEAR_MISSES = (
    "sk-", "gh" + "p_", "eyJ", "eyJ.", "xoxb-", "AK" + "IA", "AK" + "IA ", "password", "password=", "password=x ", "token: ", "://", "://a:b", "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n" + "Ab1" * 10 + "\n", "a" * 27 + " ", "github_pat_", "key key ", " -u a:", "glpat-", "=", "Zm9v",
)  # fmt: skip


@pytest.mark.parametrize("piece", NEAR_MISSES)
def test_the_work_grows_no_faster_than_the_text(piece: str) -> None:
    small, large = (steps((piece * (size // len(piece) + 1))[:size]) for size in (8_000, 32_000))
    assert large <= 4.3 * small + 200
    assert large <= 8 * 32_000
